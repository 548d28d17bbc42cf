"""What this room reads of recordings in whole, as stored."""

import pytest
from iostrata.otf2io.archive import open_archive

from ..reading import RECORDINGS, read_events


@pytest.mark.parametrize("name", RECORDINGS)
def test_all_that_is_read_is_that_stored(held, fixtures, name):
    archive = open_archive(fixtures / name)
    read = read_events(archive, "library")
    held(name, read)
