"""Chances of what is looked at in loops, in closed form.

Importing ``scipy.special`` takes longer than the loops of most runs, ``scipy.stats`` several times as long. The tests
compare both.
"""

import math
from bisect import bisect_right
from collections.abc import Iterable
from functools import cache

import numpy as np

from ...model.arrays import Floats, Ints

_EXACT = 8
"""Values on the smaller side up to which all orders are counted: a normal distribution is far off in its tails."""
_EXACT_TREND = 33
"""The same for all values of a trend."""


def factorial_bits(number: int | Ints) -> Floats:
    """Return the binary logarithm of the factorial of a number or of several."""
    return _factorial_bits(int(np.max(number)).bit_length())[number]


@cache
def _factorial_bits(digits: int) -> Floats:
    """Return those of all numbers of so many binary digits."""
    return np.cumsum(np.log2(np.maximum(np.arange(1 << digits), 1)))


def chi_square_beyond(freedom: int, value: float) -> float:
    """Return the chance that a chi-square is larger (Abramowitz & Stegun 26.4.4 and 26.4.5)."""
    half, odd = value / 2, freedom % 2
    if half <= 0:
        return 1.0
    power = np.arange(freedom // 2) + odd / 2
    logs = power * math.log(half) - half - math.lgamma(1 + odd / 2)
    logs[1:] -= np.cumsum(np.log(power[1:]))
    return min(1.0, (math.erfc(math.sqrt(half)) if odd else 0.0) + float(np.exp(logs).sum()))


def student_beyond(freedom: int, value: float) -> float:
    """Return the chance that Student's t is larger than a value that is not negative (A&S 26.7.3 and 26.7.4)."""
    odd, angle = freedom % 2, math.atan(value / math.sqrt(freedom))
    number = np.arange(2, freedom - 1, 2) + odd
    terms = np.cumprod(np.append(1.0, (number - 1) / number * math.cos(angle) ** 2)).sum()
    if not odd:
        return 0.5 - 0.5 * math.sin(angle) * float(terms)
    return 0.5 - (angle + (math.sin(angle) * math.cos(angle) * float(terms) if freedom > 1 else 0.0)) / math.pi


def apart_by_chance(one: Floats, other: Floats) -> float:
    """Return how probable it is that values of the same distribution lie as far apart (Mann & Whitney, two-sided)."""
    values, rank, often = np.unique(np.append(one, other), return_inverse=True, return_counts=True)
    few, count = min(len(one), len(other)), len(rank)
    pairs = len(one) * len(other)
    # Equal values share the mean of their ranks.
    above = float((np.cumsum(often) - (often - 1) / 2)[rank[: len(one)]].sum()) - len(one) * (len(one) + 1) / 2
    least = min(above, pairs - above)
    if few <= _EXACT and len(values) == count:
        orders = _orders([(count - few + part, part) for part in range(1, few + 1)], int(least))
        return min(1.0, 2 * orders / math.comb(count, few))
    ties = float((often**3 - often).sum()) / (count * (count - 1))
    spread = math.sqrt(pairs / 12 * (count + 1 - ties))
    return min(1.0, math.erfc((pairs / 2 - least - 0.5) / spread / math.sqrt(2))) if spread else 1.0


def trend_by_chance(values: Floats) -> float:
    """Return how probable it is that values in random order grow or shrink as much (Mann & Kendall, two-sided)."""
    count, known, falling = len(values), list[float](), 0
    for value in values.tolist():
        place = bisect_right(known, value)
        falling += len(known) - place
        known.insert(place, value)
    often = np.unique(values, return_counts=True)[1].astype(np.float64)
    if len(often) == count <= _EXACT_TREND:
        orders = _orders([(number, 1) for number in range(1, count + 1)], min(falling, math.comb(count, 2) - falling))
        return min(1.0, 2 * orders / math.factorial(count))
    rising_or_falling = (count * (count - 1) - float((often * (often - 1)).sum())) / 2
    variance = count * (count - 1) * (2 * count + 5) - float((often * (often - 1) * (2 * often + 5)).sum())
    return math.erfc(abs(rising_or_falling - 2 * falling) / math.sqrt(variance / 9)) if variance else 1.0


def _orders(factors: Iterable[tuple[int, int]], most: int) -> float:
    """Return in how many orders at most so many pairs are the wrong way round.

    They are the first coefficients of the product of ``(1 - q^a) / (1 - q^b)`` over the `factors`.
    """
    ways = np.zeros(most + 1)
    ways[0] = 1.0
    for above, below in factors:
        rounds = -(-len(ways) // below)
        ways = np.pad(ways, (0, rounds * below - len(ways))).reshape(rounds, below).cumsum(axis=0).ravel()[: most + 1]
        ways[above:] -= ways[:-above].copy()
    return float(ways.sum())
