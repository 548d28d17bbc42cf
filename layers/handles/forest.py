"""The forest of I/O handles: who stands beneath whom, and what went through each handle and all below it."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final

import numpy as np

from ...model.arrays import Array, Codes, Ints, Links, Mask, any_ancestor, column_at, depths, subtree_sums
from ...model.document import Document, RecordTable, keys_of, rows_of
from ...model.errors import SelectionError, import_library
from ...model.metrics import metric
from ..selection.window import Amounts
from .metadata import Lifetimes
from .stack import layer_place
from .sums import LIFETIMES, HandleSums

_ROWS_AT_ONCE: Final = 1000
_ENTRIES: Final = (
    "id", "parent", "layer", "file", "scope", "flags", "name", "depth", "operations", "bytes_read", "bytes_written",
    "subtree_operations", "subtree_bytes_read", "subtree_bytes_written", "ranks", "metadata_events",
)  # fmt: skip
"""Columns that are entries of a document, before those of lifetimes."""
_FLAGS: Final = (None, "pre-created", "all proxy", "pre-created, all proxy")
"""By the bits of ``OTF2_IoHandleFlag``."""


HANDLE: Final = {
    **keys_of(str | None, "layer file scope flags set_aside"),
    "parent": int | None,
    "name": str,
    **keys_of(int, "id depth operations subtree_operations ranks metadata_events"),
    **keys_of(int | float, "bytes_read bytes_written subtree_bytes_read subtree_bytes_written"),
    **dict.fromkeys(LIFETIMES, int | bool),
}


class HandleForest(RecordTable, kw_only=True):
    """All handles of a trace, columns over the rows of ``Definitions.handles``, shape (n,).

    Counts are of all files, also those that are set aside, and of the trace's window: operations that overlap it, bytes
    in proportion. Lifetimes are of the whole trace.

    Attributes
    ----------
    name : tuple of str
    file : tuple of (str or None)
        Name of the handle's file.
    scope : tuple of (str or None)
        Node or other part of the machine on which that name holds; None where it holds everywhere.
    flags : tuple of (str or None)
        ``pre-created`` where the handle was there from the start by its definition, ``all proxy`` where it stands for
        all handles of its layer, or both, separated by a comma.
    layers : tuple of str
        Names of the layers, highest first.
    layer_row : int32
        Row in `layers`, −1 where the handle's paradigm is undefined. The lower, the higher the layer.
    parent : int32
        Row of the parent, −1 at a root.
    set_aside : tuple of (str or None)
        Why the handle is set aside.
    lifetime_counts : mapping of str to array
        ``created``, ``destroyed``, ``never_created``, ``never_destroyed``: how many of its lifetimes begin and end so;
        ``precreated``: whether it was there from the start.
    known_lifetimes : Lifetimes or None
        None where the trace was read in bounded memory, which does not keep them.
    """

    id: Codes = metric("OTF2 id of the handle.", adds="none")
    name: tuple[str, ...]
    file: tuple[str | None, ...]
    scope: tuple[str | None, ...]
    flags: tuple[str | None, ...]
    layers: tuple[str, ...]
    layer_row: Links
    parent: Links
    depth: Links = metric("Number of ancestors.", adds="none")
    operations: Ints = metric("Operations on the handle, flushes among them.")
    bytes_read: Amounts = metric("Bytes read through the handle.", unit="byte")
    bytes_written: Amounts = metric("Bytes written through the handle.", unit="byte")
    subtree_operations: Ints = metric("Operations on the handle and all below it.")
    subtree_bytes_read: Amounts = metric("Bytes read through the handle and all below it, once a layer.", unit="byte")
    subtree_bytes_written: Amounts = metric("Bytes written through it and all below it, once a layer.", unit="byte")
    metadata_events: Ints = metric("Events that name the handle and move no data.")
    ranks: Ints = metric("Processes that made or used the handle.", adds="distinct")
    set_aside: tuple[str | None, ...]
    lifetime_counts: Mapping[str, Array]
    known_lifetimes: Lifetimes | None

    def __len__(self) -> int:
        return len(self.id)

    def __repr__(self) -> str:
        roots = int((self.parent < 0).sum())
        return f"<HandleForest: {len(self)} handles, {roots} roots, layers {', '.join(self.layers) or 'none'}>"

    @property
    def layer(self) -> tuple[str | None, ...]:
        """Name of each handle's layer, None where its paradigm is undefined."""
        return tuple(self.layers[row] if row >= 0 else None for row in self.layer_row.tolist())

    @property
    def lifetimes(self) -> Lifetimes:
        """Lifetimes of the handles.

        Raises
        ------
        SelectionError
            If the trace was read in bounded memory.
        """
        if self.known_lifetimes is None:
            raise SelectionError("lifetimes of handles are not kept where a trace is read in bounded memory")
        return self.known_lifetimes

    def ancestor_rows(self, row: int) -> tuple[int, ...]:
        """Return the rows of the ancestors of a handle, the nearest first."""
        rows = []
        while (row := int(self.parent[row])) >= 0:
            rows.append(row)
        return tuple(rows)

    def descends_from(self, layer: str) -> Mask:
        """Return whether each handle has an ancestor in `layer`, bool (n,); a handle is no ancestor of itself.

        Raises
        ------
        SelectionError
            If the trace has no such layer.
        """
        return any_ancestor(self.parent, self.layer_row == layer_place(self.layers, layer))

    def to_dataframe(self) -> Any:
        """Return a ``pandas.DataFrame`` with the columns of `to_dict`, indexed by OTF2 handle id."""
        return super().to_dataframe().set_index("id")

    def to_networkx(self) -> Any:
        """Return a ``networkx.DiGraph`` with an edge from each parent to its child; nodes are OTF2 handle ids.

        Nodes have the attributes of `to_dict` without ``id`` and ``parent``.
        """
        graph = import_library("networkx").DiGraph()
        rows = self.to_dict()
        for row in rows:
            graph.add_node(row["id"], **{key: value for key, value in row.items() if key not in ("id", "parent")})
        graph.add_edges_from((row["parent"], row["id"]) for row in rows if row["parent"] is not None)
        return graph

    def to_dict(self) -> list[dict[str, Any]]:
        """Return one dict a handle, as in ``handles --json``; ``parent`` is an OTF2 id or None."""
        return list(self.dicts())

    def dicts(self) -> Iterator[Annotated[Document, HANDLE]]:
        """Yield the dicts of `to_dict` one by one."""
        columns = {name: getattr(self, name) for name in _ENTRIES}
        ids = np.array([*self.id.tolist(), None], object)
        columns |= {**self.lifetime_counts, "set_aside": self.set_aside}
        for start in range(0, len(self.id), _ROWS_AT_ONCE):
            part = {name: column[start : start + _ROWS_AT_ONCE] for name, column in columns.items()}
            yield from rows_of({**part, "parent": ids[part["parent"]]})


def handle_forest(
    sums: HandleSums, operations: Ints, bytes_read: Amounts, bytes_written: Amounts, lifetimes: Lifetimes | None
) -> HandleForest:
    """Return the forest of handles whose numbers, (handles,) each, are known; see `HandleForest`.

    Parameters
    ----------
    sums : HandleSums
        The selection of its scope only marks handles as set aside.
    """
    scope = sums.scope
    definitions, selection, stack = scope.definitions, scope.selection, scope.stack
    handles = definitions.handles
    files, nodes = definitions.files.name, definitions.system_tree.name
    part = column_at(definitions.files.scope, handles.file)
    reasons = [rule.reason for rule in selection.reasons]
    return HandleForest(
        id=handles.id,
        name=handles.name,
        file=tuple(files[row] if row >= 0 else None for row in handles.file.tolist()),
        scope=tuple(nodes[row] if row >= 0 else None for row in part.tolist()),
        flags=tuple(_FLAGS[flags & 3] for flags in handles.flags.tolist()),
        layers=scope.order,
        layer_row=stack.layer,
        parent=stack.parent,
        depth=depths(stack.parent),
        operations=operations,
        bytes_read=bytes_read,
        bytes_written=bytes_written,
        subtree_operations=subtree_sums(stack.parent, operations),
        subtree_bytes_read=subtree_sums(stack.parent, bytes_read),
        subtree_bytes_written=subtree_sums(stack.parent, bytes_written),
        metadata_events=sums.events,
        ranks=sums.ranks,
        set_aside=tuple(reasons[row] if row >= 0 else None for row in selection.handle_reason.tolist()),
        lifetime_counts=dict(zip(LIFETIMES, sums.lifetime_counts, strict=True)),
        known_lifetimes=lifetimes,
    )
