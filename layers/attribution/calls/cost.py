"""What I/O costs a run by rank: its share of the time, what could be saved, whether it overlaps computing."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ....model.arrays import Floats, Ints, Mask
from ....model.codes import IoFlag
from ....model.definitions import Definitions
from ....model.document import Record, rows_of
from ....model.operations import view
from ....model.ranges import RangeUnion
from ....model.stream.calls import OF_MPI, OF_PTHREAD, PARADIGMS
from ....model.sums import Sums, nested
from ...handles.scope import Scope, ScopedBlock
from .calls import Calls
from .walk import StackBars


@dataclass(frozen=True, eq=False)
class RunCost(Record):
    """Where the time of a run goes, by rank; columns of shape (ranks,) in s, but for one of the first thread of each.

    Attributes
    ----------
    rank : tuple of (int or None)
        MPI rank, None where there is none.
    io : float64
        In calls of I/O on selected files, and all that they call.
    mpi : float64
        In other calls of MPI.
    set_aside : float64
        In calls of I/O on files that are set aside, or on what the trace does not tell, such as pipes.
    other : float64
        All the rest of the window: computing, waiting outside of MPI, whatever was not recorded.
    threads : float64
        The part of `other` that is in functions of POSIX threads, which may wait for the I/O of other threads.
    other_threads_io : float64
        What all other threads were in calls of I/O on selected files, which the first one need not wait for.
    any_io : float
        Time in s in which at least one thread of any rank was in a call of I/O, or had a non-blocking operation under
        way.
    length : float
        Of the window in s.
    """

    ENTRIES: ClassVar = ("length", "any_io", "most_saved", "ranks")
    KEYS: ClassVar = {"length": "length_s", "any_io": "any_io_s", "most_saved": "most_saved_s"}

    rank: tuple[int | None, ...]
    io: Floats
    mpi: Floats
    set_aside: Floats
    other: Floats
    threads: Floats
    other_threads_io: Floats
    any_io: float
    length: float

    @property
    def most_saved(self) -> float:
        """What the run could be shorter in s at most, if I/O took no time.

        The longest chain of dependent work of a run spends no more time in I/O than there is in which any rank is in
        I/O, or waits for it elsewhere; and no rank can do without its own other work, even if it never waited in MPI.
        """
        return float(min(self.any_io, self.length - (self.other - self.threads).max(initial=0.0)))

    @property
    def ranks(self) -> list[dict[str, Any]]:
        """What stands in the document of each rank."""
        names = ("io", "mpi", "set_aside", "other", "threads", "other_threads_io")
        return rows_of({"rank": self.rank, **{f"{name}_s": getattr(self, name) for name in names}})


def run_cost(calls: Calls, under_way: RangeUnion) -> RunCost:
    """Add up what the first threads of all processes did; `under_way`: when they had non-blocking operations."""
    definitions, window = calls.scope.definitions, calls.scope.window
    second = window.ticks_per_second
    process, first = definitions.locations.group, first_threads(definitions)
    names = calls.functions.names
    mpi_calls, of_threads = (np.array([name == PARADIGMS[one] for name in names]) for one in (OF_MPI, OF_PTHREAD))
    set_aside = np.arange(len(names)) == len(names) - 1
    of_io = np.zeros(len(names), np.bool_)
    of_io[calls.functions.group[calls.functions.does_io]] = True
    location, group = calls.group_ticks.keys

    def seconds(chosen: Mask) -> Floats:
        ticks = np.bincount(location, calls.group_ticks["ticks"] * chosen[group], minlength=len(process))
        return ticks / second

    io, mpi, aside, threads = (seconds(chosen) for chosen in (of_io, mpi_calls, set_aside, of_threads))
    length = (window.end - window.start) / second
    together = RangeUnion(exact=True)
    for _, begin, end in (calls.io_stretches, under_way.stretches):
        together.add(np.zeros(len(begin), np.int64), begin, end)
    whole = np.bincount(process[process >= 0], io[process >= 0], minlength=len(definitions.groups.id))
    return RunCost(
        rank=tuple(rank if rank >= 0 else None for rank in definitions.groups.rank[process[first]].tolist()),
        io=io[first],
        mpi=mpi[first],
        set_aside=aside[first],
        other=np.maximum(0.0, length - io[first] - mpi[first] - aside[first]),
        threads=threads[first],
        other_threads_io=np.maximum(0.0, whole[process[first]] - io[first]),
        any_io=together.length / second,
        length=length,
    )


@dataclass(frozen=True, eq=False)
class Overlap:
    """What the first thread of each rank did while its non-blocking operations were under way.

    Attributes
    ----------
    rank : tuple of (int or None)
    under_way : float64 (ranks,)
        Time in s in which at least one non-blocking operation of the rank was under way, on selected files.
    computing : float64 (ranks,)
        The part of it in which the thread was in no call of I/O or MPI: I/O that costs it nothing.
    edges : float64 (bins+1,)
        Edges in s of equal stretches of the window.
    io, mpi : float64 (bins,)
        How many first threads were in a call of I/O, and of MPI without I/O around or in it, on average in each
        stretch. Calls on all files count.
    """

    rank: tuple[int | None, ...]
    under_way: Floats
    computing: Floats
    edges: Floats
    io: Floats
    mpi: Floats

    def to_dict(self) -> dict[str, Any]:
        """Return the object ``overlap`` of ``layers --json``: ranks without non-blocking operations are in no row."""
        rows = zip(self.rank, self.under_way.tolist(), self.computing.tolist(), strict=True)
        ranks = [{"rank": rank, "under_way_s": whole, "computing_s": part} for rank, whole, part in rows if whole]
        return {"under_way_s": float(self.under_way.sum()), "computing_s": float(self.computing.sum()), "ranks": ranks}


class NonBlockingSums(Sums):
    """When non-blocking operations of each process were under way, added up block by block."""

    scope: Scope
    union: RangeUnion = nested(lambda sums: RangeUnion(sums.scope.exact))

    def add(self, block: ScopedBlock) -> None:
        """Add a block."""
        window, chosen = self.scope.window, self.scope.window.part(block.operations)
        selected = np.append(self.scope.selection.selected, False)[chosen.handle]
        chosen = view(chosen, ((chosen.flags & IoFlag.NON_BLOCKING) > 0) & selected)
        self.union.add(chosen.process.astype(np.int64), *window.clipped(chosen))


def first_threads(definitions: Definitions) -> Ints:
    """Return the first location of each process."""
    process = definitions.locations.group
    processes, first = np.unique(process, return_index=True)
    return np.asarray(first[processes >= 0], np.int64)


def overlap_of(parts: Iterable[StackBars], under_way: RangeUnion, calls: Calls, bins: int) -> Overlap:
    """Add up the calls of the first threads, which `parts` has, beside non-blocking operations."""
    scope, functions = calls.scope, calls.functions
    definitions, window = scope.definitions, scope.window
    io, either, together = (RangeUnion(scope.exact) for _ in range(3))
    process_of = definitions.locations.group.astype(np.int64)
    of_mpi = functions.regions.paradigm == OF_MPI
    for bars in parts:
        process, does_io = process_of[bars.location], functions.does_io[bars.region]
        busy = does_io | of_mpi[bars.region]
        io.add(process[does_io], bars.begin[does_io], bars.end[does_io])
        either.add(process[busy], bars.begin[busy], bars.end[busy])
    processes = process_of[first_threads(definitions)]
    together.merge(either)
    together.merge(under_way)
    whole = under_way.lengths(processes)
    # What either covers alone is what both cover beyond the calls.
    computing = np.maximum(0, together.lengths(processes) - either.lengths(processes))
    second = window.ticks_per_second
    edges = np.linspace(window.start, window.end, bins + 1)
    width = max(float(edges[1] - edges[0]), 1e-300)
    in_io, in_either = (
        np.diff(sum((union.stretches.until(one, edges) for one in processes.tolist()), np.zeros(bins + 1))) / width
        for union in (io, either)
    )
    return Overlap(
        rank=tuple(rank if rank >= 0 else None for rank in definitions.groups.rank[processes].tolist()),
        under_way=whole / second,
        computing=computing / second,
        edges=edges / second,
        io=in_io,
        mpi=np.maximum(0.0, in_either - in_io),
    )
