"""How I/O follows the number of ranks."""

import numpy as np
import pytest
from iostrata import step_signal
from iostrata.runs.signatures.scaling import scaling_of
from iostrata.runs.signatures.traces import RunSignals


def run(ranks, volume, seconds):
    """Return a run with five bursts that move so many bytes in so many seconds together."""
    start = 10.0 * np.arange(5)
    signal = step_signal(start, start + seconds / 5, np.full(5, volume / 5), window=(0.0, 60.0))
    return RunSignals(f"{ranks} {volume} {seconds}", "run", {"POSIX": signal}, (), ranks)


def test_weak_scaling_at_a_constant_bandwidth():
    """IOSI, Figure 20: volume and the time in I/O grow linearly with the nodes, the bandwidth is the same."""
    found = scaling_of([run(160, 16e9, 4), run(320, 32e9, 8), run(640, 64e9, 16)], "POSIX")
    assert found.ranks == (160, 320, 640)
    assert found.volume_bytes == pytest.approx((16e9, 32e9, 64e9))
    assert (found.volume_exponent, found.busy_exponent) == pytest.approx((1, 1))
    assert found.bandwidth_exponent == pytest.approx(0, abs=1e-9)
    assert found.text == (
        "weak scaling: from 160 to 640 ranks bytes 4 times (linear), the time in which they move 4 times (linear), "
        "the bandwidth meanwhile 1 times (the same)"
    )


def test_strong_scaling_that_slows_down():
    found = scaling_of([run(2, 8e9, 1), run(2, 8e9, 3), run(8, 8e9, 8)], "POSIX")
    assert found.busy_s == pytest.approx((2, 8))
    assert found.text.startswith("strong scaling: from 2 to 8 ranks bytes 1 times (the same)")
    assert found.bandwidth == pytest.approx((8e9 * (1 + 1 / 3) / 2, 1e9))
    assert found.bandwidth_exponent == pytest.approx(-found.busy_exponent)


def test_neither_weak_nor_strong():
    assert scaling_of([run(1, 1e9, 1), run(4, 2e9, 1)], "POSIX").text.startswith("scaling: from 1 to 4 ranks")


@pytest.mark.parametrize("ranks", [(4, 4), (0, 4)])
def test_of_one_size_or_an_unknown_one_nothing_is_told(ranks):
    assert scaling_of([run(one, 1e9, 1) for one in ranks], "POSIX") is None
