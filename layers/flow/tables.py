"""A flow split up: by file, by class of the upper operation, by sizes above and below, by rank and node."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from ...model.arrays import Ints, Mask
from ...model.codes import IoFlag
from ...model.document import Record, RecordTable, plain
from ..selection.window import Amounts, sums_by
from .cells import Cells

CLASSES: Final = 64
"""Class 0 and those of 2^0 to 2^62."""


class OperationClass:
    """Classes of operations, disjoint: a non-blocking collective operation counts as non-blocking."""

    LABELS: Final = ("collective", "independent", "non-blocking", "none")
    COLLECTIVE: Final = 0
    INDEPENDENT: Final = 1
    NON_BLOCKING: Final = 2
    NONE: Final = 3

    @classmethod
    def of(cls, flags: npt.NDArray[np.uint32]) -> npt.NDArray[np.int64]:
        """Return the class of operations with these flags, int64 (n,)."""
        non_blocking = (flags & np.uint32(IoFlag.NON_BLOCKING)) != 0
        collective = (flags & np.uint32(IoFlag.COLLECTIVE)) != 0
        blocking = np.where(collective, cls.COLLECTIVE, cls.INDEPENDENT)
        return np.where(non_blocking, cls.NON_BLOCKING, blocking).astype(np.int64)


@dataclass(frozen=True, eq=False)
class FlowTable(RecordTable):
    """A flow by key; columns of shape (n,).

    Attributes
    ----------
    key : str
        What the labels are: ``file`` or ``class``.
    operations, bytes : mapping of str to array
        By part: ``upper``, ``lower`` (by descent), ``attributed``, ``inferred``, ``hidden``.
    """

    key: str
    labels: tuple[str, ...]
    operations: Mapping[str, npt.NDArray[np.int64]]
    bytes: Mapping[str, Amounts]

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        return f"<FlowTable by {self.key}: {len(self)} rows>"

    @property
    def amplification(self) -> npt.NDArray[np.float64]:
        """Bytes below by descent per byte above, float64 (n,); NaN where there are none above."""
        above = self.bytes["upper"].astype(np.float64)
        below = self.bytes["lower"].astype(np.float64)
        ratio = np.full(len(above), np.nan)
        np.divide(below, above, out=ratio, where=above > 0)
        return ratio

    def entry_columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {self.key: self.labels}
        for part, operations in self.operations.items():
            columns |= {f"{part}_operations": operations, f"{part}_bytes": self.bytes[part]}
        return columns | {"amplification": plain(self.amplification)}

    def to_dataframe(self) -> Any:
        """Return a ``pandas.DataFrame``, one row a label."""
        return super().to_dataframe().set_index(self.key)


def flow_table(
    key: str,
    labels: tuple[str, ...],
    places: Mapping[str, npt.NDArray[np.int64]],
    counts: Mapping[str, npt.NDArray[np.int64]],
    amounts: Mapping[str, Amounts],
) -> FlowTable:
    """Sum operations and bytes by key; keys without operations are left out.

    Parameters
    ----------
    places : mapping of str to int64 (n,)
        Of each part the rows in `labels` of what it has.
    counts, amounts : mapping of str to array (n,)
        Operations and bytes of each.
    """
    operations = {part: sums_by(place, counts[part], len(labels)) for part, place in places.items()}
    volumes = {part: sums_by(place, amounts[part], len(labels)) for part, place in places.items()}
    kept = np.flatnonzero(sum(operations.values(), np.zeros(len(labels), np.int64)) > 0)
    return FlowTable(
        key,
        tuple(labels[row] for row in kept.tolist()),
        {part: column[kept] for part, column in operations.items()},
        {part: column[kept] for part, column in volumes.items()},
    )


@dataclass(frozen=True, eq=False)
class RequestFlow(RecordTable):
    """Lower operations by the size of their call above and their own; columns of shape (n,), only pairs that occur.

    A size s ≥ 1 is in the class of the largest power of two that it reaches, and 0 in the class 0.

    Attributes
    ----------
    upper_from, lower_from : int64
        Smallest size in bytes of the classes: 0, 1, 2, 4, 8, …
    operations : int64
        Lower operations.
    bytes : Amounts
        Bytes that they moved.
    """

    upper_from: npt.NDArray[np.int64]
    lower_from: npt.NDArray[np.int64]
    operations: npt.NDArray[np.int64]
    bytes: Amounts

    def __len__(self) -> int:
        return len(self.operations)

    @classmethod
    def of_pairs(cls, pairs: npt.NDArray[np.intp], operations: npt.NDArray[np.int64], moved: Amounts) -> "RequestFlow":
        """Return the flow of pairs that occur: the class of the call times `CLASSES`, plus that of the operation."""
        starts = np.append(0, np.left_shift(np.int64(1), np.arange(CLASSES - 1)))
        return cls(starts[pairs // CLASSES], starts[pairs % CLASSES], operations, moved)

    def matrix(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the classes above (m,), those below (k,) and the operations between them, int64 (m, k)."""
        upper, row = np.unique(self.upper_from, return_inverse=True)
        lower, column = np.unique(self.lower_from, return_inverse=True)
        operations = np.zeros((len(upper), len(lower)), np.int64)
        operations[row, column] = self.operations
        return upper, lower, operations

    def entry_columns(self) -> dict[str, Any]:
        sizes = {"upper_from_bytes": self.upper_from, "lower_from_bytes": self.lower_from}
        return {**sizes, "operations": self.operations, "bytes": self.bytes}


def size_class(size: Amounts) -> npt.NDArray[np.int64]:
    """Return the class of each size: 0 below 1, else one more than its binary exponent, int64 (n,)."""
    exponent = np.frexp(size.astype(np.float64))[1]
    return np.where(size >= 1, np.clip(exponent, 1, CLASSES - 1), 0).astype(np.int64)


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
