"""What this room reads of recordings in whole, as stored."""

import pytest
from iostrata.otf2io.files.anchor import read_anchor

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
    held(name, read_anchor(fixtures / name))
