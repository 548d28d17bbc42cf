"""Loops in words."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import groupby
from typing import Final, NamedTuple

import numpy as np

from ...layers.loops.steps import INSIDE
from ...layers.selection.directions import DIRECTIONS
from ...layers.statistics.kinds import common_folder
from ...model.arrays import Floats
from ...model.quantities import bytes_text, counted, factor_text, ordinal, percent_text, seconds_text, share_text
from .loops import AddedStep, BodyStep, Iteration, LayerPart, Loop, Loops
from .timing import DRIFTS, MATTERS

_COMPARABLE: Final = 100.0
"""Times the usual length from which on a factor says less than both lengths, as of a write that a buffer takes."""
_ALIKE: Final = 0.1
"""Share of the median by which intervals that are alike differ from it at most."""
_WHOLE: Final = 10.0
"""Mean number from which on it is told without a fraction."""
_VARIES: Final = 0.25
"""Coefficient of variation of what iterations move from which on their mean says too little."""
TRENDS: Final = 0.8
"""Correlation with their number from which on what iterations move grows or shrinks, or ranks get apart."""
_MOSTLY: Final = 2 / 3
"""Share of the intervals that must be alike to be told as what most are."""
_MUCH: Final = 0.25
"""Share of the time from which on the intervals that most have tell how often: many in a burst do not."""

_STEPS_SHOWN: Final = 10
"""Steps of an iteration in a line: of more the largest are told, and how many there are beside them."""
_ADDED_SHOWN: Final = 2
"""Kinds of steps that a few iterations add in a line; twice as many on a file that the others are not on."""
_SMALL: Final = 4096
"""Bytes below which a buffer takes what is read or written, and many of these are one."""
_PIECES: Final = 3
"""Steps, of which loops count twice, from which on small ones are told as one."""
_RANKS_SHOWN: Final = 6
"""Ranks at one distance of which more are not named each."""
_PACES_SHOWN: Final = 3
"""Loops that are alike of which the pace of each is told."""
_VERBS: Final = {"deletion": "delete", "data set open": "open data set", "data set close": "close data set"}
_RANGES_SHOWN: Final = 8
"""Ranges of ranks of which more would hide what the line is about; exports have all."""


def loop_text(
    loop: Loop, loops: Sequence[Loop], folder: str = "", file: str | None = None, mean: float | None = None
) -> str:
    """Return a loop such as ``8 × (4 × write 1 MiB, flush)``; names of files without a `folder`.

    A `mean` is how often it is done where that varies.
    """
    body = body_text(loop, loops, folder, file, _STEPS_SHOWN)
    often = f"{loop.count:,}" if mean is None else _mean_text(mean)
    named = {step.file for step in loop.body}
    on_others = [one for one in loop.added or () if one.step.file not in named][: 2 * _ADDED_SHOWN]
    added = [*[one for one in loop.added or () if one.step.file in named][:_ADDED_SHOWN], *on_others]
    by_whom = {_which(one): [like.step for like in added if _which(like) == _which(one)] for one in added}
    also = (f"{whom} also {_added_text(steps, named, folder)}" for whom, steps in by_whom.items())
    return f"{often} × ({'; '.join((body, *also))})"


def _which(one: AddedStep) -> str:
    """Return which iterations add a step: ``every 6th``."""
    if one.every is not None:
        return f"every {ordinal(one.every)}"
    return f"iteration {one.first}" if one.iterations == 1 else f"{one.iterations:,} of them"


def _added_text(steps: Sequence[BodyStep], named: Set[str], folder: str) -> str:
    """Return what iterations add; the same on several files, such as an open, once with how often in all.

    One file is named where it is not the one that all iterations are on.
    """
    counts: Counter[str] = Counter()
    for one in steps:
        counts[_step_text(replace(one, count=1, mean_count=None))] += one.count
    first, *others = (text if count == 1 else f"{count:,} × {text}" for text, count in counts.items())
    (file,) = {one.file for one in steps} if len({one.file for one in steps}) == 1 else ("",)
    return ", ".join((first if not file or named == {file} else f"{first} {file.removeprefix(folder)}", *others))


def within_text(loop: Loop, loops: Sequence[Loop], folder: str = "") -> str:
    """Return with which iterations of another loop those of one come: ``at every 5th of 60 × run.log``."""
    if loop.within is None:
        return ""
    outer = next(one for one in loops if one.id == loop.within.loop)
    name = outer.body[0].file.removeprefix(folder)
    return f"with every {ordinal(loop.within.every)} of the {outer.count:,} {f'on {name}' if name else 'iterations'}"


def alike(loops: Iterable[Loop]) -> list[tuple[Loop, ...]]:
    """Return loops in their order, those whose iterations do the same but for its sizes together: threads that share
    files between them, or the same again after something else, are a loop each.
    """
    groups: dict[object, list[Loop]] = {}
    for loop in loops:
        steps = tuple(replace(one, bytes=None, mean_bytes=None, ranks=None) for one in loop.body)
        nested = any(one.loop is not None for one in steps)
        groups.setdefault(loop.id if nested else steps, []).append(loop)
    return [tuple(group) for group in groups.values()]


def alike_text(group: Sequence[Loop], loops: Sequence[Loop], folder: str = "") -> str:
    """Return a loop, or several that are alike as one: ``3 loops of 4 to 9 × (write ~5.1 MB)``."""
    first, counts = group[0], [one.count for one in group]
    if len(group) == 1:
        return loop_text(first, loops, folder)
    low, high = min(counts), max(counts)
    body = (_mean_step(steps, counts) for steps in zip(*(one.body for one in group), strict=True))
    often = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    mean = replace(first, body=tuple(body))
    return f"{len(group)} loops of {often} × ({body_text(mean, loops, folder, most=_STEPS_SHOWN)})"


def _mean_step(steps: Sequence[BodyStep], counts: Sequence[int]) -> BodyStep:
    """Return a step of several loops, with the mean of its bytes where they differ."""
    first = replace(steps[0], ranks=None)
    sizes = [one.mean_bytes if one.bytes is None else one.bytes for one in steps]
    if len(set(sizes)) == 1 or None in sizes:
        return first
    return replace(first, bytes=None, mean_bytes=float(np.average(np.array(sizes, float), weights=counts)))


def titled(found: Loops, loops: Sequence[Loop]) -> list[tuple[Loop, str]]:
    """Return some loops, each with its words: names of files without the folder that those of all are in."""
    folder = common_folder(step.file for one in loops for step in one.body)
    return [(one, loop_text(one, found.loops, folder)) for one in loops]


def body_text(
    loop: Loop, loops: Sequence[Loop], folder: str = "", file: str | None = None, most: int | None = None
) -> str:
    """Return the steps of an iteration, at `most` so many: those that move most, and how many there are beside them.

    A file is named where it is not that of the step before, at first `file`.
    """
    known = {one.id: one for one in loops}
    steps = list(_repeated(_together(_plainly(_small_together(loop.body, known), known))))
    largest = sorted(steps, key=lambda one: -one[0] * sum(_moved(step, known) for step in one[1]))[:most]
    told = [one for one in steps if any(one is large for large in largest)]
    parts = []
    for often, group in told:
        who = _who(group[0]) if often > 1 and len({one.ranks for one in group}) == 1 else ""
        texts = []
        for step in group:
            shown = replace(step, ranks=None) if who else step
            text = _step_text(shown)
            if step.loop is not None:
                inner = known[step.loop]
                text = loop_text(inner, loops, folder, file, step.mean_count) + _who(shown) if inner.body else text
            elif step.file != file and (name := step.file.removeprefix(folder)):
                text += f" {'in ' if step.kind in INSIDE else ''}{name}"
            file = step.file
            texts.append(text)
        parts.append(", ".join(texts) if often == 1 else f"{often:,} × ({', '.join(texts)}){who}")
    if len(told) < len(steps):
        left = sum(often * len(group) for often, group in steps) - sum(often * len(group) for often, group in told)
        parts.append(counted(left, "smaller step"))
    return ", ".join(parts)


def _repeated(steps: Sequence[BodyStep]) -> Iterator[tuple[int, Sequence[BodyStep]]]:
    """Give steps one by one, those of a sequence that is done several times in a row once, with how often it is.

    Longer sequences than are shown are not looked for.
    """
    place = 0
    while place < len(steps):
        best, size = 1, 1
        for length in range(2, min(_STEPS_SHOWN, (len(steps) - place) // 2) + 1):
            often, first = 1, steps[place : place + length]
            while steps[place + often * length : place + (often + 1) * length] == first:
                often += 1
            if often > 1 and often * length > best * size:
                best, size = often, length
        yield best, steps[place : place + size]
        place += best * size


def _who(step: BodyStep) -> str:
    return "" if not step.ranks else f" [{ranks_text(step.ranks, 0)}]"


def _moved(step: BodyStep, known: Mapping[int, Loop]) -> float:
    """Return the bytes that a step asks for in an iteration."""
    if step.loop is not None:
        return step.count * sum(_moved(one, known) for one in known[step.loop].body)
    return step.count * (step.bytes or step.mean_bytes or 0.0)


class _Small(NamedTuple):
    """Small reads or writes of one kind that follow one another: how many, and their bytes."""

    kind: BodyStep
    often: int
    total: float


def _small_of(step: BodyStep, known: Mapping[int, Loop]) -> _Small | None:
    """Return a step, or all that a loop does, as small reads or writes of one kind; None where it is not that."""
    if step.loop is None:
        size = step.mean_bytes if step.bytes is None else step.bytes
        if step.kind not in DIRECTIONS or size is None or size >= _SMALL or step.mean_count is not None:
            return None
        return _Small(replace(step, bytes=None, mean_bytes=None, count=1), step.count, step.count * size)
    body = known[step.loop].body
    parts = [small for one in body if (small := _small_of(one, known)) is not None]
    if len(parts) < len(body) or len({one.kind for one in parts}) != 1:
        return None
    often, total = sum(one.often for one in parts), sum(one.total for one in parts)
    return _Small(_by_same(parts[0].kind, step), step.count * often, step.count * total)


def _small_together(steps: Iterable[BodyStep], known: Mapping[int, Loop]) -> Iterator[BodyStep]:
    """Give steps, with many small reads or writes that follow one another as one, whatever their sizes."""
    for kind, group in groupby(((_small_of(one, known), one) for one in steps), lambda one: one[0] and one[0].kind):
        small, own = zip(*group, strict=True)
        parts = [one for one in small if one is not None]
        count, sizes = sum(one.often for one in parts), {one.total / one.often for one in parts}
        if kind is None or len(own) + sum(one.loop is not None for one in own) < _PIECES:
            yield from own
        else:
            mean = sum(one.total for one in parts) / count
            yield replace(kind, count=count, **({"bytes": int(mean)} if len(sizes) == 1 else {"mean_bytes": mean}))


def _plainly(steps: Iterable[BodyStep], loops: Mapping[int, Loop]) -> Iterator[BodyStep]:
    """Give steps, for a loop of one step that step, as often as it is done."""
    for step in steps:
        inner = () if step.loop is None else loops[step.loop].body
        single = len(inner) == 1 and inner[0].loop is None and inner[0].count == 1
        if single:
            yield replace(_by_same(inner[0], step), count=step.count, mean_count=step.mean_count)
        else:
            yield step


def _by_same(step: BodyStep, loop: BodyStep) -> BodyStep:
    """Return a step of a loop with who does that."""
    return replace(step, ranks=step.ranks or loop.ranks)


def _together(steps: Iterable[BodyStep]) -> list[BodyStep]:
    """Return steps, with those that follow one another and are told the same as one.

    Of a deletion by two layers it is the upper one's: no handle tells that it caused the other.
    """
    found: list[BodyStep] = []
    for step in steps:
        if found and replace(found[-1], count=step.count) == step:
            found[-1] = replace(step, count=found[-1].count + step.count)
        elif not (found and step.kind == "deletion" and replace(found[-1], layer=step.layer) == step):
            found.append(step)
    return found


def _mean_text(mean: float) -> str:
    return f"~{mean:,.0f}" if mean >= _WHOLE else f"~{mean:.1f}"


def _step_text(step: BodyStep) -> str:
    often = f"{step.count:,} × " if step.count > 1 else ""
    often = often if step.mean_count is None else f"{_mean_text(step.mean_count)} × "
    how = "collective " if step.collective and step.kind in ("read", "write") else ""
    what = _VERBS.get(step.kind, step.kind)
    size = "" if step.mean_bytes is None else f" ~{bytes_text(step.mean_bytes)}"
    size = size if step.bytes is None else f" {size_text(step.bytes)}"
    return f"{often}{how}{what}{size}{_who(step)}"


def layers_called(loop: Loop, loops: Sequence[Loop]) -> list[str]:
    """Return the layers that the program itself calls in an iteration, the highest first."""
    known = {one.id: one for one in loops}
    inner = [known[step.loop] for step in loop.body if step.loop is not None]
    called = {step.layer for step in loop.body}.union(*(layers_called(one, loops) for one in inner))
    return [layer for layer in loop.layers if layer in called]


def size_text(size: int) -> str:
    """Return a size as programs are asked for it: with binary prefixes where it is a whole number of them.

    >>> size_text(1 << 20), size_text(3000), size_text(65536), size_text(16_000_000)
    ('1 MiB', '3 kB', '64 KiB', '16 MB')
    """
    if size % 1_000_000 == 0:
        return bytes_text(size)
    for shift, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size and size % (1 << shift) == 0:
            return f"{size >> shift:,} {unit}"
    return bytes_text(size)


def ranks_text(ranks: Sequence[int], of: int, whole: bool = False) -> str:
    """Return ranks as ranges: ``ranks 0–3, 7``; ``all 8 ranks``, or ``both ranks``, where there are no others.

    Many at one distance are told by the first two and the last, many ranges by how many ranks they are; all are
    named where the text is `whole`.

    Nothing where they are not known.

    >>> ranks_text((0, 1, 2, 5), 8), ranks_text((3,), 8), ranks_text((0, 1), 2)
    ('ranks 0–2, 5', 'rank 3', 'both ranks')
    >>> ranks_text(range(40, 1280, 40), 1280)
    'ranks 40, 80, …, 1240'
    >>> ranks_text([one for one in range(1024) if one % 10], 1024)
    '921 ranks from 1 to 1023'
    """
    if len(ranks) == of and of > 1:
        return "both ranks" if of == 2 else f"all {of} ranks"
    if not whole and len(ranks) > _RANKS_SHOWN and ranks[1] - ranks[0] > 1 and len(set(np.diff(ranks).tolist())) == 1:
        return f"ranks {ranks[0]}, {ranks[1]}, …, {ranks[-1]}"
    parts = np.split(ranks, np.flatnonzero(np.diff(ranks) != 1) + 1) if len(ranks) else []
    if not whole and len(parts) > _RANGES_SHOWN:
        return f"{len(ranks)} ranks from {ranks[0]} to {ranks[-1]}"
    text = ", ".join(f"{one[0]}–{one[-1]}" if len(one) > 1 else str(one[0]) for one in parts)
    return f"rank{'s' if len(ranks) > 1 else ''} {text}" if ranks else ""


def who_text(group: Sequence[Loop], of: int) -> str:
    """Return the ranks that do a loop, or several that are alike, and how many threads where they are more than ranks.

    Of loops one after the other it is not known whether threads are the same.
    """
    ranks = ranks_text(sorted({rank for one in group for rank in one.ranks}), of)
    threads = sum(len(one.ranks) if one.threads is None else one.threads for one in group)
    together = max(one.begin_s for one in group) < min(one.end_s for one in group)
    several = together and any(one.threads for one in group)
    return f"{threads:,} threads of {ranks}" if several else ranks


def changes_text(loop: Loop) -> str:
    """Return what changes in the course of the intervals, but for what `pace_text` says."""
    pace = pace_text(loop)
    return ", ".join(one for one in loop.timing_changes.split(", ") if one not in pace)


def drift_text(loop: Loop) -> str:
    """Return in words how irregular intervals grow or shrink all the time; empty where they do not."""
    told = loop.timing_changes.split(", ") if loop.timing == "irregular" else ()
    return next((one for one in DRIFTS if one in told), "")


def pace_text(loop: Loop) -> str:
    """Return how often iterations begin: the mean, as periods are, but where intervals are irregular and most alike.

    Where most iterations come in one burst the mean is none of the intervals: how long the burst lasts is told. Nor is
    it where intervals are of two kinds, which are both told.
    """
    mean = seconds_text(loop.interval_s.mean)
    if loop.count < 3:
        return f"{mean} apart" if loop.count == 2 else ""
    if loop.timing != "irregular":
        return f"every {mean}"
    if (kinds := loop.kinds) is not None:
        usual, longer = (seconds_text(one) for one in (kinds.usual, kinds.longer))
        if kinds.when:
            return f"every {usual}, {longer} {kinds.when}"
        often, rest = (usual, longer) if kinds.share <= 0.5 else (longer, usual)
        few = round(min(kinds.share, 1 - kinds.share) * (loop.count - 1))
        return f"mostly every {often}, {few:,} times {rest}"
    begin, median = np.array([one.begin_s for one in loop.iterations]), loop.interval_s.median
    between = np.diff(begin)
    bursts = np.split(begin, np.flatnonzero(between > loop.interval_s.mean) + 1)
    burst = max(bursts, key=len)
    if loop.in_bursts and len(burst) > 0.5 * loop.count:
        return f"{len(burst):,} of them within {seconds_text(float(burst[-1] - burst[0]))}"
    alike = between[np.abs(between - median) <= _ALIKE * median]
    mostly = len(alike) >= _MOSTLY * len(between) and alike.sum() > _MUCH * between.sum()
    drift = f", {told}" if (told := drift_text(loop)) else ""
    return f"mostly every {seconds_text(median)}" if mostly else f"every {mean} on average{drift}"


def paces_text(group: Sequence[Loop]) -> str:
    """Return how often iterations of loops that are alike begin; of many loops nothing.

    The longest loop is told first: ``18 × every 443 ms, 7 × every 1.07 s``.
    """
    if len(group) == 1:
        return pace_text(group[0])
    order = sorted(group, key=lambda one: -one.count) if len(group) <= _PACES_SHOWN else []
    return ", ".join(f"{one.count:,} × {pace}" for one in order if (pace := pace_text(one)))


def moved_text(loop: Loop, loops: Sequence[Loop] = (), layer: str = "") -> str:
    """Return what an iteration reads and writes, each in the highest layer that does so.

    And in those below it what the program itself moves through them: all, or beside what higher layers cause, the
    largest amount first.
    A `layer` is not named where all is in it.
    """
    known = {one.id: one for one in loops}
    told: dict[str, list[str]] = {}
    largest: dict[str, float] = {}
    for name, verb, kind in (("bytes_read", "read", "read"), ("bytes_written", "written", "write")):
        moving = {layer: getattr(part, name) for layer, part in loop.sums.items() if getattr(part, name)}
        for place, (one, moved) in enumerate(moving.items()):
            own = loop.count * _own_bytes(loop, one, kind, len(loop.ranks), known)
            if not place or abs(own - moved) <= _ALIKE * moved:
                told.setdefault(one, []).append(_amount_text(loop, one, name, verb))
                largest[one] = max(largest.get(one, 0.0), moved)
            elif _ALIKE * moved < own < moved:
                # The rest is what a higher layer caused.
                told.setdefault(one, []).append(f"{bytes_text(own / loop.count)} {verb} each by own calls")
                largest[one] = max(largest.get(one, 0.0), own)
    parts = []
    for one in sorted(told, key=lambda one: -largest[one]):
        text = " and ".join(told[one])
        text = text.replace(" each and", " and") if all(each.endswith("each") for each in told[one]) else text
        parts.append(text if list(told) == [layer] else f"{text} in {one}")
    return ", ".join(parts)


def _amount_text(loop: Loop, layer: str, name: str, verb: str) -> str:
    """Return what a layer moves in an iteration, or in all where it does in at most half.

    Where most iterations move the same and others so much more or less that the mean is none of them, both are told.
    """
    mean = getattr(loop.sums[layer], name) / loop.count
    each = np.array([getattr(one.layers[layer], name) if layer in one.layers else 0 for one in loop.iterations], float)
    often, usual = int(np.count_nonzero(each)), float(np.median(each)) if len(each) else mean
    if len(each) and 2 * often <= loop.count:
        return f"{bytes_text(mean * loop.count)} {verb} in {counted(often, 'iteration')}"
    if (
        abs(mean - usual) > _ALIKE * usual
        and bytes_text(mean) != bytes_text(usual)
        and 2 * np.count_nonzero(each == usual) > loop.count
    ):
        return f"{bytes_text(usual)} {verb} in most, {bytes_text(mean)} on average"
    asked = _asked(loop, layer, {"bytes_read": "read", "bytes_written": "write"}[name])
    came = [one for one, iteration in zip(each, loop.iterations, strict=True) if not iteration.other]
    # At the end of a file less comes. Sizes that vary are known by their mean only.
    less = came and max(mean, float(np.median(came))) < (1 - _ALIKE) * asked
    of = f" of {bytes_text(asked)} asked for" if less else ""
    if len(each) > 1 and each.std() > _VARIES * mean and 2 * np.count_nonzero(each == usual) <= loop.count:
        return f"{_range_text(each, verb)} ({bytes_text(mean)} on average{of})"
    return f"{bytes_text(mean)} {verb} each{of}"


def _range_text(each: Floats, verb: str) -> str:
    """Return from how much to how much iterations move, and whether that grows or shrinks."""
    trend = float(np.corrcoef(each, np.arange(len(each)))[0, 1]) if len(each) > 2 else 0.0
    course = "" if abs(trend) <= TRENDS else ", more each time" if trend > 0 else ", less each time"
    return f"{bytes_text(float(each.min()))} to {bytes_text(float(each.max()))} {verb}{course}"


def _own_bytes(loop: Loop, layer: str, kind: str, ranks: int, known: Mapping[int, Loop]) -> float:
    """Return the bytes that all ranks ask a layer for in an iteration, in the loops inside of it, too."""
    total = 0.0
    for one in loop.body:
        doing = ranks if one.ranks is None else len(one.ranks)
        if one.loop is not None:
            if (inner := known.get(one.loop)) is not None:
                ranks_inside = min(doing, len(inner.ranks))
                total += one.count * _own_bytes(inner, layer, kind, ranks_inside, known)
        elif (one.layer, one.kind) == (layer, kind):
            total += one.count * max(doing, 1) * (one.bytes or one.mean_bytes or 0.0)
    return total


def _asked(loop: Loop, layer: str, kind: str) -> float:
    """Return the bytes that all ranks ask a layer for in the usual iteration, as far as the steps tell."""
    steps = [one for one in loop.body if (one.layer, one.kind) == (layer, kind)]
    each = ((one.bytes or one.mean_bytes or 0.0, len(loop.ranks if one.ranks is None else one.ranks)) for one in steps)
    return sum(size * one.count * max(ranks, 1) for one, (size, ranks) in zip(steps, each, strict=True))


def outlier_text(loop: Loop, blame: Callable[[Loop, Iteration], str] | None = None) -> str:
    """Return which iterations took much longer than the others, with the layer and rank to blame.

    Where none did it is the longest one, if it takes a part of the run worth a word; and empty if no layer is busy.
    Who is to `blame` is said by `blame_text`, or by what is given.
    """
    blame = blame or blame_text
    if len(loop.iterations) < 2:
        return ""
    long, (number, worst) = slow_iterations(loop), longest_iteration(loop)
    length, usual = worst.length_s, loop.usual_of(worst)
    if not _busiest_s(worst):
        return ""
    kinds = loop.kinds_of_lengths
    if kinds is not None and kinds.every is not None and kinds.expects(length):
        since = "" if kinds.first == kinds.every else f" from the {ordinal(kinds.first or 1)} on"
        longer, shorter = seconds_text(kinds.longer), seconds_text(kinds.usual)
        return f"every {ordinal(kinds.every)}{since} takes {longer}, {shorter} is usual {blame(loop, worst)}"
    if not long:
        told = length > MATTERS * loop.interval_s.mean
        return f"iteration {number} is the longest: {seconds_text(length)} {blame(loop, worst)}" if told else ""
    times = (
        f"{factor_text(length / usual)} times as long as"
        if length < _COMPARABLE * usual
        else f"{seconds_text(usual)} is"
    )
    more = f"; {counted(len(long) - 1, 'other stands', 'others stand')} out, too" if len(long) > 1 else ""
    return f"iteration {number} takes {seconds_text(length)}, {times} usual {blame(loop, worst)}{more}"


def slow_iterations(loop: Loop) -> dict[int, Iteration]:
    """Return those that stand out by their numbers, the longest first."""
    found = [(number, one) for number, one in enumerate(loop.iterations, 1) if one.outlier]
    return dict(sorted(found, key=lambda pair: -pair[1].length_s))


def longest_iteration(loop: Loop) -> tuple[int, Iteration]:
    """Return the longest one of those that stand out, else of all, and its number."""
    return next(iter(slow_iterations(loop).items()), None) or max(
        enumerate(loop.iterations, 1), key=lambda pair: pair[1].length_s
    )


class Blame(NamedTuple):
    """What made an iteration long: a layer, one of its ranks, for how long in s, and all of it in words."""

    layer: str
    rank: int | None
    seconds: float
    text: str
    costs: bool = True
    """Whether that is time in calls of the layer: of a rank that is late only where calls are collective."""
    waits: bool = False
    """Whether others wait for the rank, or it is late."""


def blame_of(loop: Loop, one: Iteration) -> Blame | None:
    """Return what made an iteration long.

    That is a rank that began late or that others wait for, else the lowest layer that was busy for most of it, or of
    what it takes longer than usual.
    """
    length, usual = one.length_s, loop.usual_busy
    for layer, part in one.layers.items():
        if part.awaited_s is not None and part.awaited_s > 0.5 * length:
            who = "the other waits" if len(loop.ranks) == 2 else "the others wait"
            text = f"{who} for rank {part.awaited_rank} for {seconds_text(part.awaited_s)} in {layer} calls"
            return Blame(layer, part.awaited_rank, part.awaited_s, text, waits=True)
    for layer, part in one.layers.items():
        if part.latest_s is not None and part.latest_s > 0.5 * length:
            others = "the other" if len(loop.ranks) == 2 else "most others"
            text = f"rank {part.latest_rank} begins {seconds_text(part.latest_s)} after {others}"
            return Blame(layer, part.latest_rank, part.latest_s, text, part.awaited_s is not None, waits=True)
    for layer, part in reversed(one.layers.items()):
        if part.busy_s > 0.5 * length:
            return Blame(layer, part.slowest_rank, part.busy_s, _busy_text(loop, layer, part))
    for layer, part in reversed(one.layers.items()):
        longer = part.busy_s - usual[layer]
        if length > loop.usual_of(one) and longer > 0.5 * (length - loop.usual_of(one)):
            text = f"{_busy_text(loop, layer, part)}, {seconds_text(longer)} more than usual"
            return Blame(layer, part.slowest_rank, longer, text)
    return None


def _busy_text(loop: Loop, layer: str, part: LayerPart) -> str:
    """Return what a layer did and for how long: ``POSIX reads and flushes for 2 s, most on rank 3``, of several."""
    amounts = {"reads": part.bytes_read, "writes": part.bytes_written, "flushes": part.flushes}
    *kinds, last = [kind for kind, amount in amounts.items() if amount] or ["operations"]
    rank = "" if part.slowest_rank is None or len(loop.ranks) == 1 else f", most on rank {part.slowest_rank}"
    return f"{layer} {', '.join(kinds)}{' and ' if kinds else ''}{last} for {seconds_text(part.busy_s)}{rank}"


def blame_text(loop: Loop, one: Iteration) -> str:
    """Return what made an iteration long, in brackets.

    Where nothing in it did, the lowest of the layers that are busy for longest.
    """
    found = blame_of(loop, one)
    if found is not None:
        return f"({found.text})"
    most = _busiest_s(one)
    busy = next((_busy_text(loop, *pair) for pair in reversed(one.layers.items()) if pair[1].busy_s > 0.5 * most), "")
    return f"({busy}; for most of it nothing is transferred)" if busy else "(nothing is transferred in it)"


def _busiest_s(one: Iteration) -> float:
    """Return for how long the layer that is busy for longest is, in s."""
    return max((part.busy_s for part in one.layers.values()), default=0.0)


def timing_text(loop: Loop) -> str:
    """Return how regularly iterations begin, and how sure that is; empty for fewer than three."""
    if loop.timing_probability is None:
        return ""
    if loop.in_bursts:
        return f"in bursts: half of the intervals up to {seconds_text(loop.interval_s.median)}"
    if (kinds := loop.kinds) is not None and loop.timing == "irregular":
        return f"jitter {percent_text(kinds.jitter)} of either"
    how = "like a clock" if loop.timing == "clock" else loop.timing
    sure = share_text(min(loop.timing_probability, 0.9999), 1)
    return f"{how} (jitter {percent_text(loop.interval_s.jitter)}, {sure} sure)"
