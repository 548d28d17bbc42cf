"""The compiled search for the call that each call is in.

Numba may have to compile it: import it inside the function that uses it.
"""

from ..model.arrays import Ints, Links, Ticks
from ..model.kernels import compiled_uncounted


@compiled_uncounted
def nest(location: Links, begin: Ticks, end: Ticks, parent: Ints, sequence: Ints) -> None:
    """Fill in parents, and what is entered and left; ends are cut to those of the calls around.

    A call that ends when another begins is around it only if that ends at once, too.
    """
    top, step = -1, 0
    for call in range(len(begin)):
        while top >= 0 and (
            location[top] != location[call]
            or end[top] < begin[call]
            or (end[top] == begin[call] and end[call] > end[top])
        ):
            sequence[step] = -1 - top
            step += 1
            top = parent[top]
        if top >= 0:
            end[call] = min(end[call], end[top])
        parent[call] = top
        top = call
        sequence[step] = call
        step += 1
    while top >= 0:
        sequence[step] = -1 - top
        step += 1
        top = parent[top]
