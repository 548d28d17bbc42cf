"""Operations that are in memory as a source: partitions of processes, and blocks of them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, Final

import numpy as np

from ..model.arrays import Ints, Links, Mask, Rows
from ..model.codes import UNDEFINED_TIME
from ..model.definitions import Definitions
from ..model.errors import SelectionError, TraceError
from ..model.events import IoEvents
from ..model.operations import Operations, check_rows
from ..model.stream.calls import EventBatch, FollowsCalls, Regions
from ..model.stream.damage import DamageReport, LocationDamage
from ..model.stream.source import Block, Partition, ProcessSource, Tally
from .calls import CallEvents

MOST_LAYERS: Final = 255
"""Paradigms that OTF2 has numbers for; what compares layers takes them by pairs."""


@dataclass(frozen=True, eq=False)
class RowSource(ProcessSource):
    """What a recorder wrote, read as a whole: a `iostrata.model.stream.source.Source`.

    Attributes
    ----------
    operations : Operations (n,)
        Ordered by begin, then location.
    metadata : IoEvents
        Those of one location stand together.
    damage : tuple of LocationDamage
    records : int
        What was read beside operations and metadata events, such as counters.
    called : CallEvents, optional
        The calls of functions that operations and events are.
    """

    LEAST_WORK: ClassVar[int] = 1 << 18

    path: Path
    definitions: Definitions
    operations: Operations
    metadata: IoEvents
    damage: tuple[LocationDamage, ...] = ()
    irregular: Mapping[str, int] = field(default_factory=dict)
    records: int = 0
    called: CallEvents | None = None

    def __post_init__(self) -> None:
        layers = len(self.definitions.paradigms)
        if layers > MOST_LAYERS:
            raise TraceError(
                f"{self.path}: {layers:,} layers, more than the {MOST_LAYERS} that OTF2 has numbers for: a layer is an "
                "interface such as MPI-IO or POSIX, not a file or a function"
            )
        check_rows(self.operations, self.metadata, self.definitions)

    @property
    def engine(self) -> str:
        """The recorder, which is read one way only."""
        return self.definitions.recording.recorder

    @property
    def regions(self) -> Regions:
        """The functions that were called; SelectionError where they are not recorded."""
        if self.called is None:
            raise SelectionError(f"{self.path}: {self.engine} does not tell which function was called")
        return self.called.called.regions

    @property
    def tells_calls(self) -> bool:
        """Whether it is recorded when functions were entered and left."""
        return self.called is not None

    def calls(self, partition: Partition, _done: Callable[[int], None] | None = None) -> Iterator[EventBatch]:
        """Give the events of a partition with Enter and Leave, as `Source.calls`."""
        if self.called is not None:
            yield self.called.batch(self._wanted(partition))[0]

    def _wanted(self, partition: Partition) -> Mask:
        """Return which locations are of a partition."""
        wanted = np.zeros(len(self.definitions.locations.id), np.bool_)
        some = slice(None) if len(partition.locations) == len(wanted) else list(partition.locations)
        wanted[some] = True
        return wanted

    @property
    def held(self) -> int:
        """Bytes of all columns."""
        columns = [*vars(self.operations).values(), *vars(self.metadata).values()]
        return sum(column.nbytes for column in columns)

    @property
    def chunk(self) -> int:
        """Nothing is read any more."""
        return 0

    @property
    def known_damage(self) -> DamageReport:  # type: ignore[override]
        """All that is lost or damaged."""
        return Tally.of(self).damage

    @property
    def work(self) -> Ints:
        """Operations of each location, int64 (locations,)."""
        return np.bincount(self.operations.location, minlength=len(self.definitions.locations.id)) + 1

    def read(
        self, partition: Partition, calls: FollowsCalls | None = None, done: Callable[[int], None] | None = None
    ) -> Iterator[Block]:
        """Give the operations of a partition, as `Source.read`."""
        wanted = self._wanted(partition)
        paths = None if calls is None else self._paths(calls, wanted)
        rows, events = (
            np.arange(len(one)) if wanted.all() else np.flatnonzero(wanted[one.location])
            for one in (self.operations, self.metadata)
        )
        damage = tuple(one for one in self.damage if (wanted[one.row] if one.row >= 0 else not partition.number))
        records = 0 if partition.number else self.records
        lost = sum(one.events_expected - one.events_read for one in damage)
        read = len(rows) + len(events) + records
        blocks = list(self._cut(rows, events, partition.most_operations))
        for number, (part, events_there, forced) in enumerate(blocks):
            block = Block(
                self.operations if len(part) == len(self.operations) else self.operations.take(part),
                self.metadata.take(events_there),
                io_events=len(part) + len(events_there),
                cut=int(forced),
                path=None if paths is None else paths[0][part],
                metadata_path=None if paths is None else paths[1][events_there],
            )
            if done is not None:
                done(len(part))
            if number == len(blocks) - 1:
                irregular = {} if partition.number else self.irregular
                block = replace(block, events=read, expected=read + lost, damage=damage, irregular=irregular)
            yield block

    def _paths(self, calls: FollowsCalls, wanted: Mask) -> tuple[Links, Links]:
        """Return the call path of each operation and metadata event of some locations; SelectionError if unknown."""
        _ = self.regions
        paths = np.full(len(self.operations), -1, np.int32), np.full(len(self.metadata), -1, np.int32)
        if self.called is not None:
            batch, row = self.called.batch(wanted)
            found, of_event = calls.add(batch.events, batch.regions), row < 0
            paths[0][row[~of_event]], paths[1][-1 - row[of_event]] = found[~of_event], found[of_event]
        return paths

    def _cut(self, rows: Rows, events: Rows, most: int | None) -> Iterator[tuple[Rows, Rows, bool]]:
        """Yield rows and events of a block each, and whether it had to begin while its process was in an operation."""
        if most is None or len(rows) <= most:
            yield rows, events, False
            return
        process = self.operations.process[rows]
        owner = self.definitions.locations.group[self.metadata.location[events]]
        order, event_order = np.argsort(process, kind="stable"), np.argsort(owner, kind="stable")
        everyone = np.union1d(process, owner)
        bounds = np.append(everyone, np.iinfo(np.int32).max)
        edges, event_edges = (np.searchsorted(column, bounds) for column in (process[order], owner[event_order]))
        for one in range(len(everyone)):
            own = rows[order[edges[one] : edges[one + 1]]]
            yield from self._cut_process(own, events[event_order[event_edges[one] : event_edges[one + 1]]], most)

    def _cut_process(self, rows: Rows, events: Rows, most: int) -> Iterator[tuple[Rows, Rows, bool]]:
        begin, end = self.operations.begin[rows], self.operations.end[rows]
        # One that never ended is in flight for ever, but nothing follows from that.
        reached = np.maximum.accumulate(np.where(end == UNDEFINED_TIME, begin, end))
        rest = np.flatnonzero(begin[1:] > reached[:-1]) + 1
        start, forced = 0, False
        while len(rows) - start > most:
            stop = start + most
            place = int(np.searchsorted(rest, stop, "right")) - 1
            next_forced = place < 0 or rest[place] <= start
            if not next_forced:
                stop = int(rest[place])
            before = self.metadata.time[events] < begin[stop]
            yield rows[start:stop], events[before], forced
            events = events[~before]
            start, forced = stop, next_forced
        yield rows[start:], events, forced
