"""When the next phase begins: an interval of time, and the probability that it begins in it.

Constants were chosen on made runs with seeds below 1,000; figures in `benchmarks/RESULTS.md` are of others.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..analysis.phases.stretches import PulseTrain

LATEST: Final = 32
"""Intervals that the next one is predicted from, the latest ones."""
PRIOR_INTERVALS, PRIOR_JITTER = 1.0, 0.005
"""How many intervals' worth is thought beforehand of the jitter, and what."""
WIDER: Final = 1.3
"""Factor on the spread of starts: regimes are cut where intervals are alike, so that they seem more so."""
CERTAINTY: Final = 8.0
"""Intervals, halved, up to which more of them tell a clock more clearly from starts that follow one another."""
COVERED: Final = 0.9
"""Share of the starts that lie between earliest and latest, while the regime goes on and no phase is missing."""
ENDING: Final = (1.0, 12.0)
"""Beta law of the probability that a regime ends after a phase: of so many ends among so many phases."""
MISSING: Final = 0.02
"""Phases that are missing, as thought beforehand, of one phase."""
MOST_TURNS: Final = 5
"""Periods up to which a phase may be late."""
LEAST: Final = 0.05
"""Probability below which nothing is said."""


@dataclass(frozen=True)
class NextPhase:
    """The next phase begins between `earliest` and `latest`, in s, with a `probability`."""

    earliest: float
    latest: float
    probability: float


def next_phase(train: PulseTrain, now: float, lead: float = 0.0) -> NextPhase | None:
    """Return when the next phase begins, known that none has by a time; None where the regime is rather over.

    Parameters
    ----------
    train : PulseTrain
        The regime.
    now : float
        In s.
    lead : float
        Time in s by which phases begin before their bursts.

    Notes
    -----
    The start is a Student t about the mean that `expected_start` gives; where phases are missing it is that of a period
    later. What has passed is cut off, and what is left weighs against the regime's having ended.
    """
    from scipy.special import stdtr, stdtrit

    mean, scale, freedom = expected_start(train)
    mean -= lead
    missing = (train.missing + MISSING) / (float(train.spans.sum()) + 1)
    ending = ENDING[0] / (ENDING[1] + len(train.bursts))
    weight, left, best = 1 - ending, ending, (0.0, 0.0, 0.0, 0.0)
    for turn in range(MOST_TURNS):
        at, spread = mean + turn * train.period, scale * math.sqrt(1 + turn)
        passed = float(stdtr(freedom, (now - at) / spread))
        here = weight * (1 - missing) * (1 - passed)
        best = max(best, (here, at, spread, passed))
        left += here
        weight *= missing
    here, at, spread, passed = best
    probability = COVERED * here / left
    if probability < LEAST:
        return None
    outside = 0.5 * (1 - COVERED) * (1 - passed)
    low, high = (at + spread * float(stdtrit(freedom, share)) for share in (passed + outside, 1 - outside))
    return NextPhase(max(low, now), high, probability)


def expected_start(train: PulseTrain) -> tuple[float, float, float]:
    """Return mean and scale in s, and degrees of freedom, of the start of the next burst of a train that goes on.

    Starts may keep to a clock, and vary about a line, or follow one another, each an interval after the last. Both are
    fitted to the latest intervals and weigh by how well they do. With a drift each follows the last.
    """
    spans = train.spans[-LATEST:]
    n = spans.size
    start = train.bursts.start[-n - 1 :]
    place = np.append(0.0, np.cumsum(spans))
    growth = np.exp(train.drift / train.spans.size * (np.arange(n) - n))
    interval = float(np.mean(np.diff(start) / (spans * growth)))
    if train.drift == 0:
        interval = float((start[-1] - start[0]) / place[-1])
    prior, freedom = PRIOR_INTERVALS * (PRIOR_JITTER * interval) ** 2, PRIOR_INTERVALS + n - 1
    apart = float(np.sum((np.diff(start) / spans - interval * growth) ** 2 * spans))
    scale = math.sqrt((prior + apart) / freedom * (1 + 1 / n))
    mean = float(start[-1]) + interval
    if train.drift == 0:
        centred = place - place.mean()
        lever = float(centred @ centred)
        slope = float(centred @ start) / lever
        ahead = place[-1] + 1 - place.mean()
        off = start - start.mean() - slope * centred
        about = (prior + float(off @ off)) / (PRIOR_INTERVALS + n - 1) * (1 + 1 / (n + 1) + ahead**2 / lever)
        share = 1 / (1 + (math.sqrt(about) / scale) ** min(n / 2, CERTAINTY))
        mean += share * (float(start.mean()) + slope * ahead - mean)
        scale += share * (math.sqrt(about) - scale)
    return mean, WIDER * scale, freedom
