"""All that a log holds, and several logs of one job as one: each a process of a program without MPI."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from ...model.errors import TraceError
from ...model.recording import Counters, MpiTime, Rows
from ...model.stream.damage import LocationDamage
from ..rows import check_processes, lost
from .counters import MOVED, Ids, read_counters, read_mpi, read_stripes, transfers
from .log import Log, read_log
from .segments import TRACED, Records, Segments, Traced, read_heatmap, read_segments, with_extents

_INSTEAD: Final = "; sums of counters, which have all, stand in place of single operations"
_WEAKEST: Final[tuple[Rows, ...]] = ("intervals", "extents", "operations")
"""What rows of several logs are together: an operation is an interval, too."""


@dataclass(frozen=True, eq=False)
class Content:
    """A log with its content.

    `ids` are those of the counters' files, `names` those of processes that are no ranks.
    """

    log: Log
    traced: Traced
    counters: Counters
    ids: Ids
    stripes: dict[int, dict[str, str]]
    damage: list[LocationDamage]
    names: tuple[str, ...] = ()
    mpi: MpiTime | None = None


def read_content(path: Path) -> Content:
    """Read a log.

    Raises TraceError if header or job cannot be read, UnsupportedTraceError if the version is not known.
    """
    log = read_log(path)
    check_processes(path, log.job.processes, "Darshan")
    counters, ids, faults = read_counters(log)
    traced = read_segments(log)
    missing = _lost(log, traced, counters)
    if not len(traced.segments) or any(one.events_read < one.events_expected for one in missing):
        traced = _summed(log, traced, counters, ids)
    if traced.left_out:
        missing = [lost(f"{one.reason}: {one.events_read:,} of {one.events_expected:,}{_INSTEAD}") for one in missing]
    faults = [*log.faults, *faults, *traced.faults]
    if "HEATMAP" in log.modules and log.modules["HEATMAP"].partial:
        faults.append("HEATMAP ran full while it was recorded")
    nodes, mpi, without = read_mpi(log)
    traced = replace(traced, hosts={**nodes, **traced.hosts})
    stripes, fault = read_stripes(log)
    damage = [*missing, *map(lost, [*faults, *without, *fault])]
    return Content(log, traced, counters, ids, stripes, damage, mpi=mpi)


def _summed(log: Log, traced: Traced, counters: Counters, ids: Ids) -> Traced:
    """Return what HEATMAP and counters tell, which have all, in place of segments that are none or only a part.

    The part is kept where they do not tell of one of its layers, or no times.
    """
    binned = read_heatmap(log) if "HEATMAP" in log.modules else Traced.joined([], [], "operations")
    binned = with_extents(binned, counters, ids, log.job.length_ns / 1e9)
    if {one for one in traced.layers if traced.count_of(one)} - {*binned.layers}:
        return traced
    faults = [*traced.faults, *binned.faults]
    return replace(binned, hosts={**traced.hosts, **binned.hosts}, faults=faults, left_out=len(traced.segments))


def _lost(log: Log, traced: Traced, counters: Counters) -> list[LocationDamage]:
    """Return what DXT has not kept of the transfers that the counters count."""
    found = []
    for module, of in TRACED.items():
        if module not in log.modules:
            continue
        there, there_should = traced.count_of(of), transfers(counters).get(of)
        full = log.modules[module].partial
        if there_should is not None and there < there_should:
            why = "ran full and does" if full else "does"
            found.append(lost(f"{module} {why} not hold all transfers of {of} that were counted", there_should, there))
        elif full:
            found.append(lost(f"{module} ran full: transfers are missing, nobody knows how many"))
    return found


def logs_of_one_job(folder: Path, most: int | None = None) -> list[Path]:
    """Return the logs of a folder, the first `most` of them, where all are of one job and of one process each.

    None are returned where there is but one, where they are of several jobs, of programs of several ranks, which are
    runs of their own, or copies of each other.
    """
    found: list[Path] = []
    jobs, different = set[int](), set[tuple[object, ...]]()
    sound = 0
    for path in sorted(one for one in folder.glob("*.darshan") if one.is_file()):
        found.append(path)
        try:
            job = read_log(path).job
        except TraceError:
            # It is told of when the others are read.
            continue
        sound += 1
        jobs.add(job.id)
        different.add((job.start_ns, job.end_ns, job.command, path.stat().st_size))
        if job.processes != 1 or len(jobs) > 1 or (len(different) == 1 and sound > 2):
            return []
        if most is not None and len(different) >= most:
            return found
    return found if len(jobs) == 1 and len(different) > 1 else []


def read_job(folder: Path) -> Content:
    """Read all logs of a folder as those of one job; one that cannot be read is damage.

    Raises TraceError if none can be read.
    """
    parts, damage = list[Content](), list[LocationDamage]()
    for path in logs_of_one_job(folder):
        try:
            parts.append(read_content(path))
        except TraceError as error:
            damage.append(lost(str(error).removeprefix(f"{path}: ")))
    if not parts:
        raise TraceError(f"{folder}: no log of the job can be read")
    parts.sort(key=lambda part: (part.log.job.start_ns, part.log.path.name))
    lacking = bool(damage)
    for part in parts:
        damage += [replace(one, reason=f"{part.log.path.name}: {one.reason}") for one in part.damage]
    first, jobs = parts[0].log, [part.log.job for part in parts]
    shifts = [(job.start_ns - first.job.start_ns) / 1e9 for job in jobs]
    counters, ids = _joined_counters(parts, shifts, lacking)
    end, whole = max(job.end_ns for job in jobs), any(job.whole_seconds for job in jobs)
    job = replace(first.job, end_ns=end, whole_seconds=whole, processes=len(parts), programs=len(parts))
    names = _united(part.log.names for part in parts)
    modules, stripes = _united(part.log.modules for part in parts), _united(part.stripes for part in parts)
    log = replace(first, path=folder, job=job, names=names, modules=modules, faults=())
    stems = tuple(part.log.path.stem for part in parts)
    return Content(log, _joined_traced(parts, shifts), counters, ids, stripes, damage, stems)


def _united(tables: Iterable[dict[Any, Any]]) -> dict[Any, Any]:
    """Return the entries of all tables, the last one of a key."""
    return {key: told for table in tables for key, told in table.items()}


def _joined_traced(parts: Sequence[Content], shifts: Sequence[float]) -> Traced:
    """Return the transfers of all parts on one clock, each part's as those of a rank."""
    layers = tuple(dict.fromkeys(layer for part in parts for layer in part.traced.layers))
    kinds = {part.traced.rows for part in parts if len(part.traced.segments)}
    layer, records, segments = [], [Records.empty()], [Segments.empty()]
    for rank, (part, shift) in enumerate(zip(parts, shifts, strict=True)):
        traced = part.traced
        layer.append(np.array([*map(layers.index, traced.layers), -1], np.int32)[traced.layer])
        records.append(replace(traced.records, rank=np.full_like(traced.records.rank, rank)))
        moved = traced.segments
        segments.append(replace(moved, start=moved.start + shift, end=moved.end + shift))
    return Traced(
        layers,
        np.concatenate(layer),
        Records.concatenate(records),
        Segments.concatenate(segments),
        [],
        next((one for one in _WEAKEST if one in kinds), "operations"),
        threads=all(part.traced.threads for part in parts),
        coarse=tuple(dict.fromkeys(one for part in parts for one in part.traced.coarse)),
        untimed=sum(part.traced.untimed for part in parts),
        hosts={rank: host for rank, part in enumerate(parts) for host in part.traced.hosts.values()},
    )


def _joined_counters(parts: Sequence[Content], shifts: Sequence[float], lacking: bool) -> tuple[Counters, Ids]:
    """Return the counters of all parts on one clock, each part's as those of a rank; some parts may be `lacking`."""
    every = [part.counters for part in parts]
    modules = dict(pair for one in every for pair in zip(one.modules, one.layers, strict=True))
    names = tuple(modules)
    ids = np.unique(np.concatenate([part.ids for part in parts]))
    lengths = [len(one.module) for one in every]
    counts = _one_after_another([one.counts for one in every], lengths)
    seconds = _one_after_another([_later(one.seconds, by) for one, by in zip(every, shifts, strict=True)], lengths)
    place = [np.array([*map(names.index, one.modules), -1], np.int32)[one.module] for one in every]
    file = [np.searchsorted(ids, part.ids).astype(np.int32)[part.counters.file] for part in parts]
    joined = Counters(
        module=np.concatenate(place),
        file=np.concatenate(file),
        rank=np.repeat(np.arange(len(parts), dtype=np.int32), lengths),
        **{name: np.concatenate([getattr(one, name) for one in every]) for name in MOVED},
        modules=names,
        layers=tuple(modules.values()),
        counts=counts,
        seconds=seconds,
        incomplete=names if lacking else tuple(dict.fromkeys(name for one in every for name in one.incomplete)),
    )
    return joined, ids


def _later(seconds: Mapping[str, Any], shift: float) -> dict[str, Any]:
    """Return times with those of the clock later by the shift in s."""
    shifted = {name: one for name, one in seconds.items() if name.endswith("_timestamp")}
    return {**seconds, **{name: np.where(one > 0, one + shift, one) for name, one in shifted.items()}}


def _one_after_another(tables: Sequence[Mapping[str, Any]], lengths: Sequence[int]) -> dict[str, Any]:
    """Return the columns of all tables, −1 for the rows of those that have no such column."""
    kinds = {name: column.dtype for table in tables for name, column in table.items()}
    return {
        name: np.concatenate([table.get(name, np.full(n, -1, kind)) for table, n in zip(tables, lengths, strict=True)])
        for name, kind in kinds.items()
    }
