"""Running `iostrata` as its users do: as a process of its own, in a pipe or on a terminal."""

import fcntl
import json
import os
import pty
import shutil
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

FIXTURES = Path(__file__).parents[2] / "fixtures"
COMMAND = str(Path(sys.executable).parent / "iostrata")
ENVIRONMENT = {
    key: value
    for key, value in os.environ.items()
    if key not in ("COLUMNS", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE")
}

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def command_path() -> str:
    """Return the path of the installed command."""
    return COMMAND


@pytest.fixture(scope="session")
def environment() -> dict[str, str]:
    """Return the environment for processes, without what would change the look of the output."""
    return ENVIRONMENT


@pytest.fixture(scope="session")
def run() -> Run:
    """Return a function that runs the installed command with its output in pipes."""

    def call(*arguments: object, **environment: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [COMMAND, *map(str, arguments)],
            capture_output=True,
            encoding=environment.get("PYTHONIOENCODING", "utf-8"),
            env={**ENVIRONMENT, **environment},
            timeout=300,
            check=False,
        )

    return call


@pytest.fixture(scope="session")
def document(run: Run) -> Callable[..., Any]:
    """Return a function that runs a command with ``--json`` and parses strictly what it prints, once per call."""
    known: dict[tuple[object, ...], str] = {}

    def call(*arguments: object) -> Any:
        if arguments not in known:
            done = run(*arguments, "--json")
            assert done.returncode == 0, done.stderr
            known[arguments] = done.stdout
        return json.loads(known[arguments], parse_constant=_refuse)

    return call


def _refuse(constant: str) -> Any:
    raise AssertionError(f"{constant} is no JSON")


@pytest.fixture(scope="session")
def run_on_terminal() -> Callable[..., str]:
    """Return a function that runs the command on a terminal of so many columns and returns what appears there."""

    def call(columns: int, *arguments: object, **environment: str) -> str:
        primary, secondary = pty.openpty()
        fcntl.ioctl(secondary, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        process = subprocess.Popen(
            [COMMAND, *map(str, arguments)],
            stdin=secondary,
            stdout=secondary,
            stderr=subprocess.DEVNULL,  # progress comes and goes there with the speed of the machine
            env={**ENVIRONMENT, "TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8", **environment},
        )
        os.close(secondary)
        parts = []
        while True:
            try:
                part = os.read(primary, 65536)
            except OSError:  # Linux reports the end of a terminal as an error
                break
            if not part:
                break
            parts.append(part)
        os.close(primary)
        assert process.wait(timeout=300) == 0
        return b"".join(parts).decode().replace("\r\n", "\n")

    return call


@pytest.fixture
def copy_of(tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that copies a real archive so that it can be damaged."""

    def copy(name: str) -> Path:
        return Path(shutil.copytree(FIXTURES / name, tmp_path / name, copy_function=shutil.copyfile))

    return copy
