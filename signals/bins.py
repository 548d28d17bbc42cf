"""Compiled walks over the bins of a step function, each linear in steps and bins.

Bin b of a signal sampled with frequency fs goes from ``start + b / fs`` to ``start + (b + 1) / fs``, its end not
included. What the window has beyond the last bin (rounding, or an impulse at the window's end) belongs to the last bin.

Numba may have to compile it: import it inside the function that uses it.
"""

import numpy as np

from ..model.arrays import Floats
from ..model.kernels import compiled, inlined
from .sweep import add_compensated


@inlined
def _bin_at(time: float, row: int, edge: float, start: float, fs: float, last: int) -> tuple[int, float]:
    """Return the bin of a time, which is not before that of a row, and where it ends; nothing ends the last one."""
    while edge <= time:
        row += 1
        edge = start + (row + 1) / fs if row < last else np.inf
    return row, edge


@compiled
def bin_volumes(
    times: Floats, values: Floats, impulse_times: Floats, impulse_volumes: Floats, fs: float, bins: int
) -> Floats:
    """Return the volume in each bin, float64 (bins,).

    Only what lies in a bin enters its sum, so a small volume is right to rounding beside a large one; a difference of
    cumulative volumes would not be.
    """
    start, last = times[0], bins - 1
    first_edge = start + 1 / fs if last > 0 else np.inf
    volumes = np.zeros(bins)
    row, edge, total, error = 0, first_edge, 0.0, 0.0
    for step in range(values.size):
        position = times[step]
        while True:
            before = row
            row, edge = _bin_at(position, row, edge, start, fs, last)
            if row > before:
                volumes[before] = total + error
                total = error = 0.0
            upper = min(times[step + 1], edge)
            total, error = add_compensated(total, error, values[step] * (upper - position))
            position = upper
            if position >= times[step + 1]:
                break
    volumes[row] = total + error
    row, edge, total, error = 0, first_edge, 0.0, 0.0
    for impulse in range(impulse_times.size):
        before = row
        row, edge = _bin_at(impulse_times[impulse], row, edge, start, fs, last)
        if row > before:
            volumes[before] += total + error
            total = error = 0.0
        total, error = add_compensated(total, error, impulse_volumes[impulse])
    volumes[row] += total + error
    return volumes


@compiled
def absolute_deviation(times: Floats, values: Floats, averages: Floats, fs: float) -> float:
    """Return the integral of |x(t) − x̄(t)| over all bins, x the steps without impulses and x̄ the bin averages."""
    start, last = times[0], averages.size - 1
    row, edge, total = 0, start + 1 / fs if last > 0 else np.inf, 0.0
    for step in range(values.size):
        position = times[step]
        while True:
            row, edge = _bin_at(position, row, edge, start, fs, last)
            upper = min(times[step + 1], edge)
            total += abs(values[step] - averages[row]) * (upper - position)
            position = upper
            if position >= times[step + 1]:
                break
    return float(total + averages[last] * max(0.0, start + averages.size / fs - times[-1]))
