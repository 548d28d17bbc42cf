"""Handles that calls open, as definitions: they are found while an archive is read a first time."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from posixpath import normpath
from typing import Final

import numpy as np

from ...model.arrays import Frozen, Ints, Links, Mask, Rows, RowsOfIds, depths, sound_parents
from ...model.codes import KNOWN_STACK, UNDEFINED_UINT8, UNDEFINED_UINT32, UNDEFINED_UINT64, IoFlag, Status
from ...model.definitions import Definitions, Files, Handles, Paradigm
from ...model.kernels import compiled_uncounted
from ...model.stream.source import Block
from .functions import FILE, HANDLE, LIBRARIES, NAME, PARENT
from .kernel import NOWHERE, VALID, CreatedHandles, KnownHandles, OpenCalls, opened_before
from .reading import nothing_known

_UNKNOWN: Final = "not recorded"
"""Name of the handle of calls that do not tell theirs."""
_DEEPEST: Final = 64


def _given(opens: OpenCalls, parameter: int) -> Mask:
    return np.asarray(opens.given >> np.uint32(parameter) & np.uint32(1), np.bool_)


class CallHandles(Frozen):
    """Handles of calls: what following them needs, and which of the definitions' handles they are.

    Attributes
    ----------
    known : KnownHandles
    of_calls : bool (handles + 1,)
        Whether a handle is one that calls opened; the last stands for none.
    """

    known: KnownHandles
    of_calls: Mask

    @property
    def held(self) -> int:
        """Bytes in memory."""
        return sum(column.nbytes for column in self.known)

    def settled(self, block: Block) -> Block:
        """Return a block in which non-blocking calls that completed have moved what they were posted for."""
        one = block.operations
        rows = np.flatnonzero(one.flags & np.uint32(IoFlag.NON_BLOCKING))
        done = (one.status[rows] == Status.COMPLETE) & (one.moved[rows] == UNDEFINED_UINT64)
        rows = rows[done & self.of_calls[one.handle[rows]]]
        if not len(rows):
            return block
        moved = one.moved.copy()
        moved[rows] = one.requested[rows]
        return replace(block, operations=replace(one, moved=moved))


def joined_opens(parts: Iterable[tuple[OpenCalls, CreatedHandles]]) -> tuple[OpenCalls, CreatedHandles]:
    """Return the opens of all partitions in the order of locations, and the handles created in them."""
    opens, created, count = [OpenCalls.empty()], [CreatedHandles.empty()], 0
    for some, made in parts:
        opens.append(replace(some, above=np.where(some.above >= 0, some.above + count, -1)))
        created.append(replace(made, slot=made.slot + count))
        count += len(some)
    joined, adopted = OpenCalls.concatenate(opens), CreatedHandles.concatenate(created)
    order = np.argsort(joined.location, kind="stable")
    place = np.empty(count + 1, np.int64)
    place[order], place[-1] = np.arange(count), -1
    adopted = replace(adopted, slot=place[adopted.slot])
    joined = joined.take(order)
    return replace(joined, above=place[joined.above]), adopted.take(np.argsort(adopted.slot, kind="stable"))


def handles_of_calls(
    definitions: Definitions,
    libraries: Sequence[int],
    opens: OpenCalls,
    created: CreatedHandles,
    process: Ints,
    texts: Mapping[int, str],
) -> tuple[Definitions, CallHandles]:
    """Return the definitions with the paradigms, files and handles of calls, and what following them needs.

    One library opens one handle by each parent, file and name, whichever process and however often; that is what
    Score-P's own handles are. A handle of a lower layer that has no parent gets that in whose call it was created.

    Parameters
    ----------
    opens, created
        Of all locations in the order of the definitions.
    process : int64 (locations,)
        Number of the process of each location.
    texts : mapping of int to str
        Strings by their global ids.
    """
    valid = _given(opens, VALID)
    segment, log = _log(opens, process, valid)
    numbers = nothing_known()._replace(segment=segment, number=opens.number[log], time=opens.time[log])
    above = _parents(opens, valid, numbers, log, process)
    files, file = _files(definitions, opens, above, created, texts)
    paradigms, rows = _paradigms(definitions.paradigms, libraries)
    place, first = _distinct(opens, valid, above, file)
    old, base = definitions.handles, len(definitions.handles.id) + len(libraries)
    row_of_open = np.where(place >= 0, place + base, -1)
    columns = np.array(libraries, np.int64), opens.library[first]
    added = _added(
        old,
        names=(*(_UNKNOWN for _ in libraries), *(texts.get(one, "") for one in _names(opens)[first].tolist())),
        file=np.append(np.full(len(libraries), -1), file[first]).astype(np.int32),
        paradigm=rows[np.concatenate(columns)],
        parent=np.append(np.full(len(libraries), -1), np.append(row_of_open, -1)[above[first]]).astype(np.int32),
    )
    old = replace(old, parent=_adopt(old, paradigms, files.name, opens, file, created, row_of_open))
    handles = _joined(old, added)
    unknown = np.full(len(LIBRARIES), NOWHERE, np.uint32)
    unknown[list(libraries)] = added.id[: len(libraries)]
    opened = np.append(added.id[len(libraries) :], NOWHERE)[place]
    library = np.full(len(paradigms) + 1, -1, np.int32)
    library[rows[list(libraries)]] = libraries
    first = np.searchsorted(opens.location, np.arange(len(process) + 1)).astype(np.int64)
    known = _with_tree(numbers, handles, library)._replace(unknown=unknown, first_slot=first)
    known = known._replace(opened=opened, handle=opened[log], process=process)
    of_calls = np.append(np.arange(len(handles.id)) >= len(old.id), False)
    return replace(definitions, paradigms=paradigms, files=files, handles=handles), CallHandles(known, of_calls)


def _added(old: Handles, names: tuple[str, ...], file: Links, paradigm: Links, parent: Links) -> Handles:
    """Return handles whose ids are not those of the old ones."""
    count = len(names)
    return Handles(
        id=np.setdiff1d(np.arange(len(old.id) + count, dtype=np.uint32), old.id)[:count],
        name=names,
        file=file,
        paradigm=paradigm,
        flags=np.zeros(count, np.uint32),
        communicator=np.full(count, UNDEFINED_UINT32, np.uint32),
        parent=parent,
        precreated=np.zeros(count, np.bool_),
        precreated_mode=np.full(count, UNDEFINED_UINT8, np.uint8),
        precreated_status=np.zeros(count, np.uint32),
    )


def _joined(old: Handles, added: Handles) -> Handles:
    """Return both, without circles of parents."""
    columns = (name for name in Handles.__dataclass_fields__ if name != "name")
    handles = Handles(
        name=(*old.name, *added.name), **{name: np.append(getattr(old, name), getattr(added, name)) for name in columns}
    )
    return replace(handles, parent=sound_parents(handles.parent)[0])


def _with_tree(known: KnownHandles, handles: Handles, library: Links) -> KnownHandles:
    """Return what is known with all handles by their ids; `library` is that of each paradigm, and −1 for none."""
    order = np.argsort(handles.id, kind="stable")
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    parent = np.append(back, -1)[handles.parent[order]].astype(np.int32)
    return known._replace(id=handles.id[order], parent=parent, library=library[handles.paradigm[order]])


def _log(opens: OpenCalls, process: Ints, valid: Mask) -> tuple[Ints, Rows]:
    """Return where opens of each process and library begin, and the rows of those that told a number, in order."""
    rows = np.flatnonzero(valid & _given(opens, HANDLE))
    segment = process[opens.location[rows]] * len(LIBRARIES) + opens.library[rows]
    order = np.lexsort((opens.time[rows], opens.number[rows], segment))
    starts = np.searchsorted(segment[order], np.arange(len(process) * len(LIBRARIES) + 1))
    return starts.astype(np.int64), rows[order]


def _parents(opens: OpenCalls, valid: Mask, numbers: KnownHandles, log: Rows, process: Ints) -> Ints:
    """Return for each open the one it came from, by its parameter or else by the call around it; −1 for none."""
    above = np.where(opens.above >= 0, opens.above, -1)
    asked = np.flatnonzero(valid & _given(opens, PARENT))
    segment = process[opens.location[asked]] * len(LIBRARIES) + opens.library[asked]
    found = np.empty(len(asked), np.int64)
    find_opens(numbers, segment.astype(np.int64), opens.parent[asked], opens.time[asked], found)
    named = np.append(log, -1)[found]
    above[asked] = np.where(named >= 0, named, above[asked])
    above = np.where((above >= 0) & np.append(valid, False)[above], above, -1)
    parent = sound_parents(above)[0]
    return np.where(depths(parent) < _DEEPEST, parent, -1).astype(np.int64)


@compiled_uncounted
def find_opens(numbers: KnownHandles, segment: Ints, number: Ints, time: Ints, found: Ints) -> None:
    """Find the open of each number at a time; −1 where there is none."""
    for row in range(len(number)):
        found[row] = opened_before(numbers, segment[row], number[row], time[row])


def _files(
    definitions: Definitions, opens: OpenCalls, above: Ints, created: CreatedHandles, texts: Mapping[int, str]
) -> tuple[Files, Ints]:
    """Return the files with those that calls name, and the file of each open.

    Where an open names none, or a relative path that fits, it is the file of the first handle created in it, or that of
    an open in it; further down in a file, that of what it came from.
    """
    files, told = definitions.files, _given(opens, FILE)
    known = {name: row for row, name in reversed(list(enumerate(files.name)))}
    names = list(files.name)
    strings, place = np.unique(opens.file[told], return_inverse=True)
    for name in (texts.get(one, "") for one in strings.tolist()):
        if name not in known:
            known[name] = len(names)
            names.append(name)
    named, found = np.full(len(opens), -1, np.int64), np.full(len(opens), -1, np.int64)
    rows = np.array([known[texts.get(one, "")] for one in strings.tolist()], np.int64)
    named[told] = rows[place.reshape(-1)]
    row = RowsOfIds(definitions.handles.id).rows(created.handle)
    theirs = np.append(definitions.handles.file, -1)[row]
    stand = _stands(definitions.paradigms)[np.append(definitions.handles.paradigm, -1)[row]]
    fits = _fitting(named[created.slot], theirs.astype(np.int64), names)
    order = np.lexsort((np.where(fits, -1, stand), created.slot))
    order = order[theirs[order] >= 0]
    slots, first = np.unique(created.slot[order], return_index=True)
    found[slots] = theirs[order][first]
    for _ in LIBRARIES:
        file = _agreed(named, found, names)
        inner = np.flatnonzero((opens.above >= 0) & (file >= 0))[::-1]
        inner = inner[found[opens.above[inner]] < 0]
        found[opens.above[inner]] = file[inner]
    file, level = _agreed(named, found, names), depths(above.astype(np.int32))
    for depth in range(1, int(level.max(initial=0)) + 1):
        bare = np.flatnonzero((level == depth) & (file < 0))
        file[bare] = file[above[bare]]
    new = len(names) - len(files.id)
    ids = np.setdiff1d(np.arange(len(names), dtype=np.uint32), files.id)[:new]
    return Files(
        id=np.append(files.id, ids),
        name=tuple(names),
        directory=np.append(files.directory, np.zeros(new, np.bool_)),
        scope=np.append(files.scope, np.full(new, -1, np.int32)),
        properties=(*files.properties, *({} for _ in range(new))),
    ), file


def _agreed(named: Ints, found: Ints, names: Sequence[str]) -> Ints:
    """Return the files that were named, but those found below where their names are the same with a folder."""
    return np.where((named < 0) | _fitting(named, found, names), found, named)


def _fitting(named: Ints, found: Ints, names: Sequence[str], ends: bool = True) -> Mask:
    """Tell which of the files found are those that were named by a relative path, or else begin with their names."""
    fits = np.zeros(len(named), np.bool_)
    both = np.flatnonzero((named >= 0) & (found >= 0))
    pairs, place = np.unique(np.stack([named[both], found[both]], 1), axis=0, return_inverse=True)
    same = [
        names[there].endswith(f"/{normpath(names[here])}") if ends else names[there].startswith(names[here])
        for here, there in pairs.tolist()
    ]
    fits[both] = np.array(same, np.bool_)[place.reshape(-1)]
    return fits


def _stands(paradigms: tuple[Paradigm, ...]) -> Ints:
    """Return where each paradigm stands in the stack, the lower, the higher; the last is for none."""
    place = {name: row for row, name in enumerate(KNOWN_STACK)}
    return np.array([*(place.get(one.identification, len(place)) for one in paradigms), len(place)], np.int64)


def _paradigms(paradigms: tuple[Paradigm, ...], libraries: Sequence[int]) -> tuple[tuple[Paradigm, ...], Links]:
    """Return the paradigms with those of libraries, and the row of each library's, −1 for those not called."""
    rows = np.full(len(LIBRARIES), -1, np.int32)
    known = {one.identification: row for row, one in enumerate(paradigms)}
    unused = iter(sorted(set(range(UNDEFINED_UINT8)) - {one.id for one in paradigms}))
    for number in libraries:
        one = LIBRARIES[number]
        rows[number] = known.get(one.identification, len(paradigms))
        if rows[number] < len(paradigms):
            continue
        paradigms += (Paradigm(next(unused), one.identification, one.name, one.parallel, one.os, ()),)
    return paradigms, rows


def _names(opens: OpenCalls) -> Ints:
    return np.where(_given(opens, NAME), opens.name.astype(np.int64), -1)


def _distinct(opens: OpenCalls, valid: Mask, above: Ints, file: Ints) -> tuple[Ints, Rows]:
    """Return the handle of each open, −1 for one that failed, and of each handle its first open.

    Handles without a file or a name cannot be distinguished, and so are one below each parent.
    """
    place = np.full(len(opens), -1, np.int64)
    first: list[Rows] = [np.empty(0, np.intp)]
    level, names, count = depths(above.astype(np.int32)), _names(opens), 0
    for depth in range(int(level.max(initial=-1)) + 1):
        rows = np.flatnonzero(valid & (level == depth))
        over = np.append(place, -1)[above[rows]]
        columns = np.stack([opens.library[rows], file[rows], names[rows], over], 1)
        _, at, inverse = np.unique(columns, axis=0, return_index=True, return_inverse=True)
        # In the order in which they were first opened.
        rank = np.empty(len(at), np.int64)
        rank[np.argsort(at)] = np.arange(len(at))
        place[rows] = count + rank[inverse.reshape(-1)]
        first.append(rows[np.sort(at)])
        count += len(at)
    return place, np.concatenate(first)


def _adopt(
    handles: Handles,
    paradigms: tuple[Paradigm, ...],
    names: Sequence[str],
    opens: OpenCalls,
    file: Ints,
    created: CreatedHandles,
    row_of_open: Ints,
) -> Links:
    """Return the parents of handles, with those of handles that had none and were created in calls of higher layers.

    Their files have to be those of the calls, or to begin with the names of these. Of several calls, the one of the
    lowest layer counts: what only looked at a file before is none that uses it.
    """
    parent, row = handles.parent.copy(), RowsOfIds(handles.id).rows(created.handle)
    stands = _stands(paradigms)
    above, theirs = row_of_open[created.slot], np.append(handles.file, -1)[row].astype(np.int64)
    own = np.array([KNOWN_STACK.index(one.identification) for one in LIBRARIES])[opens.library[created.slot]]
    fits = (row >= 0) & (above >= 0) & (own < stands[np.append(handles.paradigm, -1)[row]])
    fits &= np.append(parent, 0)[row] < 0
    fits &= _fitting(file[created.slot], theirs, names, ends=False)
    chosen = np.flatnonzero(fits)
    chosen = chosen[np.lexsort((-own[chosen], row[chosen]))]
    rows, first = np.unique(row[chosen], return_index=True)
    parent[rows] = above[chosen][first]
    return parent
