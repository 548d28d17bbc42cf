"""For Vampir: a copy of the archive, marked with phases and periods; of other traces an archive of all I/O."""

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Final, Literal

import numpy as np

from ...analysis.comparison.iterations import loops_of
from ...analysis.comparison.layer_periods import LayerPeriod, chosen_layers, layer_periods
from ...analysis.loops.find import find_loops
from ...analysis.loops.words import blame_text, titled
from ...analysis.registry import DEFAULT_METHOD
from ...layers.selection.directions import DIRECTIONS, Traffic
from ...layers.selection.window import trace_window
from ...layers.trace import Trace
from ...model.errors import TraceError
from ...model.quantities import bytes_text, counted
from ...model.text import printable
from ...otf2io.archive import ENGINES
from ...otf2io.definitions.read import read_definitions
from ...otf2io.files.anchor import SUFFIX, Anchor, read_anchor
from ...otf2io.files.regular import open_regular
from ...otf2io.writing.archive import write_archive
from ...otf2io.writing.markers import Marker, write_markers
from ..atomic import archive_content, atomic_archive
from ..encoding import shortened
from ..exporters import Exporter, OptionError
from ..written import Written
from .marks import held_periods


def write_otf2(trace: Trace, path: str | os.PathLike[str]) -> Written:
    """Write all I/O of a trace as an OTF2 archive: definitions, operations and metadata events.

    Read back it gives the same layers, handles, periods and comparison, and the same about what another recorder does
    not tell, which properties of the system tree's root keep. Bytes that such a recorder knows by intervals of time
    only are one operation an interval. Whatever the trace's window and selection of files are, everything is written.
    What the model does not have is not there: events other than those of I/O, when an operation was tested for
    completion (it is taken for tested as it begins), and original matching ids.

    Parameters
    ----------
    trace : Trace
        One read with ``memory`` is read once more, block by block.
    path : path
        Anchor of the archive, ``NAME.otf2``; beside it come ``NAME.def`` and the folder ``NAME``, none of which may
        exist. They appear when the archive is complete.

    Raises
    ------
    TraceError
        If times are not of 64 bits, or ranks too large for a list of them.
    OutputError
        If the archive cannot be written; nothing is left behind then.
    """
    extent = trace.sums.extent
    blocks = ((block.operations, block.other_events) for block in trace.stream)
    with atomic_archive(path) as anchor:
        events = write_archive(
            anchor.with_suffix(""), trace.definitions, blocks, 0 if extent is None else extent[0], trace.damage
        )
        size, beside = archive_content(anchor)
    return Written(Path(path), size, trace.order, events=events, beside=beside)


GROUP: Final = "iostrata"
_SUFFIXES: Final = (".evt", ".def", ".snap")
_PIECE: Final = 2**20
_TITLE: Final = 150
"""Characters of a loop's words."""


def write_annotated(
    trace: Trace,
    path: str | os.PathLike[str],
    *,
    layers: str | Iterable[str] | None = None,
    traffic: Traffic = "all",
    method: str = DEFAULT_METHOD,
    fs: float | Literal["auto"] = "auto",
) -> Written:
    """Copy the archive of a trace and mark in it when each layer has its phases, which period holds, and iterations.

    For each layer and direction there are two categories of markers in the group ``iostrata``: ``MPI-IO write phase``,
    a marker from the begin to the end of each phase with its bytes; and ``MPI-IO write period``, one over each stretch
    of the run in which a period holds. And there is one for each loop, ``loop 2``, with a marker over each iteration.

    Parameters
    ----------
    trace : Trace
        Its window and its selection of files decide what is marked; the copy holds everything.
    path : path
        Anchor of the copy, ``NAME.otf2``; beside it come ``NAME.def``, ``NAME.marker`` and the folder ``NAME``, none
        of which may exist.
    layers, traffic, method, fs
        As in `iostrata.write_report`, with the same errors. Nothing is left of a copy that cannot be completed.

    Raises
    ------
    TraceError
        If the archive has markers already, has changed, or one of its files is a link or cannot be read.
    """
    source = read_anchor(trace.path)
    if source.base.with_name(source.base.name + ".marker").exists():
        raise TraceError(f"{source.path} has markers already; take the archive as it was recorded")
    sizes = _sizes(source.base, trace)
    chosen = chosen_layers(trace, layers)
    periods = list(layer_periods(chosen, DIRECTIONS, traffic, method, fs, loops=loops_of(trace, method)))
    with atomic_archive(path) as anchor:
        copy = _copied(source, anchor.with_suffix(""), trace)
        if _sizes(copy.base, trace) != sizes:
            raise TraceError(f"{source.path} has changed since it was opened; open it again")
        clock = trace.definitions.clock
        told = chain(_markers(trace, periods), _iterations(trace, [layer.name for layer in chosen]))
        markers = write_markers(copy, GROUP, told, clock.start, clock.length)
        size, beside = archive_content(anchor)
    return Written(Path(path), size, tuple(layer.name for layer in chosen), markers=markers, beside=beside)


def _sizes(base: Path, trace: Trace) -> list[int]:
    """Return the bytes of the event file of each location, −1 where there is none."""
    files = (base / f"{location}.evt" for location in trace.definitions.locations.id.tolist())
    return [file.stat().st_size if file.is_file() else -1 for file in files]


def _copied(source: Anchor, base: Path, trace: Trace) -> Anchor:
    """Copy the files of an archive so that its anchor is `base` with the suffix ``.otf2``.

    Raises TraceError where a file cannot be read or is a link, or the archive is no longer that of `trace`.
    """
    locations = trace.definitions.locations
    # Through a link, files of somebody else would come along.
    if source.base.is_symlink():
        raise TraceError(f"cannot read {source.base} to copy it: it is a link; take the archive where it is itself")
    _copy(source.path, base.with_name(base.name + SUFFIX))
    _copy(source.base.with_name(source.base.name + ".def"), base.with_name(base.name + ".def"))
    base.mkdir()
    for location, events in zip(locations.id.tolist(), locations.events.tolist(), strict=True):
        for suffix in _SUFFIXES:
            file = source.base / f"{location}{suffix}"
            if (suffix == ".evt" and events) or os.path.lexists(file):
                _copy(file, base / file.name)
    copy = read_anchor(base.with_name(base.name + SUFFIX))
    found = read_definitions(copy)[0].locations
    if not (np.array_equal(found.id, locations.id) and np.array_equal(found.events, locations.events)):
        raise TraceError(f"{source.path} has changed since it was opened; open it again")
    return copy


def _copy(source: Path, target: Path) -> None:
    """Copy a file; its holes stay holes."""
    with target.open("xb") as copy:
        for piece in _pieces(source):
            if piece.count(0) < len(piece):
                copy.write(piece)
            else:
                copy.seek(len(piece), os.SEEK_CUR)
        copy.truncate()


def _pieces(path: Path) -> Iterator[bytes]:
    try:
        with open_regular(path, links=False) as file:
            while piece := file.read(_PIECE):
                yield piece
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise TraceError(
            f"cannot read {path} to copy it: {reason}; convert with --rewrite, which writes what is sound"
        ) from None


def _marker(trace: Trace, category: str, start: float, end: float, text: str) -> Marker:
    resolution = trace.definitions.clock.ticks_per_second
    first = round(start * resolution)
    return Marker(category, first, round(end * resolution) - first, text)


def _iterations(trace: Trace, layers: Sequence[str]) -> Iterator[Marker]:
    """Give the iterations of loops that some layers take part in."""
    found = find_loops(trace)
    for loop, text in titled(found, [one for one in found.substantial if set(layers) & set(one.layers)]):
        title = shortened(printable(text), _TITLE)
        for number, one in enumerate(loop.iterations, 1):
            note = f", stands out {blame_text(loop, one)}" if one.outlier else ""
            told = f"iteration {number} of {title}{note}"
            yield _marker(trace, f"loop {loop.id}", one.begin_s, one.end_s, told)


def _markers(trace: Trace, periods: Iterable[LayerPeriod]) -> Iterator[Marker]:
    for period in periods:
        name, result = f"{period.layer} {period.direction}", period.result
        for number, phase in enumerate(result.phases, 1):
            text = f"phase {number} of {len(result.phases)}: {bytes_text(phase.volume)}"
            yield _marker(trace, f"{name} phase", phase.start, phase.end, text)
        sure = f", confidence {result.confidence:.2f}, {counted(len(result.phases), 'phase')}"
        for start, end, text, regime in held_periods(period):
            yield _marker(trace, f"{name} period", start, end, text if regime is not None else text + sure)


def _export(
    trace: Trace,
    path: Path,
    *,
    layers: tuple[str, ...],
    traffic: Traffic,
    method: str,
    fs: float | Literal["auto"],
    rewrite: bool,
) -> Written:
    """Copy and mark an archive; write a new one of any other trace, or where it is wanted."""
    if trace.stream.engine in ENGINES and not rewrite:
        return write_annotated(trace, path, layers=layers, traffic=traffic, method=method, fs=fs)
    whole = trace.scope.window == trace_window(trace.definitions.clock, trace.sums.extent)
    if layers or traffic != "all" or trace.files != "application" or not whole:
        raise OptionError(
            "--layer, --traffic, --window and --files choose nothing here: a new archive holds all I/O of the trace"
        )
    return write_otf2(trace, path)


EXPORTER: Final = Exporter(_export, "formats")
