"""Intervals between bursts, divided into stretches that are free or have a period: regimes and pauses."""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ...model.arrays import Floats, Rows
from .bursts import FEWEST_BURSTS, Bursts
from .kernels import DRIFTING, FREE, MISSING, RANGE, WANDERING_LAW, log_marginal, most_probable

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
        How many periods lie between each burst and the next.
    gain : float
        Logarithm of the Bayes factor against free intervals times the weight of the thresholds and cuts.
    drifts : bool
        Whether the period drifts.
    """

    bursts: Bursts
    spans: Floats
    gain: float
    drifts: bool = False

    @property
    def intervals(self) -> Floats:
        """Times between bursts in s, over the periods that they span."""
        return np.asarray(np.diff(self.bursts.start) / self.spans)

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
        return int(self.spans.sum()) - self.spans.size

    @property
    def drift(self) -> float:
        """Logarithm of the interval at the end over that at the start, by a line through all; 0 where none drifts."""
        rows = np.arange(self.spans.size) - 0.5 * (self.spans.size - 1)
        return float(rows @ np.log(self.intervals) / (rows @ rows)) * self.spans.size if self.drifts else 0.0

    @property
    def jitter(self) -> float:
        """Coefficient of variation of the intervals, about the drift."""
        steady = self.intervals * np.exp(-self.drift / self.spans.size * np.arange(self.spans.size))
        return float(steady.std() / steady.mean())

    @property
    def volume(self) -> float:
        """What the bursts moved."""
        return float(self.bursts.volume.sum())

    @property
    def error(self) -> float:
        """Half of the 95 % confidence interval of the period, as a share of it: t_{0.975} · jitter / √n."""
        from scipy.special import stdtrit

        freedom = max(self.spans.size - 1, 1)
        return float(stdtrit(freedom, 0.975)) * self.jitter / math.sqrt(freedom)

    def interval(self) -> tuple[float, float]:
        """Return the 95 % confidence interval of the period in s."""
        return max(1 - self.error, 0.0) * self.period, (1 + self.error) * self.period


def spans_of(intervals: Floats) -> Floats:
    """Return how many periods each interval spans: 1, or more where phases are missing; float64 (n,)."""
    # Where a third of the phases is missing, the median of the intervals still is a single one, but hardly so.
    width = min(NEIGHBOURS, intervals.size)
    # Reflected at both ends. The filter of SciPy is as fast, but loading it takes a twentieth of a second.
    low, high = intervals[: width // 2], intervals[intervals.size - (width - 1) // 2 :]
    padded = np.concatenate((low[::-1], intervals, high[::-1]))
    usual = np.partition(sliding_window_view(padded, width), int(0.4 * width), axis=1)[:, int(0.4 * width)]
    spans = np.maximum(np.rint(intervals / usual), 1.0)
    return np.where((np.abs(intervals / (spans * usual) - 1) < SPAN_WITHIN) & (spans <= MOST_SPANS), spans, 1.0)


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
    spans = spans_of(intervals)
    found = []
    divided = stretches(intervals, spans)
    for first, stop, law, gain in divided:
        cuts = ((first > 0) + (stop < intervals.size)) * math.log(intervals.size)
        own = spans[first:stop] if law == MISSING else np.ones(stop - first)
        train = PulseTrain(bursts[first : stop + 1], own, gain - cuts, law == DRIFTING)
        if law != FREE and train.jitter <= MOST_JITTER:
            found.append(train)
    return joined(found) if divided else None


def joined(trains: list[PulseTrain]) -> list[PulseTrain]:
    """Join neighbours that are one train with phases missing between them; a burst of two begins the later one."""
    found: list[PulseTrain] = []
    for train in trains:
        if found and train.start < found[-1].bursts.end[-1]:
            last = found.pop()
            if len(last.bursts) > FEWEST_BURSTS:
                found.append(replace(last, bursts=last.bursts[:-1], spans=last.spans[:-1]))
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


def stretches(intervals: Floats, spans: Floats) -> list[tuple[int, int, int, float]]:
    """Divide intervals, in s and above 0, into the most probable stretches, given how many periods each could span.

    Of each: the row of its first interval and the one behind its last, its law (one of `kernels`), and the logarithm of
    its gain over a free one.
    """
    n = intervals.size
    logs = np.log(intervals) - np.log(np.median(intervals))
    single, long = logs - np.log(spans), spans > 1
    columns = (logs, logs**2, logs * np.arange(n), single, single**2, long, (spans - 1) * math.log(2.0))
    positions = _positions(logs)
    sums = np.zeros((positions.size, len(columns)))
    np.cumsum(np.add.reduceat(np.column_stack(columns), positions[:-1]), axis=0, out=sums[1:])
    rows, law, gain, evidence = most_probable(positions, sums)
    # Where each interval differs from the one before by a random factor, no period lasts.
    wandering = log_marginal(n - 1, float(np.sum(np.diff(logs) ** 2)), WANDERING_LAW)
    # As likely beforehand as one of the further laws of a period.
    if evidence < wandering - math.log(RANGE * MISSING):
        return []
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
