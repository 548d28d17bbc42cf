"""Call stacks over time: each call of some threads with its depth, and what its I/O was on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from ....model.arrays import Columns, Ints, Links
from ....model.codes import IoMode, IoRecord
from ....model.stream.calls import EventBatch
from ....model.stream.source import Partition, Source
from ...handles.scope import Scope
from .functions import NO_EVENT, TRANSFER, FunctionGroups
from .walk import CallTree, CallWalker, EndedCalls

STACK_KINDS: Final = ("none", "read", "write", "flush", "open", "close", "other")
"""What a call did: nothing that left an I/O event, a transfer, or a metadata operation."""
_DID: Final = np.arange(256, dtype=np.uint8)
# What only goes on with an operation tells nothing.
_DID[IoRecord.OPERATION_TEST : IoRecord.OPERATION_CANCELLED + 1] = NO_EVENT
_NAMES: Final = {
    NO_EVENT: "none",
    IoRecord.CREATE_HANDLE: "open",
    IoRecord.DUPLICATE_HANDLE: "open",
    IoRecord.DESTROY_HANDLE: "close",
    TRANSFER + IoMode.READ: "read",
    TRANSFER + IoMode.WRITE: "write",
    TRANSFER + IoMode.FLUSH: "flush",
}
_KINDS: Final = np.array([STACK_KINDS.index(_NAMES.get(did, "other")) for did in range(256)], np.uint8)
"""Places in `STACK_KINDS` of what calls did."""
_DEEPEST: Final = 1 << 10
"""Calls deeper than that are left out."""


@dataclass(frozen=True, eq=False)
class StackBars(Columns):
    """Calls, or calls of one function and on one handle that follow each other closely; columns of shape (n,).

    Attributes
    ----------
    location : int32
        Row in ``Definitions.locations``.
    depth : int32
        Number of calls around it.
    region : int32
        Row in ``FunctionGroups.regions``.
    handle : int32
        Row in ``Definitions.handles`` of what its I/O was on, −1 for none.
    kind : uint8
        Place in `STACK_KINDS` of what it did.
    begin, end : int64
        Enter and Leave in ticks since the trace's start, within the window.
    count : int64
        How many calls it stands for.
    """

    location: Links
    depth: Links
    region: Links
    handle: Links
    kind: npt.NDArray[np.uint8]
    begin: Ints
    end: Ints
    count: Ints

    def of_locations(self, locations: Ints) -> "StackBars":
        """Return those of some locations."""
        return self.take(np.isin(self.location, locations))


def stack_bars(
    source: Source,
    partitions: Sequence[Partition],
    functions: FunctionGroups,
    scope: Scope,
    locations: Sequence[int],
) -> Iterator[StackBars]:
    """Give the calls of some locations within the window, in parts; only the partitions that have them are read."""
    wanted = np.asarray(sorted({int(one) for one in locations}), np.int64)
    walker = StackWalker(functions, scope)
    for partition in partitions:
        if not set(wanted.tolist()).isdisjoint(partition.locations):
            for batch in source.calls(partition):
                yield walker.add(batch).of_locations(wanted)
            yield walker.finish().of_locations(wanted)


class StackWalker:
    """Follows the calls of all locations, batch by batch."""

    def __init__(self, functions: FunctionGroups, scope: Scope) -> None:
        self._walker = CallWalker(scope, functions, CallTree(), every=True)

    @property
    def location(self) -> int:
        """Row of the location of which calls are open, −1 where there are none."""
        return self._walker.location

    def add(self, batch: EventBatch) -> StackBars:
        """Take a batch, and give the calls that ended in it."""
        kind, mode = batch.events.kind, batch.events.mode
        did = np.where(kind == IoRecord.OPERATION_BEGIN, TRANSFER + mode, _DID[kind]).astype(np.uint8)
        return self._bars(self._walker.add(batch.events, did, batch.regions)[0])

    def finish(self) -> StackBars:
        """Give the calls that are still open, as ended by the last event."""
        return self._bars(self._walker.finish())

    def _bars(self, ended: EndedCalls) -> StackBars:
        calls, did = ended.calls, ended.did
        bars = StackBars(
            calls.location, calls.depth, calls.region, did.handle, _KINDS[did.did], calls.begin, calls.end,
            np.ones(len(calls.begin), np.int64),
        )  # fmt: skip
        return bars.take(bars.depth < _DEEPEST)
