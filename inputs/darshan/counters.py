"""Counters of Darshan's modules: sums of files and ranks, first and last times; and the stripes of files on Lustre."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import compress
from typing import Any, Final

import numpy as np

from ...model.arrays import Floats, Ints, Mask, Unsigned
from ...model.quantities import counted
from ...model.recording import Counters, MpiTime
from .layouts import LAYOUTS, SIZES, Layout
from .log import Log, node_name

MODULES: Final = tuple(dict.fromkeys(name for name, _ in LAYOUTS))
Ids = Unsigned
"""Of files, as the log has them."""
MOVED: Final = ("reads", "writes", "bytes_read", "bytes_written")
_ABSURD: Final = 1e40
"""More than any time in s, and than any variance of bytes, which stand together."""
_MOST: Final = 1e12
"""More than the bytes and calls of a rank in a second."""
_COUNT: Final = re.compile("^(bytes|size)_|(aligned|flushes|opens|reads|seeks|stats|switches|syncs|writes)$")
"""What names of counters are like that count bytes or calls."""
_KINDS: Final = (
    *(((f"consec_{way}s",), (f"seq_{way}s",), SIZES[way]) for way in ("read", "write")),
    (("rw_switches",), ("file_not_aligned",), ("mem_not_aligned",), tuple(f"access{n}_count" for n in range(1, 5))),
)
"""Counters of reads, of writes and of both that together are no more than these."""
_FILE_OF_OBJECT: Final = 2
"""The word of a record of a dataset or variable that has the id of its file, where there are three before counters."""


def transfers(counters: Counters) -> dict[str, int]:
    """Return reads and writes of each module that there are any rows of."""
    sums = np.maximum(counters.reads, 0) + np.maximum(counters.writes, 0)
    return {name: int(sums[counters.module == place].sum()) for place, name in enumerate(counters.modules)}


def read_counters(log: Log) -> tuple[Counters, Ids, list[str]]:
    """Read the counters of all modules that are known, and say which are not, or not to the end.

    Of their files, which are numbered in the order of the ids, the ids come with them.
    """
    parts, faults, damaged = list[tuple[str, Layout, Ints]](), list[str](), list[str]()
    for name, module in log.modules.items():
        if name not in MODULES:
            continue
        layout = LAYOUTS.get((name, module.version))
        if layout is None:
            faults.append(f"counters of {name} in version {module.version} are not known here")
            continue
        data, fault = log.content(name)
        count, rest = divmod(len(data), layout.size)
        sound = len(faults)
        if fault or rest:
            faults.append(f"counters of {name}: {fault or 'the last record is cut'}; {count} records are sound")
        if module.partial:
            faults.append(f"{name} ran full while it was recorded: files are missing among its counters")
        if count:
            words = np.frombuffer(data, "<i8", count * layout.size // 8).reshape(count, -1)
            words, wrong = _without_absurd(layout, words, log)
            faults += (f"counters of {name}: {one}" for one in wrong)
            if len(faults) > sound:
                damaged.append(name)
            parts.append((name, layout, words))
    found, ids = _joined(parts, log.job.processes)
    contradicting = _without_contradictions(found)
    for name in dict.fromkeys(found.modules[place] for place in found.module[contradicting].tolist()):
        faults.append(f"counters of {name}: more transfers of some kind than there are of all; these are left out")
        damaged.append(name)
    return replace(found, incomplete=tuple(damaged)), ids, faults


def _without_absurd(layout: Layout, words: Ints, log: Log) -> tuple[Ints, list[str]]:
    """Return records with counts that can be, and what is wrong with the others and with times."""
    sound = _can_be(layout, words, _MOST * (log.job.length_ns / 1e9 + 1) * max(log.job.processes, 1))
    wrong, absurd = list[str](), int((~sound).sum())
    if absurd:
        wrong.append(f"{counted(absurd, 'record')} with counts that cannot be, left out")
        words = words[sound]
    times = _times(layout, words)
    # What one clock tells of two threads may differ by less; −1 is not recorded.
    impossible = int((~(times < _ABSURD) | (times < -1)).sum())
    if impossible:
        wrong.append(f"{counted(impossible, 'time')} below 0 or no number that can be, left out")
    return words, wrong


def _can_be(layout: Layout, words: Ints, most: float) -> Mask:
    """Tell for each record whether its counts are none below −1, which is not recorded, nor above `most`."""
    places = [place for place, name in enumerate(layout.counters, layout.start) if _COUNT.search(name)]
    counts = words[:, places]
    return np.asarray(((counts >= -1) & (counts <= most)).all(axis=1))


def _times(layout: Layout, words: Ints) -> Floats:
    first = layout.start + len(layout.counters)
    return words.view("<f8")[:, first : first + len(layout.times)]


def _joined(parts: list[tuple[str, Layout, Ints]], processes: int) -> tuple[Counters, Ids]:
    """Return the records of all modules as columns, and the ids of their files."""
    lengths = [len(words) for _, _, words in parts]
    edges = np.cumsum([0, *lengths])
    rows = int(edges[-1])
    module = np.repeat(np.arange(len(parts), dtype=np.int32), np.array(lengths, np.int64))
    record, rank = np.zeros(rows, np.uint64), np.zeros(rows, np.int64)
    moved, _ = _unknown(MOVED, rows, np.int64)
    counted_in = _counted_in([layout for _, layout, _ in parts])
    counts, put_counts = _unknown((name for one in counted_in for name in one), rows, np.int64)
    seconds, put_seconds = _unknown((name for _, layout, _ in parts for name in layout.times), rows, np.float64)
    for (_, layout, words), told, low, high in zip(parts, counted_in, edges[:-1], edges[1:], strict=True):
        mine = slice(low, high)
        record[mine] = words[:, _FILE_OF_OBJECT if layout.start > _FILE_OF_OBJECT else 0].astype(np.uint64)
        rank[mine] = words[:, 1]
        put_counts(told, mine, words[:, list(told.values())])
        for place, name in enumerate(layout.counters, layout.start):
            if name not in told:
                moved[name][mine] = words[:, place]
        times = _times(layout, words)
        put_seconds(layout.times, mine, np.where((times >= 0) & (times < _ABSURD), times, -1.0))
        for name, summed in zip(("reads", "writes"), layout.transfers, strict=True):
            if summed:
                moved[name][mine] = sum(np.maximum(counts[one][mine], 0) for one in summed)
    ids, file = np.unique(record, return_inverse=True)
    found = Counters(
        module,
        file.reshape(-1).astype(np.int32),
        np.where((rank >= 0) & (rank < processes), rank, -1).astype(np.int32),
        **moved,
        modules=tuple(name for name, _, _ in parts),
        layers=tuple(layout.layer for _, layout, _ in parts),
        counts=counts,
        seconds=seconds,
    )
    return found, ids


def _without_contradictions(found: Counters) -> Mask:
    """Leave out how many transfers are of some kind where that is more than there are, and tell in which rows it is."""
    wrong = np.zeros(len(found.rank), np.bool_)
    for most, kinds in zip(
        (found.reads, found.writes, np.maximum(found.reads, 0) + np.maximum(found.writes, 0)), _KINDS, strict=True
    ):
        for names in kinds:
            columns = [found.counts[name] for name in names if name in found.counts]
            more = sum((np.maximum(one, 0) for one in columns), np.zeros_like(most)) > np.maximum(most, 0)
            for one in columns:
                one[more] = -1
            wrong |= more
    return wrong


def _counted_in(layouts: Sequence[Layout]) -> list[dict[str, int]]:
    """Return which words of each module's records are counters, by their names; bytes that all move are none."""
    variables = {layout.layer for layout in layouts if any(layout.transfers)}
    # The files of PnetCDF repeat the bytes of their variables.
    repeat = [layout.layer in variables and not any(layout.transfers) for layout in layouts]
    places = [{name: place for place, name in enumerate(layout.counters, layout.start)} for layout in layouts]
    return [
        {name: place for name, place in of.items() if too or not name.startswith("bytes_")}
        for of, too in zip(places, repeat, strict=True)
    ]


def _unknown(
    names: Iterable[str], rows: int, kind: type[np.generic]
) -> tuple[dict[str, Any], Callable[[Iterable[str], slice, Any], None]]:
    """Return a column of −1 for each name, and what puts values (n, names) of some names into rows of theirs."""
    places = {name: place for place, name in enumerate(dict.fromkeys(names))}
    table = np.full((len(places), rows), -1, kind)

    def put(some: Iterable[str], mine: slice, values: Any) -> None:
        table[[places[name] for name in some], mine] = values.T

    return dict(zip(places, table, strict=True)), put


_LUSTRE_WORDS: Final = {1: 7, 2: 4}
"""Of a record by version, before the targets. In 1: id, rank, targets and metadata servers there are, first target,
stripe size and count; in 2: id, rank, how many components and how many targets, then the components."""
_COMPONENT_WORDS: Final = 9
"""Of a component of a layout: stripe size first, at last the name of the pool."""


def stripes_are_known(log: Log) -> bool:
    """Tell whether the log has the stripes of files in a version that is known here."""
    return "LUSTRE" in log.modules and log.modules["LUSTRE"].version in _LUSTRE_WORDS


def read_stripes(log: Log) -> tuple[dict[int, dict[str, str]], list[str]]:
    """Return how files lie on the storage targets of Lustre, as properties of files by their ids."""
    if not stripes_are_known(log):
        return {}, []
    data, fault = log.content("LUSTRE")
    words = np.frombuffer(data, "<i8", len(data) // 8).tolist()
    found: dict[int, dict[str, str]] = {}
    place, first = 0, log.modules["LUSTRE"].version == 1
    head = _LUSTRE_WORDS[log.modules["LUSTRE"].version]
    while place + head <= len(words):
        record, count = words[place], words[place + head - 1]
        components = 0 if first else words[place + 2]
        start = place + head + _COMPONENT_WORDS * components
        if not (count >= 0 and components >= 0 and start + count <= len(words)):
            fault = fault or "the last record is cut"
            break
        # A file that lies on no target yet has neither.
        size = words[place + 5] if first else words[place + head] if components else 0
        found[record % 2**64] = {
            "Stripe size": str(size),
            "Storage targets": " ".join(map(str, dict.fromkeys(words[start : start + count]))),
            **({"Storage targets in all": str(words[place + 2])} if first else {}),
        }
        place = start + count
    return found, [f"LUSTRE: {fault}"] if fault else []


_MPI_HEAD: Final = 48
"""Bytes before the records of APMPI in version 1: id, rank, the magic number, and variances."""
_ROUNDING: Final = 1e-6
"""Of sums of times."""
_MPI_MAGIC: Final = b"IPMPA".ljust(8, b"\0")
_MPI_RECORD: Final = np.dtype(
    {
        "names": ["rank", "calls", "seconds", "node"],
        "formats": ["<i8", ("<f8", (74, 3)), "<f8", "S128"],
        "offsets": [8, 3184, 5088, 5104],
        "itemsize": 5232,
    }
)
"""Of a record what is read: the time in each call of MPI, its shortest and longest time, the time in all, and the name
of the node."""
_MPI_CALLS: Final = re.findall(
    r"\w+",
    "Send Ssend Rsend Bsend Recv Sendrecv Sendrecv_replace Isend Issend Irsend Ibsend Irecv Probe Iprobe Test Testany "
    "Testall Testsome Wait Waitany Waitall Waitsome Barrier Ibarrier Bcast Gather Gatherv Scatter Scatterv Scan Exscan "
    "Allgather Allgatherv Reduce Allreduce Reduce_scatter Alltoall Alltoallv Alltoallw Ibcast Igather Igatherv "
    "Iscatter Iscatterv Iscan Iexscan Iallgather Iallgatherv Ireduce Iallreduce Ireduce_scatter Ialltoall Ialltoallv "
    "Ialltoallw Put Get Accumulate Get_accumulate Fetch_and_op Compare_and_swap Win_fence Win_start Win_complete "
    "Win_post Win_wait Win_test Win_lock Win_unlock Win_unlock_all Win_flush Win_flush_all Win_flush_local "
    "Win_flush_local_all Win_sync",
)


def read_mpi(log: Log) -> tuple[dict[int, str], MpiTime | None, list[str]]:
    """Return the node of each rank and the time in calls of MPI, as AutoPerf's module APMPI tells them."""
    if "APMPI" not in log.modules:
        return {}, None, []
    data, fault = log.content("APMPI")
    count, rest = divmod(max(len(data) - _MPI_HEAD, 0), _MPI_RECORD.itemsize)
    found = np.frombuffer(data, _MPI_RECORD, count, min(_MPI_HEAD, len(data)))
    names = [node_name(name) for name in found["node"].tolist()]
    # A record is of a rank, once; its calls take no longer than all of them, and those no longer than the run.
    rank, took, calls = found["rank"].copy(), found["seconds"].copy(), found["calls"][:, :, 0].copy()
    sound = np.zeros(count, np.bool_)
    sound[np.unique(rank, return_index=True)[1]] = True
    sound &= (rank >= 0) & (rank < log.job.processes) & np.array(list(map(bool, names)), bool)
    sound &= (calls >= 0).all(axis=1) & (took <= log.job.length_ns / 1e9 + 1)
    with np.errstate(over="ignore", invalid="ignore"):
        sound &= calls.sum(axis=1) <= took * (1 + _ROUNDING) + _ROUNDING
    if log.modules["APMPI"].version != 1 or data[16:24] != _MPI_MAGIC or (count and not sound.any()):
        return {}, None, ["APMPI: its records are not as they are known here; they are left out"]
    ranks, took, calls = rank[sound].tolist(), took[sound], calls[sound]
    time = None
    if took.any():
        most = int(took.argmax())
        by_call = dict(zip((f"MPI_{name}" for name in _MPI_CALLS), calls.mean(axis=0).tolist(), strict=True))
        time = MpiTime(float(took.mean()), float(took[most]), ranks[most], by_call)
    wrong, of_all = count - len(ranks), counted(log.job.processes, "rank")
    told = [f"APMPI: {counted(wrong, 'record')} left out: rank, times or name of the node cannot be"] if wrong else []
    if fault or rest:
        told.append(f"APMPI: {fault or 'the last record is cut'}; {len(ranks):,} of {of_all} are in what can be read")
    return dict(zip(ranks, compress(names, sound.tolist()), strict=True)), time, told
