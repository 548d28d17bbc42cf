"""The definitions of an archive as linked columns (`Definitions`)."""

from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from ...model.arrays import sound_parents
from ...model.codes import MOST_EVENTS, PROCESS, UNDEFINED_UINT8, UNDEFINED_UINT32, UNDEFINED_UINT64
from ...model.definitions import (
    Clock,
    Communicator,
    Definitions,
    Files,
    Group,
    Handles,
    LocationGroups,
    Locations,
    Paradigm,
    SystemTree,
)
from ...model.errors import TraceError
from ..files.anchor import Anchor
from .records import DefinitionRecords, read_definition_records

_Record = TypeVar("_Record", bound=tuple[Any, ...])

PARADIGM_MPI: Final = 4
COMM_LOCATIONS: Final = 4
_FLAG_OS: Final = 1
_PROPERTY_VERSION: Final = 0
TYPE_STRING: Final = 11
KEPT: Final = "IOSTRATA::RECORDING::"
"""Start of the names of properties of system tree nodes that hold what is kept of another recorder, in pieces."""
UNDEFINED_PARADIGM: Final = "IOSTRATA::UNDEFINED"
"""Identification of what is written where a handle has no paradigm, for the OTF2 tools die of such a handle."""
_SIGNED_BITS: Final = {5: 8, 6: 16, 7: 32, 8: 64}
_UNSIGNED_BITS: Final = {1: 8, 2: 16, 3: 32, 4: 64}
_FLOAT_TYPES: Final = {9: ("<u4", "<f4"), 10: ("<u8", "<f8")}


def read_definitions(anchor: Anchor) -> tuple[Definitions, str]:
    """Read and link the global definitions of an archive; with them the text of `KEPT`, empty where there is none.

    Ids that nothing defines become row −1; where parents form a cycle, its lowest row becomes a root; of two records
    with one id the first holds. Names are UTF-8; other bytes appear as ``\\xNN``. Raises TraceError if the file of
    global definitions is missing or damaged, or holds no clock.
    """
    records = read_definition_records(anchor)
    if not records.clock or not records.clock[0][0]:
        raise TraceError(
            f"{anchor.base}.def has no clock (ClockProperties), so times mean nothing; record the trace again"
        )
    ticks, start, length, realtime = records.clock[0]
    names = _Names(records.strings)
    tree = _system_tree(records, names)
    node_rows = _rows_of(tree.id)
    processes = _first_of_each(records.groups)
    group_rows = {record[0]: row for row, record in enumerate(processes)}
    locations = _locations(records, names, group_rows)
    sets = _sets(records, names)
    paradigms = _paradigms(records, names)
    files = _files(records, names, node_rows)
    definitions = Definitions(
        clock=Clock(ticks, start, length, None if realtime == UNDEFINED_UINT64 else realtime),
        system_tree=tree,
        groups=_location_groups(processes, names, node_rows, locations, sets),
        locations=locations,
        paradigms=paradigms,
        files=files,
        handles=_handles(records, names, _rows_of(files.id), {p.id: row for row, p in enumerate(paradigms)}),
        location_sets=sets,
        communicators=tuple(
            Communicator(identity, names[name], _optional(group), _optional(parent))
            for identity, name, group, parent in _first_of_each(records.communicators)
        ),
        attributes={identity: names[name] for identity, name in _first_of_each(records.attributes)},
    )
    return definitions, _kept(records, names)


class _Names:
    """Strings by their ids, decoded once, on demand."""

    def __init__(self, strings: dict[int, bytes]) -> None:
        self._bytes = strings
        self._decoded: dict[int, str] = {}

    def __getitem__(self, reference: int) -> str:
        text = self._decoded.get(reference)
        if text is None:
            text = self._bytes.get(reference, b"").decode("utf-8", "backslashreplace")
            self._decoded[reference] = text
        return text

    def value(self, kind: int, bits: int) -> str:
        """Write out a property's value, given as its type and the 64 bits that hold it."""
        if kind == TYPE_STRING:
            return self[bits & 0xFFFFFFFF]
        if kind in _SIGNED_BITS:
            width = _SIGNED_BITS[kind]
            low = bits & ((1 << width) - 1)
            return str(low - (1 << width) if low >> (width - 1) else low)
        if kind in _FLOAT_TYPES:
            raw, view = _FLOAT_TYPES[kind]
            mask = 0xFFFFFFFF if kind == 9 else 0xFFFFFFFFFFFFFFFF
            return str(np.array([bits & mask], raw).view(view)[0])
        return str(bits & ((1 << _UNSIGNED_BITS.get(kind, 64)) - 1))


def _first_of_each(records: Sequence[_Record]) -> list[_Record]:
    """Drop records whose id was there before."""
    seen: dict[Any, _Record] = {}
    for record in records:
        seen.setdefault(record[0], record)
    return list(seen.values())


def _column(records: Sequence[tuple[Any, ...]], position: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    return np.fromiter((record[position] for record in records), dtype, len(records))


def _rows_of(identities: npt.NDArray[np.uint32]) -> dict[int, int]:
    return {identity: row for row, identity in enumerate(identities.tolist())}


def _linked(references: Iterable[int], rows: dict[int, int], count: int) -> npt.NDArray[np.int32]:
    """Turn references into rows, −1 where nothing is defined under them."""
    return np.fromiter((rows.get(reference, -1) for reference in references), np.int32, count)


def _optional(reference: int) -> int | None:
    return None if reference == UNDEFINED_UINT32 else reference


def _system_tree(records: DefinitionRecords, names: _Names) -> SystemTree:
    nodes = _first_of_each(records.system_tree)
    rows = {record[0]: row for row, record in enumerate(nodes)}
    return SystemTree(
        id=_column(nodes, 0, np.uint32),
        name=tuple(names[record[1]] for record in nodes),
        class_name=tuple(names[record[2]] for record in nodes),
        parent=sound_parents(_linked((record[3] for record in nodes), rows, len(nodes)))[0],
    )


def _kept(records: DefinitionRecords, names: _Names) -> str:
    found = {names[name]: names.value(kind, bits) for _, name, kind, bits in records.node_properties}
    pieces: list[str] = []
    while (piece := found.get(f"{KEPT}{len(pieces)}")) is not None:
        pieces.append(piece)
    return "".join(pieces)


def _locations(records: DefinitionRecords, names: _Names, group_rows: dict[int, int]) -> Locations:
    locations = _first_of_each(records.locations)
    return Locations(
        id=_column(locations, 0, np.uint64),
        name=tuple(names[record[1]] for record in locations),
        kind=_column(locations, 2, np.uint8),
        events=np.minimum(_column(locations, 3, np.uint64), np.uint64(MOST_EVENTS)),
        group=_linked((record[4] for record in locations), group_rows, len(locations)),
    )


def _sets(records: DefinitionRecords, names: _Names) -> tuple[Group, ...]:
    return tuple(
        Group(identity, names[name], kind, paradigm, np.frombuffer(members, np.uint64))
        for identity, name, kind, paradigm, members in _first_of_each(records.sets)
    )


def _location_groups(
    processes: Sequence[tuple[int, int, int, int, int]],
    names: _Names,
    node_rows: dict[int, int],
    locations: Locations,
    sets: Sequence[Group],
) -> LocationGroups:
    kind = _column(processes, 2, np.uint8)
    return LocationGroups(
        id=_column(processes, 0, np.uint32),
        name=tuple(names[record[1]] for record in processes),
        kind=kind,
        node=_linked((record[3] for record in processes), node_rows, len(processes)),
        rank=ranks(kind == PROCESS, locations, sets),
    )


def ranks(is_process: npt.NDArray[np.bool_], locations: Locations, sets: Sequence[Group]) -> npt.NDArray[np.int32]:
    """Number the processes: by the group of all MPI locations where there is one, else in their order."""
    mpi = next((s for s in sets if s.kind == COMM_LOCATIONS and s.paradigm == PARADIGM_MPI and len(s.members)), None)
    if mpi is None:
        return np.where(is_process, np.cumsum(is_process) - 1, -1).astype(np.int32)
    rank = np.full(len(is_process), -1, np.int32)
    process_of = dict(zip(locations.id.tolist(), locations.group.tolist(), strict=True))
    for position, location in enumerate(mpi.members.tolist()):
        process = process_of.get(location, -1)
        if process >= 0 and is_process[process] and rank[process] < 0:
            rank[process] = position
    return rank


def _paradigms(records: DefinitionRecords, names: _Names) -> tuple[Paradigm, ...]:
    return tuple(
        Paradigm(
            id=identity,
            identification=names[identification],
            name=names[name],
            parallel=kind == 1,
            os=bool(flags & _FLAG_OS),
            properties=tuple(
                ("VERSION" if key == _PROPERTY_VERSION else f"PROPERTY {key}", names.value(kind_of_value, bits))
                for key, kind_of_value, bits in properties
            ),
        )
        for identity, identification, name, kind, flags, properties in _first_of_each(records.paradigms)
        if names[identification] != UNDEFINED_PARADIGM
    )


def _files(records: DefinitionRecords, names: _Names, node_rows: dict[int, int]) -> Files:
    files = _first_of_each(records.files)
    properties: dict[int, dict[str, str]] = {}
    for file, name, kind, bits in records.file_properties:
        properties.setdefault(file, {}).setdefault(names[name], names.value(kind, bits))
    return Files(
        id=_column(files, 0, np.uint32),
        name=tuple(names[record[1]] for record in files),
        directory=_column(files, 3, np.bool_),
        scope=_linked((record[2] for record in files), node_rows, len(files)),
        properties=tuple(properties.get(record[0], {}) for record in files),
    )


def _handles(
    records: DefinitionRecords, names: _Names, file_rows: dict[int, int], paradigm_rows: dict[int, int]
) -> Handles:
    handles = _first_of_each(records.handles)
    count = len(handles)
    rows = {record[0]: row for row, record in enumerate(handles)}
    mode = np.full(count, UNDEFINED_UINT8, np.uint8)
    status = np.zeros(count, np.uint32)
    precreated = np.zeros(count, np.bool_)
    for handle, access, state in _first_of_each(records.states):
        row = rows.get(handle, -1)
        if row >= 0:
            precreated[row], mode[row], status[row] = True, access, state
    return Handles(
        id=_column(handles, 0, np.uint32),
        name=tuple(names[record[1]] for record in handles),
        file=_linked((record[2] for record in handles), file_rows, count),
        paradigm=_linked((record[3] for record in handles), paradigm_rows, count),
        flags=_column(handles, 4, np.uint32),
        communicator=_column(handles, 5, np.uint32),
        parent=sound_parents(_linked((record[6] for record in handles), rows, count))[0],
        precreated=precreated,
        precreated_mode=mode,
        precreated_status=status,
    )
