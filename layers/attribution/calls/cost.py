"""What I/O costs a run by rank: its share of the time, what could be saved, overlap, and who waits for whom."""

from collections.abc import Iterable
from functools import cached_property
from typing import Annotated, ClassVar, Final

import numpy as np

from ....model.arrays import Floats, Frozen, Ints, Mask
from ....model.codes import IoFlag
from ....model.document import Document, Record, keys_of, rows_of
from ....model.keyed import KeyedSums
from ....model.operations import view
from ....model.ranges import RangeUnion
from ....model.stream.calls import OF_MPI, OF_PTHREAD, PARADIGMS
from ....model.sums import NOBODY, Sums, nested
from ...handles.scope import Scope, ScopedBlock
from .alone import Alone, Stretches, alone_of, alone_stretches
from .calls import Calls
from .functions import ASKS_FOR_IO, INSIDE, MESSAGES, POLLS, WAITING, WAITS_FOR_ALL, WAITS_FOR_SOME
from .waits import NOBODY_WAITS, Causes, Pieces, Waits, released, together
from .walk import StackBars

_RANK_COST: Final = {
    "rank": int | None,
    **keys_of(float, "io_s mpi_s set_aside_s other_s threads_s other_threads_io_s"),
}
_UNDER_WAY: Final = keys_of(float, "under_way_s computing_s")
_OVERLAP: Final = {**_UNDER_WAY, "ranks": list[Annotated[Document, {"rank": int | None, **_UNDER_WAY}]]}


class RunCost(Record, eq=False):
    """Where the time of a run goes, by rank; columns of shape (ranks,) in s, but for one of the first thread of each.

    Attributes
    ----------
    rank : tuple of (int or None)
        MPI rank, None where there is none.
    io : float64
        In calls of I/O on selected files, and all that they call; in calls of MPI that complete non-blocking ones.
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
        Where no calls of MPI are known, what several ranks did otherwise may be waiting for the I/O of others.
        """
        own = (self.other - self.threads).max(initial=0.0) if self.mpi.any() or len(self.io) < 2 else 0.0
        return float(min(self.any_io, self.length - own))

    @property
    def ranks(self) -> list[Annotated[Document, _RANK_COST]]:
        """What stands in the document of each rank."""
        names = ("io", "mpi", "set_aside", "other", "threads", "other_threads_io")
        return rows_of({"rank": self.rank, **{f"{name}_s": getattr(self, name) for name in names}})


def run_cost(calls: Calls, under_way: RangeUnion) -> RunCost:
    """Add up what the first threads of all processes did; `under_way`: when they had non-blocking operations."""
    definitions, window = calls.scope.definitions, calls.scope.window
    second = window.ticks_per_second
    process, first = definitions.locations.group, definitions.locations.first
    names = calls.functions.names
    mpi_calls, of_threads = (np.array([name == PARADIGMS[one] for name in names]) for one in (OF_MPI, OF_PTHREAD))
    set_aside = np.arange(len(names)) == len(names) - 1
    io = io_seconds(calls)
    mpi, aside, threads = (_seconds(calls, chosen) for chosen in (mpi_calls, set_aside, of_threads))
    length = (window.end - window.start) / second
    together = RangeUnion(exact=True)
    for _, begin, end in (calls.io_stretches, under_way.covered()):
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


def io_seconds(calls: Calls) -> Floats:
    """Return the time in s that each location is in calls of I/O on selected files, float64 (locations,)."""
    functions = calls.functions
    of_io = np.zeros(len(functions.names), np.bool_)
    of_io[functions.group[functions.does_io]] = True
    of_io[[functions.names.index(name) for name in (WAITING, INSIDE)]] = True
    return _seconds(calls, of_io)


def _seconds(calls: Calls, chosen: Mask) -> Floats:
    """Return the time in s that each location is in functions of chosen groups."""
    location, group = calls.group_ticks.keys
    ticks = np.bincount(
        location, calls.group_ticks["ticks"] * chosen[group], minlength=len(calls.scope.definitions.locations.id)
    )
    return ticks / calls.scope.window.ticks_per_second


class Overlap(Frozen):
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

    def to_dict(self) -> Annotated[Document, _OVERLAP]:
        """Return the object ``overlap`` of ``layers --json``: ranks without non-blocking operations are in no row."""
        rows = zip(self.rank, self.under_way.tolist(), self.computing.tolist(), strict=True)
        ranks = [{"rank": rank, "under_way_s": whole, "computing_s": part} for rank, whole, part in rows if whole]
        return {"under_way_s": float(self.under_way.sum()), "computing_s": float(self.computing.sum()), "ranks": ranks}


class UnderWaySums(Sums):
    """When non-blocking, or all other, operations of each process were under way, added up block by block."""

    scope: Scope
    non_blocking: bool
    union: RangeUnion = nested(lambda sums: RangeUnion(sums.scope.exact))

    def add(self, block: ScopedBlock) -> None:
        """Add a block."""
        window, chosen = self.scope.window, self.scope.window.part(block.operations)
        selected = np.append(self.scope.selection.selected, False)[chosen.handle]
        chosen = view(chosen, (((chosen.flags & IoFlag.NON_BLOCKING) > 0) == self.non_blocking) & selected)
        self.union.add(chosen.process.astype(np.int64), *window.clipped(chosen))


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
    processes = process_of[definitions.locations.first]
    together.merge(either)
    together.merge(under_way)
    whole = under_way.lengths(processes)
    # What either covers alone is what both cover beyond the calls.
    computing = np.maximum(0, together.lengths(processes) - either.lengths(processes))
    second = window.ticks_per_second
    edges = np.linspace(window.start, window.end, bins + 1)
    width = max(float(edges[1] - edges[0]), 1e-300)
    in_io, in_either = (
        np.diff(sum((union.covered().until(one, edges) for one in processes.tolist()), np.zeros(bins + 1))) / width
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


_MOST_CALLS: Final = 1 << 21
"""Calls that are kept; where there are more nothing is said of any."""
_STEPS_SHOWN: Final = 1000


_STEP: Final = {
    "rank": int | None,
    "cause": int | None,
    "function": str,
    **keys_of(float, "start_s end_s waited_s io_s mpi_s"),
}
_CHAIN: Final = {
    "waited_s": float,
    "steps_total": int,
    "held_up": list[Annotated[Document, {"rank": int | None, "waited_s": float}]],
    "steps": list[Annotated[Document, _STEP]],
}


class WaitingChain(Record, eq=False):
    """The chain of last ranks, columns of shape (steps,); times in s.

    Where all ranks are in one call at the same time, none goes on before the last one has come: from the last rank at
    one such place to the last rank at the next leads a chain that no rank can overtake. It lasts as long as the window.
    Who waits for a message, or for some ranks only, shows at no such place: that time is in `mpi`.

    Attributes
    ----------
    rank : tuple of (int or None)
        Who comes last at the end of the step: the others wait for it.
    cause : tuple of (int or None)
        For whom they wait in the end: another one where that one waits itself meanwhile, in another call; None where it
        does and the trace does not tell for whom.
    start, end : float64
    function : tuple of str
        What all ranks call at the end of the step; empty where the window ends.
    waited : float64
        What the others wait there, summed over ranks.
    ranks : tuple of (int or None)
        All ranks.
    each : float64 (steps, ranks)
        What each of them waits there.
    mostly : float64
        What half of the others wait there at least.
    io_mostly : float64
        What the one that they wait for in the end spends in calls of I/O on selected files in that time.
    io, mpi : float64
        What the rank spends in calls of I/O on selected files, and in other calls of MPI.
    """

    ENTRIES: ClassVar = ("io_s", "mpi_s", "other_s")

    rank: tuple[int | None, ...]
    cause: tuple[int | None, ...]
    start: Floats
    end: Floats
    function: tuple[str, ...]
    waited: Floats
    ranks: tuple[int | None, ...]
    each: Floats
    mostly: Floats
    io_mostly: Floats
    io: Floats
    mpi: Floats

    @property
    def io_s(self) -> float:
        """What the chain spends in I/O."""
        return float(self.io.sum())

    @property
    def mpi_s(self) -> float:
        """What it spends in MPI outside of I/O."""
        return float(self.mpi.sum())

    @property
    def other_s(self) -> float:
        """All the rest of it."""
        return float((self.end - self.start).sum()) - self.io_s - self.mpi_s

    @property
    def held_up(self) -> dict[int | None, float]:
        """What the others wait for each rank in the end, in s summed over them, the longest first."""
        sums: dict[int | None, float] = {}
        for rank, waited in zip(self.cause, self.waited.tolist(), strict=True):
            sums[rank] = sums.get(rank, 0.0) + waited
        return dict(sorted(sums.items(), key=lambda item: -item[1]))

    def to_dict(self) -> Annotated[Document, _CHAIN]:
        """Return the object ``chain`` of ``layers --json``, with the steps at whose end the others wait longest."""
        shown = np.sort(np.argsort(-self.waited, kind="stable")[:_STEPS_SHOWN])
        named = {"rank": self.rank, "cause": self.cause, "function": self.function}
        times = {"start_s": self.start, "end_s": self.end, "waited_s": self.waited, "io_s": self.io, "mpi_s": self.mpi}
        return {
            **super().to_dict(),
            "waited_s": float(self.waited.sum()),
            "steps_total": len(self.rank),
            "held_up": rows_of({"rank": tuple(self.held_up), "waited_s": tuple(self.held_up.values())}),
            "steps": rows_of(
                {
                    **{name: [column[row] for row in shown.tolist()] for name, column in named.items()},
                    **{name: column[shown] for name, column in times.items()},
                }
            ),
        }


class ChainSums:
    """Gathers the calls of first threads that a chain is made of.

    Parameters
    ----------
    counted : Calls
        What calls count.
    """

    def __init__(self, counted: Calls) -> None:
        self._counted, scope, functions = counted, counted.scope, counted.functions
        self._aside = np.append(scope.selection.handle_reason >= 0, False)
        self._of_mpi = of_mpi = functions.regions.paradigm == OF_MPI
        all_wait, some_wait, polls, messages, asks = (
            np.array([bool(one.match(name)) for name in functions.regions.name], np.bool_).reshape(-1)
            for one in (WAITS_FOR_ALL, WAITS_FOR_SOME, POLLS, MESSAGES, ASKS_FOR_IO)
        )
        self._sends, self._asks, self._messages = of_mpi & messages, of_mpi & asks, KeyedSums.none(2, "ticks")
        self._all_wait, self._together = of_mpi & all_wait, of_mpi & (all_wait | some_wait)
        self._may_wait = of_mpi & ~polls
        self._io, self._either, self._waiting, self._hanging = (RangeUnion(scope.exact) for _ in range(4))
        self._calls: list[StackBars] = []
        self._count = 0

    def add(self, bars: StackBars) -> None:
        """Add calls of first threads."""
        functions = self._counted.functions
        process = self._counted.scope.definitions.locations.group[bars.location].astype(np.int64)
        decided = (bars.handle >= 0) | (bars.kind > 0) | self._counted.undecided_count[bars.region]
        does_io = functions.does_io[bars.region] & ~self._aside[bars.handle] & decided
        either, waiting = (does_io | does[bars.region] for does in (self._of_mpi, self._may_wait))
        hanging = (self._may_wait & ~functions.does_io)[bars.region]
        unions = (self._io, does_io), (self._either, either), (self._waiting, waiting), (self._hanging, hanging)
        for union, chosen in unions:
            union.add(process[chosen], bars.begin[chosen], bars.end[chosen])
        sends = (self._sends | self._asks)[bars.region]
        keys, took = (process[sends], bars.region[sends]), bars.end[sends] - bars.begin[sends]
        self._messages = self._messages.plus(keys, {"ticks": took})
        calls = bars.take(self._together[bars.region])
        self._count += len(calls)
        self._calls = [*self._calls, calls] if self._count <= _MOST_CALLS else []

    @cached_property
    def _meeting(self) -> list[tuple[int, Ints, Ints]]:
        """Functions, and begin and end of each call that all processes make together, int64 (n, processes)."""
        calls = StackBars.concatenate(self._calls) if len(self._locations) else StackBars.empty()
        found = ((one, together(calls, self._locations, one)) for one in np.unique(calls.region).tolist())
        return [(region, *times) for region, times in found if times is not None]

    @cached_property
    def _locations(self) -> Ints:
        """Rows of the first threads that make such calls, where all processes do; else none."""
        of = self._counted.scope.definitions.locations.group
        found = np.unique(np.concatenate([part.location for part in self._calls])) if self._calls else NOBODY
        return found.astype(np.int64) if len(found) == len(np.unique(of[of >= 0])) > 1 else NOBODY

    @cached_property
    def _waits(self) -> Waits:
        """When it is known for whom who waits."""
        process = self._counted.scope.definitions.locations.group[self._locations].astype(np.int64)
        parts = [NOBODY_WAITS]
        for region, begin, end in self._meeting:
            who, time, waits = released(begin, end)
            if self._all_wait[region]:
                waits = (begin.max(axis=1) <= end.min(axis=1))[:, np.newaxis] & (time > begin)
            row, place = np.nonzero(waits)
            columns = process[place], process[who[row, place]], begin[row, place], time[row, place]
            parts.append(Waits(*columns, np.full(len(row), region)))
        return Waits.of(Waits.concatenate(parts))

    @cached_property
    def causes(self) -> Causes:
        """For whom processes wait in the end."""
        hanging = Waits.in_calls(self._hanging.covered()).parted(self._io.covered())[1]
        if len(self._processes) < 2:
            return Causes(self._waits, hanging, NOBODY_WAITS)
        found = self._alone
        nobody = np.full(len(found.place), -1)
        alone = Waits(nobody, self._processes[found.place], found.begin, found.end, nobody)
        return Causes(self._waits, hanging, alone)

    @cached_property
    def _alone(self) -> Stretches:
        """When one process alone did not wait."""
        io = self._io.covered()
        covered = io, self._waiting.covered(), self._waits.parted(io)[0]
        return alone_stretches(self._processes, covered, self._window[:2])

    @cached_property
    def _processes(self) -> Ints:
        definitions = self._counted.scope.definitions
        process = definitions.locations.group[definitions.locations.first].astype(np.int64)
        return np.unique(process[definitions.groups.rank[process] >= 0])

    @property
    def _window(self) -> tuple[int, int, float]:
        window = self._counted.scope.window
        return window.start, window.end, window.ticks_per_second

    @property
    def messages(self) -> dict[tuple[int, str], float]:
        """How long each rank is in each function that sends or receives messages or waits for them, in s.

        Without requests of ranks that make non-blocking I/O: what they wait for then is not known.
        """
        ranks, names = self._counted.scope.definitions.groups.rank, self._counted.functions.regions.name
        process, region = self._messages.keys
        waits = np.array([name.startswith("MPI_Wait") for name in names], np.bool_)[region]
        known = self._sends[region] & ~(waits & np.isin(process, process[self._asks[region]]))
        rows = zip(*(one[known].tolist() for one in (process, region, self._messages["ticks"])), strict=True)
        found: dict[tuple[int, str], float] = {}
        for who, what, took in rows:
            key = int(ranks[who]), names[what]
            found[key] = found.get(key, 0.0) + took / self._window[2]
        return found

    def alone(self) -> Alone | None:
        """Return when each rank was outside of MPI alone; None where there are less than two ranks."""
        process = self._processes
        if len(process) < 2:
            return None
        rank = tuple(self._counted.scope.definitions.groups.rank[process].tolist())
        covered = self._io.covered(), self._waiting.covered()
        return alone_of(rank, process, covered, self._alone, self._window[2])

    def chain(self) -> WaitingChain | None:
        """Return the chain; None where there are less than two ranks, or too many calls."""
        locations, (first, over, second) = self._locations, self._window
        if not len(locations):
            return None
        process = self._counted.scope.definitions.locations.group[locations].astype(np.int64)
        region, begin = self._places()
        last, time = begin.argmax(axis=1), begin.max(axis=1)
        each = time[:, np.newaxis] - begin
        most_there = np.sort(begin, axis=1)[:, (len(locations) - 1) // 2]
        # After the last place all go on alone: whoever was last there.
        last = np.append(last, last[-1:]) if len(last) else np.zeros(1, np.int64)
        edges = np.concatenate([[first], time, [over]])
        mine = process[last]
        io, either = (_covered(union, mine, edges[:-1], edges[1:]) for union in (self._io, self._either))
        row, place = np.nonzero(each)
        nowhere = np.full(len(row), -1)
        cause = self.causes.most(Pieces(row, mine[row], begin[row, place], time[row], nowhere), mine)
        known = np.where(cause >= 0, cause, mine)[:-1]
        names, rank = self._counted.functions.regions.name, np.append(self._counted.scope.definitions.groups.rank, -1)
        ranks, causes, every = (tuple(_rank(one) for one in rank[of].tolist()) for of in (mine, cause, process))
        return WaitingChain(
            rank=ranks,
            cause=causes,
            start=edges[:-1] / second,
            end=edges[1:] / second,
            function=(*(names[row] for row in region.tolist()), ""),
            waited=np.append(each.sum(axis=1), 0) / second,
            ranks=every,
            each=np.concatenate([each, np.zeros((1, len(process)), np.int64)]) / second,
            mostly=np.append(time - most_there, 0) / second,
            io_mostly=np.append(_covered(self._io, known, most_there, time), 0) / second,
            io=io / second,
            mpi=np.maximum(0, either - io) / second,
        )

    def _places(self) -> tuple[Ints, Ints]:
        """Return calls in which all are at one time, in their order: region int64 (n,), begin int64 (n, processes).

        No process left it before all had entered. Where only some need to wait, it is one where they do for longer than
        the call takes from then on.
        """
        regions, begins = [NOBODY], [np.zeros((0, len(self._locations)), np.int64)]
        for region, begin, end in self._meeting:
            last, leave = begin.max(axis=1), end.min(axis=1)
            meet = (last <= leave) & (self._all_wait[region] | (last - begin.min(axis=1) > leave - last))
            regions.append(np.full(int(meet.sum()), region))
            begins.append(begin[meet])
        every = np.concatenate(begins)
        order = np.argsort(every.max(axis=1), kind="stable")
        return np.concatenate(regions)[order], every[order]


def _rank(number: int) -> int | None:
    return number if number >= 0 else None


def _covered(union: RangeUnion, group: Ints, begin: Ints, end: Ints) -> Floats:
    """Return how much a union covers in stretches of time, float64 (n,); of another group each."""
    found = np.zeros(len(group))
    for one in np.unique(group).tolist():
        rows = np.flatnonzero(group == one)
        found[rows] = union.covered().until(one, end[rows]) - union.covered().until(one, begin[rows])
    return found
