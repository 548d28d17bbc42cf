"""The I/O timeline of the page: what each rank did with each file of a layer."""

from collections import Counter
from typing import Any, Final

import numpy as np

from ...layers.trace import Trace
from ...layers.window import Ticks, TickWindow
from ..marks import KINDS, Marks, all_marks, merged_marks
from .limits import Limits
from .packing import Names, packed

_SCALE: Final = 2**32 - 1
"""The window's end in the unit of the marks on the page; its start is 0."""


def timeline(trace: Trace, layers: tuple[str, ...], names: Names, limits: Limits) -> dict[str, Any]:
    """Return the timeline of the layers' selected files as the page holds it.

    Rows are ordered by layer, file and rank. Where there are more than the limit, those with the most bytes are kept,
    then those with the most operations. Marks of one row and kind are merged where the gap between them is below a
    share of the window, which is the smallest that meets the limit on marks.
    """
    order = {name: place for place, name in enumerate(layers)}
    forest, definitions = trace.handles, trace.definitions
    place = np.array([order.get(name, -1) for name in forest.layers] + [-1], np.int64)
    layer = place[forest.layer_row]
    shown = (layer >= 0) & trace.selection.selected
    file = definitions.handles.file.astype(np.int64)
    processes = len(definitions.groups.id)
    key_of_handle = np.where(shown, layer * (len(definitions.files.id) + 1) + file + 1, -1)

    marks = all_marks(trace, key_of_handle)
    keys, row = np.unique(marks.row, return_inverse=True)
    volume = np.bincount(row, weights=marks.bytes, minlength=len(keys))
    operations = np.bincount(row, weights=marks.count * np.isin(marks.kind, (1, 2, 3)), minlength=len(keys))
    kept = np.sort(np.lexsort((keys, -operations, -volume))[: limits.rows])
    new_row = np.full(len(keys), -1, np.int64)
    new_row[kept] = np.arange(len(kept))
    marks = Marks(new_row[row], marks.kind, marks.start, marks.end, marks.count, marks.bytes).take(new_row[row] >= 0)
    merged, gap = merged_marks(marks, limits.marks)

    files = file_labels(trace)
    of_handle, process = np.divmod(keys[kept], processes + 1)
    which, file_row = np.divmod(of_handle, len(files) + 1)
    rank = np.append(definitions.groups.rank, -1)[process - 1]
    return {
        "kinds": KINDS,
        "rows_total": len(keys),
        "marks_total": len(marks),
        "gap_s": gap / trace.tick_window.ticks_per_second,
        "rows": {
            "layer": [names.number(layers[number]) for number in which.tolist()],
            "file": [names.number(files[number - 1]) if number > 0 else -1 for number in file_row.tolist()],
            "rank": rank.tolist(),
            "operations": operations[kept].astype(np.int64).tolist(),
            "bytes": volume[kept].tolist(),
        },
        "marks": {
            "row": packed(merged.row, "u2"),
            "kind": packed(merged.kind, "u1"),
            "start": packed(_scaled(merged.start, trace.tick_window), "u4"),
            "end": packed(_scaled(merged.end, trace.tick_window), "u4"),
            "count": packed(merged.count, "u4"),
            "bytes": packed(merged.bytes, "f4"),
        },
    }


def file_labels(trace: Trace) -> list[str]:
    """Return the name of each file, with its node where files of several nodes have the same name."""
    files, nodes = trace.definitions.files, trace.definitions.system_tree.name
    common = {name for name, count in Counter(files.name).items() if count > 1}
    return [
        f"{name} on {nodes[scope]}" if name in common and scope >= 0 else name
        for name, scope in zip(files.name, files.scope.tolist(), strict=True)
    ]


def _scaled(time: Ticks, window: TickWindow) -> Ticks:
    share = (time - window.start) / (window.end - window.start)
    return np.rint(share * _SCALE).astype(np.int64)
