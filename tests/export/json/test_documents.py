"""What documents about a trace are made of: nothing that only many runs need."""

import json
import subprocess
import sys
import tracemalloc

from iostrata.export.json.documents import handles_document, json_pieces


def test_a_document_about_a_trace_imports_nothing_of_many_runs():
    code = "import json, sys, iostrata.export.json.documents; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = json.loads(done.stdout)
    assert "iostrata.export.json.documents" in modules
    assert [name for name in modules if name.startswith(("iostrata.runs", "scipy.signal", "scipy.stats"))] == []


def test_handles_are_told_one_by_one(make_trace):
    """A million of them are half a gigabyte of text, of which no more than a piece is there at a time."""

    def peak(count):
        trace = make_trace([("POSIX", f"/scratch/file {row}", -1) for row in range(count)], [])
        trace.handles.dicts()
        tracemalloc.start()
        length = sum(map(len, json_pieces(handles_document(trace))))
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most, length

    few, many = peak(1000), peak(10_000)
    assert many[1] > 8 * few[1]
    assert many[0] - few[0] < (many[1] - few[1]) / 2
