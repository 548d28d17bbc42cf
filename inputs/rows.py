"""Rows as recorders have them, one a transfer: checked, ordered, and made operations of."""

from collections.abc import Hashable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

from ..model.arrays import (
    Codes,
    Columns,
    Floats,
    Frozen,
    Integers,
    Ints,
    Links,
    Mask,
    Octets,
    Rows,
    Ticks,
    Unsigned,
    column_at,
    column_types,
)
from ..model.budget import require_memory
from ..model.codes import MOST_BYTES, UNDEFINED_TIME, UNDEFINED_UINT64, Status
from ..model.errors import TraceError
from ..model.operations import Operations
from ..model.quantities import counted
from ..model.stream.damage import LocationDamage

NANOSECONDS: Final = 10**9
"""Ticks per second of recorders that have no clock of their own."""
LONGEST: Final = 2**61
"""Ticks beyond which a time is not believed."""
_MOST_PROCESSES: Final = 1 << 24
"""More processes than any machine runs: a file that claims more is damaged."""
BYTES_PER_ROW: Final = 450
"""What a row of five numbers takes until it is an operation, as measured."""
_BYTES_PER_PROCESS: Final = 256
"""What definitions take for each, as measured."""
UNRECORDED: Final = np.full(1, -1, np.int64)
"""Bytes of rows of which nobody knows any."""
_LEAST: Final = np.iinfo(np.int64).min
_NOWHERE: Final = np.zeros(1, np.bool_)


def check_processes(path: Path, claimed: int, recorder: str, least: int = 1) -> None:
    """Do nothing where a file may have as many processes as it claims; TraceError elsewhere."""
    if not least <= claimed <= _MOST_PROCESSES:
        raise TraceError(f"{path}: {recorder} claims {claimed} processes; the file is damaged, copy it again")
    require_memory(path, claimed * _BYTES_PER_PROCESS, f"{claimed:,} processes, as it claims,")


class Transfers(Columns):
    """Rows as a recorder has them, columns of shape (n,), or (1,) where all rows are alike; times in ticks.

    Attributes
    ----------
    location : int32
    handle : int32
    mode : uint8
    begin, end : int64
        ``UNDEFINED_TIME`` for the end of one that never ended.
    moved, requested, offset : int64
        Bytes, −1 where unknown.
    flags : uint32
    status : uint8
    """

    location: Links
    handle: Links
    mode: Octets
    begin: Ticks
    end: Ticks
    moved: Ints
    requested: Ints
    offset: Ints = field(default_factory=lambda: UNRECORDED)
    flags: Codes = field(default_factory=lambda: np.zeros(1, np.uint32))
    status: Octets = field(default_factory=lambda: np.full(1, Status.COMPLETE, np.uint8))

    def __post_init__(self) -> None:
        rows = len(self.begin)
        for name, kind in zip(vars(self), column_types(cast(Hashable, type(self))), strict=True):
            column = getattr(self, name).astype(kind, copy=False)
            object.__setattr__(self, name, column if len(column) == rows else np.broadcast_to(column, rows))


class Checked(Frozen):
    """Sound rows as operations, ordered by begin, then location; what was left out, and what is odd in the rest.

    Attributes
    ----------
    rows : int (m,)
        Which rows the operations are.
    promised : int64 (l,)
        Rows of each location, sound or not.
    """

    operations: Operations
    rows: Rows
    promised: Ints
    damage: tuple[LocationDamage, ...]

    @property
    def irregular(self) -> dict[str, int]:
        """How many operations are odd without being wrong: of no bytes, of no duration."""
        transfers = self.operations.mode < 2
        counts = {
            "transfers of no bytes": int((transfers & (self.operations.moved == 0)).sum()),
            "operations of no duration": int((self.operations.end == self.operations.begin).sum()),
        }
        return {name: count for name, count in counts.items() if count}


def lost(reason: str, expected: int = 0, read: int = 0) -> LocationDamage:
    """Return a loss of which nobody knows the location."""
    return LocationDamage(-1, -1, expected, read, reason)


def checked(
    rows: Transfers,
    location_process: Links,
    faults: Mapping[str, Mask] | None = None,
    early: bool = False,
    below: Links | None = None,
) -> Checked:
    """Leave out rows that cannot be true, and count them by location; the rest are operations.

    Parameters
    ----------
    location_process : int32 (l,)
        Row of the process of each location.
    faults : mapping of str to bool (n,)
        Further rows to be left out, by what is wrong with them; of several the first counts.
    early : bool
        Whether times before 0 can be true.
    below : int32 (h,), optional
        Of each handle, as `HandleTable.below` says: of calls of a thread that begin at once, as clocks of whole
        microseconds have it, the highest come first. Without it they stay in the order of the rows.
    """
    locations = len(location_process)
    unknown = _outside(rows.location, 0, locations - 1)
    place = np.where(unknown, locations, rows.location)
    left_out, by_reason = np.zeros(len(rows), np.bool_), list[tuple[str, Ints]]()
    for reason, wrong in {**(faults or {}), **_impossible(rows, early), "an unknown rank": unknown}.items():
        if wrong.any() and (fresh := wrong & ~left_out).any():
            left_out |= fresh
            by_reason.append((reason, np.bincount(place[fresh], minlength=locations + 1)))
    promised = np.bincount(place, minlength=locations + 1)
    order = _ordered(rows, below, np.flatnonzero(~left_out) if by_reason else None)
    operations = _operations(rows, order, location_process)
    known, lost_rows = promised[:locations].astype(np.int64), tuple(_left_out(by_reason, promised))
    return Checked(operations, order, known, lost_rows)


def _impossible(rows: Transfers, early: bool) -> dict[str, Mask]:
    ended = rows.end != UNDEFINED_TIME
    return {
        "times that make no sense": _outside(rows.begin, -LONGEST, LONGEST)
        | (ended & _outside(rows.end, -LONGEST, LONGEST)),
        "begin before the run's start": _outside(rows.begin, -LONGEST if early else 0, LONGEST),
        "end before their begin": ended & (rows.end < rows.begin),
        f"more than {MOST_BYTES} bytes": _outside(rows.moved, _LEAST, MOST_BYTES)
        | _outside(rows.requested, _LEAST, MOST_BYTES),
    }


def _outside(values: npt.NDArray[np.signedinteger], least: int, most: int) -> Mask:
    # One value may stand for all; else smallest and largest are soon found, and mostly there is nothing to look for.
    values = values[:1] if values.strides == (0,) else values
    if not len(values) or (least <= values.min() and values.max() <= most):
        return _NOWHERE
    return (values < least) | (values > most)


def _left_out(by_reason: list[tuple[str, Ints]], promised: Ints) -> list[LocationDamage]:
    """Return what was left out of each location; the last of `promised` and of the counts is of none that is known."""
    lost_rows = sum((counts for _, counts in by_reason), np.zeros_like(promised))
    found = []
    for row in np.flatnonzero(lost_rows).tolist():
        told = [f"{counted(int(counts[row]), 'row')} left out: {why}" for why, counts in by_reason if counts[row]]
        known, expected = row if row < len(promised) - 1 else -1, int(promised[row])
        found.append(LocationDamage(known, known, expected, expected - int(lost_rows[row]), "; ".join(told)))
    return found


def _ordered(rows: Transfers, below: Links | None, chosen: Rows | None) -> Rows:
    """Return `chosen` rows, or all, by begin, then location, then `below` of their handles."""
    part: Any = slice(None) if chosen is None else chosen
    begin, location, handle = rows.begin[part], rows.location[part], rows.handle[part]
    order = _in_time(begin)
    sorted_begin = begin.take(order)
    again = sorted_begin[1:] == sorted_begin[:-1]
    together = np.flatnonzero(again)
    first, second = (location.take(order.take(together + step)) for step in (0, 1))
    wrong = second < first
    if below is not None:
        alike = np.flatnonzero(second == first)
        one, other = (column_at(below, handle[order[together[alike] + step]]) for step in (0, 1))
        wrong[alike] = other < one
    if wrong.any():
        # What begins at the same time is seldom out of order: further keys would take as long as the first.
        number = np.append(0, np.cumsum(~again))
        mixed = np.zeros(number[-1] + 1, np.bool_)
        mixed[number[together[wrong]]] = True
        places = np.flatnonzero(mixed[number])
        own = order[places]
        keys = location[own], number[places]
        order[places] = own[np.lexsort(keys if below is None else (column_at(below, handle[own]), *keys))]
    return order if chosen is None else chosen[order]


def _in_time(begin: Ticks) -> Rows:
    """Return rows by begin, those of one begin as they are."""
    if not (begin[1:] < begin[:-1]).any():
        return np.arange(len(begin))
    # Sixteen bits are sorted in linear time, and what they leave is nearly in order.
    low = int(begin.min())
    shift = max((int(begin.max()) - low).bit_length() - 16, 0)
    order = np.argsort(((begin - low) >> shift).astype(np.uint16), kind="stable")
    nearly = begin.take(order)
    return order if not (nearly[1:] < nearly[:-1]).any() else order[np.argsort(nearly, kind="stable")]


def _operations(rows: Transfers, order: Rows, location_process: Links) -> Operations:
    def amounts(values: Ints) -> Unsigned:
        # -1 in two's complement is what stands for bytes that are not known.
        if values.strides == (0,):
            return np.full(len(order), max(int(values[0]), -1) if len(values) else -1).view(np.uint64)
        found = values.take(order)
        return np.maximum(found, -1, out=found).view(np.uint64)

    location = rows.location.take(order).astype(np.int32, copy=False)
    status, end = rows.status.take(order), rows.end.take(order)
    moved, end_location = amounts(rows.moved), location.copy()
    requested = moved.copy() if rows.requested is rows.moved else amounts(rows.requested)
    if (status != Status.COMPLETE).any():
        never = status == Status.NEVER_COMPLETED
        end_location[never], end[never] = -1, UNDEFINED_TIME
        moved[status != Status.COMPLETE] = UNDEFINED_UINT64
    return Operations(
        location=location,
        end_location=end_location,
        process=location_process.take(location).astype(np.int32, copy=False),
        handle=rows.handle.take(order).astype(np.int32, copy=False),
        mode=rows.mode.take(order),
        flags=rows.flags.take(order),
        begin=rows.begin.take(order),
        issued=np.full(len(order), UNDEFINED_TIME, np.int64),
        end=end,
        requested=requested,
        moved=moved,
        offset=amounts(rows.offset),
        matching=np.zeros(len(order), np.uint64),
        tests=np.zeros(len(order), np.uint32),
        status=status,
    )


def ticks_of(seconds: Floats) -> tuple[Ticks, Mask]:
    """Return times in s as ns, int64 (n,), and which of them are numbers that can be."""
    sound = np.abs(seconds) < LONGEST / NANOSECONDS
    ticks = (seconds if sound.all() else np.where(sound, seconds, 0.0)) * NANOSECONDS
    return np.rint(ticks, out=ticks).astype(np.int64), sound


def pairs_of(first: Integers, second: Integers) -> tuple[Links, Links, Links]:
    """Return the number of each pair (n,) of numbers ≥ −1, and both parts of the different pairs, in their order."""
    width = int(second.max(initial=-1)) + 2
    pairs, place = np.unique((first.astype(np.int64) + 1) * width + second + 1, return_inverse=True)
    ones, others = np.divmod(pairs, width)
    return place.reshape(-1).astype(np.int32), (ones - 1).astype(np.int32), (others - 1).astype(np.int32)
