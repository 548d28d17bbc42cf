"""Layers split by a key, and operations with who called them: of a trace that is kept, or read once more."""

import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ...model.arrays import Ints
from ...model.operations import Operations
from ...model.stream.source import Partition
from ..handles.metadata import metadata_events
from .breakdown import Breakdown, BreakdownSums
from .callers import Callers
from .calls.calls import Calls
from .calls.keys import CALL_KEYS, CALLPATH, NamedRows, PathTree
from .collectives import CallPlaces
from .traffic import Traffic


def split(callers: Callers, by: str) -> Breakdown:
    """Split what each layer did by a key; see `iostrata.layers.trace.Trace.breakdown`."""
    if by in CALL_KEYS:
        return split_by_calls(callers, by)[1]
    sums = callers.blocks.summed(lambda: BreakdownSums(callers.blocks.scope, by))
    if callers.calls is not None:
        sums.add_calls(callers.calls)
    return sums.breakdown()


def split_by_calls(
    callers: Callers, by: str, texts: Callable[[Ints], list[Any]] | None = None
) -> tuple[Calls | None, Breakdown]:
    """Return all calls and the split by who called; `texts` gives names of keys in place of the usual ones."""
    blocks = callers.blocks
    if blocks.scope.exact:
        paths, calls, table = callers.paths, callers.calls, BreakdownSums(blocks.scope, by)
        key = paths.keys(by)
        table.add_traffic(blocks.traffic, blocks.metadata, (key[paths.operation], key[paths.event]))
        tree: PathTree = paths
    else:
        table, sums = _read_by_calls(callers, by)
        tree, calls = sums.paths, sums if callers.recorded else None
    if calls is not None:
        table.add_calls(calls)
    table.name_calls(texts or functools.partial(tree.texts, by))
    return calls, table.breakdown()


def _read_by_calls(callers: Callers, by: str) -> tuple[BreakdownSums, Calls]:
    """Read the trace once more for what operations and calls take by who called."""
    scope, source, make = callers.blocks.scope, callers.blocks.reading.source, callers.make_sums

    def nothing() -> tuple[BreakdownSums, Calls]:
        return BreakdownSums(scope, by), make()

    def read(partition: Partition, done: Callable[[int], None]) -> tuple[BreakdownSums, Calls]:
        table, calls = nothing()
        for block in source.read(partition, calls, done):
            key, metadata = calls.paths.keys(by), metadata_events(block.metadata, source.definitions)
            called = key[block.path], key[block.metadata_path]
            table.add_traffic(Traffic.of(scope, block.operations), metadata, called)
        return table, calls

    def merge(one: tuple[BreakdownSums, Calls], other: tuple[BreakdownSums, Calls]) -> tuple[BreakdownSums, Calls]:
        if by == CALLPATH:
            other[0].rename(one[1].tree.placed(*other[1].tree.columns[:3]))
        one[1].merge(other[1])
        one[0].merge(other[0])
        return one

    return callers.blocks.reading.reduced(read, merge, nothing)


def called_blocks(callers: Callers, called: bool) -> Iterator[tuple[Traffic, Ints, Mapping[str, NamedRows], int]]:
    """Give all operations in one or several blocks, at least one.

    Each with the number of the collective call of each operation; by `CALL_KEYS` the names of who called, and the row
    of each operation there (−1 for none), nothing unless `called` is asked for; and the number of the block's first
    operation.
    """
    blocks = callers.blocks
    by: dict[str, NamedRows] = {}
    if blocks.scope.exact:
        if called:
            paths = callers.paths
            by = {name: paths.named(name, paths.operation) for name in CALL_KEYS}
        yield blocks.traffic, blocks.traffic.calls.call, by, 0
        return
    places, first, given = CallPlaces(), 0, False
    for block, sums in blocks.reading.followed_blocks(callers.make_sums if called else None):
        operations, given = block.operations, True
        traffic = Traffic.of(blocks.scope, operations)
        places.finish(np.unique(operations.process).astype(np.int64))
        sequence, place = places.keys(operations, traffic.sequences)
        if sums is not None and block.path is not None:
            by = {name: sums.paths.named(name, block.path) for name in CALL_KEYS}
        yield traffic, np.where(place >= 0, (sequence << 32) + place, -1), by, first
        first += len(operations)
    if not given:
        yield Traffic.of(blocks.scope, Operations.empty()), np.empty(0, np.int64), by, 0
