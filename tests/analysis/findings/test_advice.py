"""Advice names no library that a trace does not show, and stays a sentence."""

import re

import pytest
from iostrata import open_trace
from iostrata.analysis.findings import find, rules
from iostrata.analysis.findings.advice import advice_for

EVERY = ["netCDF", "HDF5", "MPI-IO", "POSIX"]
KNOBS = {"HDF5": r"\bH5[A-Z]", "netCDF": r"\b(nc_|NC_)", "MPI-IO": r"\b(MPI_File_|romio_|cb_nodes|OMPI_MCA)"}


@pytest.mark.parametrize("layers", [["POSIX"], ["MPI-IO", "POSIX"], ["HDF5", "POSIX"], EVERY], ids="+".join)
@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.id)
def test_advice_is_for_what_is_there(rule, layers):
    told = advice_for(rule.advice, layers)
    assert told == rule.advice or layers != EVERY
    assert told.endswith(".") or told == rule.advice
    assert told.count("(") == told.count(")")
    assert not re.search(r"[,;:] ?[.;]|: or |  ", told)
    if told != rule.advice:
        for library, pattern in KNOBS.items():
            assert library in layers or not re.search(pattern, told)


def test_under_open_mpi_its_own_knobs_come_first(fixtures):
    assert (
        advice_for("Raise it: a, b (ROMIO), c (OMPIO), or d.", EVERY, open_mpi=True)
        == "Raise it: c (OMPIO), a, b (ROMIO), or d."
    )
    one = next(one for one in find(open_trace(fixtures / "ckpt4")) if one.id == "funnelled-collective")
    assert one.advice.startswith("More aggregators: OMPI_MCA_io_ompio_num_aggregators (OMPIO), hints cb_nodes and")


def test_a_run_of_mpi_io_gets_no_hints_for_hdf5(fixtures):
    every = find(open_trace(fixtures / "ckpt4"))
    assert every
    assert not any("H5" in one.advice or "nc_" in one.advice for one in every)
