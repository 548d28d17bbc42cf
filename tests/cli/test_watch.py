"""Following a running job as a user does: on a terminal that is resized, in a pipe, through a socket, until Ctrl-C."""

import fcntl
import importlib.util
import json
import os
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import termios
from pathlib import Path

import pytest
from rich.cells import cell_len

from .conftest import LAST_GUARD_S

_SPEC = importlib.util.spec_from_file_location(
    "recorder_files", Path(__file__).parents[1] / "archives" / "recorders.py"
)
made = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(made)
FIXTURES = Path(__file__).parents[2] / "fixtures"
END = b'{"kind": "end", "time": 0}\n'
SEQUENCE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def line(start, layer="POSIX", mode="write", volume=8):
    entry = {"layer": layer, "mode": mode, "start": start, "end": start + 0.5, "bytes": volume}
    return json.dumps(entry).encode() + b"\n"


def phases(count, **other):
    return b"".join(line(10.0 * number, **other) for number in range(count))


class Terminal:
    """A command on a terminal of its own, which it is controlled by."""

    def __init__(self, command, environment, columns):
        self.primary, secondary = pty.openpty()
        self.resize(columns)
        self.process = subprocess.Popen(
            command,
            stdin=secondary,
            stdout=secondary,
            stderr=secondary,
            env={**environment, "TERM": "xterm-256color"},
            start_new_session=True,
            preexec_fn=self._take,
        )
        os.close(secondary)
        self.shown = b""

    @staticmethod
    def _take():
        """Take the terminal; a shell has what it starts in the background ignore Ctrl-C, and that is inherited."""
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def resize(self, columns):
        fcntl.ioctl(self.primary, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))

    def until(self, text):
        """Read until a text appears that was not there before; return what came."""
        begin = len(self.shown)
        while text not in self.shown[begin:]:
            assert select.select([self.primary], [], [], LAST_GUARD_S)[0], self.shown
            self.shown += os.read(self.primary, 65536)
        return self.shown[begin:]

    def end(self):
        """Read to the end; return all that came, and the exit code."""
        while True:
            assert select.select([self.primary], [], [], LAST_GUARD_S)[0], self.shown
            try:
                part = os.read(self.primary, 65536)
            except OSError:  # Linux reports the end of a terminal as an error
                break
            if not part:
                break
            self.shown += part
        os.close(self.primary)
        return self.shown, self.process.wait(LAST_GUARD_S)


def test_a_view_that_is_drawn_anew_and_fits_a_terminal_that_is_resized(tmp_path, command_path, environment):
    path = tmp_path / "live.jsonl"
    path.write_bytes(phases(6) + line(55.0, layer="PO\x1b[31mSIX\x07\x9b2J\r"))
    terminal = Terminal([command_path, "watch", str(path), "--interval", "0.05"], environment, 100)
    first = terminal.until(b"10 s")
    assert "POSIX write" in SEQUENCE.sub("", first.decode())
    terminal.resize(40)
    terminal.until(b"\x1b[2K")
    with path.open("ab") as file:
        file.write(b"".join(line(10.0 * number, layer="MPI-IO") for number in range(6, 12)) + END)
    shown, status = terminal.end()
    assert status == 0
    assert b"\x1b[31mSIX" not in shown
    assert "\x9b" not in shown.decode()
    assert b"\x07" not in shown
    last = SEQUENCE.sub("", shown.decode().rpartition(", ended")[2])
    assert "MPI-IO" in last
    # Earliest and latest start that read alike are said once.
    assert not re.search(r"in (\d[\d.]* \w+) to \1 ", SEQUENCE.sub("", first.decode()))
    assert max(cell_len(row.rstrip("\r")) for row in last.split("\n")) <= 40
    # The cursor is seen again.
    assert shown.rfind(b"\x1b[?25h") > shown.rfind(b"\x1b[?25l") >= 0


def test_control_c_on_a_terminal(tmp_path, command_path, environment):
    path = tmp_path / "live.jsonl"
    path.write_bytes(phases(6))
    terminal = Terminal([command_path, "watch", str(path), "--interval", "0.05"], environment, 80)
    terminal.until(b"10 s")
    os.write(terminal.primary, b"\x03")
    shown, status = terminal.end()
    assert status == 130
    assert b"Traceback" not in shown
    assert b"interrupted" in shown
    assert shown.rfind(b"\x1b[?25h") > shown.rfind(b"\x1b[?25l")


def test_an_interrupt_while_it_listens_leaves_nothing_behind(tmp_path, command_path, environment):
    path = tmp_path / "socket"
    command = [command_path, "watch", f"unix:{path}", "--interval", "0.05"]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        writer = connected(path, process)
        writer.sendall(phases(5))
        while json.loads(process.stdout.readline())["operations"] < 5:
            pass
        process.send_signal(signal.SIGINT)
        output, error = process.communicate(timeout=LAST_GUARD_S)
        writer.close()
    assert process.returncode == 130
    assert error.decode().strip() == "iostrata: error: interrupted"
    for row in output.splitlines():
        json.loads(row)
    assert not path.exists()


def connected(path, process):
    """Return a connection to a socket as soon as the process listens there."""
    writer = socket.socket(socket.AF_UNIX)
    while True:
        assert process.poll() is None
        try:
            writer.connect(str(path))
        except (FileNotFoundError, ConnectionRefusedError):
            select.select([], [], [], 0.02)
        else:
            return writer


def test_standard_input_in_pieces_with_all_that_may_be_wrong(command_path, environment):
    whole = (
        b'{"kind": "header", "version": 1}\n'
        + phases(5)
        + b'{"layer": "POSIX", "mode": "write", "start": 1\n'
        + line(1.0)
        + line(1e9)
        + b'{"kind": "header"}\n'
        + line(3.0)
    )
    with subprocess.Popen(
        [command_path, "watch", "-", "--interval", "0.05"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    ) as process:
        for low in range(0, len(whole), 61):
            process.stdin.write(whole[low : low + 61])
            process.stdin.flush()
        output, error = process.communicate(timeout=LAST_GUARD_S)
    wrong = b"malformed 1, late 1, clock jumps 1, restarts 1"
    assert (process.returncode, error.strip()) == (0, b"iostrata: warning: of the input: " + wrong)
    last = json.loads(output.splitlines()[-1])
    assert last["last"]
    assert last["operations"] == 7
    wrong = {name: count for name, count in last["input"].items() if count}
    assert wrong == {"malformed": 1, "out_of_order": 1, "late": 1, "clock_jumps": 1, "restarts": 1}


def test_a_reader_that_has_had_enough(command_path, environment):
    command = [command_path, "watch", "--replay", str(FIXTURES / "ckpt4")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        json.loads(process.stdout.readline())
        process.stdout.close()
        error = process.stderr.read()
        assert process.wait(LAST_GUARD_S) == 0
    assert error == b""


def test_both_directions_together_are_those_of_periods(run, document):
    done = run("watch", "--replay", FIXTURES / "ncckpt4", "--direction", "total")
    last = [row for row in map(json.loads, done.stdout.splitlines()) if row["last"]]
    offline = {row["layer"]: row for row in document("periods", FIXTURES / "ncckpt4", "--direction", "total")["layers"]}
    assert {row["layer"] for row in last} == set(offline)
    for row in last:
        assert row["direction"] == "total"
        assert row["phases"] == len(offline[row["layer"]]["phases"])
        # Offline the loops of the program decide; bandwidth alone says the same to either.
        found = offline[row["layer"]]
        assert row["period_s"] == pytest.approx((found.get("by_signal") or found)["period_s"], rel=1e-9)
        assert row["period_s"] == pytest.approx(found["period_s"], rel=0.01)


def test_only_one_direction(run, tmp_path):
    path = tmp_path / "live.jsonl"
    path.write_bytes(phases(5) + phases(3, mode="read"))
    told = [json.loads(row) for row in run("watch", path, "--once", "--direction", "read").stdout.splitlines()]
    assert {(row["direction"], row["operations"]) for row in told} == {("read", 3)}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("live.jsonl", "--files", "all"), "--files is of --replay"),
        (("live.jsonl", "--speed", "2"), "--speed is of --replay"),
        ((), "name what to follow"),
    ],
)
def test_what_makes_no_sense_is_wrong_usage(run, arguments, words):
    done = run("watch", *arguments)
    assert done.returncode == 2
    assert words in done.stderr


@pytest.mark.parametrize(
    ("content", "arguments", "status", "words"),
    [
        (b"\xff\xfe{\n" * 3, (), 1, "error: 3 lines and no record among them"),
        (bytes(made.DarshanLog()) + b"\n", (), 1, "Darshan wrote it of a job that has ended; give it to --replay"),
        (b"", (), 0, "warning: nothing was told"),
        (line(0.0, layer="HDF5", volume=0), (), 0, "warning: nothing that is followed moved a byte"),
        (line(0.0) + b"null\n", (), 0, "warning: of the input: malformed 1"),
        # As of several ranks.
        (line(1.0) + line(0.5), (), 0, ""),
        (line(0.0), ("--layer", "nosuch"), 1, "error: no layer 'nosuch' in the input; there were POSIX"),
        (line(0.0), ("--layer", "posix"), 0, ""),
    ],
)
def test_input_that_tells_nothing_is_not_passed_over_in_silence(run, tmp_path, content, arguments, status, words):
    path = tmp_path / "live.jsonl"
    path.write_bytes(content)
    done = run("watch", path, "--once", *arguments)
    assert (done.returncode, "POSIX" in done.stdout) == (status, status == 0 and b"POSIX" in content)
    assert words in done.stderr
    assert bool(done.stderr) == bool(words)


def test_a_log_of_a_job_that_has_ended_is_not_waited_for(run_process, tmp_path):
    path = tmp_path / "job.darshan"
    path.write_bytes(bytes(made.DarshanLog()))
    done = run_process("watch", path)
    assert done.returncode == 1
    assert "Darshan wrote it of a job that has ended; give it to --replay" in done.stderr


def test_a_folder_with_an_archive_is_not_followed(run, fixtures):
    done = run("watch", fixtures / "serial1", "--once")
    assert done.returncode == 1
    assert "OTF2 wrote it of a job that has ended; give it to --replay" in done.stderr


def test_an_alarm_that_was_asked_for_ends_it_with_code_3(run, tmp_path):
    starts = [*(2.0 * number for number in range(12)), 60.0]
    line = {"layer": "POSIX", "rank": 0, "mode": "write", "bytes": 10**6}
    path = tmp_path / "job.jsonl"
    path.write_text("".join(json.dumps({**line, "start": one, "end": one + 0.2}) + "\n" for one in starts))
    arguments = ("watch", "--replay", path, "--interval", "0.5", "--fail-on")
    broken = run(*arguments, "overdue>1")
    assert broken.returncode == 3
    assert "was expected by" in broken.stderr
    last = json.loads(broken.stdout.splitlines()[-1])
    assert last["alarms"][0]["kind"] == "overdue"
    assert last["alarms"][0]["value"] > last["alarms"][0]["limit"] == 1.0
    assert last["time_s"] < 30
    assert run(*arguments, "slow").returncode == 0
    assert run(*arguments, "late").returncode == 2
