"""Columns that compiled matching writes operations to, and batches of them."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .events import IoEvents


class OperationColumns(NamedTuple):
    """Columns of operations that ended or never will, in the order in which that was found out.

    They mean what those of `iostrata.otf2io.operations.Operations` mean, but `handle` is a global id.
    """

    location: npt.NDArray[np.int32]
    handle: npt.NDArray[np.uint32]
    mode: npt.NDArray[np.uint8]
    status: npt.NDArray[np.uint8]
    begin: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]
    requested: npt.NDArray[np.uint64]
    moved: npt.NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class OperationBatch:
    """What a piece of the archive gave; its columns hold only until the function that gets it returns.

    Attributes
    ----------
    operations : OperationColumns
        Operations that ended, or of which it became clear that they never do.
    metadata : IoEvents
        Events that move no data.
    """

    operations: OperationColumns
    metadata: IoEvents


def operation_columns(rows: int) -> OperationColumns:
    """Return columns for `rows` operations, their content arbitrary."""
    types = (np.int32, np.uint32, np.uint8, np.uint8, np.int64, np.int64, np.uint64, np.uint64)
    columns: Any = (np.empty(rows, dtype) for dtype in types)
    return OperationColumns(*columns)
