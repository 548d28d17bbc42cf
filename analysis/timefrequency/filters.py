"""Butterworth filters without phase shift, for a sampled signal (Frontiers'25, §5.1).

The paper's caution holds: variation of I/O is what happened, not noise. A filter takes frequencies out of sight, and
bursts it has smoothed are no longer the bursts that took place; a period found after it is one *of the filtered
signal*. Its use is to look at one range of frequencies, such as that on which a tool can act.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, cast

import numpy as np

from ...model.arrays import Floats, Frozen
from ...model.errors import SelectionError
from ...signals.construction import StepSignal, signal_of_samples
from ...signals.samples import Samples

Kind = Literal["low", "high", "band"]

MOST_ORDER = 12
SAMPLES_PER_CUTOFF = 16.0
"""Samples in a period of the highest cutoff, where the sampling frequency follows from the filter."""
MOST_BINS = 2**20
RIPPLE = 0.15
"""Share of a burst up to which a Butterworth filter of order 4, twice applied, swings beside it."""
PADDING = 3.0
"""Periods of the lowest cutoff by which the samples are continued at either end: the response has died away by then."""
FORMS = "low:HZ, high:HZ or band:HZ:HZ"


@dataclass(frozen=True)
class Butterworth:
    """A filter that passes frequencies below, above or between its cutoffs.

    Attributes
    ----------
    kind : "low", "high" or "band"
        What passes.
    cutoff : (float,) or (float, float)
        In Hz; there the response is 1/√2 (-3 dB), forwards and backwards together.
    order : int
        Order of each of the two passes, 1 to 12.

    Raises SelectionError if a parameter makes no sense.
    """

    kind: Kind
    cutoff: tuple[float, ...]
    order: int = 4

    def __post_init__(self) -> None:
        wanted = {"low": 1, "high": 1, "band": 2}.get(self.kind)
        if wanted is None:
            raise SelectionError(f"filter {self.kind!r}: write {FORMS}")
        numbers = all(np.isfinite(hz) and hz > 0 for hz in self.cutoff)
        if len(self.cutoff) != wanted or not numbers or sorted(set(self.cutoff)) != list(self.cutoff):
            raise SelectionError(f"filter {self}: cutoffs are positive numbers of Hz, ascending; write {FORMS}")
        if isinstance(self.order, bool) or not isinstance(self.order, int) or not 1 <= self.order <= MOST_ORDER:
            raise SelectionError(f"filter order {self.order!r}: give a whole number from 1 to {MOST_ORDER}")

    def __str__(self) -> str:
        return ":".join([self.kind, *(f"{hz:.6g}" for hz in self.cutoff)])

    @classmethod
    def parse(cls, text: str) -> Butterworth:
        """Read a filter as it is written on the command line: ``low:0.5``, ``high:0.01`` or ``band:0.01:0.5`` (Hz).

        Raises SelectionError if it is written otherwise.
        """
        kind, *numbers = str(text).split(":")
        try:
            cutoff = tuple(float(number) for number in numbers)
        except ValueError:
            raise SelectionError(f"filter {text!r}: write {FORMS}") from None
        return cls(cast(Kind, kind), cutoff)

    def passes(self, period: float) -> bool:
        """Say whether the frequency of a period in s lies within the passed band, its cutoffs included."""
        frequency = 1.0 / period
        low, high = self.cutoff[0], self.cutoff[-1]
        return (self.kind == "low" or frequency >= low) and (self.kind == "high" or frequency <= high)

    def sections(self, fs: float) -> Floats:
        """Return the second-order sections of one pass at ``fs`` Hz, float64 (s, 6).

        Raises SelectionError if a cutoff is not below half the sampling frequency, or has a period of more samples
        than a signal has: sections that slow cannot be computed.

        Notes
        -----
        Passing twice squares the response, which would move the point of -3 dB into the passed range. The cutoff of
        one pass lies therefore outside of it by the factor c = (√2 - 1)^(-1/2n) for order n, in the frequencies
        w = tan(π f / fs) of the analogue prototype; a band keeps its centre √(w₁ w₂) and gets c times its width.
        """
        from scipy.signal import butter

        if self.cutoff[-1] >= 0.5 * fs:
            raise SelectionError(
                f"filter {self} at a sampling frequency of {fs:.6g} Hz: cutoffs must be below {0.5 * fs:.6g} Hz"
            )
        if self.cutoff[0] * MOST_BINS < fs:
            raise SelectionError(
                f"filter {self} at a sampling frequency of {fs:.6g} Hz: cutoffs must be above {fs / MOST_BINS:.6g} Hz"
            )
        wider = (np.sqrt(2) - 1) ** (-1 / (2 * self.order))
        w = np.tan(np.pi * np.array(self.cutoff) / fs)
        if self.kind == "low":
            w = w * wider
        elif self.kind == "high":
            w = w / wider
        else:
            width = wider * (w[1] - w[0])
            half = np.sqrt(0.25 * width**2 + w[0] * w[1])
            w = np.array([half - 0.5 * width, half + 0.5 * width])
        normalised = 2 / np.pi * np.arctan(w)
        kinds: dict[str, Literal["lowpass", "highpass", "bandpass"]]
        kinds = {"low": "lowpass", "high": "highpass", "band": "bandpass"}
        edges: Floats = normalised if normalised.size == 2 else normalised[0]
        return np.asarray(butter(self.order, edges, kinds[self.kind], output="sos"), dtype=np.float64)

    def apply(self, values: Floats, fs: float) -> Floats:
        """Filter samples forwards and backwards, which leaves every phase where it is.

        Parameters
        ----------
        values : float64 (n,)
            The signal at equal distances.
        fs : float
            Sampling frequency in Hz.

        Returns
        -------
        float64 (n,)
            May be negative; without its mean, unless the filter is a low-pass.

        Notes
        -----
        Before the first and after the last sample the signal is continued by its mirror image for three periods of the
        lowest cutoff, as far as there are samples. A point reflection would put as much below the first sample as there
        is above it, and so turn a burst at the beginning into a hole.
        """
        from scipy.signal import sosfiltfilt

        sections = self.sections(fs)
        length = min(int(np.ceil(min(PADDING * fs / self.cutoff[0], values.size))), values.size - 1)
        filtered: Floats = sosfiltfilt(sections, values, padtype="even", padlen=length)
        return filtered


def filter_samples(samples: Samples, form: Butterworth | str) -> Samples:
    """Filter samples by a `Butterworth` or its written form, and return them as samples at the same times."""
    chosen = form if isinstance(form, Butterworth) else Butterworth.parse(form)
    return replace(samples, values=chosen.apply(samples.values, samples.fs), abstraction_error=None)


def filter_sampling(signal: StepSignal, form: Butterworth) -> float:
    """Choose a sampling frequency in Hz for a filter: fine for the signal, and 16 samples in a period of the cutoff.

    Raises SelectionError if the cutoff would take more than 2^20 samples.
    """
    from ...signals.step import automatic_frequency

    needed = SAMPLES_PER_CUTOFF * form.cutoff[-1]
    if needed * signal.duration > MOST_BINS:
        raise SelectionError(
            f"filter {form} over {signal.duration:.6g} s takes {needed * signal.duration:.3g} samples, "
            f"more than {MOST_BINS}: use a lower cutoff or a shorter window"
        )
    return max(automatic_frequency(signal), needed)


class FilteredSignal(Frozen):
    """A signal after a filter.

    Attributes
    ----------
    signal : StepSignal
        Of the filtered samples, measured from the smallest one where that is negative.
    baseline : float
        The smallest sample where it is negative, else 0; the filtered samples are the signal and this.
    fs : float
        Sampling frequency of the samples in Hz.
    form : Butterworth
        The filter.
    """

    signal: StepSignal
    baseline: float
    fs: float
    form: Butterworth


def without_ripple(filtered: FilteredSignal) -> StepSignal:
    """Cut off what a filter makes beside each burst: where bursts are looked for, its ripple would be bursts, too."""
    signal = filtered.signal
    crests = np.maximum(signal.values - RIPPLE * float(signal.values.max(initial=0.0)), 0.0)
    return signal_of_samples(crests, filtered.fs, float(signal.times[0]), signal.unit)[0]


def filtered_signal(
    signal: StepSignal, form: Butterworth | str, fs: float | Literal["auto"] = "auto"
) -> FilteredSignal:
    """Filter a signal.

    Parameters
    ----------
    signal : StepSignal
    form : Butterworth or str
        The filter, or as it is written: "low:HZ", "high:HZ" or "band:HZ:HZ".
    fs : float or "auto"
        Frequency in Hz that the signal is sampled at, or "auto" for that of `filter_sampling`.

    Raises SelectionError if the filter or the frequency makes no sense.
    """
    chosen = form if isinstance(form, Butterworth) else Butterworth.parse(form)
    samples = filter_samples(signal.sample(filter_sampling(signal, chosen) if fs == "auto" else fs), chosen)
    smooth, baseline = signal_of_samples(samples.values, samples.fs, samples.start, signal.unit)
    return FilteredSignal(smooth, baseline, samples.fs, chosen)
