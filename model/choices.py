"""What arguments may be: names as types, so that a type checker refuses what the program refuses, and numbers."""

from numbers import Integral, Real
from typing import Literal, TypeGuard

Direction = Literal["read", "write", "total"]
"""Of transfers; ``total`` is reads and writes together."""

TrafficKind = Literal["all", "own", "inherited"]
"""All transfers of a layer, those that the program itself called, or those that a higher layer caused."""

Quantity = Literal["bandwidth", "operations", "metadata", "in-flight"]
"""What a signal of a layer measures; metadata events have neither direction nor traffic."""

PartKey = Literal["file", "filesystem", "rank", "node", "handle"]
"""By what a layer is split into parts."""

EngineName = Literal["auto", "direct", "library"]
"""How an OTF2 archive is read."""

SamplingFrequency = float | Literal["auto"]
"""In Hz, or ``auto`` for one that follows from the signal."""


def is_number(value: object) -> TypeGuard[float]:
    """Tell whether a value is a real number of Python or NumPy, and not a truth value."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_whole(value: object) -> TypeGuard[int]:
    """Tell whether a value is a whole number of Python or NumPy, by its type, and not a truth value."""
    return isinstance(value, Integral) and not isinstance(value, bool)
