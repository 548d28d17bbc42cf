"""Calls in which several processes are at one time, against a slow search for them."""

import re
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from iostrata import open_trace
from iostrata.layers.attribution.calls.functions import WAITS_FOR_ALL
from iostrata.layers.attribution.calls.meetings import Meetings, SharedCalls, SharedRows, may_wait, meetings
from iostrata.layers.attribution.calls.waits import NOBODY_WAITS, UNKNOWN_CAUSES, Causes, Pieces, Waits
from iostrata.model.ranges import NOTHING, Coverage

FIXED = {"kind": np.uint8, "begin": np.int64, "end": np.int64}


def shared(rows):
    """Return the calls of rows of process, region, file, begin and end."""
    names = ("process", "region", "file", "begin", "end")
    columns = dict(zip(names, np.array(rows, np.int64).reshape(-1, 5).T, strict=True))
    columns |= {"kind": np.ones(len(rows)), "handle": columns["file"]}
    return SharedRows(**{name: columns[name].astype(FIXED.get(name, np.int32)) for name in SharedRows.__annotations__})


def found_in(rows, parts=1, layers=(1,)):
    """Return the meetings of the same calls of some layers, which come in some parts."""
    whole = SharedCalls()
    for part in np.array_split(np.arange(len(rows)), parts):
        calls = SharedCalls()
        calls.add(shared([rows[row] for row in part]))
        whole.merge(calls)
    handles = SimpleNamespace(communicator=np.zeros(9, np.uint32))
    definitions = SimpleNamespace(handles=handles, location_sets=(), communicators=())
    return meetings(dict.fromkeys(layers, whole), SimpleNamespace(definitions=definitions))


def searched(rows):
    """Return what each process waits in each call, as a set of process, begin and ticks."""
    waits = set()
    for region, file in {(one[1], one[2]) for one in rows}:
        of = {}
        for process, _, _, begin, end in sorted(
            (r for r in rows if (r[1], r[2]) == (region, file)), key=lambda r: r[3]
        ):
            of.setdefault(process, []).append((begin, end))
        if len(of) < 2 or len({len(calls) for calls in of.values()}) > 1:
            continue
        for calls in zip(*of.values(), strict=True):
            last = max(begin for begin, _ in calls)
            leave = min(end for _, end in calls)
            if last <= leave < 2 * last - min(begin for begin, _ in calls):
                waits |= {(process, begin, last - begin) for process, (begin, _) in zip(of, calls, strict=True)}
    return waits


@pytest.mark.parametrize("seed", range(12))
def test_meetings_are_those_of_a_slow_search(seed):
    random = np.random.default_rng(seed)
    rows = []
    for step in range(30):
        region, file = random.integers(2), random.integers(3)
        for process in range(4):
            # Some do not take part, and some do so by themselves.
            if random.random() < 0.97:
                begin = 1000 * step + int(random.integers(100))
                rows.append((process, region, file, begin, begin + int(random.integers(20, 300))))
    found = found_in(rows, parts=1 + seed % 3)
    told = set(zip(found.process.tolist(), found.begin.tolist(), found.waited.tolist(), strict=True))
    assert told == searched(rows)
    assert (np.diff(found.meeting) >= 0).all()
    assert (found.waited[found.final] == 0).all()
    assert (found.counts > 1).all()
    assert int(found.sums["ticks"].sum()) == int(found.waited.sum())


def test_what_the_call_takes_longer_than_anybody_waits_is_part_of_it():
    assert len(found_in([(0, 0, 0, 10, 60), (1, 0, 0, 35, 61)])) == 0
    assert len(found_in([(0, 0, 0, 10, 59), (1, 0, 0, 35, 61)])) == 2


def test_the_time_in_which_the_last_one_is_in_io_is_left_out():
    found = found_in([(0, 0, 0, 10, 90), (1, 0, 0, 20, 90), (2, 0, 0, 70, 90)])
    assert found.waited.tolist() == [60, 50, 0]
    busy = Coverage(np.array([1, 2, 2]), np.array([0, 15, 60]), np.array([90, 40, 100]))
    # From 15 to 40 and from 60 to 70 process 2 is.
    assert found.without(busy, UNKNOWN_CAUSES).waited.tolist() == [60 - 25 - 10, 50 - 20 - 10, 0]


def test_who_left_the_call_before_later_is_not_waited_for_again():
    """Process 1 moves the data of both and leaves 30 later; from there on it takes 30 to the next, and 0 20."""
    found = found_in([(0, 0, 0, 10, 100), (1, 0, 0, 60, 130), (0, 0, 0, 120, 175), (1, 0, 0, 160, 190)])
    assert found.waited.tolist() == [50, 0, 40, 0]
    assert found.without(NOTHING, UNKNOWN_CAUSES).waited.tolist() == [50, 0, 10, 0]


@pytest.mark.parametrize("seed", range(8))
def test_whom_processes_wait_for_in_the_end_as_followed_tick_by_tick(seed):
    random = np.random.default_rng(seed)
    length, processes = 200, 5
    # At each time a process waits for one further on, in a call of MPI for nobody knows whom, or not at all.
    state = np.repeat(random.integers(-1, processes, (processes, length // 5)), 5, axis=1)
    state = np.where(state > np.arange(processes)[:, np.newaxis], state, np.where(state == 0, -2, -1))
    alone = np.where((state == -1).sum(axis=0) == 1, (state == -1).argmax(axis=0), -1)

    def runs(of, column):
        edges = np.append(0, np.flatnonzero(np.diff(column)) + 1)
        return [(of, int(column[one]), one, two, 7) for one, two in zip(edges, [*edges[1:], length], strict=True)]

    known = [run for of in range(processes) for run in runs(of, state[of])]
    waits = [run for run in known if run[1] >= 0]
    hanging = [(of, -1, one, two, -1) for of, to, one, two, _ in known if to == -2]
    by_itself = [run for run in runs(-1, alone) if run[1] >= 0]
    causes = Causes(
        *(Waits.of(Waits(*np.array(rows, np.int64).reshape(-1, 5).T)) for rows in (waits, hanging, by_itself))
    )
    rows, ends = np.arange(processes), np.full(processes, length)
    pieces = causes.traced(Pieces(rows, rows, 0 * rows, ends, rows * 0 - 1))
    told = np.full((processes, length), -9)
    for row, cause, begin, end in zip(pieces.row, pieces.cause, pieces.begin, pieces.end, strict=True):
        assert (told[row, begin:end] == -9).all()
        told[row, begin:end] = cause
    for row in range(processes):
        for tick in range(length):
            one = row
            while state[one, tick] >= 0:
                one = state[one, tick]
            assert told[row, tick] == (one if state[one, tick] == -1 else alone[tick])


def test_of_too_many_pieces_who_comes_last_is_named(monkeypatch):
    waits = Waits(*np.array([[1, 2, 10, 20, 7], [1, 2, 30, 40, 7]], np.int64).T)
    pieces = Pieces(*np.array([[0, 1, 0, 50, -1]], np.int64).T)
    causes = Causes(waits, NOBODY_WAITS, NOBODY_WAITS)
    assert sorted(causes.traced(pieces).cause.tolist()) == [1, 1, 1, 2, 2]
    monkeypatch.setattr("iostrata.layers.attribution.calls.waits._MOST", 1)
    assert causes.traced(pieces).cause.tolist() == [1]


def test_of_too_many_calls_nothing_is_said(monkeypatch):
    monkeypatch.setattr("iostrata.layers.attribution.calls.meetings._MOST", 2)
    assert len(found_in([(0, 0, 0, 10, 25), (1, 0, 0, 20, 25)])) == 2
    assert len(found_in([(0, 0, 0, 10, 90), (1, 0, 0, 20, 90), (2, 0, 0, 70, 90)])) == 0
    assert len(found_in([(0, 0, 0, 10, 90), (1, 0, 0, 20, 90), (2, 0, 0, 70, 90)], parts=3)) == 0


def test_meetings_of_layers_are_apart():
    rows = [(0, 0, 0, 10, 25), (1, 0, 0, 20, 25), (0, 1, 1, 10, 11), (1, 1, 1, 12, 13)]
    found = found_in(rows, layers=(2, 0))
    assert found.layer.tolist() == [0, 0, 2, 2]
    assert found.final.tolist() == [1, 3]
    assert found.of_layer(2).waited.tolist() == [10, 0]


def test_no_calls_meet_nowhere():
    assert len(Meetings.empty().final) == 0
    assert len(found_in([])) == 0


@pytest.mark.skipif(shutil.which("otf2-print") is None, reason="needs otf2-print of the OTF2 library")
@pytest.mark.parametrize("options", [{}, {"memory": 5 * 10**8}, {"engine": "library"}])
@pytest.mark.parametrize("function", ["MPI_File_open", "H5Fcreate", "nc_enddef"])
def test_meetings_of_all_layers_are_those_that_otf2_print_tells(function, options):
    anchor = Path(__file__).resolve().parents[4] / "fixtures" / "ncckpt4" / "traces.otf2"
    text, defined = (
        subprocess.run(["otf2-print", *given, anchor], capture_output=True, text=True, check=True).stdout
        for given in ([], ["-G"])
    )
    start = int(re.search(r"Global Offset: (\d+)", defined)[1])
    times = {"ENTER": defaultdict(list), "LEAVE": defaultdict(list)}
    pattern = re.compile(rf'^(ENTER|LEAVE) +(\d+) +(\d+)  Region: "{function}" <', re.MULTILINE)
    for kind, location, time in pattern.findall(text):
        times[kind][location].append(int(time) - start)
    enters, leaves = (zip(*of.values(), strict=True) for of in times.values())
    assert len(times["ENTER"]) == 4
    expected = sorted(
        max(came) - one
        for came, left in zip(enters, leaves, strict=True)
        if min(left) < 2 * max(came) - min(came)
        for one in came
    )
    calls = open_trace(anchor.parent, **options).calls.totals
    found = meetings(calls.shared, calls.scope)
    named = np.array([calls.functions.regions.name[row] == function for row in found.region.tolist()])
    assert sorted(found.waited[named].tolist()) == expected


@pytest.mark.parametrize(
    ("function", "waits"),
    [
        ("MPI_Comm_dup_with_info", True),
        ("MPI_Comm_split_type", True),
        ("MPI_Cart_create", True),
        ("MPI_Intercomm_merge", True),
        ("MPI_Win_allocate_shared", True),
        ("MPI_File_seek_shared", True),
        ("MPI_File_write_ordered_begin", True),
        ("MPI_Bcast", False),
        ("MPI_Ibarrier", False),
        ("MPI_File_write_at", False),
    ],
)
def test_functions_that_no_rank_leaves_before_all_have_entered(function, waits):
    assert bool(WAITS_FOR_ALL.match(function)) == waits


@pytest.mark.parametrize(("inside", "waits"), [("MPI_Barrier", True), ("MPI_Bcast", True), ("MPI_Send", False)])
def test_calls_of_a_library_wait_where_they_call_what_ranks_make_together(inside, waits):
    """`H5Dcreate` of a file of several ranks broadcasts where the data set is."""
    names = ("H5Dcreate2", inside)
    regions = SimpleNamespace(name=names)
    functions = SimpleNamespace(
        regions=regions, names=("HDF5",), does_io=np.array([True, False]), layer=np.array([0, -1])
    )
    paths = SimpleNamespace(parent=np.array([-1, 0]), region=np.array([0, 1]))
    assert may_wait(paths, functions).tolist() == [waits, False]
