"""Counters of Darshan's modules: sums of files and ranks, without times.

Where a record holds which counter is from the headers darshan-*-log-format.h; versions that are not in the table are
left out, and said to be.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from ...model.arrays import Columns, Ints, Links
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
_LAYER_OF: Final = {name: layout.layer for (name, _), layout in _LAYOUTS.items()}


@dataclass(frozen=True, eq=False, repr=False)
class CounterRows(Columns):
    """Counters of a file and rank each, columns of shape (n,); −1 where not counted.

    Attributes
    ----------
    module : int32
        Place in `MODULES`.
    record : uint64
        Id of the file.
    """

    module: Links
    record: npt.NDArray[np.uint64]
    rank: Ints
    reads: Ints
    writes: Ints
    bytes_read: Ints
    bytes_written: Ints

    def transfers(self) -> dict[str, int]:
        """Return reads and writes of each module that there are any rows of."""
        sums = np.maximum(self.reads, 0) + np.maximum(self.writes, 0)
        return {MODULES[one]: int(sums[self.module == one].sum()) for one in np.unique(self.module).tolist()}

    def with_files(self, ids: npt.NDArray[np.uint64]) -> Counters | None:
        """Return them with rows of files, whose ids are `ids` in order; None where there are none."""
        if not len(self):
            return None
        # In the order of the log.
        modules = list(dict.fromkeys(self.module.tolist()))
        place = np.zeros(len(MODULES), np.int32)
        place[modules] = np.arange(len(modules))
        return Counters(
            place[self.module],
            np.searchsorted(ids, self.record).astype(np.int32),
            np.clip(self.rank, -1, 2**31 - 1).astype(np.int32),
            self.reads,
            self.writes,
            self.bytes_read,
            self.bytes_written,
            tuple(MODULES[one] for one in modules),
            tuple(_LAYER_OF[MODULES[one]] for one in modules),
        )


def read_counters(log: Log) -> tuple[CounterRows, list[str]]:
    """Read the counters of all modules that are known, and say which are not, or not to the end."""
    found, faults = [CounterRows.empty()], []
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
        found.append(_counters(MODULES.index(name), layout, data[: count * layout.size]))
    return CounterRows.concatenate(found), faults


def _counters(module: int, layout: _Layout, data: bytes) -> CounterRows:
    table = np.frombuffer(data, "<i8").reshape(-1, layout.size // 8)

    def total(places: tuple[int, ...]) -> Ints:
        if not places:
            return np.full(len(table), -1, np.int64)
        columns = [layout.start // 8 + place for place in places]
        return np.asarray(np.maximum(table[:, columns], 0).sum(axis=1), np.int64)

    return CounterRows(
        np.full(len(table), module, np.int32),
        table[:, 0].view(np.uint64),
        table[:, 1],
        total(layout.reads),
        total(layout.writes),
        total(layout.bytes_read),
        total(layout.bytes_written),
    )
