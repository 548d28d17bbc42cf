"""Collective calls wait for all ranks: where there is no room for them a trace is refused, and nowhere else."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from iostrata import open_trace
from iostrata.layers.flow.calls import CallSteps
from iostrata.layers.opening import Purpose
from iostrata.layers.summary import memory
from iostrata.model.errors import SelectionError
from iostrata.model.keyed import KeyedSums
from iostrata.otf2io.source import open_source

PLENTY = 400 << 20
WITH_RELATIONS = Purpose(relations=True)


def test_more_collective_calls_than_fit_are_refused(fixtures: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In ckpt4 there are some 80, in serial1 none, where each could be hundreds of kB."""
    whole = open_trace(fixtures / "ckpt4", memory=PLENTY, purpose=WITH_RELATIONS)
    calls = len(whole.relations.sums.calls)
    assert calls > 10
    monkeypatch.setattr(memory, "_FIRST_CALL", PLENTY // 20)
    with pytest.raises(SelectionError, match=r"collective calls? do not fit into the memory until all ranks are read"):
        open_trace(fixtures / "ckpt4", memory=PLENTY, purpose=WITH_RELATIONS)
    open_trace(fixtures / "serial1", memory=PLENTY, purpose=WITH_RELATIONS)
    open_trace(fixtures / "ckpt4", memory=PLENTY)


@pytest.mark.parametrize("relations", [False, True])
def test_calls_are_given_room_before_bins_and_threads(
    relations: bool, fixtures: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "_FIRST_CALL", 1 << 17)
    source = open_source(fixtures / "ckpt4")
    plans = [memory.plan_memory(size << 20, source, 4, 2, relations=relations) for size in (280, 300, 400, 4000)]
    assert plans[-1].calls is None
    assert [plan.bins for plan in plans] == sorted(plan.bins for plan in plans)
    bounded = [plan.calls for plan in plans if plan.calls is not None]
    assert bounded == sorted(bounded)
    assert bool(bounded) == relations


def test_sums_that_wait_are_those_added_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(7)
    keys, amounts = random.integers(0, 500, (40, 2, 300)), random.integers(-9, 9, (40, 300))
    columns = [{"count": 1, "begin": amount, "end": amount} for amount in amounts]
    found: dict[int, KeyedSums] = {}
    for fewest in (0, 1 << 14):
        monkeypatch.setattr("iostrata.model.keyed._FEWEST_WAITING", fewest)
        sums = KeyedSums.none(2, "count", "begin", "end")
        for key, column in zip(keys, columns, strict=True):
            before = sums
            sums = sums.plus(tuple(key), column)
            assert len(before) <= len(sums) <= sums.at_most
        found[fewest] = sums
    one, other = found.values()
    assert all(np.array_equal(a, b) for a, b in zip(one.keys, other.keys, strict=True))
    assert all(np.array_equal(one[name], other[name]) for name in columns[0])
    assert one["count"].sum() == 40 * 300


def steps(exact: bool, order: np.ndarray[Any, Any], halves: int) -> KeyedSums:
    """Return what is settled of 3,000 operations in each of 20 calls, added in an order and in parts."""
    random = np.random.default_rng(3)
    begin = random.integers(0, 10**9, 60_000)
    end = begin + random.integers(0, 10**7, 60_000)
    parts = []
    for rows in np.array_split(order, halves):
        parts.append(CallSteps(exact))
        moving = np.ones(len(rows), np.bool_)
        parts[-1].add(np.zeros(len(rows), np.int64), rows % 20, begin[rows], end[rows], moving)
    for part in parts[1:]:
        parts[0].merge(part)
    return parts[0].settled()


def test_rounded_steps_do_not_depend_on_the_order_and_are_near_the_exact_ones() -> None:
    forward = np.arange(60_000)
    make: Callable[..., KeyedSums] = steps
    one, other, exact = make(False, forward, 1), make(False, forward[::-1], 7), make(True, forward, 3)
    for name in ("most", "ticks", "waiting"):
        assert np.array_equal(one[name], other[name]), name
    assert (one["ticks"] >= exact["ticks"]).all()
    assert np.allclose(one["ticks"], exact["ticks"], rtol=0.02)
    assert (one["most"] >= exact["most"]).all()
    assert not np.array_equal(one["ticks"], exact["ticks"])
