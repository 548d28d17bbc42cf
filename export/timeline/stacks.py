"""Call stacks of some threads as bars over time, merged where there are too many."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from ...layers.attribution.calls.walk import StackBars, stack_bars
from ...layers.trace import Trace
from ...model.arrays import Mask
from .marks import Marks, merged_marks

_MOST_KEPT: Final = 1 << 18
"""Calls from which on neighbours are drawn as one while the trace is read."""
_MOST_HANDLES: Final = 16
"""Handles of a thread that keep their bars where neighbours are drawn as one."""


def call_stacks(trace: Trace, locations: Sequence[int], most: int) -> tuple[StackBars, int]:
    """Return at most about `most` bars of some locations, and across which gaps in ticks neighbours were drawn as one.

    Only the partitions that have these locations are read. None of the bars is outside of the window.
    """
    calls, reading = trace.calls.totals, trace.stream.known_reading
    if calls is None or reading is None:
        raise ValueError("the trace does not tell when functions were entered and left")
    partitions = reading.source.partitions(reading.memory, reading.workers)
    parts = stack_bars(reading.source, partitions, calls.functions, trace.scope, locations)
    bars, gap = StackBars.empty(), 0
    for part in parts:
        bars = StackBars.concatenate([bars, part])
        if len(bars) > _MOST_KEPT:
            bars, gap = _merged(bars, _MOST_KEPT // 2, gap)
    return _merged(bars, most, gap)


def _merged(bars: StackBars, most: int, before: int) -> tuple[StackBars, int]:
    """Merge bars of one place across small gaps until there are at most `most`."""
    if len(bars) > most:
        # Of a program with thousands of files no two calls would be of one place, and gaps as long as the run.
        bars = replace(bars, handle=np.where(_lasts_long(bars), bars.handle, np.int32(-1)))
    keys = np.stack((bars.location, bars.depth, bars.region, bars.handle, bars.kind.astype(np.int32)))
    places, row = np.unique(keys, axis=1, return_inverse=True) if len(bars) else (keys, np.zeros(0, np.int64))
    nothing = np.zeros(len(bars))
    marks = Marks(row.ravel(), np.zeros(len(bars), np.int64), bars.begin, bars.end, bars.count, nothing)
    merged, gap = merged_marks(marks, most)
    location, depth, region, handle, kind = places[:, merged.row]
    own = location, depth, region, handle, kind.astype(np.uint8)
    return StackBars(*own, merged.start, merged.end, merged.count.astype(np.int64)), max(gap, before)


def _lasts_long(bars: StackBars) -> Mask:
    """Tell of each bar whether its handle is among those on which its location spends most time."""
    pairs, row = np.unique(np.stack((bars.location, bars.handle)), axis=1, return_inverse=True)
    ticks = np.bincount(row.ravel(), bars.end - bars.begin)
    ticks[pairs[1] < 0] = -1
    order = np.lexsort((-ticks, pairs[0]))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order)) - np.searchsorted(pairs[0], pairs[0])
    return np.asarray((place < _MOST_HANDLES)[row.ravel()])
