"""The numbers behind findings, what each is measured in, and how they are worded."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...layers.flow.collectives import FlowCollectives
from ...layers.flow.flow import Flow
from ...layers.handles.order import layer_name
from ...layers.statistics.statistics import total
from ...layers.trace import Trace
from ...model.arrays import Rows
from ...model.rows import column_at

_MEASURED_IN: Final = {
    "byte": "bytes bytes_read_inside_writes bytes_written_twice extra_bytes extra_written_bytes fill_bytes "
    "hidden_bytes inside_bytes largest_piece limit lower_bytes median_request program_bytes "
    "read_back_bytes read_bytes small_bytes unexplained_bytes upper_bytes written_bytes",
    "s": "busy_s end_s exclusive_s first_program_write_s idle_below_s start_s summed_s time_range_s waiting_s",
    "share": "busiest_node_share busiest_rank_share exclusive_share share share_of_program_bytes share_of_written",
    "times": "amplification attributed_amplification steps",
    "ratio": "node_imbalance rank_imbalance",
    "count": "aligned_operations calls file_count files fill_operations funnelled_calls inside_layers "
    "inside_operations lower_operations metadata_operations movers movers_per_call never_used_opens "
    "openers operations participants pieces rank_count read_operations reasons small_operations "
    "split_operations transfers upper_operations",
    "1/s": "most_per_second",
    "rank": "busiest_rank ranks transferring_ranks",
}

EVIDENCE_UNITS: Final = {name: unit for unit, names in _MEASURED_IN.items() for name in names.split()}
"""``byte``, ``s``, ``1/s``; ``share``: of 1; ``times``: one over the other; ``ratio``: 0 where all do the same;
``count``; ``rank``: the number of a rank, or where it is no list of them how many they are."""

FILES_SHOWN: Final = 8
RANKS_SHOWN: Final = 64


@dataclass(frozen=True)
class Match:
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

    def collective(self, fewest: float = 1) -> Iterator[tuple[Flow, FlowCollectives]]:
        """Give the flows to the operating system below at least `fewest` collective calls, writes first."""
        for direction in ("write", "read"):
            for flow in self.adjacent(direction):
                if flow.lower in self.systems and len(flow.collectives) >= fewest:
                    yield flow, flow.collectives

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
        return column_at(self.traffic.definitions.handles.file, self.traffic.operations.handle[rows])

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


def ends_of(flow: Flow) -> dict[str, Any]:
    """Return from which layer to which a flow goes, and its direction."""
    return {"upper": flow.upper, "lower": flow.lower, "direction": flow.direction}


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
