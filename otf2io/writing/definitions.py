"""Global definitions and the anchor of an archive, written through the official library."""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from ...model.arrays import Codes, Links, Unsigned, depths
from ...model.codes import PROCESS, UNDEFINED_UINT8, UNDEFINED_UINT32, UNDEFINED_UINT64
from ...model.definitions import Clock, Definitions, Group, Paradigm
from ...model.errors import OutputError, TraceError
from ...model.interrupts import kept_interrupts
from ..definitions.read import COMM_LOCATIONS, KEPT, PARADIGM_MPI, TYPE_STRING, UNDEFINED_PARADIGM, ranks
from ..files.libotf2 import FLUSH_CALLBACK, SUCCESS, FlushCallbacks, c_string, describe, library, silenced
from .chunks import CHUNK

OFFSET: Final = 0
"""Id of the attribute *Offset*, the only one."""

_WRITE: Final = 0
_FLUSH: Final = 1
_POSIX_FILES: Final = 1
_UNCOMPRESSED: Final = 1
_CREATOR: Final = b"iostrata"
_CHUNKS: Final = range(18, 25)
"""Powers of two that the size of a chunk may be."""
_RECORD: Final = 64
"""More bytes than a record takes beside its text or its list."""
_MEMBER: Final = 9
_PIECE: Final = 1 << 16
"""Characters of a text that is written in pieces."""
_UINT64: Final = 4
_FLAG_OS: Final = 1
_VERSION: Final = "VERSION"


@contextmanager
def created_archive(base: Path, definitions: Definitions, kept: str = "") -> Iterator["DefinitionWriter"]:
    """Create an archive with the anchor ``<base>.otf2`` and the folder `base`, which do not exist, and close it.

    `kept` is text in ASCII about the recorder that the definitions are of; see `iostrata.model.stream.keeping`.

    Raises OutputError where the library cannot write; what is there then is of no use.
    """
    lib = library()
    size = 1 << next((power for power in _CHUNKS if 1 << power >= _longest_record(definitions)), _CHUNKS[-1])

    def flush(*_what: object) -> int:
        return _FLUSH

    callbacks = FlushCallbacks(FLUSH_CALLBACK(flush), None)
    with silenced():
        archive: int | None = lib.OTF2_Archive_Open(
            os.fsencode(base.parent), os.fsencode(base.name), _WRITE, CHUNK, size, _POSIX_FILES, _UNCOMPRESSED
        )
        if not archive:
            raise OutputError(f"the OTF2 library cannot write an archive {base.name!r}; choose another name")
        try:
            _check(lib.OTF2_Archive_SetFlushCallbacks(archive, ctypes.byref(callbacks), None))
            _check(lib.OTF2_Archive_SetSerialCollectiveCallbacks(archive))
            _check(lib.OTF2_Archive_SetCreator(archive, _CREATOR))
            yield DefinitionWriter(lib, archive, definitions, kept)
        except BaseException:
            lib.OTF2_Archive_Close(archive)
            raise
        _check(lib.OTF2_Archive_Close(archive))


class DefinitionWriter:
    """Writes the definitions of an archive."""

    def __init__(self, lib: ctypes.CDLL, archive: int, definitions: Definitions, kept: str) -> None:
        self._lib, self._archive, self._definitions, self._kept = lib, archive, definitions, kept
        self._strings: dict[str, int] = {}
        self._writer: int | None = None

    def write(self, clock: Clock, events: Unsigned) -> None:
        """Write all definitions, with another clock than theirs, and the number of events of each location.

        Raises OutputError if the library cannot, TraceError if ranks are too large for a list of them.
        """
        # An interrupt while the library asks whether to flush would be printed and forgotten.
        with kept_interrupts([]):
            self._write_all(clock, events)

    def _write_all(self, clock: Clock, events: Unsigned) -> None:
        self._writer = self._lib.OTF2_Archive_GetGlobalDefWriter(self._archive)
        if not self._writer:
            raise OutputError("the OTF2 library cannot write the definitions; write to another folder")
        self._text("")
        realtime = UNDEFINED_UINT64 if clock.realtime_ns is None else clock.realtime_ns
        self._put("ClockProperties", clock.ticks_per_second, clock.start, clock.length, realtime)
        self._put("Attribute", OFFSET, self._text("Offset"), self._text("Position in the file"), _UINT64)
        self._write_places(events)
        self._write_paradigms()
        self._write_files()
        self._write_communicators()
        self._write_handles()
        _check(self._lib.OTF2_Archive_CloseGlobalDefWriter(self._archive, self._writer))

    def _write_places(self, events: Unsigned) -> None:
        tree, groups, locations = self._definitions.system_tree, self._definitions.groups, self._definitions.locations
        for row in _parents_first(tree.parent):
            names = self._text(tree.name[row]), self._text(tree.class_name[row])
            self._put("SystemTreeNode", int(tree.id[row]), *names, _id(tree.id, tree.parent[row]))
        self._write_kept()
        for row, (identity, kind, node) in enumerate(_rows(groups.id, groups.kind, groups.node)):
            name = self._text(groups.name[row])
            self._put("LocationGroup", identity, name, kind, _id(tree.id, node), UNDEFINED_UINT32)
        for row, (identity, kind, count, group) in enumerate(
            _rows(locations.id, locations.kind, events, locations.group)
        ):
            self._put("Location", identity, self._text(locations.name[row]), kind, count, _id(groups.id, group))

    def _write_kept(self) -> None:
        """Write what is kept of the recorder as properties of the root, in pieces that fit into a chunk."""
        if not self._kept:
            return
        tree = self._definitions.system_tree
        if not len(tree.id):
            self._put("SystemTreeNode", 0, self._text("machine"), self._text("machine"), UNDEFINED_UINT32)
        root = int(tree.id.min(initial=UNDEFINED_UINT32)) if len(tree.id) else 0
        for number, start in enumerate(range(0, len(self._kept), _PIECE)):
            piece = self._text(self._kept[start : start + _PIECE])
            self._put("SystemTreeNodeProperty", root, self._text(f"{KEPT}{number}"), TYPE_STRING, piece)

    def _write_paradigms(self) -> None:
        for paradigm in (*self._definitions.paradigms, *self._undefined_paradigm()):
            versions = [self._text(value) for name, value in paradigm.properties if name == _VERSION]
            count = len(versions)
            names = self._text(paradigm.identification), self._text(paradigm.name)
            kinds = int(paradigm.parallel), _FLAG_OS if paradigm.os else 0
            keys, types = (ctypes.c_uint8 * count)(), (ctypes.c_uint8 * count)(*[TYPE_STRING] * count)
            values = (ctypes.c_uint64 * count)(*versions)
            self._put("IoParadigm", paradigm.id, *names, *kinds, count, keys, types, values)

    def _undefined_paradigm(self) -> tuple[Paradigm, ...]:
        """Return a paradigm for handles that have none, where there are such and an id is left."""
        number = len(self._definitions.paradigms)
        if number >= UNDEFINED_UINT8 or (self._definitions.handles.paradigm >= 0).all():
            return ()
        return (Paradigm(number, UNDEFINED_PARADIGM, "undefined", parallel=False, os=False, properties=()),)

    def _write_files(self) -> None:
        files, tree = self._definitions.files, self._definitions.system_tree
        for row, (identity, directory, scope) in enumerate(_rows(files.id, files.directory, files.scope)):
            record = "IoDirectory" if directory else "IoRegularFile"
            self._put(record, identity, self._text(files.name[row]), _id(tree.id, scope))
            for name, value in files.properties[row].items():
                self._put("IoFileProperty", identity, self._text(name), TYPE_STRING, self._text(value))

    def _write_communicators(self) -> None:
        for one in (*self._definitions.location_sets, *_rank_set(self._definitions)):
            members = np.ascontiguousarray(one.members, np.uint64)
            name = self._text(one.name)
            self._put("Group", one.id, name, one.kind, one.paradigm, 0, len(members), members.ctypes.data)
        for comm in self._definitions.communicators:
            related = (UNDEFINED_UINT32 if one is None else one for one in (comm.group, comm.parent))
            self._put("Comm", comm.id, self._text(comm.name), *related, 0)

    def _write_handles(self) -> None:
        handles = self._definitions.handles
        files = self._definitions.files.id
        paradigms = [one.id for one in (*self._definitions.paradigms, *self._undefined_paradigm())]
        paradigms.append(UNDEFINED_UINT8)
        columns = _rows(handles.id, handles.file, handles.paradigm, handles.flags, handles.communicator, handles.parent)
        known = list(columns)
        for row in _parents_first(handles.parent):
            identity, file, paradigm, flags, communicator, parent = known[row]
            layer = paradigms[paradigm if paradigm >= 0 else len(self._definitions.paradigms)]
            links = communicator, _id(handles.id, parent)
            self._put("IoHandle", identity, self._text(handles.name[row]), _id(files, file), layer, flags, *links)
        for row in np.flatnonzero(handles.precreated).tolist():
            state = int(handles.precreated_mode[row]), int(handles.precreated_status[row])
            self._put("IoPreCreatedHandleState", known[row][0], *state)

    def _text(self, text: str) -> int:
        """Return the id of a text, which is written when it is first asked for."""
        number = self._strings.get(text)
        if number is None:
            number = self._strings[text] = len(self._strings)
            self._put("String", number, c_string(text))
        return number

    def _put(self, record: str, *fields: Any) -> None:
        _check(getattr(self._lib, f"OTF2_GlobalDefWriter_Write{record}")(self._writer, *fields))


def _check(code: int) -> None:
    if code != SUCCESS:
        raise OutputError(f"the OTF2 library cannot write the definitions: {describe(code)}; check the space left")


def _rows(*columns: "np.ndarray[Any, Any]") -> Iterator[tuple[Any, ...]]:
    return zip(*(column.tolist() for column in columns), strict=True)


def _id(ids: Codes, row: int) -> int:
    return int(ids[row]) if row >= 0 else UNDEFINED_UINT32


def _parents_first(parent: Links) -> list[int]:
    """Return rows so that each comes behind its parent: as they stand where that is so."""
    rows = np.arange(len(parent))
    if not (parent < rows).all():
        rows = np.argsort(depths(parent), kind="stable")
    return [int(row) for row in rows]


def numbered(definitions: Definitions) -> Definitions:
    """Return the same definitions with ids from 0 on in the order in which they are written, as the OTF2 tools want it.

    Ids of locations, which name files, stay; only the one that means none becomes another.
    """
    tree, groups, files, handles = (
        definitions.system_tree, definitions.groups, definitions.files, definitions.handles,
    )  # fmt: skip
    sets: dict[int | None, int] = {one.id: number for number, one in enumerate(definitions.location_sets)}
    comms: dict[int | None, int] = {one.id: number for number, one in enumerate(definitions.communicators)}
    communicator = [comms.get(one, UNDEFINED_UINT32) for one in handles.communicator.tolist()]
    return replace(
        definitions,
        system_tree=replace(tree, id=_places(tree.parent)),
        groups=replace(groups, id=np.arange(len(groups.id), dtype=np.uint32)),
        locations=replace(definitions.locations, id=_location_ids(definitions.locations.id)),
        paradigms=tuple(replace(one, id=row) for row, one in enumerate(definitions.paradigms)),
        files=replace(files, id=np.arange(len(files.id), dtype=np.uint32)),
        handles=replace(handles, id=_places(handles.parent), communicator=np.array(communicator, np.uint32)),
        location_sets=tuple(replace(one, id=sets[one.id]) for one in definitions.location_sets),
        communicators=tuple(
            replace(one, id=comms[one.id], group=sets.get(one.group), parent=comms.get(one.parent))
            for one in definitions.communicators
        ),
    )


def _location_ids(ids: Unsigned) -> Unsigned:
    none = ids == np.uint64(UNDEFINED_UINT64)
    unused = np.setdiff1d(np.arange(len(ids), dtype=np.uint64), ids)
    return np.where(none, unused[0], ids) if none.any() else ids


def _places(parent: Links) -> Codes:
    place = np.empty(len(parent), np.uint32)
    place[_parents_first(parent)] = np.arange(len(parent))
    return place


def _longest_record(definitions: Definitions) -> int:
    """Return bytes in which each record of the definitions has room."""
    files = definitions.files
    texts = (
        *definitions.system_tree.name, *definitions.system_tree.class_name, *definitions.groups.name,
        *definitions.locations.name, *files.name, *definitions.handles.name,
        *(text for one in files.properties for pair in one.items() for text in pair),
        *(text for one in definitions.paradigms for text in (one.identification, one.name)),
        *(one.name for one in definitions.location_sets), *(one.name for one in definitions.communicators),
    )  # fmt: skip
    members = max((len(one.members) for one in definitions.location_sets), default=0)
    places = int(definitions.groups.rank.max(initial=0)) + 1
    longest = max((len(c_string(text)) for text in texts), default=0)
    return _RECORD + max(longest, _MEMBER * max(members, places))


def _rank_set(definitions: Definitions) -> tuple[Group, ...]:
    """Return the group of MPI locations that tells the ranks of the processes, where they need one and have none."""
    groups, locations = definitions.groups, definitions.locations
    is_process = groups.kind == PROCESS
    if np.array_equal(groups.rank, ranks(is_process, locations, definitions.location_sets)):
        return ()
    known = np.flatnonzero(groups.rank >= 0)
    highest = int(groups.rank.max(initial=-1))
    if _MEMBER * highest > 1 << _CHUNKS[-1]:
        raise TraceError(f"rank {highest} is too large for the list of ranks of an OTF2 archive; check the ranks")
    members = np.full(highest + 1, UNDEFINED_UINT64, np.uint64)
    rank_of_group = np.append(groups.rank, -1)
    rank = rank_of_group[locations.group]
    # The first location of each process stands for it.
    first = np.flatnonzero(rank >= 0)[::-1]
    members[rank[first]] = locations.id[first]
    identity = max((one.id for one in definitions.location_sets), default=-1) + 1
    return (Group(identity, "MPI ranks", COMM_LOCATIONS, PARADIGM_MPI, members),) if len(known) else ()
