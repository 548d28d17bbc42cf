"""A table of operations as a source."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

import numpy as np

from ...model.arrays import Array, Codes, Integers, Ints, Links, Mask, RowsOfIds, Ticks, column_at
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
from ...model.definitions import Definitions
from ...model.errors import TraceError
from ...model.events import EVENT_TYPES, IoEvents
from ...model.quantities import counted
from ...model.stream.damage import LocationDamage
from ...model.stream.keeping import KeptOrigin
from ..functions import NONE
from ..parquet import numbers
from ..recognition import Recorder
from ..rows import LONGEST, UNRECORDED, Transfers, checked, lost, pairs_of
from ..run import HandleTable, RecordedRun
from ..source import RowSource
from .columns import TableColumns
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
_SINCE_1970: Final = 10**18
"""ns from which on times count since 1970-01-01 UTC (they are after 2001): no run lasts for 31 years."""
_IN_2100: Final = 4_102_444_800 * 10**9
_NO_FILE: Final = "files not recorded"


def open_table(path: Path) -> RowSource:
    """Read a table of operations: what `iostrata.write_parquet` writes, CSV, JSON lines or Parquet.

    Raises TraceError if it cannot be read or lacks a column that is needed.
    """
    table = read_table(path)
    stored = table.metadata.get(b"iostrata_definitions")
    if stored is not None and {"thread", "handle", "begin_ticks", "end_ticks"} <= table.columns.keys():
        metadata = EVENT_TYPES.keys() <= table.columns.keys()
        source = _own(path, table, _Rows(table, _EVENTS), *definitions_of(stored, path, metadata))
    else:
        source = _any(path, table, _Rows(table, {}))
    if table.rows + table.unreadable and not len(source.operations) and not len(source.metadata):
        first, *more = source.damage or (lost("no rows"),)
        like = f"; the like at {counted(len(more), 'more place')}" if more else ""
        raise TraceError(f"{path}: none of the {table.rows + table.unreadable} rows can be used ({first.reason}{like})")
    return source


class _Rows:
    """What is read alike of any table.

    Attributes
    ----------
    mode, event : uint8 (n,)
        `IoMode` of operations, and codes of rows that are none; `NONE` elsewhere.
    faults : dict of bool (n,)
        Rows that cannot be used, by the reason.
    """

    def __init__(self, table: TableColumns, events: Mapping[str, int]) -> None:
        """Take a table, in which `events` are the kinds of rows that are no operations, with their codes."""
        self.count, self._table = table.rows, table
        self.layer, self.layers = table.names("layer")
        self.faults: dict[str, Mask] = {"no layer": self.layer < 0}
        self.mode, self.event = table.codes("mode", _MODES), table.codes("mode", events)
        if "mode" in table.columns:
            self.faults["neither read, write nor flush"] = (self.mode == NONE) & (self.event == NONE)
        self.status = np.full(self.count, Status.COMPLETE, np.uint8)
        if "status" in table.columns:
            self.status = table.codes("status", _STATUSES)
            self.faults["an unknown status"] = self.status == NONE
        self.never = self.status == Status.NEVER_COMPLETED
        self.flags = np.zeros(self.count, np.uint32)
        for role, flag in (("collective", IoFlag.COLLECTIVE), ("non_blocking", IoFlag.NON_BLOCKING)):
            if role in table.columns:
                yes, neither = table.flags(role)
                self.flags |= np.where(yes, np.uint32(flag), np.uint32(0))
                self.faults[f"{role} that is neither true nor false"] = neither
        whole = {"bytes", "mode"} <= table.columns.keys()
        self.moved = self._bytes("bytes") if whole else self._moved_by_direction()
        self.requested = self._bytes("requested") if "requested" in table.columns else self.moved
        self.offset = self._bytes("offset") if "offset" in table.columns else UNRECORDED

    def transfers(self, location: Links, handle: Links, begin: Ticks, end: Ticks) -> Transfers:
        """Return all rows."""
        amounts = self.moved, self.requested, self.offset
        return Transfers(location, handle, self.mode, begin, end, *amounts, self.flags, self.status)

    def _moved_by_direction(self) -> Ints:
        """Return the bytes of columns that are each of one direction, which is that of the row where none is given."""
        modes = {"read": IoMode.READ, "written": IoMode.WRITE}
        sides = {mode: self._bytes(role) for role, mode in modes.items() if role in self._table.columns}
        if "mode" not in self._table.columns:
            moving = {mode: amounts > 0 for mode, amounts in sides.items()}
            if len(sides) == 1:
                moving = dict.fromkeys(sides, np.ones(self.count, np.bool_))
            for mode, some in moving.items():
                self.mode[some] = mode
            several = np.sum([*moving.values()], axis=0)
            self.faults["both read and written in one row"] = several > 1
            self.faults["nothing read or written, so that nobody knows which it was"] = several < 1
        moved = np.full(self.count, -1, np.int64)
        for mode, amounts in sides.items():
            moved = np.where(self.mode == mode, amounts, moved)
        return moved

    def _bytes(self, role: str) -> Ints:
        amounts, wrong = self._table.whole_numbers(role)
        what = {"read": "bytes_read", "written": "bytes_written"}.get(role, role)
        self.faults[f"{what} that are no number of bytes"] = wrong
        return amounts


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

    def ticks(values: Array, sound: Mask, factor: int) -> Ticks:
        relative = values - values.dtype.type(origin // factor) if origin % factor == 0 else values - origin / factor
        far = ~sound | (np.abs(relative.astype(np.float64)) > LONGEST / factor)
        near = np.where(far, 0, relative) * factor
        return np.where(far, 2 * LONGEST, near if values.dtype.kind == "i" else np.rint(near)).astype(np.int64)

    begin = ticks(start, start_known, factors[0])
    finish = np.where(rows.never & ~end_known, UNDEFINED_TIME, ticks(end, end_known, factors[1]))
    return begin, finish, origin or None


def _any(path: Path, table: TableColumns, rows: _Rows) -> RowSource:
    """Make definitions of the columns."""
    columns = table.columns
    if rows.count and not rows.layers:
        raise TraceError(f"{path}: none of the {rows.count} rows of the table names its layer")
    begin, end, realtime = _times(path, table, rows)
    rank, wrong = table.whole_numbers("rank")
    rows.faults["a rank that is no number of a rank"] = wrong | (rank >= 2**31)
    ranks, process = np.unique(np.where(rank < 2**31, rank, -1), return_inverse=True)
    thread, threads = table.names("thread")
    location, location_process, location_thread = pairs_of(process.reshape(-1), thread)
    if not rows.count:
        ranks, location_process = np.zeros(1, np.int64), np.zeros(1, np.int32)
        location_thread = np.full(1, -1, np.int32)
    node, nodes = table.names("node")
    handle, handles, kind, files = _handles(table, rows)
    run = RecordedRun(
        recording=RECORDER.recording(
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
        ),
        ranks=ranks,
        process_names=tuple(f"rank {one}" if one >= 0 else "rank unknown" for one in ranks.tolist()),
        nodes=tuple((*nodes, "")[one] for one in _first_of_each(process.reshape(-1), node, node, len(ranks)).tolist()),
        location_process=location_process,
        location_names=tuple((*threads, "")[one] or "thread" for one in location_thread.tolist()),
        paradigms=rows.layers,
        files=files,
        handles=handles,
        realtime_ns=realtime,
    )
    return run.source(path, rows.transfers(location, handle, begin, end), rows.faults, damage=table.losses)


def _first_of_each(group: Integers, known: Links, values: Links, groups: int) -> Links:
    """Return the value of the first row of each group where something is known (not −1), −1 where nothing is."""
    rows = np.flatnonzero(known >= 0)[::-1]
    found = np.full(groups, -1, np.int32)
    found[group[rows]] = values[rows]
    return found


def _handles(
    table: TableColumns, rows: _Rows
) -> tuple[Links, HandleTable, Literal["recorded", "inferred", "absent"], tuple[str, ...]]:
    """Return the handle of each row, the table of handles, whether they are recorded, and the names of files.

    Where there is a column of handles, they are recorded, with their parents where these are named too; where there are
    only files, handles are inferred; where there is neither, one stands for all that a layer did.
    """
    recorded = "handle" in table.columns
    file, files = table.names("file")
    absent = "file" not in table.columns if recorded else not files
    if absent:
        file, files = np.zeros(rows.count, np.int32), (_NO_FILE,)
    if recorded:
        return *_recorded_handles(table, rows, file), "recorded", files
    order = () if absent else KNOWN_STACK
    handle, handles = HandleTable.inferred(np.maximum(rows.layer, 0), file, rows.layers, order)
    return handle, handles, "absent" if absent else "inferred", files


def _recorded_handles(table: TableColumns, rows: _Rows, file: Links) -> tuple[Links, HandleTable]:
    handle, names = table.names("handle")
    parent, parents = table.names("parent")
    number = {name: row for row, name in enumerate(names)}
    above = np.array([*(number.get(name, -1) for name in parents), -1], np.int32)[parent]
    told = file, rows.layer, above
    of_file, of_layer, of_parent = (_first_of_each(handle, handle, one, len(names)) for one in told)
    rows.faults["no handle"] = handle < 0
    other = (column_at(of_layer, handle) != rows.layer) | (column_at(of_file, handle) != file)
    rows.faults["a handle of another layer or file than before"] = other
    return handle, HandleTable(of_file, of_layer, of_parent, tuple(f"handle {name}" for name in names))


def _own(path: Path, table: TableColumns, rows: _Rows, definitions: Definitions, kept: KeptOrigin) -> RowSource:
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
    transfers = rows.transfers(
        location, handle, begin.astype(np.int64), np.where(ended, end, UNDEFINED_TIME).astype(np.int64)
    )
    is_operation = rows.event == NONE
    events, losses = _events(table, rows, location, np.append(definitions.handles.id, UNDEFINED_UINT32)[handle])
    faults = {name: mask[is_operation] for name, mask in rows.faults.items()}
    found = checked(transfers.take(is_operation), definitions.locations.group, faults, early=True)
    # An interval of no duration is none of an operation.
    irregular = found.irregular if definitions.recording.rows == "operations" else {}
    damage = (*found.damage, *losses, *kept.losses, *table.losses)
    return RowSource(path, definitions, found.operations, events, damage, irregular)


def _events(table: TableColumns, rows: _Rows, location: Links, handle: Codes) -> tuple[IoEvents, list[LocationDamage]]:
    """Return the metadata events of a table, those of a location together, and what of them cannot be used."""
    chosen = np.flatnonzero((rows.event != NONE) & (rows.event > 0))
    if not len(chosen):
        return IoEvents.empty(), []
    missing = [name for name in EVENT_TYPES if name not in table.columns]
    if missing:
        return IoEvents.empty(), [lost(f"metadata events without {missing[0]}", len(chosen))]
    values: dict[str, Array] = {}
    sound = np.asarray(location[chosen] >= 0)
    for name, kind in EVENT_TYPES.items():
        column, known = numbers(table.columns[name])
        column, limits = column[chosen], np.iinfo(kind)
        there = known[chosen] & (column >= limits.min) & (column <= limits.max)
        values[name], sound = np.where(there, column, 0).astype(kind), sound & there
    time = values["event_ticks"]
    sound &= np.abs(time) <= LONGEST
    kept = np.flatnonzero(sound)
    kept = kept[np.lexsort((time[kept], location[chosen][kept]))]
    place = chosen[kept]
    offset = np.broadcast_to(rows.offset, rows.count)[place]
    what = location[place].astype(np.int32), rows.event[place], time[kept], handle[place]
    how = values["event_mode"][kept], values["event_flags"][kept]
    told = np.zeros(len(kept), np.uint64), values["event_value"][kept].view(np.uint64)
    offsets = np.where(offset < 0, np.uint64(UNDEFINED_UINT64), np.maximum(offset, 0).astype(np.uint64))
    events = IoEvents(*what, *how, *told, offsets)
    without = len(chosen) - len(kept)
    reason = f"{counted(without, 'metadata event')} without its numbers"
    return events, [lost(reason, len(chosen), len(kept))] if without else []


RECORDER: Final = Recorder(
    KEPT_AS,
    is_table,
    open_table,
    format="CSV, JSON lines, a JSON array, or Parquet, in a file or a folder",
    description="One row an operation, of any layers: what another program has written, or ``iostrata convert``.",
    page="recorders/tables.rst",
)
