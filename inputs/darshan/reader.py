"""A Darshan log as a source."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from ...model.arrays import Ints, Links
from ...model.quantities import bytes_text, counted, joined, seconds_text
from ...model.recording import Counters, MpiTime, Recording
from ..recognition import Recorder
from ..rows import UNRECORDED, Transfers, lost, pairs_of, ticks_of
from ..run import HandleTable, RecordedRun
from ..source import RowSource
from .content import logs_of_one_job, read_content, read_job
from .counters import MODULES, stripes_are_known, transfers
from .log import Log, is_darshan
from .segments import TRACED, Traced

_ORDER: Final = ("HDF5", "PnetCDF", "MPI-IO", "POSIX")
"""Which layer's file stands behind the other's of the same name; ISO C's is another stream."""
_MOST_TIMES: Final = 1000
"""Bytes of a layer for each of the layer above from which on it is asked whether they can belong together."""
_LARGEST_BUFFER: Final = 2**26
"""Bytes that a call of MPI-IO may make of a few: no larger buffers are in use for sieving and collective calls."""
_MOST_A_CALL: Final = {"HDF5": 2**32}
"""The same of other layers: a chunk of HDF5."""
_ALL_FILES: Final = "all files together, by intervals of time"
_STREAM: Final = "<STD"
"""How the names of standard streams begin."""
_ALL_RANKS: Final = "all ranks together"
_NO_NAME: Final = "record {:#x}, whose name the log does not tell"


def recognises(head: bytes, path: Path) -> bool:
    """Tell a Darshan log by its first bytes; an empty one, which a job that was killed leaves, by its name.

    A folder is one where its logs are of the processes of one job.
    """
    if path.is_dir():
        return bool(logs_of_one_job(path, most=2))
    return is_darshan(head) or (not head and path.suffix == ".darshan" and path.is_file())


def open_darshan(path: Path) -> RowSource:
    """Read a Darshan log, or all of a folder as those of one job.

    Where there are segments of DXT they are the operations; where there are none, the intervals of HEATMAP; of layers
    that are in neither, what counters say was moved between a first and a last time. The counters themselves are given
    in any case.

    Raises TraceError if header or job cannot be read, UnsupportedTraceError if the version is not known.
    """
    content = read_job(path) if path.is_dir() else read_content(path)
    log, traced, known, damage = content.log, content.traced, content.ids, list(content.damage)
    # Records are a tenth of the transfers or less: what is of a record is found before it is repeated.
    records, segments = traced.records, traced.segments
    ids = np.union1d(records.record, known)
    counters = content.counters
    counters = replace(counters, file=np.searchsorted(ids, known)[counters.file].astype(np.int32))
    names = [log.names.get(one) or _NO_NAME.format(one) for one in ids.tolist()]
    file = np.searchsorted(ids, records.record)
    for row, layer, told in _collisions(counters, names):
        # What has the id of another file by mistake is a file of its own, behind the others.
        file = np.where((file == row) & (traced.layer == _place_of(layer, traced.layers)), len(names), file)
        mine = (counters.file == row) & counters.of_layer(layer)
        counters = replace(counters, file=np.where(mine, np.int32(len(names)), counters.file))
        names.append(f"{names[row]} (as {layer} has it)")
        damage.append(lost(told))
    binned = traced.rows == "intervals"
    if binned:
        names, file = [*names, _ALL_FILES], _files_of_intervals(traced, counters, names)
    handle, handles = HandleTable.inferred(traced.layer, file, traced.layers, () if binned else _ORDER)
    ranks = np.arange(log.job.processes + int(_shares_ranks(traced)))
    ranks[log.job.processes :] = -1
    location, location_process, location_names = _locations(traced, log.job.processes, content.names)
    begin, sound_begin = ticks_of(segments.start)
    end, sound_end = ticks_of(segments.end)
    of_each = np.repeat(handle, records.count)
    asked = (segments.length, segments.offset) if traced.rows == "operations" else (UNRECORDED, UNRECORDED)
    rows = Transfers(location, of_each, segments.mode, begin, end, segments.length, *asked)
    run = RecordedRun(
        recording=_recording(log, traced, counters, content.mpi),
        ranks=ranks,
        process_names=content.names or _process_names(log.job.processes, len(ranks) > log.job.processes),
        nodes=tuple(traced.hosts.get(rank, "") for rank in ranks.tolist()) if traced.hosts else (),
        location_process=location_process,
        location_names=location_names,
        paradigms=traced.layers,
        files=tuple(names),
        file_properties=tuple(
            {**_place(name, log.job.mounts), **content.stripes.get(one, {})}
            for name, one in zip(names, [*ids.tolist(), *(-1 for _ in names)], strict=False)
        ),
        handles=handles,
        length=log.job.length_ns,
        realtime_ns=log.job.start_ns,
    )
    faults = {"a time that is no number": ~(sound_begin & sound_end), "a negative length": segments.length < 0}
    return run.source(log.path, rows, faults, damage=damage, records=len(counters.file))


def _place_of(layer: str, layers: tuple[str, ...]) -> int:
    return layers.index(layer) if layer in layers else len(layers)


def _collisions(counters: Counters, names: list[str]) -> Iterator[tuple[int, str, str]]:
    """Yield files on which a layer moved more than those above it can have caused: file, layer, and that in words.

    Two files have one id there, or the layer has been called for itself.
    """
    moved: dict[str, list[Any]] = {}
    known = set[tuple[int, str]]()
    order = [layer for layer in _ORDER if layer in counters.layers]
    for layer in order if len(order) > 1 else ():
        mine = counters.of_layer(layer)
        columns = (counters.bytes_read, counters.bytes_written), (counters.reads, counters.writes)
        moved[layer] = [
            np.bincount(counters.file[mine], np.sum([np.maximum(one[mine], 0.0) for one in both], axis=0), len(names))
            for both in columns
        ]
    for place, lower in enumerate(order):
        for upper in order[:place]:
            (above, calls), below = moved[upper], moved[lower][0]
            most = np.maximum(_MOST_TIMES * above, above + calls * _MOST_A_CALL.get(upper, _LARGEST_BUFFER))
            for row in np.flatnonzero((above > 0) & (below > most)).tolist():
                if (row, lower) in known:
                    continue
                known.add((row, lower))
                much, little = bytes_text(int(below[row])), bytes_text(int(above[row]))
                times = f"{lower} moved {much} for {little} of {upper}, {int(below[row] // above[row]):,} times"
                yield row, lower, f"{names[row]}: {times}, which cannot be: two files with one id are told apart"


def _files_of_intervals(traced: Traced, counters: Counters, names: list[str]) -> Ints:
    """Return the file of each record of intervals: all together, or a standard stream where there are but these."""
    streams = np.array([*(name.startswith(_STREAM) for name in names), False])
    found = np.full(len(traced.layers) + 1, len(names), np.int64)
    moved = (counters.bytes_read > 0) | (counters.bytes_written > 0)
    for place, layer in enumerate(traced.layers):
        files = counters.file[counters.of_layer(layer) & moved]
        if len(files) and streams[files].all():
            found[place] = files[0]
    return found[traced.layer]


def _shares_ranks(traced: Traced) -> bool:
    """Tell whether there are sums over all ranks that share a file: they are a process of their own."""
    return traced.rows != "operations" and bool((traced.records.rank == -1).any())


@lru_cache(maxsize=8)
def _process_names(ranks: int, shared: bool) -> tuple[str, ...]:
    """Return the names of so many ranks, and of all together; logs of a centre have the same numbers time and again."""
    return (*(f"rank {rank}" for rank in range(ranks)), *([_ALL_RANKS] if shared else []))


def _locations(traced: Traced, processes: int, names: tuple[str, ...]) -> tuple[Links, Links, tuple[str, ...]]:
    """Return the location of each transfer, −1 for none; the process of each location, and the names of locations.

    There is one for each process, or for each of its threads where the log tells them.
    """
    records = traced.records
    known = (records.rank >= 0) & (records.rank < processes)
    shared = _shares_ranks(traced)
    rank = np.where(known, records.rank, -1)
    rank = np.repeat(np.where(shared & (records.rank < 0), processes, rank).astype(np.int32), records.count)
    if not traced.threads:
        every = np.arange(processes + shared, dtype=np.int32)
        return rank, every, names or _process_names(processes, shared)
    # Processes without transfers have a location too.
    idle = np.setdiff1d(np.arange(processes), records.rank[known])
    _, number = np.unique(traced.segments.thread, return_inverse=True)
    place, process, _ = pairs_of(
        np.concatenate([np.maximum(rank, 0), idle]), np.concatenate([number.reshape(-1), np.zeros(len(idle), int)])
    )
    count = Counter[int]()
    threads = []
    for one in process.tolist():
        threads.append(f"{names[one] if names else f'rank {one}'} thread {count[one]}")
        count[one] += 1
    return np.where(rank < 0, np.int32(-1), place[: len(rank)]), process, tuple(threads)


def _watched(log: Log, counters: Counters) -> tuple[str, ...]:
    """Return the layers whose transfers DXT would hold had there been any.

    A module that is not there although the counters have transfers was switched off; and where there is one process,
    Darshan may have been built without MPI, which then nothing watches.
    """
    counted = transfers(counters)
    unknown = {of for of in TRACED.values() if counted.get(of)}
    unknown |= {"MPI-IO"} if log.job.processes <= log.job.programs else set()
    return tuple(of for module, of in reversed(TRACED.items()) if module in log.modules or of not in unknown)


def _recording(log: Log, traced: Traced, counters: Counters, mpi: MpiTime | None) -> Recording:
    some, binned = bool(len(traced.segments)), traced.rows == "intervals"
    return RECORDER.recording(
        format=f"Darshan {log.job.library or 'log'}, log version {log.version}",
        facts={"darshan_version": log.job.library, "log_version": log.version, "command": log.job.command},
        rows=traced.rows if some else "none",
        handles="absent" if binned or not some else "inferred",
        processes=log.job.processes <= log.job.programs,
        ranks=binned or not _shares_ranks(traced),
        nodes=bool(traced.hosts),
        threads=traced.threads,
        offsets=traced.rows == "operations",
        layers=_watched(log, counters) if traced.rows == "operations" else ("MPI-IO", "POSIX", "ISOC"),
        whole_seconds=log.job.whole_seconds,
        counters=counters if len(counters.file) else None,
        mpi=mpi,
        notes=(*_notes(log, traced), *_mpi_note(mpi)),
        remedy="give DXT more memory (DARSHAN_MODMEM, in MiB), which kept only a part of them"
        if traced.left_out
        else "record with DXT (DXT_ENABLE_IO_TRACE=1) for single operations",
    )


def _mpi_note(mpi: MpiTime | None) -> list[str]:
    if mpi is None:
        return []
    mean = f"{seconds_text(mpi.mean_s)} in calls of MPI on average{f' ({mpi.most})' if mpi.most else ''}"
    return [f"ranks spend {mean}, rank {mpi.rank} most, {seconds_text(mpi.longest_s)}"]


def _widths(traced: Traced) -> list[str]:
    """Return how wide bins are, in s; all of a record are as wide as its first."""
    count, moved = traced.records.count, traced.segments
    first = (np.cumsum(count) - count)[(traced.records.record == 0) & (count > 0)]
    return sorted({f"{width:.3g}" for width in {*(moved.end[first] - moved.start[first]).tolist()}})


def _notes(log: Log, traced: Traced) -> list[str]:
    notes = []
    if log.job.programs > 1:
        notes.append(
            f"{log.job.programs} logs of job {log.job.id}: each is a process, numbered in the order of their starts"
        )
    if traced.rows == "intervals":
        notes.append(
            "HEATMAP has no single operations and no files: bytes by layer, rank and interval of "
            f"{' or '.join(_widths(traced))} s"
        )
    elif traced.rows == "operations" and len(traced.segments):
        notes.append(
            "Handles are inferred from the names of files, one for each file and layer, POSIX below MPI-IO on the same "
            "file; sizes of requests are those of DXT's segments"
        )
    if (coarse := [layer for layer in traced.layers if layer in traced.coarse]) and len(traced.segments):
        notes.append(
            f"{joined(coarse, len(coarse))}: of each file only the first and last time of its reads and writes are "
            "known; bytes are spread evenly between them, which is a bound and no curve"
        )
    if traced.left_out:
        notes.append(
            f"DXT kept only a part of the transfers, {traced.left_out:,}, which is left out: sums of counters have all"
        )
    if traced.untimed:
        notes.append(
            f"{counted(traced.untimed, 'sum')} of a file's reads or writes without a first and last time that can be "
            "true: the bytes are spread over the whole run"
        )
    if log.job.whole_seconds:
        notes.append("start and length of the run are known to whole seconds only: the length is rounded up")
    read = (*MODULES, *TRACED, "HEATMAP", "BG/Q", "APMPI", *(["LUSTRE"] if stripes_are_known(log) else []))
    left_out = [name for name in log.modules if name not in read]
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
    format="logs of format 3.00 to 3.4x, one or a folder of those of the processes of one job",
    description="Sums of each file and rank by layer; with DXT every transfer of MPI-IO and POSIX, with HEATMAP their "
    "bytes by intervals of time.",
    page="recorders/darshan.rst",
    never_recorded=("metadata", "collective", "flushes"),
)
