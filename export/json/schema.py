"""JSON Schema (2020-12) of documents, as it follows from what records, metrics and functions declare.

What a record is in a document follows from its entries: their types, and the sentences of its metrics and docstring.
What a function, or a ``to_dict`` of its own, puts together stands in its annotation, ``Annotated[Document, …]``:
records and dicts of keys with their types, all of which stand in one object. A key that ends with ``?`` may be missing,
``*`` is any other key, and a text within ``Annotated`` is the sentence about it.
"""

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache, cached_property, reduce
from inspect import get_annotations, getattr_static, getdoc
from pathlib import Path
from types import NoneType, SimpleNamespace, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from ...model.document import Document, Record, RecordTable
from ...model.metrics import metrics_of

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_ATTRIBUTE: Final = re.compile(r"^ *(\w+(?:, \w+)*)(?: :.*)?\n((?:    +\S.*(?:\n|$))+)", re.MULTILINE)
_NULL: Final[Document] = {"type": "null"}
_SCALARS: Final[dict[Any, Document]] = {
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    # What is not finite is null.
    float: {"type": ["number", "null"]},
    str: {"type": "string"},
    Path: {"type": "string"},
    NoneType: _NULL,
}
_OF_DTYPES: Final = {"b": bool, "i": int, "u": int, "f": float}


def schema_of(title: str, *kinds: Any, within: str = "") -> Document:
    """Return the schema of a document, of a command if that is told, of one of some kinds, types or ``Annotated``.

    Objects are open, as new keys may come without another ``schema_version``.
    """
    making = _Making()
    found = _any_of([making.of(one) for one in kinds])
    schema = {"$schema": _DIALECT, "title": title, **found, "$defs": making.definitions}
    described: Document = _described(schema, sentences(), within)
    return described


@cache
def sentences() -> dict[str, str]:
    """Return the sentence about each key whose declaration has none, by its name, or name of the object and name."""
    lines = (Path(__file__).parent / "keys.txt").read_text(encoding="utf-8").splitlines()[1:]
    told = (line.partition(": ") for line in lines)
    return {name: sentence for names, _, sentence in told for name in names.split(", ")}


def _described(schema: Any, told: Mapping[str, str], within: str) -> Any:
    """Return a schema in which each key has a sentence that there is one of; `within` is the object it is in."""
    if isinstance(schema, list):
        return [_described(one, told, within) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: _described(one, told, within) for name, one in schema.items() if name not in ("properties", "$defs")}
    if "$defs" in schema:
        found["$defs"] = {key: _described(one, told, key) for key, one in schema["$defs"].items()}
    if "properties" in schema:
        keys = schema["properties"].items()
        sentences_of = {key: told.get(f"{within}.{key}", told.get(key, "")) for key, _ in keys}
        found["properties"] = {
            key: {"description": sentences_of[key], **_described(one, told, key)} for key, one in keys
        }
    return found


def closed(schema: Any) -> Any:
    """Return a schema whose objects have no other keys than it names, for tests of what is written."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: closed(value) for key, value in schema.items()}
    return {"additionalProperties": False, **found} if isinstance(schema.get("required"), list) else found


def returned(function: Callable[..., Any]) -> Any:
    """Return the type that a function is annotated to return."""
    return _evaluated(function.__annotations__["return"], function.__globals__)


def _evaluated(annotation: Any, names: Mapping[str, Any]) -> Any:
    holder: Any = SimpleNamespace(__annotations__={"of": annotation})
    return get_type_hints(holder, dict(names), include_extras=True)["of"]


def _any_of(found: Sequence[Document]) -> Document:
    """Return the schema of what is one of several."""
    different = [one for place, one in enumerate(found) if one not in found[:place]]
    if len(different) == 1:
        return different[0]
    if all(set(one) == {"type"} for one in different):
        types = [one["type"] if isinstance(one["type"], list) else [one["type"]] for one in different]
        return {"type": list(dict.fromkeys(name for each in types for name in each))}
    return {"anyOf": different}


def parts_of(kind: Any) -> tuple[Any, ...]:
    """Return what ``Annotated`` tells beside the type; nothing of another one."""
    return get_args(kind)[1:] if get_origin(kind) is Annotated else ()


def _joined(first: Document, second: Document) -> Document:
    """Return the schema of an object with the keys of two; those of the second replace those of the first."""
    kept = [name for name in first["required"] if name not in second["properties"]]
    properties = first["properties"] | second["properties"]
    return {**first, **second, "properties": properties, "required": kept + second["required"]}


class _Making:
    """Makes schemas, with the definitions that they refer to."""

    def __init__(self) -> None:
        self.definitions: dict[str, Document] = {}

    def of(self, kind: Any) -> Document:
        """Return the schema of a type."""
        origin, given = get_origin(kind), get_args(kind)
        if origin is Annotated:
            return self._annotated(*given)
        if origin in (Union, UnionType):
            return _any_of([self.of(one) for one in given])
        if origin is Literal:
            return {"enum": list(given)}
        if origin is np.ndarray:
            return {"type": "array", "items": self.of(_scalar_of(given[1]))}
        if origin is tuple and given[-1] is not Ellipsis:
            return {"type": "array", "prefixItems": [self.of(one) for one in given], "minItems": len(given)}
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return {"type": "object", "additionalProperties": self.of(given[1])}
        if isinstance(origin, type) and issubclass(origin, Iterable):
            return {"type": "array", "items": self.of(given[0])}
        return self._named(kind) if isinstance(kind, type) and is_dataclass(kind) else _SCALARS.get(kind, {})

    def _annotated(self, kind: Any, *more: Any) -> Document:
        """Return the schema of a type of which more is told: parts that stand together, or a sentence."""
        if isinstance(more[0], str):
            return {**self.of(kind), "description": more[0]}
        return self._together(more) if len(more) > 1 or isinstance(more[0], dict) else self.of(more[0])

    def _together(self, parts: Iterable[Any]) -> Document:
        """Return the schema of an object that has the keys of several; later ones replace those before."""
        return reduce(_joined, (self._of_keys(one) if isinstance(one, dict) else self._object(one) for one in parts))

    def _of_keys(self, keys: Mapping[str, Any]) -> Document:
        properties = {name.removesuffix("?"): self.of(kind) for name, kind in keys.items()}
        rest = {} if (others := properties.pop("*", None)) is None else {"additionalProperties": others}
        required = [name for name in keys if not name.endswith(("?", "*"))]
        return {"type": "object", "properties": properties, "required": required, **rest}

    def _named(self, kind: Any) -> Document:
        """Return a reference to the schema of a class, which is made once; a class has one of each below it, too."""
        if kind.__name__ not in self.definitions:
            self.definitions[kind.__name__] = {}
            found = _any_of([self._object(one) for one in (kind, *_below(kind))])
            table = issubclass(kind, RecordTable)
            self.definitions[kind.__name__] = {"type": "array", "items": found} if table else found
        return {"$ref": f"#/$defs/{kind.__name__}"}

    def _object(self, kind: Any) -> Document:
        """Return the schema of the object that a class stands for in documents."""
        table = issubclass(kind, RecordTable)
        own = kind.entry_columns if table else kind.__dict__.get("to_dict")
        parts = parts_of(returned(own)) if own is not None else ()
        if table or (parts and not issubclass(kind, Record)):
            return self._together(parts)
        return _joined(self._record(kind), self._together(parts)) if parts else self._record(kind)

    def _record(self, kind: Any) -> Document:
        """Return the schema of a record without what its own ``to_dict`` makes of it."""
        metrics, told = {one.name: one for one in metrics_of(kind)}, _sentences(kind)
        of_fields = [one.name for one in fields(kind)]
        is_record = issubclass(kind, Record)
        entries = kind._entries() if is_record else [(name, name) for name in of_fields]
        keys: Document = {}
        for name, key in entries:
            schema, declared = self.of(_type_of(kind, name)), metrics.get(name)
            sentence, unit = (told.get(name), "1") if declared is None else (declared.sentence, declared.unit)
            if declared is not None and declared.needs and "unavailable" in of_fields:
                schema = _any_of([schema, _NULL])
            more = {"description": sentence, "unit": unit if unit != "1" else None}
            keys[key] = {**schema, **{of: text for of, text in more.items() if text}}
        optional = {key for name, key in entries if is_record and name in kind.OPTIONAL}
        return {"type": "object", "properties": keys, "required": [name for name in keys if name not in optional]}


def _below(kind: Any) -> list[Any]:
    """Return all classes below one."""
    return [one for each in kind.__subclasses__() for one in (each, *_below(each))]


def _scalar_of(dtype: Any) -> Any:
    """Return what an entry of an array is in Python, given ``numpy.dtype[…]``."""
    kind = (get_args(dtype) or (None,))[0]
    return _OF_DTYPES.get(np.dtype(kind).kind, Any) if isinstance(kind, type) else Any


def _type_of(kind: Any, name: str) -> Any:
    """Return the type of an attribute of a class: a field, or a property."""
    for one in kind.__mro__:
        if name in get_annotations(one):
            return _evaluated(get_annotations(one)[name], vars(sys.modules[one.__module__]))
        if name in vars(one):
            break
    found = getattr_static(kind, name)
    return returned(found.func if isinstance(found, cached_property) else found.fget)


def _sentences(kind: Any) -> dict[str, str]:
    """Return what the docstring of a class tells of each attribute."""
    text = (getdoc(kind) or "").partition("Attributes\n----------\n")[2]
    return {name: " ".join(words.split()) for names, words in _ATTRIBUTE.findall(text) for name in names.split(", ")}
