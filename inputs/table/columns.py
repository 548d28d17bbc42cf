"""Columns of tables out of CSV, JSON lines and Parquet, by the names that are known, and numbers out of them."""

import csv
import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...model.arrays import Mask
from ...model.errors import TraceError

UNITS: Final = {"_s": 10**9, "_ms": 10**6, "_us": 10**3, "_ns": 1}
"""Nanoseconds in a unit, by the end of a column's name; without one times are in s."""
_TIMES: Final = {"start": ("start", "begin"), "end": ("end",), "issued": ("issued",)}
_NAMES: Final = {
    "layer": ("layer",),
    "rank": ("rank",),
    "bytes": ("bytes", "bytes_moved"),
    "read": ("bytes_read",),
    "written": ("bytes_written",),
    "requested": ("bytes_requested",),
    "mode": ("kind", "mode", "direction"),
    "thread": ("thread", "location"),
    "node": ("node", "host", "hostname"),
    "handle": ("handle",),
    "parent": ("parent_handle", "parent"),
    "file": ("file",),
    "offset": ("offset",),
    "status": ("status",),
    "collective": ("collective",),
    "non_blocking": ("non_blocking",),
    "function": ("function",),
    "begin_ticks": ("begin_ticks",),
    "end_ticks": ("end_ticks",),
    "operation": ("operation",),
    "event_ticks": ("event_ticks",),
    "event_mode": ("event_mode",),
    "event_flags": ("event_flags",),
    "event_value": ("event_value",),
}
NEEDED: Final = ("layer", "rank", "start", "end", "bytes", "mode")
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
_PARQUET: Final = b"PAR1"
_LONGEST_LINE: Final = 1 << 20


@dataclass(frozen=True, eq=False)
class TableColumns:
    """Columns by their roles, all of one length.

    Attributes
    ----------
    columns : dict
        ``pyarrow.Array`` by role.
    scale : dict
        Nanoseconds in the unit of the times ``start``, ``end`` and ``issued``.
    metadata : dict of bytes
        Of a Parquet file's schema.
    unreadable : int
        Lines that are none of the table's.
    """

    columns: dict[str, Any]
    scale: dict[str, int]
    metadata: dict[bytes, bytes]
    unreadable: int
    rows: int


def roles(names: Iterable[str]) -> tuple[dict[str, str], dict[str, int]]:
    """Return the column of each role among `names`, and the unit of those that are times."""
    there = {name.strip().lower(): name for name in reversed(list(names))}
    if "operation" in there:
        # In a table of iostrata the parent is an operation.
        there.pop("parent", None)
    found, scale = {}, {}
    for role, given in _NAMES.items():
        for name in given:
            if name in there:
                found[role] = there[name]
                break
    for role, given in _TIMES.items():
        for name in given:
            for unit, factor in {"": 10**9, **UNITS}.items():
                if role not in found and name + unit in there:
                    found[role], scale[role] = there[name + unit], factor
    return found, scale


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
    return _lacking(found) if head.startswith(_PARQUET) or some else ()


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
    try:
        line = _first_line(head).decode()
        if line.startswith("{"):
            return list(json.loads(line))
        return next(iter(csv.reader([line], delimiter=_delimiter(line))), [])
    except (ValueError, RecursionError, csv.Error):
        return None


def _first_line(head: bytes) -> bytes:
    """Return the first line that is not blank, whichever way lines end."""
    return re.split(rb"[\r\n]", head.lstrip(b"\xef\xbb\xbf \t\r\n"), maxsplit=1)[0]


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
    try:
        import pyarrow
    except ImportError:
        raise TraceError(f"{path}: tables need pyarrow; install it with pip install 'iostrata[parquet]'") from None
    if path.is_dir():
        return _parquet(path, _parts(path))
    with path.open("rb") as file:
        start = file.read(_LONGEST_LINE).lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(_PARQUET):
        return _parquet(path, [path])
    try:
        return _json_lines(path) if start.startswith(b"{") else _csv(path, start)
    except pyarrow.ArrowException as error:
        raise TraceError(f"{path}: the table cannot be read: {str(error).splitlines()[0]}") from None


def _lacking(found: Collection[str]) -> tuple[str, ...]:
    """Return which columns are needed and not there."""
    by_direction = "read" in found or "written" in found
    either = {"bytes", "mode"} if by_direction else set()
    return tuple(role for role in NEEDED if role not in found and role not in either)


def _check(path: Path, names: Iterable[str], found: dict[str, str]) -> None:
    missing = _lacking(found)
    if missing:
        raise TraceError(f"{path}: {lack_text(missing)}")
    alike = Counter(name.strip().lower() for name in names)
    for name in found.values():
        if alike[name.strip().lower()] > 1:
            raise TraceError(f"{path}: two columns of the table are named {name.strip()!r}; leave one of them out")


def lack_text(missing: Sequence[str]) -> str:
    """Return in words which columns a table lacks."""
    text = f"the table has no column {' or '.join(missing)}; needed are layer, rank, start, end, bytes and mode"
    if "mode" in missing:
        text += " (read, write or flush); without mode, a column bytes_read or bytes_written tells the direction"
    return text


def _parquet(path: Path, parts: list[Path]) -> TableColumns:
    import pyarrow
    import pyarrow.parquet

    try:
        tables: list[Any] = []
        units: dict[str, int] = {}
        for part in parts:
            schema = pyarrow.parquet.read_schema(part)
            found, scale = roles(schema.names)
            _check(path, schema.names, found)
            units = units or scale
            if scale != units:
                raise TraceError(f"{path}: {part.name} has times in other units than the parts before it")
            tables.append(pyarrow.parquet.read_table(part, columns=list(found.values()), partitioning=None))
        table = pyarrow.concat_tables(tables, promote_options="permissive").combine_chunks()
    except (pyarrow.ArrowException, OSError) as error:
        raise TraceError(f"{path}: the Parquet table cannot be read: {str(error).splitlines()[0]}") from None
    columns = {role: _plain_column(path, name, _whole(table.column(name))) for role, name in found.items()}
    for role in _TIMES.keys() & found.keys():
        kind = table.column(found[role]).type
        if pyarrow.types.is_timestamp(kind) or pyarrow.types.is_duration(kind):
            units[role] = 1
    return TableColumns(
        columns,
        units,
        dict(tables[0].schema.metadata or {}),
        0,
        table.num_rows,
    )


def _plain_column(path: Path, name: str, column: Any) -> Any:
    """Return a column of Parquet as numbers or text: times that have a unit of their own in ns, decimals as text.

    Raises TraceError if its values are neither.
    """
    import pyarrow

    types = pyarrow.types
    try:
        if types.is_dictionary(column.type):
            column = column.dictionary_decode()
        kind = column.type
        if types.is_timestamp(kind) or types.is_duration(kind):
            unit = pyarrow.timestamp("ns", kind.tz) if types.is_timestamp(kind) else pyarrow.duration("ns")
            return column.cast(unit).cast(pyarrow.int64())
        if types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind):
            return _text(column.cast(pyarrow.binary()))
        if types.is_decimal(kind) or kind == pyarrow.string_view():
            return column.cast(pyarrow.string())
    except pyarrow.ArrowException as error:
        raise TraceError(f"{path}: the column {name} cannot be read: {str(error).splitlines()[0]}") from None
    if types.is_nested(kind) or types.is_time(kind) or types.is_date(kind):
        raise TraceError(f"{path}: the column {name} holds {kind}, where numbers or text are needed")
    return column


def _whole(column: Any) -> Any:
    import pyarrow

    chunks = column.combine_chunks()
    return chunks if not isinstance(chunks, pyarrow.ChunkedArray) else pyarrow.concat_arrays(chunks.chunks)


def _delimiter(line: str) -> str:
    return max(",;\t", key=line.count)


def _csv(path: Path, start: bytes) -> TableColumns:
    """Read everything as text, so that one bad number does not refuse a table."""
    import pyarrow
    import pyarrow.csv

    line = _first_line(start).decode("utf-8", "replace")
    delimiter = _delimiter(line)
    try:
        names = next(csv.reader([line], delimiter=delimiter))
    except csv.Error as error:
        raise TraceError(f"{path}: the names of the table's columns cannot be read: {error}") from None
    found, scale = roles(names)
    _check(path, names, found)
    unreadable = 0

    def skip(_row: object) -> str:
        nonlocal unreadable
        unreadable += 1
        return "skip"

    # A path would be taken for a compressed file by its name.
    table = pyarrow.csv.read_csv(
        pyarrow.OSFile(str(path)),
        parse_options=pyarrow.csv.ParseOptions(delimiter=delimiter, invalid_row_handler=skip),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(names, pyarrow.binary()),
            include_columns=list(found.values()),
            strings_can_be_null=True,
            null_values=["", "null", "NULL", "None", "<NA>"],
        ),
    )
    return TableColumns(
        {role: _text(_whole(table.column(name))) for role, name in found.items()}, scale, {}, unreadable, table.num_rows
    )


def _text(column: Any) -> Any:
    """Return a column of bytes as text, what is no UTF-8 with escapes."""
    import pyarrow

    try:
        return column.cast(pyarrow.string())
    except pyarrow.ArrowInvalid:
        values = [None if one is None else one.decode("utf-8", "backslashreplace") for one in column.to_pylist()]
        return pyarrow.array(values, pyarrow.string())


def _json_lines(path: Path) -> TableColumns:
    import pyarrow

    rows, unreadable = [], 0
    with path.open("rb") as file:
        for line in file:
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                row = None
            if isinstance(row, dict):
                rows.append(row)
            else:
                unreadable += 1
    names = dict.fromkeys(name for row in rows for name in row)
    found, scale = roles(names)
    _check(path, names, found)
    columns = {
        role: pyarrow.array([_plain(row.get(name)) for row in rows], pyarrow.string()) for role, name in found.items()
    }
    return TableColumns(columns, scale, {}, unreadable, len(rows))


def _plain(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    return str(value)


def numbers(column: Any) -> tuple[npt.NDArray[np.int64] | npt.NDArray[np.float64], Mask]:
    """Return a column as int64 where all of it are whole numbers, else as float64; and which are numbers at all."""
    import pyarrow
    import pyarrow.compute as compute

    if pyarrow.types.is_string(column.type) or pyarrow.types.is_large_string(column.type):
        column = compute.utf8_trim_whitespace(column)
        whole = compute.fill_null(compute.match_substring_regex(column, _DIGITS), False)
        number = compute.fill_null(compute.match_substring_regex(column, _NUMBER), False)
        absent = column.is_null()
        kind = pyarrow.int64() if compute.all(compute.or_(whole, absent)).as_py() is not False else pyarrow.float64()
        column = compute.if_else(whole if kind == pyarrow.int64() else number, column, None).cast(kind)
    known = ~np.asarray(column.is_null())
    if pyarrow.types.is_integer(column.type) and not pyarrow.types.is_uint64(column.type):
        return np.asarray(column.fill_null(0).cast(pyarrow.int64())), known
    if pyarrow.types.is_uint64(column.type):
        values = np.asarray(column.fill_null(0))
        return values.astype(np.int64), known & (values < 2**63)
    if pyarrow.types.is_floating(column.type) or pyarrow.types.is_null(column.type):
        values = np.asarray(column.cast(pyarrow.float64()).fill_null(0.0), np.float64)
        return values, known & np.isfinite(values)
    return np.zeros(len(column)), np.zeros(len(column), np.bool_)


def names_of(column: Any) -> tuple[npt.NDArray[np.int32], tuple[str, ...]]:
    """Return the place of each value in the different texts, −1 for none, and these."""
    import pyarrow

    if not pyarrow.types.is_dictionary(column.type):
        column = column.cast(pyarrow.string()).dictionary_encode()
    places = np.asarray(column.indices.cast(pyarrow.int32()).fill_null(-1), np.int32)
    return places, tuple("" if one is None else str(one) for one in column.dictionary.to_pylist())


def flags_of(column: Any) -> Mask:
    """Return which values say yes."""
    places, names = names_of(column)
    yes = np.array([*(name.lower() in ("true", "1") for name in names), False], np.bool_)
    return np.asarray(yes[places], np.bool_)
