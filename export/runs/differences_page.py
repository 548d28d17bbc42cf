"""The page of ``iostrata diff``: the changes, and both sides on one axis, aligned by their phases."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final

import numpy as np

from ...model.arrays import Floats
from ...model.quantities import counted
from ...runs.collection.rows import LayerRow, Run
from ...runs.differences.changes import Change
from ...runs.differences.difference import Difference, aligned_phases
from ..page import document as page
from ..page.html import write_page
from ..written import Written
from .differences_text import length_text, verdict_text

_MOST_CURVES: Final = 16
_MOST_RUNS: Final = 6
"""Drawn a side; more would hide each other."""
_MOST_PHASES: Final = 300
_MOST_CHANGES: Final = 500

_SIGNS: Final = {
    1: ("better", "+", "For the better."),
    -1: ("worse", "−", "For the worse."),
    0: ("neutral", "·", "Neither better nor worse by itself."),
}
_SHARES: Final = ("collective", "non-blocking")
_KINDS: Final = {
    **dict.fromkeys(("bytes", "request-size"), "bytes"),
    **dict.fromkeys(("time", "period", "duration"), "seconds"),
    **dict.fromkeys(_SHARES, "share"),
    "bandwidth": "rate",
}
"""What the values of a change are measured in; ratios where nothing else."""

Edges = Floats


def _what(change: Change) -> str:
    return " ".join(word for word in (change.layer, change.direction, change.id.replace(":", " ")) if word)


def _value(change: Change, value: float | str | None) -> page.Cell:
    return {"value": value, "kind": "text" if isinstance(value, str) else _KINDS.get(change.id, "ratio")}


def _ratio(change: Change) -> page.Cell:
    return {"value": change.ratio, "kind": "share" if change.id in _SHARES else "ratio"}


def _interval(change: Change) -> str | None:
    if change.interval is None or change.id in _SHARES:
        return None
    low, high = change.interval
    return f"{low:.3g} … {high:.3g}"


def _chance(change: Change) -> str | None:
    if change.p_value is None:
        return None
    return "<0.001" if change.p_value < 0.001 else f"{change.p_value:.3g}"


_CHANGES: Final = (
    page.TableColumn("What", _what, "text"),
    page.TableColumn("A", lambda change: _value(change, change.before)),
    page.TableColumn("B", lambda change: _value(change, change.after)),
    page.TableColumn("B / A", _ratio),
    page.TableColumn("Interval", _interval, "word"),
    page.TableColumn("p", _chance, "word"),
    page.TableColumn("Matters", lambda change: "yes" if change.matters else "no", "word"),
)
_PHASES: Final = (
    page.TableColumn("Phase", lambda phase: phase[0], "text"),
    page.TableColumn("A begins", lambda phase: phase[1].before_start, "seconds"),
    page.TableColumn("B begins", lambda phase: phase[1].after_start, "seconds"),
    page.TableColumn("A takes", lambda phase: phase[1].before_end - phase[1].before_start, "seconds"),
    page.TableColumn("B takes", lambda phase: phase[1].after_end - phase[1].after_start, "seconds"),
    page.TableColumn("A moves", lambda phase: phase[1].before_bytes, "bytes"),
    page.TableColumn("B moves", lambda phase: phase[1].after_bytes, "bytes"),
)


def write_differences(difference: Difference, path: str | os.PathLike[str]) -> Written:
    """Write the page of a comparison; raises OutputError if it cannot be written."""
    written = write_page([differences_page(difference)], path, "iostrata: what differs")
    return replace(written, layers=difference.layers)


def differences_page(difference: Difference) -> page.PageDocument:
    """Return the page of a comparison."""
    names = difference.names
    runs = (*difference.before, *difference.after)
    keys = list(dict.fromkeys((row.layer, row.direction) for run in runs for row in run.signals))
    keys.sort(key=lambda key: difference.layers.index(key[0]))
    aligned = [(f"{layer} {direction}", difference.phases(layer, direction)) for layer, direction in keys]
    phases = [(f"{name} {number}", pair) for name, pairs in aligned for number, pair in enumerate(pairs, 1)]
    changes = (*difference.mattering, *difference.smaller)
    lists = {"changes": (changes, _MOST_CHANGES), "curves": (keys, _MOST_CURVES), "phases": (phases, _MOST_PHASES)}
    sections = (
        page.Section("changes", "Changes", "What matters", _mattering(difference.mattering)),
        page.Section("curves", "Bandwidth", "Bandwidth of both sides", _curves(difference, names, keys)),
        page.Section("all", "All", "All differences", _all(changes[:_MOST_CHANGES])),
        page.Section("phases", "Phases", "Phase by phase", _phases(phases)),
    )
    sides = ("A", difference.before), ("B", difference.after)
    facts = [_fact(letter, run, names) for letter, side in sides for run in islice(side, _MOST_RUNS)]
    left_out = [f"{names[run.job.job]} ({run.job.reason})" for run in difference.unusable[:_MOST_RUNS]]
    warnings = [f"Left out: {'; '.join(left_out)}"] if left_out else []
    cut = {name: len(found) for name, (found, most) in lists.items() if len(found) > most}
    title = verdict_text(difference).rstrip(".")
    return page.PageDocument(title, sections, facts, [*warnings, *difference.cautions], cut=cut)


def _fact(letter: str, run: Run, names: Mapping[str, str]) -> dict[str, Any]:
    job = run.job
    tone = f"side-{letter.lower()}"
    return {"name": letter, "value": names[job.job], "more": length_text(job), "about": job.job, "tone": tone}


def _mattering(changes: Sequence[Change]) -> list[page.PageBlock]:
    if not changes:
        return [page.Paragraph("Nothing that is sure and large enough to care about.")]
    notices = []
    for change in changes:
        tone, sign, about = _SIGNS[change.good]
        notices.append(page.Notice(tone, change.text, sign, about))
    return [*notices]


def _all(changes: Sequence[Change]) -> list[page.PageBlock]:
    text = (
        "Geometric means over the runs of a side. The interval is one of 95 %; p is corrected for the number of tests. "
        "Times of single runs vary, so only a large factor tells there."
    )
    return [page.Paragraph(text), page.Table(_CHANGES, changes)] if changes else []


def _phases(phases: Sequence[Any]) -> list[page.PageBlock]:
    text = "The first run of each side; phases belong together by their place in the program."
    if len(phases) > _MOST_PHASES:
        text += f" {_MOST_PHASES} of {len(phases):,} are shown."
    return [page.Paragraph(text), page.Table(_PHASES, phases[:_MOST_PHASES])] if phases else []


def _curves(difference: Difference, names: Mapping[str, str], keys: Sequence[tuple[str, str]]) -> list[page.PageBlock]:
    if not keys:
        return []
    shown = keys[:_MOST_CURVES]
    blocks: list[page.PageBlock] = [
        page.Paragraph(
            "Bytes per second in 512 bins. By phase, rates stay what they were and only time is stretched, so areas of "
            "B are not bytes."
        ),
        page.Legend([("side-a", "A, before"), ("side-b", "B, after")]),
    ]
    clock = page.Fold("by the clock: both from their start", [_chart(difference, names, *key, False) for key in shown])
    if any(_row(difference.before[0], *key) is not None for key in shown):
        charts = [_chart(difference, names, *key, True) for key in shown]
        blocks.append(
            page.Choice(
                "Axis:", [page.Fold("by phase: B stretched so that its phases lie on those of A", charts), clock]
            )
        )
    else:
        blocks += clock.blocks
    if len(keys) > len(shown):
        blocks.append(page.Paragraph(f"{counted(len(shown), 'curve')} of {len(keys):,} are shown.", muted=True))
    return blocks


def _chart(difference: Difference, names: Mapping[str, str], layer: str, direction: str, by_phase: bool) -> page.Chart:
    """Return the bandwidths of both sides, by the clock or with the phases of all runs where those of the first are."""
    reference = _row(difference.before[0], layer, direction)
    series = []
    for letter, runs in (("A", difference.before), ("B", difference.after)):
        for run in runs[:_MOST_RUNS]:
            for signal in run.signals:
                if (signal.layer, signal.direction) != (layer, direction):
                    continue
                name = f"{letter} {names[run.job.job]}"
                one = page.Series("steps", f"side-{letter.lower()}", y=signal.values, name=name)
                every = (signal.start_s, signal.bin_s)
                edges = signal.start_s + signal.bin_s * np.arange(len(signal.values) + 1, dtype=np.float64)
                inside = _aligned(edges, reference, _row(run, layer, direction)) if by_phase else edges
                series.append(replace(one, every=every) if inside is edges else replace(one, x=inside))
    title = f"{layer} {direction}"
    x = page.Axis("seconds", "A’s clock" if by_phase else "clock")
    return page.Chart(title, x, page.Axis("rate"), series, height=120, read=True, heading=True)


def _row(run: Run, layer: str, direction: str) -> LayerRow | None:
    return next((row for row in run.layers if (row.layer, row.direction) == (layer, direction)), None)


def _aligned(edges: Edges, reference: LayerRow | None, row: LayerRow | None) -> Edges:
    """Return times of a run as times of another one, so that phases begin and end together."""
    pairs = () if reference is None or row is None else aligned_phases(reference, row)
    if not pairs:
        return edges
    mine = _increasing([time for pair in pairs for time in (pair.after_start, pair.after_end)])
    theirs = _increasing([time for pair in pairs for time in (pair.before_start, pair.before_end)])
    inside = np.interp(edges, mine, theirs)
    # What is left before the first phase is stretched, what comes after the last goes on by the clock.
    early = edges < mine[0]
    inside[early] = edges[early] * (theirs[0] / mine[0] if mine[0] > 0 else 1.0)
    late = edges > mine[-1]
    inside[late] = theirs[-1] + edges[late] - mine[-1]
    return inside


def _increasing(times: Sequence[float]) -> Edges:
    return np.maximum.accumulate(np.array(times, np.float64))
