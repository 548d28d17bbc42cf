"""Numbers with their units, as people read them: three significant digits, decimal prefixes (1 MB = 1e6 B)."""

import math
from typing import Final


def seconds(value: float, digits: int = 3) -> str:
    """Write a time with a unit that suits it: ``41 s``, ``2.5 ms``, ``73 min``."""
    for unit, size in (("h", 3600.0), ("min", 60.0)):
        if value >= 120 * size:
            return f"{value / size:.{digits}g} {unit}"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return f"{value / size:.{digits}g} {unit}" if value < 1000 * size else f"{value / size:.0f} {unit}"
    return f"{value:.{digits}g} s"


def spaced(period: float, jitter: float) -> str:
    """Write how far apart bursts are: ``41 ± 2 s apart``, both in the same unit."""
    for unit, size in (("h", 3600.0), ("min", 60.0), ("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if period >= (120 * size if size > 1 else size) or unit == "µs":
            spread = jitter * period / size
            if spread < 1e-4 * period / size:
                return f"{period / size:.4g} {unit} apart"
            return f"{period / size:.4g} ± {spread:.2g} {unit} apart"
    raise AssertionError("a period has a unit")


def volume(count: float) -> str:
    """Return bytes as people read them: ``83.9 MB``.

    >>> volume(83_886_080), volume(512)
    ('83.9 MB', '512 B')
    """
    size, unit = float(count), 0
    while size >= 999.5 and unit < 6:
        size, unit = size / 1000, unit + 1
    return f"{size:.0f} B" if unit == 0 else f"{size:.3g} {'kMGTPE'[unit - 1]}B"


def percent(share: float) -> str:
    """Return a share in percent.

    >>> percent(0.5), percent(0.0031)
    ('50 %', '0.31 %')
    """
    return f"{100 * share:.2g} %" if share < 0.1 else f"{100 * share:.0f} %"


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


_PREFIXES: Final = ("", "k", "M", "G", "T", "P", "E")


def bytes_text(volume: float) -> str:
    """Return a volume in bytes, such as ``168 MB``.

    >>> bytes_text(167_772_160), bytes_text(512), bytes_text(0)
    ('168 MB', '512 B', '0 B')
    """
    return _scaled(volume, "B")


def rate_text(rate: float) -> str:
    """Return a bandwidth in bytes per second, such as ``1.20 GB/s``."""
    return _scaled(rate, "B/s")


def event_rate_text(rate: float) -> str:
    """Return how often something happens: ``12.3 k/s``, ``250/s``.

    >>> event_rate_text(12_345), event_rate_text(250), event_rate_text(0.5)
    ('12.3 k/s', '250/s', '0.500/s')
    """
    return _scaled(rate, "/s").replace(" /", "/")


def level_text(level: float) -> str:
    """Return a number without a unit, such as operations under way on average: ``3.20``, ``12.3 k``."""
    return _scaled(level, "").rstrip()


def frequency_text(frequency: float) -> str:
    """Return a frequency in hertz, such as ``62.5 Hz`` or ``0.0125 Hz``."""
    return f"{frequency:.3g} Hz" if frequency < 1 else _scaled(frequency, "Hz")


def seconds_text(seconds: float) -> str:
    """Return a time in seconds: ``0.401 s``, from 0.1 s on; ``12.3 ms`` and ``4.50 µs`` below.

    >>> seconds_text(8.3), seconds_text(0.0123), seconds_text(86400), seconds_text(0)
    ('8.30 s', '12.3 ms', '86,400 s', '0 s')
    """
    magnitude = abs(seconds)
    if magnitude == 0 or magnitude >= 0.0999:
        return f"{_three_digits(seconds)} s"
    if magnitude >= 0.9995e-3:
        return f"{_three_digits(seconds * 1e3)} ms"
    return f"{_three_digits(seconds * 1e6)} µs"


def interval_text(value: float, interval: tuple[float, float] | None) -> str:
    """Return a time with its interval, with the digits that the interval's width warrants.

    >>> interval_text(0.4012, (0.392, 0.409))
    '0.401 s (0.392 … 0.409 s)'

    A width that is rounding and no more counts as none:

    >>> interval_text(0.01, (0.01, 0.01 + 1e-17))
    '10.000 ms (10.000 … 10.000 ms)'
    """
    if interval is None:
        return seconds_text(value)
    low, high = interval
    unit, factor = ("s", 1.0) if value >= 0.0999 else ("ms", 1e3) if value >= 0.9995e-3 else ("µs", 1e6)
    width = (high - low) * factor
    digits = 3 if width <= 1e-12 * value * factor else min(6, max(0, 1 - math.floor(math.log10(width))))
    middle, low_text, high_text = (f"{number * factor:,.{digits}f}" for number in (value, low, high))
    return f"{middle} {unit} ({low_text} … {high_text} {unit})"


def percent_text(share: float) -> str:
    """Return a share in percent with up to three digits.

    >>> percent_text(0.012), percent_text(0.755), percent_text(4.7e-16), percent_text(0)
    ('1.2 %', '75.5 %', '<0.01 %', '0 %')
    """
    return "<0.01 %" if 0 < share < 1e-4 else f"{100 * share:.3g} %"


def count_text(count: int) -> str:
    """Return a count with thousands separated: ``12,345``."""
    return f"{count:,}"


def counted(count: int, singular: str, plural: str | None = None) -> str:
    """Return a count with its noun: ``1 file``, ``12,345 files``."""
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"


def share_text(part: float, whole: float) -> str:
    """Return `part` of `whole` in percent; an empty share is ``0 %``, a small one ``<1 %`` and never ``0 %``.

    >>> share_text(1, 3), share_text(1, 1000), share_text(999, 1000), share_text(0, 0)
    ('33 %', '<1 %', '>99 %', '–')
    """
    if whole <= 0:
        return "–"
    percent = 100 * part / whole
    if 0 < percent < 1:
        return "<1 %"
    if 99 < percent < 100:
        return ">99 %"
    return f"{percent:.0f} %"


def _scaled(value: float, unit: str) -> str:
    magnitude, step = float(value), 0
    while abs(magnitude) >= 999.5 and step < len(_PREFIXES) - 1:
        magnitude /= 1000
        step += 1
    number = f"{magnitude:.0f}" if step == 0 and magnitude == round(magnitude) else _three_digits(magnitude)
    return f"{number} {_PREFIXES[step]}{unit}"


def _three_digits(value: float) -> str:
    magnitude = abs(value)
    if magnitude == 0:
        return "0"
    if magnitude >= 99.95:
        return f"{value:,.0f}"
    if magnitude >= 9.995:
        return f"{value:.1f}"
    if magnitude >= 0.9995:
        return f"{value:.2f}"
    if magnitude >= 0.09995:
        return f"{value:.3f}"
    return f"{value:.3g}"
