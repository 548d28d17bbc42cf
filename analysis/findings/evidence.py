"""The numbers behind findings, what each is measured in, and how they are worded."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...layers.flow.flow import Flow
from ...layers.flow.sums import Limits
from ...layers.handles.order import layer_name
from ...layers.statistics.statistics import sums_by
from ...layers.trace import Trace
from ...model.arrays import Mask
from ...model.codes import IoFlag

_MEASURED_IN: Final = {
    "byte": "bytes bytes_read_inside_writes bytes_written_twice extra_bytes extra_written_bytes fill_bytes "
    "hidden_bytes inside_bytes largest_piece limit lower_bytes median_request program_bytes "
    "read_back_bytes read_bytes small_bytes unexplained_bytes upper_bytes written_bytes",
    "s": "metadata_s busy_s cost_s end_s exclusive_s fastest_s first_program_write_s flush_s idle_below_s late_s "
    "slowest_s start_s summed_s time_range_s transfer_s waiting_s write_s",
    "share": "cost_share busiest_node_share busiest_rank_share exclusive_share share share_of_program_bytes time_share "
    "share_of_written",
    "times": "times_as_long slower amplification attributed_amplification steps",
    "ratio": "node_imbalance rank_imbalance",
    "count": "phases last_phases turns empty_flushes unaligned_operations slow_operations aligned_operations calls "
    "file_count files fill_operations funnelled_calls inside_layers inside_operations lower_operations flushes "
    "metadata_calls metadata_operations movers movers_per_call never_used_opens openers operations participants "
    "pieces rank_count read_operations reasons small_operations split_operations synchronous_writes "
    "transfers upper_operations",
    "1/s": "most_per_second",
    "rank": "busiest_rank ranks slow_ranks transferring_ranks",
}

EVIDENCE_UNITS: Final = {name: unit for unit, names in _MEASURED_IN.items() for name in names.split()}
"""``byte``, ``s``, ``1/s``; ``share``: of 1; ``times``: one over the other; ``ratio``: 0 where all do the same;
``count``; ``rank``: the number of a rank, or where it is no list of them how many they are."""

FILES_SHOWN: Final = 8
RANKS_SHOWN: Final = 64


@dataclass(frozen=True)
class Match:
    """One place where a rule applies.

    Attributes
    ----------
    severity : str or None
        None where it is the rule's own.
    cells : bool (cells,) or None
        The operations that it is about; None where it is about none.
    cost_s : float or None
        What it costs the run, in s; None for the time that the rank which is longest in these operations spends there.
    """

    layer: str
    text: str
    evidence: dict[str, Any]
    severity: str | None = None
    cells: Mask | None = None
    cost_s: float | None = None


class Evidence:
    """A trace, for rules to look at: its operations by their kind, and what was added up one by one.

    Parameters
    ----------
    trace : Trace
    limits : Limits
        From where on requests are small or split.
    """

    def __init__(self, trace: Trace, limits: Limits) -> None:
        self.trace = trace
        self.sums = trace.relations if limits == Limits() else trace.relations_with(limits=limits)
        self.cells = trace.cells if self.sums is trace.relations else self.sums.table()
        self.definitions = trace.definitions

    @cached_property
    def flows(self) -> tuple[Flow, ...]:
        """The flows of all connected pairs, read and write."""
        return self.trace.flows if self.sums is self.trace.relations else self.sums.all_flows(self.cells)

    def adjacent(self, direction: str) -> tuple[Flow, ...]:
        """Return the flows between neighbouring layers in one direction."""
        return tuple(flow for flow in self.flows if flow.adjacent and flow.direction == direction)

    def collective(self, fewest: float = 1) -> Iterator["CollectiveFlow"]:
        """Give the flows to the operating system below at least `fewest` collective calls, writes first."""
        for direction in ("write", "read"):
            for flow in self.adjacent(direction):
                if flow.lower in self.systems and len(flow.collectives) >= fewest:
                    yield CollectiveFlow(flow, self)

    def to_bottom(self, direction: str) -> tuple[Flow, ...]:
        """Return the flows from each layer that is above another and not below one, to the lowest it connects to."""
        flows = [flow for flow in self.flows if flow.direction == direction and flow.lower_operations]
        below = {flow.lower for flow in flows if flow.upper_operations}
        last: dict[str, Flow] = {flow.upper: flow for flow in flows if flow.upper not in below}
        return tuple(last.values())

    @cached_property
    def parallel(self) -> frozenset[str]:
        """Layers of parallel paradigms."""
        return frozenset(layer_name(one) for one in self.definitions.paradigms if one.parallel)

    @cached_property
    def systems(self) -> frozenset[str]:
        """Layers that are the operating system's own interface."""
        return frozenset(layer_name(one) for one in self.definitions.paradigms if one.os)

    @cached_property
    def run_s(self) -> float:
        """Length of the window in s."""
        window = self.cells.window
        return (window.end - window.start) / window.ticks_per_second

    def rank_seconds(self, cells: Mask) -> npt.NDArray[np.float64]:
        """Return the time that each process spends in some operations, one after the other, float64 (processes,)."""
        process = self.cells.process[cells]
        ticks = sums_by(
            process[process >= 0], self.cells.columns.ticks[cells][process >= 0], len(self.definitions.groups.id)
        )
        seconds = ticks[self.cells.processes] / self.cells.window.ticks_per_second
        return np.minimum(seconds, self.run_s)

    def cost(self, match: Match) -> float | None:
        """Return what a match costs the run in s.

        None where it is about no operation with a time, or where nobody knows which rank spends it: the sum over all
        would be many times as much.
        """
        if not self.definitions.recording.ranks:
            return None
        if match.cost_s is not None or match.cells is None:
            return match.cost_s
        return float(self.rank_seconds(match.cells).max(initial=0.0))

    def matters(self, match: Match, least: float) -> bool:
        """Tell whether at least a share of the bytes or the time of any one layer is concerned, or it is about neither.

        A layer repeats what the layers above it do, so shares are of the layer that has most.
        """
        if match.cells is None:
            return True
        columns = self.cells.columns
        shown = self.cells.selected | match.cells
        layer = self.cells.layer[shown]
        for column in (columns.whole, columns.ticks):
            most = int(sums_by(layer[layer >= 0], column[shown][layer >= 0], len(self.cells.layers)).max(initial=0))
            if most and column[match.cells].sum() >= least * most:
                return True
        return False

    def file_name(self, row: int) -> str:
        """Return the name of a file row, empty where there is none."""
        return self.definitions.files.name[row] if row >= 0 else ""

    def ranks(self, cells: Mask) -> list[int]:
        """Return the distinct MPI ranks of some cells in ascending order."""
        process = np.unique(self.cells.process[cells])
        ranks = self.definitions.groups.rank[process[process >= 0]]
        return sorted({int(rank) for rank in ranks if rank >= 0})

    def where(self, cells: Mask) -> dict[str, Any]:
        """Return who did the operations in some cells, on which files and when."""
        if not cells.any():
            return {"ranks": [], "files": [], "time_range_s": None}
        ranks = self.ranks(cells)
        files, place = np.unique(self.cells.file[cells], return_inverse=True)
        order = np.argsort(-sums_by(place, self.cells.columns.operations[cells], len(files)), kind="stable")
        return {
            "ranks": ranks[:RANKS_SHOWN],
            "rank_count": len(ranks),
            "files": distinct_names(self.file_name(int(files[place])) for place in order.tolist()),
            "file_count": int((files >= 0).sum()),
            "time_range_s": list(self.cells.extent(cells)),
        }


class CollectiveFlow:
    """A flow with collective calls of several ranks beneath which bytes moved.

    Attributes
    ----------
    flow : Flow
    calls : FlowCollectives
    upper, lower : bool (cells,)
        Operations of such calls, and those beneath them that moved bytes.
    """

    def __init__(self, flow: Flow, evidence: Evidence) -> None:
        self.flow, self.calls = flow, flow.collectives
        cells = evidence.cells
        collective = ((cells.flags & np.uint32(IoFlag.COLLECTIVE)) != 0) & (cells.handle >= 0)
        sequence = cells.sequences.number(np.maximum(cells.handle, 0), cells.process)
        self.upper = flow.parts["upper"] & collective & np.isin(sequence, self.calls.sequence)
        above = cells.ancestor_in(cells.layer_row(flow.upper))[0]
        below = (flow.parts["attributed"] | flow.parts["inferred"]) & cells.moving
        self.lower = below & (above >= 0) & self.upper[above]

    def where_called(self, evidence: Evidence) -> dict[str, Any]:
        """Return who made the calls, on which files and when."""
        second = evidence.cells.window.ticks_per_second
        extent = [int(self.calls.begin.min()) / second, int(self.calls.end.max()) / second]
        return {**evidence.where(self.upper), "time_range_s": extent}


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
