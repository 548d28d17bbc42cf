"""How regularly the iterations of a loop follow one another, with how sure that is, and what changes meanwhile."""

from typing import Final, NamedTuple

import numpy as np

from ...model.arrays import Floats, Mask, Rows
from ...model.document import Record
from ...model.quantities import counted, ordinal, seconds_text
from .chances import apart_by_chance, chi_square_beyond, factorial_bits, student_beyond, trend_by_chance

_CLOCK: Final = 0.02
"""Share of the interval by which begins may lie off an even grid: more is not the clock's doing but the work's."""
_REGULAR: Final = 0.25
"""Coefficient of variation of intervals up to which the next one is foretold within a quarter of it in most cases."""
_CERTAIN: Final = 1e-3
"""Chance below which a change of the intervals is told, over all places where it may be."""
_CHANGE: Final = 1.25
"""Ratio of intervals from which on a change is worth a word: beyond what is called regular."""
_PAUSE: Final = 3.0
"""Times the upper quartile from which on an interval is a pause."""
_RARE: Final = 0.1
"""Share of the intervals that are pauses at most; what comes more often is how the loop goes."""
_MANY: Final = 1 << 16
"""Intervals from which on they are not looked through: iterations are hardly what a user asks for."""
_SIDE: Final = 5
"""Fewest intervals on either side of a change."""
_LONGER: Final = 1.5
"""Times the median of the iterations' lengths from which on an iteration may stand out."""
_DEVIATIONS: Final = 5.0
"""Robust standard deviations above the median from which on it may; of normal ones none in a million."""
MATTERS: Final = 0.01
"""Share of the mean interval that it must take more: a line of a log that takes µs between ms delays nothing."""
_FEW: Final = 0.2
"""Share of the iterations that stand out at most: what more of them do is how the loop goes."""
_BY_CHANCE: Final = 0.01
"""How seldom the longest of lengths whose logarithms are normal may be taken to stand out, or for a pause."""
_KINDS_BITS: Final = 7.0
"""Bits that telling two kinds of lengths must save: a chance of less than 1 %, as for loops."""
_SPREAD: Final = 0.01
"""Spread of logarithms below which none is told: lengths are told by three digits."""
_WITHIN_ONE: Final = 0.683
"""Share of normal values within one standard deviation."""
_FEWEST_LONGER: Final = 3
"""Lengths of either kind."""
_MOST_APART: Final = 64
"""Iterations apart up to which longer ones are looked for."""
DRIFTS: Final = ("slower and slower", "faster and faster")
"""What is said of intervals that grow or shrink all the time."""


class Intervals(Record):
    """Times from one begin to the next in s: median, quartiles, coefficient of variation and mean."""

    median: float = 0.0
    lower_quartile: float = 0.0
    upper_quartile: float = 0.0
    jitter: float = 0.0
    mean: float = 0.0


class Timing(NamedTuple):
    """How regularly iterations begin."""

    intervals: Intervals
    kind: str
    """``clock``, ``regular`` or ``irregular``, whichever is most probable."""
    probability: float | None
    """Of that, given as many intervals; None where there are fewer than two."""
    changes: str
    """Pauses, another pace from some iteration on, or a drift, where they are certain; else empty."""


class Kinds(NamedTuple):
    """Lengths of two kinds that are clearly apart.

    Attributes
    ----------
    usual, longer : float
        Medians of either, in s.
    share : float
        Of the longer ones.
    first, every : int or None
        The first of the longer ones, counted from 1, and at what distance they come; None where that is not even.
    jitter : float
        By what share two thirds of either differ from it at most, as one standard deviation.
    """

    usual: float
    longer: float
    share: float
    first: int | None
    every: int | None
    jitter: float

    @property
    def when(self) -> str:
        """Which are longer where lengths are those from one iteration to the next, in words; empty if not evenly."""
        if self.first is None or self.every is None:
            return ""
        place = self.first % self.every
        if 0 < place < self.every - 1:
            return f"after the {ordinal(place)} of every {self.every}"
        return f"{'before' if place else 'after'} every {ordinal(self.every)}"

    def expects(self, length: float) -> bool:
        """Tell whether a length is none that is longer than either kind lets expect."""
        return length <= _CHANGE * self.longer


def timing_of(begin: Floats) -> Timing:
    """Return how regularly iterations begin.

    Of normal intervals of an unknown variance, that follows a scaled inverse chi-square distribution given the sample's
    (Jeffreys' prior); so do begins around an even grid. What the classes are is bounds of either.
    """
    if len(begin) < 2:
        return Timing(Intervals(), "irregular", None, "")
    between = np.diff(begin)
    low, median, high = np.quantile(between, (0.25, 0.5, 0.75)).tolist()
    mean = float(between.mean())
    jitter = float(between.std() / mean) if mean > 0 else 0.0
    intervals = Intervals(median, low, high, jitter, mean)
    if len(between) < 2 or mean <= 0:
        return Timing(intervals, "irregular", None, "")
    regular = chi_square_beyond(len(between) - 1, len(between) * (jitter / _REGULAR) ** 2)
    clock = 0.0
    if len(begin) > 3:
        number = np.arange(len(begin))
        off = begin - np.polyval(np.polyfit(number, begin, 1), number)
        clock = chi_square_beyond(len(begin) - 2, float((off**2).sum()) / (_CLOCK * mean) ** 2)
    regular = max(regular, clock)
    chances = {"clock": clock, "regular": regular - clock, "irregular": 1 - regular}
    kind = max(chances, key=lambda one: chances[one])
    return Timing(intervals, kind, round(chances[kind], 4), _changes(between))


def standing_out(length: Floats, interval: float) -> Mask:
    """Return which iterations took much longer than the others, bool (n,).

    Lengths under load vary by factors, so that the longest of ten is often several times the median: it must be longer
    than the others let expect of as many, too (the generalized test of extreme deviates by Rosner 1983, Technometrics
    25(2), of logarithms).
    """
    median = float(np.median(length))
    spread = 1.4826 * float(np.median(np.abs(length - median)))
    long = (length > _LONGER * median) & (length > median + max(_DEVIATIONS * spread, MATTERS * interval))
    often, count = int(np.count_nonzero(long)), len(length)
    if count < 3 or not 0 < often <= max(1.0, _FEW * count):
        return np.zeros(count, np.bool_)
    order = np.argsort(-length, kind="stable")
    logs = np.log(np.maximum(length[order], 1e-12))
    found = 0
    for place in range(often):
        rest = logs[place + 1 :]
        left = len(rest)
        off, error = logs[place] - rest.mean(), rest.std(ddof=1) * np.sqrt(1 + 1 / left)
        if off > 0 and student_beyond(left - 1, off / error if error else np.inf) < _BY_CHANCE / (left + 1):
            found = place + 1
    long[order[found:]] = False
    return long


def kinds_of(length: Floats) -> Kinds | None:
    """Return the two kinds that lengths are of, where telling which is of which pays for itself; None where not.

    Their logarithms take the fewest bits as two normal distributions, at every so-and-so-many place or anywhere.
    """
    count = len(length)
    if not 2 * _FEWEST_LONGER < count <= _MANY or length.min() <= 0 or length.max() <= _CHANGE * length.min():
        return None
    logs = np.log(length)
    best: tuple[float, Mask, int | None] = (_KINDS_BITS, np.zeros(0, np.bool_), None)
    for every in range(2, min(count // _FEWEST_LONGER, _MOST_APART) + 1):
        phase = np.arange(count) % every
        longest = int(np.argmax(np.bincount(phase, logs) / np.bincount(phase)))
        saved = _saved_by_kinds(logs, phase == longest, 2 * np.log2(count))
        best = max(best, (saved, phase == longest, every), key=lambda one: one[0])
    if best[2] is None:
        order = np.argsort(logs, kind="stable")
        place = int(np.argmax(np.diff(logs[order][_FEWEST_LONGER - 1 : 1 - _FEWEST_LONGER]))) + _FEWEST_LONGER
        longer = logs > logs[order[place - 1]]
        told = float(factorial_bits(count) - factorial_bits(place) - factorial_bits(count - place))
        best = max(best, (_saved_by_kinds(logs, longer, told), longer, None), key=lambda one: one[0])
    _, longer, apart = best
    if not len(longer) or np.quantile(length[longer], 0.1) <= np.quantile(length[~longer], 0.9):
        return None
    sides, share = (length[~longer], length[longer]), float(longer.mean())
    usual, long = (float(np.median(side)) for side in sides)
    jitter = max(float(np.quantile(np.abs(side / np.median(side) - 1), _WITHIN_ONE)) for side in sides)
    if apart is None and np.count_nonzero(longer[1:] != longer[:-1]) < count * share * (1 - share):
        # One kind after the other is another pace: there are less than half of the changes that there are by chance.
        return None
    # Where neither comes evenly, some of many lengths are apart from the others by chance.
    most, rare = (2 * _REGULAR, 0.0) if apart is not None else (_REGULAR, _RARE)
    if long <= _CHANGE * usual or jitter > most or not rare <= share <= 1 - rare:
        return None
    return Kinds(usual, long, share, None if apart is None else int(np.argmax(longer)) + 1, apart, jitter)


def _saved_by_kinds(logs: Floats, longer: Mask, told: float) -> float:
    """Return the bits that two normal distributions save against one, if so many tell what is of which."""
    sides = (logs[longer], logs[~longer])
    if min(map(len, sides)) < _FEWEST_LONGER:
        return -np.inf
    whole, *parts = (len(some) * np.log2(max(_SPREAD, float(some.std()))) for some in (logs, *sides))
    return float(whole - sum(parts) - told - 1.5 * np.log2(len(logs)))


def pauses_of(between: Floats) -> Mask:
    """Return which times between iterations are pauses, bool (n,).

    They are several times as long as most, and longer than the others let expect of as many: the longest of gaps that
    follow one another at random is long, too.
    """
    most = float(np.quantile(between, 0.75)) if len(between) else 0.0
    long = between > _PAUSE * most
    rest = len(between) - int(np.count_nonzero(long))
    if rest < 2 or rest == len(between):
        return np.zeros(len(between), np.bool_)
    # One that follows at once is no measure of how they vary.
    logs = np.log(np.maximum(between, max(MATTERS * most, 1e-12)))
    off, error = logs[long].min() - logs[~long].mean(), logs[~long].std(ddof=1) * np.sqrt(1 + 1 / rest)
    sure = student_beyond(rest - 1, off / error if error else np.inf) < _BY_CHANCE / len(between)
    return np.asarray(long & sure, np.bool_)


def _changes(between: Floats) -> str:
    """Return in words what changes in the course of the intervals."""
    if len(between) > _MANY:
        return ""
    pauses = pauses_of(between)
    often = np.count_nonzero(pauses)
    if (kinds := kinds_of(between)) is not None and kinds.when:
        return f"{seconds_text(kinds.longer)} {kinds.when}"
    found = [counted(int(often), "pause")] if 0 < often <= _RARE * len(between) else []
    usual, place = between[~pauses], np.flatnonzero(~pauses)
    if len(usual) >= 2 * _SIDE and usual.min() < usual.max():
        found += [_pace(usual, place) or _drift(usual)]
    return ", ".join(one for one in found if one)


def _pace(usual: Floats, place: Rows) -> str:
    """Return the iteration from which on intervals are others, but for a tenth of them on either side."""
    ranks = np.cumsum(np.argsort(np.argsort(usual)) - (len(usual) - 1) / 2)
    cut = _SIDE + int(np.argmax(np.abs(ranks[_SIDE - 1 : len(usual) - _SIDE])))
    before, behind = usual[:cut], usual[cut:]
    low, high = sorted((before, behind), key=lambda side: float(np.median(side)))
    apart = np.quantile(high, 0.1) > np.quantile(low, 0.9) and np.median(high) > _CHANGE * np.median(low)
    number = np.arange(len(usual))
    line = np.polyval(np.polyfit(number, usual, 1), number)
    if not apart or ((usual - line) ** 2).sum() < sum(len(one) * one.var() for one in (low, high)):
        return ""
    if apart_by_chance(before, behind) * len(usual) >= _CERTAIN:
        return ""
    return f"from iteration {place[cut] + 1:,} on every {seconds_text(float(np.median(behind)))}"


def _drift(usual: Floats) -> str:
    """Return whether intervals grow or shrink all the time."""
    quarter = max(1, len(usual) // 4)
    first, last = np.median(usual[:quarter]), np.median(usual[-quarter:])
    if max(first, last) <= _CHANGE * min(first, last):
        return ""
    if trend_by_chance(usual) >= _CERTAIN:
        return ""
    return DRIFTS[0] if last > first else DRIFTS[1]
