"""Operations and definitions out of what recorders write, whatever they are: one row a transfer."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ..model.arrays import Ints, Links, Mask, Rows, Ticks, column_at
from ..model.codes import (
    KNOWN_STACK,
    MOST_BYTES,
    PROCESS,
    UNDEFINED_TIME,
    UNDEFINED_UINT8,
    UNDEFINED_UINT32,
    UNDEFINED_UINT64,
    Status,
)
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
from ..model.recording import Recording
from ..model.stream.damage import LocationDamage

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
    rows: Transfers,
    location_process: Links,
    faults: Mapping[str, Mask] | None = None,
    early: bool = False,
    below: Links | None = None,
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
    below : int32 (h,), optional
        Of each handle, as `HandleTable.below` says: of calls of a thread that begin at once, as clocks of whole
        microseconds have it, the highest come first. Without it they stay in the order of the rows.
    """
    ended, locations = rows.end != UNDEFINED_TIME, len(location_process)
    found = {name: mask for name, mask in (faults or {}).items() if mask.any()}
    # Smallest and largest are soon found, and mostly there is nothing to look for.
    if not _within(rows.begin, -LONGEST, LONGEST) or not _within(rows.end, -LONGEST, LONGEST):
        found["times that make no sense"] = (
            (rows.begin < -LONGEST) | (rows.begin > LONGEST) | (ended & ((rows.end < -LONGEST) | (rows.end > LONGEST)))
        )
    if not early and not _within(rows.begin, 0, LONGEST):
        found["begin before the run's start"] = rows.begin < 0
    found["end before their begin"] = ended & (rows.end < rows.begin)
    if not _within(rows.moved, -LONGEST, MOST_BYTES) or not _within(rows.requested, -LONGEST, MOST_BYTES):
        found[f"more than {MOST_BYTES} bytes"] = np.maximum(rows.moved, rows.requested) > MOST_BYTES
    if not _within(rows.location, 0, locations - 1):
        found["an unknown rank"] = (rows.location < 0) | (rows.location >= locations)
    left_out = ~rows.sound
    reasons: list[tuple[str, Mask]] = []
    for text, mask in found.items():
        fresh = mask & ~left_out
        if fresh.any():
            reasons.append((text, fresh))
            left_out = left_out | fresh
    place = rows.location
    if "an unknown rank" in found:
        place = np.where(found["an unknown rank"], locations, rows.location)
        left_out = left_out | found["an unknown rank"]
    promised = np.bincount(place, minlength=locations + 1)
    damage = []
    chosen: Rows | None = None
    if left_out.any():
        lost = np.bincount(place[left_out], minlength=locations + 1)
        by_reason = [(text, np.bincount(place[mask], minlength=locations + 1)) for text, mask in reasons]
        for row in np.flatnonzero(lost).tolist():
            told = "; ".join(
                f"{counted(int(count[row]), 'row')} left out: {text}" for text, count in by_reason if count[row]
            )
            known = row if row < locations else -1
            expected, read = int(promised[row]), int(promised[row] - lost[row])
            damage.append(LocationDamage(known, known, expected, read, told or "rows left out"))
        chosen = np.flatnonzero(~left_out)
    order = _ordered(rows.begin, rows.location, rows.handle, below, chosen)
    operations = _operations(rows, order, location_process)
    return Checked(
        operations,
        None if rows.function is None else rows.function[order],
        promised[:locations].astype(np.int64),
        tuple(damage),
        irregular_rows(operations),
    )


def _within(values: npt.NDArray[np.integer], least: int, most: int) -> bool:
    return not len(values) or bool(least <= values.min() and values.max() <= most)


def _ordered(begin: Ticks, location: Links, handle: Links, below: Links | None, chosen: Rows | None) -> Rows:
    """Return `chosen` rows, or all, by begin, then location, then `below` of their handles."""
    if chosen is not None:
        begin, location, handle = begin[chosen], location[chosen], handle[chosen]
    # What begins at the same time is seldom out of order: further keys would take as long as the first.
    order = np.argsort(begin, kind="stable")
    sorted_begin = begin[order]
    together = np.flatnonzero(sorted_begin[1:] == sorted_begin[:-1])
    first, second = order[together], order[together + 1]
    astray = location[second] < location[first]
    if below is not None:
        lower = column_at(below, handle[second]) < column_at(below, handle[first])
        astray |= lower & (location[second] == location[first])
    if astray.any():
        order = np.lexsort((location, begin) if below is None else (column_at(below, handle), location, begin))
    return order if chosen is None else chosen[order]


def _operations(rows: Transfers, order: Rows, location_process: Links) -> Operations:
    def amounts(values: Ints) -> npt.NDArray[np.uint64]:
        # -1 in two's complement is what stands for bytes that are not known.
        return np.maximum(values[order], -1).view(np.uint64)

    location, status, end = rows.location[order].astype(np.int32, copy=False), rows.status[order], rows.end[order]
    moved, end_location = amounts(rows.moved), location.copy()
    requested = moved.copy() if rows.requested is rows.moved else amounts(rows.requested)
    if (status != Status.COMPLETE).any():
        never = status == Status.NEVER_COMPLETED
        end_location[never], end[never] = -1, UNDEFINED_TIME
        moved[status != Status.COMPLETE] = UNDEFINED_UINT64
    return Operations(
        location=location,
        end_location=end_location,
        process=location_process[location].astype(np.int32, copy=False),
        handle=rows.handle[order].astype(np.int32, copy=False),
        mode=rows.mode[order],
        flags=rows.flags[order],
        begin=rows.begin[order],
        issued=np.full(len(order), UNDEFINED_TIME, np.int64),
        end=end,
        requested=requested,
        moved=moved,
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
    ticks = (seconds if sound.all() else np.where(sound, seconds, 0.0)) * NANOSECONDS
    return np.rint(ticks, out=ticks).astype(np.int64), sound


def codes_of(values: Sequence[str]) -> tuple[Links, tuple[str, ...]]:
    """Return each value's place among the different ones, in the order in which they first come, and these."""
    places = {value: place for place, value in enumerate(dict.fromkeys(values))}
    return np.array([places[value] for value in values], np.int32), tuple(places)


def pairs_of(first: npt.NDArray[np.integer], second: npt.NDArray[np.integer]) -> tuple[Links, Ints, Ints]:
    """Return the number of each pair (n,) of numbers ≥ 0, and both parts of the different pairs, in their order."""
    width = int(second.max(initial=0)) + 1
    pairs, place = np.unique(first.astype(np.int64) * width + second, return_inverse=True)
    return place.reshape(-1).astype(np.int32), pairs // width, pairs % width
