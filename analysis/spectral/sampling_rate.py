"""A sampling frequency that shows the phases of a signal and not what is inside them.

FTIO's paper (IPDPS'24, §II-E) leaves the sampling frequency to the user: fine enough for the phases, not so fine that
"high-frequency behavior" is analysed, "in which we are usually not interested". Bins that follow the shape of short
bursts are too fine for its candidates: the harmonics of a burst train are then as strong as the fundamental, and one
that happens to fall on a line of the spectrum outshines a fundamental that falls between two. Bins of a third of the
distance of the phases cannot show them, because there every harmonic folds onto the fundamental or onto the mean.
"""

import numpy as np

from ...model.arrays import Floats, Frozen, Ints
from ...signals.construction import StepSignal

BINS_PER_PHASE = 3.0
"""Bins for the distance of two phases, where phases fill the window."""
FEWEST_BINS = 32
"""Coarsest partition that is looked at. A lone burst gets this one: finer bins would only follow its shape."""
DOUBLINGS = 2
"""How often bins are halved without showing a further phase before the phases count as resolved.

Once is not enough where bins are hardly more than bursts: then a run of full bins ends where one is left empty.
"""
SMALLEST_SHARE = 0.01
"""Runs with less than this share of the largest run's volume are no phases."""
MOST_OF_IT = 0.5
"""Share of the volume that runs must hold: the one bin with five of 129 even bursts, in 32 bins, is no phase."""
GAP = 0.5
"""Runs are parted where a bin falls below this share of the mean.

Even bursts that are more than bins put n or n + 1 into each, and n is never below half of their mean number.
"""


class Runs(Frozen):
    """Runs of bins above the mean.

    Attributes
    ----------
    first, after : int64 (n,)
        First bin of each run, and the one after its last.
    bins : int
        Number of bins in the window.
    share : float
        Share of the volume that the runs hold.
    """

    first: Ints
    after: Ints
    bins: int
    share: float


def runs_above_mean(values: Floats) -> Runs:
    """Find the runs of bins above the mean of all bins, parted by bins below half of it.

    Parameters
    ----------
    values : float64 (n,)
        Bin averages.

    Returns
    -------
    Runs
        Without those of small volume. A bin above the mean only by rounding is not above.
    """
    mean = values.mean()
    above = values > mean * (1 + 1e-9)
    edges = np.diff(np.concatenate(([False], above, [False])).astype(np.int8))
    first, after = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    if first.size:
        gaps = np.cumsum(values < GAP * mean)
        parted = gaps[first[1:]] > gaps[after[:-1] - 1]
        first, after = first[np.append(True, parted)], after[np.append(parted, True)]
        running = np.concatenate(([0.0], np.cumsum(values)))
        volumes = running[after] - running[first]
        large = volumes >= SMALLEST_SHARE * volumes.max()
        first, after = first[large], after[large]
        return Runs(first, after, values.size, float(volumes[large].sum() / running[-1]))
    return Runs(first, after, values.size, 0.0)


def phase_frequency(signal: StepSignal, most_bins: int = 2**17) -> float:
    """Choose a sampling frequency by the distance of the phases.

    The window is cut into 32, 64, 128, … bins until halving the bins twice shows no further phase. Phases are runs of
    bins above the mean, as substantial I/O is in §II-C, that hold most of the volume. With d the median distance of
    their starts and a the share of the window that they fill, there are 3 / a bins to a distance d.

    Phases that fill only a share of the window put a broad lobe around zero frequency, whose flank at line 1 must lie
    below the fundamental; and their lines are broad, so that the fundamental loses little between two of them. Both
    allow finer bins, and the first asks for them.

    Parameters
    ----------
    signal : StepSignal
        The exact signal.
    most_bins : int
        Upper limit for the number of bins.

    Returns
    -------
    float
        Frequency in Hz, such that bins fill the window exactly. A burst shorter than two of 32 bins that stays alone
        gets 32 bins. Where halving goes on to show further phases, or no phase is found, it is
        `iostrata.signals.step.automatic_frequency`.

    Notes
    -----
    O(n + most_bins): the signal is sampled once, coarser bins are sums of finer ones.
    """
    from ...signals.step import automatic_frequency

    duration = signal.duration
    most_bins = 1 << (most_bins.bit_length() - 1)
    for runs, finer in _settled(_ladder(signal, most_bins)):
        count = runs.first.size
        if count > 1:
            distance = float(np.median(np.diff(finer.first))) / finer.bins
            filled = min(1.0, float(finer.first[-1] - finer.first[0]) / finer.bins + distance)
            bins = int(np.ceil(BINS_PER_PHASE / (filled * distance)))
            return min(most_bins, max(FEWEST_BINS, bins)) / duration
        # A run that stays longer than a bin or two is a long phase, or many short ones that lie close together.
        if runs.after[0] - runs.first[0] <= 2:
            return runs.bins / duration
    return automatic_frequency(signal, most_bins)


def _ladder(signal: StepSignal, most_bins: int) -> list[Runs]:
    """Find the runs in 32, 64, … ``most_bins`` bins."""
    values = signal.sample(most_bins / signal.duration).values
    ladder = [runs_above_mean(values)]
    while values.size // 2 >= FEWEST_BINS:
        values = values.reshape(-1, 2).mean(axis=1)
        ladder.append(runs_above_mean(values))
    return ladder[::-1]


def _settled(ladder: list[Runs]) -> list[tuple[Runs, Runs]]:
    """Pick the partitions after which halving shows no further run, each with the finest one that shows so."""
    settled = []
    for position, runs in enumerate(ladder[: len(ladder) - DOUBLINGS]):
        finer = ladder[position + 1 : position + 1 + DOUBLINGS]
        count, last = runs.first.size, finer[-1]
        enough = count == 1 or last.first.size > 1
        if runs.share >= MOST_OF_IT and enough and all(other.first.size <= count for other in finer):
            settled.append((runs, last))
    return settled
