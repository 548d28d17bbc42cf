"""The page of ``iostrata diff``: the changes, and both sides on one axis, aligned by their phases."""

import os
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...model.document import plain
from ...runs.collection.rows import LayerRow, Run, SignalRow
from ...runs.differences.difference import Difference
from ...runs.differences.phases import aligned_phases
from ..atomic import atomic_file
from ..encoding import packed, without_long_text
from ..report.page import BASE, page
from ..written import Written

_MOST_CURVES: Final = 16
_MOST_RUNS: Final = 6
"""Drawn a side; more would hide each other."""
_MOST_PHASES: Final = 300
_MOST_CHANGES: Final = 500
_CHARACTERS: Final = 300

Edges = npt.NDArray[np.float64]


def write_differences(difference: Difference, path: str | os.PathLike[str]) -> Written:
    """Write the page of a comparison; raises OutputError if it cannot be written."""
    contents = differences_contents(difference)
    text = page(contents, "iostrata: what differs", (*BASE, "changes.js")).encode()
    with atomic_file(path) as temporary:
        temporary.write_bytes(text)
    return Written(Path(path), len(text), difference.layers, cut=contents["cut"])


def differences_contents(difference: Difference) -> dict[str, Any]:
    """Return the document that the page holds."""
    cut: dict[str, int] = {}
    keys = list(dict.fromkeys((row.layer, row.direction) for run in difference.before for row in run.signals))
    keys += [
        key for key in dict.fromkeys((row.layer, row.direction) for run in difference.after for row in run.signals)
        if key not in keys
    ]  # fmt: skip
    keys.sort(key=lambda key: difference.layers.index(key[0]))
    names = difference.names
    pairs = [
        {"layer": layer, "direction": direction, "number": number, **pair._asdict()}
        for layer, direction in keys
        for number, pair in enumerate(difference.phases(layer, direction), 1)
    ]
    lists: dict[str, tuple[list[Any], int]] = {
        "changes": ([change.to_dict() for change in (*difference.mattering, *difference.smaller)], _MOST_CHANGES),
        "curves": ([_curves(difference, names, *key) for key in keys], _MOST_CURVES),
        "phases": (pairs, _MOST_PHASES),
    }
    shown = {}
    for name, (entries, most) in lists.items():
        shown[name] = entries[:most]
        if len(entries) > most:
            cut[name] = len(entries)
    contents = {
        "verdict": difference.verdict,
        "before": [_run(run, names) for run in islice(difference.before, _MOST_RUNS)],
        "after": [_run(run, names) for run in islice(difference.after, _MOST_RUNS)],
        "unusable": [
            {"name": names[run.job.job], "reason": run.job.reason} for run in difference.unusable[:_MOST_RUNS]
        ],
        "cautions": difference.cautions,
        **shown,
        "cut": cut,
        "definitions": {},
    }
    return {"schema_version": 1, **without_long_text(plain(contents), _CHARACTERS)}


def _run(run: Run, names: Mapping[str, str]) -> dict[str, Any]:
    job = run.job
    return {"name": names[job.job], "job": job.job, "duration_s": job.duration_s, "ranks": job.ranks}


def _curves(difference: Difference, names: Mapping[str, str], layer: str, direction: str) -> dict[str, Any]:
    reference = _row(difference.before[0], layer, direction)
    sides = {
        name: [
            _curve(names[run.job.job], signal, reference, _row(run, layer, direction))
            for run in runs[:_MOST_RUNS]
            for signal in run.signals
            if (signal.layer, signal.direction) == (layer, direction)
        ]
        for name, runs in (("before", difference.before), ("after", difference.after))
    }
    return {"layer": layer, "direction": direction, **sides, "aligned": reference is not None}


def _row(run: Run, layer: str, direction: str) -> LayerRow | None:
    return next((row for row in run.layers if (row.layer, row.direction) == (layer, direction)), None)


def _curve(name: str, signal: SignalRow, reference: LayerRow | None, row: LayerRow | None) -> dict[str, Any]:
    edges: Edges = signal.start_s + signal.bin_s * np.arange(len(signal.values) + 1, dtype=np.float64)
    return {
        "name": name,
        "edges": packed(edges, "f4"),
        "aligned": packed(_aligned(edges, reference, row), "f4"),
        "values": packed(np.array(signal.values), "f4"),
    }


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
