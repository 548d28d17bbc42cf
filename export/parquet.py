"""A table with a row for each operation, with its parent in a higher layer, and for each metadata event."""

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import numpy as np

from ..analysis.comparison.layer_periods import chosen_layers
from ..analysis.loops.find import find_loops
from ..inputs.table.definitions import definitions_text
from ..layers.attribution.callers import called_blocks
from ..layers.attribution.calls.functions import CALL_KEYS
from ..layers.attribution.file_positions import AccessKinds
from ..layers.loops.iterations import OUTSIDE
from ..layers.table import Column, metadata_table, operation_table
from ..layers.trace import Trace
from ..model.errors import SelectionError, import_library
from .atomic import atomic_file
from .exporters import Exporter
from .written import Written

SCHEMA_VERSION: Final = 1
ROWS_AT_ONCE: Final = 2**20
_ROWS_IN_BOUNDS: Final = 2**16
"""Rows of a row group: what is in memory as a table at one time, some 700 bytes a row; and where memory is bounded."""


def write_parquet(trace: Trace, path: str | os.PathLike[str], *, layers: str | Iterable[str] | None = None) -> Written:
    """Write the operations and metadata events within the trace's window, of all files, a row each.

    Columns: ``operation`` (its number; null for all that is none), ``layer``, ``parent`` (number of the parent
    operation, null where there is none), ``parent_layer``, ``inferred``, ``collective_call`` (number that the
    operations of one collective call share, else null), ``loop`` and ``iteration`` (id of the outermost loop of
    `iostrata.find_loops`, and number from 1 on of its iteration; null outside of loops), ``location``, ``rank``,
    ``node``, ``handle``, ``parent_handle`` (OTF2 ids), ``file``, ``selected`` (whether the file is one of those that
    count), ``own`` (whether the program called it itself), ``kind`` (``read``, ``write``, ``flush``; ``open``,
    ``close``, ``duplication``, ``seek``, ``change of status``, ``deletion``, ``lock``, ``unlock``, ``attempt to lock``;
    ``other call`` for one that leaves no event, such as ``nc_enddef``), ``direction`` (``read`` or ``write``, else
    null), ``collective``, ``non_blocking``, ``function`` (the innermost I/O function that the thread had entered),
    ``caller`` (the innermost of the program's own functions, with source file and line) and ``callpath`` (all
    functions, the outermost first; these three null where the trace has no Enter and Leave of such functions, the
    latter two also for all that is no operation), ``begin_s``, ``issued_s``, ``end_s`` (from the trace's start; null
    where the trace has no such event), ``begin_ticks``, ``end_ticks``, ``bytes_requested``, ``bytes_moved``, ``offset``
    (null where unknown), ``access`` (``consecutive`` for a read or write that begins where the one before of its
    process, file and layer ended, ``strided`` for one as far from there as that was from its own, else ``random``; also
    of plain reads and writes, by opens and seeks; null where unknown) and ``status``.

    What is no operation lasts from Enter to Leave of its call where the trace has them; ``event_ticks``,
    ``event_mode``, ``event_flags`` and ``event_value`` are its event as `iostrata.model.events` has it. The metadata
    keep the trace's definitions (``iostrata_definitions``), so that `iostrata.open_trace` reads the table as it does
    the trace: the same layers, handles, attribution and metadata events, but not what calls took.

    Parameters
    ----------
    trace : Trace
        Its window and its selection of files count.
    path : path
        File to write. It appears when it is complete; one that is there is replaced then.
    layers : str or iterable of str, optional
        Only rows of these layers; all unless given. Parents are named even where they are not written.

    Raises
    ------
    SelectionError
        If there is no such layer.
    MissingLibraryError
        If pyarrow is not installed.
    OutputError
        If the file cannot be written; nothing is left behind then.
    """
    import_library("pyarrow.parquet", os.fspath(path))
    pyarrow, target = import_library("pyarrow"), Path(path)
    known, note = _tells_functions(trace)
    metadata = {**_metadata(trace), **note}
    names = tuple(layer.name for layer in chosen_layers(trace, layers))
    written = 0
    with atomic_file(path) as temporary, ExitStack() as stack:
        writer: Any = None
        for columns in _parts(trace, names if layers else (), known):
            part = pyarrow.table({name: _array(one, pyarrow) for name, one in columns.items()}, metadata=metadata)
            if writer is None:
                writer = stack.enter_context(pyarrow.parquet.ParquetWriter(temporary, part.schema))
            if part.num_rows or not written:
                same = part.schema.equals(writer.schema)
                writer.write_table(part if same else part.cast(writer.schema))
            written += part.num_rows
    return Written(target, target.stat().st_size, names, rows=written)


def _metadata(trace: Trace) -> dict[str, str | bytes]:
    """Return what is kept of the trace beside the columns."""
    return {
        # A name need not be UTF-8.
        "source": os.fsencode(trace.path),
        "schema_version": str(SCHEMA_VERSION),
        "trace_start_ticks": str(trace.definitions.clock.start),
        "ticks_per_second": str(trace.definitions.clock.ticks_per_second),
        "files": os.fsencode(trace.files),
        "iostrata_definitions": definitions_text(trace.definitions, trace.damage),
    }


def _parts(trace: Trace, layers: tuple[str, ...], known: bool) -> Iterator[dict[str, Column]]:
    """Give the columns of the table in parts, at least one: the operations, then all that is none."""
    wanted = [trace.order.index(name) for name in layers] or range(-1, len(trace.order))
    single = trace.definitions.recording.knows("operations")
    iterations = find_loops(trace).reader() if single else None
    kinds = AccessKinds(trace.order)
    at_once = ROWS_AT_ONCE if trace.stream.in_memory is not None else _ROWS_IN_BOUNDS
    for traffic, call, called, first in called_blocks(trace.calls, known):
        count = len(traffic.operations)
        outside = np.full(count, OUTSIDE)
        loops = (outside, outside) if iterations is None else iterations(traffic)
        rows = np.flatnonzero(traffic.within & np.isin(traffic.layer, wanted))
        unknown = np.full(count, -1, np.int32)
        called = {name: called.get(name, ((), unknown)) for name in CALL_KEYS}
        access = kinds.of(traffic, rows)
        for start in range(0, max(1, len(rows)), at_once):
            some = slice(start, start + at_once)
            yield operation_table(traffic, rows[some], access[some], called, call, first, loops)
    reading = trace.stream.known_reading
    functions = reading.source.regions.name if known and reading is not None else ()
    for found in trace.calls.metadata_calls():
        chosen = np.flatnonzero(np.isin(found.layer, wanted))
        for start in range(0, len(chosen), at_once):
            part = found.take(chosen[start : start + at_once])
            yield metadata_table(part, trace.scope, functions)


def _tells_functions(trace: Trace) -> tuple[bool, dict[str, str]]:
    """Return whether the trace defines functions, and what to note where it cannot."""
    try:
        return bool(trace.stream.reading.source.regions.does_io.any()), {}
    except SelectionError as error:
        # The rest of the table is worth as much without them.
        return False, {"function": f"unknown: {error}"}


def _array(column: Column, pyarrow: Any) -> Any:
    """Return a column, made of its buffers: what takes arrays and lists imports pandas, which is 50 MB."""
    valid = None if column.missing is None else np.packbits(~column.missing, bitorder="little")
    values = np.ascontiguousarray(column.values)
    held = np.packbits(values, bitorder="little") if values.dtype == np.bool_ else values
    kind = pyarrow.from_numpy_dtype(values.dtype)
    places = pyarrow.Array.from_buffers(
        kind, len(values), [one if one is None else pyarrow.py_buffer(one) for one in (valid, held)]
    )
    if column.names is None:
        return places
    names = [name.encode() for name in column.names]
    ends = np.cumsum([0, *map(len, names)], dtype=np.int32)
    texts = [None, pyarrow.py_buffer(ends), pyarrow.py_buffer(b"".join(names))]
    return pyarrow.DictionaryArray.from_arrays(places, pyarrow.Array.from_buffers(pyarrow.string(), len(names), texts))


EXPORTER: Final = Exporter(write_parquet, "formats")
