"""Pearson's correlation of two sampled signals within a sliding window (Frontiers'25, §5.3), in linear time.

The module needs numba; import it inside the function that uses it.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model.arrays import Complexes, Floats
from ...model.errors import SelectionError
from ...model.kernels import compiled


@dataclass(frozen=True, eq=False)
class SlidingFit:
    """How one signal follows another in every window, arrays of (n - m + 1,); 0 where one of them is constant.

    Attributes
    ----------
    correlation : complex128
        Pearson's: Σ (x - x̄) (y - ȳ) / √(Σ (x - x̄)² Σ |y - ȳ|²), of magnitude up to 1.
    slope : complex128
        Σ (x - x̄) (y - ȳ) / Σ |y - ȳ|²: the least-squares factor by which x follows y, in the units of x and y.
    """

    correlation: Complexes
    slope: Complexes


def sliding_fit(x: Floats, y: NDArray[Any], window: int) -> SlidingFit:
    """Fit a signal by another one in every window of consecutive samples.

    Raises SelectionError if the signals differ in length, are not finite, or the window has no place in them.

    Parameters
    ----------
    x : float64 (n,)
        A signal.
    y : complex128 or float64 (n,)
        Another one; a complex one correlates with its real and its imaginary part at once.
    window : int
        Samples m in a window, 2 to n.

    Notes
    -----
    The signals are cut into blocks of m samples, so that a window is the end of one block and the beginning of the
    next. The sums of the two parts are of values from which the block's mean is taken; the parts are joined by the
    formula for the moments of a union (Chan, Golub, LeVeque 1983). Nothing outside the two blocks enters, unlike with
    the difference of cumulative sums over the whole signal, where a large burst costs the digits of all that comes
    after. O(n) time and memory.
    """
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.complex128)
    if a.ndim != 1 or a.shape != b.shape or not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise SelectionError(
            f"a correlation needs two rows of finite samples alike, not of shapes {a.shape}, {b.shape}"
        )
    n, m = a.size, int(window)
    if not 2 <= m <= n:
        raise SelectionError(f"a window of {window!r} samples in a signal of {n}: give 2 up to that")
    # Scaled, so that no square overflows or vanishes.
    scale_x, scale_y = _scale(a), _scale(b)
    one, two = _blocks(a / scale_x, m), _blocks(b / scale_y, m)
    centre_x, centre_y = one.mean(axis=1), two.mean(axis=1)
    one, two = one - centre_x[:, None], two - centre_y[:, None]
    noise_x = _rounding(one**2, centre_x)
    noise_y = _rounding(two.real**2 + two.imag**2, centre_y)
    correlation, slope = _fit_windows(one, two, centre_x, centre_y, noise_x, noise_y, n - m + 1)
    correlation /= np.maximum(np.abs(correlation), 1.0)
    return SlidingFit(correlation, slope * (scale_x / scale_y))


def _scale(values: NDArray[Any]) -> float:
    # Powers of two, so that scaling rounds nothing.
    largest = float(np.abs(values).max())
    return 2.0 ** math.frexp(largest)[1] if largest > 0 else 1.0


def _blocks(values: NDArray[Any], m: int) -> NDArray[Any]:
    """Cut into rows of ``m``; the last row is filled with its last sample, which is in no window."""
    blocks = -(-values.size // m)
    filled = np.concatenate((values, np.full(blocks * m - values.size, values[-1])))
    return filled.reshape(blocks, m)


def _rounding(squares: Floats, centre: NDArray[Any]) -> Floats:
    """Bound what rounding leaves, for each sample, of a variance of zero in each block and the one after it."""
    eps = np.finfo(np.float64).eps
    scaled = 4 * eps**0.5 * centre
    bound = 16 * eps * (squares.max(axis=1) + (scaled.real**2 + scaled.imag**2) * eps)
    return np.asarray(np.maximum(bound, np.append(bound[1:], bound[-1])))


@compiled
def _fit_windows(
    x: Floats, y: Complexes, centre_x: Floats, centre_y: Complexes, noise_x: Floats, noise_y: Floats, windows: int
) -> tuple[Complexes, Complexes]:
    """Return correlation and slope of the first `windows` windows, complex128.

    `x` and `y` (blocks, m) are deviations from the blocks' means, `centre_x` and `centre_y`; `noise_x` and `noise_y`
    what rounding leaves, for each sample, of a variance of zero in the windows that begin in each block.
    """
    m = x.shape[1]
    correlation = np.zeros(windows, np.complex128)
    slope = np.zeros(windows, np.complex128)
    tail_x, tail_y = np.empty(m), np.empty(m, np.complex128)
    tail_xx, tail_yy, tail_xy = np.empty(m), np.empty(m), np.empty(m, np.complex128)
    for block in range((windows - 1) // m + 1):
        following = min(block + 1, len(x) - 1)
        sum_x = sum_xx = sum_yy = 0.0
        sum_y = sum_xy = 0j
        for place in range(m - 1, -1, -1):
            a, b, count = x[block, place], y[block, place], m - place
            sum_x, sum_y, sum_xy = sum_x + a, sum_y + b, sum_xy + a * b
            sum_xx, sum_yy = sum_xx + a * a, sum_yy + (b.real * b.real + b.imag * b.imag)
            tail_x[place], tail_y[place] = centre_x[block] + sum_x / count, centre_y[block] + sum_y * (1 / count)
            tail_xx[place] = max(sum_xx - sum_x * sum_x / count, 0.0)
            tail_yy[place] = max(sum_yy - (sum_y.real**2 + sum_y.imag**2) / count, 0.0)
            tail_xy[place] = sum_xy - sum_x * sum_y * (1 / count)
        sum_x = sum_xx = sum_yy = 0.0
        sum_y = sum_xy = 0j
        for place in range(min(m, windows - block * m)):
            xx, yy, xy = tail_xx[place], tail_yy[place], tail_xy[place]
            if place > 0:
                a, b = x[following, place - 1], y[following, place - 1]
                sum_x, sum_y, sum_xy = sum_x + a, sum_y + b, sum_xy + a * b
                sum_xx, sum_yy = sum_xx + a * a, sum_yy + (b.real * b.real + b.imag * b.imag)
                step_x = centre_x[following] + sum_x / place - tail_x[place]
                step_y = centre_y[following] + sum_y * (1 / place) - tail_y[place]
                weight = (m - place) * place / m
                xx = xx + max(sum_xx - sum_x * sum_x / place, 0.0) + step_x * step_x * weight
                square = step_y.real**2 + step_y.imag**2
                yy = yy + max(sum_yy - (sum_y.real**2 + sum_y.imag**2) / place, 0.0) + square * weight
                xy = xy + (sum_xy - sum_x * sum_y * (1 / place)) + step_x * step_y * weight
            if xx > m * noise_x[block] and yy > m * noise_y[block]:
                correlation[block * m + place] = xy * (1 / (np.sqrt(xx) * np.sqrt(yy)))
                slope[block * m + place] = xy * (1 / yy)
    return correlation, slope
