"""The sampled window that a method looks at for one period, and its result."""

from ...model.arrays import Frozen
from ...model.quantities import SamplingFrequency
from ...signals.construction import StepSignal
from ...signals.samples import MOST_BINS, Samples
from ..phases.bins import bin_width
from ..phases.bursts import vertices
from ..phases.decision import decide
from ..phases.phases import Phases, phases_of
from ..results.evidence import Evidence
from ..results.result import Period, PeriodResult, Regime, SamplingInfo
from ..spectral.metrics import characterise
from ..spectral.sampling_rate import phase_frequency

LOST_SHARE = 0.5
"""Share of a signal's departure from its mean rate that bins may lose: beyond, they show less of it than they hide."""


class AnalysedWindow(Frozen):
    """A signal as a sampling method sees it.

    Attributes
    ----------
    signal : StepSignal
        The exact signal in the window.
    samples : Samples
        Its bin averages.
    sampling : SamplingInfo
        How they were made.
    phases : Phases
        The phases in the window.
    aliasing : str or None
        A sentence, where the bins are too coarse for the signal.
    notes : tuple of str
        Sentences for the reason of the verdict, `aliasing` among them.
    """

    signal: StepSignal
    samples: Samples
    sampling: SamplingInfo
    phases: Phases
    aliasing: str | None
    notes: tuple[str, ...]


def analysed_window(
    signal: StepSignal,
    fs: SamplingFrequency,
    *,
    skip_first_phase: bool = False,
    finer: int = 1,
    most_bins: int = MOST_BINS,
    false_alarm_rate: float = 0.01,
) -> AnalysedWindow:
    """Choose and sample the window of the analysis; errors as of ``StepSignal.sample``.

    Parameters
    ----------
    signal : StepSignal
        The exact signal.
    fs : float or "auto"
        Sampling frequency in Hz, or "auto" for bins of about a third of the distance of the signal's phases
        (`iostrata.analysis.spectral.sampling_rate`).
    skip_first_phase : bool
        Whether the window starts at the second phase: the first often reads input or writes headers.
    finer : int
        By how much an automatic frequency is higher than that of `phase_frequency`.
    most_bins : int
        Largest number of bins at an automatic frequency.
    false_alarm_rate : float
        At which phases are found.

    Returns
    -------
    AnalysedWindow
        The window is that of the signal where it has fewer than two phases, which is then said.
    """
    found = _phases_of(signal, false_alarm_rate)
    notes: list[str] = []
    if skip_first_phase:
        if len(found.bursts) < 2:
            notes.append("There are no two phases, so that none was left out at the start.")
        else:
            second = float(found.bursts.start[1])
            signal = signal.clip(second, signal.window[1])
            found = _phases_of(signal, false_alarm_rate)
            notes.append(f"The first phase is left out: the window starts at the second, at {second:.6g} s.")
    frequency = min(finer * phase_frequency(signal), most_bins / signal.duration) if fs == "auto" else fs
    samples = signal.sample(frequency, abstraction_error=True)
    sampling = SamplingInfo(samples.fs, len(samples), fs == "auto", samples.abstraction_error)
    aliasing = aliasing_warning(signal, sampling)
    if aliasing is not None:
        notes.append(aliasing)
    return AnalysedWindow(signal, samples, sampling, found, aliasing, tuple(notes))


def _phases_of(signal: StepSignal, false_alarm_rate: float) -> Phases:
    """Decide on the periods of a signal and return its phases; see `decide`."""
    times, cumulative = vertices(signal)
    decision = decide(times, cumulative, false_alarm_rate, bin_width(times, cumulative))
    return phases_of(decision, times, cumulative)


def aliasing_warning(signal: StepSignal, sampling: SamplingInfo) -> str | None:
    """Say whether a frequency that the user chose is too low for a signal (FTIO, IPDPS'24, §II-E).

    Parameters
    ----------
    signal : StepSignal
        The exact signal.
    sampling : SamplingInfo
        How it was sampled.

    Returns
    -------
    str or None
        A sentence where the abstraction error is above 5 %, which an automatic frequency tolerates, *and* above half
        of the error that a constant of the signal's mean would make. None where the frequency was chosen
        automatically, for which the distance of the phases was looked at instead.

    Notes
    -----
    The paper calls a discrete signal not to be trusted whose abstraction error is "just too large". What is large
    depends on the signal: volume in short bursts cannot stay in its place in any bins, and a signal that is
    nearly constant loses little in the coarsest. So the error is compared with the largest that bins can make, that
    of a single one over the whole window: beyond half of it, most of what the signal does happens inside of bins, and
    what repeats there more often than fs / 2 shows up at another, lower frequency.
    """
    from ...signals.step import AUTOMATIC_ERROR, abstraction_error

    error = sampling.abstraction_error
    if sampling.automatic or sampling.fs is None or error is None or error <= AUTOMATIC_ERROR:
        return None
    if error <= LOST_SHARE * abstraction_error(signal, 1.0 / signal.duration):
        return None
    return (
        f"Aliasing is likely: bins of {1 / sampling.fs:.4g} s put {error:.0%} of the volume at another time, and what "
        f"repeats in less than {2 / sampling.fs:.4g} s can show up as a longer period; use a higher frequency."
    )


def window_result(
    method: str,
    window: AnalysedWindow,
    periods: tuple[Period, ...],
    regimes: tuple[Regime, ...],
    reason: str,
    evidence: Evidence,
) -> PeriodResult:
    """Put a verdict together.

    Phases, recurrence and jitter are those of the method ``auto``, whether or not a period is named: the paper does not
    find phases, and without them nobody could see what the named period is about.

    Parameters
    ----------
    method : str
        Name of the method.
    window : AnalysedWindow
        What was analysed.
    periods : tuple of Period
        The one that the method names; empty where it names none.
    regimes : tuple of Regime
        Where it holds.
    reason : str
        Why.
    evidence : Evidence
        What the verdict rests on.
    """
    return PeriodResult(
        method=method,
        recurrence=window.phases.recurrence,
        jitter=window.phases.jitter,
        periods=periods,
        phases=window.phases.listed,
        regimes=regimes,
        metrics=characterise(window.signal, periods[0].period if periods else None),
        sampling=window.sampling,
        evidence=evidence,
        reason=reason,
    )


def whole_window_result(
    method: str, window: AnalysedWindow, period: Period | None, reason: str, evidence: Evidence
) -> PeriodResult:
    """Put together the verdict of a method that does not ask when its period holds; None where it names none.

    Notes about the window follow the reason.
    """
    periods = () if period is None else (period,)
    regimes = tuple(Regime(*window.signal.window, one.period) for one in periods)
    return window_result(method, window, periods, regimes, " ".join((reason, *window.notes)), evidence)
