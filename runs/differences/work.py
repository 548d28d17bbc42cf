"""Whether two sides do the same work: what the program itself moves, whichever way it takes through the layers."""

import math
from collections.abc import Sequence
from typing import Final

from ...model.quantities import bytes_text, counted
from ..collection.rows import Run
from .recorded import could_tell_layer, with_layer

_ANOTHER: Final = 1.5
"""Factor from which on it is not a run with some steps more or less."""
_MAIN_SHARE: Final = 0.25
"""Of the bytes of the layer that moves most, as fill values and whole stripes make those below move more; of directions
of the bytes of both."""


def main_layer(runs: Sequence[Run], direction: str, order: Sequence[str]) -> str | None:
    """Return the highest layer that moves what the program asks for; a lower one may move less for the same work."""
    moved = {layer: _moved(runs, layer, direction) for layer in order}
    most = max(moved.values(), default=0.0)
    return next((layer for layer in order if most and moved[layer] >= most * _MAIN_SHARE), None)


def other_work(before: Sequence[Run], after: Sequence[Run], order: Sequence[str]) -> str | None:
    """Return the sentence that says how the work of two sides differs; None where it is the same, or nobody knows.

    Work are the bytes that the highest layers of those that both recorders watch read and write, and operations on
    metadata where these move none.

    Parameters
    ----------
    order : sequence of str
        Layers, highest first.
    """
    sides = (before, after)
    moved = {direction: _by_program(sides, direction, order) for direction in ("read", "write")}
    most = max(sum(amounts) for amounts in zip(*moved.values(), strict=True))
    told = [
        f"it {direction}s {_amount(was)} in A, {_amount(now)} in B"
        for direction, (was, now) in moved.items()
        if max(was, now) >= _MAIN_SHARE * most and _differs(was, now)
    ]
    if not most and len({run.job.recorder for run in (*before, *after)}) == 1:
        was, now = (sum(run.job.metadata_operations or 0 for run in side) / len(side) for side in sides)
        if _differs(was, now):
            numbers = [counted(round(count), "metadata operation") for count in (was, now)]
            told.append(f"it has {numbers[0]} in A, {numbers[1]} in B")
    if not told:
        return None
    return (
        f"The program itself does other work: {'; '.join(told)}. If A and B are not one program with one input, their "
        "times and findings cannot be compared, so B is called neither better nor worse"
    )


def _by_program(sides: tuple[Sequence[Run], Sequence[Run]], direction: str, order: Sequence[str]) -> list[float]:
    """Return the bytes that the program asks for on each side, of layers that both recorders watch."""
    known = [layer for layer in order if all(_watched(side, layer, direction, sides) for side in sides)]
    layers = [main_layer(side, direction, known) for side in sides]
    return [0.0 if layer is None else _moved(side, layer, direction) for side, layer in zip(sides, layers, strict=True)]


def _moved(runs: Sequence[Run], layer: str, direction: str) -> float:
    """Return the bytes that a run moves in a layer and direction, on average."""
    rows = [row for run in runs for row in run.layers if (row.layer, row.direction) == (layer, direction)]
    return sum(row.bytes for row in rows) / len(runs)


def _watched(runs: Sequence[Run], layer: str, direction: str, sides: tuple[Sequence[Run], Sequence[Run]]) -> bool:
    having = with_layer((*sides[0], *sides[1]), layer, direction)
    return len(could_tell_layer(runs, layer, direction, having)) == len(runs)


def _differs(was: float, now: float) -> bool:
    if not was or not now:
        return was != now
    return abs(math.log(now / was)) >= math.log(_ANOTHER)


def _amount(volume: float) -> str:
    return bytes_text(volume) if volume else "nothing"
