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
