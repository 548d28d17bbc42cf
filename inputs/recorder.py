"""Recorder's traces as its converter writes them: a folder of Parquet files, one row a call."""

import re
from collections import Counter
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ..model.arrays import Ints, Ticks
from ..model.budget import require_memory
from ..model.codes import IoFlag, IoMode, IoRecord
from ..model.errors import TraceError, import_library
from ..model.stream.calls import Regions
from ..model.stream.damage import LocationDamage
from .calls import CalledFunctions, nested_calls
from .functions import EVENTS, NONE, STREAMS, TRANSFERS, plain_names
from .parquet import numbers, one_array, parquet_memory, parquet_names, parquet_parts, places_of
from .recognition import Recorder
from .rows import LONGEST, Transfers, lost, pairs_of
from .run import HandleTable, RecordedRun, events_of
from .source import RowSource

_LAYERS: Final = ("HDF5", "MPI-IO", "ISOC", "POSIX")
_HDF5, _MPI_IO, _ISOC, _POSIX = range(len(_LAYERS))
_NUMBERS: Final = ("rank", "thread_id", "size", "tmid", "duration")
_LARGEST: Final = {"rank": 2**31, "thread_id": 2**63, "size": 2**62, "tmid": LONGEST // 100, "duration": LONGEST / 1e9}
"""From where on a number makes no sense."""
_NAMES: Final = ("func_id", "file_name", "hostname")
_OWN: Final = {*_NUMBERS, *_NAMES, "io_cat", "acc_pat"}
"""Columns that no other tables have together."""
_TICK: Final = 100
"""ns that the middle of a call is counted in."""
_MPI: Final = re.compile(r"MPI_File_(i?)(read|write)(?:_at|_shared)?(_all|_ordered)?(?:_begin)?")
_CALLS: Final = {
    "H5Dread": (_HDF5, IoMode.READ, NONE),
    "H5Dwrite": (_HDF5, IoMode.WRITE, NONE),
    "H5Fflush": (_HDF5, IoMode.FLUSH, NONE),
    "H5Fcreate": (_HDF5, NONE, IoRecord.CREATE_HANDLE),
    "H5Fopen": (_HDF5, NONE, IoRecord.CREATE_HANDLE),
    "H5Fclose": (_HDF5, NONE, IoRecord.DESTROY_HANDLE),
    "MPI_File_sync": (_MPI_IO, IoMode.FLUSH, NONE),
    "MPI_File_open": (_MPI_IO, NONE, IoRecord.CREATE_HANDLE),
    "MPI_File_close": (_MPI_IO, NONE, IoRecord.DESTROY_HANDLE),
    "MPI_File_seek": (_MPI_IO, NONE, IoRecord.SEEK),
    "MPI_File_delete": (_MPI_IO, NONE, IoRecord.DELETE_FILE),
}
_PREFIXES: Final = {"H5": _HDF5, "MPI_": _MPI_IO}
"""Layers of all other functions that are called so."""


def recognises(_head: bytes, path: Path) -> bool:
    """Tell a folder of Recorder's Parquet files by the columns of the first."""
    return path.is_dir() and any(set(parquet_names(part) or ()) >= _OWN for part in parquet_parts(path)[:1])


def open_recorder(path: Path) -> RowSource:
    """Read the calls of a folder.

    Raises TraceError if they cannot be read.
    """
    columns, number_of, damage = _columns(path)
    function, functions = places_of(columns["func_id"])
    layer, mode, kind, flags = np.array([*map(_meaning, functions), (-1, NONE, NONE, 0)], np.int64)[function].T
    (file, files), (node, nodes) = (places_of(columns[name]) for name in ("file_name", "hostname"))
    ranks, first, process = np.unique(number_of["rank"], return_index=True, return_inverse=True)
    threads, number = np.unique(number_of["thread_id"], return_inverse=True)
    location, of_process, of_thread = pairs_of(process.reshape(-1), number.reshape(-1))
    used = (mode != NONE) | (kind != NONE)
    handle, handles = HandleTable.inferred(
        np.where(used, layer, -1), np.where(used, file, -1), _LAYERS, ("HDF5", "MPI-IO", "POSIX"), process.reshape(-1)
    )
    begin, end = _times(number_of["tmid"], number_of["duration"])
    size = number_of["size"]
    # What HDF5 moves depends on types and data spaces, which are not kept.
    moved = np.where((mode == IoMode.FLUSH) | ((layer == _HDF5) & (size == 0)), -1, size)
    calls = Transfers(location, handle, mode.astype(np.uint8), begin, end, moved, moved, flags=flags.astype(np.uint32))
    transfers = np.flatnonzero(mode != NONE)
    metadata, of_event = events_of(calls, kind.astype(np.uint8), handles, np.ones(len(calls), np.bool_))
    regions = Regions.of_functions(functions, tuple(_LAYERS[_meaning(one)[0]] for one in functions), on_files=True)
    run = RecordedRun(
        recording=RECORDER.recording(
            format="Recorder, Parquet",
            handles="inferred",
            layers=_LAYERS,
            called=("HDF5",) if (layer == _HDF5).any() else (),
            notes=("bytes are those asked for: what calls returned is not kept",),
        ),
        ranks=ranks.astype(np.int64),
        process_names=tuple(f"rank {one}" for one in ranks.tolist()),
        nodes=tuple((*nodes, "")[one] for one in node[first].tolist()),
        location_process=of_process,
        location_names=tuple(f"thread {one}" for one in threads[of_thread].tolist()),
        paradigms=_LAYERS,
        files=files,
        handles=handles,
        length=int(end.max(initial=0)),
    )
    nested = nested_calls(location, begin, end, layer)
    called = CalledFunctions(regions, location, begin, function, nested, transfers, of_event)
    faults = {"a negative size": moved[transfers] < -1}
    return run.source(path, calls.take(transfers), faults, metadata, [*_missing(path), *damage], called=called)


def _columns(path: Path) -> tuple[dict[str, Any], dict[str, Any], list[LocationDamage]]:
    """Return names and numbers of all files of a folder, in the columns of the first, and which rows are left out."""
    parquet, pyarrow = import_library("pyarrow.parquet", path), import_library("pyarrow")
    names = [*_NUMBERS, *_NAMES]
    try:
        require_memory(path, parquet_memory((part, names) for part in parquet_parts(path)), "the table")
        parts = [parquet.read_table(part, columns=names, partitioning=None) for part in parquet_parts(path)]
        table = pyarrow.concat_tables(parts)
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise TraceError(f"{path}: Recorder's Parquet cannot be read: {str(error).splitlines()[0]}") from None
    columns = {name: one_array(table.column(name)) for name in names}
    found, sound = {}, np.ones(len(table), np.bool_)
    for name in _NUMBERS:
        values, known = numbers(columns[name])
        values = np.where(known, values, 0)
        sound &= known & (np.abs(values.astype(float)) < _LARGEST[name])
        if name in ("rank", "tmid"):
            sound &= values >= 0
        if name != "duration":
            sound &= values % 1 == 0
        found[name] = values
    if len(sound) and not sound.any():
        raise TraceError(f"{path}: no row of Recorder's Parquet has a rank, a thread, a size and times that make sense")
    names_of = {name: columns[name].filter(pyarrow.array(sound)) for name in _NAMES}
    numbers_of = {name: one[sound].astype(float if name == "duration" else np.int64) for name, one in found.items()}
    wrong = "rows left out: a number that is missing or makes no sense"
    return names_of, numbers_of, [] if sound.all() else [lost(wrong, len(sound), int(sound.sum()))]


def _missing(path: Path) -> list[LocationDamage]:
    """Return what the folder's own list of its parts has and they have not; nothing where there is no list."""
    parquet, pyarrow = import_library("pyarrow.parquet", path), import_library("pyarrow")
    listed, expected = path / "_metadata", Counter[str]()
    try:
        known = parquet.read_metadata(listed) if listed.is_file() else None
        for group in map(known.row_group, range(known.num_row_groups)) if known else ():
            expected[group.column(0).file_path] += group.num_rows
        there = {part.name: parquet.read_metadata(part).num_rows for part in parquet_parts(path)}
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError):
        return [lost("_metadata, the list of the parts, cannot be read: nobody knows whether all are there")]
    wrong = ((name, count, there.get(name, 0)) for name, count in expected.items() if there.get(name, 0) != count)
    return [
        lost(f"{name} is not the part that _metadata lists", count, min(count, rows)) for name, count, rows in wrong
    ]


def _times(middle: Ints, duration: npt.NDArray[np.floating]) -> tuple[Ticks, Ticks]:
    """Return begin and end in ns; start and end have seven digits only, what is between them better."""
    length = np.rint(duration.astype(np.float64) * 1e9).astype(np.int64)
    begin = np.maximum(middle * _TICK - length // 2, 0)
    return begin, begin + length


def _meaning(name: str) -> tuple[int, int, int, int]:
    """Return the layer of a function, its `IoMode` and `IoRecord`, `NONE` where it has none, and its `IoFlag`."""
    call = _MPI.fullmatch(name)
    if call:
        flags = (IoFlag.NON_BLOCKING if call[1] else 0) | (IoFlag.COLLECTIVE if call[3] else 0)
        return _MPI_IO, TRANSFERS[call[2]], NONE, flags
    if name in _CALLS:
        return *_CALLS[name], 0
    library = next((layer for prefix, layer in _PREFIXES.items() if name.startswith(prefix)), None)
    if library is not None:
        return library, NONE, NONE, 0
    (plain,) = plain_names([name])
    layer = _ISOC if STREAMS.fullmatch(plain) else _POSIX
    return layer, TRANSFERS.get(plain, NONE), EVENTS.get(plain, NONE), 0


RECORDER: Final = Recorder(
    "Recorder",
    recognises,
    open_recorder,
    format="a folder of Parquet files, as its converter writes them",
    description="Every call of HDF5, MPI-IO, ISO C and POSIX by rank and thread, with the file and the function.",
    page="recorders/recorder.rst",
    never_recorded=("offsets",),
)
