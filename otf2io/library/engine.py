"""The engine ``library``: I/O events through the official library, one local reader for each location.

The library decodes every record and calls back for the I/O records only. It is asked for bounded numbers of events,
because it does not notice the end of a file that was cut: for what the check of the event file found and, where that
found nothing wrong, for one event more. A sound file ends before that one; garbage can pass for more records than it
replaced, and then the one is there.
"""

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import c_uint64, c_void_p
from dataclasses import field, replace
from typing import Any, Final

import numpy as np

from ...model.arrays import Frozen, Rows
from ...model.codes import IoMode, IoRecord
from ...model.definitions import Definitions
from ...model.events import IoEvents
from ...model.interrupts import kept_interrupts
from ...model.stream.calls import EventBatch, RegionEvents
from ...model.stream.damage import LocationDamage
from ...model.stream.extents import EXTENT, NO_EXTENT
from ..files import reasons
from ..files.anchor import COMPRESSION_NONE, Anchor
from ..files.libotf2 import SUCCESS, describe, library, open_reader
from ..matching.implausible import credible_times, longest_within, offset_attributes
from .callbacks import EdgeTimes, EventBuffer
from .file_check import (
    EventFile,
    check_event_file,
    count_credible_events,
    fingerprint,
    maps_are_sound,
    told_by_definitions,
)

_BATCH: Final = 1 << 16


class LocationEvents(Frozen):
    """What was read of a location: I/O events, the number of all events, what is wrong or None, Enter and Leave."""

    events: IoEvents = field(default_factory=IoEvents.empty)
    count: int = 0
    reason: str | None = None
    regions: RegionEvents = field(default_factory=RegionEvents.empty)


class LibraryWalk:
    """An archive's events, location by location; several threads can read different ones at once.

    They gain little, because the callbacks hold the interpreter's lock, unless few of the events are of I/O.

    Parameters
    ----------
    regions : bool or frozenset of int
        Whether Enter and Leave are wanted too, with the parameters among them; or of which regions alone.
    """

    def __init__(self, anchor: Anchor, definitions: Definitions, regions: bool | frozenset[int] = False) -> None:
        self._anchor = anchor
        self._regions = regions
        self._definitions = definitions
        self._offsets = offset_attributes(definitions)
        self._reasons: dict[int, str] = {}
        self.expected = definitions.locations.events.copy()
        self.counts = np.zeros(len(self.expected), np.uint64)
        self.extents = np.zeros(len(self.counts), EXTENT)

    def start_again(self, rows: Rows) -> None:
        """Forget what was read of the locations in `rows`."""
        self.counts[rows] = 0
        self.expected[rows] = self._definitions.locations.events[rows]
        for row in rows.tolist():
            self._reasons.pop(row, None)

    def batches(self, first: int, last: int, done: Callable[[int], None] | None = None) -> Iterator[EventBatch]:
        """Read the locations in rows `first` to `last`, not included; one batch for each.

        Parameters
        ----------
        done : callable, optional
            Called with the number of promised events passed since its last call.
        """
        lib = library()
        interrupts: list[BaseException] = []
        buffer = EventBuffer(self._offsets, interrupts, self._regions)
        with open_reader(self._anchor) as reader:
            for row in range(first, last):
                lib.OTF2_Reader_SelectLocation(reader, int(self._definitions.locations.id[row]))
            # Their outcome does not matter: what cannot be opened shows at each location.
            lib.OTF2_Reader_OpenDefFiles(reader)
            lib.OTF2_Reader_OpenEvtFiles(reader)
            try:
                reads = _BatchReader(self._anchor, self._definitions, reader, buffer)
                for row in range(first, last):
                    with kept_interrupts(interrupts):
                        read, self.expected[row] = reads.location(row)
                    self.counts[row] = read.count
                    self.extents[row] = reads.extent(row, read.count)
                    if read.reason is not None:
                        self._reasons[row] = read.reason
                    if done is not None:
                        done(int(self._definitions.locations.events[row]))
                    yield EventBatch(read.events, read.regions)
            finally:
                lib.OTF2_Reader_CloseEvtFiles(reader)
                lib.OTF2_Reader_CloseDefFiles(reader)

    def damage(self, rows: Rows) -> tuple[LocationDamage, ...]:
        """Return which locations have lost something or are damaged; meaningful when all in `rows` have been read."""
        identity = self._definitions.locations.id
        return tuple(
            LocationDamage(int(identity[row]), row, int(self.expected[row]), int(self.counts[row]), self._reasons[row])
            for row in rows.tolist()
            if row in self._reasons
        )


class _BatchReader(Frozen):
    """Reads locations one after the other with one reader of the library."""

    anchor: Anchor
    definitions: Definitions
    reader: int
    buffer: EventBuffer
    lib: ctypes.CDLL = field(default_factory=library)
    edges: EdgeTimes = field(default_factory=EdgeTimes)

    def extent(self, row: int, events: int) -> tuple[int, ...]:
        """Return what is known of a location of which so many events were read, in the order of `EXTENT`."""
        identity = int(self.definitions.locations.id[row])
        if not events or self.anchor.compression != COMPRESSION_NONE:
            return NO_EXTENT
        self.edges.times.clear()
        count = c_uint64()
        with self._event_reader(identity, self.edges.callbacks) as reader:
            self.lib.OTF2_Reader_ReadLocalEvents(self.reader, reader, 1, ctypes.byref(count))
            if events > 1:
                # To seek is not safe: the library aborts on chunks that no writer makes.
                self._register(reader, {})
                self.lib.OTF2_Reader_ReadLocalEvents(self.reader, reader, events - 2, ctypes.byref(count))
                self._register(reader, self.edges.callbacks)
                self.lib.OTF2_Reader_ReadLocalEvents(self.reader, reader, 1, ctypes.byref(count))
        owner, synchronised = told_by_definitions(
            self.anchor.location_file(identity, "def"), self.anchor.definition_chunk, identity
        )
        if not self.edges.times:
            return NO_EXTENT
        known = self.edges.times[0], self.edges.times[-1], *synchronised
        times = ((time - self.definitions.clock.start + 2**63) % 2**64 - 2**63 for time in known)
        begin, end, first, last = (*times, 0, -1)[:4]
        return begin, end, owner, first, last, self._fingerprint(identity)

    def location(self, row: int) -> tuple[LocationEvents, int]:
        """Read what is sound of the location in `row`; also give how many events it should have."""
        promised = int(self.definitions.locations.events[row])
        file = self._check(row, promised)
        if not file.sound:
            return LocationEvents(reason=file.reason), file.expected
        problem = self._read_definitions(int(self.definitions.locations.id[row]))
        if problem is not None:
            return LocationEvents(reason=problem), promised
        read = self._read(row, file.sound + (file.reason is None))
        off = read.reason is not None or read.count != file.sound or _senseless(read.events, self.definitions)
        if off and file.expected > promised:
            # The headers agree, what they stand before does not: then the definitions are believed.
            file = replace(file, sound=promised, expected=promised, reason=reasons.MORE.format(expected=promised))
            read = self._read(row, promised)
            off = read.reason is not None or read.count != promised or _senseless(read.events, self.definitions)
        backwards = bool(np.any(np.diff(read.events.time) < 0))
        if off or backwards:
            read = self._read_credible(row, file, read)
        order = reasons.BACKWARDS if backwards else None
        return replace(read, reason=read.reason or file.reason or order), file.expected

    def _check(self, row: int, promised: int) -> EventFile:
        path = self.anchor.location_file(int(self.definitions.locations.id[row]), "evt")
        if self.anchor.compression == COMPRESSION_NONE:
            return check_event_file(path, promised, self.anchor.event_chunk)
        return EventFile(path, promised, promised)

    def _read_definitions(self, location: int) -> str | None:
        """Read the location's own definitions; without them its ids and times are not those of the archive."""
        path = self.anchor.location_file(location, "def")
        try:
            sound = self.anchor.compression != COMPRESSION_NONE or maps_are_sound(path, self.anchor.definition_chunk)
        except FileNotFoundError:
            return reasons.NO_DEFINITIONS
        outcome: int | None = None
        reader = self.lib.OTF2_Reader_GetDefReader(self.reader, location) if sound else None
        if reader:
            count = c_uint64()
            outcome = self.lib.OTF2_Reader_ReadAllLocalDefinitions(self.reader, reader, ctypes.byref(count))
            self.lib.OTF2_Reader_CloseDefReader(self.reader, reader)
        return None if outcome == SUCCESS else reasons.BAD_DEFINITIONS

    def _read(self, row: int, limit: int) -> LocationEvents:
        """Read the first `limit` events of a location."""
        location = int(self.definitions.locations.id[row])
        start = self.definitions.clock.start
        parts, regions = [IoEvents.empty()], [RegionEvents.empty()]
        rows = total = 0
        count, outcome = c_uint64(), SUCCESS
        with self._event_reader(location, self.buffer.callbacks) as reader:
            if not reader:
                return LocationEvents(reason="its event file cannot be opened")
            while total < limit:
                asked = min(_BATCH, limit - total)
                outcome = self.lib.OTF2_Reader_ReadLocalEvents(self.reader, reader, asked, ctypes.byref(count))
                if self.buffer.interrupts:
                    raise self.buffer.interrupts[0]
                crossed = self.buffer.take_regions(row, start)
                position = crossed.position + np.where(crossed.position < 0, -rows, rows)
                regions.append(replace(crossed, position=position))
                parts.append(self.buffer.take(row, start))
                rows += len(parts[-1])
                total += count.value
                if outcome != SUCCESS or count.value < asked:
                    break
        reason = None if outcome == SUCCESS else describe(outcome)
        return LocationEvents(IoEvents.concatenate(parts), total, reason, RegionEvents.concatenate(regions))

    def _fingerprint(self, identity: int) -> int:
        return fingerprint(self.anchor.location_file(identity, "evt"), self.anchor.event_chunk)

    @contextmanager
    def _event_reader(self, location: int, callbacks: dict[str, Any]) -> Iterator[Any]:
        lib = self.lib
        reader = lib.OTF2_Reader_GetEvtReader(self.reader, location)
        if not reader:
            yield None
            return
        self._register(reader, callbacks)
        try:
            yield reader
        finally:
            lib.OTF2_Reader_CloseEvtReader(self.reader, reader)

    def _register(self, reader: int, callbacks: dict[str, Any]) -> None:
        """Let a reader of events call these from now on."""
        lib = self.lib
        table = c_void_p(lib.OTF2_EvtReaderCallbacks_New())
        for record, callback in callbacks.items():
            getattr(lib, f"OTF2_EvtReaderCallbacks_Set{record}Callback")(table, callback)
        lib.OTF2_Reader_RegisterEvtCallbacks(self.reader, reader, table, None)
        lib.OTF2_EvtReaderCallbacks_Delete(table)

    def _read_credible(self, row: int, file: EventFile, read: LocationEvents) -> LocationEvents:
        """Read a location again, up to the first record that makes no sense."""
        if self.anchor.compression != COMPRESSION_NONE:
            return replace(read, reason=read.reason or "its event file ends early")
        longest = longest_within(self.definitions.clock)
        credible, why = count_credible_events(
            file.path, file.sound, self.anchor.event_chunk, file.little_endian, longest
        )
        if why is None and read.count == file.sound:
            return read
        limit = min(credible, read.count)
        again = self._read(row, limit) if limit < read.count else read
        return replace(again, reason=reasons.GARBAGE.format(place=again.count))


def _senseless(events: IoEvents, definitions: Definitions) -> bool:
    """Whether rows hold what no tracer writes, as garbage read as records would: a reason to look closer."""
    begins = events.kind == IoRecord.OPERATION_BEGIN
    if np.any(events.mode[begins] > IoMode.FLUSH):
        return True
    earliest, latest = credible_times(definitions.clock)
    return bool(np.any((events.time < earliest) | (events.time > latest)))
