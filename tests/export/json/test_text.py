"""JSON that the strictest parser takes, whatever is in the document."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata.export.json.documents import json_text

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters()), inner, max_size=4),
    max_leaves=20,
)


def refuse(constant):
    raise AssertionError(constant)


@given(VALUES)
def test_any_document_is_strict_json(value):
    text = json_text({"schema_version": 1, "value": value})
    assert text.isascii()
    found = json.loads(text, parse_constant=refuse)
    assert list(found) == ["schema_version", "value"]
    json.dumps(found, ensure_ascii=False).encode("utf-8")  # no half of a surrogate pair is left


@given(st.text(st.characters(exclude_categories=["Cs"])), st.floats(allow_nan=False, allow_infinity=False))
def test_sound_values_come_back_unchanged(text, number):
    assert json.loads(json_text({"text": text, "number": number})) == {"text": text, "number": number}


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, np.float32("nan"), np.float64("inf")])
def test_what_is_no_number_is_null(number):
    assert json.loads(json_text({"a": number, "b": [number]})) == {"a": None, "b": [None]}


def test_numpy_values_become_plain():
    document = {"a": np.uint64(2**64 - 1), "b": np.arange(3), "c": np.bool_(True), "d": (np.float64(0.5),)}
    assert json.loads(json_text(document)) == {"a": 2**64 - 1, "b": [0, 1, 2], "c": True, "d": [0.5]}


def test_half_a_surrogate_pair_is_replaced():
    assert json.loads(json_text({"na\udcffme": "a\ud800"})) == {"na\ufffdme": "a\ufffd"}
    assert json.loads(json_text({"smile": "\U0001f600"})) == {"smile": "\U0001f600"}


def test_what_has_no_json_is_refused():
    with pytest.raises(TypeError):
        json_text({"a": object()})
