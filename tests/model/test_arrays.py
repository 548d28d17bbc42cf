"""Forests by pointer doubling against walks along parents, one row at a time."""

import pickle
import pkgutil
from importlib import import_module
from typing import Any, Generic, NamedTuple, TypeVar

import iostrata
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from iostrata.model.arrays import (
    RowsOfIds,
    any_ancestor,
    column_at,
    column_types,
    depths,
    differences,
    empty_columns,
    median,
    nearest_lower_rank,
    sound_parents,
    subtree_sums,
    variation,
)
from iostrata.model.events import EventColumns, IoEvents
from iostrata.model.stream.calls import RegionEvents

parents = st.integers(0, 24).flatmap(lambda n: st.lists(st.integers(-3, n + 2), min_size=n, max_size=n))


def walk(parent, row):
    rows = []
    while (row := int(parent[row])) >= 0:
        rows.append(row)
        assert len(rows) <= len(parent)
    return rows


@given(parents, st.data())
def test_all_columns_equal_walks(given_parents, data):
    count = len(given_parents)
    parent = sound_parents(np.array(given_parents, np.int32))[0]
    value = np.array(data.draw(st.lists(st.integers(0, 2**60), min_size=count, max_size=count)), np.uint64)
    rank = np.array(data.draw(st.lists(st.integers(0, 4), min_size=count, max_size=count)), np.int32)
    marked = np.array(data.draw(st.lists(st.booleans(), min_size=count, max_size=count)), np.bool_)
    above = [walk(parent, row) for row in range(count)]
    assert depths(parent).tolist() == [len(rows) for rows in above]
    assert any_ancestor(parent, marked).tolist() == [any(marked[rows]) for rows in above]
    expected = [next((at for at in rows if rank[at] < rank[row]), -1) for row, rows in enumerate(above)]
    assert nearest_lower_rank(parent, rank).tolist() == expected
    sums = [int(number) for number in value]
    for row, rows in enumerate(above):
        for at in rows:
            sums[at] += int(value[row])
    assert [number % 2**64 for number in sums] == subtree_sums(parent, value).tolist()


def test_a_chain_of_a_million_rows_takes_no_quadratic_time():
    count = 10**6
    parent = np.arange(-1, count - 1, dtype=np.int32)
    sound, changed = sound_parents(parent)
    depth = depths(sound)
    sums = subtree_sums(sound, np.ones(count, np.int64))
    # One step of the walk after the other would take 10^12 steps.
    assert not changed.any()
    assert depth[-1] == count - 1
    assert np.array_equal(sums, np.arange(count, 0, -1))


any_parents = st.integers(0, 24).flatmap(lambda n: st.lists(st.integers(-3, n + 2), min_size=n, max_size=n))


def on_own_path(parent, row):
    """Whether a row comes back to itself."""
    at = row
    for _ in parent:
        at = parent[at]
        if not 0 <= at < len(parent):
            return False
        if at == row:
            return True
    return False


@given(any_parents)
def test_only_rows_on_circles_or_with_parents_out_of_range_are_cut(given_parents):
    given_parents = np.array(given_parents, np.int32)
    sound, changed = sound_parents(given_parents)
    for row, parent in enumerate(given_parents):
        if parent >= len(given_parents):
            assert sound[row] == -1
            assert changed[row]
        elif parent < 0:
            assert sound[row] == -1
            assert not changed[row]
        elif changed[row]:
            assert sound[row] == -1
            assert on_own_path(given_parents, row)
        else:
            assert sound[row] == parent
        at = row
        for _ in range(len(sound) + 1):
            at = int(sound[at]) if at >= 0 else -1
        assert at == -1
    circles = set()
    for row in range(len(given_parents)):
        if on_own_path(given_parents, row):
            at, circle = int(given_parents[row]), {row}
            while at != row:
                circle.add(at)
                at = int(given_parents[at])
            circles.add(frozenset(circle))
    for circle in circles:
        assert [row for row in sorted(circle) if changed[row]] == [min(circle)]


def test_a_circle_of_a_million_rows_becomes_one_chain():
    count = 10**6
    parent = np.roll(np.arange(count, dtype=np.int32), 1)
    sound, changed = sound_parents(parent)
    assert np.flatnonzero(changed).tolist() == [0]
    assert np.array_equal(sound[1:], parent[1:])


def test_a_table_tells_the_types_of_its_columns() -> None:
    types = {"location": np.int32, "time": np.int64, "region": np.uint32, "enter": np.bool_, "position": np.int64}
    assert column_types(RegionEvents) == tuple(map(np.dtype, types.values()))
    assert {name: getattr(RegionEvents.empty(), name).dtype for name in types} == types
    rows = empty_columns(EventColumns, 3)
    assert [column.shape for column in rows] == [(3,)] * len(rows._fields)
    assert column_types(EventColumns) == column_types(IoEvents)


def test_types_of_columns_are_told_whatever_an_array_of_a_type_is_in_this_numpy() -> None:
    """Before NumPy 2.5 its name stands for a shape and a dtype, since then for itself."""
    column = TypeVar("column")

    class Named(Generic[column]):
        pass

    class Table(NamedTuple):
        before: np.ndarray[Any, np.dtype[np.int32]]
        since: Named[np.uint8]

    assert column_types(Table) == (np.dtype(np.int32), np.dtype(np.uint8))


def test_types_of_columns_are_found_where_pickles_look_for_them():
    """Of another one a cache makes a new type in each process, which is loaded with each call."""
    types = set()
    for module in pkgutil.walk_packages(iostrata.__path__, "iostrata."):
        if module.name.startswith(("iostrata.otf2io", "iostrata.model", "iostrata.layers", "iostrata.live")):
            types |= {one for one in vars(import_module(module.name)).values() if isinstance(one, type)}
    columns = [one for one in types if hasattr(one, "_fields") and one.__name__.endswith("Columns")]
    assert len(columns) >= 6
    for one in columns:
        assert pickle.loads(pickle.dumps(one)) is one


@given(st.lists(st.integers(0, 40) | st.integers(2**32 - 4, 2**32 - 1), max_size=12), st.booleans())
def test_rows_of_ids_are_those_of_a_walk(ids, in_order):
    """The first row of equal ids, and none for an id that is not there, below, between and above all others."""
    ids = list(range(len(ids))) if in_order else ids
    wanted = [*range(45), *range(2**32 - 5, 2**32)]
    rows = RowsOfIds(np.array(ids, np.uint32)).rows(np.array(wanted, np.uint32))
    assert rows.tolist() == [ids.index(one) if one in ids else -1 for one in wanted]


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=9))
def test_the_median_is_that_of_numpy(values):
    assert median(np.array(values)) == np.median(values)


@given(st.lists(st.floats(1e-9, 1e9), min_size=1, max_size=40))
def test_differences_and_variation_are_those_of_numpy_to_the_bit(values):
    array = np.array(values)
    assert differences(array).tolist() == np.diff(array).tolist()
    assert variation(array) == array.std() / array.mean()


@given(st.lists(st.integers(-1, 9), max_size=5), st.lists(st.integers(-2, 7), max_size=9))
def test_a_row_out_of_range_has_minus_1(column, rows):
    found = column_at(np.array(column, np.int32), np.array(rows, np.int32))
    assert found.tolist() == [column[row] if 0 <= row < len(column) else -1 for row in rows]
