"""Counters of Darshan's modules: sums of files and ranks, without times.

Where a record holds which counter is from the headers darshan-*-log-format.h; versions that are not in the table are
left out, and said to be.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...model.arrays import Ints
from ...model.recording import Counters
from .log import Log


@dataclass(frozen=True)
class _Layout:
    """A record: its bytes, where its counters (int64) start, and which of them are added up for what."""

    layer: str
    size: int
    start: int
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    bytes_read: tuple[int, ...]
    bytes_written: tuple[int, ...]


_LAYOUTS: Final = {
    ("POSIX", 3): _Layout("POSIX", 664, 16, (1,), (2,), (9,), (10,)),
    ("POSIX", 4): _Layout("POSIX", 704, 16, (3,), (4,), (14,), (15,)),
    # Independent, collective, split and non-blocking ones.
    ("MPI-IO", 2): _Layout("MPI-IO", 544, 16, (2, 4, 6, 8), (3, 5, 7, 9), (14,), (15,)),
    ("MPI-IO", 3): _Layout("MPI-IO", 560, 16, (2, 4, 6, 8), (3, 5, 7, 9), (14,), (15,)),
    ("H5D", 1): _Layout("HDF5", 904, 16, (1,), (2,), (4,), (5,)),
    ("H5D", 2): _Layout("HDF5", 912, 24, (1,), (2,), (4,), (5,)),
    ("PNETCDF_FILE", 3): _Layout("PnetCDF", 152, 16, (), (), (6,), (7,)),
    ("PNETCDF_VAR", 1): _Layout("PnetCDF", 1120, 24, (1, 3, 5), (2, 4, 6), (7,), (8,)),
    ("STDIO", 1): _Layout("ISOC", 240, 16, (1,), (2,), (6,), (5,)),
    ("STDIO", 2): _Layout("ISOC", 248, 16, (2,), (3,), (7,), (6,)),
    ("DFS", 1): _Layout("DFS", 584, 16, (4, 5, 8), (6, 7, 9), (14,), (15,)),
    ("DAOS", 1): _Layout("DAOS", 696, 16, (1, 10, 18), (2, 11, 19), (24,), (25,)),
}
_WITHOUT_TRANSFERS: Final = {("PNETCDF_FILE", 1), ("PNETCDF_FILE", 2)}
"""Versions that count no transfers."""
MODULES: Final = tuple(dict.fromkeys(name for name, _ in _LAYOUTS))
_COLUMNS: Final = 7
Ids = npt.NDArray[np.uint64]
"""Of files, as the log has them."""
_LAYER_OF: Final = {name: layout.layer for (name, _), layout in _LAYOUTS.items()}


def transfers(counters: Counters) -> dict[str, int]:
    """Return reads and writes of each module that there are any rows of."""
    sums = np.maximum(counters.reads, 0) + np.maximum(counters.writes, 0)
    return {name: int(sums[counters.module == place].sum()) for place, name in enumerate(counters.modules)}


def read_counters(log: Log) -> tuple[Counters, Ids, list[str]]:
    """Read the counters of all modules that are known, and say which are not, or not to the end.

    Of their files, which are numbered in the order of the ids, the ids come with them.
    """
    parts, names, faults = [np.empty((0, _COLUMNS), np.int64)], list[str](), list[str]()
    for name, module in log.modules.items():
        if name not in MODULES or (name, module.version) in _WITHOUT_TRANSFERS:
            continue
        layout = _LAYOUTS.get((name, module.version))
        if layout is None:
            faults.append(f"counters of {name} in version {module.version} are not known here")
            continue
        data, fault = log.content(name)
        count, rest = divmod(len(data), layout.size)
        if fault or rest:
            faults.append(f"counters of {name}: {fault or 'the last record is cut'}; {count} records are sound")
        if module.partial:
            faults.append(f"{name} ran full while it was recorded: files are missing among its counters")
        if count:
            parts.append(_columns(len(names), layout, data[: count * layout.size]))
            names.append(name)
    module, record, rank, *sums = np.concatenate(parts).T
    ids, file = np.unique(record.astype(np.uint64), return_inverse=True)
    rank = np.clip(rank, -1, 2**31 - 1)
    links = (one.reshape(-1).astype(np.int32) for one in (module, file, rank))
    columns: list[Any] = [*links, *sums, tuple(names), tuple(_LAYER_OF[name] for name in names)]
    return Counters(*columns), ids, faults


def _columns(place: int, layout: _Layout, data: bytes) -> Ints:
    """Return the counters of a module, int64 (n, _COLUMNS): its place, file, rank and sums, −1 if not counted."""
    table = np.frombuffer(data, "<i8").reshape(-1, layout.size // 8)
    sums = (
        np.maximum(table[:, np.add(places, layout.start // 8)], 0).sum(axis=1) if places else np.full(len(table), -1)
        for places in (layout.reads, layout.writes, layout.bytes_read, layout.bytes_written)
    )
    return np.column_stack([np.full(len(table), place), table[:, 0], table[:, 1], *sums])
