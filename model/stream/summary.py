"""What the definitions of a trace say, counted: the content of ``iostrata info``."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from ..codes import PROCESS
from ..definitions import Clock, Definitions, Paradigm
from .damage import DamageReport
from .source import Source


@dataclass(frozen=True)
class ParadigmCounts:
    """An I/O paradigm with the number of its handles, of those without a parent, and of the files behind them."""

    paradigm: Paradigm
    handles: int
    roots: int
    files: int


@dataclass(frozen=True)
class CommunicatorSize:
    """A communicator with the number of its members, None where the trace does not tell."""

    id: int
    name: str
    size: int | None


@dataclass(frozen=True)
class TraceSummary:
    """Counts over the definitions of a trace.

    Attributes
    ----------
    ranks, nodes, locations : int
        Processes, the system tree nodes they ran on, and threads.
    events : int
        Events of all kinds that the definitions promise.
    files_per_system : tuple of (str, str, int)
        File system, mount point and number of files, where the trace knows them.
    damage : DamageReport or None
        None of an archive, whose events are not read.
    """

    path: Path
    definitions: Definitions
    ranks: int
    nodes: int
    locations: int
    events: int
    paradigms: tuple[ParadigmCounts, ...]
    communicators: tuple[CommunicatorSize, ...]
    handle_roots: int
    handles_precreated: int
    handles_without_file: int
    files_per_system: tuple[tuple[str, str, int], ...]
    damage: DamageReport | None = None

    @property
    def ranks_of_nodes(self) -> tuple[int, ...]:
        """Number of processes on each node of the system tree itself."""
        groups, nodes = self.definitions.groups, self.definitions.system_tree
        place = groups.node[(groups.kind == PROCESS) & (groups.node >= 0)]
        return tuple(np.bincount(place, minlength=len(nodes.id)).tolist())


def start_time(clock: Clock) -> str | None:
    """Return the trace's start in UTC, ISO 8601 to the millisecond; None where unknown or no date that exists."""
    start = start_date(clock)
    return None if start is None else start.isoformat(timespec="milliseconds")


def start_date(clock: Clock) -> datetime | None:
    """Return the trace's start in UTC; None where unknown or no date that exists."""
    try:
        return None if clock.realtime_ns is None else datetime.fromtimestamp(clock.realtime_ns / 1e9, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def summarise(source: Source) -> TraceSummary:
    """Count what `source` defines; events of an archive are not read."""
    definitions = source.definitions
    handles = definitions.handles
    return TraceSummary(
        path=source.path,
        definitions=definitions,
        ranks=definitions.process_count,
        nodes=definitions.node_count,
        locations=len(definitions.locations.id),
        events=sum(definitions.locations.events.tolist()),
        paradigms=tuple(_paradigm_counts(definitions)),
        communicators=_communicators(definitions),
        handle_roots=int(np.count_nonzero(handles.parent < 0)),
        handles_precreated=int(np.count_nonzero(handles.precreated)),
        handles_without_file=int(np.count_nonzero(handles.file < 0)),
        files_per_system=_files_per_system(definitions),
        damage=source.known_damage,
    )


def _paradigm_counts(definitions: Definitions) -> Iterator[ParadigmCounts]:
    handles = definitions.handles
    for row, paradigm in enumerate(definitions.paradigms):
        own = handles.paradigm == row
        files = handles.file[own]
        roots = int(np.count_nonzero(handles.parent[own] < 0))
        yield ParadigmCounts(paradigm, int(np.count_nonzero(own)), roots, len(np.unique(files[files >= 0])))


def _communicators(definitions: Definitions) -> tuple[CommunicatorSize, ...]:
    sizes: dict[int | None, int] = {group.id: len(group.members) for group in definitions.location_sets}
    return tuple(CommunicatorSize(one.id, one.name, sizes.get(one.group)) for one in definitions.communicators)


def _files_per_system(definitions: Definitions) -> tuple[tuple[str, str, int], ...]:
    counts = Counter[tuple[str, str]]()
    for properties in definitions.files.properties:
        if properties:
            # Score-P writes "File system" and "Mount Point"; the spelling is the writer's own.
            known = {name.lower(): value for name, value in properties.items()}
            counts[known.get("file system", ""), known.get("mount point", "")] += 1
    return tuple((system, mount, count) for (system, mount), count in counts.most_common())
