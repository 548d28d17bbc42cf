"""Step B of IOSI: the bursts of one sample, found in a wavelet approximation of it."""

from functools import cached_property
from typing import Final

import numpy as np
from scipy.signal import find_peaks

from ...analysis.timefrequency.wavelets import approximation
from ...model.arrays import Floats, Frozen
from ...model.errors import SelectionError
from .sample import Sample

WAVELET: Final = "dmey"
FEWEST_VALUES: Final = 62
"""Length of the discrete Meyer filter: shorter samples are all edge."""
LEAST_VOLUME_SHARE: Final = 0.5
"""A burst may be lower than the mean crest where it has this share of the median volume of the others."""
EDGE_SHARE: Final = 0.01


class Burst(Frozen):
    """A burst of a sample, in places of its values.

    Attributes
    ----------
    sample : int
        Place of the sample.
    start, end : int
        First value, and the one after the last.
    values : float64 (end - start,)
        What the sample has there, in bytes/s.
    counts : bool
        Whether it stands out; where it does not it may still be a part of another one.
    """

    sample: int
    start: int
    end: int
    values: Floats
    counts: bool = True

    @cached_property
    def volume(self) -> float:
        """Sum of the values."""
        return float(self.values.sum())

    @cached_property
    def centre(self) -> int:
        """Value before which lies half the volume."""
        return self._place(0.5)

    @cached_property
    def extent(self) -> tuple[int, int]:
        """First value, and the one after the last, of what holds all but a hundredth of the volume at either end."""
        return self._place(EDGE_SHARE), self._place(1 - EDGE_SHARE) + 1

    def _place(self, share: float) -> int:
        return self.start + int(self.values.cumsum().searchsorted(share * self.volume))


def smoothed(values: Floats, level: int) -> Floats:
    """Return the approximation of a sample by discrete Meyer wavelets at full rate, float64 (n,).

    Where the sample has fewer values than the decomposition takes it is mirrored at its ends, as the transform does
    anyway.

    Parameters
    ----------
    values : float64 (n,)
        At least 62.
    level : int
        Of the decomposition: details finer than 2^level intervals are left out.

    Raises
    ------
    SelectionError
        If there are fewer values.
    MissingLibraryError
        If PyWavelets is not installed.
    """
    if len(values) < FEWEST_VALUES:
        raise SelectionError(
            f"a sample of {len(values)} values is too short: the wavelet takes {FEWEST_VALUES}; use a shorter interval"
        )
    lacking = max(0, FEWEST_VALUES * 2**level - len(values))
    before = lacking // 2
    padded = np.pad(values, (before, lacking - before), mode="symmetric")
    return approximation(padded, level, WAVELET)[before : before + len(values)]


def bursts_of(sample: Sample, place: int, level: int, parts: bool = False) -> list[Burst]:
    """Return the stretches of a sample that are bursts, in their order (IOSI, section 5.2).

    Crests and troughs are those of the approximation. Only troughs below the mean height of the crests separate
    bursts. A stretch between them counts as a burst where its crest is not below that mean, or where it has at least
    half the median volume of such stretches: a burst that contention slows down is low and long.

    Parameters
    ----------
    place : int
        What the bursts name as their sample.
    level : int
        As in `approximation`.
    parts : bool
        Whether stretches that do not count are wanted too; there are several times as many of them.
    """
    wave = smoothed(sample.values, level)
    # An edge may be a crest: a run may begin or end with a burst.
    padded = np.concatenate([[-np.inf], wave, [-np.inf]])
    crests = find_peaks(padded)[0] - 1
    crests = crests[wave[crests] > 0]
    if not len(crests) or not sample.values.any():
        return []
    mean = wave[crests].mean()
    troughs = find_peaks(-wave)[0]
    edges = np.unique(np.concatenate([[0], troughs[wave[troughs] < mean], [len(wave)]]))
    highest = np.maximum.reduceat(wave, edges[:-1])
    volume = np.add.reduceat(sample.values, edges[:-1])
    high = highest >= mean
    counts = high | ((volume >= LEAST_VOLUME_SHARE * np.median(volume[high])) & (highest > 0))
    told = np.flatnonzero((counts | parts) & (np.maximum.reduceat(np.abs(sample.values), edges[:-1]) > 0))
    found = zip(edges[told].tolist(), edges[told + 1].tolist(), counts[told].tolist(), strict=True)
    return [Burst(place, low, beyond, sample.values[low:beyond], wanted) for low, beyond, wanted in found]
