"""Layers split by a key, and operations with who called them: of a trace that is kept, or read once more."""

import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ...model.arrays import Ints
from ...model.operations import Operations
from ...model.stream.source import Partition
from .breakdown import Breakdown, BreakdownSums
from .callers import TraceCalls
from .calls.calls import Calls
from .calls.keys import CALL_KEYS, CALLPATH, NamedRows, PathTree
from .collectives import CallPlaces
from .stream import TraceBlock
from .traffic import Traffic


def split(calls: TraceCalls, by: str) -> Breakdown:
    """Split what each layer did by a key; see `iostrata.layers.trace.Trace.breakdown`."""
    if by in CALL_KEYS:
        return split_by_calls(calls, by)[1]
    sums = calls.stream.summed(lambda: BreakdownSums(calls.stream.scope, by))
    if calls.totals is not None:
        sums.add_calls(calls.totals)
    return sums.breakdown()


def split_by_calls(
    callers: TraceCalls, by: str, texts: Callable[[Ints], list[Any]] | None = None
) -> tuple[Calls | None, Breakdown]:
    """Return all calls and the split by who called; `texts` gives names of keys in place of the usual ones."""
    stream = callers.stream
    if stream.scope.exact:
        paths, calls, table = callers.paths, callers.totals, BreakdownSums(stream.scope, by)
        key = paths.keys(by)
        table.add(stream.whole, (key[paths.operation], key[paths.event]))
        tree: PathTree = paths
    else:
        table, sums = _read_by_calls(callers, by)
        tree, calls = sums.paths, sums if callers.recorded else None
    if calls is not None:
        table.add_calls(calls)
    table.name_calls(texts or functools.partial(tree.texts, by))
    return calls, table.breakdown()


def _read_by_calls(callers: TraceCalls, by: str) -> tuple[BreakdownSums, Calls]:
    """Read the trace once more for what operations and calls take by who called."""
    scope, source, make = callers.stream.scope, callers.stream.reading.source, callers.make_sums

    def nothing() -> tuple[BreakdownSums, Calls]:
        return BreakdownSums(scope, by), make()

    def read(partition: Partition, done: Callable[[int], None]) -> tuple[BreakdownSums, Calls]:
        table, calls = nothing()
        for block in source.read(partition, calls, done):
            key = calls.paths.keys(by)
            table.add(TraceBlock.of(scope, block), (key[block.path], key[block.metadata_path]))
        return table, calls

    def merge(one: tuple[BreakdownSums, Calls], other: tuple[BreakdownSums, Calls]) -> tuple[BreakdownSums, Calls]:
        if by == CALLPATH:
            other[0].rename(one[1].tree.placed(*other[1].tree.columns[:3]))
        one[1].merge(other[1])
        one[0].merge(other[0])
        return one

    return callers.stream.reading.reduced(read, merge, nothing)


def called_blocks(callers: TraceCalls, called: bool) -> Iterator[tuple[Traffic, Ints, Mapping[str, NamedRows], int]]:
    """Give all operations in one or several blocks, at least one.

    Each with the number of the collective call of each operation; by `CALL_KEYS` the names of who called, and the row
    of each operation there (−1 for none), nothing unless `called` is asked for; and the number of the block's first
    operation.
    """
    stream = callers.stream
    by: dict[str, NamedRows] = {}
    if stream.scope.exact:
        if called:
            paths = callers.paths
            by = {name: paths.named(name, paths.operation) for name in CALL_KEYS}
        yield stream.whole.traffic, stream.whole.traffic.calls.call, by, 0
        return
    places, first, given = CallPlaces(), 0, False
    for block, sums in stream.reading.followed_blocks(callers.make_sums if called else None):
        operations, given = block.operations, True
        traffic = Traffic.of(stream.scope, operations)
        places.finish(np.unique(operations.process).astype(np.int64))
        sequence, place = places.keys(operations, traffic.sequences)
        if sums is not None and block.path is not None:
            by = {name: sums.paths.named(name, block.path) for name in CALL_KEYS}
        yield traffic, np.where(place >= 0, (sequence << 32) + place, -1), by, first
        first += len(operations)
    if not given:
        yield Traffic.of(stream.scope, Operations.empty()), np.empty(0, np.int64), by, 0
