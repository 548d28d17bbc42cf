"""Sums merge field by field as they declare it."""

import pickle
from collections import Counter
from dataclasses import field

import numpy as np
from iostrata.model.keyed import KeyedSums
from iostrata.model.sums import NOBODY, Sums, added, by_key, either, keyed, largest, least, nested, reduced


class Inner(Sums):
    step: int
    count: int = added(0)


class Outer(Sums):
    """One of each kind; numbers of processes that go on wait in `waiting`."""

    size: int
    label: str = "some"
    total: int = added(0)
    table: np.ndarray = added(lambda sums: np.zeros(sums.size, np.int64))
    names: tuple[str, ...] = added(())
    kinds: Counter[str] = added(lambda _sums: Counter())
    cut: bool = either(False)
    seen: set[int] = either(lambda _sums: set())
    first: int | None = least(None)
    last: np.ndarray = largest(lambda sums: np.full(sums.size, -1))
    pairs: KeyedSums = keyed(1, "count", "end")
    inner: Inner = nested(lambda sums: Inner(sums.size))
    optional: Inner | None = nested(lambda _sums: None)
    by_rank: dict[int, Inner] = by_key()
    lengths: dict[str, np.ndarray] = by_key()
    product: int = reduced(lambda _sums: 1, lambda one, other: one * other)
    waiting: dict[int, int] = field(init=False, default_factory=dict)

    def finish(self, going_on=NOBODY):
        for process in set(self.waiting) - set(going_on.tolist()):
            self.total += self.waiting.pop(process)
        super().finish(going_on)


def filled(number, size=3):
    sums = Outer(size)
    sums.total += number
    sums.table[number % size] += number
    sums.names += (str(number),)
    sums.kinds[str(number % 2)] += 1
    sums.cut |= number == 2
    sums.seen.add(number)
    sums.first = number
    sums.last[:] = number
    sums.pairs = sums.pairs.merged(
        KeyedSums([np.array([number % 2])], {"count": np.ones(1), "end": np.array([number])})
    )
    sums.inner.count += number
    sums.by_rank[number % 2] = Inner(1)
    sums.by_rank[number % 2].count = number
    sums.lengths[str(number % 2)] = np.array([number])
    sums.product = number
    sums.waiting[number] = 100
    return sums


def test_each_field_adds_as_it_is_declared():
    sums, parts = Outer(3), [filled(number) for number in (1, 2, 3)]
    for part in parts:
        sums.merge(part)
    assert (sums.total, sums.table.tolist(), sums.names) == (306, [3, 1, 2], ("1", "2", "3"))
    assert (sums.kinds, sums.cut, sums.seen) == ({"1": 2, "0": 1}, True, {1, 2, 3})
    assert (sums.first, sums.last.tolist(), sums.product) == (1, [3, 3, 3], 6)
    assert (sums.pairs["count"].tolist(), sums.pairs["end"].tolist()) == ([1, 2], [2, 3])
    assert (sums.inner.count, sums.optional) == (6, None)
    assert {rank: one.count for rank, one in sums.by_rank.items()} == {1: 4, 0: 2}
    assert {key: one.tolist() for key, one in sums.lengths.items()} == {"1": [4], "0": [2]}


def test_what_was_merged_stays_as_it_was():
    sums, part = Outer(3), filled(1)
    for _ in range(2):
        sums.merge(part)
    assert (part.by_rank[1].count, part.lengths["1"].tolist(), part.table.tolist()) == (1, [1], [0, 1, 0])
    assert (part.total, part.inner.count, sums.by_rank[1].count) == (101, 1, 2)


def test_empty_sums_have_the_parameters_and_nothing_else():
    sums = Outer(2, "mine")
    sums.total, sums.by_rank[3] = 7, Inner(1)
    fresh = sums.empty()
    assert (fresh.size, fresh.label, fresh.total, fresh.by_rank, fresh.inner.step) == (2, "mine", 0, {}, 2)


def test_processes_that_go_on_are_not_finished_and_nested_sums_are():
    sums = filled(1)
    sums.waiting[5] = 7
    sums.finish(np.array([5]))
    assert (sums.total, sums.waiting) == (101, {5: 7})
    sums.merge(Outer(3))
    assert (sums.total, sums.waiting) == (108, {})


def test_sums_can_be_sent_away():
    assert pickle.loads(pickle.dumps(filled(2))).table.tolist() == [0, 0, 2]
