"""Events that cannot be true: far outside of the trace's time, or of more bytes than any operation moves."""

from collections import Counter
from dataclasses import replace
from typing import Final

import numpy as np

from ...model.arrays import Mask, Unsigned
from ...model.codes import MOST_BYTES, UNDEFINED_UINT64, IoRecord
from ...model.definitions import Clock, Definitions
from ...model.events import IoEvents
from ...model.stream.calls import EventBatch, RegionEvents
from ...model.stream.damage import LocationDamage

SLACK_SECONDS: Final = 3600
"""How far corrected clocks may move an event past the trace's edges."""

LONGEST: Final = 2**61
"""Ticks of a trace that are believed."""

_OFFSET_ATTRIBUTE: Final = "Offset"

_CLAIMS: Final = ("to be more than an hour outside of the trace", f"more than {MOST_BYTES} bytes")

FAR_CALLS: Final = "claim to be more than an hour outside of the trace and count as where the event before is"


class ImplausibleEvents:
    """Leaves such events out and counts them; the rest of their locations is sound."""

    def __init__(self, definitions: Definitions) -> None:
        self._definitions = definitions
        self._counts: tuple[Counter[int], ...] = tuple(Counter() for _ in _CLAIMS)
        self._crossings = Counter[int]()

    def plausible(self, events: IoEvents) -> Mask | None:
        """Return which events are plausible, bool (n,); None where all are."""
        if not len(events) or not _may_be_implausible(events, self._definitions.clock):
            return None
        far = outside(events, self._definitions.clock)
        transfers = (events.kind == IoRecord.OPERATION_BEGIN) | (events.kind == IoRecord.OPERATION_COMPLETE)
        large = ~far & transfers & (events.value > MOST_BYTES) & (events.value != UNDEFINED_UINT64)
        for counter, mask in zip(self._counts, (far, large), strict=True):
            counter.update(events.location[mask].tolist())
        return np.asarray(~(far | large), np.bool_)

    def leave_out(self, batch: EventBatch) -> EventBatch:
        """Return a batch without the I/O events that are not plausible, and with calls at times that are."""
        batch = replace(batch, regions=self._within(batch.regions))
        plausible = self.plausible(batch.events)
        if plausible is None:
            return batch
        place = np.concatenate(([0], np.cumsum(plausible)))
        regions = replace(batch.regions, position=place[batch.regions.position])
        return EventBatch(batch.events.take(plausible), regions)

    def _within(self, regions: RegionEvents) -> RegionEvents:
        """Return Enter and Leave at times that can be: one that cannot is where the one before it in its file is.

        Without it those around would be taken for each other's.
        """
        first, last = _bounds(self._definitions.clock)
        if not len(regions) or (first <= regions.time.min() and regions.time.max() <= last):
            return regions
        order = np.argsort(regions.location, kind="stable")
        location, time = regions.location[order], regions.time[order]
        # Of a parameter the time is its value.
        far = (regions.position[order] >= 0) & ((time < first) | (time > last))
        self._crossings.update(location[far].tolist())
        fresh = np.diff(location, prepend=-1) != 0
        before = np.maximum.accumulate(np.where(~far | fresh, np.arange(len(time)), 0))
        found = np.empty_like(time)
        found[order] = np.where(far, np.clip(time[before], first, last), time)
        return replace(regions, time=found)

    @property
    def crossings(self) -> int:
        """How many Enter and Leave were at a time that cannot be, where no I/O event was: else its loss tells."""
        return sum(count for row, count in self._crossings.items() if row not in self._counts[0])

    def damage(
        self, known: tuple[LocationDamage, ...], expected: Unsigned, counts: Unsigned
    ) -> tuple[LocationDamage, ...]:
        """Add to `known` the locations whose events were left out; what is known of a location already stays.

        Parameters
        ----------
        expected, counts : uint64 (locations,)
            Number of all events that there should be, and of those read.
        """
        rows = {one.row for one in known}
        locations = self._definitions.locations
        added = [
            LocationDamage(int(locations.id[row]), row, int(expected[row]), int(counts[row]), self._reason(row))
            for row in set().union(*self._counts, self._crossings)
            if row not in rows
        ]
        return tuple(sorted((*known, *added), key=lambda one: one.row))

    def _reason(self, row: int) -> str:
        counts = zip((counter[row] for counter in self._counts), _CLAIMS, strict=True)
        claims = [f"{count} of its I/O events claim {claim}" for count, claim in counts if count]
        told = [f"{' and '.join(claims)} and are ignored"] if claims else []
        if crossings := self._crossings[row]:
            told.append(f"{crossings} of its Enter and Leave {FAR_CALLS}")
        return "; ".join(told)


def outside(events: IoEvents, clock: Clock) -> Mask:
    """Return which events are more than an hour before the trace's start or behind its end, bool (n,)."""
    first, last = _bounds(clock)
    return (events.time < first) | (events.time > last)


def slack(clock: Clock) -> int:
    """Return the ticks by which an event may lie outside of the trace."""
    return min(SLACK_SECONDS * clock.ticks_per_second, LONGEST)


def _bounds(clock: Clock) -> tuple[int, int]:
    return -slack(clock), min(clock.length, LONGEST) + slack(clock)


def credible_times(clock: Clock) -> tuple[int, int]:
    """Return ticks outside of which a time makes no sense at all: what reads it looks closer whether it is garbage."""
    slack = min(clock.length + SLACK_SECONDS * clock.ticks_per_second, LONGEST)
    return -slack, min(clock.length, LONGEST) + slack


def longest_within(clock: Clock) -> int:
    """Return how many ticks before and after the first time stamp of a file others can be, before they are garbage."""
    return min(2 * clock.length + SLACK_SECONDS * clock.ticks_per_second, LONGEST)


def offset_attributes(definitions: Definitions) -> list[int]:
    """Return the ids of the attributes that tell the position in a file at which an operation begins."""
    return sorted(identity for identity, name in definitions.attributes.items() if name == _OFFSET_ATTRIBUTE)


def _may_be_implausible(events: IoEvents, clock: Clock) -> bool:
    """Return whether a second look is needed, which costs more."""
    first, last = _bounds(clock)
    # The undefined number of bytes is −1 by its bits.
    value = events.value.view(np.int64)
    far = events.time.min() < first or events.time.max() > last
    return bool(far or value.min() < -1 or value.max() > MOST_BYTES)
