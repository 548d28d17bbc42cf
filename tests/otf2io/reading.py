"""The I/O events of an archive as they stand in its files, for tests of what reads them."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from iostrata.model.events import IoEvents
from iostrata.model.operations import Operations
from iostrata.model.stream.damage import DamageReport
from iostrata.model.stream.mapping import Progress, map_partitions
from iostrata.model.stream.source import Block, Partition, Tally
from iostrata.otf2io.archive import Archive
from iostrata.otf2io.matching.implausible import ImplausibleEvents
from iostrata.otf2io.source import Otf2Source

RECORDINGS = (
    "aperiodic4",
    "ckpt4_tsc",
    "late4",
    "mixed4",
    "ncckpt4",
    "nonblocking4",
    "small_files2",
    "threads2",
    "broken_race_corruption",
)
"""Small recordings of every kind, one of them damaged."""


@dataclass(frozen=True, eq=False)
class EventsRead:
    """The I/O events of an archive as they stand in its files, not matched.

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


def read_events(
    archive: Archive, engine: str = "auto", workers: int | None = None, progress: Progress | None = None
) -> EventsRead:
    """Read the I/O events of all locations, in the order of the definitions.

    A damaged location gives its events before the damage; what is lost and why is told in the report. Raises
    SelectionError if there is no such engine or `workers` is below one, TraceError or UnsupportedTraceError if the
    archive can no longer be read, or not by this engine.
    """
    source = Otf2Source(archive, engine)
    implausible = ImplausibleEvents(archive.definitions)

    def read(partition: Partition, done: Callable[[int], None]) -> list[IoEvents]:
        # The next batch is read into the same memory.
        return [batch.take(np.ones(len(batch), np.bool_)) for batch in source.events(partition, done)]

    workers = source.worker_count(workers)
    total = sum(archive.definitions.locations.events.tolist())
    parts = map_partitions(read, source.partitions(None, workers), total, workers, progress)
    events = IoEvents.concatenate([IoEvents.empty(), *itertools.chain(*parts)])
    plausible = implausible.plausible(events)
    events = events if plausible is None else events.take(plausible)
    if (np.diff(events.location) < 0).any():
        events = events.take(np.argsort(events.location, kind="stable"))
    walk = source.walk
    tally = Tally()
    nothing = Block(Operations.empty(), IoEvents.empty())
    tally.add(source.accounted(nothing, walk, np.arange(len(walk.counts)), implausible))
    report = tally.damage
    return EventsRead(events, walk.counts, report, source.engine)
