"""Compiled walks over the bins of a step function, each linear in steps and bins.

Bin b of a signal sampled with frequency fs goes from ``start + b / fs`` to ``start + (b + 1) / fs``, its end not
included. What the window has beyond the last bin (rounding, or an impulse at the window's end) belongs to the last bin.

The module needs numba; import it inside the function that uses it.
"""

import numpy as np

from ..model.arrays import Floats
from ..model.kernels import compiled
from .sweep import add_compensated


@compiled
def bin_volumes(
    times: Floats, values: Floats, impulse_times: Floats, impulse_volumes: Floats, fs: float, bins: int
) -> Floats:
    """Return the volume in each bin, float64 (bins,).

    Only what lies in a bin enters its sum, so a small volume is right to rounding beside a large one; a difference of
    cumulative volumes would not be.
    """
    start = times[0]
    volumes = np.zeros(bins)
    row = 0
    edge = start + 1 / fs
    total = error = 0.0
    for step in range(values.size):
        position = times[step]
        while True:
            while row < bins - 1 and edge <= position:
                volumes[row] = total + error
                total = error = 0.0
                row += 1
                edge = start + (row + 1) / fs
            upper = times[step + 1]
            if row < bins - 1:
                upper = min(upper, edge)
            total, error = add_compensated(total, error, values[step] * (upper - position))
            position = upper
            if position >= times[step + 1]:
                break
    volumes[row] = total + error

    row = 0
    edge = start + 1 / fs
    total = error = 0.0
    for impulse in range(impulse_times.size):
        while row < bins - 1 and edge <= impulse_times[impulse]:
            volumes[row] += total + error
            total = error = 0.0
            row += 1
            edge = start + (row + 1) / fs
        total, error = add_compensated(total, error, impulse_volumes[impulse])
    volumes[row] += total + error
    return volumes


@compiled
def absolute_deviation(times: Floats, values: Floats, averages: Floats, fs: float) -> float:
    """Return the integral of |x(t) − x̄(t)| over all bins, x the steps without impulses and x̄ the bin averages."""
    start = times[0]
    bins = averages.size
    row = 0
    edge = start + 1 / fs
    total = 0.0
    for step in range(values.size):
        position = times[step]
        while True:
            while row < bins - 1 and edge <= position:
                row += 1
                edge = start + (row + 1) / fs
            upper = times[step + 1]
            if row < bins - 1:
                upper = min(upper, edge)
            total += abs(values[step] - averages[row]) * (upper - position)
            position = upper
            if position >= times[step + 1]:
                break
    return float(total + averages[bins - 1] * max(0.0, start + bins / fs - times[-1]))
