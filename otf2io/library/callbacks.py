"""Callbacks for the 14 I/O records, each of which appends one row of eight 64-bit numbers, and for Enter, Leave
and parameters."""

from array import array
from collections.abc import Callable, Collection, Sequence
from ctypes import byref, c_uint64
from typing import Any, Final

import numpy as np

from ...model.arrays import empty_columns
from ...model.codes import UNDEFINED_UINT32, UNDEFINED_UINT64, IoRecord
from ...model.events import IoEvents
from ...model.stream.calls import RegionEvents
from ..files.libotf2 import (
    CALLBACK_SUCCESS,
    EVENT_CALLBACKS,
    IO_FIELDS,
    OTHER_CALLBACK,
    OTHER_EVENTS,
    PARAMETER_EVENTS,
    callback_name,
    guarded,
    library,
)

_HEAD: Final = 3
_WIDTH: Final = 8
_REGION_WIDTH: Final = 4
_ENTER, _PARAMETER = 1, 2


class EventBuffer:
    """Rows as the callbacks append them: kind, time, offset, and the record's fields.

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
        regions: bool | frozenset[int] = False,
    ) -> None:
        self.interrupts: list[BaseException] = [] if interrupts is None else interrupts
        self._rows = array("Q")
        self._regions = array("Q")
        position = _position_reader(tuple(offset_attributes))
        functions = {
            callback_name(record): self._event(record, position if record == IoRecord.OPERATION_BEGIN else None)
            for record in IO_FIELDS
        }
        if regions:
            only = None if regions is True else regions
            functions |= {"Enter": self._crossing(1, only), "Leave": self._crossing(0, only)}
        if regions is True:
            functions |= dict.fromkeys(PARAMETER_EVENTS, self._parameter())
        self.callbacks: dict[str, Any] = {
            name: EVENT_CALLBACKS[name](guarded(function, self.interrupts)) for name, function in functions.items()
        }

    def take_regions(self, location: int, start: int) -> RegionEvents:
        """Return Enter and Leave so far, to be called before `take`, which takes the events that they stand among."""
        if not self._regions:
            return RegionEvents.empty()
        rows = np.frombuffer(self._regions, np.uint64).reshape(-1, _REGION_WIDTH)
        is_parameter, position = rows[:, 2] == _PARAMETER, (rows[:, 3] // np.uint64(_WIDTH)).astype(np.int64)
        regions = RegionEvents(
            location=np.full(len(rows), location, np.int32),
            time=(rows[:, 0] - np.where(is_parameter, 0, start % 2**64).astype(np.uint64)).view(np.int64),
            region=rows[:, 1].astype(np.uint32),
            enter=rows[:, 2] == _ENTER,
            position=np.where(is_parameter, -1 - position, position),
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
        events = empty_columns(IoEvents, len(rows))
        events.location[:] = location
        events.kind[:], events.offset[:] = rows[:, 0], rows[:, 2]
        events.time[:] = (rows[:, 1] - np.uint64(start % 2**64)).view(np.int64)
        events.handle[:] = UNDEFINED_UINT32
        for column in (events.mode, events.flags, events.matching, events.value):
            column[:] = 0
        for kind in np.unique(events.kind).tolist():
            chosen = np.flatnonzero(events.kind == kind)
            for place, name in enumerate(IO_FIELDS[kind], _HEAD):
                getattr(events, name)[chosen] = rows[chosen, place]
        del rows
        del self._rows[:]
        return events

    def _crossing(self, enter: int, only: Collection[int] | None) -> Callable[..., None]:
        events, extend = self._rows, self._regions.extend

        def callback(_location: int, time: int, _position: int, _user: int, _attributes: int, region: int) -> None:
            if only is None or region in only:
                extend((time, region, enter, len(events)))

        return callback

    def _parameter(self) -> Callable[..., None]:
        events, extend = self._rows, self._regions.extend

        def callback(_location: int, _time: int, _position: int, _user: int, _attributes: int, *told: int) -> None:
            parameter, value = told
            extend((value % 2**64, parameter, _PARAMETER, len(events)))

        return callback

    def _event(self, record: int, position: Callable[[int | None], int] | None) -> Callable[..., None]:
        """Return a function that appends a record; `position` gives its attribute *Offset* where it may have one."""
        extend, kind = self._rows.extend, int(record)
        rest = (0,) * (_WIDTH - _HEAD - len(IO_FIELDS[record]))

        def append(_location: int, time: int, _position: int, _user: int, attributes: int | None, *fields: int) -> None:
            offset = UNDEFINED_UINT64 if position is None else position(attributes)
            extend((kind, time, offset, *fields, *rest))

        return append


class EdgeTimes:
    """The times of the events that the library hands out, whatever they are; `callbacks` as in `EventBuffer`."""

    def __init__(self) -> None:
        self.times: list[int] = []
        self.callbacks: dict[str, Any] = {
            name: EVENT_CALLBACKS.get(name, OTHER_CALLBACK)(self._take) for name in (*EVENT_CALLBACKS, *OTHER_EVENTS)
        }

    def _take(self, _location: int, time: int, *_rest: int) -> int:
        self.times.append(time)
        return CALLBACK_SUCCESS


def _position_reader(offset_attributes: tuple[int, ...]) -> Callable[[int | None], int]:
    """Return a function that gives the first of some attributes that a list of attributes has, else *undefined*."""
    lib = library()
    has_attribute, get_uint64 = lib.OTF2_AttributeList_TestAttributeByID, lib.OTF2_AttributeList_GetUint64
    number = c_uint64()
    reference = byref(number)

    def position(attributes: int | None) -> int:
        for attribute in offset_attributes:
            if has_attribute(attributes, attribute) and not get_uint64(attributes, attribute, reference):
                return number.value
        return UNDEFINED_UINT64

    return position
