"""Parquet files, one or the parts of a folder: which they are, and their columns as one array each."""

import re
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, Final

from ..model.budget import allowed_memory
from .rows import BYTES_PER_ROW

PARQUET: Final = b"PAR1"


def parquet_parts(path: Path) -> list[Path]:
    """Return a Parquet file, or those of a folder, as other programs leave a large table; none where there are none."""
    parts = [path]
    if path.is_dir():
        parts = [part for part in path.iterdir() if part.suffix == ".parquet" and part.is_file()]
        parts.sort(key=lambda part: [int(one) if one.isdecimal() else one for one in re.split(r"(\d+)", part.name)])
    return parts if parts and _starts_with_parquet(parts[0]) else []


def _starts_with_parquet(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(PARQUET)) == PARQUET


def parquet_names(path: Path) -> list[str] | None:
    """Return the names of the columns of a Parquet file; None where they cannot be read."""
    try:
        import pyarrow
        import pyarrow.parquet

        return list(pyarrow.parquet.read_schema(path).names)
    except (ImportError, OSError, UnicodeDecodeError):
        return None
    except pyarrow.ArrowException:
        return None


def parquet_memory(read: Iterable[tuple[Path, Collection[str]]]) -> int:
    """Return the bytes that columns of some files take until they are operations, by what these say of them.

    Where there is room for all columns it is that of all: what a damaged file says of one ends the process in pyarrow.

    Parameters
    ----------
    read : iterable of (path, names of columns)
    """
    import pyarrow.parquet

    described = [(pyarrow.parquet.read_metadata(part), names) for part, names in read]
    groups = [(one.row_group(number), names) for one, names in described for number in range(one.num_row_groups)]
    rows = sum(one.num_rows for one, _ in described) * BYTES_PER_ROW
    whole = int(rows + sum(group.total_byte_size for group, _ in groups))
    if whole <= allowed_memory():
        return whole
    columns = ((group.column(place), names) for group, names in groups for place in range(group.num_columns))
    return int(rows + sum(one.total_uncompressed_size for one, names in columns if one.path_in_schema in names))


def one_array(column: Any) -> Any:
    """Return a ``pyarrow.ChunkedArray`` as one array."""
    import pyarrow

    chunks = column.combine_chunks()
    return chunks if not isinstance(chunks, pyarrow.ChunkedArray) else pyarrow.concat_arrays(chunks.chunks)


def places_of(column: Any) -> tuple[Any, tuple[str, ...]]:
    """Return the place of each value of an array in the different texts, int32 (n,), −1 for none, and these."""
    import numpy as np
    import pyarrow

    if not pyarrow.types.is_dictionary(column.type):
        column = column.cast(pyarrow.string()).dictionary_encode()
    places = np.asarray(column.indices.cast(pyarrow.int32()).fill_null(-1), np.int32)
    return places, texts_of(column.dictionary)


def texts_of(column: Any) -> tuple[str, ...]:
    """Return the texts of an array, which may hold what is no UTF-8: nobody has looked; empty for none."""
    import pyarrow

    if not (pyarrow.types.is_string(column.type) or pyarrow.types.is_large_string(column.type)):
        return tuple("" if one is None else str(one) for one in column.to_pylist())
    as_bytes = column.cast(pyarrow.large_binary()).to_pylist()
    return tuple("" if one is None else one.decode("utf-8", "backslashreplace") for one in as_bytes)
