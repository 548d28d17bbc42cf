"""Which function each I/O event and each operation was recorded in."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...model.definitions import Definitions
from ...model.errors import SelectionError, TraceError
from ...model.events import IoEvents
from ...otf2io.anchor import read_anchor
from ...otf2io.definitions.regions import IoRegions, read_io_regions
from ...otf2io.matching.columns import begin_rows

if TYPE_CHECKING:
    from ...otf2io.direct.walk import RegionEvents


@dataclass(frozen=True, eq=False)
class CallingFunctions:
    """The innermost I/O function that had been entered, on the same location, when something happened.

    Attributes
    ----------
    names : tuple of str
        The I/O functions that the trace defines, such as ``write``, ``MPI_File_write_at_all`` or ``fprintf``.
    event : int32 (n,)
        Row in `names` for each I/O event, −1 where no such function was entered or the trace does not record any.
    operation : int32 (m,)
        The same for the begin of each operation.
    """

    names: tuple[str, ...]
    event: npt.NDArray[np.int32]
    operation: npt.NDArray[np.int32]

    @classmethod
    def unknown(cls, events: int, operations: int) -> "CallingFunctions":
        """Return what holds of a trace that records no function."""
        return cls((), np.full(events, -1, np.int32), np.full(operations, -1, np.int32))

    def __repr__(self) -> str:
        known = int((self.operation >= 0).sum())
        return f"<CallingFunctions: of {known} of {len(self.operation)} operations, {len(self.names)} names>"


def read_calling_functions(
    path: Path, definitions: Definitions, events: IoEvents, engine: str, workers: int | None = None
) -> CallingFunctions:
    """Read the events of a trace once more, now with Enter and Leave, and find the function of each I/O event.

    Only functions of the roles *file I/O* and *file I/O metadata* are looked at; the program's own, which a trace
    can have millions of events, are passed over. Where the trace defines no I/O function its events are not read.
    Raises SelectionError if the engine was not ``direct``: the other one does not read Enter and Leave; TraceError if
    the archive is not what it was when `events` were read.

    Parameters
    ----------
    path : Path
        The archive's anchor.
    events : IoEvents
        All of the trace.
    engine : str
        The engine that read them.
    workers : int, optional
        Threads that read.
    """
    if engine != "direct":
        raise SelectionError(
            f"{path}: calling functions are known only where the engine 'direct' reads the trace, not {engine!r}; "
            "choose that engine or do without them"
        )
    anchor = read_anchor(path)
    regions = read_io_regions(anchor)
    inside = np.full(len(events), -1, np.int32)
    if len(regions.id) and len(events):
        from ...otf2io.direct.engine import read_directly

        read = read_directly(anchor, definitions, workers, regions=regions.id.tolist())
        if not np.array_equal(read.events.time, events.time) or not np.array_equal(read.events.kind, events.kind):
            raise TraceError(f"{path} has changed since it was opened; open it again")
        inside = event_functions(events.location, read.regions, regions)
    return CallingFunctions(regions.name, inside, inside[begin_rows(events, definitions)])


def event_functions(
    location: npt.NDArray[np.int32], entered: "RegionEvents", regions: IoRegions
) -> npt.NDArray[np.int32]:
    """Return the row in `regions` of the function in which each event happened, −1 where there is none.

    A Leave closes the latest open Enter of its function, whatever was entered since: events need not be well nested.

    Parameters
    ----------
    location : int32 (n,)
        Location of each I/O event.
    entered : RegionEvents
        Of the same read; of functions in `regions` only.
    """
    from .functions_kernel import innermost_regions

    return innermost_regions(
        location,
        entered.location,
        np.searchsorted(regions.id, entered.region).astype(np.int32),
        entered.enter,
        entered.position,
        len(regions.id),
        int(np.bincount(entered.location).max(initial=0)),
    )
