"""Definitions: how many processes and nodes there are."""

from pathlib import Path

import numpy as np
import pytest
from iostrata import open_trace


@pytest.mark.parametrize(("name", "processes", "nodes"), [("ncckpt4", 4, 2), ("serial1", 1, 1)])
def test_processes_and_the_nodes_that_they_ran_on_are_counted(
    fixtures: Path, name: str, processes: int, nodes: int
) -> None:
    definitions = open_trace(fixtures / name).definitions
    assert (definitions.process_count, definitions.node_count) == (processes, nodes)
    # The machine above the nodes is none of them.
    assert definitions.node_count < len(np.asarray(definitions.system_tree.id))
