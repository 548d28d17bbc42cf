"""What arguments may be, as types that a checker and the program itself go by."""

from numbers import Integral, Real
from typing import Literal, TypeGuard

SamplingFrequency = float | Literal["auto"]
"""In Hz, or ``auto`` for one that follows from the signal."""


def is_number(value: object) -> TypeGuard[float]:
    """Tell whether a value is a real number of Python or NumPy, and not a truth value."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_whole(value: object) -> TypeGuard[int]:
    """Tell whether a value is a whole number of Python or NumPy, by its type, and not a truth value."""
    return isinstance(value, Integral) and not isinstance(value, bool)
