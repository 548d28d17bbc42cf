"""Kinds of files by their names, however long these are."""

import pytest
from iostrata.layers.statistics.kinds import file_kinds


def test_numbers_hashes_and_single_letters_differ_within_a_kind():
    names = [
        "run1/dump.10.nc",
        "run1/dump.20.nc",
        "a.restart",
        "b.restart",
        "etilqs_4a09c1f2e",
        "checkpoint0001",
    ]
    assert file_kinds(names) == [
        "run1/dump.*.nc", "run1/dump.*.nc", "*.restart", "*.restart", "etilqs_*", "checkpoint0001",
    ]  # fmt: skip


@pytest.mark.parametrize("part", ["a", "1", "a1", "a.", "a/1/"])
def test_a_name_of_a_million_letters_takes_no_quadratic_time(part):
    name = part * (10**6 // len(part))
    one, other = file_kinds([name, f"{name}.txt"])
    assert one != other
