"""The adapter in C that records calls of I/O libraries, with a stand-in for Score-P that notes what it is told."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent
STANDIN = HERE / "standin"
SOURCES = HERE.parents[3] / "live" / "scorep" / "layers"
LAST_GUARD_S = 300
"""Ends what would wait forever; no test is about time."""

Calls = list[str]
"""A call a line, as it begins: its name, what was told of it in the order of telling, ``>`` for each call around it;
``*`` leads calls of other threads than the first."""


def calls_of(text: str) -> Calls:
    """Return the calls in what the stand-in wrote; everything it was told must be within a call."""
    calls: Calls = []
    open_calls: dict[str, list[int]] = {}
    for line in text.splitlines():
        process, thread, what, value = line.split(" ", 3)
        inside = open_calls.setdefault(process + thread, [])
        if what == "enter":
            inside.append(len(calls))
            calls.append(">" * (len(inside) - 1) + "*" * (thread != "0") + value)
        elif what == "leave":
            assert calls[inside.pop()].lstrip(">*").partition(" ")[0] == value
        else:
            assert what.startswith("iostrata:"), line
            calls[inside[-1]] += f" {what.removeprefix('iostrata:')}={value}"
    assert not any(open_calls.values())
    return calls


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder with the adapter, the stand-in, two libraries of one kind, and what calls them."""
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("no gcc to compile the adapter with")
    folder = tmp_path_factory.mktemp("layers")
    strict = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", f"-I{STANDIN}", "-pthread"]
    shared = ["-fPIC", "-shared"]
    commands = [
        [*strict, *shared, "-fvisibility=hidden", "-o", "adapter.so", *map(str, sorted(SOURCES.glob("*.c"))), "-ldl"],
        [*strict, *shared, "-o", "standin.so", str(STANDIN / "standin.c")],
        ["-o", "opener", str(STANDIN / "opener.c"), "-ldl"],
    ]
    for number in (1, 2):
        linked = [f"-L{folder}", f"-lnetcdf{number}", f"-Wl,-rpath,{folder}"]
        commands += [
            ["-O2", *shared, f"-DNUMBER={number}", "-o", f"libnetcdf{number}.so", str(STANDIN / "library.c")],
            [*shared, "-o", f"plugin{number}.so", str(STANDIN / "plugin.c"), *linked],
        ]
    linked = [f"-L{folder}", "-lnetcdf1", f"-Wl,-rpath,{folder}", "-pthread"]
    commands += [
        ["-o", "program", str(STANDIN / "program.c"), *linked],
        ["-O2", *shared, "-o", "libpnetcdf1.so", str(STANDIN / "pnetcdf.c")],
        ["-o", "requests", str(STANDIN / "requests.c"), f"-L{folder}", "-lpnetcdf1", f"-Wl,-rpath,{folder}"],
    ]
    for command in commands:
        done = subprocess.run([compiler, *command], cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return folder


Recorded = Callable[..., "tuple[subprocess.CompletedProcess[str], Calls]"]


@pytest.fixture
def recorded(built: Path, tmp_path: Path) -> Recorded:
    """Return what runs a command in an empty folder with the adapter and the stand-in, and gives the calls, too."""

    def run(
        *command: str, preloaded: tuple[str, ...] = ("adapter.so", "standin.so"), **more: str
    ) -> "tuple[subprocess.CompletedProcess[str], Calls]":
        lines = tmp_path / "lines"
        lines.unlink(missing_ok=True)
        data = tmp_path / "data"
        data.mkdir(exist_ok=True)
        libraries = ":".join(str(built / one) for one in preloaded)
        environment = {**os.environ, "STANDIN": str(lines), "LD_PRELOAD": libraries, **more}
        done = subprocess.run(
            command, cwd=data, env=environment, capture_output=True, text=True, check=False, timeout=LAST_GUARD_S
        )
        return done, calls_of(lines.read_text() if lines.exists() else "")

    return run
