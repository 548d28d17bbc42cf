"""Whether the periods of two signals are one and the same, so that they are shown once."""

from typing import Final

from ..results.result import PeriodResult, Regime

ALMOST_ALL: Final = 0.9
"""Share of the run from which on a single regime counts as the whole run: start and end have no phases."""


def alike(one: PeriodResult, other: PeriodResult, window: tuple[float, float]) -> bool:
    """Tell whether two periods may be one: their intervals overlap, and they hold in the same stretches."""
    if one.period_interval is None or other.period_interval is None:
        return False
    (low, high), (other_low, other_high) = one.period_interval, other.period_interval
    return low <= other_high and other_low <= high and _same_stretches(one, other, window)


def is_part(regime: Regime, result: PeriodResult, window: tuple[float, float]) -> bool:
    """Tell whether a single regime is less than the whole run, `window` in s."""
    left_out = regime.start > window[0] or regime.end < window[1]
    if result.method == "hybrid":
        return left_out
    return regime.end - regime.start < ALMOST_ALL * (window[1] - window[0])


def _same_stretches(one: PeriodResult, other: PeriodResult, window: tuple[float, float]) -> bool:
    """Tell whether one text may speak for two results: the same stretches, to a period, wherever any are named."""
    if len(one.regimes) > 1 or len(other.regimes) > 1:
        if len(one.regimes) != len(other.regimes):
            return False
        return all(_near(*pair) for pair in zip(one.regimes, other.regimes, strict=True))
    parts = [result.regimes for result in (one, other) if result.regimes and is_part(result.regimes[0], result, window)]
    return not parts or (len(parts) == 2 and _near(parts[0][0], parts[1][0]))


def _near(one: Regime, other: Regime) -> bool:
    longer = max(one.period, other.period)
    same = longer <= 1.05 * min(one.period, other.period)
    return same and abs(one.start - other.start) <= longer and abs(one.end - other.end) <= longer
