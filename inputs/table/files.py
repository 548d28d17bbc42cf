"""Files that hold tables of operations: Parquet by its magic, text by the names in its first line."""

from pathlib import Path

from ...model.errors import import_library
from ..inflating import first_text
from ..parquet import PARQUET, parquet_names, parquet_parts
from .columns import TableColumns, with_clock_times
from .names import lacking, roles
from .parquet import read_parquet
from .text import names_in, read_text


def is_table(head: bytes, path: Path) -> bool:
    """Tell a table of operations: Parquet by its magic, others by the names in their first line."""
    if path.is_dir():
        return any(is_table(PARQUET, part) for part in parquet_parts(path)[:1])
    names = _names_in(head, path)
    if names is None:
        # A Parquet file that cannot be read: its reader says why.
        return head.startswith(PARQUET)
    found = {"layer", "start"} & roles(names)[0].keys()
    return bool(found) if head.startswith(PARQUET) else len(found) == 2


def lacking_columns(head: bytes, path: Path) -> tuple[str, ...]:
    """Return what a file that looks like a table lacks to be one of operations; empty where it looks like none."""
    names = None if path.is_dir() else _names_in(head, path)
    if names is None:
        return ()
    found = roles(names)[0]
    some = len({"layer", "rank", "start", "end", "bytes", "mode"} & found.keys()) > 1
    return lacking(found) if head.startswith(PARQUET) or some else ()


def _names_in(head: bytes, path: Path) -> list[str] | None:
    """Return the names of the columns of a file; None where it is no table, or cannot be read."""
    return parquet_names(path) if head.startswith(PARQUET) else names_in(first_text(head))


def read_table(path: Path) -> TableColumns:
    """Read the columns that are known.

    Raises TraceError if the table cannot be read, or lacks what each table needs.
    """
    import_library("pyarrow", path)
    parts = parquet_parts(path)
    return with_clock_times(read_parquet(path, parts) if parts else read_text(path))
