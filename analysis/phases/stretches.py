"""Intervals between bursts, divided into stretches that are free or have a period: regimes and pauses."""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ...model.arrays import Floats, Mask, Rows
from . import kernels
from .bursts import ALIKE, FEWEST_BURSTS, NEARLY, RELATIVE_ROUNDING, Bursts
from .kernels import log_marginal, most_probable

MOST_SPANS, SPAN_WITHIN, NEIGHBOURS = 5, 0.15, 9
"""Intervals within an eighth of up to five times the usual of nine around them have phases missing."""
MOST_POSITIONS = 100
"""Intervals up to which each may be a boundary; of more the positions that differ most from what follows."""
MOST_JITTER = 0.3
"""Above this coefficient of variation the next burst cannot be predicted to a third of a period."""
SAME_PERIOD = 0.02
"""Share by which the periods of two neighbours differ at most that are one train, beyond their confidence intervals;
of trains at the same time the share alone, also the width of a bin of differences of starts, in their logarithm."""


@dataclass(frozen=True, eq=False)
class PulseTrain:
    """Bursts with one period.

    Attributes
    ----------
    bursts : Bursts
        At least four.
    spans : float64 (n-1,)
        How many periods lie between each burst and the next; no whole number where the next one is late.
    gain : float
        Logarithm of the Bayes factor against free intervals times the weight of the thresholds and cuts.
    drifts : bool
        Whether the period drifts.
    """

    bursts: Bursts
    spans: Floats
    gain: float
    drifts: bool = False

    @cached_property
    def intervals(self) -> Floats:
        """Times between bursts in s, over the periods that they span, without those to bursts that are late."""
        told = self.spans == np.rint(self.spans)
        return np.asarray(np.diff(self.bursts.start)[told] / self.spans[told])

    @property
    def period(self) -> float:
        """Mean time in s from one phase to the next, missing ones included."""
        return float((self.bursts.start[-1] - self.bursts.start[0]) / self.spans.sum())

    @property
    def start(self) -> float:
        """Start of the first burst in s."""
        return float(self.bursts.start[0])

    @property
    def length(self) -> float:
        """Time in s over which the period holds, one after the last start included."""
        return float(self.bursts.start[-1]) - self.start + self.period

    @property
    def missing(self) -> int:
        """Number of phases that are missing."""
        return int(np.sum(self.spans[self.spans == np.rint(self.spans)] - 1))

    @cached_property
    def drift(self) -> float:
        """Logarithm of the interval at the end over that at the start, by a line through all; 0 where none drifts."""
        rows = np.arange(self.intervals.size) - 0.5 * (self.intervals.size - 1)
        return float(rows @ np.log(self.intervals) / (rows @ rows)) * rows.size if self.drifts else 0.0

    @cached_property
    def steady(self) -> Floats:
        """The intervals in s without their drift."""
        return np.asarray(self.intervals * np.exp(-self.drift / self.intervals.size * np.arange(self.intervals.size)))

    @cached_property
    def jitter(self) -> float:
        """Coefficient of variation of the intervals, about the drift."""
        return float(self.steady.std() / self.steady.mean())

    @property
    def volume(self) -> float:
        """What the bursts moved."""
        return float(self.bursts.volume.sum())

    @cached_property
    def memory(self) -> float:
        """Autocorrelation of the intervals with the next ones, about the drift; 0 where it may be chance (5 %).

        Its estimate falls short by (1 + 4 φ) / n (Kendall 1954).
        """
        n, off = self.intervals.size, self.steady - self.steady.mean()
        found = float(off[1:] @ off[:-1]) / max(float(off @ off), np.finfo(np.float64).tiny)
        return min((found + 1 / n) / (1 - 4 / n), NEARLY) if n > 4 and found > 1.64 / math.sqrt(n) else 0.0

    @cached_property
    def error(self) -> float:
        """Half of the 95 % confidence interval of the period, as a share of it: t_{0.975} · jitter / √m.

        Of m intervals that are as good as n with a memory, m = n (1 - φ) / (1 + φ), less one.
        """
        from scipy.special import stdtrit

        freedom = max(self.intervals.size * (1 - self.memory) / (1 + self.memory) - 1, 1)
        return float(stdtrit(freedom, 0.975)) * self.jitter / math.sqrt(freedom)

    def interval(self) -> tuple[float, float]:
        """Return the 95 % confidence interval of the period in s."""
        return max(1 - self.error, 0.0) * self.period, (1 + self.error) * self.period


def with_trend(train: PulseTrain, alpha: float) -> PulseTrain:
    """Return a train that drifts where its intervals change by more than a tenth, and not by chance (t-test)."""
    from scipy.special import stdtr

    drifting = replace(train, drifts=True)
    n = train.intervals.size
    freedom = n * (1 - drifting.memory) / (1 + drifting.memory) - 2
    if train.drifts or freedom < 2 or abs(drifting.drift) <= ALIKE:
        return train
    # A line through n values has a slope with a deviation of jitter √12 / n^1.5; it changes by n slopes.
    deviation = drifting.jitter * math.sqrt(12 / freedom)
    return drifting if 2 * stdtr(freedom, -abs(drifting.drift) / max(deviation, RELATIVE_ROUNDING)) < alpha else train


def spans_of(intervals: Floats) -> tuple[Floats, Mask]:
    """Return how many periods each interval spans, 1 or more where phases are missing, and whether it is delayed."""
    # Where a third of the phases is missing, the median of the intervals still is a single one, but hardly so.
    width = min(NEIGHBOURS, intervals.size)
    # Reflected at both ends. The filter of SciPy is as fast, but loading it takes a twentieth of a second.
    low, high = intervals[: width // 2], intervals[intervals.size - (width - 1) // 2 :]
    padded = np.concatenate((low[::-1], intervals, high[::-1]))
    usual = np.partition(sliding_window_view(padded, width), int(0.4 * width), axis=1)[:, int(0.4 * width)]
    turns = intervals / usual
    spans = np.maximum(np.rint(turns), 1.0)
    whole = (np.abs(turns / spans - 1) < SPAN_WITHIN) & (spans <= MOST_SPANS)
    return np.where(whole, spans, 1.0), (turns > 1 + ALIKE) & (turns <= kernels.RANGE)


def trains_of(bursts: Bursts) -> list[PulseTrain] | None:
    """Return the pulse trains in a set of bursts, in the order of time: its most probable division into stretches.

    None where intervals rather wander, each by a random factor from the one before.

    Parameters
    ----------
    bursts : Bursts
        At least four.

    Notes
    -----
    The logarithms x of intervals are normal in each stretch, with a mean that is uniform over `RANGE` and a
    variance from an inverse-gamma law (`log_marginal`). With a drift the deviations are those about a line, and there
    is one degree of freedom less; with phases missing x is of intervals over their spans, with a Beta-binomial law of
    the long ones. A cut costs ln 2n: it could be anywhere, and what follows is free or not. Dynamic programming
    (Jackson et al. 2005) over at most 100 positions: O(n) for many intervals.
    """
    intervals = np.diff(bursts.start)
    spans, late = spans_of(intervals)
    found = []
    divided = stretches(intervals, spans, late)
    for first, stop, law, gain in divided:
        cuts = ((first > 0) + (stop < intervals.size)) * math.log(intervals.size)
        own = spans[first:stop] if law == kernels.MISSING else np.ones(stop - first)
        if law == kernels.DELAYED:
            times, off = intervals[first:stop], late[first:stop]
            own[off] = times[off] / times[~off].mean()
        train = PulseTrain(bursts[first : stop + 1], own, gain - cuts, law == kernels.DRIFTING)
        if law != kernels.FREE and train.jitter <= MOST_JITTER:
            found.append(train)
    return joined(found) if divided else None


def joined(trains: list[PulseTrain]) -> list[PulseTrain]:
    """Join neighbours that are one train with phases missing between them; a burst of two begins the later one.

    Unless the earlier one would then have too few.
    """
    found: list[PulseTrain] = []
    for train in trains:
        if found and train.start < found[-1].bursts.end[-1]:
            last = found.pop()
            if len(last.bursts) > FEWEST_BURSTS:
                found.append(replace(last, bursts=last.bursts[:-1], spans=last.spans[:-1]))
            elif last.gain > 0 and len(train.bursts) > FEWEST_BURSTS:
                found.append(last)
                train = replace(train, bursts=train.bursts[1:], spans=train.spans[1:])
        one = _as_one(found[-1], train) if found else None
        found[-1 if one else len(found) :] = [one or train]
    return found


def _as_one(one: PulseTrain, other: PulseTrain) -> PulseTrain | None:
    """Return two trains as one; None where periods differ or the time between them is no small multiple of them."""
    # A period that drifts goes on with the interval that it has reached.
    before, after = (train.period * math.exp(sign * train.drift / 2) for train, sign in ((one, 1), (other, -1)))
    turns = 2 * (other.start - one.bursts.start[-1]) / (before + after)
    # A single interval that is off hardly changes the period of many.
    slack = max(SPAN_WITHIN, one.jitter, other.jitter, SAME_PERIOD * float(one.spans.sum() + other.spans.sum()))
    near = abs(turns - max(round(turns), 1)) <= slack
    apart = abs(math.log(before / after)) > math.hypot(one.error, other.error) + SAME_PERIOD
    if apart or not near or turns > MOST_SPANS + 0.5 or one.drift * other.drift < 0:
        return None
    return replace(
        one,
        bursts=one.bursts.joined(other.bursts),
        spans=np.concatenate((one.spans, [max(round(turns), 1)], other.spans)),
        gain=one.gain + other.gain,
        drifts=one.drifts and other.drifts,
    )


def stretches(intervals: Floats, spans: Floats, late: Mask) -> list[tuple[int, int, int, float]]:
    """Divide intervals, in s and above 0, into the most probable stretches, given what each could be.

    `spans` are the periods that each could span, `late` whether it could have been delayed.

    Of each: the row of its first interval and the one behind its last, its law (one of `kernels`), and the logarithm of
    its gain over a free one.
    """
    n = intervals.size
    logs = np.log(intervals) - np.log(np.median(intervals))
    single, prompt = logs - np.log(spans), np.where(late, 0.0, logs)
    missing = (np.ones(n), single, single**2, spans > 1, (spans - 1) * math.log(2.0))
    # A delay is as likely to be of any length, on a logarithmic axis.
    delayed = (~late, prompt, prompt**2, late, late * math.log(math.log(kernels.RANGE)))
    columns = np.array((logs, logs**2, logs * np.arange(n), *missing, *delayed), np.float64)
    positions = _positions(logs)
    sums = np.zeros((positions.size, len(columns)))
    np.cumsum(np.add.reduceat(columns, positions[:-1], axis=1), axis=1, out=sums[1:].T)
    rows, law, gain, evidence = most_probable(positions, sums)
    # Where each interval differs from the one before by a random factor, no period lasts.
    wandering = log_marginal(n - 1, float(np.sum(np.diff(logs) ** 2)), kernels.WANDERING_LAW)
    # As likely beforehand as one of the further laws of a period.
    if evidence < wandering - math.log(kernels.RANGE * kernels.DELAYED):
        free = log_marginal(n - 1, float(np.sum((logs - logs.mean()) ** 2)), kernels.FREE_LAW) - 0.5 * math.log(n)
        slow = n >= 2 * FEWEST_BURSTS and np.std(np.diff(logs)) <= ALIKE
        return [(0, n, kernels.STEADY, wandering - free)] if slow else []
    ends = positions[rows].tolist()
    return list(zip(ends, ends[1:], law[1:].tolist(), gain[1:].tolist(), strict=False))


def _positions(logs: Floats) -> Rows:
    """Return where stretches may be parted: anywhere, or where the means of the next and the last five differ most."""
    n = logs.size
    if n <= MOST_POSITIONS:
        return np.arange(n + 1)
    side = NEIGHBOURS // 2 + 1
    means = np.convolve(logs, np.full(side, 1 / side), "valid")
    most = np.argsort(-np.abs(means[side:] - means[:-side]))[:MOST_POSITIONS] + side
    return np.unique(np.append(most, (0, n)))
