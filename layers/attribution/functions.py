"""Which function each I/O event and each operation was recorded in."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...model.arrays import Links
from ...model.stream.calls import Regions
from .calls.paths import CallPaths, nearest


@dataclass(frozen=True, eq=False)
class CallingFunctions:
    """The innermost I/O function that had been entered, on the same location, when something happened.

    Attributes
    ----------
    names : tuple of str
        The I/O functions that the trace defines, such as ``write``, ``MPI_File_write_at_all`` or ``fprintf``.
    event : int32 (n,)
        Row in `names` for each I/O event that is none of an operation, −1 where no such function was entered or the
        trace does not record any.
    operation : int32 (m,)
        The same for the begin of each operation.
    """

    names: tuple[str, ...]
    event: npt.NDArray[np.int32]
    operation: npt.NDArray[np.int32]

    @classmethod
    def of_paths(cls, paths: CallPaths) -> "CallingFunctions":
        """Return the functions of call paths."""
        of_path = np.append(functions_of_paths(paths.regions, paths.parent, paths.region), np.int32(-1))
        return cls(io_function_names(paths.regions), of_path[paths.event], of_path[paths.operation])

    def __repr__(self) -> str:
        known = int((self.operation >= 0).sum())
        return f"<CallingFunctions: of {known} of {len(self.operation)} operations, {len(self.names)} names>"


def io_function_names(regions: Regions) -> tuple[str, ...]:
    """Return the names of the regions that do I/O."""
    return tuple(regions.name[row] for row in np.flatnonzero(regions.does_io).tolist())


def functions_of_paths(regions: Regions, parent: Links, region: Links) -> Links:
    """Return the row in `io_function_names` of the innermost I/O function on each call path, −1 where there is none."""
    does_io = regions.does_io
    row = np.where(does_io, np.cumsum(does_io) - 1, -1).astype(np.int32)
    return nearest(parent, row[region])
