"""Operations of a layer with and without a partner above, and in which layer below their time is spent."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...model.document import Record
from ..attribution.traffic import Traffic
from ..selection.directions import DIRECTIONS
from ..statistics.statistics import total


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


def layer_balances(traffic: Traffic) -> Iterator[LayerBalance]:
    """Give the balance of each layer and direction that has operations, highest layer first."""
    parent, inferred = traffic.attribution.parent, traffic.attribution.inferred
    for row, layer in enumerate(traffic.layers):
        for direction in DIRECTIONS:
            every = traffic.within & (traffic.layer == row) & traffic.of_direction(direction)
            if not every.any():
                continue
            shown = every & traffic.selected
            hidden = shown & (parent < 0)
            parts = {
                "": every,
                "attributed_": shown & (parent >= 0) & ~inferred,
                "inferred_": shown & inferred,
                "hidden_": hidden,
                "own_": hidden & traffic.own,
                "set_aside_": every & ~traffic.selected,
            }
            numbers: dict[str, Any] = {}
            for name, mask in parts.items():
                numbers[f"{name}operations"] = int(mask.sum())
                numbers[f"{name}bytes"] = total(traffic.moved[mask])
            yield LayerBalance(layer=layer, direction=direction, **numbers)


@dataclass(frozen=True)
class TimeSplit:
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

    layer: str
    direction: str
    summed_s: float
    spent_s: dict[str, float]

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of ``time`` in ``compare --json``."""
        return {
            "layer": self.layer,
            "direction": self.direction,
            "summed_s": self.summed_s,
            "exclusive_s": self.spent_s[self.layer],
            "spent_s": dict(self.spent_s),
        }


def time_splits(traffic: Traffic, directions: tuple[str, ...] = DIRECTIONS) -> Iterator[TimeSplit]:
    """Give the split of each layer that has operations in a direction and layers below it, highest layer first.

    Operations inside count whatever their direction and file, flushes too.
    """
    second = traffic.window.ticks_per_second
    for row, layer in enumerate(traffic.layers):
        below = [lower for lower in range(row + 1, len(traffic.layers)) if traffic.connected(row, lower)]
        if not below:
            continue
        for direction in directions:
            own = traffic.selected & (traffic.layer == row) & traffic.of_direction(direction)
            if not own.any():
                continue
            begin, end = traffic.times(np.flatnonzero(own))
            summed = int((end - begin).sum())
            ancestor = traffic.ancestor_in(row)[0]
            inside = np.flatnonzero(traffic.within & (ancestor >= 0))
            inside = inside[own[ancestor[inside]]]
            # Time with anything of a layer or below it inside; the differences are what each layer adds.
            covered = [_covered(traffic, inside[traffic.layer[inside] >= lower], ancestor) for lower in below]
            steps = np.diff(np.array([summed, *covered, 0], np.int64))
            parts = (-steps / second).tolist()
            names = (layer, *(traffic.layers[lower] for lower in below))
            yield TimeSplit(layer, direction, summed / second, dict(zip(names, parts, strict=True)))


def _covered(traffic: Traffic, rows: npt.NDArray[np.intp], ancestor: npt.NDArray[np.int64]) -> int:
    """Return the time of the ancestors of some operations in which any of these was under way, in ticks."""
    from ..attribution.group_kernels import union_by_group

    # Rows are in the order of begins, and stay so within each ancestor.
    rows = rows[np.argsort(ancestor[rows], kind="stable")]
    above = ancestor[rows]
    begin, end = traffic.times(rows)
    low, high = traffic.times(above)
    begin, end = np.clip(begin, low, high), np.clip(end, low, high)
    fresh = np.flatnonzero(np.diff(above, prepend=-1) != 0)
    start = np.append(fresh, len(above)).astype(np.int64)
    return int(union_by_group(start, begin, end).sum()) if len(above) else 0
