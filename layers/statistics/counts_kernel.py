"""The compiled loop that counts numbers; import it inside the function that uses it, as it needs numba."""

from typing import Final

import numpy as np
import numpy.typing as npt

from ...model.kernels import compiled, hashed

_DIGITS: Final = 10
"""Binary digits that are left of a number where there are too many numbers; it then grows by less than 0.2 %."""


@compiled
def count_numbers(
    sizes: npt.NDArray[np.uint64],
    weights: npt.NDArray[np.int64],
    first: int,
    rounded: bool,
    known: npt.NDArray[np.uint64],
    counts: npt.NDArray[np.int64],
    used: int,
    seed: np.uint64,
) -> tuple[int, int]:
    """Count sizes from row `first` on in a table with linear probing; return the row where it is full, and its use."""
    mask = len(known) - 1
    for row in range(first, len(sizes)):
        size = sizes[row]
        if rounded:
            size = _rounded_up(size)
        place = np.int64(hashed(size, seed)) & mask
        while counts[place] > 0 and known[place] != size:
            place = (place + 1) & mask
        if counts[place] == 0:
            if used >= 3 * len(known) // 4:
                return row, used
            known[place] = size
            used += 1
        counts[place] += weights[row]
    return len(sizes), used


@compiled
def _rounded_up(size: np.uint64) -> np.uint64:
    """Return `size` with its ten first binary digits, rounded up."""
    shift = np.uint64(0)
    rest = size
    while rest >= np.uint64(1 << _DIGITS):
        rest = (rest + np.uint64(1)) >> np.uint64(1)
        shift += np.uint64(1)
    return rest << shift
