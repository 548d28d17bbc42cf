"""Which operation of a timeline caused which: the arrows from a call of a library to what it did below."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ...layers.trace import Trace
from ...model.arrays import Integers, Ints, column_at
from ...model.codes import IoMode
from .marks import KINDS

_KIND_OF_MODE = {IoMode.READ: "read", IoMode.WRITE: "write", IoMode.FLUSH: "flush"}


def causing_slices(
    trace: Trace, layers: tuple[str, ...], process: Ints, layer: Ints, kind: Integers, start: Ints, end: Ints
) -> Ints:
    """Return the slice of the operation that each slice's operation is part of, −1 where there is none; int64 (n,).

    Parameters
    ----------
    trace : Trace
        With its operations kept.
    layers : tuple of str
        Those that are shown.
    process, layer, kind, start, end : integer (n,)
        Columns of slices, each of a single operation: row of the process, place in `layers`, place in `KINDS`, and
        ticks within the window.
    """
    block, window = trace.stream.whole, trace.scope.window
    operations = block.operations
    place = np.array([layers.index(name) if name in layers else -1 for name in trace.handles.layers] + [-1])
    shown = np.where(trace.scope.selection.selected, place[trace.handles.layer_row], -1)
    kinds = np.full(256, -1)
    for mode, name in _KIND_OF_MODE.items():
        kinds[mode] = KINDS.index(name)
    layer_of = column_at(shown, operations.handle)
    rows = np.flatnonzero((layer_of >= 0) & (kinds[operations.mode] >= 0) & window.overlaps(operations))
    chosen = operations.take(rows)
    columns = (*window.clipped(chosen), kinds[chosen.mode], layer_of[rows], chosen.process)
    slices = np.flatnonzero(np.isin(kind, kinds[kinds >= 0]))
    ordered = slices[np.lexsort([one[slices] for one in (start, end, kind, layer, process)])]
    slice_of: npt.NDArray[np.int64] = np.full(len(operations) + 1, -1, np.int64)
    slice_of[rows[np.lexsort(columns)]] = ordered
    found = np.full(len(kind), -1, np.int64)
    found[slice_of[rows]] = slice_of[block.attribution.parent[rows]]
    return found


def effects_of(causes: Ints) -> Iterator[list[int]]:
    """Give the slices that each slice caused."""
    order = np.argsort(causes, kind="stable")
    bounds = np.searchsorted(causes[order], np.arange(len(causes) + 1))
    effects = order.tolist()
    yield from (effects[first:last] for first, last in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))
