"""What recurs with every so-and-so-many iteration of a loop: steps that these add, and iterations of other loops."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from ...layers.loops.steps import STEP_KINDS, StepCode, ranks_of
from ...layers.selection.directions import DIRECTIONS
from ...layers.trace import Trace
from ...model.arrays import Ints, Rows
from .loops import AddedStep, BodyStep, Loop, Within
from .members import Member, calls_by_kind

_SELDOM: Final = 1 / 3
"""Share of the iterations that add a step at most: what more of them do is how the loop goes."""
_USUAL: Final = 0.5
"""Share of the iterations that must do exactly as the usual one does for others to add something."""
_FEWEST: Final = 3
"""Iterations at an even distance from which on that is evidence."""
_FEWEST_APART: Final = 6
"""The same where no thread takes part in both loops, so that only times say what comes with what."""
_OUTER: Final = 8
"""Loops with most iterations in which others are looked for."""


def evenly(places: Rows, count: int) -> tuple[int, int] | None:
    """Return the distance of places that are all over `count` of them, and the first, counted from 1; else None.

    >>> evenly(np.array([4, 9, 14]), 17), evenly(np.array([4, 9, 14]), 60), evenly(np.array([1, 4]), 6)
    ((5, 5), None, None)
    """
    if len(places) < _FEWEST:
        return None
    every = int(places[1] - places[0])
    throughout = places[0] <= every and count - places[-1] <= every + 1
    if every < 2 or not throughout or (np.diff(places) != every).any():
        return None
    return every, int(places[0]) + 1


def added_steps(
    trace: Trace, members: Iterable[Member], kinds: Sequence[str], ranks: Sequence[int]
) -> Iterator[AddedStep]:
    """Give the steps that a few iterations of a loop add to those of the usual one, by kind of call.

    What all of its `ranks` do has none, else those that do.
    """
    together: dict[AddedStep, tuple[AddedStep, set[int]]] = {}
    for member in members:
        for one in _added_by(trace, member, kinds):
            same = replace(one, step=replace(one.step, mean_bytes=None))
            together.setdefault(same, (one, set()))[1].update(ranks_of(trace.definitions, member.group.locations))
    for one, who in together.values():
        yield replace(one, step=replace(one.step, ranks=None if who == set(ranks) else tuple(sorted(who))))


def _added_by(trace: Trace, member: Member, kinds: Sequence[str]) -> Iterator[AddedStep]:
    calls = calls_by_kind(member.group.steps, member.folded)
    more = calls - calls[member.folded.usual]
    if member.folded.repeats is not None or (more == 0).all(axis=1).mean() < _USUAL:
        return
    for kind in range(len(STEP_KINDS)):
        places = np.flatnonzero(more[:, kind] > 0)
        if 0 < len(places) <= _SELDOM * len(more):
            yield _added(trace, member, kinds[member.group.kind], kind, places, more[places, kind])


def _added(trace: Trace, member: Member, file: str, kind: int, places: Rows, more: Ints) -> AddedStep:
    """Return what iterations at some places do more of a kind of call, with the mean of its bytes."""
    steps, start = member.group.steps, member.folded.start
    rows = [np.arange(start[place], start[place + 1]) for place in (*places.tolist(), member.folded.usual)]
    mine = [one[steps.kinds[one, kind] > 0] for one in rows]
    code = StepCode.of(int(steps.code[mine[0][0]]))
    moved = [int(np.maximum(steps.total[one], 0).sum()) for one in mine]
    calls = int(more.sum()) * len(member.group.locations)
    mean = (sum(moved[:-1]) - len(places) * moved[-1]) / calls
    step = BodyStep.of(trace.order[code.layer], code._replace(kind=kind), None, file, round(float(np.median(more))))
    step = replace(step, mean_bytes=mean if STEP_KINDS[kind] in DIRECTIONS and mean > 0 else None)
    every, first = evenly(places, len(start) - 1) or (None, int(places[0]) + 1)
    return AddedStep(step, len(places), first, every)


def with_outer(loops: Sequence[Loop], sets: Sequence[Sequence[Member]]) -> tuple[Loop, ...]:
    """Return loops with the one of which every so-and-so-many iteration comes with one of theirs.

    Outermost ones are in the order of `sets`. It is seen in the threads that take part in both, where there are some.
    """
    outermost = [one for one in loops if one.parent is None]
    most = sorted(zip(outermost, sets, strict=True), key=lambda one: one[0].count)[-_OUTER:]
    threads = [{where: one for one in members for where in one.group.locations} for _, members in most]
    found: dict[int, Within] = {}
    for loop, members in zip(outermost, sets, strict=True):
        for (outer, _), of_thread in zip(most, threads, strict=True):
            stride = _stride(of_thread, members) if outer.count >= 2 * loop.count else None
            if stride is not None and loop.id not in found:
                found[loop.id] = Within(outer.id, *stride)
    return tuple(replace(one, within=found.get(one.id)) for one in loops)


def _stride(of_thread: Mapping[int, Member], inner: Sequence[Member]) -> tuple[int, int] | None:
    """Return at which iterations of a loop, which threads take part in, those of another come."""
    shared = ((of_thread[where], other) for other in inner for where in other.group.locations if where in of_thread)
    one, other = next(shared, (next(iter(of_thread.values())), inner[0]))
    apart = not set(other.group.locations) & set(one.group.locations)
    if apart and len(other.begin) < _FEWEST_APART:
        return None
    places = np.searchsorted(one.begin, other.begin, side="right") - 1
    # Its first one may come a little before that of the other.
    places -= min(int(places[0]), 0)
    return evenly(places, len(one.begin))
