"""What this room reads of recordings in whole, as stored."""

import pytest
from iostrata.otf2io.files.anchor import read_anchor

from ..reading import RECORDINGS


@pytest.mark.parametrize("name", RECORDINGS)
def test_all_that_is_read_is_that_stored(held, fixtures, name):
    held(name, read_anchor(fixtures / name))
