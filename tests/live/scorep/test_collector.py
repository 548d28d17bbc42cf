"""The process that hands lines over: none is lost, whoever is killed, and the program waits for nobody."""

import json
import os
import socket
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from .conftest import LAST_GUARD_S, Driver

THREADS, OPERATIONS = 6, 3000
MOVED = 7
ALL = THREADS * OPERATIONS * MOVED


def records(text: bytes | str) -> list[dict[str, Any]]:
    """Return the lines of a stream, all of which must be whole."""
    lines = text.decode() if isinstance(text, bytes) else text
    assert not lines or lines.endswith("\n")
    return [json.loads(line) for line in lines.splitlines()]


def by_series(lines: list[dict[str, Any]]) -> Counter[tuple[str, str]]:
    """Return bytes by layer and mode."""
    found: Counter[tuple[str, str]] = Counter()
    for line in lines:
        if line["kind"] == "bins":
            found[line["layer"], line["mode"]] += sum(line["bytes"])
    return found


EACH = {(layer, mode): OPERATIONS * MOVED for layer in ("POSIX", "ISOC", "MPI-IO") for mode in ("read", "write")}
"""Bytes of each thread, which add to a layer and mode each."""


def until_the_end(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a file whose writer may still have to notice that the program is gone."""
    deadline = time.monotonic() + LAST_GUARD_S
    while not (path.exists() and b'"end"' in path.read_bytes()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return records(path.read_bytes())


class Listener:
    """A socket at a path, which can be closed and opened again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.open: list[socket.socket] = []

    def listen(self) -> None:
        """Listen, as somebody new."""
        self.path.unlink(missing_ok=True)
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listening.bind(str(self.path))
        listening.listen()
        listening.settimeout(LAST_GUARD_S)
        self.open.append(listening)

    def accept(self) -> socket.socket:
        """Return a connection, which waits for what comes."""
        connection, _ = self.open[0].accept()
        connection.settimeout(LAST_GUARD_S)
        self.open.append(connection)
        return connection

    def close(self) -> None:
        """Close all, as the system does when a process is killed."""
        for one in self.open:
            one.close()
        self.open = []


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[Listener]:
    """Return who may listen at the socket ``s`` of the test's folder."""
    found = Listener(tmp_path / "s")
    yield found
    found.close()


Held = Callable[[], "subprocess.Popen[bytes]"]


@pytest.fixture
def held(driver_path: str, tmp_path: Path) -> Iterator[Held]:
    """Return what starts a program that has added all its operations and waits for a line before it ends."""
    started = []

    def start() -> "subprocess.Popen[bytes]":
        command = [driver_path, "collect", f"unix:{tmp_path / 's'}", "x", str(THREADS), str(OPERATIONS), "100", "hold"]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def read_all(connection: socket.socket) -> bytes:
    """Return what comes until the other end closes."""
    parts = []
    while part := connection.recv(1 << 16):
        parts.append(part)
    return b"".join(parts)


def go_on(process: "subprocess.Popen[bytes]") -> None:
    """Let a held program end."""
    assert process.stdin
    process.stdin.write(b"\n")
    process.stdin.flush()


def test_threads_that_add_at_once_lose_nothing(driver: Driver, tmp_path: Path) -> None:
    done = driver("collect", str(tmp_path), "a.jsonl", str(THREADS), "200000", "0", "stop")
    assert (done.returncode, done.stderr) == (0, "")
    lines = records((tmp_path / "a.jsonl").read_bytes())
    assert by_series(lines) == dict.fromkeys(EACH, 200000 * MOVED)
    assert [line["kind"] for line in lines if line["kind"] in ("header", "end")] == ["header", "end"]
    assert lines[-1]["bytes_told"] == THREADS * 200000 * MOVED


def test_what_a_killed_program_has_done_is_told(driver: Driver, tmp_path: Path) -> None:
    done = driver("collect", str(tmp_path), "a.jsonl", str(THREADS), str(OPERATIONS), "50", "kill")
    assert done.returncode < 0
    assert by_series(until_the_end(tmp_path / "a.jsonl")) == EACH


def test_a_listener_that_comes_late_gets_all(held: Held, listener: Listener) -> None:
    process = held()
    assert process.stdout
    assert process.stdout.readline() == b"added\n"
    listener.listen()
    connection = listener.accept()
    go_on(process)
    lines = records(read_all(connection))
    assert by_series(lines) == EACH
    assert lines[0]["kind"] == "header"
    assert lines[0]["bytes_before"] == 0
    assert lines[-1]["kind"] == "end"
    assert process.wait(LAST_GUARD_S) == 0


def test_a_listener_that_is_killed_and_comes_again_gets_the_rest(held: Held, listener: Listener) -> None:
    listener.listen()
    process = held()
    connection = listener.accept()
    before = b""
    while b'"bins"' not in before:
        before += connection.recv(1 << 16)
    listener.close()
    assert process.stdout
    assert process.stdout.readline() == b"added\n"
    listener.listen()
    connection = listener.accept()
    go_on(process)
    after = records(read_all(connection))
    assert after[0]["kind"] == "header"
    read = by_series(records(before[: before.rfind(b"\n") + 1])).total()
    # What the first one was given and had not read when it ended is known to be missing.
    assert 0 < read <= after[0]["bytes_before"] < ALL
    assert after[0]["bytes_before"] + by_series(after).total() == ALL
    assert process.wait(LAST_GUARD_S) == 0


def test_nobody_listens(driver: Driver, tmp_path: Path) -> None:
    done = driver("collect", f"unix:{tmp_path / 'nobody'}", "x", "2", "100", "0", "stop")
    assert (done.returncode, done.stdout) == (0, "added\n")
    assert done.stderr == (
        f"iostrata: rank 0: {2 * 100 * MOVED} bytes of operations were not told to {tmp_path / 'nobody'}: "
        "No such file or directory\n"
    )


def test_a_listener_that_never_reads_holds_up_nothing(driver: Driver, listener: Listener) -> None:
    listener.listen()
    taken, error, state = driver("fill", f"unix:{listener.path}").stdout.split()
    assert int(taken) > 10_000
    assert (error, state) == ("EAGAIN", "open")
    assert driver("collect", f"unix:{listener.path}", "x", "6", "5000", "20", "stop").returncode == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_a_full_disk_is_told_and_ends_nothing(driver: Driver, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").symlink_to("/dev/full")
    done = driver("collect", str(tmp_path), "a.jsonl", "2", "100", "0", "stop")
    assert done.returncode == 0
    assert f"{2 * 100 * MOVED} bytes of operations were not told" in done.stderr
    assert "No space left on device" in done.stderr


def test_a_folder_that_is_made_later_gets_all(driver_path: str, tmp_path: Path) -> None:
    folder = tmp_path / "later"
    command = [driver_path, "collect", str(folder), "a.jsonl", str(THREADS), str(OPERATIONS), "50", "hold"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        assert process.stdout.readline() == b"added\n"
        folder.mkdir()
        process.communicate(b"\n", timeout=LAST_GUARD_S)
    assert by_series(records((folder / "a.jsonl").read_bytes())) == EACH


def test_a_path_that_is_too_long_is_refused(driver: Driver) -> None:
    assert driver("collect", "unix:" + "x" * 200, "x", "1", "1", "0", "stop").returncode == 3
    assert driver("collect", "x" * 5000, "x", "1", "1", "0", "stop").returncode == 3
