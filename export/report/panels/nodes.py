"""Which node of the machine moved what."""

from typing import Any

import numpy as np

from ....layers.selection.window import sums_by
from ....layers.trace import Trace
from ....model.codes import PROCESS
from ...encoding import Names


def system_nodes(trace: Trace, curves: list[tuple[str, str]], names: Names, most: int) -> dict[str, Any]:
    """Return the nodes of the system tree that have processes, with the bytes of each (layer, direction) pair.

    Bytes are those of the layer's statistics, split by the node of the process that began an operation; those of
    processes without a node are in no row. Nodes are in the order of the trace, at most `most` of them.
    """
    definitions = trace.definitions
    tree, groups = definitions.system_tree, definitions.groups
    ranks = np.bincount(groups.node[(groups.kind == PROCESS) & (groups.node >= 0)], minlength=len(tree.id))
    used = np.flatnonzero(ranks)
    shown = used[:most]
    columns = []
    for name, direction in curves:
        chosen = trace.relations.cells.of(name, direction)
        node = np.append(groups.node, -1)[trace.relations.cells.process[chosen]]
        totals = sums_by(node[node >= 0], trace.relations.cells.moved[chosen][node >= 0], len(tree.id))
        columns.append({"layer": name, "direction": direction, "bytes": totals[shown].tolist()})
    return {
        "calls": _calls_within(trace, shown),
        "total": len(used),
        "nodes": [
            {
                "name": names.number(tree.name[row]),
                "class": names.number(tree.class_name[row]),
                "path": [names.number(tree.name[above]) for above in _ancestors(tree.parent.tolist(), row)],
                "ranks": int(ranks[row]),
            }
            for row in shown.tolist()
        ],
        "columns": columns,
    }


def _calls_within(trace: Trace, shown: Any) -> list[dict[str, Any]]:
    """Return for each two layers how many calls of the lower one ran inside calls of the upper one, by node."""
    if trace.calls.totals is None:
        return []
    process, layer, around = trace.calls.totals.counted_within.keys
    node = np.append(trace.definitions.groups.node, -1)[process]
    known, found = node >= 0, []
    for low in range(1, len(trace.order)):
        for high in range(low):
            counts = trace.calls.totals.counted_within["calls"] * ((layer == low) & (around >> high & 1 > 0) & known)
            if counts.any():
                totals = np.bincount(node[known], counts[known], minlength=len(trace.definitions.system_tree.id))
                pair = {"upper": trace.order[high], "lower": trace.order[low]}
                found.append({**pair, "calls": totals[shown].astype(np.int64).tolist()})
    return found


def _ancestors(parent: list[int], row: int) -> list[int]:
    """Return the rows above `row`, the root first; a circle, which only a broken trace has, ends it."""
    found: list[int] = []
    while (row := parent[row]) >= 0 and row not in found and len(found) < 32:
        found.append(row)
    return found[::-1]
