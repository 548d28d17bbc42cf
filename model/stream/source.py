"""What every source of a trace gives: definitions, partitions by process, and blocks of operations.

Every number of a trace is a sum over its blocks. Partitions go out to threads or to other machines, where a
source reads them; operations stay there, and sums come back.
"""

import itertools
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Final, Protocol, Self

import numpy as np

from ..arrays import Frozen, Ints, Links, Rows
from ..definitions import Definitions
from ..errors import SelectionError
from ..events import IoEvents
from ..operations import Operations
from ..sums import Sums, added, by_key
from .calls import EventBatch, FollowsCalls, Regions
from .damage import DamageReport, LocationDamage
from .extents import Extents, contradictions

PARTITIONS_PER_WORKER: Final = 8
_USUAL_WORK: Final = 1 << 20
"""Events of a partition: what waits to be merged stays small."""
_MOST_PARTITIONS: Final = 1 << 12
"""Of larger traces partitions are larger: each costs a millisecond to hand out."""
BYTES_PER_OPERATION: Final = 400
"""What an operation of a block takes while it is matched, ordered, attributed and added up, as measured."""
FEWEST_OPERATIONS: Final = 1 << 12
"""Operations that a block may have however little memory there is."""


@dataclass(frozen=True)
class Partition:
    """Some processes of a trace, to be read in one place; small, and made to be sent away.

    Processes are those of ``Definitions.groups``; a location without a group is a process of its own. Matching and
    attribution stay within a process, so partitions do not depend on each other.

    Attributes
    ----------
    number : int
        Place among the partitions of the trace.
    locations : tuple of int, or range
        Rows in ``Definitions.locations``, ascending: all those of the partition's processes.
    work : int
        What reading it takes, in events; opening a file counts as some.
    most_operations : int or None
        Operations of a block beyond which it is cut, even where some are in flight; None where it is not.
    """

    number: int
    locations: tuple[int, ...] | range
    work: int
    most_operations: int | None = None


class Block(Frozen):
    """Operations that are complete: none of them, nor a call around them, goes on in another block.

    A partition is one block or several. A process with more operations than a block may have is cut at moments at which
    none of them is in flight; see `cut`.

    Attributes
    ----------
    operations : Operations (n,)
        Ordered by begin, then location id, then the order of the file.
    metadata : IoEvents (m,)
        I/O events that are none of an operation; those of one location stand together in the order of the file.
    io_events : int
        I/O events that the block was made of.
    unmatched : int
        Events that end, issue or test an operation without a begin; they count nowhere else.
    events : int
        Events of all kinds that were read; like all that follows it comes with the last block of a partition, and is 0
        or empty elsewhere.
    damage : tuple of LocationDamage
        Locations of the partition where something was lost or is damaged.
    expected : int
        Events of all kinds that the partition should have.
    miscounted : tuple of LocationDamage
        Locations whose definitions promise another number of events than their files hold, which are sound as such.
    filled : int
        Locations that have events.
    extents : tuple of Extents
        When the locations begin and end, and whose definitions they have, where the source can tell.
    cut : int
        1 where the block before had to end although its process had not come to rest. Operations that were in flight
        then stand here; those that they had caused by then stand there, and have no parent.
    given_up : int
        Operations that were given up as never completed, because more were in flight than a block may have.
    irregular : mapping of str to int
        Rows that count although they are odd; see `DamageReport`.
    path, metadata_path : int32 (n,) and (m,), or None
        Where calls were followed: number of the call path in which each operation began or event happened, as what
        followed them gave it; −1 where none is known.
    """

    operations: Operations
    metadata: IoEvents
    io_events: int = 0
    unmatched: int = 0
    events: int = 0
    damage: tuple[LocationDamage, ...] = ()
    expected: int = 0
    miscounted: tuple[LocationDamage, ...] = ()
    filled: int = 0
    extents: tuple[Extents, ...] = ()
    cut: int = 0
    given_up: int = 0
    irregular: Mapping[str, int] = field(default_factory=dict)
    path: Links | None = None
    metadata_path: Links | None = None


class Source(Protocol):
    """A trace that is read partition by partition. It can be pickled, and read by several threads at once."""

    @property
    def path(self) -> Path:
        """Where the trace is: of an archive, its anchor."""

    @property
    def definitions(self) -> Definitions:
        """Read once; they travel with the source."""

    @property
    def engine(self) -> str:
        """What reads the events, as documents tell it."""

    @property
    def regions(self) -> Regions:
        """The functions and other regions that the trace defines; SelectionError where it does not tell who called."""

    @property
    def tells_calls(self) -> bool:
        """Whether the trace defines functions of I/O, so that it may tell when they were entered and left."""

    @property
    def held(self) -> int:
        """Bytes that the source itself holds in memory, beside its definitions, once it is open."""

    @property
    def chunk(self) -> int:
        """Bytes of a file that a thread has in memory while it reads."""

    @property
    def known_damage(self) -> DamageReport | None:
        """What is lost or damaged, where all was read when the source was opened; None before events are read."""

    def worker_count(self, workers: int | None) -> int:
        """Return how many threads read where `workers` are asked for; SelectionError if that is below one."""

    def partitions(self, memory: int | None, workers: int | None) -> tuple[Partition, ...]:
        """Cut the trace into partitions of about equal work, more of them than workers.

        Parameters
        ----------
        memory : int or None
            Bytes that the blocks which are in work at once, one on each worker, may take. None: as suits.
        workers : int or None
            How many partitions are read at once; None: as `worker_count` says.
        """

    def read(
        self, partition: Partition, calls: FollowsCalls | None = None, done: Callable[[int], None] | None = None
    ) -> Iterator[Block]:
        """Read a partition; at least one block comes, whatever is damaged.

        Parameters
        ----------
        calls : FollowsCalls, optional
            What follows the calls, and tells the path in which each operation began.
        done : callable, optional
            Called now and then with the work done since its last call.
        """

    def calls(self, partition: Partition, done: Callable[[int], None] | None = None) -> Iterator[EventBatch]:
        """Read the I/O events of a partition with Enter and Leave; nothing where the trace does not have them.

        The columns of a batch hold until the next one is asked for.
        """


class ProcessSource:
    """Base of sources that know the work of each location before it is read, and so cut themselves into partitions."""

    definitions: Definitions
    LEAST_WORK: ClassVar[int] = 1
    """Work that is worth a partition."""
    known_damage: DamageReport | None = None

    @property
    def work(self) -> Ints:
        """What reading each location takes, int64 (locations,)."""
        raise NotImplementedError

    def worker_count(self, workers: int | None) -> int:
        """Return how many threads read, as `Source.worker_count`."""
        if workers is not None and workers < 1:
            raise SelectionError(f"{workers} workers cannot read anything; give 1 or more")
        return workers or len(os.sched_getaffinity(0))

    def partitions(self, memory: int | None = None, workers: int | None = None) -> tuple[Partition, ...]:
        """Cut the processes into partitions, as `Source.partitions`."""
        threads = self.worker_count(workers)
        most = None if memory is None else max(FEWEST_OPERATIONS, memory // threads // BYTES_PER_OPERATION)
        work = self.work
        if not len(work):
            return ()
        order, first, _ = self.processes
        whole = int(work.sum())
        usual = max(_USUAL_WORK, whole // _MOST_PARTITIONS)
        size = max(self.LEAST_WORK, min(whole // (PARTITIONS_PER_WORKER * threads), usual))
        if order is first and whole <= size:
            return (Partition(0, range(len(order)), whole, most),)
        work = work[order]
        total = np.cumsum(np.add.reduceat(work, first))
        cuts = np.flatnonzero(np.diff((total - 1) // size, prepend=-1))
        edges = [*first[cuts].tolist(), len(order)]
        return tuple(
            Partition(number, tuple(order[start:stop].tolist()), int(work[start:stop].sum()), most)
            for number, (start, stop) in enumerate(itertools.pairwise(edges))
        )

    @cached_property
    def processes(self) -> tuple[Rows, Rows, Ints]:
        """Locations by process, processes by their first location; where each begins; and the process of each."""
        group = self.definitions.locations.group
        every = np.arange(len(group))
        if np.array_equal(group, every):
            # A process of one location each, as most recorders that are no tracers have them.
            return every, every, every
        key = np.where(group >= 0, group, len(self.definitions.groups.id) + every)
        _, leader, number = np.unique(key, return_index=True, return_inverse=True)
        process = leader[number.reshape(-1)]
        order = np.argsort(process, kind="stable")
        return order, np.flatnonzero(np.diff(process[order], prepend=-1)), process


class Tally(Sums):
    """What the blocks of a trace say beside operations and metadata events, added up; their order does not matter."""

    events: int = added(0)
    io_events: int = added(0)
    unmatched: int = added(0)
    expected: int = added(0)
    filled: int = added(0)
    cut: int = added(0)
    given_up: int = added(0)
    locations: tuple[LocationDamage, ...] = added(())
    miscounted: tuple[LocationDamage, ...] = added(())
    extents: tuple[Extents, ...] = added(())
    irregular: dict[str, int] = by_key(lambda _sums: Counter())

    @classmethod
    def of(cls, source: "Source") -> Self:
        """Return the sums of all blocks of a source."""
        found = cls()
        for partition in source.partitions(None, 1):
            for block in source.read(partition):
                found.add(block)
        return found

    def add(self, block: Block) -> None:
        """Add a block."""
        for name in ("events", "io_events", "unmatched", "expected", "filled", "cut", "given_up"):
            setattr(self, name, getattr(self, name) + getattr(block, name))
        self.locations += block.damage
        self.miscounted += block.miscounted
        self.extents += block.extents
        for name, count in block.irregular.items():
            self.irregular[name] += count

    @property
    def damage(self) -> DamageReport:
        """What is lost or damaged, by location."""
        # A recorder that counts wrongly does so everywhere; one file that disagrees is not the one that was written.
        lost = {one.row for one in self.locations}
        everywhere = len(self.miscounted) == self.filled > 1
        wrong = [one for one in self.miscounted if one.events_expected and one.row not in lost and not everywhere]
        expected = self.expected + sum(one.events_expected - one.events_read for one in wrong)
        lost |= {one.row for one in wrong}
        told = contradictions(self.extents, lost).items()
        others = (LocationDamage(identity, row, events, events, reason) for row, (identity, events, reason) in told)
        located = tuple(sorted((*self.locations, *wrong, *others), key=lambda one: one.row))
        counts = len(self.miscounted) - len(wrong), self.cut, self.given_up
        return DamageReport(expected, self.events, located, *counts, dict(self.irregular))
