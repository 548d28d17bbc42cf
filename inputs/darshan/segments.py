"""Segments of DXT and bins of HEATMAP, as columns."""

import struct
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...model.arrays import Floats, Ints
from ...model.codes import IoMode
from .log import Log

_SEGMENT: Final = [("offset", "<i8"), ("length", "<i8"), ("start", "<f8"), ("end", "<f8")]
_WITH_THREAD: Final = [*_SEGMENT, ("thread", "<u8")]
SEGMENTS: Final = {
    ("DXT_POSIX", 1): np.dtype(_SEGMENT),
    ("DXT_POSIX", 2): np.dtype(_WITH_THREAD),
    ("DXT_MPIIO", 1): np.dtype(_SEGMENT),
    ("DXT_MPIIO", 2): np.dtype(_SEGMENT),
    ("DXT_MPIIO", 3): np.dtype(_WITH_THREAD),
}
"""A segment by module and version; the newest ones tell the thread."""
TRACED: Final = {"DXT_POSIX": "POSIX", "DXT_MPIIO": "MPI-IO"}
"""The module whose transfers a DXT module records one by one."""
_RECORD: Final = struct.Struct("<Qq8x64sqq")
"""Id of the file, rank, host, and how many writes and reads follow."""
_HEATMAP: Final = np.dtype([("record", "<u8"), ("rank", "<i8"), ("width", "<f8"), ("bins", "<i8"), ("_", "<u8", 2)])
_HEATMAP_LAYERS: Final = {"POSIX": "POSIX", "MPIIO": "MPI-IO", "STDIO": "ISOC", "DFS": "DFS", "DAOS": "DAOS"}


@dataclass(frozen=True, eq=False)
class Segments:
    """Transfers of one layer, columns of shape (n,), by records of a file and rank, columns of shape (r,).

    Attributes
    ----------
    record : uint64 (r,)
        Id of the file; of none where they are bins.
    rank : int64 (r,)
    count : int64 (r,)
        Transfers of each record.
    mode : uint8
    offset, length : int64
        Bytes; offsets are −1 where they are not recorded.
    start, end : float64
        In s from the job's start.
    thread : uint64 or None
        The thread's own number, where the log tells it.
    hosts : dict
        Name of the node of each rank.
    fault : str or None
        Why the data end early.
    """

    layer: str
    module: str
    record: npt.NDArray[np.uint64]
    rank: Ints
    count: Ints
    mode: npt.NDArray[np.uint8]
    offset: Ints
    length: Ints
    start: Floats
    end: Floats
    thread: npt.NDArray[np.uint64] | None
    hosts: dict[int, str]
    fault: str | None

    def __len__(self) -> int:
        return len(self.mode)


def read_segments(log: Log, module: str) -> Segments | str:
    """Read a module of DXT; where its version is not known, say so."""
    version = log.modules[module].version
    segment = SEGMENTS.get((module, version))
    if segment is None:
        return f"{module} in version {version} is not known here: its segments are left out"
    data, fault = log.content(module)
    # Joining arrays would compare their fields one by one.
    whole = memoryview(data)
    content, heads, hosts, place = [], [], dict[int, bytes](), 0
    while place + _RECORD.size <= len(data):
        record, rank, host, writes, reads = _RECORD.unpack_from(data, place)
        place += _RECORD.size
        fitting = (len(data) - place) // segment.itemsize
        if writes < 0 or reads < 0:
            fault = fault or "a record counts fewer than no segments"
            break
        if writes + reads > fitting:
            fault = fault or "the last record is cut"
            writes = min(writes, fitting)
            reads = min(reads, fitting - writes)
        heads.append((record, rank, writes, reads))
        hosts[rank] = host
        end = place + (writes + reads) * segment.itemsize
        content.append(whole[place:end])
        place = end
    rows = np.frombuffer(b"".join(content), segment)
    records = np.array([head[0] for head in heads], np.uint64)
    ranks = np.array([head[1] for head in heads], np.int64)
    counts = np.array([head[2:] for head in heads], np.int64).reshape(-1, 2)
    modes = np.tile(np.array([IoMode.WRITE, IoMode.READ], np.uint8), len(heads))
    return Segments(
        TRACED[module],
        module,
        records,
        ranks,
        counts.sum(axis=1),
        np.repeat(modes, counts.reshape(-1)),
        rows["offset"],
        rows["length"],
        rows["start"],
        rows["end"],
        rows["thread"] if "thread" in (segment.names or ()) else None,
        {rank: host.split(b"\0")[0].decode("utf-8", "backslashreplace") for rank, host in hosts.items()},
        fault,
    )


def read_heatmap(log: Log) -> tuple[list[Segments], list[str]]:
    """Read what HEATMAP says: bytes by layer, rank and interval of time, only intervals in which something moved."""
    version = log.modules["HEATMAP"].version
    if version != 1:
        return [], [f"HEATMAP in version {version} is not known here: it is left out"]
    data, fault = log.content("HEATMAP")
    found: dict[str, list[tuple[Any, ...]]] = {}
    place, faults, unknown = 0, [], 0
    while place + _HEATMAP.itemsize <= len(data):
        head = np.frombuffer(data, _HEATMAP, 1, place)[0]
        bins, width = int(head["bins"]), float(head["width"])
        place += _HEATMAP.itemsize
        if not 0 <= bins <= (len(data) - place) // 16:
            fault = fault or "the last record is cut"
            break
        values = np.frombuffer(data, "<i8", 2 * bins, place).reshape(2, bins)
        place += 16 * bins
        layer = _HEATMAP_LAYERS.get(log.names.get(int(head["record"]), "").removeprefix("heatmap:"))
        if layer is None or not 0 < width < float("inf"):
            unknown += 1
            continue
        mode, active = np.nonzero(values > 0)
        found.setdefault(layer, []).append(
            (head["rank"], 1 - mode, values[mode, active], active * width, (active + 1) * width)
        )
    if fault:
        faults.append(f"HEATMAP: {fault}")
    if unknown:
        faults.append(f"HEATMAP: {unknown} records of no known layer are left out")
    return [_joined(layer, parts, fault) for layer, parts in found.items()], faults


def _joined(layer: str, parts: list[tuple[Any, ...]], fault: str | None) -> Segments:
    ranks, *columns = zip(*parts, strict=True)
    mode, length, start, end = map(np.concatenate, columns)
    counts = np.array([len(part[1]) for part in parts], np.int64)
    nothing = np.zeros(len(parts), np.uint64)
    unknown = np.full(len(mode), -1, np.int64)
    rank = np.array(ranks, np.int64)
    return Segments(
        layer, "HEATMAP", nothing, rank, counts, mode.astype(np.uint8), unknown, length, start, end, None, {}, fault
    )
