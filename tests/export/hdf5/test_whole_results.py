"""All variables and attributes of files written of recordings, as stored."""

import h5py
import numpy as np
import pytest
from iostrata import open_trace, write_hdf5

CHANGES = ("history", "date_created", "software_version", "source", "iostrata_version", "created", "version")


def content_of(path):
    found = {}

    def visit(name, item):
        attributes = {key: value for key, value in item.attrs.items() if key not in CHANGES and key.islower()}
        attributes = {
            key: value for key, value in attributes.items() if not isinstance(value, h5py.Reference | np.ndarray)
        }
        found[name] = {"attributes": {key: str(value) for key, value in sorted(attributes.items())}}
        if isinstance(item, h5py.Dataset) and item.dtype.kind != "V":
            value = item[()]
            texts = item.dtype.kind == "O"
            found[name]["values"] = [one.decode() for one in np.ravel(value)] if texts else np.atleast_1d(value).ravel()

    with h5py.File(path) as file:
        file.visititems(visit)
    return found


@pytest.mark.parametrize("name", ["ckpt4", "small_files2", "broken_race_corruption"])
def test_variables_are_those_stored(held, fixtures, tmp_path, name):
    write_hdf5(open_trace(fixtures / name), tmp_path / "a.h5")
    held(name, content_of(tmp_path / "a.h5"))
