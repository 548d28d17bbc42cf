"""Period detection for any signal by any method."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ..model.arrays import Floats
from ..model.errors import SelectionError
from ..model.quantities import SamplingFrequency, is_number, seconds_text
from ..signals.construction import StepSignal, signal_of_samples
from .registry import DEFAULT_METHOD, PeriodMethod, period_method
from .results.result import PeriodResult
from .spectral.metrics import characterise
from .timefrequency.filters import Butterworth

_BINS_OF_A_PERIOD: Final = 16
"""Where a signal was summed up in bins: each burst is up to half of one from its place, 3 % of a period."""
_SMALLEST: Final = 1e-140
"""Smallest volume of a signal whose square float64 can tell from 0."""
_MOVED: Final = 0.6
"""Share of the bursts after a filter that must have moved something: each burst rings, and that recurs as well."""


def detect_period(
    signal: StepSignal,
    method: str = DEFAULT_METHOD,
    fs: SamplingFrequency = "auto",
    *,
    filter: Butterworth | str | None = None,
    **options: Any,
) -> PeriodResult:
    """Find the period of a signal.

    Parameters
    ----------
    signal : StepSignal
        Rate or level over time, in any unit; its window is the window of the analysis.
    method : str
        Name of a method, one of ``iostrata.analysis.registry.methods()``.
    fs : float or "auto"
        Sampling frequency in Hz, or "auto" for the method's own choice.
    filter : Butterworth or str, optional
        A filter that is put before the method: "low:HZ", "high:HZ", "band:HZ:HZ" or a
        `iostrata.analysis.timefrequency.filters.Butterworth`. Variation of I/O is what happened and not noise, so this
        is to look at one range of frequencies and not to clean a signal.
    **options
        Further parameters of the method.

    Returns
    -------
    PeriodResult
        The verdict, whether there is a period or none. Volumes are in the signal's unit times second:
        bytes of a bandwidth, a number of operations or events of their rate. With a filter, periods and phases are when
        they are in the filtered samples, and periods that the filter does not pass are left out; volumes and metrics
        are those of the signal itself, so that phases hold what was moved during them. ``evidence.filter`` and
        ``evidence.baseline``, the smallest filtered sample where it is negative, record it.

    Raises
    ------
    SelectionError
        If the method, one of its options or the sampling frequency does not exist or makes no sense, or the signal
        is not a step signal with finite values of at least zero.

    Examples
    --------
    Jobs in a log, 2 s long every 10 s; only their times; and how many of them run at the same time:

    >>> import numpy as np
    >>> from iostrata import detect_period, event_signal, level_signal, step_signal
    >>> start = np.arange(3.0, 103.0, 10.0)
    >>> result = detect_period(step_signal(start, start + 2, np.full(10, 1e9), window=(0.0, 104.0)))
    >>> result.periodic, round(result.period, 6), result.phases[0].volume
    (True, 10.0, 1000000000.0)
    >>> events = event_signal(start, window=(0.0, 104.0))
    >>> events.unit, round(detect_period(events).period, 6)
    ('s-1', 10.0)
    >>> level = level_signal(np.append(start, start), np.append(start + 2, start + 3), window=(0.0, 106.0))
    >>> level.unit, round(detect_period(level).period, 1)
    ('1', 10.0)
    """
    _check_signal(signal)
    if fs != "auto":
        _check_frequency(fs)
    if 0 < signal.volume < _SMALLEST:
        return _of_small(signal, lambda larger: detect_period(larger, method, fs, filter=filter, **options))
    found = period_method(method)
    result = found(signal, fs, **options) if filter is None else _filtered(found, signal, fs, filter, options)
    return _resolved(result, signal)


def detect_period_samples(x: npt.ArrayLike, fs: float, *, method: str = DEFAULT_METHOD, **options: Any) -> PeriodResult:
    """Find the period of a sampled signal.

    Parameters
    ----------
    x : array_like (n,)
        Samples at equal distances, any real numbers. Time starts with the first.
    fs : float
        Sampling frequency in Hz; the analysis uses the samples as they are.
    method : str
        Name of a method.
    **options
        Further parameters of the method.

    Returns
    -------
    PeriodResult
        As of `detect_period`. A constant changes no period, so samples of which some are negative are measured from
        the smallest; volumes, phases and metrics then count from there and ``evidence.baseline`` is that one.

    Raises
    ------
    SelectionError
        If the samples are not one row of at least one finite number, or as in `detect_period`.

    Examples
    --------
    A load of the network, 1 sample a second:

    >>> import numpy as np
    >>> load = np.tile([20.0, 90.0, 85.0, 20.0, 20.0, 20.0, 20.0, 20.0], 25)
    >>> result = detect_period_samples(load, fs=1.0)
    >>> result.periodic, round(result.period, 2)
    (True, 8.0)
    """
    values = _checked_samples(x)
    _check_frequency(fs)
    signal, baseline = signal_of_samples(values, fs, 0.0, "1")
    result = detect_period(signal, method, fs, **options)
    if baseline < 0 and result.evidence.filter is None:
        return replace(result, evidence=replace(result.evidence, baseline=baseline))
    return result


def _of_small(signal: StepSignal, detect: Callable[[StepSignal], PeriodResult]) -> PeriodResult:
    """Return the verdict on a signal whose squares vanish in float64: that on 2^600 times as much, scaled back."""

    def scaled(value: Any, exponent: int, names: tuple[str, ...]) -> Any:
        told = {name: getattr(value, name) for name in names if getattr(value, name) is not None}
        return replace(value, **{name: one * 2.0**exponent for name, one in told.items()})

    def back(metrics: Any) -> Any:
        return metrics and scaled(metrics, -600, ("b_io", "volume_per_period"))

    result = detect(scaled(signal, 600, ("values", "impulse_volumes", "cumulative")))
    return replace(
        result,
        periods=tuple(scaled(one, -600, ("volume",)) for one in result.periods),
        phases=tuple(scaled(one, -600, ("volume",)) for one in result.phases),
        regimes=tuple(replace(one, metrics=back(one.metrics)) for one in result.regimes),
        metrics=back(result.metrics),
    )


def _filtered(
    method: PeriodMethod, signal: StepSignal, fs: SamplingFrequency, filter: Butterworth | str, options: dict[str, Any]
) -> PeriodResult:
    """Return the verdict on a signal after a filter, with what was moved in the signal itself."""
    from .timefrequency.filters import filtered_signal, without_ripple

    filtered = filtered_signal(signal, filter, fs)
    form = filtered.form
    shown = without_ripple(filtered) if method.name == DEFAULT_METHOD else filtered.signal
    result = method(shown, filtered.fs, **options)
    # How well bins fit the filtered samples is no measure of how well they fit the signal.
    sampling = replace(result.sampling, automatic=fs == "auto", abstraction_error=None)
    evidence = replace(result.evidence, filter=str(form), baseline=filtered.baseline)
    # Bursts that ring after a filter still recur as they did before.
    result = _with_periods(
        replace(result, sampling=sampling, evidence=evidence),
        form.passes,
        f"which the filter {form} Hz does not pass",
        "within the filter",
    )
    return _with_volumes_of(signal, result, filtered.signal.volume)


def _resolved(result: PeriodResult, signal: StepSignal) -> PeriodResult:
    """Leave out what bins are too wide for: times that are rounded to them look more regular than they are."""
    if signal.resolution == 0:
        return result
    result = replace(result, sampling=replace(result.sampling, signal="binned"))
    why = f"for which the bins of {seconds_text(signal.resolution, 4)} that it was read into are too wide"
    enough = _BINS_OF_A_PERIOD * signal.resolution
    return _with_periods(result, lambda period: period >= enough, why, "long enough for these bins")


def _with_periods(result: PeriodResult, keeps: Callable[[float], bool], why_not: str, why: str) -> PeriodResult:
    """Leave out periods that are not kept, and say why they are not and why the others are."""
    if result.period is None:
        return result
    periods = tuple(one for one in result.periods if keeps(one.period))
    regimes = tuple(one for one in result.regimes if keeps(one.period))
    if keeps(result.period):
        return replace(result, periods=periods, regimes=regimes)
    outside = f"recurs every {seconds_text(result.period, 4)}, {why_not}"
    if not periods:
        return replace(result, periods=(), regimes=(), reason=f"The signal {outside}.")
    reason = f"A period of {seconds_text(periods[0].period, 4)} is {why}; the signal also {outside}."
    return replace(result, periods=periods, regimes=regimes, reason=reason)


def _with_volumes_of(signal: StepSignal, result: PeriodResult, filtered_volume: float) -> PeriodResult:
    """Replace volumes and metrics of the verdict on a filtered signal by those of the signal itself.

    Filtered samples have no volume of their own: they are measured from the smallest one, which may lie far below 0.
    """
    edges = np.array([(phase.start, phase.end) for phase in result.phases]).reshape(-1, 2)
    until = signal.volume_until(edges)
    # What moved in no time at the window's start belongs to a phase that begins there.
    until[edges <= signal.window[0]] = 0.0
    volumes = np.diff(until, axis=1)[:, 0].tolist()
    # What a filter makes beside bursts, its ripple, moved nothing.
    moved = zip(result.phases, volumes, strict=True)
    phases = tuple(replace(phase, volume=volume) for phase, volume in moved if volume > 0)
    before = sum(phase.volume for phase in result.phases) if result.phases else filtered_volume
    if result.period and len(phases) < _MOVED * len(result.phases):
        of_all = f"{len(phases)} of the {len(result.phases)} bursts that are left moved anything"
        reason = f"The filter {result.evidence.filter} Hz rings: only {of_all}."
        result = replace(result, periods=(), regimes=(), reason=reason)
    scale = (sum(volumes) if result.phases else signal.volume) / before if before > 0 else 0.0
    periods = tuple(replace(period, volume=min(scale * period.volume, signal.volume)) for period in result.periods)
    return replace(result, phases=phases, periods=periods, metrics=characterise(signal, result.period))


def _check_signal(signal: StepSignal) -> None:
    if not hasattr(signal, "impulse_volumes"):
        raise SelectionError(
            f"a signal is a StepSignal, not {type(signal).__name__}: for samples use detect_period_samples"
        )
    volumes = (signal.values, signal.impulse_volumes)
    if not all(np.isfinite(volume).all() and (volume >= 0).all() for volume in volumes):
        raise SelectionError("a signal with negative, infinite or missing values: give a rate of at least zero")
    if not (np.isfinite(signal.times).all() and signal.duration > 0):
        raise SelectionError(f"a signal needs a window of positive length, not {signal.window} s")


def _check_frequency(fs: object) -> None:
    if not (is_number(fs) and np.isfinite(fs) and fs > 0):
        raise SelectionError(f"sampling frequency {fs!r}: give a positive, finite number of Hz")


def _checked_samples(x: npt.ArrayLike) -> Floats:
    try:
        values = np.asarray(x)
    except ValueError:
        raise SelectionError("samples of unequal shapes: give one row of numbers") from None
    if values.dtype.kind not in "buif":
        raise SelectionError(f"samples of type {values.dtype}: give real numbers")
    if values.ndim != 1 or values.size == 0:
        raise SelectionError(f"samples of shape {values.shape}: give one row of at least one number")
    values = values.astype(np.float64)
    if not np.isfinite(values).all():
        bad = int(np.flatnonzero(~np.isfinite(values))[0])
        raise SelectionError(f"sample {bad} is {values[bad]}: give finite numbers")
    return values
