"""The engine ``library``: I/O events through the official library, one local reader for each location.

The library decodes every record and calls back for the I/O records only. It is asked for bounded numbers of events,
because it does not notice the end of a file that was cut: for what the check of the event file found and, where that
found nothing wrong, for one event more. A sound file ends before that one; garbage can pass for more records than it
replaced, and then the one is there.
"""

import ctypes
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from ctypes import c_uint64, c_void_p
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...model.codes import IoMode, IoRecord
from ...model.damage import LocationDamage
from ...model.definitions import Definitions
from ...model.events import IoEvents
from ...model.interrupts import kept_interrupts
from ..anchor import COMPRESSION_NONE, Anchor
from ..base import Progress, ProgressReport
from ..files import is_complete
from ..implausible import LONGEST, SLACK_SECONDS
from ..libotf2 import SUCCESS, describe, library, open_reader
from .callbacks import EventBuffer
from .file_check import EventFile, check_event_file, count_credible_events

_OFFSET_ATTRIBUTE: Final = "Offset"
_BATCH: Final = 1 << 16
_LOCATIONS_PER_READER: Final = 256


@dataclass(frozen=True, eq=False)
class LocationEvents:
    """What was read of one location: its I/O events, the number of all events, and what is wrong (None: nothing)."""

    events: IoEvents
    count: int
    reason: str | None


def read_with_library(
    anchor: Anchor, definitions: Definitions, workers: int | None = None, progress: Progress | None = None
) -> tuple[IoEvents, npt.NDArray[np.uint64], tuple[LocationDamage, ...]]:
    """Read the I/O events of all locations through the official library.

    Parameters
    ----------
    workers : int, optional
        Threads; each has a reader of its own. One where not given, because the callbacks hold the interpreter's lock;
        more pay where few of the events are I/O.
    progress : callable, optional
        ``(done_events, total_events)``.

    Returns
    -------
    events : IoEvents
        Locations in the order of the definitions.
    counts : uint64 (locations,)
        Number of all events read at each location.
    damage : tuple of LocationDamage
        Locations where something was lost or is damaged.
    """
    locations = definitions.locations
    total = len(locations.id)
    threads = max(1, min(workers or 1, total))
    size = max(1, min(-(-total // threads), _LOCATIONS_PER_READER))
    batches = [range(first, min(first + size, total)) for first in range(0, total, size)]
    report = ProgressReport(sum(locations.events.tolist()), progress)
    results: list[LocationEvents] = []
    interrupts: list[BaseException] = []

    def read(batch: range) -> list[LocationEvents]:
        return _read_batch(anchor, definitions, batch, report, interrupts)

    if threads == 1:
        with kept_interrupts(interrupts):
            for batch in batches:
                results.extend(read(batch))
    else:
        with ThreadPoolExecutor(threads) as pool:
            try:
                for part in pool.map(read, batches):
                    results.extend(part)
            except BaseException as error:
                # The other threads would read on to their ends.
                interrupts.append(error)
                raise
    counts = np.array([result.count for result in results], np.uint64)
    damage = tuple(
        LocationDamage(int(locations.id[row]), row, int(locations.events[row]), result.count, result.reason)
        for row, result in enumerate(results)
        if result.reason is not None
    )
    return IoEvents.concatenate([IoEvents.empty(), *(result.events for result in results)]), counts, damage


def _read_batch(
    anchor: Anchor,
    definitions: Definitions,
    rows: Sequence[int],
    report: ProgressReport,
    interrupts: list[BaseException],
) -> list[LocationEvents]:
    lib = library()
    offsets = sorted(identity for identity, name in definitions.attributes.items() if name == _OFFSET_ATTRIBUTE)
    buffer = EventBuffer(offsets, interrupts)
    with open_reader(anchor) as reader:
        for row in rows:
            lib.OTF2_Reader_SelectLocation(reader, int(definitions.locations.id[row]))
        # Their outcome does not matter: what cannot be opened shows at each location.
        lib.OTF2_Reader_OpenDefFiles(reader)
        lib.OTF2_Reader_OpenEvtFiles(reader)
        try:
            reads = _BatchReader(anchor, definitions, reader, buffer, report)
            return [reads.location(row) for row in rows]
        finally:
            lib.OTF2_Reader_CloseEvtFiles(reader)
            lib.OTF2_Reader_CloseDefFiles(reader)


class _BatchReader:
    """Reads locations one after the other with one reader of the library."""

    def __init__(
        self, anchor: Anchor, definitions: Definitions, reader: int, buffer: EventBuffer, report: ProgressReport
    ) -> None:
        self._lib = library()
        self._anchor = anchor
        self._definitions = definitions
        self._reader = reader
        self._buffer = buffer
        self._report = report

    def location(self, row: int) -> LocationEvents:
        """Read what is sound of the location in `row`."""
        promised = int(self._definitions.locations.events[row])
        file = self._check(row, promised)
        if not file.sound:
            self._report.add(promised)
            return LocationEvents(IoEvents.empty(), 0, file.reason)
        problem = self._read_definitions(int(self._definitions.locations.id[row]))
        if problem is not None:
            self._report.add(promised)
            return LocationEvents(IoEvents.empty(), 0, problem)
        read = self._read(row, file.sound + (file.reason is None), self._report)
        self._report.add(promised - read.count)
        backwards = bool(np.any(np.diff(read.events.time) < 0))
        off = read.reason is not None or read.count != file.sound
        if off or backwards or _senseless(read.events, self._definitions):
            read = self._read_credible(row, file, read)
        order = "its time stamps run backwards" if backwards else None
        return LocationEvents(read.events, read.count, read.reason or file.reason or order)

    def _check(self, row: int, promised: int) -> EventFile:
        path = self._file(int(self._definitions.locations.id[row]), "evt")
        if self._anchor.compression == COMPRESSION_NONE:
            return check_event_file(path, promised, self._anchor.event_chunk)
        return EventFile(path, promised, 0, True, promised, None)

    def _file(self, location: int, suffix: str) -> Path:
        return self._anchor.base / f"{location}.{suffix}"

    def _read_definitions(self, location: int) -> str | None:
        """Read the location's own definitions; without them its ids and times are not those of the archive."""
        path = self._file(location, "def")
        try:
            complete = is_complete(path) or self._anchor.compression != COMPRESSION_NONE
        except FileNotFoundError:
            return "its definition file is missing, so its ids and times mean nothing"
        outcome: int | None = None
        reader = self._lib.OTF2_Reader_GetDefReader(self._reader, location) if complete else None
        if reader:
            count = c_uint64()
            outcome = self._lib.OTF2_Reader_ReadAllLocalDefinitions(self._reader, reader, ctypes.byref(count))
            self._lib.OTF2_Reader_CloseDefReader(self._reader, reader)
        if outcome != SUCCESS:
            return "its definition file is damaged, so its ids and times mean nothing"
        return None

    def _read(self, row: int, limit: int, report: ProgressReport | None = None) -> LocationEvents:
        """Read the first `limit` events of a location."""
        location = int(self._definitions.locations.id[row])
        start = self._definitions.clock.start
        parts = [IoEvents.empty()]
        total = 0
        count = c_uint64()
        with self._event_reader(location) as reader:
            if not reader:
                return LocationEvents(IoEvents.empty(), 0, "its event file cannot be opened")
            while total < limit:
                asked = min(_BATCH, limit - total)
                outcome = self._lib.OTF2_Reader_ReadLocalEvents(self._reader, reader, asked, ctypes.byref(count))
                if self._buffer.interrupts:
                    raise self._buffer.interrupts[0]
                parts.append(self._buffer.take(row, start))
                total += count.value
                if report is not None:
                    report.add(count.value)
                if outcome != SUCCESS:
                    return LocationEvents(IoEvents.concatenate(parts), total, describe(outcome))
                if count.value < asked:
                    break
        return LocationEvents(IoEvents.concatenate(parts), total, None)

    @contextmanager
    def _event_reader(self, location: int) -> Iterator[Any]:
        lib = self._lib
        reader = lib.OTF2_Reader_GetEvtReader(self._reader, location)
        if not reader:
            yield None
            return
        table = c_void_p(lib.OTF2_EvtReaderCallbacks_New())
        for record, callback in self._buffer.callbacks.items():
            getattr(lib, f"OTF2_EvtReaderCallbacks_Set{record}Callback")(table, callback)
        lib.OTF2_Reader_RegisterEvtCallbacks(self._reader, reader, table, None)
        lib.OTF2_EvtReaderCallbacks_Delete(table)
        try:
            yield reader
        finally:
            lib.OTF2_Reader_CloseEvtReader(self._reader, reader)

    def _read_credible(self, row: int, file: EventFile, read: LocationEvents) -> LocationEvents:
        """Read a location again, up to the first record that makes no sense."""
        if self._anchor.compression != COMPRESSION_NONE:
            return LocationEvents(read.events, read.count, read.reason or "its event file ends early")
        clock = self._definitions.clock
        longest = 2 * clock.length + SLACK_SECONDS * clock.ticks_per_second
        credible, why = count_credible_events(
            file.path, file.sound, self._anchor.event_chunk, file.little_endian, longest
        )
        if why is None and read.count == file.sound:
            return LocationEvents(read.events, read.count, read.reason)
        limit = min(credible, read.count)
        again = self._read(row, limit) if limit < read.count else read
        return LocationEvents(again.events, again.count, f"its event file holds garbage after event {again.count}")


def _senseless(events: IoEvents, definitions: Definitions) -> bool:
    """Whether rows hold what no tracer writes, as garbage read as records would: a reason to look closer."""
    begins = events.kind == IoRecord.OPERATION_BEGIN
    if np.any(events.mode[begins] > IoMode.FLUSH):
        return True
    clock = definitions.clock
    slack = min(clock.length + SLACK_SECONDS * clock.ticks_per_second, LONGEST)
    return bool(np.any((events.time < -slack) | (events.time > min(clock.length, LONGEST) + slack)))
