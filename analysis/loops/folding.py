"""Folding: a sequence of steps as nested loops, by the description that takes the fewest bits.

A sequence of which only the number of each step is known costs ``log2 n!/(a! b! …)`` bits. A description cuts it into
parts at each occurrence of an anchor (a step, the begin of a file, a pause); a part that was there before is only
named, one that differs little is told by the difference. What this saves is the evidence for a loop: of sequences in
random order a share of 2^-b at most saves b bits by one way to cut. Pauses are steps where they pay for themselves, as
where they are costs bits, too.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from ...layers.loops.steps import OPEN, READ, STEP_CODES, WRITE, Steps
from ...model.arrays import Array, Floats, Ints, Mask
from .chances import factorial_bits

EVIDENCE: Final = 7.0
"""Bits that a description must save beyond those of the number of ways that were tried: a chance of less than 1 %."""
_ALIKE: Final = 0.6
"""Share of the steps of two parts that must be the same for both to be iterations of one loop: more than half, so that
not both of two others can be like one."""
_BEGINS: Final = 0.8
"""The same for the first part, with which what a program does before may be one."""
_LINKED: Final = 1.25
"""Ratio of neighbouring sizes up to which they are of one class: frames of a compressed movie, not another record."""
_APART: Final = 0.8
"""A threshold for pauses must lie between two gaps of which the shorter is less than this share of the other."""
_PAUSES: Final = 16
"""Thresholds for pauses that are tried."""
_ANCHORS: Final = 24
"""Kinds of steps that are tried as anchors."""
_TRIED: Final = 6
"""Ways to cut whose parts are looked into."""
_LOOKED_INTO: Final = 4
"""Parts of each that are."""
_DEEPEST: Final = 4
"""Levels of loops."""
_FEWEST: Final = 3
"""Steps in which something may repeat."""
_FILES: Final = 4
"""Files to which an iteration may do the same so that each file is an iteration: two or three in turn, not a set."""
_MANY: Final = 8
"""Steps of other sizes from which on they may be one beside an open and a close; fewer may be anything."""
_ALL: Final = 0.9
"""Share of the steps that one must have to be all there is, and of iterations in which a pause must be the longer."""
_NEARLY: Final = 0.75
"""Share of the steps that what repeats to the byte must have, beside an open, a header and a close."""
_RUN: Final = 32
"""Equal steps before, between or behind loops from which on they are told by themselves."""
_COMPARED: Final = 64
"""Iterations whose pauses are compared."""
_CLEAR: Final = 2.0
"""Times another pause must be longer to be where iterations begin."""
_LONG: Final = 8.0
"""Times the longest other gap that pauses must take to part a burst of calls from the next one by themselves."""
_PAUSE: Final = 1e-3
"""Seconds from which on a pause is the program's: it sleeps, computes or waits; below, a core or the page cache may."""
_PART: Final = 0.1
"""Share of the time from one pause to the next from which on shorter ones are the program's, too."""
_PAGE: Final = 5e-5
"""Seconds below which none is: the recorder begins a new page, or the system takes the core, for as long."""
_UNEQUAL: Final = 2.0
"""Times the fewest files between two pauses that may be between two others."""
_EVEN: Final = 0.02
"""Share of the usual length by which parts around others may differ in length and count as about as long."""
_UNLIKE: Final = 10.0
"""Times what one of two episodes moves from which on the other is something else: an order of magnitude."""
_BETWEEN: Final = 2
"""Other parts between two that are alike up to which the loop goes on: a step that some iterations add."""


@dataclass(frozen=True, eq=False)
class Line:
    """A sequence to fold; columns of shape (n,).

    Attributes
    ----------
    tokens : list of int64
        What each step is, more and more coarsely.
    alike : int64
        What each step is, sizes that are near one another as one, whatever its file.
    kind : int64
        What each step is, whatever its size and file.
    fresh, opens : bool
        Whether another file begins, and whether one is opened.
    file : int64
    gap : int64
        Ticks without any step before each.
    begin : int64
        When each begins, in ticks.
    moves : bool
        Which read or write.
    second : float
        Ticks of a second.
    """

    tokens: list[Ints]
    alike: Ints
    kind: Ints
    fresh: Mask
    opens: Mask
    file: Ints
    gap: Ints
    begin: Ints
    moves: Mask
    second: float

    def __len__(self) -> int:
        return len(self.gap)

    def part(self, low: int, high: int, token: Ints | None = None) -> "Line":
        """Return a part, with one column of tokens or with all of them."""
        where = slice(low, high)
        tokens = [one[where] for one in (self.tokens if token is None else [token])]
        same = self.alike[where], self.kind[where], self.fresh[where], self.opens[where], self.file[where]
        return Line(tokens, *same, self.gap[where], self.begin[where], self.moves[where], self.second)


class Cuts(NamedTuple):
    """A way to cut a sequence."""

    saved: float
    """Bits against the sequence as it stands."""
    start: Ints
    first: Ints
    """The first of the parts that is the same."""
    token: Ints
    """What the steps were taken for, pauses in front of them included."""
    plain: Ints
    """The same without pauses."""
    left: float
    """Bits of the parts that are not only named."""
    spared: Floats
    """What is spared of each of these by telling its difference to another."""


@dataclass(frozen=True, eq=False)
class Folded:
    """A loop in a sequence of steps.

    Attributes
    ----------
    start : int64 (count+1,)
        Where each iteration begins, and the last one ends.
    usual : int
        The iteration that stands for all.
    other : bool (count,)
        Iterations with other steps than the usual.
    bits : float
        What telling it as a loop saves.
    inner : tuple of Folded
        Loops within the usual iteration; places are those of the whole sequence.
    repeats : int64 (count,) or None
        How many iterations each is, of steps that are one because they were too many; None for one each.
    """

    start: Ints
    usual: int
    other: Mask
    bits: float
    inner: tuple["Folded", ...] = ()
    repeats: Ints | None = None

    @property
    def count(self) -> int:
        """Number of iterations."""
        return len(self.start) - 1 if self.repeats is None else int(self.repeats.sum())

    @property
    def joined(self) -> bool:
        """Whether it is not known when each iteration begins."""
        return self.repeats is not None and bool((self.repeats > 1).any())

    @property
    def body(self) -> tuple[int, int]:
        """Where the usual iteration begins and ends."""
        return int(self.start[self.usual]), int(self.start[self.usual + 1])


def fold(steps: Steps, evidence: float = EVIDENCE, second: float = 1e9) -> list[Folded]:
    """Return the loops of a sequence in their order, outermost; none where nothing repeats beyond chance.

    Less `evidence` is needed where others show that there is a loop. A `second` has so many ticks.
    """
    repeated = _repeated(steps)
    bursts = [_bursts(one, steps, second) for one in repeated]
    if any(bursts):
        return [loop for one, parted in zip(repeated, bursts, strict=True) for loop in parted or [one]]
    if len(steps) < _FEWEST:
        return repeated
    line = _line_of(steps, second)
    needed = max(0.0, evidence - _bits_of_runs(steps, line)) if evidence > 0 else evidence
    return _even_calls(steps, line) or _repeating(steps, line, repeated, needed)


def _bits_of_runs(steps: Steps, line: Line) -> float:
    """Return what telling runs of equal calls by their length saves, where steps were joined: few lengths, or one."""
    often = np.bincount(_numbered(steps.unit), np.minimum(steps.times, _COMPARED)).astype(np.int64)
    return float(factorial_bits(often.sum()) - factorial_bits(often).sum()) - _order_bits(line.tokens[0])


def _repeating(steps: Steps, line: Line, repeated: list[Folded], evidence: float) -> list[Folded]:
    """Return the loops of steps as tokens, or else what is `repeated` so often that it is kept as one."""
    joined = bool(steps.content.any())
    found = _of_joined(steps, line, evidence) if joined else list(_found(line, 0, 0, evidence))
    single = [] if joined else _single_steps(line, True)
    if single and (not found or (len(found) == 1 and single[0].count > found[0].count)):
        return single
    if found:
        found += _between(steps, line, found)
        order = sorted(found, key=lambda one: int(one.start[0]))
        return [_gathered(_without_begun(_divided(one, line), line), line) for one in order]
    if repeated and not any(map(_is_divided, repeated)):
        return repeated
    return _plain_runs(steps, line) or _episodes(line, _moves(steps), steps.total) or repeated


def _plain_runs(steps: Steps, line: Line) -> list[Folded]:
    """Return one step that is all there is, and which long pauses part evenly, as a loop."""
    run = _plain_run(line, bool(steps.content.any()), _moving(steps))
    return [part for one in run for part in _bursts(one, steps, line.second) or [one]]


def _of_joined(steps: Steps, line: Line, evidence: float) -> list[Folded]:
    """Return the loops of steps of which some are several: behind pauses, by other steps between, or of even length.

    Those of a kind that were joined may be parted by chance: where their loops are not behind pauses, they are one.
    """
    found = list(_found(line, 0, 0, evidence))
    paused = [_is_paused(one, line) for one in found]
    if not all(paused or [False]) and (over := _over_gaps(steps, evidence, line.second)):
        return over

    def says(one: Folded) -> float:
        return max(_bits_of_lengths(np.diff(steps.first[one.start])), _bits_of_others(one, steps, line))

    return [one for one, behind in zip(found, paused, strict=True) if behind or says(one) >= evidence]


def _over_gaps(steps: Steps, evidence: float, second: float) -> list[Folded]:
    """Return the loops of steps where those of a kind that were joined are one: what parts them may be chance."""
    known = _kinds_of(steps)
    joined = steps.content != 0
    keep = np.append(True, (known[1:] != known[:-1]) | ~(joined[1:] | joined[:-1])) | steps.fresh
    if keep.all():
        return []
    place = np.append(np.flatnonzero(keep), len(steps))
    return [
        _placed(one, place) for one in fold(steps.coarsened(keep), evidence, second) if one.bits > min(0.0, evidence)
    ]


def _is_paused(loop: Folded, line: Line) -> bool:
    """Tell whether iterations come behind pauses, and nothing within them does."""
    begins = np.isin(np.arange(len(line)), loop.start[1:-1])
    within = ~begins[loop.start[0] + 1 : loop.start[-1]]
    return _is_behind_pauses(line.gap[begins], line.gap[loop.start[0] + 1 : loop.start[-1]][within])


def _is_behind_pauses(gap: Ints, others: Ints) -> bool:
    """Tell whether nearly all gaps are clearly longer than nearly all others."""
    return not len(others) or bool(np.quantile(gap, 1 - _ALL) > _CLEAR * np.quantile(others, _ALL))


def _bits_of_lengths(length: Ints) -> float:
    """Return what telling lengths by their bounds saves against any others of that sum; a few may be outside.

    Steps that are one without a number always come by turns with others: that is no evidence.
    """
    count, whole, order = len(length), int(length.sum()), np.sort(length)
    anyhow = (math.lgamma(whole + 1) - math.lgamma(count + 1) - math.lgamma(whole - count + 1)) / math.log(2)
    ways = range(count - math.ceil(_ALL * count) + 1)
    spread = [int((order[count - 1 - few :] - order[: few + 1]).min()) for few in ways]
    told = [
        (count - few) * math.log2(most + 1) + few * math.log2(whole) for few, most in zip(ways, spread, strict=True)
    ]
    return anyhow - min(told) - 2 * math.log2(whole)


def _bits_of_others(loop: Folded, steps: Steps, line: Line) -> float:
    """Return what the order of opens, closes and flushes that are no several says for a loop."""
    single = (steps.content == 0) & ~_transfers(steps)
    rows = np.flatnonzero(single[: loop.start[-1]])
    start = np.unique(np.searchsorted(rows, loop.start[:-1])).astype(np.int64)
    start = start[start < len(rows)]
    found = _measured(line.alike[rows], start) if len(start) > 1 else None
    return found.saved if found is not None else 0.0


def _placed(one: Folded, place: Ints) -> Folded:
    """Return a loop of joined steps as one of the steps that these are."""
    return replace(one, start=place[one.start], inner=tuple(_placed(each, place) for each in one.inner))


def _kinds_of(steps: Steps) -> Ints:
    """Return the codes of steps, of those that read and write one for both: with which they begin may be chance."""
    both = (steps.kinds[:, [READ, WRITE]] > 0).all(axis=1) & _moves(steps)
    return np.where(both, -1 - steps.code // (2 * STEP_CODES), steps.code).astype(np.int64)


def _between(steps: Steps, line: Line, found: Sequence[Folded]) -> list[Folded]:
    """Return single steps that are all there is before, between and behind loops, and many.

    What begins as the iterations of the loop before it is one that was not ended.
    """
    edges = [0, *(int(edge) for one in found for edge in (one.start[0], one.start[-1])), len(line)]
    more: list[Folded] = []
    before = [slice(0, 0), *(slice(*one.body) for one in found)]
    for body, low, high in zip(before, edges[::2], edges[1::2], strict=True):
        begun = np.array_equal(line.kind[low:high], line.kind[body][: high - low])
        if begun or steps.count[low:high].sum() < _RUN:
            continue
        rest = steps.take(np.arange(low, high))
        single = _repeated(rest) if rest.content.any() else _plain_run(line.part(low, high), False, _moving(rest))
        more += (replace(one, start=one.start + low) for one in single)
    return more


def _found(line: Line, offset: int, depth: int, evidence: float = EVIDENCE) -> Iterator[Folded]:
    """Give the loops of a sequence, whose first place is `offset` of the whole."""
    best = _best(line, depth, evidence=evidence) if len(line) >= _FEWEST and depth <= _DEEPEST else None
    if best is not None:
        yield from _loops(line, best, offset, depth)


def _line_of(steps: Steps, second: float) -> Line:
    """Return steps as tokens: exact, with classes of sizes, without sizes; each with and without their files."""
    code = _kinds_of(steps)
    exact = _numbered(code, steps.content, steps.total)
    size_class = np.zeros(len(steps), np.int64)
    single = steps.content == 0
    for one in np.unique(code[single]).tolist():
        rows = np.flatnonzero(single & (code == one))
        order = rows[np.argsort(steps.total[rows], kind="stable")]
        sizes = steps.total[order]
        size_class[order[1:]] = np.cumsum(sizes[1:] > _LINKED * np.maximum(sizes[:-1], 0) + (sizes[:-1] < 1))
    coarse = _numbered(code, single, size_class)
    plain = _numbered(code, single)
    file = _numbered(steps.file)
    tokens: list[Ints] = []
    for one in (exact, coarse, plain):
        for token in (one, _numbered(one, file)) if file.any() else (one,):
            if not any(np.array_equal(token, known) for known in tokens):
                tokens.append(token)
    opens = (steps.code >> 1) % STEP_CODES == OPEN
    times = steps.gap, steps.begin, _transfers(steps)
    return Line(tokens, coarse, plain, steps.fresh, opens, file, *times, second)


def _numbered(*columns: Array) -> Ints:
    """Return a number for each row, the same for equal rows, counted as they first occur."""
    from .folding_kernel import numbered

    number = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        number = numbered(number, column.astype(np.int64, copy=False))
    return number


def _starts(token: Ints, anchor: int) -> Ints:
    """Return where a run of a token begins."""
    there = token == anchor
    there[1:] &= token[1:] != token[:-1]
    return np.flatnonzero(there).astype(np.int64)


def _thresholds(gap: Ints) -> list[int]:
    """Return the shortest pauses to try, longest first: where lengths of gaps lie apart."""
    order = np.sort(gap[1:])[::-1]
    behind = np.append(order[1:], 0)[: len(order)]
    apart = order[(behind < _APART * order) & (np.arange(len(order)) < max(1, len(gap) * 2 // 3))]
    if len(apart) > _PAUSES:
        apart = apart[np.unique(np.geomspace(1, len(apart), _PAUSES).astype(np.int64)) - 1]
    return [int(one) for one in apart]


def _is_long(pause: Ints, begin: Ints, second: float) -> bool:
    """Tell whether pauses, and not what the system does meanwhile, part what begins there and before the first."""
    usual = float(np.median(pause))
    part = max(_PAGE * second, _PART * float(np.median(np.diff(begin))))
    return usual >= min(part, _PAUSE * second)


def unparted(steps: Steps, second: float) -> Steps:
    """Return steps with equal calls that only short gaps part as one.

    Where there are too many steps, each is what stands between gaps that are longer than most. Such gaps may be of a
    few µs, in which the recorder or a buffer begins a new page: then their rhythm is not the program's.
    """
    again = (steps.unit[1:] == steps.unit[:-1]) & ~steps.fresh[1:]
    rows = np.flatnonzero(again) + 1
    if not len(rows) or not steps.content.any():
        return steps
    gap, least = steps.gap[rows], np.iinfo(np.int64).max
    for one in (*_thresholds(np.append(0, gap)), int(gap.min())):
        long = gap >= one
        if _is_long(gap[long], np.append(steps.begin[0], steps.begin[rows[long]]), second):
            least = one
    keep = np.append(True, ~again)
    keep[rows[gap >= least]] = True
    return steps.coarsened(keep)


def _paused(token: Ints, gap: Ints, least: int) -> tuple[Ints, Mask]:
    """Return tokens with a pause in front of them as other ones, and where pauses are; one is at the begin."""
    pause = gap >= least
    pause[0] = True
    return token * 2 + pause, pause


def _measured(
    token: Ints,
    start: Ints,
    more: float = 0.0,
    plain: Ints | None = None,
    weights: tuple[Floats, float] | None = None,
) -> Cuts | None:
    """Return what cutting there saves, None where there is nothing to save; `weights` of tokens may be known."""
    from .folding_kernel import described, weights_of

    if len(start) < 2:
        return None
    weight, surplus = weights or weights_of(token)
    saved, left, spared, first = described(token, weight, start)
    return Cuts(saved - surplus + more, start, first, token, token if plain is None else plain, left.sum(), spared)


def _anchors(token: Ints) -> list[int]:
    """Return the tokens to cut at."""
    count = np.bincount(token)
    there = np.flatnonzero(count >= 2)
    often: list[int] = there[np.argsort(-count[there], kind="stable")][:_ANCHORS].tolist()
    return often


def _candidates(line: Line, tokens: Sequence[Ints]) -> Iterator[Cuts | None]:
    """Give the ways to cut a sequence, each by one anchor."""
    from .folding_kernel import weights_of

    files, thresholds = _whole_files(line), _thresholds(line.gap)
    for token in tokens:
        weights = weights_of(token)
        for anchor in _anchors(token):
            yield _measured(token, _starts(token, anchor), weights=weights)
        if files:
            yield _measured(token, np.flatnonzero(_first_of_files(line)), files, weights=weights)
        for least in thresholds:
            with_pauses, pause = _paused(token, line.gap, least)
            start = np.flatnonzero(pause)
            if len(start) > 1 and _is_long(line.gap[start[1:]], line.begin[start], line.second):
                yield _measured(with_pauses, start, plain=token)


def _first_of_files(line: Line) -> Mask:
    fresh = line.fresh.copy()
    fresh[0] = True
    return fresh


def _whole_files(line: Line) -> float:
    """Return the bits that it saves that all calls on a file stand together; 0 where they do not, or are one each."""
    count = np.bincount(line.file)
    if len(line) < 2 * len(count) or len(count) < 2 or np.count_nonzero(_first_of_files(line)) != len(count):
        return 0.0
    return _order_bits(line.file)


def _best(line: Line, depth: int, closely: bool = True, evidence: float = EVIDENCE) -> Cuts | None:
    """Return the way to cut that, with what the parts are in turn, saves most; None where it may be chance.

    Unless `closely`, only anchors by themselves are looked at: there are many parts of parts. What is within an
    iteration needs no `evidence` beyond the number of ways, as it is there again and again.
    """
    tried = [one for one in _candidates(line, line.tokens) if one is not None]
    known = [one for one in tried if one.saved > 0]
    needed = evidence + np.log2(max(1, len(tried)))
    if not known:
        return _marked(line, needed)
    base = max(known, key=lambda one: one.saved)
    # Sizes that change in the course of a run save bits wherever it is cut, but leave most of it untold.
    told = [one for one in known if one.saved > max(one.left, needed) and one.start[0] <= (1 - _ALL) * len(line)]
    if told and base.saved < base.left:
        base = max(told, key=lambda one: one.saved)
    base = _on_any_file(base, known)
    even = _evenly_paused(line, tried)
    base = base if even is None or len(base.start) <= len(even.start) else even
    if base.plain is not base.token:
        base = _of_files(line, base, [one for one in known if one.saved > needed], base is even)
    base = base._replace(saved=base.saved + _within(line, base, depth))
    if base.saved < needed:
        return _marked(line, needed)
    return _without_marks(line, _around(line, base, depth), known) if closely else base


def _marked(line: Line, needed: float) -> Cuts | None:
    """Return cuts at pauses that come before one step wherever that is, and before no other; None where none do.

    However unlike the parts are: which of n steps those k are is a chance of one in n! / (k! (n - k)!).
    """
    best: Cuts | None = None
    for token in line.tokens:
        for least in _thresholds(line.gap):
            with_pauses, pause = _paused(token, line.gap, least)
            start = np.flatnonzero(pause[1:]) + 1
            if len(start) < _FEWEST or (token[start] != token[start[0]]).any():
                continue
            calls = len(token) - 1
            by_chance = factorial_bits(calls) - factorial_bits(len(start)) - factorial_bits(calls - len(start))
            same = np.count_nonzero(token[1:] == token[start[0]]) == len(start)
            if same and by_chance >= needed and _is_long(line.gap[start], line.begin[start], line.second):
                found = _measured(with_pauses, start, plain=token)
                # The most coarsely, as parts differ, which all count as the same.
                if found is not None and (best is None or by_chance >= best.saved):
                    best = found._replace(saved=float(by_chance), first=np.zeros(len(start), np.int64))
    return best


def _on_any_file(base: Cuts, known: Sequence[Cuts]) -> Cuts:
    """Return the same cuts with parts that are all the same, whatever file each is on, unless files come by turns.

    Which file is next is chance where a program takes them in random order.
    """
    same = [one for one in known if np.array_equal(one.start, base.start) and _is_uniform(one)]
    if not same or _is_uniform(base):
        return base
    turns = (_measured(base.first, _starts(base.first, anchor)) for anchor in _anchors(base.first))
    if any(one is not None and one.saved >= EVIDENCE for one in turns):
        return base
    return max(same, key=lambda one: one.saved)


def _evenly_paused(line: Line, tried: Sequence[Cuts]) -> Cuts | None:
    """Return the way to cut by pauses that are long beside all other gaps, if the same is done between nearly all.

    What the program does from one to the next may save more bits, as every file is an iteration, and gaps of a few µs
    that come by a rhythm of the system; neither is what a long pause parts.
    """
    found = None
    for one in tried:
        if one.plain is one.token or len(one.start) < _FEWEST or one.saved < EVIDENCE + np.log2(len(tried)):
            continue
        gap = line.gap.copy()
        gap[0] = 0
        pauses = gap[one.start[1:]]
        gap[one.start] = 0
        # What is before the first pause and behind the last one may be more or less.
        alike = np.bincount(one.first).max() >= max(2.0, _ALL * (len(one.first) - 2))
        if alike and pauses.min() > _LONG * gap.max() and (found is None or one.saved > found.saved):
            found = one
    return found


def _of_files(line: Line, base: Cuts, known: Sequence[Cuts], even: bool) -> Cuts:
    """Return a way to cut by opens in place of one by pauses, if the same is done from each open to the next.

    Pauses that come at other steps each time, such as those of a process that shares a core, are not the program's;
    nor do pauses between sets of files say more, if no two sets are the same. Those that come `even` are.
    """
    unlike = not (even or _is_uniform(base))

    def on_others(one: Cuts) -> bool:
        return unlike and bool(2 * np.count_nonzero(line.fresh[one.start[1:]]) > len(one.start))

    same = (
        one
        for one in known
        if one.plain is one.token
        and line.opens[one.start[1:]].all()
        # The last one may be but begun.
        and np.bincount(one.first).max() >= _ALL * (len(one.first) - 1)
        and (on_others(one) or _is_around(one, base, len(line)))
    )
    return max(same, key=lambda one: one.saved, default=base)


def _around(line: Line, base: Cuts, depth: int) -> Cuts:
    """Return what saves most of a way to cut, and of those with what its steps are best taken for that cut less finely.

    That is by other anchors, and by longer pauses.
    """
    chosen = base
    by_files = bool(line.opens[base.start].all()) and _is_uniform(base)
    others = [one for one in _candidates(line, [base.token]) if one is not None and _is_around(one, base, len(line))]
    for one in sorted(others, key=lambda one: one.saved + one.left, reverse=True)[:_TRIED]:
        if one.saved > 0 and one.saved + one.left > chosen.saved:
            total = one.saved + _within(line, one, depth)
            uniform = _is_uniform(one)
            # What is done to each file alike is not cut into sets of files by chance.
            if by_files and not uniform:
                continue
            if total > chosen.saved + (0.0 if uniform or chosen is not base else np.log2(_TRIED)):
                chosen = one._replace(saved=total, plain=base.plain if one.plain is base.token else one.plain)
    return chosen


def _is_uniform(one: Cuts) -> bool:
    """Tell whether nearly all parts are the same."""
    return bool(np.bincount(one.first).max() >= _ALL * len(one.first))


def _is_around(one: Cuts, base: Cuts, length: int) -> bool:
    """Tell whether a way to cut makes fewer parts, half of which are about as long as the usual one."""
    if len(one.start) >= len(base.start):
        return False
    lengths = np.diff(np.append(one.start, length))
    usual = float(np.median(lengths)) if len(lengths) > 2 else float(lengths[0])
    even = np.abs(lengths - usual) <= max(1.0, _EVEN * usual)
    return bool(even.all() if len(lengths) == 2 else even.mean() >= 0.5)


def _without_marks(line: Line, chosen: Cuts, known: Sequence[Cuts]) -> Cuts:
    """Return a way to cut by pauses whose parts are all alike instead, if nothing but a step marks those chosen.

    So a step that every third iteration adds does not make one of three.
    """
    if line.fresh[1:].any() or line.opens[1:].any():
        return chosen
    paused = [one for one in known if one.plain is not one.token and 2 * len(chosen.start) <= len(one.start)]
    best = max(paused, key=lambda one: one.saved, default=None)
    if best is None or best.saved < EVIDENCE or len(line) < 2 * len(best.start):
        return chosen
    alike = _clusters(line, best, np.append(best.start[1:], len(line))) == 0
    longer = np.median(line.gap[chosen.start[1:]]) > _CLEAR * np.median(line.gap[best.start[1:]])
    return chosen if longer or alike.mean() < _ALL else best._replace(saved=chosen.saved)


def _within(line: Line, cuts: Cuts, depth: int) -> float:
    """Return what is saved within the first parts that stand for themselves, beyond what their differences spare."""
    if depth >= _DEEPEST:
        return 0.0
    fresh = np.flatnonzero(cuts.first == np.arange(len(cuts.first)))[:_LOOKED_INTO]
    ends = np.append(cuts.start[1:], len(line))
    saved = 0.0
    for part in fresh.tolist():
        low, high = int(cuts.start[part]), int(ends[part])
        if high - low >= _FEWEST:
            inner = _best(line.part(low, high, cuts.token), depth + 1, closely=False, evidence=0.0)
            saved += 0.0 if inner is None else max(0.0, inner.saved - cuts.spared[part])
    return saved


def _loops(line: Line, cuts: Cuts, offset: int, depth: int) -> Iterator[Folded]:
    """Give the loops that a way to cut makes, parts that are alike and follow one another, and those in other parts."""
    cuts = _by_turns(_without_slow_steps(cuts), line)
    ends = np.append(cuts.start[1:], len(line))
    done = 0
    runs = list(_runs(line, cuts, ends))
    behind = [*(int(cuts.start[low]) for low, _, _ in runs[1:]), len(line)]
    for (low, high, usual), limit in zip(runs, behind, strict=False):
        start, other, usual = _iterations(line, cuts, ends, low, high, usual)
        start, other, usual = _shifted(cuts.plain, start, other, usual, done)
        start, other, usual = _with_first(line, start, other, usual, done)
        start, other, usual = _turned(line, cuts.plain, start, other, usual, done)
        start, other, usual = _with_first(line, start, other, usual, done)
        start, other = _with_last(line, cuts, start, other, usual, done)
        start, other = _with_addition(cuts.plain[:limit], start, other, usual)
        start, other = _without_before(line, start, other, usual)
        start, other = _parted_by_pauses(line, start, other, usual)
        yield from _found(line.part(done, int(start[0])), offset + done, depth + 1)
        body = _body_of(line, cuts.plain, start, usual)
        inner = tuple(filter(_is_as_told, _found(body, offset + int(start[usual]), depth + 1, 0.0)))
        yield Folded(start + offset, usual, other, cuts.saved, inner)
        done = int(start[-1])
    yield from _found(line.part(done, len(line)), offset + done, depth + 1)


def _without_before(line: Line, start: Ints, other: Mask, usual: int) -> tuple[Ints, Mask]:
    """Return iterations of which the first begins where it opens as many files as the usual one does, to the same use.

    What is opened and done before goes before the loop, such as to write what all read.
    """
    many = int(np.count_nonzero(line.opens[start[usual] : start[usual + 1]]))
    opened = start[0] + np.flatnonzero(line.opens[start[0] : start[1]])
    if not (usual and other[0] and line.opens[start[usual]] and many < len(opened)):
        return start, other
    low = int(opened[-many])
    if _are_used_alike(line, slice(low, start[1]), slice(start[usual], start[usual + 1])):
        start = start.copy()
        start[0] = low
    return start, other


def _is_as_told(one: Folded) -> bool:
    """Tell whether as many usual iterations as there are make nearly all steps of a loop within an iteration."""
    told, steps = len(one.other) * (one.body[1] - one.body[0]), int(one.start[-1] - one.start[0])
    return abs(steps - told) <= (1 - _ALL) * steps


def _with_first(line: Line, start: Ints, other: Mask, usual: int, least: int) -> tuple[Ints, Mask, int]:
    """Return iterations with all that stands before the first one as one of them, if it is much the same."""
    body = line.kind[start[usual] : start[usual + 1]]
    if not line.opens[start[usual]]:
        least += int(np.argmin(np.append(line.opens[least : start[0]], False)))
    before = line.kind[least : start[0]]
    if len(before) and 2 * _shared(before, body) >= _BEGINS * (len(before) + len(body)):
        return np.insert(start, 0, least), np.insert(other, 0, True), usual + 1
    return start, other, usual


def _shared(one: Ints, another: Ints) -> int:
    """Return how many steps two parts have in common, in whatever order."""
    size = int(max(one.max(), another.max())) + 1
    return int(np.minimum(np.bincount(one, minlength=size), np.bincount(another, minlength=size)).sum())


def _body_of(line: Line, plain: Ints, start: Ints, usual: int) -> Line:
    """Return the usual iteration, with pauses that all iterations of its length have."""
    low, high = int(start[usual]), int(start[usual + 1])
    body = line.part(low, high, plain)
    alike = start[:-1][np.diff(start) == high - low][:_COMPARED]
    return replace(body, gap=line.gap[alike[:, None] + np.arange(high - low)].min(axis=0))


def _turned(line: Line, plain: Ints, start: Ints, other: Mask, usual: int, least: int) -> tuple[Ints, Mask, int]:
    """Return iterations that begin with the longest pause in them, where that is clear."""
    length = int(start[usual + 1] - start[usual])
    whole = start[:-1][np.diff(start) == length]
    if len(whole) < _FEWEST:
        return start, other, usual
    pause = line.gap[whole[1:, None] + np.arange(length)]
    by, before = int(np.argmax(np.median(pause, axis=0))), (other, usual)
    if not by or (pause[:, by] > _CLEAR * pause[:, 0]).mean() < _ALL:
        return start, other, usual
    body = np.roll(plain[start[usual] : start[usual + 1]], -by)
    turned = start[:-1] + by
    if turned[0] - length >= least and np.array_equal(plain[turned[0] - length : turned[0]], body):
        turned, other, usual = np.insert(turned, 0, turned[0] - length), np.insert(other, 0, False), usual + 1
    end = int(turned[-1]) + length
    if turned[-1] >= start[-1] or not np.array_equal(plain[turned[-1] : end], body):
        # What is left of the last one is none, and the one before may lack its end.
        end, lacks = min(int(turned[-1]), int(start[-1])), turned[-1] > start[-1]
        # A short part may end before the pause would be.
        turned, other = turned[turned < end], other[turned < end]
        other[-1:] |= lacks
    if len(turned) < len(start) - 1:
        return start, *before
    return np.append(turned, end), other, min(usual, len(turned) - 1)


def _without_slow_steps(cuts: Cuts) -> Cuts:
    """Return cuts by pauses in which a few iterations that are so slow that all gaps in them are pauses are whole."""
    ends = np.append(cuts.start[1:], len(cuts.token))
    usual = int(np.argmax(np.bincount(cuts.first, weights=ends - cuts.start)))
    is_usual, own = cuts.first == usual, slice(cuts.start[usual], ends[usual])
    body, length, token = cuts.plain[own], int(ends[usual] - cuts.start[usual]), cuts.token.copy()
    left = max(1, int(np.count_nonzero(is_usual)) // 4)
    starts = set[int](cuts.start.tolist())
    if cuts.plain is cuts.token or length < 2 or is_usual.all():
        return cuts
    edges = np.flatnonzero(np.diff(~is_usual, prepend=False, append=False)).reshape(-1, 2).tolist()
    for low, high in edges:
        begin, end = int(cuts.start[low]), int(ends[high - 1])
        often, rest = divmod(end - begin, length)
        for first in (begin, begin + rest):
            whole = slice(first, first + often * length)
            broken = 0 < often <= min(left, high - low - 1) and first in starts
            if broken and np.array_equal(cuts.plain[whole], np.tile(body, often)):
                token[whole] = np.tile(cuts.token[own], often)
                starts -= set(range(first, whole.stop))
                starts |= set(range(first, whole.stop, length)) | {whole.stop} - {len(token)}
                left -= often
                break
    if len(starts) == len(cuts.start):
        return cuts
    found = _measured(token, np.array(sorted(starts), np.int64), plain=cuts.plain)
    return cuts if found is None else found._replace(saved=cuts.saved)


def _by_turns(cuts: Cuts, line: Line) -> Cuts:
    """Return cuts with parts that come by turns, such as writing and reading, as one."""
    ends = np.append(cuts.start[1:], len(line))
    cluster = _clusters(line, cuts, ends)
    if len(cluster) < _FEWEST or (cluster[1:] == cluster[:-1]).mean() >= 0.5:
        return cuts
    saved, start = 0.0, cuts.start
    for anchor in _anchors(cluster):
        one = _measured(cluster, _starts(cluster, anchor))
        if one is not None and one.saved > saved:
            saved, start = one.saved, cuts.start[one.start]
    if not saved:
        return cuts
    found = _measured(cuts.token, start, plain=cuts.plain)
    return cuts if found is None else found._replace(saved=cuts.saved)


def _runs(line: Line, cuts: Cuts, ends: Ints) -> Iterator[tuple[int, int, int]]:
    """Give where parts that are alike begin and end, single others between them included, and the usual one of them."""
    cluster = _clusters(line, cuts, ends)
    edges = np.flatnonzero(np.diff(cluster, prepend=-1, append=-1)).tolist()
    # A step with which each part begins, and that is nowhere else, says that the first one is no other, unless it only
    # writes what the others read.
    begins = np.flatnonzero(line.alike == line.alike[cuts.start[0]])
    marked = np.array_equal(begins, cuts.start)
    at = 0
    while at + 1 < len(edges):
        mine, last = cluster[edges[at]], at
        for place in range(at + 1, len(edges) - 1):
            if cluster[edges[place]] == mine:
                last = place
            elif edges[place + 1] - edges[place] > _BETWEEN:
                break
        low, high = edges[at], edges[last + 1]
        alike = np.flatnonzero(cluster[low:high] == mine) + low
        first, counts = np.unique(cuts.first[alike], return_counts=True)
        same = alike[cuts.first[alike] == first[np.argmax(counts)]]
        lengths = ends[same] - cuts.start[same]
        usual = int(same[lengths == np.bincount(lengths).argmax()][0])
        if (
            high - low > 2
            and not (marked and _move_alike(line, *(slice(cuts.start[one], ends[one]) for one in (low, usual))))
            and _is_before(line, *(slice(cuts.start[one], ends[one]) for one in (low, low + 1, usual)))
        ):
            low, alike = low + 1, alike[1:]
        if len(alike) >= 2:
            yield low, high, usual
            at = last
        at += 1


def _move_alike(line: Line, first: slice, usual: slice) -> bool:
    """Tell whether two parts move something in the same way, or one moves nothing."""
    one, another = (line.kind[where][line.moves[where]] for where in (first, usual))
    return not (len(one) and len(another)) or bool(np.isin(one, another).any())


def _is_before(line: Line, first: slice, second: slice, usual: slice) -> bool:
    """Tell whether the first part of a loop is rather what goes before: of other steps than the second.

    One that ends as usual is the first iteration, such as a record of which not all is known yet.
    """
    one, another, body = (line.kind[where] for where in (first, second, usual))
    ends_as_usual = len(one) <= len(body) and np.mean(one == body[-len(one) :]) >= _BEGINS
    whole = line.opens[first.start] and line.opens[second.start] and _are_used_alike(line, first, second)
    return not (ends_as_usual or whole or _are_alike(one, another, _BEGINS))


def _iterations(line: Line, cuts: Cuts, ends: Ints, low: int, high: int, usual: int) -> tuple[Ints, Mask, int]:
    """Return where iterations begin and the last one ends, which are not as usual, and the number of the usual one.

    Parts are joined or divided where that makes usual ones: a rank may stand still within an iteration, or not before.
    """
    plain, cluster = cuts.plain, _clusters(line, cuts, ends)
    body = plain[cuts.start[usual] : ends[usual]]
    start: list[int] = []
    other: list[bool] = []
    part = low
    while part < high:
        behind = part + 1
        if cluster[part] != cluster[usual]:
            while behind < high and cluster[behind] != cluster[usual]:
                behind += 1
        begin, end = int(cuts.start[part]), int(ends[behind - 1])
        times, rest = divmod(end - begin, len(body))
        together = min(int(np.searchsorted(ends[:high], begin + len(body))) + 1, high)
        alike = line.alike[begin : ends[together - 1]], line.alike[cuts.start[usual] : ends[usual]]
        shorter = (ends[part:together] - cuts.start[part:together] < len(body)).all()
        if shorter and _are_one(*alike, last=together == high):
            start.append(begin)
            other.append(False)
            behind = together
        elif times and not rest and np.array_equal(plain[begin:end], np.tile(body, times)):
            start += range(begin, end, len(body))
            other += [False] * times
        elif _is_around_others(plain[begin:end], body):
            start += [begin, end - len(body)]
            other += [True, False]
        elif cluster[part] == cluster[usual] or _holds(plain[begin:end], body):
            start.append(begin)
            other.append(True)
        else:
            # It belongs to the one before.
            other[-1:] = [True] * bool(other)
        part = behind
    edges = np.array([*start, int(ends[high - 1])], np.int64)
    number = int(np.searchsorted(edges, cuts.start[usual]))
    end = _end_of_last(plain, edges, number)
    other[-1] &= end == edges[-1]
    edges[-1] = end
    return edges, np.array(other, np.bool_), number


def _are_one(parts: Ints, body: Ints, last: bool) -> bool:
    """Tell whether shorter parts are an iteration together; what follows the `last` may be with them."""
    as_long = len(parts) == len(body) or (last and len(parts) > len(body))
    return as_long and np.array_equal(parts[: len(body)], body)


def _is_around_others(part: Ints, body: Ints) -> bool:
    """Tell whether a part is an iteration that adds steps, and one more that follows it at once."""
    size = len(body)
    others = part[size : len(part) - size]
    twice = len(others) and np.array_equal(part[:size], body) and np.array_equal(part[len(part) - size :], body)
    return bool(twice and size > 1 and not np.isin(others, body).any())


def _holds(part: Ints, body: Ints) -> bool:
    """Tell whether a part has most steps of a body, whatever else it has."""
    return _shared(part, body) >= _ALIKE * len(body)


def _shifted(plain: Ints, start: Ints, other: Mask, usual: int, least: int) -> tuple[Ints, Mask, int]:
    """Return iterations that begin earlier, where what stands before the first one belongs to it."""
    length = int(start[usual + 1] - start[usual])
    body = plain[start[usual] : start[usual + 1]]
    while start[0] - length >= least and np.array_equal(plain[start[0] - length : start[0]], body):
        start, other, usual = np.insert(start, 0, start[0] - length), np.insert(other, 0, False), usual + 1
    lacking = length - int(start[-1] - start[-2])
    before = int(start[0]) - lacking
    if 0 < lacking < length and before >= least and np.array_equal(plain[before : start[0]], body[length - lacking :]):
        shifted = start - lacking
        shifted[-1] = start[-1]
        last = plain[shifted[-2] : shifted[-1]]
        if np.array_equal(last, plain[shifted[usual] : shifted[usual + 1]]):
            other = other.copy()
            other[-1] = False
            return shifted, other, usual
    return start, other, usual


def _with_last(line: Line, cuts: Cuts, start: Ints, other: Mask, usual: int, least: int) -> tuple[Ints, Mask]:
    """Return iterations with one more, where what follows begins as they do and what stands before them ends so.

    Where pauses say where they begin, only if they begin with an open then: a close may take long.
    """
    plain, begin, end, length = cuts.plain, int(start[0]), int(start[-1]), int(start[usual + 1] - start[usual])
    body = plain[start[usual] : start[usual + 1]]
    before, behind = plain[max(least, begin - length) : begin][::-1], plain[end : end + length]
    many = _equal_until(before, body[::-1])
    shifted = start - many
    same = np.array_equal(plain[shifted[usual] : shifted[usual + 1]], np.roll(body, many))
    paused = cuts.plain is not cuts.token and not line.opens[shifted[0]]
    if paused or not same or end - start[-2] != length or many + _equal_until(behind, body) < length:
        return start, other
    return np.append(shifted, shifted[-1] + length), np.append(other, False)


def _equal_until(one: Ints, other: Ints) -> int:
    """Return how many steps two sequences have in common from their begins on."""
    known = min(len(one), len(other))
    return int(np.argmin(np.append(one[:known] == other[:known], False)))


def _end_of_last(plain: Ints, start: Ints, usual: int) -> int:
    """Return where the last iteration ends: what follows the loop does not belong to it."""
    last, end = int(start[-2]), int(start[-1])
    length = int(start[usual + 1] - start[usual])
    body = plain[start[usual] : start[usual + 1]]
    if usual < len(start) - 2 and end - last > length and np.array_equal(plain[last : last + length], body):
        return last + length
    return end


def _with_addition(plain: Ints, start: Ints, other: Mask, usual: int) -> tuple[Ints, Mask]:
    """Return iterations the last of which adds what follows it, if another one adds the same."""
    length, end = int(start[usual + 1] - start[usual]), int(start[-1])
    if end - start[-2] != length:
        return start, other
    body = plain[start[usual] : start[usual + 1]]
    for place in np.flatnonzero(other & (np.diff(start) > length)).tolist():
        whole = plain[start[place] : start[place + 1]]
        same = np.array_equal(whole[length:], plain[end : end + len(whole) - length])
        if same and np.array_equal(whole[:length], body):
            return np.append(start[:-1], end + len(whole) - length), np.append(other[:-1], True)
    return start, other


def _parted_by_pauses(line: Line, start: Ints, other: Mask, usual: int) -> tuple[Ints, Mask]:
    """Return iterations each with what an other one adds at its end, where the pause between both comes before that."""
    lengths, pause = np.diff(start), line.gap[start[1:-1]]
    if not len(pause) or not _is_long(pause, line.begin[start[:-1]], line.second):
        return start, other
    start, other, usually = start.copy(), other.copy(), float(np.median(pause))
    for place in np.flatnonzero(other[:-1] & (lengths[:-1] > lengths[usual])).tolist():
        low, behind = int(start[place] + lengths[usual]), int(start[place + 1])
        first = low + int(np.argmax(line.gap[low:behind]))
        short = min(usually, float(line.gap[first])) / _CLEAR
        if place + 1 != usual and line.gap[first] > _PART * usually and line.gap[behind] < short:
            start[place + 1], other[place], other[place + 1] = first, first > low, True
    return start, other


def _begin_alike(line: Line, cuts: Cuts) -> tuple[Mask, Mask]:
    """Return which parts begin another file as the next one does, and which are one of a kind as the next; (n-1,)."""
    fresh, single = line.fresh[cuts.start], np.bincount(cuts.first, minlength=len(cuts.first))[cuts.first] == 1
    fresh[0] |= cuts.start[0] == 0
    return np.asarray(fresh[1:] & fresh[:-1], np.bool_), np.asarray(single[1:] & single[:-1], np.bool_)


def _first_of_pairs(one: Ints, other: Ints) -> Ints:
    """Return where each pair is for the first time, in their order."""
    return np.sort(np.unique(_numbered(one, other), return_index=True)[1]) if len(one) else one


def _are_alike(one: Ints, other: Ints, share: float) -> bool:
    """Tell whether two parts have so much in common, in whatever order."""
    return 2 * _shared(one, other) >= share * (len(one) + len(other))


def _are_used_alike(line: Line, here: slice, there: slice) -> bool:
    """Tell whether the same is done to as many files, however often each step is: opened, written, closed."""
    one, other = line.kind[here], line.kind[there]
    same = np.array_equal(np.unique(one), np.unique(other))
    if not same or len(np.unique(line.file[here])) != len(np.unique(line.file[there])):
        return False
    runs = (part[np.append(True, part[1:] != part[:-1])] for part in (one, other))
    return _are_alike(one, other, _ALIKE) or bool(np.array_equal(*runs))


def _clusters(line: Line, cuts: Cuts, ends: Ints) -> Ints:
    """Return a number for each part; parts that are mostly the same steps have the same."""
    kinds = np.unique(cuts.first)
    histograms: list[dict[int, int]] = []
    of_kind: dict[int, int] = {}
    counts = {int(kind): int((cuts.first == kind).sum()) for kind in kinds}
    for kind in sorted(counts, key=lambda one: (-counts[one], one)):
        values, times = np.unique(cuts.token[cuts.start[kind] : ends[kind]], return_counts=True)
        mine = dict(zip(values.tolist(), times.tolist(), strict=True))
        for number, known in enumerate(histograms):
            shared = sum(min(times, known.get(token, 0)) for token, times in mine.items())
            if 2 * shared >= _ALIKE * (sum(mine.values()) + sum(known.values())):
                of_kind[kind] = number
                break
        else:
            of_kind[kind] = len(histograms)
            histograms.append(mine)
    cluster = np.array([of_kind[int(one)] for one in cuts.first], np.int64)
    # What grows from part to part is one: each is like the one before, if not like the first.
    edges = np.flatnonzero(cluster[1:] != cluster[:-1])
    whole, single = _begin_alike(line, cuts)
    for place in _first_of_pairs(cuts.first[edges], cuts.first[edges + 1]).tolist():
        before = int(edges[place])
        here, there = (slice(cuts.start[one], ends[one]) for one in (before, before + 1))
        if cluster[before] != cluster[before + 1] and (
            _are_alike(line.alike[here], line.alike[there], _ALL)
            or (single[before] and _are_alike(cuts.token[here], cuts.token[there], _ALIKE))
            or (whole[before] and _are_used_alike(line, here, there))
        ):
            cluster[cluster == cluster[before + 1]] = cluster[before]
    return cluster


def _without_begun(one: Folded, line: Line) -> Folded:
    """Return a loop without a last iteration that has less than most of the steps, up to where a file is opened next.

    It is the end, or rather the begin, of a chain: each iteration reads what the one before it has written.
    """
    low, high = one.body
    last = line.kind[one.start[-2] : one.start[-1]]
    begun = len(last) < _ALIKE * (high - low) and np.array_equal(last, line.kind[low : low + len(last)])
    if len(one.other) >= _FEWEST and begun and line.opens[low + len(last)]:
        return replace(one, start=one.start[:-1], other=one.other[:-1])
    return one


def _divided(one: Folded, line: Line) -> Folded:
    """Return a loop whose iterations do the same on several files, or sets of them, one after the other, with one each.

    Between sets the program pauses as long as between iterations, or nowhere.
    """
    low, high = one.body
    for times in range(min(_FILES, (high - low) // 2), 1, -1):
        length, rest = divmod(high - low, times)
        if rest or not _on_other_files(line, low, high, length) or _is_clearly_paused(one, line, length):
            continue
        start = [
            np.arange(first, behind, length)[: max(1, (behind - first) // length)]
            for first, behind in pairwise(one.start.tolist())
        ]
        other = np.concatenate([np.full(len(few), bad) for few, bad in zip(start, one.other, strict=True)])
        edges = np.append(np.concatenate(start), one.start[-1])
        usual = int(np.searchsorted(edges, low))
        inner = tuple(_found(_body_of(line, line.alike, edges, usual), low, 1, 0.0))
        return Folded(edges, usual, other, one.bits, inner)
    return one


def _gathered(one: Folded, line: Line) -> Folded:
    """Return a loop around one of files, where pauses that are long beside all others part much as many each time."""
    row = one.start[:-1]
    if one.inner or one.repeats is not None or not line.opens[row].all():
        return one
    for first in _parted(line.gap[row], line.begin[row], line.second):
        many = np.diff(np.append(first, len(row)))
        # The last ones may be but begun.
        if many[:-1].max() > _UNEQUAL * many[:-1].min() or many.max() < _FEWEST:
            continue
        usual = int(np.argmax(many == np.bincount(many).argmax()))
        within = slice(first[usual], first[usual] + many[usual])
        inner = Folded(one.start[first[usual] : first[usual] + many[usual] + 1], 0, one.other[within], one.bits)
        edges = np.append(row[first], one.start[-1])
        return Folded(edges, usual, many != many[usual], one.bits, (inner,))
    return one


def _is_clearly_paused(one: Folded, line: Line, length: int) -> bool:
    """Tell whether the program pauses between iterations, or at one place in each, and not in all parts of one."""
    low, high = one.body
    whole = one.start[:-1][np.diff(one.start) == high - low]
    if len(whole) < 2:
        return False
    places = whole[1 : _COMPARED + 1, None] + np.arange(high - low)
    usual = np.median(line.gap[places], axis=0)
    place = int(np.argmax(usual))
    if not _is_long(line.gap[whole[1:] + place], line.begin[whole + place], line.second):
        return False
    within = (place + np.arange(length, high - low, length)) % (high - low)
    return bool(usual[place] > _CLEAR * np.median(usual[within]))


def _on_other_files(line: Line, low: int, high: int, length: int) -> bool:
    """Tell whether parts of an iteration do the same, each on files of its own; on several, also of like sizes."""
    if not line.fresh[low + length : high : length].all():
        return False
    several = bool(line.fresh[low + 1 : low + length].any())
    body = (line.alike if several else line.kind)[low:high].reshape(-1, length)
    files = line.file[low:high].reshape(-1, length)
    own = sum(len(np.unique(part)) for part in files) == len(np.unique(files))
    same = own and all(np.array_equal(_numbered(part), _numbered(files[0])) for part in files)
    return bool((body == body[0]).all()) and (same or not several)


def _repeated(steps: Steps) -> list[Folded]:
    """Return what repeats so often that it is kept as one, where little else is called meanwhile and in all."""
    if not (steps.times > 1).any():
        return []
    unit, whole = _numbered(steps.unit), int(steps.count.sum())
    calls = np.bincount(unit, weights=steps.count)
    found: list[Folded] = []
    known = np.zeros(len(steps), np.bool_)
    for one in np.argsort(-calls, kind="stable").tolist():
        where = np.flatnonzero(unit == one)
        low, high = int(where[0]), int(where[-1]) + 1
        alone = calls[one] >= _ALL * steps.count[low:high].sum() and not known[low:high].any()
        if calls[one] < (1 - _ALL) * whole or not alone or not (steps.times[where] > 1).any():
            break
        known[low:high] = True
        none = np.zeros(len(where), np.bool_)
        found.append(Folded(np.append(where, high), 0, none, 0.0, (), steps.times[where]))
    told = sum(float(calls[unit[one.start[0]]]) for one in found)
    return sorted(found, key=lambda one: int(one.start[0])) if 2 * told >= whole else []


def _bursts(loop: Folded, steps: Steps, second: float) -> list[Folded]:
    """Return a loop around one of a single step, or of iterations too many to be kept, that long pauses part evenly."""
    row = loop.start[:-1]
    repeats = np.ones(len(row), np.int64) if loop.repeats is None else loop.repeats
    ways = list(_parted(steps.gap[row], steps.begin[row], second, _CLEAR))
    for first in ways:
        if (found := _evenly(first, repeats[:, None], len(ways))) is not None:
            usual, other, bits = found
            if np.add.reduceat(repeats, first)[usual] == 1:
                # It is a call after a pause, of which there are as many as calls but for a few.
                continue
            edges = np.append(row[first], loop.start[-1])
            if loop.repeats is None:
                return [Folded(edges, usual, other, bits)]
            within = slice(first[usual], np.append(first, len(row))[usual + 1])
            start = np.append(row[within], edges[usual + 1])
            inner = Folded(start, 0, np.zeros(len(start) - 1, np.bool_), 0.0, (), repeats[within])
            return [Folded(edges, usual, other, bits, (inner,))]
    return []


def _parted(gap: Ints, begin: Ints, second: float, long: float = _LONG) -> Iterator[Ints]:
    """Give where parts begin by pauses that are long beside all other gaps, fewest first."""
    order = np.append(np.sort(gap[1:])[::-1], 0)
    for least in order[:-1][order[:-1] > long * order[1:]].tolist():
        first = np.append(0, np.flatnonzero(gap[1:] >= least) + 1)
        if len(first) >= _FEWEST and _is_long(gap[first[1:]], begin[first], second):
            yield first


def _evenly(first: Ints, amount: Ints, tried: int) -> tuple[int, Mask, float] | None:
    """Return the usual one of parts with the same amounts of each kind, which are other, and how many bits say so."""
    each = np.add.reduceat(amount, first)
    _, place, often = np.unique(each, axis=0, return_index=True, return_counts=True)
    usual = int(place[np.argmax(often)])
    other = (each != each[usual]).any(axis=1)
    count, pauses = int(each.sum()), len(first) - 1
    told = math.log2(count) * (1 + 2 * np.count_nonzero(other)) + math.log2(tried)
    bits = (math.lgamma(count) - math.lgamma(pauses + 1) - math.lgamma(count - pauses)) / math.log(2) - told
    # What adds to the usual one is that, too.
    lacks = (each < each[usual]).any(axis=1).mean() <= 1 - _ALL and other.mean() <= 1 - _NEARLY
    return (usual, other, bits) if bits >= EVIDENCE and lacks else None


def _even_calls(steps: Steps, line: Line) -> list[Folded]:
    """Return parts with as many calls of each kind as a loop, of steps that begin wherever there were long gaps.

    How many such steps a part has, and what is in each, is chance.
    """
    joined = steps.content != 0
    ways: list[Ints] = []
    if 2 * len(np.unique(steps.content[joined])) > len(steps):
        opened = np.flatnonzero(line.opens & ~np.append(False, line.opens[:-1]))
        ways = [*_parted(line.gap, line.begin, line.second, _CLEAR), *([opened] if len(opened) > 2 else ())]
    within = steps.kinds[:, OPEN] > 0
    if (joined & within).any() and not (joined & within).all():
        # Where an open is in what is kept as one, the steps behind opens say where that begins.
        behind = np.flatnonzero(np.append(False, within[:-1]))
        ways += [behind] if len(behind) > 2 else []
    for first in ways:
        if (found := _evenly(first, steps.kinds.astype(np.int64), len(steps))) is not None:
            usual, other, bits = found
            # An open before all of them, and a close behind.
            moves = np.logical_or.reduceat(_transfers(steps), first)
            moves = np.flatnonzero(moves if moves[usual] else np.ones_like(moves))
            low, high = int(moves[0]), int(moves[-1]) + 1
            edges = np.append(first, len(line))[low : high + 1]
            edges, other = _without_before(line, edges, other[low:high], usual - low)
            return [_without_begun(Folded(edges, usual - low, other, bits), line)]
    return []


def _is_divided(loop: Folded) -> bool:
    """Tell whether most of the parts of what repeats have as many repetitions, so that something else repeats, too."""
    assert loop.repeats is not None
    often = np.unique(loop.repeats, return_counts=True)[1]
    return len(loop.repeats) >= _FEWEST and int(often.max()) > len(loop.repeats) / 2


def _moves(steps: Steps) -> Mask:
    """Return which steps are no opens, closes and deletions."""
    return np.asarray((steps.code >> 1) % STEP_CODES < OPEN)


def _transfers(steps: Steps) -> Mask:
    """Return which steps read or write."""
    return np.asarray((steps.kinds[:, [READ, WRITE]] > 0).any(axis=1))


def _moving(steps: Steps) -> int:
    """Return how many steps there are without the opens, closes and deletions before and after all others."""
    moves = np.flatnonzero(_moves(steps))
    return int(moves[-1] - moves[0]) + 1 if len(moves) else len(steps)


def _plain_run(line: Line, joined: bool, moving: int) -> list[Folded]:
    """Return one step that is all there is as a loop, but for those before and after it: only its number says so.

    Where steps were `joined`, those that only are of one kind may have little in common. `moving` are those between
    opens and closes.
    """
    if rounds := _rounds(line, joined) or ([] if joined else _single_steps(line, False)):
        return rounds
    exact, *others = (_run_of(token) for token in (line.tokens[0], line.alike, line.kind))
    found = [] if exact is None or len(exact) < (_ALL if len(exact) == _FEWEST else 0.5) * len(line) else [exact]
    if not joined:
        whole = moving if moving >= _MANY else len(line)
        found += [one for one in others if one is not None and len(one) >= _ALL * whole]
    # Sizes that are near one another are the same step, unless nearly all are the same size.
    where = next((one for one in found if len(one) >= _ALL * max(map(len, found[:2]))), None)
    if where is None:
        return []
    return [Folded(np.append(where, where[-1] + 1), 0, np.zeros(len(where), np.bool_), 0.0)]


def _single_steps(line: Line, paused: bool) -> list[Folded]:
    """Return one step as a loop whose iterations add another one now and then; nothing where none adds any.

    If `paused`, only where the step comes behind pauses, and what is added does not. No file is opened meanwhile.
    """
    token = line.tokens[0]
    main = token == np.argmax(np.bincount(token))
    where = np.flatnonzero(main)
    added = np.diff(where) > 1
    span = int(where[-1] - where[0]) + 1
    if len(where) < _FEWEST or not added.any() or np.diff(where).max() > _BETWEEN + 1 or len(where) < _NEARLY * span:
        return []
    inside = slice(int(where[0]) + 1, int(where[-1]) + 1)
    if line.opens[inside].any() or line.fresh[inside][~main[inside]].any():
        return []
    gap, main = line.gap[inside], main[inside]
    if paused and not _is_behind_pauses(gap[main], gap[~main]):
        return []
    other = np.append(added, False)
    return [Folded(np.append(where, where[-1] + 1), int(np.argmin(other)), other, 0.0)]


def _run_of(token: Ints) -> Ints | None:
    """Return where the most frequent step is, if that is in one piece."""
    where = np.flatnonzero(token == np.argmax(np.bincount(token)))
    return where if len(where) >= _FEWEST and len(where) > where[-1] - where[0] else None


def _rounds(line: Line, joined: bool) -> list[Folded]:
    """Return the same steps in the same order again and again as a loop, where that is nearly all there is.

    There are fewer ways to do so than to cut at any anchor, so that fewer iterations are evidence. Sizes may be near
    one another, as those of lines of a log with numbers, unless steps were `joined`.
    """
    size, exact = len(line), line.tokens[0]
    tokens = [exact] if joined or np.array_equal(exact, line.alike) else [exact, line.alike]
    best: tuple[float, Folded] | None = None
    for token in tokens:
        for length in range(2, min(size // _FEWEST, _COMPARED) + 1):
            off = np.flatnonzero(np.append(token[length:] != token[:-length], True))
            begin = np.append(0, off[:-1] + 1)
            longest = int(np.argmax(off - begin))
            count = (int(off[longest] - begin[longest]) + length) // length
            low = int(begin[longest])
            if count < _FEWEST or count * length < _NEARLY * size:
                continue
            own = token[low : low + count * length]
            bits = _order_bits(own) - _order_bits(own[:length]) - np.log2(size * len(tokens))
            if bits >= EVIDENCE and (best is None or bits > best[0]):
                start = low + length * np.arange(count + 1)
                best = bits, Folded(start, 0, np.zeros(count, np.bool_), bits)
    return [] if best is None else [best[1]]


def _order_bits(token: Ints) -> float:
    """Return the bits of the order of tokens whose numbers are known."""
    return float(factorial_bits(len(token)) - factorial_bits(np.bincount(token)).sum())


def _episodes(line: Line, moves: Mask, total: Ints) -> list[Folded]:
    """Return what a file is opened for again and again, as one step, if that is much the same each time.

    Opens and closes are, whatever comes between; so one that only writes and one that only reads are not the same. Nor
    are two, which is all there is, of which one moves many times what the other does.
    """
    start = np.flatnonzero(line.opens & ~np.append(False, line.opens[:-1]))
    if len(start) < 2 or start[0] > 0:
        return []
    first = np.arange(len(start))
    cuts = Cuts(0.0, start, first, line.kind, line.kind, 0.0, np.zeros(len(start)))
    edges = np.append(start, len(line))
    if _clusters(line, cuts, edges[1:]).any() or len(line) < 2 * len(start):
        return []
    moved = np.add.reduceat(np.where(moves, np.maximum(total, 0), 0), start)
    if len(start) == 2 and moved.max() > _UNLIKE * moved.min():
        return []
    parts = [set(line.kind[low:high][moves[low:high]].tolist()) for low, high in pairwise(edges.tolist())]
    if any(one.isdisjoint(parts[0]) for one in parts if one and parts[0]):
        return []
    return [Folded(edges, 0, np.diff(edges) != edges[1] - edges[0], 0.0)]
