"""Hidden traffic: bytes below that no operation above accounts for, and bytes above that never show below."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...model.operations import view
from ...model.rows import column_at, nearest_marked
from ..attribution.traffic import Traffic
from ..handles.order import layer_name
from ..selection.directions import DIRECTIONS
from ..statistics.statistics import sums_by, total

WITHOUT_PARENT: Final = "without-parent"
WITHOUT_CHILDREN: Final = "without-children"

CAUSES: Final = {
    "outside-operations": "a library moved these bytes outside of its recorded operations: on opening, defining, "
    "closing or preallocating a file, from a buffer, or in a call that is not recorded",
    "layer-not-recorded": "no handle of a lower layer hangs below: only the program's own objects were instrumented, "
    "or the library reaches the system by calls that are not wrapped",
    "calls-not-wrapped": "lower handles are recorded, but no transfer on them: the calls inside the library are not "
    "wrapped, or the file is mapped into memory (mmap)",
    "buffered": "other calls on these files do reach the lower layer: a buffer or cache took these",
}
"""Likely causes by their ids."""


@dataclass(frozen=True)
class HiddenTraffic:
    """Bytes of a layer that have no partner in another layer, on the selected files within the window.

    Attributes
    ----------
    kind : str
        ``without-parent``: through handles below another layer, but inside none of its operations.
        ``without-children``: of calls with nothing of a lower layer inside.
    layer, direction : str
        Of the bytes.
    other : str or None
        The layer above (the nearest in the tree of handles), or the next one below; None where there is none.
    share : float
        Of all bytes of the layer in this direction.
    files, ranks : int
        Distinct files and processes.
    start_s, end_s : float
        From the first begin to the last end, in s from the trace's start.
    cause : str
        Key of `CAUSES`.
    """

    kind: str
    layer: str
    direction: str
    other: str | None
    operations: int
    bytes: int | float
    share: float
    files: int
    ranks: int
    start_s: float
    end_s: float
    cause: str

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of ``hidden`` in ``compare --json``."""
        return {**asdict(self), "explanation": CAUSES[self.cause]}


def hidden_traffic(traffic: Traffic) -> Iterator[HiddenTraffic]:
    """Give the hidden traffic of each layer and direction, highest layer first; only what moved bytes."""
    has_child = _calls_with_children(traffic)
    above = traffic.at_handles(traffic.stack.higher)
    above_layer = column_at(traffic.stack.layer, above)
    for row, layer in enumerate(traffic.layers):
        for direction in DIRECTIONS:
            shown = traffic.selected & (traffic.layer == row) & traffic.of_direction(direction)
            whole = total(traffic.moved[shown])
            if not whole:
                continue
            orphans = shown & (traffic.attribution.parent < 0) & ~traffic.own
            for upper in np.unique(above_layer[orphans]).tolist():
                rows = np.flatnonzero(orphans & (above_layer == upper))
                found = _entry(traffic, rows, WITHOUT_PARENT, row, direction, traffic.layers[upper], whole)
                if found:
                    yield found
            if not _is_lowest(traffic, layer):
                rows = np.flatnonzero(shown & ~has_child)
                found = _entry(traffic, rows, WITHOUT_CHILDREN, row, direction, _next_below(traffic, row), whole)
                if found:
                    yield found


def _entry(
    traffic: Traffic,
    rows: npt.NDArray[np.intp],
    kind: str,
    layer: int,
    direction: str,
    other: str | None,
    whole: int | float,
) -> HiddenTraffic | None:
    volume = total(traffic.moved[rows])
    if not volume:
        return None
    operations = view(traffic.operations, rows)
    begin, end = traffic.times(rows)
    files = np.unique(traffic.definitions.handles.file[operations.handle])
    second = traffic.window.ticks_per_second
    return HiddenTraffic(
        kind=kind,
        layer=traffic.layers[layer],
        direction=direction,
        other=other,
        operations=len(rows),
        bytes=volume,
        share=volume / whole,
        files=int((files >= 0).sum()),
        ranks=len(np.unique(operations.process)),
        start_s=int(begin.min()) / second,
        end_s=int(end.max()) / second,
        cause="outside-operations" if kind == WITHOUT_PARENT else _cause(traffic, layer, operations.handle),
    )


def _calls_with_children(traffic: Traffic) -> npt.NDArray[np.bool_]:
    """Return whether an operation, or another of its collective call, has an operation of a lower layer inside."""
    units = traffic.calls.units()
    parent = traffic.attribution.parent
    unit_has = np.zeros(int(units.max(initial=-1)) + 1, np.bool_)
    unit_has[units[parent[parent >= 0]]] = True
    return unit_has[units]


def _is_lowest(traffic: Traffic, layer: str) -> bool:
    """Return whether a layer is the operating system's own interface, below which nothing is recorded."""
    return any(paradigm.os for paradigm in traffic.definitions.paradigms if layer_name(paradigm) == layer)


def _next_below(traffic: Traffic, layer: int) -> str | None:
    """Return the highest layer with a handle that descends from this layer."""
    below = (name for row, name in enumerate(traffic.layers) if traffic.connected(layer, row))
    return next(below, None)


def _cause(traffic: Traffic, layer: int, handle: npt.NDArray[np.int32]) -> str:
    """Return why operations on these handles have nothing inside."""
    used = np.zeros(len(traffic.stack.layer), np.bool_)
    used[handle] = True
    descends = nearest_marked(traffic.stack.parent, used) >= 0
    descends &= traffic.stack.layer != layer
    if not descends.any():
        return "layer-not-recorded"
    counted = traffic.operations.handle[traffic.selected]
    moved = sums_by(counted, traffic.moved[traffic.selected], len(used))
    return "buffered" if (moved[descends] > 0).any() else "calls-not-wrapped"
