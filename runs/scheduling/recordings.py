"""Jobs out of what was recorded: the I/O phases of a trace, or of a document of ``iostrata periods --json``."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ...analysis.known_signature import as_periods, is_signature
from ...analysis.set_10 import LONGEST, SHORTEST
from ...model.document import Document, read_document
from ...model.errors import SelectionError, TraceError
from .jobs import PeriodicJob
from .tables import MOST_NODES


def is_periods_document(path: Path) -> bool:
    """Tell whether a file begins as a document of ``iostrata --json`` does; OSError if it cannot be read."""
    if path.suffix.lower() != ".json" or not path.is_file():
        return False
    with path.open("rb") as file:
        return b'"schema_version"' in file.read(64)


def read_periods(path: str | os.PathLike[str]) -> Mapping[str, Any]:
    """Read a document of ``iostrata periods --json``, or one of ``signature --json`` as such.

    Raises
    ------
    TraceError
        If it is none.
    """

    def periods(document: Document) -> Document:
        if is_signature(document):
            return as_periods(document)
        if not isinstance(document.get("layers"), list):
            raise ValueError("no list of layers")
        return document

    return read_document(Path(path), "a document of 'iostrata periods --json' or 'signature --json'", periods)


def recorded_job(
    name: str, document: Mapping[str, Any], layer: str | None = None, direction: str | None = None
) -> PeriodicJob:
    """Return the job that a recording is of.

    Its I/O phases take as long as they were recorded, as if it had been alone; between them it computes.

    Parameters
    ----------
    name : str
    document : mapping
        As ``iostrata periods --json`` prints it.
    layer, direction : str, optional
        Whose phases; default: of the lowest layer that has any, what reaches the file system, the direction that moved
        more.

    Raises
    ------
    TraceError
        If the document makes no sense.
    SelectionError
        If nothing in it has phases.
    """
    entry, trace = _entry(name, document, layer, direction), document.get("trace", {})
    try:
        begin, end = map(float, trace.get("window_s") or (0.0, trace["duration_s"]))
        nodes = float(trace.get("nodes") or 1)
        start, stop = (np.array([phase[key] for phase in entry["phases"]], np.float64) for key in ("start_s", "end_s"))
        period = None if entry["period_s"] is None else float(entry["period_s"])
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
        raise _not_periods(name) from None
    ascending = start.ndim == 1 and bool((stop > start).all() and (start[1:] >= stop[:-1]).all() and start[0] >= begin)
    if not ascending or not all(map(math.isfinite, (begin, end, stop[-1]))) or not 1 <= nodes <= MOST_NODES:
        raise TraceError(f"{name}: its phases do not follow one another")
    if period is not None and not SHORTEST <= period <= LONGEST:
        raise TraceError(f"{name}: a period of {period:g} s cannot be scheduled")
    compute, rest = start - np.append(begin, stop[:-1]), max(0.0, end - float(stop[-1]))
    signal = f"{entry.get('layer')} {entry.get('direction')}"
    return PeriodicJob(name, compute, work=stop - start, rest=rest, period=period, nodes=nodes, signal=signal)


def _entry(name: str, document: Mapping[str, Any], layer: str | None, direction: str | None) -> Mapping[str, Any]:
    """Return the entry of a document whose phases count."""
    entries = [
        entry
        for entry in document["layers"]
        if isinstance(entry, dict)
        and entry.get("phases")
        and entry.get("signal", "bandwidth") == "bandwidth"
        and "part" not in entry
        and layer in (None, entry.get("layer"))
        and direction in (None, entry.get("direction"))
    ]
    if not entries:
        raise SelectionError(f"{name}: no phases of I/O{'' if layer is None else f' in {layer}'}")
    lowest = [one for one in entries if one.get("layer") == entries[-1].get("layer")]
    try:
        return max(lowest, key=lambda one: float(one["bytes"]))
    except (KeyError, TypeError, ValueError, OverflowError):
        raise _not_periods(name) from None


def _not_periods(name: str) -> TraceError:
    return TraceError(f"{name}: its phases are not those of 'iostrata periods --json'")


def named_apart(jobs: Sequence[PeriodicJob]) -> list[PeriodicJob]:
    """Return jobs with different names: a second one of a name has its number behind it."""
    seen: dict[str, int] = {}
    found = []
    for job in jobs:
        seen[job.name] = number = seen.get(job.name, 0) + 1
        found.append(job if number == 1 else replace(job, name=f"{job.name} ({number})"))
    return found
