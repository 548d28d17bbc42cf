"""A Darshan log as a source."""

from collections import Counter
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from ...model.arrays import Ints, Links
from ...model.codes import Status
from ...model.definitions import Clock
from ...model.errors import TraceError
from ...model.events import IoEvents
from ...model.recording import Recording
from ...model.stream.damage import LocationDamage
from ..recognition import Recorder
from ..rows import MOST_PROCESSES, NANOSECONDS, HandleTable, Run, Transfers, checked, pairs_of, ticks_of
from ..source import RowSource
from .counters import MODULES, ModuleCounters, join_counters, read_counters
from .log import Log, is_darshan, read_log
from .segments import TRACED, Segments, read_heatmap, read_segments

_ORDER: Final = ("MPI-IO", "POSIX")
"""Which layer's file stands behind the other's of the same name; ISO C's is another stream."""
_ALL_FILES: Final = "all files together, by intervals of time"
_NO_NAME: Final = "record {:#x}, whose name the log does not tell"


def recognises(head: bytes, path: Path) -> bool:
    """Tell a Darshan log by its first bytes; an empty one, which a job that was killed leaves, by its name."""
    return is_darshan(head) or (not head and path.suffix == ".darshan" and path.is_file())


def open_darshan(path: Path) -> RowSource:
    """Read a Darshan log.

    Where there are segments of DXT they are the operations; where there are none, the intervals of HEATMAP; where there
    are neither, nothing but the counters, which are told in any case.

    Raises TraceError if header or job cannot be read, UnsupportedTraceError if the version is not known.
    """
    log = read_log(path)
    processes = log.job.processes
    if not 0 < processes <= MOST_PROCESSES:
        raise TraceError(f"{path}: the Darshan log claims {processes} processes; it is damaged, copy it again")
    counters, faults = read_counters(log)
    faults = [*log.faults, *faults]
    parts: list[Segments] = []
    for module in TRACED:
        if module in log.modules:
            found = read_segments(log, module)
            if isinstance(found, str):
                faults.append(found)
            else:
                parts.append(found)
                faults += [f"{module}: {found.fault}"] if found.fault else []
    binned = not any(map(len, parts)) and "HEATMAP" in log.modules
    if binned:
        parts, more = read_heatmap(log)
        faults += more
    return _source(log, parts, counters, faults, binned)


def _source(
    log: Log, parts: list[Segments], counters: list[ModuleCounters], faults: list[str], binned: bool
) -> RowSource:
    paradigms = tuple(part.layer for part in parts)
    # Records are a tenth of the transfers or less: what is of a record is found before it is repeated.
    records = np.concatenate([np.empty(0, np.uint64), *(part.record for part in parts)])
    counts = np.concatenate([np.empty(0, np.int64), *(part.count for part in parts)])
    ids = np.unique(np.concatenate([records, *(part.record for part in counters)]))
    names = [log.names.get(one) or _NO_NAME.format(one) for one in ids.tolist()]
    if binned:
        names.append(_ALL_FILES)
    files = np.full(len(records), len(ids), np.int64) if binned else np.searchsorted(ids, records)
    layer = np.repeat(np.arange(len(parts)), [len(part.rank) for part in parts])
    handle, handle_layer, handle_file = pairs_of(layer, files)
    ranks = np.concatenate([np.empty(0, np.int64), *(part.rank for part in parts)])
    processes = log.job.processes
    location, location_process, location_names = _locations(parts, ranks, counts, processes)
    start, sound_start = ticks_of(np.concatenate([np.empty(0), *(part.start for part in parts)]))
    end, sound_end = ticks_of(np.concatenate([np.empty(0), *(part.end for part in parts)]))
    length = np.concatenate([np.empty(0, np.int64), *(part.length for part in parts)])
    count = len(length)
    rows = Transfers(
        location=location,
        handle=np.repeat(handle, counts),
        mode=np.concatenate([np.empty(0, np.uint8), *(part.mode for part in parts)]),
        begin=start,
        end=end,
        moved=length,
        requested=np.full(count, -1, np.int64) if binned else length,
        offset=np.concatenate([np.empty(0, np.int64), *(part.offset for part in parts)]),
        flags=np.zeros(count, np.uint32),
        status=np.full(count, Status.COMPLETE, np.uint8),
        sound=np.ones(count, np.bool_),
    )
    wrong = {"a time that is no number": ~(sound_start & sound_end), "a negative length": length < 0}
    handles = HandleTable.of_files(
        handle_layer.astype(np.int32), handle_file.astype(np.int32), paradigms, () if binned else _ORDER
    )
    found = checked(rows, location_process, wrong, below=handles.below(paradigms))
    hosts: dict[int, str] = {rank: host for part in parts for rank, host in part.hosts.items()}
    damage = [*found.damage, *_lost(log, parts, counters, binned)]
    damage += [LocationDamage(-1, -1, 0, 0, fault) for fault in faults]
    for name, module in log.modules.items():
        if module.partial and name == "HEATMAP":
            damage.append(LocationDamage(-1, -1, 0, 0, "HEATMAP ran full while it was recorded"))
    run = Run(
        recording=_recording(log, parts, counters, ids, binned),
        clock=Clock(NANOSECONDS, 0, log.job.length_ns, log.job.start_ns),
        ranks=np.arange(processes),
        process_names=tuple(f"rank {rank}" for rank in range(processes)),
        nodes=tuple(hosts.get(rank, "") for rank in range(processes)),
        location_process=location_process,
        location_names=location_names,
        paradigms=paradigms,
        files=tuple(names),
        file_properties=tuple(_place(name, log.job.mounts) for name in names),
        handles=handles,
    )
    return RowSource(
        log.path,
        run.definitions(found.promised),
        found.operations,
        IoEvents.empty(),
        tuple(damage),
        {} if binned else found.irregular,
        sum(len(part.rank) for part in counters),
    )


def _locations(
    parts: list[Segments], ranks: Ints, counts: Ints, processes: int
) -> tuple[Links, Links, tuple[str, ...]]:
    """Return the location of each transfer, −1 for none; the process of each location, and the names of locations.

    There is one for each process, or for each of its threads where the log tells them.
    """
    known = (ranks >= 0) & (ranks < processes)
    rank = np.repeat(np.where(known, ranks, -1).astype(np.int32), counts)
    if not parts or any(part.thread is None for part in parts):
        every = np.arange(processes, dtype=np.int32)
        return rank, every, tuple(f"rank {one}" for one in range(processes))
    threads = np.concatenate([part.thread for part in parts if part.thread is not None])
    # Processes without transfers have a location too.
    idle = np.setdiff1d(np.arange(processes), ranks[known])
    _, number = np.unique(threads, return_inverse=True)
    place, process, _ = pairs_of(
        np.concatenate([np.maximum(rank, 0), idle]),
        np.concatenate([number.reshape(-1), np.zeros(len(idle), int)]),
    )
    count = Counter[int]()
    names = []
    for one in process.tolist():
        names.append(f"rank {one} thread {count[one]}")
        count[one] += 1
    return np.where(rank < 0, np.int32(-1), place[: len(rank)]), process.astype(np.int32), tuple(names)


def _lost(
    log: Log,
    parts: list[Segments],
    counters: list[ModuleCounters],
    binned: bool,
) -> list[LocationDamage]:
    """Return what DXT has not kept of the transfers that the counters count."""
    if binned:
        return []
    counted = {part.module: int(part.transfers().sum()) for part in counters}
    traced = {part.module: len(part) for part in parts}
    found = []
    for module, of in TRACED.items():
        if module not in log.modules:
            continue
        there, there_should = traced.get(module, 0), counted.get(of)
        full = log.modules[module].partial
        if there_should is not None and there < there_should:
            why = "ran full" if full else "does not hold all transfers"
            text = f"{module} {why}; the counters of {of} tell how many there were"
            found.append(LocationDamage(-1, -1, there_should, there, text))
        elif full:
            found.append(
                LocationDamage(-1, -1, 0, 0, f"{module} ran full: transfers are missing, nobody knows how many")
            )
    return found


def _watched(log: Log, counters: list[ModuleCounters]) -> tuple[str, ...]:
    """Return the layers whose transfers DXT would hold had there been any.

    A module that is not there although the counters have transfers was switched off; and where there is one process,
    Darshan may have been built without MPI, which then nothing watches.
    """
    counted = {part.module: int(part.transfers().sum()) for part in counters}
    unknown = {of for of in TRACED.values() if counted.get(of)} | ({"MPI-IO"} if log.job.processes <= 1 else set())
    return tuple(of for module, of in reversed(TRACED.items()) if module in log.modules or of not in unknown)


def _recording(
    log: Log, parts: list[Segments], counters: list[ModuleCounters], ids: npt.NDArray[np.uint64], binned: bool
) -> Recording:
    notes = []
    if binned:
        widths = sorted({f"{part.end[0] - part.start[0]:.3g}" for part in parts if len(part.end)})
        notes.append(
            "HEATMAP has no single operations and no files: bytes by layer, rank and interval of "
            f"{' or '.join(widths)} s"
        )
    elif any(map(len, parts)):
        notes.append(
            "Handles are inferred from the names of files, one for each file and layer, POSIX below MPI-IO on the same "
            "file; sizes of requests are those of DXT's segments"
        )
    if log.job.whole_seconds:
        notes.append("start and length of the run are known to whole seconds only: the length is rounded up")
    left_out = [name for name in log.modules if name not in (*MODULES, *TRACED, "HEATMAP", "H5F", "LUSTRE", "BG/Q")]
    if left_out:
        notes.append(f"not read: {', '.join(left_out)}")
    some = any(map(len, parts))
    if not log.modules:
        notes.append("the log has no modules: the program did no I/O that Darshan watched")
    return RECORDER.recording(
        format=f"Darshan {log.job.library or 'log'}, log version {log.version}",
        facts={"darshan_version": log.job.library, "log_version": log.version, "command": log.job.command},
        rows="none" if not some else "intervals" if binned else "operations",
        handles="absent" if binned or not some else "inferred",
        nodes=any(part.hosts for part in parts),
        threads=bool(parts) and all(part.thread is not None for part in parts),
        offsets=not binned,
        layers=("MPI-IO", "POSIX", "ISOC") if binned else _watched(log, counters),
        whole_seconds=log.job.whole_seconds,
        counters=join_counters(counters, ids),
        notes=tuple(notes),
        remedy="record with DXT (DXT_ENABLE_IO_TRACE=1) for single operations",
    )


def _place(name: str, mounts: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """Return the file system that a file is on: the mount point that most of its name starts with."""
    best = ""
    kind = ""
    for system, mount in mounts:
        inside = name == mount or name.startswith(mount.rstrip("/") + "/")
        if inside and len(mount) > len(best):
            best, kind = mount, system
    return {"Mount Point": best, "File system": kind} if best else {}


RECORDER: Final = Recorder(
    "Darshan",
    recognises,
    open_darshan,
    format="logs of format 3.00 to 3.4x",
    description="Sums of each file and rank by layer; with DXT every transfer of MPI-IO and POSIX, with HEATMAP their "
    "bytes by intervals of time.",
    page="recorders/darshan.rst",
    never_recorded=("metadata", "collective", "flushes"),
)
