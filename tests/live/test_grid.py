"""The grid of a live signal: exact sums at every width, whatever the order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata.live import signal
from iostrata.live.signal import Grid


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(signal, "BINS", 16)
    monkeypatch.setattr(signal, "LEVELS", 5)


OPERATIONS = st.lists(
    st.tuples(
        st.floats(-50, 500, allow_nan=False), st.sampled_from((0.0, 1e-3, 0.4, 7.0, 90.0)), st.integers(1, 10**6)
    ),
    min_size=1,
    max_size=60,
)


def columns(rows):
    start, length, volume = (np.array(column) for column in zip(*rows, strict=True))
    return start, start + length, volume.astype(np.int64)


def added(rows, pieces=1):
    found = Grid()
    for part in np.array_split(np.arange(len(rows)), pieces):
        if part.size:
            found.add(*columns([rows[row] for row in part]))
    return found


def plain_bins(rows, width):
    """Sum operations into bins the slow way: number of the bin to what moved, first and last activity."""
    bins = {}
    for start, end, volume in zip(*columns(rows), strict=True):
        low, high = int(np.floor(start / width)), max(int(np.ceil(end / width)) - 1, int(np.floor(start / width)))
        told = 0
        for place in range(low, high + 1):
            edge = (place + 1) * width
            upto = int(volume) if place == high else int(volume * ((edge - start) / (end - start)))
            moved, first, last = bins.get(place, (0, np.inf, -np.inf))
            bins[place] = (moved + upto - told, min(first, max(start, place * width)), max(last, min(end, edge)))
            told = upto
    return bins


@given(OPERATIONS, st.randoms(), st.integers(1, 9))
def test_levels_are_sums_whatever_the_order(rows, random, pieces):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(signal, "BINS", 16)
        patch.setattr(signal, "LEVELS", 5)
        found = added(rows)
        other = added(random.sample(rows, len(rows)), pieces)
        assert found.widths == other.widths
        for number, width in enumerate(found.widths):
            one, another = found.level(number), other.level(number)
            for name in ("start", "end", "volume", "operations"):
                np.testing.assert_array_equal(getattr(one, name), getattr(another, name))
            bins = sorted(plain_bins(rows, width).items()) if width > 1e-3 else []
            if bins:
                kept = bins if number == 0 else bins[-16:]
                assert one.volume.tolist() == [own[0] for _, own in kept]
                assert one.start.tolist() == [own[1] for _, own in kept]
                assert one.end.tolist() == [own[2] for _, own in kept]
        assert found.level(0).operations.sum() == len(rows)


@pytest.mark.usefixtures("small")
def test_memory_does_not_follow_the_run():
    found = Grid()
    start = np.arange(20_000) * 0.25
    found.add(start, start + 0.2, np.full(start.size, 7))
    whole = found.level(0)
    assert whole.volume.sum() == 7 * start.size
    assert whole.operations.sum() == start.size
    assert len(whole) <= 16
    assert (whole.start[0], whole.end[-1]) == (start[0], start[-1] + 0.2)
    assert all(len(found.level(number)) <= 16 for number in range(5))
    # The finest level has the latest operations, in bins of a sixteenth of the coarsest.
    np.testing.assert_allclose(found.widths, found.widths[0] / 2.0 ** np.arange(5))
    assert found.level(4).end[-1] == start[-1] + 0.2
