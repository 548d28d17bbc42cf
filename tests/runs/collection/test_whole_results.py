"""Rows of recordings in a collection in whole, as stored."""

import pytest
from iostrata.runs import Settings, read_run

RECORDINGS = ("aperiodic4", "ckpt4", "late4", "mixed4", "ncckpt4", "nonblocking4", "small_files2", "threads2")


@pytest.mark.parametrize("name", RECORDINGS)
def test_rows_are_those_stored(held, fixtures, name):
    run = read_run(fixtures / name / "traces.otf2", Settings(segment=0.1))
    held(name, run, skipped=("iostrata", "version", "read_at", "modified", "settings"))
