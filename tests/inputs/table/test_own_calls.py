"""A program that was recorded by Score-P and told its own calls in a table: both give the same."""

from pathlib import Path

import iostrata
import numpy as np
import pytest

FOLDER = Path(__file__).parents[3] / "fixtures" / "own_calls2"


@pytest.fixture(scope="module")
def recorded():
    return iostrata.open_trace(FOLDER / "recorded")


@pytest.fixture(scope="module")
def told():
    return iostrata.open_trace(FOLDER / "calls.csv")


@pytest.mark.parametrize("direction", ["read", "write", "total"])
def test_numbers_of_operations(recorded, told, direction):
    one, other = (trace.layers["POSIX"].statistics(direction) for trace in (recorded, told))
    for name in ("operations", "bytes", "own_bytes", "ranks", "files"):
        assert getattr(one, name) == getattr(other, name), name
    assert one.operations > 8
    # The program's clock is read outside of the calls.
    assert 0 <= other.summed_s - one.summed_s < 0.001 + other.summed_s / 3


def test_every_operation(recorded, told):
    one, other = (trace.to_dataframe().query("layer == 'POSIX'") for trace in (recorded, told))
    one = one[one["file"].str.contains("state", na=False)]
    for rank in (0, 1):
        a, b = (table[table["rank"] == rank].sort_values("begin_s") for table in (one, other))
        assert a["kind"].tolist() == b["kind"].tolist()
        moves = (a["kind"] != "flush").to_numpy()
        for name in ("bytes_moved", "bytes_requested"):
            assert a[name][moves].tolist() == b[name][moves].tolist(), name
        # Both count from a moment of their own.
        shift = a["begin_s"].to_numpy() - b["begin_s"].to_numpy()
        assert np.ptp(shift) < 0.001


def test_periods(recorded, told):
    one, other = (iostrata.detect_period(trace.layers["POSIX"].bandwidth("write")) for trace in (recorded, told))
    assert one.periodic
    assert other.periodic
    assert one.period == pytest.approx(other.period, rel=0.002)
    assert one.period == pytest.approx(0.1, rel=0.02)
    assert len(one.phases) == len(other.phases) == 12
