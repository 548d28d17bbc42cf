"""Operations with and without a partner above or below, and in which layer below their time is spent."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final

import numpy as np

from ...model.arrays import Ints, Links, Mask, column_at, nearest_marked
from ...model.codes import IoFlag, IoMode
from ...model.document import Record
from ...model.keyed import KeyedSums, numbered
from ..attribution.attribution import Attributed, TraceBlock
from ..handles.stack import layer_name
from ..selection.directions import DIRECTIONS
from .calls import union_inside
from .cells import Cells


class LayerBalance(Record):
    """The operations of a layer and direction within the window, split by what is above them.

    `operations` and `bytes` are of all files and the sums of the four parts ``attributed``, ``inferred``, ``hidden``
    and ``set_aside``.

    Attributes
    ----------
    operations, bytes
        Of all files.
    attributed_operations, attributed_bytes
        On selected files, with a parent operation that follows from handles and thread.
    inferred_operations, inferred_bytes
        On selected files, with an inferred parent.
    hidden_operations, hidden_bytes
        On selected files, without a parent.
    own_operations, own_bytes
        The part of the hidden ones that the program called itself: their handle has no ancestor of a higher layer. The
        rest was caused by a higher layer outside of its recorded operations.
    set_aside_operations, set_aside_bytes
        On files that are not selected, with or without a parent.
    """

    layer: str
    direction: str
    operations: int
    bytes: int | float
    attributed_operations: int
    attributed_bytes: int | float
    inferred_operations: int
    inferred_bytes: int | float
    hidden_operations: int
    hidden_bytes: int | float
    own_operations: int
    own_bytes: int | float
    set_aside_operations: int
    set_aside_bytes: int | float


def layer_balances(cells: Cells) -> Iterator[LayerBalance]:
    """Give the balance of each layer and direction that has operations, highest layer first."""
    parent, inferred = cells.attribution.parent, cells.attribution.inferred
    for row, layer in enumerate(cells.layers):
        for direction in DIRECTIONS:
            every = cells.within & (cells.layer == row) & cells.of_direction(direction)
            if not every.any():
                continue
            shown = every & cells.selected
            hidden = shown & (parent < 0)
            parts = {
                "": every,
                "attributed_": shown & (parent >= 0) & ~inferred,
                "inferred_": shown & inferred,
                "hidden_": hidden,
                "own_": hidden & cells.own,
                "set_aside_": every & ~cells.selected,
            }
            numbers: dict[str, Any] = {}
            for name, mask in parts.items():
                numbers[f"{name}operations"] = cells.operations(mask)
                numbers[f"{name}bytes"] = cells.bytes(mask)
            yield LayerBalance(layer=layer, direction=direction, **numbers)


class TimeSplit(Record):
    """The time of a layer's operations in one direction, split by the lowest layer that was at work for them.

    Attributes
    ----------
    summed_s : float
        Sum of the durations of the layer's operations on selected files, as far as the window holds them, in s.
    spent_s : dict of str to float
        By layer from the highest: the part of `summed_s` in which an operation of that layer ran inside and none of a
        layer below it; for the layer itself what nothing ran inside of (its exclusive time). The parts sum up to
        `summed_s`.
    """

    ENTRIES: ClassVar = ("layer", "direction", "summed_s", "exclusive_s", "spent_s")

    layer: str
    direction: str
    summed_s: float
    spent_s: dict[str, float]

    @property
    def exclusive_s(self) -> float:
        """The part in which no layer below was at work."""
        return self.spent_s[self.layer]


def covered_times(traffic: TraceBlock, row: int, direction: str) -> Ints | None:
    """Return the time of a layer's operations in which any of a layer or below it was under way inside, in ticks.

    Of each layer below `row` that a handle connects it to, highest first, int64; None where the layer has no such
    operations. Operations inside count whatever their direction and file, flushes too.
    """
    own = traffic.selected & (traffic.layer == row) & traffic.of_direction(direction)
    if not own.any():
        return None
    ancestor = traffic.ancestor_in(row)[0]
    inside = np.flatnonzero(traffic.within & (ancestor >= 0))
    inside = inside[own[ancestor[inside]]]
    layer = traffic.layer[inside]
    found = [union_inside(traffic, ancestor, inside[layer >= lower]) for lower in layers_below(traffic, row)]
    return np.array(found, np.int64)


def layers_below(stack: Attributed, row: int) -> list[int]:
    """Return the layers with a handle that descends from one of layer `row`, highest first."""
    return [lower for lower in range(row + 1, len(stack.layers)) if stack.connected(row, lower)]


def time_splits(cells: Cells, covered: Mapping[tuple[int, str], Ints]) -> Iterator[TimeSplit]:
    """Give the split of each layer that has operations in a direction and layers below it, highest layer first.

    Parameters
    ----------
    covered : mapping
        From layer and direction to `covered_times`, summed over the blocks of the trace.
    """
    second = cells.window.ticks_per_second
    for (row, direction), times in sorted(covered.items()):
        layer, below = cells.layers[row], layers_below(cells, row)
        summed = int(cells.columns.ticks[cells.of(layer, direction)].sum())
        # The differences are what each layer adds.
        parts = (-np.diff(np.array([summed, *times.tolist(), 0], np.int64)) / second).tolist()
        names = (layer, *(cells.layers[lower] for lower in below))
        yield TimeSplit(layer, direction, summed / second, dict(zip(names, parts, strict=True)))


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


def _cause(cells: Cells, layer: int, handle: Links) -> str:
    """Return why operations on these handles have nothing inside."""
    used = np.zeros(len(cells.stack.layer), np.bool_)
    used[handle] = True
    descends = nearest_marked(cells.stack.parent, used) >= 0
    descends &= cells.stack.layer != layer
    if not descends.any():
        return "layer-not-recorded"
    moving = cells.handles(cells.selected & cells.moving)
    return "buffered" if descends[moving].any() else "calls-not-wrapped"
