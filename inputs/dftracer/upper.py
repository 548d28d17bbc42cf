"""What the program's own functions do to files: layers above those that DFTracer watches, by its categories."""

import re
from typing import Final, NamedTuple

import numpy as np

from ...model.arrays import Ints, Links, Mask, Octets, Rows, Ticks
from ...model.codes import IoMode
from ...model.quantities import counted, seconds_text, share_text
from ...model.ranges import Coverage
from ..calls import NestedCalls
from ..rows import NANOSECONDS

MOST_CATEGORIES: Final = 62
"""Categories that have a bit of an int64; functions of further ones are callers only."""
COMPUTING: Final = re.compile(r"(?i)compute|(?:.*\.)?(?:compute|forward|backward)")
COMMUNICATING: Final = re.compile(r"(?i)comm|communication|mpi|nccl|MPI_(?!File).*")
"""Categories and functions that compute and communicate, as DLIO and DFTracer's own interface for Python call them."""


class UpperOperations(NamedTuple):
    """What calls of the program's functions moved by the transfers in them; columns of shape (n,).

    Attributes
    ----------
    call : int64
        Row of the call.
    category, file : int32
    mode : uint8
    begin, end : int64
        Those of the call; of flushes those of the first and the last one in it, as it does more than flush.
    moved, requested : int64
        Bytes, −1 where nobody knows any.
    """

    call: Rows
    category: Links
    file: Links
    mode: Octets
    begin: Ticks
    end: Ticks
    moved: Ints
    requested: Ints


def upper_operations(
    nested: NestedCalls,
    category: Links,
    transfers: Rows,
    file: Links,
    mode: Octets,
    times: tuple[Ticks, Ticks],
    moved: Ints,
    requested: Ints,
) -> tuple[UpperOperations, list[int]]:
    """Add up the transfers in calls of each category by file: each counts in the innermost call of a category.

    Returns them, and the categories, the highest first.

    Parameters
    ----------
    category : int32 (calls,)
        −1 for what makes no layer.
    transfers : int64
        Calls that read, write or flush; the columns that follow are those of all calls.
    """
    order, parent = nested.order, nested.parent
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    around, seen = parent[place[transfers]], np.zeros(len(transfers), np.int64)
    found: list[tuple[Rows, Rows, Ints]] = []
    distance = 0
    while (alive := around >= 0).any():
        distance += 1
        call = order[around]
        bit = np.int64(1) << np.maximum(category[call], 0)
        fresh = np.flatnonzero(alive & (category[call] >= 0) & (seen & bit == 0))
        seen[fresh] |= bit[fresh]
        found.append((transfers[fresh], call[fresh], np.full(len(fresh), distance)))
        around = np.where(alive, parent[around], -1)
    inner, call, steps = (np.concatenate([one[column] for one in found] or [transfers[:0]]) for column in range(3))
    keys, first, which = np.unique(
        np.stack([call, mode[inner], file[inner]]), axis=1, return_index=True, return_inverse=True
    )
    which = which.reshape(-1)

    def summed(amounts: Ints) -> Ints:
        known = amounts[inner] >= 0
        sums, some = (np.zeros(keys.shape[1], np.int64) for _ in range(2))
        np.add.at(sums, which[known], amounts[inner][known])
        np.add.at(some, which[known], 1)
        return np.where(some > 0, sums, -1)

    spans = []
    for own, outer in zip(times, (np.minimum, np.maximum), strict=True):
        span = own[inner[first]]
        outer.at(span, which, own[inner])
        spans.append(np.where(keys[1] == IoMode.FLUSH, span, own[keys[0]]))
    height = {one: float(steps[category[call] == one].mean()) for one in np.unique(category[call]).tolist()}
    file, mode = keys[2].astype(np.int32), keys[1].astype(np.uint8)
    amounts = summed(moved), summed(requested)
    upper = UpperOperations(keys[0], category[keys[0]], file, mode, spans[0], spans[1], *amounts)
    return upper, sorted(height, key=lambda one: -height[one])


def frames(nested: NestedCalls, category: Links, process: Links, begin: Ticks, end: Ticks) -> list[int]:
    """Return the categories of the program itself: of calls that nothing calls, that others are in, and that last for
    most of their process.
    """
    order, parent = nested.order, nested.parent
    processes = int(process.max(initial=-1)) + 1
    first, last = np.full(processes, np.iinfo(np.int64).max), np.zeros(processes, np.int64)
    np.minimum.at(first, process, begin)
    np.maximum.at(last, process, end)
    inside = np.flatnonzero(parent >= 0)
    own, around = category[order[inside]], category[order[parent[inside]]]
    roots = np.unique(parent[inside[(own >= 0) & (own != around)]])
    rows = order[roots[parent[roots] < 0]]
    long = rows[2 * (end[rows] - begin[rows]) > (last - first)[process[rows]]]
    return [int(one) for one in np.unique(category[long]) if one >= 0]


def overlap_note(process: Links, begin: Ticks, end: Ticks, io: Mask, computing: Mask, communicating: Mask) -> list[str]:
    """Say how much of the transfers is under way beside computing and communication, in their process and in any."""
    notes = []

    def beside(other: Mask, of: Links) -> tuple[int, int]:
        groups = np.unique(of).astype(np.int64)
        own, others, both = (
            Coverage.of(of[one].astype(np.int64), begin[one], end[one]).lengths(groups)
            for one in (io, other, io | other)
        )
        return int(own.sum()), int((own + others - both).sum())

    for name, other in (("computing", computing), ("communicating", communicating)):
        if not (other.any() and io.any()):
            continue
        whole, hidden = beside(other, process)
        anywhere, hidden_anywhere = beside(other, np.zeros_like(process))
        took, count = end - begin, int(process.max()) + 1
        of_io, of_other = (np.bincount(process[one], took[one], minlength=count) for one in (io, other))
        left = float(np.maximum(of_io - of_other, 0).sum()) / NANOSECONDS
        seconds, io_s = (float(one.sum()) / NANOSECONDS for one in (of_other, of_io))
        notes.append(
            f"{name} takes {seconds_text(seconds)} in {counted(int(other.sum()), 'call')}: {share_text(hidden, whole)} "
            f"of the I/O runs beside it in the same process, {share_text(hidden_anywhere, anywhere)} of the time with "
            f"I/O has it in any. DFAnalyzer calls {seconds_text(io_s - left)} of the {seconds_text(io_s)} of I/O "
            f"overlapped: it takes {name} from I/O by process, whenever each was"
        )
    return notes
