"""Where the bytes of each layer come from: conserved, exactly, over operations with a parent and without."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from .statistics import total
from .traffic import Traffic


@dataclass(frozen=True)
class LayerBalance:
    """The operations of a layer and direction within the window, split by what is above them.

    `operations` and `bytes` are of all files and the sums of the four parts ``attributed``, ``inferred``, ``hidden``
    and ``set_aside``.

    Attributes
    ----------
    layer, direction : str
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

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of ``balance`` in ``compare --json``."""
        return asdict(self)


def layer_balances(traffic: Traffic) -> Iterator[LayerBalance]:
    """Give the balance of each layer and direction that has operations, highest layer first."""
    parent, inferred = traffic.attribution.parent, traffic.attribution.inferred
    for row, layer in enumerate(traffic.layers):
        for direction in ("read", "write"):
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
