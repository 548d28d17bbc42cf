"""The definitions of an archive as linked columns: `Definitions`, and, only on request, `Regions`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from ...model.arrays import Array, Links, Mask, Unsigned, column_at, sound_parents
from ...model.codes import BLOCK_IO, MOST_EVENTS, PROCESS, UNDEFINED_UINT8, UNDEFINED_UINT32, UNDEFINED_UINT64
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
from ...model.recording import Recording
from ...model.stream.calls import Regions
from ..calls.functions import CalledFunctions, called_functions
from ..files.anchor import Anchor
from .records import Record, Records, read_records

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
_WANTED: Final = (
    "String", "ClockProperties", "Attribute", "SystemTreeNode", "SystemTreeNodeProperty", "LocationGroup", "Location",
    "Group", "Comm", "InterComm", "IoParadigm", "IoRegularFile", "IoDirectory", "IoFileProperty", "IoHandle",
    "IoPreCreatedHandleState", "Region", "Parameter",
)  # fmt: skip
"""Records of which `Definitions` are made."""


def read_definitions(anchor: Anchor, every_call: bool = False) -> tuple[Definitions, str, CalledFunctions | None]:
    """Read and link the global definitions of an archive.

    With them come the text of `KEPT`, empty where there is none, and the functions of libraries that the archive has
    only as regions, None where there are none; with `every_call` also those of libraries with I/O records.

    Ids that nothing defines become row −1; where parents form a cycle, its lowest row becomes a root; of two records
    with one id the first holds. Names are UTF-8; other bytes appear as ``\\xNN``. Raises TraceError if the file of
    global definitions is missing or damaged, or holds no clock.
    """
    records = read_records(anchor, _WANTED)
    clocks = records.numbers("ClockProperties").tolist()
    if not clocks or not clocks[0][0]:
        raise TraceError(
            f"{anchor.base}.def has no clock (ClockProperties), so times mean nothing; record the trace again"
        )
    ticks, start, length, realtime = clocks[0]
    texts = _Texts(records)
    tables = "SystemTreeNode", "LocationGroup", "Location", "File", "IoHandle"
    nodes, processes, threads, files, handles = (_Table(records, name, texts) for name in tables)
    locations = _locations(threads, processes)
    sets = _groups(records, texts)
    paradigms = _paradigms(records, texts)
    parent = sound_parents(nodes.links(3, nodes))[0]
    tree = SystemTree(id=nodes.column(0, np.uint32), name=nodes.texts(1), class_name=nodes.texts(2), parent=parent)
    states = _Table(records, "IoPreCreatedHandleState", texts)
    opened = _handles(handles, files, np.array([one.id for one in paradigms], np.uint64), states)
    names, kind, node = processes.texts(1), processes.column(2, np.uint8), processes.links(3, nodes)
    device = _devices(names, opened, paradigms)
    kind = np.where(device, np.uint8(0), kind)
    node = np.where(device, column_at(tree.parent, node), node)
    definitions = Definitions(
        clock=Clock(ticks, start, length, None if realtime == UNDEFINED_UINT64 else realtime),
        system_tree=tree,
        groups=LocationGroups(
            id=processes.column(0, np.uint32),
            name=names,
            kind=kind,
            node=node,
            rank=ranks(kind == PROCESS, locations, sets),
        ),
        locations=locations,
        paradigms=paradigms,
        files=_files(files, nodes, _file_properties(records, texts, files)),
        handles=opened,
        location_sets=sets,
        communicators=_communicators(records, texts),
        attributes={identity: texts[name] for identity, name, *_ in _Table(records, "Attribute", texts)},
        # lo2s, which records block devices, knows processes of the system only.
        recording=Recording(processes=bool(device.any())),
    )
    functions = called_functions(
        ((one[0], texts[one[1]] or texts[one[2]], one[4]) for one in _Table(records, "Region", texts)),
        {one[0]: texts[one[1]] for one in _Table(records, "Parameter", texts)},
        (one.identification for one in paradigms),
        every_call,
    )
    return definitions, _kept(records, texts), functions


def read_texts(anchor: Anchor) -> Mapping[int, str]:
    """Read all strings of an archive by their ids.

    Raises TraceError if the file of global definitions is missing or damaged.
    """
    texts = _Texts(read_records(anchor, ("String",)))
    return {identity: texts[identity] for identity in texts}


def read_regions(anchor: Anchor) -> Regions:
    """Read the regions of an archive: functions such as ``write``, ``MPI_File_write_at_all``, those of the program.

    Raises TraceError if the file of global definitions is missing or damaged.
    """
    records = read_records(anchor, ("String", "Region"))
    texts = _Texts(records)
    regions = _Table(records, "Region", texts, by_id=True)
    return Regions(
        id=regions.column(0, np.uint32),
        name=tuple(name or canonical for name, canonical in zip(regions.texts(1), regions.texts(2), strict=True)),
        role=regions.column(4, np.uint8),
        paradigm=regions.column(5, np.uint8),
        file=regions.texts(7),
        line=regions.column(8, np.int64),
    )


def _groups(records: Records, texts: "_Texts") -> tuple[Group, ...]:
    return tuple(
        Group(identity, texts[name], kind, paradigm, np.frombuffer(members, np.uint64))
        for identity, name, kind, paradigm, _flags, members in _first_of_each(records.others["Group"])
    )


def _communicators(records: Records, texts: "_Texts") -> tuple[Communicator, ...]:
    rows = _Table(records, "Comm", texts)
    return tuple(
        Communicator(row, texts[name], _optional(group), _optional(above)) for row, name, group, above, _ in rows
    )


def _files(files: "_Table", nodes: "_Table", properties: tuple[dict[str, str], ...]) -> Files:
    ids, names, directory = files.column(0, np.uint32), files.texts(1), files.column(3, np.bool_)
    return Files(id=ids, name=names, directory=directory, scope=files.links(2, nodes), properties=properties)


class _Texts:
    """Strings by their ids, decoded once, on demand."""

    def __init__(self, records: Records) -> None:
        self._texts = records.strings

    def __getitem__(self, reference: int) -> str:
        text = self._texts.get(reference) or ""
        if isinstance(text, bytes):
            text = self._texts[reference] = text.decode("utf-8", "backslashreplace")
        return text

    def __iter__(self) -> Iterator[int]:
        return iter(self._texts)

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


def _first_of_each(records: Sequence[Record]) -> list[Record]:
    """Leave out records whose id was there before."""
    seen: dict[int, Record] = {}
    for record in records:
        seen.setdefault(record[0], record)
    return list(seen.values())


class _Table:
    """Records of one type without those whose id was there before, and columns of them by the place of a field."""

    def __init__(self, records: Records, name: str, texts: _Texts, by_id: bool = False) -> None:
        rows = records.numbers(name)
        self.id, first = np.unique(rows[:, 0], return_index=True)
        self._row = np.arange(len(first)) if by_id else np.argsort(np.argsort(first))
        # Columns of a million rows are copied only where an id is there twice.
        kept = slice(None) if len(first) == len(rows) and not by_id else first if by_id else np.sort(first)
        self._fields, self._texts = rows[kept], texts

    def __len__(self) -> int:
        return len(self._fields)

    def __iter__(self) -> Iterator[list[int]]:
        return iter(self._fields.tolist())

    def column(self, place: int, dtype: npt.DTypeLike) -> Array:
        return self._fields[:, place].astype(dtype)

    def texts(self, place: int) -> tuple[str, ...]:
        return tuple(map(self._texts.__getitem__, self._fields[:, place].tolist()))

    def links(self, place: int, others: "_Table | Unsigned") -> Links:
        """Turn references into rows of another table, or of unique ids, −1 where nothing is defined under them."""
        ids, rows = (others.id, others._row) if isinstance(others, _Table) else (np.sort(others), np.argsort(others))
        if not len(ids):
            return np.full(len(self), -1, np.int32)
        wanted = self._fields[:, place]
        at = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
        return np.where(ids[at] == wanted, rows[at], -1).astype(np.int32)


def _locations(threads: _Table, processes: _Table) -> Locations:
    ids, events = threads.column(0, np.uint64), np.minimum(threads.column(3, np.uint64), np.uint64(MOST_EVENTS))
    kind, group = threads.column(2, np.uint8), threads.links(4, processes)
    return Locations(id=ids, name=threads.texts(1), kind=kind, events=events, group=group)


def _optional(reference: int) -> int | None:
    return None if reference == UNDEFINED_UINT32 else reference


def _kept(records: Records, texts: _Texts) -> str:
    properties = records.numbers("SystemTreeNodeProperty").tolist()
    found = {texts[name]: texts.value(kind, bits) for _, name, kind, bits in properties}
    pieces: list[str] = []
    while (piece := found.get(f"{KEPT}{len(pieces)}")) is not None:
        pieces.append(piece)
    return "".join(pieces)


def _devices(names: tuple[str, ...], handles: Handles, paradigms: Sequence[Paradigm]) -> Mask:
    """Tell which location groups are block devices: those with the name of a handle of one, bool (groups,)."""
    block = [row for row, one in enumerate(paradigms) if one.identification == BLOCK_IO]
    devices = {handles.name[row] for row in np.flatnonzero(np.isin(handles.paradigm, block)).tolist()}
    return np.array([name in devices for name in names], np.bool_)


def ranks(is_process: Mask, locations: Locations, sets: Sequence[Group]) -> Links:
    """Number the processes: by the group of all MPI locations where there is one, else in their order."""
    mpi = next((s for s in sets if s.kind == COMM_LOCATIONS and s.paradigm == PARADIGM_MPI and len(s.members)), None)
    if mpi is None or not len(locations.id):
        return np.where(is_process, np.cumsum(is_process) - 1, -1).astype(np.int32)
    rank = np.full(len(is_process), -1, np.int32)
    order = np.argsort(locations.id)
    at = np.minimum(np.searchsorted(locations.id, mpi.members, sorter=order), len(order) - 1)
    process = np.where(locations.id[order[at]] == mpi.members, locations.group[order[at]], -1)
    member = np.flatnonzero(process >= 0)
    # Where several members are of one process, the first of them, which is written last, is its rank.
    member = member[is_process[process[member]]][::-1]
    rank[process[member]] = member
    return rank


def _paradigms(records: Records, texts: _Texts) -> tuple[Paradigm, ...]:
    return tuple(
        Paradigm(
            id=identity,
            identification=texts[identification],
            name=texts[name],
            parallel=kind == 1,
            os=bool(flags & _FLAG_OS),
            properties=tuple(
                ("VERSION" if key == _PROPERTY_VERSION else f"PROPERTY {key}", texts.value(kind_of_value, bits))
                for key, kind_of_value, bits in properties
            ),
        )
        for identity, identification, name, kind, flags, properties in _first_of_each(records.others["IoParadigm"])
        if texts[identification] != UNDEFINED_PARADIGM
    )


def _file_properties(records: Records, texts: _Texts, files: _Table) -> tuple[dict[str, str], ...]:
    properties: dict[int, dict[str, str]] = {}
    for file, name, kind, bits in records.numbers("IoFileProperty").tolist():
        properties.setdefault(file, {}).setdefault(texts[name], texts.value(kind, bits))
    none: dict[str, str] = {}
    return tuple(properties.get(identity, none) for identity in files.column(0, np.uint64).tolist())


def _handles(handles: _Table, files: _Table, paradigms: Unsigned, states: _Table) -> Handles:
    mode = np.full(len(handles), UNDEFINED_UINT8, np.uint8)
    status = np.zeros(len(handles), np.uint32)
    precreated = np.zeros(len(handles), np.bool_)
    row = states.links(0, handles)
    row, known = row[row >= 0], row >= 0
    precreated[row], mode[row] = True, states.column(1, np.uint8)[known]
    status[row] = states.column(2, np.uint32)[known]
    return Handles(
        id=handles.column(0, np.uint32),
        name=handles.texts(1),
        file=handles.links(2, files),
        paradigm=handles.links(3, paradigms),
        flags=handles.column(4, np.uint32),
        communicator=handles.column(5, np.uint32),
        parent=sound_parents(handles.links(6, handles))[0],
        precreated=precreated,
        precreated_mode=mode,
        precreated_status=status,
    )
