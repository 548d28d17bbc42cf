"""Operations and definitions out of what recorders write, whatever they are: one row a transfer."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ..model.arrays import Ints, Links, Mask, Ticks
from ..model.codes import (
    MOST_BYTES,
    PROCESS,
    UNDEFINED_TIME,
    UNDEFINED_UINT8,
    UNDEFINED_UINT32,
    UNDEFINED_UINT64,
    Status,
)
from ..model.damage import LocationDamage
from ..model.definitions import (
    Clock,
    Definitions,
    Files,
    Handles,
    LocationGroups,
    Locations,
    Paradigm,
    SystemTree,
)
from ..model.operations import Operations
from ..model.quantities import counted
from ..model.stream.recording import Recording

NANOSECONDS: Final = 10**9
"""Ticks per second of recorders that have no clock of their own."""
LONGEST: Final = 2**61
"""Ticks beyond which a time is not believed."""
MOST_PROCESSES: Final = 1 << 24
"""More processes than any machine runs: a file that claims more is damaged."""

_PARALLEL: Final = ("netCDF", "PnetCDF", "ADIOS", "HDF5", "MPI-IO", "DFS", "DAOS")


@dataclass(frozen=True, eq=False)
class HandleTable:
    """Handles to be, columns of shape (h,): rows of files, paradigms and parents, −1 for none."""

    file: Links
    paradigm: Links
    parent: Links
    name: tuple[str, ...]

    @classmethod
    def of_files(cls, paradigm: Links, file: Links, paradigms: Sequence[str], order: Sequence[str]) -> "HandleTable":
        """Make a handle for each pair of paradigm and file, (h,) each, below that of the next higher layer.

        Parameters
        ----------
        order : sequence of str
            Names of layers that call the ones after them on the same file, the highest first.
        """
        place = {name: row for row, name in enumerate(order)}
        rank = [place.get(paradigms[one], -1) for one in paradigm.tolist()]
        of_file: dict[int, list[tuple[int, int]]] = {}
        for row, (level, one) in enumerate(zip(rank, file.tolist(), strict=True)):
            if level >= 0 and one >= 0:
                of_file.setdefault(one, []).append((level, row))
        parent = np.full(len(file), -1, np.int32)
        for handles in of_file.values():
            handles.sort()
            for (upper, above), (lower, row) in itertools.pairwise(handles):
                if upper < lower:
                    parent[row] = above
        return cls(file.astype(np.int32), paradigm.astype(np.int32), parent, ("",) * len(file))


@dataclass(frozen=True, eq=False)
class Run:
    """What a recorder says of a run beside its transfers.

    Attributes
    ----------
    ranks : int64 (p,)
        Of each process, −1 where a row of processes is no rank.
    process_names, nodes : tuple of str
        Of each process; a node is empty where unknown.
    location_process : int32 (l,)
    location_names : tuple of str
    paradigms, files : tuple of str
    file_properties : tuple of dict
    clock : Clock
    """

    recording: Recording
    clock: Clock
    ranks: Ints
    process_names: tuple[str, ...]
    nodes: tuple[str, ...]
    location_process: Links
    location_names: tuple[str, ...]
    paradigms: tuple[str, ...]
    files: tuple[str, ...]
    file_properties: tuple[dict[str, str], ...]
    handles: HandleTable

    def definitions(self, promised: Ints) -> Definitions:
        """Return the definitions; `promised` (l,) rows should be read of each location."""
        names = tuple(dict.fromkeys(node for node in self.nodes if node))
        row_of = {name: row + 1 for row, name in enumerate(names)}
        table, handles = self.handles, len(self.handles.file)
        undefined = np.full(handles, UNDEFINED_UINT32, np.uint32)
        return Definitions(
            clock=self.clock,
            system_tree=SystemTree(
                np.arange(len(names) + 1, dtype=np.uint32),
                ("machine", *names),
                ("machine", *("node",) * len(names)),
                np.array([-1, *(0,) * len(names)], np.int32),
            ),
            groups=LocationGroups(
                np.arange(len(self.ranks), dtype=np.uint32),
                self.process_names,
                np.where(self.ranks >= 0, PROCESS, 0).astype(np.uint8),
                np.array([row_of.get(node, -1) for node in self.nodes], np.int32),
                self.ranks.astype(np.int32),
            ),
            locations=Locations(
                np.arange(len(self.location_process), dtype=np.uint64),
                self.location_names,
                np.ones(len(self.location_process), np.uint8),
                promised.astype(np.uint64),
                self.location_process.astype(np.int32),
            ),
            paradigms=tuple(
                Paradigm(row, name, name, name in _PARALLEL, name == "POSIX", ())
                for row, name in enumerate(self.paradigms)
            ),
            files=Files(
                np.arange(len(self.files), dtype=np.uint32),
                self.files,
                np.zeros(len(self.files), np.bool_),
                np.full(len(self.files), -1, np.int32),
                self.file_properties,
            ),
            handles=Handles(
                np.arange(handles, dtype=np.uint32),
                table.name,
                table.file,
                table.paradigm,
                np.zeros(handles, np.uint32),
                undefined,
                table.parent,
                np.zeros(handles, np.bool_),
                np.full(handles, UNDEFINED_UINT8, np.uint8),
                np.zeros(handles, np.uint32),
            ),
            location_sets=(),
            communicators=(),
            attributes={},
            recording=self.recording,
        )


@dataclass(frozen=True, eq=False)
class Transfers:
    """Rows as a recorder has them, columns of shape (n,), times in ticks.

    Attributes
    ----------
    location : int32
    handle : int32
    mode, status : uint8
    begin, end : int64
        ``UNDEFINED_TIME`` for the end of one that never ended.
    moved, requested, offset : int64
        Bytes, −1 where unknown.
    flags : uint32
    sound : bool
        False for rows that are left out, whatever is in them.
    """

    location: Links
    handle: Links
    mode: npt.NDArray[np.uint8]
    begin: Ticks
    end: Ticks
    moved: Ints
    requested: Ints
    offset: Ints
    flags: npt.NDArray[np.uint32]
    status: npt.NDArray[np.uint8]
    sound: Mask
    function: Links | None = None

    def __len__(self) -> int:
        return len(self.location)

    def take(self, rows: npt.NDArray[np.intp]) -> "Transfers":
        """Return some rows."""
        columns: Any = (None if one is None else one[rows] for one in vars(self).values())
        return Transfers(*columns)


@dataclass(frozen=True, eq=False)
class Checked:
    """Sound rows as operations, ordered by begin, then location; what was left out, and what is odd in the rest."""

    operations: Operations
    function: Links | None
    promised: Ints
    damage: tuple[LocationDamage, ...]
    irregular: Mapping[str, int] = field(default_factory=dict)


def checked(
    rows: Transfers, location_process: Links, faults: Mapping[str, Mask] | None = None, early: bool = False
) -> Checked:
    """Leave out rows that cannot be true, and count them by location; the rest are operations.

    Parameters
    ----------
    location_process : int32 (l,)
        Row of the process of each location.
    faults : mapping of str to bool (n,)
        Further rows to be left out, by what is wrong with them; of several the first counts.
    early : bool
        Whether times before 0 can be true.
    """
    ended = rows.end != UNDEFINED_TIME
    found = dict(faults or {})
    found["times that make no sense"] = (np.abs(rows.begin) > LONGEST) | (ended & (np.abs(rows.end) > LONGEST))
    if not early:
        found["begin before the run's start"] = rows.begin < 0
    found["end before their begin"] = ended & (rows.end < rows.begin)
    found[f"more than {MOST_BYTES} bytes"] = np.maximum(rows.moved, rows.requested) > MOST_BYTES
    locations = len(location_process)
    found["an unknown rank"] = (rows.location < 0) | (rows.location >= locations)
    left_out = ~rows.sound
    reasons: list[tuple[str, Mask]] = []
    for text, mask in found.items():
        fresh = mask & ~left_out
        if fresh.any():
            reasons.append((text, fresh))
            left_out = left_out | fresh
    place = np.where((rows.location >= 0) & (rows.location < locations), rows.location, locations)
    promised = np.bincount(place, minlength=locations + 1)[: locations + 1]
    lost = np.bincount(place[left_out], minlength=locations + 1)
    damage = []
    by_reason = [(text, np.bincount(place[mask], minlength=locations + 1)) for text, mask in reasons]
    for row in np.flatnonzero(lost).tolist():
        told = "; ".join(
            f"{counted(int(count[row]), 'row')} left out: {text}" for text, count in by_reason if count[row]
        )
        known = row if row < locations else -1
        damage.append(
            LocationDamage(known, known, int(promised[row]), int(promised[row] - lost[row]), told or "rows left out")
        )
    kept = np.flatnonzero(~left_out & (place < locations))
    order = kept[np.lexsort((rows.location[kept], rows.begin[kept]))]
    operations = _operations(rows, order, location_process)
    return Checked(
        operations,
        None if rows.function is None else rows.function[order],
        promised[:locations].astype(np.int64),
        tuple(damage),
        irregular_rows(operations),
    )


def _operations(rows: Transfers, order: npt.NDArray[np.intp], location_process: Links) -> Operations:
    def amounts(values: Ints) -> npt.NDArray[np.uint64]:
        taken = values[order]
        return np.where(taken < 0, np.uint64(UNDEFINED_UINT64), np.maximum(taken, 0).astype(np.uint64))

    location, status, begin, end = rows.location[order], rows.status[order], rows.begin[order], rows.end[order]
    never = status == Status.NEVER_COMPLETED
    return Operations(
        location=location.astype(np.int32),
        end_location=np.where(never, np.int32(-1), location).astype(np.int32),
        process=location_process[location].astype(np.int32),
        handle=rows.handle[order].astype(np.int32),
        mode=rows.mode[order],
        flags=rows.flags[order],
        begin=begin,
        issued=np.full(len(order), UNDEFINED_TIME, np.int64),
        end=np.where(never, UNDEFINED_TIME, end),
        requested=amounts(rows.requested),
        moved=np.where(status == Status.COMPLETE, amounts(rows.moved), np.uint64(UNDEFINED_UINT64)),
        offset=amounts(rows.offset),
        matching=np.zeros(len(order), np.uint64),
        tests=np.zeros(len(order), np.uint32),
        status=status,
    )


def irregular_rows(operations: Operations) -> dict[str, int]:
    """Return how many operations are odd without being wrong: of no bytes, of no duration."""
    transfers = operations.mode < 2
    counts = {
        "transfers of no bytes": int((transfers & (operations.moved == 0)).sum()),
        "operations of no duration": int((operations.end == operations.begin).sum()),
    }
    return {name: count for name, count in counts.items() if count}


def ticks_of(seconds: npt.NDArray[np.float64]) -> tuple[Ticks, Mask]:
    """Return times in s as ns, int64 (n,), and which of them are numbers that can be."""
    sound = np.abs(seconds) < LONGEST / NANOSECONDS
    return np.rint(np.where(sound, seconds, 0.0) * NANOSECONDS).astype(np.int64), sound


def codes_of(values: Sequence[str]) -> tuple[Links, tuple[str, ...]]:
    """Return each value's place among the different ones, in the order in which they first come, and these."""
    places = {value: place for place, value in enumerate(dict.fromkeys(values))}
    return np.array([places[value] for value in values], np.int32), tuple(places)


def pairs_of(first: npt.NDArray[np.integer], second: npt.NDArray[np.integer]) -> tuple[Links, Ints, Ints]:
    """Return the number of each pair (n,) of numbers ≥ 0, and both parts of the different pairs, in their order."""
    width = int(second.max(initial=0)) + 1
    pairs, place = np.unique(first.astype(np.int64) * width + second, return_inverse=True)
    return place.reshape(-1).astype(np.int32), pairs // width, pairs % width
