"""All operations of a trace with their parents as a Parquet table, one row an operation."""

import os
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ..layers.attribution.functions import CallingFunctions
from ..layers.trace import Trace
from ..model.codes import UNDEFINED_TIME, UNDEFINED_UINT64, IoFlag, IoMode, Status
from ..model.errors import OutputError, SelectionError
from .atomic import atomic_file
from .written import Written

SCHEMA_VERSION: Final = 1
ROWS_AT_ONCE: Final = 2**20
"""Rows of a row group: what is in memory as a table at one time."""

MODES: Final = {IoMode.READ: "read", IoMode.WRITE: "write", IoMode.FLUSH: "flush"}
STATUSES: Final = {
    Status.COMPLETE: "complete",
    Status.CANCELLED: "cancelled",
    Status.NEVER_COMPLETED: "never completed",
}


def write_parquet(trace: Trace, path: str | os.PathLike[str], *, layers: tuple[str, ...] = ()) -> Written:
    """Write the operations within the trace's window, of all files, with the operation that each belongs to.

    Columns: ``operation`` (its number), ``layer``, ``parent`` (number of the parent operation, null where there is
    none), ``parent_layer``, ``inferred``, ``collective_call`` (number that the operations of one collective call
    share, else null), ``location``, ``rank``, ``node``, ``handle`` (OTF2 ids), ``file``, ``selected`` (whether the file
    is one of those that count), ``own`` (whether the program called the operation itself), ``mode``, ``collective``,
    ``non_blocking``, ``function`` (the innermost I/O function that the thread had entered; null where the trace has no
    Enter and Leave of such functions, or was not read by the engine ``direct``, of which the metadata tell),
    ``begin_s``, ``issued_s``, ``end_s`` (from the trace's start; null where the trace has no such event),
    ``begin_ticks``, ``end_ticks``, ``bytes_requested``, ``bytes_moved``, ``offset`` (null where unknown) and
    ``status``.

    Parameters
    ----------
    trace : Trace
        Its window and its selection of files count.
    path : path
        File to write. It appears when it is complete; one that is there is replaced then.
    layers : tuple of str
        Only operations of these layers; all where empty. Parents are told even where they are not written.

    Raises
    ------
    SelectionError
        If there is no such layer.
    OutputError
        If pyarrow is not installed or the file cannot be written; nothing is left behind then.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise OutputError(
            f"cannot write {os.fspath(path)!r}: Parquet needs pyarrow; install it with pip install 'iostrata[parquet]'"
        ) from error
    traffic = trace.traffic
    chosen = traffic.within.copy()
    if layers:
        chosen &= np.isin(traffic.layer, [traffic.layer_row(name) for name in layers])
    rows = np.flatnonzero(chosen)
    functions, note = _functions(trace)
    schema = pyarrow.schema(
        [(name, kind) for name, kind in _types(pyarrow).items()],
        metadata={
            "source": str(trace.path),
            "schema_version": str(SCHEMA_VERSION),
            "trace_start_ticks": str(trace.definitions.clock.start),
            "ticks_per_second": str(trace.definitions.clock.ticks_per_second),
            "files": trace.files,
            **note,
        },
    )
    with atomic_file(path) as temporary, pyarrow.parquet.ParquetWriter(temporary, schema) as writer:
        for start in range(0, len(rows), ROWS_AT_ONCE) or (0,):
            part = rows[start : start + ROWS_AT_ONCE]
            writer.write_table(pyarrow.table(_columns(trace, functions, part, pyarrow), schema=schema))
    target = Path(path)
    return Written(target, target.stat().st_size, layers or traffic.layers, rows=len(rows))


def _functions(trace: Trace) -> tuple[CallingFunctions, dict[str, str]]:
    """Return the calling functions, and what to note where they cannot be known."""
    try:
        return trace.calling_functions, {}
    except SelectionError as error:
        # The rest of the table is worth as much without them.
        return CallingFunctions.unknown(len(trace.events), len(trace.operations)), {"function": f"unknown: {error}"}


def _types(pyarrow: Any) -> dict[str, Any]:
    names = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
    return {
        "operation": pyarrow.int64(),
        "layer": names,
        "parent": pyarrow.int64(),
        "parent_layer": names,
        "inferred": pyarrow.bool_(),
        "collective_call": pyarrow.int64(),
        "location": pyarrow.uint64(),
        "rank": pyarrow.int32(),
        "node": names,
        "handle": pyarrow.uint32(),
        "file": names,
        "selected": pyarrow.bool_(),
        "own": pyarrow.bool_(),
        "mode": names,
        "collective": pyarrow.bool_(),
        "non_blocking": pyarrow.bool_(),
        "function": names,
        "begin_s": pyarrow.float64(),
        "issued_s": pyarrow.float64(),
        "end_s": pyarrow.float64(),
        "begin_ticks": pyarrow.int64(),
        "end_ticks": pyarrow.int64(),
        "bytes_requested": pyarrow.uint64(),
        "bytes_moved": pyarrow.uint64(),
        "offset": pyarrow.uint64(),
        "status": names,
    }


def _columns(trace: Trace, functions: CallingFunctions, rows: npt.NDArray[np.intp], pyarrow: Any) -> dict[str, Any]:
    traffic, definitions = trace.traffic, trace.definitions
    operations = traffic.operations.take(rows)
    second = definitions.clock.ticks_per_second
    parent, call = traffic.attribution.parent[rows], traffic.calls.call[rows]
    file = traffic.at_handles(definitions.handles.file)[rows]
    process = operations.process
    groups = definitions.groups
    # A row of −1 takes the last entry, which the mask hides.
    rank = np.append(groups.rank, -1)[process]
    node = np.append(groups.node, -1)[process]
    ids = np.append(definitions.handles.id, 0)[operations.handle]

    def numbers(values: npt.NDArray[Any], missing: npt.NDArray[np.bool_] | None = None) -> Any:
        return pyarrow.array(values, mask=missing)

    def times(ticks: npt.NDArray[np.int64]) -> Any:
        return numbers(ticks / second, ticks == UNDEFINED_TIME)

    def names(codes: npt.NDArray[Any], table: tuple[str, ...] | list[str]) -> Any:
        indices = pyarrow.array(codes.astype(np.int32), mask=codes < 0)
        texts = pyarrow.array([text.encode("utf-8", "replace").decode() for text in table], pyarrow.string())
        return pyarrow.DictionaryArray.from_arrays(indices, texts)

    layers, modes, statuses = list(traffic.layers), list(MODES.values()), list(STATUSES.values())
    above = np.where(parent >= 0, traffic.layer[parent], -1)
    return {
        "operation": numbers(rows.astype(np.int64)),
        "layer": names(traffic.layer[rows], layers),
        "parent": numbers(parent, parent < 0),
        "parent_layer": names(above, layers),
        "inferred": numbers(traffic.attribution.inferred[rows]),
        "collective_call": numbers(call, call < 0),
        "location": numbers(definitions.locations.id[operations.location]),
        "rank": numbers(rank, rank < 0),
        "node": names(node, definitions.system_tree.name),
        "handle": numbers(ids, operations.handle < 0),
        "file": names(file, definitions.files.name),
        "selected": numbers(traffic.selected[rows]),
        "own": numbers(traffic.own[rows]),
        "mode": names(np.where(operations.mode < len(modes), operations.mode.astype(np.int32), -1), modes),
        "collective": numbers((operations.flags & np.uint32(IoFlag.COLLECTIVE)) != 0),
        "non_blocking": numbers((operations.flags & np.uint32(IoFlag.NON_BLOCKING)) != 0),
        "function": names(functions.operation[rows], functions.names),
        "begin_s": numbers(operations.begin / second),
        "issued_s": times(operations.issued),
        "end_s": times(operations.end),
        "begin_ticks": numbers(operations.begin),
        "end_ticks": numbers(operations.end, operations.end == UNDEFINED_TIME),
        "bytes_requested": numbers(operations.requested, operations.requested == UNDEFINED_UINT64),
        "bytes_moved": numbers(operations.moved, operations.moved == UNDEFINED_UINT64),
        "offset": numbers(operations.offset, operations.offset == UNDEFINED_UINT64),
        "status": names(operations.status.astype(np.int32), statuses),
    }
