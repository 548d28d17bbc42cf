"""The compiled search for the operation that encloses another; see `attribution` for what counts as enclosing.

Numba may have to compile it: import it inside the function that uses it.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from ...model.arrays import Integers, Ints, Links, Mask
from ...model.codes import UNDEFINED_TIME
from ...model.kernels import compiled, inlined

_FOREVER: Final = np.int64(np.iinfo(np.int64).max)


@compiled
def rows_by_key(key: Integers, keys: int) -> tuple[Ints, Ints]:
    """Sort rows by key, keeping their order within a key, in linear time.

    Parameters
    ----------
    key : integer (n,)
        From 0 to ``keys - 1``; rows of a negative key are left out.

    Returns
    -------
    order : int64 (m,)
        Rows, those of key 0 first.
    start : int64 (keys+1,)
        Where the rows of each key begin in `order`.
    """
    start = np.zeros(keys + 1, np.int64)
    for row in range(key.size):
        if key[row] >= 0:
            start[key[row] + 1] += 1
    for value in range(keys):
        start[value + 1] += start[value]
    order = np.empty(start[keys], np.int64)
    place = start[:keys].copy()
    for row in range(key.size):
        if key[row] >= 0:
            order[place[key[row]]] = row
            place[key[row]] += 1
    return order, start


@compiled
def parents_within(parent: Ints, rows: Ints) -> Ints:
    """Return the places among some rows, in ascending order, of their parents, which are among them; −1 for none."""
    found = np.empty(rows.size, np.int64)
    for place in range(rows.size):
        above = parent[rows[place]]
        found[place] = -1
        if above >= 0:
            # Mostly it is not far above.
            back = 1
            while back < place and rows[place - back] > above:
                back *= 2
            low = max(place - back, 0)
            found[place] = low + np.searchsorted(rows[low:place], above)
    return found


@compiled
def places_in_stack(
    handle: Links, location: Links, layer: Links, higher: Links, family: Links
) -> tuple[Links, Mask, Mask, Mask, Links]:
    """Return the layer of each operation, −1 where it is none, what its handle tells, and what is used by whom.

    What it tells is whether it has an ancestor of a higher layer, and whether it has none although there are higher
    layers. Then come which handles are used, and by which thread those of each family, −1 for none, −2 for several.
    """
    found = np.full(handle.size, -1, np.int32)
    inherits, alone = np.zeros(handle.size, np.bool_), np.zeros(handle.size, np.bool_)
    used, user = np.zeros(layer.size, np.bool_), np.full(layer.size, -1, np.int32)
    for row in range(handle.size):
        one = handle[row]
        if one >= 0:
            found[row], inherits[row] = layer[one], higher[one] >= 0
            alone[row] = higher[one] < 0 and layer[one] > 0
            used[one] = True
            if user[family[one]] != location[row]:
                user[family[one]] = location[row] if user[family[one]] == -1 and location[row] >= 0 else -2
    return found, inherits, alone, used, user


class Tree(NamedTuple):
    """Where handles stand, shape (handles,)."""

    family: Links
    """The handle that each came from within its layer."""
    rank: Links
    """Layers counted from the highest."""
    ancestor: Links
    """Nearest ancestor that can be an answer at all; following it visits every such ancestor."""


@inlined
def _until(end: Ints, row: int) -> Any:
    """Return when an operation ends, the greatest number where it never does."""
    return _FOREVER if end[row] == UNDEFINED_TIME else end[row]


@compiled
def enclose_on_ancestors(
    rows: Ints, start: Ints, asked: Mask, handle: Links, tree: Tree, begin: Ints, end: Ints, parent: Ints
) -> None:
    """Put the innermost operation in flight, in its segment, on an ancestor of its handle into `parent` where asked.

    Parameters
    ----------
    rows : int64 (m,)
        Operations by segment, a thread or a process, and in each in the order of their begins; empty for all.
    start : int64 (segments+1,)
        Where those of each segment begin.
    asked : bool (n,)
    handle : int32 (n,)
        −1 where undefined.
    begin, end : int64 (n,)
        ``UNDEFINED_TIME`` for one that never ended.
    parent : int64 (n,)
        What is there already is brought up to date only where something is found.
    """
    # Operations on one handle are a list from the last begun backwards. Those that ended before the present begin
    # will never be in flight again, so they are dropped for good: each is passed once.
    last = np.full(tree.rank.size, -1, np.int64)
    before = np.empty(handle.size, np.int64)
    for segment in range(start.size - 1):
        for place in range(start[segment], start[segment + 1]):
            row = rows[place] if rows.size else place
            if handle[row] < 0:
                continue
            own = tree.family[handle[row]]
            if asked[row]:
                found, until = np.int64(-1), _until(end, row)
                above = tree.ancestor[own]
                while above >= 0:
                    if tree.rank[above] < tree.rank[own]:
                        other = last[above]
                        while other >= 0 and _until(end, other) < begin[row]:
                            other = before[other]
                        last[above] = other
                        # One that ends with the very tick encloses only what takes no time either.
                        while other >= 0 and _until(end, other) <= begin[row] and _until(end, other) < until:
                            other = before[other]
                        found = max(found, other)
                    above = tree.ancestor[above]
                if found >= 0:
                    parent[row] = found
            before[row] = last[own]
            last[own] = row
        if segment + 2 == start.size:
            break
        for place in range(start[segment], start[segment + 1]):
            if handle[rows[place]] >= 0:
                last[tree.family[handle[rows[place]]]] = -1


@compiled
def enclosing_calls(start: Ints, asked: Mask, rank: Links, ranks: int, begin: Ints, call_end: Ints) -> Ints:
    """Return for each asked operation the innermost call of a higher layer, in its segment, that encloses its call.

    Parameters
    ----------
    start : int64 (segments+1,)
        Where the operations of each segment (a thread or a process) begin; within one they stand by their begins.
    asked : bool (n,)
    rank : int32 (n,)
        Layer of each operation, counted from the highest; −1 where undefined.
    ranks : int
        Number of layers.
    begin : int64 (n,)
    call_end : int64 (n,)
        When the call of each operation returned, before its begin where that is unknown.

    Returns
    -------
    int64 (n,)
        Position of the operation, −1 where there is none or none was asked for.
    """
    found = np.full(rank.size, -1, np.int64)
    last = np.empty(ranks, np.int64)
    before = np.empty(rank.size, np.int64)
    for segment in range(start.size - 1):
        last[:] = -1
        for row in range(start[segment], start[segment + 1]):
            if rank[row] < 0:
                continue
            if asked[row]:
                for higher in range(rank[row]):
                    other = last[higher]
                    while other >= 0 and call_end[other] < begin[row]:
                        other = before[other]
                    last[higher] = other
                    while other >= 0 and call_end[other] < call_end[row]:
                        other = before[other]
                    found[row] = max(found[row], other)
            if call_end[row] >= begin[row]:
                before[row] = last[rank[row]]
                last[rank[row]] = row
    return found
