"""A trace's layers compared: flows, periods, balances, hidden traffic and findings, computed for any view of them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from ...layers.document import document
from ...layers.flow.balance import LayerBalance, TimeSplit
from ...layers.flow.flow import Flow
from ...layers.flow.hidden import HiddenTraffic
from ...layers.selection.directions import DIRECTIONS
from ...layers.trace import Trace
from ...model.document import Document
from ...model.errors import import_library
from ...signals.step import StepSignal
from ..detect import detect_period
from ..findings.find import Finding, find
from ..findings.rule import Rule
from ..registry import DEFAULT_METHOD
from ..results.result import PeriodResult
from .layer_periods import LayerPeriod
from .periods import PeriodComparison, SignalKey, compare_flows, compare_periods
from .side_by_side import SideBySide, side_by_side


@dataclass(frozen=True)
class FlushTime:
    """Time in s in which a layer's flushes were under way on any rank, and with it that of its reads and writes."""

    layer: str
    flush_s: float
    busy_s: float


@dataclass(frozen=True, eq=False)
class Comparison:
    """What ``iostrata compare`` shows.

    Attributes
    ----------
    trace : Trace
    flows : tuple of Flow
        One a pair of layers and direction, highest layers first.
    periods : mapping
        From the place of a flow, or of a pair in `sides`, to its comparison of periods; empty where periods were not
        asked for.
    hidden : tuple of HiddenTraffic
    findings : tuple of Finding
    layers : frozenset of str
        Layers that were asked for; empty where all were.
    sides : tuple of SideBySide
        In the place of flows where the recorder tells no single operations.
    """

    trace: Trace
    flows: tuple[Flow, ...]
    periods: Mapping[int, PeriodComparison]
    hidden: tuple[HiddenTraffic, ...]
    findings: tuple[Finding, ...]
    layers: frozenset[str] = frozenset()
    sides: tuple[SideBySide, ...] = ()

    def __repr__(self) -> str:
        found = ", ".join(dict.fromkeys(one.id for one in self.findings)) or "none"
        return f"<Comparison of {str(self.trace.path)!r}: {len(self.flows)} flows, findings: {found}>"

    def _repr_html_(self) -> str:
        from ...model.display import html_table

        header = ("layers", "direction", "bytes above", "bytes below", "ratio", "verdict on the period")
        rows = [
            (
                f"{flow.upper} → {flow.lower}",
                flow.direction,
                flow.upper_bytes,
                flow.lower_bytes,
                flow.amplification,
                self.periods[place].verdict if place in self.periods else "",
            )
            for place, flow in enumerate(self.flows)
        ]
        found = [(one.id, one.severity, one.layer, one.text) for one in self.findings]
        findings = (
            html_table(found, ("finding", "severity", "layer", ""), "Findings") if found else "<p>No findings.</p>"
        )
        return findings + html_table(rows, header, "From layer to layer")

    def to_dataframe(self) -> Any:
        """Return a ``pandas.DataFrame``, one row a pair of layers and direction: the plain values of ``pairs``."""
        pandas = import_library("pandas")
        entries = pair_entries(self, tables=False)
        return pandas.DataFrame(
            [{key: value for key, value in entry.items() if not isinstance(value, dict | list)} for entry in entries]
        )

    @cached_property
    def balances(self) -> tuple[LayerBalance, ...]:
        """Of the layers that were asked for; none where single operations are not known."""
        if self.trace.definitions.recording.rows != "operations":
            return ()
        return tuple(one for one in self.trace.balances if not self.layers or one.layer in self.layers)

    @cached_property
    def times(self) -> tuple[TimeSplit, ...]:
        """Of the layers that were asked for; none where single operations are not known."""
        if self.trace.definitions.recording.rows != "operations":
            return ()
        return tuple(one for one in self.trace.time_splits if not self.layers or one.layer in self.layers)

    @cached_property
    def flush_times(self) -> tuple[FlushTime, ...]:
        """Of the layers that were asked for and flush."""
        found = []
        for name, layer in self.trace.layers.items():
            if self.layers and name not in self.layers:
                continue
            if layer.flushes:
                others = sum(layer.statistics(direction).busy_s for direction in DIRECTIONS)
                found.append(FlushTime(name, layer.flush_busy_s, layer.flush_busy_s + others))
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """Return the document of ``iostrata compare --json``."""

        return comparison_document(self)


def compare_layers(
    trace: Trace,
    *,
    layers: Iterable[str] = (),
    directions: tuple[str, ...] = DIRECTIONS,
    method: str = DEFAULT_METHOD,
    fs: float | Literal["auto"] = "auto",
    periods: bool = True,
    rules: Iterable[Rule] | None = None,
    known: Iterable[LayerPeriod] = (),
) -> Comparison:
    """Compare each layer with those below it.

    Parameters
    ----------
    trace : Trace
    layers : iterable of str
        Pairs of these layers only; all where there are none.
    directions : tuple of {"read", "write", "total"}
    method, fs
        As in `detect_period`.
    periods : bool
        Whether to compare periods, which takes most of the time.
    rules : iterable of Rule, optional
        What findings are looked for, all by default; they are of the whole trace, whatever layers and directions are
        asked for.
    known : iterable of LayerPeriod
        What was detected already in whole layers of this trace with the same method and frequency; it is not done
        again.

    Raises
    ------
    SelectionError
        If the trace has no layer of one of the names.

    Notes
    -----
    Where the recorder tells bytes by intervals and no single operations, layers stand side by side: what each moved in
    all, and both periods. Then there are no flows and no findings, as nobody knows what served what.
    """
    wanted = frozenset(trace.layers[name].name for name in layers)

    def is_wanted(pair: Flow | SideBySide) -> bool:
        return not wanted or {pair.upper, pair.lower} <= wanted or (len(wanted) == 1 and pair.upper in wanted)

    if trace.definitions.recording.rows != "operations":
        sides = tuple(filter(is_wanted, side_by_side(trace, directions)))
        beside = _periods_of_sides(trace, sides, method, fs, known) if periods else {}
        return Comparison(trace, (), beside, (), (), wanted, sides)
    flows = tuple(filter(is_wanted, trace.flows_of(directions)))
    compared: Mapping[int, PeriodComparison] = {}
    if periods:
        seen = _seen(known)
        compared = compare_flows(trace, flows, lambda signal: detect_period(signal, method, fs), seen)
    hidden = tuple(one for one in trace.hidden if not wanted or one.layer in wanted)
    return Comparison(trace, flows, compared, hidden, find(trace, rules), wanted)


def _seen(known: Iterable[LayerPeriod]) -> dict[SignalKey, tuple[StepSignal, PeriodResult]]:
    return {
        (one.layer, one.direction, None): (one.signal, one.result)
        for one in known
        if (one.traffic, one.quantity, one.by) == ("all", "bandwidth", None) and one.direction is not None
    }


def _periods_of_sides(
    trace: Trace,
    sides: tuple[SideBySide, ...],
    method: str,
    fs: float | Literal["auto"],
    known: Iterable[LayerPeriod],
) -> dict[int, PeriodComparison]:
    seen = _seen(known)
    for side in sides:
        for name in (side.upper, side.lower):
            key = name, side.direction, None
            if key not in seen:
                signal = trace.layers[name].bandwidth(side.direction)
                seen[key] = signal, detect_period(signal, method, fs)
    return {
        place: compare_periods(seen[side.upper, side.direction, None], seen[side.lower, side.direction, None])
        for place, side in enumerate(sides)
    }


def comparison_document(comparison: Comparison) -> Document:
    """Return the document of ``iostrata compare``."""
    return document(
        comparison.trace,
        pairs=pair_entries(comparison),
        balance=[one.to_dict() for one in comparison.balances],
        time=[one.to_dict() for one in comparison.times],
        flush_time=[vars(one) for one in comparison.flush_times],
        hidden=[one.to_dict() for one in comparison.hidden],
        findings=[one.to_dict() for one in comparison.findings],
    )


def pair_entries(comparison: Comparison, tables: bool = True) -> list[dict[str, Any]]:
    """Return an entry for each pair of layers and direction; `tables` as in `Flow.to_dict`."""
    told = [flow.to_dict(tables) for flow in comparison.flows] or [side.to_dict() for side in comparison.sides]
    entries = []
    for place, entry in enumerate(told):
        periods = comparison.periods.get(place)
        entries.append({**entry, **(periods.to_dict() if periods else {})})
    return entries
