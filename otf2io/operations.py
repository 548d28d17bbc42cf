"""Operations as columns: one row per data transfer or flush, matched from its events."""

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from .records import UNDEFINED_UINT64


@dataclass(frozen=True, eq=False)
class Operations:
    """I/O operations, struct of arrays; all arrays have shape (n,), ordered by begin time.

    Attributes
    ----------
    location : int32
        Row in ``Definitions.locations`` of the thread that began the operation.
    end_location : int32
        The same of the thread that completed or cancelled it; −1 where it never ended.
    process : int32
        Row in ``Definitions.groups`` of the process (an MPI rank).
    handle : int32
        Row in ``Definitions.handles``; −1 where the trace does not define the handle.
    mode : uint8
        `IoMode`: read, write or flush.
    flags : uint32
        `IoFlag`: non-blocking, collective.
    begin, issued, end : int64
        Ticks since the trace's start; ``UNDEFINED_TIME`` where there is no such event.
    requested, moved : uint64
        Bytes asked for and bytes transferred; ``UNDEFINED_UINT64`` where the trace does not know. `moved` is undefined
        unless the operation completed.
    offset : uint64
        Position in the file; ``UNDEFINED_UINT64`` where unknown.
    matching : uint64
        Matching id of the operation's events.
    tests : uint32
        How often its completion was tested for in vain.
    status : uint8
        `Status`: complete, cancelled, never completed.
    """

    location: npt.NDArray[np.int32]
    end_location: npt.NDArray[np.int32]
    process: npt.NDArray[np.int32]
    handle: npt.NDArray[np.int32]
    mode: npt.NDArray[np.uint8]
    flags: npt.NDArray[np.uint32]
    begin: npt.NDArray[np.int64]
    issued: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]
    requested: npt.NDArray[np.uint64]
    moved: npt.NDArray[np.uint64]
    offset: npt.NDArray[np.uint64]
    matching: npt.NDArray[np.uint64]
    tests: npt.NDArray[np.uint32]
    status: npt.NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.begin)

    def take(self, rows: npt.NDArray[np.bool_] | npt.NDArray[np.intp]) -> "Operations":
        """Return the operations at `rows` (a mask or indices)."""
        return Operations(*(getattr(self, field.name)[rows] for field in fields(self)))

    @property
    def bytes_moved(self) -> npt.NDArray[np.uint64]:
        """Bytes transferred, uint64 (n,), with 0 where the trace does not know."""
        return np.where(self.moved == UNDEFINED_UINT64, np.uint64(0), self.moved)
