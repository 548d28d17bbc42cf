"""Loops of both sides matched, and what an iteration of them takes: iterations are samples, within their runs.

With three runs a side or more the run is the unit, its value the mean over its iterations, and its spread at least what
these show. With fewer it is what iterations show, of which fewer count where neighbours are alike, and beside it what
`ITERATING` says of runs. What all runs do alike from iteration to iteration, a slow first one or files that grow, is no
spread: there iterations are compared by their number, the first with the first.
"""

import functools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Final

import numpy as np

from ...layers.selection.directions import DIRECTIONS
from ...model.arrays import Floats, Frozen
from ..collection.loops import LoopStep, steps_of
from ..collection.rows import IterationRow, LoopRow, Run
from .quantities import FLUSHED, RECURRING
from .testing import Outcome, RunSpread, compare, effective_count
from .words import StepsDone

ITERATING: Final = RunSpread(deviation=0.03, least=0.05)
"""Of an iteration, from run to run beside what its own iterations show: what the node and its memory make of a run."""
_WAITED_S: Final = 0.005
"""Time in s that an iteration easily waits for a core or a device, in all iterations of a run or in none."""
_IN_STEP: Final = 1.05
"""Sum of the lengths of iterations over the time from first to last up to which each begins as the one before ends."""
_SKEWED: Final = 1.05
"""Arithmetic over geometric mean from which on it is said that a mean is geometric."""
_EQUAL: Final = 1e-6
"""Share by which times differ that are equal but for rounding."""
_PACED: Final = 1.5
"""By how much iterations are slower on a machine that is slower by 1 in what the program does between them, both in
logarithms: the slope over 16 equal runs beside others on a shared node."""
_SURELY: Final = 2.0
"""Standard errors from which on the times between iterations are taken to differ."""
_BETWEEN: Final = 0.1
"""Share of a loop's time between its iterations from which on that shows how fast the machine was."""
_FEWEST: Final = 4
"""Iterations of a run from which on their spread is known."""
_STEADIER: Final = 0.7
"""Share of the variance of the time in which any rank is busy up to which the time of all ranks together is compared
instead: where each has a jitter of its own, their sum has less. So much less is seldom chance."""
_ALIKE: Final = 1.64
"""Neighbours are taken to be alike where their correlation is so many standard deviations above 0, or blocks."""
_BLOCKS: Final = 5
"""Blocks from which on that is looked at."""
_PATTERN: Final = 0.01
"""How seldom chance makes iterations of the same number as alike as those that are taken to have a pattern."""
_SIMILAR: Final = 0.5
"""Share of the kinds of steps that two loops must have in common to be one, where they are not the same."""
_SAME: Final = 2.0
"""Similarity of loops with the same transfers, or steps: see `matches`."""
_AS_MANY: Final = math.log(1.5)
"""Factor between the numbers of iterations of loops with other transfers up to which they may be one."""
_AS_MUCH: Final = 0.01
"""Of all iterations of all ranks, by which they may differ where ranks share what fewer or more did."""
_OTHERWISE: Final = 1.5
"""Factor from which on files are not only used in another loop, but for another purpose."""
_MINOR: Final = 0.05
"""Loops with less of the time of all loops are not compared."""

_Step = tuple[str, str, int | None, str, int]
"""Layer, kind, bytes of a call, kind of file, and how often; None and 0 where these vary."""


class RunLoop(Frozen):
    """A loop of a run, with what its layers do by iteration."""

    row: LoopRow
    layers: Mapping[str, IterationRow]
    flushing: Mapping[str, float] | None = None
    """For how long flushes keep each layer busy in the whole run, in s; None where that is not known."""
    doers: tuple[int, ...] = ()
    """Where several share the iterations, how many of them did each together."""
    team: int = 1
    """How many share them: one for those that are in step."""

    @property
    def by(self) -> int:
        """Threads, or ranks, that do it."""
        return self.team if self.doers else self.row.threads or max(1, self.row.ranks)

    @property
    def done(self) -> float:
        """Iterations in all, of whoever does them."""
        return float(sum(self.doers) if self.doers else self.row.count * self.by)

    @cached_property
    def steps(self) -> tuple[LoopStep, ...]:
        """The program's own calls in an iteration."""
        return steps_of(self.row)

    @cached_property
    def local(self) -> tuple[_Step, ...]:
        """The same with files without their folders, which differ between runs, and without means, which vary."""
        return tuple(
            (one.layer, one.kind, one.bytes, _base(one.file), 0 if one.about else one.often) for one in self.steps
        )

    @cached_property
    def pauses(self) -> Floats:
        """Logarithms of the times in s between iterations; none where they are too short to tell a machine by."""
        begin, end = np.array(self.row.iteration_begin_s), np.array(self.row.iteration_end_s)
        between = begin[1:] - end[:-1] if not self.doers else begin[:0]
        known = between[between > 0]
        enough = len(known) >= _FEWEST - 1 and known.sum() >= _BETWEEN * (end[-1] - begin[0])
        return np.asarray(np.log(known if enough else known[:0]))

    @cached_property
    def intervals(self) -> Floats:
        """Times in s from one iteration's begin to the next; none where these are what an iteration takes.

        Where several share them, means over as many as there are of these.
        """
        begin, end = np.array(self.row.iteration_begin_s), np.array(self.row.iteration_end_s)
        if self.doers:
            return np.diff(np.repeat(begin, self.doers)[:: self.team]) / self.team
        return np.diff(np.sort(begin)) if _is_apart(begin, end) else begin[:0]

    def flush_share(self, layer: str | None) -> float:
        """Return the share that flushes have in how long iterations keep a layer busy, or take."""
        whole = float(self.seconds(layer).sum())
        if self.flushing is None or whole <= 0:
            return 1.0
        return min(
            1.0, max((self.flushing.get(one, 0.0) for one in self.layers if layer in (None, one)), default=0.0) / whole
        )

    def seconds(self, layer: str | None, summed: bool = False) -> Floats:
        """Return how long iterations keep a layer busy, `summed` over ranks or not, or take; float64 (n,).

        Where ranks are not in step, so that each iteration begins before others end, they take the time from one to
        the next: float64 (n - 1,).
        """
        if layer is None:
            begin, end = np.array(self.row.iteration_begin_s), np.array(self.row.iteration_end_s)
            return end - begin if self.doers or _is_apart(begin, end) else np.diff(np.sort(begin))
        row = self.layers.get(layer)
        return np.array(() if row is None else row.summed_s if summed else row.busy_s, np.float64)


class LoopPair(Frozen):
    """A loop that runs of both sides have: that of each run which has it."""

    before: tuple[RunLoop, ...]
    after: tuple[RunLoop, ...]
    elsewhere: frozenset[str] = frozenset()
    """Kinds of files, without folders, that belong to this loop on one side and to others on the other."""
    otherwise: frozenset[str] = frozenset()
    """Those of them that are used far more or less often by all loops of one side."""
    told_apart: bool = False
    """Whether the number of iterations is part of its name, as another loop is on the same files."""

    @property
    def sides(self) -> tuple[tuple[RunLoop, ...], tuple[RunLoop, ...]]:
        """Both."""
        return self.before, self.after

    @property
    def every(self) -> tuple[RunLoop, ...]:
        """The loops of all runs."""
        return *self.before, *self.after

    @property
    def name(self) -> str:
        """The kind of file of which most bytes are moved, without folders; of the first step where none are.

        On both sides, where it is another one.
        """
        before, after = (_main_file(side[0].steps) for side in self.sides)
        name = f"{after} (before {before})" if before and after and before != after else after or before or "files"
        return f"{name} ({self.after[0].row.count:,} ×)" if self.told_apart else name

    @property
    def layers(self) -> tuple[str, ...]:
        """Layers that take part on both sides, highest first; none that is used for what is elsewhere on one."""
        steps = (step for side in self.sides for step in side[0].steps)
        mixed = {step.layer for step in steps if file_of(step) in self.elsewhere}
        return tuple(one for one in self.after[0].row.layers if one in self.before[0].row.layers and one not in mixed)

    def does(self, layer: str | None, direction: str | None) -> bool:
        """Tell whether the program's own steps, or what they cause in a layer, are of a direction; of any, for None."""
        steps = {step.kind for side in self.sides for step in side[0].steps}
        return (layer is None or layer in self.layers) and (direction is None or direction in steps)

    @property
    def by_others(self) -> bool:
        """Whether other ranks do the steps on one side than on the other, or some ranks a part of them."""
        ranks = {one.row.ranks for one in self.every}
        return len(ranks) > 1 or any(step.ranks for one in self.every for step in one.steps)

    @property
    def alike(self) -> bool:
        """Whether an iteration is the same on both sides, or moves the same, so that their numbers can be compared."""
        return _similarity(self.before[0], self.after[0]) >= _SAME

    @property
    def each_alike(self) -> bool:
        """Whether each rank moves the same on both sides, of which one has fewer ranks in this loop."""
        sides = [[step for step in side[0].steps if step.kind in ("read", "write")] for side in self.sides]
        moved = [sorted((one.layer, one.kind, one.bytes or 0, one.often) for one in side) for side in sides]
        apart = any(step.ranks for one in self.every for step in one.steps)
        return bool(moved[0]) and moved[0] == moved[1] and not apart

    @property
    def shared_by(self) -> tuple[int, int] | None:
        """How many share as many iterations in all, where these are others: they are not compared by number."""
        by, done = ([float(np.mean([value(one) for one in side])) for side in self.sides] for value in (_by, _done))
        counts = [whole / some for whole, some in zip(done, by, strict=True)]
        as_many = by[0] != by[1] and counts[0] != counts[1] and abs(done[1] - done[0]) <= _AS_MUCH * done[0]
        return (round(by[0]), round(by[1])) if as_many else None

    @property
    def by_threads(self) -> bool:
        """Whether those who do it are threads."""
        return any(one.row.threads for one in self.every)

    @cached_property
    def timed(self) -> bool:
        """Whether what an iteration takes can be compared: not where others share them, and so compete for a device."""
        apart = any(one.doers for one in self.every)
        return self.shared_by is None and (
            not apart or len({(one.by, max(one.doers, default=0)) for one in self.every}) == 1
        )

    @property
    def iterations(self) -> int:
        """Of the side that has fewer."""
        return min(sum(one.row.count for one in side) for side in self.sides)

    @property
    def weight(self) -> float:
        """Time of all iterations in s, of a run."""
        return float(np.mean([one.seconds(None).sum() / one.team for one in self.every]))

    def busy(self, layer: str, side: int) -> float:
        """Return how long iterations keep a layer busy, in s, of a run of side 0 or 1."""
        return float(np.mean([one.seconds(layer).sum() for one in self.sides[side]]))

    def compared(self, layer: str | None) -> "Compared | None":
        """Return how long iterations keep a layer busy on both sides, or are; None for too few, or other doers.

        It is the time of all ranks together where that is much steadier.
        """
        if not self.timed:
            return None
        sides = self._logs(lambda one: one.seconds(layer))
        together = [] if layer is None else self._logs(lambda one: one.seconds(layer, summed=True))
        if not all(sides):
            return None
        summed = list(map(len, sides)) == list(map(len, together)) and _spread(together) < _STEADIER * _spread(sides)
        # A core that is busy delays each of the ranks.
        ranks = max(one.row.ranks for one in self.every) if summed else 1
        return self._tested(
            together if summed else sides, functools.partial(self._spread, layer, self.paced), max(1, ranks), summed
        )

    def recurring(self) -> "Compared | None":
        """Return how long it is from one iteration to the next on both sides; None where that is what one takes."""
        sides = self._logs(lambda one: one.intervals)
        # As often as all of them together begin one, however many they are.
        return self._tested(sides, self._spread_between) if all(sides) else None

    def _spread_between(self, means: Sequence[Floats]) -> RunSpread:
        """Return how much runs differ in the time from one iteration to the next, most of which may be computing."""
        share = max(min(1.0, float(one.seconds(None).sum() / one.intervals.sum())) for one in self.every)
        deviation = math.hypot(RECURRING.deviation, share * self._spread(None, 0.0, means).deviation)
        return replace(RECURRING, deviation=deviation)

    def _tested(
        self,
        sides: Sequence[Sequence[Floats]],
        spread: Callable[[Sequence[Floats]], RunSpread],
        ranks: int = 1,
        summed: bool = False,
    ) -> "Compared":
        """Return the test of logarithms of times of iterations by side and run, of all `ranks` together if `summed`."""
        means = [np.array([run.mean() for run in side]) for side in sides]
        each = [one - math.log(ranks) for one in means]
        within, freedom = _within_runs(sides)
        outcome = compare(means[0], means[1], spread(each), within, freedom)
        if within > outcome.error**2:
            # Three runs may be alike by chance, more than their iterations let them be.
            outcome = replace(outcome, error=math.sqrt(within), freedom=freedom)
        count = [sum(map(len, side)) for side in sides]
        # By chance all iterations of one side lie beyond those of the other in one of so many cases.
        outcome = outcome.limited(2 / math.comb(sum(count), count[0]))
        before, after = (float(np.exp(one.mean())) for one in means)
        plain = [np.mean([np.exp(run).mean() for run in side]) for side in sides]
        skewed = max(one / other for one, other in zip(plain, (before, after), strict=True)) > _SKEWED
        return Compared(before, after, outcome, self.iterations, means, summed, bool(skewed))

    def _logs(self, times: Callable[[RunLoop], Floats]) -> list[list[Floats]]:
        """Return logarithms of `times` of iterations, by side and run; without runs that have too few."""
        known = [[_positive(times(one)) for one in side] for side in self.sides]
        return [[np.log(one) for one in side if len(one) >= _FEWEST] for side in known]

    def _spread(self, layer: str | None, paced: float, means: Sequence[Floats]) -> RunSpread:
        """Return how much runs differ in the logarithm of how long an iteration takes, or keeps a layer busy.

        As the machine was, iterations may be longer or shorter by `paced`.
        """
        steps = [[step.layer for step in side[0].steps if step.kind == "flush"] for side in self.sides]
        spread = ITERATING
        if all(side and (layer is None or layer in side) for side in steps):
            share = max(one.flush_share(layer) for one in self.every)
            spread = replace(FLUSHED, deviation=math.hypot(spread.deviation, share * FLUSHED.deviation))
        short, long = sorted(math.exp(float(extreme)) for extreme in (means[0].mean(), means[1].mean()))
        # The logarithmic mean: waiting adds a time, of which the logarithm of a far longer one hardly knows.
        typical = (long - short) / math.log(long / short) if long > (1 + _EQUAL) * short else short
        # As much for each of two runs.
        return replace(spread, deviation=math.hypot(spread.deviation, _WAITED_S / typical, paced / math.sqrt(2)))

    @cached_property
    def paced(self) -> float:
        """How much longer or shorter, in logarithms, iterations may be as the machine was slower or faster.

        That is seen by what is done between them.
        """
        sides = [[one.pauses for one in side if len(one.pauses)] for side in self.sides]
        if not all(sides):
            return 0.0
        before, after = (float(np.mean([run.mean() for run in side])) for side in sides)
        error = math.sqrt(sum(float(run.var() / len(run)) / len(side) ** 2 for side in sides for run in side))
        return _PACED * abs(after - before) if abs(after - before) > _SURELY * error else 0.0

    @cached_property
    def tests(self) -> float:
        """How many tests those of an iteration's length and of its layers are in effect."""
        runs = []
        for one in self.every:
            columns = [one.seconds(layer) for layer in (None, *self.layers) if self.compared(layer) is not None]
            if len({len(column) for column in columns}) == 1:
                known = np.array(columns).T
                logs = np.log(known[(known > 0).all(axis=1)])
                runs.append(logs - logs.mean(axis=0) if len(logs) else logs)
        together = np.concatenate(runs) if runs else np.zeros((0, 1))
        return effective_count(together) if len(together) >= _FEWEST else 1.0 + len(self.layers)


class Compared(Frozen):
    """How long an iteration takes on both sides, in s: geometric means, the test, and the means of each run's logs."""

    before: float
    after: float
    outcome: Outcome
    iterations: int
    means: Sequence[Floats]
    summed: bool = False
    """Whether it is the time of all ranks together."""
    skewed: bool = False
    """Whether arithmetic means are others."""


def _is_apart(begin: Floats, end: Floats) -> bool:
    """Tell whether iterations end before others begin."""
    return not len(begin) or bool((end - begin).sum() <= _IN_STEP * (end.max() - begin.min()))


def _positive(values: Floats) -> Floats:
    return values[values > 0]


def _spread(sides: Iterable[Iterable[Floats]]) -> float:
    """Return the mean variance within runs."""
    return float(np.mean([run.var(ddof=1) for side in sides for run in side]))


def _within_runs(sides: Sequence[Sequence[Floats]]) -> tuple[float, float]:
    """Return the variance of the difference of two sides that the iterations within runs make, and its freedom."""
    rest, kept = _without_pattern([run for side in sides for run in side])
    sizes = [len(side) for side in sides for _ in side]
    sized = zip(rest, sizes, strict=True)
    parts = [(_variance_of_mean(run) / kept / size**2, kept * (len(run) - 1)) for run, size in sized]
    within = sum(part for part, _ in parts)
    return within, within**2 / sum(part**2 / size for part, size in parts) if within > 0 else math.inf


def _without_pattern(runs: list[Floats]) -> tuple[list[Floats], float]:
    """Return runs without what they have in common from iteration to iteration, and the share of variance that is left.

    They have something in common where an analysis of variance by iteration and run says so.
    """
    from scipy.special import fdtrc

    count, length = len(runs), len(runs[0])
    if any(len(run) != length for run in runs):
        return runs, 1.0
    off = np.array([run - run.mean() for run in runs])
    common = off.mean(axis=0)
    rest = off - common
    shared, single = count * float(common @ common), float((rest * rest).sum()) / (count - 1)
    if single > 0 and fdtrc(length - 1, (count - 1) * (length - 1), shared / single) > _PATTERN:
        return runs, 1.0
    return list(rest), (count - 1) / count


def _variance_of_mean(values: Floats) -> float:
    """Return the variance of a mean, of values in their order that may be like their neighbours, or drift slowly."""
    variance = float(values.var(ddof=1))
    if variance == 0:
        return 0.0
    off = values - values.mean()
    alike = float(off[1:] @ off[:-1] / (off @ off))
    fewer = (1 + alike) / (1 - alike) if alike > _ALIKE / math.sqrt(len(values)) else 1.0
    # As much as the means of blocks vary more than those of independent values do, where that is more than chance.
    length = math.isqrt(len(values))
    blocks = values[: len(values) // length * length].reshape(-1, length).mean(axis=1)
    slowly = float(blocks.var(ddof=1)) * length / variance
    sure = len(blocks) >= _BLOCKS and slowly > 1 + _ALIKE * math.sqrt(2 / (len(blocks) - 1))
    fewer = max(fewer, slowly) if sure else fewer
    return variance * min(fewer, len(values)) / len(values)


def pairs_of(before: Sequence[Run], after: Sequence[Run]) -> tuple[LoopPair, ...]:
    """Return the loops that runs of both sides have, those with most time first."""
    runs = [[list(loops_of(run)) for run in side] for side in (before, after)]
    reference = max(runs[0], key=len, default=[])
    found = []
    matched = [[matches(reference, loops) for loops in side] for side in runs]
    for place in range(len(reference)):
        sides = [tuple(one[place] for one in side if place in one) for side in matched]
        if all(sides):
            first = [next(one for one in side if place in one) for side in matched]
            files = _elsewhere(place, first, runs)
            found.append(LoopPair(sides[0], sides[1], files, frozenset(_used_otherwise(files, runs))))
    whole = sum(one.weight for one in found)
    kept = sorted((one for one in found if one.weight >= _MINOR * whole), key=lambda one: -one.weight)
    names = Counter(one.name for one in kept)
    return tuple(replace(one, told_apart=names[one.name] > 1) for one in kept)


def _used_otherwise(files: Iterable[str], runs: Sequence[Sequence[Sequence[RunLoop]]]) -> Iterator[str]:
    """Give those of some kinds of files that loops of one side use far more or less often."""
    for file in files:
        often = [_often(file, side) for side in runs]
        if max(often) > _OTHERWISE * min(often):
            yield file


def _often(file: str, side: Sequence[Sequence[RunLoop]]) -> float:
    """Return how often the loops of a run use a kind of file on average, on all ranks together."""
    loops = [(loop.row, step) for run in side for loop in run for step in loop.steps if file_of(step) == file]
    return sum(row.count * step.often * (step.ranks or max(1, row.ranks)) for row, step in loops) / max(1, len(side))


def _elsewhere(
    place: int, matched: Sequence[Mapping[int, RunLoop]], runs: Sequence[Sequence[Sequence[RunLoop]]]
) -> frozenset[str]:
    """Return the kinds of files of the loop that, on the other side, are those of other loops and not of this."""
    mine = [{file_of(step) for step in one[place].steps} for one in matched]
    others = [
        {file_of(step) for run in side for loop in run if loop is not one[place] for step in loop.steps}
        for one, side in zip(matched, runs, strict=True)
    ]
    return frozenset((mine[0] - mine[1]) & others[1] | (mine[1] - mine[0]) & others[0])


def loops_of(run: Run) -> Iterator[RunLoop]:
    """Give the loops of a run, in the order of their begins; those that share their iterations as one."""
    flushing = {row.layer: row.busy_s or 0.0 for row in run.layers if row.direction == "flush"}
    teams: list[list[RunLoop]] = []
    for one in loops_with_layers(run.loops, run.iterations):
        team = next((team for team in teams if _shares(team, one)), None)
        if team is None:
            teams.append([one])
        else:
            team.append(one)
    for team in teams:
        yield replace(_shared(team), flushing=flushing)


def _shares(team: Sequence[RunLoop], one: RunLoop) -> bool:
    """Tell whether a loop has the same steps as others, while these go on."""
    first, end = team[0], max(other.row.end_s for other in team)
    known = all(len(other.row.iteration_begin_s) == other.row.count for other in (first, one))
    return known and bool(one.local) and one.local == first.local and one.row.begin_s < end


def _shared(team: Sequence[RunLoop]) -> RunLoop:
    """Return the loop of several that share its iterations, each of whom does some; threads of one are such, too."""
    row, by, threads = team[0].row, sum(one.by for one in team), any(one.row.threads for one in team)
    if len(team) == 1 and (row.threads is None or len(row.iteration_begin_s) < row.count):
        return team[0]
    doers = np.repeat([one.by for one in team], [one.row.count for one in team])
    begin = np.concatenate([one.row.iteration_begin_s for one in team])
    order = np.argsort(begin, kind="stable")

    def sorted_of(columns: Iterable[Sequence[float]]) -> tuple[float, ...]:
        return tuple(np.concatenate(list(columns))[order].tolist())

    def together(layer: str) -> IterationRow:
        parts = [one.layers[layer] for one in team]
        busy, summed = sorted_of(one.busy_s for one in parts), sorted_of(one.summed_s for one in parts)
        return replace(parts[0], busy_s=busy, summed_s=summed)

    layers = {layer: together(layer) for layer in team[0].layers if all(layer in one.layers for one in team)}
    merged = replace(
        row,
        count=len(order),
        ranks=max(one.row.ranks for one in team) if threads else by,
        threads=by if threads else None,
        iteration_begin_s=tuple(begin[order].tolist()),
        iteration_end_s=sorted_of(one.row.iteration_end_s for one in team),
    )
    return RunLoop(merged, layers, None, tuple(doers[order].tolist()), by)


def loops_with_layers(loops: Iterable[LoopRow], iterations: Sequence[IterationRow]) -> Iterator[RunLoop]:
    """Give rows of loops with those of their iterations."""
    for row in loops:
        yield RunLoop(row, {one.layer: one for one in iterations if one.loop == row.loop})


def matches(reference: Sequence[RunLoop], loops: Iterable[RunLoop], least: float = _SIMILAR) -> dict[int, RunLoop]:
    """Return the loops that are those of the reference, by their place there: the most similar first, then in order.

    Those less similar than `least` are none: 3 for the same steps on files of the same kind, 2.5 for the same transfers
    on these, a quarter less where bytes or numbers vary in one of them, 2 for the same steps on others.
    """
    mine = list(loops)
    pairs = [
        (-similarity, abs(place - number), place, number)
        for place, one in enumerate(reference)
        for number, other in enumerate(mine)
        if (similarity := _similarity(one, other)) >= least
    ]
    found: dict[int, RunLoop] = {}
    taken = set[int]()
    for _, _, place, number in sorted(pairs):
        if place not in found and number not in taken:
            found[place] = mine[number]
            taken.add(number)
    return found


def _similarity(one: RunLoop, other: RunLoop) -> float:
    """Return how alike two loops are, as `matches` has it; 0 for nothing in common."""
    moving = tuple(tuple(step for step in loop.local if step[1] in DIRECTIONS) for loop in (one, other))
    for exact, (mine, its) in ((3.0, (one.local, other.local)), (2.5, moving)):
        if mine and _alike(mine, its):
            return exact if mine == its else exact - 0.25
    steps = [[(step.layer, step.kind, step.bytes, step.often) for step in loop.steps] for loop in (one, other)]
    if steps[0] == steps[1]:
        return 2.0
    # Where neither the transfers nor the number of iterations are the same, what is one of them on one side is none on
    # the other.
    if abs(math.log(one.row.count / other.row.count)) > _AS_MANY:
        return 0.0
    return _in_common(one, other)


def _in_common(one: RunLoop, other: RunLoop) -> float:
    """Return the share of the kinds of steps that two loops have in common, with a half for files of one kind."""
    kinds, files = ([{key(step) for step in loop.steps} for loop in (one, other)] for key in (_kind, file_of))
    common = len(kinds[0] & kinds[1]) / max(1, len(kinds[0] | kinds[1]))
    return common + (0.5 if files[0] & files[1] else 0.0) if common > 0 else 0.0


def _alike(one: Sequence[_Step], other: Sequence[_Step]) -> bool:
    """Tell whether steps are the same, but for bytes and numbers that vary in one of them."""
    return len(one) == len(other) and all(
        (*mine[:2], mine[3]) == (*its[:2], its[3])
        and (mine[2] == its[2] or (mine[1] in DIRECTIONS and None in (mine[2], its[2])))
        and (mine[4] == its[4] or 0 in (mine[4], its[4]))
        for mine, its in zip(one, other, strict=True)
    )


def _by(one: RunLoop) -> int:
    return one.by


def _done(one: RunLoop) -> float:
    return one.done


def _main_file(steps: Sequence[LoopStep]) -> str:
    """Return the kind of file of which most bytes are moved, without folders."""
    return _base(max(steps, key=lambda one: (one.bytes or 0) * one.often).file) if steps else ""


def _kind(step: LoopStep) -> str:
    return step.kind


def file_of(step: LoopStep) -> str:
    """Return the kind of file of a step, without folders."""
    return _base(step.file)


def _base(file: str) -> str:
    return file.rsplit("/", 1)[-1]


def steps_by_kind(
    loop: RunLoop, without: frozenset[str], summed: bool = False
) -> dict[tuple[str, str], list[StepsDone]]:
    """Return how often, and of how many bytes, each layer and kind of call is done in an iteration by a rank.

    Or by all ranks, `summed`. Steps on kinds of files `without` which they are compared are left out.
    """
    found: dict[tuple[str, str], dict[int | None, StepsDone]] = {}
    for one in loop.steps:
        if file_of(one) in without:
            continue
        sizes = found.setdefault((one.layer, one.kind), {})
        more = one.often * ((one.ranks or loop.row.ranks) if summed else 1)
        known = sizes.get(one.bytes, StepsDone(0, one.bytes, 0.0))
        # Where the mean of some is not known, that of all is not.
        whole = None if None in (known.mean, one.mean) else (known.mean or 0.0) * known.often + (one.mean or 0.0) * more
        mean = None if whole is None else whole / (known.often + more)
        sizes[one.bytes] = StepsDone(known.often + more, one.bytes, mean, known.about or one.about)
    return {key: list(sizes.values()) for key, sizes in found.items()}
