"""Lifetimes of handles: from the event that makes a handle to the one that destroys it, per process."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

import numpy as np
import numpy.typing as npt

from ...model.arrays import Columns, Ints, Links, Mask, Ticks
from ...model.codes import UNDEFINED_TIME, IoRecord
from ...model.definitions import Definitions
from ...model.operations import Operations
from .metadata import MetadataEvents

_LARGEST_TABLE: Final = 1 << 24


class Origin(IntEnum):
    """How a lifetime began."""

    CREATED = 0
    DUPLICATED = 1
    PRECREATED = 2
    """There from the trace's start, as the definitions say."""
    NEVER_CREATED = 3
    """Used or destroyed, but no event makes it."""


@dataclass(frozen=True, eq=False)
class Lifetimes(Columns):
    """Lifetimes of handles, columns of shape (n,), ordered by handle, process and epoch.

    Handle ids are not of one process: processes share them, and one process creates the same handle several times. A
    lifetime belongs to a handle, a process and an *epoch*, counted from 0.

    Attributes
    ----------
    handle : int32
        Row in ``Definitions.handles``.
    process : int32
        Row in ``Definitions.groups``.
    epoch : int32
    origin : uint8
        `Origin`.
    created, destroyed : int64
        Ticks since the trace's start; ``UNDEFINED_TIME`` where no event says so.
    """

    handle: Links
    process: Links
    epoch: Links
    origin: npt.NDArray[np.uint8]
    created: Ints
    destroyed: Ints


@dataclass(frozen=True, eq=False)
class UsedHandles(Columns):
    """Handles and the processes that used them, int32 (n,) each; a pair may come more than once."""

    handle: Links
    process: Links

    @classmethod
    def of(cls, operations: Operations) -> "UsedHandles":
        """Return what operations used, each pair once unless the table of all would be too large."""
        known = operations.handle >= 0
        handle, process = operations.handle[known], operations.process[known]
        if not len(handle):
            return cls(handle, process)
        low, first = int(handle.min()), int(process.min())
        width, height = int(handle.max()) - low + 1, int(process.max()) - first + 1
        if width * height > _LARGEST_TABLE:
            return cls(handle, process)
        seen = np.zeros((height, width), np.bool_)
        seen[process - first, handle - low] = True
        found = np.nonzero(seen)
        return cls((found[1] + low).astype(np.int32), (found[0] + first).astype(np.int32))


def handle_lifetimes(
    metadata: MetadataEvents, operations: Operations | UsedHandles, definitions: Definitions
) -> Lifetimes:
    """Return the lifetimes of all handles that were made, destroyed or used.

    A destroy event ends the epoch that is open. One without an open epoch is an epoch of its own that nothing began, or
    that was there from the start if the handle is pre-created; so is the use of a handle without any such event.
    """
    handle, process, time, birth, duplicates = lifetime_events(metadata)
    if len(handle):
        same = np.append(False, (handle[1:] == handle[:-1]) & (process[1:] == process[:-1]))
    else:
        same = np.empty(0, np.bool_)
    ends_previous = ~birth & same & np.append(False, birth[:-1])[: len(handle)]
    # Each event but a destroy that ends the epoch before it begins an epoch.
    begins = np.flatnonzero(~ends_previous)
    destroyed = np.where(birth[begins], UNDEFINED_TIME, time[begins])
    ended = np.flatnonzero(ends_previous)
    destroyed[np.searchsorted(begins, ended) - 1] = time[ended]
    precreated = definitions.handles.precreated
    first = ~same[begins]
    origin = np.where(duplicates[begins], Origin.DUPLICATED, Origin.CREATED)
    orphan = ~birth[begins]
    origin[orphan] = np.where(first & precreated[handle[begins]], Origin.PRECREATED, Origin.NEVER_CREATED)[orphan]
    created = np.where(birth[begins], time[begins], UNDEFINED_TIME)

    used_handle, used_process = _used_only(operations, handle, process, len(definitions.groups.id))
    count = len(used_handle)
    lifetimes = Lifetimes(
        np.append(handle[begins], used_handle).astype(np.int32),
        np.append(process[begins], used_process).astype(np.int32),
        np.append(_epochs(first), np.zeros(count, np.int32)).astype(np.int32),
        np.append(origin, np.where(precreated[used_handle], Origin.PRECREATED, Origin.NEVER_CREATED)).astype(np.uint8),
        np.append(created, np.full(count, UNDEFINED_TIME)),
        np.append(destroyed, np.full(count, UNDEFINED_TIME)),
    )
    return lifetimes.take(np.lexsort((lifetimes.epoch, lifetimes.process, lifetimes.handle)))


def lifetime_events(metadata: MetadataEvents) -> tuple[Links, Links, Ticks, Mask, Mask]:
    """Return the events that make or destroy handles, in the order of handle, process and time.

    Returns
    -------
    handle, process : int32 (n,)
    time : int64 (n,)
    birth, duplicates : bool (n,)
        Whether an event makes the handle, and whether by duplicating another one.
    """
    kind = metadata.kind
    duplicates = kind == IoRecord.DUPLICATE_HANDLE
    handle = np.where(duplicates, metadata.new_handle, metadata.handle)
    counts = (kind == IoRecord.CREATE_HANDLE) | (kind == IoRecord.DESTROY_HANDLE) | duplicates
    rows = np.flatnonzero(counts & (handle >= 0))
    rows = rows[np.lexsort((metadata.time[rows], metadata.process[rows], handle[rows]))]
    birth = kind[rows] != IoRecord.DESTROY_HANDLE
    return handle[rows], metadata.process[rows], metadata.time[rows], birth, duplicates[rows]


def _epochs(first: Mask) -> Links:
    """Return the position of each row since the last row that is `first`."""
    position = np.arange(len(first))
    return (position - np.maximum.accumulate(np.where(first, position, 0))).astype(np.int32)


def _used_only(
    operations: Operations | UsedHandles, handle: Links, process: Links, processes: int
) -> tuple[Ints, Ints]:
    """Return handle and process of operations on handles that have no event of their own in that process."""
    # Processes count from −1 (a location without a group), hence one more than there are.
    known = operations.handle >= 0
    used = np.unique(operations.handle[known].astype(np.int64) * (processes + 1) + operations.process[known] + 1)
    with_events = handle.astype(np.int64) * (processes + 1) + process + 1
    used = used[~np.isin(used, with_events)]
    return used // (processes + 1), used % (processes + 1) - 1
