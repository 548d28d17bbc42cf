"""What a location's own definitions say, in the form that compiled loops use: id maps and clock offsets."""

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from .compiled import inlined

ATTRIBUTE, REGION, IO_FILE, IO_HANDLE = range(4)
"""Rows of the tables in `LocalIds`."""

MAPPED: Final = 4
_SHORT: Final = np.uint64(2**32 - 1)


class LocalIds(NamedTuple):
    """Id maps of one location and its clock offsets, in arrays that are used again for the next location.

    Attributes
    ----------
    start, size : int64 (4,)
        Where the map of each kind of id (`ATTRIBUTE`, `REGION`, `IO_FILE`, `IO_HANDLE`) stands in `values`.
    sparse : bool (4,)
        Whether the map has `keys`; without them the local id is the position.
    keys : uint64 (n,)
        Local ids in ascending order.
    values : uint32 (n,)
        Global ids.
    clock_size : int64 (1,)
        Number of clock offsets.
    clock_times : uint64 (m,)
    clock_offsets : int64 (m,)
    clock_slopes : float64 (m,)
        Change of the offset per tick between each offset and the next.
    """

    start: npt.NDArray[np.int64]
    size: npt.NDArray[np.int64]
    sparse: npt.NDArray[np.bool_]
    keys: npt.NDArray[np.uint64]
    values: npt.NDArray[np.uint32]
    clock_size: npt.NDArray[np.int64]
    clock_times: npt.NDArray[np.uint64]
    clock_offsets: npt.NDArray[np.int64]
    clock_slopes: npt.NDArray[np.float64]


def empty_local_ids(entries: int) -> LocalIds:
    """Return maps that change nothing, with room for `entries` ids and as many clock offsets."""
    return LocalIds(
        start=np.zeros(MAPPED, np.int64),
        size=np.zeros(MAPPED, np.int64),
        sparse=np.zeros(MAPPED, np.bool_),
        keys=np.zeros(entries, np.uint64),
        values=np.zeros(entries, np.uint32),
        clock_size=np.zeros(1, np.int64),
        clock_times=np.zeros(entries, np.uint64),
        clock_offsets=np.zeros(entries, np.int64),
        clock_slopes=np.zeros(entries, np.float64),
    )


@inlined
def global_id(ids: LocalIds, kind: int, local: np.uint64) -> np.uint64:
    """Return the global id of a local one; an id that its map does not hold stays as it is."""
    start = ids.start[kind]
    size = ids.size[kind]
    if not ids.sparse[kind]:
        if local < np.uint64(size):
            return np.uint64(ids.values[np.uint64(start) + local])
        return local
    low = start
    high = start + size
    while low < high:
        middle = (low + high) >> 1
        if ids.keys[middle] < local:
            low = middle + 1
        else:
            high = middle
    if low < start + size and ids.keys[low] == local:
        return np.uint64(ids.values[low])
    return local
