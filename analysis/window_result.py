"""The verdict of a method that looks for one period in a sampled window."""

from dataclasses import dataclass

from .analysed_window import AnalysedWindow
from .characterisation import characterise
from .phases import phase_rows
from .results import Period, PeriodResult, Regime


@dataclass(frozen=True)
class NamedPeriod:
    """A period in s, its uncertainty in s, and the confidence in it."""

    period: float
    interval: tuple[float, float]
    confidence: float


def window_result(
    method: str, window: AnalysedWindow, named: NamedPeriod | None, reason: str, evidence: dict[str, object]
) -> PeriodResult:
    """Put a verdict together.

    Parameters
    ----------
    method : str
        Name of the method.
    window : AnalysedWindow
        What was analysed.
    named : NamedPeriod or None
        The period; None where the method names none.
    reason : str
        Why; what there is to say of the window is added.
    evidence : dict
        What the method has to say; ``aliasing`` is added.

    Returns
    -------
    PeriodResult
        Phases, recurrence and jitter are those of the method ``auto``, whether or not a period is named: the paper
        does not find phases, and without them nobody could see what the named period is about.
    """
    signal = window.signal
    periods: tuple[Period, ...] = ()
    regimes: tuple[Regime, ...] = ()
    if named is not None:
        periods = (Period(named.period, named.interval, named.confidence, signal.volume),)
        regimes = (Regime(*signal.window, named.period),)
    return PeriodResult(
        method=method,
        periodic=named is not None,
        period=named.period if named else None,
        period_interval=named.interval if named else None,
        frequency=1.0 / named.period if named else None,
        confidence=named.confidence if named else 0.0,
        recurrence=window.phases.recurrence,
        jitter=window.phases.jitter,
        periods=periods,
        phases=phase_rows(window.phases.phases),
        regimes=regimes,
        metrics=characterise(signal, named.period if named else None),
        sampling=window.sampling,
        reason=" ".join((reason, *window.notes)),
        evidence={**evidence, "aliasing": window.aliasing},
    )
