"""The longest chain of waiting: who comes last where all ranks wait for each other, from one such place to the next."""

import re
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np

from ....model.arrays import Floats, Ints, Links
from ....model.document import Record, rows_of
from ....model.ranges import RangeUnion
from ....model.stream.calls import OF_MPI
from .calls import Calls
from .walk import StackBars

_WAITS_FOR_ALL: Final = re.compile(
    r"MPI_(Init|Finalize|Barrier|Allreduce|Allgather|Alltoall|Reduce_scatter|Comm_(dup|split|create)|Win_fence|"
    r"File_(open|close|preallocate|set_size|set_view|sync|(read|write)_(at_)?all|(read|write)_ordered))"
)
"""Functions of MPI that no rank of the communicator leaves before all have entered them, or in which that is usual."""
_MOST_CALLS: Final = 1 << 21
"""Calls that are kept; where there are more nothing is told."""
_STEPS_SHOWN: Final = 1000


@dataclass(frozen=True, eq=False)
class WaitingChain(Record):
    """The chain of last ranks, columns of shape (steps,); times in s.

    Where all ranks are in one call at the same time, none goes on before the last one has come: from the last rank at
    one such place to the last rank at the next leads a chain that no rank can overtake. It lasts as long as the window.
    Who waits for a message, or for some ranks only, is told by no such place: that time is in `mpi`.

    Attributes
    ----------
    rank : tuple of (int or None)
        Who comes last at the end of the step: the others wait for it.
    start, end : float64
    function : tuple of str
        What all ranks call at the end of the step; empty where the window ends.
    waited : float64
        What the others wait there, summed over ranks.
    io, mpi : float64
        What the rank spends in calls of I/O on selected files, and in other calls of MPI.
    """

    ENTRIES: ClassVar = ("io_s", "mpi_s", "other_s")

    rank: tuple[int | None, ...]
    start: Floats
    end: Floats
    function: tuple[str, ...]
    waited: Floats
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
        """What the others wait for each rank, in s summed over them, the longest first."""
        sums: dict[int | None, float] = {}
        for rank, waited in zip(self.rank, self.waited.tolist(), strict=True):
            sums[rank] = sums.get(rank, 0.0) + waited
        return dict(sorted(sums.items(), key=lambda item: -item[1]))

    def to_dict(self) -> dict[str, Any]:
        """Return the object ``chain`` of ``layers --json``, with the steps at whose end the others wait longest."""
        shown = np.sort(np.argsort(-self.waited, kind="stable")[:_STEPS_SHOWN])
        named = {"rank": self.rank, "function": self.function}
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
        named = np.array([bool(_WAITS_FOR_ALL.match(name)) for name in functions.regions.name], np.bool_).reshape(-1)
        self._together = of_mpi & named
        self._io, self._either = RangeUnion(scope.exact), RangeUnion(scope.exact)
        self._calls: list[StackBars] = []
        self._count = 0

    def add(self, bars: StackBars) -> None:
        """Add calls of first threads."""
        process = self._counted.scope.definitions.locations.group[bars.location].astype(np.int64)
        decided = (bars.handle >= 0) | (bars.kind > 0) | self._counted.undecided_count[bars.region]
        does_io = self._counted.functions.does_io[bars.region] & ~self._aside[bars.handle] & decided
        for union, chosen in ((self._io, does_io), (self._either, does_io | self._of_mpi[bars.region])):
            union.add(process[chosen], bars.begin[chosen], bars.end[chosen])
        calls = bars.take(self._together[bars.region])
        self._count += len(calls)
        self._calls = [*self._calls, calls] if self._count <= _MOST_CALLS else []

    def chain(self) -> WaitingChain | None:
        """Return the chain; None where there are less than two ranks, or too many calls."""
        definitions, window = self._counted.scope.definitions, self._counted.scope.window
        second = window.ticks_per_second
        if self._count > _MOST_CALLS or not self._calls:
            return None
        calls = StackBars.concatenate(self._calls)
        locations = np.unique(calls.location)
        ranks = len(np.unique(definitions.locations.group[definitions.locations.group >= 0]))
        if ranks < 2 or len(locations) != ranks:
            return None
        rank = definitions.groups.rank[definitions.locations.group[locations]]
        region, begin = _together(calls, locations)
        last = begin.argmax(axis=1)
        time = begin.max(axis=1)
        order = np.argsort(time, kind="stable")
        region, last, time = region[order], last[order], time[order]
        waited = (time[:, np.newaxis] - begin[order]).sum(axis=1)
        # After the last place all go on alone: whoever was last there.
        last = np.append(last, last[-1:]) if len(last) else np.zeros(1, np.int64)
        edges = np.concatenate([[window.start], time, [window.end]])
        process = definitions.locations.group[locations[last]].astype(np.int64)
        io = _covered(self._io, process, edges)
        either = _covered(self._either, process, edges)
        names = self._counted.functions.regions.name
        return WaitingChain(
            rank=tuple(one if one >= 0 else None for one in rank[last].tolist()),
            start=edges[:-1] / second,
            end=edges[1:] / second,
            function=(*(names[row] for row in region.tolist()), ""),
            waited=np.append(waited, 0) / second,
            io=io / second,
            mpi=np.maximum(0, either - io) / second,
        )


def _together(calls: StackBars, locations: Links) -> tuple[Ints, Ints]:
    """Return calls in which all locations are at one time: region int64 (n,), and begin int64 (n, locations).

    The k-th calls of a function are one where no location left before all had entered.
    """
    place = np.searchsorted(locations, calls.location)
    regions, begins = [np.zeros(0, np.int64)], [np.zeros((0, len(locations)), np.int64)]
    for region in np.unique(calls.region).tolist():
        rows = np.flatnonzero(calls.region == region)
        rows = rows[np.lexsort((calls.begin[rows], place[rows]))]
        counts = np.bincount(place[rows], minlength=len(locations))
        if counts.min() != counts.max():
            continue
        begin, end = (column[rows].reshape(len(locations), -1).T for column in (calls.begin, calls.end))
        meet = np.flatnonzero(begin.max(axis=1) <= end.min(axis=1))
        regions.append(np.full(len(meet), region))
        begins.append(begin[meet])
    return np.concatenate(regions), np.concatenate(begins)


def _covered(union: RangeUnion, group: Ints, edges: Ints) -> Floats:
    """Return how much a union covers between edges, float64 (n,); of another group each."""
    found = np.zeros(len(group))
    for one in np.unique(group).tolist():
        rows = np.flatnonzero(group == one)
        found[rows] = union.stretches.until(one, edges[rows + 1]) - union.stretches.until(one, edges[rows])
    return found
