"""Calls of functions: the regions that an archive defines, and when they were entered and left."""

from collections.abc import Sequence
from typing import Final, Protocol

import numpy as np

from ..arrays import Codes, Columns, Frozen, Ints, Links, Mask, Octets, named_columns
from ..events import IoEvents

FILE_IO: Final = 27
FILE_IO_METADATA: Final = 38
"""``OTF2_RegionRole`` of functions that move data of files, and of those that open, close, seek and the like."""

PARADIGMS: Final = {
    0: "unknown", 1: "user", 2: "compiler", 3: "OpenMP", 4: "MPI", 5: "CUDA", 6: "measurement system", 7: "Pthread",
    8: "HMPP", 9: "OmpSs", 10: "hardware", 11: "GASPI", 12: "UPC", 13: "SHMEM", 14: "WinThread", 15: "QtThread",
    16: "ACEThread", 17: "TBB", 18: "OpenACC", 19: "OpenCL", 20: "MTAPI", 21: "sampling", 22: "none", 23: "HIP",
    24: "Kokkos",
}  # fmt: skip
"""``OTF2_Paradigm`` in words."""
OF_THE_PROGRAM: Final = (0, 1, 2, 21, 22)
"""Paradigms of the program's own functions, where their role is not that of I/O."""
OF_MPI: Final = 4
OF_PTHREAD: Final = 7

_WAITS: Final = ("aio_suspend",)
"""Functions of POSIX that wait for asynchronous operations: Score-P gives them neither a role of I/O nor an event."""
_OF_POSIX: Final = "POSIX_IO"


class Regions(Frozen):
    """The regions of an archive: functions and other parts of the code; columns of shape (n,).

    Attributes
    ----------
    id : uint32
        Global ids, ascending.
    name : tuple of str
    role, paradigm : uint8
        ``OTF2_RegionRole`` and ``OTF2_Paradigm``.
    file : tuple of str
        The source file; of functions of a library the library's name, such as ``POSIX_IO``; empty where unknown.
    line : int64
        Where it begins in its source file, 0 where unknown.
    on_files : bool
        Whether calls of I/O are listed only where they are on files, so that those without an event count as well.
    """

    id: Codes
    name: tuple[str, ...]
    role: Octets
    paradigm: Octets
    file: tuple[str, ...]
    line: Ints
    on_files: bool = False

    def __len__(self) -> int:
        return len(self.id)

    @classmethod
    def none(cls) -> "Regions":
        """Return the regions of a trace without any."""
        empty = np.empty(0, np.uint8)
        return cls(np.empty(0, np.uint32), (), empty, empty, (), np.empty(0, np.int64))

    @classmethod
    def of_functions(
        cls, names: tuple[str, ...], files: tuple[str, ...] = (), paradigm: Sequence[int] = (), on_files: bool = False
    ) -> "Regions":
        """Return regions for functions, those of I/O where no paradigm says that they are others'."""
        rows = np.arange(len(names), dtype=np.uint32)
        of = np.array(paradigm or (0,) * len(names), np.uint8)
        role = np.where(of == 0, FILE_IO, 0).astype(np.uint8)
        return cls(rows, names, role, of, files or ("",) * len(names), rows.astype(np.int64) * 0, on_files)

    @property
    def does_io(self) -> Mask:
        """Whether a region is a function of I/O, bool (n,)."""
        by_role = np.isin(self.role, (FILE_IO, FILE_IO_METADATA))
        # Score-P gives MPI_File_set_view and its like no role of I/O.
        mpi = self.paradigm == OF_MPI
        named = np.array([name.startswith("MPI_File_") for name in self.name], np.bool_).reshape(-1)
        return np.asarray(by_role | (mpi & named) | self.waits_for_io, np.bool_)

    @property
    def waits_for_io(self) -> Mask:
        """Whether a region is a function that waits for asynchronous operations of POSIX, bool (n,)."""
        pairs = zip(self.name, self.file, strict=True)
        return np.array([name in _WAITS and file == _OF_POSIX for name, file in pairs], np.bool_).reshape(-1)


class RegionEvents(Columns):
    """Enter and Leave of regions, columns of shape (n,), in the order of `IoEvents`.

    While calls are read, their parameters stand among them: `region` is the id of the parameter, `time` its value, and
    `position` is −1 minus what it else would be.

    Attributes
    ----------
    location : int32
        Row in ``Definitions.locations``.
    time : int64
        Ticks since the trace's start, clock-corrected.
    region : uint32
        Global id.
    enter : bool
        False for Leave.
    position : int64
        Row of the I/O event that follows, of its own batch or read; the number of rows where none does. It tells the
        order of events of one time stamp.
    """

    location: Links
    time: Ints
    region: Codes
    enter: Mask
    position: Ints


RegionColumns: Final = named_columns(RegionEvents, "RegionColumns")
"""The same as compiled loops take it."""


class EventBatch(Frozen):
    """Rows of neighbouring locations; those of the last one may go on in the next batch."""

    events: IoEvents
    regions: RegionEvents


class FollowsCalls(Protocol):
    """What follows the calls of a partition while it is read."""

    def add(self, events: IoEvents, regions: RegionEvents) -> Links:
        """Take a batch, and return for each I/O event the number of the call path that it happened in, int32 (n,)."""
