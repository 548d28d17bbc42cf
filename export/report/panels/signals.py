"""Signals as the page draws them: curves with their phases, spectra, and the sizes of requests."""

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np

from ....analysis.comparison.layer_periods import LayerPeriod, layer_periods
from ....analysis.results.evidence import SpectralEvidence
from ....analysis.results.result import PeriodResult, Phase
from ....analysis.spectral.spectrum import power_spectrum
from ....layers.layer import Layer
from ....layers.selection.directions import Direction
from ....model.arrays import Array, Floats, Frozen, Ints
from ....model.quantities import bytes_text, counted, frequency_text, percent_text, seconds_text, share_text
from ....signals.construction import StepSignal
from ....signals.step import envelope
from ...encoding import packed
from ...page.document import Axis, Beside, Chart, PageBlock, Paragraph, Series


def curve(signal: StepSignal, most_steps: int, bins: int) -> dict[str, Any]:
    """Return `envelope` of a signal as the page holds it.

    Edges are float64; rates are float32, accurate to 7 digits. An exact signal has one column for its three.
    """
    shown = envelope(signal, most_steps, bins)
    content: dict[str, Any] = {
        "exact": shown.exact,
        "unit": signal.unit,
        "steps": len(signal.values),
        "impulses": len(signal.impulse_times),
        "window_s": signal.window,
        "count": len(shown.mean),
        "peak": _peak(signal),
        "mean": packed(shown.mean, "f4"),
    }
    if shown.exact:
        content["edges"] = packed(shown.edges, "f8")
    else:
        content["low"] = packed(shown.low, "f4")
        content["high"] = packed(shown.high, "f4")
    return content


def _peak(signal: StepSignal) -> dict[str, float] | None:
    """Return the highest rate of the signal itself, whatever it is drawn with, and when; None where it has none."""
    if not len(signal.values) or not signal.values.max() > 0:
        return None
    place = int(signal.values.argmax())
    start, end = signal.times[place : place + 2]
    return {"rate": float(signal.values[place]), "start_s": float(start), "length_s": float(end - start)}


def metadata_charts(
    layers: Iterable[Layer], verdict: Callable[[PeriodResult, tuple[float, float]], str]
) -> list[PageBlock]:
    """Return charts of the metadata operations per second of layers that have any, with phases, and `verdict` below."""
    charts: list[PageBlock] = []
    for period in layer_periods(layers, (), quantity="metadata"):
        signal, (start, end) = period.signal, period.signal.window
        width = (end - start) / _FEWEST_BINS
        counts = np.diff(signal.volume_until(start + width * np.arange(_FEWEST_BINS + 1)))
        steps = Series.of_values(counts / width, width, "write", start, "operations a second")
        begins = Series("marks", "period", [one.start for one in period.result.phases[:_MOST_MARKED]])
        told = counted(round(float(signal.volume)), "operation")
        caption = f"{period.layer}: {told}, {verdict(period.result, signal.window)}; marks: begins of phases"
        axes = Axis("seconds", ends=(start, end)), Axis("count", "a second")
        charts.append(Chart(period.layer, *axes, [steps, begins], caption, height=180, read=True))
    return charts


def phase_strip(phases: Sequence[Phase], most: int) -> dict[str, Any]:
    """Return begins and ends of phases in s, float64; of more than `most`, neighbours are put together."""
    together = max(1, -(-len(phases) // most))
    groups = [phases[place : place + together] for place in range(0, len(phases), together)]
    return {
        "total": len(phases),
        "together": together,
        "start": packed([group[0].start for group in groups], "f8"),
        "end": packed([group[-1].end for group in groups], "f8"),
        "bytes": packed([sum(phase.volume for phase in group) for group in groups], "f4"),
    }


_FALSE_ALARM_RATE: Final = 0.01
_MOST_MARKED: Final = 64
_BINS_A_PERIOD: Final = 16
_FEWEST_BINS: Final = 256


def spectra(periods: Iterable[LayerPeriod], points: int) -> list[PageBlock]:
    """Return the spectra of signals that have one."""
    charts = [chart for period in periods if (chart := spectrum(period, points)) is not None]
    text = (
        "Share of the power of each frequency, on a logarithmic axis. Dashed: what the strongest line of white noise "
        "exceeds in 1 % of cases. Filled mark: the period; open marks: the candidates of the method."
    )
    return [Paragraph(text), Beside(charts)] if charts else []


def spectrum(period: LayerPeriod, points: int) -> Chart | None:
    """Return the power spectrum of a signal, None where it has none.

    Where the method looked for lines, its sampling is taken. Elsewhere bins are as long as a 16th of the period, so
    that its first harmonics are seen and not thousands of lines that single operations fill.

    Power is relative to the sum over all frequencies above 0. Of neighbouring lines that share a point the strongest is
    kept, so no peak is lost; dashed is the level of `Spectrum.significant_share`.
    """
    fs = _frequency(period)
    if fs is None:
        return None
    found = power_spectrum(period.signal.sample(fs).values, fs)
    power = found.power[1:]
    total = float(power.sum())
    if not len(power) or total <= 0 or found.flat:
        return None
    share = power / total
    # Points are dense where the lines are on a logarithmic axis: each of the first lines has a point of its own.
    edges = np.unique(np.geomspace(1, len(share) + 1, points + 1).astype(np.int64)) - 1
    edges[-1] = len(share)
    peak = np.maximum.reduceat(share, edges[:-1])
    lines = np.array([low + int(np.argmax(share[low:high])) for low, high in pairwise(edges)]) + 1
    frequency = lines * found.resolution
    evidence, label = period.result.evidence, f"{period.layer} {period.direction}"
    candidates = evidence.candidates_hz if isinstance(evidence, SpectralEvidence) else ()
    noise = found.significant_share(_FALSE_ALARM_RATE)
    strongest = float(frequency[peak.argmax()])
    caption = (
        f"{counted(found.samples, 'bin')} at {frequency_text(fs)}; strongest line at {frequency_text(strongest)} "
        f"({seconds_text(1 / strongest)}) with {percent_text(float(peak.max()))} of the power"
    )
    held = [1 / other.period for other in period.result.periods[:_MOST_MARKED] if other.period > 0]
    series = [
        Series("stems", period.direction or "read", frequency, peak, name="share of the power"),
        Series("levels", "dashed", y=[noise], texts=[f"noise rarely exceeds {percent_text(noise)}"]),
        Series("marks", "open", list(candidates[:_MOST_MARKED])),
        Series("marks", "period", held),
    ]
    x = Axis("frequency", scale="log", ends=(0.8 * found.resolution, 1.05 * len(power) * found.resolution))
    return Chart(label, x, Axis("share"), series, caption, "sampling", height=100, read=True, heading=True)


def _frequency(period: LayerPeriod) -> float | None:
    result = period.result
    fs = result.sampling.fs
    if fs is None or isinstance(result.evidence, SpectralEvidence):
        return fs
    shown = _FEWEST_BINS / period.signal.duration
    if result.period is not None:
        shown = max(shown, _BINS_A_PERIOD / result.period)
    return min(fs, shown)


_FEWEST_SIZES: Final = 8
"""A single bar as wide as the picture would look like much."""
_UNITS: Final = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")


class RequestSizes(Frozen):
    """How many operations requested how many bytes, by powers of two.

    The bin ``2^k`` holds requests of 2^k to 2^(k+1) − 1 bytes; requests of 0 bytes and those whose size the trace does
    not know are counted separately. Operations count whole, also where the window cuts them, as in ``request_bytes``.
    """

    layer: str
    direction: str
    exponents: Ints
    operations: Ints
    bytes: Floats
    empty_operations: int
    unknown_operations: int


def request_sizes(layer: Layer, direction: Direction) -> RequestSizes:
    """Return the request sizes of a layer in a direction."""
    sizes, often = layer.request_counts(direction).ordered()
    sized = sizes > 0
    exponent = _floor_log2(sizes[sized])
    counts = np.bincount(exponent, weights=often[sized], minlength=64).astype(np.int64)
    weights = np.asarray(often[sized] * sizes[sized], np.float64)
    volume: Floats = np.bincount(exponent, weights=weights, minlength=64).astype(np.float64)
    used = np.flatnonzero(counts)
    unknown = layer.statistics(direction).operations - int(often.sum())
    empty = int(often[~sized].sum())
    return RequestSizes(layer.name, direction, used, counts[used], volume[used], empty, unknown)


def size_charts(found: Sequence[RequestSizes]) -> list[PageBlock]:
    """Return a picture of each, all on one axis, and a sentence on those of which no size is known."""
    sized = [one for one in found if len(one.exponents)]
    if not found:
        return []
    text = (
        "Filled: number of operations by the bytes that they requested, in powers of two. Outlined: their bytes. Each "
        "picture has its own height; all have the same axis."
    )
    blocks: list[PageBlock] = [Paragraph(text)]
    if sized:
        lowest = int(min(one.exponents.min() for one in sized))
        highest = max(int(max(one.exponents.max() for one in sized)), lowest + _FEWEST_SIZES - 2)
        blocks.append(Beside([_size_chart(one, lowest, highest) for one in sized]))
    unknown = [f"{one.layer} {one.direction}" for one in found if not len(one.exponents)]
    if unknown:
        blocks.append(Paragraph(f"The trace does not know the request sizes of {', '.join(unknown)}.", muted=True))
    return blocks


def _size_chart(one: RequestSizes, lowest: int, highest: int) -> Chart:
    """Return a histogram; requests of 0 bytes stand left of the lowest bin."""
    exponents, operations, volumes = (column.tolist() for column in (one.exponents, one.operations, one.bytes))
    ranges = [f"{_binary_text(exponent)} to below {_binary_text(exponent + 1)}" for exponent in exponents]
    if one.empty_operations:
        exponents, operations = [lowest - 1, *exponents], [one.empty_operations, *operations]
        volumes, ranges = [0.0, *volumes], ["0 B", *ranges]
    total, most, largest = sum(operations), max(operations), max(1.0, *volumes)
    label = f"{one.layer} {one.direction}"
    texts = [
        f"{label}, requests of {sizes}: {counted(count, 'operation')}, {share_text(count, total)}; {bytes_text(volume)}"
        for sizes, count, volume in zip(ranges, operations, volumes, strict=True)
    ]
    low, high = 2.0 ** np.array(exponents), 2.0 ** (np.array(exponents) + 1)
    bottom, filled, outlined = np.zeros(len(low)), np.array(operations) / most, np.array(volumes) / largest
    bars = Series("boxes", one.direction, low, bottom, high, filled, texts=texts, gap=1)
    some = outlined > 0.005
    outlines = Series("boxes", "outline", low[some], bottom[some], high[some], outlined[some], gap=1.5)
    caption = [
        f"{counted(total, 'request')} of known size",
        f"highest bar: {most:,} filled, {bytes_text(largest)} outlined",
    ]
    if one.unknown_operations:
        caption.append(f"{one.unknown_operations:,} of unknown size")
    x = Axis("binary", scale="log2", ends=(2.0 ** (lowest - 1), 2.0 ** (highest + 1)))
    return Chart(label, x, Axis(), [bars, outlines], ", ".join(caption), "request", 90, most=340, heading=True)


def _binary_text(exponent: int) -> str:
    step = min(6, exponent // 10)
    return f"{2 ** (exponent - 10 * step)} {_UNITS[step]}B"


def _floor_log2(sizes: Array) -> Ints:
    """Return the exponent of the largest power of two that each size reaches; float64 rounds 2^k − 1 up from 2^53."""
    edges = np.uint64(1) << np.arange(64, dtype=np.uint64)
    return (np.searchsorted(edges, sizes, side="right") - 1).astype(np.int64)
