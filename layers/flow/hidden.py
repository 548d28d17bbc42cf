"""Hidden traffic: bytes below that no operation above accounts for, and bytes above that never show below."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt

from ...model.arrays import Mask, column_at, nearest_marked
from ...model.codes import IoFlag, IoMode
from ...model.document import Record
from ...model.keyed import KeyedSums
from ..attribution.collectives import numbered
from ..handles.order import layer_name
from ..selection.directions import DIRECTIONS
from .balance import layers_below
from .cells import Cells

WITHOUT_PARENT: Final = "without-parent"
WITHOUT_CHILDREN: Final = "without-children"

CAUSES: Final = {
    "outside-operations": "a library moved these bytes outside of its recorded operations: on opening, defining, "
    "closing or preallocating a file, from a buffer, or in a call that is not recorded",
    "layer-not-recorded": "no handle of a lower layer hangs below: only the program's own objects were instrumented, "
    "or the library reaches the system by calls that are not wrapped",
    "calls-not-wrapped": "lower handles are recorded, but no transfer on them: the calls inside the library are not "
    "wrapped, or the file is mapped into memory (mmap)",
    "buffered": "other calls on these files do reach the lower layer: a buffer or cache took these, or "
    "another process moved them (collective buffering)",
}
"""Likely causes by their ids."""


@dataclass(frozen=True)
class HiddenTraffic(Record):
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

    ENTRIES: ClassVar = (..., "explanation")

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

    @property
    def explanation(self) -> str:
        """What the cause means."""
        return CAUSES[self.cause]


def hidden_traffic(cells: Cells, calls: KeyedSums, children: KeyedSums) -> Iterator[HiddenTraffic]:
    """Give the hidden traffic of each layer and direction, highest layer first; only what moved bytes.

    Parameters
    ----------
    calls : KeyedSums
        Operations of collective calls on selected files, by sequence, place and mode.
    children : KeyedSums
        How many operations of a lower layer ran inside each call, by sequence and place, of those with any.
    """
    if cells.definitions.recording.reason("handles"):
        # Whatever hangs below, the recorder would not tell.
        return
    above = cells.at_handles(cells.stack.higher)
    above_layer = column_at(cells.stack.layer, above)
    bare_calls, none = _without(calls, children), calls.taken(np.zeros(len(calls), np.bool_))
    handle = np.maximum(cells.handle, 0)
    sequence = cells.sequences.number(handle, cells.process)
    collective = ((cells.flags & np.uint32(IoFlag.COLLECTIVE)) != 0) & (cells.handle >= 0)
    for row, layer in enumerate(cells.layers):
        for direction in DIRECTIONS:
            shown = cells.of(layer, direction)
            if not cells.bytes(shown):
                continue
            orphans = shown & (cells.attribution.parent < 0) & ~cells.own
            for upper in np.unique(above_layer[orphans]).tolist():
                mask = orphans & (above_layer == upper)
                yield from _entry(cells, shown, mask, mask, none, WITHOUT_PARENT, row, direction, cells.layers[upper])
            if _is_lowest(cells, layer):
                continue
            # All of a collective call count as one: it has children where one of its ranks has.
            of_direction = bare_calls.taken(bare_calls.keys[2] == IoMode[direction.upper()])
            alone = shown & cells.bare & ~collective
            together = shown & cells.bare & collective & np.isin(sequence, of_direction.keys[0])
            mine = of_direction.taken(np.isin(of_direction.keys[0], sequence[together]))
            below = next((cells.layers[lower] for lower in layers_below(cells, row)), None)
            yield from _entry(cells, shown, alone | together, alone, mine, WITHOUT_CHILDREN, row, direction, below)


def _without(calls: KeyedSums, children: KeyedSums) -> KeyedSums:
    """Return the calls that have no children."""
    number = numbered(*(np.append(one, other) for one, other in zip(calls.keys[:2], children.keys, strict=True)))
    return calls.taken(~np.isin(number[: len(calls)], number[len(calls) :]))


def _entry(
    cells: Cells,
    shown: Mask,
    mask: Mask,
    alone: Mask,
    calls: KeyedSums,
    kind: str,
    layer: int,
    direction: str,
    other: str | None,
) -> Iterator[HiddenTraffic]:
    """Give the entry of some cells (`mask`) if they moved bytes: of those that stand `alone`, and of some calls."""
    columns, second = cells.columns, cells.window.ticks_per_second
    volume = cells.bytes(alone) + cells.amount(int(calls["whole"].sum()), int(calls["part"].sum()))
    if not volume:
        return
    files = np.unique(cells.file[mask])
    yield HiddenTraffic(
        kind=kind,
        layer=cells.layers[layer],
        direction=direction,
        other=other,
        operations=cells.operations(alone) + int(calls["count"].sum()),
        bytes=volume,
        share=volume / cells.bytes(shown),
        files=int((files >= 0).sum()),
        ranks=len(np.unique(cells.process[mask])),
        start_s=int(np.append(columns.begin[alone], calls["begin"]).min()) / second,
        end_s=int(np.append(columns.end[alone], calls["end"]).max()) / second,
        cause="outside-operations" if kind == WITHOUT_PARENT else _cause(cells, layer, cells.handles(mask)),
    )


def _is_lowest(cells: Cells, layer: str) -> bool:
    """Return whether a layer is the operating system's own interface, below which nothing is recorded."""
    return any(paradigm.os for paradigm in cells.definitions.paradigms if layer_name(paradigm) == layer)


def _cause(cells: Cells, layer: int, handle: npt.NDArray[np.int32]) -> str:
    """Return why operations on these handles have nothing inside."""
    used = np.zeros(len(cells.stack.layer), np.bool_)
    used[handle] = True
    descends = nearest_marked(cells.stack.parent, used) >= 0
    descends &= cells.stack.layer != layer
    if not descends.any():
        return "layer-not-recorded"
    moving = cells.handles(cells.selected & cells.moving)
    return "buffered" if descends[moving].any() else "calls-not-wrapped"
