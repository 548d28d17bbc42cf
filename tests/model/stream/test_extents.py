"""Locations whose files cannot be of one run with the others: each way on both sides of where it is told."""

import numpy as np
import pytest
from iostrata.model.definitions import Clock
from iostrata.model.stream.extents import EXTENT, Extents, contradictions

SECOND = 1000
LENGTH = 100 * SECOND
SOUND = {"begin": 10, "end": LENGTH - 10, "owner": 1, "synchronised": 20, "resynchronised": LENGTH - 20, "print": 0}


def told(*locations, known=(), length=LENGTH):
    """Return by place what is said of locations, each a process of its own unless it names one; ids are 100 + place."""
    count = len(locations)
    rows = [{**SOUND, **one} for one in locations]
    columns = np.array([tuple(one[name] for name in EXTENT.names) for one in rows], EXTENT)
    process = np.array([one.get("process", place) for place, one in enumerate(rows)])
    parts = tuple(
        Extents(
            Clock(ticks_per_second=SECOND, start=0, length=length, realtime_ns=None),
            np.arange(count)[some],
            np.arange(100, 100 + count, dtype=np.uint64)[some],
            process[some],
            np.array([one.get("events", 50) for one in rows])[some],
            process[some] == 0,
            columns[some],
        )
        for some in (slice(count // 2, None), slice(0, count // 2))
    )
    found = contradictions(parts, set(known))
    for row, (identity, events, _) in found.items():
        assert (identity, events) == (100 + row, rows[row].get("events", 50))
    return {row: reason for row, (_, _, reason) in found.items()}


def test_nothing_is_said_of_locations_that_agree():
    assert contradictions((), set()) == {}
    assert told({}, {}, {}, {}) == {}
    assert told({"begin": 0, "end": LENGTH}, {"begin": 50_000, "end": 50_001}) == {}


@pytest.mark.parametrize(
    ("shift", "others", "processes", "said"),
    [
        (500, 0, 5, "500 ms later"),
        (-500, 0, 5, "500 ms earlier"),
        (11, 0, 5, "11 ms later"),
        (10, 0, 5, None),
        (500, 0, 4, "500 ms later"),
        (500, 0, 3, None),
        (210, 20, 5, "210 ms later"),
        (200, 20, 5, None),
    ],
)
def test_a_process_that_begins_and_ends_displaced_alike_has_another_clock(shift, others, processes, said):
    """Beyond a hundredth of a second, and ten times what the others differ, among four processes or more."""
    middle = {"begin": 20_000, "end": 80_000, "synchronised": 30_000, "resynchronised": 70_000}

    def moved(by):
        return {**middle, "begin": middle["begin"] + by, "end": middle["end"] + by}

    rows = [moved(0)] * (processes - 2) + [moved(others), moved(shift)]
    found = told(*rows)
    assert set(found) == (set() if said is None else {processes - 1})
    if said is not None:
        assert found[processes - 1].startswith(f"its process begins and ends {said} than the others")
    # Who only begins later, or is in between, has come later.
    assert told(*rows[:-1], {**middle, "begin": middle["begin"] + shift}) == {}
    assert told(*rows[:-1], {**middle, "begin": middle["begin"] + abs(shift), "end": 80_000 - abs(shift)}) == {}


def test_definitions_of_another_process_are_told():
    assert set(told({}, {"owner": -1}, {})) == {1}
    # Who says nothing while others do is told, but for the first process; where nobody does, nobody is.
    assert set(told({"owner": 0}, {"owner": 0}, {})) == {1}
    assert told({"owner": 0}, {"owner": 0}, {"owner": 0}) == {}
    assert "of another process or run" in told({"owner": -1}, {})[0]


@pytest.mark.parametrize(
    ("first", "last", "apart"),
    [
        (0, 9, True),
        (0, 10, False),
        (LENGTH - 10, LENGTH, False),
        (LENGTH - 9, LENGTH, True),
        (5, 4, False),
        (9, 9, True),
    ],
)
def test_a_clock_is_measured_while_its_process_runs(first, last, apart):
    """Which may have several threads, of which others begin later and end earlier."""
    thread = {"begin": 500, "end": 600, "process": 1}
    other = {"synchronised": first, "resynchronised": last, "process": 1}
    assert set(told({}, other, thread)) == ({1} if apart else set())


@pytest.mark.parametrize(
    ("edge", "said"),
    [
        ({"end": LENGTH + 10}, None),
        ({"end": LENGTH + 11}, "end 11 ms after the trace"),
        ({"begin": -10}, None),
        ({"begin": -11}, "begin 11 ms before the trace"),
        ({"begin": 0, "end": LENGTH + 11}, "end 11 ms after the trace"),
        ({"begin": -11, "end": LENGTH}, "begin 11 ms before the trace"),
        ({"begin": -3000, "end": LENGTH + 2000}, "begin 3 s before the trace and end 2 s after the trace"),
    ],
)
def test_events_outside_of_the_trace_are_told_beyond_what_clocks_lead(edge, said):
    found = told({}, edge, {}, {})
    assert set(found) == (set() if said is None else {1})
    assert said is None or found[1] == f"its events {said}: its clock is off, or it is of another run"
    assert told({}, edge, length=0) == {}


def test_where_most_lie_outside_it_is_the_definitions_that_are_imprecise_up_to_a_tenth():
    late, far = {"end": LENGTH + 500}, {"end": LENGTH + 10_001}
    assert set(told({}, {}, late, late)) == {2, 3}
    assert told({}, late, late) == {}
    assert told(late, late) == {}
    assert set(told({}, late, far)) == {2}
    assert told({}, late, {"end": LENGTH + 10_000}) == {}
    assert set(told(late)) == {0}


def test_files_that_begin_alike_are_copies_unless_most_do():
    assert set(told({"print": 7}, {}, {"print": 7}, {"print": 8})) == {2}
    assert "as that of location 100 does" in told({"print": 7}, {"print": 9}, {"print": 7}, {"print": 8})[2]
    assert set(told({"print": 7}, {"print": 7}, {"print": 7}, {"print": 8})) == {1, 2}
    assert told({"print": 7}, {"print": 7}, {"print": 7}, {"print": 7}) == {}
    few = {"print": 7, "events": 15}
    assert told({"print": 7}, few, {"print": 8}, {"print": 9}) == {}
    assert set(told({"print": 7}, {**few, "events": 16}, {"print": 8}, {"print": 9})) == {1}


def test_of_what_is_known_for_damage_nothing_more_is_said():
    assert told({}, {"owner": -1}, {}, known=[1]) == {}
    assert told({"print": 7}, {"print": 8}, {"print": 7}, {"print": 9}, known=[0]) == {}
    assert told({"print": 7}, {"print": 8}, {"print": 7}, {"print": 9}, known=[2]) == {}
