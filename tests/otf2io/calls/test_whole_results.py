"""What this room reads of recordings in whole, as stored."""

import pytest
from iostrata import open_trace

RECORDINGS = ("stock/hdf5_2", "stock/ncckpt2", "stock/pnetcdf2")


@pytest.mark.parametrize("name", RECORDINGS)
def test_all_that_is_read_is_that_stored(held, fixtures, name):
    found = []
    for calls in ("auto", "all", "off"):
        trace = open_trace(fixtures / name, calls=calls)
        found.append([trace.operations, trace.definitions, trace.calls])
    held(name.replace("/", "_"), found)
