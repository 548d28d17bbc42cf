"""Turning points of a path, their persistence, and the rises that are larger than a threshold; all in linear time.

The module needs numba; import it inside the function that uses it.
"""

import numpy as np
import numpy.typing as npt

from ...model.kernels import compiled

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]


@compiled
def turning_points(path: Floats) -> Rows:
    """Return the rows at which a path turns, its first and last row included; int64, increasing.

    Of rows with the same value the last before a rise and the first before a fall are kept, so that a rise begins
    where the path last lay at its foot and ends where it first reached its top.
    """
    rows = np.empty(path.size, np.int64)
    count = 0
    for row in range(path.size):
        while count >= 2:
            last = path[rows[count - 1]]
            before = last - path[rows[count - 2]]
            after = path[row] - last
            if before * after > 0 or before == 0 or (after == 0 and before < 0):
                count -= 1
            else:
                break
        if count >= 2 and path[row] == path[rows[count - 1]]:
            continue
        rows[count] = row
        count += 1
    return rows[:count].copy()


@compiled
def persistences(path: Floats) -> Floats:
    """Return the persistence of every rise of a path, largest first.

    A rise and the smaller of the falls beside it vanish together when the path is simplified by a threshold larger
    than the lesser of the two; that lesser one is the persistence (Edelsbrunner, Letscher, Zomorodian 2002, for
    one dimension; the pairs are those of rainflow counting). The path is taken to fall without bound before its first
    and after its last point, so that rises at the edges count like those within.

    Parameters
    ----------
    path : float64 (n,)
        Any path; `turning_points` of it suffice.

    Returns
    -------
    float64 (m,)
        Each above 0. With a threshold above entry N and not above entry N - 1 (counted from 0), N rises remain.
    """
    stack = np.empty(path.size + 2)
    stack[0] = np.inf
    depth = 1
    found = np.empty(path.size + 2)
    count = 0
    for row in range(path.size + 1):
        stack[depth] = path[row] if row < path.size else -np.inf
        depth += 1
        while depth >= 3:
            last = stack[depth - 1] - stack[depth - 2]
            middle = stack[depth - 2] - stack[depth - 3]
            if last * middle >= 0:
                # Not a turn: the middle point lies on the way.
                stack[depth - 2] = stack[depth - 1]
                depth -= 1
                continue
            if depth < 4:
                break
            first = stack[depth - 3] - stack[depth - 4]
            if abs(middle) <= abs(last) and abs(middle) <= abs(first):
                if middle != 0:
                    found[count] = abs(middle)
                    count += 1
                stack[depth - 3] = stack[depth - 1]
                depth -= 2
            else:
                break
    return np.sort(found[:count])[::-1].copy()


@compiled
def rises_above(path: Floats, threshold: float) -> tuple[Rows, Rows]:
    """Return the rows of foot and top of every rise of at least `threshold`, parted by falls of at least as much.

    Parameters
    ----------
    path : float64 (n,)
        Any path.
    threshold : float
        Smallest rise and smallest fall that count; above 0.

    Returns
    -------
    (int64 (k,), int64 (k,))
        Rows of the feet and of the tops, each increasing and in turn.
    """
    feet = np.empty(path.size // 2 + 1, np.int64)
    tops = np.empty(path.size // 2 + 1, np.int64)
    count = 0
    low = high = 0
    rising = False
    for row in range(path.size):
        if not rising:
            if path[row] <= path[low]:
                low = row
            elif path[row] - path[low] >= threshold:
                rising = True
                feet[count] = low
                high = row
        elif path[row] > path[high]:
            high = row
        elif path[high] - path[row] >= threshold:
            rising = False
            tops[count] = high
            count += 1
            low = row
    if rising:
        tops[count] = high
        count += 1
    return feet[:count].copy(), tops[:count].copy()
