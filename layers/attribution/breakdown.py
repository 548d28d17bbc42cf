"""What each layer did, transfers and metadata, split by file, file system, rank, node, handle or who called."""

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any, Final

import numpy as np

from ...model.arrays import Array, Integers, Ints, Links, Mask, Rows
from ...model.codes import IoMode
from ...model.document import Document, RecordTable, keys_of
from ...model.errors import SelectionError
from ...model.keyed import KeyedSums
from ...model.operations import view
from ...model.ranges import RangeUnion
from ...model.sums import Sums, either, keyed, nested
from ..handles.metadata import MetadataEvents, selected_metadata
from ..handles.scope import Scope
from ..selection.window import FRACTION, whole_and_part
from ..statistics.grouping import KEYS, Key, distinct_names, grouping
from .attribution import TraceBlock, call_ends
from .calls.calls import CALL_KINDS, OTHER_CALLS, Calls
from .calls.functions import CALL_KEYS, CALLER, FUNCTION
from .file_positions import AccessKinds

_PLACES: Final = 1 << 21
"""More than there are functions or call paths; the last place is for those that are not known."""
ACCESS: Final = tuple(f"{how}_{what}" for how in AccessKinds.NAMES for what in ("reads", "writes"))
"""Columns of where reads and writes lie in their files."""
METADATA_KINDS: Final = {name: records for name, records in CALL_KINDS.items() if name != OTHER_CALLS}
"""Columns of metadata operations and the records that they count."""


_ROW: Final = {
    "layer": str,
    **{f"{name}?": str | int | None for name in (*KEYS, *CALL_KEYS) if name != "layer"},
    **dict.fromkeys(
        ("reads", "writes", "flushes", *ACCESS, "inside_operations", "inside_metadata", *METADATA_KINDS), int | None
    ),
    **keys_of(int | float | None, "bytes_read bytes_written"),
    **keys_of(float | None, "summed_s busy_s calls_s? exclusive_s? metadata_s?"),
    **{f"{name}_s?": float | None for name in CALL_KINDS},
    **keys_of(int | None, "calls? inside_calls? other_calls?"),
}


class Breakdown(RecordTable):
    """Operations of each layer by key; columns of shape (n,), layers from the highest, keys in order.

    Attributes
    ----------
    by : str
        ``layer``, ``file``, ``stream``, ``filesystem``, ``rank``, ``node``, ``handle``, ``function``, ``caller`` or
        ``callpath``.
    key : tuple of (str or int or None)
        File name, kind of file, file system, MPI rank, name of the node, OTF2 id of the handle, name of the I/O
        function that was called, the program's function that called it with its source file and line, or all functions
        on the way there; None where there is none.
    columns : dict of str to array
        ``reads``, ``writes``, ``flushes``: operations. Those of `ACCESS`: reads and writes that begin where the one
        before of their process, file and direction ended (and first ones), those as far from it as that was from its
        own, and all others; None where no place in a file is known, and of counters but the first of these.
        ``bytes_read``, ``bytes_written``; where the trace has bytes by
        intervals of time, all others are None, but for what counters tell by file: not ``busy_s``, what ran inside, nor
        all kinds of metadata operations. ``summed_s`` and ``busy_s``: the sum of the durations of all of them,
        and the time in which any was under way, in s. The columns of `METADATA_KINDS`: operations that
        move no data. ``inside_operations`` and ``inside_metadata``: how many of either ran inside an operation of a
        higher layer.

        Where the trace records Enter and Leave also, by who called, ``calls`` of I/O functions on selected files,
        ``calls_s`` and ``exclusive_s``: the sum of their times, by caller without calls inside another one of the
        layer, and that without any calls inside, in s. By other keys ``opens_s`` and so on: what the calls took that
        did such operations; ``other_calls`` and ``other_calls_s``, of those that leave no event; and ``metadata_s``,
        the sum of all of these. By rank and node also ``calls``, those of I/O functions, and ``inside_calls``: those of
        them inside a call of a higher layer, opens, closes and functions without an operation among these.
    """

    by: str
    layer: tuple[str, ...]
    key: tuple[Key, ...]
    columns: dict[str, Array]

    def __len__(self) -> int:
        return len(self.layer)

    def __repr__(self) -> str:
        return f"<Breakdown by {self.by}: {len(self)} rows>"

    def of_layers(self, names: tuple[str, ...], keys: tuple[Key, ...] = ()) -> "Breakdown":
        """Return the rows of some layers, and of some keys where there are any; SelectionError without one of a key."""
        if missing := [key for key in keys if key not in self.key]:
            raise SelectionError(f"{self.by} {missing[0]} did no I/O here, or there is none")
        rows = [row for row, name in enumerate(self.layer) if name in names and (not keys or self.key[row] in keys)]
        layer, key = (tuple(self.layer[row] for row in rows), tuple(self.key[row] for row in rows))
        return Breakdown(self.by, layer, key, {name: column[rows] for name, column in self.columns.items()})

    def of_intervals(self) -> "Breakdown":
        """Return the bytes alone: how many operations moved them, and how long these took, nobody knows (None)."""
        unknown = np.full(len(self), None)
        columns = {name: column if name in _BYTES else unknown for name, column in self.columns.items()}
        return replace(self, columns=columns)

    def entry_columns(self) -> Annotated[Document, _ROW]:
        return {self.by: self.key, "layer": self.layer, **self.columns}


_MODES: Final = {"reads": IoMode.READ, "writes": IoMode.WRITE, "flushes": IoMode.FLUSH}
_BYTES: Final = {"bytes_read": IoMode.READ, "bytes_written": IoMode.WRITE}
_SUMMED: Final = (
    *_MODES, *_BYTES, *(f"{name} part" for name in _BYTES), "ticks", *METADATA_KINDS, "inside_operations",
    "inside_metadata", *ACCESS,
)  # fmt: skip
_OF_FUNCTIONS: Final = ("calls", "calls_s", "exclusive_s")
_OF_PROCESSES: Final = ("calls", "inside_calls")
_BY_PROCESS: Final = ("rank", "node")


class BreakdownSums(Sums):
    """What each layer did, on selected files within the window, by layer and key, added up block by block.

    Raises SelectionError if there is no such key.

    Parameters
    ----------
    by : str
        One of `iostrata.layers.statistics.grouping.KEYS` or of `CALL_KEYS`.
    """

    scope: Scope
    by: str
    _sums: KeyedSums = keyed(1, *_SUMMED)
    _busy: RangeUnion = nested(lambda sums: RangeUnion(sums.scope.exact))
    _cut: bool = either(False)

    def prepare(self) -> None:
        by, definitions = self.by, self.scope.definitions
        if by not in (*KEYS, *CALL_KEYS):
            raise SelectionError(f"cannot split layers by {by!r}; there are {', '.join((*KEYS, *CALL_KEYS))}")
        self._keys: list[Any] = []
        self._count = _PLACES
        if by not in CALL_KEYS:
            groups = grouping(definitions, by)
            self._keys, self._places = groups.keys, groups.places
            self._count = len(self._keys)
        self._timed: tuple[str, ...] = ()
        self._kinds = AccessKinds(self.scope.order)

    def add(self, block: TraceBlock, called: tuple[Links, Links] | None = None) -> None:
        """Add a block.

        Parameters
        ----------
        called : (int32 (n,), int32 (m,))
            Needed by `CALL_KEYS`: the keys of both, −1 for none.
        """
        scope, metadata = self.scope, block.metadata
        rows = np.flatnonzero(block.selected & (block.layer >= 0))
        operations = view(block.operations, rows)
        metadata_layer = scope.layer_rows(metadata.paradigm)
        shown = np.flatnonzero(selected_metadata(metadata, scope.selection, scope.window) & (metadata_layer >= 0))
        events = metadata.take(shown)
        if called is not None:
            place, event_place = (np.where(keys < 0, _PLACES - 1, keys) for keys in (called[0][rows], called[1][shown]))
        else:
            place = self._places(
                scope.definitions.handles.file[operations.handle], operations.process, operations.handle
            )
            event_place = self._places(events.file, events.process, events.handle)
        group = block.layer[rows].astype(np.int64) * self._count + place
        event_group = metadata_layer[shown].astype(np.int64) * self._count + event_place
        begin, end = block.times(rows)
        moved = block.moved[rows]
        self._cut |= moved.dtype != np.uint64
        whole, part = whole_and_part(moved)
        mode, parent = operations.mode, block.attribution.parent[rows]
        columns = {name: mode == value for name, value in _MODES.items()}
        for name, value in _BYTES.items():
            columns[name], columns[f"{name} part"] = whole * (mode == value), part * (mode == value)
        columns |= {"ticks": end - begin, "inside_operations": parent >= 0, **self._access(block, rows)}
        of_events = {name: np.isin(events.kind, np.array(kinds, np.uint8)) for name, kinds in METADATA_KINDS.items()}
        of_events["inside_metadata"] = _inside(block, metadata, metadata_layer)[shown]
        self._merge(group, columns)
        self._merge(event_group, of_events)
        self._busy.add(group, begin, end)

    def _access(self, block: TraceBlock, rows: Rows) -> dict[str, Mask]:
        """Return which operations are what in `ACCESS`."""
        mode, found = block.operations.mode[rows], self._kinds.of(block, rows)
        ways = [(found == place) & (mode == way) for place in range(3) for way in (IoMode.READ, IoMode.WRITE)]
        return dict(zip(ACCESS, ways, strict=True))

    def add_calls(self, calls: Calls) -> None:
        """Add what all calls of the trace took; to be called once, when all else is added."""
        layer: Integers
        place: Integers
        if self.by in CALL_KEYS:
            functions = calls.functions
            counted = {FUNCTION: calls.by_function, CALLER: calls.outermost}.get(self.by, calls.counted)
            region = np.arange(len(functions.regions)) if self.by == FUNCTION else calls.paths.region
            rows = np.flatnonzero((functions.layer[region] >= 0) & (counted[:, 0] > 0))
            layer, place = functions.layer[region[rows]], rows.astype(np.int32)
            if self.by != FUNCTION:
                place = calls.paths.keys(self.by)[rows]
            place = np.where(place < 0, _PLACES - 1, place)
            values = dict(zip(_OF_FUNCTIONS, counted[rows].T, strict=True))
        else:
            metadata = calls.counted_metadata
            layer, kind, process, handle, file = (key.astype(np.int32) for key in metadata.keys[:5])
            place, ticks = self._places(file, process, handle), metadata["ticks"]
            of_kind = {name: np.isin(kind, np.array(records, np.int32)) for name, records in CALL_KINDS.items()}
            values = {f"{name}_s": ticks * mask for name, mask in of_kind.items()}
            values |= {"metadata_s": ticks, OTHER_CALLS: metadata["calls"] * of_kind[OTHER_CALLS]}
        self._timed = (*values, *(_OF_PROCESSES if self.by in _BY_PROCESS else ()))
        known = layer >= 0
        nothing = np.zeros(len(self._sums), np.int64)
        self._sums.values.update(dict.fromkeys(self._timed, nothing))
        group = layer.astype(np.int64) * self._count + place
        self._merge(group[known], {name: value[known] for name, value in values.items()})
        if self.by in _BY_PROCESS:
            within = calls.counted_within
            caller, within_layer, around = within.keys
            nowhere = np.full(len(caller), -1, np.int32)
            inside_place = self._places(nowhere, caller.astype(np.int32), nowhere)
            counts = {
                "calls": within["calls"],
                "inside_calls": within["calls"] * (around & ((1 << within_layer) - 1) > 0),
            }
            self._merge(within_layer * self._count + inside_place, counts)

    def _merge(self, keys: Ints, known: dict[str, Array]) -> None:
        self._sums = self._sums.plus([keys], {name: known.get(name, 0) for name in (*_SUMMED, *self._timed)})

    def rename(self, places: Integers, count: int = _PLACES) -> None:
        """Give keys other places; several may become one.

        Parameters
        ----------
        places : integer (keys,)
            Where each key goes, negative for none; that of the keys which are not known is the last.
        count : int
            Number of places from now on.
        """

        def renamed(group: Ints) -> Ints:
            layer, place = group // self._count, group % self._count
            known = np.where(place == self._count - 1, -1, place)
            moved = np.where(known >= 0, np.append(places, -1)[known], -1)
            return layer * count + np.where(moved < 0, count - 1, moved)

        self._sums = KeyedSums([renamed(self._sums.keys[0])], self._sums.values)
        self._busy = self._busy.regrouped(renamed)
        self._count = count

    def name_calls(self, texts: Callable[[Ints], list[Any]]) -> None:
        """Name the keys of `CALL_KEYS`, before `breakdown`; keys of one name become one."""
        place = np.unique(self._sums.keys[0] % self._count)
        place = place[place < self._count - 1]
        self._keys, table = distinct_names(tuple(texts(place)))
        places = np.full(int(place.max(initial=-1)) + 1, -1, np.int64)
        places[place] = table[:-1]
        self.rename(places, len(self._keys))

    def breakdown(self) -> Breakdown:
        """Return the sums as a table."""
        order, window = self.scope.order, self.scope.window
        groups, sums = self._sums.keys[0], self._sums
        columns: dict[str, Array] = {name: sums[name] for name in _MODES}
        for name in _BYTES:
            parted = sums[name] + sums[f"{name} part"] / FRACTION
            columns[name] = parted if self._cut else sums[name].astype(np.uint64)
        columns["summed_s"] = sums["ticks"] / window.ticks_per_second
        columns["busy_s"] = self._busy.lengths(groups) / window.ticks_per_second
        columns |= {name: sums[name] for name in (*METADATA_KINDS, "inside_operations", "inside_metadata")}
        placed = np.any([sums[name] > 0 for name in ACCESS], axis=0)
        for name in ACCESS:
            columns[name] = sums[name].astype(object)
            columns[name][~placed] = None
        seconds = window.ticks_per_second
        columns |= {name: sums[name] / seconds if name.endswith("_s") else sums[name] for name in self._timed}
        layers = tuple(order[row] for row in (groups // self._count).tolist())
        return Breakdown(self.by, layers, tuple(self._keys[row] for row in (groups % self._count).tolist()), columns)


def _inside(traffic: TraceBlock, events: MetadataEvents, metadata_layer: Links) -> Mask:
    """Return whether each metadata event fell into a call of a higher layer on its thread, bool (m,)."""
    from .attribution_kernel import enclosing_calls, rows_by_key

    operations = traffic.operations
    time = events.time
    if not len(time):
        return np.zeros(0, np.bool_)
    begin = np.append(operations.begin, time)
    is_event = np.arange(len(begin)) >= len(operations)
    order = np.lexsort((is_event, begin))
    location = np.append(operations.location, events.location)[order]
    threads, start = rows_by_key(location, len(traffic.definitions.locations.id))
    order = order[threads]
    layer, end = np.append(traffic.layer, metadata_layer)[order], np.append(call_ends(operations), time)[order]
    found = enclosing_calls(start, is_event[order], layer, len(traffic.layers), begin[order], end)
    inside = np.zeros(len(begin), np.bool_)
    inside[order] = found >= 0
    return inside[len(operations) :]
