"""Opening an archive and reading its I/O events."""

import os
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .anchor import Anchor, read_anchor
from .damage import DamageReport
from .definitions import Definitions
from .errors import SelectionError
from .events import IoEvents
from .gate import pick_engine
from .global_definitions import read_definitions
from .library_engine import read_with_library
from .time_reach import outside_reach, reach_damage, without_rows


@dataclass(frozen=True, eq=False)
class Archive:
    """An archive of which the anchor and the definitions have been read."""

    anchor: Anchor
    definitions: Definitions


@dataclass(frozen=True, eq=False)
class EventsRead:
    """The I/O events of an archive.

    Attributes
    ----------
    events : IoEvents
    counts : uint64 (locations,)
        Number of all events read at each location, whatever their type.
    damage : DamageReport
    engine : str
        The engine that read them: ``"direct"`` or ``"library"``.
    """

    events: IoEvents
    counts: npt.NDArray[np.uint64]
    damage: DamageReport
    engine: str


def open_archive(path: str | os.PathLike[str]) -> Archive:
    """Open the archive at `path`, an anchor (``*.otf2``) or a folder with exactly one.

    Raises
    ------
    TraceError
        There is no usable archive.
    UnsupportedTraceError
        The archive is of a kind that no engine here reads.
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
    archive : Archive
    engine : {"auto", "direct", "library"}
    workers : int, optional
        Number of threads; by default the engine chooses.
    progress : callable, optional
        Called as ``progress(done_events, total_events)`` now and then, also from other threads, never at once.

    Raises
    ------
    SelectionError
        No such engine, or a number of workers below one.
    TraceError, UnsupportedTraceError
        The archive can no longer be read, or not by this engine.
    """
    if workers is not None and workers < 1:
        raise SelectionError(f"{workers} workers cannot read anything; give 1 or more")
    picked = pick_engine(engine, archive.anchor)
    if picked == "direct":
        # The compiled walk costs the time to load numba, which the library does without.
        from .direct_engine import read_directly

        read = read_directly(archive.anchor, archive.definitions, workers, progress)
        events, counts, damage = read.events, read.counts, read.damage
    else:
        events, counts, damage = read_with_library(archive.anchor, archive.definitions, workers, progress)
    far = outside_reach(events, archive.definitions.clock)
    if len(far):
        ignored = np.bincount(events.location[far], minlength=len(counts))
        events = without_rows(events, far)
        damage = reach_damage(damage, ignored, counts, archive.definitions)
    expected = sum(archive.definitions.locations.events.tolist())
    return EventsRead(events, counts, DamageReport(expected, sum(counts.tolist()), damage), picked)
