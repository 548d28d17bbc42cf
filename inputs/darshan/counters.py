"""Counters of Darshan's modules: sums of files and ranks, without times.

Where a record holds which counter is from the headers darshan-*-log-format.h; versions that are not in the table are
left out, and said to be.
"""

from dataclasses import dataclass
from typing import Final

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
    reads: tuple[int, ...] = ()
    writes: tuple[int, ...] = ()
    bytes_read: int | None = None
    bytes_written: int | None = None


_LAYOUTS: Final = {
    ("POSIX", 3): _Layout("POSIX", 664, 16, (1,), (2,), 9, 10),
    ("POSIX", 4): _Layout("POSIX", 704, 16, (3,), (4,), 14, 15),
    # Independent, collective, split and non-blocking ones.
    ("MPI-IO", 2): _Layout("MPI-IO", 544, 16, (2, 4, 6, 8), (3, 5, 7, 9), 14, 15),
    ("MPI-IO", 3): _Layout("MPI-IO", 560, 16, (2, 4, 6, 8), (3, 5, 7, 9), 14, 15),
    ("H5D", 1): _Layout("HDF5", 904, 16, (1,), (2,), 4, 5),
    ("H5D", 2): _Layout("HDF5", 912, 24, (1,), (2,), 4, 5),
    ("PNETCDF_FILE", 3): _Layout("PnetCDF", 152, 16, (), (), 6, 7),
    ("PNETCDF_VAR", 1): _Layout("PnetCDF", 1120, 24, (1, 3, 5), (2, 4, 6), 7, 8),
    ("STDIO", 1): _Layout("ISOC", 240, 16, (1,), (2,), 6, 5),
    ("STDIO", 2): _Layout("ISOC", 248, 16, (2,), (3,), 7, 6),
    ("DFS", 1): _Layout("DFS", 584, 16, (4, 5, 8), (6, 7, 9), 14, 15),
    ("DAOS", 1): _Layout("DAOS", 696, 16, (1, 10, 18), (2, 11, 19), 24, 25),
}
_WITHOUT_TRANSFERS: Final = {("PNETCDF_FILE", 1), ("PNETCDF_FILE", 2)}
"""Versions that count no transfers."""
MODULES: Final = tuple(dict.fromkeys(name for name, _ in _LAYOUTS))
LAYERS: Final = {name: layout.layer for (name, _), layout in _LAYOUTS.items()}


@dataclass(frozen=True, eq=False)
class ModuleCounters:
    """Counters of one module, columns of shape (n,): record ids, ranks, transfers and bytes; −1 where not counted."""

    module: str
    record: npt.NDArray[np.uint64]
    rank: Ints
    reads: Ints
    writes: Ints
    bytes_read: Ints
    bytes_written: Ints

    def transfers(self) -> Ints:
        """Return reads and writes of each row."""
        return np.maximum(self.reads, 0) + np.maximum(self.writes, 0)


def read_counters(log: Log) -> tuple[list[ModuleCounters], list[str]]:
    """Read the counters of all modules that are known, and say which are not, or not to the end."""
    found, faults = [], []
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
            found.append(_counters(name, layout, data[: count * layout.size]))
    return found, faults


def _counters(name: str, layout: _Layout, data: bytes) -> ModuleCounters:
    table = np.frombuffer(data, "<i8").reshape(-1, layout.size // 8)
    first = layout.start // 8

    def total(places: tuple[int, ...]) -> Ints:
        if not places:
            return np.full(len(table), -1, np.int64)
        return np.asarray(np.maximum(table[:, [first + place for place in places]], 0).sum(axis=1), np.int64)

    def moved(place: int | None) -> Ints:
        return np.full(len(table), -1, np.int64) if place is None else np.maximum(table[:, first + place], 0)

    return ModuleCounters(
        name,
        table[:, 0].view(np.uint64),
        table[:, 1].copy(),
        total(layout.reads),
        total(layout.writes),
        moved(layout.bytes_read),
        moved(layout.bytes_written),
    )


def join_counters(parts: list[ModuleCounters], ids: npt.NDArray[np.uint64]) -> Counters | None:
    """Return the counters of all modules as one table; None where there are none.

    Parameters
    ----------
    ids : uint64
        Of the files, a row each, in order; all those of `parts` are there.
    """
    if not parts:
        return None
    return Counters(
        np.repeat(np.arange(len(parts), dtype=np.int32), [len(part.record) for part in parts]),
        np.searchsorted(ids, np.concatenate([part.record for part in parts])).astype(np.int32),
        np.concatenate([np.clip(part.rank, -1, 2**31 - 1) for part in parts]).astype(np.int32),
        np.concatenate([part.reads for part in parts]),
        np.concatenate([part.writes for part in parts]),
        np.concatenate([part.bytes_read for part in parts]),
        np.concatenate([part.bytes_written for part in parts]),
        tuple(part.module for part in parts),
        tuple(LAYERS[part.module] for part in parts),
    )
