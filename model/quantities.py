"""Quantities: what is one, and how people read it: three significant digits, decimal prefixes (1 MB = 1e6 B), units.

The one place that writes numbers for people: terminal, report, findings, reasons and pictures.
"""

import math
from numbers import Integral, Real
from typing import Final, Literal, TypeGuard

SamplingFrequency = float | Literal["auto"]
"""In Hz, or ``auto`` for one that follows from the signal."""

PREFIXES: Final = ("", "k", "M", "G", "T", "P", "E")
TIME_UNITS: Final = (("h", 3600.0, 36e3), ("min", 60.0, 7200.0), ("s", 1.0, 1.0), ("ms", 1e-3, 1e-3), ("µs", 1e-6, 0.0))
"""Units of time, how long each is and from how many seconds on it is used."""


def is_number(value: object) -> TypeGuard[float]:
    """Tell whether a value is a real number of Python or NumPy, and not a truth value."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_whole(value: object) -> TypeGuard[int]:
    """Tell whether a value is a whole number of Python or NumPy, by its type, and not a truth value."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def bytes_text(volume: float) -> str:
    """Return a volume in bytes.

    >>> bytes_text(83_886_080), bytes_text(1_000_000), bytes_text(512), bytes_text(0)
    ('83.9 MB', '1 MB', '512 B', '0 B')
    """
    return _scaled(round(volume) if volume >= 1 else volume, "B")


def rate_text(rate: float) -> str:
    """Return a bandwidth in bytes per second, such as ``1.2 GB/s``."""
    return _scaled(rate, "B/s")


def event_rate_text(rate: float) -> str:
    """Return how often something happens.

    >>> event_rate_text(12_345), event_rate_text(250), event_rate_text(0.5)
    ('12.3 k/s', '250/s', '0.5/s')
    """
    return _scaled(rate, "/s").replace(" /", "/")


def level_text(level: float) -> str:
    """Return a number without a unit, such as operations under way on average: ``3.2``, ``12.3 k``."""
    return _scaled(level, "").rstrip()


def frequency_text(frequency: float) -> str:
    """Return a frequency in hertz, such as ``62.5 Hz`` or ``0.0125 Hz``."""
    return _scaled(frequency, "Hz")


def seconds_text(value: float, digits: int = 3) -> str:
    """Return a time with a unit that suits it; minutes from 120 and hours from 10 of them on.

    >>> seconds_text(8.3), seconds_text(0.0123), seconds_text(8000), seconds_text(86400), seconds_text(0)
    ('8.3 s', '12.3 ms', '133 min', '24 h', '0 s')
    """
    unit, size = _time_unit(value)
    return f"{_number(value / size, digits)} {unit}"


def seconds_range_text(least: float, most: float) -> str:
    """Return from how many to how many seconds; one number where two digits of both are the same.

    >>> seconds_range_text(1.14, 3.1), seconds_range_text(0.05, 2.0), seconds_range_text(0.188, 0.1881)
    ('1.1 to 3.1 s', '50 ms to 2 s', '188 ms')
    >>> seconds_range_text(0.0, 3.1)
    'up to 3.1 s'
    """
    first, last = seconds_text(least, 2), seconds_text(most, 2)
    if not least:
        return f"up to {last}"
    if first == last:
        return first
    number, unit = first.split(" ")
    return f"{number} to {last}" if last.endswith(f" {unit}") else f"{first} to {last}"


def interval_text(value: float, interval: tuple[float, float] | None) -> str:
    """Return a time with its interval, with the digits that the interval's width warrants.

    >>> interval_text(0.4012, (0.392, 0.409))
    '401 ms (392 … 409 ms)'

    A width that no digit shows counts as none:

    >>> interval_text(0.01, (0.01, 0.01 + 1e-13))
    '10.000 ms (10.000 … 10.000 ms)'
    """
    if interval is None:
        return seconds_text(value)
    unit, size = _time_unit(value)
    width = (interval[1] - interval[0]) / size
    digits = 3 if width < 1e-6 else min(6, max(0, 1 - math.floor(math.log10(width))))
    middle, low, high = (f"{number / size:,.{digits}f}" for number in (value, *interval))
    return f"{middle} {unit} ({low} … {high} {unit})"


def deviation_text(value: float, interval: tuple[float, float] | None) -> str:
    """Return a time with how far it may be off, the farther end of its interval, in the digits that this warrants.

    >>> deviation_text(0.4012, (0.392, 0.409)), deviation_text(0.4012, None)
    ('401 ±9 ms', '401 ms')
    """
    if interval is None:
        return seconds_text(value)
    unit, size = _time_unit(value)
    off = max(interval[1] - value, value - interval[0]) / size
    if off <= 1e-6 * value / size:
        return seconds_text(value, 6)
    digits = min(6, max(0, -math.floor(math.log10(off))))
    return f"{value / size:,.{digits}f} ±{max(off, 10.0**-digits):,.{digits}f} {unit}"


def range_text(start: float, end: float) -> str:
    """Return a stretch of time in the unit of its end.

    >>> range_text(0.663, 8.291), range_text(0, 8000)
    ('0.66 … 8.29 s', '0 … 133 min')

    One that is too short to be seen is its end:

    >>> range_text(0.1162, 0.1164)
    '116 ms'
    """
    unit, size = _time_unit(end)
    low, high = start / size, end / size
    digits = 0 if high >= 100 else 1 if high >= 10 else 2
    first = "0" if start == 0 else f"{low:.{digits}f}"
    last = f"{high:.{digits}f}"
    return f"{last} {unit}" if first == last else f"{first} … {last} {unit}"


def percent_text(share: float) -> str:
    """Return a share in percent.

    >>> percent_text(0.5), percent_text(0.0031), percent_text(4.7e-16), percent_text(0)
    ('50 %', '0.31 %', '<0.0001 %', '0 %')
    """
    if 0 < share < 1e-6:
        return "<0.0001 %"
    return f"{100 * share:.2g} %" if share < 0.1 else f"{100 * share:,.0f} %"


def factor_text(value: float, digits: int = 2) -> str:
    """Return a ratio with so many digits, and never with an exponent of ten.

    >>> factor_text(14.2), factor_text(1.26), factor_text(99.7), factor_text(1234.5), factor_text(0.125, 3)
    ('14', '1.3', '100', '1,234', '0.125')
    """
    return f"{value:,.0f}" if abs(value) >= 10**digits - 0.5 else f"{value:.{digits}g}"


def share_text(part: float, whole: float) -> str:
    """Return `part` of `whole` in percent; a part is never written as all of it.

    >>> share_text(1, 3), share_text(1, 1000), share_text(999, 1000), share_text(0, 0)
    ('33 %', '0.1 %', '>99 %', '–')
    """
    if whole <= 0:
        return "–"
    return ">99 %" if 0.99 < part / whole < 1 else percent_text(part / whole)


def count_text(count: int) -> str:
    """Return a count with thousands separated: ``12,345``."""
    return f"{count:,}"


def counted(count: int, singular: str, plural: str | None = None) -> str:
    """Return a count with its noun: ``1 file``, ``12,345 files``."""
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"


def named_ranks(ranks: list[int], shown: int = 6) -> str:
    """Return ranks in words: ``rank 0``, ``ranks 0 and 8``, ``ranks 0, 1, 2, … (16 in all)``.

    >>> named_ranks([0]), named_ranks([0, 8])
    ('rank 0', 'ranks 0 and 8')
    """
    if len(ranks) == 1:
        return f"rank {ranks[0]}"
    if len(ranks) <= shown:
        return f"ranks {', '.join(map(str, ranks[:-1]))} and {ranks[-1]}" if ranks else "no rank"
    return f"ranks {', '.join(map(str, ranks[:3]))}, … ({len(ranks)} in all)"


def joined(names: list[str], count: int) -> str:
    """Return a file in words: its name, or how many there are."""
    return names[0] if count == 1 and names else f"{count} file{'s' if count != 1 else ''}"


def _scaled(value: float, unit: str) -> str:
    step = 0
    while abs(value) >= 999.5 and step < len(PREFIXES) - 1:
        value, step = value / 1000, step + 1
    return f"{_number(value, 3)} {PREFIXES[step]}{unit}"


def _time_unit(value: float) -> tuple[str, float]:
    """Return the unit that suits a time, and its length in s."""
    if value == 0:
        return "s", 1.0
    return next((unit, size) for unit, size, least in TIME_UNITS if abs(value) >= least)


def _number(value: float, digits: int) -> str:
    text = f"{value:.{digits}g}"
    return f"{value:.0f}" if "e+" in text else text


def ordinal(number: int) -> str:
    """Return a number as in a row.

    >>> [ordinal(one) for one in (1, 2, 3, 11, 12, 20, 121)]
    ['1st', '2nd', '3rd', '11th', '12th', '20th', '121st']
    """
    ending = "th" if number // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{ending}"
