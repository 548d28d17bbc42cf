"""Compiled sums over operations as they come: into bins of time, by layer and direction, by handle.

Amounts in bins are multiples of 2^-16 byte, which float64 adds without error up to 2^37 bytes a bin. So neither the
order of the operations nor the number of threads matters in a single bit; only where bins have to be widened, an
operation that was spread before can differ by such a quantum in a bin from one that is spread later.

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
    origin: float,
    width: float,
) -> int:
    """Spread the bytes of operations evenly over the bins from their begin to their end.

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
    origin : float
        Tick at which the first bin begins.
    width : float
        Of a bin in ticks.

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
        volume = np.rint(kept.volume[row] * _QUANTUM) / _QUANTUM
        low = (float(kept.begin[row]) - origin) / width
        high = (float(kept.end[row]) - origin) / width
        if low < 0 or high > bins:
            return row
        here = min(int(low), bins - 1)
        # An end at an edge belongs to the bin before it.
        there = min(int(np.ceil(high)) - 1, bins - 1)
        if there <= here:
            volumes[target, here] += volume
            continue
        rate = volume / (high - low)
        head = np.floor(rate * (here + 1 - low) * _QUANTUM)
        # The bins between get the same but for a quantum that the first have more, so that nothing piles up.
        between = there - here - 1
        whole = np.floor(rate * between * _QUANTUM)
        each = np.floor(whole / max(between, 1))
        more = min(max(int(whole - each * between), 0), between)
        volumes[target, here] += head / _QUANTUM
        volumes[target, there] += (volume * _QUANTUM - head - each * between - more) / _QUANTUM
        if between <= _FEW:
            for number in range(between):
                volumes[target, here + 1 + number] += (each + (number < more)) / _QUANTUM
        else:
            rates[target, here + 1] += (each + 1) / _QUANTUM
            rates[target, here + 1 + more] -= 1 / _QUANTUM
            rates[target, there] -= each / _QUANTUM
    return count
