"""Directions, traffic and quantities by their names, and the operations that a direction stands for."""

from collections.abc import Iterable
from typing import Final

import numpy as np
import numpy.typing as npt

from ...model.arrays import Mask
from ...model.codes import IoMode
from ...model.errors import SelectionError

DIRECTIONS: Final = ("read", "write")
"""Directions that are looked at unless one is named, each by itself; ``total`` is both together."""

TRAFFIC: Final = ("all", "own", "inherited")
NEEDS_OF_QUANTITIES: Final[dict[str, tuple[str, ...]]] = {
    "bandwidth": (),
    "operations": ("operations",),
    "metadata": ("operations", "metadata"),
    "in-flight": ("operations",),
}
"""What a recorder has to know for each quantity that a signal of a layer can measure.

Metadata events have neither direction nor traffic.
"""
QUANTITIES: Final = tuple(NEEDS_OF_QUANTITIES)

_MODES: Final = {"read": (IoMode.READ,), "write": (IoMode.WRITE,), "total": (IoMode.READ, IoMode.WRITE)}


def modes_of(direction: str) -> tuple[IoMode, ...]:
    """Return the modes of the operations of a direction; raise SelectionError where there is no such direction."""
    _check("direction", direction, _MODES)
    return _MODES[direction]


def is_of_direction(mode: npt.NDArray[np.uint8], direction: str) -> Mask:
    """Return which operations, of these modes, are of a direction, bool (n,); errors as `modes_of`."""
    first, *others = modes_of(direction)
    found = mode == first
    for other in others:
        found |= mode == other
    return np.asarray(found, np.bool_)


def check_traffic(traffic: str) -> None:
    """Raise SelectionError unless there is such traffic."""
    _check("traffic", traffic, TRAFFIC)


def check_quantity(quantity: str) -> None:
    """Raise SelectionError unless there is such a quantity."""
    _check("signal", quantity, QUANTITIES)


def _check(what: str, name: str, known: Iterable[str]) -> None:
    if name not in known:
        raise SelectionError(f"no {what} {name!r}; there are {', '.join(known)}")
