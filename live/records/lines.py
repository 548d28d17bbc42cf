"""Lines of a source become records: JSON of operations or bins, TMIO's, server counters and LDMS's events as CSV."""

import csv
import json
import math
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any, Final

from ...inputs.table.ldms import LAYERS
from ...inputs.tmio import bandwidth_rows
from .intake import MOST_BYTES, MOST_LAYERS, Intake, Key, ReadRecords

LONGEST_LINE: Final = 2**20
MOST_BINS: Final = 2**16
FARTHEST: Final = 1e12
"""Times in s beyond which a record is malformed."""
MODES: Final = ("read", "write")
SERVER: Final = "server"
"""The layer that counters of a server are shown as."""


class LineReader:
    """Takes the bytes of one stream in pieces of any size, and hands their records to a job."""

    def __init__(self, job: Intake) -> None:
        self._job = job
        self._rest = b""
        self._too_long = False
        self._offset = 0.0
        self._begun = False
        self._anew = False
        self._keys: dict[object, Key] = {}
        self._columns: list[str] | None = None
        self._places: list[int] = []
        self._of_job: str | None = None
        self._row: tuple[float, list[float]] | None = None
        self._records = ReadRecords()
        self._decode = json.JSONDecoder().raw_decode
        self.ended = False

    def feed(self, data: bytes) -> None:
        """Take bytes; what stands behind the last line's end waits."""
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        for line in lines:
            if self._too_long:
                self._too_long = False
            elif len(line) > LONGEST_LINE:
                self._job.counts.malformed += 1
            else:
                self._line(line)
        if len(self._rest) > LONGEST_LINE:
            self._job.counts.malformed += not self._too_long
            self._rest, self._too_long = b"", True
        self._hand_over()

    def finish(self) -> None:
        """Take the last line, which has no end, if it is a whole one."""
        if self._rest.strip() and not self._too_long:
            self._line(self._rest)
        self._rest = b""
        self._hand_over()

    def truncated(self) -> None:
        """Say that the file was cut or replaced: what follows is its beginning."""
        self._job.counts.truncations += 1
        self._rest, self._too_long, self._anew = b"", False, True
        self._columns, self._row, self._places, self._of_job = None, None, [], None

    def _line(self, line: bytes) -> None:
        try:
            text = line.decode()
            if text[:1] != "{":
                text = text.strip()
            if text[:1] == "{":
                entry, length = self._decode(text)
                if length < len(text) and text[length:].strip():
                    raise ValueError
                self._entry(entry)
            elif text:
                self._counters(text)
        except (ValueError, TypeError, KeyError, RecursionError, OverflowError, AttributeError, csv.Error):
            self._job.counts.malformed += 1

    def _entry(self, entry: dict[str, Any]) -> None:
        kind = entry.get("kind", "operation")
        if kind == "operation":
            if "layer" not in entry:
                self._tmio(entry)
                return
            key = self._key(entry["layer"], entry["mode"])
            start, end, volume = entry["start"], entry["end"], entry["bytes"]
            if not (type(start) is type(end) is float and type(volume) is int):
                start, end, volume = _number(start), _number(end), _whole(volume)
            if not 0 <= volume <= MOST_BYTES:
                raise ValueError
            self._add(key, start, end, volume)
            return
        if kind == "bins":
            self._bins(entry)
            return
        # The clock is that of all that was read before.
        self._hand_over()
        if kind == "time":
            self._time(_number(entry["time"]))
        elif kind == "header":
            self._header(entry)
        elif kind == "end":
            self.ended = True
            if "time" in entry:
                self._time(_number(entry["time"]))
        else:
            raise ValueError

    def _time(self, time: float) -> None:
        """Take note that all up to this time is told."""
        self._begin(time)
        clock = self._job.clock
        if clock.now is None or clock.reaches(time + self._offset):
            clock.advance(time + self._offset, time + self._offset)

    def _key(self, layer: object, mode: object) -> Key:
        key = self._keys.get((layer, mode))
        if key is None:
            key = Key(_name(layer), _mode(mode))
            if len(self._keys) < MOST_LAYERS:
                self._keys[key] = key
        return key

    def _bins(self, entry: dict[str, Any]) -> None:
        key = self._key(entry["layer"], entry["mode"])
        origin, width, first = _number(entry["origin"]), _number(entry["width"]), entry["first"]
        volumes = entry["bytes"]
        if not (width > 0 and isinstance(first, int) and isinstance(volumes, list) and len(volumes) <= MOST_BINS):
            raise ValueError
        moved = list(map(_whole, volumes))
        counts = _shared_out(_whole(entry.get("operations", 0)), moved)
        self._job.grain[key] = width
        for row, (volume, operations) in enumerate(zip(moved, counts, strict=True), first):
            if volume:
                self._add(key, origin + row * width, origin + (row + 1) * width, volume, operations)

    def _header(self, entry: dict[str, Any]) -> None:
        job = self._job
        origin = entry.get("origin")
        epoch = None if origin is None else _number(origin)
        if self._begun or self._anew:
            job.counts.restarts += 1
        self.ended, self._anew = False, False
        if epoch is not None:
            if job.epoch is None:
                job.epoch = epoch
            self._offset = epoch - job.epoch
        elif self._begun and job.clock.now is not None:
            # A writer that begins anew without an origin begins now.
            self._offset = job.clock.now
        if not job.program and isinstance(entry.get("program"), str):
            job.program = entry["program"][:200]
        self._begun = True

    def _begin(self, time: float) -> None:
        """Look at the first time in a stream, or in a file that was replaced."""
        job = self._job
        if self._anew:
            self._anew = False
            self._hand_over()
            now, begin = job.clock.now, job.clock.begin
            if now is not None and begin is not None and time + self._offset < 0.5 * (begin + now):
                job.counts.restarts += 1
                self._offset = now - time
        self._begun = True

    def _add(self, key: Key, start: float, end: float, volume: int, operations: int = 1) -> None:
        if not -FARTHEST < start <= end < FARTHEST:
            raise ValueError
        if not self._begun or self._anew:
            self._begin(start)
        offset = self._offset
        self._records.append(key, start + offset, end + offset, volume, operations)

    def _hand_over(self) -> None:
        """Hand to the job what was read since the last time."""
        records, self._records = self._records, ReadRecords()
        self._job.take_in(records)

    def _tmio(self, entry: dict[str, Any]) -> None:
        for direction, rows in bandwidth_rows(entry):
            for volume, start, end in rows:
                if not 0 <= volume <= MOST_BYTES:
                    raise ValueError
                self._add(Key("MPI-IO", direction), start, end, round(volume))

    def _counters(self, line: str) -> None:
        """Take a row of a table of rates, which hold from its time to that of the next row; or of LDMS's events."""
        cells = [cell.strip() for cell in next(csv.reader([line]))]
        if self._columns is None:
            self._head(cells)
        elif self._places:
            self._event(*(cells[place] for place in self._places))
        elif len(cells) == len(self._columns) + 1:
            self._rates(self._columns, cells)
        else:
            raise ValueError

    def _head(self, cells: list[str]) -> None:
        if set(_EVENT) <= set(cells):
            self._columns, self._places = cells, [cells.index(name) for name in _EVENT]
        elif cells[0] == "time" and len(cells) > 1 and all(cell in _RATES for cell in cells[1:]):
            self._columns = [_RATES[cell] for cell in cells[1:]]
        else:
            raise ValueError

    def _rates(self, directions: list[str], cells: list[str]) -> None:
        time, *rates = (_number(float(cell)) if cell else math.nan for cell in cells)
        before, self._row = self._row, (time, rates)
        if before is None or not before[0] < time:
            return
        for direction, rate in zip(directions, before[1], strict=True):
            if rate > 0:
                self._job.grain[Key(SERVER, direction)] = time - before[0]
                self._add(Key(SERVER, direction), before[0], time, _whole(round(rate * (time - before[0]))))

    def _event(self, job: str, module: str, kind: str, volume: str, start: str, took: str) -> None:
        """Take an event of the Darshan connector of LDMS; only what moves bytes is followed, of the first job."""
        self._of_job = self._of_job or job
        if kind in MODES and job != self._of_job:
            # Times are from the job's start: those of several jobs have no clock in common.
            self._job.counts.refused += 1
        elif kind in MODES:
            begin = _number(float(start))
            self._add(self._key(LAYERS[module], kind), begin, begin + _number(float(took)), _whole(int(volume)))


def _shared_out(operations: int, moved: Sequence[int]) -> list[int]:
    """Return how many of some operations are of each bin, by what moved in it; one each where none are told.

    Each stretch of bins in which something moved has one at least, where there are as many.
    """
    if not operations:
        return [int(volume > 0) for volume in moved]
    begins = [int(volume > 0 and not before) for before, volume in pairwise([0, *moved])]
    counts = begins if sum(begins) <= operations else [0] * len(moved)
    whole, left = max(sum(moved), 1), operations - sum(counts)
    shares = [left * until // whole for until in accumulate(moved, initial=0)]
    return [count + high - low for count, (low, high) in zip(counts, pairwise(shares), strict=True)]


_EVENT: Final = ("job_id", "module", "op", "len", "start", "dur")
_RATES: Final = {"bytes_per_second": "total", "read_bytes_per_second": "read", "write_bytes_per_second": "write"}


def _name(value: object) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= 200:
        raise ValueError
    return value


def _mode(value: object) -> str:
    if value not in MODES:
        raise ValueError
    return str(value)


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < FARTHEST:
        raise ValueError
    return float(value)


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError
    if value != int(value) or not 0 <= value <= MOST_BYTES:
        raise ValueError
    return int(value)
