"""A picture of signals with their periods: signal, fit, scalogram and short-time spectra on one time axis.

The module needs matplotlib; import it inside the function that uses it.
"""

from __future__ import annotations

import os
import tempfile
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

from ..analysis.comparison.layer_periods import LayerPeriod
from ..analysis.results.evidence import SpectralEvidence
from ..analysis.results.plots import SHADES, verdict_text
from ..analysis.results.result import PeriodResult
from ..analysis.spectral.autocorrelation import PEAK_HEIGHT, autocorrelation, autocorrelation_period, find_peaks
from ..analysis.spectral.outliers import z_scores
from ..analysis.spectral.sampling_rate import phase_frequency
from ..analysis.spectral.spectrum import power_spectrum
from ..analysis.timefrequency.filters import Butterworth, filtered_signal
from ..analysis.timefrequency.transforms import TimeFrequency, discrete_scalogram, scalogram, short_time_fourier
from ..analysis.timefrequency.validity import validity
from ..layers.statistics.grouping import part_title
from ..model.errors import SelectionError, import_library
from ..model.quantities import seconds_text
from ..model.text import printable, shortened
from ..signals.samples import Samples
from ..signals.step import StepSignal
from .atomic import atomic_file, output_error
from .quantities import signal_title
from .written import Written

SUFFIXES: Final = (".png", ".svg", ".pdf")
MOST_SIGNALS: Final = 16
_FINER: Final = 8.0
_FEWEST_BINS, _MOST_BINS = 64, 2**12
_PERIODS_IN_PIECE: Final = 4.0
_BRIGHTEST: Final = 0.98
"""Quantile of the amplitudes that has the brightest colour."""
_WIDTH, _HEIGHT = 11.0, 10.0
_CANDIDATES: Final = 3
"""Most lines of a spectrum that are marked."""
_NEAR: Final = 0.1
"""Periods that a phase may begin before its regime."""
_LAGS: Final = 12.0
"""Periods of lag that an autocorrelation shows."""
_SHARES: Final = 2
"""Most steps of the narrow axis of a spectrum, whose labels may have many digits."""
_TITLE_WIDTH: Final = 95
"""Characters of a title that fit into a line."""
_TRANSFORMS: Final = {
    "CWT": "continuous wavelet transform (Morlet); outside of the dashed lines the ends weigh in",
    "STFT": "short-time Fourier transform",
    "DWT": "discrete wavelet transform (Haar), details by band",
}
_PLACES: Final = {"left": 0.075, "right": 0.945, "top": 0.92, "bottom": 0.055, "wspace": 0.06, "hspace": 0.62}
"""Of the axes of one signal, in shares of its part of the figure, and of an axis between them."""
_UNITS: Final = {"bandwidth": "B/s", "operations": "1/s", "metadata": "1/s", "in-flight": ""}


def check_figure_library(path: str | os.PathLike[str]) -> None:
    """Import matplotlib, to draw into `path`; raises MissingLibraryError if it is not installed."""
    with _place_for_settings(Path(path).parent):
        import_library("matplotlib.figure")


@contextmanager
def _place_for_settings(folder: Path) -> Iterator[None]:
    """Let matplotlib be imported where neither a home nor a temporary folder can be written to, but `folder` can."""
    chosen = os.environ.get("MPLCONFIGDIR")
    try:
        tempfile.gettempdir()
        missing = False
    except FileNotFoundError:
        missing = chosen is None or not os.access(chosen, os.W_OK)
    if not missing:
        yield
        return
    try:
        place = tempfile.TemporaryDirectory(prefix=".iostrata-", dir=folder)
    except OSError as error:
        raise output_error(folder, error) from error
    with place as os.environ["MPLCONFIGDIR"]:
        try:
            yield
        finally:
            del os.environ["MPLCONFIGDIR"]
            if chosen is not None:
                os.environ["MPLCONFIGDIR"] = chosen


def write_figure(draw: Callable[[], Any], path: str | os.PathLike[str], dpi: int = 120) -> int:
    """Write the figure that `draw` returns into a .png, .svg or .pdf, whole or not at all; return its bytes.

    Raises MissingLibraryError if matplotlib is not installed, OutputError if the file cannot be written.
    """
    check_figure_library(path)
    from matplotlib import rc_context

    kind = Path(path).suffix.lower()
    date: dict[str, dict[str, Any]] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    # Names out of a trace may hold a dollar sign, which is no formula; a fixed salt makes pictures of one trace equal.
    with rc_context({"text.parse_math": False, "svg.hashsalt": "iostrata"}):
        figure = draw()
        with atomic_file(path) as temporary:
            figure.savefig(temporary, format=kind[1:], dpi=dpi, metadata=date.get(kind))
            return temporary.stat().st_size


def write_period_figure(
    periods: Sequence[LayerPeriod],
    path: str | os.PathLike[str],
    fs: float | Literal["auto"] = "auto",
    filter: Butterworth | str | None = None,
) -> Written:
    """Draw signals with their periods, one below the other, into a file.

    Each has the signal as averages of bins, with phases, regimes and the fit; the scalogram and the short-time Fourier
    transform on the same time axis; and the power spectrum beside them on the same frequency axis. Raises
    SelectionError if there are no signals or too many, or the suffix is another one; MissingLibraryError without
    matplotlib; OutputError if the file cannot be written; nothing is left behind then.

    Parameters
    ----------
    periods : sequence of LayerPeriod
        At least 1, at most 16.
    path : path
        File whose suffix, .png, .svg or .pdf, says what is written. It appears when it is complete.
    fs : float or "auto"
        Bins per second; as many as fill 64 to 4096 bins, "auto" about 24 for each of the signal's phases. A fit is
        drawn over the bins it was made of.
    filter : Butterworth or str, optional
        The filter that was put before the method; the filtered signal is drawn and transformed too.
    """
    if Path(path).suffix.lower() not in SUFFIXES:
        raise SelectionError(f"{os.fspath(path)!r} ends in none of the known suffixes: {', '.join(SUFFIXES)}")
    return Written(Path(path), write_figure(lambda: draw_periods(periods, fs, filter), path), signals=len(periods))


def draw_periods(
    periods: Sequence[LayerPeriod], fs: float | Literal["auto"] = "auto", filter: Butterworth | str | None = None
) -> Any:
    """Draw what `write_period_figure` writes, as a ``matplotlib.figure.Figure``.

    Raises SelectionError if there are no signals or too many.
    """
    from matplotlib.figure import Figure

    if not periods:
        raise SelectionError("nothing to draw: these layers and directions moved nothing on the selected files")
    if len(periods) > MOST_SIGNALS:
        raise SelectionError(
            f"{len(periods)} signals are too many for one picture: choose at most {MOST_SIGNALS} with --layer, "
            "--direction or --parts"
        )
    # All have the same axes: where these stand is known, and measuring each text for it would take half of the time.
    figure = Figure(figsize=(_WIDTH, _HEIGHT * len(periods)))
    for part, period in zip(figure.subfigures(len(periods), 1, squeeze=False)[:, 0], periods, strict=True):
        _draw(part, period, fs, filter)
    return figure


def _draw(part: Any, period: LayerPeriod, fs: float | Literal["auto"], filter: Butterworth | str | None) -> None:
    from matplotlib.patches import Patch

    signal, result = period.signal, period.result
    filtered = None if filter is None else filtered_signal(signal, filter, fs)
    shown = signal if filtered is None else filtered.signal
    if period.fit is not None:
        samples = period.fit.samples
    else:
        chosen = _FINER * phase_frequency(shown) if fs == "auto" else float(fs)
        bins = float(np.clip(chosen * signal.duration, _FEWEST_BINS, _MOST_BINS))
        samples = shown.sample(bins / signal.duration)
        if filtered is not None:
            samples = Samples(samples.values + filtered.baseline, samples.fs, samples.start, samples.unit, samples.name)
    part.suptitle("\n".join(textwrap.wrap(_title(period), _TITLE_WIDTH)), fontweight="bold")
    grid = part.add_gridspec(5, 2, width_ratios=(4, 1), height_ratios=(3, 2, 2, 2, 1.5), **_PLACES)
    axes = part.add_subplot(grid[0, 0])
    axes.set_xlim(*signal.window)
    if filtered is None:
        axes.stairs(samples.values, samples.edges, fill=True, color="0.55", label=_bins_label("signal", samples))
    else:
        before = signal.sample(samples.fs)
        axes.stairs(before.values, before.edges, fill=True, color="0.75", label=_bins_label("signal", before))
        axes.stairs(samples.values, samples.edges, color="0.25", linewidth=1, label=f"after {filter} Hz")
    analysed = _as_analysed(shown, samples, result)
    if analysed is not samples:
        label = _bins_label("as analysed", analysed)
        axes.stairs(analysed.values, analysed.edges, color="tab:brown", linewidth=1, label=label)
    mean = float(samples.values.mean())
    axes.axhline(mean, color="0.3", linewidth=0.8, linestyle="--", label="mean rate, V/L")
    _draw_verdict(axes, period, samples)
    wavelet_axes = part.add_subplot(grid[1, 0], sharex=axes)
    fourier_axes = part.add_subplot(grid[2, 0], sharex=axes, sharey=wavelet_axes)
    discrete_axes = part.add_subplot(grid[3, 0], sharex=axes, sharey=wavelet_axes)
    _draw_transform(wavelet_axes, scalogram, samples, result)
    _draw_transform(fourier_axes, partial(_fourier, result=result), samples, result)
    _draw_transform(discrete_axes, discrete_scalogram, samples, result)
    correlation_axes = part.add_subplot(grid[4, 0], sharex=axes)
    _draw_sliding_correlation(correlation_axes, samples, result)
    for above in (axes, wavelet_axes, fourier_axes, discrete_axes):
        above.set_xlabel("")
        above.tick_params(labelbottom=False)
    correlation_axes.set_xlabel("time (s)")
    low, high = 2 / signal.duration, samples.fs / 2
    wavelet_axes.set_ylim(low, high)
    _draw_spectrum(part.add_subplot(grid[1, 1], sharey=wavelet_axes), analysed, result)
    _draw_autocorrelation(part.add_subplot(grid[2, 1]), analysed, result)
    _draw_forecasts(part.add_subplot(grid[3:, 1]), result)
    words_axes = part.add_subplot(grid[0, 1])
    words_axes.axis("off")
    reason = "\n".join(textwrap.wrap(printable(result.reason), 34)[:9])
    words_axes.text(0, 1, reason, va="top", fontsize="small", transform=words_axes.transAxes)
    handles, _ = axes.get_legend_handles_labels()
    if result.regimes:
        shaded = "the period holds (DFT × DWT)" if result.method == "hybrid" else "regime"
        handles.append(Patch(color=SHADES[0], alpha=0.12, label=shaded))
    words_axes.legend(handles=handles, loc="lower left", fontsize="small", frameon=False, borderpad=0)


def _title(period: LayerPeriod) -> str:
    name = signal_title(period)
    if period.by is not None:
        name += f", {shortened(printable(part_title(period.by, period.part)), 60)}"
    if period.traffic != "all":
        name += f", {period.traffic} traffic"
    result = period.result
    if result.evidence.filter is not None:
        name += f", after the filter {result.evidence.filter} Hz"
    if result.period is None:
        return f"{name}: no period"
    verdict = verdict_text(result.period, result.regimes)
    return f"{name}: {verdict}, confidence {result.confidence:.2f}, method {result.method}"


def _bins_label(name: str, samples: Samples) -> str:
    return f"{name}, means over {seconds_text(1 / samples.fs)}"


def _draw_verdict(axes: Any, period: LayerPeriod, samples: Samples) -> None:
    """Draw regimes, phases and the fit over a signal."""
    from matplotlib.ticker import EngFormatter

    result = period.result
    top = max(float(samples.values.max()), 0.0)
    # Room for the names of the regimes above the signal, and for the phases below it.
    bottom = min(float(samples.values.min()), 0.0)
    height = (top - bottom) or 1.0
    axes.set_ylim(bottom - 0.08 * height, top + (0.35 if result.regimes else 0.1) * height)
    result.plot_regimes(axes)
    if result.phases:
        spans = [(phase.start, phase.end - phase.start) for phase in result.phases]
        axes.broken_barh(
            spans, (0.015, 0.035), transform=axes.get_xaxis_transform(), color="tab:green", label="phases", linewidth=1
        )
    if period.fit is not None:
        period.fit.fit.plot(axes)
    axes.yaxis.set_major_formatter(EngFormatter(unit=_UNITS[period.quantity]))


def _fourier(samples: Samples, result: PeriodResult) -> TimeFrequency:
    usual, duration = result.period or result.recurrence, len(samples) / samples.fs
    window = None if usual is None else min(max(_PERIODS_IN_PIECE * usual, 16 / samples.fs), 0.5 * duration)
    return short_time_fourier(samples, window=window, overlap=0.9)


def _draw_transform(
    axes: Any, transformed: Callable[[Samples], TimeFrequency], samples: Samples, result: PeriodResult
) -> None:
    from matplotlib.colors import PowerNorm
    from matplotlib.ticker import EngFormatter, NullFormatter

    axes.set_facecolor("0.92")
    axes.set_yscale("log")
    axes.set_ylabel("frequency (Hz)")
    try:
        transform = transformed(samples)
    except SelectionError:
        axes.text(0.5, 0.5, "too few samples", ha="center", va="center", transform=axes.transAxes)
        return
    # One burst of another size, such as the first one, leaves all others their colours.
    most = float(np.quantile(transform.amplitude, _BRIGHTEST))
    transform.plot(axes, rasterized=True, norm=PowerNorm(0.5, 0.0, most if most > 0 else 1.0))
    axes.set_yscale("log")
    axes.set_title(_TRANSFORMS[transform.kind], fontsize="small", loc="left")
    for regime in result.regimes:
        axes.hlines(1 / regime.period, regime.start, regime.end, color="tab:red", linewidth=1, linestyle=":")
    # Logarithmic axes write powers as formulas, which are off here.
    axes.yaxis.set_major_formatter(EngFormatter())
    axes.yaxis.set_minor_formatter(NullFormatter())


def _as_analysed(shown: StepSignal, samples: Samples, result: PeriodResult) -> Samples:
    """Return the samples that the method looked at; those that are drawn where it looked at the exact signal."""
    fs = result.sampling.fs
    if fs is None or fs == samples.fs or not _FEWEST_BINS <= fs * shown.duration <= _MOST_BINS:
        return samples
    return shown.sample(fs)


def _draw_spectrum(axes: Any, samples: Samples, result: PeriodResult) -> None:
    from matplotlib.ticker import MaxNLocator

    spectrum = power_spectrum(samples.values, samples.fs)
    power = spectrum.power[1:]
    total = float(power.sum())
    shares = power / total if total > 0 else power
    axes.plot(shares, spectrum.frequencies[1:], color="0.25", linewidth=1)
    for period in sorted({regime.period for regime in result.regimes}):
        axes.axhline(1 / period, color="tab:red", linewidth=1, linestyle=":")
    scores = z_scores(power)
    evidence = result.evidence
    if isinstance(evidence, SpectralEvidence):
        for frequency in evidence.candidates_hz[:_CANDIDATES]:
            line = int(np.argmin(np.abs(spectrum.frequencies[1:] - frequency)))
            sure = evidence.spectral_confidence if result.frequency == frequency else None
            place = shares[line], frequency
            text = f"z {scores[line]:.1f}" + ("" if sure is None else f", c_d {sure:.2f}")
            axes.plot(*place, "o", color="tab:red", markersize=4)
            axes.annotate(text, place, (-4, 4), textcoords="offset points", ha="right", fontsize="small")
    axes.set_title(_bins_label("power spectrum", samples), fontsize="small", loc="left")
    axes.set_xlabel("share of the power")
    axes.xaxis.set_major_locator(MaxNLocator(_SHARES))
    # Beside the wavelet transform and as high, so that lines of both stand at one height; with numbers of its own.
    axes.yaxis.tick_right()
    axes.yaxis.set_label_position("right")
    axes.tick_params(labelleft=False, labelright=True)
    axes.set_ylabel("frequency (Hz)")


def _draw_autocorrelation(axes: Any, samples: Samples, result: PeriodResult) -> None:
    """Draw the correlation of the samples with themselves, its peaks, and the period that these show."""
    correlation = autocorrelation(samples.values)
    lags = np.arange(len(correlation)) / samples.fs
    peaks = find_peaks(correlation, PEAK_HEIGHT)
    axes.plot(lags, correlation, color="0.25", linewidth=0.8)
    axes.plot(lags[peaks], correlation[peaks], ".", color="tab:green", markersize=5)
    axes.axhline(PEAK_HEIGHT, color="0.6", linewidth=0.8, linestyle="--")
    for period in sorted({regime.period for regime in result.regimes}):
        axes.axvline(period, color="tab:red", linewidth=1, linestyle=":")
    usual = result.period or result.recurrence
    axes.set_xlim(0, lags[-1] if usual is None else min(lags[-1], _LAGS * usual))
    found = autocorrelation_period(samples.values, samples.fs)
    shown = "no peak" if found is None else f"peaks {seconds_text(found.period)} apart"
    axes.set_title(f"autocorrelation: {shown}", fontsize="small", loc="left")
    axes.set_xlabel("lag (s)")
    axes.yaxis.tick_right()


def _draw_sliding_correlation(axes: Any, samples: Samples, result: PeriodResult) -> None:
    """Draw how a window of one period correlates with the period's cosine, and where by this the period holds."""
    axes.set_ylim(-1.05, 1.05)
    for regime in result.regimes:
        middle, half = 0.5 * (regime.start + regime.end), 0.5 * (regime.end - regime.start)
        inside = np.abs(samples.times - middle) <= half + regime.period
        values = samples.values[inside]
        try:
            found = validity(values, values, samples.fs, regime.period, float(samples.edges[:-1][inside].min()))
        except (SelectionError, ValueError):
            continue
        axes.plot(found.times, found.correlation, color="0.25", linewidth=0.8)
        for low, high in found.intervals:
            axes.axvspan(low, high, color="tab:green", alpha=0.15, linewidth=0)
    title = "correlation with the period's cosine in a window of one period; green: it holds (DFT × DWT)"
    axes.set_title(title if axes.lines else "no period to correlate with", fontsize="small", loc="left")


def _draw_forecasts(axes: Any, result: PeriodResult) -> None:
    """Draw when each phase came against when the mean interval of those before it in its regime had it come."""
    starts = np.array([phase.start for phase in result.phases])
    for regime in result.regimes:
        own = starts[(starts >= regime.start - _NEAR * regime.period) & (starts <= regime.end)]
        steps = np.diff(own)
        late = 100 * (steps[2:] * np.arange(2, steps.size) / np.cumsum(steps)[1:-1] - 1)
        axes.plot(own[3:], late, ".-", color="0.25", linewidth=0.6, markersize=4)
        if regime.jitter is not None:
            reach = 200 * regime.jitter
            axes.fill_between((regime.start, regime.end), -reach, reach, color="tab:red", alpha=0.12, linewidth=0)
    axes.axhline(0, color="0.6", linewidth=0.8)
    axes.set_title("late against the forecast", fontsize="small", loc="left")
    axes.set_xlabel("time (s)")
    axes.set_ylabel("% of a period")
    axes.yaxis.tick_right()
    axes.yaxis.set_label_position("right")
