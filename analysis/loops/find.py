"""Finding the loops of a trace: the steps of all ranks are folded, and loops that go on together become one."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import chain, groupby
from operator import itemgetter
from typing import Any, Final

import numpy as np

from ...layers.loops.iterations import OUTSIDE, Assignment, IterationNumbers, IterationSums, Spans, Times
from ...layers.loops.steps import (
    STEP_CODES,
    STEP_KINDS,
    UNKNOWN_BYTES,
    FileKinds,
    StepCode,
    StepGroup,
    Steps,
    StepSums,
    kinds_of_files,
    ranks_of,
    successive_threads,
)
from ...layers.selection.directions import DIRECTIONS
from ...layers.trace import Trace
from ...model.arrays import Ints
from .folding import Folded, fold, unparted
from .loops import BodyStep, Loop, Loops, Told
from .members import (
    Member,
    calls_by_kind,
    completed,
    heaviest,
    heaviest_of_threads,
    matched,
    regular,
    slots_of,
    unrolled,
)
from .recurring import added_steps, with_occasional, with_outer
from .slowest import slowest_iterations

_TOGETHER = 0.9
"""Share of the iterations of two loops that must follow one another by turns for both to be one loop."""
_TURNS = 6
"""Steps on each of two kinds of files from which on it is evidence that they come by turns: of two orders in 924."""
_ORDER: Final = ("open", "data set open", "read", "write", "flush", "data set close", "close", "deletion")
"""In which the kinds of calls are told whose order is not kept."""
_STEPS_SHOWN = 12
"""Steps of an iteration from which on those of one kind are told together."""


def find_loops(trace: Trace) -> Loops:
    """Read a program back from its trace, as loops of what it called itself; once for a trace.

    Raises
    ------
    SelectionError
        If the recorder does not tell single operations.

    Examples
    --------
    >>> [loop.count for loop in find_loops(open_trace("fixtures/ckpt4")).loops]  # doctest: +SKIP
    [20, 55]
    """
    trace.definitions.recording.require(trace.path, "loops", "operations")
    return trace.once(_found)


def _found(trace: Trace) -> Loops:
    names, kinds, groups = streams_of(trace)
    return loops_of_members(trace, names, kinds, list(_members(groups, trace)), groups)


def _members(groups: Iterable[StepGroup], trace: Trace) -> Iterator[Member]:
    """Give what groups of threads repeat on their kinds of files.

    Of a group that shows no loop by itself, as one iteration is another or a pause is missing, it is that of threads
    which do so on files of the kind, where its iterations are as many and come by turns with those. So it is of one
    that does more between them. One that shows a few less has others between them, and what others do on another kind
    of files may part what is done in each iteration of theirs.
    """
    second = trace.definitions.clock.ticks_per_second
    found = [(group, [Member(group, one) for one in fold(group.steps, second=second)]) for group in groups]
    known: dict[int, list[Member]] = {}
    for group, members in found:
        known.setdefault(group.kind, []).extend(one for one in members if one.folded.bits > 0)
    known = {kind: heaviest(some) for kind, some in known.items()}
    of_threads = heaviest_of_threads(chain.from_iterable(known.values()))
    for group, members in found:
        alike = [one for one in known[group.kind] if one.group is not group]
        if not any(_is_like_any(one, alike) for one in members):
            shown = any(one.folded.bits > 0 for one in members)
            others = _as_others(group, alike, None if shown else second)
            members = next(([one] for one in others if _is_like_any(one, alike)), members)
        by_turns = of_threads.get(tuple(group.locations), ())
        for place, one in enumerate(members):
            ways = (unrolled(one, like) for like in by_turns)
            loop = next((way for way in ways if way is not None and _is_like_any(way, by_turns)), one)
            likes = [*alike, *(by_turns if loop.folded.count >= _TURNS else ())]
            members[place] = _completed(loop, likes, [*members[:place], *members[place + 1 :]])
        yield from members


def _as_others(group: StepGroup, alike: Sequence[Member], second: float | None) -> Iterator[Member]:
    """Give what a group may do as others do, and, of a `second`, what it may repeat without evidence."""
    if alike:
        yield from matched(group, alike)
        if second is not None:
            yield from (Member(group, one) for one in fold(group.steps, -np.inf, second))


def _is_like_any(member: Member, known: Iterable[Member]) -> bool:
    """Tell whether a loop has as many iterations as one that is known, by turns with these."""
    return any(member.folded.count == one.folded.count and _by_turns(member, one) for one in known)


def _completed(member: Member, likes: Sequence[Member], beside: Sequence[Member]) -> Member:
    """Return a loop with the iterations in which its threads do something else than most that do the same.

    Or in which they do something else on these files than in most that come by turns with those on others. These are
    nothing that its threads do in other loops, those `beside`.
    """
    taken = [one.folded.start[[0, -1]] for one in beside]
    for like in (one for one in likes if one.group is not member.group):
        whole = completed(member, like)
        if whole and _by_turns(whole, like):
            first, last = whole.folded.start[[0, -1]]
            if all(last <= begin or end <= first for begin, end in taken):
                return whole
    return member


def streams_of(trace: Trace) -> tuple[Sequence[str], FileKinds, list[StepGroup]]:
    """Return the names of kinds of files, which file is of which, and what threads call on each kind."""
    names, kinds = kinds_of_files(trace.definitions, trace.stream.in_memory is not None)
    if trace.definitions.recording.reason("handles"):
        names = ("",) * len(names)
    sums = trace.stream.summed_in_order(partial(StepSums, trace.scope, kinds))
    lane = successive_threads(trace.definitions, sums.spans)
    if lane is not None:
        kinds = kinds._replace(lane=lane, calls=None if kinds.calls is None else {})
        sums = trace.stream.summed_in_order(partial(StepSums, trace.scope, kinds))
    groups = sums.ordered()
    for group in groups:
        group.steps = unparted(group.steps, trace.definitions.clock.ticks_per_second)
    return names, kinds, groups


def loops_of_members(
    trace: Trace, names: Sequence[str], kinds: FileKinds, members: Sequence[Member], groups: Iterable[StepGroup] = ()
) -> Loops:
    """Return what groups of threads repeat as loops, with what all layers do in them."""
    together = with_occasional(groups, _joined(members))
    assignment = _assignment(together, kinds)
    amounts = trace.stream.summed_in_order(partial(IterationSums, trace.scope, assignment))
    loops = with_outer(tuple(_loops(trace, together, names, amounts)), together)
    later = replace(assignment, kinds=kinds._replace(calls=None))
    numbering = partial(_numbers, together, later.kinds, later, loops)
    return Loops(trace, loops, amounts, numbering, slowest_iterations)


def _numbers(
    sets: Sequence[Sequence[Member]], kinds: FileKinds, assignment: Assignment, loops: Iterable[Loop]
) -> IterationNumbers:
    """Return the loop of each iteration, and its number there."""
    counts = [members[0].folded.count for members in sets]
    return IterationNumbers(
        assignment if counts == list(map(slots_of, counts)) else _assignment(sets, kinds, int),
        np.repeat(np.array([one.id for one in loops if one.parent is None], np.int64), counts),
        np.concatenate([np.zeros(0, np.int64), *(np.arange(1, count + 1) for count in counts)]),
    )


def _joined(members: Iterable[Member]) -> list[list[Member]]:
    """Return loops that go on together, the one with most calls first in each; sets in the order of their begins."""
    sets: list[list[Member]] = []
    for member in sorted(members, key=lambda one: (-one.weight, one.group.kind, one.group.locations)):
        for known in sets:
            if _is_same(known[0], member):
                known.append(member)
                break
        else:
            sets.append([member])
    return sorted(sets, key=lambda one: (int(one[0].begin[0]), one[0].group.kind, one[0].group.locations))


def _is_same(one: Member, other: Member) -> bool:
    """Tell whether two loops are one: as often, and by turns, or on the same files at the same time."""
    if one.folded.count != other.folded.count:
        return False
    if set(one.group.locations) & set(other.group.locations) and one.group is other.group:
        return False
    known, same_files = max(one.folded.bits, other.folded.bits) > 0, one.group.kind == other.group.kind
    if known and same_files and one.begin[0] < other.end and other.begin[0] < one.end:
        return True
    if not (known or same_files or one.folded.count >= _TURNS):
        return False
    return _by_turns(one, other)


def _by_turns(one: Member, other: Member) -> bool:
    """Tell whether nearly all iterations of two loops that run as often follow one another by turns."""
    latest, first = np.maximum(one.begin, other.begin)[:-1], np.minimum(one.begin, other.begin)[1:]
    return bool((latest < first).mean() >= _TOGETHER)


def _assignment(
    sets: Iterable[Sequence[Member]], kinds: FileKinds, numbers_of: Callable[[int], int] = slots_of
) -> Assignment:
    """Return which calls of which threads are in which iteration; those of a loop are numbered one after the other.

    `numbers_of` says how many numbers a loop of so many iterations has: one for each, or one for all.
    """
    spans: list[Any] = [np.zeros((4, 0), np.int64)]
    times: list[Any] = [np.zeros((3, 0), np.int64)]
    number = 0
    for members in sets:
        count = members[0].folded.count
        slots = numbers_of(count)
        places = number + np.arange(slots)
        number += slots
        for member in members:
            # Iterations that are not told one by one are one.
            call = member.calls if slots == count else member.calls[[0, -1]]
            mine = places if member.places is None else places[member.places]
            for location in member.group.locations:
                key = np.full(len(mine), location * kinds.total + member.group.kind)
                spans.append((key, call[:-1], call[1:], mine))
            since = np.append(member.since[: len(mine)], member.since[-1])
            times.append((np.full(len(since), member.group.kind), since, np.append(mine, OUTSIDE)))
    return Assignment(Spans(*_in_order(spans)), Times(*_in_order(times)), kinds)


def _in_order(parts: Sequence[Any]) -> Ints:
    """Return columns of several parts as one, in the order of the first two."""
    columns = np.concatenate(parts, axis=1)
    return columns.take(np.lexsort(columns[1::-1]), axis=1)


def _loops(
    trace: Trace, sets: Iterable[Sequence[Member]], kinds: Sequence[str], amounts: IterationSums
) -> Iterator[Loop]:
    """Give the loops, each before those within it."""
    number, place = 0, 0
    for members in sets:
        count = members[0].folded.count
        doing = {one for member in members for one in member.group.locations}
        ranks = ranks_of(trace.definitions, doing)
        threads = len(doing) if len(doing) > len(ranks) > 0 else None
        body, inner = _body(trace, regular(members), kinds, number, ranks)
        told = Told.of(amounts, place, slots_of(count), any_other(members))
        place += slots_of(count)
        begin = told.begin if len(told.begin) == count else members[0].begin / trace.definitions.clock.ticks_per_second
        own = number, None, count, tuple(ranks), tuple(told.sums), tuple(body)
        iterations = told.iterations if len(told.iterations) == count else ()
        bits = round(max(one.folded.bits for one in members), 1)
        added = tuple(added_steps(trace, members, kinds, ranks)) or None
        loop = Loop(*own, bits=bits, iterations=iterations, sums=told.sums, added=added, threads=threads)
        yield loop.timed(begin, float(told.end.max()), members[0].folded.joined)
        yield from inner
        number += 1 + len(inner)


def any_other(members: Sequence[Member]) -> list[bool]:
    """Return which iterations have other steps than the usual in some thread."""
    either = np.zeros(members[0].folded.count, np.bool_)
    for one in members:
        other = one.folded.other.repeat(1 if one.folded.repeats is None else one.folded.repeats)
        either[slice(None) if one.places is None else one.places] |= other
    found: list[bool] = either.tolist()
    return found


def _body(
    trace: Trace, members: Sequence[Member], kinds: Sequence[str], number: int, ranks: Sequence[int]
) -> tuple[list[BodyStep], list[Loop]]:
    """Return the steps of an iteration in their order, and the loops within it."""
    steps: dict[tuple[BodyStep, int], list[tuple[BodyStep, list[int]]]] = {}
    order: list[tuple[BodyStep, int]] = []
    inner: list[Loop] = []
    # At first ranks may be further apart than steps: they begin together where they wait for one another.
    for member in sorted(members, key=lambda one: int(one.begin[len(one.begin) // 2])):
        mine = ranks_of(trace.definitions, member.group.locations)
        known = len(inner)
        found = _steps_of(trace, member, member.folded, kinds[member.group.kind], number, number, inner, mine)
        found = _with_known(found, inner, known)
        often: Counter[BodyStep] = Counter()
        keys = []
        for one in found:
            same = replace(one, mean_bytes=None, mean_count=None, count=one.count if one.mean_count is None else 0)
            often[same] += 1
            keys.append((same, often[same]))
        # What others do not comes behind what it follows here.
        place = next((order.index(key) for key in keys if key in steps), len(order))
        for one, key in zip(found, keys, strict=True):
            if key not in steps:
                order.insert(place, key)
            place = max(place, order.index(key) + 1)
            steps.setdefault(key, []).append((one, mine))
    return [_of_all(steps[key], ranks) for key in order], inner


def _with_known(steps: Sequence[BodyStep], inner: list[Loop], known: int) -> list[BodyStep]:
    """Return steps with loops in place of those that others do as well, whose ranks then do them all.

    Nothing else than the order of the iterations' steps, sizes and files tells one loop from another; of `inner` ones
    those up to `known` are of others.
    """
    own, others = inner[known:], inner[:known]
    outer = [one for one in own if one.parent not in {each.id for each in own}]
    same = {one.id: next((each for each in others if _done(each, inner) == _done(one, inner)), None) for one in outer}
    if not same or None in same.values():
        return list(steps)
    for place, one in enumerate(others):
        ranks = {rank for loop in outer if same[loop.id] is one for rank in loop.ranks}
        inner[place] = replace(one, ranks=tuple(sorted(ranks.union(one.ranks))))
    del inner[known:]
    ids = {number: one.id for number, one in same.items() if one is not None}
    return [one if one.loop is None else replace(one, loop=ids[one.loop]) for one in steps]


def _done(loop: Loop, loops: Sequence[Loop]) -> object:
    """Return what is done in a loop, whoever does so and however much of it varies."""
    within = {one.id: one for one in loops}
    steps = (replace(one, mean_bytes=None, ranks=None) if one.loop is None else one for one in loop.body)
    return loop.count, tuple(one if one.loop is None else _done(within[one.loop], loops) for one in steps)


def _of_all(parts: Sequence[tuple[BodyStep, Sequence[int]]], ranks: Sequence[int]) -> BodyStep:
    """Return a step that several groups of ranks do as one."""
    who = sorted({rank for _, mine in parts for rank in mine})

    def mean(values: Iterable[float | None]) -> float | None:
        known = [(one, max(1, len(mine))) for one, (_, mine) in zip(values, parts, strict=True) if one is not None]
        return sum(one * many for one, many in known) / sum(many for _, many in known) if known else None

    means = (mean(one.mean_bytes for one, _ in parts), mean(one.mean_count for one, _ in parts))
    everyone = None if who == sorted(ranks) else tuple(who)
    return replace(parts[0][0], mean_bytes=means[0], mean_count=means[1], ranks=everyone)


def _steps_of(
    trace: Trace,
    member: Member,
    folded: Folded,
    file: str,
    number: int,
    parent: int,
    inner: list[Loop],
    ranks: list[int],
) -> list[BodyStep]:
    """Return the steps of the usual iteration of a loop, and put the loops within it into `inner`."""
    steps = member.group.steps
    low, high = folded.body
    found: list[BodyStep] = []
    at = low
    for within in folded.inner:
        found += _plain_steps(trace, member.group, at, int(within.start[0]), file, folded)
        place = len(inner)
        name = number + 1 + place
        # It comes before those within it.
        inner.append(Loop(name, parent, within.count, tuple(ranks), (), ()))
        body = _steps_of(trace, member, within, file, number, name, inner, ranks)
        begin = Member(member.group, within).begin / trace.definitions.clock.ticks_per_second
        end = steps.end[within.start[-1] - 1] / trace.definitions.clock.ticks_per_second
        layers = tuple(one for one in trace.order if any(one == step.layer for step in body))
        known = replace(inner[place], layers=layers, body=tuple(body), bits=round(within.bits, 1))
        inner[place] = known.timed(begin, float(end), within.joined)
        whole = (int(within.start[0]), int(within.start[-1])) == (low, high)
        often = within.count * _more_than_usual(steps, folded) if whole else None
        found.append(BodyStep(None, "loop", None, file, within.count, name, mean_count=often or None))
        at = int(within.start[-1])
    return found + _plain_steps(trace, member.group, at, high, file, folded)


def _plain_steps(trace: Trace, group: StepGroup, low: int, high: int, file: str, folded: Folded) -> list[BodyStep]:
    """Return steps that are no loop, those that follow one another and are the same as one."""

    @cache
    def step(number: int, each: int | None) -> BodyStep:
        code = StepCode.of(number)
        return BodyStep.of(trace.order[code.layer], code, each, file, 1)

    places = _by_place(group, folded)
    calls: list[tuple[BodyStep, float | None, int]] = []
    for row, number, each, count in _calls_of(group, low, high, folded.repeats is not None):
        mean = places.get(row)
        one = step(number, each if mean is None else None)
        calls.append((one, mean if one.kind in DIRECTIONS else None, count))
    found = _runs_of(calls)
    # Where several that are one begin is chance where they hold several kinds of calls.
    if len(found) > _STEPS_SHOWN or (group.steps.kinds[low:high] > 0).sum(axis=1).max(initial=0) > 1 < high - low:
        found = _by_kind(found)
    varying = set() if places else {(trace.order[layer], kind) for layer, kind in _varying(group.steps, folded)}
    found = [replace(one, bytes=None) if (one.layer, one.kind) in varying else one for one in found]
    found = [
        _with_mean(trace, one, found, group, folded)
        if one.bytes is None and one.mean_bytes is None and one.kind in DIRECTIONS
        else one
        for one in found
    ]
    return _with_mean_counts(found, group.steps, folded) if (low, high) == folded.body else found


def _runs_of(calls: Sequence[tuple[BodyStep, float | None, int]]) -> list[BodyStep]:
    """Return as one what follows one another and is the same: steps, mean bytes where these vary, and how often each.

    What is of another order of magnitude is another step.
    """
    keys = [(one, None if mean is None else round(np.log2(mean))) for one, mean, _ in calls]
    amounts: dict[object, tuple[float, int]] = {}
    for key, (_, mean, count) in zip(keys, calls, strict=True):
        moved, often = amounts.get(key, (0.0, 0))
        amounts[key] = moved + (mean or 0.0) * count, often + count
    found = []
    for key, several in groupby(zip(keys, calls, strict=True), itemgetter(0)):
        (one, order), (moved, often) = key, amounts[key]
        mean = None if order is None else moved / often
        found.append(replace(one, count=sum(call[2] for _, call in several), mean_bytes=mean))
    return found


def _by_place(group: StepGroup, folded: Folded) -> dict[int, float | None]:
    """Return the mean bytes of a call for each step of the usual iteration, None where they are mostly as in that one.

    Nothing where less than half of the iterations have as many steps or calls, and of steps that are several.
    """
    steps, start, (low, high) = group.steps, folded.start, folded.body
    alike = start[:-1][np.diff(start) == high - low]
    if folded.repeats is not None or 2 * len(alike) < len(start) - 1 or steps.content[low:high].any():
        return {}
    if not _means_that_vary(steps, folded).keys().isdisjoint(DIRECTIONS):
        return {}
    total = steps.total[alike[:, None] + np.arange(high - low)]
    varies = (total == steps.total[low:high]).mean(axis=0) <= 0.5
    varies |= steps.low[low:high] != steps.high[low:high]
    varies &= (total > 0).all(axis=0)
    mean = total.mean(axis=0) / (steps.count[low:high] * len(group.locations))
    return {low + place: mean[place] if varies[place] else None for place in range(high - low)}


def _with_mean_counts(found: Sequence[BodyStep], steps: Steps, folded: Folded) -> list[BodyStep]:
    """Return the steps of an iteration with how often they are done in the mean, where that varies."""
    often, kinds = _means_that_vary(steps, folded), Counter(one.kind for one in found)
    return [replace(one, mean_count=often.get(one.kind)) if kinds[one.kind] == 1 else one for one in found]


def _more_than_usual(steps: Steps, folded: Folded) -> float:
    """Return how many times the calls of the usual one iterations have, where less than half have as many; else 0."""
    calls = calls_by_kind(steps, folded).sum(axis=1)
    usual = calls[folded.usual]
    return float(calls.mean() / usual) if folded.repeats is None and (calls == usual).mean() < 0.5 else 0.0


def _means_that_vary(steps: Steps, folded: Folded) -> dict[str, float]:
    """Return how often iterations do what less than half of them do as often as the usual one, by kind of step."""
    if folded.repeats is not None:
        return {}
    calls = calls_by_kind(steps, folded)
    varies = (calls == calls[folded.usual]).mean(axis=0) < 0.5
    return {STEP_KINDS[kind]: float(calls[:, kind].mean()) for kind in np.flatnonzero(varies).tolist()}


def _with_mean(trace: Trace, step: BodyStep, others: Sequence[BodyStep], group: StepGroup, folded: Folded) -> BodyStep:
    """Return a step with the mean of its bytes over all iterations, but for calls of a size that another step has."""
    inside = group.steps.take(np.arange(int(folded.start[0]), int(folded.start[-1])))
    code, total = inside.moving, inside.total
    known = {one.bytes for one in others if replace(one, bytes=None, count=step.count) == step}
    same = [one for one in np.unique(code).tolist() if _is_of(trace, StepCode.of(one), step)]
    # What is kept as one reads and writes has one sum of bytes for both.
    mixed = (inside.kinds[:, [STEP_KINDS.index(one) for one in DIRECTIONS]] > 0).all(axis=1)
    rows = np.isin(code, same) & (total > 0) & ~mixed
    calls = inside.kinds[rows, STEP_KINDS.index(step.kind)].astype(np.int64) * len(group.locations)
    left = ~np.isin(total[rows] / calls, [size for size in known if size is not None])
    each = (total[rows] / calls)[left]
    if len(each) and each.min() == each.max() and (inside.low[rows] == inside.high[rows])[left].all():
        return replace(step, bytes=int(each[0]))
    return replace(step, mean_bytes=float(total[rows][left].sum() / calls[left].sum()) if left.any() else None)


def _is_of(trace: Trace, code: StepCode, step: BodyStep) -> bool:
    own = trace.order[code.layer], STEP_KINDS[code.kind], code.collective or None
    return own == (step.layer, step.kind, step.collective)


def _calls_of(group: StepGroup, low: int, high: int, once: bool) -> Iterator[tuple[int, int, int | None, int]]:
    """Give the codes of steps, the bytes of each of their calls, and how many there are; `once`: of the first unit.

    Each behind the row of its step.
    """
    steps, threads = group.steps, len(group.locations)
    for row in range(low, low + 1 if once else high):
        times, count, total = int(steps.times[row]), int(steps.count[row]), int(steps.total[row])
        often = 1 if once else times
        unit = group.units.get(int(steps.unit[row]))
        if unit is not None:
            sizes = (None if size < 0 else size for size in unit.total.tolist())
            yield from ((row, code, size, often) for code, size in zip(unit.code.tolist(), sizes, strict=True))
            continue
        mixed = steps.kinds[row] // np.uint32(times) * np.uint32(often)
        if np.count_nonzero(mixed) > 1:
            layer = StepCode.of(int(steps.code[row])).layer
            kinds = (kind for kind in map(STEP_KINDS.index, _ORDER) if mixed[kind])
            yield from ((row, 2 * (layer * STEP_CODES + kind), None, int(mixed[kind])) for kind in kinds)
            continue
        known = (times == count or steps.content[row] == 0) and steps.low[row] == steps.high[row]
        each, rest = divmod(total, count * threads)
        yield row, int(steps.code[row]), None if total < 0 or rest or not known else each, count // times * often


def _by_kind(steps: Sequence[BodyStep]) -> list[BodyStep]:
    """Return many steps with those of one layer and kind told together, in the order in which they come first."""
    together: dict[tuple[str | None, str], BodyStep] = {}
    for one in steps:
        key = (one.layer, one.kind)
        known = together.get(key)
        if known is None:
            together[key] = one
        else:
            size = one.bytes if known.bytes == one.bytes else None
            together[key] = replace(known, count=known.count + one.count, bytes=size, mean_bytes=None)
    return list(together.values())


def _varying(steps: Steps, folded: Folded) -> set[tuple[int, str]]:
    """Return the layers and kinds whose bytes are not those of the usual iteration in half of all iterations."""
    start = folded.start
    if folded.repeats is not None:
        return set()
    inside = slice(int(start[0]), int(start[-1]))
    code, total = steps.moving[inside], steps.total[inside]
    found = set()
    for one in np.unique(code[total != UNKNOWN_BYTES]).tolist():
        amount = np.add.reduceat(np.where((code == one) & (total >= 0), total, 0), start[:-1] - start[0])
        if (amount == amount[folded.usual]).mean() <= 0.5:
            what = StepCode.of(one)
            found.add((what.layer, STEP_KINDS[what.kind]))
    return found
