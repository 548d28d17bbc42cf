"""Sums that merge: a sum declares its fields and how each adds; merging and emptying follow from that.

A trace is added up block by block, in several places at once, and the parts are merged in any order. A sum is a
dataclass without the decorator: its parameters are ordinary fields, and what it adds up is declared by one of the
functions below. ::

    class Sizes(Sums):
        limit: int
        count: int = added(0)
        largest: int | None = largest(None)
        by_process: KeyedSums = keyed(1, "count", "bytes")
        distribution: ValueCounts = nested(lambda sums: ValueCounts(exact=sums.limit > 0))
"""

import operator
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Final, NamedTuple, Self, TypeVar, dataclass_transform

import numpy as np

from .arrays import Ints
from .keyed import KeyedSums

T = TypeVar("T")

NOBODY: Final[Ints] = np.zeros(0, np.int64)
"""No process goes on: all are over."""
_HOW: Final = "how it adds"


class Reducer(NamedTuple):
    """How a field of sums begins, and how two of them become one."""

    nothing: Callable[[Any], Any]
    """From the sums, whose parameters are known then, to the value of the field over nothing."""
    combined: Callable[[Any, Any], Any]
    """From a value, which it may change, and another one, which it leaves as it is, to both together."""


@dataclass_transform(eq_default=False)
class Sums:
    """Base of all sums, which makes dataclasses of subclasses; they declare their fields.

    What is only known of a process when it is over is kept in attributes that are not declared until `finish` adds it
    up. What adds by rules of its own is added by `absorb`.
    """

    _reducers: ClassVar[Mapping[str, Reducer]] = {}

    def __init_subclass__(cls) -> None:
        made: Any = dataclass(eq=False)(cls)
        cls._reducers = {one.name: one.metadata[_HOW] for one in fields(made) if _HOW in one.metadata}

    def __post_init__(self) -> None:
        for name, reducer in self._reducers.items():
            setattr(self, name, reducer.nothing(self))
        self.prepare()

    def prepare(self) -> None:
        """Set what is not declared, once the parameters and the fields over nothing are there."""

    def merge(self, other: Self) -> None:
        """Add the sums of `other`, over other processes."""
        self.finish()
        other.finish()
        for name, reducer in self._reducers.items():
            setattr(self, name, reducer.combined(getattr(self, name), getattr(other, name)))
        self.absorb(other)

    def absorb(self, other: Self) -> None:
        """Add what `other` has in fields that are not declared."""

    def finish(self, going_on: Ints = NOBODY) -> None:
        """Add up what is only known of processes when they are over: of all but those that are `going_on`.

        The blocks of a process come one after the other.
        """
        for name in self._reducers:
            value = getattr(self, name)
            for part in value.values() if isinstance(value, dict) else (value,):
                if isinstance(part, Sums):
                    part.finish(going_on)

    def empty(self) -> Self:
        """Return the same sums over nothing."""
        sums: Any = self
        fresh: Self = replace(sums)
        return fresh


def reduced(nothing: Callable[[Any], T], combined: Callable[[Any, Any], Any]) -> T:
    """Declare a field that adds by a rule of its own; see `Reducer`."""
    declared: T = field(init=False, metadata={_HOW: Reducer(nothing, combined)})
    return declared


def added(nothing: T | Callable[[Any], T]) -> T:
    """Declare a field whose values are added: numbers, arrays, counters; tuples and lists are joined.

    Parameters
    ----------
    nothing : object or callable
        The value over nothing, or what makes it from the sums, whose parameters are known then.
    """
    return reduced(_maker(nothing), operator.iadd)


def either(nothing: T | Callable[[Any], T]) -> T:
    """Declare a field that holds what either holds: flags, arrays of them, bits, sets; `nothing` as in `added`."""
    return reduced(_maker(nothing), operator.ior)


def least(nothing: T | Callable[[Any], T]) -> T:
    """Declare a field that keeps the least, of arrays at each place; None is no value; `nothing` as in `added`."""
    return reduced(_maker(nothing), lambda one, other: _chosen(min, np.minimum, one, other))


def largest(nothing: T | Callable[[Any], T]) -> T:
    """Declare a field that keeps the largest, as `least` does the least."""
    return reduced(_maker(nothing), lambda one, other: _chosen(max, np.maximum, one, other))


def keyed(keys: int, *names: str) -> KeyedSums:
    """Declare a field of sums by so many keys, with columns of these names."""
    return reduced(lambda _sums: KeyedSums.none(keys, *names), KeyedSums.merged)


def nested(nothing: Callable[[Any], T]) -> T:
    """Declare a field that has a `merge` itself, or is None in both; it is made from the sums."""
    return reduced(nothing, _combined)


def by_key(nothing: Callable[[Any], dict[Any, Any]] = lambda _sums: {}) -> dict[Any, Any]:
    """Declare a dictionary of what has a `merge`, or is added; a key that is missing stands for nothing."""
    return reduced(nothing, _combined_mappings)


def _maker(nothing: T | Callable[[Any], T]) -> Callable[[Any], T]:
    return nothing if callable(nothing) else lambda _sums: nothing


def _chosen(of_two: Callable[..., Any], of_arrays: Callable[..., Any], one: Any, other: Any) -> Any:
    if one is None or other is None:
        return other if one is None else one
    return of_arrays(one, other) if isinstance(one, np.ndarray) else of_two(one, other)


def _combined(one: Any, other: Any) -> Any:
    if one is None or other is None:
        return one
    if hasattr(one, "merge"):
        one.merge(other)
    else:
        one += other
    return one


def _combined_mappings(one: dict[Any, Any], other: dict[Any, Any]) -> dict[Any, Any]:
    for key, value in other.items():
        # What is here may be added to, and `other` stays as it is.
        one[key] = _combined(one[key], value) if key in one else deepcopy(value)
    return one
