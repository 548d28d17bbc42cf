"""Compiled sums over operations as they come: into bins of time, by layer and direction, by handle.

Amounts in bins are multiples of 2^-16 byte, which float64 adds without error up to 2^37 bytes a bin. So neither the
order of the operations nor the number of threads or partitions matters in a single bit, nor when bins were widened.

The module needs numba; import it inside the function that uses it.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from ...model.arrays import Floats
from ...model.codes import UNDEFINED_UINT64, IoMode, Status
from ...model.kernels import compiled
from .tables import CANCELLED, CUT, NEVER, OPERATIONS, PART, UNDEFINED, WHOLE, Kept, OperationColumns, Sums

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
    category_of_handle: npt.NDArray[np.int32],
    reason_of_handle: npt.NDArray[np.int32],
    aside_category: int,
    start: int,
    stop: int,
    closed: bool,
    sums: Sums,
    kept: Kept,
) -> None:
    """Add operations to `sums`, each within the window from `start` to `stop`.

    Parameters
    ----------
    operations : OperationColumns (n,)
    category_of_handle : int32 (handles,)
        Category of reads on the handle, −1 where it is not selected.
    reason_of_handle : int32 (handles + 1,)
        Row in ``FileSelection.reasons``, the last for undefined handles.
    aside_category : int
        Category for the bytes of operations that are set aside.
    start, stop, closed
        As in `TickWindow`.
    kept : Kept
        Room for n rows.
    """
    handle = operations.handle
    for row in range(len(handle)):
        kept.category[row] = -1
        at, mode, status = handle[row], operations.mode[row], operations.status[row]
        begin, end = operations.begin[row], operations.end[row]
        never = status == _NEVER
        sums.extent[0] = min(sums.extent[0], begin)
        sums.extent[1] = max(sums.extent[1], begin if never else max(begin, end))
        process = operations.process[row]
        end = max(begin, stop) if never else max(begin, end)
        if end > begin:
            if begin >= stop or end <= start:
                continue
        elif begin < start or begin > stop or (begin == stop and not closed):
            continue
        first, last = max(begin, start), min(end, stop)
        known = status == _COMPLETE and operations.moved[row] != _UNKNOWN
        moved = np.int64(operations.moved[row]) if known else np.int64(0)
        cut = moved > 0 and last - first < end - begin
        volume = float(moved)
        whole, part = moved, np.int64(0)
        if cut:
            volume *= float(last - first) / float(end - begin)
            whole = np.int64(volume)
            part = np.int64((volume - float(whole)) * 2.0**32)
        category = aside_category
        if at >= 0:
            sums.handle_operations[at] += 1
            sums.any_cut[0] |= cut
            if mode < _FLUSH:
                sums.handle_bytes[at, mode, WHOLE] += whole
                sums.handle_bytes[at, mode, PART] += part
            if category_of_handle[at] >= 0:
                if mode > _FLUSH:
                    continue
                category = category_of_handle[at] + np.int64(mode)
                sums.handle_used[at, mode] = True
        if category == aside_category:
            sums.aside[reason_of_handle[at]] += 1
            if at >= 0:
                sums.aside_used[at] = True
        sums.counts[category, OPERATIONS] += 1
        sums.counts[category, CUT] += cut
        sums.bytes[category, WHOLE] += whole
        sums.bytes[category, PART] += part
        if category == aside_category:
            continue
        sums.processes[category, process + 1] = True
        if operations.moved[row] == _UNKNOWN:
            sums.counts[category, UNDEFINED] += 1
        if status == _CANCELLED:
            sums.counts[category, CANCELLED] += 1
        elif never:
            sums.counts[category, NEVER] += 1
        if not never:
            sums.ticks[category] += last - first
        kept.category[row] = category
        kept.begin[row] = first
        kept.end[row] = first - 1 if never else last
        kept.volume[row] = volume


@compiled
def spread_over_bins(
    row_of_category: npt.NDArray[np.int32],
    kept: Kept,
    first: int,
    count: int,
    volumes: Floats,
    rates: Floats,
    origin: int,
    unit: float,
    width: float,
    first_bin: int,
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
    origin : int
        Tick from which bins are counted.
    unit : float
        Ticks.
    width : float
        Of a bin in units, a power of two.
    first_bin : int
        Number of the first bin, from the origin.
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
        volume = np.rint(kept.volume[row] * _QUANTUM)
        low = (float(kept.begin[row]) - origin) / unit
        high = (float(kept.end[row]) - origin) / unit
        if not high > low:
            high = np.nextafter(low, np.inf)
        at = np.floor(low / width) - first_bin
        # An end at an edge belongs to the bin before it.
        end = np.ceil(high / width) - first_bin
        if at < 0 or end > bins:
            return row
        extent[0], extent[1] = min(extent[0], low), max(extent[1], high)
        here, there = int(at), int(end) - 1
        if there <= here:
            volumes[target, here] += volume / _QUANTUM
            continue
        length = high - low
        cell = 2.0 ** max(np.floor(np.log2(length)) - _CELLS, 0.0)
        begin = np.ceil(low / cell)
        cells = max(np.floor(high / cell) - begin, 0.0)
        head = min(np.floor(volume * ((begin * cell - low) / length)), volume)
        inner = min(np.floor(volume * (cells * cell / length)), volume - head)
        each = np.floor(inner / max(cells, 1.0))
        more = min(max(inner - each * cells, 0.0), cells)
        size = width / cell
        before = (first_bin + here + 1) * size - begin
        between = there - here - 1
        full = int(min(max(np.floor((more - before) / size), 0.0), float(between)))
        volumes[target, here] += (head + each * before + min(more, before)) / _QUANTUM
        passed = before + between * size
        volumes[target, there] += (volume - head - each * passed - min(more, passed)) / _QUANTUM
        if full < between:
            volumes[target, here + 1 + full] += min(max(more - before - full * size, 0.0), size) / _QUANTUM
        if between <= _FEW:
            for number in range(between):
                volumes[target, here + 1 + number] += (each + (number < full)) * size / _QUANTUM
        else:
            rates[target, here + 1] += (each + 1) * size / _QUANTUM
            rates[target, here + 1 + full] -= size / _QUANTUM
            rates[target, there] -= each * size / _QUANTUM
    return count
