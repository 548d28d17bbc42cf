"""What a recorder says of a run beside its transfers, as definitions; and the source of both together."""

from collections.abc import Hashable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, cast, get_type_hints

import numpy as np

from ..model.arrays import Frozen, Integers, Ints, Links, Mask, Octets, Rows, TableT, column_at, innermost
from ..model.codes import KNOWN_STACK, PROCESS, UNDEFINED_UINT8, UNDEFINED_UINT32, UNDEFINED_UINT64, IoRecord
from ..model.definitions import Clock, Definitions, Files, Handles, LocationGroups, Locations, Paradigm, SystemTree
from ..model.events import IoEvents
from ..model.recording import Recording
from ..model.stream.damage import LocationDamage
from .calls import CalledFunctions, CallEvents
from .functions import NONE
from .rows import LONGEST, NANOSECONDS, UNRECORDED, Transfers, checked, pairs_of
from .source import RowSource

_PARALLEL = ("netCDF", "PnetCDF", "ADIOS", "HDF5", "MPI-IO", "DFS", "DAOS")


class HandleTable(Frozen):
    """Handles to be, columns of shape (h,): rows of files, paradigms and parents, −1 for none."""

    file: Links
    paradigm: Links
    parent: Links
    name: tuple[str, ...]

    @classmethod
    def inferred(
        cls,
        paradigm: Integers,
        file: Integers,
        paradigms: Sequence[str],
        order: Sequence[str] = (),
        process: Integers | None = None,
    ) -> "tuple[Links, HandleTable]":
        """Make a handle for each pair of paradigm and file, below that of the next higher layer on the same file.

        Returns the handle of each row, int32 (n,), and the handles.

        Parameters
        ----------
        paradigm, file : int (n,)
            Of each row; a file of −1 is none, and so is the handle of a row without a paradigm.
        order : sequence of str
            Names of layers that call the ones after them on the same file, the highest first.
        process : int (n,), optional
            Of each row where processes have handles of their own.
        """
        known = paradigm >= 0
        own = (paradigm if process is None else process * len(paradigms) + paradigm)[known]
        handle = np.full(len(paradigm), -1, np.int32)
        handle[known], of_own, of_file = pairs_of(own, file[known])
        of_process, of_paradigm = np.divmod(of_own, np.int32(max(len(paradigms), 1)))
        level = np.array([order.index(one) if one in order else -1 for one in paradigms], np.int32)[of_paradigm]
        return handle, cls(of_file, of_paradigm, _parents(level, of_process, of_file), ("",) * len(of_file))

    def below(self, paradigms: Sequence[str]) -> Links:
        """Return a number of each handle, int32 (h,), that is higher below another handle and in a lower layer."""
        known = {name: place for place, name in enumerate(KNOWN_STACK)}
        place = np.array([*(known.get(name, len(KNOWN_STACK)) for name in paradigms), len(KNOWN_STACK)], np.int32)[
            self.paradigm
        ]
        depth, parent = np.zeros(len(self.parent), np.int32), self.parent
        # Parents of a table's own making may go in circles: there are no more layers than this.
        for _ in paradigms:
            if not (parent >= 0).any():
                break
            depth += parent >= 0
            parent = column_at(self.parent, parent)
        return depth * np.int32(len(KNOWN_STACK) + 1) + place


def _parents(level: Links, process: Links, file: Links) -> Links:
    """Return the handle above each of the same process and file; those of level or file −1 have no part in it."""
    order = np.lexsort((level, file, process))
    order = order[(level[order] >= 0) & (file[order] >= 0)]
    above, below = order[:-1], order[1:]
    under = (process[above] == process[below]) & (file[above] == file[below]) & (level[above] < level[below])
    parent = np.full(len(level), -1, np.int32)
    parent[below[under]] = above[under]
    return parent


def events_of(
    calls: Transfers, kind: Octets, handles: HandleTable, done: Mask, position: Ints = UNRECORDED
) -> tuple[IoEvents, Rows]:
    """Return the calls that are metadata events, those of a location together, and which rows they are.

    Parameters
    ----------
    kind : uint8 (n,)
        `IoRecord` of each call, `NONE` for one that is no event.
    done : bool (n,)
        Whether it did what it should.
    position : int64 (n,) or (1,)
        Where a seek went to, −1 where unknown.
    """
    file, deletes = column_at(handles.file, calls.handle), kind == IoRecord.DELETE_FILE
    chosen = np.flatnonzero((kind != NONE) & done & (~deletes | (file >= 0)) & (np.abs(calls.begin) <= LONGEST))
    rows = chosen[np.lexsort((calls.begin[chosen], calls.location[chosen]))]
    gone, handle, offset = deletes[rows], calls.handle[rows], np.broadcast_to(position, len(calls))[rows]
    nothing = np.zeros(len(rows), np.uint64)
    events = IoEvents(
        location=calls.location[rows],
        kind=kind[rows],
        time=calls.begin[rows],
        handle=np.where(gone, np.uint32(UNDEFINED_UINT32), handle.astype(np.uint32)),
        mode=np.where(gone, column_at(handles.paradigm, handle), 0).astype(np.uint8),
        flags=nothing.astype(np.uint32),
        matching=nothing,
        value=np.where(gone, file[rows], 0).astype(np.uint64),
        offset=np.where(
            (kind[rows] == IoRecord.SEEK) & (offset >= 0), offset.astype(np.uint64), np.uint64(UNDEFINED_UINT64)
        ),
    )
    return events, rows


class RecordedRun(Frozen):
    """What a recorder says of a run beside its transfers.

    Attributes
    ----------
    ranks : int64 (p,)
        Of each process, −1 where a row of processes is no rank.
    process_names, nodes : tuple of str
        Of each process; a node is empty where unknown, and so are all where no node is known.
    location_process : int32 (l,)
    location_names : tuple of str
    paradigms, files : tuple of str
    file_properties : tuple of dict
        Of each file; of none where nothing is known.
    length : int or None
        In ns; None where the run ends with its last operation or metadata event.
    realtime_ns : int or None
        Its start since 1970-01-01 UTC, where that is known.
    """

    recording: Recording
    ranks: Ints
    process_names: tuple[str, ...]
    location_process: Links
    location_names: tuple[str, ...]
    paradigms: tuple[str, ...]
    files: tuple[str, ...]
    handles: HandleTable
    nodes: tuple[str, ...] = ()
    file_properties: tuple[dict[str, str], ...] = ()
    length: int | None = None
    realtime_ns: int | None = None

    def source(
        self,
        path: Path,
        rows: Transfers,
        faults: Mapping[str, Mask],
        metadata: IoEvents | None = None,
        damage: Sequence[LocationDamage] = (),
        records: int = 0,
        called: CalledFunctions | None = None,
    ) -> RowSource:
        """Return the rows as a source, without those that cannot be true.

        Parameters
        ----------
        faults : mapping of str to bool (n,)
            Rows that are left out, by what is wrong with them.
        metadata : IoEvents, optional
        damage : sequence of LocationDamage
            What else was lost.
        records : int
            What was read beside operations and metadata events.
        called : CalledFunctions, optional
            The calls that rows and metadata events are.
        """
        found = checked(rows, self.location_process, faults, below=self.handles.below(self.paradigms))
        events, extent = IoEvents.empty() if metadata is None else metadata, found.operations.extent
        ended = max(0 if extent is None else extent[1], int(events.time.max(initial=-1)) + 1, 0)
        length = ended if self.length is None else self.length
        promised = found.promised + np.bincount(events.location, minlength=len(self.location_process))
        return RowSource(
            path,
            self.definitions(promised, length),
            found.operations,
            events,
            (*found.damage, *damage),
            # An interval of no duration is none of an operation.
            found.irregular if self.recording.rows == "operations" else {},
            records,
            None if called is None else CallEvents(called, found.operations, events, found.rows),
        )

    def definitions(self, promised: Ints, length: int) -> Definitions:
        """Return the definitions; `promised` (l,) rows should be read of each location, in `length` ns."""
        names = tuple(dict.fromkeys(node for node in self.nodes if node))
        row_of = {name: row + 1 for row, name in enumerate(names)}
        classes, above = ("machine", *("node",) * len(names)), np.array([-1, *(0,) * len(names)], np.int32)
        table, events, named = self.handles, promised.astype(np.uint64), enumerate(self.paradigms)
        return Definitions(
            clock=Clock(NANOSECONDS, 0, length, self.realtime_ns),
            system_tree=_table(SystemTree, name=("machine", *names), class_name=classes, parent=above),
            groups=_table(
                LocationGroups,
                name=self.process_names,
                kind=np.where(self.ranks >= 0, PROCESS, 0).astype(np.uint8),
                node=np.array([row_of.get(node, -1) for node in self.nodes], np.int32) if names else np.int32(-1),
                rank=self.ranks.astype(np.int32),
            ),
            locations=_table(Locations, name=self.location_names, kind=1, events=events, group=self.location_process),
            paradigms=tuple(Paradigm(row, one, one, one in _PARALLEL, one == "POSIX", ()) for row, one in named),
            files=_table(Files, name=self.files, scope=-1, properties=self.file_properties or ({},) * len(self.files)),
            handles=_table(
                Handles,
                name=table.name,
                file=table.file,
                paradigm=table.paradigm,
                communicator=UNDEFINED_UINT32,
                parent=table.parent,
                precreated_mode=UNDEFINED_UINT8,
            ),
            recording=self.recording,
        )


@cache
def _columns(of: Any) -> dict[str, Any]:
    """Return the type of the elements of each column."""
    return {name: innermost(hint) for name, hint in get_type_hints(of).items()}


def _table(of: type[TableT], /, name: tuple[str, ...], **columns: Any) -> TableT:
    """Return definitions with ids from 0 on; columns that are one number in all rows are given as such, 0 is not."""
    found: dict[str, Any] = {"id": np.arange(len(name)), "name": name, **columns}
    for one, kind in _columns(cast(Hashable, of)).items():
        if not isinstance(found.get(one), tuple):
            column = np.empty(len(name), kind)
            column[:] = found.get(one, 0)
            found[one] = column
    return of(**found)
