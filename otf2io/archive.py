"""An archive: its anchor and definitions, and its events by the engine that can read them."""

import importlib.util
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from ..model.damage import DamageReport
from ..model.definitions import Definitions
from ..model.errors import SelectionError
from ..model.events import IoEvents
from .anchor import COMPRESSION_NONE, SUBSTRATE_POSIX, Anchor, read_anchor
from .definitions.read import read_definitions
from .implausible import ImplausibleEvents
from .library.engine import read_with_library

ENGINES: Final = ("auto", "direct", "library")
DIRECT_TRACE_FORMAT: Final = 2
"""The trace format whose records the direct engine knows: OTF2 1.5 to 3.x."""


def pick_engine(engine: str, anchor: Anchor) -> Literal["direct", "library"]:
    """Return the engine that reads the archive of `anchor`.

    Raises SelectionError if there is no such engine, or it cannot read this archive.
    """
    if engine not in ENGINES:
        raise SelectionError(f"no engine {engine!r} for {anchor.path}; choose one of {', '.join(ENGINES)}")
    if engine == "library":
        return "library"
    obstacle = direct_obstacle(anchor)
    if obstacle is None:
        return "direct"
    if engine == "direct":
        raise SelectionError(f"the engine 'direct' cannot read {anchor.path}: {obstacle}; use 'auto' or 'library'")
    return "library"


def direct_obstacle(anchor: Anchor) -> str | None:
    """Return why the direct engine cannot read the archive of `anchor`, None where it can."""
    if anchor.substrate != SUBSTRATE_POSIX:
        return "it does not keep one file for each location"
    if anchor.compression != COMPRESSION_NONE:
        return "it is compressed"
    if not anchor.little_endian:
        return "it was recorded on a big-endian machine"
    if anchor.trace_format != DIRECT_TRACE_FORMAT:
        return f"it has trace format {anchor.trace_format}, not {DIRECT_TRACE_FORMAT}"
    if sys.byteorder != "little":
        return "this is a big-endian machine"
    if importlib.util.find_spec("numba") is None:
        return "numba is not installed"
    return None


@dataclass(frozen=True, eq=False)
class Archive:
    """An archive with its anchor and definitions, read."""

    anchor: Anchor
    definitions: Definitions


@dataclass(frozen=True, eq=False)
class EventsRead:
    """The I/O events of an archive.

    Attributes
    ----------
    counts : uint64 (locations,)
        Number of all events read at each location, whatever their type.
    engine : str
        The engine that read them: ``"direct"`` or ``"library"``.
    """

    events: IoEvents
    counts: npt.NDArray[np.uint64]
    damage: DamageReport
    engine: str


def open_archive(path: str | os.PathLike[str]) -> Archive:
    """Open the archive at `path`, an anchor (``*.otf2``) or a folder with exactly one.

    Raises TraceError if there is no usable archive; UnsupportedTraceError if the archive is of a kind that no engine
    here reads.
    """
    anchor = read_anchor(path)
    return Archive(anchor, read_definitions(anchor))


def read_events(
    archive: Archive,
    engine: str = "auto",
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> EventsRead:
    """Read the I/O events of all locations.

    A damaged location gives its events before the damage; what is lost and why is told in the report.

    Parameters
    ----------
    engine : {"auto", "direct", "library"}
    workers : int, optional
        Number of threads; by default the engine chooses.
    progress : callable, optional
        Called as ``progress(done_events, total_events)`` now and then, also from other threads, never at once.

    Raises SelectionError if there is no such engine or `workers` is below one, TraceError or UnsupportedTraceError if
    the archive can no longer be read, or not by this engine.
    """
    if workers is not None and workers < 1:
        raise SelectionError(f"{workers} workers cannot read anything; give 1 or more")
    picked = pick_engine(engine, archive.anchor)
    if picked == "direct":
        # The compiled walk costs the time to load numba, which the library does without.
        from .direct.engine import read_directly

        read = read_directly(archive.anchor, archive.definitions, workers, progress)
        events, counts, damage = read.events, read.counts, read.damage
    else:
        events, counts, damage = read_with_library(archive.anchor, archive.definitions, workers, progress)
    implausible = ImplausibleEvents(archive.definitions)
    events = implausible.without(events)
    expected = sum(archive.definitions.locations.events.tolist())
    report = DamageReport(expected, sum(counts.tolist()), implausible.damage(damage, counts))
    return EventsRead(events, counts, report, picked)
