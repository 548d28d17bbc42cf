"""Bin averages of a step signal, what they lose, and how fine they should be."""

from ..model.errors import SelectionError
from .samples import MOST_BINS
from .step import StepSignal, bin_averages, deviation_share

FEWEST_AUTOMATIC_BINS = 64
"""Fewest bins that `automatic_frequency` chooses."""
AUTOMATIC_ERROR = 0.05
"""Share of the volume that `automatic_frequency` lets the bin averages put at another time."""


def abstraction_error(signal: StepSignal, fs: float) -> float:
    """Return the share of the volume that bin averages put at another time than the exact signal.

    With x(t) the signal, x̄(t) its bin averages and V its volume this is ½ ∫|x(t) − x̄(t)| dt / V, the total variation
    distance of the two distributions of volume over time: 0 where the averages reproduce the signal, towards 1 where
    hardly any volume stays in place. An impulse is spread over its bin, so all of its volume counts as displaced.
    The integral is exact, not sampled; the cost is linear in steps and bins. A signal without volume has the error 0.

    The abstraction error of the FTIO paper (Tarraf et al., IPDPS 2024, §II-B and §II-E) is the difference in volume
    between the discrete and the original signal, because FTIO takes the value of the signal at points in time. Averages
    conserve the volume, so that difference is zero here for every fs and of no use; hence this distance. Raises
    SelectionError as `StepSignal.sample`.

    Parameters
    ----------
    fs : float
        Sampling frequency in Hz.

    Returns
    -------
    float
        In [0, 1].
    """
    return deviation_share(signal, bin_averages(signal, fs), fs)


def automatic_frequency(signal: StepSignal, most_bins: int = 2**17) -> float:
    """Return a sampling frequency in Hz that follows from the signal.

    It is the lowest frequency on the ladder 64, 128, 256, ... bins per window whose `abstraction_error` is at most 5 %,
    or, where no rung achieves that, the highest rung of at most `most_bins` bins. A constant signal and one without
    volume get 64 bins; a train of pulses much shorter than the finest bin, or of impulses, gets the highest rung.

    The FTIO paper (Tarraf et al., IPDPS 2024, §II-E) takes the smallest change of the bandwidth over time and notes
    that this is often needlessly fine: one operation of a nanosecond would decide for the whole run. Here an operation
    counts by its volume.

    The bins of one rung are halves of those of the rung below. The distance of a signal to its averages at most doubles
    from one partition to a finer one, so once a rung has more than twice the tolerated error, no coarser rung is
    acceptable and the search, from the finest rung down, ends. Raises SelectionError if `most_bins` is out of range.

    Parameters
    ----------
    most_bins : int
        Upper limit of the number of bins, from 1 to 2^24.
    """
    if not 1 <= most_bins <= MOST_BINS:
        raise SelectionError(f"most_bins {most_bins!r} is not between 1 and {MOST_BINS}")
    bins = 1 << (int(most_bins).bit_length() - 1)
    chosen = bins
    while bins >= FEWEST_AUTOMATIC_BINS:
        error = abstraction_error(signal, bins / signal.duration)
        if error > 2 * AUTOMATIC_ERROR:
            break
        if error <= AUTOMATIC_ERROR:
            chosen = bins
        bins //= 2
    return chosen / signal.duration
