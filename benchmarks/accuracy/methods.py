"""What each method says of an input, in one form; ours with default arguments, as users call it."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from ftio_peer import Peer
from inputs.signal_input import SignalInput
from iostrata.analysis.detect import detect_period, detect_period_samples
from iostrata.analysis.results.result import PeriodResult
from iostrata.signals.construction import step_signal
from iostrata.signals.step import StepSignal

#: FTIO is not asked about longer signals (samples at its frequency): its time grows faster than their length.
MOST_PEER_SAMPLES = 100_000


@dataclass(frozen=True)
class StatedRegime:
    """A regime as stated: start, end and period in s, confidence, volume per period in bytes where it is given."""

    start: float
    end: float
    period: float
    confidence: float | None = None
    volume_per_period: float | None = None


@dataclass(frozen=True, eq=False)
class Answer:
    """What a method says; times in s, volumes in bytes.

    Attributes
    ----------
    period : float or None
        None where no period is stated.
    estimate : float or None
        The period, or without one the mean time between phases.
    interval : (float, float) or None
        Of the period, in s.
    pause, drift : float or None
        Pause between phases in s and relative change of the interval, where the evidence states one.
    """

    period: float | None
    confidence: float
    seconds: float
    estimate: float | None = None
    periods: tuple[float, ...] = ()
    regimes: tuple[StatedRegime, ...] = ()
    volume_per_period: float | None = None
    phase_start: np.ndarray | None = None
    phase_bytes: np.ndarray | None = None
    interval: tuple[float, float] | None = None
    pause: float | None = None
    drift: float | None = None
    evidence: dict[str, Any] = field(default_factory=dict)


Method = Callable[[SignalInput], Answer | None]


def signal_of(given: SignalInput) -> StepSignal:
    """Return the exact step signal of an input."""
    return step_signal(given.start, given.end, given.volume, window=given.window)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float | np.number) and not isinstance(value, bool) else None


def answer_of(result: PeriodResult, seconds: float) -> Answer:
    """Return a result as an answer; what it says of drift and pauses is read from its regimes and its evidence."""
    regimes = []
    for stay in result.regimes:
        metrics = getattr(stay, "metrics", None) or stay
        volume = getattr(metrics, "volume_per_period", None)
        regimes.append(StatedRegime(stay.start, stay.end, stay.period, stay.confidence, volume))
    evidence = result.evidence.to_dict()
    told = {}
    for name in ("pause", "drift"):
        keys = [name, f"{name}_s", f"{name}_share"]
        values = [getattr(stay, name, None) for stay in result.regimes] + [evidence.get(key) for key in keys]
        told[name] = next((number for value in values if (number := _number(value)) is not None), None)
    period = result.period if result.periodic else None
    return Answer(
        period=period,
        confidence=float(result.confidence),
        seconds=seconds,
        estimate=period if period is not None else result.recurrence,
        periods=tuple(one.period for one in result.periods),
        regimes=tuple(regimes),
        volume_per_period=None if result.metrics is None else result.metrics.volume_per_period,
        phase_start=np.array([phase.start for phase in result.phases]),
        phase_bytes=np.array([phase.volume for phase in result.phases]),
        interval=result.period_interval,
        **told,
    )


def ours(method: str) -> Method:
    """Return one of our methods, on the step signal or the samples, whichever the input is."""

    def ask(given: SignalInput) -> Answer:
        if given.samples is not None:
            begin = time.process_time()
            result = detect_period_samples(given.samples, given.fs, method=method)
            return _moved(answer_of(result, time.process_time() - begin), given.window[0])
        signal = signal_of(given)
        begin = time.process_time()
        result = detect_period(signal, method)
        return answer_of(result, time.process_time() - begin)

    return ask


def _moved(answer: Answer, by: float) -> Answer:
    """Return an answer whose times, which begin with the first sample, are those of the input."""
    from dataclasses import replace

    regimes = tuple(replace(stay, start=stay.start + by, end=stay.end + by) for stay in answer.regimes)
    starts = None if answer.phase_start is None else answer.phase_start + by
    return replace(answer, regimes=regimes, phase_start=starts)


def ours_at_one_hertz(method: str) -> Method:
    """Return one of our methods on bin averages at 1 Hz."""

    def ask(given: SignalInput) -> Answer:
        values = signal_of(given).sample(1.0).values
        begin = time.process_time()
        result = detect_period_samples(values, 1.0, method=method)
        return _moved(answer_of(result, time.process_time() - begin), given.window[0])

    return ask


def ftio(peer: Peer) -> Method:
    """Return FTIO itself on the step signal, at the input's sampling frequency; None where that is too long."""

    def ask(given: SignalInput) -> Answer | None:
        if (given.window[1] - given.window[0]) * given.fs > MOST_PEER_SAMPLES:
            return None
        found = peer.detect(signal_of(given), given.fs)
        period = found["period"]
        stated = () if period is None else (period,)
        regimes = tuple(StatedRegime(*given.window, one, found["confidence"]) for one in stated)
        return Answer(period, found["confidence"], found["seconds"], period, stated, regimes)

    return ask
