"""A trace's layers compared: flows, periods, balances, hidden traffic and findings, computed for any view of them."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Annotated, Any, Final, Literal

from ...layers.document import OF_TRACE, document
from ...layers.flow.access_pattern import Access
from ...layers.flow.balance import HiddenTraffic, LayerBalance, TimeSplit
from ...layers.flow.flow import Flow
from ...layers.selection.directions import DIRECTIONS, Direction
from ...layers.trace import Trace
from ...model.arrays import Frozen
from ...model.codes import BLOCK_IO
from ...model.document import Document, Record, plain
from ...model.errors import import_library
from ..detect import detect_period
from ..findings.find import Finding, find
from ..findings.rule import Rule
from ..registry import DEFAULT_METHOD
from .iterations import loops_of
from .layer_periods import LayerPeriod, chosen_layers
from .periods import Analysed, PeriodComparison, SignalKey, compare_flows
from .side_by_side import SideBySide, side_by_side


class FlushTime(Record):
    """Time in s in which a layer's flushes were under way on any rank, and with it that of its reads and writes."""

    layer: str
    flush_s: float
    busy_s: float


_COMPARISON: Final = {
    "pairs": list[
        Annotated[Document, Flow]
        | Annotated[Document, Flow, PeriodComparison]
        | Annotated[Document, SideBySide]
        | Annotated[Document, SideBySide, PeriodComparison]
    ],
    "balance": tuple[LayerBalance, ...],
    "time": tuple[TimeSplit, ...],
    "flush_time": tuple[FlushTime, ...],
    "access": tuple[Access, ...],
    "hidden": tuple[HiddenTraffic, ...],
    "findings": tuple[Finding, ...],
}


class Comparison(Frozen):
    """What ``iostrata compare`` shows.

    Attributes
    ----------
    trace : Trace
    flows : tuple of Flow
        One a pair of layers and direction, highest layers first.
    periods : mapping
        From the place of a pair, of `flows` and then `sides`, to its comparison of periods; empty where periods were
        not asked for.
    hidden : tuple of HiddenTraffic
    findings : tuple of Finding
    layers : frozenset of str
        Layers that were asked for; empty where all were.
    sides : tuple of SideBySide
        In the place of flows where no single operations are known; beside them for layers of which counters alone tell.
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

        header = ("layers", "direction", "bytes above", "bytes below", "amplification", "verdict on the period")
        verdicts = {place: periods.verdict for place, periods in self.periods.items()}
        rows = []
        for place, one in enumerate(self.flows):
            numbers = one.upper_bytes, one.lower_bytes, one.amplification
            rows.append((f"{one.upper} → {one.lower}", one.direction, *numbers, verdicts.get(place, "")))
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

    def _asked(self, relation: str) -> tuple[Any, ...]:
        """Return what the layers that were asked for are to others; nothing where single operations are not known."""
        if self.trace.definitions.recording.reason("operations"):
            return ()
        found = getattr(self.trace.relations, relation)
        return tuple(one for one in found if not self.layers or one.layer in self.layers)

    @cached_property
    def balances(self) -> tuple[LayerBalance, ...]:
        """Of the layers that were asked for; none where single operations are not known."""
        return self._asked("balances")

    @cached_property
    def times(self) -> tuple[TimeSplit, ...]:
        """Of the layers that were asked for; none where single operations are not known."""
        return self._asked("time_splits")

    @cached_property
    def accesses(self) -> tuple[Access, ...]:
        """Of the layers that were asked for; none where single operations are not known."""
        return self._asked("accesses")

    @cached_property
    def flush_times(self) -> tuple[FlushTime, ...]:
        """Of the layers that were asked for and flush."""
        asked = [one for one in chosen_layers(self.trace, self.layers) if one.flushes]
        others = [sum(one.statistics(direction).busy_s for direction in DIRECTIONS) for one in asked]
        told = zip(asked, others, strict=True)
        return tuple(FlushTime(one.name, one.flush_busy_s, one.flush_busy_s + busy) for one, busy in told)

    def to_dict(self) -> Annotated[Document, OF_TRACE, _COMPARISON]:
        """Return the document of ``iostrata compare --json``."""
        return document(
            self.trace,
            pairs=pair_entries(self),
            balance=plain(self.balances),
            time=[one.to_dict() for one in self.times],
            flush_time=plain(self.flush_times),
            access=plain(self.accesses),
            hidden=[one.to_dict() for one in self.hidden],
            findings=plain(self.findings),
        )


def compare_layers(
    trace: Trace,
    *,
    layers: Iterable[str] = (),
    directions: tuple[Direction, ...] = DIRECTIONS,
    method: str = DEFAULT_METHOD,
    fs: float | Literal["auto"] = "auto",
    periods: bool = True,
    rules: Iterable[Rule] | None = None,
    known: Iterable[LayerPeriod] = (),
    by_loops: bool = True,
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
    by_loops : bool
        Whether layers are compared by the iterations of the program's loops where there are any, and only else by their
        bandwidths; with the default method.

    Raises
    ------
    SelectionError
        If the trace has no layer of one of the names.

    Notes
    -----
    Where bytes by intervals are known and no single operations, and above block devices, layers stand side by side:
    what each moved in all, and both periods. Then there are no flows, as nobody knows what served what; findings of
    intervals are those of counters.
    """
    wanted = frozenset(trace.layers[name].name for name in layers)
    single = not trace.definitions.recording.reason("operations")
    flows = tuple(one for one in trace.relations.flows_of(directions) if _is_wanted(one, wanted)) if single else ()
    beside = [one for one in side_by_side(trace, directions) if _is_wanted(one, wanted)]
    # No handle leads to a block device.
    sides = tuple(one for one in beside if not single or one.counted or one.lower == BLOCK_IO)
    pairs: tuple[Flow | SideBySide, ...] = (*flows, *sides) if periods else ()
    seen, loops = _seen(known), loops_of(trace, method) if periods and by_loops else None
    compared = compare_flows(trace, pairs, lambda signal: detect_period(signal, method, fs), seen, loops)
    hidden = tuple(one for one in trace.relations.hidden if not wanted or one.layer in wanted) if single else ()
    found = {(layer, way): one for (layer, way, below), (_, one) in seen.items() if below is None}
    findings = find(trace, rules, found if (method, fs) == (DEFAULT_METHOD, "auto") else {})
    return Comparison(trace, flows, compared, hidden, findings, wanted, sides)


def _is_wanted(pair: Flow | SideBySide, wanted: frozenset[str]) -> bool:
    return not wanted or {pair.upper, pair.lower} <= wanted or (len(wanted) == 1 and pair.upper in wanted)


def _seen(known: Iterable[LayerPeriod]) -> dict[SignalKey, Analysed]:
    return {
        (one.layer, one.direction, None): (one.signal, one.of_signal)
        for one in known
        if (one.traffic, one.quantity, one.by) == ("all", "bandwidth", None) and one.direction is not None
    }


def pair_entries(comparison: Comparison, tables: bool = True) -> list[dict[str, Any]]:
    """Return an entry for each pair of layers and direction; `tables` as in `Flow.to_dict`."""
    entries = [flow.to_dict(tables) for flow in comparison.flows] + [side.to_dict() for side in comparison.sides]
    for place, periods in comparison.periods.items():
        entries[place] |= periods.to_dict()
    return entries
