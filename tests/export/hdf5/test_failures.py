"""The HDF5 export where it is impossible: one line, and nothing left behind."""

import json
import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from iostrata import OutputError, SelectionError, Trace, write_hdf5

FIXTURES = Path(__file__).parents[3] / "fixtures"


@pytest.mark.parametrize(
    "options",
    [
        {"layers": ["MPI-IO", "netCDF"]},
        {"traffic": "some"},
        {"method": "no such method"},
        {"fs": 0.0},
        {"fs": math.inf},
        {"fs": 1e12},
        {"fs": "fast"},
    ],
)
def test_impossible_selection_writes_nothing(trace: Trace, tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(SelectionError) as caught:
        write_hdf5(trace, tmp_path / "out.nc", **options)
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("target", ["missing/out.nc", "file/out.nc", "folder"])
def test_impossible_target_leaves_nothing(trace: Trace, tmp_path: Path, target: str) -> None:
    (tmp_path / "file").write_text("old")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OutputError, match="cannot write"):
        write_hdf5(trace, tmp_path / target, fs=1.0, periods=False)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file", "folder"]
    assert list((tmp_path / "folder").iterdir()) == []


FILL_UP = """
import json, resource, sys
from pathlib import Path
import iostrata

archive, folder = sys.argv[1], Path(sys.argv[2])
trace = iostrata.open_trace(archive)
target = folder / "out.nc"
size = iostrata.write_hdf5(trace, target, fs=500.0, periods=False).bytes
target.write_text("old")
messages = []
for limit in [0, 100, 2048, 5000, *range(10000, size, size // 12), size - 1]:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        iostrata.write_hdf5(trace, target, fs=500.0, periods=False)
        messages.append("written")
    except iostrata.OutputError as error:
        messages.append(str(error))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert [entry.name for entry in folder.iterdir()] == ["out.nc"], limit
    assert target.read_text() == "old", limit
iostrata.write_hdf5(trace, target, fs=500.0, periods=False)
print(json.dumps([messages, size, target.stat().st_size]))
"""


def test_full_disk_at_any_point_is_one_line_and_the_process_lives(tmp_path: Path) -> None:
    """The HDF5 library crashes at the end of a process in which it could not close a file."""
    command = [sys.executable, "-c", FILL_UP, str(FIXTURES / "serial1"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    messages, size, again = json.loads(done.stdout)
    assert len(messages) > 5
    assert all(re.fullmatch(r"cannot write '.*out\.nc': file too large; raise the limit .*", line) for line in messages)
    assert again == size
