"""Lines of a running job: whatever the pieces they come in, and whatever is wrong with them."""

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iostrata.live.records.intake import Intake, Key
from iostrata.live.records.lines import LONGEST_LINE, LineReader

WRITE = Key("POSIX", "write")


def told(*lines, intake=None):
    intake = intake or Intake()
    reader = LineReader(intake)
    for line in lines:
        text = line if isinstance(line, bytes) else json.dumps(line).encode()
        reader.feed(text + b"\n")
    reader.finish()
    return intake


def operation(start, end, volume=8, layer="POSIX", mode="write", **other):
    return {"layer": layer, "rank": 0, "mode": mode, "start": start, "end": end, "bytes": volume, **other}


def rows(intake, key=WRITE):
    found = intake.take()[key]
    return list(zip(found.start.tolist(), found.end.tolist(), found.volume.tolist(), strict=True))


MIXED = [
    {"kind": "header", "version": 1, "origin": 1000.0, "program": "app"},
    operation(1.0, 2.0),
    b"",
    b"no JSON",
    operation(3.0, 4.0, 2**49),
    {"kind": "bins", "layer": "HDF5", "mode": "read", "origin": 0.5, "width": 0.25, "first": 6, "bytes": [1, 0, 3]},
    operation(0.5, 1.5, kind="operation", extra="é"),
    {"kind": "time", "time": 9.0},
    {"kind": "header", "origin": 1100.0},
    operation(1.0, 2.0),
    {"kind": "end", "time": 3.0},
]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 900), max_size=30))
def test_cut_into_any_pieces(cuts):
    data = b"".join((one if isinstance(one, bytes) else json.dumps(one).encode()) + b"\n" for one in MIXED)
    whole, parts = Intake(), Intake()
    LineReader(whole).feed(data)
    reader = LineReader(parts)
    edges = sorted({0, len(data), *(min(cut, len(data)) for cut in cuts)})
    for low, high in pairwise(edges):
        reader.feed(data[low:high])
    assert parts.counts == whole.counts
    assert (parts.clock.begin, parts.clock.now) == (whole.clock.begin, whole.clock.now) == (0.5, 103.0)
    one, other = whole.take(), parts.take()
    assert list(one) == list(other) == [WRITE, Key("HDF5", "read")]
    for key, found in one.items():
        np.testing.assert_array_equal(found.start, other[key].start)
    assert whole.counts.malformed == 2
    assert whole.counts.restarts == 1


def test_bins_are_intervals_of_their_own():
    intake = told(
        {
            "kind": "bins",
            "layer": "POSIX",
            "mode": "write",
            "origin": 0.5,
            "width": 0.25,
            "first": 6,
            "bytes": [1, 0, 3],
        }
    )
    assert rows(intake) == [(2.0, 2.25, 1), (2.5, 2.75, 3)]


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"[1]",
        b"nan",
        b"\xff\xfe",
        b"[" * 5000,
        {"kind": "else"},
        {"kind": "header", "origin": "yesterday"},
        {"kind": "time"},
        operation(2.0, 1.0),
        operation(1.0, 2.0, -1),
        operation(1.0, 2.0, 1.5),
        operation(1.0, 2.0, True),
        operation(1.0, 2.0, 2**48 + 1),
        operation(1.0, float("inf")),
        operation(float("nan"), 2.0),
        operation("1", 2.0),
        operation(1.0, 2.0, mode="flush"),
        operation(1.0, 2.0, layer=""),
        operation(1.0, 2.0, layer=["POSIX"]),
        {"kind": "bins", "layer": "POSIX", "mode": "write", "origin": 0, "width": 0, "first": 0, "bytes": [1]},
        {"kind": "bins", "layer": "POSIX", "mode": "write", "origin": 0, "width": 1, "first": 0, "bytes": 5},
        {"kind": "bins", "layer": "POSIX", "mode": "write", "origin": 0, "width": 1, "first": 0, "bytes": [1, "2"]},
        {"kind": "bins", "layer": "POSIX", "mode": "write", "origin": 0, "width": 1, "first": 10**400, "bytes": [1]},
        {"read_sync": 5},
        {},
        b"a\rb,c",
        b"x" * (LONGEST_LINE + 1),
    ],
)
def test_a_line_that_is_no_record_is_counted_and_nothing_else(line):
    intake = told(operation(0.0, 1.0), line, operation(2.0, 3.0))
    assert intake.counts.malformed == 1
    assert rows(intake) == [(0.0, 1.0, 8), (2.0, 3.0, 8)]


def test_a_line_without_end_takes_no_memory():
    intake = Intake()
    reader = LineReader(intake)
    for _ in range(40):
        reader.feed(b"x" * 2**17)
    assert len(reader._rest) <= LONGEST_LINE
    reader.feed(b'\n{"layer": "POSIX", "mode": "write", "start": 0, "end": 1, "bytes": 8}\n')
    assert intake.counts.malformed == 1
    assert rows(intake) == [(0.0, 1.0, 8)]


def test_late_and_unordered_records_are_kept_and_counted():
    intake = told(operation(100.0, 101.0), operation(99.0, 100.5), operation(5.0, 6.0), operation(102.0, 103.0))
    assert (intake.counts.out_of_order, intake.counts.late) == (2, 1)
    assert len(rows(intake)) == 4


def test_one_time_far_away_is_set_aside_and_several_are_a_jump():
    near = [operation(float(n), n + 0.5) for n in range(5)]
    intake = told(*near, operation(1.7e9, 1.7e9 + 1), *near, operation(1.7e9, 1.7e9 + 1), operation(8.0, 9.0))
    assert intake.counts.clock_jumps == 2
    assert not intake.jumped
    assert intake.clock.now == 9.0
    told(*(operation(1.7e9 + n, 1.7e9 + n + 1) for n in range(4)), intake=intake)
    assert intake.jumped
    assert intake.clock.now == 1.7e9 + 4
    # The first that agree on the new time are of the new run, too.
    assert rows(intake) == [(1.7e9 + n, 1.7e9 + n + 1, 8) for n in range(4)]
    assert intake.counts.clock_jumps == 3


@pytest.mark.parametrize(
    "far",
    [
        {"kind": "bins", "layer": "POSIX", "mode": "write", "origin": 0, "width": 1, "first": 10**290, "bytes": [1]},
        {
            "write_sync": {
                "total_bytes": 0,
                "number_of_ranks": 2,
                "bandwidth": {"b_rank_avr": [0.0], "t_rank_s": [1e300], "t_rank_e": [1.1e300]},
            }
        },
    ],
)
def test_a_first_time_that_cannot_be_does_not_set_the_clock(far):
    intake = told(far, operation(1.0, 2.0), operation(3.0, 4.0))
    assert rows(intake) == [(1.0, 2.0, 8), (3.0, 4.0, 8)]
    assert (intake.clock.now, intake.counts.malformed, intake.counts.clock_jumps) == (4.0, 1, 0)


def test_a_writer_that_begins_anew_goes_on():
    intake = told({"kind": "header"}, operation(1.0, 2.0), {"kind": "header"}, operation(1.0, 2.0))
    assert rows(intake) == [(1.0, 2.0, 8), (3.0, 4.0, 8)]
    assert intake.counts.restarts == 1


def test_streams_with_origins_share_a_clock():
    intake = told({"kind": "header", "origin": 500.0}, operation(1.0, 2.0))
    told({"kind": "header", "origin": 510.5}, operation(1.0, 2.0), intake=intake)
    assert rows(intake) == [(1.0, 2.0, 8), (11.5, 12.5, 8)]


def test_a_file_that_was_cut_begins_anew():
    intake = Intake()
    reader = LineReader(intake)
    reader.feed(b"".join(json.dumps(operation(float(n), n + 0.5)).encode() + b"\n" for n in range(10)) + b'{"lay')
    reader.truncated()
    reader.feed(json.dumps(operation(0.0, 0.5)).encode() + b"\n")
    assert intake.counts.malformed == 0
    assert (intake.counts.truncations, intake.counts.restarts) == (1, 1)
    assert rows(intake)[-1] == (9.5, 10.0, 8)


def test_names_without_end_are_refused():
    intake = told(*(operation(float(n), n + 0.5, layer=f"layer {n}") for n in range(100)))
    assert len(intake.keys) == 64
    assert intake.counts.refused == 36


def test_counters_of_a_server():
    intake = told(b"time,read_bytes_per_second,write_bytes_per_second", b"100,0,10", b"105,4,20", b"110,,0", b"oops")
    assert rows(intake, Key("server", "write")) == [(100.0, 105.0, 50), (105.0, 110.0, 100)]
    assert intake.counts.malformed == 1


def test_lines_of_tmio():
    bandwidth = {"b_rank_avr": [10.0, 20.0], "t_rank_s": [1.0, 3.0], "t_rank_e": [2.0, 5.0]}
    line = {"write_sync": {"total_bytes": 50, "number_of_ranks": 2, "bandwidth": bandwidth}}
    assert rows(told(line), Key("MPI-IO", "write")) == [(1.0, 2.0, 10), (3.0, 5.0, 40)]
