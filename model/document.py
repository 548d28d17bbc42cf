"""The documents of ``--json``, one function a command: plain dicts, ``schema_version`` first.

Keys are part of the public interface. New ones may come; what is there keeps its name, unit and meaning.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path, PurePath
from types import EllipsisType
from typing import Any, ClassVar, Final, TypeVar, cast, dataclass_transform

from .errors import TraceError, import_library
from .metrics import KEYS, described, metrics_of

SCHEMA_VERSION: Final = 1
Document = dict[str, Any]

T = TypeVar("T")
Plain = None | bool | int | float | str | list["Plain"] | dict[str, "Plain"]


def keys_of(kind: Any, names: str) -> dict[str, Any]:
    """Return keys of one type, for what a function says of its document: see `iostrata.export.json.schema`."""
    return dict.fromkeys(names.split(), kind)


def checked_document(document: object) -> Document:
    """Return what was read of a document of ours; ValueError if it is none, or of another version."""
    if not isinstance(document, dict):
        raise ValueError("no JSON object")
    version = document.get("schema_version")
    if version is None:
        raise ValueError("no schema_version")
    if isinstance(version, bool) or version != SCHEMA_VERSION:
        raise ValueError(f"its schema_version is {str(version)[:40]}, this program reads {SCHEMA_VERSION}")
    return document


def read_document(path: Path, what: str, made: Callable[[Document], T], most: int = 2**30) -> T:
    """Return what is `made` of a document of ours in a file.

    Raises TraceError, which says that it is not `what`, where the file has more than `most` bytes or nothing can be
    made of it, and OSError where it cannot be read.
    """
    try:
        with path.open("rb") as file:
            if path.stat().st_size > most or len(content := file.read(most + 1)) > most:
                raise ValueError(f"it is larger than {most // 2**20:,} MiB")
        return made(checked_document(json.loads(content)))
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        reason = f"no {error.args[0]}" if isinstance(error, KeyError) else " ".join(str(error).split())[:200]
        raise TraceError(f"{path}: not {what} ({reason})") from None


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Record:
    """Base of results, which makes frozen dataclasses of subclasses: what of them stands in a document.

    One needs nothing more where its fields are the entries, in their order. Those that a field `unavailable`
    names are null; that field is no entry.

    Attributes
    ----------
    ENTRIES : tuple
        Names of attributes, fields or properties, that are entries, in their order; ``...`` stands for all fields.
    KEYS : dict
        Names of entries that differ from `iostrata.model.metrics.KEYS`.
    OPTIONAL : frozenset of str
        Attributes that are left out where they are None.
    """

    ENTRIES: ClassVar[tuple[str | EllipsisType, ...]] = (...,)
    KEYS: ClassVar[Mapping[str, str]] = {}
    OPTIONAL: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, *, frozen: bool = True, **how: bool) -> None:
        described(dataclass(frozen=frozen, **how)(cls))

    def to_dict(self) -> dict[str, Any]:
        """Return the entries of the document, in types of Python alone; None where a number is not finite."""
        unavailable = getattr(self, "unavailable", ())
        entries = (
            (name, key, None if name in unavailable else plain(getattr(self, name))) for name, key in self._entries()
        )
        return {key: value for name, key, value in entries if value is not None or name not in self.OPTIONAL}

    @classmethod
    @cache
    def _entries(cls) -> list[tuple[str, str]]:
        """Return attribute and key of each entry."""
        own = [field.name for field in fields(cls) if field.name != "unavailable"]  # type: ignore[arg-type]
        names = [name for entry in cls.ENTRIES for name in (own if isinstance(entry, EllipsisType) else [entry])]
        keys = {**KEYS, **{one.name: one.key for one in metrics_of(cls)}, **cls.KEYS}
        return [(name, keys.get(name, name)) for name in names]


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
class RecordTable:
    """Base of results that are columns of one length, frozen dataclasses: a row is an entry of a document."""

    def __init_subclass__(cls, *, kw_only: bool = False) -> None:
        described(dataclass(frozen=True, eq=False, kw_only=kw_only)(cls))

    def entry_columns(self) -> dict[str, Any]:
        """Return the columns by their names in the document, arrays or sequences of Python."""
        raise NotImplementedError

    def to_dict(self) -> list[dict[str, Any]]:
        """Return one dict a row, in types of Python alone."""
        return rows_of(self.entry_columns())

    def to_dataframe(self) -> Any:
        """Return a ``pandas.DataFrame`` with a row for each of `to_dict`."""
        return import_library("pandas").DataFrame(self.to_dict())


def rows_of(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return one dict a row of columns of one length, arrays or sequences of Python."""
    lists = (column if isinstance(column, Sequence) else column.tolist() for column in columns.values())
    return [dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)]


def plain(value: object) -> Plain:
    """Turn a value into what JSON can hold: no NumPy types, and None where a number is not finite.

    It is None, a string, a path, a number or array of NumPy or Python, a `Record` or `RecordTable`, or
    sequences and mappings of these.
    """
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, Record | RecordTable):
        return cast(Plain, value.to_dict())
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    listed = getattr(value, "tolist", None)
    if listed is not None:
        return plain(listed())
    if isinstance(value, Sequence):
        return [plain(item) for item in value]
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    raise TypeError(f"{type(value).__name__} has no plain form; give numbers, strings, sequences or mappings")
