"""All operations and metadata events of a trace as named columns, for tables in memory and in files."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ..model.arrays import column_at
from ..model.codes import (
    METADATA_NAMES,
    OTHER_CALL,
    UNDEFINED_TIME,
    UNDEFINED_UINT64,
    IoFlag,
    IoMode,
    Status,
)
from ..model.definitions import Definitions
from ..model.errors import import_library
from ..model.events import EVENT_TYPES
from .attribution.calls.functions import NO_EVENT
from .attribution.calls.keys import NamedRows
from .attribution.calls.metadata_calls import MetadataCalls
from .attribution.traffic import Traffic
from .handles.stack import handle_stack
from .selection.files import FileSelection

MODES: Final = {IoMode.READ: "read", IoMode.WRITE: "write", IoMode.FLUSH: "flush"}
DIRECTIONS_OF_MODES: Final = tuple(MODES.values())[:2]
KINDS: Final = (*MODES.values(), *METADATA_NAMES.values(), OTHER_CALL)
"""What a row is of: an operation, a metadata event, or a call without one."""
STATUSES: Final = {
    Status.COMPLETE: "complete",
    Status.CANCELLED: "cancelled",
    Status.NEVER_COMPLETED: "never completed",
}


class Column(NamedTuple):
    """One column of a table.

    Attributes
    ----------
    values : (n,)
        Numbers, or places in `names` as int32.
    missing : bool (n,) or None
        Where a value means nothing; None where all have a meaning.
    names : tuple of str or None
        What `values` stand for, each name once.
    """

    values: npt.NDArray[Any]
    missing: npt.NDArray[np.bool_] | None = None
    names: tuple[str, ...] | None = None


def operation_table(
    traffic: Traffic,
    rows: npt.NDArray[np.intp],
    called: Mapping[str, NamedRows] | None = None,
    call: npt.NDArray[np.int64] | None = None,
    first: int = 0,
) -> dict[str, Column]:
    """Return some operations as columns by their names, as `iostrata.write_parquet` tells them.

    Parameters
    ----------
    rows : intp (n,)
        Places in ``traffic.operations``.
    called : mapping of str to (names, int32 (m,)), optional
        Who called each operation of `traffic`: columns by their names.
    call : int64 (n,), optional
        Number of the collective call of each operation of `traffic`, −1 for none; unless given, as they begin.
    first : int
        Number of the first operation of `traffic`.
    """
    definitions = traffic.definitions
    operations = traffic.operations.take(rows)
    second = definitions.clock.ticks_per_second
    parent = traffic.attribution.parent[rows]
    calls = (traffic.calls.call if call is None else call)[rows]
    groups, process = definitions.groups, operations.process
    # A row of −1 takes the last entry, which means −1 too.
    rank = np.append(groups.rank, -1)[process]
    node = np.append(groups.node, -1)[process]
    ids = np.append(definitions.handles.id, 0)[operations.handle]
    above = np.append(definitions.handles.parent, -1)[operations.handle]
    parent_ids = np.append(definitions.handles.id, 0)[above]

    def times(ticks: npt.NDArray[np.int64]) -> Column:
        return Column(ticks / second, ticks == UNDEFINED_TIME)

    def amounts(values: npt.NDArray[np.uint64]) -> Column:
        return Column(values, values == UNDEFINED_UINT64)

    def flagged(flag: IoFlag) -> Column:
        return Column((operations.flags & np.uint32(flag)) != 0)

    modes = np.where(operations.mode < len(MODES), operations.mode.astype(np.int32), -1)
    return {
        "operation": Column(rows + first),
        "layer": _named(traffic.layer[rows], traffic.layers),
        "parent": Column(parent + first, parent < 0),
        "parent_layer": _named(np.where(parent >= 0, traffic.layer[parent], -1), traffic.layers),
        "inferred": Column(traffic.attribution.inferred[rows]),
        "collective_call": Column(calls, calls < 0),
        "location": Column(definitions.locations.id[operations.location]),
        "rank": Column(rank, rank < 0),
        "node": _named(node, definitions.system_tree.name),
        "handle": Column(ids, operations.handle < 0),
        "parent_handle": Column(parent_ids, above < 0),
        "file": _named(traffic.at_handles(definitions.handles.file)[rows], definitions.files.name),
        "selected": Column(traffic.selected[rows]),
        "own": Column(traffic.own[rows]),
        "kind": _named(modes, KINDS),
        "direction": _named(np.where(modes < len(DIRECTIONS_OF_MODES), modes, -1), DIRECTIONS_OF_MODES),
        "collective": flagged(IoFlag.COLLECTIVE),
        "non_blocking": flagged(IoFlag.NON_BLOCKING),
        **{name: _named(codes[rows], texts) for name, (texts, codes) in (called or {}).items()},
        "begin_s": Column(operations.begin / second),
        "issued_s": times(operations.issued),
        "end_s": times(operations.end),
        "begin_ticks": Column(operations.begin),
        "end_ticks": Column(operations.end, operations.end == UNDEFINED_TIME),
        "bytes_requested": amounts(operations.requested),
        "bytes_moved": amounts(operations.moved),
        "offset": amounts(operations.offset),
        "status": _named(operations.status, STATUSES.values()),
        **_event_columns(np.zeros(len(rows), np.bool_)),
    }


def metadata_table(
    found: MetadataCalls,
    definitions: Definitions,
    order: tuple[str, ...],
    selection: FileSelection,
    functions: Sequence[str],
) -> dict[str, Column]:
    """Return metadata events and calls without an event as the columns of `operation_table`.

    Parameters
    ----------
    order : tuple of str
        Layers, highest first.
    functions : sequence of str
        Names of the regions.
    """
    second, count = definitions.clock.ticks_per_second, len(found)
    groups, handles = definitions.groups, definitions.handles
    process = definitions.locations.group[found.location]
    rank, node = (np.append(column, -1)[process] for column in (groups.rank, groups.node))
    above = column_at(handles.parent, found.handle)
    higher = column_at(handle_stack(definitions, order).higher, found.handle)
    reasons = np.append(selection.file_reason, -1)[found.file]
    selected = np.where(found.handle >= 0, selection.reason_of(found.handle), reasons) < 0
    kinds = np.full(256, KINDS.index(OTHER_CALL))
    kinds[list(METADATA_NAMES)] = len(MODES) + np.arange(len(METADATA_NAMES))
    nothing, no = np.ones(count, np.bool_), np.zeros(count, np.bool_)
    number = np.zeros(count, np.int64)
    unknown = Column(np.full(count, -1, np.int32), nothing, ())
    bytes_of = Column(number.astype(np.uint64), nothing)
    is_event = found.kind != NO_EVENT
    known = (found.handle >= 0) | (found.file >= 0)
    return {
        "operation": Column(number, nothing),
        "layer": _named(found.layer, order),
        "parent": Column(number, nothing),
        "parent_layer": unknown,
        "inferred": Column(no),
        "collective_call": Column(number, nothing),
        "location": Column(definitions.locations.id[found.location]),
        "rank": Column(rank, rank < 0),
        "node": _named(node, definitions.system_tree.name),
        "handle": Column(np.append(handles.id, 0)[found.handle], found.handle < 0),
        "parent_handle": Column(np.append(handles.id, 0)[above], above < 0),
        "file": _named(found.file, definitions.files.name),
        "selected": Column(selected & known, ~known),
        "own": Column((found.handle >= 0) & (higher < 0), found.handle < 0),
        "kind": _named(kinds[found.kind], KINDS),
        "direction": unknown,
        "collective": Column(no),
        "non_blocking": Column(no),
        "function": _named(found.region, functions),
        "caller": unknown,
        "callpath": unknown,
        "begin_s": Column(found.begin / second),
        "issued_s": Column(number / second, nothing),
        "end_s": Column(found.end / second, no),
        "begin_ticks": Column(found.begin),
        "end_ticks": Column(found.end, no),
        "bytes_requested": bytes_of,
        "bytes_moved": bytes_of,
        "offset": Column(found.offset, found.offset == UNDEFINED_UINT64),
        "status": unknown,
        **_event_columns(is_event, found),
    }


def _event_columns(there: npt.NDArray[np.bool_], found: MetadataCalls | None = None) -> dict[str, Column]:
    """Return the columns of metadata events alone; they are empty unless `found`."""
    columns: dict[str, npt.NDArray[Any]] = {name: np.zeros(len(there), kind) for name, kind in EVENT_TYPES.items()}
    if found is not None:
        # A seek may go back: as numbers with a sign more readers take them.
        columns = dict(zip(EVENT_TYPES, (found.time, found.mode, found.flags, found.value.view(np.int64)), strict=True))
    return {name: Column(column, ~there) for name, column in columns.items()}


def _named(codes: npt.NDArray[Any], texts: Iterable[str]) -> Column:
    """Return a column of names, those out of the trace as valid UTF-8."""
    clean = [text.encode("utf-8", "replace").decode() for text in texts]
    place = {text: number for number, text in enumerate(dict.fromkeys(clean))}
    # Files of several nodes have one name. A code of −1 takes the last entry.
    number = np.array([*(place[text] for text in clean), -1], np.int32)[codes]
    return Column(number, number < 0, tuple(place))


def data_frame(columns: Mapping[str, Column]) -> Any:
    """Return columns as a ``pandas.DataFrame``, with pandas' own missing value where a value means nothing."""
    pandas = import_library("pandas")

    def series(column: Column) -> Any:
        values, missing = column.values, column.missing
        names: Any = column.names
        if names is not None:
            return pandas.Categorical.from_codes(values, names)
        if missing is None:
            return values
        if values.dtype.kind == "f":
            return np.where(missing, np.nan, values)
        return pandas.arrays.IntegerArray(values.copy(), missing)

    return pandas.DataFrame({name: series(column) for name, column in columns.items()})
