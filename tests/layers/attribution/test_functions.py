"""Calling functions against a walk over what the official reader gives."""

from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
import otf2
import pytest
from iostrata import TraceError, open_trace
from iostrata.layers.attribution.callers import read_call_paths
from iostrata.layers.attribution.calls.functions import PathTree
from iostrata.model.stream.calls import Regions

NAMES = ["ckpt4_linktime", "serial1", "nonblocking4", "ckpt4_compiler", "ncckpt4"]
ROLES = (otf2.RegionRole.FILE_IO, otf2.RegionRole.FILE_IO_METADATA)


def leave(stack, region):
    """Take the last entry of `region` off a stack, wherever it stands."""
    for place in reversed(range(len(stack))):
        if stack[place] == region:
            del stack[place]
            return


def walked(anchor):
    """Return the functions of the other I/O events of each location in their order, and those of begins."""
    stacks, events, begins = defaultdict(list), defaultdict(list), defaultdict(list)
    with otf2.reader.open(str(anchor)) as trace:
        rows = {location: row for row, location in enumerate(trace.definitions.locations)}
        for location, event in trace.events:
            row = rows[location]
            if isinstance(event, otf2.events.Enter):
                stacks[row].append(event.region)
            elif isinstance(event, otf2.events.Leave):
                leave(stacks[row], event.region)
            elif type(event).__name__.startswith("Io"):
                inside = [region.name for region in stacks[row] if region.region_role in ROLES]
                if not type(event).__name__.startswith("IoOperation"):
                    events[row].append(inside[-1] if inside else None)
                if isinstance(event, otf2.events.IoOperationBegin):
                    # The innermost function of all is the one that does the I/O.
                    assert stacks[row][-1].name == inside[-1]
                    begins[row].append(((event.time, event.handle._ref, event.matching_id), inside[-1]))
    return events, begins


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("workers", [1, 2])
def test_functions_as_the_official_reader_tells(fixtures, name, workers):
    trace = open_trace(fixtures / name, workers=workers)
    paths = trace.calls.paths
    (of_events, event), (of_begins, begin) = (paths.named("function", rows) for rows in (paths.event, paths.operation))
    events, begins = walked(trace.path)
    named = [of_events[row] if row >= 0 else None for row in event.tolist()]
    by_location = defaultdict(list)
    for location, function in zip(trace.stream.kept.other_events.location.tolist(), named, strict=True):
        by_location[location].append(function)
    assert by_location == events
    operations, start = trace.operations, trace.definitions.clock.start
    keys = zip(
        (operations.begin + start).tolist(),
        np.append(trace.definitions.handles.id, 0)[operations.handle].tolist(),
        operations.matching.tolist(),
        strict=True,
    )
    of_operations = defaultdict(list)
    for location, key, row in zip(operations.location.tolist(), keys, begin.tolist(), strict=True):
        of_operations[location].append((key, of_begins[row]))
    assert {row: sorted(some) for row, some in of_operations.items()} == {
        row: sorted(some) for row, some in begins.items()
    }
    assert len({function for some in events.values() for function in some}) > 3


def test_breakdown_by_function_counts_operations_and_metadata(fixtures):
    trace = open_trace(fixtures / "ncckpt4", files="all")
    events, begins = walked(trace.path)
    rows = trace.breakdown("function").to_dict()
    counts = Counter()
    for row in rows:
        counts[row["function"]] += row["reads"] + row["writes"] + row["flushes"]
    assert +counts == Counter(function for some in begins.values() for _, function in some)
    by_key = {(row["layer"], row["function"]): row for row in rows}
    put = by_key["netCDF", "nc_put_vara_double"]
    assert (put["writes"], put["bytes_written"]) == (160, trace.layers["netCDF"].statistics("write").bytes)
    assert put["summed_s"] == pytest.approx(trace.layers["netCDF"].statistics("write").summed_s)
    opens = Counter(function for some in events.values() for function in some)
    assert by_key["POSIX", "openat"]["opens"] == opens["openat"] == 452


def test_a_trace_without_functions_has_none(fixtures):
    trace = open_trace(fixtures / "ior384")
    assert (trace.calls.paths.operation == -1).all()
    assert {row["function"] for row in trace.breakdown("function").to_dict()} == {None}


def test_selections_share_them(fixtures):
    trace = open_trace(fixtures / "ckpt4_linktime")
    known = trace.calls.paths
    assert trace.select(files="all", window=(0.1, 0.2)).calls.paths is known


@pytest.mark.parametrize("options", [{"engine": "library"}, {"memory": 500 * 10**6}], ids=str)
def test_every_way_of_reading_knows_them(fixtures, options):
    expected = open_trace(fixtures / "ckpt4_linktime").breakdown("function").to_dict()
    assert open_trace(fixtures / "ckpt4_linktime", **options).breakdown("function").to_dict() == expected
    assert any(row["function"] == "MPI_File_write_at_all" for row in expected)


def test_a_trace_that_changed_is_refused(fixtures):
    trace = open_trace(fixtures / "ckpt4_linktime")
    make = trace.calls.make_sums
    events = replace(trace.stream.kept.other_events, time=trace.stream.kept.other_events.time + 1)
    with pytest.raises(TraceError, match="has changed"):
        read_call_paths(trace.stream.reading.source, trace.operations, events, make)
    operations = replace(trace.operations, begin=trace.operations.begin + 1)
    with pytest.raises(TraceError, match="has changed"):
        read_call_paths(trace.stream.reading.source, operations, trace.stream.kept.other_events, make)


@pytest.mark.parametrize("deep", [1, 24, 25, 1000])
def test_of_a_long_path_the_innermost_24_functions_are_named(deep):
    """A recursion can be as deep as a trace is long, and its name would fill a screen."""
    names = tuple(f"f{row}" for row in range(deep))
    column = np.zeros(deep, np.uint8)
    regions = Regions(np.arange(deep, dtype=np.uint32), names, column, column, ("",) * deep, column.astype(np.int64))
    rows = np.arange(deep, dtype=np.int32)
    (text,) = PathTree(regions, rows - 1, rows).texts("callpath", np.array([deep - 1]))
    assert text == " > ".join([*["…"] * (deep > 24), *names[-24:]])


@pytest.mark.parametrize("by", ["function", "caller", "callpath"])
def test_behind_the_keys_of_all_paths_stands_that_of_none(by):
    kinds = np.zeros(2, np.uint8)
    regions = Regions(np.arange(2, dtype=np.uint32), ("main", "other"), kinds, kinds, ("", ""), np.zeros(2, np.int64))
    keys = PathTree(regions, np.array([-1, 0], np.int32), np.array([0, 1], np.int32)).keys(by)
    assert (len(keys), keys[-1]) == (3, -1)
    assert keys.min() == -1
