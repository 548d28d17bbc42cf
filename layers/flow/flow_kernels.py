"""Compiled loops over the operations of flows: into cells of one kind, and how many were under way at once.

Numba may have to compile it: import it inside the function that uses it.
"""

from typing import Any

import numpy as np

from ...model.arrays import Ints, Ticks
from ...model.kernels import compiled, hashed, inlined


@inlined
def _place(rows: Any, row: int, parent: int, table: Ints, cells: Any, seed: np.uint64) -> Any:
    """Return where in the table the cell of a row is, or may be put."""
    mask = len(table) - 1
    handle, process, bits = rows.handle[row], rows.process[row], rows.bits[row]
    mixed = hashed(np.uint64(parent) ^ (np.uint64(handle) << np.uint64(32)), seed)
    place = np.int64(hashed(mixed ^ np.uint64(bits) ^ (np.uint64(process) << np.uint64(40)), seed)) & mask
    while table[place] >= 0:
        cell = table[place]
        same = cells.parent[cell] == parent and cells.handle[cell] == handle
        if same and cells.process[cell] == process and cells.bits[cell] == bits:
            break
        place = (place + 1) & mask
    return place


@compiled
def add_to_cells(
    rows: Any, first: int, cell_of_row: Ints, table: Ints, cells: Any, used: int, seed: np.uint64
) -> tuple[int, int]:
    """Add rows, whose parents are earlier rows, to the cells of their kind.

    Parameters
    ----------
    rows : CellColumns (n,)
        ``parent`` is a row, −1 for none.
    first : int
        The first row that is not in a cell yet.
    cell_of_row : int64 (n,)
        Gets the cell of each row.
    table : int64, a power of two, more than there is room for cells
        Places of cells by the hash of their kind, −1 where free.
    cells : CellColumns
        ``parent`` is a cell.
    used : int
        Number of cells.

    Returns
    -------
    row, used : int
        Where there was no more room, n at the end; and the number of cells.
    """
    for row in range(first, len(rows.handle)):
        parent = cell_of_row[rows.parent[row]] if rows.parent[row] >= 0 else -1
        place = _place(rows, row, parent, table, cells, seed)
        cell = table[place]
        if cell < 0:
            if used == len(cells.handle):
                return row, used
            cell = used
            used += 1
            table[place] = cell
            cells.parent[cell], cells.handle[cell] = parent, rows.handle[row]
            cells.process[cell], cells.bits[cell] = rows.process[row], rows.bits[row]
            cells.operations[cell] = cells.whole[cell] = cells.part[cell] = cells.ticks[cell] = 0
            cells.begin[cell], cells.end[cell] = rows.begin[row], rows.end[row]
        cell_of_row[row] = cell
        cells.operations[cell] += rows.operations[row]
        cells.whole[cell] += rows.whole[row]
        cells.part[cell] += rows.part[row]
        cells.ticks[cell] += rows.ticks[row]
        cells.begin[cell] = min(cells.begin[cell], rows.begin[row])
        cells.end[cell] = max(cells.end[cell], rows.end[row])
    return len(rows.handle), used


@compiled
def most_at_once(start: Ticks, begin: Ticks, end: Ticks) -> Ticks:
    """Return the largest number of intervals of each group that are open at one time.

    Parameters
    ----------
    start : int64 (groups+1,)
        Where the intervals of each group begin.
    begin, end : int64 (n,)
        The begins of each group in their order, and its ends in theirs; one that ends when another begins counts no
        more. An interval of no duration is open for itself.

    Returns
    -------
    int64 (groups,)
    """
    most = np.zeros(start.size - 1, np.int64)
    for group in range(start.size - 1):
        ended = start[group]
        for row in range(start[group], start[group + 1]):
            while end[ended] <= begin[row] and ended < row:
                ended += 1
            most[group] = max(most[group], row + 1 - ended)
    return most
