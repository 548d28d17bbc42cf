"""What is told of a file that was written."""

from pathlib import Path

import pytest
from iostrata.export.written import Written


def test_what_a_file_does_not_have_is_left_out():
    assert Written(Path("a.h5"), 7).to_dict() == {"path": "a.h5", "bytes": 7}


@pytest.mark.parametrize(
    ("name", "value"), [("layers", ("POSIX",)), ("bins", 3), ("signals", 0), ("beside", ("traces/",))]
)
def test_what_it_has_is_told(name, value):
    found = Written(Path("a.h5"), 7, **{name: value}).to_dict()
    assert found.keys() == {"path", "bytes", name}
    assert list(found[name]) == list(value) if isinstance(value, tuple) else found[name] == value
