"""A signature in files: as a page with all steps, as netCDF-4, and as a picture."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from ...model.quantities import bytes_text, counted, rate_text, seconds_text
from ...model.text import printable
from ...runs.signatures.bursts import bursts_of, smoothed
from ...runs.signatures.clusters import Points
from ...runs.signatures.sample import Sample
from ...runs.signatures.signature import SampleUse, Signature
from ..atomic import atomic_file
from ..figure import write_figure
from ..hdf5.variables import GroupWriter, written_groups
from ..page.document import Axis, Chart, PageBlock, PageDocument, Paragraph, Section, Series, Table, TableColumn
from ..page.html import write_page
from ..written import Written

RUNS_SHOWN: Final = 12
_LEVELS: Final = (1, 2, 3, 4)
_ROWS: Final = 200
_LINES: Final = 40
"""Runs of the picture of bursts in their order."""

_BURSTS: Final = (
    TableColumn("burst", lambda one: one[0]),
    TableColumn("from", lambda one: one[1].start_s, "seconds"),
    TableColumn("centre", lambda one: one[1].peak_s, "seconds"),
    TableColumn("to", lambda one: one[1].end_s, "seconds"),
    TableColumn("volume", lambda one: one[1].volume, "bytes"),
    TableColumn("runs that have it", lambda one: ", ".join(one[1].samples[:RUNS_SHOWN]), "text"),
)
_RUNS: Final = (
    TableColumn("run", "name", "text"),
    TableColumn("length", "duration_s", "seconds"),
    TableColumn("volume", "volume", "bytes"),
    TableColumn("outlier factor", "outlier_factor", "fixed"),
    TableColumn("bursts", lambda one: one.bursts if one.used else None),
    TableColumn("dropped because", "reason", "text"),
)

Spans = Sequence[tuple[float, float, str]]


def signature_page(signature: Signature, what: str) -> PageDocument:
    """Return the page of a signature of `what`: a layer and direction, or a log."""
    used = sum(sample.used for sample in signature.samples)
    chosen = signature.parameters
    wavelet = f", wavelet level {chosen.level}, γ {chosen.gamma:g}" if chosen.level else ""
    method = (
        f"Method {chosen.method}{wavelet}, κ {chosen.kappa:g} "
        f"({counted(chosen.supporting_samples, 'run')} have to agree), interval {seconds_text(chosen.interval_s)}."
    )
    volume = (
        f"{bytes_text(signature.volume)} in {counted(len(signature.bursts), 'burst')} over "
        f"{seconds_text(signature.duration_s)}, common to {used} of {counted(len(signature.samples), 'run')}."
    )
    by_time, waves = chosen.method not in ("plain", "loops"), chosen.method != "loops"
    sections = (
        Section("signature", "Signature", "Signature", _signature(signature)),
        Section("runs", "Runs", "The runs", _runs(signature)),
        Section("used", "Which are used", "Which runs are used", _outliers(signature) if by_time else ()),
        Section("background", "Background", "Background traffic", _noise(signature) if chosen.background > 0 else ()),
        Section(
            "levels", "Levels", "Bursts of a run, by the level of the wavelet", _levels(signature) if waves else ()
        ),
        _common_bursts(signature),
    )
    return PageDocument(f"I/O signature: {what}", sections, opening=[Paragraph([volume, " ", method])])


def _throughput(sample: Sample, caption: str, spans: Spans = (), height: int = 80, top: float | None = None) -> Chart:
    """Return the throughput of a sample over its time, with spans shaded behind it."""
    axes = Axis("seconds", ends=(0.0, sample.duration)), Axis("rate", ends=None if top is None else (0.0, 1.05 * top))
    drawn = [_shaded(spans), Series.of_values(sample.values, sample.interval, "read", name=sample.name)]
    return Chart(caption, *axes, drawn, caption, height=height, read=True)


def _shaded(spans: Spans) -> Series:
    start, end, texts = (list(column) for column in zip(*spans, strict=True)) if spans else ([], [], [])
    return Series("spans", "burst", x=start, x2=end, texts=texts if any(texts) else ())


def _signature(signature: Signature) -> list[PageBlock]:
    spans = [
        (one.start_s, one.end_s, f"burst {number}: {bytes_text(one.volume)}, {counted(len(one.samples), 'run')}")
        for number, one in enumerate(signature.bursts, start=1)
    ]
    whole = Sample("the signature", signature.signature, signature.interval_s)
    text = "Throughput that the runs have in common; its bursts are shaded."
    return [_throughput(whole, text, spans, 150), Table(_BURSTS, list(enumerate(signature.bursts[:_ROWS], start=1)))]


def _runs(signature: Signature) -> list[PageBlock]:
    text = "After preprocessing, on the clock of the shortest; what belongs to a common burst is shaded."
    if len(signature.prepared) > RUNS_SHOWN:
        text += f" The first {RUNS_SHOWN} of {len(signature.prepared)}."
    charts = []
    for sample in signature.prepared[:RUNS_SHOWN]:
        spans = []
        for burst in signature.bursts:
            if sample.name in burst.samples and burst.peaks_s:
                at, half = burst.peaks_s[burst.samples.index(sample.name)], (burst.end_s - burst.start_s) / 2
                spans.append((max(0.0, at - half), min(signature.duration_s, at + half), ""))
        charts.append(_throughput(sample, sample.name, spans))
    return [Paragraph(text), *charts]


def _outliers(signature: Signature) -> list[PageBlock]:
    samples = signature.samples
    factors = [
        "" if one.outlier_factor is None else f": local outlier factor {one.outlier_factor:.2f}" for one in samples
    ]
    texts = [one.name + factor for one, factor in zip(samples, factors, strict=True)]
    dropped = [sample for sample in samples if not sample.used]
    x = Axis("seconds", "length", ends=_around([sample.duration_s for sample in samples]))
    y = Axis("bytes", "volume", ends=_around([sample.volume for sample in samples]))
    dots = [_dots(samples, "read", texts, 4), _dots(dropped, "ring", [sample.name for sample in dropped], 8)]
    caption = "A circle marks a run that is dropped: its local outlier factor stands out."
    chart = Chart("Length and volume of the runs", x, y, dots, caption, height=220, most=560)
    return [chart, Table(_RUNS, samples[:_ROWS])]


def _dots(samples: Iterable[SampleUse], tone: str, texts: Sequence[str], radius: float) -> Series:
    places = [(sample.duration_s, sample.volume) for sample in samples]
    return Series("dots", tone, [x for x, _ in places], [y for _, y in places], texts=texts, radius=radius)


def _around(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    room = (high - low) * 0.1 or abs(high) * 0.1 or 1.0
    return max(0.0, low - room), high + room


def _noise(signature: Signature) -> list[PageBlock]:
    used = next(place for place, sample in enumerate(signature.samples) if sample.used)
    before, after = signature.given[used], signature.prepared[0]
    share = 1 - after.volume / before.volume if before.volume else 0.0
    taken = f"{rate_text(signature.parameters.background)} taken off, {share:.0%} of the bytes"
    top = float(before.values.max())
    steps = (before, f"{before.name} as recorded."), (after, f"After preprocessing: {taken}.")
    return [_throughput(one, text, top=top) for one, text in steps]


def _levels(signature: Signature) -> list[PageBlock]:
    sample = signature.prepared[0]
    length = min(len(sample.values), 600)
    start = _busiest(sample, length)
    part = sample.values[start : start + length]
    ends = (start * sample.interval, (start + length) * sample.interval)
    charts = []
    for level in _LEVELS:
        inside = [one for one in bursts_of(sample, 0, level) if one.end > start and one.start < start + length]
        bursts = [(one.start * sample.interval, one.end * sample.interval, "") for one in inside]
        wave = smoothed(sample.values, level)[start : start + length]
        every = ((start + 0.5) * sample.interval, sample.interval)
        lines = (Series("line", tone, y=values, every=every) for tone, values in (("faint", part), ("write", wave)))
        used = " (the one that is used)" if level == signature.parameters.level else ""
        text = f"Level {level}{used}: the approximation of {sample.name}, and its bursts."
        top = float(part.max())
        axes = Axis("seconds", ends=ends), Axis("rate", ends=(-0.15 * top, 1.05 * top))
        charts.append(Chart(text, *axes, [_shaded(bursts), *lines], text))
    return [*charts]


def _busiest(sample: Sample, length: int) -> int:
    """Return the start of the stretch of a sample in which most goes on."""
    total = np.append(0.0, np.cumsum(sample.values))
    return int(np.argmax(total[length:] - total[: len(total) - length]))


def _common_bursts(signature: Signature) -> Section:
    """Return the bursts of all runs by time and shape, or in their order where the method goes by that."""
    if signature.points is not None:
        return Section(
            "points", "Shapes", "Bursts of all runs by time and shape", [_points(signature, signature.points)]
        )
    known = any(burst.peaks_s for burst in signature.bursts)
    return Section("order", "Order", "Bursts of all runs in their order", [_order(signature)] if known else ())


def _points(signature: Signature, points: Points) -> Chart:
    units = set()
    for one in signature.common:
        for row in one.rows.tolist():
            width, height = one.grid.width, one.grid.height
            at = int(points.time[row] // width) * width, int(points.correlation[row] // height) * height
            units.add((at[0], width, at[1], height))
    left, widths, low, heights = np.array(sorted(units), np.float64).reshape(-1, 4).T
    names = [signature.prepared[place].name for place in points.sample.tolist()]
    chosen = [row for one in signature.common for row in one.rows.tolist()]
    x = Axis("seconds", ends=(0.0, signature.duration_s))
    y = Axis("ratio", "correlation with the average burst", ends=(0.0, 1.0))
    boxes = Series("boxes", "burst", left, low, left + widths, np.minimum(1.0, low + heights))
    every = Series("dots", "muted", points.time, points.correlation, texts=names)
    common = Series("dots", "read", points.time[chosen], points.correlation[chosen], radius=3.5)
    text = "A point a burst of a run, those of common bursts coloured, in the units of the grid that shows them best."
    return Chart("Bursts of all runs by time and shape", x, y, [boxes, every, common], text, height=260)


def _order(signature: Signature) -> Chart:
    names = [sample.name for sample in signature.prepared[:_LINES]]
    lines = []
    for burst in signature.bursts:
        at = dict(zip(burst.samples, burst.peaks_s, strict=True))
        rows = [row for row, name in enumerate(names) if name in at]
        x, y = [at[names[row]] for row in rows], [row + 0.5 for row in rows]
        lines += [Series("line", "phase", x, y), Series("dots", "read", x, y, texts=[names[row] for row in rows])]
    text = "A line a common burst, from run to run."
    x_axis = Axis("seconds", ends=(0.0, signature.duration_s))
    return Chart("Bursts of all runs", x_axis, Axis(names=names), lines, text, height=22 * len(names))


def write_signature(signature: Signature, path: Path, what: str) -> Written:
    """Write a signature as a page (.html) or as netCDF-4 (.h5, .nc), whole or not at all; raises OutputError."""
    if path.suffix.lower() in (".html", ".htm"):
        return write_page([signature_page(signature, what)], path)
    with atomic_file(path) as temporary:
        with written_groups(temporary) as root:
            _write_groups(root, signature, what)
        size = temporary.stat().st_size
    return Written(path, size, bins=len(signature.signature), fs=1 / signature.interval_s)


def _write_groups(root: GroupWriter, signature: Signature, what: str) -> None:
    parameters = {name: value for name, value in signature.parameters.to_dict().items() if value is not None}
    title = f"I/O signature of {what}"
    root.attributes(Conventions="CF-1.11", title=title, source="iostrata", schema_version=1, **parameters)
    root.dimension("time", len(signature.signature))
    root.dimension("burst", len(signature.bursts))
    root.dimension("run", len(signature.samples))
    time = (np.arange(len(signature.signature)) + 0.5) * signature.interval_s
    root.numbers("time", ("time",), time, units="s", long_name="time from the start of a run, middle of the interval")
    root.numbers(
        "signature", ("time",), signature.signature, units="byte s-1", long_name="throughput", cell_methods="time: mean"
    )
    columns = (
        ("start", "start_s", "s", "start of the burst"),
        ("peak", "peak_s", "s", "time before which half of the burst is written"),
        ("end", "end_s", "s", "end of the burst"),
        ("volume", "volume", "byte", "volume of the burst"),
    )
    for name, field, units, long_name in columns:
        root.floats(name, ("burst",), [getattr(burst, field) for burst in signature.bursts], units, long_name)
    root.text("run", ("run",), [sample.name for sample in signature.samples], long_name="name of the run")
    root.flags("used", ("run",), [sample.used for sample in signature.samples], "whether the run was used")
    members = [sample.name in burst.samples for burst in signature.bursts for sample in signature.samples]
    root.flags("supports", ("burst", "run"), members, "whether the run has the burst")


def write_signature_figure(signature: Signature, path: str | os.PathLike[str], what: str) -> Written:
    """Draw a signature above its runs on one axis of time, into a .png, .svg or .pdf.

    Raises MissingLibraryError where matplotlib is not installed, OutputError where the file cannot be written.
    """
    count = len(signature.prepared[:RUNS_SHOWN])
    return Written(Path(path), write_figure(lambda: _figure(signature, what), path, dpi=110), signals=1 + count)


def _figure(signature: Signature, what: str) -> Any:
    from matplotlib.figure import Figure

    shown = signature.prepared[:RUNS_SHOWN]
    picture: Any = Figure(figsize=(10, 1.6 + 1.1 * len(shown)), layout="constrained")
    axes = picture.subplots(1 + len(shown), 1, sharex=True, squeeze=False)[:, 0]
    edges = np.arange(len(signature.signature) + 1) * signature.interval_s
    axes[0].stairs(signature.signature, edges, fill=True, color="#084f8e")
    axes[0].set_title(printable(f"I/O signature of {what}"), loc="left")
    for ax, sample in zip(axes[1:], shown, strict=True):
        ax.stairs(sample.values, np.arange(len(sample.values) + 1) * sample.interval, fill=True, color="#4d5663")
        ax.set_ylabel(printable(sample.name)[:18], fontsize=8)
    for ax in axes:
        for burst in signature.bursts:
            ax.axvspan(burst.start_s, burst.end_s, color="#2b7a4b", alpha=0.18, lw=0)
        ax.set_ylim(bottom=0)
    axes[-1].set_xlabel("time (s)")
    return picture
