"""What the Darshan connector of LDMS sends, kept as CSV: one row an event of a module of Darshan."""

from pathlib import Path
from typing import Any, Final

import numpy as np

from ...model.arrays import Links, Mask
from ...model.codes import IoMode, IoRecord
from ...model.errors import TraceError, import_library
from ..functions import NONE
from ..inflating import first_text
from ..parquet import numbers
from ..recognition import Recorder
from ..rows import Transfers, pairs_of, ticks_of
from ..run import HandleTable, RecordedRun, events_of
from ..source import RowSource
from .columns import TableColumns
from .text import names_in, read_text

LAYERS: Final = {"POSIX": "POSIX", "MPIIO": "MPI-IO", "MPI-IO": "MPI-IO", "STDIO": "ISOC", "H5F": "HDF5", "H5D": "HDF5"}
"""Layers by the names of Darshan's modules."""
COLUMNS: Final = ("job_id", "rank", "ProducerName", "file", "record_id", "module", "op", "off", "len", "start", "dur")
"""Those that are read, beside the time stamp."""
_TIMESTAMP: Final = "timestamp"
_ORDER: Final = ("HDF5", "MPI-IO", "POSIX")
_NAMES: Final = ("HDF5", "MPI-IO", "ISOC", "POSIX")
_MODES: Final = {"read": IoMode.READ, "write": IoMode.WRITE, "flush": IoMode.FLUSH}
_EVENTS: Final = {"open": IoRecord.CREATE_HANDLE, "close": IoRecord.DESTROY_HANDLE}
_NOTHING: Final = ("N/A", "")


def recognises(head: bytes, path: Path) -> bool:
    """Tell the connector's CSV by the names of its columns."""
    return path.is_file() and {*COLUMNS, _TIMESTAMP} <= set(names_in(first_text(head)) or ())


def open_ldms(path: Path) -> RowSource:
    """Read the events of one job.

    Raises TraceError if they cannot be read, or are of several jobs.
    """
    import_library("pyarrow", path)
    table = read_text(path, lambda _path, _names: ({one: one for one in (*COLUMNS, _TIMESTAMP)}, {}))
    _, jobs = table.names("job_id")
    if len(jobs) > 1:
        raise TraceError(f"{path}: events of {len(jobs)} jobs ({', '.join(jobs[:3])} …); put those of each into a file")
    module, modules = table.names("module")
    layer = np.array([*(_NAMES.index(LAYERS[one]) if one in LAYERS else -1 for one in modules), -1], np.int32)[module]
    mode, kind = table.codes("op", _MODES), table.codes("op", _EVENTS)
    rank, wrong = table.whole_numbers("rank")
    ranks, of_rank = np.unique(np.where(rank < 2**31, rank, -1), return_inverse=True)
    process: Links = of_rank.reshape(-1).astype(np.int32)
    file, files = _files(table, process, module)
    handle, handles = HandleTable.inferred(layer, file, _NAMES, _ORDER, process)
    columns = (table.columns[one] for one in ("start", "dur", _TIMESTAMP))
    (start, sound), (took, timed), (stamp, stamped) = map(numbers, columns)
    (begin, began), (length, lasted) = (ticks_of(one.astype(np.float64)) for one in (start, took))
    sound &= timed & began & lasted
    # What does not apply is −1 there.
    (asked, odd), (offset, _) = (table.whole_numbers(one) for one in ("len", "off"))
    odd &= numbers(table.columns["len"])[0] != -1
    moved = np.where(mode == IoMode.FLUSH, -1, asked)
    calls = Transfers(process, handle, mode, begin, begin + length, moved, asked, offset)
    chosen = np.flatnonzero((mode != NONE) | (kind == NONE))
    known = sound & (length >= 0) & (layer >= 0) & (rank >= 0)
    metadata, _ = events_of(calls, np.where(layer >= 0, kind, NONE).astype(np.uint8), handles, known)
    since = np.median((stamp - start - took)[sound & stamped]) if (sound & stamped).any() else 0.0
    realtime, dated = ticks_of(np.array([since]))
    node, nodes = table.names("ProducerName")
    _, first = np.unique(process, return_index=True)
    facts, notes = {"job": jobs[0] if jobs else ""}, _notes(files)
    form = "LDMS, events of the Darshan connector"
    ranks = ranks if len(ranks) else np.zeros(1, np.int64)
    names = tuple(f"rank {one}" for one in ranks.tolist())
    run = RecordedRun(
        recording=RECORDER.recording(format=form, facts=facts, handles="inferred", layers=_NAMES, notes=notes),
        ranks=ranks,
        process_names=names,
        nodes=tuple((*nodes, "")[one] for one in node[first].tolist()) or ("",),
        location_process=np.arange(len(ranks), dtype=np.int32),
        location_names=names,
        paradigms=_NAMES,
        files=files,
        handles=handles,
        length=int(calls.end[known & ((mode != NONE) | (kind != NONE))].max(initial=0)),
        realtime_ns=int(realtime[0]) if since > 0 and dated[0] else None,
    )
    faults = {
        "a rank that is no number of a rank": wrong | (rank < 0) | (rank >= 2**31),
        "a module that is not known here": layer < 0,
        "an operation that is not known here": mode == NONE,
        "a time that is no number": ~sound,
        "a len that is no number of bytes": odd,
    }
    told = {reason: mask[chosen] for reason, mask in faults.items()}
    return run.source(path, calls.take(chosen), told, metadata, table.losses)


def _files(table: TableColumns, process: Links, module: Links) -> tuple[Links, tuple[str, ...]]:
    """Return the file of each row, which opens name; other rows have only an id, that may be rounded.

    Where a rank opened several files of one id, the rows of that id are of any of these.
    """
    file, names = table.names("file")
    known: Mask = np.array([*(one not in _NOTHING for one in names), False])[file]
    record, _ = table.names("record_id")
    key, _, _ = pairs_of(pairs_of(process, module)[0], record)
    _, of_key, of_file = pairs_of(key[known], file[known])
    texts = list(names)
    of: Any = np.full(int(key.max(initial=-1)) + 1, -1, np.int32)
    ones, starts, counts = np.unique(of_key, return_index=True, return_counts=True)
    for one, begin, count in zip(ones.tolist(), starts.tolist(), counts.tolist(), strict=True):
        if count > 1:
            texts.append(" or ".join(sorted(names[place] for place in of_file[begin : begin + count].tolist())))
        of[one] = of_file[begin] if count == 1 else len(texts) - 1
    ids = table.names("record_id")[1]
    found = np.where(known, file, of[key])
    if (unnamed := np.flatnonzero((found < 0) & (record >= 0))).size:
        found[unnamed] = len(texts) + record[unnamed]
        texts += [f"record {one}" for one in ids]
    used, place = np.unique(found, return_inverse=True)
    shift = int(used[0] < 0) if len(used) else 0
    return (place.reshape(-1) - shift).astype(np.int32), tuple(texts[one] for one in used[shift:].tolist())


def _notes(files: tuple[str, ...]) -> tuple[str, ...]:
    notes = ["Handles are inferred: one for each rank, layer and file"]
    if any(" or " in name for name in files):
        notes.append("ids of files are rounded: where a rank opened several of one id, operations are of any of these")
    return tuple(notes)


RECORDER: Final = Recorder(
    "LDMS",
    recognises,
    open_ldms,
    format="CSV of the Darshan connector, plain or compressed by gzip",
    description="Every read, write, flush, open and close of MPI-IO, POSIX, ISO C and HDF5 by rank, with its file.",
    page="recorders/ldms.rst",
    never_recorded=("threads", "collective"),
)
