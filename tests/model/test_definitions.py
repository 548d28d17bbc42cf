"""Definitions: how many processes and nodes there are."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from iostrata import open_trace
from iostrata.model.definitions import Communicator, Group, self_communicators


@pytest.mark.parametrize(("name", "processes", "nodes"), [("ncckpt4", 4, 2), ("serial1", 1, 1)])
def test_processes_and_the_nodes_that_they_ran_on_are_counted(
    fixtures: Path, name: str, processes: int, nodes: int
) -> None:
    definitions = open_trace(fixtures / name).definitions
    assert (definitions.process_count, definitions.node_count) == (processes, nodes)
    # The machine above the nodes is none of them.
    assert definitions.node_count < len(np.asarray(definitions.system_tree.id))


def test_communicators_of_one_process_each_are_known_by_the_kind_of_their_group(fixtures: Path) -> None:
    definitions = open_trace(fixtures / "serial1").definitions
    groups = tuple(Group(number, "", kind, 0, np.zeros(0, np.uint64)) for number, kind in ((1, 5), (2, 6)))
    communicators = tuple(
        Communicator(number, "", group, None) for number, group in ((7, 1), (8, 2), (9, None), (10, 2))
    )
    made = replace(definitions, location_sets=groups, communicators=communicators)
    assert self_communicators(made).tolist() == [8, 10]
