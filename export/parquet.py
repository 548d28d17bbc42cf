"""All operations of a trace with their parents as a Parquet table, one row an operation."""

import os
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import numpy as np

from ..inputs.table.definitions import definitions_text
from ..layers.attribution.calls.keys import CALL_KEYS
from ..layers.table import Column, operation_table
from ..layers.trace import Trace
from ..model.errors import OutputError, SelectionError
from .atomic import atomic_file
from .written import Written

SCHEMA_VERSION: Final = 1
ROWS_AT_ONCE: Final = 2**20
"""Rows of a row group: what is in memory as a table at one time."""


def write_parquet(trace: Trace, path: str | os.PathLike[str], *, layers: tuple[str, ...] = ()) -> Written:
    """Write the operations within the trace's window, of all files, with the operation that each belongs to.

    Columns: ``operation`` (its number), ``layer``, ``parent`` (number of the parent operation, null where there is
    none), ``parent_layer``, ``inferred``, ``collective_call`` (number that the operations of one collective call share,
    else null), ``location``, ``rank``, ``node``, ``handle``, ``parent_handle`` (OTF2 ids), ``file``, ``selected``
    (whether the file is one of those that count), ``own`` (whether the program called the operation itself), ``mode``,
    ``collective``, ``non_blocking``, ``function`` (the innermost I/O function that the thread had entered), ``caller``
    (the innermost of the program's own functions, with source file and line) and ``callpath`` (all functions, the
    outermost first; all three null where the trace has no Enter and Leave of such functions),
    ``begin_s``, ``issued_s``, ``end_s`` (from the trace's start; null where the trace has no such event),
    ``begin_ticks``, ``end_ticks``, ``bytes_requested``, ``bytes_moved``, ``offset`` (null where unknown) and
    ``status``. The metadata keep the trace's definitions (``iostrata_definitions``), so that `iostrata.open_trace`
    reads the table as it does the trace: the same layers, handles and attribution, but no metadata events.

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
    known, note = _tells_functions(trace)
    metadata = {
        # A name need not be UTF-8.
        "source": os.fsencode(trace.path),
        "schema_version": str(SCHEMA_VERSION),
        "trace_start_ticks": str(trace.definitions.clock.start),
        "ticks_per_second": str(trace.definitions.clock.ticks_per_second),
        "files": os.fsencode(trace.files),
        "iostrata_definitions": definitions_text(trace.definitions, trace.damage),
        **note,
    }
    for name in layers:
        trace.layers[name]
    written = 0
    with atomic_file(path) as temporary, ExitStack() as stack:
        writer = None
        for traffic, call, called, first in trace.operation_blocks(known):
            chosen = traffic.within
            if layers:
                chosen = chosen & np.isin(traffic.layer, [traffic.layer_row(name) for name in layers])
            rows = np.flatnonzero(chosen)
            unknown = np.full(len(traffic.operations), -1, np.int32)
            called = {name: called.get(name, ((), unknown)) for name in CALL_KEYS}
            for start in range(0, max(1, len(rows)), ROWS_AT_ONCE):
                columns = operation_table(traffic, rows[start : start + ROWS_AT_ONCE], called, call, first)
                part = pyarrow.table({name: _array(one, pyarrow) for name, one in columns.items()}, metadata=metadata)
                writer = writer or stack.enter_context(pyarrow.parquet.ParquetWriter(temporary, part.schema))
                if part.num_rows or not written:
                    writer.write_table(part)
            written += len(rows)
    target = Path(path)
    return Written(target, target.stat().st_size, layers or trace.order, rows=written)


def _tells_functions(trace: Trace) -> tuple[bool, dict[str, str]]:
    """Return whether the trace defines functions, and what to note where it cannot."""
    try:
        return bool(trace.function_names), {}
    except SelectionError as error:
        # The rest of the table is worth as much without them.
        return False, {"function": f"unknown: {error}"}


def _array(column: Column, pyarrow: Any) -> Any:
    if column.names is None:
        return pyarrow.array(column.values, mask=column.missing)
    places = pyarrow.array(column.values, mask=column.missing)
    return pyarrow.DictionaryArray.from_arrays(places, pyarrow.array(column.names, pyarrow.string()))
