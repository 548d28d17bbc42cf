"""Pulse trains at the same time: each a chain of bursts that are one period, or a few, apart."""

import math
from dataclasses import replace

import numpy as np

from ...model.arrays import Floats, Mask, differences
from .bursts import ALIKE, FEWEST_BURSTS, MOST, MOST_PERIODS, NEARLY, Bursts
from .kernels import PRESENT_LAW, best_chain
from .line import MOST_BINS
from .stretches import MOST_SPANS, SAME_PERIOD, SPAN_WITHIN, PulseTrain

CHAIN_DEVIATIONS = (SPAN_WITHIN, SPAN_WITHIN / 4, SPAN_WITHIN / 16)
"""Deviations of an interval, as shares of the mean interval of all bursts: the period is refined from one to the next.
Not as shares of the period, or twice the period would fit better."""


def concurrent_trains(bursts: Bursts, shortest: float, alpha: float) -> list[PulseTrain]:
    """Return the pulse trains that together make up a set of bursts, as found, the clearest first.

    Parameters
    ----------
    bursts : Bursts
        In the order of time.
    shortest : float
        Time in s over which a train holds at least.
    alpha : float
        False-alarm rate; a train's gain is corrected for the periods and starts that it could have.
    """
    n, found = len(bursts), []
    if not 2 * FEWEST_BURSTS <= n <= MOST_BINS:
        return []
    start, used = bursts.start, np.zeros(n, np.bool_)
    length, missing = float(start[-1] - start[0]), PRESENT_LAW[1] / sum(PRESENT_LAW)
    tried = math.log(len(CHAIN_DEVIATIONS) * MOST_PERIODS * n)
    for _ in range(MOST_PERIODS):
        left = start[~used]
        rate = max(left.size, FEWEST_BURSTS) / length
        chains = []
        for candidate in _frequent_differences(left, length):
            period = float(candidate)
            for share in CHAIN_DEVIATIONS:
                gain, rows, spans = best_chain(start, used, period, share * length / n, rate, missing, MOST_SPANS)
                if rows.size < FEWEST_BURSTS:
                    break
                lasting = float(start[rows[-1]] - start[rows[0]])
                period = lasting / spans.sum()
                if np.count_nonzero(~used[rows]) / rows.size >= MOST and lasting + period > shortest:
                    chains.append((gain - tried, rows, spans))
        # A multiple of the period gains as much from each burst, but has fewer of them; in a fraction many are missing.
        most = max((gain for gain, _, _ in chains), default=-math.inf)
        if most + bursts.log_weight < -math.log(alpha):
            break
        clear = [one for one in chains if one[0] >= NEARLY * most]
        gain, rows, spans = max(clear, key=lambda one: one[1].size * one[2].size / one[2].sum())
        found.append(_own(PulseTrain(bursts[rows], spans, gain), used[rows], bursts[np.flatnonzero(used)]))
        used[rows] = True
    return _distinct(found)


def _own(train: PulseTrain, shared: Mask, others: Bursts) -> PulseTrain:
    """Return a train; where a burst of another train lies on each half of its periods, these are its own.

    Two trains whose periods have a ratio of small integers share bursts always at the same places. A shared burst, or
    one that touches another, begins with either, and has more volume than those of one train alone.
    """
    bursts = train.bursts
    own = float(np.median(bursts.volume[~shared]))
    train = replace(train, bursts=replace(bursts, volume=np.minimum(bursts.volume, own)))
    if not len(others):
        return train
    intervals = differences(bursts.start)
    middles = bursts.start[:-1] + 0.5 * intervals / train.spans
    at = np.clip(np.searchsorted(others.start, middles, side="right") - 1, 0, len(others) - 1)
    near = ALIKE * np.median(intervals)
    within = (middles >= others.start[at] - near) & (middles <= others.end[at] + near)
    alone = np.delete(others.volume, at)
    larger = alone.size > 0 and np.median(others.volume[at]) - np.median(alone) > 0.5 * own
    return replace(train, spans=2 * train.spans) if larger and within.mean() > MOST else train


def _frequent_differences(start: Floats, length: float) -> Floats:
    """Return the differences of starts, in a length in s, that are more frequent than at random, the clearest first."""
    differences = np.concatenate([start[lag:] - start[:-lag] for lag in range(1, MOST_PERIODS + 1)])
    logs: Floats = np.log(differences[(differences > 0) & (differences < length / (FEWEST_BURSTS - 1))])
    if logs.size < FEWEST_BURSTS:
        return logs
    lowest = float(logs.min())
    counts = np.convolve(np.bincount(((logs - lowest) / SAME_PERIOD).astype(np.int64)), np.ones(3), "same")
    centres = np.exp(lowest + SAME_PERIOD * (np.arange(counts.size) + 0.5))
    expected = 3 * SAME_PERIOD * start.size**2 / length * centres + 1
    return np.asarray(centres[np.argsort((expected - counts) / np.sqrt(expected))[:MOST_PERIODS]])


def _distinct(trains: list[PulseTrain]) -> list[PulseTrain]:
    """Return trains of different periods, that of most volume first."""
    found: list[PulseTrain] = []
    for train in sorted(trains, key=lambda train: train.period):
        if not any(abs(train.period / other.period - 1) <= SAME_PERIOD for other in found):
            found.append(train)
    # A phase that is missing touches one of another train.
    return sorted(found, key=lambda train: -train.volume * float(train.spans.sum()) / train.spans.size)
