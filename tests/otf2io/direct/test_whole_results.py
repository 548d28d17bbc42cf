"""What this room reads of recordings in whole, as stored."""

import pytest
from iostrata.otf2io.archive import open_archive

from ..reading import read_events

RECORDINGS = (
    "aperiodic4",
    "ckpt4_tsc",
    "late4",
    "mixed4",
    "ncckpt4",
    "nonblocking4",
    "small_files2",
    "threads2",
    "broken_race_corruption",
)


@pytest.mark.parametrize("name", RECORDINGS)
def test_all_that_is_read_is_that_stored(held, fixtures, name):
    archive = open_archive(fixtures / name)
    read = read_events(archive, "direct")
    held(name, read)
