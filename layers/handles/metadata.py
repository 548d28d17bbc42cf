"""Metadata events: I/O events that move no data, tied to their handles, and the lifetimes that they begin and end."""

from collections.abc import Mapping
from enum import IntEnum
from typing import Final

import numpy as np

from ...model.arrays import Codes, Columns, Ints, Links, Mask, Octets, RowsOfIds, Ticks, column_at
from ...model.codes import CREATE_FILE, METADATA_NAMES, UNDEFINED_TIME, IoRecord
from ...model.definitions import Definitions
from ...model.events import IoEvents
from ...model.operations import Operations
from ...model.quantities import counted
from ..selection.files import FileSelection
from ..selection.window import TickWindow

_PLURALS: Final[dict[int, str]] = {
    IoRecord.CHANGE_STATUS_FLAGS: "changes of status",
    IoRecord.TRY_LOCK: "attempts to lock",
}


class MetadataEvents(Columns):
    """Creating, destroying and duplicating handles, seeks, status changes, deletions and locks; columns of shape (n,).

    Attributes
    ----------
    kind : uint8
        `IoRecord`.
    time : int64
        Ticks since the trace's start.
    process : int32
        Row in ``Definitions.groups``.
    handle : int32
        Row in ``Definitions.handles``; of a duplication the old handle; −1 for a deletion or an undefined handle.
    new_handle : int32
        Row of the handle that a duplication makes, elsewhere −1.
    file : int32
        Row in ``Definitions.files`` of the file that a deletion names, elsewhere that of the handle; −1 where none.
    paradigm : int32
        Row in ``Definitions.paradigms``, −1 where undefined.
    location : int32
        Row in ``Definitions.locations``.
    creates_file : bool
        Whether a handle was made with the flag that makes the file where there is none.
    status : uint32
        Status flags with which a handle was made, or to which they were changed; elsewhere 0.
    """

    kind: Octets
    time: Ints
    process: Links
    handle: Links
    new_handle: Links
    file: Links
    paradigm: Links
    location: Links
    creates_file: Mask
    status: Codes


class EventObjects:
    """Finds what I/O events are on by the ids that they have."""

    def __init__(self, definitions: Definitions) -> None:
        self._known = definitions.handles
        self.handles, self._files = RowsOfIds(definitions.handles.id), RowsOfIds(definitions.files.id)
        self._paradigms = RowsOfIds(np.array([paradigm.id for paradigm in definitions.paradigms], np.uint64))

    def of(self, events: IoEvents) -> tuple[Links, Links, Links]:
        """Return the rows of handle, file and paradigm, −1 for none; of a deletion those that it names itself."""
        handle = self.handles.rows(events.handle)
        file, paradigm = column_at(self._known.file, handle), column_at(self._known.paradigm, handle)
        deletes = np.flatnonzero(events.kind == IoRecord.DELETE_FILE)
        file[deletes] = self._files.rows(events.value[deletes])
        paradigm[deletes] = self._paradigms.rows(events.mode[deletes].astype(np.uint64))
        return handle, file, paradigm


def metadata_events(events: IoEvents, definitions: Definitions) -> MetadataEvents:
    """Tie events that are none of an operation to their handles, files and processes, in their order."""
    if not len(events):
        return MetadataEvents.empty()
    objects = EventObjects(definitions)
    handle, file, paradigm = objects.of(events)
    duplicates = events.kind == IoRecord.DUPLICATE_HANDLE
    new_handle = np.full(len(events), -1, np.int32)
    new_handle[duplicates] = objects.handles.rows(events.value[duplicates])
    process = column_at(definitions.locations.group, events.location)
    creates = (events.kind == IoRecord.CREATE_HANDLE) & (events.value & np.uint64(CREATE_FILE) > 0)
    has_status = np.isin(events.kind, (IoRecord.CREATE_HANDLE, IoRecord.CHANGE_STATUS_FLAGS))
    status = np.where(has_status, events.flags, np.uint32(0))
    return MetadataEvents(
        events.kind, events.time, process, handle, new_handle, file, paradigm, events.location, creates, status
    )


def metadata_text(kinds: Mapping[int, int], creating: int = 0) -> str:
    """Return how many metadata events there are of each `IoRecord` in words, the most frequent first.

    `creating` is how many of the opens make the file where there is none.

    >>> metadata_text({IoRecord.DELETE_FILE: 576, IoRecord.CREATE_HANDLE: 1160, IoRecord.SEEK: 1}, 576)
    '1,160 opens (576 of them to create), 576 deletions, 1 seek'
    """
    parts = []
    for kind, count in sorted(kinds.items(), key=lambda item: (-item[1], item[0])):
        create = f" ({creating:,} of them to create)" if creating and kind == IoRecord.CREATE_HANDLE else ""
        parts.append(counted(count, METADATA_NAMES[kind], _PLURALS.get(kind)) + create)
    return ", ".join(parts)


def selected_metadata(metadata: MetadataEvents, selection: FileSelection, window: TickWindow) -> Mask:
    """Return which events are on selected files within the window, bool (n,); a deletion counts for its file."""
    of_handle = selection.reason_of(metadata.handle) < 0
    of_file = np.append(selection.file_reason, 0)[metadata.file] < 0
    return np.where(metadata.handle >= 0, of_handle, of_file) & window.contains(metadata.time)


_LARGEST_TABLE: Final = 1 << 24


class Origin(IntEnum):
    """How a lifetime began."""

    CREATED = 0
    DUPLICATED = 1
    PRECREATED = 2
    """There from the trace's start, as the definitions say."""
    NEVER_CREATED = 3
    """Used or destroyed, but no event makes it."""


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
    origin: Octets
    created: Ints
    destroyed: Ints


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
