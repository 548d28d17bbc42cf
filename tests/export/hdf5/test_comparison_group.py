"""The group `comparison` of an HDF5 file holds the numbers of `compare`."""

from pathlib import Path

import h5py
import numpy as np
import pytest
from iostrata import compare_layers, open_trace, write_hdf5

FIXTURES = Path(__file__).parents[3] / "fixtures"


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


def test_access_patterns_are_those_of_the_comparison(written):
    trace, path = written
    accesses = compare_layers(trace).accesses
    with h5py.File(path) as file:
        group = file["comparison/access"]
        assert len(group["row"]) == len(accesses)
        if not accesses:
            return
        for name in ("operations", "consecutive", "strided", "random", "backward"):
            # What nobody knows is no number.
            values = [np.nan if getattr(one, name) is None else getattr(one, name) for one in accesses]
            np.testing.assert_array_equal(group[name][:], values)
        assert [text.decode() for text in group["above"][:]] == [one.above or "" for one in accesses]


def test_xarray_opens_it(written):
    xarray = pytest.importorskip("xarray")
    _, path = written
    with xarray.open_dataset(path, group="comparison", engine="h5netcdf") as dataset:
        assert "amplification" in dataset


def test_columns_have_the_units_of_what_they_hold(written):
    _, path = written
    with h5py.File(path) as file:
        balance = file["comparison/balance"]
        assert balance["hidden_bytes"].attrs["units"] == "byte"
        assert balance["hidden_operations"].attrs["units"] == "1"
        if len(file["comparison/request_flow"]) > 1:
            assert file["comparison/request_flow/upper_from_bytes"].attrs["units"] == "byte"
            assert file["comparison/by_file/amplification"].attrs["units"] == "1"


def test_a_share_of_bytes_is_no_volume(tmp_path, monkeypatch):
    """A column that has no unit is an error, whatever its name looks like."""
    trace = open_trace(FIXTURES / "ckpt4")
    compared = compare_layers(trace, fs=10.0)
    table = type(compared.balances[0])
    monkeypatch.setattr(table, "to_dict", lambda _: {"layer": "POSIX", "direction": "read", "share_of_bytes": 0.5})
    with pytest.raises(KeyError, match="share_of_bytes"):
        write_hdf5(trace, tmp_path / "layers.h5", fs=10.0)
