"""Phases of two runs beside each other: what belongs together by its place in the program, not by the clock."""

from typing import NamedTuple

import numpy as np

from ..collection.rows import LayerRow


class PhasePair(NamedTuple):
    """A phase of one run and what it is in the other; times in s from the traces' starts, volumes in bytes."""

    before_start: float
    before_end: float
    before_bytes: float
    after_start: float
    after_end: float
    after_bytes: float


def aligned_phases(before: LayerRow, after: LayerRow) -> tuple[PhasePair, ...]:
    """Return the phases of two runs that belong together, in the order of time.

    Where there are as many on both sides, the first belongs to the first and so on. Else those belong together that lie
    at the same place among the bytes moved: noise cuts a phase into several, or joins some, and moves no bytes. What
    only one of them has, such as the end of a longer run, is left out.
    """
    one, other = _columns(before), _columns(after)
    if not len(one) or not len(other):
        return ()
    if len(one) == len(other):
        return tuple(PhasePair(*row) for row in np.hstack([one, other]).tolist())
    edges, middles = np.cumsum(one[:, 2]), np.cumsum(other[:, 2]) - other[:, 2] / 2
    place = np.searchsorted(edges, middles, side="left")
    place = place[place < len(one)]
    rows, first = np.unique(place, return_index=True)
    if not len(rows):
        return ()
    last = np.append(first[1:], len(place)) - 1
    moved = np.add.reduceat(other[: len(place), 2], first)
    whole = np.column_stack([one[rows], other[first, 0], other[last, 1], moved])
    return tuple(PhasePair(*row) for row in whole.tolist())


def _columns(row: LayerRow) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    columns = np.array([row.phase_start_s, row.phase_end_s, row.phase_bytes], np.float64).T
    return columns[columns[:, 2] > 0] if len(columns) else np.zeros((0, 3))
