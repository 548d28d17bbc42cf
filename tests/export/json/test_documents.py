"""What documents about a trace are made of: nothing that only many runs need."""

import json
import subprocess
import sys


def test_a_document_about_a_trace_imports_nothing_of_many_runs():
    code = "import json, sys, iostrata.export.json.documents; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = json.loads(done.stdout)
    assert "iostrata.export.json.documents" in modules
    assert [name for name in modules if name.startswith(("iostrata.runs", "scipy.signal", "scipy.stats"))] == []
