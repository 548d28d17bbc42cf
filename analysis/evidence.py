"""What the rules look at: the flows of a trace, computed once, and who, where and when some operations were."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ..layers.flow import Flow
from ..layers.order import layer_name
from ..layers.statistics import total
from ..layers.trace import Trace

FILES_SHOWN: Final = 8
RANKS_SHOWN: Final = 64

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Hit:
    """One place where a rule applies; `severity` is None where it is the rule's own."""

    layer: str
    text: str
    evidence: dict[str, Any]
    severity: str | None = None


class Evidence:
    """A trace, for rules to look at.

    Parameters
    ----------
    trace : Trace
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.traffic = trace.traffic

    @property
    def flows(self) -> tuple[Flow, ...]:
        """The flows of all connected pairs, read and write."""
        return self.trace.flows

    def adjacent(self, direction: str) -> tuple[Flow, ...]:
        """Return the flows between neighbouring layers in one direction."""
        return tuple(flow for flow in self.flows if flow.adjacent and flow.direction == direction)

    def to_bottom(self, direction: str) -> tuple[Flow, ...]:
        """Return the flows from each layer that is above another and not below one, to the lowest it connects to."""
        flows = [flow for flow in self.flows if flow.direction == direction and flow.lower_operations]
        below = {flow.lower for flow in flows if flow.upper_operations}
        last: dict[str, Flow] = {flow.upper: flow for flow in flows if flow.upper not in below}
        return tuple(last.values())

    @cached_property
    def formats(self) -> tuple[str, ...]:
        """Layers that give data a format: parallel ones above MPI-IO, such as netCDF and HDF5."""
        layers = self.traffic.layers
        limit = layers.index("MPI-IO") if "MPI-IO" in layers else len(layers)
        parallel = {layer_name(one) for one in self.traffic.definitions.paradigms if one.parallel}
        return tuple(name for name in layers[:limit] if name in parallel and name != "MPI-IO")

    @cached_property
    def parallel(self) -> frozenset[str]:
        """Layers of parallel paradigms."""
        return frozenset(layer_name(one) for one in self.traffic.definitions.paradigms if one.parallel)

    @cached_property
    def systems(self) -> frozenset[str]:
        """Layers that are the operating system's own interface."""
        return frozenset(layer_name(one) for one in self.traffic.definitions.paradigms if one.os)

    def rows(self, layer: str, direction: str) -> Rows:
        """Return the operations of a layer and direction on selected files within the window."""
        row = self.traffic.layer_row(layer)
        return np.flatnonzero(
            self.traffic.selected & (self.traffic.layer == row) & self.traffic.of_direction(direction)
        )

    def bytes(self, rows: Rows) -> int | float:
        """Return the bytes that some operations moved."""
        return total(self.traffic.moved[rows])

    def files(self, rows: Rows) -> npt.NDArray[np.int32]:
        """Return the file of each of some operations, −1 where there is none, int32."""
        handle = self.traffic.operations.handle[rows]
        found = np.full(len(rows), -1, np.int32)
        known = handle >= 0
        found[known] = self.traffic.definitions.handles.file[handle[known]]
        return found

    def file_name(self, row: int) -> str:
        """Return the name of a file row, empty where there is none."""
        return self.traffic.definitions.files.name[row] if row >= 0 else ""

    def ranks(self, rows: Rows) -> list[int]:
        """Return the distinct MPI ranks of some operations in ascending order."""
        process = np.unique(self.traffic.operations.process[rows])
        ranks = self.traffic.definitions.groups.rank[process[process >= 0]]
        return sorted({int(rank) for rank in ranks if rank >= 0})

    def where(self, rows: Rows) -> dict[str, Any]:
        """Return who did some operations, on which files and when."""
        if not len(rows):
            return {"ranks": [], "files": [], "time_range_s": None}
        ranks = self.ranks(rows)
        files, counts = np.unique(self.files(rows), return_counts=True)
        order = np.argsort(-counts, kind="stable")
        begin, end = self.traffic.times(rows)
        second = self.traffic.window.ticks_per_second
        return {
            "ranks": ranks[:RANKS_SHOWN],
            "rank_count": len(ranks),
            "files": distinct_names(self.file_name(int(files[place])) for place in order.tolist()),
            "file_count": int((files >= 0).sum()),
            "time_range_s": [int(begin.min()) / second, int(end.max()) / second],
        }


def distinct_names(names: Iterable[str], most: int = FILES_SHOWN) -> list[str]:
    """Return the first names that are not empty, each once: nodes have files of one name, such as ``/proc/cpuinfo``.

    >>> distinct_names(["/proc/cpuinfo", "", "/proc/cpuinfo", "/proc/stat"])
    ['/proc/cpuinfo', '/proc/stat']
    """
    found: dict[str, None] = {}
    for name in names:
        if name:
            found[name] = None
        if len(found) == most:
            break
    return list(found)


def volume(count: float) -> str:
    """Return bytes as people read them: ``83.9 MB``.

    >>> volume(83_886_080), volume(512)
    ('83.9 MB', '512 B')
    """
    size, unit = float(count), 0
    while size >= 999.5 and unit < 6:
        size, unit = size / 1000, unit + 1
    return f"{size:.0f} B" if unit == 0 else f"{size:.3g} {'kMGTPE'[unit - 1]}B"


def percent(share: float) -> str:
    """Return a share in percent.

    >>> percent(0.5), percent(0.0031)
    ('50 %', '0.31 %')
    """
    return f"{100 * share:.2g} %" if share < 0.1 else f"{100 * share:.0f} %"


def named_ranks(ranks: list[int], shown: int = 6) -> str:
    """Return ranks in words: ``rank 0``, ``ranks 0 and 8``, ``ranks 0, 1, 2, … (16 in all)``.

    >>> named_ranks([0]), named_ranks([0, 8])
    ('rank 0', 'ranks 0 and 8')
    """
    if len(ranks) == 1:
        return f"rank {ranks[0]}"
    if len(ranks) <= shown:
        return f"ranks {', '.join(map(str, ranks[:-1]))} and {ranks[-1]}" if ranks else "no rank"
    return f"ranks {', '.join(map(str, ranks[:3]))}, … ({len(ranks)} in all)"


def joined(names: list[str], count: int) -> str:
    """Return a file in words: its name, or how many there are."""
    return names[0] if count == 1 and names else f"{count} file{'s' if count != 1 else ''}"
