"""A period in words, with the stretches of the run in which it holds."""

from itertools import pairwise
from typing import Final

from ...analysis.results import PeriodResult, Regime
from ..terminal.units import counted, interval_text, seconds_text

_REGIMES_SAID: Final = 4
_ALMOST_ALL: Final = 0.9
"""Share of the run from which on a single regime is not told from it: what starts up and ends has no phases."""


def every_text(result: PeriodResult, window: tuple[float, float], brief: bool = False) -> str:
    """Return how often something comes, and from when to when where that is not the whole run.

    Parameters
    ----------
    result : PeriodResult
        With a period.
    window : (float, float)
        Of the signal, in s.
    brief : bool
        Leave out the interval of the period.

    Returns
    -------
    str
        ``every 0.450 s (0.450 … 0.450 s)``, or ``every 0.200 s from 0.100 s to 4.10 s, then every 0.450 s to 9.50 s``.
    """
    period, regimes = result.period or 0.0, result.regimes
    if len(regimes) > 1:
        return _in_regimes(regimes)
    text = f"every {seconds_text(period) if brief else interval_text(period, result.period_interval)}"
    if len(regimes) == 1 and _is_part(regimes[0], result, window):
        text += f" from {seconds_text(regimes[0].start)} to {seconds_text(regimes[0].end)}"
    return text


def certainty_text(result: PeriodResult) -> str:
    """Return the confidence in a period, in words; of several regimes that in each of those that are told."""
    confidences = [regime.confidence for regime in result.regimes[:_REGIMES_SAID]]
    if len(confidences) < 2 or any(value is None for value in confidences):
        return f"confidence {result.confidence:.2f}"
    texts = [f"{value:.2f}" for value in confidences]
    if len(set(texts)) == 1:
        return f"confidence {texts[0]} each"
    return f"confidence {', '.join(texts[:-1])} and {texts[-1]}"


def verdict_text(result: PeriodResult, window: tuple[float, float]) -> str:
    """Return a verdict in words, as the heading of a picture of the signal."""
    if not result.periodic or result.period is None:
        return "no period"
    return f"{every_text(result, window)}, {certainty_text(result)}"


def told_alike(one: PeriodResult, other: PeriodResult, window: tuple[float, float]) -> bool:
    """Tell whether one text may speak for two results: the same stretches, to a period, wherever any are named."""
    if len(one.regimes) > 1 or len(other.regimes) > 1:
        if len(one.regimes) != len(other.regimes):
            return False
        return all(_near(*pair) for pair in zip(one.regimes, other.regimes, strict=True))
    parts = [
        result.regimes for result in (one, other) if result.regimes and _is_part(result.regimes[0], result, window)
    ]
    return not parts or (len(parts) == 2 and _near(parts[0][0], parts[1][0]))


def _near(one: Regime, other: Regime) -> bool:
    apart = max(one.period, other.period)
    same = apart <= 1.05 * min(one.period, other.period)
    return same and abs(one.start - other.start) <= apart and abs(one.end - other.end) <= apart


def _is_part(regime: Regime, result: PeriodResult, window: tuple[float, float]) -> bool:
    left_out = regime.start > window[0] or regime.end < window[1]
    if result.method == "hybrid":
        return left_out
    return regime.end - regime.start < _ALMOST_ALL * (window[1] - window[0])


def _in_regimes(regimes: tuple[Regime, ...]) -> str:
    said = regimes[:_REGIMES_SAID]
    first = said[0]
    text = f"every {seconds_text(first.period)} from {seconds_text(first.start)} to {seconds_text(first.end)}"
    for before, regime in pairwise(said):
        # A stretch without a period between two regimes is at least a period long.
        gap = regime.start - before.end > max(before.period, regime.period)
        start = f" from {seconds_text(regime.start)}" if gap else ""
        text += f", then every {seconds_text(regime.period)}{start} to {seconds_text(regime.end)}"
    if len(regimes) > len(said):
        text += f" and so on in {counted(len(regimes) - len(said), 'further stretch', 'further stretches')}"
    return text
