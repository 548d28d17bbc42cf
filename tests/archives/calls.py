"""Archives with calls of functions: made by hand, or of I/O records, some of whose layers become calls."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import _otf2
import numpy as np
from iostrata.model.codes import UNDEFINED_UINT32, UNDEFINED_UINT64, IoFlag, IoRecord
from iostrata.model.definitions import Definitions
from iostrata.model.stream.calls import EventBatch
from iostrata.otf2io.archive import open_archive
from iostrata.otf2io.definitions.read import read_regions
from iostrata.otf2io.library.engine import LibraryWalk

TYPES: Final = {
    "bytes": 2, "handle": 1, "parent": 1, "file": 0, "name": 0, "collective": 2, "request": 1, "failed": 1,
}  # fmt: skip
"""Parameters, and their types (``OTF2_ParameterType``)."""
_EVENTS: Final = ("ParameterString", "ParameterInt", "ParameterUnsignedInt")
_OPENS: Final = ("nc_open", "nc_create", "H5Fopen", "H5Fcreate")
_NONE: Final = UNDEFINED_UINT32

Record = tuple[Any, ...]
"""Name as in ``EvtWriter_<name>``, time stamp, fields, and the attribute *Offset* if there is one."""


@dataclass
class Texts:
    """Strings and the ids that they get."""

    known: dict[str, int] = field(default_factory=dict)

    def __call__(self, text: str) -> int:
        """Return the id of a text."""
        return self.known.setdefault(text, len(self.known))


@dataclass
class CallArchive:
    """What to write: events by location row, names of regions by their ids, and definitions of all else."""

    definitions: Definitions
    regions: Mapping[int, str]
    events: Sequence[Sequence[Record]]
    texts: Texts
    roles: Mapping[int, int] = field(default_factory=dict)

    def write(self, folder: Path, chunk: int = 2**18) -> Path:
        """Write it and return the folder."""
        archive = _otf2.Archive_Open(
            str(folder), "traces", _otf2.FILEMODE_WRITE, chunk, 2**22, _otf2.SUBSTRATE_POSIX, _otf2.COMPRESSION_NONE
        )
        flush = _otf2.FlushCallbacks(pre_flush=lambda *_: _otf2.FLUSH, post_flush=None)
        _otf2.Archive_SetFlushCallbacks(archive, flush, None)
        _otf2.Archive_SetSerialCollectiveCallbacks(archive)
        _otf2.Archive_OpenDefFiles(archive)
        _otf2.Archive_OpenEvtFiles(archive)
        for identity, events in zip(self.definitions.locations.id.tolist(), self.events, strict=True):
            _otf2.Archive_CloseDefWriter(archive, _otf2.Archive_GetDefWriter(archive, identity))
            writer = _otf2.Archive_GetEvtWriter(archive, identity)
            for record, time, values, *offset in events:
                listed = _otf2.AttributeList_New() if offset else None
                for value in offset:
                    _otf2.AttributeList_AddUint64(listed, 0, value)
                getattr(_otf2, f"EvtWriter_{record}")(writer, listed, time, *values)
            _otf2.Archive_CloseEvtWriter(archive, writer)
        _otf2.Archive_CloseEvtFiles(archive)
        _otf2.Archive_CloseDefFiles(archive)
        definitions = _otf2.Archive_GetGlobalDefWriter(archive)
        self._write_definitions(definitions)
        _otf2.Archive_CloseGlobalDefWriter(archive, definitions)
        _otf2.Archive_Close(archive)
        return folder

    def _write_definitions(self, writer: Any) -> None:
        one, written, text = self.definitions, [0], self.texts

        def put(record: str, *values: Any) -> None:
            for name, identity in list(text.known.items())[written[0] :]:
                _otf2.GlobalDefWriter_WriteString(writer, identity, name)
                written[0] += 1
            getattr(_otf2, f"GlobalDefWriter_Write{record}")(writer, *values)

        def link(ids: Any, row: int) -> int:
            return int(ids[row]) if row >= 0 else _NONE

        empty = text("")
        put("ClockProperties", one.clock.ticks_per_second, one.clock.start, one.clock.length, UNDEFINED_UINT64)
        put("Attribute", 0, text("Offset"), empty, _otf2.TYPE_UINT64)
        tree, groups, files, handles = one.system_tree, one.groups, one.files, one.handles
        for row, identity in enumerate(tree.id.tolist()):
            names = text(tree.name[row]), text(tree.class_name[row])
            put("SystemTreeNode", identity, *names, link(tree.id, tree.parent[row]))
        for row, identity in enumerate(groups.id.tolist()):
            name = text(groups.name[row])
            put("LocationGroup", identity, name, int(groups.kind[row]), link(tree.id, groups.node[row]), _NONE)
        for row, identity in enumerate(one.locations.id.tolist()):
            name, group = text(one.locations.name[row]), link(groups.id, one.locations.group[row])
            put("Location", identity, name, int(one.locations.kind[row]), len(self.events[row]), group)
        for region, name in self.regions.items():
            role = self.roles.get(region, 1)
            named = text(name)
            put("Region", region, named, named, empty, role, 1, 0, empty, 0, 0)
        for number, (name, kind) in enumerate(TYPES.items()):
            put("Parameter", number, text(f"iostrata:{name}"), kind)
        for paradigm in one.paradigms:
            names = text(paradigm.identification), text(paradigm.name)
            put("IoParadigm", paradigm.id, *names, int(paradigm.parallel), int(paradigm.os), [], [], [])
        for row, identity in enumerate(files.id.tolist()):
            put("IoRegularFile", identity, text(files.name[row]), link(tree.id, files.scope[row]))
        for some in one.location_sets:
            put("Group", some.id, text(some.name), some.kind, some.paradigm, 0, some.members.tolist())
        for comm in one.communicators:
            links = (_NONE if to is None else to for to in (comm.group, comm.parent))
            put("Comm", comm.id, text(comm.name), *links, 0)
        for row, identity in enumerate(handles.id.tolist()):
            if handles.paradigm[row] < 0:
                continue
            paradigm = one.paradigms[handles.paradigm[row]]
            put(
                "IoHandle", identity, text(handles.name[row]), link(files.id, handles.file[row]), paradigm.id,
                int(handles.flags[row]), int(handles.communicator[row]), link(handles.id, handles.parent[row]),
            )  # fmt: skip


def told(texts: Texts, time: int, **parameters: Any) -> Iterable[Record]:
    """Give the events of parameters."""
    for number, (name, kind) in enumerate(TYPES.items()):
        if name in parameters:
            value = parameters[name]
            yield _EVENTS[kind], time, (number, texts(value) if kind == 0 else value)


def write_layers_as_calls(
    source: Path, folder: Path, layers: Sequence[str] = ("netCDF", "HDF5"), parameters: bool = True
) -> Path:
    """Write an archive in which operations and handles of some layers are regions, each with its parameters if wanted.

    Transfers begin and end at the ticks of their records. Handles of other layers lose parents in these layers.
    """
    archive = open_archive(source)
    regions = read_regions(archive.anchor)
    names = dict(zip(regions.id.tolist(), regions.name, strict=True))
    files = dict(zip(regions.id.tolist(), regions.file, strict=True))
    definitions, one = archive.definitions, archive.definitions.handles
    gone = {row for row, paradigm in enumerate(definitions.paradigms) if paradigm.identification in layers}
    dropped = np.isin(one.paradigm, list(gone))
    kept_rows = [row for row in range(len(definitions.paradigms)) if row not in gone]
    row_of = {old: new for new, old in enumerate(kept_rows)}
    parent = np.where(np.append(dropped, False)[one.parent], -1, one.parent)
    paradigm = np.array([row_of.get(row, -1) for row in one.paradigm.tolist()], np.int32)
    layer = {
        int(one.id[row]): definitions.paradigms[one.paradigm[row]].identification for row in np.flatnonzero(dropped)
    }
    file = {int(one.id[row]): definitions.files.name[one.file[row]] for row in np.flatnonzero(dropped)}
    new_regions = {
        (name, mode): max(names) + 1 + number for number, (name, mode) in enumerate(itertools.product(layers, range(3)))
    }
    functions = {"netCDF": ("nc_get_vara", "nc_put_vara", "nc_sync"), "HDF5": ("H5Dread", "H5Dwrite", "H5Fflush")}
    named = {**names, **{region: functions[name][mode] for (name, mode), region in new_regions.items()}}
    texts, start = Texts(), definitions.clock.start
    plain = {name.upper().replace("-", "") for name in layers}
    events: list[list[Record]] = []
    walk = LibraryWalk(archive.anchor, definitions, True)
    for row in range(len(definitions.locations.id)):
        (batch,) = walk.batches(row, row + 1)
        events.append(list(_rewritten(batch, start, names, files, plain, layer, file, new_regions, texts, parameters)))
    changed = Definitions(
        **{
            **vars(definitions),
            "paradigms": tuple(definitions.paradigms[row] for row in kept_rows),
            "handles": type(one)(**{**vars(one), "parent": parent.astype(np.int32), "paradigm": paradigm}),
        }
    )
    return CallArchive(changed, named, events, texts).write(folder)


def _rewritten(
    batch: EventBatch,
    start: int,
    names: Mapping[int, str],
    files: Mapping[int, str],
    dropped: set[str],
    layer: Mapping[int, str],
    file: Mapping[int, str],
    regions: Mapping[tuple[str, int], int],
    texts: Texts,
    parameters: bool,
) -> Iterable[Record]:
    """Give the events of a location; of functions of `dropped` layers only those that open stay."""
    events, crossed = batch.events, batch.regions
    opening: list[dict[str, Any]] = []
    under_way: dict[tuple[int, int], tuple[int, bool]] = {}

    def told_of(time: int, **values: Any) -> Iterable[Record]:
        return told(texts, time, **values) if parameters else ()

    def io_event(row: int) -> Iterable[Record]:
        kind, handle, time = int(events.kind[row]), int(events.handle[row]), int(events.time[row]) + start
        if handle not in layer:
            yield _io_record(batch, row, time)
            return
        key = handle, int(events.matching[row])
        if kind == IoRecord.OPERATION_BEGIN:
            region = regions[layer[handle], int(events.mode[row])]
            under_way[key] = region, bool(events.flags[row] & IoFlag.COLLECTIVE)
            yield "Enter", time, (region,)
        elif kind == IoRecord.OPERATION_COMPLETE:
            region, collective = under_way.pop(key)
            yield from told_of(time, bytes=int(events.value[row]), handle=handle, collective=int(collective))
            yield "Leave", time, (region,)
        elif kind == IoRecord.CREATE_HANDLE and opening:
            opening[-1] = {"handle": handle, "file": file[handle]}

    event = 0
    for place in range(len(crossed)):
        while event < crossed.position[place]:
            yield from io_event(event)
            event += 1
        region, time = int(crossed.region[place]), int(crossed.time[place]) + start
        if files[region] in dropped:
            if not names[region].startswith(_OPENS):
                continue
            if crossed.enter[place]:
                opening.append({})
            else:
                yield from told_of(time, **opening.pop())
        yield "Enter" if crossed.enter[place] else "Leave", time, (region,)
    while event < len(events):
        yield from io_event(event)
        event += 1


def _io_record(batch: EventBatch, row: int, time: int) -> Record:
    one = batch.events
    kind, handle, mode, flags, matching, value, offset = (
        int(getattr(one, name)[row]) for name in ("kind", "handle", "mode", "flags", "matching", "value", "offset")
    )
    signed = value - 2**64 if value >= 2**63 else value
    fields: dict[int, tuple[str, tuple[int, ...]]] = {
        69: ("IoCreateHandle", (handle, mode, value, flags)),
        70: ("IoDestroyHandle", (handle,)),
        71: ("IoDuplicateHandle", (handle, value, flags)),
        72: ("IoSeek", (handle, signed, mode, offset)),
        73: ("IoChangeStatusFlags", (handle, flags)),
        74: ("IoDeleteFile", (mode, value)),
        75: ("IoOperationBegin", (handle, mode, flags, value, matching)),
        76: ("IoOperationTest", (handle, matching)),
        77: ("IoOperationIssued", (handle, matching)),
        78: ("IoOperationComplete", (handle, value, matching)),
        79: ("IoOperationCancelled", (handle, matching)),
        80: ("IoAcquireLock", (handle, mode)),
        81: ("IoReleaseLock", (handle, mode)),
        82: ("IoTryLock", (handle, mode)),
    }
    name, values = fields[kind]
    known = kind == IoRecord.OPERATION_BEGIN and offset != UNDEFINED_UINT64
    return (name, time, values, offset) if known else (name, time, values)
