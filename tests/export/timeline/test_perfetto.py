"""Trace events: sound JSON, tracks without overlap, nothing lost, bounded."""

import json
import re
import shutil
import subprocess
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from iostrata import find_loops, open_trace, write_perfetto
from iostrata.analysis.comparison.layer_periods import chosen_layers, layer_periods
from iostrata.export.timeline.perfetto import LAYERS

FIXTURES = Path(__file__).parents[3] / "fixtures"


@pytest.fixture(scope="module")
def trace():
    return open_trace(FIXTURES / "nonblocking4")


@pytest.fixture(scope="module")
def written(trace, tmp_path_factory):
    return write_perfetto(trace, tmp_path_factory.mktemp("perfetto") / "x.perfetto.json")


@pytest.fixture(scope="module")
def events(written) -> list[Any]:
    return json.loads(written.path.read_text())["traceEvents"]


def of_kind(events, kind):
    return [event for event in events if event["ph"] == kind]


def test_every_operation_is_a_slice_with_its_bytes(events, written, trace):
    slices = [event for event in of_kind(events, "X") if event["pid"] != LAYERS and event["cat"] == "io"]
    assert written.slices == len(slices)
    slices = [event for event in slices if "bytes" in event["args"]]
    total = sum(len(layer.rows) for layer in trace.layers.values())
    assert written.operations == total == len(slices) > 100
    volume = sum(layer.statistics("total").bytes for layer in trace.layers.values())
    assert sum(event["args"]["bytes"] for event in slices) == volume


def test_loops_and_their_iterations_are_slices(tmp_path):
    trace = open_trace(FIXTURES / "ckpt4")
    path = write_perfetto(trace, tmp_path / "x.perfetto.json").path
    slices = of_kind(json.loads(path.read_text())["traceEvents"], "X")
    known = {loop.id: loop for loop in find_loops(trace).outermost}
    counts = [event["args"]["count"] for event in slices if event["cat"] == "loop"]
    assert counts == [one.count for one in known.values()]
    iterations = [event for event in slices if event["cat"] == "iteration"]
    assert len(iterations) == sum(counts)
    for event in iterations:
        one = known[event["args"]["loop"]].iterations[event["args"]["number"] - 1]
        assert event["ts"] == pytest.approx(one.begin_s * 1e6, abs=1e-2)
        assert event["dur"] == pytest.approx((one.end_s - one.begin_s) * 1e6, abs=1e-2)


@pytest.mark.skipif(shutil.which("otf2-print") is None, reason="needs otf2-print of the OTF2 library")
@pytest.mark.parametrize("memory", [None, 500 * 10**6])
def test_opens_and_closes_last_as_otf2_print_tells(tmp_path, memory):
    """The program's own files of ckpt4 lie in one folder; its MPI-IO handles are made and destroyed inside calls."""
    anchor = FIXTURES / "ckpt4" / "traces.otf2"
    text = subprocess.run(["otf2-print", anchor], capture_output=True, text=True, check=True).stdout
    expected, entered, made = {"open": [], "close": []}, {}, set()
    for line in text.splitlines():
        if found := re.match(r'(ENTER|LEAVE) +(\d+) +(\d+)  Region: "MPI_File_(open|close)"', line):
            call = found[2], found[4]
            if found[1] == "ENTER":
                entered[call] = int(found[3])
            elif call in made:
                made.discard(call)
                expected[found[4]].append((int(found[2]), int(found[3]) - entered[call]))
        elif found := re.match(r"IO_(CREATE|DESTROY)_HANDLE +(\d+) .*/scratch", line):
            made.add((found[2], "open" if found[1] == "CREATE" else "close"))
    write_perfetto(open_trace(anchor.parent, memory=memory), tmp_path / "c.perfetto.json", layers="MPI-IO")
    events = json.loads((tmp_path / "c.perfetto.json").read_text())["traceEvents"]
    for name, calls in expected.items():
        slices = [event for event in of_kind(events, "X") if (event["cat"], event["name"]) == ("io", name)]
        assert len(slices) == len(calls) == 80
        assert sorted(round(event["dur"] * 1e3) for event in slices) == sorted(length for _, length in calls)


@pytest.mark.skipif(shutil.which("otf2-print") is None, reason="needs otf2-print of the OTF2 library")
@pytest.mark.parametrize("name", ["ckpt4_compiler", "ncckpt4"])
def test_calls_stand_below_who_called_them_as_otf2_print_tells(tmp_path, name):
    anchor = FIXTURES / name / "traces.otf2"
    text = subprocess.run(["otf2-print", anchor], capture_output=True, text=True, check=True).stdout
    stacks, expected = defaultdict(list), Counter()
    for line in text.splitlines():
        if found := re.match(r'(ENTER|LEAVE) +(\d+) +(\d+)  Region: "(.*)" <\d+>$', line):
            stack = stacks[found[2]]
            if found[1] == "ENTER":
                stack.append((found[4], int(found[3]), stack[-1][2] + 1 if stack else 1))
            else:
                # Calls of helper threads cross those of the thread that they help.
                called, begin, level = stack.pop(max(row for row, call in enumerate(stack) if call[0] == found[4]))
                expected[called, level, int(found[3]) - begin] += 1
    write_perfetto(open_trace(anchor.parent), tmp_path / "c.perfetto.json")
    events = json.loads((tmp_path / "c.perfetto.json").read_text())["traceEvents"]
    titles = {
        (event["pid"], event["tid"]): event["args"]["name"]
        for event in of_kind(events, "M")
        if event["name"] == "thread_name"
    }
    calls = [event for event in of_kind(events, "X") if event["cat"] == "call"]
    levels = (int(re.search(r"level (\d+)", titles[event["pid"], event["tid"]])[1]) for event in calls)
    told = Counter(
        (event["name"], level, round(event["dur"] * 1e3)) for event, level in zip(calls, levels, strict=True)
    )
    # Threads without I/O are left out.
    assert told <= expected
    assert sum(told.values()) > 0.9 * sum(expected.values())


def test_slices_of_a_track_never_overlap(events):
    tracks = defaultdict(list)
    for event in of_kind(events, "X"):
        tracks[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    lanes = 0
    for spans in tracks.values():
        assert spans == sorted(spans)
        assert all(before[1] <= after[0] + 0.002 for before, after in pairwise(spans))
        lanes += 1
    named = {(event["pid"], event["tid"]) for event in of_kind(events, "M") if event["name"] == "thread_name"}
    assert named == set(tracks)
    assert lanes > 8  # operations in flight at the same time took further tracks


def test_every_process_and_track_has_a_name_and_a_place(events):
    names = {(event["pid"], event["args"]["name"]) for event in of_kind(events, "M") if event["name"] == "process_name"}
    assert (LAYERS, "layers") in names
    assert {name for _, name in names} == {"layers", *(f"MPI Rank {rank}" for rank in range(4))}


def test_counters_integrate_to_the_bytes_of_the_layer(events, trace):
    for period in layer_periods(chosen_layers(trace)):
        name = f"{period.layer} {period.direction} bandwidth"
        points = [(event["ts"], event["args"]["MB/s"]) for event in of_kind(events, "C") if event["name"] == name]
        assert points == sorted(points)
        volume = sum(rate * (after - time) for (time, rate), (after, _) in pairwise(points))
        assert volume == pytest.approx(period.signal.volume, rel=1e-3, abs=10)


def test_phases_are_slices_of_their_own_track(tmp_path):
    trace = open_trace(FIXTURES / "ncckpt4")
    write_perfetto(trace, tmp_path / "n.perfetto.json", layers="netCDF")
    events = json.loads((tmp_path / "n.perfetto.json").read_text())["traceEvents"]
    (period,) = (one for one in layer_periods([trace.layers["netCDF"]]) if one.direction == "write")
    tracks = {event["args"]["name"]: event["tid"] for event in of_kind(events, "M") if event["name"] == "thread_name"}
    slices = [event for event in of_kind(events, "X") if event["pid"] == LAYERS]
    phases = [event for event in slices if event["tid"] == tracks["netCDF write phases"]]
    assert [event["args"]["bytes"] for event in phases] == [phase.volume for phase in period.result.phases]
    assert [event["ts"] / 1e6 for event in phases] == pytest.approx([phase.start for phase in period.result.phases])
    (found,) = (event for event in slices if event["tid"] == tracks["netCDF write period"])
    assert found["args"]["period_s"] == period.result.period
    (regime,) = period.result.regimes
    assert (regime.start, regime.end) != period.signal.window
    assert found["ts"] / 1e6 == pytest.approx(regime.start)
    assert found["dur"] / 1e6 == pytest.approx(regime.end - regime.start)


@pytest.mark.parametrize("most", [3000, 700])
def test_a_large_trace_is_merged_and_nothing_lost(tmp_path, most):
    trace = open_trace(FIXTURES / "ior384")
    done = write_perfetto(trace, tmp_path / "i.perfetto.json", most_slices=most)
    assert done.slices <= most
    if most >= 2 * trace.ranks:
        assert done.operations == 61440
    assert done.gap_s > 0
    assert done.bytes == (tmp_path / "i.perfetto.json").stat().st_size


@pytest.mark.parametrize("name", ["ncckpt4", "nonblocking4"])
def test_arrows_lead_from_each_operation_to_what_it_caused(tmp_path, name):
    trace = open_trace(FIXTURES / name)
    events = json.loads(write_perfetto(trace, tmp_path / "x.perfetto.json").path.read_text())["traceEvents"]
    titles = {(one["pid"], one["tid"]): one["args"]["name"] for one in events if one["name"] == "thread_name"}
    leaves = {one["id"]: one for one in of_kind(events, "s")}
    found = Counter(
        (titles[leaves[one["id"]]["pid"], leaves[one["id"]]["tid"]].partition(" ")[0], round(one["ts"] * 1000))
        for one in of_kind(events, "f")
    )
    whole = trace.stream.whole
    caused = np.flatnonzero(whole.attribution.parent >= 0)
    layers = np.array(trace.handles.layers)[whole.attribution.layer[whole.attribution.parent[caused]]]
    begins = [
        round(int(one) / trace.definitions.clock.ticks_per_second * 1e9) for one in whole.operations.begin[caused]
    ]
    assert len(caused) > 50
    assert found == Counter(zip(layers.tolist(), begins, strict=True))


def test_merged_operations_have_no_arrows(tmp_path):
    # What of many operations caused what is not known of a slice that stands for them.
    written = write_perfetto(open_trace(FIXTURES / "ncckpt4"), tmp_path / "x.perfetto.json", most_slices=200)
    assert not of_kind(json.loads(written.path.read_text())["traceEvents"], "s")
