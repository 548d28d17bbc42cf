"""When the next phase begins: an interval of time, and the probability that it begins in it."""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..analysis.phases.stretches import PulseTrain

LATEST: Final = 32
"""Intervals that the next one is predicted from, the latest ones."""
PRIOR_INTERVALS: Final = 3.0
"""Intervals' worth of what is thought of the jitter beforehand."""
PRIOR_JITTER: Final = 0.02
COVERED: Final = 0.9
"""Share of the starts, while the regime goes on, between earliest and latest."""
ENDING: Final = 0.05
"""Probability that a regime ends after a phase, as thought beforehand."""


@dataclass(frozen=True)
class NextPhase:
    """The next phase begins between `earliest` and `latest`, in s, with a `probability`; most likely at `expected`."""

    expected: float
    earliest: float
    latest: float
    probability: float


@dataclass(frozen=True)
class Pace:
    """The start of the next phase of a train: a Student t of a mean and a scale in s, and of degrees of freedom."""

    mean: float
    scale: float
    freedom: float
    period: float
    missing: float
    ending: float


def pace_of(train: PulseTrain) -> Pace:
    """Return when the next phase of a train begins, if it goes on.

    Starts that keep to a clock vary about a line, others each about the one before. Both are fitted to the latest
    intervals, and weigh by how well they do.
    """
    from scipy.special import stdtr  # noqa: F401

    spans = train.spans[-LATEST:]
    start = train.bursts.start[-spans.size - 1 :]
    place = np.concatenate(([0.0], np.cumsum(spans)))
    n = spans.size
    period = float((start[-1] - start[0]) / place[-1])
    steps = np.diff(start) / spans
    ratio = math.exp(train.drift / max(train.spans.size, 1)) if train.drift else 1.0
    grown = ratio ** (np.arange(n) - n)
    local = float(np.mean(steps / grown)) if train.drift else period
    prior = PRIOR_INTERVALS * (PRIOR_JITTER * period) ** 2
    # Each start from the one before.
    each = (
        float(np.sum(spans * (steps - local * grown) ** 2))
        if train.drift
        else float(np.sum(spans * (steps - period) ** 2))
    )
    walk_scale = math.sqrt((prior + each) / (PRIOR_INTERVALS + n - 1) * (1 + 1 / n))
    walk = start[-1] + local
    if train.drift:
        return Pace(walk, walk_scale, PRIOR_INTERVALS + n - 1, local, _missing(train), ENDING)
    # Each start about a clock.
    centred = place - place.mean()
    slope = float(centred @ start / (centred @ centred))
    line = float(start.mean()) + slope * (place[-1] + 1 - place.mean())
    off = start - start.mean() - slope * centred
    lever = 1 + 1 / start.size + (place[-1] + 1 - place.mean()) ** 2 / float(centred @ centred)
    clock_scale = math.sqrt((prior + float(off @ off)) / (PRIOR_INTERVALS + max(start.size - 2, 1)) * lever)
    weight = 1 / (1 + (clock_scale / walk_scale) ** min(n, 16))
    mean = weight * line + (1 - weight) * walk
    scale = weight * clock_scale + (1 - weight) * walk_scale
    return Pace(mean, scale, PRIOR_INTERVALS + n - 1, period, _missing(train), ENDING)


def _missing(train: PulseTrain) -> float:
    return (train.missing + 0.02) / (float(train.spans.sum()) + 1)


def next_phase(train: PulseTrain, now: float) -> NextPhase | None:
    """Return when the next phase begins, known that none has by `now`, in s; None where the train is over."""
    from scipy.special import stdtr, stdtrit

    pace = pace_of(train)
    passed = float(stdtr(pace.freedom, (now - pace.mean) / pace.scale))
    late = now > pace.mean and passed > 1 - 1e-6
    turns = 0
    # A phase may be missing: what comes then is the one after.
    mean, scale = pace.mean, pace.scale
    probability = (1 - pace.ending) * (1 - pace.missing)
    goes_on = probability * (1 - passed)
    skipped = (1 - pace.ending) * pace.missing
    while late and turns < 5:
        turns += 1
        mean += pace.period
        scale = pace.scale * math.sqrt(1 + turns)
        passed = float(stdtr(pace.freedom, (now - mean) / scale))
        late = now > mean and passed > 1 - 1e-6
        goes_on = skipped * (1 - pace.missing) * (1 - passed)
        skipped *= pace.missing
    if late:
        return None
    lower, upper = passed + (1 - passed) * 0.5 * (1 - COVERED), passed + (1 - passed) * 0.5 * (1 + COVERED)
    low, middle, high = (
        mean + scale * float(stdtrit(pace.freedom, share)) for share in (lower, 0.5 * (1 + passed), upper)
    )
    odds = goes_on / (goes_on + skipped + pace.ending)
    return NextPhase(middle, max(low, now) if passed > 0.05 else low, high, COVERED * odds)
