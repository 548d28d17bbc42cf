"""Pulse trains at the same time: each a chain of bursts that are one period, or a few, apart."""

import math
from dataclasses import replace

import numpy as np

from ...model.arrays import Floats, Mask, Rows
from .bursts import FEWEST_BURSTS, Bursts
from .stretches import MOST_SPANS, PRESENT_LAW, SAME_PERIOD, PulseTrain

MOST_BURSTS = 4000
"""Bursts of a set beyond which no chains are looked for."""
MOST_PERIODS, MOST_TRAINS = 12, 4
"""Periods tried, which are differences of up to so many starts, and trains found one after the other."""
CHAIN_DEVIATIONS = (0.15, 0.04, 0.01)
"""Deviations of an interval, as shares of the mean interval of all bursts: the period is refined from one to the next.
Not as shares of the period, or twice the period would fit better."""
MOST_SHARE = 0.6
"""Share of the phases of a train that are there, of its bursts that are of no train found before, of the time that it
lasts, and of the bursts that all trains together explain."""
NEARLY = 0.9
"""Share of the largest gain from which on the chain with most bursts is taken."""


def concurrent_trains(bursts: Bursts, alpha: float) -> list[PulseTrain]:
    """Return the pulse trains that together make up a set of bursts, as found, the clearest first.

    Parameters
    ----------
    bursts : Bursts
        In the order of time.
    alpha : float
        False-alarm rate; a train's gain is corrected for the periods and starts that it could have.
    """
    n = len(bursts)
    found: list[PulseTrain] = []
    if not 2 * FEWEST_BURSTS <= n <= MOST_BURSTS:
        return []
    from .kernels import best_chain

    start = bursts.start
    length = float(start[-1] - start[0])
    periods = _frequent_differences(start)
    used = np.zeros(n, np.bool_)
    missing = PRESENT_LAW[1] / sum(PRESENT_LAW)
    for _ in range(MOST_TRAINS):
        rate = max(int((~used).sum()), FEWEST_BURSTS) / length
        chains = []
        candidates = dict.fromkeys(periods + _frequent_differences(start[~used]) if found else periods)
        for candidate in candidates:
            period = candidate
            for share in CHAIN_DEVIATIONS:
                gain, rows, spans = best_chain(start, used, period, share * length / n, rate, missing, MOST_SPANS)
                if rows.size < FEWEST_BURSTS:
                    break
                turns = float(spans.sum())
                period = float(start[rows[-1]] - start[rows[0]]) / turns
                present = spans.size / turns
                own = int((~used[rows]).sum()) >= max(FEWEST_BURSTS, MOST_SHARE * rows.size)
                if own and present >= MOST_SHARE:
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
        near = 0.05 * np.median(np.diff(train.start))
        within = (middles >= others.start[at] - near) & (middles <= others.end[at] + near)
        alone = np.setdiff1d(np.arange(len(others)), at)
        if within.mean() > 0.5 and alone.size:
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
    clearest = centres[order[: 4 * MOST_PERIODS]]
    apart = np.abs(clearest[:, None] / clearest - 1) > 1.5 * SAME_PERIOD
    found: list[int] = []
    for row in range(clearest.size):
        if apart[row, found].all():
            found.append(row)
            if len(found) == MOST_PERIODS:
                break
    return [float(period) for period in clearest[found]]


IN_STEP = 0.1
"""Share of a period by which bursts of a slow train lie beside those of a fast one, where it is a part of that."""


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
    in_step = np.mean(np.abs(turns - np.rint(turns)) < IN_STEP) > 0.8
    return bool(in_step) or same_period(slow, fast)
