"""Text as HDF5 can hold it."""

import re

from hypothesis import given
from hypothesis import strategies as st
from iostrata.export.hdf5.variables import storable


@given(st.text(alphabet=st.characters(), max_size=30))
def test_storable_text_changes_only_what_cannot_be_stored(text: str) -> None:
    stored = storable(text)
    stored.encode()
    assert "\0" not in stored
    if "\0" not in text and not re.search("[\ud800-\udfff]", text):
        assert stored == text
    kept = re.sub("[\0\ud800-\udfff]", "", text)
    assert re.sub(r"\\x00|\\ud[89a-f][0-9a-f]{2}", "", stored) == re.sub(r"\\x00|\\ud[89a-f][0-9a-f]{2}", "", kept)
