"""Directions, traffic and quantities by their names, and the operations that a direction stands for."""

from typing import Final

import numpy as np
import numpy.typing as npt

from ...model.arrays import Mask
from ...model.codes import IoMode
from ...model.errors import SelectionError

DIRECTIONS: Final = ("read", "write")
"""Directions that are looked at unless one is named, each by itself; ``total`` is both together."""

TRAFFIC: Final = ("all", "own", "inherited")
QUANTITIES: Final = ("bandwidth", "operations", "metadata", "in-flight")
"""What a signal of a layer can measure; metadata events have neither direction nor traffic."""

_MODES: Final = {"read": (IoMode.READ,), "write": (IoMode.WRITE,), "total": (IoMode.READ, IoMode.WRITE)}


def modes_of(direction: str) -> tuple[IoMode, ...]:
    """Return the modes of the operations of a direction.

    Raises SelectionError if there is no such direction.
    """
    if direction not in _MODES:
        raise SelectionError(f"no direction {direction!r}; there are {', '.join(_MODES)}")
    return _MODES[direction]


def is_of_direction(mode: npt.NDArray[np.uint8], direction: str) -> Mask:
    """Return which operations, of these modes, are of a direction, bool (n,).

    Raises SelectionError if there is no such direction.
    """
    first, *others = modes_of(direction)
    found = mode == first
    for other in others:
        found |= mode == other
    return np.asarray(found, np.bool_)


def check_traffic(traffic: str) -> None:
    """Do nothing unless there is no such traffic.

    Raises SelectionError if there is none.
    """
    if traffic not in TRAFFIC:
        raise SelectionError(f"no traffic {traffic!r}; there are {', '.join(TRAFFIC)}")


def check_quantity(quantity: str) -> None:
    """Do nothing unless there is no such quantity.

    Raises SelectionError if there is none.
    """
    if quantity not in QUANTITIES:
        raise SelectionError(f"no signal {quantity!r}; there are {', '.join(QUANTITIES)}")
