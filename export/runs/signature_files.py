"""A signature as a page with all its steps, as netCDF-4, and as a picture."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from ...model.interrupts import kept_interrupts
from ...model.quantities import bytes_text, counted, rate_text, seconds_text
from ...model.text import printable
from ...runs.signatures.bursts import bursts_of, smoothed
from ...runs.signatures.sample import Sample
from ...runs.signatures.signature import Signature
from ..atomic import atomic_file
from ..figure import write_figure
from ..hdf5.variables import GroupWriter, HDF5Storage
from ..written import Written
from .static_page import Section, figure, paragraph, table, write_page
from .svg import Plot

RUNS_SHOWN: Final = 12
_LEVELS: Final = (1, 2, 3, 4)


def write_signature(signature: Signature, path: Path, what: str) -> Written:
    """Write a signature as a page (.html) or as netCDF-4 (.h5, .nc), whole or not at all; raises OutputError."""
    if path.suffix.lower() in (".html", ".htm"):
        return _write_page(signature, path, what)
    return _write_hdf5(signature, path, what)


def _write_hdf5(signature: Signature, path: Path, what: str) -> Written:
    import h5netcdf

    with atomic_file(path) as temporary:
        with (
            HDF5Storage(temporary) as storage,
            kept_interrupts(storage.interrupts),
            h5netcdf.File(storage, "w") as file,
        ):
            _write_groups(GroupWriter(file, storage), signature, what)
        size = temporary.stat().st_size
    return Written(path, size, bins=len(signature.signature), fs=1 / signature.interval_s)


def _write_groups(root: GroupWriter, signature: Signature, what: str) -> None:
    parameters = {name: value for name, value in signature.parameters.to_dict().items() if value is not None}
    root.attributes(
        Conventions="CF-1.11",
        title=f"I/O signature of {what}",
        source="iostrata",
        schema_version=1,
        **parameters,
    )
    root.dimension("time", len(signature.signature))
    root.dimension("burst", len(signature.bursts))
    root.dimension("run", len(signature.samples))
    time = (np.arange(len(signature.signature)) + 0.5) * signature.interval_s
    root.numbers("time", ("time",), time, units="s", long_name="time from the start of a run, middle of the interval")
    root.numbers(
        "signature",
        ("time",),
        signature.signature,
        units="byte s-1",
        long_name="throughput",
        cell_methods="time: mean",
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


def _write_page(signature: Signature, path: Path, what: str) -> Written:
    used = sum(sample.used for sample in signature.samples)
    chosen = signature.parameters
    intro = paragraph(
        f"{bytes_text(signature.volume)} in {counted(len(signature.bursts), 'burst')} over "
        f"{seconds_text(signature.duration_s)}, common to {used} of {counted(len(signature.samples), 'run')}. "
        f"Method {chosen.method}, wavelet level {chosen.level}, γ {chosen.gamma:g}, κ {chosen.kappa:g} "
        f"({counted(chosen.supporting_samples, 'run')} have to agree), interval {seconds_text(chosen.interval_s)}."
    )
    sections = [Section("Signature", _signature_plot(signature) + _burst_table(signature))]
    sections.append(Section("The runs", _runs(signature)))
    if chosen.method != "plain":
        sections.append(Section("Which runs are used", _outliers(signature)))
    if chosen.background > 0:
        sections.append(Section("Background traffic", _noise(signature)))
    sections.append(Section("Bursts of a run, by the level of the wavelet", _levels(signature)))
    if signature.points is not None:
        sections.append(Section("Bursts of all runs by time and shape", _points(signature)))
    elif any(burst.peaks_s for burst in signature.bursts):
        sections.append(Section("Bursts of all runs in their order", _order(signature)))
    return write_page(path, f"I/O signature: {what}", intro, sections)


def _time_plot(signature: Signature, top: float, title: str, height: int = 120) -> Plot:
    ends = (0.0, signature.duration_s)
    return Plot(ends, (0.0, top * 1.05), seconds_text, rate_text, title, height=height)


def _signature_plot(signature: Signature) -> str:
    plot = _time_plot(signature, float(signature.signature.max()), "The signature: throughput over time", 190)
    for number, burst in enumerate(signature.bursts, start=1):
        text = f"burst {number}: {bytes_text(burst.volume)}, {counted(len(burst.samples), 'run')}"
        plot.span(burst.start_s, burst.end_s, "burst", text)
    plot.steps(signature.signature, signature.interval_s, "area")
    return figure(plot.svg(), "Throughput that the runs have in common; its bursts are shaded.")


def _burst_table(signature: Signature) -> str:
    rows = [
        (
            str(number),
            seconds_text(burst.start_s, 4),
            seconds_text(burst.peak_s, 4),
            seconds_text(burst.end_s, 4),
            bytes_text(burst.volume),
            ", ".join(burst.samples[:RUNS_SHOWN]),
        )
        for number, burst in enumerate(signature.bursts[:200], start=1)
    ]
    return table(("burst", "from", "centre", "to", "volume", "runs that have it"), rows, texts=(5,))


def _runs(signature: Signature) -> str:
    parts = []
    shown = signature.prepared[:RUNS_SHOWN]
    for sample in shown:
        plot = _time_plot(signature, float(sample.values.max()), f"Throughput of {sample.name}")
        for burst in signature.bursts:
            if sample.name in burst.samples and burst.peaks_s:
                at = burst.peaks_s[burst.samples.index(sample.name)]
                half = (burst.end_s - burst.start_s) / 2
                plot.span(max(0.0, at - half), min(signature.duration_s, at + half), "burst")
        plot.steps(sample.values, sample.interval, "area")
        parts.append(figure(plot.svg(), sample.name))
    text = "After preprocessing, on the clock of the shortest; what belongs to a common burst is shaded."
    if len(signature.prepared) > len(shown):
        text += f" The first {len(shown)} of {len(signature.prepared)}."
    return paragraph(text) + "".join(parts)


def _outliers(signature: Signature) -> str:
    lengths = [sample.duration_s for sample in signature.samples]
    volumes = [sample.volume for sample in signature.samples]
    plot = Plot(
        _around(lengths), _around(volumes), seconds_text, bytes_text, "Length and volume of the runs",
        x_title="length", y_title="volume", width=560, height=260,
    )  # fmt: skip
    texts = [
        f"{sample.name}: local outlier factor {sample.outlier_factor:.2f}"
        if sample.outlier_factor is not None
        else sample.name
        for sample in signature.samples
    ]
    plot.points(lengths, volumes, "good", texts, 4)
    dropped = [place for place, sample in enumerate(signature.samples) if not sample.used]
    plot.points([lengths[one] for one in dropped], [volumes[one] for one in dropped], "bad", None, 8)
    rows = [
        (
            sample.name,
            seconds_text(sample.duration_s),
            bytes_text(sample.volume),
            "–" if sample.outlier_factor is None else f"{sample.outlier_factor:.2f}",
            str(sample.bursts) if sample.used else "–",
            sample.reason,
        )
        for sample in signature.samples[:200]
    ]
    caption = "A circle marks a run that is dropped: its local outlier factor stands out."
    header = ("run", "length", "volume", "outlier factor", "bursts", "dropped because")
    return figure(plot.svg(), caption) + table(header, rows, texts=(5,))


def _noise(signature: Signature) -> str:
    used = next(place for place, sample in enumerate(signature.samples) if sample.used)
    before, after = signature.given[used], signature.prepared[0]
    share = 1 - after.volume / before.volume if before.volume else 0.0
    parts = []
    for sample, caption in (
        (before, f"{before.name} as recorded."),
        (
            after,
            f"After preprocessing: {rate_text(signature.parameters.background)} taken off, {share:.0%} of the bytes.",
        ),
    ):
        ends = (0.0, sample.duration)
        plot = Plot(ends, (0.0, float(before.values.max()) * 1.05), seconds_text, rate_text, caption, height=120)
        plot.steps(sample.values, sample.interval, "area")
        parts.append(figure(plot.svg(), caption))
    return "".join(parts)


def _levels(signature: Signature) -> str:
    sample = signature.prepared[0]
    length = min(len(sample.values), 600)
    start = _busiest(sample, length)
    ends = (start * sample.interval, (start + length) * sample.interval)
    parts = []
    top = float(sample.values[start : start + length].max())
    for level in _LEVELS:
        wave = smoothed(sample.values, level)[start : start + length]
        plot = Plot(ends, (-0.15 * top, top * 1.05), seconds_text, rate_text, f"Level {level}", height=120)
        for burst in bursts_of(sample, 0, level):
            if burst.end > start and burst.start < start + length:
                plot.span(burst.start * sample.interval, burst.end * sample.interval, "burst")
        time = ((start + np.arange(length) + 0.5) * sample.interval).tolist()
        plot.line(time, sample.values[start : start + length].tolist(), "grid line")
        plot.line(time, wave.tolist(), "line")
        used = " (the one that is used)" if level == signature.parameters.level else ""
        parts.append(figure(plot.svg(), f"Level {level}{used}: the approximation of {sample.name}, and its bursts."))
    return "".join(parts)


def _points(signature: Signature) -> str:
    points = signature.points
    assert points is not None
    ends = (0.0, signature.duration_s)
    plot = Plot(
        ends, (0.0, 1.0), seconds_text, lambda value: f"{value:.1f}", "Bursts of all runs by time and shape",
        y_title="correlation with the average burst", height=300,
    )  # fmt: skip
    for one in signature.common:
        for column, line in {
            (int(points.time[row] // one.grid.width), int(points.correlation[row] // one.grid.height))
            for row in one.rows.tolist()
        }:
            x = (column * one.grid.width, (column + 1) * one.grid.width)
            plot.box(x, (line * one.grid.height, min(1.0, (line + 1) * one.grid.height)), "unit")
    names = [printable(signature.prepared[place].name) for place in points.sample.tolist()]
    plot.points(points.time.tolist(), points.correlation.tolist(), "dot", names)
    chosen = [row for one in signature.common for row in one.rows.tolist()]
    plot.points(points.time[chosen].tolist(), points.correlation[chosen].tolist(), "good", None, 3.5)
    caption = (
        "A point a burst of a run, those of common bursts coloured, in the units of the grid that shows them best."
    )
    return figure(plot.svg(), caption)


def _order(signature: Signature) -> str:
    names = [sample.name for sample in signature.prepared[:40]]
    height = 60 + 22 * len(names)
    plot = Plot(
        (0.0, signature.duration_s), (-0.5, len(names) - 0.5), seconds_text, lambda _: "", "Bursts of all runs",
        y_title="runs, one below the other", height=height,
    )  # fmt: skip
    for burst in signature.bursts:
        at = dict(zip(burst.samples, burst.peaks_s, strict=True))
        places = [(at[name], len(names) - 1 - row) for row, name in enumerate(names) if name in at]
        plot.line([x for x, _ in places], [float(y) for _, y in places], "link")
    for row, name in enumerate(names):
        at_row = [burst.peaks_s[burst.samples.index(name)] for burst in signature.bursts if name in burst.samples]
        plot.points(at_row, [float(len(names) - 1 - row)] * len(at_row), "good", [name] * len(at_row))
    return figure(plot.svg(), f"A line a common burst, from run to run: {', '.join(names[:RUNS_SHOWN])}.")


def _busiest(sample: Sample, length: int) -> int:
    """Return the start of the stretch of a sample in which most goes on."""
    total = np.append(0.0, np.cumsum(sample.values))
    return int(np.argmax(total[length:] - total[: len(total) - length]))


def _around(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    room = (high - low) * 0.1 or abs(high) * 0.1 or 1.0
    return max(0.0, low - room), high + room


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
