"""What calls took against a profile made line by line of what otf2-print prints, and calls made by hand."""

import re
import shutil
import subprocess
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from iostrata import open_trace
from iostrata.layers.attribution.breakdown import FUNCTION

FIXTURES = Path(__file__).resolve().parents[4] / "fixtures"
NAMES = ["ckpt4_compiler", "ncckpt4", "serial1", "threads2", "nonblocking4", "small_files2"]
EVENT = re.compile(r'^(ENTER|LEAVE) +(\d+) +(\d+)  Region: ".*" <(\d+)>$')
IO = re.compile(r"^(IO_\w+) +(\d+) +(\d+)  (.*)$")
needs_print = pytest.mark.skipif(shutil.which("otf2-print") is None, reason="otf2-print, the independent profile")


class Profile:
    """Calls, ticks from Enter to Leave and ticks as the innermost call, by path; a slow walk over one location.

    Of calls that cross, as those of helper threads do, the one entered last is the innermost; a path is what was open
    when a call was entered.
    """

    def __init__(self, sums):
        self.stack, self.time, self.sums = [], None, sums

    def path(self):
        return self.stack[-1][0] if self.stack else ()

    def step(self, enter, time, name):
        if self.stack:
            self.sums[self.path()][2] += time - self.time
        self.time = time
        if enter:
            self.stack.append(((*self.path(), name), time))
            return
        for place in reversed(range(len(self.stack))):
            path, begin = self.stack[place]
            if path[-1] == name:
                self.sums[path][:2] += (1, time - begin)
                del self.stack[place]
                return


@cache
def printed(anchor):
    """Profile a trace by its printed events; also give the I/O events of each path."""
    text = subprocess.run(["otf2-print", "-G", anchor], capture_output=True, text=True, check=True).stdout
    name = dict(re.findall(r'^REGION +(\d+)  Name: "(.*?)" <', text, re.MULTILINE))
    text = subprocess.run(["otf2-print", anchor], capture_output=True, text=True, check=True).stdout
    paths = defaultdict(lambda: np.zeros(3, np.int64))
    locations = defaultdict(lambda: Profile(paths))
    events = defaultdict(list)
    for line in text.splitlines():
        if found := EVENT.match(line):
            locations[found[2]].step(found[1] == "ENTER", int(found[3]), name[found[4]])
        elif found := IO.match(line):
            events[locations[found[2]].path()].append((found[1], found[4]))
    assert not any(location.stack for location in locations.values())
    return dict(paths), events


def functions(paths):
    """Add up a profile by the function that was called last."""
    sums = defaultdict(lambda: np.zeros(3, np.int64))
    for path, values in paths.items():
        recursive = path[-1] in path[:-1]
        sums[path[-1]] += values * (1, not recursive, 1)
    return {name: tuple(values.tolist()) for name, values in sums.items()}


def found_paths(calls):
    """Return calls, ticks and own ticks by path of functions."""
    names, parent, region = calls.functions.regions.name, calls.paths.parent.tolist(), calls.paths.region.tolist()
    path, found = [], {}
    for row, above in enumerate(parent):
        path.append((*(path[above] if above >= 0 else ()), names[region[row]]))
        if calls.counted[row, 0]:
            found[path[row]] = found.get(path[row], 0) + calls.counted[row]
    return found


@needs_print
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("options", [{}, {"engine": "library"}, {"memory": 500 * 10**6}, {"workers": 2}], ids=str)
def test_time_by_path_and_function_as_otf2_print_tells(name, options):
    anchor = FIXTURES / name / "traces.otf2"
    trace = open_trace(anchor, files="all", **options)
    paths, _ = printed(anchor)
    found = found_paths(trace.calls.totals)
    assert {path: tuple(values.tolist()) for path, values in found.items()} == {
        path: tuple(values.tolist()) for path, values in paths.items()
    }
    regions = trace.calls.totals.functions.regions.name
    by_function = Counter()
    for row, (calls, whole, own) in enumerate(trace.calls.totals.by_function.tolist()):
        if calls:
            by_function[regions[row]] += 1
            assert functions(paths)[regions[row]] == (calls, whole, own)
    assert by_function == Counter(functions(paths).keys())
    assert len(paths) > 5


@needs_print
@pytest.mark.recordings
def test_a_benchmark_instrumented_by_the_compiler(recordings):
    anchor = recordings / "benchmarks" / "ior_compiler4" / "traces.otf2"
    paths, _ = printed(anchor)
    found = found_paths(open_trace(anchor, files="all").calls.totals)
    assert {path: tuple(values.tolist()) for path, values in found.items()} == {
        path: tuple(values.tolist()) for path, values in paths.items()
    }
    assert max(map(len, paths)) > 6


@needs_print
@pytest.mark.parametrize("name", NAMES)
def test_operations_are_in_the_paths_that_otf2_print_tells(name):
    anchor = FIXTURES / name / "traces.otf2"
    trace = open_trace(anchor, files="all")
    paths = trace.calls.paths
    names = paths.regions.name
    whole = []
    for above, region in zip(paths.parent.tolist(), paths.region.tolist(), strict=True):
        whole.append((*(whole[above] if above >= 0 else ()), names[region]))
    _, events = printed(anchor)
    begun = Counter({path: sum(kind == "IO_OPERATION_BEGIN" for kind, _ in some) for path, some in events.items()})
    assert Counter(whole[row] for row in paths.operation.tolist()) == +begun
    others = Counter(
        {path: sum(not kind.startswith("IO_OPERATION") for kind, _ in some) for path, some in events.items()}
    )
    assert Counter(whole[row] for row in paths.event.tolist()) == +others


def test_the_numbers_that_were_missing(fixtures):
    trace = open_trace(fixtures / "ncckpt4")
    rows = {(row["layer"], row["function"]): row for row in trace.breakdown(FUNCTION).to_dict()}
    assert rows["netCDF", "nc_open_par"]["calls_s"] == pytest.approx(0.029331385)
    assert rows["MPI-IO", "MPI_File_open"]["calls_s"] == pytest.approx(0.023650800)
    assert rows["netCDF", "nc_enddef"]["calls_s"] == pytest.approx(0.184627, abs=1e-6)
    assert rows["MPI-IO", "MPI_File_set_view"]["calls_s"] == pytest.approx(0.072, abs=5e-4)
    times = {(one.layer, one.kind): one for one in trace.calls.totals.call_times}
    assert times["netCDF", "opens"].calls == 8
    assert times["netCDF", "opens"].summed_s == pytest.approx(
        sum(rows["netCDF", name]["calls_s"] for name in ("nc_open_par", "nc_create_par"))
    )
    assert {one.function for one in times["netCDF", "other_calls"].functions} == {"nc_enddef", "nc_put_att_text"}
    assert 0 < times["netCDF", "opens"].busy_s < times["netCDF", "opens"].summed_s


@pytest.mark.parametrize("by", ["file", "filesystem", "rank", "node", "handle"])
def test_every_split_has_the_time_of_all_calls(fixtures, by):
    trace = open_trace(fixtures / "ncckpt4")
    table = trace.breakdown(by)
    for layer in trace.order:
        rows = [row == layer for row in table.layer]
        times = [one for one in trace.calls.totals.call_times if one.layer == layer]
        assert table.columns["metadata_s"][rows].sum() == pytest.approx(sum(one.summed_s for one in times))
        for one in times:
            assert table.columns[f"{one.kind}_s"][rows].sum() == pytest.approx(one.summed_s)


def test_times_of_handles(fixtures):
    trace = open_trace(fixtures / "ncckpt4")
    seconds = trace.calls.totals.handle_seconds(len(trace.handles))
    known = sum(one.summed_s for one in trace.calls.totals.call_times if one.kind not in ("other_calls", "deletions"))
    assert seconds.sum() == pytest.approx(known)
    set_aside = np.array([reason is not None for reason in trace.handles.set_aside])
    assert not seconds[set_aside].any()
    assert seconds[~set_aside].any()


def test_a_window_takes_what_falls_into_it(fixtures):
    whole = open_trace(fixtures / "ckpt4_compiler", files="all")
    middle = whole.duration / 2
    parts = [whole.select(window=window) for window in ((None, middle), (middle, None))]
    for place in (1, 2):
        sums = sum(part.calls.totals.by_function[:, place] for part in parts)
        assert np.array_equal(sums, whole.calls.totals.by_function[:, place])
    bounded = open_trace(fixtures / "ckpt4_compiler", files="all", window=(None, middle), memory=500 * 10**6)
    assert np.array_equal(bounded.calls.totals.by_function, parts[0].calls.totals.by_function)


def test_own_times_add_up_to_the_time_of_the_outermost_calls(fixtures):
    trace = open_trace(fixtures / "ckpt4_compiler")
    calls = trace.calls.totals
    roots = calls.paths.parent < 0
    assert calls.times[:, :, 2].sum() == calls.times[roots, :, 1].sum()
    assert sum(calls.group_seconds.values()) == pytest.approx(
        calls.times[:, :, 2].sum() / calls.scope.window.ticks_per_second
    )
    assert set(calls.group_seconds) == {"program", "MPI", "MPI-IO", "POSIX", "ISOC", "set aside"} | (
        set(calls.group_seconds) & {"measurement system"}
    )


def test_calls_on_what_is_not_recorded_do_not_count(fixtures):
    trace = open_trace(fixtures / "ncckpt4")
    everything = open_trace(fixtures / "ncckpt4", files="all")
    names = trace.calls.totals.functions.regions.name
    row = names.index("openat")
    assert everything.calls.totals.by_function[row, 0] > 400
    assert trace.calls.totals.by_function[row, 0] == 0
    assert (trace.calls.totals.by_function <= everything.calls.totals.by_function).all()


def test_a_trace_without_enter_and_leave(fixtures):
    for options in ({}, {"memory": 500 * 10**6}):
        trace = open_trace(fixtures / "ior384", **options)
        assert trace.calls.totals is None
        assert "metadata_s" not in trace.breakdown("file").columns


def _rows(breakdown):
    return {(row["layer"], row[breakdown.by]): row for row in breakdown.to_dict()}


@needs_print
@pytest.mark.parametrize("name", ["ckpt4_compiler", "ncckpt4", "threads2"])
def test_the_split_by_call_path_as_otf2_print_tells(name):
    anchor = FIXTURES / name / "traces.otf2"
    paths, events = printed(anchor)
    rows = open_trace(anchor, files="all").breakdown("callpath").to_dict()
    begun, calls = Counter(), Counter()
    for row in rows:
        begun[row["callpath"]] += row["reads"] + row["writes"] + row["flushes"]
        calls[row["callpath"]] += row["calls"]
        if row["calls"]:
            found = round(row["calls_s"] * 1e9), round(row["exclusive_s"] * 1e9)
            assert found == tuple(paths[tuple(row["callpath"].split(" > "))][1:].tolist())
    expected = {
        " > ".join(path): sum(kind == "IO_OPERATION_BEGIN" for kind, _ in some) for path, some in events.items()
    }
    assert +begun == Counter({path: count for path, count in expected.items() if count})
    assert all(paths[tuple(path.split(" > "))][0] == count for path, count in calls.items() if count)


@pytest.mark.parametrize("by", ["function", "caller", "callpath"])
@pytest.mark.parametrize(
    "options",
    [{"engine": "library"}, {"memory": 500 * 10**6}, {"memory": 500 * 10**6, "workers": 3, "engine": "library"}],
    ids=str,
)
def test_every_way_of_reading_splits_the_same(fixtures, by, options):
    expected = _rows(open_trace(fixtures / "ckpt4_compiler", window=(0.2, 2.0)).breakdown(by))
    assert _rows(open_trace(fixtures / "ckpt4_compiler", window=(0.2, 2.0), **options).breakdown(by)) == expected
    assert len(expected) > 2


def test_callers_are_functions_of_the_program(fixtures):
    trace = open_trace(fixtures / "ckpt4_compiler")
    table = trace.breakdown("caller")
    assert set(table.key) == {"main (/scratch/demo/source/ckpt.c:14)"}
    for layer in trace.order:
        rows = [name == layer for name in table.layer]
        for direction, column in (("read", "bytes_read"), ("write", "bytes_written")):
            assert table.columns[column][rows].sum() == trace.layers[layer].statistics(direction).bytes
    assert set(open_trace(fixtures / "ncckpt4").breakdown("caller").key) == {None}


@pytest.mark.recordings
def test_who_calls_in_a_benchmark(recordings):
    rows = _rows(open_trace(recordings / "benchmarks" / "ior_compiler4").breakdown("caller"))
    (key,) = [key for _, key in rows if key.startswith("POSIX_Xfer (")]
    assert key.endswith("aiori-POSIX.c:615)") or "aiori-POSIX.c:" in key
    row = rows["POSIX", key]
    # 4 ranks, 16 repetitions of 4 transfers of 256 KiB, written and read.
    assert (row["writes"], row["reads"], row["bytes_written"]) == (256, 256, 256 * 2**18)


@needs_print
@pytest.mark.parametrize("name", ["ncckpt4", "ckpt4_compiler"])
def test_calls_inside_calls_of_a_higher_layer_by_rank(name):
    anchor = FIXTURES / name / "traces.otf2"
    trace = open_trace(anchor, files="all")
    functions = trace.calls.totals.functions
    layer_of = {
        text: trace.order[row]
        for text, row in zip(functions.regions.name, functions.layer.tolist(), strict=True)
        if row >= 0
    }
    text = subprocess.run(["otf2-print", anchor], capture_output=True, text=True, check=True).stdout
    stacks, expected = defaultdict(list), Counter()
    command = ["otf2-print", "-G", anchor]
    printed_definitions = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    region = dict(re.findall(r'^REGION +(\d+)  Name: "(.*?)" <', printed_definitions, re.MULTILINE))
    group = np.append(trace.definitions.groups.rank, -1)[trace.definitions.locations.group]
    rank = dict(zip(trace.definitions.locations.id.tolist(), group.tolist(), strict=True))
    for line in text.splitlines():
        if (found := EVENT.match(line)) is None:
            continue
        stack, called = stacks[found[2]], region[found[4]]
        if found[1] == "LEAVE":
            del stack[max(row for row, one in enumerate(stack) if one == called)]
            continue
        if called in layer_of:
            here = trace.order.index(layer_of[called])
            inside = any(one in layer_of and trace.order.index(layer_of[one]) < here for one in stack)
            expected[rank[int(found[2])], layer_of[called], inside] += 1
        stack.append(called)
    rows = {(row["rank"], row["layer"]): row for row in trace.breakdown("rank").to_dict()}
    assert {key[:2] for key in expected} <= set(rows)
    # A helper thread's call is on the path of what was open when it was entered, which is the innermost call by time.
    for (number, layer), row in rows.items():
        whole = expected[number, layer, True] + expected[number, layer, False]
        assert row["calls"] == whole
        assert row["inside_calls"] == pytest.approx(expected[number, layer, True], abs=0.01 * whole)
    nodes = trace.breakdown("node").to_dict()
    assert sum(row["inside_calls"] for row in nodes) == sum(row["inside_calls"] for row in rows.values())
