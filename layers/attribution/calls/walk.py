"""Calls followed batch by batch: the tree of call paths, the calls that ended, what their I/O was on, and stacks."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from ....model.arrays import Columns, Ints, Links, Mask, Octets, RowsOfIds, columns_as, empty_columns
from ....model.codes import IoMode, IoRecord
from ....model.events import IoEvents
from ....model.stream.calls import EventBatch, RegionColumns, RegionEvents
from ....model.stream.source import Partition, Source
from ...handles.metadata import EventObjects
from ...handles.scope import Scope
from ...selection.window import NO_LENGTH
from .functions import NO_EVENT, TRANSFER, FunctionGroups

_FEWEST: Final = 1 << 8


class CallTree:
    """A tree of call paths that grows, and what the calls of each took; trees of others merge."""

    def __init__(self, room: int = _FEWEST) -> None:
        from .kernel import Paths

        size = 1 << max(4, (2 * room - 1).bit_length())
        self.nodes = Paths(
            np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.bool_),
            np.empty((room, 3, 3), np.int64), np.full(size, -1, np.int32), np.zeros(2, np.int64),
        )  # fmt: skip

    def __len__(self) -> int:
        return int(self.nodes.used[0])

    @property
    def columns(self) -> tuple[Links, Links, Mask, Ints]:
        """Parent, region and recursion of each path, and its times; as `kernel.Paths` has them."""
        count, nodes = len(self), self.nodes
        return nodes.parent[:count], nodes.region[:count], nodes.recursive[:count], nodes.times[:count]

    @property
    def left_out(self) -> int:
        """Calls that found no room."""
        return int(self.nodes.used[1])

    def placed(self, parent: Links, region: Links, recursive: Mask) -> Links:
        """Return where paths are here, int32 (n,), new ones if need be; negative where there is no room."""
        from .kernel import insert_paths

        places = np.empty(len(parent), np.int32)
        self.make_room(len(parent))
        left_out = self.left_out
        insert_paths(parent, region, recursive, self.nodes, places)
        self.nodes.used[1] = left_out
        return places

    def merge(self, other: "CallTree") -> None:
        """Add the calls of `other`."""
        times = other.columns[3]
        places = self.placed(*other.columns[:3])
        known = places >= 0
        np.add.at(self.nodes.times, places[known], times[known])
        self.nodes.used[1] += other.left_out + int(times[~known, :, 0].sum())

    def make_room(self, more: int) -> None:
        """Have room for some more paths, as far as there may be so many."""
        from .kernel import MOST_PATHS

        needed = min(len(self) + more, MOST_PATHS)
        if needed > len(self.nodes.parent):
            larger = CallTree(max(needed, 2 * len(self)))
            larger.merge(self)
            self.nodes = larger.nodes


class EndedCalls(NamedTuple):
    """Calls that ended, and what they were; columns of shape (n,)."""

    calls: Any
    """`kernel.Ended`"""
    did: Any
    """`kernel.Notes`"""
    shares: Ints
    """As `kernel.Walk` has them, int64 (locations, groups+1)."""
    first_location: int
    """Row of the first location of `shares`."""


class CallWalker:
    """Follows Enter and Leave, batches of a location one after the other.

    Parameters
    ----------
    kinds : uint8 (256,)
        What an I/O event tells of the call that it is in, by its record, as in `kernel.Notes`.
    every : bool
        Whether to give all calls, or those of I/O only.
    """

    def __init__(self, scope: Scope, functions: FunctionGroups, tree: CallTree, every: bool = False) -> None:
        from . import kernel

        selection, window = scope.selection, scope.window
        self.tree, self._scope, self._every, self._groups = tree, scope, every, len(functions.names)
        self._regions = RowsOfIds(functions.regions.id)
        self._about = kernel.Functions(functions.does_io, functions.layer, functions.group, functions.completes)
        # Garbage can be any time; differences of these fit into 64 bits.
        start, end = (max(-NO_LENGTH, min(NO_LENGTH, edge)) for edge in (window.start, window.end))
        self._edges = kernel.Edges(start, end, window.closed)
        self._aside_handles = np.append(selection.handle_reason >= 0, selection.undefined_handle >= 0)
        self._aside_files = np.append(selection.file_reason >= 0, False)
        self._objects = EventObjects(scope.definitions)
        self._state = np.zeros(kernel.STATE_SIZE, np.int64)
        self._state[[kernel.LOCATION, kernel.TOP, kernel.FREE]] = -1
        self._latest = np.full(len(functions.regions), -1, np.int64)
        self._frames: Any = empty_columns(kernel.Frames, _FEWEST)
        self._noted: Any = empty_columns(kernel.Notes, _FEWEST)

    @property
    def open_calls(self) -> int:
        """How many calls are open."""
        return int(self._state[0])

    @property
    def location(self) -> int:
        """Row of the location of which calls are open, −1 where there are none."""
        return int(self._state[1]) if self.open_calls else -1

    def add(self, events: IoEvents, did: Octets, regions: RegionEvents) -> tuple[EndedCalls, Links]:
        """Take a batch; give the calls that ended, and the path of each I/O event, int32 (events,).

        Parameters
        ----------
        did : uint8 (events,)
            What each event tells of the call that it is in, as in `kernel.Notes`.
        """
        return self._walk(events, did, regions, False)

    def finish(self) -> EndedCalls:
        """Give the calls that are still open, as ended by the last event."""
        return self._walk(IoEvents.empty(), np.zeros(0, np.uint8), RegionEvents.empty(), True)[0]

    def _walk(self, events: IoEvents, did: Octets, regions: RegionEvents, over: bool) -> tuple[EndedCalls, Links]:
        from . import kernel

        found = np.full(len(events), -1, np.int32)
        rows = self._regions.rows(regions.region)
        if not (rows >= 0).all():
            regions, rows = regions.take(rows >= 0), rows[rows >= 0]
        enters = int(regions.enter.sum())
        self._make_room(enters)
        locations = [self._state[kernel.LOCATION], *events.location[[0, -1] if len(events) else []].tolist()]
        locations += regions.location[[0, -1] if len(regions) else []].tolist()
        first, last = min(max(one, 0) for one in locations), max(locations)
        self._state[kernel.FIRST] = first
        shares = np.zeros((max(0, last - first) + 1, self._groups), np.int64)
        room = enters + self.open_calls
        calls, noted = empty_columns(kernel.Ended, room), empty_columns(kernel.Notes, room)
        event_time, time = (np.clip(one.time, -NO_LENGTH, NO_LENGTH) for one in (events, regions))
        walk = kernel.Walk(
            self.tree.nodes, self._frames, self._noted, self._state, self._latest, self._about, self._edges, shares,
            calls, noted, self._every,
        )  # fmt: skip
        crossings = columns_as(RegionColumns, regions, time=time, region=rows)
        notes = self._notes(events, did)
        count = kernel.walk_calls(events.location, event_time, notes, crossings, walk, found, over)
        tables: Any = calls, noted
        ended, did = (type(table)(*(column[:count] for column in table)) for table in tables)
        return EndedCalls(ended, did, shares, first), found

    def _notes(self, events: IoEvents, did: Octets) -> Any:
        """Return what I/O events were on."""
        from . import kernel

        handle, file, paradigm = self._objects.of(events)
        aside = self._aside_handles[handle]
        deletes = np.flatnonzero(events.kind == IoRecord.DELETE_FILE)
        aside[deletes] = self._aside_files[file[deletes]]
        layer = self._scope.layer_rows(paradigm)
        if self._every:
            # A call that closes a file and deletes it is on the handle that it closes.
            layer[deletes] = -1
        return kernel.Notes(did, handle, file, layer, aside.astype(np.uint8))

    def _make_room(self, more: int) -> None:
        from .kernel import DEEPEST

        self.tree.make_room(more)
        needed = min(self.open_calls + more, DEEPEST)
        if needed > len(self._frames.region):
            for name in ("_frames", "_noted"):
                known = getattr(self, name)
                larger = empty_columns(type(known), max(needed, 2 * len(known[0])))
                for old, new in zip(known, larger, strict=True):
                    new[: len(old)] = old
                setattr(self, name, larger)


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
    kind: Octets
    begin: Ints
    end: Ints
    count: Ints

    def of_locations(self, locations: Ints) -> "StackBars":
        """Return those of some locations."""
        return self.take(np.isin(self.location, locations))


def stack_bars(
    source: Source, partitions: Sequence[Partition], functions: FunctionGroups, scope: Scope, locations: Sequence[int]
) -> Iterator[StackBars]:
    """Give the calls of some locations within the window, in parts; only the partitions that have them are read."""
    wanted = np.asarray(sorted({int(one) for one in locations}), np.int64)
    walker = StackWalker(functions, scope)
    for partition in partitions:
        if not set(wanted.tolist()).isdisjoint(partition.locations):
            for batch in source.calls(partition):
                yield walker.add(batch).of_locations(wanted)
            yield walker.finish().of_locations(wanted)


def deeds_of(events: IoEvents, others: Octets) -> Octets:
    """Return what events tell of the calls they are in: of a transfer which one, of `others` by their kind, uint8."""
    begins = events.kind == IoRecord.OPERATION_BEGIN
    # Damage may have any number in place of a mode.
    return np.where(begins, TRANSFER + np.minimum(events.mode, IoMode.FLUSH + 1), others[events.kind]).astype(np.uint8)


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
        return self._bars(self._walker.add(batch.events, deeds_of(batch.events, _DID), batch.regions)[0])

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
