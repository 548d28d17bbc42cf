"""A table of operations as a source."""

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...model.arrays import Ints, Links, Mask, RowsOfIds, Ticks, column_at
from ...model.codes import (
    KNOWN_STACK,
    METADATA_NAMES,
    OTHER_CALL,
    UNDEFINED_TIME,
    UNDEFINED_UINT32,
    UNDEFINED_UINT64,
    IoFlag,
    IoMode,
    Status,
)
from ...model.definitions import Clock, Definitions
from ...model.errors import TraceError
from ...model.events import EVENT_TYPES, IoEvents
from ...model.quantities import counted
from ...model.stream.damage import LocationDamage
from ...model.stream.keeping import Kept
from ..recognition import Recorder
from ..rows import LONGEST, NANOSECONDS, Checked, HandleTable, Run, Transfers, checked, pairs_of
from ..source import RowSource
from .columns import TableColumns, flags_of, names_of, numbers
from .definitions import KEPT_AS, definitions_of
from .files import is_table, read_table

_MODES: Final = {"read": IoMode.READ, "r": IoMode.READ, "write": IoMode.WRITE, "w": IoMode.WRITE, "flush": IoMode.FLUSH}
_STATUSES: Final = {
    "complete": Status.COMPLETE,
    "cancelled": Status.CANCELLED,
    "never completed": Status.NEVER_COMPLETED,
}
_EVENTS: Final = {name: kind for kind, name in METADATA_NAMES.items()} | {OTHER_CALL: 0}
"""Rows that are no operations, by their kind; what a call without an event took is not taken back."""
_NO_DAMAGE: Final[tuple[LocationDamage, ...]] = ()
_SINCE_1970: Final = 10**18
"""ns from which on times count since 1970-01-01 UTC (they are after 2001): no run lasts for 31 years."""
_IN_2100: Final = 4_102_444_800 * 10**9
_NO_FILE: Final = "files not recorded"
UNKNOWN: Final = -1


def open_table(path: Path) -> RowSource:
    """Read a table of operations: what `iostrata.write_parquet` writes, CSV, JSON lines or Parquet.

    Raises TraceError if it cannot be read or lacks a column that is needed.
    """
    table = read_table(path)
    stored = table.metadata.get(b"iostrata_definitions")
    if stored is not None and {"thread", "handle", "begin_ticks", "end_ticks"} <= table.columns.keys():
        metadata = EVENT_TYPES.keys() <= table.columns.keys()
        return _own(path, table, _Rows(table, _EVENTS), *definitions_of(stored, path, metadata))
    return _any(path, table, _Rows(table, {}))


class _Rows:
    """What is read alike of any table."""

    def __init__(self, table: TableColumns, events: Mapping[str, int]) -> None:
        """Take a table, in which `events` are the kinds of rows that are no operations, with their codes."""
        self.count = table.rows
        self._columns = table.columns
        self.faults: dict[str, Mask] = {}
        self.layer, self.layers = names_of(table.columns["layer"])
        self.faults["no layer"] = self.layer < 0
        self.mode = np.full(self.count, 255, np.uint8)
        self.event = np.full(self.count, 255, np.uint8)
        if "mode" in table.columns:
            mode, modes = names_of(table.columns["mode"])
            codes = np.array([*(_MODES.get(name.strip().lower(), 255) for name in modes), 255], np.uint8)
            self.mode = codes[mode]
            self.event = np.array([*(events.get(name, 255) for name in modes), 255], np.uint8)[mode]
            self.faults["neither read, write nor flush"] = (self.mode == 255) & ~self.is_event
        self.status = np.full(self.count, Status.COMPLETE, np.uint8)
        if "status" in table.columns:
            status, names = names_of(table.columns["status"])
            known = np.array([*(_STATUSES.get(name.strip().lower(), 255) for name in names), 255], np.uint8)
            self.status = known[status]
            self.faults["an unknown status"] = self.status == 255
        self.never = self.status == Status.NEVER_COMPLETED
        self.flags = np.zeros(self.count, np.uint32)
        for role, flag in (("collective", IoFlag.COLLECTIVE), ("non_blocking", IoFlag.NON_BLOCKING)):
            if role in table.columns:
                yes, neither = flags_of(table.columns[role])
                self.flags |= np.where(yes, np.uint32(flag), np.uint32(0))
                self.faults[f"{role} that is neither true nor false"] = neither
        whole = {"bytes", "mode"} <= table.columns.keys()
        self.moved = self._amounts("bytes") if whole else self._moved_by_direction()
        self.requested = self._amounts("requested") if "requested" in table.columns else self.moved
        self.offset = self._amounts("offset") if "offset" in table.columns else np.full(self.count, -1, np.int64)

    @property
    def is_event(self) -> Mask:
        """Which rows are of metadata events or of calls without an event, bool (n,)."""
        return np.asarray(self.event != 255, np.bool_)

    def _moved_by_direction(self) -> Ints:
        """Return the bytes of columns that are each of one direction, which is that of the row where none is given."""
        sides = {
            mode: self._amounts(role)
            for role, mode in (("read", IoMode.READ), ("written", IoMode.WRITE))
            if role in self._columns
        }
        if "mode" not in self._columns:
            moving = [moved > 0 for moved in sides.values()]
            if len(sides) == 1:
                self.mode[:] = next(iter(sides))
            else:
                for mode, some in zip(sides, moving, strict=True):
                    self.mode[some] = mode
                self.faults["both read and written in one row"] = np.logical_and.reduce(moving)
                self.faults["nothing read or written, so that nobody knows which it was"] = ~np.logical_or.reduce(
                    moving
                )
        moved = np.full(self.count, -1, np.int64)
        for mode, amounts in sides.items():
            moved = np.where(self.mode == mode, amounts, moved)
        return moved

    def _amounts(self, role: str) -> Ints:
        """Return bytes, −1 where a row leaves them out; fractions, negative ones and what is no number are faults."""
        values, known = numbers(self._columns[role])
        absent = ~np.asarray(self._columns[role].is_valid())
        whole = known & (values >= 0)
        if values.dtype.kind == "f":
            whole &= (values == np.floor(values)) & (values < 2.0**63)
        what = {"read": "bytes_read", "written": "bytes_written"}.get(role, role)
        self.faults[f"{what} that are no number of bytes"] = ~whole & ~absent
        return np.where(whole, np.where(whole, values, 0).astype(np.int64), -1)


def _times(path: Path, table: TableColumns, rows: _Rows) -> tuple[Ticks, Ticks, int | None]:
    """Return begin and end in ns from the run's start, and that start where times count since 1970."""
    start, start_known = numbers(table.columns["start"])
    end, end_known = numbers(table.columns["end"])
    rows.faults["a start that is no time"] = ~start_known
    rows.faults["an end that is no time"] = ~end_known & ~rows.never
    factors = table.scale["start"], table.scale["end"]
    origin = 0
    since_1970 = start_known & (start >= _SINCE_1970 / factors[0])
    if table.since_1970 and 2 * np.count_nonzero(since_1970) <= np.count_nonzero(start_known):
        since_1970 = start_known & (start >= 0)
    if 2 * np.count_nonzero(since_1970) > np.count_nonzero(start_known):
        # Whole units of the column, so that subtracting them rounds nothing.
        # Not by NumPy, whose older versions make whole numbers floating.
        first = math.floor(start[since_1970].min().item())
        if first * factors[0] >= _IN_2100:
            raise TraceError(
                f"{path}: the table's times start at {first}, after the year 2100 in their unit; name the right one at "
                "the end of the columns' names: start_ms, start_us, start_ns"
            )
        origin = first * factors[0]
    else:
        rows.faults["a start since 1970, where most count from the run's start"] = since_1970

    def ticks(values: npt.NDArray[Any], sound: Mask, factor: int) -> Ticks:
        relative = values - values.dtype.type(origin // factor) if origin % factor == 0 else values - origin / factor
        far = ~sound | (np.abs(relative.astype(np.float64)) > LONGEST / factor)
        if values.dtype.kind == "i":
            return np.where(far, 2 * LONGEST, np.where(far, 0, relative) * factor).astype(np.int64)
        return np.where(far, 2 * LONGEST, np.rint(np.where(far, 0, relative) * factor)).astype(np.int64)

    begin = ticks(start, start_known, factors[0])
    finish = np.where(rows.never & ~end_known, UNDEFINED_TIME, ticks(end, end_known, factors[1]))
    return begin, finish, origin or None


def _any(path: Path, table: TableColumns, rows: _Rows) -> RowSource:
    """Make definitions of the columns."""
    columns = table.columns
    if rows.count and not rows.layers:
        raise TraceError(f"{path}: none of the {rows.count} rows of the table names its layer")
    begin, end, realtime = _times(path, table, rows)
    given, known = numbers(columns["rank"])
    whole = known & (given >= 0) & (given < 2**31) & (given == np.floor(given))
    absent = ~np.asarray(columns["rank"].is_valid())
    rows.faults["a rank that is no number of a rank"] = ~whole & ~absent
    rank = np.where(whole, np.where(whole, given, 0), -1).astype(np.int64)
    thread, threads = names_of(columns["thread"]) if "thread" in columns else (np.zeros(rows.count, np.int32), ("",))
    ranks, process = np.unique(rank, return_inverse=True)
    place, location_process, location_thread = pairs_of(process.reshape(-1), thread + 1)
    if not rows.count:
        ranks, location_process, location_thread = np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(1, np.int64)
    nodes = _node_of_each(columns, process.reshape(-1), len(ranks))
    file, files = names_of(columns["file"]) if "file" in columns else (np.full(rows.count, -1, np.int32), ())
    handle, table_of_handles, kind, files = _handles(columns, rows, file, files)
    found = checked(
        _transfers(rows, place, handle, begin, end),
        location_process.astype(np.int32),
        rows.faults,
        below=table_of_handles.below(rows.layers),
    )
    recording = RECORDER.recording(
        format="table of operations, one row each",
        handles=kind,
        ranks=bool((ranks >= 0).any()),
        nodes="node" in columns,
        threads="thread" in columns,
        metadata=False,
        offsets="offset" in columns,
        collective="collective" in columns,
        notes=table.notes,
        flushes=bool((rows.mode == IoMode.FLUSH).any()),
        layers=(),
    )
    run = Run(
        recording=recording,
        clock=Clock(NANOSECONDS, 0, _length(found), realtime),
        ranks=ranks,
        process_names=tuple(f"rank {one}" if one >= 0 else "rank unknown" for one in ranks.tolist()),
        nodes=nodes,
        location_process=location_process.astype(np.int32),
        location_names=tuple(("", *threads)[one] or "thread" for one in location_thread.tolist()),
        paradigms=rows.layers,
        files=files,
        file_properties=tuple({} for _ in files),
        handles=table_of_handles,
    )
    return _source(path, table, run.definitions(found.promised), found)


def _node_of_each(columns: dict[str, Any], process: npt.NDArray[np.integer], count: int) -> tuple[str, ...]:
    """Return the node of each process: the first that is named."""
    if "node" not in columns:
        return ("",) * count
    node, names = names_of(columns["node"])
    known = np.flatnonzero(node >= 0)
    which, first = np.unique(process[known], return_index=True)
    found = dict(zip(which.tolist(), node[known][first].tolist(), strict=True))
    return tuple(names[found[row]] if row in found else "" for row in range(count))


def _handles(
    columns: dict[str, Any], rows: _Rows, file: Links, files: tuple[str, ...]
) -> tuple[Links, HandleTable, Any, tuple[str, ...]]:
    """Return the handle of each row, the table of handles, whether they are recorded, and the names of files.

    Where there is a column of handles, they are recorded, with their parents where these are named too; where there are
    only files, handles are inferred; where there is neither, one stands for all that a layer did.
    """
    layer = np.maximum(rows.layer, 0)
    if "handle" not in columns:
        kind = "inferred" if len(files) else "absent"
        if kind == "absent":
            file, files = np.zeros(rows.count, np.int32), (_NO_FILE,)
        place, of_layer, of_file = pairs_of(layer, file + 1)
        order = KNOWN_STACK if kind == "inferred" else ()
        made = HandleTable.of_files(of_layer.astype(np.int32), (of_file - 1).astype(np.int32), rows.layers, order)
        return place, made, kind, files
    if "file" not in columns:
        file, files = np.zeros(rows.count, np.int32), (_NO_FILE,)
    return *_recorded_handles(columns, rows, file), "recorded", files


def _recorded_handles(columns: dict[str, Any], rows: _Rows, file: Links) -> tuple[Links, HandleTable]:
    handle, names = names_of(columns["handle"])
    parent, parents = names_of(columns["parent"]) if "parent" in columns else (np.full(rows.count, -1, np.int32), ())
    number = {name: row for row, name in enumerate(names)}
    above = np.array([*(number.get(name, -1) for name in parents), -1], np.int32)[parent]
    known = np.flatnonzero(handle >= 0)
    which, first = np.unique(handle[known], return_index=True)

    def of_first(values: Links) -> Links:
        found = np.full(len(names), -1, np.int32)
        found[which] = values[known[first]]
        return found

    of_file, of_layer = of_first(file), of_first(rows.layer)
    rows.faults["no handle"] = handle < 0
    rows.faults["a handle of another layer or file than before"] = (column_at(of_layer, handle) != rows.layer) | (
        column_at(of_file, handle) != file
    )
    return handle, HandleTable(of_file, of_layer, of_first(above), tuple(f"handle {name}" for name in names))


def _transfers(rows: _Rows, location: Links, handle: Links, begin: Ticks, end: Ticks) -> Transfers:
    return Transfers(
        location=location,
        handle=handle,
        mode=rows.mode,
        begin=begin,
        end=end,
        moved=rows.moved,
        requested=rows.requested,
        offset=rows.offset,
        flags=rows.flags,
        status=rows.status,
        sound=np.ones(rows.count, np.bool_),
    )


def _length(found: Checked) -> int:
    extent = found.operations.extent
    return 0 if extent is None else max(extent[1], 0)


def _source(
    path: Path, table: TableColumns, definitions: Definitions, found: Checked, events: IoEvents | None = None
) -> RowSource:
    events = IoEvents.empty() if events is None else events
    damage = list(found.damage)
    if table.unreadable:
        damage.append(LocationDamage(-1, -1, table.unreadable, 0, "lines that are no rows of the table"))
    damage += [LocationDamage(-1, -1, 0, 0, fault) for fault in table.faults]
    if table.rows + table.unreadable and not len(found.operations) and not len(events):
        first = damage[0].reason if damage else "no rows"
        if len(damage) > 1:
            first += f"; the like at {counted(len(damage) - 1, 'more place')}"
        raise TraceError(f"{path}: none of the {table.rows + table.unreadable} rows can be used ({first})")
    return RowSource(path, definitions, found.operations, events, tuple(damage), found.irregular)


def _own(path: Path, table: TableColumns, rows: _Rows, definitions: Definitions, kept: Kept) -> RowSource:
    """Take the definitions that the table keeps."""
    columns = table.columns
    ids, known = numbers(columns["thread"])
    location = RowsOfIds(definitions.locations.id).rows(np.maximum(ids, 0).astype(np.uint64))
    rows.faults["an undefined location"] = ~known | (location < 0)
    handles, there = numbers(columns["handle"])
    handle = RowsOfIds(definitions.handles.id).rows(np.clip(handles, 0, 2**32 - 1).astype(np.uint32))
    handle = np.where(there, handle, np.int32(-1))
    begin, sound = numbers(columns["begin_ticks"])
    end, ended = numbers(columns["end_ticks"])
    rows.faults["no begin"] = ~sound
    rows.faults["no end"] = ~ended & ~rows.never
    begin, end = begin.astype(np.int64), np.where(ended, end, UNDEFINED_TIME).astype(np.int64)
    transfers = _transfers(rows, location, handle, begin, end)
    events, losses = IoEvents.empty(), _NO_DAMAGE
    if rows.is_event.any():
        events, losses = _events(columns, rows, location, np.append(definitions.handles.id, UNDEFINED_UINT32)[handle])
        operations = np.flatnonzero(~rows.is_event)
        transfers = transfers.take(operations)
        rows.faults.update({name: mask[operations] for name, mask in rows.faults.items()})
    found = checked(transfers, definitions.locations.group, rows.faults, early=True)
    # An interval of no duration is none of an operation.
    irregular = found.irregular if definitions.recording.rows == "operations" else {}
    found = replace(found, damage=(*found.damage, *losses, *kept.losses), irregular=irregular)
    return _source(path, table, definitions, found, events)


def _events(
    columns: dict[str, Any], rows: _Rows, location: Links, handle: npt.NDArray[np.uint32]
) -> tuple[IoEvents, tuple[LocationDamage, ...]]:
    """Return the metadata events of a table, those of a location together, and what of them cannot be used."""
    chosen = np.flatnonzero(rows.is_event & (rows.event > 0))
    values: dict[str, npt.NDArray[Any]] = {}
    sound = np.asarray(location[chosen] >= 0)
    for name, kind in EVENT_TYPES.items():
        if name not in columns:
            return IoEvents.empty(), (LocationDamage(-1, -1, len(chosen), 0, f"metadata events without {name}"),)
        column, known = numbers(columns[name])
        column, limits = column[chosen], np.iinfo(kind)
        there = known[chosen] & (column >= limits.min) & (column <= limits.max)
        values[name], sound = np.where(there, column, 0).astype(kind), sound & there
    time = values["event_ticks"]
    sound &= np.abs(time) <= LONGEST
    kept = np.flatnonzero(sound)
    kept = kept[np.lexsort((time[kept], location[chosen][kept]))]
    place = chosen[kept]
    offset = rows.offset[place]
    events = IoEvents(
        location[place].astype(np.int32),
        rows.event[place],
        time[kept],
        handle[place],
        values["event_mode"][kept],
        values["event_flags"][kept],
        np.zeros(len(kept), np.uint64),
        values["event_value"][kept].view(np.uint64),
        np.where(offset < 0, np.uint64(UNDEFINED_UINT64), np.maximum(offset, 0).astype(np.uint64)),
    )
    lost = len(chosen) - len(kept)
    damage = (LocationDamage(-1, -1, len(chosen), len(kept), f"{counted(lost, 'metadata event')} without its numbers"),)
    return events, damage if lost else ()


RECORDER: Final = Recorder(
    KEPT_AS,
    is_table,
    open_table,
    format="CSV, JSON lines, a JSON array, or Parquet, in a file or a folder",
    description="One row an operation, of any layers: what another program has written, or ``iostrata convert``.",
    page="recorders/tables.rst",
)
