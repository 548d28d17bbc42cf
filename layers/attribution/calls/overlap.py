"""Does I/O overlap computing: what ranks do while non-blocking operations are under way; ranks in I/O over time."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....model.arrays import Floats, Ints
from ....model.codes import IoFlag
from ....model.definitions import Definitions
from ....model.operations import view
from ....model.ranges import RangeUnion
from ....model.stream.calls import OF_MPI
from ....model.sums import Sums, nested
from ...handles.block import ScopedBlock
from ...handles.scope import Scope
from .calls import Calls
from .stacks import StackBars


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
