"""Who moved the bytes: ranks and nodes, and how evenly."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ...model.arrays import Ints, Mask
from ...model.document import Record
from ..selection.window import Amounts
from ..statistics.statistics import sums_by
from .cells import Cells


@dataclass(frozen=True, eq=False)
class MovingRanks(Record):
    """Bytes and operations of some operations by rank and by node.

    Attributes
    ----------
    rank : int32 (ranks,)
        MPI ranks of all processes, in ascending order.
    rank_bytes, rank_operations : (ranks,)
    node : tuple of str
        Names of the system tree nodes that have processes.
    node_bytes, node_operations : (nodes,)
    """

    ENTRIES: ClassVar = (
        "moving_ranks", "moving_nodes", "busiest_rank", "busiest_share", "busiest_node", "busiest_node_share",
        "rank_imbalance", "node_imbalance",
    )  # fmt: skip
    KEYS: ClassVar = {"moving_ranks": "ranks", "moving_nodes": "nodes", "busiest_share": "busiest_rank_share"}

    rank: npt.NDArray[np.int32]
    rank_bytes: Amounts
    rank_operations: npt.NDArray[np.int64]
    node: tuple[str, ...]
    node_bytes: Amounts
    node_operations: npt.NDArray[np.int64]

    @property
    def moving_ranks(self) -> npt.NDArray[np.int32]:
        """Ranks that moved bytes."""
        return self.rank[self.rank_bytes > 0]

    @property
    def movers(self) -> int:
        """Number of ranks that moved bytes."""
        return len(self.moving_ranks)

    @property
    def moving_nodes(self) -> tuple[str, ...]:
        """Nodes whose processes moved bytes."""
        return tuple(name for name, moved in zip(self.node, self.node_bytes.tolist(), strict=True) if moved > 0)

    @property
    def busiest_rank(self) -> int | None:
        """Rank that moved most bytes, the lowest of several; None where none did."""
        return int(self.rank[np.argmax(self.rank_bytes)]) if self.movers else None

    @property
    def busiest_share(self) -> float | None:
        """Share of the busiest rank in the bytes; None where nothing moved."""
        return _largest_share(self.rank_bytes)

    @property
    def busiest_node(self) -> str | None:
        """Node that moved most bytes, the first of several; None where none did."""
        return self.node[int(np.argmax(self.node_bytes))] if self.moving_nodes else None

    @property
    def busiest_node_share(self) -> float | None:
        """Share of the busiest node in the bytes; None where nothing moved."""
        return _largest_share(self.node_bytes)

    @property
    def rank_imbalance(self) -> float | None:
        """Largest bytes of a rank over the mean of all ranks, less one: 0 is even; None where nothing moved."""
        return _imbalance(self.rank_bytes)

    @property
    def node_imbalance(self) -> float | None:
        """The same over nodes."""
        return _imbalance(self.node_bytes)


def moving_ranks(cells: Cells, rows: Mask) -> MovingRanks:
    """Return who did the operations in some cells; processes without a rank do not count."""
    groups, tree = cells.definitions.groups, cells.definitions.system_tree
    processes = cells.processes
    processes = processes[np.argsort(groups.rank[processes], kind="stable")]
    # A process of −1, no process, takes the last entry.
    place = np.full(len(groups.id) + 1, -1, np.int64)
    place[processes] = np.arange(len(processes))
    nodes = np.unique(groups.node[processes])
    nodes = nodes[nodes >= 0]
    node_of = np.full(len(groups.id) + 1, -1, np.int64)
    node_of[processes] = np.searchsorted(nodes, groups.node[processes])
    node_of[:-1][groups.node < 0] = -1
    process, count, moved = cells.process[rows], cells.columns.operations[rows], cells.moved[rows]

    def sums(place: Ints, length: int) -> tuple[Amounts, Ints]:
        at = place[process]
        known = at >= 0
        return sums_by(at[known], moved[known], length), sums_by(at[known], count[known], length)

    names = tuple(tree.name[row] for row in nodes.tolist())
    return MovingRanks(groups.rank[processes], *sums(place, len(processes)), names, *sums(node_of, len(nodes)))


def _largest_share(amounts: Amounts) -> float | None:
    whole = float(amounts.sum(dtype=np.float64))
    return float(amounts.max()) / whole if whole > 0 else None


def _imbalance(amounts: Amounts) -> float | None:
    share = _largest_share(amounts)
    return None if share is None else share * len(amounts) - 1
