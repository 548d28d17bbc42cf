"""The documents of ``--json`` about a trace, one function a command: plain dicts, ``schema_version`` first.

Keys are part of the public interface. New ones may come; what is there keeps its name, unit and meaning.
"""

import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Final

from ...analysis.comparison.iterations import LayerLoop
from ...analysis.comparison.layer_periods import LayerPeriod, PartsLeftOut
from ...analysis.findings.last_ranks import NO_LAST_RANKS, LastRank, SignalOf
from ...analysis.fitting import SignalFit
from ...analysis.results.result import Period, PeriodResult, Phase
from ...layers.attribution.breakdown import Breakdown
from ...layers.attribution.calls.calls import CallTime
from ...layers.attribution.calls.cost import Overlap, RunCost, WaitingChain
from ...layers.document import FLUSHES, OF_TRACE, RAN, document, flush_entries, what_ran
from ...layers.handles.forest import HANDLE
from ...layers.layer import Layer
from ...layers.selection.directions import DIRECTIONS, Direction, Traffic
from ...layers.selection.window import SetAside
from ...layers.summary.statistics import LayerStatistics, with_counted
from ...layers.trace import Trace
from ...model.definitions import Definitions
from ...model.document import SCHEMA_VERSION, Document, Plain, keys_of, plain, rows_of
from ...model.recording import CounterTotal, Recording
from ...model.stream.damage import DAMAGE, damage_entry
from ...model.stream.source import Source, Tally
from ...model.stream.summary import CommunicatorSize, TraceSummary, start_time
from ..atomic import atomic_file
from ..written import Written

_CALLS: Final = {
    "metadata_calls?": list[CallTime],
    "exclusive_s?": dict[str, float],
    "cost?": RunCost | None,
    "chain?": WaitingChain | None,
    "overlap?": Overlap | None,
}
_COUNTERS: Final = {
    "counters?": list[CounterTotal],
    "counter_sums?": list[Annotated[Document, {**keys_of(str, "module layer"), "records": int, "*": int | float}]],
}
_COUNTED: Final = {**RAN, "recorder": str, "not_recorded": list[str]}
_PARADIGM: Final = {
    **keys_of(str, "identification name class"),
    "os": bool,
    "properties": dict[str, Any],
    **keys_of(int | None, "handles roots files"),
}
_FILE: Final = {"id": int, "name": str, "directory": bool, "scope": str | None, "properties": dict[str, Any]}
_NODE: Final = {**keys_of(str, "name class"), "parent": int | None, "ranks": int}
_CLOCK: Final = {**keys_of(int, "ticks_per_second start_ticks length_ticks"), "start_utc": str | None}
INFO: Final = {
    "schema_version": int,
    "trace": Annotated[Document, {"path": str, "duration_s": float, **keys_of(int, "locations ranks nodes events")}],
    "format": dict[str, str | int],
    "recording": Recording,
    **_COUNTERS,
    "clock": Annotated[Document, _CLOCK],
    "paradigms": list[Annotated[Document, _PARADIGM]],
    "files": list[Annotated[Document, _FILE]],
    "handles": Annotated[Document, keys_of(int | None, "total roots precreated without_file")],
    "system_tree": list[Annotated[Document, _NODE]],
    "communicators": list[CommunicatorSize],
    "damage?": Annotated[Document, DAMAGE],
}
LAYERS: Final = {
    "layers": list[Annotated[Document, LayerStatistics, {"traffic": str}]],
    "flushes": list[Annotated[Document, FLUSHES]],
    **_CALLS,
    **_COUNTERS,
    "set_aside": SetAside,
    "unmatched_events": int,
    "breakdown?": Annotated[Document, {"by": str, "rows": Breakdown}],
}
COUNTED: Final = {
    "schema_version": int,
    "trace": Annotated[Document, _COUNTED],
    "layers": list[int],
    **_COUNTERS,
    "damage": Annotated[Document, DAMAGE],
}
_SIGNAL: Final = {
    "layer": str,
    "direction": str | None,
    **keys_of(str, "traffic signal unit by?"),
    **keys_of(float, "bytes? volume?"),
    "part?": str | int | None,
}
_VOLUME: Final = keys_of(float, "bytes? volume?")
_PERIOD: Final = {
    **_SIGNAL,
    "false_alarm_rate?": float | None,
    "periods": list[Annotated[Document, Period, _VOLUME]],
    "phases": list[Annotated[Document, Phase, _VOLUME]],
    "fit?": SignalFit,
    "last_ranks?": list[LastRank | None],
    "loop?": LayerLoop,
    "by_signal?": dict[str, Any],
}
PERIODS: Final = {
    "layers": list[Annotated[Document, PeriodResult, _PERIOD]],
    "not_analysed?": list[Annotated[Document, _SIGNAL]],
    "plot?": Written,
    "set_aside": SetAside,
}
HANDLES: Final = {"handles": list[Annotated[Document, HANDLE, {"metadata_s?": float}]]}


def info_document(summary: TraceSummary) -> Annotated[Document, INFO]:
    """Return the document of ``iostrata info``: definitions only."""
    definitions = summary.definitions
    recording = definitions.recording
    clock, nodes = definitions.clock, definitions.system_tree
    # In the place of what is not recorded stands one for each layer.
    known = not recording.reason("handles")
    tree = zip(nodes.name, nodes.class_name, nodes.parent.tolist(), summary.ranks_of_nodes, strict=True)
    handles = {
        "total": len(definitions.handles.id),
        "roots": summary.handle_roots,
        "precreated": summary.handles_precreated,
        "without_file": summary.handles_without_file,
    }
    return {
        "schema_version": SCHEMA_VERSION,
        "trace": {
            "path": str(summary.path),
            "duration_s": clock.duration,
            **{name: getattr(summary, name) for name in ("locations", "ranks", "nodes", "events")},
        },
        "format": dict(recording.facts),
        "recording": recording.to_dict(),
        **counters_entry(recording),
        "clock": {
            "ticks_per_second": clock.ticks_per_second,
            "start_ticks": clock.start,
            "length_ticks": clock.length,
            "start_utc": start_time(clock),
        },
        "paradigms": [
            {
                "identification": counts.paradigm.identification,
                "name": counts.paradigm.name,
                "class": "parallel" if counts.paradigm.parallel else "serial",
                "os": counts.paradigm.os,
                "properties": dict(counts.paradigm.properties),
                **{name: getattr(counts, name) if known else None for name in ("handles", "roots", "files")},
            }
            for counts in summary.paradigms
        ],
        "files": _file_entries(definitions) if known else [],
        "handles": {name: count if known else None for name, count in handles.items()},
        "system_tree": [
            {"name": name, "class": kind, "parent": parent if parent >= 0 else None, "ranks": ranks}
            for name, kind, parent, ranks in tree
        ],
        "communicators": [dict(vars(one)) for one in summary.communicators],
        **({} if summary.damage is None else {"damage": damage_entry(summary.damage)}),
    }


def _file_entries(definitions: Definitions) -> list[Document]:
    """Return an entry for each file."""
    files, nodes = definitions.files, definitions.system_tree
    scopes = [nodes.name[scope] if scope >= 0 else None for scope in files.scope.tolist()]
    columns = {name: getattr(files, name) for name in ("id", "name", "directory", "scope", "properties")}
    return rows_of({**columns, "scope": scopes})


def counters_entry(
    recording: Recording, layers: Iterable[str] = (), directions: Iterable[Direction] = DIRECTIONS
) -> Document:
    """Return the entries ``counters`` and ``counter_sums``: what the recorder summed up, of `layers` (all where empty).

    There is none where the recorder keeps no counters.
    """
    if recording.counters is None:
        return {}
    wanted = tuple(layers)
    return {
        "counters": [one.to_dict() for one in recording.counted(wanted, tuple(directions))],
        "counter_sums": [one for one in recording.counters.module_sums() if not wanted or one["layer"] in wanted],
    }


def counted_document(
    source: Source, layers: Iterable[str], directions: Iterable[Direction]
) -> Annotated[Document, COUNTED]:
    """Return the document of ``iostrata layers`` for a recording without times: its counters."""
    definitions = source.definitions
    tally = Tally.of(source)
    return {
        "schema_version": SCHEMA_VERSION,
        "trace": {
            **what_ran(source.path, definitions, definitions.clock.duration, tally),
            "recorder": definitions.recording.recorder,
            "not_recorded": list(definitions.recording.missing),
        },
        "layers": [],
        **counters_entry(definitions.recording, layers, directions),
        "damage": damage_entry(tally.damage),
    }


def layers_document(
    trace: Trace,
    layers: Iterable[Layer],
    directions: Iterable[Direction] = DIRECTIONS,
    traffic: Traffic = "all",
    table: Breakdown | None = None,
) -> Annotated[Document, OF_TRACE, LAYERS]:
    """Return the document of ``iostrata layers``: an entry per layer and direction that had operations.

    Only operations of `traffic` count. Flushes have neither direction nor traffic: all are listed separately.
    With `table`, the layers split further, there is an object ``breakdown``.
    """
    layers, directions, recording = tuple(layers), tuple(directions), trace.definitions.recording
    chosen = len(layers) < len(trace.layers)
    entries = [layer.statistics(direction, traffic) for layer in layers for direction in directions]
    if not chosen and traffic == "all":
        entries = with_counted(trace.scope, entries, directions)
    found = document(
        trace,
        layers=[{**entry.to_dict(), "traffic": traffic} for entry in entries if entry.operations],
        flushes=flush_entries(layers),
        **_calls(trace, {layer.name for layer in layers}),
        **counters_entry(recording, [layer.name for layer in layers] if chosen else (), directions),
        set_aside=trace.set_aside.to_dict(),
        unmatched_events=trace.tally.unmatched,
    )
    return found if table is None else {**found, "breakdown": {"by": table.by, "rows": table.to_dict()}}


def _calls(trace: Trace, layers: Collection[str]) -> Document:
    """Return what calls took, where the trace records when functions were entered and left."""
    calls = trace.calls
    if calls.totals is None:
        return {}
    overlap = calls.overlap if calls.non_blocking.length else None
    return {
        "metadata_calls": [one.to_dict() for one in calls.totals.call_times if one.layer in layers],
        "exclusive_s": calls.totals.group_seconds,
        "cost": None if calls.cost is None else calls.cost.to_dict(),
        "chain": None if calls.chain is None else calls.chain.to_dict(),
        "overlap": None if overlap is None else overlap.to_dict(),
    }


def handles_document(trace: Trace, layers: Iterable[Layer] | None = None) -> Annotated[Document, OF_TRACE, HANDLES]:
    """Return the document of ``iostrata handles``: an iterator over its handles.

    In each of them, `set_aside` says why it does not count; `metadata_s` what the calls took that opened, closed, …
    it, in s, where the trace tells when functions were entered and left, 0 where it is set aside.

    `layers` only picks entries. Their parents and their numbers, those of subtrees among them, stay those of the whole
    forest.
    """
    handles = trace.handles.dicts()
    if trace.calls.totals is not None:
        seconds = trace.calls.totals.handle_seconds(len(trace.handles)).tolist()
        handles = ({**handle, "metadata_s": took} for handle, took in zip(handles, seconds, strict=True))
    if layers is not None:
        wanted = {layer.name for layer in layers}
        handles = (handle for handle in handles if handle["layer"] in wanted)
    return document(trace, handles=handles)


_VERDICT: Final = frozenset(
    {"periodic", "period_s", "period_interval_s", "confidence", "recurrence_s", "jitter", "reason", "evidence"}
)
"""Entries of the verdict on a signal alone."""


def periods_document(
    trace: Trace,
    periods: Iterable[LayerPeriod | PartsLeftOut],
    figure: Written | None = None,
    last: Mapping[SignalOf, Sequence[LastRank | None]] = NO_LAST_RANKS,
) -> Annotated[Document, OF_TRACE, PERIODS]:
    """Return the document of ``iostrata periods``: an entry per layer and direction that moved bytes.

    Where layers are split there is an entry per part, and ``not_analysed`` names the parts that were left out. Volumes
    are called ``bytes`` where they are bytes and ``volume`` elsewhere, in `unit` times second. ``fit`` is there where
    cosines were fitted, ``plot`` where a picture was written, ``last_ranks`` of each phase where `last` has them.
    """
    entries, left_out = [], []
    for period in periods:
        if isinstance(period, PartsLeftOut):
            left_out += [
                {**_of_signal(period, period.unit, volume), "by": period.by, "part": part}
                for part, volume in period.volumes
            ]
            continue
        late = last.get((period.layer, period.direction or "total", period.traffic))
        entries.append(_period_entry(period, None if period.by is not None else late))
    more: Document = {"not_analysed": left_out} if left_out else {}
    if figure is not None:
        more["plot"] = figure.to_dict()
    return document(trace, layers=entries, **more, set_aside=trace.set_aside.to_dict())


def _period_entry(period: LayerPeriod, late: Sequence[LastRank | None] | None) -> Document:
    """Return the entry of a signal with the verdict on it, and who was `late` in its phases where that is known."""
    entry = _of_signal(period, period.signal.unit, period.signal.volume)
    if period.by is not None:
        entry |= {"by": period.by, "part": period.part, "false_alarm_rate": period.false_alarm_rate}
    verdict: Document = period.result.to_dict()
    if period.quantity != "bandwidth":
        for name in ("periods", "phases"):
            verdict[name] = [_with_volume(one) for one in verdict[name]]
    if period.fit is not None:
        verdict["fit"] = period.fit.to_dict()
    if late is not None:
        verdict["last_ranks"] = plain(late)
    if period.loop is not None:
        verdict["loop"] = period.loop.to_dict()
        verdict["by_signal"] = {name: one for name, one in period.of_signal.to_dict().items() if name in _VERDICT}
    return {**entry, **verdict}


def _of_signal(period: LayerPeriod | PartsLeftOut, unit: str, volume: float) -> Document:
    """Return what says which signal an entry is about."""
    of = {name: getattr(period, name) for name in ("layer", "direction", "traffic")}
    moved = "bytes" if period.quantity == "bandwidth" else "volume"
    return {**of, "signal": period.quantity, "unit": unit, moved: volume}


def _with_volume(entry: Document) -> Document:
    """Return an entry with ``volume`` for ``bytes``, in the same place."""
    return {"volume" if name == "bytes" else name: value for name, value in entry.items()}


_ITEMS_AT_ONCE: Final = 1000
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def json_text(document: dict[str, object], indent: int | None = 1) -> str:
    """Return `document` as one JSON text, pure ASCII and with its keys in their order.

    NumPy values become Python's, a number that is not finite becomes null, and what is no character (half a surrogate
    pair, out of a file name that is not UTF-8) becomes U+FFFD. Without `indent` it is one line without blanks.
    """
    separators = None if indent else (",", ":")
    return json.dumps(_sound(plain(document)), indent=indent, separators=separators, allow_nan=False)


def write_json(document: dict[str, object], path: str | os.PathLike[str]) -> Written:
    """Write a document, whole or not at all; raises OutputError."""
    text = json_text(document) + "\n"
    with atomic_file(path) as temporary:
        temporary.write_text(text, encoding="ascii")
    return Written(Path(path), len(text))


def json_pieces(document: dict[str, object]) -> Iterator[str]:
    """Yield the text of `json_text` in pieces; a value that is an iterator becomes a list that is never held whole."""
    before = "{"
    for key, value in document.items():
        yield f"{before}\n {json.dumps(key)}: "
        before = ","
        if isinstance(value, Iterator):
            yield from _list_pieces(value)
        else:
            yield _indented(value, 1)
    yield "\n}" if document else "{}"


def _list_pieces(items: Iterator[object]) -> Iterator[str]:
    before = "["
    while some := list(islice(items, _ITEMS_AT_ONCE)):
        yield before + ",".join(f"\n  {_indented(item, 2)}" for item in some)
        before = ","
    yield "[]" if before == "[" else "\n ]"


def _indented(value: object, depth: int) -> str:
    # In JSON a line never ends within a text.
    text = json.dumps(_sound(plain(value)), indent=1, allow_nan=False)
    return text.replace("\n", "\n" + " " * depth)


def _sound(value: Plain) -> Plain:
    if isinstance(value, str):
        return _LONE_SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_sound(item) for item in value]
    if isinstance(value, dict):
        return {_LONE_SURROGATE.sub("\ufffd", key): _sound(item) for key, item in value.items()}
    return value
