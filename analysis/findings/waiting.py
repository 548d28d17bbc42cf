"""What of the time of operations their processes may wait for: not what goes on beside all that they do."""

import numpy as np

from ...layers.attribution.calls.cost import io_seconds
from ...layers.flow.cells import Cells
from ...layers.selection.window import sums_by
from ...layers.trace import Trace
from ...model.arrays import Floats
from ...model.codes import IoFlag
from ...model.keyed import KeyedSums


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

    def ticks(chosen: np.ndarray) -> Floats:
        return sums_by(place[chosen], cells.columns.ticks[chosen].astype(np.float64), length)

    return ticks(shown & beside), ticks(shown & ~beside)
