"""The numbers of a layer in one direction; sums of bytes are exact as long as the bytes are whole."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from ...model.arrays import Ints
from ...model.codes import UNDEFINED_UINT64, Status
from ...model.definitions import Definitions
from ...model.document import Record
from ...model.operations import Operations, view
from ..selection.files import FileSelection
from ..selection.window import Amounts, TickWindow
from .distribution import RequestBytes, quantile_places


@dataclass(frozen=True)
class LayerStatistics(Record):
    """What a layer did in one direction.

    Attributes
    ----------
    layer, direction : str
    operations : int
        Operations that overlap the window, whatever became of them.
    bytes : int or float
        Bytes moved by completed operations; float where the window cuts one of them, which then counts in proportion.
    busy_s : float
        Time in which at least one operation was under way. One that never completed has no end and adds nothing.
    summed_s : float
        Sum of the durations of operations that ended.
    files, handles, ranks : int
        Distinct files, handles and processes of the operations.
    own_operations, own_bytes
        The part through handles that have no ancestor of a higher layer.
    undefined_bytes_operations : int
        Operations whose bytes moved the trace does not know: failed, cancelled, never completed.
    cancelled_operations, never_completed_operations : int
        How many of them were.
    request_bytes : RequestBytes
        Of whole operations, also where the window cuts them.
    busy_step_s : float
        0 where `busy_s` is exact. Else the distance of the points in time that were looked at, which happens only to
        traces read in bounded memory; with n busy stretches the error of `busy_s` is of the order of n^½ steps.
    """

    layer: str
    direction: str
    operations: int
    bytes: int | float
    busy_s: float
    summed_s: float
    files: int
    handles: int
    ranks: int
    own_operations: int
    own_bytes: int | float
    undefined_bytes_operations: int
    cancelled_operations: int
    never_completed_operations: int
    request_bytes: RequestBytes
    busy_step_s: float = 0.0


@dataclass(frozen=True)
class SetAside(Record):
    """Operations and bytes that are not selected, summed over all layers: the same traffic may be seen in several.

    Attributes
    ----------
    operations : int
        Flushes among them.
    bytes : int or float
        Bytes moved, read and written.
    files : int
        Distinct files of these operations.
    reasons : mapping
        Operations by the reason why they are set aside; only reasons that occur.
    """

    operations: int
    bytes: int | float
    files: int
    reasons: Mapping[str, int]


def layer_statistics(
    operations: Operations,
    own: npt.NDArray[np.bool_],
    file: npt.NDArray[np.int32],
    window: TickWindow,
    layer: str,
    direction: str,
) -> LayerStatistics:
    """Return the statistics of operations of one layer and direction.

    Parameters
    ----------
    operations : Operations (n,)
        In any order; all overlap `window`.
    own : bool (n,)
        Whether the operation's handle has no ancestor of a higher layer.
    file : int32 (handles,)
        File row of each handle, −1 where it has none.
    layer, direction : str
        Names for the result.
    """
    begin, end = window.clipped(view(operations, operations.status != Status.NEVER_COMPLETED))
    moved = window.bytes_within(operations)
    handles = np.unique(operations.handle)
    files = np.unique(file[handles])
    requested = operations.requested[operations.requested != UNDEFINED_UINT64]
    return LayerStatistics(
        layer=layer,
        direction=direction,
        operations=len(operations),
        bytes=total(moved),
        busy_s=union_length(begin, end) / window.ticks_per_second,
        summed_s=int((end - begin).sum()) / window.ticks_per_second,
        files=int((files >= 0).sum()),
        handles=len(handles),
        ranks=len(np.unique(operations.process)),
        own_operations=int(own.sum()),
        own_bytes=total(moved[own]),
        undefined_bytes_operations=int((operations.moved == UNDEFINED_UINT64).sum()),
        cancelled_operations=int((operations.status == Status.CANCELLED).sum()),
        never_completed_operations=int((operations.status == Status.NEVER_COMPLETED).sum()),
        request_bytes=_request_bytes(requested),
    )


def set_aside_statistics(
    operations: Operations, definitions: Definitions, selection: FileSelection, window: TickWindow
) -> SetAside:
    """Return what `selection` sets aside of the trace's operations within `window`."""
    reason = selection.reason_of(operations.handle)
    rows = np.flatnonzero((reason >= 0) & window.overlaps(operations))
    aside, reason = view(operations, rows), reason[rows]
    files = np.unique(definitions.handles.file[aside.handle[aside.handle >= 0]])
    counts = np.bincount(reason, minlength=len(selection.reasons))
    return SetAside(len(aside), total(window.bytes_within(aside)), int((files >= 0).sum()), selection.named(counts))


def total(amounts: Amounts) -> int | float:
    """Return the sum, of uint64 as an int, of float64 as a float."""
    found: int | float = amounts.sum().item()
    return found


def union_length(begin: npt.NDArray[np.int64], end: npt.NDArray[np.int64]) -> int:
    """Return the length of the union of the intervals [begin, end], in any order; O(n log n)."""
    if not len(begin):
        return 0
    if (begin[1:] < begin[:-1]).any():
        order = np.argsort(begin)
        begin, end = begin[order], end[order]
    start = begin
    reached = np.maximum.accumulate(end)
    # What an interval adds lies behind all that earlier ones have reached.
    fresh = np.maximum(start[1:], reached[:-1])
    return int(reached[0] - start[0]) + int(np.maximum(reached[1:] - fresh, 0).sum())


def _request_bytes(requested: npt.NDArray[np.uint64]) -> RequestBytes:
    """Return the sizes of requests; the quantiles are the inverse of their distribution function."""
    count = len(requested)
    if not count:
        return RequestBytes(None, None, None, None)
    places = quantile_places(count)
    ordered = np.partition(requested, places)
    return RequestBytes(*(int(ordered[place]) for place in places))


Sums = TypeVar("Sums", bound=npt.NDArray[Any])


def sums_by(group: npt.NDArray[np.integer], amounts: Sums, count: int) -> Sums:
    """Return the sum of `amounts` (n,) by `group` (n,), shape (count,), in their own type."""
    sums = zeros_like_amounts(amounts, count)
    np.add.at(sums, group, amounts)
    return sums


def zeros_like_amounts(amounts: Sums, count: int) -> Sums:
    """Return `count` zeros of the type of `amounts`."""
    zeros: Any = np.zeros_like(amounts, shape=count)
    found: Sums = zeros
    return found


FRACTION: Final = 2.0**32
"""Parts of a byte in which what a window cuts is added up, so that the order does not matter."""


def whole_and_part(moved: Amounts) -> tuple[Ints, Ints]:
    """Return amounts as whole bytes and as what is left, in units of 2^-32 byte, int64 (n,) each."""
    whole = moved.astype(np.int64)
    if moved.dtype == np.uint64:
        return whole, np.zeros(len(whole), np.int64)
    return whole, ((moved - whole) * FRACTION).astype(np.int64)
