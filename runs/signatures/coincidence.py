"""How improbable it is that many samples are so busy at the same time by chance.

Points say when a burst was and of what shape, and both suffer where other jobs write beside it: bursts run into each
other or are cut in two. That much was moved then stays true.
"""

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from scipy.ndimage import maximum_filter1d

from ...model.arrays import Floats, Ints, Mask
from .sample import Sample

STEPS_PER_OCTAVE: Final = 2
"""Widths of a stretch that are told apart."""
LAG_STEPS: Final = 4
"""By how many parts of its width a stretch may lie elsewhere in another sample is rounded up to one of these."""

PLACES_PER_WIDTH: Final = 4
"""Stretches that overlap are other chances, if not independent ones; so many keep the rate of false ones on noise."""


class Stretch(NamedTuple):
    """Values from `start` to before `end`, which may lie by up to `lag` elsewhere in another sample."""

    start: int
    end: int
    lag: int


def coincidences(
    samples: Sequence[Sample], stretches: Sequence[Stretch], busy: Sequence[tuple[int, int]], least: int
) -> Floats:
    """Return for each stretch the probability that samples agree so well by chance anywhere, float64 (n,).

    What a sample has at a stretch is the highest mean within the lag. The probability is that at least `least` samples,
    each as often as it is so high elsewhere, have at the same time what the `least` highest have here; times the number
    of places. Time is linear in the length of the samples: widths and lags are rounded to few different ones.

    Parameters
    ----------
    samples : sequence of Sample
        Of one length.
    stretches : sequence of Stretch
    busy : sequence of (int, int)
        Stretches known not to be chance; what samples have there and at the stretch itself does not count as elsewhere.
    least : int
    """
    length = min(len(sample.values) for sample in samples)
    totals = [np.append(0.0, np.cumsum(sample.values[:length])) for sample in samples]
    alike: dict[tuple[int, int], list[int]] = {}
    for row, one in enumerate(stretches):
        width = _rounded(min(one.end, length) - one.start)
        lag = math.ceil(math.ceil(min(1.0, one.lag / width) * LAG_STEPS) / LAG_STEPS * width)
        alike.setdefault((width, lag), []).append(row)
    chance = np.ones(len(stretches))
    for (width, lag), rows in alike.items():
        highest = [maximum_filter1d((own[width:] - own[:-width]) / width, 2 * lag + 1) for own in totals]
        elsewhere = np.ones(len(highest[0]), np.bool_)
        for start, end in busy:
            elsewhere[max(0, start - width - lag) : end + lag] = False
        ordered = [np.sort(own[elsewhere]) for own in highest]
        for row in rows:
            one = stretches[row]
            start = min(one.start + (min(one.end, length) - one.start - width) // 2, len(elsewhere) - 1)
            level = sorted(float(own[start]) for own in highest)[-least]
            beside = slice(max(0, start - width - lag), start + width + lag)
            often = _shares(highest, ordered, elsewhere, beside, level)
            chance[row] = min(1.0, _at_least(often, least) * PLACES_PER_WIDTH * length / width)
    return chance


def _rounded(width: int) -> int:
    return int(2 ** (math.floor(math.log2(max(1, width)) * STEPS_PER_OCTAVE) / STEPS_PER_OCTAVE))


def _shares(
    highest: Sequence[Floats], ordered: Sequence[Floats], elsewhere: Mask, beside: slice, level: float
) -> list[float]:
    """Return how often each sample has as much as `level` elsewhere, but not `beside` the place in question."""
    near = elsewhere[beside]
    places = len(ordered[0]) - np.count_nonzero(near) + 1
    above: Ints = np.array([len(own) - np.searchsorted(own, level) for own in ordered])
    return [
        float(count - np.count_nonzero(own[beside][near] >= level) + 1) / places
        for own, count in zip(highest, above.tolist(), strict=True)
    ]


def _at_least(shares: Sequence[float], least: int) -> float:
    """Return the probability of at least so many of some independent events."""
    ways = np.zeros(len(shares) + 1)
    ways[0] = 1.0
    for share in shares:
        ways[1:] = ways[1:] * (1 - share) + ways[:-1] * share
        ways[0] *= 1 - share
    return float(ways[least:].sum())
