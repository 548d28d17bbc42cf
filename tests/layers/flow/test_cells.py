"""Cells: operations of one kind below operations of one kind, added up."""

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from iostrata.layers.flow.cells import CellColumns, CellSums


@pytest.mark.parametrize("handles", [3, 255, 256, 257, 6000])
def test_operations_of_a_kind_are_one_cell_however_many_kinds_there_are(handles):
    random = np.random.default_rng(handles)
    rows = 3 * handles
    parent = np.where(random.random(rows) < 0.3, random.integers(-1, np.maximum(np.arange(rows), 1)), -1)
    handle, process, bits = np.arange(rows) % handles, random.integers(0, 2, rows), random.integers(0, 2, rows)
    parent[:handles], process[:handles] = -1, 0
    parent[handles] = 0
    moved, begin = random.integers(0, 2**40, rows), random.integers(0, 2**40, rows)
    ones = np.ones(rows, np.int64)
    sums = CellSums()
    columns = CellColumns(parent, handle, process, bits, ones, moved, 0 * moved, ones, begin, begin + 5)
    sums.absorb(SimpleNamespace(columns=columns, cut=False))
    kinds: list[tuple] = []
    operations, volume = Counter(), Counter()
    for row in range(rows):
        above = kinds[parent[row]] if parent[row] >= 0 else None
        kinds.append((above, handle[row], process[row], bits[row]))
        operations[kinds[row]] += 1
        volume[kinds[row]] += moved[row]
    assert len(operations) >= handles
    cells: list[tuple] = []
    for above, *kind in zip(*(column.tolist() for column in sums.columns[:4]), strict=True):
        cells.append((cells[above] if above >= 0 else None, *kind))
    assert dict(zip(cells, sums.columns.operations.tolist(), strict=True)) == operations
    assert dict(zip(cells, sums.columns.whole.tolist(), strict=True)) == volume
    assert (sums.columns.end - sums.columns.begin >= 5).all()
    assert sums.columns.parent.min() == -1
