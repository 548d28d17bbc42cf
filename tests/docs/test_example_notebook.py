"""The example notebook runs from top to bottom, in the Python that runs the tests."""

import json
import sys
import warnings
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).parents[2] / "docs" / "example.ipynb"


# Of the machinery around the kernel, not of iostrata; the kernel has warnings of its own.
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning", "ignore::RuntimeWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_example_runs_and_shows_something(tmp_path, monkeypatch):
    folder = tmp_path / "kernels" / "this-python"
    folder.mkdir(parents=True)
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (folder / "kernel.json").write_text(json.dumps({"argv": command, "display_name": "this Python"}))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import nbformat
        from nbclient import NotebookClient

        notebook = nbformat.read(NOTEBOOK, as_version=4)
        check(notebook)
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.outputs = []
        client = NotebookClient(
            notebook,
            kernel_name="this-python",
            timeout=None,
            startup_timeout=600,
            resources={"metadata": {"path": str(NOTEBOOK.parent)}},
        )
        client.execute()
    check(notebook)


def check(notebook):
    """Check what a notebook shows: one that ships with its output, and one that has just run."""
    shown = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    kinds = {kind for output in shown for kind in output.get("data", {})}
    assert {"text/html", "image/png"} <= kinds
    text = " ".join(str(output) for output in shown)
    assert "83.9 MB before, 83.9 MB in the checkpoints" in text
    assert "netCDF: 0.4" in text or "netCDF: 0.39" in text
    assert "42 collective calls of 4 ranks, by 1 of them" in text
    assert "fill-values" in text
    assert "report.html" in text
    assert "Traceback" not in text
