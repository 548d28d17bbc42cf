"""What this room reads of recordings in whole, as stored."""

import pytest
from iostrata import open_trace

from ..reading import RECORDINGS


@pytest.mark.parametrize("name", RECORDINGS)
def test_all_that_is_read_is_that_stored(held, fixtures, name):
    trace = open_trace(fixtures / name, engine="direct", files="all")
    held(name, [trace.operations, trace.damage])
