"""Bins: whether a signal is made of them, and which periods they can show."""

from typing import Literal

import numpy as np

from ...model.arrays import Floats, differences, median
from .bursts import ALIKE, FEWEST_BURSTS, MOST, MOST_PERIODS, NEARLY, NEGLIGIBLE, extent

FEWEST_BINS = 4
"""Bins of a period. With fewer a burst and the gap beside it share a bin, and aliases look like periods."""
FEWEST_STEPS = FEWEST_BINS * FEWEST_BURSTS
"""Fewer breakpoints than these may lie on a grid by chance of round numbers."""
OFF_GRID = 0.05
"""Share of steps that may lie beside the grid."""
GRID_ROUNDING = NEGLIGIBLE * NEGLIGIBLE
"""Share of a bin by which the breakpoints of bins may differ from whole bins, through rounding."""


def bin_width(times: Floats, cumulative: Floats, fs: float | Literal["auto"] = "auto") -> float:
    """Return the width in s of the bins that a signal is made of, given by its vertices; 0 where it is exact.

    A signal is made of bins where all its steps are as long as the shortest or a multiple of it; it need not be said by
    `fs`, and neighbouring bins of one value may have been joined. Exact pulses look alike where all their times are
    round numbers; but they are on or off, while bins that cut bursts have heights of all kinds. A sampler that is late,
    or whose times were rounded, is off by up to a tenth of a bin; then some bins must touch others.
    """
    lengths = differences(times)
    # The end of one operation and the start of the next may be parted by rounding.
    real = lengths > GRID_ROUNDING * lengths.mean()
    steps = np.sort(lengths[real])
    few = steps.size < FEWEST_STEPS
    # A window may cut the first and the last bin, and a single operation others.
    width = float(steps[0 if few else max(2, int(OFF_GRID * steps.size))])
    if fs != "auto" and abs(width * fs - 1) <= GRID_ROUNDING:
        return width
    on_grid = not few and NEGLIGIBLE * steps.mean() <= width and _in_wholes(steps, width)
    rates = differences(cumulative)[real] / lengths[real]
    busy = rates > GRID_ROUNDING * rates.max()
    if not on_grid and not few and (busy[1:] & busy[:-1]).sum() > ALIKE * busy.sum():
        width = median(steps)
        on_grid = _in_wholes(steps, width, ALIKE)
    if not on_grid and not few and busy.mean() > NEARLY:
        on_grid = (width := _width_of_several(times[np.append(True, real)], rates)) > 0
    if not on_grid or not busy.any():
        return 0.0
    low, high = np.quantile(rates[busy], (ALIKE, NEARLY))
    return width if high - low > (GRID_ROUNDING if fs != "auto" else ALIKE) * high else 0.0


def _width_of_several(edges: Floats, rates: Floats) -> float:
    """Return the width of the bins of several sources out of step, or of bins of several widths in turn; 0 without.

    Their edges come again after it, their rates do not, which tells them from pulses.
    """
    # Of a long signal the steps in its middle tell.
    some = slice(max(0, rates.size - 2**18) // 2, (rates.size + 2**18) // 2 + 1)
    edges, rates = edges[some], rates[some]
    for lag in range(2, min(MOST_PERIODS, rates.size // FEWEST_STEPS) + 1):
        again = edges[lag:] - edges[:-lag]
        width = median(again)
        if np.mean(np.abs(again / width - 1) <= NEGLIGIBLE) >= 1 - OFF_GRID:
            alike = [float(np.corrcoef(rates[by:], rates[:-by])[0, 1]) for by in (1, lag)]
            return width if alike[1] <= max(alike[0], 0.5) else 0.0
    # Those that are late are of many lengths, but never fall behind by one, and no burst comes after each.
    width = float(edges[-1] - edges[0]) / rates.size
    behind = np.ptp(edges - width * np.arange(edges.size)) <= MOST * width
    late = behind and np.mean(np.abs(differences(edges) / width - 1) > NEGLIGIBLE) >= MOST
    return width if late and np.corrcoef(rates[1:], rates[:-1])[0, 1] > -0.5 else 0.0


def _in_wholes(amounts: Floats, one: float, within: float = GRID_ROUNDING) -> bool:
    """Tell whether nearly all amounts are multiples of one."""
    turns = amounts / one
    return bool(np.mean(np.abs(turns - np.rint(turns)) <= np.maximum(GRID_ROUNDING * turns, within)) >= 1 - OFF_GRID)


def in_units(times: Floats, cumulative: Floats) -> bool:
    """Tell whether most bursts are as short and as small as anything can be in a signal: one unit of a counter.

    What has been rounded to units comes the more evenly the less there is in a bin, whatever is counted.
    """
    steps, volumes = differences(times), differences(cumulative)
    busy = volumes > 0
    one = median(steps[busy])
    if not (one > 0 and _in_wholes(steps, one) and _in_wholes(volumes[busy], unit := median(volumes[busy]))):
        return False
    # Bins that touch are one burst, which is more than a unit.
    begins = np.flatnonzero(busy & ~np.append(False, busy[:-1]))
    return bool(np.mean(np.add.reduceat(volumes, begins) < 1.5 * unit) >= MOST)


def too_coarse(times: Floats, cumulative: Floats, width: float) -> bool:
    """Tell whether most of what happens in bins is faster than four bins a period, so that aliases stay hidden."""
    low, high = extent(times, cumulative)
    every = round((high - low) / width)
    # Of a long signal pieces tell, as pulses at whole nanoseconds may have a thousand bins for each.
    count, at = min(every, 2**20), np.arange(1 if every <= 2**20 else 8) / 8
    # Without the last 64th at most: a spectrum of as many values as a large prime takes fifty times as long.
    count -= count % (1 << max(count.bit_length() - 7, 0))
    power, first = np.zeros(count // 2 + 1), count // FEWEST_BINS + 1
    # More of them where more happens.
    for start in np.clip(np.quantile(times, at) if at.any() else times[:1], low, high - count * width):
        volumes = differences(np.interp(start + width * np.arange(count + 1), times, cumulative))
        power += np.abs(np.fft.rfft(volumes - volumes.mean())) ** 2
    # The harmonics of short bursts are fast as well, but smaller than the first.
    return bool(power[first:].sum() > MOST * power.sum() and np.argmax(power) >= first)
