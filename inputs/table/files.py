"""Files that hold tables of operations: Parquet by its magic, text by the names in its first line."""

import re
from pathlib import Path
from typing import Final

from ...model.errors import import_library
from ..inflating import first_text
from .columns import TableColumns, with_clock_times
from .names import lacking, roles
from .parquet import read_parquet
from .text import names_in, read_text

_PARQUET: Final = b"PAR1"


def is_table(head: bytes, path: Path) -> bool:
    """Tell a table of operations: Parquet by its magic, others by the names in their first line."""
    if path.is_dir():
        return any(_starts_with_parquet(part) for part in _parts(path)[:1])
    names = _names_in(head, path)
    if names is None:
        # A Parquet file that cannot be read: its reader says why.
        return head.startswith(_PARQUET)
    found = {"layer", "start"} & roles(names)[0].keys()
    return bool(found) if head.startswith(_PARQUET) else len(found) == 2


def lacking_columns(head: bytes, path: Path) -> tuple[str, ...]:
    """Return what a file that looks like a table lacks to be one of operations; empty where it looks like none."""
    names = None if path.is_dir() else _names_in(head, path)
    if names is None:
        return ()
    found = roles(names)[0]
    some = len({"layer", "rank", "start", "end", "bytes", "mode"} & found.keys()) > 1
    return lacking(found) if head.startswith(_PARQUET) or some else ()


def _names_in(head: bytes, path: Path) -> list[str] | None:
    """Return the names of the columns of a file; None where it is no table, or cannot be read."""
    if head.startswith(_PARQUET):
        try:
            import pyarrow
            import pyarrow.parquet

            return list(pyarrow.parquet.read_schema(path).names)
        except (ImportError, OSError):
            return None
        except pyarrow.ArrowException:
            return None
    return names_in(first_text(head))


def _starts_with_parquet(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == _PARQUET


def _parts(folder: Path) -> list[Path]:
    """Return the Parquet files of a folder, as other programs leave a large table."""
    return sorted(
        (path for path in folder.iterdir() if path.suffix == ".parquet" and path.is_file()),
        key=lambda path: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", path.name)],
    )


def read_table(path: Path) -> TableColumns:
    """Read the columns that are known.

    Raises TraceError if the table cannot be read, or lacks what each table needs.
    """
    import_library("pyarrow", path)
    if path.is_dir():
        table = read_parquet(path, _parts(path))
    else:
        table = read_parquet(path, [path]) if _starts_with_parquet(path) else read_text(path)
    return with_clock_times(table)
