"""Compiled sums over operations as they come: into bins of time, by layer and direction, by handle.

Amounts in bins are multiples of 2^-16 byte, which float64 adds without error up to 2^37 bytes a bin. So neither the
order of the operations nor the number of threads or partitions matters in a single bit, nor when bins were widened.

Numba may have to compile it: import it inside the function that uses it.
"""

from typing import Final

import numpy as np

from ...model.arrays import Floats, Links
from ...model.codes import UNDEFINED_UINT64, IoMode, Status
from ...model.kernels import compiled, inlined
from .tables import (
    CANCELLED,
    CUT,
    NEVER,
    OPERATIONS,
    PART,
    UNDEFINED,
    WHOLE,
    BinPlaces,
    HandleCategories,
    Kept,
    OperationColumns,
    OperationTables,
)

_QUANTUM: Final = 2.0**16
_FEW: Final = 16
_CELLS: Final = 20
"""Binary logarithm of the most bins that there are."""
_NEVER: Final = int(Status.NEVER_COMPLETED)
_CANCELLED: Final = int(Status.CANCELLED)
_COMPLETE: Final = int(Status.COMPLETE)
_FLUSH: Final = int(IoMode.FLUSH)
_UNKNOWN: Final = np.uint64(UNDEFINED_UINT64)


@compiled
def add_operations(
    operations: OperationColumns,
    categories: HandleCategories,
    start: int,
    stop: int,
    closed: bool,
    sums: OperationTables,
    kept: Kept,
) -> None:
    """Add operations to `sums`, each within the window from `start` to `stop`.

    Parameters
    ----------
    operations : OperationColumns (n,)
    start, stop, closed
        As in `TickWindow`.
    kept : Kept
        Room for n rows.
    """
    for row in range(len(operations.handle)):
        kept.category[row] = -1
        handle, mode, status = operations.handle[row], operations.mode[row], operations.status[row]
        begin, end = operations.begin[row], operations.end[row]
        never = status == _NEVER
        end = begin if never else max(begin, end)
        sums.extent[0], sums.extent[1] = min(sums.extent[0], begin), max(sums.extent[1], end)
        end = max(end, stop) if never else end
        if not is_within(begin, end, start, stop, closed):
            continue
        first, last = max(begin, start), min(end, stop)
        known = operations.moved[row] != _UNKNOWN
        moved = np.int64(operations.moved[row]) if known and status == _COMPLETE else np.int64(0)
        volume, whole, part, cut = moved_within(moved, last - first, end - begin)
        category = categories.aside
        if handle >= 0:
            _add_to_handle(sums, handle, mode, whole, part, cut)
            if categories.of_handle[handle] >= 0:
                category = categories.of_handle[handle] + np.int64(mode) if mode <= _FLUSH else -1
        if category < 0:
            continue
        sums.counts[category, OPERATIONS] += 1
        sums.counts[category, CUT] += cut
        sums.bytes[category, WHOLE] += whole
        sums.bytes[category, PART] += part
        if category == categories.aside:
            sums.aside[categories.reason[handle]] += 1
            if handle >= 0:
                sums.aside_used[handle] = True
            continue
        sums.handle_used[handle, mode] = True
        sums.processes[category, operations.process[row] + 1] = True
        sums.counts[category, UNDEFINED] += not known
        sums.counts[category, CANCELLED] += status == _CANCELLED
        sums.counts[category, NEVER] += never
        sums.ticks[category] += 0 if never else last - first
        kept.category[row] = category
        kept.begin[row] = first
        kept.end[row] = first - 1 if never else last
        kept.volume[row] = volume


@inlined
def is_within(begin: int, end: int, start: int, stop: int, closed: bool) -> bool:
    """Tell whether an operation has time in common with the window; see `TickWindow.overlaps`."""
    if end > begin:
        return begin < stop and end > start
    return start <= begin and (begin < stop or (closed and begin == stop))


@inlined
def moved_within(moved: np.int64, inside: int, length: int) -> tuple[float, np.int64, np.int64, bool]:
    """Return what an operation moved in the ticks `inside` of its `length`: in all, whole bytes, 2^-32, and if cut."""
    cut = bool(moved > 0) and inside < length
    volume, whole, part = float(moved), moved, np.int64(0)
    if cut:
        volume *= float(inside) / float(length)
        whole = np.int64(volume)
        part = np.int64((volume - float(whole)) * 2.0**32)
    return volume, whole, part, cut


@inlined
def _add_to_handle(sums: OperationTables, handle: int, mode: int, whole: np.int64, part: np.int64, cut: bool) -> None:
    sums.handle_operations[handle] += 1
    sums.any_cut[0] |= cut
    if mode < _FLUSH:
        sums.handle_bytes[handle, mode, WHOLE] += whole
        sums.handle_bytes[handle, mode, PART] += part


@compiled
def spread_over_bins(
    row_of_category: Links,
    kept: Kept,
    first: int,
    count: int,
    volumes: Floats,
    rates: Floats,
    places: BinPlaces,
    extent: Floats,
) -> int:
    """Spread the bytes of operations evenly over the bins from their begin to their end.

    An operation of 2^20 units and more is cut into 2^20 to 2^21 cells, whose edges are those of bins of any width that
    it can meet; each cell has the same quanta but for one that the first have more. So wider bins hold what the narrow
    ones do together, and nothing is further behind than by 8 bytes.

    Parameters
    ----------
    row_of_category : int32 (categories,)
        Row of `volumes` for each category, −1 for none.
    first, count : int
        First row of `kept`, and the one after the last.
    volumes : float64 (rows, bins)
        Gets the bytes in each bin.
    rates : float64 (rows, bins + 1)
        Gets the changes of bytes per bin, for operations that fill many bins.
    extent : float64 (2,)
        Units between which all operations lie; becomes larger.

    Returns
    -------
    int
        The first row that was not added: `count`, or one that does not lie within the bins.
    """
    bins = volumes.shape[1]
    for row in range(first, count):
        category = kept.category[row]
        if category < 0 or not kept.volume[row] > 0:
            continue
        target = row_of_category[category]
        if target < 0:
            continue
        low = (float(kept.begin[row]) - places.origin) / places.unit
        high = (float(kept.end[row]) - places.origin) / places.unit
        if not high > low:
            high = np.nextafter(low, np.inf)
        # An end at an edge belongs to the bin before it.
        at, end = np.floor(low / places.width) - places.first, np.ceil(high / places.width) - places.first
        if at < 0 or end > bins:
            return row
        extent[0], extent[1] = min(extent[0], low), max(extent[1], high)
        volume = np.rint(kept.volume[row] * _QUANTUM)
        here, there = int(at), int(end) - 1
        if there <= here:
            volumes[target, here] += volume / _QUANTUM
        else:
            _spread(volumes[target], rates[target], volume, low, high, places, here, there)
    return count


@inlined
def _spread(
    volumes: Floats, rates: Floats, volume: float, low: float, high: float, places: BinPlaces, here: int, there: int
) -> None:
    """Spread the quanta `volume` from `low` to `high` over the bins `here` to `there`, in cells of equal quanta."""
    length = high - low
    cell = 2.0 ** max(np.floor(np.log2(length)) - _CELLS, 0.0)
    begin = np.ceil(low / cell)
    cells = max(np.floor(high / cell) - begin, 0.0)
    head = min(np.floor(volume * ((begin * cell - low) / length)), volume)
    inside = min(np.floor(volume * (cells * cell / length)), volume - head)
    each = np.floor(inside / max(cells, 1.0))
    more = min(max(inside - each * cells, 0.0), cells)
    size = places.width / cell
    before = (places.first + here + 1) * size - begin
    between = there - here - 1
    full = int(min(max(np.floor((more - before) / size), 0.0), float(between)))
    volumes[here] += (head + each * before + min(more, before)) / _QUANTUM
    passed = before + between * size
    volumes[there] += (volume - head - each * passed - min(more, passed)) / _QUANTUM
    if full < between:
        volumes[here + 1 + full] += min(max(more - before - full * size, 0.0), size) / _QUANTUM
    if between <= _FEW:
        for number in range(between):
            volumes[here + 1 + number] += (each + (number < full)) * size / _QUANTUM
    else:
        rates[here + 1] += (each + 1) * size / _QUANTUM
        rates[here + 1 + full] -= size / _QUANTUM
        rates[there] -= each * size / _QUANTUM
