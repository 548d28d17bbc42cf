"""Rows of tables by their ids, and columns by rows that may be missing."""

import numpy as np
import numpy.typing as npt


def rows_of_ids(ids: npt.NDArray[np.unsignedinteger], wanted: npt.NDArray[np.unsignedinteger]) -> npt.NDArray[np.int32]:
    """Return the row of each wanted id in `ids` (of equal ids the first), int32, −1 where it is not among them."""
    if not len(ids):
        return np.full(len(wanted), -1, np.int32)
    order = np.argsort(ids, kind="stable")
    table = ids[order].astype(np.uint64)
    place = np.minimum(np.searchsorted(table, wanted.astype(np.uint64)), len(table) - 1)
    return np.where(table[place] == wanted, order[place], -1).astype(np.int32)


def column_at(column: npt.NDArray[np.int32], rows: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Return ``column[rows]``, −1 where a row is out of range."""
    found = np.full(len(rows), -1, np.int32)
    valid = (rows >= 0) & (rows < len(column))
    found[valid] = column[rows[valid]]
    return found
