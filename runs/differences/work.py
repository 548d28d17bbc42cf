"""Whether two sides do the same work: what the program itself moves, whichever way it takes through the layers."""

import math
from collections.abc import Callable, Sequence
from typing import Final

from ...model.quantities import bytes_text, counted
from ..collection.rows import JobRow, Run

_ANOTHER: Final = 1.5
"""Factor from which on it is not a run with some steps more or less."""
_MAIN: Final = 0.25
"""Share of all bytes below which those of a direction say little of what a program is for."""


def other_work(before: Sequence[Run], after: Sequence[Run]) -> str | None:
    """Return the sentence that says how the work of two sides differs; None where it is the same, or not known.

    Work are the bytes that the program itself reads and writes, and operations on metadata where it moves none.
    """
    moved = [[_mean(side, value) for value in (_read, _written)] for side in (before, after)]
    if any(value is None for side in moved for value in side):
        return None
    most = max(sum(filter(None, side)) for side in moved)
    told = [
        f"it {verb} {_amount(was)} in A, {_amount(now)} in B"
        for verb, was, now in zip(("reads", "writes"), *moved, strict=True)
        if max(was or 0.0, now or 0.0) >= _MAIN * most and _differs(was or 0.0, now or 0.0)
    ]
    if not most and len({run.job.recorder for run in (*before, *after)}) == 1:
        counts = [_mean(side, lambda job: job.metadata_operations) for side in (before, after)]
        if _differs(counts[0] or 0.0, counts[1] or 0.0):
            numbers = [counted(round(count or 0), "metadata operation") for count in counts]
            told.append(f"it has {numbers[0]} in A, {numbers[1]} in B")
    if not told:
        return None
    return (
        f"The program itself does other work: {'; '.join(told)}. If A and B are not one program with one input, their "
        "times and findings cannot be compared, so B is called neither better nor worse"
    )


def _read(job: JobRow) -> float | None:
    return job.bytes_read


def _written(job: JobRow) -> float | None:
    return job.bytes_written


def _mean(runs: Sequence[Run], value: Callable[[JobRow], float | None]) -> float | None:
    known = [float(one) for run in runs if (one := value(run.job)) is not None]
    return sum(known) / len(known) if len(known) == len(runs) else None


def _differs(was: float, now: float) -> bool:
    if not was or not now:
        return was != now
    return abs(math.log(now / was)) >= math.log(_ANOTHER)


def _amount(volume: float | None) -> str:
    return bytes_text(volume) if volume else "nothing"
