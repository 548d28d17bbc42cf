"""Handles taken together: nothing is lost, and what is alike stands on one line."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata import open_trace
from iostrata.layers.handles.groups import SERIES, handle_groups, series_names

FIXTURES = Path(__file__).parents[3] / "fixtures"
ARCHIVES = ["ckpt4", "ncckpt4", "nonblocking4", "ior384", "threads2"]


def walk(groups):
    for group in groups:
        yield group
        yield from walk(group.children)


@pytest.mark.parametrize("files", ["application", "all"])
@pytest.mark.parametrize("archive", ARCHIVES)
def test_groups_hold_every_handle_that_counts(archive, files):
    forest = open_trace(FIXTURES / archive, files=files).handles
    groups = list(walk(handle_groups(forest)))
    counted = [row for row, reason in enumerate(forest.set_aside) if reason is None]
    assert sum(group.handles for group in groups) == len(counted)
    assert sum(group.operations for group in groups) == forest.operations[counted].sum()
    assert sum(group.bytes_read for group in groups) == forest.bytes_read[counted].sum()
    assert sum(group.bytes_written for group in groups) == forest.bytes_written[counted].sum()
    assert set().union(*(group.files for group in groups)) == {forest.file[row] for row in counted} - {None}


@pytest.mark.parametrize("archive", ARCHIVES)
def test_what_is_below_a_group_is_the_sum_of_what_it_holds(archive):
    for group in walk(handle_groups(open_trace(FIXTURES / archive).handles)):
        assert group.subtree_operations == group.operations + sum(child.subtree_operations for child in group.children)
        assert all(child.parent is group for child in group.children)
        weights = [child.subtree_bytes for child in group.children]
        assert weights == sorted(weights, reverse=True)


@pytest.mark.parametrize(
    "chosen", [{"POSIX"}, {"netCDF", "POSIX"}, {"HDF5"}, set()], ids=lambda names: "+".join(sorted(names))
)
def test_layers_that_are_not_chosen_are_left_out_of_the_tree_and_its_sums(chosen):
    forest = open_trace(FIXTURES / "ncckpt4").handles
    groups = list(walk(handle_groups(forest, chosen)))
    rows = [row for row, layer in enumerate(forest.layer) if layer in chosen and forest.set_aside[row] is None]
    assert {group.layer for group in groups} == chosen
    assert sum(group.handles for group in groups) == len(rows)
    roots = [group for group in groups if group.parent is None]
    assert sum(group.subtree_operations for group in roots) == forest.operations[rows].sum()
    if chosen == {"netCDF", "POSIX"}:
        # HDF5 and MPI-IO stand between them.
        assert {group.parent.layer for group in groups if group.layer == "POSIX" and group.parent} == {"netCDF"}


def test_files_of_a_series_stand_on_one_line():
    root = handle_groups(open_trace(FIXTURES / "ckpt4").handles)[0]
    assert (root.layer, root.handles, len(root.files), root.bytes_written) == ("MPI-IO", 20, 20, 167_772_160)
    assert root.file.endswith("/ckpt_*.dat")
    (child,) = root.children
    assert (child.layer, child.handles, child.file) == ("POSIX", 40, root.file)


def test_handles_of_one_file_stand_on_one_line():
    groups = handle_groups(open_trace(FIXTURES / "ior384").handles)
    assert {group.file: group.handles for group in groups} == {
        "/scratch/read_sync.dat": 384,
        "/scratch/write_sync.dat": 384,
    }
    assert len(groups) == 2


@given(
    st.sets(st.integers(0, 10**6), min_size=SERIES, max_size=20), st.sampled_from(["a{}", "{}", "x{}y", "r1/{}_2.h5"])
)
def test_numbers_that_differ_become_a_star_and_others_stay(numbers, pattern):
    names = [pattern.format(number) for number in numbers]
    found = series_names(names)
    assert set(found) == set(names)
    assert set(found.values()) == {pattern.format("*")}


def test_few_names_or_other_words_are_no_series():
    assert series_names([f"out{number}" for number in range(SERIES - 1)]) == {}
    assert series_names(["a1", "b1", "c1", "d1", "e1"]) == {}
    assert series_names([]) == {}
