"""The page of a trace: the documents of --json, and what is drawn, in one HTML file."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal

from ...analysis.comparison.elsewhere import by_cost, timed_elsewhere
from ...analysis.comparison.headline import headline_of
from ...analysis.comparison.iterations import loops_of
from ...analysis.comparison.layer_periods import LayerPeriod, chosen_layers, layer_periods
from ...analysis.comparison.layers import Comparison, compare_layers, pair_entries
from ...analysis.comparison.loop_story import story_by_loops
from ...analysis.comparison.story import Segment, results_of
from ...analysis.findings.facts import RANKS_SHOWN
from ...analysis.findings.find import LEAST_COST, evidence_units, no_findings
from ...analysis.loops.find import find_loops
from ...analysis.loops.loops import Loops
from ...analysis.registry import DEFAULT_METHOD
from ...layers.flow.access_pattern import Access
from ...layers.layer import Layer
from ...layers.selection.directions import DIRECTIONS, Traffic
from ...layers.summary.statistics import LayerStatistics
from ...layers.trace import Trace
from ...model.document import Document
from ...model.metrics import Metric, columns_of, metrics_of
from ...model.quantities import count_text, counted, seconds_text
from ...model.stream.summary import start_time
from ..encoding import Names
from ..json.documents import layers_document, periods_document
from ..page import document as page
from ..page.html import write_page
from ..written import Written
from .glossary import GLOSSARY
from .panels.calls import call_tree, thread_stacks
from .panels.limits import Limits
from .panels.loops import loop_charts, loop_strips
from .panels.signals import curve, metadata_charts, phase_strip, request_sizes, size_charts, spectra
from .panels.timeline import collective_calls, timeline
from .panels.volumes import handle_tree, heat_maps, system_nodes
from .sentences import first_sentences, holds_io, no_bytes, period_text

PICTURES: Final = (
    "trace.css", "view.js", "plot.js", "bandwidth.js", "tables.js", "findings.js", "periods.js", "flow.js",
    "timeline.js", "heat.js", "handles.js", "calls.js", "stacks.js", "collectives.js",
)  # fmt: skip
"""Scripts, and a style, that draw what only this page has, in the order in which they need each other."""
_LISTS_OF_PERIODS: Final = ("phases", "regimes", "periods")
_LOST: Final[page.Text] = ["The trace is damaged: ", {"href": "#damage", "text": "what is lost"}]
_SEGMENTS_UNFOLDED: Final = 8
_MOST_PARADIGMS: Final = 64


def report_contents(
    trace: Trace,
    layers: Sequence[Layer],
    periods: Sequence[LayerPeriod],
    comparison: Comparison | None = None,
    limits: Limits | None = None,
    story: Sequence[Segment] = (),
    loops: Loops | None = None,
) -> page.PageDocument:
    """Return the page of a trace.

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
    loops : Loops, optional
        Those of the trace.

    Returns
    -------
    PageDocument
        In `more`, ``layers``, ``periods`` and ``compare`` are the documents of the commands of these names; lists in
        them that are longer than the limits are cut, and `cut` holds how long they were.
    """
    limits = limits or Limits()
    cut = {} if len(story) <= limits.segments else {"story": len(story)}
    whole = layers_document(trace, layers)
    compared = None if comparison is None else _comparison_document(comparison)
    recorded, found = holds_io(whole), () if comparison is None else comparison.findings
    sentences = by_cost(headline_of(trace, found), timed_elsewhere(trace)) if recorded else ("",)
    told = [*first_sentences(whole, periods, compared), *(f"{one}." for one in sentences[1:])]
    shown = _most_moved(periods, limits, cut)
    more: Document = {
        "layers": _shorter_lists(whole, limits, cut),
        "periods": _shorter_periods(periods_document(trace, shown), limits, cut),
        "compare": None if compared is None else _shorter_comparison(compared, limits, cut),
        "metrics": _metrics(),
        "evidence_units": evidence_units(() if comparison is None else comparison.findings),
        "least_cost": LEAST_COST,
        "no_findings": no_findings(trace.definitions.recording),
        "ranks_shown": min(RANKS_SHOWN, limits.pairs),
    }
    sections: Sequence[page.Section] = [page.Section("damage", "Damage", "Damage", [page.Picture("damage")])]
    if recorded:
        more |= {"window_s": trace.window, **_drawings(trace, layers, shown, comparison, limits)}
        more["loops"] = loop_strips(loops, limits)
        accesses = () if comparison is None else comparison.accesses
        sections = _sections(trace, shown, more, limits, loop_charts(loops, shown, limits), accesses)
    title, opening = f"I/O of {'/'.join(str(trace.path).split('/')[-2:])}", _story(story, limits.segments)
    definitions = {**{one.title: one.sentence for one in metrics_of(LayerStatistics) if _shown(one)}, **GLOSSARY}
    pictures, beside = PICTURES if recorded else ("tables.js",), ("bandwidth", "findings")
    above = sections, _facts(trace, whole), [_LOST] if trace.damage.damaged else [], told, opening
    return page.PageDocument(title, *above, cut, definitions, more, pictures, sentences[0], beside)


def _most_moved(periods: Sequence[LayerPeriod], limits: Limits, cut: dict[str, int]) -> list[LayerPeriod]:
    """Return the signals that moved most, as many as are shown, in their order."""
    if len(periods) > limits.curves:
        cut["curves"] = len(periods)
    by_volume = sorted(range(len(periods)), key=lambda place: -periods[place].signal.volume)
    return [periods[place] for place in sorted(by_volume[: limits.curves])]


def _shown(metric: Metric) -> bool:
    """Tell whether the table of layers shows a metric: the page has more room than a terminal, which tells in words."""
    return metric.column or metric.name == "undefined_bytes_operations"


def _metrics() -> list[Document]:
    """Return the columns of the table of layers as the page goes by them."""
    titles = {one.name: one.title for one in metrics_of(LayerStatistics)}
    return [
        {
            "key": one.key if len(one.path) == 1 else ".".join(one.path),
            "title": one.title[0].upper() + one.title[1:],
            "kind": "share" if one.part_of else one.kind,
            "about": titles[one.path[0]],
        }
        for one in columns_of(LayerStatistics)
        if _shown(one)
    ]


def _drawings(
    trace: Trace, layers: Sequence[Layer], shown: Sequence[LayerPeriod], comparison: Comparison | None, limits: Limits
) -> Document:
    """Return what the pictures of the page are drawn from."""
    names = Names(limits.characters)
    recording = trace.definitions.recording
    curves = [(period.layer, period.direction or "total") for period in shown]
    layer_names = tuple(dict.fromkeys(name for name, _ in curves)) or tuple(layer.name for layer in layers)
    single = recording.knows("operations")
    found = {
        "single_operations": single,
        "curves": [
            {
                "layer": period.layer,
                "direction": period.direction,
                "verdict": period_text(period.result, period.signal.window),
                "phases": phase_strip(period.result.phases, limits.drawn_phases),
                **curve(period.signal, limits.steps, limits.bins),
            }
            for period in shown
        ],
        "collectives": [] if comparison is None else collective_calls(comparison.flows, limits),
        "heat": heat_maps(trace, curves, limits),
        "timeline": timeline(trace, layer_names, names, limits) if single else None,
        "handles": handle_tree(trace, names, limits) if recording.knows("handles") else None,
        "calls": call_tree(trace, names, limits),
        "stacks": thread_stacks(trace, names, limits),
        "nodes": system_nodes(trace, curves, names, limits.nodes),
    }
    return {**found, "names": names.table()}


_ACCESS: Final = (
    page.TableColumn("Where requests lie", "name", "text"),
    page.TableColumn("Requests", "operations", about="Those whose place in their file is known."),
    page.TableColumn(
        "Consecutive", "shares.consecutive", "share", "Begin where the one before of a process ended, or first."
    ),
    page.TableColumn(
        "In strides", "shares.in strides", "share", "As far from the one before as that was from its own."
    ),
    page.TableColumn("Random", "shares.random", "share", "All others."),
)


def _sections(
    trace: Trace,
    shown: Sequence[LayerPeriod],
    more: Document,
    limits: Limits,
    loops: Sequence[page.PageBlock],
    accesses: Sequence[Access],
) -> list[page.Section]:
    """Return the sections; a picture without anything to draw draws nothing, and its section is left out."""
    moving = shown if more["single_operations"] else ()
    sizes = [request_sizes(trace.layers[one.layer], one.direction or "total") for one in moving]
    pairs = [] if more["compare"] is None else more["compare"]["pairs"]
    beside = bool(pairs) and all(pair.get("lower_layer_bytes") is not None for pair in pairs)
    several = more["stacks"] is not None and more["stacks"]["total_threads"] > 1
    threads = "Two threads, one above the other" if several else "What the thread did"
    moved, first = ("Bandwidth", "Bandwidth of the layers"), list[page.PageBlock]([page.Picture("bandwidth")])
    # What moves no bytes opens, closes and deletes.
    if not shown and trace.stream.in_memory is not None:
        moved = "Metadata", "Metadata operations of the layers"
        first = [page.Paragraph(no_bytes(more["layers"])), *metadata_charts(trace.layers.values(), period_text)]
    own: dict[str, Sequence[page.PageBlock]] = {
        "bandwidth": first,
        "flow": [page.Picture("sides" if beside else "flow")],
        "loops": loops,
        "spectra": spectra(shown, limits.lines),
        "sizes": size_charts(sizes),
        "layers": [page.Picture("layers"), *([page.Table(_ACCESS, accesses)] if accesses else [])],
    }
    titles = (
        ("bandwidth", *moved),
        ("findings", "Findings", "Findings"),
        ("layers", "Layers", "What each layer did"),
        ("flow", *(("Layers side by side",) * 2 if beside else ("Flow", "From layer to layer"))),
        ("collectives", "Collectives", "Who does the work of collective calls"),
        ("loops", "Loops", "Iterations over one another"),
        ("periods", "Periods", "Periods"),
        ("spectra", "Spectra", "Spectra"),
        ("timeline", "Timeline", "I/O timeline"),
        ("heat", "Ranks", "Ranks over time"),
        ("sizes", "Requests", "Request sizes"),
        ("handles", "Handles", "Handles"),
        ("stacks", "Threads", threads),
        ("calls", "Calls", "Who calls, and what it costs"),
        ("nodes", "Nodes", "Nodes of the machine"),
        ("damage", "Damage", "Damage"),
        ("glossary", "Glossary", "What the numbers mean"),
    )
    return [page.Section(part, name, title, own.get(part, [page.Picture(part)])) for part, name, title in titles]


def _facts(trace: Trace, whole: Document) -> list[Mapping[str, str]]:
    """Return what stands below the title: name, value and what it is, those that there are."""
    told, (start, end) = whole["trace"], trace.window
    length = seconds_text(told["duration_s"]) if holds_io(whole) or told["events"] > 0 else ""
    part = start > 0 or end < told["duration_s"]
    resolution = told.get("resolution_s") or 0.0
    facts = [
        ("Trace", told["path"], "The anchor of the archive."),
        ("Started", start_time(trace.definitions.clock) or "", ""),
        ("Length", length, f"{told['duration_s']:.9g} s, by the trace’s clock."),
        ("Processes" if told.get("processes") else "Ranks", count_text(told["ranks"]), "Processes of the run."),
        ("Nodes", "" if "nodes" in told["not_recorded"] else count_text(told["nodes"]), "Nodes that have processes."),
        ("Locations", count_text(told["locations"]), "Threads that the trace knows."),
        ("I/O events", count_text(told["io_events"]), f"Of {counted(told['events'], 'event')} read those about I/O."),
        ("Window", f"{seconds_text(start)} to {seconds_text(end)}" if part else "", ""),
        ("Signals", f"binned ({seconds_text(resolution)})" if told["signals"] == "binned" else "", _BINNED),
        ("Recorder", "" if told["recorder"] == "OTF2" else told["recorder"], ""),
        ("Not recorded", ", ".join(told["not_recorded"]), ""),
        ("Files", "" if told["files"] == "application" else str(told["files"]), ""),
    ]
    for paradigm in trace.definitions.paradigms[:_MOST_PARADIGMS]:
        version = dict(paradigm.properties).get("VERSION", "").rpartition("version:")[2].strip()
        facts.append((paradigm.identification, version, "Version of the library, as the trace gives it."))
    return [{"name": name, "value": value, "about": about} for name, value, about in facts if value]


_BINNED: Final = (
    "Bandwidths are means of bins of time, as the trace was read in bounded memory. Bytes, operations and summed times "
    "are exact; busy times and quantiles are too, unless there are very many different ones."
)


def _story(story: Sequence[Segment], most: int) -> list[page.PageBlock]:
    """Return what the I/O was from when to when; each stretch is a link to its time."""
    if not story:
        return []
    lines: list[page.Text] = [[{"time": (one.start, one.end)}, f" {one.text}"] for one in story[:most]]
    blocks: list[page.PageBlock] = [page.Listing(lines)]
    if len(story) > most:
        blocks.append(page.Paragraph(f"The first {most} are shown.", muted=True))
    title = f"The run in {counted(len(story), 'stretch', 'stretches')}"
    return [page.Fold(title, blocks, open=min(len(story), most) <= _SEGMENTS_UNFOLDED)]


def _first(entries: Sequence[Any], most: int, name: str, cut: dict[str, int]) -> Sequence[Any]:
    """Return the first `most` entries; where there are more, `cut` says how many."""
    if len(entries) > most:
        cut[name] = len(entries)
    return entries[:most]


def _shorter_lists(document: Document, limits: Limits, cut: dict[str, int]) -> Document:
    """Return the document of layers with what the page shows of its lists."""
    shorter = {name: value for name, value in document.items() if name not in ("cost", "overlap", "exclusive_s")}
    damage = document["damage"]
    locations = _first(damage["locations"], limits.locations, "damaged_locations", cut)
    shorter["damage"] = {**damage, "locations": locations}
    shorter["layers"] = _first(document["layers"], 2 * limits.curves, "layers", cut)
    if document.get("chain"):
        shorter["chain"] = {**document["chain"], "steps": [], "held_up": document["chain"]["held_up"][:1]}
    return shorter


def _shorter_periods(document: Document, limits: Limits, cut: dict[str, int]) -> Document:
    """Return the entries of the document of periods with what the page shows of their lists."""
    entries = []
    for entry in document["layers"]:
        who = f"{entry['layer']} {entry['direction']}"
        lists = {name: _first(entry[name], limits.phases, f"{who} {name}", cut) for name in _LISTS_OF_PERIODS}
        entries.append({**entry, **lists})
    return {"layers": entries}


def _comparison_document(comparison: Comparison) -> Document:
    """Return what the page shows of the document of ``iostrata compare``."""
    return {
        "pairs": pair_entries(comparison, tables=False),
        "hidden": [one.to_dict() for one in comparison.hidden],
        "findings": [one.to_dict() for one in comparison.findings],
    }


def _shorter_comparison(document: Document, limits: Limits, cut: dict[str, int]) -> Document:
    """Return what the page shows of a comparison: pairs, hidden traffic and findings, their lists not too long."""
    return {
        name: [_short(entry, limits.pairs) for entry in _first(entries, limits.pairs, name, cut)]
        for name, entries in document.items()
    }


def _short(value: Any, most: int) -> Any:
    """Return a plain value with every list in it cut."""
    if isinstance(value, dict):
        return {key: _short(item, most) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_short(item, most) for item in value[:most]]
    return value


MOST_BYTES: Final = 2_000_000
"""Size that no report exceeds."""


def write_report(
    trace: Trace,
    path: str | os.PathLike[str],
    *,
    layers: str | Iterable[str] | None = None,
    traffic: Traffic = "all",
    method: str = DEFAULT_METHOD,
    fs: float | Literal["auto"] = "auto",
    most_bytes: int = MOST_BYTES,
    progress: Callable[[int, int], None] | None = None,
) -> Written:
    """Write a page that shows a trace: one HTML file that loads nothing.

    A page that would be too large is made anew with limits half as large, until it is not.

    Parameters
    ----------
    trace : Trace
        Its window and its selection of files count.
    path : path
        An existing file is replaced once the new one is complete.
    layers : str or iterable of str, optional
        Names of the layers to show; default: all.
    traffic : {"all", "own", "inherited"}
        Which traffic curves and periods are of; statistics and the timeline are of all.
    method : str
        How periods are detected.
    fs : float or "auto"
        Sampling frequency in Hz for that.
    most_bytes : int
        Size that the page does not exceed, unless the limits are down to a few entries each.
    progress : callable, optional
        Called with the layers done and the layers in total.

    Raises
    ------
    SelectionError
        If there is no such layer, traffic or method, or `fs` makes no sense.
    OutputError
        If the file cannot be written.

    Examples
    --------
    >>> write_report(open_trace("fixtures/ckpt4"), "report.html").layers  # doctest: +SKIP
    ('MPI-IO', 'ISOC', 'POSIX')
    """
    names = (layers,) if isinstance(layers, str) else tuple(layers or ())
    chosen = chosen_layers(trace, names)
    periods: list[LayerPeriod] = []
    for done, layer in enumerate(chosen):
        if progress is not None:
            progress(done, len(chosen))
        periods += layer_periods([layer], DIRECTIONS, traffic, method, fs, loops=loops_of(trace, method))
    comparison = compare_layers(trace, layers=names, directions=DIRECTIONS, method=method, fs=fs, known=periods)
    story = story_by_loops(trace, results_of(periods), [layer.name for layer in chosen], method, fs)
    single = trace.stream.in_memory is not None and trace.definitions.recording.knows("operations")
    loops = find_loops(trace) if single else None
    smaller = (report_contents(trace, chosen, periods, comparison, one, story, loops) for one in Limits().smaller())
    written = write_page(smaller, path, f"iostrata: {trace.path.parent.name or trace.path.name}", most_bytes)
    return replace(written, layers=tuple(layer.name for layer in chosen))
