"""How a bound of memory is shared out."""

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata import SelectionError
from iostrata.layers.summary.memory import FEWEST_BINS, MOST_BINS, MemoryPlan, plan_memory
from iostrata.model.definitions import Locations

MIB = 1 << 20


def source(definitions: Any, chunk: int = MIB, held: int = 0) -> Any:
    return SimpleNamespace(path=Path("x/t.otf2"), definitions=definitions, chunk=chunk, held=held)


def memory_of(plan: MemoryPlan) -> int:
    """What the plan takes: all signals with 16 bytes a bin, and twelve more for the one that is analysed."""
    return plan.base + plan.workers * plan.thread + plan.bins * 16 * (max(plan.signals, 1) + 12)


cases = st.tuples(
    st.integers(0, 60), st.integers(1, 64), st.sampled_from([1 << 18, MIB, 1 << 24]), st.integers(0, 3 << 33)
)


def planned(memory: int, signals: int, workers: int | None, chunk: int, definitions: Any) -> MemoryPlan | str:
    try:
        return plan_memory(memory, source(definitions, chunk), signals, workers)
    except SelectionError as error:
        return str(error)


@given(case=cases, more=st.integers(0, 2**30))
def test_sums_stay_within_the_bound_and_more_memory_never_gives_less(
    case: Any, more: int, make_definitions: Any
) -> None:
    signals, workers, chunk, memory = case
    definitions = make_definitions([("POSIX", "/a", -1)] * 3)
    plan = planned(memory, signals, workers, chunk, definitions)
    if isinstance(plan, str):
        if memory:
            # The amount that is named is enough, and hardly any less is.
            least = int(re.search(r"at least (\d+)M", plan).group(1))  # type: ignore[union-attr]
            assert least * 10**6 > memory
            assert isinstance(planned(least * 10**6, signals, workers, chunk, definitions), MemoryPlan)
            assert isinstance(planned((least - 1) * 10**6, signals, workers, chunk, definitions), str)
        return
    assert memory_of(plan) <= memory
    assert 1 <= plan.workers <= workers
    assert FEWEST_BINS <= plan.bins <= MOST_BINS
    assert plan.bins & (plan.bins - 1) == 0
    richer = plan_memory(memory + more, source(definitions, chunk), signals, workers)
    assert richer.workers >= plan.workers
    assert richer.bins >= plan.bins
    assert richer.events_waiting >= plan.events_waiting


@given(case=cases, bins=st.integers(1, MOST_BINS))
def test_the_memory_named_for_bins_is_enough(case: Any, bins: int, make_definitions: Any) -> None:
    signals, workers, chunk, memory = case
    definitions = make_definitions([("POSIX", "/a", -1)])
    plan = planned(memory, signals, workers, chunk, definitions)
    if isinstance(plan, MemoryPlan):
        needed = plan.memory_for(bins)
        for more in (0, 1, MIB, 2**33):
            assert plan_memory(needed + more, source(definitions, chunk), signals, workers).bins >= bins
        if bins > plan.bins:
            assert needed > memory


def test_handles_signals_and_chunks_take_memory(make_definitions: Any) -> None:
    few, many = make_definitions([("POSIX", "/a", -1)]), make_definitions([("POSIX", "/a", -1)] * 100_000)
    small = plan_memory(400 * MIB, source(few), 2, 1)
    assert plan_memory(2**40, source(many), 2, 1).base > small.base
    assert plan_memory(400 * MIB, source(few), 12, 1).bins < small.bins
    assert plan_memory(400 * MIB, source(few, 1 << 24), 2, 1).thread > small.thread + 15 * MIB


def test_locations_take_memory_and_twice_as_much_where_ranks_are_related(make_definitions: Any) -> None:
    few = make_definitions([("POSIX", "/a", -1)])
    locations = few.locations
    place = np.zeros(len(locations.id) + 10_000, np.intp)
    repeated = Locations(
        np.arange(len(place), dtype=np.uint64),
        tuple(locations.name[row] for row in place),
        *(column[place] for column in (locations.kind, locations.events * 0, locations.group)),
    )
    many = replace(few, locations=repeated)
    apart, related = (
        plan_memory(2**40, source(many), 2, 1, relations=all_).base
        - plan_memory(2**40, source(few), 2, 1, relations=all_).base
        for all_ in (False, True)
    )
    assert apart == 430 * 10_000
    assert related == 2 * apart


def test_as_many_workers_as_processors(make_definitions: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _process: set(range(5)))
    definitions = make_definitions([("POSIX", "/a", -1)])
    assert plan_memory(2**40, source(definitions), 2).workers == 5
    assert plan_memory(2**40, source(definitions), 2, 3).workers == 3


@pytest.mark.parametrize("memory", [0, -1, True, 1.5e9, "500M", None])
def test_what_is_no_amount_of_bytes(memory: Any, make_definitions: Any) -> None:
    with pytest.raises(SelectionError, match="whole number of bytes above 0"):
        plan_memory(memory, source(make_definitions([("POSIX", "/a", -1)])), 2)


@pytest.mark.parametrize("workers", [0, -2])
def test_no_workers(workers: int, make_definitions: Any) -> None:
    with pytest.raises(SelectionError, match="workers cannot read"):
        plan_memory(2**30, source(make_definitions([("POSIX", "/a", -1)])), 2, workers)


def test_what_the_source_holds_counts(make_definitions: Any) -> None:
    definitions = make_definitions([("POSIX", "/a", -1)])
    bare, full = (plan_memory(2**32, source(definitions, held=held), 2, 1) for held in (0, 100 * MIB))
    assert full.base == bare.base + 100 * MIB
    with pytest.raises(SelectionError, match="not enough"):
        plan_memory(2**30, source(definitions, held=2**30), 2, 1)
