"""The loop of a program read back while it runs: bursts whose contents come again and again, before their times tell.

The same number of operations and of bytes is strong evidence after two iterations, of times four phases are needed.
"""

import math
from collections import Counter
from dataclasses import replace
from functools import cached_property
from typing import Final

import numpy as np

from ..analysis.phases.bursts import Bursts
from ..analysis.phases.reasons import prospect
from ..analysis.phases.stretches import MOST_JITTER, PulseTrain
from ..analysis.results.result import fewest_more
from ..model.arrays import Floats, Frozen, Ints, Rows
from ..model.quantities import bytes_text, counted, seconds_text
from .activity import Activity
from .pace import RATHER, Pace, delayed, jitter_text, latest_pace
from .prediction import LATEST

LONGEST: Final = 16
"""Bursts of an iteration, at most."""
SHORT, HALF = 4, 0.5
"""Bursts of an iteration above which the last two must have so large a share of bursts in common to be tried."""
TURNS: Final = 5
"""Iterations, the latest ones, whose most usual burst is the one that is due at its place."""
COMPARED: Final = 256
"""Bursts, the latest ones, in which something may repeat."""
FEW: Final = 0.5
"""Share of the score by bytes alone that the one by bytes and operations has to have."""
FEWEST: Final = 2
"""Intervals that the next one is foretold from; as many whole iterations are evidence of a loop."""
TELLING: Final = 0.25
"""Score as a share of the bursts from which on they tell period and phases; less may be chance."""
SPREAD: Final = 1.25
"""Ratio of a volume to the latest one that is near it up to which bursts are of one kind, however far they drift:
compressed frames and batches of text differ by less, other records by more."""
TREND: Final = 0.5
"""Share of the deviation of volumes below which that of their steps is where they drift."""
PRIOR_VOLUMES, PRIOR_DEVIATION = 1.0, 0.01
"""How many volumes' worth is thought beforehand of how they vary, and what."""


class Repetition(Frozen):
    """Bursts that repeat.

    Attributes
    ----------
    bursts : Activity
        From the first iteration on; the last one may be under way.
    length : int
        Bursts of an iteration.
    score : int
        Bursts that are as expected, less those that are not, and those of one iteration.
    volume, operations : int
        Of the burst that is due next.
    volume_range, operations_range : (int, int) or None
        Between which they are in 95 %, where bursts of its kind are not all the same.
    alike, loose : bool
        Whether bursts are of one kind where they are near one another, and not only the same; and
        whether they have nothing in common but that pauses part them.
    grain : float
        Width in s of the bins by which times are known.
    """

    bursts: Activity
    length: int
    score: int
    volume: int
    operations: int
    volume_range: tuple[int, int] | None = None
    operations_range: tuple[int, int] | None = None
    alike: bool = False
    loose: bool = False
    grain: float = 0.0

    @property
    def tells(self) -> bool:
        """Whether so many bursts are as expected, to the byte, that they are what the program does."""
        return not self.alike and self.is_frequent

    @property
    def is_frequent(self) -> bool:
        """Whether so many bursts are as expected."""
        return self.score >= TELLING * len(self.bursts)

    @property
    def iterations(self) -> int:
        """Number of iterations, with the one under way."""
        return -(-len(self.bursts) // self.length)

    @cached_property
    def intervals(self) -> Floats:
        """Times in s from the start of an iteration to that of the next, since their pace changed for the last time."""
        every = np.diff(self.bursts.start[:: self.length])
        return np.asarray(every[every.size - latest_pace(every, FEWEST).latest :])

    @property
    def changed(self) -> bool:
        """Whether iterations came at another pace before."""
        return self.intervals.size < self.iterations - 1

    @property
    def since(self) -> float:
        """When the first of the intervals began, in s."""
        return float(self.bursts.start[:: self.length][-self.intervals.size - 1])

    @cached_property
    def usual(self) -> Floats:
        """The intervals in s without delays."""
        return np.asarray(self.intervals[~delayed(self.intervals)])

    @property
    def period(self) -> float | None:
        """Mean of the usual intervals in s; None where they vary too much, or are too few, to be a period."""
        sure = self.jitter <= MOST_JITTER and self.pace.confidence >= RATHER
        return float(self.usual.mean()) if sure else None

    @property
    def jitter(self) -> float:
        """Coefficient of variation of the usual intervals."""
        return float(self.usual.std(ddof=1) / self.usual.mean()) if self.usual.size > 1 else 1.0

    @cached_property
    def pace(self) -> Pace:
        """What the usual intervals tell of their mean."""
        return Pace.of(self.usual, self.grain)

    @property
    def train(self) -> PulseTrain:
        """Bursts that follow one another as the one that is due has followed the one before it."""
        start = self.bursts.start
        steps = np.diff(start)[(len(start) - 1) % self.length :: self.length] if self.length > 1 else np.diff(start)
        steps = steps[-LATEST:]
        begins = start[-1] - np.append(np.cumsum(steps[::-1])[::-1], 0.0)
        return PulseTrain(Bursts(begins, begins, np.ones(begins.size)), np.ones(steps.size), 0.0)

    def sentence(self) -> str:
        """Say what repeats, and how often more would settle a period that is probable only."""
        each = [*([] if self.operations_range else [counted(self.operations, "operation")]), bytes_text(self.volume)]
        what = " and ".join(each)
        often = f"Iteration {self.iterations:,}"
        often += f", each of {self.length} bursts, the next one of {what}" if self.length > 1 else f", each of {what}"
        mean, late = float(self.usual.mean()), self.intervals.size - self.usual.size
        apart = f"{seconds_text(mean, 4)} apart, {jitter_text(self.jitter, mean, self.grain)}"
        apart += f", but for {counted(late, 'delay')}" if late else ""
        more = "" if self.period else f": too {'few' if self.jitter <= MOST_JITTER else 'much'} for a period"
        return f"{self._prospect() if self.period else ''}{often}; {apart}{more}."

    def _prospect(self) -> str:
        """Say what would settle the period: so many more iterations, with the same intervals again."""
        own, count = self.usual, self.usual.size

        def settles(more: int) -> bool:
            return Pace.of(np.resize(own, count + more), self.grain).is_certain

        more = fewest_more(settles, 2 * count + 3)
        return prospect(self.pace.mean, self.pace.interval, count + 1, more)


def repetition(bursts: Activity, over: bool, alike: bool = False) -> Repetition | None:
    """Return what repeats up to now: from the begin of the third iteration on.

    Parameters
    ----------
    bursts : Activity
    over : bool
        Whether the last burst is over.
    alike : bool
        Whether volumes that are near one another count as equal.

    Notes
    -----
    Each burst is a symbol, its bytes and number of operations, or its bytes alone. Of every number of bursts that an
    iteration may have, each place expects what came there most often of late. The number whose expectations hold for
    most bursts up to now, less those that they fail for and those that had to be seen first, is taken.
    """
    whole = len(bursts) - (not over)
    if len(bursts) <= FEWEST or whole < FEWEST:
        return None
    volume, operations = bursts.volume, bursts.operations
    if alike:
        kinds = _kinds(volume, operations), _kinds(volume, np.zeros_like(operations))
        several = [one for one in (_found(bursts, own, whole) for own in kinds) if one is not None]
        best = max(several, key=lambda one: one.score, default=None)
        return best and replace(best, alike=True)
    volumes = np.unique(volume, return_inverse=True)[1]
    both = volumes * (int(operations.max()) + 1) + operations
    same, moved = _found(bursts, both, whole), _found(bursts, volumes, whole)
    # The same number of operations tells more, unless it is so of a few only.
    few = same is not None and moved is not None and same.score < FEW * moved.score
    return moved if few else same or moved


def any_burst(bursts: Activity, over: bool) -> Repetition | None:
    """Return all bursts as one kind, where nothing repeats in them: the next one has what they vary by."""
    whole = len(bursts) - (not over)
    if whole <= FEWEST:
        return None
    found = _found(bursts, np.zeros(len(bursts), np.int64), whole)
    return found and replace(found, alike=True, loose=True)


def _kinds(volumes: Rows, operations: Rows) -> Ints:
    """Return numbers of kinds: one and the next that is near it, of as many operations, are the same."""
    latest: dict[int, list[list[int]]] = {}
    kinds: list[int] = []
    for volume, number in zip(volumes.tolist(), operations.tolist(), strict=True):
        same = latest.setdefault(number, [])
        near = min(same, key=lambda one: abs(one[0] - volume), default=[0, 0])
        if not near[0] <= SPREAD * volume <= SPREAD**2 * near[0]:
            near = [volume, len(kinds)]
            same.append(near)
        near[0] = volume
        kinds.append(near[1])
    return np.array(kinds)


def _found(bursts: Activity, every: Ints, whole: int) -> Repetition | None:
    """Return the best repetition by the symbols of all bursts, of which so many are over."""
    symbols = every[:whole]
    own = symbols[-COMPARED:]
    best, length, usual = 0, 0, own
    for tried in range(1, min(own.size // FEWEST, LONGEST) + 1):
        if own.size - tried <= best:
            # All bursts as expected would not be worth more.
            break
        if tried > SHORT and (own[-tried:] == own[-2 * tried : -tried]).mean() < HALF:
            continue
        expected = _expected(own, tried)
        worth = _worth(own, expected)
        first = int(np.argmax(worth))
        enough = own.size - first >= FEWEST * tried and len(bursts) - whole + own.size - first > FEWEST * tried
        if enough and worth[first] > best:
            best, length, usual = int(worth[first]), tried, expected
    if not length:
        return None
    if whole > own.size:
        usual = np.roll(usual, whole - own.size)
    if whole < len(bursts):
        like = int(np.flatnonzero(symbols == usual[whole % length])[-1])
        if bursts.volume[-1] > bursts.volume[like] or bursts.operations[-1] > bursts.operations[like]:
            # What is under way is something else, whatever it becomes.
            return _found(bursts, every, len(bursts))
    since = bursts.take(np.arange(int(np.argmax(_worth(symbols, usual))), len(bursts)))
    due = usual[len(bursts) % length]
    # What is under way may be of the kind that is due, too.
    ahead = 1 + int(whole < len(bursts) and usual[whole % length] == due)
    rows = np.flatnonzero(symbols == due)[-LATEST:]
    (volume, volumes), (number, numbers) = (due_next(own[rows], ahead) for own in (bursts.volume, bursts.operations))
    return Repetition(since, length, best, volume, number, volumes, numbers)


def due_next(like: Rows, ahead: int = 1) -> tuple[int, tuple[int, int] | None]:
    """Return what is due so many after the latest of a kind, and between which it is in 95 % where they vary.

    They vary about their mean, or drift from one to the next by as much on average.
    """
    from scipy.special import stdtrit

    if like.min() == like.max():
        return int(like[-1]), None
    own = np.log(np.maximum(like, 1))
    at, wide, most = float(own.mean()), 1 + 1 / own.size, float(np.ptp(own)) + PRIOR_DEVIATION
    steps = np.diff(own)
    if steps.size > 1 and steps.std() < TREND * own.std():
        at, own, wide = float(own[-1] + ahead * steps.mean()), steps, ahead + ahead**2 / steps.size
    freedom = own.size - 1 + PRIOR_VOLUMES
    squares = float(own.var()) * own.size + PRIOR_VOLUMES * PRIOR_DEVIATION**2
    off = min(math.sqrt(squares / freedom * wide) * float(stdtrit(freedom, 0.975)), most)
    return round(math.exp(at)), (math.floor(math.exp(at - off)), math.ceil(math.exp(at + off)))


def _worth(own: Ints, expected: Ints) -> Ints:
    """Return for each burst what is gained by expecting that one and all later ones, less what has to be seen first."""
    hits = own == expected[np.arange(own.size) % expected.size]
    return np.asarray(np.cumsum(np.where(hits, 1, -1)[::-1])[::-1] - expected.size)


def _expected(own: Ints, length: int) -> Ints:
    """Return the symbol that is expected at each place of an iteration: the most usual one of late."""
    latest = (own[place::length][-TURNS:].tolist()[::-1] for place in range(length))
    return np.array([Counter(one).most_common(1)[0][0] for one in latest])
