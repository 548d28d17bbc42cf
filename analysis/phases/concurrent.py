"""Pulse trains at the same time: each a chain of bursts that are one period, or a few, apart."""

import math
from dataclasses import replace

import numpy as np

from ...model.arrays import Floats, Mask, Rows
from .bursts import ALIKE, FEWEST_BURSTS, MOST, MOST_PERIODS, NEARLY, Bursts
from .kernels import best_chain
from .line import MOST_BINS
from .stretches import MOST_SPANS, PRESENT_LAW, SAME_PERIOD, SPAN_WITHIN, PulseTrain

CHAIN_DEVIATIONS = (SPAN_WITHIN, SPAN_WITHIN / 4, SPAN_WITHIN / 16)
"""Deviations of an interval, as shares of the mean interval of all bursts: the period is refined from one to the next.
Not as shares of the period, or twice the period would fit better."""


def concurrent_trains(bursts: Bursts, alpha: float) -> list[PulseTrain]:
    """Return the pulse trains that together make up a set of bursts, as found, the clearest first.

    Parameters
    ----------
    bursts : Bursts
        In the order of time.
    alpha : float
        False-alarm rate; a train's gain is corrected for the periods and starts that it could have.
    """
    n, found = len(bursts), []
    if not 2 * FEWEST_BURSTS <= n <= MOST_BINS:
        return []
    start = bursts.start
    length = float(start[-1] - start[0])
    periods = _frequent_differences(start)
    used = np.zeros(n, np.bool_)
    missing = PRESENT_LAW[1] / sum(PRESENT_LAW)
    for _ in range(MOST_PERIODS):
        rate = max(int((~used).sum()), FEWEST_BURSTS) / length
        chains = []
        for candidate in dict.fromkeys(periods + _frequent_differences(start[~used])):
            period = candidate
            for share in CHAIN_DEVIATIONS:
                gain, rows, spans = best_chain(start, used, period, share * length / n, rate, missing, MOST_SPANS)
                if rows.size < FEWEST_BURSTS:
                    break
                period = float(start[rows[-1]] - start[rows[0]]) / float(spans.sum())
                present = spans.size / float(spans.sum())
                own = int((~used[rows]).sum()) >= max(FEWEST_BURSTS, MOST * rows.size)
                if own and present >= MOST:
                    chains.append((gain, rows.size * present**2, rows, spans))
        # A multiple of the period gains as much from each burst, but has fewer of them; in a fraction many are missing.
        most = max((one[0] for one in chains), default=-math.inf)
        if most + bursts.log_weight < math.log(len(CHAIN_DEVIATIONS) * MOST_PERIODS * n / alpha):
            break
        gain, _, rows, spans = max((one for one in chains if one[0] >= NEARLY * most), key=lambda one: one[1])
        gain -= math.log(len(CHAIN_DEVIATIONS) * MOST_PERIODS * n)
        found.append(_train(bursts, rows, spans, used, gain))
        used[rows] = True
    return _distinct(found)


def _train(bursts: Bursts, rows: Rows, spans: Rows, used: Mask, gain: float) -> PulseTrain:
    """Return a chain as a train; where a burst of another train lies on each half of its periods, these are its own.

    Two trains whose periods have a ratio of small integers share bursts always at the same places. A shared burst, or
    one that touches another, begins with either, and has more volume than those of one train alone.
    """
    train = bursts[rows]
    own = float(np.median(train.volume[~used[rows]]))
    train = replace(train, volume=np.minimum(train.volume, own))
    counts = spans.astype(np.float64)
    others = bursts[np.flatnonzero(used)]
    middles = train.start[:-1] + 0.5 * np.diff(train.start) / counts
    if len(others) and middles.size:
        at = np.clip(np.searchsorted(others.start, middles, side="right") - 1, 0, len(others) - 1)
        near = ALIKE * np.median(np.diff(train.start))
        within = (middles >= others.start[at] - near) & (middles <= others.end[at] + near)
        alone = np.setdiff1d(np.arange(len(others)), at)
        if within.mean() > MOST and alone.size:
            more = float(np.median(others.volume[at]) - np.median(others.volume[alone]))
            counts = 2 * counts if more > 0.5 * own else counts
    return PulseTrain(train, counts, gain)


def _frequent_differences(start: Floats) -> list[float]:
    """Return the differences of starts in s that are more frequent than at random, the clearest first."""
    n = start.size
    if n < FEWEST_BURSTS:
        return []
    length = float(start[-1] - start[0])
    differences = np.concatenate([start[lag:] - start[:-lag] for lag in range(1, min(MOST_PERIODS + 1, n))])
    logs = np.log(differences[(differences > 0) & (differences < length / (FEWEST_BURSTS - 1))])
    if logs.size < FEWEST_BURSTS:
        return []
    lowest = float(logs.min())
    counts = np.convolve(np.bincount(((logs - lowest) / SAME_PERIOD).astype(np.int64)), np.ones(3), "same")
    centres = np.exp(lowest + SAME_PERIOD * (np.arange(counts.size) + 0.5))
    expected = 3 * SAME_PERIOD * n * n / length * centres + 1
    order = np.argsort(-(counts - expected) / np.sqrt(expected), kind="stable")
    found: list[float] = []
    for period in centres[order].tolist():
        if len(found) < MOST_PERIODS and all(abs(period / other - 1) > 2 * SAME_PERIOD for other in found):
            found.append(period)
    return found


def _distinct(trains: list[PulseTrain]) -> list[PulseTrain]:
    """Return trains of different periods, that of most volume first; of two in step the faster one."""
    found: list[PulseTrain] = []
    for train in sorted(trains, key=lambda train: train.period):
        if not any(_in_step(train, other) for other in found):
            found.append(train)
    # A phase that is missing touches one of another train.
    return sorted(found, key=lambda train: -train.volume * float(train.spans.sum()) / train.spans.size)


def same_period(one: PulseTrain, other: PulseTrain) -> bool:
    """Tell whether two trains at the same time have one period."""
    return abs(one.period / other.period - 1) <= SAME_PERIOD


def _in_step(slow: PulseTrain, fast: PulseTrain) -> bool:
    """Tell whether two trains have one period, or most bursts of one would be missing ones of the other."""
    at = np.clip(np.searchsorted(fast.bursts.start, slow.bursts.start), 1, len(fast.bursts) - 1)
    turns = (slow.bursts.start - fast.bursts.start[at - 1]) / fast.period
    in_step = np.mean(np.abs(turns - np.rint(turns)) < ALIKE) > NEARLY
    return bool(in_step) or same_period(slow, fast)
