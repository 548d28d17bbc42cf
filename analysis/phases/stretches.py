"""Intervals between bursts, divided into stretches that are free or have a period: regimes and pauses."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, lru_cache

import numpy as np

from ...model.arrays import Floats, Frozen, Mask, Rows, differences, variation
from . import kernels
from .bursts import ALIKE, FEWEST_BURSTS, MOST_PERIODS, NEGLIGIBLE, RELATIVE_ROUNDING, Bursts
from .kernels import most_probable, moving_order, sums_until

MOST_SPANS, SPAN_WITHIN, NEIGHBOURS = 5, 0.15, 9
"""Intervals within an eighth of up to five times the usual of nine around them have phases missing."""
MOST_POSITIONS = 100
"""Intervals up to which each may be a boundary; of more the positions that differ most from what follows."""
MOST_JITTER = 0.4
"""Above this coefficient of variation the next burst cannot be predicted to two fifths of a period."""
INSIDE = MOST_PERIODS * MOST_SPANS
"""Times as fast as a neighbour is what is no regime where it lasts for one period of that: the inside of a burst."""
SAME_PERIOD = 0.02
"""Share by which the periods of two neighbours differ at most that are one train, beyond their confidence intervals;
of trains at the same time the share alone, also the width of a bin of differences of starts, in their logarithm."""


class PulseTrain(Frozen):
    """Bursts with one period.

    Attributes
    ----------
    bursts : Bursts
        At least four.
    spans : float64 (n-1,)
        How many periods lie between each burst and the next; no whole number where the next one is late.
    gain : float
        Logarithm of the Bayes factor against free intervals times the weight of the thresholds and cuts.
    """

    bursts: Bursts
    spans: Floats
    gain: float

    @cached_property
    def intervals(self) -> Floats:
        """Times between bursts in s, over the periods that they span, without those to bursts that are late."""
        told, every = self.spans == np.rint(self.spans), differences(self.bursts.start)
        return every / self.spans if told.all() else every[told] / self.spans[told]

    @cached_property
    def period(self) -> float:
        """Mean time in s from one phase to the next, missing ones included."""
        return float((self.bursts.start[-1] - self.bursts.start[0]) / self.spans.sum())

    @property
    def start(self) -> float:
        """Start of the first burst in s."""
        return float(self.bursts.start[0])

    @cached_property
    def length(self) -> float:
        """Time in s over which the period holds, one after the last start included."""
        return float(self.bursts.start[-1]) - self.start + self.period

    @property
    def missing(self) -> int:
        """Number of phases that are missing."""
        return int(np.sum(self.spans[self.spans == np.rint(self.spans)] - 1))

    @cached_property
    def drift(self) -> float:
        """Logarithm of the interval at the end over that at the start, by a line through all.

        0 where they are the same, or it may be chance: where it is more probable than a thousandth.
        """
        if self.intervals.min() <= 0:
            return 0.0
        n = self.intervals.size
        logs, rows = np.log(self.intervals), np.arange(n) - 0.5 * (n - 1)
        # Sums of products by threads of their own would cost more than they save.
        change = 12 * float((rows * logs).sum()) / max(n * n - 1, 12)
        if abs(change) <= SAME_PERIOD:
            return 0.0
        # A line through n values has a slope with a deviation of √12 / n of that of their mean; it changes by n slopes.
        off = logs - logs.mean() - change * rows / n
        return change if chance_off(off, 2)(np.array([abs(change) / math.sqrt(12)]))[0] < NEGLIGIBLE else 0.0

    @property
    def ends(self) -> tuple[float, float]:
        """The period in s at the start and at the end, which differ where it drifts."""
        return self.period * math.exp(-self.drift / 2), self.period * math.exp(self.drift / 2)

    def alike(self, other: "PulseTrain") -> bool:
        """Tell whether the period of the next train may be the one that this one ends with."""
        return abs(math.log(self.ends[1] / other.ends[0])) <= math.hypot(self.error, other.error) + SAME_PERIOD

    @cached_property
    def steady(self) -> Floats:
        """The intervals in s without their drift."""
        n = self.intervals.size
        return self.intervals * np.exp(-self.drift / n * np.arange(n)) if self.drift else self.intervals

    @cached_property
    def jitter(self) -> float:
        """Coefficient of variation of the intervals, about the drift."""
        return variation(self.steady)

    def again(self, enough: float) -> float:
        """Return when three intervals or more begin to come again one by one, at most twice, in s; else infinity.

        That must be more probable than that all have one law, by a logarithm of `enough` and of their number. Each that
        is as much off as two of this law speaks against it, as one that was cut at either end may.
        """
        own, n = self.steady / (self.steady.std() + RELATIVE_ROUNDING * self.period), self.steady.size
        off = (0.5 * (own[lag:] - own[:-lag]) ** 2 + NEGLIGIBLE**2 for lag in range(1, (n + 1) // 2 + 1))
        told, lag = max((float(-(0.5 * np.log(one) + 1).sum()), lag) for lag, one in enumerate(off, 1))
        return float(self.bursts.start[lag]) if told > enough + math.log(n) and lag > max((n + 1) // 4, 2) else np.inf

    @property
    def volume(self) -> float:
        """What the bursts moved."""
        return float(self.bursts.volume.sum())

    @cached_property
    def error(self) -> float:
        """Half of the 95 % confidence interval of the period, as a share of it; see `chance_off`."""
        off = self.steady / self.steady.mean() - 1
        far = _geometric(1, 1000, 200) * max(float(np.sqrt((off * off).mean() / off.size)), RELATIVE_ROUNDING)
        chance = chance_off(off)
        # It falls with the distance: a look at each tenth tells between which two the rest need to be known.
        far = far[min(10 * max(int(np.count_nonzero(chance(far[::10]) > 0.05)) - 1, 0), far.size - 12) :][:12]
        return float(np.interp(-0.05, -chance(far), far))

    def interval(self) -> tuple[float, float]:
        """Return the 95 % confidence interval of the period in s."""
        return max(1 - self.error, 0.0) * self.period, (1 + self.error) * self.period


def chance_off(off: Floats, fitted: int = 1) -> Callable[[Floats], Floats]:
    """Return what gives the probabilities that a mean is off by more than some distances, given the deviations from it.

    `fitted` are the numbers that these are free of. They are an autoregressive process with a memory φ: of 0, which is
    four times as probable beforehand, or else 1 / (1 - φ), as many as one tells of, is anywhere up to ten on a
    logarithmic axis. For each φ the mean has a law of Student; what they tell of φ weighs them.
    """
    from scipy.special import stdtr

    memory = 1 - _geometric(1, ALIKE, 19)
    n, total, ends = off.size, float((off * off).sum()), float(off[0] ** 2 + off[-1] ** 2)
    rest = np.maximum(total - 2 * memory * float((off[1:] * off[:-1]).sum()) + memory**2 * (total - ends), 0.0)
    rest += RELATIVE_ROUNDING * total + RELATIVE_ROUNDING**2
    told, freedom = (1 - memory) * (n - (n - 2) * memory), max(n - fitted, 1)
    likely = np.sqrt((1 - memory**2) / told) * (rest / rest.min()) ** (-0.5 * freedom)
    likely[0] *= 4 * (memory.size - 1)
    # What swings slowly has steps far smaller than such a process of its size.
    precisions, whole = np.sqrt(freedom * told / np.maximum(rest, (1 - memory**2) * total)), likely.sum()
    return lambda far: np.asarray(2 * stdtr(freedom, -far[:, np.newaxis] * precisions) @ likely / whole)


_geometric = lru_cache(np.geomspace)
"""Returns numbers from one to another, so many, each as much more than the one before."""


def spans_of(intervals: Floats) -> tuple[Floats, Mask]:
    """Return how many periods each interval spans, 1 or more where phases are missing, and whether it is delayed."""
    # Where a third of the phases is missing, the median of the intervals still is a single one, but hardly so.
    width = min(NEIGHBOURS, intervals.size)
    # Reflected at both ends. The filter of SciPy is as fast, but loading it takes a twentieth of a second.
    low, high = intervals[: width // 2], intervals[intervals.size - (width - 1) // 2 :]
    turns = intervals / moving_order(np.concatenate((low[::-1], intervals, high[::-1])), width, int(0.4 * width))
    spans = np.maximum(np.rint(turns), 1.0)
    whole = (np.abs(turns - spans) < SPAN_WITHIN * spans) & (spans <= MOST_SPANS)
    return np.where(whole, spans, 1.0), (turns > 1 + ALIKE) & (turns <= kernels.RANGE)


def divided(bursts: Bursts, whole: bool = False) -> tuple[list[PulseTrain], float]:
    """Return the pulse trains of the most probable division of bursts into stretches, and what speaks for no period.

    That is the logarithm of the Bayes factor of stretches in which intervals wander against free ones.

    Parameters
    ----------
    bursts : Bursts
        At least four.
    whole : bool
        Whether all is to be one stretch.

    Notes
    -----
    The logarithms x of intervals are normal in each stretch, with a mean that is uniform over `RANGE` and a
    variance from an inverse-gamma law (`log_marginal`), or intervals are those of a gamma law (`log_renewal`): of a low
    shape where they are free, of a high one where they hardly are a period. With a drift the deviations are those about
    a line, and there is one degree of freedom less; of intervals that wander the steps from one x to the next are
    normal, small ones with a period and large ones without; with phases missing x is of intervals over their spans,
    with a Beta-binomial law of the long ones. A cut costs ln 2n: it could be anywhere, and what follows is free or not.
    Dynamic programming (Jackson et al. 2005) over at most 100 positions: O(n) for many intervals.
    """
    intervals = differences(bursts.start)
    spans, late = spans_of(intervals)
    found, wandering = [], 0.0
    for first, stop, law, gain in stretches(intervals, spans, late, whole):
        cuts = ((first > 0) + (stop < intervals.size)) * math.log(intervals.size)
        wandering += gain - cuts if law == kernels.WANDERING else 0.0
        own = spans[first:stop] if law == kernels.MISSING else np.ones(stop - first)
        if law == kernels.DELAYED:
            times, off = intervals[first:stop], late[first:stop]
            own[off] = times[off] / times[~off].mean()
        train = PulseTrain(bursts[first : stop + 1], own, gain - cuts)
        if law not in (kernels.FREE, kernels.WANDERING) and train.jitter <= MOST_JITTER:
            found.append(train)
    return joined(found), wandering


def resting_train(bursts: Bursts, enough: float) -> PulseTrain | None:
    """Return bursts as one train where the pauses between them are regular, with a gain of at least `enough`."""
    pauses = bursts.start[1:] - bursts.end[:-1]
    # Fewer are often alike in a signal of few bins, which is not seen to be one.
    if len(bursts) < 2 * FEWEST_BURSTS or pauses.min() <= 0:
        return None
    trains, _ = divided(replace(bursts, start=np.append(0.0, np.cumsum(pauses))))
    regular = len(trains) == 1 and len(trains[0].bursts) == len(bursts) and trains[0].jitter <= ALIKE
    return replace(trains[0], bursts=bursts) if regular and trains[0].gain + bursts.log_weight >= enough else None


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
    turns = 2 * (other.start - one.bursts.start[-1]) / (one.ends[1] + other.ends[0])
    # A single interval that is off hardly changes the period of many.
    slack = max(SPAN_WITHIN, one.jitter, other.jitter, SAME_PERIOD * float(one.spans.sum() + other.spans.sum()))
    near = abs(turns - max(round(turns), 1)) <= slack
    if not (near and one.alike(other)) or turns > MOST_SPANS + 0.5 or one.drift * other.drift < 0:
        return None
    return replace(
        one,
        bursts=one.bursts.joined(other.bursts),
        spans=np.concatenate((one.spans, [max(round(turns), 1)], other.spans)),
        gain=one.gain + other.gain,
    )


def stretches(intervals: Floats, spans: Floats, late: Mask, whole: bool = False) -> list[tuple[int, int, int, float]]:
    """Divide intervals, in s and above 0, into the most probable stretches, given what each could be.

    `spans` are the periods that each could span, `late` whether it could have been delayed; `whole`: all are one.

    Of each: the row of its first interval and the one behind its last, its law (one of `kernels`), and the logarithm of
    its gain over a free one.
    """
    logs = np.log(intervals / intervals.mean())
    positions = np.array((0, intervals.size)) if whole else _positions(logs)
    rows, law, gain = most_probable(positions, sums_until(positions, logs, spans, late))
    ends = positions[rows].tolist()
    return list(zip(ends, ends[1:], law[1:].tolist(), gain[1:].tolist(), strict=False))


def _positions(logs: Floats) -> Rows:
    """Return where stretches may be parted: anywhere, or where the means of the next and the last five differ most."""
    n = logs.size
    if n <= MOST_POSITIONS:
        return np.arange(n + 1)
    side = NEIGHBOURS // 2 + 1
    means = np.convolve(logs, np.full(side, 1 / side), "valid")
    apart = -np.abs(means[side:] - means[:-side])
    most = np.argpartition(apart, min(MOST_POSITIONS, apart.size) - 1)[:MOST_POSITIONS] + side
    return np.unique(np.append(most, (0, n)))
