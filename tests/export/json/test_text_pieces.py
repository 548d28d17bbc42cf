"""A document written piece by piece is the text that it would be as a whole."""

import json

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from iostrata.export.json.documents import json_pieces, json_text

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), VALUES, max_size=4), st.lists(VALUES, max_size=5))
def test_pieces_make_the_whole(document, items):
    whole = {**document, "a list": items}
    pieces = list(json_pieces({**document, "a list": iter(items)}))
    assert "".join(pieces) == json_text(whole)
    assert "".join(json_pieces(whole)) == json_text(whole)


def test_a_long_iterator_comes_in_many_pieces_of_bounded_length():
    pieces = list(json_pieces({"rows": ({"row": np.int64(row)} for row in range(10_000))}))
    assert max(map(len, pieces)) < 50_000
    assert json.loads("".join(pieces))["rows"][-1] == {"row": 9999}
