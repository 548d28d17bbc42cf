"""Bins that operations are summed up in while they come, against the exact step signal."""

import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from iostrata.layers.selection.window import TickWindow
from iostrata.layers.summary.bins import BinGrid
from iostrata.layers.summary.tables import Kept
from iostrata.signals.construction import step_signal_from_ticks

SECOND = 1000
Operation = tuple[int, int, float, int]
"""Begin and end in ticks, bytes, category."""


def kept_of(operations: list[Operation]) -> Kept:
    begin, end, volume, category = (list(column) for column in zip(*operations, strict=True))
    return Kept(
        np.array(category, np.int32), np.array(begin, np.int64), np.array(end, np.int64), np.array(volume, np.float64),
    )  # fmt: skip


def filled(
    operations: list[Operation], bins: int, length: int, pieces: int = 1, unit: float = 1.0, categories: int = 2
) -> BinGrid:
    grid = BinGrid(categories, bins, 0, unit, (0, length))
    size = -(-len(operations) // pieces)
    for first in range(0, len(operations), size):
        piece = operations[first : first + size]
        grid.add(kept_of(piece), len(piece), np.unique([category for *_, category in piece]))
    return grid


def signal_of(grid: BinGrid, length: int, start: int = 0, categories: tuple[int, ...] = (0, 1)) -> Any:
    return grid.signal(np.array(categories), TickWindow(start, length, True, SECOND), "x")


def numbers(signal: Any) -> list[bytes]:
    return [array.tobytes() for array in (signal.times, signal.values, signal.cumulative)]


operation_lists = st.lists(
    st.tuples(
        st.integers(0, 4096), st.sampled_from([0, 0, 1, 3, 64, 700, 4096]), st.integers(0, 2**33), st.integers(0, 1)
    ).map(lambda row: (row[0], min(row[0] + row[1], 4096), float(row[2]), row[3])),
    min_size=1,
    max_size=40,
)


@given(operations=operation_lists, bins=st.sampled_from([2, 16, 64, 1024, 4096]))
@example(operations=[(0, 4096, 1.0, 0)], bins=4096)
@example(operations=[(0, 4095, 100.0, 0), (4096, 4096, 7.0, 1)], bins=64)
def test_equals_the_exact_signal_in_its_own_bins(operations: list[Operation], bins: int) -> None:
    found = signal_of(filled(operations, bins, 4096), 4096)
    begin, end, volume, _ = zip(*operations, strict=True)
    exact = step_signal_from_ticks(begin, end, volume, SECOND, (0.0, 4.096))
    fs = bins / 4.096
    assert found.volume == sum(volume)
    assert found.window == exact.window
    # An operation takes whole quanta of 2^-16 byte in each tick, so that the rest is never far behind.
    quanta = len(operations) * (2 + 4096 / 4) * 2**-16
    edges = np.arange(bins + 1) / fs
    np.testing.assert_allclose(found.volume_until(edges)[1:-1], _before(exact, edges[1:-1]), rtol=1e-9, atol=quanta)
    np.testing.assert_allclose(found.sample(fs).values / fs, exact.sample(fs).values / fs, rtol=1e-9, atol=quanta)


def _before(signal: Any, edges: Any) -> Any:
    """The volume before each edge: an impulse there belongs to the bin that follows."""
    at = np.isin(np.rint(edges * SECOND * 4), np.rint(signal.impulse_times * SECOND * 4))
    volumes = signal.volume_until(edges)
    for row in np.flatnonzero(at):
        same = np.rint(signal.impulse_times * SECOND * 4) == np.rint(edges[row] * SECOND * 4)
        volumes[row] -= signal.impulse_volumes[same].sum()
    return volumes


@given(operations=operation_lists, data=st.data(), pieces=st.integers(1, 5))
def test_order_and_slicing_do_not_change_a_bit(operations: list[Operation], data: Any, pieces: int) -> None:
    odd = [(begin, end, volume * 1.37, category) for begin, end, volume, category in operations]
    first = filled(odd, 64, 4096)
    second = filled(data.draw(st.permutations(odd)), 64, 4096, pieces)
    for categories in ((0,), (1,), (0, 1)):
        assert numbers(signal_of(first, 4096, 0, categories)) == numbers(signal_of(second, 4096, 0, categories))


far_operations = st.lists(
    st.tuples(
        st.integers(-(10**7), 10**7),
        st.sampled_from([0, 1, 2, 3000, 2**20 + 5, 2**22, 3**15]),
        st.floats(0.1, 2.0**34),
        st.integers(0, 1),
    ).map(lambda row: (row[0], row[0] + row[1], row[2], row[3])),
    min_size=1,
    max_size=30,
)


@given(
    operations=far_operations,
    data=st.data(),
    bins=st.sampled_from([16, 100, 1024]),
    unit=st.sampled_from([1.0, 1 / 3, 7.7, 2000.0]),
)
def test_order_pieces_merging_and_widening_do_not_change_a_bit(
    operations: list[Operation], data: Any, bins: int, unit: float
) -> None:
    length = 3000
    window = TickWindow(min(row[0] for row in operations), max(row[1] for row in operations) + 1, True, SECOND)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(operations)), max_size=4)))
    mixed = data.draw(st.permutations(operations))
    parts = [part for first, last in zip([0, *cuts], [*cuts, None], strict=True) if (part := mixed[first:last])]
    whole = filled(operations, bins, length, unit=unit)
    merged, *others = (filled(part, bins, length, unit=unit) for part in parts)
    for other in data.draw(st.permutations([*others, whole.empty(), merged.empty()])):
        merged.merge(pickle.loads(pickle.dumps(other)) if data.draw(st.booleans()) else other)
    # So are bins that were wide to begin with.
    wide = filled([*operations, (-(2**30), 2**30, 0.0, 0)], bins, length, unit=unit)
    wide.cover(TickWindow(-(2**26), 2**26, True, SECOND))
    late = filled(operations, bins, length, unit=unit)
    late.cover(TickWindow(-(2**26), 2**26, True, SECOND))
    for grid in (whole, merged, wide, late):
        grid.cover(window)
    assert whole.width == merged.width
    assert wide.width == late.width
    for categories in ((0,), (1,), (0, 1)):
        first, other, third, fourth = (
            numbers(grid.signal(np.array(categories), window, "x")) for grid in (whole, merged, wide, late)
        )
        assert first == other
        assert third == fourth


@given(
    operations=st.lists(
        st.tuples(st.integers(-(10**6), 10**6), st.integers(0, 10**6), st.integers(0, 2**30), st.integers(0, 1)).map(
            lambda row: (row[0], row[0] + row[1], row[2] / 7, row[3])
        ),
        min_size=1,
        max_size=30,
    )
)
def test_widening_to_both_sides_conserves_volume_exactly(operations: list[Operation]) -> None:
    grid = filled(operations, 16, 100, pieces=3)
    low, high = min(row[0] for row in operations), max(row[1] for row in operations)
    window = TickWindow(min(low, 0), max(high, 100), True, SECOND)
    grid.cover(window)
    assert grid.width in {2.0**times for times in range(40)}
    assert grid.width < 4 * (window.end - window.start) / 16 + 2
    for category in (0, 1):
        signal = grid.signal(np.array([category]), window, "x")
        whole = sum(Fraction(round(row[2] * 65536), 65536) for row in operations if row[3] == category)
        assert Fraction(signal.volume) == whole
        assert signal.window == window.seconds
        assert (np.diff(signal.times) > 0).all()
        assert (signal.values >= 0).all()
        for begin, end, *_ in operations:
            # Nothing is further from its place than a bin.
            assert signal.volume_until((end + grid.width) / SECOND) >= signal.volume_until(begin / SECOND)


def test_a_long_operation_is_spread_evenly() -> None:
    bins = 1 << 14
    found = signal_of(filled([(0, 10**6, 10_000.0, 0)], bins, 10**6), 10**6)
    volumes = found.sample(bins / 1000).values * 1000 / bins
    assert volumes.sum() == pytest.approx(10_000, rel=1e-12)
    even = np.arange(1, bins + 1) * 10_000 / bins
    # All but one of the 10^6 ticks may be ahead by a quantum of 2^-16 byte.
    assert np.abs(np.cumsum(volumes) - even).max() <= 10**6 / 4 * 2**-16
    few = signal_of(filled([(0, 10**6, 0.1, 0)], bins, 10**6), 10**6)
    assert few.volume == round(0.1 * 65536) / 65536


@pytest.mark.parametrize("length", [2**20 - 1, 2**20, 2**40 + 7, 10**12])
@pytest.mark.parametrize("volume", [1.0, 3e6, 2.0**36 + 0.3])
@pytest.mark.parametrize("unit", [1.0, 977.3])
def test_nothing_of_a_long_operation_is_further_behind_than_by_8_bytes(length: int, volume: float, unit: float) -> None:
    grid = filled([(12345, 12345 + length, volume, 0)], 1 << 20, 1000, unit=unit)
    window = TickWindow(0, length + 20000, True, SECOND)
    grid.cover(window)
    signal = grid.signal(np.array([0]), window, "x")
    # The part of an operation in a bin at its edge is spread over that bin.
    times = signal.times[2:-2]
    even = volume * np.clip((times * SECOND - 12345) / length, 0, 1)
    assert np.abs(signal.volume_until(times) - even).max() <= 8 + 1e-9 * volume


def test_impulses_at_edges_belong_to_the_bin_that_follows_and_at_the_end_to_the_last() -> None:
    grid = filled([(0, 0, 1.0, 0), (250, 250, 2.0, 0), (1000, 1000, 4.0, 0), (500, 750, 8.0, 0)], 4, 1000, unit=250.0)
    assert (signal_of(grid, 1000).sample(4).values / 4).tolist() == [1.0, 2.0, 8.0, 4.0]


def test_the_window_ends_where_rounding_puts_another_edge() -> None:
    # Bins of a third of a hundredth second: the window ends at an edge that floating point misses.
    for parts in (1, 3, 7, 11, 30):
        for length in range(10, 400, 30):
            bins = 3 * length * parts + 1
            end = 10 * length
            grid = BinGrid(1, bins, 0, SECOND / (300 * parts), (0, end))
            operations = [(0, end, 3.0, 0), (end, end, 5.0, 0)]
            grid.add(kept_of(operations), 2, np.array([0]))
            signal = signal_of(grid, end, categories=(0,))
            assert np.isfinite(signal.values).all()
            assert np.diff(signal.times).min() > 1e-3 / (300 * parts)
            assert signal.volume == pytest.approx(8.0, rel=1e-12)


def test_a_window_beyond_all_volume_gets_bins_of_the_same_width() -> None:
    grid = filled([(0, 100, 10.0, 0)], 16, 100)
    window = TickWindow(-50, 3000, True, SECOND)
    grid.cover(window)
    signal = grid.signal(np.array([0, 1]), window, "x")
    assert signal.volume == 10.0
    assert signal.volume_until((100 + grid.width) / SECOND) == 10.0
    assert grid.signal(np.array([1]), window, "x").volume == 0


def test_categories_that_are_not_asked_for_have_no_row() -> None:
    grid = BinGrid(3, 4, 0, 10.0, (0, 40))
    grid.add(kept_of([(0, 5, 1.0, 0), (0, 5, 2.0, 1), (0, 5, 4.0, -1)]), 3, np.array([0]))
    assert [signal_of(grid, 40, categories=(category,)).volume for category in range(3)] == [1.0, 0.0, 0.0]
    grid.add(kept_of([(0, 5, 8.0, 2)]), 1, np.array([2]))
    assert signal_of(grid, 40, categories=(0, 1, 2)).volume == 9.0


@pytest.mark.parametrize("low", [-(2**62), -1, 0, 2**61, 2**62 - 2])
@pytest.mark.parametrize("volume", [1.0, 2.0**63, 2.0**64])
def test_hostile_times_and_sizes_end(low: int, volume: float) -> None:
    operations = [(low, low, volume, 0), (low, 2**62 - 1, volume, 0), (0, 10, volume, 1), (2**62 - 1, 2**62, 3.0, 1)]
    grid = filled(operations, 1 << 10, 1000)
    window = TickWindow(min(low, 0), 2**62, True, SECOND)
    grid.cover(window)
    signal = signal_of(grid, 2**62, min(low, 0))
    assert np.isfinite(signal.values).all()
    assert (signal.values >= 0).all()
    assert (np.diff(signal.times) > 0).all()
    assert signal.volume == pytest.approx(3 * volume + 3, rel=1e-9)
