"""The records of a global definition file, collected as the official library hands them out, not yet linked."""

import ctypes
from array import array
from collections import defaultdict
from collections.abc import Callable, Sequence
from ctypes import c_uint64, c_void_p
from dataclasses import field
from typing import Any, Final

import numpy as np

from ...model.arrays import Frozen, Unsigned
from ...model.budget import require_memory
from ...model.errors import TraceError
from ...model.interrupts import kept_interrupts
from ...model.quantities import bytes_text
from ..files.anchor import COMPRESSION_NONE, Anchor
from ..files.libotf2 import DEFINITION_CALLBACKS, SUCCESS, describe, guarded, library, open_reader
from ..files.regular import is_complete

_SHORTEST: Final = 2
"""Bytes of a record: its type and its length."""
_MEMORY: Final = 9
"""Bytes of memory for each of the file, as measured where all of it are files and handles."""
_MOST_COMPRESSED: Final = 1032
"""How many bytes zlib makes of one at most."""
_GROUP_TYPES_OF_LOCATIONS: Final = frozenset((1, 4, 5, 6, 7))

Record = tuple[Any, ...]


class Records(Frozen):
    """Records by their type, in the order of the file; ids and references as they stand there.

    Attributes
    ----------
    strings : dict
        By their ids; of two with one id the last.
    others : dict of list
        Of groups and paradigms, which hold more than numbers.
    """

    strings: dict[int, bytes | str | None] = field(default_factory=dict)
    others: dict[str, list[Record]] = field(default_factory=lambda: defaultdict(list))
    _numbers: dict[str, "array[int]"] = field(default_factory=lambda: defaultdict(lambda: array("Q")))

    def numbers(self, name: str) -> Unsigned:
        """Return the fields of all records of a type, one record a row; its id is the first."""
        return np.frombuffer(self._numbers[name], np.uint64).reshape(-1, _FIELDS[name])

    def collector(self, record: str) -> Callable[..., None]:
        """Return a function that files the fields of a record."""
        name, changed = _OTHERWISE.get(record, (record, None))
        if name == "String":
            return lambda _user, *fields: self.strings.__setitem__(*fields)
        keep = self._numbers[name].extend if name in _FIELDS else self.others[name].append
        if changed is None:
            return lambda _user, *fields: keep(fields)

        def file(_user: int, *fields: Any) -> None:
            kept = changed(*fields)
            if kept is not None:
                keep(kept)

        return file


def _paradigm(*record: Any) -> Record:
    count, *arrays = record[5:]
    return (*record[:5], tuple(zip(*(array[:count] for array in arrays), strict=True)))


def _group(*record: Any) -> Record | None:
    *head, count, members = record
    if head[2] not in _GROUP_TYPES_OF_LOCATIONS:
        return None
    return (*head, ctypes.string_at(members, 8 * count) if members and count else b"")


_OTHERWISE: Final[dict[str, tuple[str, Callable[..., Record | None]]]] = {
    "Group": ("Group", _group),
    "IoParadigm": ("IoParadigm", _paradigm),
    "InterComm": ("Comm", lambda identity, name, group, _remote, *rest: (identity, name, group, *rest)),
    "IoRegularFile": ("File", lambda *record: (*record, False)),
    "IoDirectory": ("File", lambda *record: (*record, True)),
}
"""Records that are not kept as the library hands them out: the type under which they are, and as what.

Of a paradigm the properties are tuples (property, type, value); of a group, which is left out where it is none of
locations, the members are bytes of uint64.
"""
_FIELDS: Final = {
    **{
        name: len(callback._argtypes_) - 1
        for name, callback in DEFINITION_CALLBACKS.items()
        if name not in ("String", *_OTHERWISE)
    },
    "File": 4,
}
"""How many fields a record has of those types of which all are numbers."""


def read_records(anchor: Anchor, wanted: Sequence[str]) -> Records:
    """Read some of the global definitions of an archive through the official library.

    Raises TraceError if the file of global definitions is missing, cut, or does not hold what the anchor promises.

    Parameters
    ----------
    wanted : sequence of str
        Types of records, of `DEFINITION_CALLBACKS`.
    """
    records = Records()
    path = anchor.base.with_name(anchor.base.name + ".def")
    try:
        complete = is_complete(path) or anchor.compression != COMPRESSION_NONE
    except FileNotFoundError:
        raise TraceError(f"the global definitions {path} are missing; copy the archive or record it again") from None
    if not complete:
        raise TraceError(f"the global definitions {path} are cut short or unreadable; copy or record the trace again")
    size = path.stat().st_size
    require_memory(path, _MEMORY * size, f"global definitions of {bytes_text(size)}")
    expanded = size * (1 if anchor.compression == COMPRESSION_NONE else _MOST_COMPRESSED)
    most = min(anchor.global_definitions, expanded // _SHORTEST) + 1
    lib = library()
    interrupts: list[BaseException] = []
    # The library keeps the addresses only: the callback objects must live until the reading is done.
    callbacks = {
        record: DEFINITION_CALLBACKS[record](guarded(records.collector(record), interrupts)) for record in wanted
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
    return records
