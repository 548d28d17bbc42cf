"""Some rows of operations without a copy: each column is taken when it is first looked at."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ..otf2io.operations import Operations

Rows = npt.NDArray[np.bool_] | npt.NDArray[np.intp]


class OperationsView(Operations):
    """Rows of operations, which keep their source in memory; most uses need two or three of the columns.

    Parameters
    ----------
    source : Operations
    rows : intp (n,)
        Places in `source`.
    """

    def __init__(self, source: Operations, rows: npt.NDArray[np.intp]) -> None:
        object.__setattr__(self, "source", source)
        object.__setattr__(self, "rows", rows)

    source: Operations
    rows: npt.NDArray[np.intp]

    def __getattr__(self, name: str) -> Any:
        if name not in Operations.__dataclass_fields__:
            raise AttributeError(f"operations have no column {name!r}")
        column = getattr(self.source, name)[self.rows]
        object.__setattr__(self, name, column)
        return column

    def __reduce__(self) -> tuple[Any, ...]:
        return OperationsView, (self.source, self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, rows: Rows) -> Operations:
        """Return the operations at `rows` (a mask or indices)."""
        return self.source.take(self.rows[rows])


def view(operations: Operations, rows: Rows) -> Operations:
    """Return some rows of operations; the operations themselves where a mask leaves out none.

    Parameters
    ----------
    operations : Operations (n,)
    rows : bool (n,) or intp (m,)
        A mask or indices.
    """
    chosen: npt.NDArray[np.intp]
    if rows.dtype == np.bool_:
        chosen = np.flatnonzero(rows)
        if len(chosen) == len(operations):
            return operations
    else:
        chosen = rows.astype(np.intp, copy=False)
    if isinstance(operations, OperationsView):
        return OperationsView(operations.source, operations.rows[chosen])
    return OperationsView(operations, chosen)
