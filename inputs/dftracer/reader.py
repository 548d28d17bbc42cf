"""DFTracer's files as a source: one file a process, or a folder of those of a run."""

import re
from pathlib import Path
from typing import Final

import numpy as np

from ...model.arrays import Ints, Links, Mask, Octets, Rows, Ticks
from ...model.codes import IoMode, IoRecord
from ...model.errors import TraceError
from ...model.operations import followed_places
from ...model.quantities import counted
from ...model.recording import Recording
from ...model.stream.calls import OF_MPI, OF_THE_PROGRAM, Regions
from ..calls import CalledFunctions, nested_calls
from ..functions import EVENTS, EXPLICIT, ITEMS, NONE, TRANSFERS, looked_up, plain_names
from ..inflating import first_text
from ..recognition import Recorder
from ..rows import LONGEST, Transfers, pairs_of
from ..run import HandleTable, RecordedRun, events_of
from ..source import RowSource
from .events import LAYERS, Events, Joined, without_time
from .fields import NO_AMOUNT, UNKNOWN
from .lines import Lines, read_lines
from .upper import COMMUNICATING, COMPUTING, MOST_CATEGORIES, frames, overlap_note, upper_operations

_LAYERS: Final = tuple(LAYERS.values())
_OF_USER: Final = OF_THE_PROGRAM[1]
_APPEND: Final = 0o2000
"""``O_APPEND`` of Linux: writes go to the end, wherever that is."""
_MOST_ITEMS: Final = 2**30
_SHORTEST_PAUSE: Final = 60 * 10**9
"""ns between two files of which one ended before the other began that are nothing to wonder about."""
_SINCE_2001: Final = 10**18
"""ns from which on times count since 1970-01-01 UTC."""
_EVENT: Final = re.compile(rb'\A[\[\s]*\{[^\n]*"(?:cat|ph)"\s*:[^\n]*"(?:ts|args|pid)"\s*:')
WITH_A_STEP: Final = re.compile(rb'\A[\[\s]*\{[^\n]*"pid"\s*:\s*\d+\s*,\s*"step"\s*:')
"""An event with a step, as TAU writes it."""
_MOST_FILES: Final = 1 << 20
_OF_FILES: Final = 2**31
"""Numbers from which on files stand for descriptors, which are not recorded."""
_UNITS: Final = {1000: "microseconds", 10**6: "milliseconds", 10**9: "seconds"}


def recognises(head: bytes, path: Path) -> bool:
    """Tell DFTracer's files by their first event; a folder by any of its files."""
    if path.is_dir():
        return bool(_files(path, 1))
    return _is_event(first_text(head))


def _is_event(text: bytes) -> bool:
    return _EVENT.match(text) is not None and WITH_A_STEP.match(text) is None


def _files(folder: Path, most: int = _MOST_FILES) -> list[Path]:
    found = []
    for path in sorted(folder.iterdir()):
        if path.is_file():
            with path.open("rb") as file:
                head = file.read(1 << 14)
            if head and _is_event(first_text(head)):
                found.append(path)
                if len(found) == most:
                    break
    return found


def open_dftracer(path: Path) -> RowSource:
    """Read a file of DFTracer, or all those of a folder.

    Raises TraceError if no event can be read, or a folder's files are of several runs.
    """
    return read_files(path, _files(path) if path.is_dir() else [path], RECORDER)


def read_files(path: Path, files: list[Path], recorder: Recorder, numbered_by_rank: bool = False) -> RowSource:
    """Read files of trace events of a run; `numbered_by_rank` where the numbers of processes are their ranks.

    Raises TraceError as `open_dftracer`.
    """
    parts = [read_lines(one) for one in files]
    _check_one_run(path, files, parts)
    if all(without_time(part).all() for part in parts):
        faults = [part.fault for part in parts if part.fault]
        raise TraceError(
            f"{path}: no event can be read{f' ({faults[0]})' if faults else ''}; {recorder.name} writes each on a line "
            "of its own, with the time ts"
        )
    joined = Joined()
    for part in parts:
        joined.define(part)
    for part in parts:
        joined.add(part)
    if joined.summed and not any(map(len, joined.parts)):
        raise TraceError(
            f"{path}: {recorder.name} summed calls up over time ({counted(joined.summed, 'sum')}) and recorded none of "
            "them; record without DFTRACER_ENABLE_AGGREGATION"
        )
    if numbered_by_rank:
        joined.ranks.update((row, number) for (_, number), row in joined.processes.items() if 0 <= number < 2**31)
    return _source(path, joined, Events.concatenate(joined.parts), recorder)


def _check_one_run(folder: Path, files: list[Path], parts: list[Lines]) -> None:
    """Raise TraceError where some files begin long after the others ended: later than both together lasted."""
    spans = []
    for file, part in zip(files, parts, strict=True):
        start = part.columns["ts"]
        known = start[(start >= _SINCE_2001) & (start < LONGEST)]
        if len(known):
            duration = part.columns["dur"][start == known.max()].max()
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


def _source(path: Path, joined: Joined, events: Events, recorder: Recorder) -> RowSource:
    names, processes = tuple(joined.names), len(joined.processes)
    functions = plain_names(names)
    watched = events.layer >= 0
    codes = (looked_up(events.function, functions, table) for table in (TRANSFERS, EVENTS))
    mode, kind = (np.where(watched, one, NONE).astype(np.uint8) for one in codes)
    begin, end, realtime = _times(events)
    tids, tid = np.unique(events.tid, return_inverse=True)
    location, location_process, location_tid = pairs_of(events.process, tid.reshape(-1))
    thread_names = tuple(f"thread {one}" for one in tids[location_tid].tolist())
    if not len(location_process):
        location_process, thread_names = np.zeros(1, np.int32), ("thread 0",)
    transfers = np.flatnonzero(mode != NONE)
    moved, requested = _amounts(events, mode, functions)
    file, files, without = _files_told(events, names, joined, transfers, bool((moved[transfers] < 0).all()))
    offsets = _offsets(events, kind, functions, np.maximum(moved, 0))
    # A call is written when it ends, behind those in it.
    rows = np.arange(len(events))
    nested = nested_calls(location, begin, end, np.where(watched, rows[::-1] + len(events), rows[::-1]))
    sound = transfers[events.dur[transfers] != UNKNOWN]
    categories, of_category = np.unique(events.category, return_inverse=True)
    left_out = watched | np.isin(events.category, [row for row, one in enumerate(names) if one in LAYERS])
    left_out |= of_category.reshape(-1) >= MOST_CATEGORIES
    category: Links = np.where(left_out, -1, of_category.reshape(-1)).astype(np.int32)
    upper, order = upper_operations(
        nested,
        np.where(np.isin(category, frames(nested, category, events.process, begin, end)), np.int32(-1), category),
        sound, file, mode, (begin, end), moved, requested,
    )  # fmt: skip
    above = tuple(names[categories[one]] for one in order)
    layers = (*above, *_LAYERS)
    height = np.full(len(categories) + 1, -1, np.int32)
    height[order] = np.arange(len(order))
    call = np.concatenate([rows, upper.call])
    layer = np.concatenate([np.where(watched, events.layer + len(above), -1), height[upper.category]])
    # Processes have handles of their own: one for each file and layer.
    files_of, levels = np.concatenate([file, upper.file]), (*above, "ISOC", "POSIX") if above else ()
    handle, handles = HandleTable.inferred(layer, files_of, layers, levels, process=events.process[call])
    modes, amounts = np.concatenate([mode, upper.mode]), np.concatenate([moved, upper.moved])
    asked, places = np.append(requested, upper.requested), np.append(offsets, np.full(len(upper.call), -1))
    starts, ends = np.concatenate([begin, upper.begin]), np.concatenate([end, upper.end])
    calls = Transfers(location[call], handle, modes, starts, ends, amounts, asked, places)
    chosen = np.concatenate([transfers, np.arange(len(rows), len(call))])
    metadata, of_event = events_of(
        calls.take(rows), kind, handles, (events.ret >= 0) | (events.ret <= NO_AMOUNT), events.ret
    )
    regions, function = _regions(events, names)
    ranked = len(joined.ranks) == processes == len(set(joined.ranks.values()))
    io = np.zeros(len(events), np.bool_)
    io[sound] = True
    overlap = overlap_note(events.process, begin, end, io, *_matching(events, names, COMPUTING, COMMUNICATING))
    run = RecordedRun(
        recording=_recording(recorder, joined, ranked, layers, without, overlap),
        ranks=np.array([joined.ranks[row] if ranked else row for row in range(processes)], np.int64),
        process_names=tuple(f"process {pid}" for _, pid in joined.processes),
        nodes=tuple(host for host, _ in joined.processes),
        location_process=location_process,
        location_names=thread_names,
        paradigms=layers,
        files=files,
        handles=handles,
        length=max(int(end.max(initial=0)), 0),
        realtime_ns=realtime,
    )
    faults = {
        "no duration": (events.dur == UNKNOWN)[call[chosen]],
        "a result that is no number of bytes": (watched & (events.ret == NO_AMOUNT))[call[chosen]],
    }
    called = CalledFunctions(regions, location, begin, function, nested, call[chosen], of_event)
    return run.source(path, calls.take(chosen), faults, metadata, joined.damage, called=called)


def _files_told(
    events: Events, names: tuple[str, ...], joined: Joined, transfers: Rows, unsized: bool
) -> tuple[Links, tuple[str, ...], tuple[str, ...]]:
    """Return the file of each call, the names of files, and what of sizes and files no transfer tells.

    Where no file is told, those of a process are as one: its calls are in order, and in those of layers above.
    """
    watched, unnamed = events.layer >= 0, bool((events.file[transfers] < 0).all())
    without = tuple(name for name, one in (("sizes", unsized), ("files", unnamed)) if one and len(transfers))
    if "files" in without:
        of_processes = tuple(f"unnamed files of process {pid}" for _, pid in joined.processes)
        return np.where(watched, events.process, -1), of_processes, without
    files = np.unique(events.file[watched & (events.file >= 0)])
    file = np.where(watched & (events.file >= 0), np.searchsorted(files, events.file), -1)
    return file, tuple(names[one] for one in files.tolist()), without


def _regions(events: Events, names: tuple[str, ...]) -> tuple[Regions, Links]:
    """Return the functions that were called, and which one each call is of."""
    function, of_name, of_category = pairs_of(events.function, events.category)
    _, first = np.unique(function, return_index=True)
    of_layer = [_LAYERS[one] if one >= 0 else None for one in events.layer[first].tolist()]
    paradigm = [
        0 if layer else OF_MPI if COMMUNICATING.fullmatch(names[category]) else _OF_USER
        for layer, category in zip(of_layer, of_category.tolist(), strict=True)
    ]
    files = tuple(layer or names[one] for layer, one in zip(of_layer, of_category.tolist(), strict=True))
    return Regions.of_functions(tuple(names[one] for one in of_name.tolist()), files, paradigm, on_files=True), function


def _matching(events: Events, names: tuple[str, ...], *patterns: re.Pattern[str]) -> list[Mask]:
    """Return the calls of the program's own functions whose name or category fits each of some patterns."""
    found = []
    for pattern in patterns:
        fits = np.array([*(pattern.fullmatch(name) is not None for name in names), False])
        found.append((events.layer < 0) & (fits[events.function] | fits[events.category]))
    return found


def _times(events: Events) -> tuple[Ticks, Ticks, int | None]:
    """Return begin and end in ns from the run's start, and that start where times count since 1970."""
    origin = int(events.ts.min(initial=LONGEST)) if len(events) else 0
    realtime = origin if origin >= _SINCE_2001 else None
    # Twice the longest is refused with its row.
    begin = np.clip(events.ts - (0 if realtime is None else origin), -2 * LONGEST, 2 * LONGEST)
    duration = np.clip(np.where(events.dur == UNKNOWN, 0, events.dur), -LONGEST, LONGEST)
    return begin, begin + duration, realtime


def _amounts(events: Events, mode: Octets, functions: list[str]) -> tuple[Ints, Ints]:
    """Return the bytes that each call moved and asked for, −1 where unknown."""
    items = looked_up(events.function, functions, ITEMS, False).astype(np.bool_)
    items &= (events.size > 1) & (events.size < _MOST_ITEMS)

    def amounts(values: Ints) -> Ints:
        known = np.where(values == UNKNOWN, -1, values)
        return np.where(items & (known > 0), np.minimum(known, _MOST_ITEMS) * events.size, known)

    return np.where(mode == IoMode.FLUSH, -1, amounts(events.ret)), amounts(events.count)


def _offsets(events: Events, kind: Octets, functions: list[str], moved: Ints) -> Ints:
    """Return where in the file each transfer was, −1 where unknown, int64 (n,).

    A file descriptor's place follows from the opening, the seeks and the transfers; explicit offsets are recorded.
    Where no descriptors are, the file stands for its only one while it is open but once.
    """
    opens, seeks = kind == IoRecord.CREATE_HANDLE, kind == IoRecord.SEEK
    explicit = looked_up(events.function, functions, EXPLICIT, False).astype(np.bool_)
    descriptor = np.where(opens, events.ret, events.fd)
    by_file = (descriptor == UNKNOWN) & (events.file >= 0)
    descriptor = np.where(by_file, _OF_FILES + events.file.astype(np.int64), descriptor)
    follows = np.flatnonzero((events.layer == _LAYERS.index("POSIX")) & (descriptor >= 0) & ~explicit)
    order = follows[np.lexsort((events.ts[follows], descriptor[follows], events.process[follows]))]
    appends = opens & (events.flags != UNKNOWN) & (events.flags & _APPEND != 0)
    closes = kind == IoRecord.DESTROY_HANDLE
    sets = (opens | seeks | closes)[order]
    place = np.where(opens & ~appends, 0, np.where(seeks & (events.ret >= 0), events.ret, -1))[order]
    key = events.process[order].astype(np.int64) << 32 | descriptor[order]
    step = opens[order].astype(np.int64) - closes[order]
    first = np.searchsorted(key, key)
    times_open = np.cumsum(step) - (np.cumsum(step) - step)[first]
    place[by_file[order] & (times_open > 1)] = -1
    found = np.full(len(moved), -1, np.int64)
    found[order] = followed_places(key, sets, place, moved[order])
    told = explicit & (events.offset >= 0)
    found[told] = events.offset[told]
    return found


def _recording(
    recorder: Recorder,
    joined: Joined,
    ranks: bool,
    layers: tuple[str, ...],
    without: tuple[str, ...],
    overlap: list[str],
) -> Recording:
    unit = _UNITS.get(joined.unit)
    notes = ["Handles are inferred: one for each process, layer and file"]
    notes += [f"times are whole {unit}"] if unit else []
    if not ranks:
        notes.append("no ranks are recorded: processes are numbered in their order")
    hint = " (DFTRACER_INC_METADATA=1 has them recorded)" if recorder is RECORDER else ""
    return recorder.recording(
        format=f"{recorder.name}, trace events in JSON",
        handles="inferred",
        nodes=any(host for host, _ in joined.processes),
        processes=recorder is not RECORDER or not ranks,
        layers=layers,
        called=layers[: -len(_LAYERS)],
        notes=(*notes, *overlap),
        without=(" and ".join(without) + hint,) if without else (),
    )


RECORDER: Final = Recorder(
    "DFTracer",
    recognises,
    open_dftracer,
    format="trace events in JSON, plain or compressed by gzip, a file a process",
    description="Every call of POSIX and ISO C by process and thread, with the file and the function called, and what "
    "functions of the program and its libraries they were called in.",
    page="recorders/dftracer.rst",
    folders=True,
)
