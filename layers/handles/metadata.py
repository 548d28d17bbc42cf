"""Metadata events: I/O events that move no data, tied to their handles, files and paradigms."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from ...model.arrays import Columns, Ints, Links, Mask, RowsOfIds, column_at
from ...model.codes import CREATE_FILE, METADATA_NAMES, SYNCHRONOUS, IoRecord
from ...model.definitions import Definitions
from ...model.events import IoEvents
from ...model.quantities import counted
from ..selection.files import FileSelection
from ..selection.window import TickWindow

_PLURALS: Final[dict[int, str]] = {
    IoRecord.CHANGE_STATUS_FLAGS: "changes of status",
    IoRecord.TRY_LOCK: "attempts to lock",
}


@dataclass(frozen=True, eq=False, repr=False)
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
    synchronous : bool
        Whether a handle was made, or changed, such that each write through it waits for the storage.
    """

    kind: npt.NDArray[np.uint8]
    time: Ints
    process: Links
    handle: Links
    new_handle: Links
    file: Links
    paradigm: Links
    location: Links
    creates_file: Mask
    synchronous: Mask


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
    objects = EventObjects(definitions)
    handle, file, paradigm = objects.of(events)
    duplicates = events.kind == IoRecord.DUPLICATE_HANDLE
    new_handle = np.full(len(events), -1, np.int32)
    new_handle[duplicates] = objects.handles.rows(events.value[duplicates])
    process = column_at(definitions.locations.group, events.location)
    creates = (events.kind == IoRecord.CREATE_HANDLE) & (events.value & np.uint64(CREATE_FILE) > 0)
    has_status = np.isin(events.kind, (IoRecord.CREATE_HANDLE, IoRecord.CHANGE_STATUS_FLAGS))
    synchronous = has_status & (events.flags & np.uint32(SYNCHRONOUS) > 0)
    return MetadataEvents(
        events.kind, events.time, process, handle, new_handle, file, paradigm, events.location, creates, synchronous
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
