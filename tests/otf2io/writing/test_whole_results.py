"""Archives written anew from recordings: all operations are the same, and as stored."""

import dataclasses

import numpy as np
import pytest
from iostrata import open_trace, write_otf2

RECORDINGS = ("aperiodic4", "mixed4", "ncckpt4", "nonblocking4", "small_files2", "threads2")


@pytest.mark.parametrize("name", RECORDINGS)
def test_archives_have_the_same_operations(held, fixtures, tmp_path, name):
    before = open_trace(fixtures / name, files="all")
    write_otf2(before, tmp_path / "again.otf2")
    after = open_trace(tmp_path / "again.otf2", files="all")
    assert len(before.operations.begin)
    for column in dataclasses.fields(before.operations):
        if column.name in ("begin", "end", "mode", "moved", "requested", "offset", "status", "flags"):
            one, other = getattr(before.operations, column.name), getattr(after.operations, column.name)
            assert np.array_equal(np.sort(one), np.sort(other)), column.name
    held(name, [after.definitions, after.operations, {one.name: one.metadata_events for one in after.layers.values()}])
