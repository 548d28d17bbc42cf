"""Tables of jobs in each format, and what makes no sense in them."""

import json
from contextlib import nullcontext, suppress

import numpy as np
import pytest
from iostrata import TraceError
from iostrata.runs.scheduling import tables
from iostrata.runs.scheduling.tables import is_job_table, read_job_table

ROWS = [
    {"job": "a", "period_s": 19.2, "io_share": 0.0625, "iterations": 4, "release_s": 2.5, "compute_jitter": 0.1},
    {"job": "b", "period_s": 384, "io_share": 0.25, "iterations": None, "release_s": None, "compute_jitter": None},
]


@pytest.fixture(autouse=True)
def _arrow():
    pytest.importorskip("pyarrow")


def write(path, rows):
    names = list(dict.fromkeys(name for row in rows for name in row))
    if path.suffix == ".csv":
        lines = [",".join("" if row.get(name) is None else str(row[name]) for name in names) for row in rows]
        path.write_text("\n".join([",".join(names), *lines]) + "\n")
    elif path.suffix == ".parquet":
        import pyarrow
        import pyarrow.parquet

        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    else:
        path.write_text("\n".join(map(json.dumps, rows)) + "\n")
    return path


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_each_format_says_the_same(tmp_path, suffix):
    path = write(tmp_path / f"jobs{suffix}", ROWS)
    assert is_job_table(path)
    first, second = read_job_table(path)
    assert (first.name, first.period, first.iterations, first.release, first.jitter) == ("a", 19.2, 4, 2.5, 0.1)
    assert first.work.tolist() == pytest.approx([1.2])
    assert first.compute.tolist() == pytest.approx([18])
    assert (second.iterations, second.release, second.jitter, second.nodes) == (None, None, 0.0, 1.0)


@pytest.mark.parametrize("how", [{"io_share": 0.25}, {"io_time_s": 5}, {"bytes": 10e9, "bandwidth": 2e9}])
def test_ways_to_say_how_long_io_takes(tmp_path, how):
    (job,) = read_job_table(write(tmp_path / "jobs.csv", [{"job": "a", "period_s": 20, **how}]))
    assert job.work.tolist() == [5]
    assert job.compute.tolist() == [15]


def test_what_the_scheduler_is_told(tmp_path):
    rows = [
        {"job": "wrong", "period_s": 20, "io_share": 0.5, "known_period_s": 300, "nodes": 16},
        {"job": "none", "period_s": 20, "io_share": 0.5, "known_period_s": None, "nodes": 2},
    ]
    wrong, none = read_job_table(write(tmp_path / "jobs.csv", rows))
    assert (wrong.period, none.period) == (300, None)
    assert wrong.compute.tolist() == [10]
    assert (wrong.nodes, none.nodes) == (16, 2)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("job,period_s,io_share\n", "without jobs"),
        ("job,period_s,io_share\na,20,0.5\na,20,0.5\n", "line 3.*there already"),
        ("job,period_s,io_share\n,20,0.5\n", "line 2: no name"),
        ("job,period_s,io_share\na,,0.5\n", "no period_s"),
        ("job,io_share\na,0.5\n", "no period_s"),
        ("job,period_s,io_share\na,soon,0.5\n", "period_s is 'soon'"),
        ("job,period_s,io_share\na,-20,0.5\n", "period_s is '-20'"),
        ("job,period_s,io_share\na,1e300,0.5\n", "period_s is '1e300'"),
        ("job,period_s,io_share\na,inf,0.5\n", "period_s is 'inf'"),
        ("job,period_s,io_share\na,20,1.5\n", "io_share is '1.5'"),
        ("job,period_s,io_share\na,20,1\n", "a part of the period is I/O"),
        ("job,period_s,io_share\na,20,0\n", "a part of the period is I/O"),
        ("job,period_s,io_share\na,20\n", "give io_share"),
        ("job,period_s,bytes\na,20,100\n", "give io_share"),
        ("job,period_s,io_time_s\na,20,30\n", "a part of the period is I/O"),
        ("job,period_s,io_share,iterations\na,20,0.5,2.5\n", "not a whole number"),
        ("job,period_s,io_share,iterations\na,20,0.5,0\n", "iterations is '0'"),
        ("job,period_s,io_share,nodes\na,20,0.5,0\n", "nodes is '0'"),
        ("job,period_s,io_share,compute_jitter\na,20,0.5,\x1b[31m\n", r"'\\x1b\[31m'"),
    ],
)
def test_what_makes_no_sense_is_named(tmp_path, text, words):
    path = tmp_path / "jobs.csv"
    path.write_text(text)
    with pytest.raises(TraceError, match=words) as caught:
        read_job_table(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("columns", "of_jobs"),
    [
        ("job,io_share", True),
        ("job,bytes,bandwidth,known_period_s", True),
        ("job,layer,rank,mode,start,end,bytes", False),
        ("period_s,io_share", False),
    ],
)
def test_a_table_of_jobs_is_known_by_what_only_jobs_have(tmp_path, columns, of_jobs):
    path = tmp_path / "jobs.csv"
    path.write_text(f"{columns}\n")
    assert is_job_table(path) == of_jobs


@pytest.mark.parametrize(
    "text", ["[1, 2]\n", '{"job": "a"', '{"job": "a", "period_s": 20, "io_share": []}', "[" * 9999]
)
def test_lines_that_are_no_rows(tmp_path, text):
    path = tmp_path / "jobs.jsonl"
    path.write_text(text)
    with pytest.raises(TraceError, match="line 1"):
        read_job_table(path)
    assert is_job_table(path) == ("period_s" in text)


def test_broken_files(tmp_path):
    path = tmp_path / "jobs.parquet"
    path.write_bytes(b"PAR1 no more")
    with pytest.raises(TraceError, match="not a sound Parquet"):
        is_job_table(path)
    whole = write(tmp_path / "whole.parquet", ROWS).read_bytes()
    for place in range(8, len(whole), 97):
        path.write_bytes(whole[:place] + b"\xff\x00\xff" + whole[place + 3 :])
        # Where the damage is in what nobody reads, there is nothing to tell.
        with suppress(TraceError):
            read_job_table(path)


def test_a_table_of_operations_is_none_of_jobs(tmp_path):
    path = tmp_path / "operations.csv"
    path.write_text("layer,rank,start,end,bytes,mode\nPOSIX,0,0,1,10,write\n")
    assert not is_job_table(path)
    assert not is_job_table(tmp_path / "missing.csv")
    assert not is_job_table(tmp_path)


@pytest.mark.parametrize(
    ("column", "low", "high"),
    [
        ("bandwidth", 1e-3, 2.0**63),
        ("bytes", None, 2.0**63),
        ("iterations", 1, 2**31),
        ("compute_jitter", 0, 2),
        ("nodes", 1e-3, 1e9),
        ("known_period_s", 1e-9, 1e12),
    ],
)
def test_numbers_make_sense_to_their_bounds_and_not_beyond(tmp_path, column, low, high):
    def read(value):
        row = {"job": "a", "period_s": 20, "io_time_s": 1} | {column: value}
        return read_job_table(write(tmp_path / "jobs.csv", [row]))

    whole = column == "iterations"
    for bound, beyond in ((low, -np.inf), (high, np.inf)):
        if bound is not None:
            assert len(read(bound)) == 1
            with pytest.raises(TraceError, match=f"{column} is "):
                read(bound + (1 if beyond > 0 else -1) if whole else np.nextafter(float(bound), beyond))


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_a_row_that_makes_no_sense_is_named_by_its_place(tmp_path, suffix):
    rows = [{"job": name, "period_s": 20.0, "io_share": share} for name, share in (("a", 0.5), ("b", 0.5), ("c", 2.0))]
    place = {".csv": "line 4", ".jsonl": "line 3", ".parquet": "row 3"}[suffix]
    with pytest.raises(TraceError, match=f": {place}: io_share"):
        read_job_table(write(tmp_path / f"jobs{suffix}", rows))


def test_long_words_are_cut(tmp_path):
    name, word = "a" * 1001, "b" * 61
    (job,) = read_job_table(write(tmp_path / "jobs.csv", [{"job": name, "period_s": 20, "io_share": 0.5}]))
    assert job.name == name[:1000]
    with pytest.raises(TraceError, match=r"is '(?=.{60}')b+…b+'"):
        read_job_table(write(tmp_path / "jobs.csv", [{"job": "a", "period_s": word, "io_share": 0.5}]))
    with pytest.raises(TraceError, match=f"is '{word[:60]}'"):
        read_job_table(write(tmp_path / "jobs.csv", [{"job": "a", "period_s": word[:60], "io_share": 0.5}]))


def test_a_line_of_json_may_have_a_mebibyte(tmp_path):
    path, row = tmp_path / "jobs.jsonl", json.dumps({"job": "a", "period_s": 20, "io_share": 0.5})
    for more in (0, 1):
        path.write_text(row[:-1] + " " * (2**20 - len(row) + more) + row[-1])
        with pytest.raises(TraceError, match="line 1 is not") if more else nullcontext():
            assert len(read_job_table(path)) == 1
        assert is_job_table(path) == (not more)


def test_jobs_beyond_the_most_are_refused(tmp_path, monkeypatch):
    rows = [{"job": name, "period_s": 20, "io_share": 0.5} for name in "abc"]
    path = write(tmp_path / "jobs.csv", rows)
    monkeypatch.setattr(tables, "MOST_JOBS", 3)
    assert len(read_job_table(path)) == 3
    monkeypatch.setattr(tables, "MOST_JOBS", 2)
    with pytest.raises(TraceError, match="more than 2 jobs"):
        read_job_table(path)
