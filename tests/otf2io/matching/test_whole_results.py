"""What this room reads of recordings in whole, as stored."""

import pytest
from iostrata import open_trace

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
    trace = open_trace(fixtures / name, engine="direct", files="all")
    held(name, [trace.operations, trace.damage])
