"""DFTracer's files as a source: one file a process, or a folder of those of a run."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...model.arrays import Ints, Links, Mask, Ticks
from ...model.codes import UNDEFINED_UINT32, UNDEFINED_UINT64, IoMode, IoRecord, Status
from ...model.definitions import Clock
from ...model.errors import TraceError
from ...model.events import IoEvents
from ...model.recording import Recording
from ...model.stream.damage import LocationDamage
from ..inflating import first_text
from ..recognition import Recorder
from ..rows import LONGEST, NANOSECONDS, HandleTable, Run, Transfers, checked, pairs_of
from ..source import RowSource
from .lines import Lines, read_lines

_LAYERS: Final = {"POSIX": "POSIX", "STDIO": "ISOC"}
"""Layers by DFTracer's categories; functions of other categories are the program's own."""
_READS: Final = ["read", "pread", "pread64", "readv", "preadv", "preadv64", "fread", "fread_unlocked", "fgets", "fgetc"]
_WRITES: Final = [
    "write",
    "pwrite",
    "pwrite64",
    "writev",
    "pwritev",
    "pwritev64",
    "fwrite",
    "fwrite_unlocked",
    "fputs",
    "fputc",
    "fprintf",
]
_FLUSHES: Final = ["fsync", "fdatasync", "fflush", "sync_file_range"]
_ITEMS: Final = ["fread", "fwrite", "fread_unlocked", "fwrite_unlocked"]
"""Functions whose result counts items of `size` bytes."""
_OPENS: Final = ["open", "open64", "openat", "openat64", "creat", "creat64", "fopen", "fopen64", "fdopen", "freopen"]
_CLOSES: Final = ["close", "fclose"]
_SEEKS: Final = ["lseek", "lseek64", "fseek", "fseeko", "fseeko64", "rewind"]
_DELETES: Final = ["unlink", "unlinkat", "remove"]
_EXPLICIT: Final = ["pread", "pread64", "preadv", "preadv64", "pwrite", "pwrite64", "pwritev", "pwritev64"]
"""Functions that tell their offset."""
_APPEND: Final = 0o2000
"""``O_APPEND`` of Linux: writes go to the end, wherever that is."""
_SHORTEST_PAUSE: Final = 60 * 10**6
"""µs between two files of which one ended before the other began that are nothing to wonder about."""
_SINCE_2001: Final = 10**15
"""µs from which on times count since 1970-01-01 UTC."""
_MICROSECOND: Final = NANOSECONDS // 10**6
_EVENT: Final = re.compile(rb'\A[\[\s]*\{[^\n]*"(?:cat|ph)"\s*:[^\n]*"(?:ts|args|pid)"\s*:')
_MOST_FILES: Final = 1 << 20


def recognises(head: bytes, path: Path) -> bool:
    """Tell DFTracer's files by their first event; a folder by any of its files."""
    if path.is_dir():
        return bool(_files(path, 1))
    return _EVENT.match(first_text(head)) is not None


def _files(folder: Path, most: int = _MOST_FILES) -> list[Path]:
    found = []
    for path in sorted(folder.iterdir()):
        if path.is_file():
            with path.open("rb") as file:
                head = file.read(1 << 14)
            if head and _EVENT.match(first_text(head)):
                found.append(path)
                if len(found) == most:
                    break
    return found


@dataclass(frozen=True, eq=False)
class _Events:
    """Events of all files, columns of shape (n,): numbers as in `Lines`, texts as places in one list of names."""

    numbers: dict[str, Ints]
    function: Links
    layer: Links
    file: Links
    process: Links
    names: tuple[str, ...]
    hosts: tuple[str, ...]
    pids: tuple[int, ...]
    ranks: dict[int, int]
    damage: tuple[LocationDamage, ...]
    others: int


def open_dftracer(path: Path) -> RowSource:
    """Read a file of DFTracer, or all those of a folder.

    Raises TraceError if no event can be read, or a folder's files are of several runs.
    """
    files = _files(path) if path.is_dir() else [path]
    parts = [read_lines(one) for one in files]
    _check_one_run(path, files, parts)
    if all(_without_time(part).all() for part in parts):
        faults = [part.fault for part in parts if part.fault]
        raise TraceError(
            f"{path}: no event can be read{f' ({faults[0]})' if faults else ''}; DFTracer writes each on a line of its "
            "own, with the time ts"
        )
    return _source(path, _joined(parts))


def _without_time(part: Lines) -> Mask:
    """Return which lines are of no time that can be read, and need one."""
    from .scan import UNKNOWN

    return np.asarray((part.numbers["ts"] == UNKNOWN) & (part.numbers["ph"] != ord("M")), np.bool_)


def _check_one_run(folder: Path, files: list[Path], parts: list[Lines]) -> None:
    """Raise TraceError where some files begin long after the others ended: later than both together lasted."""
    from .scan import UNKNOWN

    spans = []
    for file, part in zip(files, parts, strict=True):
        start = part.numbers["ts"]
        known = start[(start >= _SINCE_2001) & (start < LONGEST)]
        if len(known):
            duration = part.numbers["dur"][start == known.max()].max()
            spans.append((int(known.min()), int(known.max()) + max(int(duration), 0) * (duration != UNKNOWN), file))
    spans.sort()
    runs: list[tuple[int, int, list[str]]] = []
    for begin, end, file in spans:
        if runs and begin - runs[-1][1] <= max(runs[-1][1] - runs[-1][0], end - begin, _SHORTEST_PAUSE):
            first, last, names = runs.pop()
            runs.append((first, max(last, end), [*names, file.name]))
        else:
            runs.append((begin, end, [file.name]))
    if len(runs) > 1:
        first_of = [f"{names[0]}{f' and {len(names) - 1} more' if names[1:] else ''}" for _, _, names in runs]
        told = "; ".join([*first_of[:4], *(["…"] if first_of[4:] else [])])
        raise TraceError(
            f"{folder}: the files are of {len(runs)} runs that lie far apart in time ({told}); "
            "give one file, or put the files of each run into a folder of its own"
        )


def _joined(parts: list[Lines]) -> _Events:
    """Resolve names of files and nodes, which the newer dialect gives as hashes of its own in each file."""
    from .scan import UNKNOWN

    names: dict[str, int] = {}
    processes: dict[tuple[str, int], int] = {}
    ranks: dict[int, int] = {}
    columns: dict[str, list[Any]] = {name: [] for name in parts[0].numbers}
    texts: dict[str, list[Links]] = {name: [] for name in ("function", "layer", "file", "process")}
    damage, others = [], 0

    for part in parts:
        own = np.array([*(names.setdefault(one, len(names)) for one in part.names), -1], np.int32)
        letter = part.numbers["ph"]
        metadata = np.flatnonzero(letter == ord("M"))
        file = own[_resolved(part, "fname", "fhash", _named(part, metadata, "FH"))]
        host = own[_resolved(part, "hostname", "hhash", _named(part, metadata, "HH"))]
        listed = tuple(names)
        pid = part.numbers["pid"]
        keys, where = np.unique(np.stack([host, pid]), axis=1, return_inverse=True)
        host_name = listed[keys[0].max()] if len(keys[0]) and keys[0].max() >= 0 else ""
        row = np.array(
            [
                processes.setdefault((listed[one] if one >= 0 else host_name, number), len(processes))
                for one, number in keys.T.tolist()
            ],
            np.int32,
        )
        process = row[where.reshape(-1)] if len(row) else np.empty(0, np.int32)
        for place in _named(part, metadata, "PR").tolist():
            what, value = (listed[own[part.texts[name][place]]] for name in ("arg_name", "arg_value"))
            if what == "rank" and value.isdigit() and len(value) < 10:
                ranks[int(process[place])] = int(value)
        category = own[part.texts["cat"]]
        layer_of = np.array([*(list(_LAYERS).index(one) if one in _LAYERS else -1 for one in listed), -1], np.int32)
        layer = layer_of[category]
        wanted = np.flatnonzero((letter == ord("X")) & (layer >= 0) & (part.numbers["ts"] != UNKNOWN))
        others += int(((letter == ord("X")) & (layer < 0)).sum())
        for name, column in part.numbers.items():
            columns[name].append(column[wanted])
        for name, values in (
            ("function", own[part.texts["name"]]),
            ("layer", layer),
            ("file", file),
            ("process", process),
        ):
            texts[name].append(values[wanted])
        untimed = int(np.count_nonzero(_without_time(part)))
        if untimed:
            damage.append(LocationDamage(-1, -1, untimed, 0, "events without a time"))
        if part.unreadable:
            damage.append(LocationDamage(-1, -1, part.unreadable, 0, "lines that cannot be read"))
        if part.fault:
            damage.append(LocationDamage(-1, -1, 0, 0, part.fault))
    joined = {name: np.concatenate(column) for name, column in texts.items()}
    return _Events(
        {name: np.concatenate(column) for name, column in columns.items()},
        joined["function"],
        joined["layer"],
        joined["file"],
        joined["process"],
        tuple(names),
        tuple(host for host, _ in processes),
        tuple(pid for _, pid in processes),
        ranks,
        tuple(damage),
        others,
    )


def _named(part: Lines, metadata: Ints, kind: str) -> Ints:
    """Return the lines of metadata of one kind that have a name and a value."""
    of_kind = np.array([*(name == kind for name in part.names), False], np.bool_)
    texts = (part.texts[name][metadata] for name in ("arg_name", "arg_value"))
    told = np.logical_and.reduce([text >= 0 for text in texts])
    return np.asarray(metadata[of_kind[part.texts["name"][metadata]] & told], np.int64)


def _resolved(part: Lines, name: str, hashed: str, defined: Ints) -> Links:
    """Return names where they stand in the event, else those that lines define for hashes; −1 where there is none."""
    by_hash = np.full(len(part.names) + 1, -1, np.int32)
    # Of several definitions the first counts.
    by_hash[part.texts["arg_value"][defined[::-1]]] = part.texts["arg_name"][defined[::-1]]
    given = part.texts[name]
    return np.where(given >= 0, given, by_hash[part.texts[hashed]]).astype(np.int32)


def _is(events: _Events, functions: list[str]) -> Mask:
    known = np.array([*(name in functions for name in events.names), False], np.bool_)
    return np.asarray(known[events.function], np.bool_)


def _source(path: Path, events: _Events) -> RowSource:
    from .scan import UNKNOWN

    numbers = events.numbers
    start = numbers["ts"]
    origin = int(start.min()) if len(start) else 0
    realtime = origin * 1000 if origin >= _SINCE_2001 else None
    if realtime is None:
        origin = 0
    begin, duration = start - origin, numbers["dur"]
    if len(start) and np.abs(begin).max() > LONGEST // _MICROSECOND:
        begin = np.clip(begin, -LONGEST // _MICROSECOND * 2, LONGEST // _MICROSECOND * 2)
    absent = duration == UNKNOWN
    duration = np.clip(np.where(absent, 0, duration), -LONGEST // _MICROSECOND, LONGEST // _MICROSECOND)
    ticks, end = begin * _MICROSECOND, (begin + duration) * _MICROSECOND
    thread, location_process, location_thread = pairs_of(
        events.process, np.unique(numbers["tid"], return_inverse=True)[1].reshape(-1)
    )
    thread_names = np.unique(numbers["tid"]).tolist()
    named = np.flatnonzero(events.file >= 0)
    files, of_file = np.unique(events.file[named], return_inverse=True)
    file = np.full(len(start), -1, np.int32)
    file[named] = of_file.reshape(-1)
    # Processes have handles of their own: one for each file and layer.
    key, handle_process_layer, handle_file = pairs_of(events.process * len(_LAYERS) + events.layer, file + 1)
    handle_layer = (handle_process_layer % len(_LAYERS)).astype(np.int32)
    reads, writes, flushes = (_is(events, names) for names in (_READS, _WRITES, _FLUSHES))
    transfers = np.flatnonzero(reads | writes | flushes)
    moved = np.where(numbers["ret"] == UNKNOWN, -1, numbers["ret"])
    requested = np.where(numbers["count"] == UNKNOWN, -1, numbers["count"])
    items = _is(events, _ITEMS) & (numbers["size"] > 1) & (numbers["size"] < 2**30)
    for amounts in (moved, requested):
        amounts[items & (amounts > 0)] = np.minimum(amounts[items & (amounts > 0)], 2**30)
    moved, requested = (np.where(items & (one > 0), one * numbers["size"], one) for one in (moved, requested))
    moved = np.where(flushes, -1, moved)
    offset = _offsets(events, np.maximum(moved, 0))
    taken: Callable[[npt.NDArray[Any]], Any] = lambda column: column[transfers]  # noqa: E731
    function_names, function = np.unique(events.function[transfers], return_inverse=True)
    paradigms = tuple(_LAYERS.values())
    handles = HandleTable.of_files(handle_layer, (handle_file - 1).astype(np.int32), paradigms, ())
    found = checked(
        Transfers(
            location=taken(thread),
            handle=taken(key),
            mode=np.where(taken(reads), IoMode.READ, np.where(taken(writes), IoMode.WRITE, IoMode.FLUSH)).astype(
                np.uint8
            ),
            begin=taken(ticks),
            end=taken(end),
            moved=taken(moved),
            requested=taken(requested),
            offset=taken(offset),
            flags=np.zeros(len(transfers), np.uint32),
            status=np.full(len(transfers), Status.COMPLETE, np.uint8),
            sound=np.ones(len(transfers), np.bool_),
            function=function.reshape(-1).astype(np.int32),
        ),
        location_process.astype(np.int32),
        {"no duration": taken(absent)},
        below=handles.below(paradigms),
    )
    metadata, uncounted = _metadata(events, thread, key, file, ticks)
    processes = len(events.pids)
    known = len(events.ranks) == processes == len(set(events.ranks.values()))
    promised = found.promised + np.bincount(metadata.location, minlength=len(location_process))
    if not len(location_process):
        location_process, location_thread = np.zeros(1, np.int64), np.zeros(1, np.int64)
        thread_names, promised = [0], np.zeros(1, np.int64)
    run = Run(
        recording=_recording(events, known, uncounted),
        clock=Clock(NANOSECONDS, 0, max(int(end.max(initial=0)), 0), realtime),
        ranks=np.array([events.ranks[row] if known else row for row in range(processes)], np.int64),
        process_names=tuple(f"process {pid}" for pid in events.pids),
        nodes=events.hosts,
        location_process=location_process.astype(np.int32),
        location_names=tuple(f"thread {thread_names[one]}" for one in location_thread.tolist()),
        paradigms=paradigms,
        files=tuple(events.names[one] for one in files.tolist()),
        file_properties=tuple({} for _ in files),
        handles=handles,
    )
    return RowSource(
        path,
        run.definitions(promised),
        found.operations,
        metadata,
        (*found.damage, *events.damage),
        found.irregular,
        function=found.function,
        function_names=tuple(events.names[one] for one in function_names.tolist()),
    )


def _offsets(events: _Events, moved: Ints) -> Ints:
    """Return where in the file each transfer was, −1 where unknown, int64 (n,).

    A file descriptor's place follows from the opening, the seeks and the transfers; explicit offsets are told.
    """
    from .scan import UNKNOWN

    numbers = events.numbers
    opens, closes, seeks = (_is(events, names) for names in (_OPENS, _CLOSES, _SEEKS))
    explicit = _is(events, _EXPLICIT)
    descriptor = np.where(opens, numbers["ret"], numbers["fd"])
    posix = events.layer == list(_LAYERS.values()).index("POSIX")
    follows = np.flatnonzero(posix & (descriptor >= 0) & ~explicit)
    order = follows[np.lexsort((numbers["ts"][follows], descriptor[follows], events.process[follows]))]
    appends = opens & (numbers["flags"] != UNKNOWN) & (numbers["flags"] & _APPEND != 0)
    sets = (opens | closes | seeks)[order]
    place = np.where(opens & ~appends, 0, np.where(seeks & (numbers["ret"] >= 0), numbers["ret"], -1))[order]
    key = events.process[order].astype(np.int64) << 32 | descriptor[order]
    fresh = np.diff(key, prepend=-1) != 0
    sets, place = sets | fresh, np.where(fresh & ~sets, -1, place)
    steps = np.where(sets, 0, moved[order])
    before = np.cumsum(steps) - steps
    last = np.maximum.accumulate(np.where(sets, np.arange(len(order)), 0))
    found = np.full(len(moved), -1, np.int64)
    if len(order):
        found[order] = np.where(place[last] >= 0, place[last] + before - before[last], -1)
    told = explicit & (numbers["offset"] >= 0)
    found[told] = numbers["offset"][told]
    return found


def _metadata(events: _Events, location: Links, handle: Links, file: Links, ticks: Ticks) -> tuple[IoEvents, int]:
    """Return openings, closings, seeks and deletions as events, and how many other calls there were."""
    from .scan import UNKNOWN

    kind = np.zeros(len(location), np.uint8)
    for names, record in (
        (_OPENS, IoRecord.CREATE_HANDLE),
        (_CLOSES, IoRecord.DESTROY_HANDLE),
        (_SEEKS, IoRecord.SEEK),
        (_DELETES, IoRecord.DELETE_FILE),
    ):
        kind[_is(events, names)] = record
    failed = (events.numbers["ret"] < 0) & (events.numbers["ret"] != UNKNOWN)
    deletes = kind == IoRecord.DELETE_FILE
    chosen = np.flatnonzero((kind > 0) & ~failed & (~deletes | (file >= 0)) & (np.abs(ticks) <= LONGEST))
    transfers = _is(events, [*_READS, *_WRITES, *_FLUSHES])
    rows = chosen[np.lexsort((ticks[chosen], location[chosen]))]
    gone, seek = deletes[rows], kind[rows] == IoRecord.SEEK
    offset = events.numbers["ret"][rows]
    return (
        IoEvents(
            location=location[rows].astype(np.int32),
            kind=kind[rows],
            time=ticks[rows],
            handle=np.where(gone, np.uint32(UNDEFINED_UINT32), handle[rows].astype(np.uint32)),
            mode=np.where(gone, events.layer[rows], 0).astype(np.uint8),
            flags=np.zeros(len(rows), np.uint32),
            matching=np.zeros(len(rows), np.uint64),
            value=np.where(gone, file[rows], 0).astype(np.uint64),
            offset=np.where(seek & (offset >= 0), offset.astype(np.uint64), np.uint64(UNDEFINED_UINT64)),
        ),
        int((~transfers & (kind == 0)).sum()),
    )


def _recording(events: _Events, ranks: bool, uncounted: int) -> Recording:
    notes = ["Handles are inferred: one for each process, layer and file", "times are whole microseconds"]
    if not ranks:
        notes.append("ranks are not recorded: processes are numbered in their order")
    if uncounted:
        notes.append(f"{uncounted:,} calls that move nothing (stat, mkdir and the like) are left out")
    if events.others:
        notes.append(f"{events.others:,} functions of the program and its libraries, which are no I/O, are left out")
    return RECORDER.recording(
        format="DFTracer, trace events in JSON",
        handles="inferred",
        nodes=any(events.hosts),
        layers=tuple(_LAYERS.values()),
        notes=tuple(notes),
    )


RECORDER: Final = Recorder(
    "DFTracer",
    recognises,
    open_dftracer,
    format="trace events in JSON, plain or compressed by gzip, a file a process",
    description="Every call of POSIX and ISO C by process and thread, with the file and the function called.",
    page="recorders/dftracer.rst",
    folders=True,
)
