"""A real trace, what is written of it, and the readers that must understand that."""

import shutil
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import pytest
import xarray
from iostrata import Trace, open_trace, write_hdf5
from iostrata.export.terminal import console
from iostrata.export.written import Written
from rich.cells import cell_len

FIXTURES = Path(__file__).parents[2] / "fixtures"


@pytest.fixture(scope="session")
def trace() -> Trace:
    """Return a trace with three layers."""
    return open_trace(FIXTURES / "ckpt4")


@pytest.fixture(scope="session")
def written(trace: Trace, tmp_path_factory: pytest.TempPathFactory) -> Written:
    """Return what is written of `trace` unless something else is asked for."""
    return write_hdf5(trace, tmp_path_factory.mktemp("hdf5") / "ckpt4.h5")


@pytest.fixture(scope="session")
def texts() -> Callable[[h5py.Dataset], list[str]]:
    """Return a function that reads a variable of strings, in C order."""

    def read(dataset: h5py.Dataset) -> list[str]:
        return [text.decode() for text in dataset[()].ravel()]

    return read


@pytest.fixture(scope="session")
def opens_everywhere() -> Callable[..., None]:
    """Return a function that opens and reads a whole file with ncdump and both engines of xarray.

    Where many dimensions are empty h5netcdf takes seconds for each: it can be left out.
    """

    def check(path: Path, h5netcdf: bool = True) -> None:
        text = _ncdump(path)
        for name in ("layer", "direction", "bandwidth", "group: handles", "group: statistics", "group: damage"):
            assert name in text
        # Once all groups by themselves, once as a tree: each opens the file anew for every group, which takes seconds.
        for group in xarray.open_groups(path, engine="netcdf4").values():
            group.load()
            group.close()
        if h5netcdf:
            with xarray.open_datatree(path, engine="h5netcdf") as tree:
                tree.load()

    return check


def _ncdump(path: Path) -> str:
    if shutil.which("ncdump") is None:
        pytest.skip("needs ncdump")
    done = subprocess.run(["ncdump", str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def on_a_screen(printed: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Return what runs a command and returns its lines on a terminal, none of which is wider than that."""
    terminal = partial(console._QuietConsole, force_terminal=True, color_system=None)
    monkeypatch.setattr(console, "_QuietConsole", terminal)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", "24")

    def run(*arguments: object) -> list[str]:
        lines: list[str] = printed(*arguments)
        assert max(map(cell_len, lines)) <= 80
        return lines

    return run
