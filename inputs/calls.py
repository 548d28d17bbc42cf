"""Calls of functions as recorders have them, with begin and end, told as Enter and Leave to what follows calls."""

from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..model.arrays import Frozen, Ints, Links, Mask, Rows, Ticks
from ..model.codes import IoRecord
from ..model.events import IoEvents
from ..model.operations import Operations
from ..model.stream.calls import EventBatch, RegionEvents, Regions


class NestedCalls(NamedTuple):
    """Calls one inside the other, by location and begin; columns of shape (n,).

    Attributes
    ----------
    order : int64
        The row of each.
    parent : int64
        Place in `order` of the call that it is in, −1 for none.
    sequence : int64 (2n,)
        What is entered and left, in the order in which it is: a place in `order`, of a Leave −1 − that.
    end : int64
        In ticks, not after that of the call around it.
    """

    order: Rows
    parent: Ints
    sequence: Ints
    end: Ticks


def nested_calls(location: Links, begin: Ticks, end: Ticks, inner: Ints) -> NestedCalls:
    """Find which call is in which, from their times in a location; of those of the same times the least `inner` is
    around the others.
    """
    from .nesting import nest

    order = np.lexsort((inner, -end, begin, location))
    clipped, parent = np.maximum(end, begin)[order], np.empty(len(order), np.int64)
    sequence = np.empty(2 * len(order), np.int64)
    nest(location[order], begin[order], clipped, parent, sequence)
    return NestedCalls(order, parent, sequence, clipped)


class CalledFunctions(Frozen):
    """All calls of a run, of functions that do I/O and of others; columns of shape (n,).

    Attributes
    ----------
    function : int32
        Row in `regions`.
    nested : NestedCalls
    of_transfer, of_event : int64
        The call of each row of transfers, and of each metadata event.
    """

    regions: Regions
    location: Links
    begin: Ticks
    function: Links
    nested: NestedCalls
    of_transfer: Ints
    of_event: Ints


class CallEvents(Frozen):
    """Enter and Leave of calls, and the events in them, by location."""

    called: CalledFunctions
    operations: Operations
    metadata: IoEvents
    rows: Rows
    """Rows of transfers that the operations are."""

    @cached_property
    def _events(self) -> tuple[IoEvents, Ints, RegionEvents]:
        """Return an event of each operation and metadata event, its row there, and what all calls entered and left.

        Rows of metadata events are −1 − row.
        """
        called, operations = self.called, self.operations
        of_calls = np.concatenate([called.of_transfer[self.rows], called.of_event])
        row = np.concatenate([np.arange(len(operations)), -1 - np.arange(len(self.metadata))])
        begins = IoEvents(
            location=operations.location,
            kind=np.full(len(operations), IoRecord.OPERATION_BEGIN, np.uint8),
            time=operations.begin,
            handle=operations.handle.astype(np.uint32),
            mode=operations.mode,
            flags=operations.flags,
            matching=operations.matching,
            value=operations.requested,
            offset=operations.offset,
        )
        order, _, sequence, end = called.nested
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        events = np.argsort(place[of_calls], kind="stable")
        enter = sequence >= 0
        call = np.where(enter, sequence, -1 - sequence)
        # Behind the events of all calls that were entered before.
        position = np.asarray(np.searchsorted(place[of_calls[events]], np.cumsum(enter) - enter), np.int64)
        regions = RegionEvents(
            location=called.location[order[call]],
            time=np.where(enter, called.begin[order[call]], end[call]),
            region=called.function[order[call]].astype(np.uint32),
            enter=enter,
            position=position,
        )
        return IoEvents.concatenate([begins, self.metadata]).take(events), row[events], regions

    def batch(self, wanted: Mask) -> tuple[EventBatch, Ints]:
        """Return what happened in the `wanted` locations, and the row of each event as `_events` has it."""
        events, row, regions = self._events
        chosen, before = wanted[events.location], regions.take(wanted[regions.location])
        position = np.concatenate([[0], np.cumsum(chosen)])[before.position]
        return EventBatch(events.take(chosen), replace(before, position=position)), row[chosen]
