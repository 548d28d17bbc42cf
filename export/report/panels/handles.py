"""The handle tree as the page holds it: what hangs below what, its traffic, and a small curve of each handle."""

from typing import Any

import numpy as np

from ....layers.trace import Trace
from ....model.arrays import Ints, Mask
from ...encoding import Names, packed
from .heat_map import volume_grid
from .limits import Limits

_LEVELS = 15

_TEXTS = ("file", "name", "scope", "flags", "set_aside")
_NUMBERS = (
    "ranks",
    "operations",
    "bytes_read",
    "bytes_written",
    "metadata_events",
    "subtree_operations",
    "subtree_bytes_read",
    "subtree_bytes_written",
)


def handle_tree(trace: Trace, names: Names, limits: Limits) -> dict[str, Any]:
    """Return the selected handles and the handles above them.

    Where there are more than the limit, those whose subtree moved the most bytes are kept; a handle above another one
    always comes before it. Small curves are the bytes of the handle's own operations over the window, from 0 to 15.
    """
    forest = trace.handles
    parent = forest.parent.astype(np.int64)
    shown = _with_those_above(trace.scope.selection.selected, parent)
    rows = np.flatnonzero(shown)
    volume = forest.subtree_bytes_read.astype(np.float64) + forest.subtree_bytes_written.astype(np.float64)
    order = np.lexsort((rows, forest.depth[rows], -forest.subtree_operations[rows], -volume[rows]))
    rows = rows[order[: limits.handles]]
    place = np.full(len(forest) + 1, -1, np.int64)
    place[rows] = np.arange(len(rows))
    texts = {name: getattr(forest, name) for name in _TEXTS}
    return {
        "total": len(forest),
        "shown_total": int(shown.sum()),
        "bins": limits.sparkline,
        "handles": {
            "id": forest.id[rows].tolist(),
            "parent": place[parent[rows]].tolist(),
            "layer": names.numbers(forest.layer[row] or "?" for row in rows.tolist()),
            **{name: names.numbers(column[row] for row in rows.tolist()) for name, column in texts.items()},
            **{name: getattr(forest, name)[rows].tolist() for name in _NUMBERS},
        },
        "curves": packed(_sparklines(trace, place[:-1], len(rows), limits.sparkline).ravel(), "u1"),
    }


def _with_those_above(selected: Mask, parent: Ints) -> Mask:
    """Return which handles are selected or above one that is."""
    shown = selected.copy()
    for row in np.flatnonzero(shown).tolist():
        while (row := int(parent[row])) >= 0 and not shown[row]:
            shown[row] = True
    return shown


def _sparklines(trace: Trace, place: Ints, rows: int, bins: int) -> Any:
    row = np.append(place, -1)
    grid = volume_grid(trace, lambda operations: row[operations.handle], max(rows, 1), bins)[:rows]
    top = grid.max(axis=1, keepdims=True)
    share = np.divide(grid, top, out=np.zeros_like(grid), where=top > 0)
    # What is there at all is seen, however little it is beside the largest.
    return np.where(grid > 0, np.maximum(1, np.rint(share * _LEVELS)), 0)
