"""The mapping of names to layers."""

import pytest
from iostrata import SelectionError, open_trace
from iostrata.layers.layer import UnknownLayerError


def test_layers_are_a_mapping_highest_first(fixtures):
    layers = open_trace(fixtures / "ncckpt4").layers
    assert list(layers) == ["netCDF", "HDF5", "MPI-IO", "ISOC", "POSIX"]
    assert "HDF5" in layers
    assert "ADIOS" not in layers
    assert layers.get("ADIOS") is None
    assert layers["posix"] is layers["POSIX"]
    assert layers["STDIO"] is layers["ISOC"]
    with pytest.raises(SelectionError, match=r"^no layer 'ADIOS' in this trace; there are netCDF, HDF5"):
        layers["ADIOS"]
    with pytest.raises(KeyError):
        layers["ADIOS"]
    assert str(UnknownLayerError("no layer")) == "no layer"
    with pytest.raises(TypeError):
        layers["POSIX"] = None
