"""Forests given by sound parent rows: depths, sums over subtrees, nearest ancestors.

All work by pointer doubling (J. C. Wyllie, *The Complexity of Parallel Computations*, 1979): after k rounds each row
knows its ancestor at distance 2^k. That takes O(n log depth) in whole-array steps for a forest of any shape, also for a
chain of a million handles in a broken trace.
"""

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ..otf2io.sound_parents import sound_parents

__all__ = ["any_ancestor", "depths", "nearest_lower_rank", "sound_parents", "subtree_sums"]

Rows = npt.NDArray[np.int32]
Column = TypeVar("Column", bound="np.ndarray[Any, Any]")


def depths(parent: Rows) -> Rows:
    """Return the number of ancestors of each row, int32 (n,); `parent` has no cycles."""
    ancestor = parent
    depth = (parent >= 0).astype(np.int32)
    while (inner := ancestor >= 0).any():
        depth = np.where(inner, depth + depth[ancestor], depth).astype(np.int32)
        ancestor = _jump(ancestor, ancestor)
    return depth


def subtree_sums(parent: Rows, values: Column) -> Column:
    """Return the sum of `values` (n,) over each row and all below it, in the type of `values`."""
    ancestor = parent
    sums = values.copy()
    # Sums cover descendants nearer than 2^k; those from 2^k on are in the sums of the descendants at 2^k.
    while (inner := ancestor >= 0).any():
        below = sums[inner]
        np.add.at(sums, ancestor[inner], below)
        ancestor = _jump(ancestor, ancestor)
    return sums


def any_ancestor(parent: Rows, marked: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return whether a proper ancestor of each row is `marked`, bool (n,)."""
    found = (parent >= 0) & marked[parent] if len(parent) else marked.copy()
    ancestor = parent
    while (inner := ancestor >= 0).any():
        found = found | (inner & found[ancestor])
        ancestor = _jump(ancestor, ancestor)
    return np.asarray(found, np.bool_)


def nearest_lower_rank(parent: Rows, rank: Rows) -> Rows:
    """Return for each row its nearest proper ancestor of a lower `rank`, int32 (n,), −1 where there is none."""
    nearest = np.full(len(parent), -1, np.int32)
    for value in np.unique(rank):
        asking = rank == value
        # Rows that answer the question stay where they are; the others step on to their parent.
        answer = np.where(rank < value, np.arange(len(parent), dtype=np.int32), parent)
        while True:
            further = _jump(answer, answer)
            if np.array_equal(further, answer):
                break
            answer = further
        nearest[asking] = answer[asking]
    return nearest


def nearest_marked(parent: Rows, marked: npt.NDArray[np.bool_]) -> Rows:
    """Return for each row its nearest proper ancestor that is `marked`, int32 (n,), −1 where there is none."""
    answer = np.where(marked, np.arange(len(parent), dtype=np.int32), parent)
    while not np.array_equal(further := _jump(answer, answer), answer):
        answer = further
    return _jump(parent, answer)


def _jump(start: Rows, step: Rows) -> Rows:
    """Return `step` applied to `start`; −1 stays."""
    return np.where(start >= 0, step[start], np.int32(-1)) if len(start) else start
