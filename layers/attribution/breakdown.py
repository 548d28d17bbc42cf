"""What each layer did, transfers and metadata, split by file, file system, rank, node, handle or function."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...model.codes import IoMode, IoRecord
from ...model.definitions import Definitions
from ...model.errors import SelectionError
from ...model.operations import Operations, view
from ..handles.metadata import MetadataEvents, selected_metadata
from ..handles.order import layer_rows
from ..selection.files import FileSelection
from ..selection.window import TickWindow
from ..statistics.grouping import KEYS, Key, distinct_names, grouping
from ..statistics.keyed import KeyedSums
from ..statistics.ranges import RangeUnion
from ..statistics.statistics import FRACTION, whole_and_part
from .attribution import attribute_operations, call_ends
from .functions import CallingFunctions
from .traffic import Traffic

FUNCTION: Final = "function"
"""The key that is no part of the definitions: the function that was called."""
METADATA_KINDS: Final = {
    "opens": (IoRecord.CREATE_HANDLE,),
    "closes": (IoRecord.DESTROY_HANDLE,),
    "duplications": (IoRecord.DUPLICATE_HANDLE,),
    "seeks": (IoRecord.SEEK,),
    "status_changes": (IoRecord.CHANGE_STATUS_FLAGS,),
    "deletions": (IoRecord.DELETE_FILE,),
    "locks": (IoRecord.ACQUIRE_LOCK, IoRecord.RELEASE_LOCK, IoRecord.TRY_LOCK),
}
"""Columns of metadata operations and the records that they count."""


@dataclass(frozen=True, eq=False)
class Breakdown:
    """Operations of each layer by key; columns of shape (n,), layers from the highest, keys in order.

    Attributes
    ----------
    by : str
        ``file``, ``filesystem``, ``rank``, ``node``, ``handle`` or ``function``.
    key : tuple of (str or int or None)
        File name, file system, MPI rank, name of the node, OTF2 id of the handle, or name of the function that was
        called; None where there is none.
    columns : dict of str to array
        ``reads``, ``writes``, ``flushes``: operations. ``bytes_read``, ``bytes_written``. ``summed_s`` and ``busy_s``:
        the sum of the durations of all of them, and the time in which any was under way, in s. The columns of
        `METADATA_KINDS`: operations that move no data. ``inside_operations`` and ``inside_metadata``: how many of
        either ran inside an operation of a higher layer.
    """

    by: str
    layer: tuple[str, ...]
    key: tuple[Key, ...]
    columns: dict[str, npt.NDArray[Any]]

    def __len__(self) -> int:
        return len(self.layer)

    def __repr__(self) -> str:
        return f"<Breakdown by {self.by}: {len(self)} rows>"

    def of_layers(self, names: tuple[str, ...]) -> "Breakdown":
        """Return the rows of some layers."""
        rows = [row for row, name in enumerate(self.layer) if name in names]
        return Breakdown(
            self.by,
            tuple(self.layer[row] for row in rows),
            tuple(self.key[row] for row in rows),
            {name: column[rows] for name, column in self.columns.items()},
        )

    def to_dict(self) -> list[dict[str, Any]]:
        """Return one dict a row, as in ``layers --by … --json``."""
        lists: dict[str, Any] = {"layer": self.layer, self.by: self.key}
        lists |= {name: column.tolist() for name, column in self.columns.items()}
        return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]

    def to_dataframe(self) -> Any:
        """Return a ``pandas.DataFrame``, one row a layer and key."""
        import pandas

        return pandas.DataFrame(self.to_dict())


_MODES: Final = {"reads": IoMode.READ, "writes": IoMode.WRITE, "flushes": IoMode.FLUSH}
_BYTES: Final = {"bytes_read": IoMode.READ, "bytes_written": IoMode.WRITE}
_SUMMED: Final = (
    *_MODES, *_BYTES, *(f"{name} part" for name in _BYTES), "ticks", *METADATA_KINDS, "inside_operations",
    "inside_metadata",
)  # fmt: skip


class BreakdownSums:
    """What each layer did, on selected files within the window, by layer and key, added up block by block.

    Raises SelectionError if there is no such key.

    Parameters
    ----------
    order : tuple of str
        Layers, highest first.
    by : str
        One of `iostrata.layers.statistics.grouping.KEYS`, or `FUNCTION`.
    functions : CallingFunctions, optional
        Needed by `FUNCTION`, of all operations and metadata events, which are then added at once.
    exact : bool
        Whether the busy time is exact however many stretches there are.
    """

    def __init__(
        self,
        definitions: Definitions,
        order: tuple[str, ...],
        selection: FileSelection,
        window: TickWindow,
        by: str,
        functions: CallingFunctions | None = None,
        exact: bool = False,
    ) -> None:
        if by not in (*KEYS, FUNCTION):
            raise SelectionError(f"cannot split layers by {by!r}; there are {', '.join((*KEYS, FUNCTION))}")
        self._known = definitions, order, selection, window
        self._by, self._functions = by, functions or CallingFunctions((), *(np.zeros(0, np.int32),) * 2)
        self._keys: list[Any]
        if by == FUNCTION:
            self._keys, self._table = distinct_names(self._functions.names)
        else:
            self._keys, self._places = grouping(definitions, by)
        self._sums = KeyedSums.none(1, *_SUMMED)
        self._busy = RangeUnion(exact)
        self._cut = False

    def add(self, operations: Operations, metadata: MetadataEvents) -> None:
        """Add operations and metadata events of some processes."""
        definitions, order, selection, window = self._known
        traffic = Traffic(operations, definitions, order, attribute_operations(operations, definitions, order),
                          selection, window)  # fmt: skip
        self.add_traffic(traffic, metadata)

    def add_traffic(self, traffic: Traffic, metadata: MetadataEvents) -> None:
        """Add operations whose parents are known, and metadata events."""
        definitions, order, selection, window = self._known
        rows = np.flatnonzero(traffic.selected & (traffic.layer >= 0))
        operations = view(traffic.operations, rows)
        metadata_layer = layer_rows(definitions, order, metadata.paradigm)
        shown = np.flatnonzero(selected_metadata(metadata, selection, window) & (metadata_layer >= 0))
        events = metadata.take(shown)
        if self._by == FUNCTION:
            place, event_place = (
                self._table[column[chosen] if len(column) else np.full(len(chosen), -1)]
                for column, chosen in ((self._functions.operation, rows), (self._functions.event, shown))
            )
        else:
            place = self._places(definitions.handles.file[operations.handle], operations.process, operations.handle)
            event_place = self._places(events.file, events.process, events.handle)
        group = traffic.layer[rows].astype(np.int64) * len(self._keys) + place
        event_group = metadata_layer[shown].astype(np.int64) * len(self._keys) + event_place
        begin, end = traffic.times(rows)
        moved = traffic.moved[rows]
        self._cut |= moved.dtype != np.uint64
        whole, part = whole_and_part(moved)
        mode, parent = operations.mode, traffic.attribution.parent[rows]
        columns = {name: mode == value for name, value in _MODES.items()}
        for name, value in _BYTES.items():
            columns[name], columns[f"{name} part"] = whole * (mode == value), part * (mode == value)
        columns |= {"ticks": end - begin, "inside_operations": parent >= 0}
        of_events = {name: np.isin(events.kind, np.array(kinds, np.uint8)) for name, kinds in METADATA_KINDS.items()}
        of_events["inside_metadata"] = _inside(traffic, metadata, metadata_layer)[shown]
        for keys, known in ((group, columns), (event_group, of_events)):
            nothing = np.zeros(len(keys), np.int64)
            self._sums = self._sums.merged(KeyedSums([keys], {name: known.get(name, nothing) for name in _SUMMED}))
        self._busy.add(group, begin, end)

    def merge(self, other: "BreakdownSums") -> None:
        """Add the sums of `other`, over other processes."""
        self._sums = self._sums.merged(other._sums)
        self._busy.merge(other._busy)
        self._cut |= other._cut

    def breakdown(self) -> Breakdown:
        """Return the sums as a table."""
        _, order, _, window = self._known
        groups, sums = self._sums.keys[0], self._sums
        columns: dict[str, npt.NDArray[Any]] = {name: sums[name] for name in _MODES}
        for name in _BYTES:
            parted = sums[name] + sums[f"{name} part"] / FRACTION
            columns[name] = parted if self._cut else sums[name].astype(np.uint64)
        columns["summed_s"] = sums["ticks"] / window.ticks_per_second
        columns["busy_s"] = self._busy.lengths(groups) / window.ticks_per_second
        columns |= {name: sums[name] for name in (*METADATA_KINDS, "inside_operations", "inside_metadata")}
        return Breakdown(
            self._by,
            tuple(order[row] for row in (groups // len(self._keys)).tolist()),
            tuple(self._keys[row] for row in (groups % len(self._keys)).tolist()),
            columns,
        )


def _inside(traffic: Traffic, events: MetadataEvents, metadata_layer: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
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
    found = enclosing_calls(
        start,
        is_event[order],
        np.append(traffic.layer, metadata_layer)[order],
        len(traffic.layers),
        begin[order],
        np.append(call_ends(operations), time)[order],
    )
    inside = np.zeros(len(begin), np.bool_)
    inside[order] = found >= 0
    return inside[len(operations) :]
