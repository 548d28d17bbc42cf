"""The C code of the plugin for Score-P: its parts in a program of their own, and all of it in a recorded one."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SOURCES = HERE.parents[2] / "live" / "scorep"
PARTS = ("bins.c", "clock.c", "lines.c", "sink.c", "collector.c")
LAST_GUARD_S = 300
"""Ends what would wait forever; no test is about time."""

Driver = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def driver_path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the program that runs parts of the plugin, compiled without a single warning."""
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("no gcc to compile the plugin with")
    built = tmp_path_factory.mktemp("driver") / "driver"
    options = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread", f"-I{SOURCES}", "-o", str(built)]
    sources = [str(HERE / "driver.c"), *(str(SOURCES / part) for part in PARTS)]
    done = subprocess.run([compiler, *options, *sources], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return str(built)


@pytest.fixture(scope="session")
def driver(driver_path: str) -> Driver:
    """Return what runs the driver to its end."""

    def run(*arguments: str, text: str = "") -> "subprocess.CompletedProcess[str]":
        command = [driver_path, *arguments]
        return subprocess.run(command, input=text, capture_output=True, text=True, check=False, timeout=LAST_GUARD_S)

    return run


@pytest.fixture(scope="session")
def scorep() -> Path:
    """Return the folder of Score-P's commands."""
    prefix = os.environ.get("SCOREP")
    found = shutil.which("scorep-config", path=f"{prefix}/bin" if prefix else None)
    if found is None:
        pytest.skip("no Score-P: put its scorep-config on the PATH, or its prefix into SCOREP")
    return Path(found).parent


@pytest.fixture(scope="session")
def plugin(scorep: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the plugin, built by its Makefile without a single warning."""
    folder = tmp_path_factory.mktemp("plugin")
    command = ["make", "-C", str(SOURCES), f"SCOREP={scorep.parent}", f"OUT={folder}", "CFLAGS=-O2 -Werror"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="session")
def instrumented(scorep: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Return what compiles a program of this folder with Score-P, which wraps its calls of I/O at run time."""

    def build(name: str, compiler: str, *options: str) -> Path:
        if shutil.which(compiler) is None:
            pytest.skip(f"no {compiler}")
        folder = tmp_path_factory.mktemp(name)
        command = [str(scorep / "scorep"), "--nocompiler", *options, "--io=runtime:posix"]
        command += [compiler, "-O2", "-o", name, str(HERE / f"{name}.c")]
        environment = {**os.environ, "PATH": f"{scorep}:{os.environ['PATH']}"}
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        if "cannot find -lbfd" in done.stderr:
            pytest.skip("this Score-P needs the development files of binutils (libbfd)")
        assert done.returncode == 0, done.stderr
        return folder / name

    return build
