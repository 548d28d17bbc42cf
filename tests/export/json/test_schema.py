"""JSON Schema of documents, as it follows from records, metrics and annotations."""

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pytest
from iostrata.export.json.schema import closed, schema_of, sentences
from iostrata.export.json.schemas import COMMANDS, command_schema
from iostrata.model.document import Document, Record, RecordTable, keys_of
from iostrata.model.metrics import metric
from jsonschema import Draft202012Validator


class Part(Record):
    """A part.

    Attributes
    ----------
    start, end : float
        In s, from the
        begin.
    """

    start: float
    end: float


class WiderPart(Part):
    """A part with a name."""

    name: str


class Columns(RecordTable):
    """Two columns."""

    ids: npt.NDArray[np.int64]

    def entry_columns(self) -> Annotated[Document, {"id": int, "file?": str}]:
        return {"id": self.ids}


class Whole(Record):
    """Everything at once."""

    ENTRIES: ClassVar = (..., "twice")
    KEYS: ClassVar = {"amounts": "amounts_bytes"}
    OPTIONAL: ClassVar = frozenset({"note"})

    count: int = metric("How many.", needs=("operations",))
    moved: int | float = metric("How much.", unit="byte")
    pair: tuple[float, float] | None
    parts: tuple[Part, ...]
    by_name: Mapping[str, Part]
    amounts: npt.NDArray[np.float64]
    kind: Literal["a", "b"]
    table: Columns
    note: str | None = None
    unavailable: frozenset[str] = frozenset()
    hidden: Any = field(default=None, repr=False)

    @property
    def twice(self) -> int:
        return 2 * self.count

    def to_dict(self) -> Annotated[Document, {"hidden?": bool, "more": Annotated[str, "A sentence."]}]:
        """Return the document."""
        return {name: value for name, value in super().to_dict().items() if name != "hidden"} | {"more": "x"}


def made(**other: Any) -> Whole:
    values: dict[str, Any] = {
        "count": 3, "moved": 4.5, "pair": (1.0, 2.0), "parts": (Part(0.0, 1.0), WiderPart(1.0, 2.0, "w")),
        "by_name": {"x": Part(0.0, float("nan"))}, "amounts": np.array([1.0, np.nan]), "kind": "a",
        "table": Columns(np.array([1, 2])),
    }  # fmt: skip
    return Whole(**{**values, **other})


SCHEMA = closed(schema_of("Whole", Annotated[Document, Whole, {"schema_version": int}]))


def errors(document: Any) -> list[str]:
    return [f"{one.json_path} {one.validator}" for one in Draft202012Validator(SCHEMA).iter_errors(document)]


@pytest.mark.parametrize(
    "other", [{}, {"note": "n"}, {"pair": None}, {"unavailable": frozenset({"count"})}, {"moved": 2}]
)
def test_what_a_record_gives_is_what_its_schema_says(other):
    Draft202012Validator.check_schema(SCHEMA)
    assert errors({"schema_version": 1, **made(**other).to_dict()}) == []


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"new": 1}, "$ additionalProperties"),
        ({"count": "3"}, "$.count type"),
        ({"moved": "x"}, "$.moved type"),
        ({"pair": [1.0]}, "$.pair anyOf"),
        ({"kind": "c"}, "$.kind enum"),
        ({"parts": [{"start_s": 0.0, "end_s": 1.0, "other": 1}]}, "$.parts[0] anyOf"),
        ({"table": [{"id": 1, "file": "f", "x": 2}]}, "$.table[0] additionalProperties"),
        ({"by_name": {"x": 3}}, "$.by_name.x anyOf"),
        ({"amounts_bytes": ["x"]}, "$.amounts_bytes[0] type"),
    ],
)
def test_what_differs_is_found(change, error):
    assert errors({"schema_version": 1, **made().to_dict(), **change}) == [error]


def test_a_key_that_goes_is_found():
    document = {"schema_version": 1, **made().to_dict()}
    for key in set(document) - {"note"}:
        left = {name: value for name, value in document.items() if name != key}
        assert errors(left) == ["$ required"], key


def test_sentences_and_units_come_along():
    schema = schema_of("Whole", Whole)
    keys = schema["$defs"]["Whole"]["properties"]
    assert keys["count"] == {"type": ["integer", "null"], "description": "How many."}
    assert keys["moved"] == {"type": ["integer", "number", "null"], "description": "How much.", "unit": "byte"}
    assert keys["more"] == {"type": "string", "description": "A sentence."}
    for one in schema["$defs"]["Part"]["anyOf"]:
        assert one["properties"]["start_s"]["type"] == ["number", "null"]
    assert schema["$defs"]["Part"]["anyOf"][0]["properties"]["end_s"]["description"] == "In s, from the begin."


def test_objects_are_open_until_they_are_closed():
    document = {"schema_version": 1, **made().to_dict(), "later": 1}
    assert Draft202012Validator(schema_of("Whole", Annotated[Document, Whole])).is_valid(document)


def test_any_other_key_may_be_declared():
    kind = Annotated[Document, {"name": str, **keys_of(int, "a b?"), "*": float}]
    check = Draft202012Validator(closed(schema_of("open", kind)))
    assert check.is_valid({"name": "x", "a": 1, "z": 2.5})
    assert not check.is_valid({"name": "x", "a": 1, "z": "2.5"})
    assert not check.is_valid({"name": "x", "b": 1})


def keys_of_objects(schema):
    """Give name and schema of every key in a schema."""
    for one in schema if isinstance(schema, list) else schema.values() if isinstance(schema, dict) else ():
        yield from keys_of_objects(one)
    if isinstance(schema, dict) and isinstance(schema.get("required"), list):
        yield from schema["properties"].items()


def test_no_key_of_a_document_is_without_a_sentence_and_no_sentence_without_a_key():
    keys = [(command, *one) for command in COMMANDS for one in keys_of_objects(command_schema(command))]
    assert len({name for _, name, _ in keys}) > 400
    assert [(command, name) for command, name, schema in keys if not schema.get("description")] == []
    told = {schema["description"] for *_, schema in keys}
    assert [name for name, sentence in sentences().items() if sentence not in told] == []
