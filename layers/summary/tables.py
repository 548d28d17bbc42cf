"""Tables that compiled sums over operations are kept in."""

from typing import Any, Final, NamedTuple

import numpy as np

from ...model.arrays import Floats, Ints, Links, Mask, Octets, Unsigned

OPERATIONS, UNDEFINED, CANCELLED, NEVER, CUT = range(5)
"""Columns of `OperationTables.counts`; `CUT` counts operations whose bytes the window holds only in part."""

WHOLE, PART = range(2)
"""Columns of sums of bytes: whole ones, and fractions in units of 2^-32; the order of what is added does not matter."""

MODES: Final = 3


class OperationTables(NamedTuple):
    """Tables that operations are added to.

    A category is a lineage of handles and a mode; its number is ``lineage * MODES + mode``.
    """

    counts: Ints
    """(categories, 5)"""
    bytes: Ints
    """(categories, 2)"""
    least: Ints
    """(categories,), least bytes of operations of unknown bytes"""
    ticks: Ints
    """(categories,), durations of operations that ended"""
    processes: Mask
    """(categories, processes + 1), whether a process had such operations; the first column: no process"""
    handle_used: Mask
    """(handles, MODES), whether operations on it are in a category"""
    handle_operations: Ints
    """(handles,)"""
    handle_bytes: Ints
    """(handles, 2, 2), read and written"""
    any_cut: Mask
    """(1,), whether the window cuts an operation on any handle that moved bytes"""
    aside: Ints
    """(reasons,), operations set aside"""
    aside_used: Mask
    """(handles,)"""
    extent: Ints
    """(2,), first begin and last begin or end of all operations"""


class HandleCategories(NamedTuple):
    """Where operations count, by their handles."""

    of_handle: Links
    """(handles,), category of reads, −1 where a handle is not selected"""
    reason: Links
    """(handles + 1,), row in ``FileSelection.reasons``, the last for undefined handles"""
    aside: int
    """Category for the bytes of operations that are set aside."""


class BinPlaces(NamedTuple):
    """Where bins lie."""

    origin: int
    """Tick from which bins are counted."""
    unit: float
    """Ticks."""
    width: float
    """Of a bin in units, a power of two."""
    first: int
    """Number of the first bin, from the origin."""


class OperationColumns(NamedTuple):
    """Columns of `iostrata.model.operations.Operations` that are added up."""

    process: Links
    handle: Links
    mode: Octets
    status: Octets
    begin: Ints
    end: Ints
    moved: Unsigned


class Kept(NamedTuple):
    """What is further done with each operation of a batch; category −1 where it does not count."""

    category: Links
    begin: Ints
    end: Ints
    volume: Floats


def new_sums(categories: int, processes: int, handles: int, reasons: int) -> OperationTables:
    """Return empty tables."""
    edges = np.iinfo(np.int64)
    return OperationTables(
        counts=np.zeros((categories, 5), np.int64),
        bytes=np.zeros((categories, 2), np.int64),
        least=np.zeros(categories, np.int64),
        ticks=np.zeros(categories, np.int64),
        processes=np.zeros((categories, processes + 1), np.bool_),
        handle_used=np.zeros((handles, MODES), np.bool_),
        handle_operations=np.zeros(handles, np.int64),
        handle_bytes=np.zeros((handles, 2, 2), np.int64),
        any_cut=np.zeros(1, np.bool_),
        aside=np.zeros(reasons, np.int64),
        aside_used=np.zeros(handles, np.bool_),
        extent=np.array([edges.max, edges.min]),
    )


def merged_tables(one: OperationTables, other: OperationTables) -> OperationTables:
    """Add the tables of other operations to `one`."""
    tables: Any = zip(one._fields, one, other, strict=True)
    for name, table, theirs in tables:
        if name == "extent":
            table[:] = min(table[0], theirs[0]), max(table[1], theirs[1])
        elif table.dtype == np.bool_:
            table |= theirs
        else:
            table += theirs
    return one
