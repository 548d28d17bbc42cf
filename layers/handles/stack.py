"""Where each handle stands in the stack of layers, and whether the program's own calls go through it."""

from dataclasses import dataclass

import numpy as np

from ...model.arrays import Links, Mask
from ...model.definitions import Definitions
from ...model.rows import nearest_lower_rank, sound_parents
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

    @property
    def own(self) -> Mask:
        """Whether the program itself calls the layer through the handle: no ancestor is of a higher layer."""
        return self.higher < 0


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
