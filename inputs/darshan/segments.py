"""Segments of DXT and bins of HEATMAP, as columns."""

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
_RECORD: Final = np.dtype(
    [("record", "<u8"), ("rank", "<i8"), ("shared", "<i8"), ("host", "S64"), ("writes", "<i8"), ("reads", "<i8")]
)
_HEATMAP: Final = np.dtype([("record", "<u8"), ("rank", "<i8"), ("width", "<f8"), ("bins", "<i8"), ("_", "<u8", 2)])
_HEATMAP_LAYERS: Final = {"POSIX": "POSIX", "MPIIO": "MPI-IO", "STDIO": "ISOC", "DFS": "DFS", "DAOS": "DAOS"}


@dataclass(frozen=True, eq=False)
class Segments:
    """Transfers of one layer, columns of shape (n,).

    Attributes
    ----------
    record : uint64
        Id of the file; of the whole layer where `binned`.
    rank : int64
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
    mode: npt.NDArray[np.uint8]
    offset: Ints
    length: Ints
    start: Floats
    end: Floats
    thread: npt.NDArray[np.uint64] | None
    hosts: dict[int, str]
    fault: str | None


def read_segments(log: Log, module: str) -> Segments | str:
    """Read a module of DXT; where its version is not known, say so."""
    version = log.modules[module].version
    segment = SEGMENTS.get((module, version))
    if segment is None:
        return f"{module} in version {version} is not known here: its segments are left out"
    data, fault = log.content(module)
    places, heads, place = [], [], 0
    while place + _RECORD.itemsize <= len(data):
        head = np.frombuffer(data, _RECORD, 1, place)[0]
        writes, reads = int(head["writes"]), int(head["reads"])
        place += _RECORD.itemsize
        fitting = (len(data) - place) // segment.itemsize
        if writes < 0 or reads < 0:
            fault = fault or "a record counts fewer than no segments"
            break
        if writes + reads > fitting:
            fault = fault or "the last record is cut"
            writes = min(writes, fitting)
            reads = min(reads, fitting - writes)
        heads.append((head["record"], head["rank"], writes, reads, head["host"]))
        places.append((place, writes + reads))
        place += (writes + reads) * segment.itemsize
    # Joining arrays would compare their fields one by one.
    whole = memoryview(data)
    rows = np.frombuffer(b"".join(whole[start : start + count * segment.itemsize] for start, count in places), segment)
    records = np.array([head[0] for head in heads], np.uint64)
    ranks = np.array([head[1] for head in heads], np.int64)
    counts = np.array([head[2:4] for head in heads], np.int64).reshape(-1, 2)
    each = counts.sum(axis=1)
    modes = np.tile(np.array([IoMode.WRITE, IoMode.READ], np.uint8), len(heads))
    hosts = {int(head[1]): bytes(head[4]).decode("utf-8", "backslashreplace") for head in heads}
    return Segments(
        TRACED[module],
        module,
        np.repeat(records, each),
        np.repeat(ranks, each),
        np.repeat(modes, counts.reshape(-1)),
        rows["offset"].copy(),
        rows["length"].copy(),
        rows["start"].copy(),
        rows["end"].copy(),
        rows["thread"].copy() if "thread" in (segment.names or ()) else None,
        hosts,
        fault,
    )


def read_heatmap(log: Log) -> tuple[list[Segments], list[str]]:
    """Read what HEATMAP says: bytes by layer, rank and interval of time, only intervals in which something moved."""
    version = log.modules["HEATMAP"].version
    if version != 1:
        return [], [f"HEATMAP in version {version} is not known here: it is left out"]
    data, fault = log.content("HEATMAP")
    found: dict[str, list[tuple[npt.NDArray[Any], ...]]] = {}
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
        rank = np.full(len(active), head["rank"], np.int64)
        found.setdefault(layer, []).append((rank, 1 - mode, values[mode, active], active * width, (active + 1) * width))
    if fault:
        faults.append(f"HEATMAP: {fault}")
    if unknown:
        faults.append(f"HEATMAP: {unknown} records of no known layer are left out")
    return [_joined(layer, parts, fault) for layer, parts in found.items()], faults


def _joined(layer: str, parts: list[tuple[npt.NDArray[Any], ...]], fault: str | None) -> Segments:
    rank, mode, length, start, end = (np.concatenate(column) for column in zip(*parts, strict=True))
    nothing = np.zeros(len(rank), np.uint64)
    unknown = np.full(len(rank), -1, np.int64)
    return Segments(
        layer, "HEATMAP", nothing, rank, mode.astype(np.uint8), unknown, length, start, end, None, {}, fault
    )
