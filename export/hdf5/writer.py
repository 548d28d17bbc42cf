"""Bandwidths in B/s as means over bins of 1/fs seconds, handles, damage, periods, comparison: netCDF-4 (HDF5)."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, Literal

import numpy as np

from ...analysis.comparison.layer_periods import chosen_layers
from ...analysis.comparison.layers import compare_layers
from ...analysis.comparison.loop_story import story_by_loops
from ...analysis.fitting import MOST_COMPONENTS, FourierFit
from ...analysis.loops.find import find_loops
from ...analysis.registry import DEFAULT_METHOD
from ...layers.selection.directions import DIRECTIONS, Traffic, check_traffic
from ...layers.trace import VARIABLES, Trace, check_frequency, common_frequency, provenance
from ...model.errors import SelectionError
from ...signals.construction import StepSignal
from ...signals.samples import bin_count
from ..atomic import atomic_file
from ..exporters import Exporter
from ..written import Written
from . import groups
from .loops import write_loops
from .variables import GroupWriter, written_groups

_AT_ONCE: Final = 2**20
"""Bins of the time axis that are made at once."""

PlacedSignals = Iterator[tuple[tuple[int, int], StepSignal]]


def write_hdf5(
    trace: Trace,
    path: str | os.PathLike[str],
    *,
    fs: float | Literal["auto"] = "auto",
    layers: str | Iterable[str] | None = None,
    traffic: Traffic = "all",
    method: str | None = None,
    periods: bool = True,
    comparison: bool = True,
    components: int = 10,
    filter: str | None = None,
) -> Written:
    """Write the layers of a trace into an HDF5 file that netCDF-4 readers open too.

    The root group has ``bandwidth(layer, direction, time)`` in byte/s as averages over bins of width 1/`fs`, whose sum
    times the width is the layer's bytes. The groups ``handles``, ``statistics``, ``loops``, ``damage``, ``periods`` and
    ``comparison`` hold the forest of handles, the numbers of ``iostrata layers``, loops and their iterations, what the
    trace has lost, the periods of each signal, and the numbers of ``iostrata compare``. ``regimes`` says which period
    holds when, ``components`` describes each signal by a few cosines, ``story`` tells the run segment by segment (of
    all traffic, unfiltered). ``layer`` and ``direction`` are dimensions of the root, which groups inherit; all others
    are a group's own.

    Names out of the trace are written as UTF-8; a NUL and half a surrogate pair, which HDF5 cannot hold, become
    backslash escapes.

    Parameters
    ----------
    trace : Trace
        Its window and its selection of files count. Bandwidths and periods of one that was read in bounded memory are
        as fine as the bins that were kept (``resolution_s``).
    path : path
        File to write. It appears when it is complete; one that is there is replaced then.
    fs : float or "auto"
        Bins per second (Hz). "auto" takes the largest frequency that one of the signals asks for, at most 2^17 bins.
    layers : str or iterable of str, optional
        Identifications; all unless given. Layers without reads and writes are left out. The group ``handles`` has all
        handles anyway.
    traffic : {"all", "own", "inherited"}
        Which traffic of a layer counts for ``bandwidth`` and ``periods``.
    method : str, optional
        How periods are looked for; the default of `detect_period` unless given.
    periods : bool
        Whether to look for periods at all; without them there are no groups ``regimes`` and ``components`` either.
    comparison : bool
        Whether to write the group ``comparison``: the numbers of ``iostrata compare``, on all layers and traffic.
    components : int
        Number of cosines that each signal is described by in the group ``components``, 1 to 100.
    filter : str, optional
        As `detect_period` takes it: the groups ``periods``, ``regimes`` and ``components`` are those of the filtered
        signals, bandwidths and the group ``comparison`` are not filtered.

    Raises
    ------
    SelectionError
        If a layer, `traffic`, `method` or `fs` does not exist or makes no sense for this trace.
    OutputError
        If the file cannot be written; nothing is left behind then.
    """
    check_traffic(traffic)
    names = tuple(layer.name for layer in chosen_layers(trace, layers) if layer.directions)
    start, end = trace.window
    signals = _bandwidths(trace, names, traffic)
    if fs == "auto":
        made = dict(signals)
        rate = common_frequency(trace, made.values())
        signals = _released(made)
    else:
        rate = fs
    _check_components(components)
    bins = bin_count(end - start, rate)
    rate = float(rate)
    check_frequency(trace, rate)
    search = groups.PeriodSearch(trace, names, traffic, method or DEFAULT_METHOD, fs, filter) if periods else None

    with atomic_file(path) as temporary:
        compared = None
        if comparison:
            compared = compare_layers(trace, method=method or DEFAULT_METHOD, fs=fs, periods=periods)
        with written_groups(temporary) as root:
            root.attributes(
                **provenance(trace, rate, fs == "auto", traffic),
                method=search.method if search else "none",
                filter=search.filter or "none" if search else "none",
            )
            _write_axes(root, names, start, rate, bins)
            results, fits = _write_bandwidth(root, signals, len(names), rate, search, components)
            if not trace.definitions.recording.reason("handles"):
                groups.write_handles(root.subgroup("handles"), trace, names)
            if trace.definitions.recording.knows("operations"):
                write_loops(root.subgroup("loops"), find_loops(trace), names)
            groups.write_statistics(root.subgroup("statistics"), trace, names)
            groups.write_damage(root.subgroup("damage"), trace.damage)
            if search:
                _write_search(root, search, results)
                groups.write_components(root.subgroup("components"), fits)
            if compared is not None:
                groups.write_comparison(root.subgroup("comparison"), compared)
        size = temporary.stat().st_size
    return Written(Path(path), size, names, bins=bins, fs=rate)


def _check_components(components: object) -> None:
    if isinstance(components, bool) or not isinstance(components, int) or not 1 <= components <= MOST_COMPONENTS:
        raise SelectionError(f"{components!r} components: give a whole number from 1 to {MOST_COMPONENTS}")


def _write_search(root: GroupWriter, search: groups.PeriodSearch, found: dict[tuple[int, int], groups.Judged]) -> None:
    """Write what was found by looking for periods, and where that is all of the I/O its story."""
    results, names = {place: one.result for place, one in found.items()}, search.names
    groups.write_periods(root.subgroup("periods"), results, names)
    groups.write_regimes(root.subgroup("regimes"), results)
    if search.traffic == "all" and search.filter is None:
        named = {(names[row], DIRECTIONS[way]): one.of_signal for (row, way), one in sorted(found.items())}
        groups.write_story(root.subgroup("story"), story_by_loops(search.trace, named, names, search.method, search.fs))


def _bandwidths(trace: Trace, names: tuple[str, ...], traffic: Traffic) -> PlacedSignals:
    """Make one bandwidth after the other, each with its row of ``layer`` and of ``direction``."""
    for row, name in enumerate(names):
        for column, direction in enumerate(DIRECTIONS):
            yield (row, column), trace.layers[name].bandwidth(direction, traffic)


def _released(signals: dict[tuple[int, int], StepSignal]) -> PlacedSignals:
    """Hand out `signals` and forget each, so that its memory is free before the next is sampled."""
    for place in list(signals):
        yield place, signals.pop(place)


def _write_axes(root: GroupWriter, names: tuple[str, ...], start: float, fs: float, bins: int) -> None:
    for dimension, size in {"layer": len(names), "direction": len(DIRECTIONS), "time": bins, "bnds": 2}.items():
        root.dimension(dimension, size)
    groups.write_axes(root, names)
    time = root.empty("time", ("time",), np.float64, fill=False, **VARIABLES["time"])
    bounds = root.empty("time_bnds", ("time", "bnds"), np.float64, fill=False, **VARIABLES["time_bnds"])
    for first in range(0, bins, _AT_ONCE):
        rows = np.arange(first, min(first + _AT_ONCE, bins))
        part = slice(first, first + len(rows))
        root.part(time, part, start + (rows + 0.5) / fs)
        root.part(bounds, part, np.stack((start + rows / fs, start + (rows + 1) / fs), axis=1))


def _write_bandwidth(
    root: GroupWriter,
    signals: PlacedSignals,
    layers: int,
    fs: float,
    search: groups.PeriodSearch | None,
    components: int,
) -> tuple[dict[tuple[int, int], groups.Judged], dict[tuple[int, int], FourierFit]]:
    """Write one signal after the other; return the periods and the cosines by layer and direction."""
    dimensions = ("layer", "direction", "time")
    bandwidth = root.empty("bandwidth", dimensions, np.float64, fill=True, **VARIABLES["bandwidth"])
    errors = np.zeros((layers, len(DIRECTIONS)))
    results, fits = {}, {}
    for place, signal in signals:
        samples = signal.sample(fs, abstraction_error=True)
        root.part(bandwidth, place, samples.values)
        errors[place] = samples.abstraction_error
        if search and signal.volume > 0:
            results[place], fits[place] = search.judged(place, signal), search.fit(signal, components)
    root.numbers("abstraction_error", dimensions[:2], errors, **VARIABLES["abstraction_error"])
    return results, fits


EXPORTER: Final = Exporter(write_hdf5, "formats", relations=True)
