"""What recurs with every so-and-so-many iteration of a loop: steps that these add, and iterations of other loops."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from operator import itemgetter
from typing import Final

import numpy as np

from ...layers.loops.steps import OPEN, STEP_CODES, STEP_KINDS, StepCode, StepGroup, ranks_of
from ...layers.selection.directions import DIRECTIONS
from ...layers.trace import Trace
from ...model.arrays import Ints, Rows
from .folding import Folded
from .loops import AddedStep, BodyStep, Loop, Within
from .members import MOST_ITERATIONS, Member, calls_by_kind, heaviest_of_threads, regular
from .timing import timing_of

_SELDOM: Final = 1 / 3
"""Share of the iterations that add a step at most: what more of them do is how the loop goes."""
_USUAL: Final = 0.5
"""Share of the iterations that must do exactly as the usual one does for others to add something."""
_FEWEST: Final = 3
"""Iterations at an even distance from which on that is evidence."""
_FEWEST_APART: Final = 6
"""The same where no thread takes part in both loops, so that only times say what comes with what."""
_BOUND: Final = 0.25
"""Share of the usual interval by which the places in it may differ, as intervals that are regular do."""
_LONG: Final = 10.0
"""Times the usual interval from which on what is done in one iteration is rather something else."""
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


def with_occasional(groups: Iterable[StepGroup], sets: Iterable[Sequence[Member]]) -> list[list[Member]]:
    """Return loops with what their threads do on files of another kind, all of it in some of the iterations.

    What is done there once in each of these iterations and comes evenly, by their number or in time, stays a loop.
    """
    found, gone = [list(members) for members in sets], set[int]()
    number = {id(one): place for place, members in enumerate(found) for one in members}
    of_group: dict[int, set[int]] = {}
    for one in chain.from_iterable(found):
        of_group.setdefault(id(one.group), set()).add(number[id(one)])
    of_threads = heaviest_of_threads(chain.from_iterable(map(regular, filter(_may_host, found))))
    for group in groups:
        own = of_group.get(id(group), set())
        if any(len(found[place]) > 1 for place in own):
            continue
        alone = [found[place][0] for place in own]
        hosts = {number[id(one)] for one in of_threads.get(tuple(group.locations), ())} - own - gone
        guests = ((_guest_of(group, alone, found[place]), found[place]) for place in sorted(hosts))
        there = [(int(group.steps.begin[0] - _latest(host, group)), one, host) for one, host in guests if one]
        if there:
            _, guest, host = min(there, key=itemgetter(0))
            host.append(guest)
            gone |= own
    return [members for place, members in enumerate(found) if place not in gone]


def _may_host(members: Sequence[Member]) -> bool:
    folded = members[0].folded
    return folded.bits > 0 and _FEWEST <= folded.count <= MOST_ITERATIONS


def _mine(members: Sequence[Member], group: StepGroup) -> list[Member]:
    """Return those of a loop that are of the same threads."""
    return [one for one in regular(members) if one.group.locations == group.locations]


def _latest(members: Sequence[Member], group: StepGroup) -> int:
    """Return when what threads do in a loop ends latest before they begin on files of another kind."""
    first, steps = group.steps.begin[0], [one.group.steps for one in _mine(members, group)]
    return max(int(one.end[max(0, np.searchsorted(one.begin, first) - 1)]) for one in steps)


def _is_loop_beside(one: Member, often: int, mostly: bool, apart: bool) -> bool:
    """Tell whether a loop on files of one kind is one of its own, beside a loop in some iterations of which it goes on.

    It does so in so many of them, which are most, or are `apart` by as many each time or on several files.
    """
    known, body = one.folded.bits > 0, one.group.steps.code[slice(*one.folded.body)]
    if one.folded.count > often:
        return known and (mostly or bool(((body >> 1) % STEP_CODES == OPEN).any()))
    return apart or (known and timing_of(one.begin.astype(np.float64)).kind != "irregular")


def _guest_of(group: StepGroup, own: Sequence[Member], host: Sequence[Member]) -> Member | None:
    """Return all that a group does as what it does in some iterations of a loop; None where it is not that."""
    steps, begin = group.steps, np.minimum.reduce([one.begin for one in _mine(host, group)])
    which, first = np.unique(np.searchsorted(begin, steps.begin, side="right") - 1, return_index=True)
    often, count, usual = len(which), len(begin), np.median(np.diff(begin))
    lasting = np.maximum.reduceat(steps.end, first) - steps.begin[first]
    if which[0] < 0 or lasting.max() > _LONG * usual or steps.begin[-1] > max(one.end for one in host) + usual:
        return None
    if not (2 - bool(own)) <= often < count:
        return None
    # Once behind the last iteration is what comes behind the loop, such as a final dump.
    if often == 1 and steps.begin[0] >= _latest(host, group) and which[0] == count - 1:
        return None
    apart = evenly(which, count) is not None or len(np.unique(steps.file)) > 1
    if any(_is_loop_beside(one, often, often > _SELDOM * count, apart) for one in own):
        return None
    edges = np.append(first, len(steps)).astype(np.int64)
    return Member(group, Folded(edges, 0, np.ones(often, np.bool_), 0.0), which)


def added_steps(
    trace: Trace, members: Sequence[Member], kinds: Sequence[str], ranks: Sequence[int]
) -> Iterator[AddedStep]:
    """Give the steps that a few iterations of a loop add to those of the usual one, by kind of call.

    What all of its `ranks` do has none, else those that do.
    """
    together: dict[AddedStep, tuple[AddedStep, set[int]]] = {}
    count = members[0].folded.count
    for member in members:
        for one in _added_by(trace, member, kinds, count):
            same = replace(one, step=replace(one.step, mean_bytes=None))
            together.setdefault(same, (one, set()))[1].update(ranks_of(trace.definitions, member.group.locations))
    for one, who in together.values():
        yield replace(one, step=replace(one.step, ranks=None if who == set(ranks) else tuple(sorted(who))))


def _added_by(trace: Trace, member: Member, kinds: Sequence[str], count: int) -> Iterator[AddedStep]:
    calls = calls_by_kind(member.group.steps, member.folded)
    if member.places is not None:
        order = np.argmax(member.group.steps.kinds > 0, axis=0)
        for kind in sorted(np.flatnonzero(calls.any(axis=0)).tolist(), key=lambda one: int(order[one])):
            own = np.flatnonzero(calls[:, kind])
            yield _added(trace, member, kinds[member.group.kind], kind, own, calls[own, kind], count)
        return
    more = calls - calls[member.folded.usual]
    if member.folded.repeats is not None or (more == 0).all(axis=1).mean() < _USUAL:
        return
    for kind in range(len(STEP_KINDS)):
        places = np.flatnonzero(more[:, kind] > 0)
        # What one has more and the last one lacks is where iterations are kept from, not what one adds.
        moved_on = len(places) == 1 and more[places[0], kind] == -more[-1, kind]
        if 0 < len(places) <= _SELDOM * len(more) and not moved_on:
            yield _added(trace, member, kinds[member.group.kind], kind, places, more[places, kind], count)


def _added(trace: Trace, member: Member, file: str, kind: int, places: Rows, more: Ints, count: int) -> AddedStep:
    """Return what iterations at some places do more of a kind of call, with the mean of its bytes."""
    steps, start = member.group.steps, member.folded.start
    usual = [member.folded.usual] if member.places is None else []
    rows = [np.arange(start[place], start[place + 1]) for place in (*places.tolist(), *usual)]
    mine = [one[steps.kinds[one, kind] > 0] for one in rows]
    code = StepCode.of(int(steps.code[mine[0][0]]))
    moved = [int(np.maximum(steps.total[one], 0).sum()) for one in mine]
    calls = int(more.sum()) * len(member.group.locations)
    before = len(places) * moved[-1] if usual else 0
    mean = (sum(moved[: len(places)]) - before) / calls
    step = BodyStep.of(trace.order[code.layer], code._replace(kind=kind), None, file, round(float(np.median(more))))
    step = replace(step, mean_bytes=mean if STEP_KINDS[kind] in DIRECTIONS and mean > 0 else None)
    places = places if member.places is None else member.places[places]
    every, first = evenly(places, count) or (None, int(places[0]) + 1)
    return AddedStep(step, len(places), first, every)


def with_outer(loops: Sequence[Loop], sets: Sequence[Sequence[Member]]) -> tuple[Loop, ...]:
    """Return loops with the one of which every so-and-so-many iteration comes with one of theirs.

    Outermost ones are in the order of `sets`. It is seen in the threads that take part in both, where there are some.
    """
    outermost = [one for one in loops if one.parent is None]
    most = sorted(zip(outermost, sets, strict=True), key=lambda one: one[0].count)[-_OUTER:]
    threads = [{where: one for one in regular(members) for where in one.group.locations} for _, members in most]
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
    offset = other.begin - one.begin[np.minimum(places, len(one.begin) - 1)]
    # What goes by a clock of its own comes earlier or later in them each time.
    drifts = apart and np.ptp(offset) > _BOUND * np.median(np.diff(one.begin))
    return None if drifts else evenly(places, len(one.begin))
