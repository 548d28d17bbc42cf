"""The records of a global definition file, collected as the official library hands them out, not yet linked."""

import ctypes
from collections.abc import Callable, Mapping
from ctypes import c_uint64, c_void_p
from dataclasses import dataclass, field
from typing import Final

from ...model.errors import TraceError
from ...model.interrupts import kept_interrupts
from ..files.anchor import COMPRESSION_NONE, Anchor
from ..files.libotf2 import (
    CALLBACK_INTERRUPT,
    CALLBACK_SUCCESS,
    DEFINITION_CALLBACKS,
    SUCCESS,
    describe,
    library,
    open_reader,
)
from ..files.regular import is_complete

_SHORTEST: Final = 2
"""Bytes of a record: its type and its length."""
_MOST_COMPRESSED: Final = 1032
"""How many bytes zlib makes of one at most."""


@dataclass(frozen=True, eq=False)
class DefinitionRecords:
    """Definition records in the order of the file; ids and references as they stand there.

    Attributes
    ----------
    strings : dict
        Id → bytes.
    clock : list of (ticks per second, start, length, realtime)
    attributes : list of (id, name)
    system_tree : list of (id, name, class, parent)
    node_properties : list of (node, name, type, value)
    groups : list of (id, name, type, parent, creator)
    locations : list of (id, name, type, events, group)
    sets : list of (id, name, type, paradigm, members as bytes of uint64)
    communicators : list of (id, name, group, parent)
    paradigms : list of (id, identification, name, class, flags, properties)
        Properties are tuples (property, type, value).
    files : list of (id, name, scope, directory)
    file_properties : list of (file, name, type, value)
    handles : list of (id, name, file, paradigm, flags, communicator, parent)
    states : list of (handle, mode, status)
    """

    strings: dict[int, bytes] = field(default_factory=dict)
    clock: list[tuple[int, int, int, int]] = field(default_factory=list)
    attributes: list[tuple[int, int]] = field(default_factory=list)
    system_tree: list[tuple[int, int, int, int]] = field(default_factory=list)
    node_properties: list[tuple[int, int, int, int]] = field(default_factory=list)
    groups: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    locations: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    sets: list[tuple[int, int, int, int, bytes]] = field(default_factory=list)
    communicators: list[tuple[int, int, int, int]] = field(default_factory=list)
    paradigms: list[tuple[int, int, int, int, int, tuple[tuple[int, int, int], ...]]] = field(default_factory=list)
    files: list[tuple[int, int, int, bool]] = field(default_factory=list)
    file_properties: list[tuple[int, int, int, int]] = field(default_factory=list)
    handles: list[tuple[int, int, int, int, int, int, int]] = field(default_factory=list)
    states: list[tuple[int, int, int]] = field(default_factory=list)


_Function = Callable[..., int]

_GROUP_TYPES_OF_LOCATIONS: Final = frozenset((1, 4, 5, 6, 7))


def _guarded(file: Callable[..., None], interrupts: list[BaseException]) -> _Function:
    """Return a callback that files a record; an exception must not leave it: it would be printed and forgotten."""

    def callback(*record: int) -> int:
        if interrupts:
            return CALLBACK_INTERRUPT
        try:
            file(*record)
        except (KeyboardInterrupt, MemoryError) as error:
            interrupts.append(error)
            return CALLBACK_INTERRUPT
        return CALLBACK_SUCCESS

    return callback


def _collectors(records: DefinitionRecords) -> dict[str, Callable[..., None]]:
    """Return one plain function for each record type, which files it in `records`."""

    def string(_user: int, identity: int, text: bytes | None) -> None:
        records.strings[identity] = text or b""

    def group(
        _user: int, identity: int, name: int, kind: int, paradigm: int, _flags: int, count: int, members: int | None
    ) -> None:
        if kind in _GROUP_TYPES_OF_LOCATIONS:
            content = ctypes.string_at(members, 8 * count) if members and count else b""
            records.sets.append((identity, name, kind, paradigm, content))

    def paradigm(
        _user: int,
        identity: int,
        identification: int,
        name: int,
        kind: int,
        flags: int,
        count: int,
        properties: "ctypes._Pointer[ctypes.c_uint8]",
        types: "ctypes._Pointer[ctypes.c_uint8]",
        values: "ctypes._Pointer[ctypes.c_uint64]",
    ) -> None:
        listed = tuple((properties[i], types[i], values[i]) for i in range(count))
        records.paradigms.append((identity, identification, name, kind, flags, listed))

    def communicator(_user: int, identity: int, name: int, group: int, parent: int, _flags: int) -> None:
        records.communicators.append((identity, name, group, parent))

    def intercommunicator(
        _user: int, identity: int, name: int, group: int, _remote_group: int, parent: int, _flags: int
    ) -> None:
        records.communicators.append((identity, name, group, parent))

    return {
        "String": string,
        "Group": group,
        "IoParadigm": paradigm,
        "Comm": communicator,
        "InterComm": intercommunicator,
        "ClockProperties": lambda _user, *record: records.clock.append(record),
        "Attribute": lambda _user, *record: records.attributes.append(record[:2]),
        "SystemTreeNode": lambda _user, *record: records.system_tree.append(record),
        "SystemTreeNodeProperty": lambda _user, *record: records.node_properties.append(record),
        "LocationGroup": lambda _user, *record: records.groups.append(record),
        "Location": lambda _user, *record: records.locations.append(record),
        "IoRegularFile": lambda _user, *record: records.files.append((*record, False)),
        "IoDirectory": lambda _user, *record: records.files.append((*record, True)),
        "IoFileProperty": lambda _user, *record: records.file_properties.append(record),
        "IoHandle": lambda _user, *record: records.handles.append(record),
        "IoPreCreatedHandleState": lambda _user, *record: records.states.append(record),
    }


def read_definition_records(anchor: Anchor) -> DefinitionRecords:
    """Read the global definitions of an archive that `DefinitionRecords` holds.

    Raises TraceError as `collect_definitions`.
    """
    records = DefinitionRecords()
    collect_definitions(anchor, _collectors(records))
    return records


def collect_definitions(anchor: Anchor, collectors: Mapping[str, Callable[..., None]]) -> None:
    """Read all global definitions of an archive through the official library.

    Raises TraceError if the file of global definitions is missing, cut, or does not hold what the anchor promises.

    Parameters
    ----------
    collectors : mapping of str to callable
        For each type of record that is wanted, one of `DEFINITION_CALLBACKS`, what is called with each.
    """
    path = anchor.base.with_name(anchor.base.name + ".def")
    try:
        complete = is_complete(path) or anchor.compression != COMPRESSION_NONE
    except FileNotFoundError:
        raise TraceError(f"the global definitions {path} are missing; copy the archive or record it again") from None
    if not complete:
        raise TraceError(f"the global definitions {path} are cut short or unreadable; copy or record the trace again")
    expanded = path.stat().st_size * (1 if anchor.compression == COMPRESSION_NONE else _MOST_COMPRESSED)
    most = min(anchor.global_definitions, expanded // _SHORTEST) + 1
    lib = library()
    interrupts: list[BaseException] = []
    # The library keeps the addresses only: the callback objects must live until the reading is done.
    callbacks = {
        record: DEFINITION_CALLBACKS[record](_guarded(function, interrupts)) for record, function in collectors.items()
    }
    count = c_uint64()
    with kept_interrupts(interrupts), open_reader(anchor) as reader:
        definitions = lib.OTF2_Reader_GetGlobalDefReader(reader)
        if not definitions:
            raise TraceError(f"cannot read the global definitions {path}; they are damaged, record the trace again")
        table = c_void_p(lib.OTF2_GlobalDefReaderCallbacks_New())
        for record, callback in callbacks.items():
            getattr(lib, f"OTF2_GlobalDefReaderCallbacks_Set{record}Callback")(table, callback)
        lib.OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, table, None)
        lib.OTF2_GlobalDefReaderCallbacks_Delete(table)
        # A wrong length can send the library back to where it was, again and again.
        outcome = lib.OTF2_Reader_ReadGlobalDefinitions(reader, definitions, most, ctypes.byref(count))
        lib.OTF2_Reader_CloseGlobalDefReader(reader, definitions)
    if interrupts:
        raise interrupts[0]
    if count.value == most:
        raise TraceError(
            f"the global definitions {path} are damaged: they do not end behind {most - 1:,}, which is all that there "
            "can be; copy or record the trace again"
        )
    if outcome != SUCCESS or count.value < anchor.global_definitions:
        why = f" ({describe(outcome)})" if outcome != SUCCESS else ""
        readable = f"{count.value} of {anchor.global_definitions} can be read{why}"
        raise TraceError(f"the global definitions {path} are damaged: {readable}; copy or record the trace again")
