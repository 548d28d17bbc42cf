"""The group `comparison` of an HDF5 file holds the numbers of `compare`."""

from pathlib import Path

import h5py
import numpy as np
import pytest
from iostrata.export.comparison import compare_layers
from iostrata.export.hdf5 import write_hdf5
from iostrata.layers.opening import open_trace

FIXTURES = Path(__file__).parents[2] / "fixtures"


@pytest.fixture(scope="module", params=["ncckpt4", "ior384"])
def written(request, tmp_path_factory):
    trace = open_trace(FIXTURES / request.param)
    path = tmp_path_factory.mktemp("hdf5") / "layers.h5"
    write_hdf5(trace, path, fs=10.0)
    return trace, path


def test_one_row_a_pair(written):
    trace, path = written
    entries = compare_layers(trace, fs=10.0).to_dict()["pairs"]
    with h5py.File(path) as file:
        group = file["comparison"]
        for name in ("upper", "lower", "verdict"):
            assert [text.decode() for text in group[name][:]] == [entry[name] for entry in entries]
        for name in ("upper_bytes", "lower_bytes", "hidden_bytes", "amplification", "lag_s", "coherence"):
            values = [np.nan if entry[name] is None else entry[name] for entry in entries]
            np.testing.assert_allclose(group[name][:], values)
            assert group[name].attrs["long_name"]


def test_tables_belong_to_pairs(written):
    trace, path = written
    with h5py.File(path) as file:
        group = file["comparison"]
        if not trace.flows:
            assert len(group["by_file"]) <= 1
            return
        rows = group["by_file/pair_row"][:]
        below = np.bincount(rows, weights=group["by_file/lower_bytes"][:], minlength=len(trace.flows))
        np.testing.assert_allclose(below, group["lower_bytes"][:])
        above = np.bincount(
            group["by_class/pair_row"][:], weights=group["by_class/upper_bytes"][:], minlength=len(trace.flows)
        )
        np.testing.assert_allclose(above, group["upper_bytes"][:])
        parts = sum(group[f"balance/{part}_bytes"][:] for part in ("attributed", "inferred", "hidden", "set_aside"))
        assert (parts == group["balance/bytes"][:]).all()


def test_xarray_opens_it(written):
    xarray = pytest.importorskip("xarray")
    _, path = written
    with xarray.open_dataset(path, group="comparison", engine="h5netcdf") as dataset:
        assert "amplification" in dataset
