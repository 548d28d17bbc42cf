"""Numbers counted while they come, against sorting all of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata.layers.statistics.distribution import RequestBytes, ValueCounts, distribution
from iostrata.model.codes import MOST_BYTES, UNDEFINED_UINT64

LARGEST = MOST_BYTES
sizes = st.lists(
    st.one_of(
        st.integers(0, 5), st.sampled_from([4096, 2**20, 2**40, LARGEST, UNDEFINED_UINT64]),
        st.integers(0, LARGEST),
    ),
    max_size=60,
)  # fmt: skip


def counted(some: list[int], pieces: int = 1) -> ValueCounts:
    counts = ValueCounts()
    for piece in range(pieces):
        counts.add(np.array(some[piece::pieces], np.uint64))
    return counts


def joined(*parts: ValueCounts) -> ValueCounts:
    both = ValueCounts()
    for part in parts:
        both.merge(part)
    return both


def by_sorting(some: list[int]) -> RequestBytes:
    known = sorted(size for size in some if size != UNDEFINED_UINT64)
    if not known:
        return RequestBytes(None, None, None, None)
    p50, p90 = (known[-(-len(known) * share // 100) - 1] for share in (50, 90))
    return RequestBytes(known[0], p50, p90, known[-1])


def check_rounded(found: RequestBytes, exact: RequestBytes) -> None:
    assert (found.min, found.max) == (exact.min, exact.max)
    for mine, true in ((found.p50, exact.p50), (found.p90, exact.p90)):
        assert mine is not None
        assert true is not None
        assert true <= mine < 1.002 * true or mine == true


@given(some=sizes, other=sizes, pieces=st.integers(1, 4))
def test_equals_sorting(some: list[int], other: list[int], pieces: int) -> None:
    first, second = counted(some, pieces), counted(other)
    assert first.quantiles() == by_sorting(some)
    assert joined(first, second).quantiles() == joined(second, first).quantiles() == by_sorting(some + other)
    assert first.quantiles() == by_sorting(some)


@pytest.mark.parametrize("count", [49_152, 49_153, 400_000])
@pytest.mark.parametrize("spread", ["sequence", "logarithmic", "large"])
def test_many_sizes(count: int, spread: str) -> None:
    chance = np.random.default_rng(count)
    some = {
        "sequence": np.arange(count, dtype=np.uint64) * np.uint64(4096),
        "logarithmic": np.unique((2 ** chance.uniform(0, 47, 2 * count)).astype(np.uint64))[:count],
        "large": np.uint64(LARGEST) - np.arange(count, dtype=np.uint64) * np.uint64(1000),
    }[spread]
    some = chance.permutation(some)
    counts = ValueCounts()
    for piece in np.array_split(some, 7):
        counts.add(piece)
    exact = by_sorting(some.tolist())
    assert counts.rounded == (len(some) > 49_152)
    check_rounded(counts.quantiles(), exact)
    if not counts.rounded:
        assert counts.quantiles() == exact


def test_the_largest_sizes_do_not_fill_the_table() -> None:
    # Rounded up, they are larger than any size that is believed.
    counts = ValueCounts()
    counts.add(np.arange(60_000, dtype=np.uint64))
    assert counts.rounded
    counts.add(np.uint64(LARGEST) - np.arange(200_000, dtype=np.uint64) * np.uint64(2**30))
    check_rounded(counts.quantiles(), by_sorting(
        [*range(60_000), *(LARGEST - row * 2**30 for row in range(200_000))]
    ))  # fmt: skip


@pytest.mark.parametrize("second", [20_000, 45_000, 300_000])
def test_joined_with_what_was_rounded(second: int) -> None:
    first = np.arange(100_000, dtype=np.uint64) * np.uint64(3)
    other = np.arange(second, dtype=np.uint64) * np.uint64(7)
    exact = by_sorting([*first.tolist(), *other.tolist()])
    one, two = ValueCounts(), ValueCounts()
    one.add(first)
    two.add(other)
    for both in (joined(one, two), joined(two, one)):
        assert both.rounded
        check_rounded(both.quantiles(), exact)
        # There is room for more.
        both.add(np.arange(100_000, dtype=np.uint64) * np.uint64(11))


def test_weights_count_as_often() -> None:
    counts = ValueCounts()
    counts.add(np.array([7, UNDEFINED_UINT64, 9], np.uint64), np.array([2**40, 5, 2**40 - 1]))
    assert counts.quantiles() == RequestBytes(7, 7, 9, 9)


@given(st.lists(st.integers(0, 2**50), max_size=60))
def test_the_distribution_is_that_of_the_numbers(numbers: list[int]) -> None:
    values = np.array(numbers, np.int64)
    found, expected = counted(numbers).distribution(), distribution(values)
    assert (found.count, found.min, found.p50, found.p90, found.max) == (
        expected.count, expected.min, expected.p50, expected.p90, expected.max,
    )  # fmt: skip
    if numbers:
        assert found.mean == pytest.approx(expected.mean)
        assert counted(numbers).median() == pytest.approx(np.median(values))


def test_all_numbers_are_kept_where_they_are_wanted() -> None:
    numbers = np.arange(300_000) * 3
    counts = ValueCounts(exact=True)
    counts.add(numbers)
    assert not counts.rounded
    assert counts.quantiles() == by_sorting(numbers.tolist())
