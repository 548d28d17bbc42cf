"""Metadata events: I/O events that move no data, tied to their handles, files and paradigms."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from ..otf2io.definitions import Definitions
from ..otf2io.events import IoEvents
from ..otf2io.records import IoRecord

OPERATION_RECORDS: Final = (
    IoRecord.OPERATION_BEGIN,
    IoRecord.OPERATION_TEST,
    IoRecord.OPERATION_ISSUED,
    IoRecord.OPERATION_COMPLETE,
    IoRecord.OPERATION_CANCELLED,
)


@dataclass(frozen=True, eq=False)
class MetadataEvents:
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
    """

    kind: npt.NDArray[np.uint8]
    time: npt.NDArray[np.int64]
    process: npt.NDArray[np.int32]
    handle: npt.NDArray[np.int32]
    new_handle: npt.NDArray[np.int32]
    file: npt.NDArray[np.int32]
    paradigm: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.time)


def metadata_events(events: IoEvents, definitions: Definitions) -> MetadataEvents:
    """Return the metadata events among `events`, in their order."""
    some = events.take(~np.isin(events.kind, np.array(OPERATION_RECORDS, np.uint8)))
    handles, files = definitions.handles, definitions.files
    handle = rows_of_ids(handles.id, some.handle)
    duplicates = some.kind == IoRecord.DUPLICATE_HANDLE
    new_handle = np.full(len(some), -1, np.int32)
    new_handle[duplicates] = rows_of_ids(handles.id, some.value[duplicates])
    file = _at(handles.file, handle)
    paradigm = _at(handles.paradigm, handle)
    deletes = some.kind == IoRecord.DELETE_FILE
    file[deletes] = rows_of_ids(files.id, some.value[deletes])
    paradigm_ids = np.array([paradigm.id for paradigm in definitions.paradigms], np.uint64)
    paradigm[deletes] = rows_of_ids(paradigm_ids, some.mode[deletes])
    process = _at(definitions.locations.group, some.location)
    return MetadataEvents(some.kind, some.time, process, handle, new_handle, file, paradigm)


def rows_of_ids(ids: npt.NDArray[np.unsignedinteger], wanted: npt.NDArray[np.unsignedinteger]) -> npt.NDArray[np.int32]:
    """Return the row of each wanted id in `ids` (of equal ids the first), int32, −1 where it is not among them."""
    if not len(ids):
        return np.full(len(wanted), -1, np.int32)
    order = np.argsort(ids, kind="stable")
    table = ids[order].astype(np.uint64)
    place = np.minimum(np.searchsorted(table, wanted.astype(np.uint64)), len(table) - 1)
    return np.where(table[place] == wanted, order[place], -1).astype(np.int32)


def _at(table: npt.NDArray[np.int32], rows: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Return ``table[rows]``, −1 where a row is −1."""
    found = np.full(len(rows), -1, np.int32)
    valid = rows >= 0
    found[valid] = table[rows[valid]]
    return found
