"""Pearson's correlation of two sampled signals within a sliding window (Frontiers'25, §5.3), in linear time."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model.errors import SelectionError

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SlidingFit:
    """How one signal follows another in every window, arrays of (n - m + 1,); 0 where one of them is constant.

    Attributes
    ----------
    correlation : float64, or complex128 for a complex y
        Pearson's: Σ (x - x̄) (y - ȳ) / √(Σ (x - x̄)² Σ |y - ȳ|²), of magnitude up to 1.
    slope : float64 or complex128
        Σ (x - x̄) (y - ȳ) / Σ |y - ȳ|²: the least-squares factor by which x follows y, in the units of x and y.
    """

    correlation: NDArray[Any]
    slope: NDArray[Any]


def sliding_correlation(x: Floats, y: Floats, window: int) -> Floats:
    """Correlate two signals in every window of consecutive samples.

    Parameters
    ----------
    x, y : float64 (n,)
        The signals.
    window : int
        Samples m in a window, 2 to n.

    Returns
    -------
    float64 (n - m + 1,)
        Entry i is Pearson's correlation of ``x[i : i + m]`` and ``y[i : i + m]``, in [-1, 1]; 0 where one of them is
        constant in the window, to rounding.

    Raises
    ------
    SelectionError
        As `sliding_fit`.

    Examples
    --------
    >>> sliding_correlation(np.array([0.0, 1.0, 0.0, 0.0, 0.0]), np.array([1.0, 3.0, 1.0, 0.0, 1.0]), 3)
    array([1.        , 0.94491118, 0.        ])
    """
    result: Floats = sliding_fit(x, y, window).correlation
    return result


def sliding_fit(x: Floats, y: NDArray[Any], window: int) -> SlidingFit:
    """Fit a signal by another one in every window of consecutive samples.

    Parameters
    ----------
    x : float64 (n,)
        A signal.
    y : float64 or complex128 (n,)
        Another one; a complex one correlates with its real and its imaginary part at once.
    window : int
        Samples m in a window, 2 to n.

    Raises
    ------
    SelectionError
        If the signals differ in length, are not finite, or the window has no place in them.

    Notes
    -----
    The signals are cut into blocks of m samples, so that a window is the end of one block and the beginning of the
    next. Sums over the ends and the beginnings of all blocks are cumulative sums within the blocks, of values from
    which the block's mean is taken; the two parts of a window are joined by the formula for the moments of a union
    (Chan, Golub, LeVeque 1983). Nothing outside the two blocks enters, unlike with the difference of cumulative sums
    over the whole signal, where a large burst costs the digits of all that comes after. O(n) time and memory.
    """
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y)
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
    centre_x, centre_y = one.mean(axis=1, keepdims=True), two.mean(axis=1, keepdims=True)
    one, two = one - centre_x, two - centre_y
    # The window that starts at sample i is what is left of its block from i on, and the block after up to i + m - 1.
    windows = n - m + 1
    tails = _cumulative(one[:, ::-1], two[:, ::-1], centre_x, centre_y)
    heads = _cumulative(one, two, centre_x, centre_y)
    tail = _Parts(*(part[:, ::-1].ravel()[:windows] for part in tails.all))
    head = _Parts(*(part.ravel()[m - 1 : m - 1 + windows].copy() for part in heads.all))
    for part in head.all:
        # A window that starts with a block is that block, with no part in the one after.
        part[::m] = 0.0
    xx, yy, xy = _joined(tail, head)

    block = np.arange(windows) // m
    steady_x = xx <= m * _rounding(one, centre_x, block)
    steady_y = yy <= m * _rounding(two, centre_y, block)
    steady = steady_x | steady_y
    xx[steady] = yy[steady] = 1.0
    xy[steady] = 0.0
    correlation = xy / (np.sqrt(xx) * np.sqrt(yy))
    if np.iscomplexobj(correlation):
        correlation /= np.maximum(np.abs(correlation), 1.0)
    else:
        np.clip(correlation, -1.0, 1.0, out=correlation)
    return SlidingFit(correlation, xy / yy * (scale_x / scale_y))


@dataclass(frozen=True, eq=False)
class _Parts:
    """Number, means and central second moments of parts of two signals; arrays of one shape."""

    count: Floats
    mean_x: Floats
    mean_y: NDArray[Any]
    xx: Floats
    yy: Floats
    xy: NDArray[Any]

    @property
    def all(self) -> tuple[NDArray[Any], ...]:
        return self.count, self.mean_x, self.mean_y, self.xx, self.yy, self.xy


def _scale(values: NDArray[Any]) -> float:
    # Powers of two, so that scaling rounds nothing.
    largest = float(np.abs(values).max())
    return 2.0 ** math.frexp(largest)[1] if largest > 0 else 1.0


def _blocks(values: NDArray[Any], m: int) -> NDArray[Any]:
    """Cut into rows of ``m``; the last row is filled with its last sample, which no window reaches."""
    blocks = -(-values.size // m)
    filled = np.concatenate((values, np.full(blocks * m - values.size, values[-1])))
    return filled.reshape(blocks, m)


def _square(values: NDArray[Any]) -> Floats:
    return np.asarray(values.real**2 + values.imag**2 if np.iscomplexobj(values) else values * values)


def _rounding(deviation: NDArray[Any], centre: NDArray[Any], block: NDArray[np.int64]) -> Floats:
    """Bound what rounding leaves, for each sample, of a variance of zero in the two blocks of a window."""
    eps = np.finfo(np.float64).eps
    bound = 16 * eps * (_square(deviation).max(axis=1) + _square(4 * eps**0.5 * centre[:, 0]) * eps)
    return np.asarray(np.maximum(bound[block], bound[np.minimum(block + 1, bound.size - 1)]))


def _cumulative(x: Floats, y: NDArray[Any], centre_x: Floats, centre_y: NDArray[Any]) -> _Parts:
    """Give the moments of the first 1 … m samples of every row."""
    count = np.arange(1, x.shape[1] + 1, dtype=np.float64)
    sum_x, sum_y = np.cumsum(x, axis=1), np.cumsum(y, axis=1)
    return _Parts(
        count=np.broadcast_to(count, x.shape),
        mean_x=centre_x + sum_x / count,
        mean_y=centre_y + sum_y / count,
        xx=np.maximum(np.cumsum(x * x, axis=1) - sum_x * sum_x / count, 0.0),
        yy=np.maximum(np.cumsum(_square(y), axis=1) - _square(sum_y) / count, 0.0),
        xy=np.cumsum(x * y, axis=1) - sum_x * sum_y / count,
    )


def _joined(one: _Parts, two: _Parts) -> tuple[Floats, Floats, NDArray[Any]]:
    """Give the central second moments (xx, yy, xy) of two parts together."""
    weight = one.count * two.count / (one.count + two.count)
    step_x, step_y = two.mean_x - one.mean_x, two.mean_y - one.mean_y
    return (
        one.xx + two.xx + step_x * step_x * weight,
        one.yy + two.yy + _square(step_y) * weight,
        one.xy + two.xy + step_x * step_y * weight,
    )
