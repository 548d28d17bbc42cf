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
"""Widths of a stretch that are distinguished."""
LAG_STEPS: Final = 4
"""By how many parts of its width a stretch may lie elsewhere in another sample is rounded up to one of these."""

PLACES_PER_WIDTH: Final = 4
"""Stretches that overlap are other chances, if not independent ones; so many keep the rate of false ones on noise."""


FEW_LEVELS: Final = 32
"""From more on, values are sorted to count those above each of them."""


class BusyStretch(NamedTuple):
    """Values from `start` to before `end`, which may lie by up to `lag` elsewhere in another sample."""

    start: int
    end: int
    lag: int


def coincidences(
    samples: Sequence[Sample], stretches: Sequence[BusyStretch], busy: Sequence[tuple[int, int]], least: int
) -> Floats:
    """Return for each stretch the probability that samples agree so well by chance anywhere, float64 (n,).

    What a sample has at a stretch is the highest mean within the lag. The probability is that at least `least` samples,
    each as often as it is so high elsewhere, have at the same time what the `least` highest have here; times the number
    of places. Time is linear in the length of the samples: widths and lags are rounded to few different ones.

    Parameters
    ----------
    samples : sequence of Sample
        Of one length.
    stretches : sequence of BusyStretch
    busy : sequence of (int, int)
        Stretches known not to be chance; what samples have there and at the stretch itself does not count as elsewhere.
    least : int
    """
    length = min(len(sample.values) for sample in samples)
    totals = np.zeros((len(samples), length + 1))
    for own, sample in zip(totals, samples, strict=True):
        np.cumsum(sample.values[:length], out=own[1:])
    alike: dict[tuple[int, int], list[int]] = {}
    for row, one in enumerate(stretches):
        width = _rounded(min(one.end, length) - one.start)
        lag = math.ceil(math.ceil(min(1.0, one.lag / width) * LAG_STEPS) / LAG_STEPS * width)
        alike.setdefault((width, lag), []).append(row)
    chance = np.ones(len(stretches))
    for (width, lag), rows in alike.items():
        highest = maximum_filter1d((totals[:, width:] - totals[:, :-width]) / width, 2 * lag + 1, axis=1)
        elsewhere = np.ones(highest.shape[1], np.bool_)
        for start, end in busy:
            elsewhere[max(0, start - width - lag) : end + lag] = False
        alike_ones, last = [stretches[row] for row in rows], len(elsewhere) - 1
        middles = [one.start + (min(one.end, length) - one.start - width) // 2 for one in alike_ones]
        places = np.minimum(middles, last)
        levels = np.sort(highest[:, places], axis=0)[-least]
        shares = _shares(highest, elsewhere, places, levels, width + lag)
        chance[rows] = np.minimum(1.0, _at_least(shares, least) * PLACES_PER_WIDTH * length / width)
    return chance


def _rounded(width: int) -> int:
    return int(2 ** (math.floor(math.log2(max(1, width)) * STEPS_PER_OCTAVE) / STEPS_PER_OCTAVE))


def _shares(highest: Floats, elsewhere: Mask, places: Ints, levels: Floats, reach: int) -> Floats:
    """Return how often each sample has as much as some levels elsewhere, but not beside their places.

    Parameters
    ----------
    highest : float64 (s, n)
        What each sample has at each place.
    elsewhere : bool (n,)
    places, levels : int64 (k,), float64 (k,)
    reach : int
        How far beside a place does not count either.

    Returns
    -------
    float64 (k, s)
    """
    others = highest[:, elsewhere]
    if len(levels) > FEW_LEVELS:
        others.sort(axis=1)
        above = others.shape[1] - np.array([np.searchsorted(own, levels) for own in others]).T
    else:
        above = np.array([np.count_nonzero(others >= level, axis=1) for level in levels.tolist()])
    found = np.empty((len(levels), len(highest)))
    for row, (place, level) in enumerate(zip(places.tolist(), levels.tolist(), strict=True)):
        beside = slice(max(0, place - reach), place + reach)
        near = elsewhere[beside]
        counted = np.count_nonzero((highest[:, beside] >= level) & near, axis=1)
        found[row] = (above[row] - counted + 1) / (others.shape[1] - np.count_nonzero(near) + 1)
    return found


def _at_least(shares: Floats, least: int) -> Floats:
    """Return the probability of at least so many of some independent events, float64 (k,), of `shares` (k, s)."""
    ways = np.zeros((len(shares), shares.shape[1] + 1))
    ways[:, 0] = 1.0
    for share in shares.T[:, :, None]:
        ways[:, 1:] = ways[:, 1:] * (1 - share) + ways[:, :-1] * share
        ways[:, :1] *= 1 - share
    chance: Floats = ways[:, least:].sum(axis=1)
    return chance
