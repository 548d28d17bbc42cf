"""The phases of a signal after the decision: one list in the order of time, and which of them each train has.

Each has all that belongs to it: ramps and stragglers too, which the level that found the bursts cut off.
"""

from dataclasses import replace
from functools import reduce

import numpy as np

from ...model.arrays import Floats, Frozen, Rows, differences, variation
from ..results.result import Phase
from .bursts import ALIKE, FEWEST_BURSTS, Bursts
from .decision import SMALLEST, Decision
from .kernels import longest_quiet

BACKGROUND = 0.15
"""Share of two phases from which on what moves between them is background and no part of either."""


def with_edges(bursts: Bursts, times: Floats, cumulative: Floats) -> Bursts:
    """Return phases that reach up to the longest quiet stretch on either side.

    Parameters
    ----------
    bursts : Bursts
        In the order of time; those that overlap are taken to touch.
    times, cumulative : float64 (n,)
        Vertices of the cumulative volume, times in s; a time may occur twice.

    Returns
    -------
    Bursts
        As many. Between two phases at most 1 % of what they move is outside of both, unless there is background: where
        more than 15 % of them moves between two phases, these keep the edges that they have.
    """
    middles = 0.5 * (times[:-1] + times[1:])
    # The vertex next to each edge: the first of two at one time for a start, the last for an end.
    foot = np.searchsorted(times, times[np.searchsorted(middles, bursts.start, side="left")], side="left")
    top = np.searchsorted(times, times[np.searchsorted(middles, bursts.end, side="left")], side="right") - 1
    top = np.maximum(np.minimum(top, np.append(foot[1:], times.size - 1)), foot)
    volume = cumulative[top] - cumulative[foot]
    first, last = np.append(0, top), np.append(foot, times.size - 1)
    one, other = np.append(volume[0], volume), np.append(volume, volume[-1])
    quiet = 0.5 * SMALLEST * np.minimum(one, other)
    low, high = longest_quiet(times, cumulative, first, np.maximum(last, first), quiet)
    background = cumulative[last] - cumulative[first] > BACKGROUND * (one + other)
    low, high = np.where(background, first, low), np.where(background, last, high)
    foot, top = high[:-1], low[1:]
    return replace(bursts, start=times[foot], end=times[top], volume=cumulative[top] - cumulative[foot])


class Phases(Frozen):
    """All phases with their edges, and for each train of the decision the rows of its phases.

    `pause` is the mean time in s from the end of a phase of the main regime to the next, where it is what is regular.
    """

    bursts: Bursts
    rows: tuple[Rows, ...]
    pause: float | None

    @property
    def listed(self) -> tuple[Phase, ...]:
        """All phases in the order of time."""
        return tuple(map(Phase, *(one.tolist() for one in (self.bursts.start, self.bursts.end, self.bursts.volume))))

    @property
    def recurrence(self) -> float | None:
        """Mean time between the starts of phases in s, from four phases on."""
        return float(differences(self.bursts.start).mean()) if len(self.bursts) >= FEWEST_BURSTS else None

    @property
    def jitter(self) -> float | None:
        """Coefficient of variation of the time between the starts of phases, from four phases on."""
        return variation(differences(self.bursts.start)) if self.recurrence else None


def phases_of(decision: Decision, times: Floats, cumulative: Floats) -> Phases:
    """Return the phases that a decision was made on, each with its ramp and its stragglers.

    Where a stretch was analysed alone, its own bursts take the place of those that it was found between.
    """
    # One of a train may hold a whole stretch that was analysed alone: it then ends where that begins.
    found = reduce(Bursts.joined, [train.bursts for train in decision.trains] or [decision.bursts])
    found = _with_others(found[np.unique(found.start, return_index=True)[1]], decision.bursts)
    if decision.trains and found.volume.sum() < (1 - SMALLEST) * cumulative[-1]:
        found = _with_others(found, max(decision.sets, key=lambda one: float(one.volume.sum())))
    rows = tuple(np.searchsorted(found.start, train.bursts.start) for train in decision.trains)
    edged = with_edges(found, times, cumulative) if len(found) else found
    several = not decision.trains or decision.kind == "concurrent"
    own = None if several else edged[rows[decision.trains.index(decision.main)]]
    return Phases(edged, rows, None if own is None else _regular_pause(own))


def _regular_pause(own: Bursts) -> float | None:
    mean, spread = float((pauses := own.start[1:] - own.end[:-1]).mean()), float(pauses.std())
    return mean if 0 < spread <= min(ALIKE * mean, 0.5 * float(differences(own.start).std())) else None


def _with_others(found: Bursts, others: Bursts) -> Bursts:
    """Add those bursts of a set that overlap none of the ones found before."""
    alone = np.searchsorted(found.start, others.end) == np.searchsorted(np.sort(found.end), others.start, side="right")
    return found.joined(others[np.flatnonzero(alone)])
