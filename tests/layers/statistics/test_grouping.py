"""Keys by which the operations of a layer are grouped."""

from types import SimpleNamespace

import numpy as np
import pytest
from iostrata.layers.statistics.grouping import KEYS, grouping
from iostrata.model.errors import SelectionError


def definitions(ranks, nodes=(), names=()):
    """Return what the keys of processes go by."""
    groups = SimpleNamespace(rank=np.array(ranks, np.int64), node=np.array(nodes or [-1] * len(ranks), np.int32))
    return SimpleNamespace(groups=groups, system_tree=SimpleNamespace(id=np.arange(len(names)), name=list(names)))


def keys_of(groups, processes):
    none = np.full(len(processes), -1, np.int32)
    return [groups.keys[place] for place in groups.places(none, np.array(processes, np.int32), none).tolist()]


def test_each_rank_is_a_key_the_first_too_and_other_processes_have_none():
    found = grouping(definitions([2, -1, 0, 1]), "rank")
    assert found.keys == [0, 1, 2, None]
    assert keys_of(found, [0, 1, 2, 3, -1]) == [2, None, 0, 1, None]


def test_processes_on_the_first_node_and_on_none():
    found = grouping(definitions([0, 1, 2], [1, 0, -1], ["first", "second"]), "node")
    assert keys_of(found, [0, 1, 2, -1]) == ["second", "first", None, None]


def test_another_key_is_refused_with_those_there_are():
    with pytest.raises(SelectionError, match=f"cannot split layers by 'user'; there are {', '.join(KEYS)}"):
        grouping(definitions([0]), "user")
