"""Handles that are alike, taken together: a tree short enough to read, from a forest of any size."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from ...model.arrays import Floats
from .forest import HandleForest

_NUMBERS: Final = re.compile(r"(\d+)")
SERIES: Final = 4
"""Names that differ in numbers only are taken together from this many on."""


@dataclass(eq=False)
class HandleGroup:
    """Handles of one layer and one file, or one series of files, beneath the same group.

    Attributes
    ----------
    file : str or None
        Name of the file, of a series with ``*`` for the numbers that differ; None for handles without a file.
    name : str
        Name of the handles, where they share one.
    scopes : set of (str or None)
        Parts of the machine on which the names of the files hold; None for all of it.
    children : list of HandleGroup
        The one with most bytes first.
    subtree_operations : int
        Operations of the group and of all groups below it.
    metadata_s : float
        Time in s of the calls that opened, closed, … its handles; 0 where that is not known.
    """

    layer: str | None
    file: str | None
    name: str
    parent: "HandleGroup | None"
    children: "list[HandleGroup]" = field(default_factory=list)
    handles: int = 0
    files: set[str] = field(default_factory=set)
    scopes: set[str | None] = field(default_factory=set)
    operations: int = 0
    bytes_read: int | float = 0
    bytes_written: int | float = 0
    subtree_operations: int = 0
    subtree_bytes: int | float = 0
    metadata_s: float = 0.0


def handle_groups(
    forest: HandleForest, chosen: Collection[str] | None = None, metadata_s: Floats | None = None
) -> list[HandleGroup]:
    """Return the roots of the groups of all handles that are not set aside.

    A handle whose parent is left out hangs below its nearest ancestor that is not. Linear in the number of handles.

    Parameters
    ----------
    chosen : collection of str, optional
        Layers whose handles are not left out; all unless given. Sums over what is below a group count these only.
    metadata_s : float64 (handles,), optional
    """
    layers = forest.layer
    kept = _shown(forest, chosen)
    seconds = np.zeros(len(forest)) if metadata_s is None else metadata_s
    columns = (forest.operations, forest.bytes_read, forest.bytes_written, seconds)
    amounts = list(zip(*(column.tolist() for column in columns), strict=True))
    parents = forest.parent.tolist()
    shown_as = series_names(file for file, shown in zip(forest.file, kept, strict=True) if file and shown)
    groups: dict[tuple[int, str | None, str | None, str], HandleGroup] = {}
    group_of: list[HandleGroup | None] = [None] * len(forest)
    for row in np.argsort(forest.depth, kind="stable").tolist():
        parent = group_of[parents[row]] if parents[row] >= 0 else None
        if not kept[row]:
            group_of[row] = parent
            continue
        file = forest.file[row]
        series = None if file is None else shown_as.get(file, file)
        name = "" if file is not None else forest.name[row]
        key = (id(parent), layers[row], series, name)
        group = groups.get(key)
        if group is None:
            group = groups[key] = HandleGroup(layers[row], series, name, parent)
        operations, read, written, took = amounts[row]
        group.handles += 1
        group.operations += operations
        group.bytes_read += read
        group.bytes_written += written
        group.metadata_s += took
        if file is not None:
            group.files.add(file)
            group.scopes.add(forest.scope[row])
        group_of[row] = group
    return _linked(list(groups.values()))


def _shown(forest: HandleForest, chosen: Collection[str] | None = None) -> list[bool]:
    """Return for each handle whether it is not set aside and, where layers are `chosen`, of one of them."""
    told = zip(forest.set_aside, forest.layer, strict=True)
    return [reason is None and (chosen is None or layer in chosen) for reason, layer in told]


def series_names(names: Iterable[str]) -> dict[str, str]:
    """Return for each name of a series how the series is called: ``*`` in place of the numbers that differ.

    >>> series_names(["run1/out_0.nc", "run1/out_1.nc", "run1/out_2.nc", "run1/out_3.nc"])["run1/out_2.nc"]
    'run1/out_*.nc'
    """
    series: dict[tuple[str, ...], dict[str, list[str]]] = {}
    for name in names:
        parts = _NUMBERS.split(name)
        series.setdefault(tuple(parts[::2]), {})[name] = parts[1::2]
    called = {}
    for words, members in series.items():
        if len(members) < SERIES:
            continue
        digits = [column[0] if len(set(column)) == 1 else "*" for column in zip(*members.values(), strict=True)]
        title = "".join(part for pair in zip(words, [*digits, ""], strict=True) for part in pair)
        called.update(dict.fromkeys(members, title))
    return called


def _linked(groups: list[HandleGroup]) -> list[HandleGroup]:
    """Return the roots of groups, which come after their parents, with children and sums filled in."""
    roots = []
    for group in reversed(groups):
        group.subtree_operations += group.operations
        group.subtree_bytes += group.bytes_read + group.bytes_written
        group.children.reverse()
        group.children.sort(key=_weight)
        if group.parent is None:
            roots.append(group)
        else:
            group.parent.subtree_operations += group.subtree_operations
            group.parent.subtree_bytes += group.subtree_bytes
            group.parent.children.append(group)
    roots.reverse()
    roots.sort(key=_weight)
    return roots


def _weight(group: HandleGroup) -> float:
    return -group.subtree_bytes
