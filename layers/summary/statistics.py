"""Statistics of a layer from the sums over its operations."""

from collections.abc import Sequence

import numpy as np

from ..selection.window import TickWindow
from ..statistics.statistics import LayerStatistics
from .accumulator import OperationSums
from .tables import CANCELLED, MODES, NEVER, OPERATIONS, UNDEFINED


def layer_statistics(
    sums: OperationSums,
    name: str,
    direction: str,
    categories: Sequence[int],
    own: Sequence[int],
    window: TickWindow,
) -> LayerStatistics:
    """Return the statistics of what is in `categories`, some of which are the program's own; see `Layer.statistics`."""
    second, rows = window.ticks_per_second, list(categories)
    moved, own_moved = sums.bytes(rows), sums.bytes(own)
    modes = sorted({category % MODES for category in rows})
    lineages = [category - category % MODES for category in rows]
    here = sums.sums.handle_used[:, modes].any(axis=1) & np.isin(sums.category_of_handle, lineages)
    files = np.unique(sums.scope.definitions.handles.file[here])
    busy = sums.busy_time(rows)
    return LayerStatistics(
        layer=name,
        direction=direction,
        operations=sums.count(rows, OPERATIONS),
        bytes=moved,
        busy_s=busy.length / second,
        summed_s=sums.summed_ticks(rows) / second,
        files=int((files >= 0).sum()),
        handles=int(here.sum()),
        ranks=int(sums.sums.processes[rows].any(axis=0).sum()),
        own_operations=sums.count(own, OPERATIONS),
        own_bytes=float(own_moved) if isinstance(moved, float) else own_moved,
        undefined_bytes_operations=sums.count(rows, UNDEFINED),
        cancelled_operations=sums.count(rows, CANCELLED),
        never_completed_operations=sums.count(rows, NEVER),
        request_bytes=sums.request_counts(rows).quantiles(),
        busy_step_s=busy.step / second,
    )
