"""Tables whose rows name their parents, made safe to walk up: an archive is not to be trusted."""

import numpy as np
import numpy.typing as npt


def sound_parents(parent: npt.NDArray[np.integer]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_]]:
    """Return `parent` as int32 (n,) without cycles and without rows out of range, and where it was changed, bool (n,).

    Of each cycle the lowest row becomes a root. By pointer doubling (J. C. Wyllie, *The Complexity of Parallel
    Computations*, 1979), in O(n log n) whatever the shape.
    """
    count = len(parent)
    sound = np.where((parent >= 0) & (parent < count), parent, -1).astype(np.int32)
    ancestor = sound.copy()
    distance = 1
    while distance <= count and (ancestor >= 0).any():
        ancestor = np.where(ancestor >= 0, ancestor[ancestor], np.int32(-1))
        distance *= 2
    on_cycle = np.unique(ancestor[ancestor >= 0])
    if len(on_cycle):
        lowest = np.arange(count, dtype=np.int32)
        ahead = sound.copy()
        distance = 1
        while distance <= len(on_cycle):
            lowest[on_cycle] = np.minimum(lowest[on_cycle], lowest[ahead[on_cycle]])
            ahead[on_cycle] = ahead[ahead[on_cycle]]
            distance *= 2
        sound[on_cycle[lowest[on_cycle] == on_cycle]] = -1
    return sound, sound != np.where(parent < 0, -1, parent)
