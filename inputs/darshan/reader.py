"""A Darshan log as a source."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from ...model.arrays import Links
from ...model.recording import Counters, Recording
from ...model.stream.damage import LocationDamage
from ..recognition import Recorder
from ..rows import UNRECORDED, Transfers, check_processes, lost, pairs_of, ticks_of
from ..run import HandleTable, RecordedRun
from ..source import RowSource
from .counters import MODULES, Ids, read_counters, transfers
from .log import Log, is_darshan, read_log
from .segments import TRACED, Traced, read_heatmap, read_segments

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
    check_processes(path, log.job.processes, "Darshan")
    counters, counted, faults = read_counters(log)
    traced = read_segments(log)
    faults = [*log.faults, *faults, *traced.faults]
    if not len(traced.segments) and "HEATMAP" in log.modules:
        traced = read_heatmap(log)
        faults += traced.faults
    if "HEATMAP" in log.modules and log.modules["HEATMAP"].partial:
        faults.append("HEATMAP ran full while it was recorded")
    return _source(log, traced, counters, counted, [*_lost(log, traced, counters), *map(lost, faults)])


def _source(log: Log, traced: Traced, counters: Counters, counted: Ids, damage: list[LocationDamage]) -> RowSource:
    # Records are a tenth of the transfers or less: what is of a record is found before it is repeated.
    records, segments = traced.records, traced.segments
    ids = np.union1d(records.record, counted)
    counters = replace(counters, file=np.searchsorted(ids, counted)[counters.file].astype(np.int32))
    names = [log.names.get(one) or _NO_NAME.format(one) for one in ids.tolist()]
    file = np.searchsorted(ids, records.record)
    if traced.binned:
        names, file = [*names, _ALL_FILES], np.full(len(records), len(ids))
    handle, handles = HandleTable.inferred(traced.layer, file, traced.layers, () if traced.binned else _ORDER)
    location, location_process, location_names = _locations(traced, log.job.processes)
    begin, sound_begin = ticks_of(segments.start)
    end, sound_end = ticks_of(segments.end)
    rows = Transfers(
        location=location,
        handle=np.repeat(handle, records.count),
        mode=segments.mode,
        begin=begin,
        end=end,
        moved=segments.length,
        requested=UNRECORDED if traced.binned else segments.length,
        offset=segments.offset,
    )
    run = RecordedRun(
        recording=_recording(log, traced, counters),
        ranks=np.arange(log.job.processes),
        process_names=tuple(f"rank {rank}" for rank in range(log.job.processes)),
        nodes=tuple(traced.hosts.get(rank, "") for rank in range(log.job.processes)),
        location_process=location_process,
        location_names=location_names,
        paradigms=traced.layers,
        files=tuple(names),
        file_properties=tuple(_place(name, log.job.mounts) for name in names),
        handles=handles,
        length=log.job.length_ns,
        realtime_ns=log.job.start_ns,
    )
    faults = {"a time that is no number": ~(sound_begin & sound_end), "a negative length": segments.length < 0}
    return run.source(log.path, rows, faults, damage=damage, records=len(counters.file))


def _locations(traced: Traced, processes: int) -> tuple[Links, Links, tuple[str, ...]]:
    """Return the location of each transfer, −1 for none; the process of each location, and the names of locations.

    There is one for each process, or for each of its threads where the log tells them.
    """
    records = traced.records
    known = (records.rank >= 0) & (records.rank < processes)
    rank = np.repeat(np.where(known, records.rank, -1).astype(np.int32), records.count)
    if not traced.threads:
        every = np.arange(processes, dtype=np.int32)
        return rank, every, tuple(f"rank {one}" for one in range(processes))
    # Processes without transfers have a location too.
    idle = np.setdiff1d(np.arange(processes), records.rank[known])
    _, number = np.unique(traced.segments.thread, return_inverse=True)
    place, process, _ = pairs_of(
        np.concatenate([np.maximum(rank, 0), idle]),
        np.concatenate([number.reshape(-1), np.zeros(len(idle), int)]),
    )
    count = Counter[int]()
    names = []
    for one in process.tolist():
        names.append(f"rank {one} thread {count[one]}")
        count[one] += 1
    return np.where(rank < 0, np.int32(-1), place[: len(rank)]), process, tuple(names)


def _lost(log: Log, traced: Traced, counters: Counters) -> list[LocationDamage]:
    """Return what DXT has not kept of the transfers that the counters count."""
    found = []
    for module, of in TRACED.items():
        if traced.binned or module not in log.modules:
            continue
        there, there_should = traced.count_of(of), transfers(counters).get(of)
        full = log.modules[module].partial
        if there_should is not None and there < there_should:
            why = "ran full" if full else "does not hold all transfers"
            found.append(lost(f"{module} {why}; the counters of {of} tell how many there were", there_should, there))
        elif full:
            found.append(lost(f"{module} ran full: transfers are missing, nobody knows how many"))
    return found


def _watched(log: Log, counters: Counters) -> tuple[str, ...]:
    """Return the layers whose transfers DXT would hold had there been any.

    A module that is not there although the counters have transfers was switched off; and where there is one process,
    Darshan may have been built without MPI, which then nothing watches.
    """
    counted = transfers(counters)
    unknown = {of for of in TRACED.values() if counted.get(of)} | ({"MPI-IO"} if log.job.processes <= 1 else set())
    return tuple(of for module, of in reversed(TRACED.items()) if module in log.modules or of not in unknown)


def _recording(log: Log, traced: Traced, counters: Counters) -> Recording:
    some, binned = bool(len(traced.segments)), traced.binned
    return RECORDER.recording(
        format=f"Darshan {log.job.library or 'log'}, log version {log.version}",
        facts={"darshan_version": log.job.library, "log_version": log.version, "command": log.job.command},
        rows="none" if not some else "intervals" if binned else "operations",
        handles="absent" if binned or not some else "inferred",
        nodes=bool(traced.hosts),
        threads=traced.threads,
        offsets=not binned,
        layers=("MPI-IO", "POSIX", "ISOC") if binned else _watched(log, counters),
        whole_seconds=log.job.whole_seconds,
        counters=counters if len(counters.file) else None,
        notes=tuple(_notes(log, traced)),
        remedy="record with DXT (DXT_ENABLE_IO_TRACE=1) for single operations",
    )


def _notes(log: Log, traced: Traced) -> list[str]:
    notes = []
    if traced.binned:
        widths = {f"{width:.3g}" for width in np.unique(traced.segments.end - traced.segments.start).tolist()}
        notes.append(
            "HEATMAP has no single operations and no files: bytes by layer, rank and interval of "
            f"{' or '.join(sorted(widths))} s"
        )
    elif len(traced.segments):
        notes.append(
            "Handles are inferred from the names of files, one for each file and layer, POSIX below MPI-IO on the same "
            "file; sizes of requests are those of DXT's segments"
        )
    if log.job.whole_seconds:
        notes.append("start and length of the run are known to whole seconds only: the length is rounded up")
    left_out = [name for name in log.modules if name not in (*MODULES, *TRACED, "HEATMAP", "H5F", "LUSTRE", "BG/Q")]
    if left_out:
        notes.append(f"not read: {', '.join(left_out)}")
    if not log.modules:
        notes.append("the log has no modules: the program did no I/O that Darshan watched")
    return notes


def _place(name: str, mounts: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """Return the file system that a file is on: the mount point that most of its name starts with."""
    inside = [(mount, kind) for kind, mount in mounts if name == mount or name.startswith(mount.rstrip("/") + "/")]
    # Of several that are equally long the first.
    mount, kind = max(inside, key=lambda one: len(one[0]), default=("", ""))
    return {"Mount Point": mount, "File system": kind} if mount else {}


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
