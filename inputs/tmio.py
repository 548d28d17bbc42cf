"""TMIO's output, JSON lines or MessagePack: intervals of a rank each, in which MPI-IO moved bytes."""

import itertools
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from ..model.arrays import Floats
from ..model.codes import IoFlag, IoMode
from ..model.errors import TraceError, import_library
from ..model.quantities import counted
from ..model.recording import Recording
from .recognition import Recorder
from .rows import UNRECORDED, Transfers, check_processes, lost, ticks_of
from .run import HandleTable, RecordedRun
from .source import RowSource

_KINDS: Final = {
    "read_sync": (IoMode.READ, 0),
    "write_sync": (IoMode.WRITE, 0),
    "read_async_t": (IoMode.READ, IoFlag.NON_BLOCKING),
    "write_async_t": (IoMode.WRITE, IoFlag.NON_BLOCKING),
    "read_async": (IoMode.READ, IoFlag.NON_BLOCKING),
    "write_async": (IoMode.WRITE, IoFlag.NON_BLOCKING),
}
"""Mode and flags by the kind of a record; those of ``async_b`` are the same ones up to when they were waited for."""
_JSON: Final = re.compile(rb'\A\s*\{\s*"(?:read|write)_(?:a?sync)(?:_[bt])?"')
_PACKED: Final = re.compile(rb"\A[\x91-\x9f\xdc\xdd][\x00-\xff]{0,4}(?:read|write)_a?sync")
_PACKED_ENTRIES: Final = {
    3: "total_bytes",
    4: "max_bytes_per_rank",
    5: "max_transfersize_over_ranks",
    8: "max_io_ops_in_phase",
    11: "number_of_ranks",
    13: "rows",
}
"""Entries of a packed record, by their places, with the names that they have in JSON."""
_SIZES: Final = ("max_transfersize_over_ranks", "max_bytes_per_rank", "total_bytes")
_BANDWIDTH: Final = ("b_rank_avr", "t_rank_s", "t_rank_e")
_NO_ROWS: Final = np.empty((0, 3))
_MEGA: Final = 10**6
_ROUNDING: Final = 2e-6
"""How far off the duration of a row is at most, in s, of times that are printed in whole microseconds."""
_FRACTION: Final = 0.1
"""From where on what is no whole number is a fraction: of bytes there are none."""
_EVERYBODY: Final = "all ranks together"


def recognises(head: bytes, _path: Path) -> bool:
    """Tell TMIO's output by the name that it starts with."""
    return _JSON.match(head) is not None or _PACKED.match(head) is not None


@dataclass(frozen=True)
class _Record:
    """Rows of one kind, float64 (n, 3) of bytes, start and end in s, and what the record says of all of them.

    Attributes
    ----------
    single : bool
        Whether a row is one operation.
    mega : bool
        Whether there are fractions, so that amounts are megabytes, as older versions wrote them.
    equal : bool
        Whether the rows add up to the total.
    """

    kind: str
    rows: Floats
    ranks: int
    single: bool
    mega: bool = False
    equal: bool = True


@dataclass
class _Output:
    """What was read of a file so far."""

    records: list[_Record] = field(default_factory=list)
    unreadable: int = 0
    fault: str | None = None

    def add(self, document: Any) -> None:
        """Take the records of a document, and count those that cannot be read."""
        if not isinstance(document, dict):
            self.unreadable += 1
            return
        for kind, content in document.items():
            if isinstance(content, dict) and kind.split("_")[0] in ("read", "write"):
                try:
                    self.records.append(_record(kind, content))
                except (ValueError, TypeError, OverflowError, AttributeError):
                    self.unreadable += 1

    @property
    def ranks(self) -> int:
        return max((one.ranks for one in self.records), default=0)

    @property
    def single(self) -> bool:
        return all(one.single for one in self.records)

    @property
    def mega(self) -> bool:
        return any(one.mega for one in self.records)

    @property
    def moving(self) -> list[_Record]:
        """Records with rows."""
        return [one for one in self.records if len(one.rows)]


def _record(kind: str, content: dict[str, Any]) -> _Record:
    """Read a record; raises some error of Python's own where its values are others."""
    ranks, single = int(content.get("number_of_ranks", 0)), int(content.get("max_io_ops_in_phase", 0)) <= 1
    if kind not in _KINDS:
        return _Record(kind, _NO_ROWS, ranks, single)
    sizes = [content.get(name, 0) for name in _SIZES]
    mega = False
    if content.get("rows") is not None:
        table = np.array([row[:3] for row in content["rows"]], float).reshape(-1, 3)
    else:
        bandwidth = content.get("bandwidth", {})
        rate, start, end = (np.array(bandwidth.get(name, []), float) for name in _BANDWIDTH)
        # What is no number then is left out by its row.
        with np.errstate(invalid="ignore", over="ignore"):
            amounts = rate * (end - start)
            table = np.column_stack([amounts, start, end])
        if table.shape[1] != 3:
            raise ValueError
        mega = any(isinstance(one, float) and one != int(one) for one in sizes) or _has_fractions(amounts, rate)
    total = float(sizes[-1])
    with np.errstate(invalid="ignore", over="ignore"):
        equal = abs(float(np.nansum(table[:, 0])) - total) <= 0.01 * abs(total)
    return _Record(kind, table, ranks, single, mega, equal)


def _has_fractions(amounts: Floats, rates: Floats) -> bool:
    """Tell whether an amount is no whole number by more than rates and times are rounded."""
    known = np.isfinite(amounts) & (np.abs(amounts) < _FRACTION / np.finfo(float).eps)
    exact = amounts[known][np.abs(rates[known]) * _ROUNDING < _FRACTION / 2]
    return bool((np.abs(exact - np.rint(exact)) > _FRACTION).any())


def bandwidth_rows(document: Any) -> Iterator[tuple[str, list[list[float]]]]:
    """Yield what a line of TMIO's says: ``read`` or ``write``, and rows of bytes, start and end in s.

    Raises ValueError where it is no such line, or a damaged one.
    """
    found = _Output()
    found.add(document)
    if found.unreadable or not (found.moving or found.ranks):
        raise ValueError("no line of TMIO")
    scale = np.array([_MEGA if found.mega else 1, 1, 1])
    for one in found.moving:
        yield one.kind.partition("_")[0], (one.rows * scale).tolist()


def open_tmio(path: Path) -> RowSource:
    """Read TMIO's output; bytes are as it gives them, in JSON as bandwidth times duration.

    Raises TraceError if nothing can be read, or MessagePack without its library.
    """
    with path.open("rb") as file:
        packed = _PACKED.match(file.read(64)) is not None
    found = _Output()
    if packed:
        _read_packed(path, found)
    else:
        _read_json(path, found)
    if not found.ranks and not found.moving:
        raise TraceError(f"{path}: no record of TMIO can be read ({found.fault or 'all are broken'})")
    check_processes(path, found.ranks, "TMIO", least=0)
    rows, faults = _transfers(found)
    nobody = np.zeros(1, np.int32)
    # All transfers stand at a process of their own, which is no rank; the ranks are there to be counted.
    run = RecordedRun(
        recording=_recording(found, packed),
        ranks=np.arange(-1, found.ranks),
        process_names=(_EVERYBODY, *(f"rank {rank}" for rank in range(found.ranks))),
        location_process=nobody,
        location_names=(_EVERYBODY,),
        paradigms=("MPI-IO",),
        files=("all files together",),
        handles=HandleTable.inferred(nobody, nobody, ("MPI-IO",))[1],
    )
    unreadable = [lost("records that cannot be read", found.unreadable)] if found.unreadable else []
    return run.source(path, rows, faults, damage=[*unreadable, *map(lost, filter(None, [found.fault]))])


def _transfers(found: _Output) -> tuple[Transfers, dict[str, Any]]:
    """Return all rows as transfers, and which of them cannot be used, by the reason."""
    table = np.concatenate([_NO_ROWS, *(one.rows for one in found.moving)])
    kinds = np.array([_KINDS[one.kind] for one in found.moving], np.int64).reshape(-1, 2)
    mode, flags = np.repeat(kinds, [len(one.rows) for one in found.moving], axis=0).T
    moved = table[:, 0] * (_MEGA if found.mega else 1)
    begin, sound_begin = ticks_of(table[:, 1])
    end, sound_end = ticks_of(table[:, 2])
    sound = np.isfinite(moved) & (np.abs(moved) < 2.0**62)
    amounts = np.rint(np.where(sound, moved, 0)).astype(np.int64)
    nobody = np.zeros(1, np.int32)
    rows = Transfers(
        location=nobody,
        handle=nobody,
        mode=mode.astype(np.uint8),
        begin=begin,
        end=end,
        moved=amounts,
        requested=amounts if found.single else UNRECORDED,
        flags=flags.astype(np.uint32),
    )
    return rows, {
        "a time that is no number": ~(sound_begin & sound_end),
        "bytes that are no number": ~sound,
        "a negative number of bytes": moved < 0,
    }


def _recording(found: _Output, packed: bool) -> Recording:
    notes, amounts = [], "megabytes" if found.mega else "bytes"
    if not packed:
        why = ", for there are fractions of it" if found.mega else ""
        notes.append(f"TMIO's JSON does not name its unit: bandwidth times duration is taken as {amounts}{why}")
    unequal = sum(not one.equal for one in found.records)
    if unequal:
        notes.append(f"{counted(unequal, 'record')} whose rows do not add up to the total_bytes beside them")
    if not found.single:
        notes.append("rows are phases of a rank with several operations each")
    return RECORDER.recording(
        format=f"TMIO, {'MessagePack' if packed else 'JSON lines'}",
        rows="operations" if found.single else "intervals",
        handles="absent",
        layers=("MPI-IO",),
        amounts="" if packed else amounts,
        notes=tuple(notes),
        remedy="record with Score-P or Darshan's DXT for more",
    )


def _read_json(path: Path, found: _Output) -> None:
    """Read documents, one a line, or one of the whole file."""
    with path.open("rb") as file:
        documents = _documents(file)
        first = next(documents, None)
        if not isinstance(first, ValueError):
            for document in itertools.chain([first], documents):
                found.add(document)
            return
    (document,) = _documents([path.read_bytes()])
    if isinstance(document, ValueError):
        found.fault = f"the JSON is damaged: {document}"
    else:
        found.add(document)


def _documents(texts: Iterable[bytes]) -> Iterator[Any]:
    """Yield what JSON says, or the error where it cannot be read."""
    for text in texts:
        if text.strip():
            try:
                yield json.loads(text)
            except (ValueError, RecursionError) as error:
                yield ValueError(str(error))


def _read_packed(path: Path, found: _Output) -> None:
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
            except (ValueError, TypeError, msgpack.UnpackException, RecursionError) as error:
                found.fault = f"the MessagePack is damaged behind byte {unpacker.tell()}: {error}"
                return
            if not isinstance(record, list) or not record or record[0] != "io_time":
                found.add(_unpacked(record))


def _unpacked(record: Any) -> dict[str, Any] | None:
    """Return a packed record as it stands in JSON; None where it is none."""
    if not isinstance(record, list) or len(record) <= max(_PACKED_ENTRIES) or not isinstance(record[0], str):
        return None
    return {record[0]: {name: record[place] for place, name in _PACKED_ENTRIES.items()}}


RECORDER: Final = Recorder(
    "TMIO",
    recognises,
    open_tmio,
    format="JSON lines, one JSON document, or MessagePack",
    description="Bytes that MPI-IO moved by phases of all ranks together.",
    page="recorders/tmio.rst",
    never_recorded=("ranks", "nodes", "threads", "metadata", "offsets", "collective", "flushes"),
)
