"""Operations of a layer with and without a partner above, and in which layer below their time is spent."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...model.arrays import Ints
from ...model.document import Record
from ..attribution.traffic import Attributed, Traffic
from ..selection.directions import DIRECTIONS
from .cells import Cells
from .rows import union_inside


@dataclass(frozen=True)
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


@dataclass(frozen=True)
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


def covered_times(traffic: Traffic, row: int, direction: str) -> Ints | None:
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
