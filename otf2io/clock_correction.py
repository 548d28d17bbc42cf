"""Correction of a location's time stamps by the clock offsets that were measured on it.

Between two offsets the correction is linear, beyond the last it goes on with the last slope, before the first with the
first; with one offset or none the time stamps stay as they are. This is what the OTF2 library does, to the tick.
"""

from typing import Final

import numpy as np

from .compiled import inlined
from .local_ids import LocalIds

_BEYOND: Final = 2.0**63
_INDEFINITE: Final = np.int64(-(2**63))


@inlined
def prepare_clock(ids: LocalIds) -> None:
    """Compute the slopes between the clock offsets of `ids`."""
    for row in range(ids.clock_size[0] - 1):
        ticks = np.float64(np.int64(ids.clock_times[row + 1] - ids.clock_times[row]))
        change = np.float64(ids.clock_offsets[row + 1] - ids.clock_offsets[row])
        ids.clock_slopes[row] = change / ticks if ticks != 0.0 else 0.0


@inlined
def interval_at(ids: LocalIds, time: np.uint64, interval: int) -> int:
    """Return the first interval that ends at or after `time`, else the last; `interval` is where to begin looking."""
    last = ids.clock_size[0] - 2
    # Most time stamps lie in the interval of the one before, or in the next; those of a damaged file lie anywhere.
    for near in range(interval, min(interval + 2, last + 1)):
        after_start = near == 0 or time > ids.clock_times[near]
        if after_start and (near == last or time <= ids.clock_times[near + 1]):
            return near
    low, high = 0, last
    while low < high:
        middle = (low + high) >> 1
        if time <= ids.clock_times[middle + 1]:
            high = middle
        else:
            low = middle + 1
    return low


@inlined
def corrected_time(ids: LocalIds, time: np.uint64, interval: int) -> np.uint64:
    """Return the global time of a local time stamp that lies in `interval`."""
    distance = np.float64(np.int64(time - ids.clock_times[interval]))
    drift = np.rint(ids.clock_slopes[interval] * distance)
    # Offsets that a damaged file invents can lead beyond 64 bits; then the library's processor gives this number too.
    whole = np.int64(drift) if abs(drift) < _BEYOND else _INDEFINITE
    return time + np.uint64(ids.clock_offsets[interval] + whole)
