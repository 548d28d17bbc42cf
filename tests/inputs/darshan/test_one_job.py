"""Logs of one job: the processes of a program without MPI, each with a log of its own."""

import importlib.util
import json
import os
from pathlib import Path

import iostrata
import pytest
from iostrata.cli import main

_SPEC = importlib.util.spec_from_file_location(
    "recorder_files", Path(__file__).parents[2] / "archives" / "recorders.py"
)
made = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(made)
SHARED = 5


@pytest.fixture
def job_folder(tmp_path):
    """Write logs of processes of one job, each begun 10 s after the one before, with bytes 1000, 2000 and so on."""

    def write(logs=3, **other):
        for one in range(logs):
            values = {"writes": one + 1, "bytes_written": 1000 * (one + 1), "write_time": 0.5, "opens": 1}
            at = {"write_start_timestamp": 1.0, "write_end_timestamp": 2.0}
            records = [made.counters(("POSIX", 4), record, 0, **values, **at) for record in (SHARED, 100 + one)]
            told = {"processes": 1, "start": 1000.0 + 10 * one, "command": f"./prog {one}"} | other
            log = made.DarshanLog({"POSIX": (4, records)}, {SHARED: "/a", 100 + one: f"/own{one}"}, **told)
            (tmp_path / f"prog_id1-{one}.darshan").write_bytes(bytes(log))
        return tmp_path

    return write


def test_each_log_is_a_process_on_one_clock(job_folder):
    trace = iostrata.open_trace(job_folder())
    assert (trace.ranks, trace.duration) == (3, 30.0)
    statistics = trace.layers["POSIX"].statistics("write")
    assert (statistics.operations, statistics.bytes, statistics.ranks) == (12, 12_000, 3)
    assert (statistics.files, statistics.slowest_s, statistics.summed_s) == (4, 1.0, 3.0)
    signal = trace.layers["POSIX"].bandwidth("write")
    assert signal.volume_until([10, 20, 30]).tolist() == [2000, 6000, 12_000]
    assert trace.definitions.groups.name == tuple(f"prog_id1-{one}" for one in range(3))
    assert "3 logs of job 1: each is a process" in trace.definitions.recording.notes[0]


def test_processes_are_called_processes(job_folder, capsys):
    folder = str(job_folder())
    for command in ([], ["info"], ["layers"], ["compare"]):
        assert main([*command, folder]) == 0
        shown = capsys.readouterr().out
        assert "3 processes" in shown
        assert "3 ranks" not in shown
    assert main(["layers", folder, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["trace"]["processes"] is True


def test_a_log_that_is_cut_is_damage_and_the_others_are_read(job_folder):
    folder = job_folder()
    (folder / "prog_id1-1.darshan").write_bytes((folder / "prog_id1-1.darshan").read_bytes()[:200])
    trace = iostrata.open_trace(folder)
    assert trace.ranks == 2
    assert trace.damage.damaged
    assert "cut" in str(trace.damage) or "ends" in str(trace.damage) or "cannot be read" in str(trace.damage)
    assert trace.layers["POSIX"].statistics("write").bytes == 8000


@pytest.mark.parametrize(
    "why", ["another job", "a program of several ranks", "copies"], ids=["jobs", "ranks", "copies"]
)
def test_what_are_runs_of_their_own_are_named_with_what_takes_all(job_folder, capsys, why):
    folder = job_folder(**({"processes": 2} if why == "a program of several ranks" else {}))
    if why == "another job":
        job_folder(job=2)
        log = made.DarshanLog({}, {}, processes=1, job=3)
        (folder / "other.darshan").write_bytes(bytes(log))
    if why == "copies":
        for path in folder.iterdir():
            path.write_bytes((folder / "prog_id1-0.darshan").read_bytes())
    assert main(["layers", str(folder)]) == 1
    error = capsys.readouterr().err
    assert "several traces" in error
    assert "iostrata collect" in error


def test_collect_takes_a_job_as_one_run(job_folder, tmp_path_factory, capsys):
    assert main(["collect", str(job_folder()), "-o", str(tmp_path_factory.mktemp("runs") / "runs")]) == 0
    assert "1 run in" in capsys.readouterr().out


def test_logs_without_a_byte_are_damage_and_what_is_no_file_is_none(job_folder):
    folder = job_folder()
    for name in ("a0.darshan", "a1.darshan"):  # before the others: they must not pass for copies
        (folder / name).touch()
    os.mkfifo(folder / "b.darshan")  # opening it would wait for ever
    (folder / "c.darshan").symlink_to("c.darshan")
    trace = iostrata.open_trace(folder)
    assert trace.ranks == 3
    assert trace.layers["POSIX"].statistics("write").bytes == 12_000
    assert len(trace.damage.locations) == 2
