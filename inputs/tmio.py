"""TMIO's output, JSON lines or MessagePack: intervals of a rank each, in which MPI-IO moved bytes."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ..model.codes import IoFlag, IoMode, Status
from ..model.definitions import Clock
from ..model.errors import TraceError, import_library
from ..model.events import IoEvents
from ..model.quantities import counted
from ..model.recording import Recording
from ..model.stream.damage import LocationDamage
from .recognition import Recorder
from .rows import MOST_PROCESSES, NANOSECONDS, HandleTable, Run, Transfers, checked, ticks_of
from .source import RowSource

_KINDS: Final = {
    "read_sync": (IoMode.READ, 0),
    "write_sync": (IoMode.WRITE, 0),
    "read_async_t": (IoMode.READ, IoFlag.NON_BLOCKING),
    "write_async_t": (IoMode.WRITE, IoFlag.NON_BLOCKING),
    "read_async": (IoMode.READ, IoFlag.NON_BLOCKING),
    "write_async": (IoMode.WRITE, IoFlag.NON_BLOCKING),
}
"""Kinds of transfers; those of ``async_b`` are the same ones up to when they were waited for."""
_JSON: Final = re.compile(rb'\A\s*\{\s*"(?:read|write)_(?:a?sync)(?:_[bt])?"')
_PACKED: Final = re.compile(rb"\A[\x91-\x9f\xdc\xdd][\x00-\xff]{0,4}(?:read|write)_a?sync")
_COLUMNS: Final = 13
"""Entries of a packed record before its rows."""
_MEGA: Final = 10**6
_ROUNDING: Final = 2e-6
"""How far off the duration of a row is at most, in s, of times that are printed in whole microseconds."""
_FRACTION: Final = 0.1
"""From where on what is no whole number is a fraction: of bytes there are none."""
_ALL_FILES: Final = "all files together"


def recognises(head: bytes, _path: Path) -> bool:
    """Tell TMIO's output by the name that it starts with."""
    return _JSON.match(head) is not None or _PACKED.match(head) is not None


@dataclass
class _Collected:
    """What all records say, added up."""

    rows: list[np.ndarray[Any, np.dtype[np.float64]]] = field(default_factory=list)
    modes: list[int] = field(default_factory=list)
    flags: list[int] = field(default_factory=list)
    ranks: int = 0
    rows_per_operation: bool = True
    mega: bool = False
    unequal: int = 0
    unreadable: int = 0
    fault: str | None = None


def open_tmio(path: Path) -> RowSource:
    """Read TMIO's output; bytes are as it gives them, in JSON as bandwidth times duration.

    Raises TraceError if nothing can be read, or MessagePack without its library.
    """
    with path.open("rb") as file:
        packed = _PACKED.match(file.read(64)) is not None
    found = _Collected()
    for record in _packed(path, found) if packed else _lines(path, found):
        _add(record, found)
    if not found.ranks and not found.rows:
        raise TraceError(f"{path}: no record of TMIO can be read ({found.fault or 'all are broken'})")
    if not 0 <= found.ranks <= MOST_PROCESSES:
        raise TraceError(f"{path}: TMIO claims {found.ranks} ranks; the file is damaged")
    table = np.concatenate([np.empty((0, 3)), *found.rows])
    counts = [len(rows) for rows in found.rows]
    moved = table[:, 0] * (_MEGA if found.mega else 1)
    begin, sound_begin = ticks_of(table[:, 1])
    end, sound_end = ticks_of(table[:, 2])
    sound = np.isfinite(moved) & (np.abs(moved) < 2.0**62)
    bytes_moved = np.rint(np.where(sound, moved, 0)).astype(np.int64)
    rows = len(table)
    checked_rows = checked(
        Transfers(
            location=np.zeros(rows, np.int32),
            handle=np.zeros(rows, np.int32),
            mode=np.repeat(np.array(found.modes, np.uint8), counts),
            begin=begin,
            end=end,
            moved=bytes_moved,
            requested=bytes_moved if found.rows_per_operation else np.full(rows, -1, np.int64),
            offset=np.full(rows, -1, np.int64),
            flags=np.repeat(np.array(found.flags, np.uint32), counts),
            status=np.full(rows, Status.COMPLETE, np.uint8),
            sound=np.ones(rows, np.bool_),
        ),
        np.zeros(1, np.int32),
        {
            "a time that is no number": ~(sound_begin & sound_end),
            "bytes that are no number": ~sound,
            "a negative number of bytes": moved < 0,
        },
    )
    damage = list(checked_rows.damage)
    if found.unreadable:
        damage.append(LocationDamage(-1, -1, found.unreadable, 0, "records that cannot be read"))
    if found.fault:
        damage.append(LocationDamage(-1, -1, 0, 0, found.fault))
    operations = checked_rows.operations
    extent = operations.extent
    # All transfers stand at a process of their own, which is no rank; the ranks are there to be counted.
    run = Run(
        recording=_recording(found, packed),
        clock=Clock(NANOSECONDS, 0, 0 if extent is None else extent[1], None),
        ranks=np.concatenate([np.full(1, -1), np.arange(found.ranks)]),
        process_names=("all ranks together", *(f"rank {rank}" for rank in range(found.ranks))),
        nodes=("",) * (found.ranks + 1),
        location_process=np.zeros(1, np.int32),
        location_names=("all ranks together",),
        paradigms=("MPI-IO",),
        files=(_ALL_FILES,),
        file_properties=({},),
        handles=HandleTable.of_files(np.zeros(1, np.int32), np.zeros(1, np.int32), ("MPI-IO",), ()),
    )
    return RowSource(
        path,
        run.definitions(checked_rows.promised),
        operations,
        IoEvents.empty(),
        tuple(damage),
        checked_rows.irregular if found.rows_per_operation else {},
    )


def _recording(found: _Collected, packed: bool) -> Recording:
    notes = []
    if not packed:
        why = ", for there are fractions of it" if found.mega else ""
        notes.append(f"TMIO's JSON does not name its unit: bandwidth times duration is taken as {_amounts(found)}{why}")
    if found.unequal:
        notes.append(f"{counted(found.unequal, 'record')} whose rows do not add up to the total_bytes beside them")
    if not found.rows_per_operation:
        notes.append("rows are phases of a rank with several operations each")
    return RECORDER.recording(
        format=f"TMIO, {'MessagePack' if packed else 'JSON lines'}",
        rows="operations" if found.rows_per_operation else "intervals",
        handles="absent",
        layers=("MPI-IO",),
        amounts="" if packed else _amounts(found),
        notes=tuple(notes),
        remedy="record with Score-P or Darshan's DXT for more",
    )


def _amounts(found: _Collected) -> str:
    return "megabytes" if found.mega else "bytes"


def _lines(path: Path, found: _Collected) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield kind and content of each record: a line each, or all of them in one document."""
    with path.open("rb") as file:
        for line in file:
            try:
                documents = [json.loads(line)] if line.strip() else []
            except (ValueError, RecursionError):
                break
            for document in documents:
                yield from _entries(document, found)
        else:
            return
        if found.rows or found.ranks:
            found.unreadable += 1
            for line in file:
                try:
                    yield from _entries(json.loads(line), found)
                except (ValueError, RecursionError):
                    found.unreadable += 1
            return
    try:
        document = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        found.fault = f"the JSON is damaged: {error}"
        return
    yield from _entries(document, found)


def _entries(document: Any, found: _Collected) -> Iterator[tuple[str, dict[str, Any]]]:
    if not isinstance(document, dict):
        found.unreadable += 1
        return
    for kind, content in document.items():
        if isinstance(content, dict) and kind.split("_")[0] in ("read", "write"):
            yield kind, content


def _packed(path: Path, found: _Collected) -> Iterator[tuple[str, dict[str, Any]]]:
    msgpack = import_library("msgpack", path)
    size = path.stat().st_size
    with path.open("rb") as file:
        unpacker = msgpack.Unpacker(file, raw=False, strict_map_key=False, max_buffer_size=max(size, 1))
        # A large record that is cut moves the unpacker's own position to the end of the file.
        whole = 0
        while True:
            try:
                record = unpacker.unpack()
                whole = unpacker.tell()
            except msgpack.OutOfData:
                if whole < size:
                    found.fault = "the last record is cut"
                return
            except (ValueError, msgpack.UnpackException, RecursionError) as error:
                found.fault = f"the MessagePack is damaged behind byte {unpacker.tell()}: {error}"
                return
            if isinstance(record, list) and record and record[0] == "io_time":
                continue
            if not isinstance(record, list) or len(record) <= _COLUMNS or not isinstance(record[0], str):
                found.unreadable += 1
                continue
            names = (
                "total_bytes", "max_bytes_per_rank", "max_transfersize_over_ranks", "max_io_phases_per_rank",
                "total_io_phases", "max_io_ops_in_phase", "max_io_ops_per_rank", "total_io_ops", "number_of_ranks",
            )  # fmt: skip
            yield record[0], {**dict(zip(names, record[3:12], strict=True)), "rows": record[13]}


def bandwidth_rows(document: Any) -> Iterator[tuple[str, list[list[float]]]]:
    """Yield what a line of TMIO's says: ``read`` or ``write``, and rows of bytes, start and end in s.

    Raises ValueError where it is no such line, or a damaged one.
    """
    found = _Collected()
    for record in _entries(document, found):
        _add(record, found)
    if found.unreadable or not (found.rows or found.ranks):
        raise ValueError("no line of TMIO")
    for mode, rows in zip(found.modes, found.rows, strict=True):
        scale = np.array([_MEGA if found.mega else 1, 1, 1])
        yield "read" if mode == IoMode.READ else "write", (rows * scale).tolist()


def _add(record: tuple[str, dict[str, Any]], found: _Collected) -> None:
    """Take the rows of a record: bytes, start and end."""
    kind, content = record
    try:
        found.ranks = max(found.ranks, int(content.get("number_of_ranks", 0)))
        if int(content.get("max_io_ops_in_phase", 0)) > 1:
            found.rows_per_operation = False
        if kind not in _KINDS:
            return
        sizes = [content.get(name, 0) for name in ("max_transfersize_over_ranks", "max_bytes_per_rank", "total_bytes")]
        total = float(sizes[2])
        rows = content.get("rows")
        if rows is None:
            bandwidth = content.get("bandwidth", {})
            columns = [np.array(bandwidth.get(name, []), float) for name in ("b_rank_avr", "t_rank_s", "t_rank_e")]
            rate, start, end = columns
            # What is no number then is left out by its row.
            with np.errstate(invalid="ignore", over="ignore"):
                amounts = rate * (end - start)
                table = np.column_stack([amounts, start, end])
            # Fractions of bytes there are not: what is counted then are megabytes, as older versions wrote them.
            mega = any(isinstance(one, float) and one != int(one) for one in sizes)
            mega = mega or _has_fractions(amounts, rate)
        else:
            table, mega = np.array([row[:3] for row in rows], float).reshape(-1, 3), False
        if table.shape[1] != 3:
            raise ValueError
    except (ValueError, TypeError, OverflowError, AttributeError):
        found.unreadable += 1
        return
    found.mega = found.mega or mega
    found.unequal += not abs(float(np.nansum(table[:, 0])) - total) <= 0.01 * abs(total)
    if len(table):
        mode, flag = _KINDS[kind]
        found.rows.append(table)
        found.modes.append(int(mode))
        found.flags.append(int(flag))


def _has_fractions(amounts: npt.NDArray[np.float64], rates: npt.NDArray[np.float64]) -> bool:
    """Tell whether an amount is no whole number by more than rates and times are rounded."""
    known = np.isfinite(amounts) & (np.abs(amounts) < _FRACTION / np.finfo(float).eps)
    exact = amounts[known][np.abs(rates[known]) * _ROUNDING < _FRACTION / 2]
    return bool((np.abs(exact - np.rint(exact)) > _FRACTION).any())


RECORDER: Final = Recorder(
    "TMIO",
    recognises,
    open_tmio,
    format="JSON lines, one JSON document, or MessagePack",
    description="Bytes that MPI-IO moved by phases of all ranks together.",
    page="recorders/tmio.rst",
    never_recorded=("ranks", "nodes", "threads", "metadata", "offsets", "collective", "flushes"),
)
