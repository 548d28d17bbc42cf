"""The strongest cosines of a signal."""

import numpy as np

from .spectrum import Spectrum


def strongest_frequencies(spectrum: Spectrum, count: int) -> list[dict[str, float]]:
    """List the strongest frequencies with what it takes to draw them (FTIO, IPDPS'24, eq. 1).

    Parameters
    ----------
    spectrum : Spectrum
        Of the sampled signal.
    count : int
        How many; fewer where the spectrum has fewer.

    Returns
    -------
    list of dict
        The strongest first (of equals the lower one), each with ``frequency_hz``; ``amplitude`` of its cosine in the
        signal's unit, 2 |X_k| / N, or |X_k| / N for the line at fs / 2, which stands alone; ``phase_rad``, arg X_k;
        and ``power_share``, its share of the power of all lines k >= 1. With all lines, the sum of
        ``amplitude * cos(2 pi frequency_hz t + phase_rad)`` at t = n / fs from the window's start, plus the mean, is
        the sampled signal.
    """
    power = spectrum.power[1:]
    total = float(power.sum())
    count = min(count, power.size)
    if count == 0 or total <= 0.0:
        return []
    # Sorting all lines would cost more than the transform; partition takes those that can be among the strongest.
    least = np.partition(power, power.size - count)[power.size - count]
    able = np.flatnonzero(power >= least)
    lines = able[np.argsort(-power[able], kind="stable")][:count] + 1
    sides = np.where(2 * lines == spectrum.samples, 1.0, 2.0)
    columns = (
        spectrum.frequencies[lines],
        sides * spectrum.amplitude[lines] / spectrum.samples,
        spectrum.phase[lines],
        power[lines - 1] / total,
    )
    names = ("frequency_hz", "amplitude", "phase_rad", "power_share")
    return [dict(zip(names, map(float, row), strict=True)) for row in zip(*columns, strict=True)]
