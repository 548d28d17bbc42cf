"""What documents about a trace are made of: nothing that only many runs need."""

import json
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from iostrata.cli import main
from iostrata.export.json.documents import handles_document, json_pieces
from iostrata.export.json.runs import schedule_document
from iostrata.runs.scheduling.comparison import compare_policies
from iostrata.runs.scheduling.jobs import PeriodicJob
from iostrata.runs.scheduling.policies import sets_of


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


def test_the_first_job_is_of_rank_one(tmp_path, capsys):
    rows = [
        f"job{job},node{node},fs,{metric},{600 * time + 5},{job * 10 + time}"
        for job in range(3)
        for node in range(2)
        for metric in ("read_bytes", "write_bytes")
        for time in range(4)
    ]
    (tmp_path / "metrics.csv").write_text("\n".join(["job,node,filesystem,metric,time,value", *rows, ""]))
    assert main(["assess", str(tmp_path / "metrics.csv"), "--json"]) == 0
    assert [job["rank"] for job in json.loads(capsys.readouterr().out)["jobs"]] == [1, 2, 3]


@pytest.mark.parametrize(("signal", "told"), [("POSIX total", "POSIX total"), ("", None)])
def test_a_job_of_a_schedule_says_what_its_phases_are_of(signal, told):
    phases = np.ones(3)
    jobs = [PeriodicJob("a", 9 * phases, phases, period=10.0, signal=signal), PeriodicJob("b", phases, phases)]
    found = compare_policies(jobs, iterations=3)
    document = schedule_document(found, jobs, sets_of(found.workload.names, found.workload.period))
    assert [one["signal"] for one in document["jobs"]] == [told, None]
    assert [one["period_s"] for one in document["jobs"]] == [10.0, None]
