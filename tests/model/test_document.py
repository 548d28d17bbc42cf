"""Results as entries of documents: names, order, and what is left out."""

from typing import ClassVar

import numpy as np
import pytest
from iostrata.model.document import Record, checked_document, plain
from iostrata.model.metrics import KEYS


class Burst(Record):
    start: float
    volume: float


class Named(Record):
    KEYS: ClassVar = {"volume": "volume", "phase": "phase_rad"}

    volume: float
    phase: float


class Chosen(Record):
    ENTRIES: ClassVar = ("doubled", "period", "hint")
    OPTIONAL: ClassVar = frozenset({"hint"})

    period: float | None
    hidden: int
    hint: str | None = None

    @property
    def doubled(self) -> int:
        return 2 * self.hidden


def test_fields_are_entries_with_the_names_of_documents() -> None:
    assert list(Burst(1.5, 10.0).to_dict().items()) == [("start_s", 1.5), ("bytes", 10.0)]


def test_a_record_may_name_an_entry_otherwise() -> None:
    assert Named(10.0, 0.5).to_dict() == {"volume": 10.0, "phase_rad": 0.5}


def test_entries_may_be_properties_in_any_order_and_only_optional_ones_are_left_out() -> None:
    assert list(Chosen(None, 4).to_dict().items()) == [("doubled", 8), ("period_s", None)]
    assert Chosen(2.0, 4, "why").to_dict()["hint"] == "why"


def test_names_of_documents_are_distinct() -> None:
    assert len(set(KEYS.values())) == len(KEYS)


def test_plain_values_are_of_python_and_finite() -> None:
    values = {"a": np.float64("nan"), "b": np.arange(2), "c": (np.bool_(True), None), 4: Burst(0.0, np.inf)}
    assert plain(values) == {"a": None, "b": [0, 1], "c": [True, None], "4": {"start_s": 0.0, "bytes": None}}
    with pytest.raises(TypeError, match="no plain form"):
        plain(object())


def test_a_document_of_this_version_is_taken_and_no_other():
    assert checked_document({"schema_version": 1, "a": 2}) == {"schema_version": 1, "a": 2}
    for version, said in ((2, "2"), (0, "0"), (True, "True"), ("9" * 41, "9" * 40)):
        with pytest.raises(ValueError, match=f"its schema_version is {said}, this program reads 1"):
            checked_document({"schema_version": version})
    for other in ({}, [], None):
        with pytest.raises(ValueError, match="no "):
            checked_document(other)
