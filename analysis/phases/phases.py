"""The phases of a signal after the decision: one list in the order of time, and which of them each train has.

Each has all that belongs to it: ramps and stragglers too, which the level that found the bursts cut off.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from ...signals.construction import StepSignal
from ..results.result import PeriodMetrics, Phase
from .bins import bin_width
from .bursts import FEWEST_BURSTS, Bursts, vertices
from .decision import MOST_OUTSIDE, Decision, decide

Floats = npt.NDArray[np.float64]

QUIET = 0.005
"""Share of the smaller of two phases that may move in the quiet stretch between them."""

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
    from .kernels import longest_quiet

    middles = 0.5 * (times[:-1] + times[1:])
    # The vertex next to each edge: the first of two at one time for a start, the last for an end.
    foot = np.searchsorted(times, times[np.searchsorted(middles, bursts.start, side="left")], side="left")
    top = np.searchsorted(times, times[np.searchsorted(middles, bursts.end, side="left")], side="right") - 1
    top = np.maximum(np.minimum(top, np.append(foot[1:], times.size - 1)), foot)
    volume = cumulative[top] - cumulative[foot]
    first, last = np.append(0, top), np.append(foot, times.size - 1)
    smaller = np.minimum(np.append(volume[0], volume), np.append(volume, volume[-1]))
    low, high = longest_quiet(times, cumulative, first, np.maximum(last, first), QUIET * smaller)
    between = cumulative[last] - cumulative[first]
    background = between > BACKGROUND * (np.append(0.0, volume) + np.append(volume, 0.0))
    low, high = np.where(background, first, low), np.where(background, last, high)
    foot, top = high[:-1], low[1:]
    return replace(bursts, start=times[foot], end=times[top], volume=cumulative[top] - cumulative[foot])


Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Phases:
    """All phases with their edges, and for each train of the decision the rows of its phases."""

    bursts: Bursts
    rows: tuple[Rows, ...]

    @property
    def listed(self) -> tuple[Phase, ...]:
        """All phases in the order of time."""
        columns = (self.bursts.start, self.bursts.end, self.bursts.volume)
        return tuple(Phase(*row) for row in zip(*(column.tolist() for column in columns), strict=True))

    @property
    def recurrence(self) -> float | None:
        """Mean time between the starts of phases in s, from four phases on."""
        return float(np.diff(self.bursts.start).mean()) if len(self.bursts) >= FEWEST_BURSTS else None

    @property
    def jitter(self) -> float | None:
        """Coefficient of variation of the time between the starts of phases, from four phases on."""
        if self.recurrence is None:
            return None
        return float(np.diff(self.bursts.start).std() / self.recurrence)


def signal_phases(
    signal: StepSignal, fs: float | Literal["auto"] = "auto", *, false_alarm_rate: float = 0.01
) -> tuple[Decision, Phases]:
    """Decide on the periods of a signal and return its phases; see `decide`."""
    times, cumulative = vertices(signal)
    decision = decide(times, cumulative, false_alarm_rate, bin_width(signal, fs))
    return decision, phases_of(decision, times, cumulative)


def phases_of(decision: Decision, times: Floats, cumulative: Floats) -> Phases:
    """Return the phases that a decision was made on, each with its ramp and its stragglers.

    Where a stretch was looked into by itself, its own bursts take the place of those that it was found between.
    """
    if decision.bursts is None:
        return Phases(Bursts(np.zeros(0), np.zeros(0), np.zeros(0)), ())
    given = decision.bursts
    parts, inside = [], np.zeros(len(given), np.bool_)
    for train in decision.trains:
        own = train.bursts
        if bool(np.all(np.isin(own.start, given.start))):
            continue
        parts.append(own)
        inside |= (given.end > own.start[0]) & (given.start < own.end[-1])
    for train in decision.trains:
        inside &= ~np.isin(given.start, train.bursts.start)
    parts.append(given[np.flatnonzero(~inside)])
    if decision.rest is not None and sum(float(one.volume.sum()) for one in parts) < MOST_OUTSIDE * cumulative[-1]:
        parts.append(_beside(decision.rest, parts))
    start = np.concatenate([one.start for one in parts])
    order = np.argsort(start, kind="stable")
    end, volume = (np.concatenate([getattr(one, name) for one in parts])[order] for name in ("end", "volume"))
    start, once = np.unique(start[order], return_index=True)
    rows = tuple(np.searchsorted(start, train.bursts.start) for train in decision.trains)
    end = np.minimum(end[once], np.append(start[1:], np.inf))
    return Phases(with_edges(Bursts(start, end, volume[once]), times, cumulative), rows)


def _beside(rest: Bursts, parts: list[Bursts]) -> Bursts:
    """Return the bursts of a set that overlap none of others."""
    start = np.sort(np.concatenate([one.start for one in parts]))
    end = np.sort(np.concatenate([one.end for one in parts]))
    alone = np.searchsorted(start, rest.end) == np.searchsorted(end, rest.start, side="right")
    return rest[np.flatnonzero(alone)]


def metrics_of(phases: Bursts, end: float, spans: Floats | None = None) -> PeriodMetrics:
    """Characterise a regime by its phases (FTIO, IPDPS'24, §II-C, with phases for substantial I/O).

    Parameters
    ----------
    phases : Bursts
        Of the regime, with their edges.
    end : float
        Of the regime in s, one period after the last start or less.
    spans : float64 (n-1,), optional
        Periods from each phase to the next, 1 without.

    Returns
    -------
    PeriodMetrics
        Of the n periods that begin with a phase: R_IO, B_IO, σ_vol of the volume relative to the largest, σ_time of the
        share of I/O about R_IO (eq. 4), their volume and the score. B_IO is None where phases take no time.
    """
    length = phases.end - phases.start
    whole = max(end, float(phases.end[-1])) - float(phases.start[0])
    r_io = float(length.sum()) / whole if whole > 0 else None
    b_io = float(phases.volume.sum() / length.sum()) if length.sum() > 0 else None
    largest = float(phases.volume.max())
    if r_io is None or len(phases) < 2 or largest <= 0:
        return PeriodMetrics(r_io=r_io, b_io=b_io)
    intervals = np.diff(phases.start) / (1.0 if spans is None else spans)
    shares = length / np.append(intervals, intervals.mean())
    sigma_vol = float(np.std(phases.volume / largest))
    sigma_time = float(np.std(np.minimum(shares, 1.0)))
    score = float(np.clip(1 - sigma_vol - sigma_time, 0.0, 1.0))
    return PeriodMetrics(
        r_io=r_io,
        b_io=b_io,
        sigma_vol=sigma_vol,
        sigma_time=sigma_time,
        volume_per_period=float(phases.volume.mean()),
        periodicity_score=score,
    )
