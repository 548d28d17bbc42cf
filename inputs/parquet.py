"""Parquet files, one or the parts of a folder: which they are, their columns as one array each, and what these hold."""

import re
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, Final

from ..model.arrays import Floats, Ints, Mask
from ..model.budget import allowed_memory
from .rows import BYTES_PER_ROW

PARQUET: Final = b"PAR1"
_LARGEST: Final = str(2**63 - 1)
_DIGITS: Final = "^-?({})$".format(
    "|".join(
        [r"\d{1,18}", _LARGEST]
        + [
            f"{_LARGEST[:place]}[0-{int(digit) - 1}]\\d{{{18 - place}}}"
            for place, digit in enumerate(_LARGEST)
            if digit > "0"
        ]
    )
)
"""Whole numbers that fit into 64 bits."""
_NUMBER: Final = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"

_EXACT: Final = 2**53
"""Whole numbers up to which floating point has all."""


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
        column = text_of(column).dictionary_encode()
    places = np.asarray(column.indices.cast(pyarrow.int32()).fill_null(-1), np.int32)
    return places, texts_of(column.dictionary)


def texts_of(column: Any) -> tuple[str, ...]:
    """Return the texts of an array, which may hold what is no UTF-8: nobody has looked; empty for none."""
    import pyarrow

    if not (pyarrow.types.is_string(column.type) or pyarrow.types.is_large_string(column.type)):
        return tuple("" if one is None else str(one) for one in column.to_pylist())
    as_bytes = column.cast(pyarrow.large_binary()).to_pylist()
    return tuple("" if one is None else one.decode("utf-8", "backslashreplace") for one in as_bytes)


def text_of(column: Any) -> Any:
    """Return a column as text, bytes that are no UTF-8 with escapes; lists and records have none."""
    import pyarrow

    if pyarrow.types.is_nested(column.type):
        return pyarrow.nulls(len(column), pyarrow.string())
    try:
        return column.cast(pyarrow.string())
    except pyarrow.ArrowInvalid:
        values = [None if one is None else one.decode("utf-8", "backslashreplace") for one in column.to_pylist()]
        return pyarrow.array(values, pyarrow.string())


def numbers(column: Any) -> tuple[Ints | Floats, Mask]:
    """Return a column as int64, or as float64 where it has fractions; and which are numbers at all.

    In a text with whole numbers that have no place in floating point, fractions are none: they would round the others.
    """
    import numpy as np
    import pyarrow
    import pyarrow.compute as compute

    if pyarrow.types.is_string(column.type) or pyarrow.types.is_large_string(column.type):
        column = compute.utf8_trim_whitespace(column)
        whole = compute.fill_null(compute.match_substring_regex(column, _DIGITS), False)
        number = compute.fill_null(compute.match_substring_regex(column, _NUMBER), False)
        exact = compute.if_else(whole, column, None).cast(pyarrow.int64())
        largest = max(abs(one or 0) for one in compute.min_max(exact).as_py().values())
        if largest > _EXACT or compute.all(compute.equal(whole, number)).as_py() is not False:
            column = exact
        else:
            column = compute.if_else(number, column, None).cast(pyarrow.float64())
    known = ~np.asarray(column.is_null())
    if pyarrow.types.is_uint64(column.type):
        values = np.asarray(column.fill_null(0))
        return values.astype(np.int64), known & (values < 2**63)
    if pyarrow.types.is_integer(column.type):
        return np.asarray(column.fill_null(0).cast(pyarrow.int64())), known
    if pyarrow.types.is_floating(column.type) or pyarrow.types.is_null(column.type):
        values = np.asarray(column.cast(pyarrow.float64()).fill_null(0.0), np.float64)
        return values, known & np.isfinite(values)
    return np.zeros(len(column)), np.zeros(len(column), np.bool_)


def whole_numbers(column: Any) -> tuple[Ints, Mask]:
    """Return whole numbers from 0 on, −1 where a row has none, and which rows have one."""
    import numpy as np

    values, known = numbers(column)
    whole = known & (values >= 0)
    if values.dtype.kind == "f":
        whole &= (values == np.floor(values)) & (values < 2.0**63)
    return np.where(whole, np.where(whole, values, 0).astype(np.int64), -1), whole
