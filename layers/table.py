"""All operations of a trace as named columns, one row an operation, for tables in memory and in files."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ..model.codes import UNDEFINED_TIME, UNDEFINED_UINT64, IoFlag, IoMode, Status
from .attribution.calls.keys import NamedRows
from .attribution.traffic import Traffic

MODES: Final = {IoMode.READ: "read", IoMode.WRITE: "write", IoMode.FLUSH: "flush"}
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
        "mode": _named(modes, MODES.values()),
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
    }


def _named(codes: npt.NDArray[Any], texts: Iterable[str]) -> Column:
    """Return a column of names, those out of the trace as valid UTF-8."""
    clean = [text.encode("utf-8", "replace").decode() for text in texts]
    place = {text: number for number, text in enumerate(dict.fromkeys(clean))}
    # Files of several nodes have one name. A code of −1 takes the last entry.
    number = np.array([*(place[text] for text in clean), -1], np.int32)[codes]
    return Column(number, number < 0, tuple(place))


def data_frame(columns: Mapping[str, Column]) -> Any:
    """Return columns as a ``pandas.DataFrame``, with pandas' own missing value where a value means nothing."""
    import pandas

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
