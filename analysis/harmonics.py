"""Lines of a spectrum that only repeat a lower one."""

import numpy as np
from numpy.typing import NDArray

from ..otf2io.errors import SelectionError


def separate_harmonics(lines: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Part candidate lines into fundamentals and the harmonics of these.

    Lines are walked upwards. Line k is a harmonic if it lies within one line of m k0 for a lower line k0 that was
    kept and m = round(k / k0) >= 2. The tolerance counts lines, not Hz: the multiples of a period that falls between
    two lines come to lie one off (45, 89, 134), whatever the length of the trace.

    Parameters
    ----------
    lines : int64 (n,)
        Indices k >= 1, ascending.

    Returns
    -------
    kept, dropped : int64 arrays
        The fundamentals and the harmonics, ascending; together they are ``lines``.

    Notes
    -----
    A sieve: each kept line strikes out its multiples, so that the work is O(K log K) for lines up to K.
    """
    lines = np.asarray(lines, dtype=np.int64)
    if lines.size == 0:
        return lines, lines
    if lines[0] < 1 or (np.diff(lines) <= 0).any():
        raise SelectionError("lines of a spectrum must be indices from 1 on, in ascending order")
    struck = np.zeros(int(lines[-1]) + 2, dtype=np.bool_)
    kept = np.zeros(lines.size, dtype=np.bool_)
    for position, line in enumerate(lines.tolist()):
        if struck[line]:
            continue
        kept[position] = True
        for first in (2 * line - 1, 2 * line, 2 * line + 1):
            struck[first::line] = True
    return lines[kept], lines[~kept]
