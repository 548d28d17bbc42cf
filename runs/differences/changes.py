"""The changes between two sides of runs, each tested, those that matter told from those that do not."""

import functools
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final

import numpy as np

from ...analysis.comparison.polling import OFTEN
from ...analysis.findings import rules
from ...model.arrays import Floats
from ...model.document import Record
from ..collection.rows import FindingRow, LayerRow, Run
from . import words
from .iterations import ITERATING, Compared, LoopPair, file_of, pairs_of, steps_by_kind
from .quantities import COUNTED, FLUSHED, JUDGED, QUANTITIES, RECURRING, TIMED, Quantity
from .recorded import NotRecorded, could_tell_finding, could_tell_layer, main_layer, not_recorded, with_layer
from .testing import ALPHA, ENOUGH, Group, Outcome, RunSpread, compare, compare_counts, corrected

_FIRST: Final = ("ranks-of-run", "nodes-of-run", "failed-opens", "layer", "iterations", "iteration")
_EFFECTS: Final = (
    "period", "time", "slowest-rank", "bandwidth", "phases", "iteration-time", "iteration-interval", "duration",
    "finding-cost",
)  # fmt: skip
"""What follows from all else, and is no cause of what an iteration takes."""
_CAUSES: Final = (*_FIRST, *(one.id for one in QUANTITIES if one.id not in _EFFECTS), "finding")
_COVERED: Final = 0.5
"""Share of a layer's time in loops of both sides from which on its iterations are tested in place of its whole time."""
_AGREES: Final = 1 / 3
"""Share of what the run takes less from which on what is done less, and takes less, explains it."""
_START_S: Final = 1.0
"""Standard deviation in s of how long it takes to start and end all ranks: seconds, where a machine is busy."""
_LARGE: Final = math.log(1.5)
_SMALL: Final = 0.1
"""Size of what came or went and takes hardly any time: what is larger is told before it."""
_FAR: Final = math.log(4.0)
"""What a period may change beside the length of the run in which as much is done."""
_FEWEST_PHASES: Final = 4
_LEAST_SHARE: Final = 0.05
_MACHINE: Final = "it may be the machine: what is done between iterations takes longer or shorter, too"
_LEVEL: Final = "operations and the run are nowhere near as many and as long: it may be another level of what recurs"
_ANOTHER: Final = "an iteration is not the same on both sides"
_OVERLAP: Final = "runs of one side are as those of the other"
_SHARES: Final = frozenset(one.id for one in QUANTITIES if one.share)
_BY_ITERATIONS: Final = {"iteration-time": 0.75, "iteration-interval": 0.2}
_BY_OTHERS: Final = 0.05
"""Shares of the chance to err that the times of iterations have, those between them and all else: the first tell most.
"""
_TELLING: Final = 4.0
"""Upper end of an interval over its lower one up to which it tells something of what may be chance."""
_BESIDE: Final = "some of its operations go on beside others, and how long these are under way is no cost"
_SOME: Final = 0.1
"""Share of a layer's operations that do not block, on one side, from which on that is said."""
_UNDER_WAY: Final = ("time", "bandwidth", "slowest-rank", "iteration-time", "phases")
"""Changes that are of how long operations are under way."""
_LEAST_MUCH: Final = 0.01
"""Share of a run's operations or bytes below which a layer and direction are not worth a sentence in front."""


class Change(Record):
    """Something that differs.

    Attributes
    ----------
    id : str
        ``ranks-of-run``, ``nodes-of-run``, ``failed-opens``, ``duration``, ``layer`` (one that came or went),
        ``finding:ID``, ``finding-cost:ID`` (of one that both sides have), ``iterations`` (how many a loop has),
        ``iteration`` (its steps), ``iteration-time`` (how long one takes, or keeps a layer busy),
        ``iteration-interval`` (from one begin to the next), or the id of a quantity.
    layer, direction : str or None
    before, after : float, str or None
        Geometric mean over the runs, of shares the mean; of a finding its severity; of a layer its operations, its
        bytes where these are not known; None where there is none.
    ratio : float or None
        After over before; of shares the difference.
    interval : (float, float) or None
        Of `ratio`, at 95 % for all that was tested together.
    p_value : float or None
        Corrected for all tests of the comparison; None where nothing was tested.
    matters : bool
        Whether it is surely there and large enough to care.
    good : int
        1 for the better, −1 for the worse, 0 for neither.
    text : str
        A sentence.
    """

    ENTRIES: ClassVar = (
        "id", "layer", "direction", "before", "after", "ratio", "interval", "p_value", "matters", "good", "text",
    )  # fmt: skip

    id: str
    layer: str | None
    direction: str | None
    before: float | str | None
    after: float | str | None
    ratio: float | None = None
    interval: tuple[float, float] | None = None
    p_value: float | None = None
    matters: bool = False
    good: int = 0
    text: str = ""
    size: float = 0.0
    steady: bool = False
    """Whether it is of all runs of one side, several, and of none of the other, or no chance by itself."""


Place = tuple[str, str | None, str | None]
"""Id, layer and direction of a change."""


@dataclass(frozen=True)
class _Tested:
    """A change before all p-values are known."""

    change: Change
    p_value: float | None
    candidate: bool
    unsure: str | None = None
    """The sentence where it does not matter."""
    outcome: Outcome | None = None
    say: Callable[[tuple[float, float] | None], str] | None = None
    """Makes the sentence, given the interval."""
    doubt: str = ""
    """Why it does not matter although the interval says so."""
    pair: LoopPair | None = None
    """The loop whose iterations it is about."""

    def decided(self, p_value: float | None) -> Change:
        """Return the change with its corrected p-value, and an interval that agrees with that."""
        matters = self.candidate and p_value is not None and p_value < ALPHA
        change = self.change
        if self.outcome is not None and self.say is not None and p_value is not None and change.interval is not None:
            raw = self.outcome.p_value
            interval = self.outcome.interval(p_value / raw if 0 < raw < p_value else 1.0)
            interval = interval if change.id in _SHARES else _exp_interval(interval)
            change = replace(change, interval=interval, text=self.say(interval))
        text = change.text if matters or self.unsure is None else self.unsure
        sure = p_value is not None and p_value < ALPHA
        if not matters and self.doubt and (sure or self.doubt == _BESIDE):
            text += f", but {self.doubt}"
        return replace(change, p_value=p_value, matters=matters, text=text)


def changes_between(
    before: Sequence[Run], after: Sequence[Run], order: Sequence[str]
) -> tuple[tuple[Change, ...], tuple[NotRecorded, ...]]:
    """Return what differs, what matters first, and what only one side's recorder tells.

    Parameters
    ----------
    before, after : sequence of Run
        At least one that is usable each.
    order : sequence of str
        Layers, highest first.
    """
    pairs = pairs_of(before, after)
    few = min(len(before), len(after)) < ENOUGH
    paced = max((one.paced for one in pairs), default=0.0) if few else 0.0
    beside = _beside((*before, *after))
    compared = [
        *_of_runs(before, after),
        *_of_layers(before, after, order, _covered(pairs, (before, after)), paced),
        *_of_loops(pairs, beside, _LEAST_MUCH * _shortest((before, after))),
        *_of_findings(before, after),
    ]
    untold = tuple(one for one in compared if isinstance(one, NotRecorded))
    # Where there is no difference at all, there is nothing to be wrong about.
    tested = [one for one in compared if isinstance(one, _Tested) and one.change.size > 0]
    tested = [_no_cost(one) if one.change.id in _UNDER_WAY and one.change.layer in beside else one for one in tested]
    found = _without_credit(_with_causes(_explained(list(_decided(tested)))), before, order)
    timed = {(one.layer, one.direction) for one in found if one.id == "time" and one.matters}
    light = _light((before, after))
    found.sort(key=lambda one: _rank(one, order, timed, light))
    return (*(_with_cost(one, found[1:], pairs) for one in found[:1]), *found[1:]), untold


def _decided(tested: Sequence[_Tested]) -> Iterator[tuple[_Tested, Change]]:
    """Give the changes with their p-values corrected, those about the iterations of one loop together."""
    families: dict[object, list[_Tested]] = {}
    for one in tested:
        if one.p_value is None:
            yield one, one.decided(None)
        else:
            families.setdefault(id(one) if one.pair is None else (one.pair, one.change.id), []).append(one)
    for family, p_values in zip(families.values(), corrected(list(_groups(families))), strict=True):
        yield from ((one, one.decided(p_value)) for one, p_value in zip(family, p_values, strict=True))


def _is_of(change: Change, whole: float) -> bool:
    """Tell whether a change for the better is a good part of what the whole run takes less."""
    return bool(change.good) and change.size >= _LARGE and whole != 0 and _more(change) / whole >= _AGREES


def _explained(decided: Sequence[tuple[_Tested, Change]]) -> list[Change]:
    """Return the changes; the time of what is surely done far less, or far more, is tested by itself.

    That it takes less time is what anyone would ask of it, and not one of many questions. Where that is as much as a
    good part of what the whole run takes less, all three agree, and it is sure.
    """
    whole = sum(_more(change) for _, change in decided if change.id == "duration")
    done = {
        (one.layer, one.direction, one.ratio > 1)
        for _, one in decided
        if one.matters and one.id in ("operations", "bytes") and one.ratio is not None and one.size >= _LARGE
    }

    def surer(one: _Tested, change: Change) -> Change:
        if change.id != "time" or (change.layer, change.direction, _more(change) > 0) not in done:
            return change
        # How long iterations take is tested in place of some.
        change = one.decided(one.p_value) if one.p_value else change
        if change.matters or one.say is None or not _is_of(change, whole):
            return change
        return replace(change, matters=True, p_value=None, interval=None, text=one.say(None))

    return [surer(one, change) for one, change in decided]


def _more(change: Change) -> float:
    """Return what a change of a time is, in s."""
    return float(change.after or 0.0) - float(change.before or 0.0)


def _groups(families: Mapping[object, Sequence[_Tested]]) -> Iterator[Group]:
    """Give tests that are corrected together, with their share of the chance to err."""
    shares = dict.fromkeys(families, _BY_OTHERS / max(1, sum(not isinstance(key, tuple) for key in families)))
    looped = [key for key in families if isinstance(key, tuple)]
    for name, share in _BY_ITERATIONS.items():
        whole = sum(pair.weight for pair, kind in looped if kind == name)
        shares |= {key: share * key[0].weight / whole for key in looped if key[1] == name}
    whole = math.fsum(shares.values())
    for key, family in families.items():
        tests = key[0].tests if isinstance(key, tuple) and key[1] == "iteration-time" else 1.0
        yield Group([one.p_value or 0.0 for one in family], shares[key] / whole, tests)


def _with_causes(changes: list[Change]) -> list[Change]:
    """Return the changes; a finding of all runs of a side, or its cost, explains why its layer surely takes longer.

    What decides by times, one run has and the next does not, so few runs could not tell by itself. What a finding of
    both sides costs explains why iterations, or the run, surely take longer.
    """
    sure = {(one.layer, one.good) for one in changes if one.matters and one.id in _EFFECTS and one.good}

    def is_explained(one: Change) -> bool:
        return (one.layer, one.good) in sure or (one.id.startswith("finding-cost:") and (None, one.good) in sure)

    return [replace(one, matters=True, p_value=None) if one.steady and is_explained(one) else one for one in changes]


def _with_cost(change: Change, others: Sequence[Change], pairs: Sequence[LoopPair]) -> Change:
    """Return the first change, a cause that matters with what it costs an iteration, unless nobody can tell.

    Of what is done more often or less, what it takes; else of a loop that is one of this, or the longest one in which
    the layer does the like.
    """
    kind = change.id.split(":")[0]
    if not change.matters or kind in (*_EFFECTS, "finding"):
        return change
    if kind == "operations":
        key = "time", change.layer, change.direction
        took = next((one for one in others if one.matters and (one.id, one.layer, one.direction) == key), None)
        if took is not None:
            return replace(change, text=f"{change.text}. {took.text}")
    own = (one for one in pairs if kind.startswith("iteration") and f" on {one.name} " in change.text)
    like = (one for one in pairs if one.does(change.layer, change.direction))
    pair = next(own, None) or next(like, None)
    cost = None if pair is None else _cost_of_iteration(pair, change.layer, others)
    return change if cost is None else replace(change, text=f"{change.text}. {cost.text}")


def _cost_of_iteration(pair: LoopPair, of: str | None, changes: Sequence[Change]) -> Change | None:
    """Return the change of how long an iteration keeps a layer, or its highest one, busy, or takes, if it tells."""
    for layer in (*((of,) if of else pair.layers[:1]), None):
        if (found := pair.compared(layer)) is not None:
            means = found.before, found.after
            same = (one for one in changes if one.id == "iteration-time" and one.layer == layer)
            cost = next((one for one in same if (one.before, one.after) == means), None)
            low, high = (0.0, 0.0) if cost is None or cost.interval is None else cost.interval
            tells = cost is not None and (cost.matters or (cost.good != 0 and high <= _TELLING * low))
            return cost if tells else None
    return None


def _exp_interval(interval: tuple[float, float]) -> tuple[float, float]:
    return _limited_exp(interval[0]), _limited_exp(interval[1])


def _iteration_words(pair: LoopPair, layer: str | None, found: Compared) -> Callable[[tuple[float, float] | None], str]:
    """Return what makes the sentence of how long an iteration takes, given an interval."""
    say = functools.partial(
        words.iteration_text, pair.name, layer, iterations=found.iterations, summed=found.summed, skewed=found.skewed
    )
    return _told_of(found, say)


def _told_of(found: Compared, say: Callable[[words.Words], str]) -> Callable[[tuple[float, float] | None], str]:
    ratio, runs = _limited_exp(found.outcome.difference), min(map(len, found.means))
    return lambda interval: say(words.Words(found.before, found.after, ratio, interval, runs))


def _covered(pairs: Sequence[LoopPair], runs: tuple[Sequence[Run], Sequence[Run]]) -> frozenset[str]:
    """Return the layers most of whose time on both sides is in loops that both have and that can be compared."""
    found = set()
    for layer in dict.fromkeys(layer for pair in pairs for layer in pair.layers):
        mine = [pair for pair in pairs if layer in pair.layers and pair.compared(layer) is not None]
        whole = [
            _mean([sum(row.busy_s or 0.0 for row in run.layers if row.layer == layer) for run in side]) for side in runs
        ]
        if mine and all(sum(pair.busy(layer, n) for pair in mine) >= _COVERED * one for n, one in enumerate(whole)):
            found.add(layer)
    return frozenset(found)


def _beside(runs: Iterable[Run]) -> frozenset[str]:
    """Return the layers in which operations go on while the program does something else, and those below them."""
    rows = [row for run in runs for row in run.layers]
    found = {
        row.layer for row in rows if row.operations and (row.non_blocking_operations or 0) >= _SOME * row.operations
    }
    while more := {row.layer for row in rows if row.above in found} - found:
        found |= more
    return frozenset(found)


def _no_cost(one: _Tested) -> _Tested:
    """Return a change of how long operations are under way that go on beside others: it is neither good nor bad."""
    return replace(one, change=replace(one.change, good=0), candidate=False, doubt=_BESIDE)


def _of_loops(pairs: Sequence[LoopPair], beside: frozenset[str], least_s: float) -> Iterator[_Tested]:
    """Give the changes of loops: how many iterations, of which steps, and how long one takes, by layer."""
    for pair in pairs:
        shared = pair.shared_by
        # Those of each that shares them, or of all where not as many do.
        together = shared is None and len({one.by for one in pair.every}) > 1 and any(one.doers for one in pair.every)
        sides = [
            np.array([one.done if together else one.done / one.by for one in side], np.float64) for side in pair.sides
        ]
        say = functools.partial(words.count_text, pair.name, shared, pair.by_threads)
        count = _ratio_change(("iterations", None, None), sides, COUNTED, 0, say)
        yield count if pair.alike else replace(count, candidate=False, doubt=_ANOTHER)
        # Where it is not known which rank did what, the steps are those of all ranks.
        if len({one.local for one in pair.every}) > 1 and len({one.row.ranks > 0 for one in pair.every}) == 1:
            yield from _of_steps(pair)
        yield from _of_moved(pair)
        yield from _of_times(pair, beside, least_s)


def _of_times(pair: LoopPair, beside: frozenset[str], least_s: float) -> Iterator[_Tested]:
    """Give the changes of how long iterations take, keep layers busy and lie apart."""
    # How long iterations are tells nothing where they hold other parts of the program.
    for layer in (*(() if pair.elsewhere else (None,)), *pair.layers):
        found = pair.compared(layer)
        if found is not None:
            one = _of_iterations(pair, ("iteration-time", layer, None), found, _iteration_words(pair, layer, found))
            if abs(found.after - found.before) * pair.iterations < least_s:
                one = replace(one, candidate=False)
            yield _no_cost(one) if layer is None and beside.intersection(pair.layers) else one
    if not pair.elsewhere and (found := pair.recurring()) is not None:
        say = functools.partial(words.interval_text, pair.name, iterations=found.iterations, skewed=found.skewed)
        yield _of_iterations(pair, ("iteration-interval", None, None), found, _told_of(found, say))


def _of_steps(pair: LoopPair) -> Iterator[_Tested]:
    """Give the change of the steps of an iteration; certain where all runs of a side have the same ones."""
    summed = pair.by_others and not pair.each_alike
    before, after = (steps_by_kind(side[0], pair.elsewhere, summed) for side in pair.sides)
    text, was, now = words.steps_text(pair.name, before, after)
    if not (was or now):
        return
    text += ", over all ranks" if summed else ", on each rank" if pair.by_others else ""
    change = Change("iteration", None, None, was or None, now or None, text=text, size=float(was != now))
    even = all(len({one.local for one in side}) == 1 for side in pair.sides)
    yield _Tested(change, 0.0 if even else None, even)


def _of_moved(pair: LoopPair) -> Iterator[_Tested]:
    """Give the changes of steps that are in an iteration of all runs of one side, and elsewhere, as often or not."""
    for now, side in enumerate(pair.sides):
        rest = frozenset(file_of(step) for step in side[0].steps) - pair.otherwise
        steps = steps_by_kind(side[0], rest)
        if steps and len({one.local for one in side}) == 1:
            name = ", ".join(sorted({file_of(step) for step in side[0].steps} - rest))
            text = words.moved_text(pair.name, name, steps, bool(now))
            yield _Tested(Change("iteration", None, None, text=text, before=None, after=None, size=1.0), 0.0, True)


def _of_iterations(
    pair: LoopPair, place: Place, found: Compared, say: Callable[[tuple[float, float] | None], str]
) -> _Tested:
    """Return the change of how long an iteration takes, keeps a layer busy, or is from the next one."""
    outcome = found.outcome
    interval, size = _exp_interval(outcome.interval()), abs(outcome.difference)
    good, ratio = -int(np.sign(outcome.difference)), _limited_exp(outcome.difference)
    change = Change(*place, found.before, found.after, ratio, interval, None, False, good, say(interval), size)
    candidate = size >= ITERATING.least and _apart(outcome, list(found.means))
    return _Tested(change, outcome.p_value, candidate, None, outcome, say, _OVERLAP, pair)


def _without_credit(changes: list[Change], before: Sequence[Run], order: Sequence[str]) -> list[Change]:
    """Return the changes; what only improved because less is done, as times or findings did, is not good any more."""
    less = {(one.layer, one.direction) for one in changes if one.matters and _is_less(one)}
    lighter = {way for way in ("read", "write") if (main_layer(before, way, order), way) in less}
    gone = {one.layer for one in changes if one.id == "layer" and one.after is None}

    def undue(one: Change) -> bool:
        if one.id.startswith("finding:"):
            return one.layer in gone
        return (one.id == "duration" and bool(lighter)) or (one.id == "time" and one.direction in lighter)

    return [replace(one, good=0) if one.good > 0 and undue(one) else one for one in changes]


def _is_less(change: Change) -> bool:
    if change.id == "layer":
        return change.after is None
    return change.id == "bytes" and float(change.after or 0) < float(change.before or 0)


def _light(runs: tuple[Sequence[Run], Sequence[Run]]) -> frozenset[tuple[str, str]]:
    """Return layers and directions that take hardly any longer or shorter; none where none takes much."""
    rows = [_by_layer(side) for side in runs]
    took = [
        {
            key: sum(row.busy_s or row.slowest_s or 0.0 for row in found[key]) / len(side)
            for key in {*rows[0], *rows[1]} & found.keys()
        }
        for found, side in zip(rows, runs, strict=True)
    ]
    least = _LEAST_MUCH * _shortest(runs)
    keys = took[0].keys() | took[1].keys()
    light = frozenset(key for key in keys if abs(took[1].get(key, 0.0) - took[0].get(key, 0.0)) < least)
    return frozenset() if light == keys else light


def _rank(
    change: Change,
    order: Sequence[str],
    timed: Collection[tuple[str | None, str | None]],
    light: Collection[tuple[str, str]],
) -> tuple[Any, ...]:
    """Return by what changes are ordered: what matters, what is large, causes before what they cause, higher layers.

    What takes as long as before comes behind what does not; how often something is done comes first where how long
    that takes is a change that matters, too.
    """
    kind = change.id.split(":")[0]
    ids = (*_CAUSES, *_EFFECTS)
    place = len(_FIRST) - 0.5 if kind == "operations" and (change.layer, change.direction) in timed else ids.index(kind)
    layer = order.index(change.layer) if change.layer in order else -1
    small = change.size < _LARGE or (change.layer, change.direction) in light
    return not change.matters, small, place, change.p_value is None, layer, -change.size


def _of_runs(before: Sequence[Run], after: Sequence[Run]) -> Iterator[_Tested | NotRecorded]:
    columns: tuple[tuple[str, Callable[[Run], float | None], RunSpread], ...] = (
        ("ranks-of-run", lambda run: run.job.ranks, COUNTED),
        ("nodes-of-run", lambda run: run.job.nodes, COUNTED),
        ("failed-opens", lambda run: run.job.failed_opens, TIMED),
        ("duration", lambda run: run.job.duration_s, _with_start(_partly_timed((*before, *after)), before, after)),
    )
    for name, value, spread in columns:
        sides = [_present(value(run) for run in side) for side in (before, after)]
        if all(len(side) for side in sides):
            good = -1 if name == "duration" else 0
            one = _ratio_change((name, None, None), sides, spread, good, functools.partial(words.run_text, name))
            if name == "duration" and not _rest_agrees(before, after, one.change.size):
                one = replace(one, candidate=False)
            yield from _in_vain(one, sides) if name == "failed-opens" else (one,)
        elif any(len(side) for side in sides):
            place = 1 if len(sides[0]) else 0
            text = name.removesuffix("-of-run").replace("-", " ")
            yield not_recorded(name, None, None, place, (before, after)[place], text)


def _in_vain(one: _Tested, sides: Sequence[Floats]) -> Iterator[_Tested]:
    """Give the change of how many opens fail, where these are more than a program needs to find a file.

    That it is none is certain, how many there are hangs on how long it waits.
    """
    if abs(sides[1].mean() - sides[0].mean()) >= OFTEN:
        none = any(not side.any() for side in sides) and one.outcome is not None and one.outcome.apart
        yield replace(one, p_value=0.0, candidate=True) if none else one


def _partly_timed(runs: Sequence[Run]) -> RunSpread:
    """Return how much times vary of which only the share that is I/O varies as I/O does."""
    shares = [(run.job.io_s or 0.0) / run.job.duration_s for run in runs if run.job.duration_s]
    share = min(max(shares, default=1.0), 1.0)
    return replace(RECURRING, deviation=math.hypot(RECURRING.deviation, share * TIMED.deviation))


def _with_start(spread: RunSpread, before: Sequence[Run], after: Sequence[Run]) -> RunSpread:
    """Return how much whole durations vary, of which starting and ending the ranks takes more or less time.

    With enough runs they show that themselves.
    """
    if min(len(before), len(after)) >= ENOUGH:
        return spread
    runs = (*before, *after)
    share = _START_S / min((run.job.duration_s for run in runs if run.job.duration_s), default=math.inf)
    return RunSpread(math.hypot(spread.deviation, share), max(spread.least, math.log1p(2 * share)))


def _of_layers(
    before: Sequence[Run], after: Sequence[Run], order: Sequence[str], covered: frozenset[str], paced: float
) -> Iterator[_Tested | NotRecorded]:
    """Give the changes of layers; how long those that are `covered` take is tested by iterations.

    Periods that change by `paced` at most may be the machine's doing.
    """
    runs = (before, after)
    rows = [_by_layer(side) for side in runs]
    for layer, direction in sorted(dict.fromkeys((*rows[0], *rows[1])), key=lambda key: order.index(key[0])):
        sides = [found.get((layer, direction), []) for found in rows]
        if not all(sides):
            yield _came_or_went(layer, direction, sides, runs)
        elif (blind := _blind_side(layer, direction, runs)) is not None:
            text = f"{words.things_text(layer, direction)} as the other records them"
            yield not_recorded("operations", layer, None, blind, runs[blind], text)
        else:
            for one in _of_quantities(layer, direction, sides, runs):
                if layer in covered and isinstance(one, _Tested) and one.change.id in ("time", "bandwidth"):
                    yield replace(one, p_value=None, candidate=False)
                elif isinstance(one, _Tested) and one.change.id == "request-size":
                    yield _by_average(one, sides)
                elif isinstance(one, _Tested) and (doubt := _doubt(one.change, sides, runs, paced)):
                    yield replace(one, candidate=False, doubt=doubt)
                else:
                    yield one
            yield from _of_period(layer, direction, sides)


def _doubt(change: Change, sides: list[list[LayerRow]], runs: tuple[Sequence[Run], Sequence[Run]], paced: float) -> str:
    """Return why a change of a period may be none, whatever its interval; nothing where none is known."""
    if change.id != "period":
        return ""
    return _MACHINE if change.size <= paced else _LEVEL if _other_level(change, sides, runs) else ""


def _other_level(change: Change, sides: list[list[LayerRow]], runs: tuple[Sequence[Run], Sequence[Run]]) -> bool:
    """Tell whether a period changes far more than the whole run does, or what is done in it."""
    counts = [_mean([row.operations or 0 for row in side]) for side in sides]
    lengths = [_mean([run.job.duration_s or 0.0 for run in side]) for side in runs]
    if min(*counts, *lengths) <= 0 or not change.ratio:
        return False
    beyond, more = math.log(change.ratio * lengths[0] / lengths[1]), math.log(counts[1] / counts[0])
    # What is done more often may come as much more often, or as often and more at a time.
    return max(beyond - max(0.0, -more), min(0.0, -more) - beyond) > _FAR


def _by_layer(runs: Iterable[Run]) -> dict[tuple[str, str], list[LayerRow]]:
    found: dict[tuple[str, str], list[LayerRow]] = {}
    for run in runs:
        for row in run.layers:
            found.setdefault((row.layer, row.direction), []).append(row)
    return found


def _blind_side(layer: str, direction: str, runs: tuple[Sequence[Run], Sequence[Run]]) -> int | None:
    """Return the side, 0 or 1, whose recorder lacks a layer and direction of the other side; None where none does."""
    for place in (1, 0):
        having = with_layer(runs[1 - place], layer, direction)
        if not could_tell_layer(runs[place], layer, direction, having):
            return place
    return None


def _came_or_went(
    layer: str, direction: str, sides: list[list[LayerRow]], runs: tuple[Sequence[Run], Sequence[Run]]
) -> _Tested | NotRecorded:
    """Return the change where only one side has a layer and direction."""
    mine = 0 if sides[0] else 1
    having = with_layer(runs[mine], layer, direction)
    able = [could_tell_layer(side, layer, direction, having) for side in runs]
    if not able[1 - mine]:
        return not_recorded("layer", layer, direction, 1 - mine, runs[1 - mine], words.things_text(layer, direction))
    operations = _mean_known(row.operations for row in sides[mine])
    moved = _mean([row.bytes for row in sides[mine]])
    values: list[float | None] = [None, None]
    values[mine] = moved if operations is None else operations
    took = _mean_known(row.busy_s for row in sides[mine]) if direction == "flush" else None
    text = words.layer_text(layer, direction, mine == 1, operations, moved, took)
    size = math.inf if took is None or took >= _LEAST_MUCH * _shortest(runs) else _SMALL
    change = Change("layer", layer, direction, values[0], values[1], text=text, size=size)
    return _Tested(change, _presence(*_counts(sides, able)), _is_much(sides[mine], runs[mine]))


def _counts(having: Sequence[Sized], able: Sequence[Sized]) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return of each side how many have something, and how many could."""
    return (len(having[0]), len(able[0])), (len(having[1]), len(able[1]))


def _is_much(rows: Sequence[LayerRow], runs: Sequence[Run]) -> bool:
    """Tell whether operations of a layer and direction are enough of those of the runs; bytes, where not known."""
    counts = _present(row.operations for row in rows)
    if len(counts):
        return float(counts.mean()) >= _LEAST_MUCH * _mean([run.job.operations or 0 for run in runs])
    whole = [sum(row.bytes for row in run.layers) for run in runs]
    return _mean([row.bytes for row in rows]) >= _LEAST_MUCH * _mean(whole)


def _presence(before: tuple[int, int], after: tuple[int, int]) -> float | None:
    """Return the p-value of something that runs have or not; what a program does is the same in all its runs."""
    if before[0] in (0, before[1]) and after[0] in (0, after[1]):
        return 0.0 if (before[0] == 0) != (after[0] == 0) else 1.0
    return compare_counts(before, after)


def _of_quantities(
    layer: str, direction: str, sides: list[list[LayerRow]], runs: tuple[Sequence[Run], Sequence[Run]]
) -> Iterator[_Tested | NotRecorded]:
    for quantity in QUANTITIES:
        values = [_present(quantity.value(row) for row in side) for side in sides]
        empty = [not len(one) for one in values]
        if quantity.told and empty[0] != empty[1] and (not quantity.share or any(one.any() for one in values)):
            place = empty.index(True)
            yield not_recorded(quantity.id, layer, direction, place, runs[place], words.quantity_name(quantity.id))
        # A period that only some runs have is a change of its own.
        complete = all(len(one) == len(side) for one, side in zip(values, sides, strict=True))
        if not any(empty) and (complete or quantity.id != "period"):
            yield _of_quantity(quantity, layer, direction, values, sides, runs)


def _of_quantity(
    quantity: Quantity,
    layer: str,
    direction: str,
    values: list[Floats],
    sides: list[list[LayerRow]],
    runs: tuple[Sequence[Run], Sequence[Run]],
) -> _Tested:
    """Return the change of a quantity that both sides have."""
    place = (quantity.id, layer, direction)
    text = functools.partial(words.value_text, *place)
    if quantity.share:
        return _share_change(place, values, text)
    timed, spread = quantity.spread is TIMED, quantity.spread
    if spread is RECURRING:
        spread = _partly_timed((*runs[0], *runs[1]))
    elif timed and direction == "flush":
        spread = FLUSHED
    one = _ratio_change(place, values, spread, quantity.good, text, _variance_within(sides) if timed else 0.0)
    if timed and one.candidate and not _phases_agree(sides, one.change.size):
        one = replace(one, candidate=False, doubt="not in most phases")
    # How many phases are seen is a judgement of each run by itself.
    if quantity.spread is JUDGED or (timed and not _takes_much(quantity.id, sides, runs)):
        one = replace(one, candidate=False)
    if quantity.id == "bandwidth" and len({row.bytes for side in sides for row in side}) == 1:
        # Of the same bytes it says what the time says, and is no test of its own.
        one = replace(one, p_value=None, candidate=False)
    return one


def _takes_much(name: str, sides: list[list[LayerRow]], runs: tuple[Sequence[Run], Sequence[Run]]) -> bool:
    """Tell whether a layer and direction take as much longer or shorter as is worth a sentence on a time in front."""
    if name == "imbalance":
        return True
    # Counters know how long ranks take, and not for how long any does.
    took = [_present(row.busy_s or row.slowest_s for row in side) for side in sides]
    return not all(map(len, took)) or abs(took[1].mean() - took[0].mean()) >= _LEAST_MUCH * _shortest(runs)


def _shortest(runs: tuple[Sequence[Run], Sequence[Run]]) -> float:
    """Return how long the shortest run takes, in s."""
    return min((run.job.duration_s or 0.0 for side in runs for run in side), default=0.0)


def _by_average(one: _Tested, sides: list[list[LayerRow]]) -> _Tested:
    """Return a change of sizes, in doubt where they change far less on average: the median may be of either size."""
    change = one.change
    names = "bytes", "operations"
    moved, counts = ([_mean([getattr(row, name) or 0 for row in side]) for side in sides] for name in names)
    if min(*moved, *counts) <= 0:
        return one
    before, after = (whole / count for whole, count in zip(moved, counts, strict=True))
    medians = float(change.before or 0), float(change.after or 0)
    if math.copysign(1.0, medians[1] - medians[0]) * math.log(after / before) >= 0.5 * change.size:
        return one
    unsure = words.average_text(str(change.layer), str(change.direction), (before, after), medians)
    return replace(one, candidate=False, unsure=unsure)


def _of_period(layer: str, direction: str, sides: list[list[LayerRow]]) -> Iterator[_Tested]:
    known = [[row for row in side if row.periodic is not None] for side in sides]
    with_period = [[row.period_s for row in side if row.period_s is not None] for side in known]
    counts = _counts(with_period, known)
    if not all(known) or _as_many(*counts):
        return
    periods = [_mean(have) if have else None for have in with_period]
    text, unsure = (say(layer, direction, *counts, *periods) for say in (words.period_text, words.unsure_period_text))
    change = Change("period", layer, direction, periods[0], periods[1], text=text, size=0.5)
    # Whether a verdict falls this way or that hangs on the noise of a run, so few runs say nothing.
    yield _Tested(change, compare_counts(*counts), True, unsure)


def _as_many(before: tuple[int, int], after: tuple[int, int]) -> bool:
    """Tell whether the same share of both sides has something."""
    return before[0] * after[1] == after[0] * before[1]


def _of_findings(before: Sequence[Run], after: Sequence[Run]) -> Iterator[_Tested | NotRecorded]:
    sides = [_by_finding(side) for side in (before, after)]
    for key in dict.fromkeys((*sides[0], *sides[1])):
        have = [found.get(key, {}) for found in sides]
        owners = [run for run in (*before, *after) if run.job.job in have[0] or run.job.job in have[1]]
        first = next(iter((have[0] or have[1]).values()))
        able = [could_tell_finding(side, first, owners) for side in (before, after)]
        if not all(able):
            place = 1 if able[0] else 0
            text = f"finding {first.id} ({first.layer})"
            yield not_recorded(f"finding:{first.id}", first.layer, None, place, (before, after)[place], text)
        elif not _as_many(*_counts(have, able)):
            yield _came_or_went_finding(have, _counts(have, able))
        elif (cost := _cost_of_finding(have)) is not None:
            yield cost


def _by_finding(runs: Iterable[Run]) -> dict[tuple[str, str], dict[str, FindingRow]]:
    """Return the first finding of each id and layer of each run, by the run's key."""
    found: dict[tuple[str, str], dict[str, FindingRow]] = {}
    for run in runs:
        for one in run.findings:
            found.setdefault((one.id, one.layer), {}).setdefault(run.job.job, one)
    return found


def _came_or_went_finding(
    have: Sequence[Mapping[str, FindingRow]], counts: tuple[tuple[int, int], tuple[int, int]]
) -> _Tested:
    """Return the change of a finding that more of one side have."""
    came = counts[1][0] * counts[0][1] > counts[0][0] * counts[1][1]
    firsts = [next(iter(one.values()), None) for one in have]
    example = next(one for one in (reversed(firsts) if came else firsts) if one is not None)
    # What is decided by times, one run has and the next does not.
    by_time = any(rule.by_time for rule in rules() if rule.id == example.id)
    severities = [None if one is None else one.severity for one in firsts]
    place = (f"finding:{example.id}", example.layer, None)
    text = words.finding_text(example.id, example.text, example.cost_s, came, counts)
    (few, fewer), (many, more) = counts if came else counts[::-1]
    steady = few == 0 and many == more and min(fewer, more) > 1 and example.severity != "info"
    good = -1 if came else 1
    change = Change(*place, severities[0], severities[1], good=good, text=text, size=0.6, steady=steady)
    p_value = compare_counts(*counts) if by_time else _presence(*counts)
    return _Tested(change, p_value, example.severity != "info")


def _cost_of_finding(have: Sequence[Mapping[str, FindingRow]]) -> _Tested | None:
    """Return the change of what a finding of both sides costs where that is far more or less, and worth telling.

    It is a part of what the layer takes, which is tested, and explains that where it is no chance by itself.
    """
    rows = [list(one.values()) for one in have]
    sides = [_present(one.cost_s for one in side) for side in rows]
    if not all(len(side) for side in sides):
        return None
    dear = 0 if sides[0].mean() > sides[1].mean() else 1
    first = rows[dear][0]
    say = functools.partial(words.cost_text, first.id, first.layer)
    one = _ratio_change((f"finding-cost:{first.id}", first.layer, None), sides, TIMED, -1, say)
    told = one.change.size >= _LARGE and first.severity != "info"
    sure = one.p_value is not None and one.p_value < ALPHA
    steady = sure or (min(map(len, sides)) > 1 and sides[dear].min() > sides[1 - dear].max())
    change = replace(one.change, steady=steady, interval=None)
    return _Tested(change, None, candidate=False) if told else None


def _ratio_change(
    place: Place,
    sides: list[Floats],
    spread: RunSpread,
    good: int,
    text: Callable[[words.Words], str],
    within: float = 0.0,
) -> _Tested:
    floor = min((float(side[side > 0].min()) for side in sides if (side > 0).any()), default=1.0) / 2
    logs = [np.log(np.maximum(side, floor)) for side in sides]
    outcome = compare(logs[0], logs[1], spread, within)
    none = [not (side > 0).any() for side in sides]
    before, after = (0.0 if absent else float(np.exp(side.mean())) for absent, side in zip(none, logs, strict=True))
    # What rounding makes of equal numbers is no difference.
    size = 0.0 if abs(outcome.difference) < 1e-9 else abs(outcome.difference)
    ratio = None if any(none) else _limited_exp(outcome.difference)
    interval = None if ratio is None else _exp_interval(outcome.interval())

    def say(interval: tuple[float, float] | None) -> str:
        return text(words.Words(before, after, ratio, interval, min(map(len, sides))))

    good = int(np.sign(outcome.difference)) * good
    change = Change(*place, before, after, ratio, interval, None, False, good, say(interval), size)
    apart = _apart(outcome, sides)
    doubt = "" if apart else _OVERLAP
    return _Tested(change, outcome.p_value, size >= spread.least and apart, None, outcome, say, doubt)


def _share_change(place: Place, sides: list[Floats], text: Callable[[words.Words], str]) -> _Tested:
    outcome = compare(sides[0], sides[1], COUNTED)
    before, after = (float(side.mean()) for side in sides)
    interval = outcome.interval()
    sentence = text(words.Words(before, after, outcome.difference, interval, min(map(len, sides))))
    # A tenth of all operations counts as much as a factor of 1.6: shares have no ratio.
    size = 5 * abs(outcome.difference)
    change = Change(*place, before, after, outcome.difference, interval, text=sentence, size=size)
    return _Tested(change, outcome.p_value, abs(outcome.difference) >= _LEAST_SHARE and _apart(outcome, sides))


def _apart(outcome: Outcome, sides: list[Floats]) -> bool:
    """Tell whether the sides do not overlap, where there are enough runs to ask so: noise may have two humps."""
    return outcome.apart or max(map(len, sides)) > 2 * ENOUGH


def _variance_within(sides: list[list[LayerRow]]) -> float:
    """Return the variance of a difference of logarithms of times that the phases of the runs show."""
    total = 0.0
    for side in sides:
        parts = []
        for row in side:
            lengths = np.subtract(row.phase_end_s, row.phase_start_s)
            lengths = np.log(lengths[lengths > 0])
            if len(lengths) > 1:
                parts.append(float(lengths.var(ddof=1)) / len(lengths))
        if parts:
            total += sum(parts) / len(parts) / len(side)
    return total


def _phases_agree(sides: list[list[LayerRow]], size: float) -> bool:
    """Tell whether most phases changed as the whole time did, by half of that or more, where few runs are compared.

    One phase that met a busy file system makes the time of a run, but not that of its other phases.
    """
    if min(map(len, sides)) >= ENOUGH:
        return True
    lengths = [np.concatenate([np.subtract(row.phase_end_s, row.phase_start_s) for row in side]) for side in sides]
    known = [np.log(one[one > 0]) for one in lengths]
    if min(map(len, known)) < _FEWEST_PHASES:
        return True
    return abs(float(np.median(known[1]) - np.median(known[0]))) >= size / 2


def _rest_agrees(before: Sequence[Run], after: Sequence[Run], size: float) -> bool:
    """Tell whether what is not I/O changed by half as much as the whole run or more, where few runs are compared."""
    if min(len(before), len(after)) >= ENOUGH:
        return True
    rest = [_present((run.job.duration_s or 0.0) - (run.job.io_s or 0.0) for run in side) for side in (before, after)]
    if not all(len(one) and (one > 0).all() for one in rest):
        return False
    return abs(float(np.log(rest[1]).mean() - np.log(rest[0]).mean())) >= size / 2


def _present(values: Iterable[float | None]) -> Floats:
    found = [float(value) for value in values if value is not None and math.isfinite(value) and value >= 0]
    return np.array(found, np.float64)


def _mean_known(values: Iterable[float | None]) -> float | None:
    found = _present(values)
    return float(found.mean()) if len(found) else None


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if len(values) else 0.0


def _limited_exp(value: float) -> float:
    return math.exp(min(max(value, -700.0), 700.0))
