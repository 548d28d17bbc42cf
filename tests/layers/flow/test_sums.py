"""Sums over the blocks of a trace, cut and merged in any way, against the sums over all of it at once."""

import gc
import json
import pickle
import random
import weakref
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata import open_trace
from iostrata.analysis.findings import find
from iostrata.layers.attribution.attribution import TraceBlock
from iostrata.layers.flow.relations import RelationSums
from iostrata.layers.handles.sums import HandleSums
from iostrata.layers.trace import Trace, TraceSums, trace_of
from iostrata.model.codes import UNDEFINED_TIME, IoFlag, IoMode

STACK = [
    ("netCDF", "/s/out.nc", -1),
    ("MPI-IO", "/s/out.nc", 0),
    ("POSIX", "/s/out.nc", 1),
    ("POSIX", "/tmp/ompi.n/x.sm", 1),
    ("POSIX", "/s/own.txt", -1),
]


def at_rest(operations):
    """Return after which operations none is in flight, those of a process ordered by begin."""
    reached = np.maximum.accumulate(np.where(operations.end == UNDEFINED_TIME, 2**62, operations.end))
    return np.flatnonzero(operations.begin[1:] > reached[:-1]) + 1


def put_together(trace, groups, cuts, rng, exact=True):
    """Return the trace with sums over its processes in `groups` of partitions, each process in up to `cuts` blocks."""
    (operations, other_events), metadata = trace.stream.kept, trace.stream.whole.metadata
    scope = replace(trace.scope, exact=exact)
    processes = np.unique(np.append(operations.process, metadata.process)).tolist()
    rng.shuffle(processes)
    partitions = [[] for _ in range(groups)]
    for process in processes:
        partitions[rng.randrange(groups)].append(process)
    parts = []
    for members in partitions:
        relations = RelationSums(scope)
        handles = HandleSums(scope)
        for process in members:
            mine = operations.take(operations.process == process)
            events = other_events.take(metadata.process == process)
            rest = at_rest(mine).tolist()
            places = sorted(rng.sample(rest, min(cuts - 1, len(rest))))
            edges = [0, *places, len(mine)]
            times = [-(2**62), *(int(mine.begin[place]) for place in places), 2**62]
            for number in range(len(edges) - 1):
                block = mine.take(np.arange(edges[number], edges[number + 1]))
                inside = (events.time >= times[number]) & (events.time < times[number + 1])
                relations.add(TraceBlock(scope, block, events.take(inside)))
                handles.add(TraceBlock(scope, block, events.take(inside)))
        parts.append((relations, handles))
    rng.shuffle(parts)
    while len(parts) > 1:
        (relations, handles), other = parts.pop(), rng.choice(parts)
        parts.remove(other)
        other = pickle.loads(pickle.dumps(other))
        relations.merge(other[0])
        handles.merge(other[1])
        parts.append((relations, handles))
    sums = TraceSums(trace.stream, {"relations": parts[0][0], "handles": parts[0][1]})
    return Trace(trace.stream, sums, trace.tally)


def told(trace):
    forest = [{**row} for row in trace.handles.to_dict()]
    entries = {
        "flows": [flow.to_dict() for flow in trace.flows],
        "balances": [one.to_dict() for one in trace.relations.balances],
        "times": [one.to_dict() for one in trace.relations.time_splits],
        "hidden": [one.to_dict() for one in trace.relations.hidden],
        "findings": [one.to_dict() for one in find(trace)],
        "calls": [flow.collectives.begin.tolist() for flow in trace.flows],
        "handles": forest,
    }
    return json.loads(json.dumps(entries))


@pytest.mark.parametrize("name", ["ncckpt4", "ckpt4_romio", "nonblocking4", "ncckpt4_indep", "threads2", "mixed4"])
def test_archives(fixtures, name):
    trace = open_trace(fixtures / name)
    expected = told(trace)
    for groups, cuts, seed in ((1, 7, 1), (2, 1, 2), (7, 7, 3)):
        assert told(put_together(trace, groups, cuts, random.Random(seed))) == expected


OPERATION = st.fixed_dictionaries(
    {
        "handle": st.integers(-1, len(STACK) - 1),
        "begin": st.integers(0, 400),
        "length": st.integers(0, 40),
        "moved": st.none() | st.integers(0, 2**20),
        "mode": st.sampled_from(list(IoMode)),
        "process": st.integers(0, 2),
    }
)


@given(
    rows=st.lists(OPERATION, max_size=30),
    flags=st.integers(0, 2**30 - 1),
    offsets=st.lists(st.integers(0, 64), min_size=30, max_size=30),
    groups=st.integers(1, 4),
    cuts=st.integers(1, 4),
    seed=st.integers(0, 2**16),
    window=st.sampled_from([None, (0.5, 3.0)]),
    exact=st.booleans(),
)
def test_any_cut_and_order(make_trace, rows, flags, offsets, groups, cuts, seed, window, exact):
    trace = make_trace(STACK, [{**row, "end": row["begin"] + row["length"]} for row in rows])
    collective = [IoFlag.COLLECTIVE if flags >> row & 1 else 0 for row in range(len(rows))]
    operations = replace(
        trace.operations,
        flags=np.array(collective, np.uint32),
        offset=np.array(offsets[: len(rows)], np.uint64),
    )
    kept = trace.stream.kept._replace(operations=operations)
    trace = trace_of(replace(trace.stream, in_memory=kept), trace.tally)
    if window is not None:
        trace = trace.select(window=window)
    assert told(put_together(trace, groups, cuts, random.Random(seed), exact)) == told(trace)


def test_a_block_is_gone_once_it_was_added(fixtures):
    """Blocks that wait for the search for circles would fill the memory that is bounded."""
    trace = open_trace(fixtures / "ckpt4")
    relations = RelationSums(replace(trace.scope, exact=False))
    block = trace.operations.take(np.arange(len(trace.operations)))
    gone = weakref.ref(block)
    gc.disable()
    try:
        relations.add(TraceBlock(relations.scope, block, trace.stream.kept.other_events))
        del block
        assert gone() is None
    finally:
        gc.enable()
