"""Directions, traffic and quantities by their names, and the operations that a direction stands for."""

from collections.abc import Iterable
from typing import Final, Literal, cast, get_args

import numpy as np

from ...model.arrays import Mask, Octets
from ...model.codes import IoMode
from ...model.errors import SelectionError

Direction = Literal["read", "write", "total"]
Traffic = Literal["all", "own", "inherited"]
LayerDirection = tuple[str, Direction]
Quantity = Literal["bandwidth", "operations", "metadata", "in-flight"]

DIRECTIONS: Final[tuple[Direction, ...]] = ("read", "write")
"""Directions that are looked at unless one is named, each by itself; ``total`` is both together."""

TRAFFIC: Final[tuple[Traffic, ...]] = get_args(Traffic)
NEEDS_OF_QUANTITIES: Final[dict[Quantity, tuple[str, ...]]] = {
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


def direction_named(name: str) -> Direction:
    """Return the direction of this name; raise SelectionError where there is none."""
    _check("direction", name, _MODES)
    return cast(Direction, name)


def is_of_direction(mode: Octets, direction: str) -> Mask:
    """Return which operations, of these modes, are of a direction, bool (n,); errors as `modes_of`."""
    first, *others = modes_of(direction)
    found = mode == first
    for other in others:
        found |= mode == other
    return np.asarray(found, np.bool_)


def check_traffic(traffic: Traffic) -> None:
    """Raise SelectionError unless there is such traffic."""
    _check("traffic", traffic, TRAFFIC)


def check_quantity(quantity: Quantity) -> None:
    """Raise SelectionError unless there is such a quantity."""
    _check("signal", quantity, QUANTITIES)


def _check(what: str, name: str, known: Iterable[str]) -> None:
    if name not in known:
        raise SelectionError(f"no {what} {name!r}; there are {', '.join(known)}")
