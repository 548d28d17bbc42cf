"""Callbacks for the 14 I/O records, each of which appends one row of eight 64-bit numbers, and for Enter and Leave."""

from array import array
from collections.abc import Sequence
from ctypes import byref, c_uint64
from typing import Any, Final

import numpy as np

from ...model.codes import UNDEFINED_UINT32, UNDEFINED_UINT64, IoRecord
from ...model.events import IoEvents
from ...model.stream.calls import RegionEvents
from ..files.libotf2 import CALLBACK_INTERRUPT, EVENT_CALLBACKS, library

_WIDTH: Final = 8
_REGION_WIDTH: Final = 4


class EventBuffer:
    """Rows as the callbacks append them: kind, time, handle, mode, flags, matching, value, offset.

    Attributes
    ----------
    callbacks : dict
        Record name → ctypes callback; must live as long as the library may call them.
    interrupts : list
        Exceptions that arrived inside a callback, where raising is not possible, or elsewhere: callbacks end the
        reading as soon as there is one.
    """

    def __init__(
        self,
        offset_attributes: Sequence[int],
        interrupts: list[BaseException] | None = None,
        regions: bool = False,
    ) -> None:
        self.interrupts: list[BaseException] = [] if interrupts is None else interrupts
        self._rows = array("Q")
        self._regions = array("Q")
        functions = self._functions(tuple(offset_attributes))
        if regions:
            functions |= {"Enter": self._crossing(1), "Leave": self._crossing(0)}
        self.callbacks: dict[str, Any] = {
            record: EVENT_CALLBACKS[record](function) for record, function in functions.items()
        }

    def take_regions(self, location: int, start: int) -> RegionEvents:
        """Return Enter and Leave so far, to be called before `take`, which takes the events that they stand among."""
        if not self._regions:
            return RegionEvents.empty()
        rows = np.frombuffer(self._regions, np.uint64).reshape(-1, _REGION_WIDTH)
        regions = RegionEvents(
            location=np.full(len(rows), location, np.int32),
            time=(rows[:, 0] - np.uint64(start % 2**64)).view(np.int64),
            region=rows[:, 1].astype(np.uint32),
            enter=rows[:, 2] != 0,
            position=(rows[:, 3] // np.uint64(_WIDTH)).astype(np.int64),
        )
        del rows
        del self._regions[:]
        return regions

    def take(self, location: int, start: int) -> IoEvents:
        """Return the rows appended so far as columns and start anew.

        Parameters
        ----------
        location : int
            Row of the location that they belong to.
        start : int
            Time stamp of the trace's start; the difference is taken modulo 2^64, so times before it are negative.
        """
        if not self._rows:
            return IoEvents.empty()
        rows = np.frombuffer(self._rows, np.uint64).reshape(-1, _WIDTH)
        events = IoEvents(
            location=np.full(len(rows), location, np.int32),
            kind=rows[:, 0].astype(np.uint8),
            time=(rows[:, 1] - np.uint64(start % 2**64)).view(np.int64),
            handle=rows[:, 2].astype(np.uint32),
            mode=rows[:, 3].astype(np.uint8),
            flags=rows[:, 4].astype(np.uint32),
            matching=rows[:, 5].copy(),
            value=rows[:, 6].copy(),
            offset=rows[:, 7].copy(),
        )
        del rows
        del self._rows[:]
        return events

    def _crossing(self, enter: int) -> Any:
        interrupts, events, extend = self.interrupts, self._rows, self._regions.extend

        def callback(_l: int, time: int, _p: int, _u: int, _a: int, region: int) -> int:
            if interrupts:
                return CALLBACK_INTERRUPT
            try:
                extend((time, region, enter, len(events)))
            except (KeyboardInterrupt, MemoryError) as error:
                interrupts.append(error)
                return CALLBACK_INTERRUPT
            return 0

        return callback

    def _functions(self, offset_attributes: tuple[int, ...]) -> dict[str, Any]:
        lib = library()
        has_attribute = lib.OTF2_AttributeList_TestAttributeByID
        get_uint64 = lib.OTF2_AttributeList_GetUint64
        extend = self._rows.extend
        interrupts = self.interrupts
        number = c_uint64()
        reference = byref(number)

        def append(row: tuple[int, ...]) -> int:
            # An exception must not leave a ctypes callback: it would be printed and forgotten.
            if interrupts:
                return CALLBACK_INTERRUPT
            try:
                extend(row)
            except (KeyboardInterrupt, MemoryError) as error:
                interrupts.append(error)
                return CALLBACK_INTERRUPT
            return 0

        create, destroy = int(IoRecord.CREATE_HANDLE), int(IoRecord.DESTROY_HANDLE)
        duplicate, seek = int(IoRecord.DUPLICATE_HANDLE), int(IoRecord.SEEK)
        change, delete = int(IoRecord.CHANGE_STATUS_FLAGS), int(IoRecord.DELETE_FILE)
        begin = int(IoRecord.OPERATION_BEGIN)
        complete = int(IoRecord.OPERATION_COMPLETE)
        none = UNDEFINED_UINT64
        no_handle = UNDEFINED_UINT32

        def create_handle(
            _l: int, time: int, _p: int, _u: int, _a: int, handle: int, mode: int, creation: int, status: int
        ) -> int:
            return append((create, time, handle, mode, status, 0, creation, none))

        def destroy_handle(_l: int, time: int, _p: int, _u: int, _a: int, handle: int) -> int:
            return append((destroy, time, handle, 0, 0, 0, 0, none))

        def duplicate_handle(_l: int, time: int, _p: int, _u: int, _a: int, old: int, new: int, status: int) -> int:
            return append((duplicate, time, old, 0, status, 0, new, none))

        def seek_handle(
            _l: int, time: int, _p: int, _u: int, _a: int, handle: int, request: int, whence: int, result: int
        ) -> int:
            return append((seek, time, handle, whence, 0, 0, request, result))

        def change_status(_l: int, time: int, _p: int, _u: int, _a: int, handle: int, status: int) -> int:
            return append((change, time, handle, 0, status, 0, 0, none))

        def delete_file(_l: int, time: int, _p: int, _u: int, _a: int, paradigm: int, file: int) -> int:
            return append((delete, time, no_handle, paradigm, 0, 0, file, none))

        def operation_begin(
            _l: int,
            time: int,
            _p: int,
            _u: int,
            attributes: int | None,
            handle: int,
            mode: int,
            flags: int,
            request: int,
            matching: int,
        ) -> int:
            offset = none
            for attribute in offset_attributes:
                if has_attribute(attributes, attribute) and not get_uint64(attributes, attribute, reference):
                    offset = number.value
                    break
            return append((begin, time, handle, mode, flags, matching, request, offset))

        def operation_complete(
            _l: int, time: int, _p: int, _u: int, _a: int, handle: int, result: int, matching: int
        ) -> int:
            return append((complete, time, handle, 0, 0, matching, result, none))

        def matched(kind: int) -> Any:
            def callback(_l: int, time: int, _p: int, _u: int, _a: int, handle: int, matching: int) -> int:
                return append((kind, time, handle, 0, 0, matching, 0, none))

            return callback

        def lock(kind: int) -> Any:
            def callback(_l: int, time: int, _p: int, _u: int, _a: int, handle: int, lock_type: int) -> int:
                return append((kind, time, handle, lock_type, 0, 0, 0, none))

            return callback

        return {
            "IoCreateHandle": create_handle,
            "IoDestroyHandle": destroy_handle,
            "IoDuplicateHandle": duplicate_handle,
            "IoSeek": seek_handle,
            "IoChangeStatusFlags": change_status,
            "IoDeleteFile": delete_file,
            "IoOperationBegin": operation_begin,
            "IoOperationTest": matched(int(IoRecord.OPERATION_TEST)),
            "IoOperationIssued": matched(int(IoRecord.OPERATION_ISSUED)),
            "IoOperationComplete": operation_complete,
            "IoOperationCancelled": matched(int(IoRecord.OPERATION_CANCELLED)),
            "IoAcquireLock": lock(int(IoRecord.ACQUIRE_LOCK)),
            "IoReleaseLock": lock(int(IoRecord.RELEASE_LOCK)),
            "IoTryLock": lock(int(IoRecord.TRY_LOCK)),
        }
