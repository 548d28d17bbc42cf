"""Where each handle stands in the stack of layers, and whether the program's own calls go through it."""

from dataclasses import dataclass

import numpy as np

from ...model.arrays import Links, Mask, nearest_lower_rank, nearest_marked, sound_parents
from ...model.definitions import Definitions
from .order import layer_rows


@dataclass(frozen=True, eq=False)
class HandleStack:
    """Handles by layer and parent, columns over the rows of ``Definitions.handles``.

    Attributes
    ----------
    layer : int32
        Counted from the highest, −1 where the handle's paradigm is undefined.
    parent : int32
        Row of the parent, without circles; −1 at a root.
    higher : int32
        Row of the nearest ancestor of a higher layer, −1 where there is none. Parents of the same or a lower layer,
        such as ``fcntl(F_DUPFD)`` leaves behind, do not count.
    """

    layer: Links
    parent: Links
    higher: Links


@dataclass(frozen=True, eq=False)
class Lineages:
    """Handles by their layer and the layers that they descend from: all that a signal can be asked for.

    Attributes
    ----------
    of_handle : int32 (handles,)
        Number of the lineage, −1 where the layer is undefined.
    layer : tuple of int
        Of each lineage, counted from the highest.
    above : tuple of frozenset of int
        Higher layers that its handles descend from; empty where the program itself calls the layer.
    """

    of_handle: Links
    layer: tuple[int, ...]
    above: tuple[frozenset[int], ...]

    def __len__(self) -> int:
        return len(self.layer)

    @property
    def traffic(self) -> tuple[tuple[int, bool], ...]:
        """Layer of each lineage, and whether a higher layer causes its traffic."""
        return tuple((layer, bool(above)) for layer, above in zip(self.layer, self.above, strict=True))

    def chosen(self, layer: int, traffic: str = "all", below: int | None = None) -> list[int]:
        """Return the lineages of a layer, of its own or inherited traffic only, or only those below another layer."""
        found = [row for row, one in enumerate(self.layer) if one == layer]
        if traffic != "all":
            found = [row for row in found if bool(self.above[row]) == (traffic == "inherited")]
        return found if below is None else [row for row in found if below in self.above[row]]


def handle_lineages(stack: HandleStack) -> Lineages:
    """Return the lineages of all handles; the work follows the handles times the layers that have some."""
    number = stack.layer.astype(np.int64)
    layers = np.unique(stack.layer[stack.layer >= 0]).tolist()

    def descending(layer: int) -> Mask:
        return (nearest_marked(stack.parent, stack.layer == layer) >= 0) & (stack.layer > layer)

    for layer in layers:
        number = np.unique(number * 2 + descending(layer), return_inverse=True)[1].astype(np.int64)
    defined = np.flatnonzero(stack.layer >= 0)
    first, place = np.unique(number[defined], return_index=True, return_inverse=True)[1:]
    of_handle = np.full(len(number), -1, np.int32)
    of_handle[defined] = place
    some = defined[first]
    above: list[set[int]] = [set() for _ in some]
    for layer in layers:
        for lineage in np.flatnonzero(descending(layer)[some]).tolist():
            above[lineage].add(layer)
    return Lineages(of_handle, tuple(stack.layer[some].tolist()), tuple(map(frozenset, above)))


def handle_stack(definitions: Definitions, order: tuple[str, ...]) -> HandleStack:
    """Return where each handle stands; `order` has the layers, highest first, as from `layer_order`."""
    layer = layer_rows(definitions, order, definitions.handles.paradigm)
    parent = sound_parents(definitions.handles.parent)[0]
    return HandleStack(layer, parent, higher_ancestors(parent, layer))


def higher_ancestors(parent: Links, layer: Links) -> Links:
    """Return the row of each handle's nearest ancestor of a higher layer, int32 (n,), −1 where there is none.

    `parent` has no cycles; layers count from the highest, and −1, undefined, is below all.
    """
    lowest = np.int32(layer.max(initial=-1) + 1)
    return nearest_lower_rank(parent, np.where(layer < 0, lowest, layer).astype(np.int32))
