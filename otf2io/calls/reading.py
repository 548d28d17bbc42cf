"""Batches of an archive's events with those of calls among them, and what opens are collected of them."""

from typing import Any, Final

import numpy as np

from ...model.arrays import columns_as, empty_columns
from ...model.events import EventColumns, IoEvents
from ...model.stream.calls import EventBatch, RegionColumns, RegionEvents
from .functions import LIBRARIES, CalledFunctions, FunctionColumns
from .kernel import (
    ADOPTED,
    DEEPEST,
    DEPTH,
    LOCATION,
    NOWHERE,
    OPENED,
    PENDING,
    PLACES,
    CallRoom,
    CallStack,
    CreatedColumns,
    CreatedHandles,
    KnownHandles,
    OpenCalls,
    OpenColumns,
    follow_calls,
)

_SHAPES: Final = {"values": (DEEPEST, 8), "inside": (DEEPEST, 2), "record": (3,), "places": (PLACES,)}
_FEWEST: Final = 1 << 10


def nothing_known() -> KnownHandles:
    """Return handles of which none is known yet."""
    none = empty_columns(KnownHandles, 0)
    return none._replace(unknown=np.full(len(LIBRARIES), NOWHERE), segment=np.zeros(1, np.int64))


class CallReader:
    """Follows the calls of some processes, location by location; not for several threads at once.

    Parameters
    ----------
    known : KnownHandles
    collecting : bool
        Whether to keep what opens them.
    """

    def __init__(self, functions: CalledFunctions, known: KnownHandles, collecting: bool = False) -> None:
        self._table, self._known = columns_as(FunctionColumns, functions), known
        types = CallStack.__annotations__
        self._stack = CallStack(
            *(np.zeros(_SHAPES.get(name, DEEPEST), one.__args__[1].__args__[0]) for name, one in types.items())
        )
        self._stack.places[LOCATION] = -1
        self._collecting = collecting
        self._room = CallRoom(
            empty_columns(EventColumns, 0), empty_columns(RegionColumns, 0), np.empty(0, np.uint64),
            empty_columns(OpenColumns, _FEWEST * collecting), empty_columns(CreatedColumns, _FEWEST * collecting),
        )  # fmt: skip

    def converted(self, batch: EventBatch, regions_wanted: bool = False) -> EventBatch:
        """Return a batch with the events of calls among its own; its columns hold until the next one is asked for."""
        # Records within a call may begin one batch and end another, so calls that are open have to see them.
        if not len(batch.regions) and not self._stack.places[DEPTH]:
            return batch
        self._make_room(len(batch.events), len(batch.regions), regions_wanted)
        events: Any = columns_as(EventColumns, batch.events)
        regions: Any = columns_as(RegionColumns, batch.regions)
        rows, crossed = follow_calls(events, regions, self._table, self._known, self._stack, self._room)
        found: Any = self._room.events
        passed: Any = self._room.regions
        return EventBatch(
            IoEvents(*(column[:rows] for column in found)), RegionEvents(*(column[:crossed] for column in passed))
        )

    def collected(self) -> tuple[OpenCalls, CreatedHandles]:
        """Return the opens so far, and the handles that were created in them."""
        places = self._stack.places
        openings: Any = self._room.openings
        adoptions: Any = self._room.adoptions
        return (
            OpenCalls(*(column[: places[OPENED]] for column in openings)),
            CreatedHandles(*(column[: places[ADOPTED]] for column in adoptions)),
        )

    def _make_room(self, events: int, regions: int, regions_wanted: bool) -> None:
        places, room = self._stack.places, self._room
        pending = int(places[PENDING]) + regions
        self._room = CallRoom(
            _with_room(room.events, (events + pending + DEEPEST) * (not self._collecting), 0),
            _with_room(room.regions, regions * regions_wanted, 0),
            _with_room((room.pending,), pending, int(places[PENDING]))[0],
            _with_room(room.openings, (int(places[OPENED]) + regions) * self._collecting, int(places[OPENED])),
            _with_room(room.adoptions, (int(places[ADOPTED]) + events) * self._collecting, int(places[ADOPTED])),
        )


def _with_room(columns: Any, rows: int, kept: int) -> Any:
    """Return columns with room for `rows`, the first of which are `kept`."""
    if len(columns[0]) >= rows:
        return columns
    larger = [np.empty(max(rows, 2 * len(column)), column.dtype) for column in columns]
    for column, target in zip(columns, larger, strict=True):
        target[:kept] = column[:kept]
    return larger if type(columns) is tuple else type(columns)(*larger)
