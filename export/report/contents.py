"""All that the page shows, as one document of plain values: the documents of ``--json``, and what is drawn."""

from collections.abc import Sequence
from typing import Any

from ...analysis.comparison.layer_periods import LayerPeriod
from ...analysis.comparison.layers import Comparison, pair_entries
from ...analysis.comparison.story import Segment
from ...analysis.findings.facts import RANKS_SHOWN
from ...analysis.findings.find import evidence_units
from ...layers.layer import Layer
from ...layers.trace import Trace
from ...model.document import plain
from ...model.stream.summary import start_time
from ..encoding import Names, without_long_text
from ..json.documents import layers_document, periods_document
from .glossary import DEFINITIONS
from .headline import headline, holds_io, verdict_text
from .panels.bandwidth import curve, phase_strip
from .panels.call_tree import call_tree
from .panels.collectives import collective_calls
from .panels.handles import handle_tree
from .panels.heat_map import heat_maps
from .panels.limits import Limits
from .panels.nodes import system_nodes
from .panels.request_sizes import size_histogram
from .panels.spectra import spectrum_curve
from .panels.stacks import thread_stacks
from .panels.timeline import timeline

Document = dict[str, Any]

_LISTS_OF_PERIODS = ("phases", "regimes", "periods")


def report_contents(
    trace: Trace,
    layers: Sequence[Layer],
    periods: Sequence[LayerPeriod],
    comparison: Comparison | None = None,
    limits: Limits | None = None,
    story: Sequence[Segment] = (),
) -> Document:
    """Return the document that the page holds.

    Parameters
    ----------
    layers : sequence of Layer
        Those that the report is about.
    periods : sequence of LayerPeriod
        Of these layers.
    comparison : Comparison, optional
        Of these layers.
    limits : Limits, optional
    story : sequence of Segment
        What the I/O was, segment by segment.

    Returns
    -------
    dict
        ``layers``, ``periods`` and ``compare`` are the documents of the commands of these names; lists in them that are
        longer than the limits are cut, and ``cut`` holds how long they were.
    """
    limits = limits or Limits()
    names = Names(limits.characters)
    cut: dict[str, int] = {}
    if len(story) > limits.segments:
        cut["story"] = len(story)
    by_volume = sorted(range(len(periods)), key=lambda place: -periods[place].signal.volume)
    shown = [periods[place] for place in sorted(by_volume[: limits.curves])]
    if len(shown) < len(periods):
        cut["curves"] = len(periods)
    curves = [(period.layer, period.direction or "total") for period in shown]
    layer_names = tuple(dict.fromkeys(name for name, _ in curves)) or tuple(layer.name for layer in layers)
    whole = layers_document(trace, layers)
    compared = None if comparison is None else _comparison_document(comparison)
    recording = trace.definitions.recording
    single = recording.rows == "operations"
    content = {
        "headline": headline(whole, periods, compared),
        "holds_io": holds_io(whole),
        "single_operations": single,
        "story": [one.to_dict() for one in story[: limits.segments]],
        "program": _program(trace),
        "layers": _shorter_lists(whole, limits, cut),
        "periods": _shorter_periods(periods_document(trace, shown), limits, cut),
        "compare": None if compared is None else _shorter_comparison(compared, limits, cut),
        "curves": [
            {
                "layer": period.layer,
                "direction": period.direction,
                "verdict": verdict_text(period.result, period.signal.window),
                "phases": phase_strip(period.result.phases, limits.drawn_phases),
                **curve(period.signal, limits.steps, limits.bins),
            }
            for period in shown
        ],
        "spectra": [found for period in shown if (found := spectrum_curve(period, limits.lines)) is not None],
        "collectives": [] if comparison is None else collective_calls(comparison.flows, limits),
        "sizes": [size_histogram(trace.layers[name], direction) for name, direction in curves] if single else [],
        "heat": heat_maps(trace, curves, limits),
        "timeline": timeline(trace, layer_names, names, limits) if single else None,
        "handles": None if recording.handles == "absent" else handle_tree(trace, names, limits),
        "calls": call_tree(trace, names, limits),
        "stacks": thread_stacks(trace, names, limits),
        "nodes": system_nodes(trace, curves, names, limits.nodes),
        "cut": cut,
        "definitions": DEFINITIONS,
        "evidence_units": evidence_units(() if comparison is None else comparison.findings),
        "ranks_shown": min(RANKS_SHOWN, limits.pairs),
    }
    content["names"] = names.table()
    return {"schema_version": 1, **without_long_text(plain(content), limits.characters)}


def _program(trace: Trace) -> Document:
    definitions = trace.definitions
    return {
        "start_utc": start_time(definitions.clock),
        "ticks_per_second": definitions.clock.ticks_per_second,
        "paradigms": [
            {"identification": paradigm.identification, "name": paradigm.name, "properties": dict(paradigm.properties)}
            for paradigm in definitions.paradigms[:64]
        ],
    }


def _shorter_lists(document: Document, limits: Limits, cut: dict[str, int]) -> Document:
    cost = document.get("cost")
    if cost and len(cost["ranks"]) > limits.locations:
        cut["ranks"] = len(cost["ranks"])
        document = {**document, "cost": {**cost, "ranks": cost["ranks"][: limits.locations]}}
    if document.get("chain"):
        document = {
            **document,
            "chain": {**document["chain"], "steps": [], "held_up": document["chain"]["held_up"][:1]},
        }
    damage = document["damage"]
    locations = damage["locations"]
    if len(locations) > limits.locations:
        cut["damaged_locations"] = len(locations)
        document = {**document, "damage": {**damage, "locations": locations[: limits.locations]}}
    if len(document["layers"]) > 2 * limits.curves:
        cut["layers"] = len(document["layers"])
        document = {**document, "layers": document["layers"][: 2 * limits.curves]}
    return document


def _shorter_periods(document: Document, limits: Limits, cut: dict[str, int]) -> Document:
    entries = []
    for entry in document["layers"]:
        for name in _LISTS_OF_PERIODS:
            if len(entry[name]) > limits.phases:
                cut[f"{entry['layer']} {entry['direction']} {name}"] = len(entry[name])
                entry = {**entry, name: entry[name][: limits.phases]}
        entries.append(entry)
    damage = {**document["damage"], "locations": []}
    return {**document, "layers": entries, "damage": damage}


def _comparison_document(comparison: Comparison) -> Document:
    """Return what the page shows of the document of ``iostrata compare``."""
    return {
        "pairs": pair_entries(comparison, tables=False),
        "hidden": [one.to_dict() for one in comparison.hidden],
        "findings": [one.to_dict() for one in comparison.findings],
    }


def _shorter_comparison(document: Document, limits: Limits, cut: dict[str, int]) -> Document:
    """Return what the page shows of a comparison: pairs, hidden traffic and findings, their lists not too long."""
    shorter: Document = {}
    for name in ("pairs", "hidden", "findings"):
        entries = document[name]
        if len(entries) > limits.pairs:
            cut[name] = len(entries)
        shorter[name] = [_short(entry, limits.pairs) for entry in entries[: limits.pairs]]
    return shorter


def _short(value: Any, most: int) -> Any:
    """Return a plain value with every list in it cut."""
    if isinstance(value, dict):
        return {key: _short(item, most) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_short(item, most) for item in value[:most]]
    return value
