"""All findings of real recordings, with their evidence, as stored; and rules at their thresholds."""

import pytest
from iostrata import open_trace
from iostrata.analysis.findings import find

RECORDINGS = (
    "aperiodic4",
    "ckpt4",
    "ckpt4_jitter",
    "ckpt4_romio",
    "ckpt8_unnested",
    "late4",
    "mixed4",
    "ncckpt4",
    "ncckpt4_indep",
    "ncckpt8",
    "nonblocking4",
    "serial1",
    "small_files2",
    "stock/hdf5_2",
    "stock/pnetcdf2",
    "threads2",
)


@pytest.mark.parametrize("name", RECORDINGS)
def test_findings_are_those_stored(fixtures, held, name):
    found = find(open_trace(fixtures / name))
    held(name.replace("/", "_"), list(found))
