"""Where a regime begins, by the sliding correlation, where its first phases did not stand out by themselves.

A regime with long pauses after one of fast bursts loses its first phases at times: over the level that parts the fast
bursts they are one with the last of those. The correlation looks at no level, and sees the period hold from its first
burst on.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from .holding import holding_intervals
from .phases import PhaseTrain
from .verdict import Stay

Floats = npt.NDArray[np.float64]

LONGEST_PAUSE = 1.5
"""Periods of the regime before, after its last phase, that are no sign of a lost phase."""
PERIODS_AFTER = 8.0
"""Periods from the boundary on in which the period is looked at."""
LEAST_MOVE = 0.5
"""Periods by which a boundary is moved at least; below that, the phases place it better."""


def with_lost_beginnings(
    stays: tuple[Stay, ...], core: PhaseTrain, times: Floats, cumulative: Floats
) -> tuple[Stay, ...]:
    """Let regimes begin where their period begins to hold.

    Parameters
    ----------
    stays : tuple of Stay
        Regimes in the order of time.
    core : PhaseTrain
        Their phases.
    times, cumulative : float64 (n,)
        Vertices of the cumulative volume.

    Returns
    -------
    tuple of Stay
        As many, each with its period; a boundary is only moved to an earlier time, into a pause of one and a half
        periods or more after the last phase of the regime before.
    """
    found = list(stays)
    for number, (before, after) in enumerate(pairwise(stays)):
        last = float(core.start[max(int(np.searchsorted(core.start, after.start)) - 1, 0)])
        if after.start - last <= LONGEST_PAUSE * before.period:
            continue
        low = last + 0.5 * before.period
        high = min(after.end, after.start + PERIODS_AFTER * after.period)
        for start, end in holding_intervals(times, cumulative, low, high, after.period):
            if start < after.start - LEAST_MOVE * after.period and end > after.start:
                start = max(start, low)
                found[number] = replace(found[number], end=min(found[number].end, start))
                found[number + 1] = replace(found[number + 1], start=start)
    return tuple(found)
