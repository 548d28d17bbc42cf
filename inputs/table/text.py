"""Tables as text: CSV, JSON lines and JSON arrays, plain or compressed by gzip."""

import csv
import json
import re
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable, Iterator
from io import SEEK_END, BytesIO
from pathlib import Path
from typing import Any, BinaryIO, Final

from ...model.budget import require_memory
from ...model.errors import TraceError
from ...model.quantities import bytes_text
from ..inflating import GZIP, inflating
from ..parquet import one_array, text_of
from ..rows import BYTES_PER_ROW
from .columns import TableColumns
from .names import table_roles

_LONGEST_LINE: Final = 1 << 20
_OF_JSON: Final = 16
"""Bytes of memory for each byte of JSON, as measured."""
_STEP: Final = 1 << 20
_LONGEST_ROW: Final = 1 << 24
_BLANKS: Final = b"\xef\xbb\xbf \t\r\n"


def names_in(text: bytes) -> list[str] | None:
    """Return the names of the columns of a table that starts with `text`; None where it is no table."""
    try:
        line = _first_line(text).decode()
        if line.startswith("["):
            start = text.lstrip(_BLANKS).lstrip(b"[ \t\r\n").decode("utf-8", "replace")
            return list(json.JSONDecoder().raw_decode(start)[0]) if start.startswith("{") else None
        if line.startswith("{"):
            return list(json.loads(line))
        return next(iter(csv.reader([line], delimiter=_delimiter(line))), [])
    except (ValueError, RecursionError, csv.Error):
        return None


def _first_line(text: bytes) -> bytes:
    """Return the first line that is not blank, whichever way lines end."""
    return re.split(rb"[\r\n]", text.lstrip(_BLANKS), maxsplit=1)[0]


def _delimiter(line: str) -> str:
    return max(",;\t", key=line.count)


Roles = Callable[[Path, Iterable[str]], tuple[dict[str, str], dict[str, int]]]
"""What finds the columns by their names, as `table_roles` does."""


def read_text(path: Path, roles: Roles = table_roles) -> TableColumns:
    """Read a table that is text.

    Raises TraceError if it cannot be read.
    """
    import pyarrow

    faults: list[str] = []
    with path.open("rb") as plain:
        packed = plain.read(len(GZIP)) == GZIP
        plain.seek(0)
        file = BytesIO(_inflated(path, faults)) if packed else plain
        head = file.read(_LONGEST_LINE)
        start = head.lstrip(_BLANKS)
        size = file.seek(0, SEEK_END)
        file.seek(len(head) - len(start))
        if start.startswith((b"{", b"[")):
            require_memory(path, size * _OF_JSON, f"a table of {bytes_text(size)} of JSON")
        try:
            if start.startswith(b"{"):
                return _of_objects(path, _lines(file), faults, roles)
            if start.startswith(b"["):
                return _of_objects(path, _array(path, file), faults, roles)
            return _csv(path, file, start, faults, roles)
        except pyarrow.ArrowException as error:
            reason = str(error).splitlines()[0]
            if "straddl" in reason:
                reason = (
                    f"a row is longer than {_LONGEST_ROW >> 20} MiB; look for a quotation mark that is not closed, and "
                    "leave long columns out"
                )
            raise TraceError(f"{path}: the table cannot be read: {reason}") from None


def _inflated(path: Path, faults: list[str]) -> memoryview:
    """Return the text of a compressed file; where that ends early, its whole lines, and why in `faults`."""
    text = bytearray()
    with path.open("rb", buffering=0) as file:
        fill, room = inflating(file, faults), memoryview(bytearray(_STEP))
        while got := fill(room):
            text += room[:got]
            require_memory(path, 2 * len(text), f"the table, {bytes_text(len(text))} of text and more,")
    # The last number of a line that is cut may be another one.
    return memoryview(text)[: text.rfind(b"\n") + 1] if faults else memoryview(text)


def _looked_through(file: BinaryIO) -> tuple[int, int, int, bool]:
    """Return how many quotation marks, ends of lines and bytes there are up to the end, and whether all is UTF-8."""
    marks = rows = size = 0
    is_text, decoder = True, getincrementaldecoder("utf-8")()
    for part in iter(lambda: file.read(_STEP), b""):
        marks, rows, size = marks + part.count(b'"'), rows + part.count(b"\n"), size + len(part)
        try:
            decoder.decode(part)
        except UnicodeDecodeError:
            is_text = False
    return marks, rows, size, is_text and not decoder.getstate()[0]


def _csv(path: Path, file: BinaryIO, start: bytes, faults: list[str], roles: Roles) -> TableColumns:
    """Read everything as text, so that one bad number does not refuse a table."""
    import pyarrow
    import pyarrow.compute
    import pyarrow.csv

    line = _first_line(start).decode("utf-8", "backslashreplace")
    delimiter = _delimiter(line)
    try:
        names = next(csv.reader([line], delimiter=delimiter))
    except csv.Error as error:
        raise TraceError(f"{path}: the names of the table's columns cannot be read: {error}") from None
    found, scale = roles(path, names)
    if not start[len(_first_line(start)) :].strip():
        return TableColumns(dict.fromkeys(found, pyarrow.array([], pyarrow.string())), scale, 0, faults=tuple(faults))
    begin = file.tell()
    marks, rows, size, is_text = _looked_through(file)
    # What is no UTF-8 is text with escapes in place of that.
    needed = rows * BYTES_PER_ROW + (0 if is_text else 5 * size)
    require_memory(path, needed, f"a table of {rows:,} lines")
    file.seek(begin)
    if not is_text:
        file, begin = BytesIO(file.read().decode("utf-8", "backslashreplace").encode()), 0
    unreadable = 0

    def skip(_row: object) -> str:
        nonlocal unreadable
        unreadable += 1
        return "skip"

    table = pyarrow.csv.read_csv(
        file,
        read_options=pyarrow.csv.ReadOptions(block_size=_LONGEST_ROW),
        # Without, text between quotation marks is torn where a block ends in it.
        parse_options=pyarrow.csv.ParseOptions(
            delimiter=delimiter, invalid_row_handler=skip, newlines_in_values=marks > 0
        ),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(names, pyarrow.binary()),
            include_columns=list(found.values()),
            strings_can_be_null=True,
            null_values=["", "null", "NULL", "None", "<NA>"],
        ),
    )
    if marks % 2:
        file.seek(begin)
        lines = sum(1 for one in file if one.strip()) - 1
        if lines > table.num_rows + unreadable:
            faults.append(
                f"a quotation mark that is not closed: {lines:,} lines give {table.num_rows + unreadable:,} rows, as "
                "those behind it are part of its text"
            )
    columns = {role: text_of(one_array(table.column(name))) for role, name in found.items()}
    for role, name in found.items():
        # Blanks before a name, or before the first, are those before its values: a, b, c.
        if name == names[0] or name != name.strip():
            columns[role] = pyarrow.compute.utf8_trim_whitespace(columns[role])
    return TableColumns(columns, scale, table.num_rows, unreadable, tuple(faults))


def _lines(file: BinaryIO) -> Iterator[Any]:
    """Yield what each line holds, None where it cannot be read."""
    for line in file:
        if line.strip():
            try:
                yield json.loads(line)
            except (ValueError, RecursionError):
                yield None


def _array(path: Path, file: BinaryIO) -> list[Any]:
    try:
        found: list[Any] = json.loads(file.read())
    except (ValueError, RecursionError) as error:
        raise TraceError(
            f"{path}: the JSON array cannot be read: {error}; of JSON lines, an object each, those that are "
            "sound are read"
        ) from None
    return found


def _of_objects(path: Path, objects: Iterable[Any], faults: list[str], roles: Roles) -> TableColumns:
    import pyarrow

    read = list(objects)
    rows = [row for row in read if isinstance(row, dict)]
    names = dict.fromkeys(name for row in rows for name in row)
    found, scale = roles(path, names)
    columns = {
        role: pyarrow.array([_plain(row.get(name)) for row in rows], pyarrow.string()) for role, name in found.items()
    }
    return TableColumns(columns, scale, len(rows), len(read) - len(rows), tuple(faults))


def _plain(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    return str(value)
