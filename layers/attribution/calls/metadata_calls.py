"""Metadata events with the calls that they happened in, and calls of I/O that leave no event, one row each."""

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from typing import Final

import numpy as np

from ....model.arrays import Array, Codes, Columns, Ints, Links, Octets, Unsigned, column_types
from ....model.codes import UNDEFINED_TIME, UNDEFINED_UINT64, IoRecord
from ....model.events import IoEvents
from ....model.stream.source import Partition, Source
from ...handles.metadata import EventObjects
from ...handles.scope import Scope
from ...selection.window import TickWindow
from .functions import NO_EVENT, FunctionGroups
from .walk import STACK_KINDS, StackBars, StackWalker

_OF_EVENTS: Final = ("kind", "location", "time", "mode", "flags", "value", "offset")
_UNKNOWN: Final = {
    "kind": NO_EVENT, "handle": -1, "file": -1, "region": -1, "time": UNDEFINED_TIME, "mode": 0, "flags": 0, "value": 0,
    "offset": UNDEFINED_UINT64,
}  # fmt: skip
"""Columns of rows of which nothing else is known."""
_OF_OPERATIONS: Final = range(IoRecord.OPERATION_BEGIN, IoRecord.OPERATION_CANCELLED + 1)


class MetadataCalls(Columns):
    """Columns of shape (n,).

    Attributes
    ----------
    kind : uint8
        `IoRecord`, or 0 for a call of I/O that leaves no event, such as ``nc_enddef``.
    location : int32
        Row in ``Definitions.locations``.
    handle : int32
        Row in ``Definitions.handles``, −1 where there is none.
    file : int32
        Row in ``Definitions.files``, of a deletion the file that it names; −1 where there is none.
    layer : int32
        Counted from the highest, −1 where it is not known.
    region : int32
        Row of the function that was called, −1 where it is not known.
    begin, end : int64
        Enter and Leave of the call in ticks since the trace's start; where these are not recorded, when the event was.
    time : int64
        When the event was, in ticks; ``UNDEFINED_TIME`` without one.
    mode, flags, value, offset : uint8, uint32, uint64, uint64
        As in `IoEvents`.
    """

    kind: Octets
    location: Links
    handle: Links
    file: Links
    layer: Links
    region: Links
    begin: Ints
    end: Ints
    time: Ints
    mode: Octets
    flags: Codes
    value: Unsigned
    offset: Unsigned


def events_alone(events: IoEvents, scope: Scope) -> MetadataCalls:
    """Return metadata events of a trace that does not tell when functions were entered and left, in their order."""
    return _of_events(events, EventObjects(scope.definitions), scope)


def metadata_calls(
    source: Source, partitions: Sequence[Partition], functions: FunctionGroups, scope: Scope
) -> Iterator[MetadataCalls]:
    """Give the metadata events within the window and the calls without one that begin in it, in parts.

    Those of a location come in the order in which they ended. What is kept between parts are the events whose calls
    have not ended.
    """
    objects, window = EventObjects(scope.definitions), scope.window
    for partition in partitions:
        walker = StackWalker(functions, scope)
        waiting = MetadataCalls.empty()
        for batch in source.calls(partition):
            ended = walker.add(batch)
            waiting = MetadataCalls.concatenate([waiting, _of_events(batch.events, objects, scope)])
            found, waiting = _matched(waiting, ended, functions, walker.location)
            yield _within(found, window)
        found, waiting = _matched(waiting, walker.finish(), functions, -1)
        yield _within(found, window)


def _matched(
    events: MetadataCalls, bars: StackBars, functions: FunctionGroups, going_on: int
) -> tuple[MetadataCalls, MetadataCalls]:
    """Return events with the calls that have ended, and events of the location that goes on that have none so far."""
    did = bars.kind >= STACK_KINDS.index("open")
    calls = bars.take(did)
    # The last call that began before the event; calls on one handle do not overlap but where one is inside the other.
    order = np.lexsort((calls.begin, calls.handle, calls.location))
    calls = calls.take(order)
    both = [np.append(getattr(calls, name), getattr(events, name)) for name in ("location", "handle")]
    both += [np.append(calls.begin, events.time), np.repeat([0, 1], [len(calls), len(events)])]
    merged = np.lexsort(both[::-1])
    is_call = merged < len(calls)
    latest = np.maximum.accumulate(np.where(is_call, merged, -1))
    place = np.full(len(events), -1)
    place[merged[~is_call] - len(calls)] = latest[~is_call]
    known = place >= 0
    at = np.maximum(place, 0)
    if len(calls):
        known &= (calls.location[at] == events.location) & (calls.handle[at] == events.handle)
        known &= calls.end[at] >= events.time
        events = replace(
            events,
            region=np.where(known, calls.region[at], events.region),
            begin=np.where(known, calls.begin[at], events.begin),
            end=np.where(known, calls.end[at], events.end),
        )
    stays = ~known & (events.location == going_on) & (events.region < 0)
    without = bars.take((bars.kind == STACK_KINDS.index("none")) & functions.does_io[bars.region])
    return MetadataCalls.concatenate([events.take(~stays), _of_calls(without, functions)]), events.take(stays)


def _within(found: MetadataCalls, window: TickWindow) -> MetadataCalls:
    return found.take(window.contains(np.where(found.kind == NO_EVENT, found.begin, found.time)))


def _of_events(events: IoEvents, objects: EventObjects, scope: Scope) -> MetadataCalls:
    """Return metadata events, those of some events that are none of an operation."""
    events = events.take(~np.isin(events.kind, _OF_OPERATIONS))
    handle, file, paradigm = objects.of(events)
    return _rows(
        len(events), **{name: getattr(events, name) for name in _OF_EVENTS}, handle=handle, file=file,
        layer=scope.layer_rows(paradigm), begin=events.time, end=events.time,
    )  # fmt: skip


def _of_calls(bars: StackBars, functions: FunctionGroups) -> MetadataCalls:
    known = {name: getattr(bars, name) for name in ("location", "region", "begin", "end")}
    return _rows(len(bars), **known, layer=functions.layer[bars.region])


def _rows(count: int, **known: Array) -> MetadataCalls:
    """Return rows of which some columns are known."""
    columns = {**_UNKNOWN, **known}
    types = zip(fields(MetadataCalls), column_types(MetadataCalls), strict=True)
    return MetadataCalls(*(np.broadcast_to(np.asarray(columns[one.name], dtype), count) for one, dtype in types))
