"""Directions by their names, and the operations that they stand for."""

import numpy as np
import pytest
from iostrata import SelectionError
from iostrata.layers.selection.directions import is_of_direction
from iostrata.model.codes import IoMode


@pytest.mark.parametrize(
    ("direction", "modes"),
    [("read", {IoMode.READ}), ("write", {IoMode.WRITE}), ("total", {IoMode.READ, IoMode.WRITE})],
)
def test_flushes_are_of_no_direction(direction: str, modes: set[IoMode]) -> None:
    all_modes = [IoMode.FLUSH, IoMode.READ, IoMode.WRITE, IoMode.FLUSH, IoMode.READ]
    found = is_of_direction(np.array(all_modes, np.uint8), direction)
    assert found.tolist() == [mode in modes for mode in all_modes]


def test_another_name_is_refused_with_those_there_are() -> None:
    with pytest.raises(SelectionError, match="no direction 'both'; there are read, write, total"):
        is_of_direction(np.zeros(1, np.uint8), "both")
