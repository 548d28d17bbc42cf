"""Parts of the plugin that need no Score-P: bins that widen, lines, clocks, files that do not count."""

import json
import re
from collections import Counter
from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata.layers.selection.files import DEFAULT_RULES

from .conftest import SOURCES, Driver

SLOTS = 256
Operation = tuple[int, int, int, int]

times = st.one_of(st.integers(0, 1 << 22), st.integers(0, 1 << 34), st.integers((1 << 50) - 10**6, 1 << 50))
operations = st.lists(
    st.tuples(
        st.integers(0, 15), times, st.one_of(st.integers(0, 3), st.integers(0, 1 << 36)), st.integers(0, 1 << 48)
    ),
    max_size=30,
)


def commands(adds: list[Operation], into: int = 0) -> str:
    """Return operations (series, start, duration, bytes) as the driver reads them."""
    return "".join(f"add {into} {series} {start} {start + length} {moved}\n" for series, start, length, moved in adds)


def expected(adds: list[Operation], shift: int) -> tuple[int, dict[tuple[int, int], int]]:
    """Return the shift and the bytes by series and bin that must come of operations, by whole numbers of any size."""
    first = min((start for _, start, _, _ in adds), default=0)
    last = max((start + length for _, start, length, _ in adds), default=0)
    while (last >> shift) - (first >> shift) >= SLOTS:
        shift += 1
    found: Counter[tuple[int, int]] = Counter()
    for series, start, length, moved in adds:
        told = 0
        for place in range(start >> shift, (start + length >> shift) + 1):
            edge = min(place + 1 << shift, start + length)
            until = moved * (edge - start) // length if length else moved
            found[series, place] += until - told
            told = until
    return shift, {key: moved for key, moved in found.items() if moved}


def shown(line: str) -> tuple[int, dict[tuple[int, int], int]]:
    """Return the same of what the driver shows."""
    shift, *bins = line.split()
    cells = (tuple(map(int, cell.split(":"))) for cell in bins)
    return int(shift), {(series, place): moved for series, place, moved in cells}


@given(adds=operations, shift=st.integers(0, 30))
def test_bins_have_each_byte_where_it_moved_however_wide_they_get(driver: Driver, adds, shift) -> None:
    done = driver("bins", text=f"set {shift}\n{commands(adds)}show 0\n")
    assert shown(done.stdout) == (expected(adds, shift) if adds else (shift, {}))


@given(one=operations, other=operations, shift=st.integers(0, 30))
def test_merged_bins_are_those_of_all_operations(driver: Driver, one, other, shift) -> None:
    text = f"set {shift}\n{commands(one, 1)}{commands(other, 2)}merge 0 1\nmerge 0 2\nshow 0\n"
    done = driver("bins", text=text)
    assert shown(done.stdout) == (expected(one + other, shift) if one + other else (shift, {}))


def test_lines_are_json_and_add_up(driver: Driver) -> None:
    adds = [(0, 10**9, 5 * 10**6, 12345), (5, 10**9 + 7, 0, 1 << 48), (9, 0, 0, 0), (15, 2 * 10**9, 10**9, 99)]
    done = driver("lines", 'no"de\\\x01é', "p", text=f"set 23\n{commands(adds)}")
    header, *bins, time, end = map(json.loads, done.stdout.splitlines()[:7])
    assert header["kind"] == "header"
    assert header["version"] == 1
    assert abs(header["origin"] - 1700000000.123456789) < 1e-6
    assert (header["node"], header["program"], header["ranks"], header["bytes_before"]) == ('no"de\\???', "p", 8, 5)
    assert (time, end["kind"], end["time"], end["bytes_dropped"]) == (
        {"kind": "time", "time": 1.000000001},
        "end",
        2e-9,
        9,
    )
    assert [(line["layer"], line["mode"], line["rank"], line["operations"]) for line in bins] == [
        ("POSIX", "read", 3, 1), ("MPI-IO", "write", 3, 1), ("netCDF", "write", 3, 1), ("C", "write", 3, 1),
    ]  # fmt: skip
    assert [sum(line["bytes"]) for line in bins] == [12345, 1 << 48, 0, 99]
    assert end["bytes_told"] == 12345 + (1 << 48) + 99
    assert bins[2]["bytes"] == []
    for line, (_, start, _, _) in zip(bins, adds, strict=True):
        if line["bytes"]:
            assert line["bytes"][0] > 0 < line["bytes"][-1]
            begin = line["origin"] + line["first"] * line["width"]
            assert begin <= start / 1e9 < begin + line["width"]


def test_lines_that_have_no_room_are_left_out_whole(driver: Driver) -> None:
    adds = [(series, place << 20, 0, 1 << 47) for series in range(4) for place in range(SLOTS)]
    done = driver("lines", "n", "p", text=f"set 20\n{commands(adds)}")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["kind"] for line in lines] == ["header", *["bins"] * 4, "time", "end", "header"]
    assert lines[0] == lines[-1]
    assert max(map(len, done.stdout.splitlines())) < 1 << 20


@pytest.mark.parametrize("timer", ["tsc", "clock_gettime", "gettimeofday", "unheard-of"])
def test_time_stamps_of_each_timer_become_times_of_day(driver: Driver, timer: str) -> None:
    done = driver("clock", timer, "10")
    assert int(done.stdout) < 1_000_000


def test_the_same_files_are_set_aside_as_in_traces(driver: Driver) -> None:
    text = (SOURCES / "file_rules.h").read_text()
    table = re.search(r"FILE_RULES\[\] = \{(.*?)\};", text, re.DOTALL)
    assert table
    assert re.findall(r'"(.*)",', table[1]) == [rule.pattern for rule in DEFAULT_RULES]
    names = [
        "/proc/self/maps",
        "/proc",
        "/process/x",
        "/home/proc/x",
        "/dev/shm/x",
        "/data/a.sm",
        "/data/a.sm/b",
        "/data/a.smx",
        "/lib/x",
        "/library/x",
        "/tmp/ompi.n.0/jf.0/1",
        "/scratch/ompi.n/pid.7/x",
        "/scratch/ompi.n/x",
        "/x/pmix-1/y",
        "/opt/lib/python3.11/os.py",
        "/opt/lib/pythonic/x",
        "pipe:[123]",
        "/data/pipe:",
        "socket:[1]",
        "/data/out.locktest.0",
        "/data/out.nc",
        "relative/out",
        "out[1].h5",
        "/data/é",
    ]
    done = driver("aside", text="\n".join(names) + "\n")
    oracle = [
        any(fnmatchcase(name, rule.pattern) or fnmatchcase(name, rule.pattern + "/*") for rule in DEFAULT_RULES)
        for name in names
    ]
    assert [line == "1" for line in done.stdout.split()] == oracle
    assert 5 < sum(oracle) < len(oracle) - 5
