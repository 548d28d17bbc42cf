"""Who waits for I/O: which part of operations their processes may wait for, and how long others wait for a rank."""

from collections.abc import Collection
from typing import Final

import numpy as np

from ...layers.attribution.calls.cost import io_seconds
from ...layers.flow.cells import Cells
from ...layers.selection.window import sums_by
from ...layers.trace import Trace
from ...model.arrays import Floats, Integers, Mask
from ...model.codes import IoFlag
from ...model.keyed import KeyedSums

_IN_IO: Final = 0.25
"""Of the time that others wait for a rank, which that is longer in I/O than they: with less, it is other work."""
MUCH_WAITED: Final = 0.05
"""Share of the run from which on it is told that others wait for one rank: equal runs differ by a few hundredths."""
_MOSTLY: Final = 2 / 3
"""Of the time in which any rank is outside of MPI alone: with less for one, others hold up the run, too."""
_STRETCHES: Final = 5
"""Of equal length, from which on that recurs: input read by one rank, or a last step of its own, are none."""


def others_in_mpi(trace: Trace, late: Integers, among: Collection[int] | None = None) -> float | None:
    """Return how much longer than the `late` ranks others are in MPI outside of I/O, in s (median); None where unknown.

    A rank that is late and that nobody waits for costs nothing.

    Parameters
    ----------
    trace : Trace
    late : int (n,)
    among : collection of int, optional
        Of others only these count, such as those that have something to do: who has not waits whoever is late.
    """
    cost = trace.calls.cost
    if cost is None:
        return None
    rank = np.array([-1 if one is None else one for one in cost.rank])
    mine = np.isin(rank, late)
    others = (rank >= 0 if among is None else np.isin(rank, list(among))) & ~mine
    if not mine.any() or not others.any():
        return None
    return max(0.0, float(np.median(cost.mpi[others]) - cost.mpi[mine].max()))


def others_wait_s(trace: Trace, rank: int | str | None) -> float:
    """Return how long others wait for the I/O of a rank that does more than they, in s; 0 where it is in other work."""
    cost = trace.calls.cost
    if cost is None or rank not in cost.rank:
        return 0.0
    waited = others_in_mpi(trace, np.array([rank])) or 0.0
    place = cost.rank.index(rank)
    more = cost.io[place] - np.median(np.delete(cost.io, place))
    return float(min(waited, more)) if more >= _IN_IO * waited else 0.0


def others_may_wait(trace: Trace) -> bool:
    """Tell whether ranks are in MPI and in I/O for so long that others may wait for one much of the run.

    Who waits for whom takes another look at all events.
    """
    cost = trace.calls.cost
    if cost is None or len(cost.rank) < 2:
        return False
    return float((cost.mpi + cost.io).sum()) >= MUCH_WAITED * cost.length * (len(cost.rank) - 1)


def outside_alone(trace: Trace) -> tuple[int, float, float] | None:
    """Return which rank is outside of MPI again and again while all others are in it, for how long, and in I/O, in s.

    None where that takes less than a twentieth of the run, or no one rank stands out. What the others wait for then,
    only this rank can bring, directly or by others that wait for it.
    """
    cost = trace.calls.cost
    alone = trace.calls.alone if others_may_wait(trace) else None
    if cost is None or alone is None:
        return None
    row = int(alone.summed.argmax())
    rank, seconds = alone.rank[row], float(alone.summed[row])
    if seconds < max(MUCH_WAITED * cost.length, _MOSTLY * alone.summed.sum()) or alone.stretches[row] < _STRETCHES:
        return None
    return rank, seconds, float(alone.io[row])


def held_up_s(trace: Trace, rank: int | str | None) -> float:
    """Return for how long a rank's I/O may hold up a run, in s: without what goes on while one works that all wait for.

    Infinity where no other rank is.
    """
    found = outside_alone(trace)
    cost, alone = (None, None) if found is None else (trace.calls.cost, trace.calls.alone)
    if cost is None or alone is None or found is None or rank == found[0] or rank not in alone.rank:
        return np.inf
    return max(0.0, float(cost.io[cost.rank.index(rank)] - alone.hidden[alone.rank.index(rank)]))


def waited_part(trace: Trace, cells: Cells, metadata: KeyedSums) -> Floats:
    """Return which part of its time each cell's process may wait for, float64 (cells,); 1 where it is not known.

    A process waits for its non-blocking operations in a layer no longer than it is in I/O without its other operations
    and calls there: they go on while it computes. For what several of its threads do it waits no longer than any thread
    is in I/O.

    Parameters
    ----------
    trace : Trace
    cells : Cells
    metadata : KeyedSums
        See `iostrata.analysis.findings.facts.Facts.worked_metadata`.
    """
    calls, cost = trace.calls.totals, trace.calls.cost
    if calls is None or cost is None:
        return np.ones(len(cells.handle))
    second, processes = cells.window.ticks_per_second, len(trace.definitions.groups.id)
    of, threads = trace.definitions.locations.group, io_seconds(calls) * second
    in_io = np.bincount(of[of >= 0], threads[of >= 0], minlength=processes)
    most = np.minimum(in_io, cost.any_io * second)
    by_threads = np.where(in_io > 0, most / np.maximum(in_io, 1e-9), 1.0)
    found = np.append(by_threads, 1.0)[cells.process]
    under_way, blocking = _by_layer(cells, processes)
    known = metadata.taken((metadata.keys[0] >= 0) & (metadata.keys[2] >= 0))
    blocking += sums_by(known.keys[0] * processes + known.keys[2], known["ticks"], len(blocking))
    waited = np.maximum(0.0, np.tile(most, len(cells.layers)) - blocking * np.tile(by_threads, len(cells.layers)))
    part = np.append(np.minimum(1.0, waited / np.maximum(under_way, 1)), 1.0)
    beside = (cells.flags & np.uint32(IoFlag.NON_BLOCKING)) > 0
    place = np.where((cells.layer >= 0) & (cells.process >= 0), cells.layer * processes + cells.process, -1)
    return np.where(beside, part[place], found)


def _by_layer(cells: Cells, processes: int) -> tuple[Floats, Floats]:
    """Return the ticks of each layer's non-blocking operations, and of its others, by layer and process in turn."""
    beside = (cells.flags & np.uint32(IoFlag.NON_BLOCKING)) > 0
    shown = cells.selected & (cells.layer >= 0) & (cells.process >= 0)
    place = cells.layer.astype(np.int64) * processes + cells.process
    length = len(cells.layers) * processes

    def ticks(chosen: Mask) -> Floats:
        return sums_by(place[chosen], cells.columns.ticks[chosen].astype(np.float64), length)

    return ticks(shown & beside), ticks(shown & ~beside)
