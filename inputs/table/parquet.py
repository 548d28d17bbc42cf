"""Tables in Parquet, one file or several."""

from pathlib import Path
from typing import Any

from ...model.budget import require_memory
from ...model.errors import TraceError
from ...model.quantities import bytes_text
from ..parquet import one_array, parquet_memory, text_of
from .columns import TableColumns
from .names import TIMES, table_roles


def read_parquet(path: Path, parts: list[Path]) -> TableColumns:
    """Read one table of the files `parts`.

    Raises TraceError if they cannot be read, or do not fit together.
    """
    import pyarrow
    import pyarrow.parquet

    try:
        tables: list[Any] = []
        units: dict[str, int] = {}
        schemas = [pyarrow.parquet.read_schema(part) for part in parts]
        known = [table_roles(path, schema.names) for schema in schemas]
        read = [(part, tuple(found.values())) for part, (found, _) in zip(parts, known, strict=True)]
        require_memory(path, parquet_memory(read), "the table")
        for part, schema, (found, scale) in zip(parts, schemas, known, strict=True):
            units = units or scale
            if scale != units:
                raise TraceError(f"{path}: {part.name} has times in other units than the parts before it")
            # Texts that come again stay what they are in the file: a few, and which of them.
            texts = [name for name in found.values() if _is_text(schema.field(name).type)]
            tables.append(
                pyarrow.parquet.read_table(part, columns=list(found.values()), partitioning=None, read_dictionary=texts)
            )
        table = pyarrow.concat_tables(tables, promote_options="permissive").combine_chunks()
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise TraceError(f"{path}: the Parquet table cannot be read: {str(error).splitlines()[0]}") from None
    columns = {role: _plain_column(path, name, one_array(table.column(name))) for role, name in found.items()}
    on_the_clock = False
    for role in TIMES.keys() & found.keys():
        kind = table.column(found[role]).type
        if pyarrow.types.is_timestamp(kind) or pyarrow.types.is_duration(kind):
            units[role] = 1
            on_the_clock = on_the_clock or pyarrow.types.is_timestamp(kind)
    metadata = dict(tables[0].schema.metadata or {})
    return TableColumns(columns, units, table.num_rows, metadata=metadata, since_1970=on_the_clock)


def _is_text(kind: Any) -> bool:
    import pyarrow

    types = pyarrow.types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_binary(kind))


def _plain_column(path: Path, name: str, column: Any) -> Any:
    """Return a column of Parquet as numbers or text: times that have a unit of their own in ns, decimals as text.

    Raises TraceError if its values are neither.
    """
    import pyarrow
    import pyarrow.compute

    types = pyarrow.types
    try:
        if types.is_dictionary(column.type):
            if _is_text(column.type.value_type):
                sizes = pyarrow.compute.binary_length(column.dictionary).fill_null(0)
                size = pyarrow.compute.sum(sizes.take(column.indices), min_count=0).as_py()
                require_memory(path, 2 * size, f"the column {name}, {bytes_text(size)} of text,")
            column = column.dictionary_decode()
        kind = column.type
        if types.is_timestamp(kind) or types.is_duration(kind):
            unit = pyarrow.timestamp("ns", kind.tz) if types.is_timestamp(kind) else pyarrow.duration("ns")
            return column.cast(unit).cast(pyarrow.int64())
        if types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind):
            return text_of(column.cast(pyarrow.binary()))
        if types.is_decimal(kind) or kind == pyarrow.string_view():
            return column.cast(pyarrow.string())
    except pyarrow.ArrowException as error:
        raise TraceError(f"{path}: the column {name} cannot be read: {str(error).splitlines()[0]}") from None
    if types.is_nested(kind) or types.is_time(kind) or types.is_date(kind):
        raise TraceError(f"{path}: the column {name} holds {kind}, where numbers or text are needed")
    return column
