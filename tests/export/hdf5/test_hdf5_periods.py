"""The group ``periods`` of the HDF5 export: what detect_period says, number by number."""

from pathlib import Path
from typing import Any

import h5py
import iostrata
import numpy as np
import pytest
from iostrata import Trace, write_hdf5

DIRECTIONS = ("read", "write")


@pytest.mark.parametrize("fs", ["auto", 50.0])
def test_periods_are_those_of_detect_period(trace: Trace, tmp_path: Path, fs: Any) -> None:
    path = write_hdf5(trace, tmp_path / "out.nc", fs=fs).path
    with h5py.File(path) as file:
        group = {name: item[()] for name, item in file["periods"].items()}
    plain = ("period_s", "frequency_hz", "confidence", "recurrence_s", "jitter")
    for row, layer in enumerate(trace.layers):
        for column, way in enumerate(DIRECTIONS):
            place = row, column
            signal = trace.layers[layer].bandwidth(way)
            if signal.volume == 0:
                assert not group["periodic"][place]
                assert all(np.isnan(group[name][place]) for name in plain)
                assert group["reason"][place] == b"The signal moved no bytes."
                continue
            expected = iostrata.detect_period(signal, fs=fs).to_dict()
            assert bool(group["periodic"][place]) == expected["periodic"]
            assert group["reason"][place].decode() == expected["reason"]
            assert group["method"][place].decode() == expected["method"]
            assert group["samples"][place] == expected["sampling"]["samples"]
            numbers = {name: expected[name] for name in plain} | expected["metrics"]
            numbers |= {"fs_hz": expected["sampling"]["fs_hz"]}
            for name, value in numbers.items():
                assert group[name][place] == value or (value is None and np.isnan(group[name][place])), name
            interval = expected["period_interval_s"] or [None, None]
            np.testing.assert_array_equal(group["period_interval_s"][place], np.array(interval, float))
            tables = {
                "phase": ("phases", ("start_s", "end_s", "bytes")),
                "regime": ("regimes", ("start_s", "end_s", "period_s")),
                "component": ("periods", ("period_s", "confidence", "bytes")),
            }
            for table, (key, columns) in tables.items():
                rows = (group[f"{table}_layer"] == row) & (group[f"{table}_direction"] == column)
                for name in columns:
                    found = group[f"{table}_{name}"][rows]
                    np.testing.assert_array_equal(found, np.array([one[name] for one in expected[key]], float))


def test_no_periods_on_request(trace: Trace, tmp_path: Path) -> None:
    path = write_hdf5(trace, tmp_path / "out.nc", fs=5.0, periods=False).path
    with h5py.File(path) as file:
        assert "periods" not in file
        assert file.attrs["method"] == "none"
