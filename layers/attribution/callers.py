"""Who called the I/O of a trace, what the calls took, and layers split by a key; read when it is first asked for."""

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from ...model.arrays import Frozen, Ints, Links
from ...model.errors import TraceError
from ...model.events import IoEvents
from ...model.operations import Operations
from ...model.ranges import RangeUnion
from ...model.stream.columns import PATH, CollectedOperations
from ...model.stream.mapping import map_partitions
from ...model.stream.source import Block, Partition, Source
from .attribution import TraceBlock
from .breakdown import Breakdown, BreakdownSums
from .calls.alone import Alone
from .calls.calls import Calls
from .calls.cost import ChainSums, Overlap, RunCost, UnderWaySums, WaitingChain, overlap_of, run_cost
from .calls.functions import CALL_KEYS, CALLPATH, NamedRows, PathTree, function_groups
from .calls.meetings import Meetings, meetings
from .calls.metadata_calls import MetadataCalls, events_alone, metadata_calls
from .calls.waits import UNKNOWN_CAUSES, Causes
from .calls.walk import StackBars, stack_bars
from .collectives import CallPlaces
from .stream import Stream


class CallPaths(PathTree):
    """A tree of call paths, and which of them operations and other I/O events happened in.

    Attributes
    ----------
    operation : int32 (m,)
        Path in which each operation began, −1 where none is known.
    event : int32 (k,)
        The same for the I/O events that are none of an operation.
    """

    operation: Links
    event: Links

    def __repr__(self) -> str:
        known = int((self.operation >= 0).sum())
        return f"<CallPaths: {len(self.parent):,} paths, known of {known:,} of {len(self.operation):,} operations>"


def read_call_paths(
    source: Source,
    operations: Operations,
    other_events: IoEvents,
    make: Callable[[], Calls],
    workers: int | None = None,
) -> tuple[CallPaths, Calls]:
    """Read a trace once more, now with the call paths in which its operations began; also sum up its calls.

    Raises SelectionError if the source cannot tell who called what; TraceError if the trace is not what it was when the
    operations were read.

    Parameters
    ----------
    operations, other_events : Operations, IoEvents
        All of the trace.
    workers : int, optional
        Threads that read.
    """
    regions = source.regions
    if not regions.does_io.any() or not (len(operations) or len(other_events)):
        empty = np.empty(0, np.int32)
        unknown = (np.full(len(one), -1, np.int32) for one in (operations, other_events))
        return CallPaths(regions, empty, empty, *unknown), make()
    collected = CollectedOperations(source.definitions, ("location", "begin", PATH))

    def read(partition: Partition, done: Callable[[int], None]) -> tuple[Calls, list[Block]]:
        sums = make()
        return sums, list(source.read(partition, sums, done))

    threads, whole = source.worker_count(workers), make()
    for sums, blocks in map_partitions(read, source.partitions(None, threads), 0, threads):
        places = np.append(whole.tree.placed(*sums.tree.columns[:3]), np.int32(-1))
        whole.merge(sums)
        for block in blocks:
            of_events = None if block.metadata_path is None else places[block.metadata_path]
            collected.add(replace(block, path=places[block.path], metadata_path=of_events))
    again, event = collected.metadata()
    columns = collected.columns()
    if not np.array_equal(columns["begin"], operations.begin) or not np.array_equal(again.time, other_events.time):
        raise TraceError(f"{source.path} has changed since it was opened; open it again")
    parent, region, _, _ = whole.tree.columns
    return CallPaths(regions, parent, region, columns[PATH], event), whole


_MUCH: Final = 0.01
"""Of the run that a process waits for others: from there on it is told for whom in the end."""
_LITTLE: Final = 0.001
"""Of the run: what no process waits longer is not looked at."""
_ACTIVITY_BINS: Final = 480
"""Stretches of the window in which ranks in I/O are counted."""


class TraceCalls(Frozen):
    """Calls of a trace; the first use of `paths`, `totals` and `overlap` reads its events once more."""

    stream: Stream

    def of_selection(self, stream: Stream) -> "TraceCalls":
        """Return those of other files or another window, with what is known already and depends on neither."""
        selected = TraceCalls(stream)
        selected.__dict__.update({name: paths for name, paths in self.__dict__.items() if name == "paths"})
        return selected

    @property
    def recorded(self) -> bool:
        """Whether the trace records Enter and Leave."""
        reading = self.stream.known_reading
        return reading is not None and reading.source.tells_calls

    @property
    def make_sums(self) -> Callable[[], Calls]:
        """What makes sums over no calls; SelectionError where it is not known who called what."""
        stream = self.stream
        functions = function_groups(stream.reading.source.regions, stream.scope.order)
        return functools.partial(Calls, stream.scope, functions)

    @cached_property
    def paths(self) -> CallPaths:
        """The call path in which each operation and other I/O event was recorded, of all files and times.

        Raises
        ------
        SelectionError
            If the recorder does not tell which function was called, or the trace was read in bounded memory.
        TraceError
            If the archive is gone or has changed since it was opened.
        """
        kept, reading = self.stream.kept, self.stream.reading
        paths, sums = read_call_paths(
            reading.source, kept.operations, kept.other_events, self.make_sums, reading.workers
        )
        if self.recorded:
            # The same pass has told both.
            self.__dict__.setdefault("totals", sums)
        return paths

    @cached_property
    def totals(self) -> Calls | None:
        """What the calls took, as their Enter and Leave tell; None where the trace does not record them."""
        if not self.recorded:
            return None
        reading, make = self.stream.reading, self.make_sums
        source = reading.source

        def read(partition: Partition, done: Callable[[int], None]) -> Calls:
            sums = make()
            for batch in source.calls(partition, done):
                sums.add(batch.events, batch.regions)
            sums.finish()
            return sums

        def merged(one: Calls, other: Calls) -> Calls:
            one.merge(other)
            return one

        return reading.reduced(read, merged, make)

    def metadata_calls(self) -> Iterator[MetadataCalls]:
        """Give the metadata events within the window and the calls of I/O without an event, of all files, in parts."""
        stream = self.stream
        if not self.recorded:
            for block in stream:
                found = events_alone(block.other_events, stream.scope)
                yield found.take(stream.scope.window.contains(found.time))
            return
        reading = stream.reading
        functions = function_groups(reading.source.regions, stream.scope.order)
        partitions = reading.source.partitions(reading.memory, 1)
        yield from metadata_calls(reading.source, partitions, functions, stream.scope)

    @cached_property
    def cost(self) -> RunCost | None:
        """What I/O costs the run, by rank; None where the trace does not record Enter and Leave."""
        if self.totals is None:
            return None
        return run_cost(self.totals, self.non_blocking)

    @cached_property
    def non_blocking(self) -> RangeUnion:
        """When non-blocking operations on selected files were under way, by process, in ticks."""
        stream = self.stream
        return stream.summed(lambda: UnderWaySums(stream.scope, non_blocking=True)).union

    @cached_property
    def blocking(self) -> RangeUnion:
        """When any other operations were."""
        stream = self.stream
        return stream.summed(lambda: UnderWaySums(stream.scope, non_blocking=False)).union

    @cached_property
    def all_meetings(self) -> Meetings:
        """The calls of I/O in which several processes were at one time, with what each waited for the last one to come.

        None where nobody waits for long, and where the trace does not record Enter and Leave.
        """
        if self.totals is None:
            return Meetings.empty()
        found = meetings(self.totals.shared, self.stream.scope)
        return found if self._longest(found) > _LITTLE else Meetings.empty()

    def _longest(self, found: Meetings) -> float:
        """Return the share of the run for which the process waits that does so longest."""
        window = self.stream.scope.window
        return float(np.bincount(found.process, found.waited).max(initial=0)) / max(1, window.end - window.start)

    @cached_property
    def meetings(self) -> Meetings:
        """The same without the time in which the one waited for in the end was in I/O itself."""
        found = self.all_meetings
        if self.totals is None or not len(found):
            return found
        busy = self.blocking.covered()
        for rows in (calls.rows for calls in self.totals.shared.values()):
            busy = busy.joined(rows.process.astype(np.int64), rows.begin, rows.end)
        # For whom who comes last waits itself takes another look at all events.
        return found.without(busy, self._waiting[2] if self._longest(found) >= _MUCH else UNKNOWN_CAUSES)

    @cached_property
    def overlap(self) -> Overlap | None:
        """Whether non-blocking I/O overlaps computing, and how many ranks are in I/O over time.

        None where the trace does not record Enter and Leave.
        """
        if self.totals is None:
            return None
        return overlap_of(self._bars(self.totals), self.non_blocking, self.totals, _ACTIVITY_BINS)

    @property
    def chain(self) -> WaitingChain | None:
        """The longest chain of waiting: who comes last where all ranks wait for each other.

        None where the trace does not record Enter and Leave, or has one rank.
        """
        return self._waiting[0]

    @property
    def alone(self) -> Alone | None:
        """When each rank was outside of MPI and all others in it; None as for `chain`."""
        return self._waiting[1]

    @property
    def messages(self) -> dict[tuple[int, str], float]:
        """How long each rank is in each function of MPI for messages between two, in s; empty where not recorded."""
        return self._waiting[3]

    @cached_property
    def _waiting(self) -> tuple[WaitingChain | None, Alone | None, Causes, dict[tuple[int, str], float]]:
        if self.totals is None:
            return None, None, UNKNOWN_CAUSES, {}
        sums = ChainSums(self.totals)
        for bars in self._bars(self.totals):
            sums.add(bars)
        return sums.chain(), sums.alone(), sums.causes, sums.messages

    def _bars(self, calls: Calls) -> Iterator[StackBars]:
        """Give the calls of first threads."""
        reading = self.stream.reading
        partitions = reading.source.partitions(reading.memory, reading.workers)
        first = calls.scope.definitions.locations.first
        return stack_bars(reading.source, partitions, calls.functions, calls.scope, first.tolist())


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


def called_blocks(callers: TraceCalls, called: bool) -> Iterator[tuple[TraceBlock, Ints, Mapping[str, NamedRows], int]]:
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
        yield stream.whole, stream.whole.calls, by, 0
        return
    places, first, given = CallPlaces(), 0, False
    for block, sums in stream.reading.followed_blocks(callers.make_sums if called else None):
        operations, given = block.operations, True
        traffic = TraceBlock.of(stream.scope, block)
        places.finish(np.unique(operations.process).astype(np.int64))
        sequence, place = places.keys(operations, traffic.sequences)
        if sums is not None and block.path is not None:
            by = {name: sums.paths.named(name, block.path) for name in CALL_KEYS}
        yield traffic, np.where(place >= 0, (sequence << 32) + place, -1), by, first
        first += len(operations)
    if not given:
        yield TraceBlock(stream.scope, Operations.empty(), IoEvents.empty()), np.empty(0, np.int64), by, 0
