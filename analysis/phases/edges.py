"""Boundaries of phases at a quarter of their height."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from .trains import PhaseTrain

Floats = npt.NDArray[np.float64]

LEVEL_SHARE = 0.25

LARGEST_CUT = 0.25


def sharpened(train: PhaseTrain, times: Floats, cumulative: Floats) -> PhaseTrain:
    """Move the boundaries of phases to where the signal crosses a quarter of their height.

    Over one level for all, a phase begins with the first rate above it, and a little noise before a phase can count as
    its beginning. With the mean rate b of the gap before, m of the phase itself and θ = b + (m - b) / 4, the phase
    begins where V(t) - θ t is least between the end of the phase before and its own, and ends where that is largest
    until the next begins. A phase of which more than a quarter would be cut off keeps its boundaries.

    Parameters
    ----------
    train : PhaseTrain
        Phases of the path.
    times, cumulative : float64 (n,)
        Vertices of the cumulative volume.

    Returns
    -------
    PhaseTrain
        As many phases, each between the neighbours it had. Unchanged where a phase has no length.
    """
    from .persistence import lowest_rows

    foot = np.searchsorted(times, train.start, side="left")
    top = np.searchsorted(times, train.end, side="right") - 1
    # Of two vertices at one time the first is before the volume that moves there; the path's foot is before it.
    length = times[top] - times[foot]
    if len(train) == 0 or bool(np.any(length <= 0)) or bool(np.any(top <= foot)):
        return train
    before = np.concatenate(([0], top[:-1]))
    after = np.concatenate((foot[1:], [times.size - 1]))
    gap = times[foot] - times[before]
    height = (cumulative[top] - cumulative[foot]) / length
    floor = np.where(gap > 0, (cumulative[foot] - cumulative[before]) / np.where(gap > 0, gap, 1.0), 0.0)
    level = np.where(floor < height, floor + LEVEL_SHARE * (height - floor), 0.0)
    start = lowest_rows(times, cumulative, before, top, level)
    end = lowest_rows(-times, -cumulative, start + 1, after + 1, level)
    # What is cut off is noise beside the phase, not a part of it.
    cut = np.maximum(cumulative[start] - cumulative[foot], cumulative[top] - cumulative[end])
    kept = (level > 0) & (end > start) & (cut <= LARGEST_CUT * (cumulative[top] - cumulative[foot]))
    start, end = np.where(kept, start, foot), np.where(kept, end, top)
    if bool(np.any(np.diff(times[start]) <= 0)):
        return train
    moved = np.append(cumulative[start], cumulative[-1])
    return replace(
        train,
        start=times[start],
        end=times[end],
        bytes=cumulative[end] - cumulative[start],
        cycle_bytes=np.diff(moved),
    )
