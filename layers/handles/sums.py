"""Metadata events and lifetimes of handles, added up block by block."""

from typing import Final, Self

import numpy as np

from ...model.arrays import Array, Integers, Ints, Ticks
from ...model.codes import SYNCHRONOUS, UNCACHED, WRITABLE, IoRecord
from ...model.keyed import KeyedSums
from ...model.sums import NOBODY, Sums, added, keyed, largest
from .metadata import MetadataEvents, UsedHandles, lifetime_events, metadata_text, selected_metadata
from .scope import Scope, ScopedBlock

LIFETIMES: Final = ("created", "destroyed", "precreated", "never_created", "never_destroyed")
"""How lifetimes begin and end."""
_PRECREATED, _STILL_OPEN = 2, 4
_MOST_TIMES: Final = 1 << 18


class HandleSums(Sums):
    """Sums over the metadata events and operations of whole processes; memory follows handles and processes.

    The order in which blocks are added or merged does not matter. Times of metadata events are kept to the tick as long
    as a layer's and time's pairs are at most 2^18; else they are rounded down to multiples of a power of two.

    Attributes
    ----------
    events : int64 (handles,)
        Metadata events within the window that name it.
    synchronous, uncached : KeyedSums
        By handle and process, how often that made it one whose writes wait for the storage, and one of `UNCACHED`.
    opens : KeyedSums
        By handle and process, how often that was made within the window.
    writable : KeyedSums
        By handle and `WRITABLE` access, how often that was made to write within the window.
    held : KeyedSums
        By handle, within the window: `ticks` from its start to when the handle is gone less those to when it is made,
        and `open`, how much more often it is made. With the whole window for each of these, how long it is there.
    kinds : KeyedSums
        By layer and `IoRecord`, how many metadata events on selected files there are within the window.
    creating : KeyedSums
        By layer, how many of the opens among them make the file where there is none.
    """

    scope: Scope
    events: Ints = added(lambda sums: np.zeros(sums.handles, np.int64))
    synchronous: KeyedSums = keyed(2, "count")
    uncached: KeyedSums = keyed(2, "count")
    opens: KeyedSums = keyed(2, "count")
    writable: KeyedSums = keyed(2, "count")
    held: KeyedSums = keyed(1, "ticks", "open")
    kinds: KeyedSums = keyed(2, "count")
    creating: KeyedSums = keyed(1, "count")
    _lifetimes: Ints = added(lambda sums: np.zeros((len(LIFETIMES), sums.handles), np.int64))
    _ranks: Ints = added(lambda sums: np.zeros(sums.handles, np.int64))
    _shift: int = largest(0)

    def prepare(self) -> None:
        self._times = KeyedSums.none(2, "count")
        self._pairs = KeyedSums.none(2, "events", "end")
        self._blocks = 0

    @property
    def handles(self) -> int:
        """Number of handles that the trace defines."""
        return len(self.scope.definitions.handles.id)

    def add(self, block: ScopedBlock) -> None:
        """Add a block."""
        operations, metadata = block.operations, block.metadata
        within = self.scope.window.contains(metadata.time)
        self.events += np.bincount(metadata.handle[within & (metadata.handle >= 0)], minlength=len(self.events))
        for name, flags in (("synchronous", SYNCHRONOUS), ("uncached", UNCACHED)):
            there = (metadata.status & np.uint32(flags) > 0) & (metadata.handle >= 0)
            found = getattr(self, name).plus((metadata.handle[there], metadata.process[there]), {"count": 1})
            setattr(self, name, found)
        access = block.other_events.mode
        made = (metadata.kind == IoRecord.CREATE_HANDLE) & within & (metadata.handle >= 0)
        there = made & np.isin(access, WRITABLE)
        self.writable = self.writable.plus((metadata.handle[there], access[there]), {"count": 1})
        gone = (metadata.kind == IoRecord.DESTROY_HANDLE) & within & (metadata.handle >= 0)
        sign, since = gone.astype(np.int64) - made, metadata.time - self.scope.window.start
        ends = {"ticks": (sign * since)[made | gone], "open": -sign[made | gone]}
        self.held = self.held.plus([metadata.handle[made | gone]], ends)
        self.finish(np.union1d(metadata.process, operations.process).astype(np.int64))
        self._add_lifetimes(metadata)
        used = UsedHandles.of(operations)
        self._pairs = self._pairs.plus((used.handle, used.process), {"events": 0, "end": 0})
        layer = self.scope.layer_rows(metadata.paradigm)
        shown = selected_metadata(metadata, self.scope.selection, self.scope.window) & (layer >= 0)
        self.kinds = self.kinds.plus((layer[shown], metadata.kind[shown]), {"count": 1})
        self.creating = self.creating.plus([layer[shown & metadata.creates_file]], {"count": 1})
        # A seek asks no file system for anything.
        shown &= metadata.kind != IoRecord.SEEK
        self._take(KeyedSums.none(2, "count").plus((layer[shown], metadata.time[shown]), {"count": 1}))

    def absorb(self, other: Self) -> None:
        """Add the times of metadata events."""
        self._take(other._times)

    @property
    def ranks(self) -> Ints:
        """Processes that made or used each handle, int64 (handles,)."""
        self.finish()
        return self._ranks

    @property
    def lifetime_counts(self) -> Array:
        """How many lifetimes of each handle begin and end in which way in the whole trace, (5, handles).

        In place of the number of pre-created ones stands whether there are any.
        """
        self.finish()
        counts = self._lifetimes.astype(object)
        counts[_PRECREATED] = self._lifetimes[_PRECREATED] > 0
        return counts

    def times(self, layer: int) -> tuple[Ticks, Ints]:
        """Return when metadata events of a layer on selected files happened, ascending, and how many; without seeks."""
        rows = self._times.keys[0] == layer
        return self._times.keys[1][rows], self._times["count"][rows]

    def kinds_of(self, layer: int) -> dict[int, int]:
        """Return how many metadata events of a layer on selected files there are, by `IoRecord`."""
        rows = self.kinds.keys[0] == layer
        return dict(zip(self.kinds.keys[1][rows].tolist(), self.kinds["count"][rows].tolist(), strict=True))

    def text_of(self, layer: int, leave_out: tuple[int, ...] = ()) -> str:
        """Return in words what metadata events of a layer there are on selected files, of all kinds but some."""
        kinds = {kind: count for kind, count in self.kinds_of(layer).items() if kind not in leave_out}
        return metadata_text(kinds, int(self.creating["count"][self.creating.keys[0] == layer].sum()))

    def _add_lifetimes(self, metadata: MetadataEvents) -> None:
        """Add what makes and destroys handles; see `handle_lifetimes` for what belongs to which lifetime."""
        handle, process, time, birth, _ = lifetime_events(metadata)
        same = np.zeros(len(handle), np.bool_)
        same[1:] = (handle[1:] == handle[:-1]) & (process[1:] == process[:-1])
        pairs = handle[~same], process[~same]
        before, known = np.append(False, birth)[:-1], np.ones(len(handle), np.bool_)
        # What the blocks before left open: whether there was an event at all, and whether the last made the handle.
        before[~same] = self._pairs.at(pairs, "end") % 2 == 1
        known[~same] = self._pairs.at(pairs, "events") > 0
        orphan = ~birth & ~before
        precreated = orphan & ~known & self.scope.definitions.handles.precreated[handle]
        conditions = (birth, ~birth, precreated, orphan & ~precreated)
        for row, condition in enumerate(conditions):
            self._lifetimes[row] += self._count(handle[condition])
        self._lifetimes[_STILL_OPEN] += self._count(handle[birth]) - self._count(handle[~birth & before])
        opened = birth & self.scope.window.contains(time)
        self.opens = self.opens.plus((handle[opened], process[opened]), {"count": 1})
        self._blocks += 1
        # The number of the last event, whose lowest bit tells what it was.
        number = (self._blocks << 40) + 2 * np.arange(len(handle)) + birth
        self._pairs = self._pairs.plus((handle, process), {"events": 1, "end": number})

    def finish(self, going_on: Ints = NOBODY) -> None:
        """Add up what is only known of a process when it is over: of all but those that are going on."""
        over = ~np.isin(self._pairs.keys[1], going_on)
        if not over.any():
            return
        done = self._pairs.taken(over)
        self._pairs = self._pairs.taken(~over)
        self._ranks += self._count(done.keys[0])
        used = done.keys[0][done["events"] == 0]
        precreated = self.scope.definitions.handles.precreated[used]
        self._lifetimes[_PRECREATED] += self._count(used[precreated])
        self._lifetimes[_PRECREATED + 1] += self._count(used[~precreated])
        self._lifetimes[_STILL_OPEN] += self._count(used)

    def _count(self, handle: Integers) -> Ints:
        return np.bincount(handle, minlength=self.handles).astype(np.int64)

    def _take(self, fresh: KeyedSums) -> None:
        times = self._times.merged(fresh)
        while True:
            layer, time = times.keys
            if self._shift:
                times = KeyedSums((layer, time >> self._shift << self._shift), times.values)
            if self.scope.exact or len(times) <= _MOST_TIMES:
                break
            self._shift += 1
        self._times = times
