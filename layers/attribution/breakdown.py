"""What each layer did, transfers and metadata, split by file, file system, rank, node, handle or function."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...model.codes import IoMode, IoRecord
from ...model.errors import SelectionError
from ...model.events import IoEvents
from ...model.operations import view
from ..handles.metadata import MetadataEvents, selected_metadata
from ..handles.order import layer_rows
from ..statistics.grouping import KEYS, Key, distinct_names, grouping
from ..statistics.statistics import sums_by
from .attribution import call_ends
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


def breakdown(
    traffic: Traffic,
    events: IoEvents,
    metadata: MetadataEvents,
    by: str,
    functions: CallingFunctions | None = None,
) -> Breakdown:
    """Split the operations of all layers, on selected files within the window, by a key.

    Raises SelectionError if there is no such key.

    Parameters
    ----------
    events : IoEvents
        All of the trace that are none of an operation.
    metadata : MetadataEvents
        The same events.
    by : str
        One of `iostrata.layers.statistics.grouping.KEYS`, or `FUNCTION`.
    functions : CallingFunctions, optional
        Needed by `FUNCTION`.
    """
    if by not in (*KEYS, FUNCTION):
        raise SelectionError(f"cannot split layers by {by!r}; there are {', '.join((*KEYS, FUNCTION))}")
    definitions = traffic.definitions
    rows = np.flatnonzero(traffic.selected & (traffic.layer >= 0))
    operations = view(traffic.operations, rows)
    handle_file = definitions.handles.file[operations.handle]
    metadata_layer = layer_rows(definitions, traffic.layers, metadata.paradigm)
    shown = selected_metadata(metadata, traffic.selection, traffic.window) & (metadata_layer >= 0)
    inside = _inside(traffic, events, metadata_layer)[shown]
    kind = metadata.kind[shown]
    if by == FUNCTION:
        functions = functions or CallingFunctions.unknown(len(events), len(traffic.operations))
        keys, table = distinct_names(functions.names)
        place_of, event_place_of = table[functions.operation[rows]], table[functions.event[shown]]
    else:
        keys, places = grouping(definitions, by)
        place_of = places(handle_file, operations.process, operations.handle)
        event_place_of = places(metadata.file[shown], metadata.process[shown], metadata.handle[shown])
    group = traffic.layer[rows].astype(np.int64) * len(keys) + place_of
    event_group = metadata_layer[shown].astype(np.int64) * len(keys) + event_place_of

    groups = np.unique(np.append(group, event_group))
    place, event_place = np.searchsorted(groups, group), np.searchsorted(groups, event_group)
    count = len(groups)

    def counted(at: npt.NDArray[np.intp], mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
        return np.bincount(at[mask], minlength=count).astype(np.int64)

    mode, moved = operations.mode, traffic.moved[rows]
    modes = {"reads": IoMode.READ, "writes": IoMode.WRITE, "flushes": IoMode.FLUSH}
    columns: dict[str, npt.NDArray[Any]] = {name: counted(place, mode == value) for name, value in modes.items()}
    for name, value in {"bytes_read": IoMode.READ, "bytes_written": IoMode.WRITE}.items():
        columns[name] = sums_by(place[mode == value], moved[mode == value], count)
    begin, end = traffic.times(rows)
    second = traffic.window.ticks_per_second
    columns["summed_s"] = np.bincount(place, weights=(end - begin) / second, minlength=count)
    columns["busy_s"] = _busy(place, begin, end, count) / second
    for name, kinds in METADATA_KINDS.items():
        columns[name] = counted(event_place, np.isin(kind, np.array(kinds, np.uint8)))
    columns["inside_operations"] = counted(place, traffic.attribution.parent[rows] >= 0)
    columns["inside_metadata"] = counted(event_place, inside)
    return Breakdown(
        by,
        tuple(traffic.layers[row] for row in (groups // len(keys)).tolist()),
        tuple(keys[row] for row in (groups % len(keys)).tolist()),
        columns,
    )


def _inside(traffic: Traffic, events: IoEvents, metadata_layer: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
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


def _busy(
    place: npt.NDArray[np.intp], begin: npt.NDArray[np.int64], end: npt.NDArray[np.int64], count: int
) -> npt.NDArray[np.int64]:
    """Return the length of the union of the intervals of each place, int64 (count,)."""
    from .group_kernels import union_by_group

    order = np.lexsort((begin, place))
    start = np.searchsorted(place[order], np.arange(count + 1)).astype(np.int64)
    return union_by_group(start, begin[order], end[order])
