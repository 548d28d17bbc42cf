"""Running `iostrata`: in this process where only its words matter, as a process of its own where that matters too."""

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
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest
from iostrata.cli import main
from iostrata.cli.progress import COMPILING

FIXTURES = Path(__file__).parents[2] / "fixtures"
COMMAND = str(Path(sys.executable).parent / "iostrata")
CHANGES_THE_LOOK = ("COLUMNS", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE")
ENVIRONMENT = {key: value for key, value in os.environ.items() if key not in CHANGES_THE_LOOK}
LAST_GUARD_S = 600
"""Ends what would wait forever; no test is about time."""

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
def run_process() -> Run:
    """Return a function that runs the installed command as a process, with its output in pipes."""

    def call(*arguments: object, **environment: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [COMMAND, *map(str, arguments)],
            capture_output=True,
            encoding=environment.get("PYTHONIOENCODING", "utf-8"),
            env={**ENVIRONMENT, **environment},
            timeout=LAST_GUARD_S,
            check=False,
        )

    return call


@pytest.fixture(scope="session")
def run(check_documents: Callable[[str, str], None]) -> Run:
    """Return a function that runs a command in this process: the same as `run_process`, without its start.

    Documents are checked by their schema.
    """

    def call(*arguments: object, **environment: str) -> "subprocess.CompletedProcess[str]":
        done = _in_this_process(Stream(environment.get("PYTHONIOENCODING", "utf-8")), arguments, environment)
        if "--json" in arguments and done.returncode in (0, 3):
            check_documents(str(arguments[0]), done.stdout)
        return done

    return call


@pytest.fixture(scope="session")
def run_on_terminal() -> Callable[..., str]:
    """Return a function that runs a command in this process, as on a terminal of so many columns."""

    def call(columns: int, *arguments: object, **environment: str) -> str:
        # Rich takes the columns of the environment for those of the terminal.
        environment = {"TERM": "xterm-256color", "COLUMNS": str(columns), **environment}
        done = _in_this_process(Terminal("utf-8"), arguments, environment)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return call


class Stream(TextIOWrapper):
    """A text stream into memory."""

    def __init__(self, encoding: str) -> None:
        super().__init__(BytesIO(), encoding, newline="", write_through=True)

    def text(self) -> str:
        content: bytes = self.buffer.getvalue()  # type: ignore[attr-defined]
        return content.decode(self.encoding)


class Terminal(Stream):
    """A text stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def _in_this_process(
    out: Stream, arguments: tuple[object, ...], environment: dict[str, str]
) -> "subprocess.CompletedProcess[str]":
    error = Stream("utf-8")
    with pytest.MonkeyPatch.context() as patch:
        for name in CHANGES_THE_LOOK:
            patch.delenv(name, raising=False)
        for name, value in environment.items():
            patch.setenv(name, value)
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", error)
        status = main([*map(str, arguments)])
    # Which test is the first that needs a loop compiled is chance.
    told = error.text().replace(f"iostrata: note: {COMPILING}\n", "")
    return subprocess.CompletedProcess(arguments, status, out.text(), told)


@pytest.fixture(scope="session")
def document(run: Run) -> Callable[..., Any]:
    """Return a function that runs a command with ``--json`` and parses strictly what it prints, once per call.

    What is returned tells nothing of how it was asked for.
    """
    known: dict[tuple[object, ...], str] = {}

    def call(*arguments: object) -> Any:
        if arguments not in known:
            done = run(*arguments, "--json")
            assert done.returncode == 0, done.stderr
            known[arguments] = done.stdout
        found = json.loads(known[arguments], parse_constant=_refuse)
        del found["provenance"]
        return found

    return call


def _refuse(constant: str) -> Any:
    raise AssertionError(f"{constant} is no JSON")


@pytest.fixture(scope="session")
def run_process_on_terminal() -> Callable[..., str]:
    """Return a function that runs the command on a true terminal of so many columns and returns what appears there."""

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
        assert process.wait(timeout=LAST_GUARD_S) == 0
        return b"".join(parts).decode().replace("\r\n", "\n")

    return call


@pytest.fixture
def copy_of(tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that copies a real archive so that it can be damaged."""

    def copy(name: str) -> Path:
        return Path(shutil.copytree(FIXTURES / name, tmp_path / name, copy_function=shutil.copyfile))

    return copy
