"""Operations as columns: whole, some rows of them without a copy, and batches that compiled matching writes to."""

from dataclasses import fields
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from .arrays import Codes, Columns, Ints, Links, Mask, Octets, Unsigned, named_columns
from .codes import UNDEFINED_UINT64
from .definitions import Definitions
from .errors import TraceError
from .events import IoEvents


class Operations(Columns):
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

    location: Links
    end_location: Links
    process: Links
    handle: Links
    mode: Octets
    flags: Codes
    begin: Ints
    issued: Ints
    end: Ints
    requested: Unsigned
    moved: Unsigned
    offset: Unsigned
    matching: Unsigned
    tests: Codes
    status: Octets

    @property
    def extent(self) -> tuple[int, int] | None:
        """First begin and last begin or end in ticks; None where there are no operations."""
        # The undefined time is the least of all, so an operation without an end counts with its begin.
        return (int(self.begin.min()), int(np.maximum(self.begin, self.end).max())) if len(self) else None

    @property
    def bytes_moved(self) -> Unsigned:
        """Bytes transferred, uint64 (n,), with 0 where the trace does not know."""
        return np.where(self.moved == UNDEFINED_UINT64, np.uint64(0), self.moved)

    @property
    def size(self) -> Unsigned:
        """Bytes asked for, or else those transferred, as ``fprintf`` asks for none; uint64 (n,)."""
        unknown = self.requested == UNDEFINED_UINT64
        return np.where(unknown, self.moved, self.requested) if unknown.any() else self.requested


OperationColumns: Final = named_columns(Operations, "OperationColumns", "process", handle=Codes)
"""The same as matching writes it, in the order in which operations begin in their files; `handle` is a global id."""

Rows = Mask | npt.NDArray[np.intp]


class OperationsView(Operations):
    """Rows of operations, which keep their source in memory; most uses need two or three of the columns.

    Parameters
    ----------
    rows : intp (n,)
        Places in `source`.
    """

    def __init__(self, source: Operations, rows: npt.NDArray[np.intp]) -> None:
        object.__setattr__(self, "source", source)
        object.__setattr__(self, "rows", rows)

    source: Operations
    rows: npt.NDArray[np.intp]

    def __getattr__(self, name: str) -> Any:
        if name not in Operations.__dataclass_fields__:
            raise AttributeError(f"operations have no column {name!r}")
        column = getattr(self.source, name).take(self.rows)
        object.__setattr__(self, name, column)
        return column

    def __reduce__(self) -> tuple[Any, ...]:
        return OperationsView, (self.source, self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, rows: Rows) -> Operations:  # type: ignore[override]
        """Return the operations at `rows` (a mask or indices)."""
        return self.source.take(self.rows[rows])


def view(operations: Operations, rows: Rows) -> Operations:
    """Return some rows of operations; the operations themselves where a mask leaves out none.

    Parameters
    ----------
    operations : Operations (n,)
    rows : bool (n,) or intp (m,)
        A mask or indices.
    """
    chosen: npt.NDArray[np.intp]
    if rows.dtype == np.bool_:
        chosen = np.flatnonzero(rows)
        if len(chosen) == len(operations):
            return operations
    else:
        chosen = rows.astype(np.intp, copy=False)
    if isinstance(operations, OperationsView):
        return OperationsView(operations.source, operations.rows[chosen])
    return OperationsView(operations, chosen)


def followed_places(key: Ints, sets: Mask, place: Ints, moved: Ints) -> Ints:
    """Return where each call begins, −1 where unknown, int64 (n,).

    Parameters
    ----------
    key : int64 (n,)
        What a call goes through; those of a key stand together, in their order.
    sets : bool (n,)
        Whether a call, such as an open or a seek, moves no data and sets the place.
    place : int64 (n,)
        Where to, in bytes from the start of the file, −1 where unknown; only of those that set it.
    moved : int64 (n,)
        Bytes by which a transfer goes on, −1 where unknown; only of the others.
    """
    fresh = np.diff(key, prepend=-1) != 0
    lost = ~sets & (moved < 0)
    steps = np.where(sets | lost, 0, moved)
    before = np.cumsum(steps) - steps
    lost_before: Ints = np.cumsum(lost) - lost
    last = np.maximum.accumulate(np.where(sets | fresh, np.arange(len(key)), 0))
    start = np.where(sets, place, -1)[last]
    known = (start >= 0) & (lost_before == lost_before[last])
    # A sum beyond int64 is damaged, and negative.
    return np.maximum(np.where(known, start + before - before[last], -1), -1)


def check_rows(operations: Operations, metadata: IoEvents, definitions: Definitions) -> None:
    """Do nothing where operations and other events have columns of one length, and name rows that are defined.

    Compiled loops rely on it: they write wherever a row says. What the reader of an archive gives is so by
    construction; what comes from elsewhere is checked here.

    Raises
    ------
    TraceError
        If it is not so.
    """
    tables = definitions.locations, definitions.groups, definitions.handles
    locations, groups, handles = (len(one.id) for one in tables)
    for columns in (operations, metadata):
        for column in fields(columns):
            found = len(getattr(columns, column.name))
            if found != len(columns):
                raise TraceError(f"the column {column.name} has {found} rows, others {len(columns)}; give all the same")
    for name, rows, least, most in (
        ("location", operations.location, 0, locations),
        ("end_location", operations.end_location, -1, locations),
        ("process", operations.process, -1, groups),
        ("handle", operations.handle, -1, handles),
        ("location", metadata.location, 0, locations),
        ("group", definitions.locations.group, -1, groups),
    ):
        for row in (int(rows.min()), int(rows.max())) if len(rows) else ():
            if not least <= row < most:
                raise TraceError(f"the column {name} names row {row} of {most} in the definitions; define it first")
