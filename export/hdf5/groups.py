"""The groups of an HDF5 file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from operator import attrgetter, methodcaller
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from ...analysis.comparison.layer_periods import LayerPeriod, fitted, in_loop
from ...analysis.comparison.layers import Comparison, pair_entries
from ...analysis.comparison.periods import VERDICTS
from ...analysis.comparison.story import Segment
from ...analysis.detect import detect_period
from ...analysis.fitting import FourierFit
from ...analysis.registry import period_method
from ...analysis.results.parts import PeriodMetrics
from ...analysis.results.result import PeriodResult
from ...analysis.timefrequency.filters import Butterworth
from ...layers.attribution.calls.calls import CALL_KINDS, Calls
from ...layers.handles.forest import HandleForest
from ...layers.selection.directions import DIRECTIONS, Traffic
from ...layers.summary.statistics import LayerStatistics
from ...layers.trace import VARIABLES, Trace
from ...model.metrics import columns_of, metrics_of
from ...model.stream.damage import DamageReport
from ...signals.construction import StepSignal
from .variables import GroupWriter, Variable, variables_of

_METADATA_TIME: Final = "time of the calls that opened, closed, ... the handle, from Enter to Leave, over all ranks"

_LOST: Final = (
    ("location", "OTF2 id of the damaged location"),
    ("events_expected", "events that the definitions promise"),
    ("events_read", "events that were read"),
)


def write_handles(writer: GroupWriter, trace: Trace, names: tuple[str, ...]) -> None:
    """Write the forest of handles, one row a handle; all handles, also those of files that are set aside.

    The name of a handle's layer stands in a variable ``layer``, which xarray's DataTree hides behind the coordinate of
    that name of the root; ``layer_row`` says the same where ``layer`` cannot be seen.

    Parameters
    ----------
    names : tuple of str
        Layers of the dimension ``layer`` of the root.
    """
    row, handles = ("handle",), trace.handles
    writer.dimension("handle", len(handles))
    writer.numbers(
        "parent", row, handles.parent, long_name="row of the parent in the dimension handle, -1 at a root", units="1"
    )
    rows: dict[str | None, int] = {name: number for number, name in enumerate(names)}
    of_forest = np.array([rows.get(name, -1) for name in (*handles.layers, None)], np.int32)  # −1 is the last
    long_name = "row of the handle's layer in the dimension layer of the root, -1 where the layer is not there"
    writer.numbers("layer_row", row, of_forest[handles.layer_row], long_name=long_name, units="1")
    for one in metrics_of(HandleForest):
        writer.numbers(one.key, row, one.value(handles), long_name=one.sentence, units=one.unit)
    if trace.calls.totals is not None:
        seconds = trace.calls.totals.handle_seconds(len(handles))
        writer.numbers("metadata_s", row, seconds, long_name=_METADATA_TIME, units="s")
    aside = [reason is not None for reason in handles.set_aside]
    writer.flags("set_aside", row, aside, "whether the handle's file counts for no layer")
    texts: tuple[tuple[str, Sequence[str | None], str], ...] = (
        (
            "layer",
            handles.layer,
            "layer of the handle, empty where the trace does not define its paradigm; "
            "readers that merge groups show the root's layer in its place, for them there is layer_row",
        ),
        ("file", handles.file, "file of the handle, empty where it has none"),
        ("scope", handles.scope, "part of the machine on which that name of a file holds, empty where on all of it"),
        ("flags", handles.flags, "flags of the handle's definition"),
        ("name", handles.name, "name of the handle"),
        ("set_aside_reason", handles.set_aside, "why the handle is set aside, empty where it is not"),
    )
    for name, values, long_name in texts:
        writer.text(name, row, [value or "" for value in values], long_name=long_name)


def write_axes(writer: GroupWriter, names: tuple[str, ...]) -> None:
    """Write the coordinates of the root's dimensions in a group too: readers that open it alone look nowhere else."""
    writer.text("layer", ("layer",), names, **VARIABLES["layer"])
    writer.text("direction", ("direction",), DIRECTIONS, **VARIABLES["direction"])


def write_statistics(writer: GroupWriter, trace: Trace, names: tuple[str, ...]) -> None:
    """Write the numbers of ``iostrata layers`` on (layer, direction); those of all traffic, whatever is exported.

    What the recorder does not tell is not there.
    """
    grid = ("layer", "direction")
    write_axes(writer, names)
    found = [trace.layers[name].statistics(direction) for name in names for direction in DIRECTIONS]
    for column in columns_of(LayerStatistics):
        values = [column.value(one) for one in found]
        told = column.name not in LayerStatistics.OPTIONAL or any(one is not None for one in values)
        if told and not trace.definitions.recording.reason(*column.needs):
            writer.metric(column, grid, values)
    if trace.calls.totals is not None:
        _write_calls(writer, trace.calls.totals, names)
    aside = trace.set_aside
    writer.attributes(set_aside_operations=aside.operations, set_aside_bytes=aside.bytes, set_aside_files=aside.files)


def _write_calls(writer: GroupWriter, calls: Calls, names: tuple[str, ...]) -> None:
    """Write what the calls took that move no data, on (layer, call_kind)."""
    grid, kinds = ("layer", "call_kind"), tuple(CALL_KINDS)
    writer.dimension("call_kind", len(kinds))
    writer.text("call_kind", ("call_kind",), kinds, long_name="what calls did that move no data")
    found = {(one.layer, one.kind): one for one in calls.call_times}
    cells = [found.get((name, kind)) for name in names for kind in kinds]
    counts = [0 if one is None else one.calls for one in cells]
    writer.amounts("metadata_calls", grid, counts, "1", "calls that move no data")
    for name, long_name in (("summed_s", "sum of their times"), ("busy_s", "time in which any was under way")):
        seconds = [0.0 if one is None else getattr(one, name) for one in cells]
        writer.floats(f"metadata_{name}", grid, seconds, "s", f"calls that move no data, Enter to Leave: {long_name}")


def write_damage(writer: GroupWriter, damage: DamageReport) -> None:
    """Write what the trace has lost, one row a location that lost something."""
    row = ("location",)
    lost = damage.locations
    writer.attributes(
        damaged=int(damage.damaged), events_expected=damage.events_expected, events_read=damage.events_read
    )
    writer.dimension("location", len(lost))
    for name, long_name in _LOST:
        writer.amounts(name, row, [getattr(one, name) for one in lost], "1", long_name)
    writer.table(row, lost, [("reason", "text", "what is wrong with the location's events")])


def write_story(writer: GroupWriter, story: Sequence[Segment]) -> None:
    """Write the segments in their order."""
    writer.dimension("segment", len(story))
    row = ("segment",)
    writer.table(row, story, variables_of(Segment))
    directions = [one.direction or "" for one in story]
    writer.text("segment_direction", row, directions, long_name="direction of the transfers")
    layers = [" ".join(one.layers) for one in story]
    writer.text("layers", row, layers, long_name="layer that the program called and those below, the highest first")


_PAIRS: Final = (
    ("upper", "text", "upper layer"),
    ("lower", "text", "lower layer"),
    ("verdict", "text", f"what became of the period: {', '.join(VERDICTS)}; empty where it was not looked for"),
    ("adjacent", "flag", "whether most lower handles hang directly below the upper layer"),
    ("upper_operations", "1", "operations of the upper layer"),
    ("lower_operations", "1", "operations of the lower layer by descent: through handles below the upper layer's"),
    ("upper_bytes", "byte", "bytes that the upper layer moved"),
    ("lower_bytes", "byte", "bytes that the lower layer moved by descent"),
    ("attributed_bytes", "byte", "bytes of the lower layer inside operations of the upper layer"),
    ("inferred_bytes", "byte", "the same where only the enclosing call or another thread tells"),
    ("hidden_bytes", "byte", "bytes by descent inside no operation of the upper layer"),
    ("set_aside_bytes", "byte", "bytes by descent on files that do not count"),
    ("amplification", "1", "lower_bytes over upper_bytes"),
    ("attributed_amplification", "1", "attributed_bytes over upper_bytes"),
    ("fan_out", "1", "mean number of lower operations inside an operation of the upper layer"),
    ("writers_upper", "1", "ranks that moved bytes in the upper layer"),
    ("writers_lower", "1", "ranks that moved bytes in the lower layer, by descent"),
    ("summed_s", "s", "sum of the durations of the upper operations"),
    ("contained_s", "s", "part of it in which an operation of the lower layer ran inside"),
    ("upper_period_s", "s", "period of the upper layer"),
    ("lower_period_s", "s", "period of what the lower layer moved by descent"),
    ("lag_s", "s", "phase lag at the period of the upper layer; positive: the lower layer follows"),
    ("lower_layer_bytes", "byte", "all that the lower layer moved, where nobody knows what served the upper layer"),
    ("coherence", "1", "magnitude-squared coherence at the period of the upper layer"),
)

_PARTS: Final = ("", "upper_", "lower_", "attributed_", "inferred_", "hidden_", "own_", "set_aside_")
_UNITS: Final = {
    **dict.fromkeys((f"{part}operations" for part in _PARTS), "1"),
    **dict.fromkeys((f"{part}bytes" for part in _PARTS), "byte"),
    "upper_from_bytes": "byte",
    "lower_from_bytes": "byte",
    **dict.fromkeys(("amplification", "pair_row", "consecutive", "strided", "random", "backward"), "1"),
}
"""Of the columns of the tables."""

_FINDING: Final = ("id", "severity", "layer", "text", "advice")


def write_comparison(writer: GroupWriter, comparison: Comparison) -> None:
    """Write the pairs of layers, their tables by file, by class and by size, balance and access pattern."""
    entries = pair_entries(comparison)
    row = ("pair",)
    writer.dimension("pair", len(entries))
    writer.table(row, entries, ((name, units, what, methodcaller("get", name)) for name, units, what in _PAIRS))
    direction = [str(entry["direction"] or "") for entry in entries]
    writer.text("pair_direction", row, direction, long_name="direction of the transfers")
    for table, text in (("by_file", "file"), ("by_class", "class"), ("request_flow", None)):
        tables = [getattr(flow, table).to_dict() for flow in comparison.flows]
        rows = [{"pair_row": place, **found} for place, several in enumerate(tables) for found in several]
        _write_table(writer.subgroup(table), rows, (text,) if text else ())
    _write_table(writer.subgroup("balance"), [one.to_dict() for one in comparison.balances], ("layer", "direction"))
    places = [one.to_dict() for one in comparison.accesses]
    _write_table(writer.subgroup("access"), places, ("layer", "direction", "above"))
    findings = [{name: getattr(one, name) for name in _FINDING} for one in comparison.findings]
    _write_table(writer.subgroup("findings"), findings, _FINDING)


def _write_table(writer: GroupWriter, rows: list[dict[str, Any]], texts: tuple[str, ...]) -> None:
    """Write a column for each key of `rows`; all rows have the same keys."""
    writer.dimension("row", len(rows))
    for name in rows[0] if rows else ():
        values = [row[name] for row in rows]
        long_name = name.replace("_", " ")
        if name in texts:
            # Layer and direction are dimensions of the root group, which columns of these names would hide.
            variable = f"row_{name}" if name in ("layer", "direction") else name
            writer.text(variable, ("row",), [str(value or "") for value in values], long_name=long_name)
            continue
        if all(isinstance(value, int) for value in values):
            writer.integers(name, ("row",), values, _UNITS[name], long_name)
        else:
            writer.floats(name, ("row",), values, _UNITS[name], long_name)


Place = tuple[int, int]
"""Row of the layer and of the direction of a signal."""

_GRID: Final = ("layer", "direction")

_VERDICTS: Final[tuple[Variable, ...]] = (
    ("periodic", "flag", "whether the signal is periodic; no where it moved no bytes"),
    ("period_s", "s", "strongest period", attrgetter("period")),
    ("frequency_hz", "s-1", "frequency of the strongest period", attrgetter("frequency")),
    ("confidence", "1", "confidence of the method in the period"),
    ("recurrence_s", "s", "mean time between the starts of phases", attrgetter("recurrence")),
    ("jitter", "1", "coefficient of variation of the time between phases"),
    ("fs_hz", "s-1", "sampling frequency of the analysis", attrgetter("sampling.fs")),
    ("abstraction_error", "1", "share of the volume that sampling displaces", attrgetter("sampling.abstraction_error")),
    ("samples", "count", "number of bins of the analysis", attrgetter("sampling.samples")),
    ("method", "text", "method that looked for periods"),
)
_START: Final = "start of the {}, from the trace's start"
_END: Final = "end of the {}, from the trace's start"

_TABLES: Final[tuple[tuple[str, str, tuple[Variable, ...]], ...]] = (
    (
        "concurrent_period",
        "periods",
        (
            (
                "period_s",
                "s",
                "period that holds at the same time as others; the strongest of a signal comes first",
                attrgetter("period"),
            ),
            ("period_low_s", "s", "lower end of this period", lambda one: one.period_interval[0]),
            ("period_high_s", "s", "upper end of this period", lambda one: one.period_interval[1]),
            ("confidence", "1", "confidence of the method in this period"),
            ("bytes", "byte", "volume that recurs with this period", attrgetter("volume")),
        ),
    ),
    (
        "phase",
        "phases",
        (
            ("start_s", "s", _START.format("phase, a burst of substantial I/O"), attrgetter("start")),
            ("end_s", "s", _END.format("phase"), attrgetter("end")),
            ("bytes", "byte", "volume of the phase", attrgetter("volume")),
        ),
    ),
    (
        "regime",
        "regimes",
        (
            ("start_s", "s", _START.format("regime, a stretch of the run with one period"), attrgetter("start")),
            ("end_s", "s", _END.format("regime"), attrgetter("end")),
            ("period_s", "s", "period of the regime", attrgetter("period")),
        ),
    ),
)
"""Tables in the group ``periods``: their dimension, what of a result they list, and their variables."""

_REGIMES: Final[tuple[Variable, ...]] = (
    ("start", "s", _START.format("stretch")),
    ("end", "s", _END.format("stretch")),
    ("period", "s", "period that holds in it"),
    ("confidence", "1", "confidence of the method in this period"),
    ("phases", "1", "number of phases that begin in it"),
    ("valid_share", "1", "share of it in which the sliding correlation (DFT x DWT) says that the period holds"),
)

_COSINES: Final = (
    ("frequency", "s-1", "frequency of the cosine"),
    ("amplitude", "byte s-1", "amplitude of the cosine"),
    ("phase", "radian", "phase of the cosine at the window's start"),
)


class Judged(NamedTuple):
    """The verdict on a layer's period, and that on its signal alone."""

    result: PeriodResult
    of_signal: PeriodResult


@dataclass(frozen=True)
class PeriodSearch:
    """Where and how periods are looked for: a method, which must exist, its sampling frequency in Hz, and a filter."""

    trace: Trace
    names: tuple[str, ...]
    traffic: Traffic
    method: str
    fs: float | Literal["auto"]
    filter: str | None = None

    def __post_init__(self) -> None:
        period_method(self.method)
        if self.filter is not None:
            Butterworth.parse(self.filter)

    def of(self, signal: StepSignal) -> PeriodResult:
        """Return the verdict on `signal`."""
        return detect_period(signal, self.method, self.fs, filter=self.filter)

    def judged(self, place: Place, signal: StepSignal) -> Judged:
        """Return what the period of the signal of a layer and direction is."""
        row, way = place
        alone = LayerPeriod(self.names[row], DIRECTIONS[way], self.traffic, signal, self.of(signal))
        # The search for phases costs the time to load numba.
        from ...analysis.comparison.iterations import loops_of

        loops = loops_of(self.trace, self.method) if self.filter is None else None
        found = in_loop(alone, loops, self.of)
        return Judged(found.result, found.of_signal)

    def fit(self, signal: StepSignal, components: int) -> FourierFit:
        """Return `signal`, after the filter, as `components` cosines."""
        return fitted(signal, components, self.fs, self.filter).fit


def write_regimes(writer: GroupWriter, results: Mapping[Place, PeriodResult]) -> None:
    """Write one row for each regime of each signal; rows of one signal stand together, in the order of time.

    Parameters
    ----------
    writer : GroupWriter
        Of a group that inherits the dimensions ``layer`` and ``direction``.
    results : mapping of (layer row, direction row) to PeriodResult
    """
    rows = [(place, regime) for place, result in sorted(results.items()) for regime in result.regimes]
    _write_places(writer, "regime", [place for place, _ in rows])
    writer.table(("regime",), [one for _, one in rows], _REGIMES)


def write_components(writer: GroupWriter, fits: Mapping[Place, FourierFit]) -> None:
    """Write one row for each cosine of each signal, the strongest first.

    Parameters
    ----------
    writer : GroupWriter
        As of `write_regimes`.
    fits : mapping of (layer row, direction row) to FourierFit
    """
    rows = [(place, fit, number) for place, fit in sorted(fits.items()) for number in range(len(fit.components))]
    row = ("component",)
    _write_places(writer, "component", [place for place, _, _ in rows])
    for name, units, long_name in _COSINES:
        cosines = [getattr(fit.components, name)[number] for _, fit, number in rows]
        lines = [getattr(fit.lines, name)[number] for _, fit, number in rows]
        writer.floats(name, row, cosines, units, f"{long_name}, fitted")
        writer.floats(f"line_{name}", row, lines, units, f"{long_name}, line of the Fourier transform")
    for name, of, what in (("fit", "components", "fitted sum"), ("line", "lines", "sum of the lines")):
        errors = [getattr(fit, of).mean_square_error / max(fit.lines.mean, 1e-300) ** 2 for _, fit, _ in rows]
        long_name = f"mean square error of the {what} of the signal, over the square of its mean"
        writer.floats(f"{name}_error", row, errors, "1", long_name)


def write_periods(writer: GroupWriter, results: Mapping[Place, PeriodResult], names: tuple[str, ...]) -> None:
    """Write the verdicts on the signals of `names`.

    Parameters
    ----------
    writer : GroupWriter
        As of `write_regimes`.
    results : mapping of (layer row, direction row) to PeriodResult
        Signals without volume have none.
    names : tuple of str
        Layers, as many as ``layer`` has rows.
    """
    write_axes(writer, names)
    found = [results.get(place) for place in product(range(len(names)), range(len(DIRECTIONS)))]
    writer.table(_GRID, found, _VERDICTS)
    writer.table(_GRID, [None if one is None else one.metrics for one in found], variables_of(PeriodMetrics))
    interval = [end for one in found for end in (one and one.period_interval) or (None, None)]
    writer.floats("period_interval_s", (*_GRID, "bnds"), interval, "s", "lower and upper end of the period")
    reasons = ["The signal moved no bytes." if one is None else one.reason for one in found]
    writer.text("reason", _GRID, reasons, long_name="why the verdict is what it is")
    for dimension, listed, variables in _TABLES:
        rows = [(place, one) for place, result in sorted(results.items()) for one in getattr(result, listed)]
        _write_places(writer, dimension, [place for place, _ in rows])
        writer.table((dimension,), [one for _, one in rows], variables, f"{dimension}_")


def _write_places(writer: GroupWriter, dimension: str, places: list[Place]) -> None:
    """Create a dimension whose rows belong to signals; rows of one signal stand together, in order."""
    writer.dimension(dimension, len(places))
    for position, axis in enumerate(_GRID):
        long_name = f"row of the {dimension}'s {axis} in the dimension {axis}"
        rows = np.array([place[position] for place in places], np.int32)
        writer.numbers(f"{dimension}_{axis}", (dimension,), rows, long_name=long_name, units="1")
