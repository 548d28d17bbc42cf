"""The compiled search for the operation that encloses another; see `attribution` for what counts as enclosing.

The module needs numba; import it inside the function that uses it.
"""

import numpy as np
import numpy.typing as npt

from ...model.arrays import Ints, Links, Mask
from ...model.kernels import compiled


@compiled
def rows_by_key(key: npt.NDArray[np.integer], keys: int) -> tuple[Ints, Ints]:
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
def enclosing_on_ancestors(
    start: Ints, asked: Mask, handle: Links, rank: Links, ancestor: Links, begin: Ints, end: Ints
) -> Ints:
    """Return for each asked operation the innermost one in flight, in its segment, on an ancestor of its handle.

    Parameters
    ----------
    start : int64 (segments+1,)
        Where the operations of each segment (a thread or a process) begin; within one they stand by their begins.
    asked : bool (n,)
    handle : int32 (n,)
        −1 where undefined.
    rank : int32 (handles,)
        Layers counted from the highest.
    ancestor : int32 (handles,)
        Nearest ancestor that can be an answer at all; following it visits every such ancestor.
    begin, end : int64 (n,)

    Returns
    -------
    int64 (n,)
        Position of the operation, −1 where there is none or none was asked for.
    """
    found = np.full(handle.size, -1, np.int64)
    # Operations on one handle are a list from the last begun backwards. Those that ended before the present begin
    # will never be in flight again, so they are dropped for good: each is passed once.
    last = np.full(rank.size, -1, np.int64)
    before = np.empty(handle.size, np.int64)
    for segment in range(start.size - 1):
        for row in range(start[segment], start[segment + 1]):
            if handle[row] < 0:
                continue
            if asked[row]:
                above = ancestor[handle[row]]
                while above >= 0:
                    if rank[above] < rank[handle[row]]:
                        other = last[above]
                        while other >= 0 and end[other] < begin[row]:
                            other = before[other]
                        last[above] = other
                        # One that ends with the very tick encloses only what takes no time either.
                        while other >= 0 and end[other] <= begin[row] and end[other] < end[row]:
                            other = before[other]
                        found[row] = max(found[row], other)
                    above = ancestor[above]
            before[row] = last[handle[row]]
            last[handle[row]] = row
        for row in range(start[segment], start[segment + 1]):
            if handle[row] >= 0:
                last[handle[row]] = -1
    return found


@compiled
def enclosing_calls(start: Ints, asked: Mask, rank: Links, ranks: int, begin: Ints, call_end: Ints) -> Ints:
    """Return for each asked operation the innermost call of a higher layer, in its segment, that encloses its call.

    Parameters
    ----------
    start : int64 (segments+1,)
        As in `enclosing_on_ancestors`.
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
