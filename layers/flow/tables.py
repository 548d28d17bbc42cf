"""A flow split up: by file, by class of the upper operation, by sizes above and below, by rank and node."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

import numpy as np

from ...model.arrays import Codes, Floats, Frozen, Ints, Mask
from ...model.codes import IoFlag
from ...model.document import Document, Record, RecordTable, keys_of, plain
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
    def of(cls, flags: Codes) -> Ints:
        """Return the class of operations with these flags, int64 (n,)."""
        non_blocking = (flags & np.uint32(IoFlag.NON_BLOCKING)) != 0
        collective = (flags & np.uint32(IoFlag.COLLECTIVE)) != 0
        blocking = np.where(collective, cls.COLLECTIVE, cls.INDEPENDENT)
        return np.where(non_blocking, cls.NON_BLOCKING, blocking).astype(np.int64)


_PARTS: Final = ("upper", "lower", "attributed", "inferred", "hidden")
_FLOW: Final = {
    **keys_of(str | None, "file? class?"),
    **{f"{part}_operations": int for part in _PARTS},
    **{f"{part}_bytes": int | float for part in _PARTS},
    "amplification": float | None,
}
_REQUESTS: Final = {**keys_of(int, "upper_from_bytes lower_from_bytes operations"), "bytes": int | float}


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
    operations: Mapping[str, Ints]
    bytes: Mapping[str, Amounts]

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        return f"<FlowTable by {self.key}: {len(self)} rows>"

    @property
    def amplification(self) -> Floats:
        """Bytes below by descent per byte above, float64 (n,); NaN where there are none above."""
        above = self.bytes["upper"].astype(np.float64)
        below = self.bytes["lower"].astype(np.float64)
        ratio = np.full(len(above), np.nan)
        np.divide(below, above, out=ratio, where=above > 0)
        return ratio

    def entry_columns(self) -> Annotated[Document, _FLOW]:
        columns: dict[str, Any] = {self.key: self.labels}
        for part, operations in self.operations.items():
            columns |= {f"{part}_operations": operations, f"{part}_bytes": self.bytes[part]}
        return columns | {"amplification": plain(self.amplification)}

    def to_dataframe(self) -> Any:
        """Return a ``pandas.DataFrame``, one row a label."""
        return super().to_dataframe().set_index(self.key)


def flow_table(cells: Cells, parts: Mapping[str, Mask], key: str, labels: tuple[str, ...], place: Ints) -> FlowTable:
    """Sum operations and bytes of some parts of the cells by their place in `labels`; what has none is left out."""
    count = cells.columns.operations
    operations = {name: sums_by(place[part], count[part], len(labels)) for name, part in parts.items()}
    volumes = {name: sums_by(place[part], cells.moved[part], len(labels)) for name, part in parts.items()}
    kept = np.flatnonzero(sum(operations.values(), np.zeros(len(labels), np.int64)) > 0)
    counts = {part: column[kept] for part, column in operations.items()}
    moved = {part: column[kept] for part, column in volumes.items()}
    return FlowTable(key, tuple(labels[row] for row in kept.tolist()), counts, moved)


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

    upper_from: Ints
    lower_from: Ints
    operations: Ints
    bytes: Amounts

    def __len__(self) -> int:
        return len(self.operations)

    def entry_columns(self) -> Annotated[Document, _REQUESTS]:
        sizes = {"upper_from_bytes": self.upper_from, "lower_from_bytes": self.lower_from}
        return {**sizes, "operations": self.operations, "bytes": self.bytes}


def size_class(size: Amounts) -> Ints:
    """Return the class of each size: 0 below 1, else one more than its binary exponent, int64 (n,)."""
    exponent = np.frexp(size.astype(np.float64))[1]
    return np.where(size >= 1, np.clip(exponent, 1, CLASSES - 1), 0).astype(np.int64)


class MovedShares(Frozen):
    """Bytes of some operations by rank or by node.

    Attributes
    ----------
    name : tuple of int or of str
        MPI ranks of all processes, in ascending order, or the names of all nodes that have processes.
    bytes : (n,)
        What each moved.
    """

    name: tuple[Any, ...]
    bytes: Amounts

    @property
    def moving(self) -> tuple[Any, ...]:
        """Those that moved bytes."""
        return tuple(name for name, moved in zip(self.name, self.bytes.tolist(), strict=True) if moved > 0)

    @property
    def busiest(self) -> Any:
        """The one that moved most bytes, the first of several; None where none did."""
        return self.name[int(np.argmax(self.bytes))] if self.moving else None

    @property
    def busiest_share(self) -> float | None:
        """Share of the busiest in the bytes; None where nothing moved."""
        whole = float(self.bytes.sum(dtype=np.float64))
        return float(self.bytes.max()) / whole if whole > 0 else None

    @property
    def imbalance(self) -> float | None:
        """Largest bytes of one over the mean of all, less one: 0 is even; None where nothing moved."""
        share = self.busiest_share
        return None if share is None else share * len(self.name) - 1


_SHARES: Final = {
    "ranks": list[int],
    "nodes": list[str],
    "busiest_rank": int | None,
    "busiest_node": str | None,
    **keys_of(float | None, "busiest_rank_share busiest_node_share rank_imbalance node_imbalance"),
}


class MovingRanks(Record, eq=False):
    """Who moved the bytes of some operations: ranks and nodes, and how evenly."""

    ranks: MovedShares
    nodes: MovedShares

    @property
    def movers(self) -> int:
        """Number of ranks that moved bytes."""
        return len(self.ranks.moving)

    def to_dict(self) -> Annotated[Document, _SHARES]:
        """Return the entry ``shares_upper`` or ``shares_lower`` of a flow."""
        ranks, nodes = self.ranks, self.nodes
        return {
            "ranks": list(ranks.moving),
            "nodes": list(nodes.moving),
            "busiest_rank": ranks.busiest,
            "busiest_rank_share": ranks.busiest_share,
            "busiest_node": nodes.busiest,
            "busiest_node_share": nodes.busiest_share,
            "rank_imbalance": ranks.imbalance,
            "node_imbalance": nodes.imbalance,
        }


def moving_ranks(cells: Cells, rows: Mask) -> MovingRanks:
    """Return who did the operations in some cells; processes without a rank do not count."""
    groups, tree = cells.definitions.groups, cells.definitions.system_tree
    processes = cells.processes[np.argsort(groups.rank[cells.processes], kind="stable")]
    # A process of −1, no process, takes the last entry.
    moved = sums_by(cells.process[rows], cells.moved[rows], len(groups.id) + 1)[processes]
    node = groups.node[processes]
    nodes, place = np.unique(node[node >= 0], return_inverse=True)
    return MovingRanks(
        MovedShares(tuple(groups.rank[processes].tolist()), moved),
        MovedShares(tuple(tree.name[row] for row in nodes.tolist()), sums_by(place, moved[node >= 0], len(nodes))),
    )
