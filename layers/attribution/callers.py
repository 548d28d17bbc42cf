"""Who called the I/O of a trace, and what the calls took; read when it is first asked for."""

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from ...model.ranges import RangeUnion
from ...model.stream.source import Partition
from .blocks import Blocks
from .calls.calls import Calls
from .calls.chain import ChainSums, WaitingChain
from .calls.cost import RunCost, run_cost
from .calls.functions import function_groups
from .calls.metadata_calls import MetadataCalls, events_alone, metadata_calls
from .calls.overlap import NonBlockingSums, Overlap, first_threads, overlap_of
from .calls.paths import CallPaths, read_call_paths
from .calls.stacks import StackBars, stack_bars

_ACTIVITY_BINS: Final = 480
"""Stretches of the window in which ranks in I/O are counted."""


@dataclass(frozen=True, eq=False)
class Callers:
    """Calls of a trace; the first use of `paths`, `calls` and `overlap` reads its events once more."""

    blocks: Blocks

    def of_selection(self, blocks: Blocks) -> "Callers":
        """Return those of other files or another window, with what is known already and depends on neither."""
        selected = Callers(blocks)
        selected.__dict__.update({name: paths for name, paths in self.__dict__.items() if name == "paths"})
        return selected

    @property
    def recorded(self) -> bool:
        """Whether the trace records Enter and Leave."""
        reading = self.blocks.known_reading
        return reading is not None and reading.source.tells_calls

    @property
    def make_sums(self) -> Callable[[], Calls]:
        """What makes sums over no calls; SelectionError where it is not known who called what."""
        blocks = self.blocks
        functions = function_groups(blocks.reading.source.regions, blocks.scope.order)
        return functools.partial(Calls, blocks.scope, functions)

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
        kept, reading = self.blocks.kept, self.blocks.reading
        paths, sums = read_call_paths(
            reading.source, kept.operations, kept.other_events, self.make_sums, reading.workers
        )
        if self.recorded:
            # The same pass has told both.
            self.__dict__.setdefault("calls", sums)
        return paths

    @cached_property
    def calls(self) -> Calls | None:
        """What the calls took, as their Enter and Leave tell; None where the trace does not record them."""
        if not self.recorded:
            return None
        reading, make = self.blocks.reading, self.make_sums
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
        blocks = self.blocks
        if not self.recorded:
            for _, events in blocks:
                found = events_alone(events, blocks.scope)
                yield found.take(blocks.scope.window.contains(found.time))
            return
        reading = blocks.reading
        functions = function_groups(reading.source.regions, blocks.scope.order)
        partitions = reading.source.partitions(reading.memory, 1)
        yield from metadata_calls(reading.source, partitions, functions, blocks.scope)

    @cached_property
    def cost(self) -> RunCost | None:
        """What I/O costs the run, by rank; None where the trace does not record Enter and Leave."""
        if self.calls is None:
            return None
        return run_cost(self.calls, self.non_blocking)

    @cached_property
    def non_blocking(self) -> RangeUnion:
        """When non-blocking operations on selected files were under way, by process, in ticks."""
        blocks = self.blocks
        return blocks.summed(lambda: NonBlockingSums(blocks.scope)).union

    @cached_property
    def overlap(self) -> Overlap | None:
        """As `iostrata.layers.trace.Trace.overlap`."""
        if self.calls is None:
            return None
        return overlap_of(self._bars(self.calls), self.non_blocking, self.calls, _ACTIVITY_BINS)

    @cached_property
    def chain(self) -> WaitingChain | None:
        """As `iostrata.layers.trace.Trace.waiting_chain`."""
        if self.calls is None:
            return None
        sums = ChainSums(self.calls)
        for bars in self._bars(self.calls):
            sums.add(bars)
        return sums.chain()

    def _bars(self, calls: Calls) -> Iterator[StackBars]:
        """Give the calls of first threads."""
        reading = self.blocks.reading
        partitions = reading.source.partitions(reading.memory, reading.workers)
        first = first_threads(calls.scope.definitions)
        return stack_bars(reading.source, partitions, calls.functions, calls.scope, first.tolist())
