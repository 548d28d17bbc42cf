"""Keys by which the operations of a layer are grouped: none, file, stream, file system, rank, node, handle."""

from collections import Counter
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from ...model.arrays import Ints, Links
from ...model.definitions import Definitions
from ...model.errors import SelectionError
from .kinds import file_kinds

Key = str | int | None
"""File name, kind of file, file system, MPI rank, name of the node, OTF2 id of the handle; None where there is none."""


class Grouping(NamedTuple):
    """The keys of a trace, and which of them an operation belongs to.

    Attributes
    ----------
    keys : list of (str or int or None)
        Each once; the last is None.
    of : {"file", "process", "handle"}
        What decides.
    table : int64 (rows+1,)
        Place in `keys` of each row of that, the last of −1.
    """

    keys: list[Any]
    of: str
    table: Ints

    def places(self, file: Links, process: Links, handle: Links) -> Ints:
        """Return the places of operations or metadata events by their rows, −1 where there is none; int64 (n,)."""
        return self.table.take({"file": file, "process": process, "handle": handle}[self.of])


def grouping(definitions: Definitions, by: str) -> Grouping:
    """Return the keys of one kind.

    Raises SelectionError if there is no such kind of key.

    Parameters
    ----------
    by : str
        One of `KEYS`.
    """
    if by not in KINDS_OF_KEYS:
        raise SelectionError(f"cannot split layers by {by!r}; there are {', '.join(KEYS)}")
    return KINDS_OF_KEYS[by].grouping(definitions)


def distinct_names(names: tuple[str, ...]) -> tuple[list[Any], Ints]:
    """Return distinct names, then None, and the place of each of `names` among them, that of None last."""
    everything = [*names, None]
    labels = list(dict.fromkeys(everything))
    places = {name: place for place, name in enumerate(labels)}
    return labels, np.array([places[name] for name in everything], np.int64)


def _by_layer(definitions: Definitions) -> Grouping:
    return Grouping(["", None], "file", np.zeros(len(definitions.files.name) + 1, np.int64))


def _by_file(definitions: Definitions) -> Grouping:
    labels, table = distinct_names(definitions.files.name)
    return Grouping(labels, "file", table)


def _by_stream(definitions: Definitions) -> Grouping:
    labels, table = distinct_names(tuple(file_kinds(definitions.files.name)))
    return Grouping(labels, "file", table)


def _by_file_system(definitions: Definitions) -> Grouping:
    names: list[str | None] = []
    for properties in definitions.files.properties:
        # Score-P writes "File system" and "Mount Point"; the spelling is the writer's own.
        known = {name.lower(): value for name, value in properties.items()}
        parts = [known.get(name) for name in ("file system", "mount point")]
        names.append(" on ".join(part for part in parts if part) or None)
    labels = sorted({name for name in names if name is not None})
    places: dict[str | None, int] = {name: place for place, name in enumerate(labels)} | {None: len(labels)}
    table = np.array([places[name] for name in [*names, None]], np.int64)
    return Grouping([*labels, None], "file", table)


def _by_rank(definitions: Definitions) -> Grouping:
    ranks = definitions.groups.rank
    labels = np.unique(ranks[ranks >= 0]).tolist()
    table = np.append(np.where(ranks >= 0, np.searchsorted(labels, ranks), len(labels)), len(labels))
    return Grouping([*labels, None], "process", table)


def _by_node(definitions: Definitions) -> Grouping:
    node = definitions.groups.node
    rows = np.unique(node[node >= 0])
    names = [definitions.system_tree.name[row] for row in rows.tolist()]
    # Names need not be unique: two nodes of one name are distinguished by their OTF2 ids.
    ids, often = definitions.system_tree.id[rows].tolist(), Counter(names)
    labels = [name if often[name] == 1 else f"{name} ({one})" for name, one in zip(names, ids, strict=True)]
    table = np.append(np.where(node >= 0, np.searchsorted(rows, node), len(labels)), len(labels))
    return Grouping([*labels, None], "process", table)


def _by_handle(definitions: Definitions) -> Grouping:
    labels = definitions.handles.id.tolist()
    return Grouping([*labels, None], "handle", np.arange(len(labels) + 1))


class KeyKind(NamedTuple):
    """A kind of keys: how a trace is grouped by it, what a recorder has to know for that, and what it is called."""

    grouping: Callable[[Definitions], Grouping]
    needs: tuple[str, ...] = ()
    noun: str = ""
    without: str = ""
    """What is called so that has no such key."""
    title: str = "{}"
    """What is called so that has one."""


KINDS_OF_KEYS: Final = {
    "layer": KeyKind(_by_layer),
    "file": KeyKind(_by_file, ("handles",), "file", "no file"),
    "stream": KeyKind(_by_stream, ("handles",), "stream", "no file"),
    "filesystem": KeyKind(_by_file_system, ("handles",), "file system", "no known file system"),
    "rank": KeyKind(_by_rank, ("ranks",), "rank", "no rank", "rank {}"),
    "node": KeyKind(_by_node, ("ranks", "nodes"), "node", "no node"),
    "handle": KeyKind(_by_handle, ("handles",), "handle", "no handle", "handle {}"),
}
KEYS: Final = tuple(KINDS_OF_KEYS)


def part_title(by: str, key: Key) -> str:
    """Return how a part is called: ``rank 3``, the name of a file, ``no file``."""
    kind = KINDS_OF_KEYS[by]
    return kind.without if key is None else kind.title.format(key)
