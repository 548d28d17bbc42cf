"""Names of a package that are loaded when they are asked for."""

import iostrata
import pytest


def test_a_face_has_what_it_lists_and_nothing_else():
    assert "open_trace" in dir(iostrata)
    assert iostrata.__all__ == sorted(iostrata.__all__)
    assert isinstance(iostrata.__version__, str)
    for name in ("nothing", "__wrapped__"):
        with pytest.raises(AttributeError, match=f"has no attribute '{name}'"):
            getattr(iostrata, name)
