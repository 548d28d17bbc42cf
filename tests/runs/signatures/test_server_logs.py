"""Samples cut out of servers' logs: CSV, LMT, TOKIO."""

import os

import h5py
import numpy as np
import pytest
from iostrata import SelectionError, TraceError
from iostrata.runs.signatures.server_logs import JobTimes, job_samples, read_jobs, read_log

START = 1.5e9


def write_csv(path, times, values):
    lines = [f"{time},{value}" for time, value in zip(times, values, strict=True)]
    path.write_text("\n".join(["time,bytes_per_second", *lines]))
    return path


def test_a_job_gets_the_values_between_its_start_and_end(tmp_path):
    log = read_log(write_csv(tmp_path / "log.csv", START + 2 * np.arange(100), np.arange(100.0)))
    assert (log.interval, log.missing) == (2.0, 0)
    (sample,), rest = job_samples(log, [JobTimes("a", START + 20, START + 40)])
    assert sample.values.tolist() == list(range(10, 20))
    assert rest == []


def test_values_between_two_intervals_keep_their_volume(tmp_path):
    log = read_log(write_csv(tmp_path / "log.csv", START + 2 * np.arange(100), np.arange(100.0)))
    (sample,), _ = job_samples(log, [JobTimes("a", START + 21, START + 61)], interval=5.0)
    assert sample.volume == pytest.approx(10 + sum(2 * value for value in range(11, 30)) + 30)
    (alike,), _ = job_samples(log, [JobTimes("a", START + 20, START + 40)], interval=log.interval)
    assert alike.values.tolist() == list(range(10, 20))
    with pytest.raises(SelectionError, match="shorter than the log"):
        job_samples(log, [], interval=1.0)


def test_jobs_outside_of_the_log_are_left_out_with_the_reason(tmp_path):
    log = read_log(write_csv(tmp_path / "log.csv", START + np.arange(100), np.ones(100)))
    jobs = [JobTimes("late", START + 90, START + 200), JobTimes("short", START + 5, START + 6)]
    samples, rest = job_samples(log, jobs)
    assert samples == []
    assert ["and the log is from" in rest[0][1], "1 s only" in rest[1][1]] == [True, True]


def test_gaps_and_negative_values_are_interpolated_and_counted(tmp_path):
    times = np.delete(np.arange(20.0), [5, 6])
    values = np.where(times == 10, -3.0, times)
    log = read_log(write_csv(tmp_path / "log.csv", START + times, values))
    assert log.missing == 3
    assert log.values == pytest.approx(np.arange(20.0))


def test_values_that_no_machine_has_are_missing(tmp_path):
    path = tmp_path / "log.csv"
    rates = ["5", "1e308", "5", "1e19", "inf", "5", "5", "5"]
    path.write_text("time,bytes_per_second\n" + "".join(f"{10 * row},{rate}\n" for row, rate in enumerate(rates)))
    log = read_log(path)
    assert log.values == pytest.approx([5.0] * 8)
    assert log.missing == 3


@pytest.mark.parametrize("direction", ["read", "write", "total"])
def test_targets_of_both_hdf5_forms_are_added_up(tmp_path, direction):
    random = np.random.default_rng(0)
    read, write = random.random((30, 4)), random.random((30, 4))
    with h5py.File(tmp_path / "tokio.hdf5", "w") as file:
        file["datatargets/timestamps"] = START + 5 * np.arange(30)
        file["datatargets/readrates"], file["datatargets/writerates"] = read, write
    with h5py.File(tmp_path / "lmt.h5lmt", "w") as file:
        file["FSStepsGroup/FSStepsDataSet"] = START + 5 * np.arange(30)
        file["OSTReadGroup/OSTBulkReadDataSet"], file["OSTWriteGroup/OSTBulkWriteDataSet"] = read.T, write.T
    expected = {"read": read, "write": write, "total": read + write}[direction].sum(axis=1)
    for name in ("tokio.hdf5", "lmt.h5lmt"):
        log = read_log(tmp_path / name, direction)
        assert log.values == pytest.approx(expected)
        assert log.interval == 5.0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no column 'time'"),
        ("time,bytes\n1,2\n", "no column 'bytes_per_second'"),
        ("time,bytes_per_second\n1,2\n2,x\n", "line 3"),
        ("time,bytes_per_second\n1,2\n2\n", "line 3 has 1"),
        ("time,bytes_per_second\n1,2\n", "1 values"),
        ("time,bytes_per_second\n1,2\n1,3\n", "of one time"),
        ("time,bytes_per_second\n0,2\n1,2\n2,2\n1e12,3\n", "gaps"),
        ("time,bytes_per_second\n1,-2\n2,-2\n3,1\n", "missing, negative or beyond"),
    ],
)
def test_a_log_that_cannot_be_used_is_refused_in_one_line(tmp_path, text, words):
    path = tmp_path / "log.csv"
    path.write_text(text)
    with pytest.raises(TraceError, match=words) as caught:
        read_log(path)
    assert "\n" not in str(caught.value)


def test_files_that_are_no_hdf5_of_a_known_kind_are_refused(tmp_path):
    (tmp_path / "a.h5").write_bytes(b"nothing of the kind")
    with pytest.raises(TraceError, match="not a sound HDF5"):
        read_log(tmp_path / "a.h5")
    with h5py.File(tmp_path / "b.h5", "w") as file:
        file["x"] = 1
    with pytest.raises(TraceError, match="neither LMT nor TOKIO"):
        read_log(tmp_path / "b.h5")
    with h5py.File(tmp_path / "c.h5", "w") as file:
        file["datatargets/timestamps"] = np.arange(10)
        file["datatargets/readrates"] = np.ones((9, 2))
    with pytest.raises(TraceError, match="9 values at 10 times"):
        read_log(tmp_path / "c.h5", "read")


def _elsewhere(folder, file, way):
    """Let the rates of reads of `file` be what another file in `folder` has."""
    with h5py.File(folder / "other.h5", "w") as other:
        other["datatargets/readrates"] = np.ones((30, 4))
    (folder / "raw").write_bytes(bytes(8 * 120))
    name = "datatargets/readrates"
    if way == "external link":
        file[name] = h5py.ExternalLink("other.h5", f"/{name}")
    elif way == "link of a group":
        del file["datatargets"]
        file["datatargets"] = h5py.ExternalLink("other.h5", "/datatargets")
    elif way == "soft link":
        file["outside"] = h5py.ExternalLink("other.h5", f"/{name}")
        file[name] = h5py.SoftLink("/outside")
    elif way == "raw storage":
        file.create_dataset(name, (30, 4), "f8", external=[(folder / "raw", 0, h5py.h5f.UNLIMITED)])
    else:
        layout = h5py.VirtualLayout((30, 4), "f8")
        layout[:] = h5py.VirtualSource("missing.h5", name, (30, 4))
        file.create_virtual_dataset(name, layout)


@pytest.mark.parametrize("way", ["external link", "link of a group", "soft link", "raw storage", "virtual data set"])
def test_nothing_outside_of_the_file_is_read(tmp_path, way):
    with h5py.File(tmp_path / "log.h5", "w") as file:
        file["datatargets/timestamps"] = START + 5 * np.arange(30)
        _elsewhere(tmp_path, file, way)
    with pytest.raises(TraceError, match=r"is a link|in other files") as caught:
        read_log(tmp_path / "log.h5", "read")
    assert "\n" not in str(caught.value)


def test_a_pipe_in_the_place_of_hdf5_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "log.h5")
    with pytest.raises(OSError, match="not a regular file"):
        read_log(tmp_path / "log.h5")


def test_data_sets_without_what_was_asked_for_are_refused(tmp_path):
    with h5py.File(tmp_path / "log.h5", "w") as file:
        file["datatargets/timestamps"] = START + 5 * np.arange(30)
        file["datatargets/writerates"] = np.ones((30, 4))
    assert read_log(tmp_path / "log.h5", "write").values == pytest.approx([4.0] * 30)
    for direction in ("read", "total"):
        with pytest.raises(TraceError, match="no throughput of targets for"):
            read_log(tmp_path / "log.h5", direction)


def test_jobs_have_to_end_after_their_start(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text("start,name,end\n10,a,20\n30,b,25\n")
    with pytest.raises(TraceError, match="line 3"):
        read_jobs(path)
    path.write_text("start,name,end\n10,a,20\n")
    assert read_jobs(path) == [JobTimes("a", 10.0, 20.0)]
