"""Compiled: gaps between the marks of a group, and marks merged across them."""

import numpy as np
import numpy.typing as npt

from ...model.arrays import Array, Floats
from ...model.kernels import compiled

Ints = Array


@compiled
def in_order(group: Ints, start: Ints, groups: int) -> bool:
    """Tell whether the marks of each group stand by their starts."""
    latest = np.full(groups, np.iinfo(np.int64).min, np.int64)
    for place in range(len(start)):
        if start[place] < latest[group[place]]:
            return False
        latest[group[place]] = start[place]
    return True


@compiled
def gaps_before(group: Ints, start: Ints, end: Ints, groups: int) -> npt.NDArray[np.int64]:
    """Return the time between each mark's start and the latest end before it in its group, int64 (n,).

    Parameters
    ----------
    group : integer (n,)
        From 0 to ``groups - 1``.
    start, end : int64 (n,)
        In the order of the starts within each group.

    Returns
    -------
    int64 (n,)
        Negative where a mark overlaps an earlier one; for the first of a group the largest number there is.
    """
    gaps = np.empty(len(start), np.int64)
    begun = np.zeros(groups, np.bool_)
    reached = np.zeros(groups, np.int64)
    for place in range(len(start)):
        here = group[place]
        if begun[here]:
            gaps[place] = start[place] - reached[here]
            reached[here] = max(reached[here], end[place])
        else:
            gaps[place] = np.iinfo(np.int64).max
            reached[here] = end[place]
            begun[here] = True
    return gaps


@compiled
def merged_across(
    gaps: npt.NDArray[np.int64], gap: int, group: Ints, end: Ints, count: Ints, volume: Floats, groups: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64], Floats]:
    """Merge marks of a group that follow each other within `gap`.

    Parameters
    ----------
    gaps : int64 (n,)
        As from `gaps_before`.
    group, end, count : integer (n,)
    volume : float64 (n,)

    Returns
    -------
    first : int64 (m,)
        Row of the first mark of each merged one.
    ends, counts : int64 (m,)
        Latest end, and sum of the counts.
    volumes : float64 (m,)
    """
    number = 0
    for place in range(len(gaps)):
        number += gaps[place] > gap
    first, ends, counts = np.empty(number, np.int64), np.empty(number, np.int64), np.zeros(number, np.int64)
    volumes = np.zeros(number)
    current = np.zeros(groups, np.int64)
    fresh = 0
    for place in range(len(gaps)):
        here = group[place]
        if gaps[place] > gap:
            current[here] = fresh
            first[fresh] = place
            ends[fresh] = end[place]
            fresh += 1
        slot = current[here]
        ends[slot] = max(ends[slot], end[place])
        counts[slot] += count[place]
        volumes[slot] += volume[place]
    return first, ends, counts, volumes
