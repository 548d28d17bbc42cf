"""The iteration that takes longest, until the next one begins, and what goes on meanwhile, of the loop or not."""

from collections.abc import Iterator
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from ...layers.attribution.attribution import TraceBlock
from ...layers.attribution.calls.cost import WaitingChain
from ...layers.attribution.calls.meetings import Meetings
from ...layers.handles.scope import Scope
from ...layers.statistics.kinds import file_kinds
from ...layers.table import MODES
from ...layers.trace import Trace
from ...model.arrays import Floats, Ints, Mask
from ...model.codes import IoMode, IoRecord
from ...model.keyed import KeyedSums
from ...model.quantities import counted, named_ranks, seconds_text
from ...model.sums import Sums, keyed
from .loops import Cause, Iteration, Loop, Loops, SlowestIteration
from .members import slots_of
from .timing import standing_out
from .words import TRENDS, blame_of, blame_text, longest_iteration, outlier_text

_MORE: Final = 1.5
"""Times what an iteration takes longer by its own steps that it must take longer until the next one to be told so."""
_MUCH: Final = 0.25
"""Share of the usual time until the next one by which that must be longer, if it is known why; else it is all of it."""
_MOST: Final = 0.5
"""Share of what it takes longer that must be due to what is named."""
_SLOWER: Final = 1.25
"""Times what an iteration takes the usual rank from which on another one is slower, as intervals that change are."""
_EACH_S: Final = 1e-5
"""Seconds that an open, a close or a deletion takes about at least, where it is not known how long."""
_SEEK_S: Final = 2e-6
"""The same of a seek, which asks no server: a call of the system, and recording it."""
_CALLED: Final = {IoMode.READ: "reads", IoMode.WRITE: "writes", IoMode.FLUSH: "flushes"}
_PART: Final = 0.1
"""Share of the most from which on a kind of operation, or another file, counts."""


def slowest_text(found: Loops, loop: Loop) -> str:
    """Return which iteration takes longest, with the layer and rank to blame.

    Ranks that never wait for one another have no iteration in common: then it is told how far they are apart.
    """
    if _go_on_by_themselves(loop):
        apart = _apart(loop).max(initial=0.0)
        return (
            f"ranks are up to {seconds_text(float(apart))} apart{_slower_text(found, loop, float(apart))}"
            if apart
            else ""
        )
    slowest = found.slowest.get(loop.id)
    return "" if slowest is None else slowest.text


def slowest_iterations(found: Loops) -> dict[int, SlowestIteration]:
    """Return the slowest iteration of outermost loops by their ids, where it is worth a word.

    By its own steps, as in `outlier_text`; else from its begin to the next one's, if that stands out by far more: what
    the ranks do then, or wait for, is no step of the loop.
    """
    told = [one for one in found.outermost if len(one.iterations) > 1 and not _go_on_by_themselves(one)]
    second = found.trace.definitions.clock.ticks_per_second
    times = [time for loop in told for time in (_own_time(loop), *_times_until_next(loop))]
    windows = tuple((round(begin * second), round(end * second)) for begin, end in times)
    done = found.trace.stream.summed(partial(_DoneSums, found.trace.scope, windows)) if windows else None
    slowest: dict[int, SlowestIteration] = {}
    for place, loop in enumerate(told):
        assert done is not None
        own, until_next, usual = (_Meanwhile(found.trace, done, loop, 3 * place + number) for number in range(3))
        one = _until_next(loop, until_next, usual) or _by_own_steps(loop, own)
        if one.text:
            slowest[loop.id] = one
    return slowest


def _begins(loop: Loop) -> Floats:
    return np.array([one.begin_s for one in loop.iterations])


def _apart(loop: Loop) -> Floats:
    """Return how long after the usual rank the last one begins each iteration, in s."""
    return np.array(
        [max((part.latest_s or 0.0 for part in one.layers.values()), default=0.0) for one in loop.iterations]
    )


def _go_on_by_themselves(loop: Loop) -> bool:
    """Tell whether several ranks are mostly in another iteration each, or get apart more and more."""
    if len(loop.iterations) < 3 or len(loop.ranks) < 2:
        return False
    if np.median(_begins(loop)[1:] - np.array([one.end_s for one in loop.iterations])[:-1]) < 0:
        return True
    apart, number = _apart(loop), np.arange(len(loop.iterations))
    return bool(apart.min() < apart.max() and np.corrcoef(apart, number)[0, 1] > TRENDS)


def _slower_text(found: Loops, loop: Loop, apart_s: float) -> str:
    """Return which ranks take clearly longer for an iteration than most, in words, where they get apart by that."""
    sums = found.sums
    first = sum(slots_of(one.count) for one in found.outermost if one.id < loop.id)
    iteration, _, process = sums.ranks.keys
    # What no process did has none.
    mine = (iteration >= first) & (iteration < first + loop.count) & (process >= 0)
    begin = np.full((int(process[mine].max(initial=0)) + 1, loop.count), np.iinfo(np.int64).max)
    np.minimum.at(begin, (process[mine], iteration[mine] - first), sums.ranks["begin"][mine])
    there = np.flatnonzero((begin < np.iinfo(np.int64).max).all(axis=1))
    if len(there) < 2:
        return ""
    each = np.median(np.diff(begin[there], axis=1), axis=1) / found.trace.definitions.clock.ticks_per_second
    usual = np.median(each)
    slower = (each > _SLOWER * usual) & ((each - usual) * (loop.count - 1) >= _MOST * apart_s)
    if not slower.any():
        return ""
    ranks = sorted(found.trace.definitions.groups.rank[there[slower]].tolist())
    times = f"{seconds_text(float(each[slower].max()))}, {seconds_text(float(np.median(each[~slower])))} is usual"
    return f": {named_ranks(ranks)} {'takes' if len(ranks) == 1 else 'take up to'} {times}"


def _own_time(loop: Loop) -> tuple[float, float]:
    _, one = longest_iteration(loop)
    return one.begin_s, one.end_s


def _times_until_next(loop: Loop) -> Iterator[tuple[float, float]]:
    """Give the longest interval from an iteration to the next, and one as usual, from begin to end in s."""
    begin = _begins(loop)
    order = np.argsort(np.diff(begin), kind="stable")
    for place in (order[-1], order[len(order) // 2]):
        yield float(begin[place]), float(begin[place + 1])


def _until_next(loop: Loop, meanwhile: "_Meanwhile", usually: "_Meanwhile") -> SlowestIteration | None:
    """Return behind which iteration more time passes than usual, if that is much and more than its own steps take.

    Of irregular intervals one is the longest: where it is known why, that is worth a word.
    """
    if len(loop.iterations) < 3:
        return None
    between = np.diff(_begins(loop))
    place, usual = int(np.argsort(between, kind="stable")[-1]), float(np.median(between))
    length = float(between[place])
    longest = longest_iteration(loop)[1]
    own, more = longest.length_s - loop.usual_of(longest), length - usual
    if more <= max(_MORE * own, _MUCH * usual):
        return None
    what, outlier = meanwhile.told(_MOST * more, usually), bool(standing_out(between, float(between.mean()))[place])
    if what is None and (not outlier or more <= usual):
        return None
    kinds = loop.kinds
    known = kinds is not None and kinds.expects(length)
    if known and what is None:
        # The pace has told all.
        return None
    text = f"from iteration {place + 1} to the next it takes {seconds_text(length)}, {seconds_text(usual)} is usual"
    text += "" if what is None else f" ({what.text})"
    if known and kinds is not None and kinds.when and what is not None:
        text = f"{kinds.when}: {what.text}"
    return SlowestIteration(place + 1, True, length, usual, outlier, what and what.cause, text)


def _by_own_steps(loop: Loop, meanwhile: "_Meanwhile") -> SlowestIteration:
    number, one = longest_iteration(loop)
    text, cause = _blamed(loop, one, meanwhile)
    told = outlier_text(loop, lambda *_: text)
    return SlowestIteration(number, False, one.length_s, loop.usual_of(one), one.outlier, cause, told)


def _blamed(loop: Loop, one: Iteration, meanwhile: "_Meanwhile") -> tuple[str, Cause | None]:
    """Return what made an iteration long, in brackets, whatever loop it belongs to."""
    blame = blame_of(loop, one)
    if blame is None:
        what = meanwhile.told(_MOST * one.length_s)
        return (f"({what.text})", what.cause) if what else (blame_text(loop, one), None)
    if blame.waits:
        # A rank that comes late may do something else before.
        what = meanwhile.elsewhere(loop, blame.rank, _MOST * blame.seconds)
        if what is not None:
            return f"({blame.text}: {what.text})", what.cause
    call, file = (None, None) if blame.waits else meanwhile.most(blame.layer, blame.rank)
    return f"({blame.text})", Cause(blame.layer, blame.rank, call, file, blame.seconds)


class _DoneSums(Sums):
    """What processes do on selected files between some times.

    Attributes
    ----------
    operations : KeyedSums
        Ticks by window, layer, process, mode and file.
    events : KeyedSums
        How often each process opens, closes or deletes, or seeks, by window, process and whether it seeks.
    """

    scope: Scope
    windows: tuple[tuple[int, int], ...]
    operations: KeyedSums = keyed(5, "ticks")
    events: KeyedSums = keyed(3, "often")

    def add(self, block: TraceBlock) -> None:
        """Add a block."""
        operations, events, scope = block.operations, block.metadata, self.scope
        handles = scope.definitions.handles
        known = (scope.selection.reason_of(operations.handle) < 0) & (operations.process >= 0)
        rows = np.flatnonzero(known & (scope.stack.layer[operations.handle] >= 0))
        rows = rows[np.argsort(operations.begin[rows], kind="stable")]
        begin, end = block.times(rows)
        last_end = np.maximum.accumulate(end)
        there = np.flatnonzero(events.process >= 0)
        there = there[np.argsort(events.time[there], kind="stable")]
        time, process, seeks = events.time[there], events.process[there], events.kind[there] == IoRecord.SEEK
        for number, (low, high) in enumerate(self.windows):
            inside = slice(np.searchsorted(last_end, low, side="right"), np.searchsorted(begin, high))
            ticks = np.minimum(end[inside], high) - np.maximum(begin[inside], low)
            row, ticks = rows[inside][ticks > 0], ticks[ticks > 0]
            handle = operations.handle[row]
            columns = scope.stack.layer[handle], operations.process[row], operations.mode[row], handles.file[handle]
            self.operations = self.operations.plus([np.full(len(row), number), *columns], {"ticks": ticks})
            within = slice(*np.searchsorted(time, (low, high)))
            by_whom = process[within]
            whose = [np.full(len(by_whom), number), by_whom, seeks[within].astype(np.int64)]
            self.events = self.events.plus(whose, {"often": 1})


class _Waits(NamedTuple):
    """Who is waited for, as a number, and for how long in s; (n,)."""

    number: Ints
    waited: Floats


class _Told(NamedTuple):
    """What goes on between two times, and in words."""

    cause: Cause
    text: str


class _Meanwhile:
    """What the ranks of a loop do between two times, or wait for: others may have nothing to do with it."""

    def __init__(self, trace: Trace, done: _DoneSums, loop: Loop, window: int) -> None:
        second = trace.definitions.clock.ticks_per_second
        self._trace, self._low, self._high = trace, *done.windows[window]
        ranks = trace.definitions.groups.rank
        takes_part = np.isin(ranks, loop.ranks) if loop.ranks else np.ones(len(ranks), np.bool_)
        mine, events = (
            (sums.keys[0] == window) & takes_part[sums.keys[where]]
            for sums, where in ((done.operations, 2), (done.events, 1))
        )
        _, self._layer, self._process, self._mode, self._file = (key[mine] for key in done.operations.keys)
        self._taken = done.operations["ticks"][mine] / second
        _, process, seeks = (key[events] for key in done.events.keys)
        self._often = np.zeros((len(ranks), 2), np.int64)
        np.add.at(self._often, (process, seeks), done.events["often"][events])

    def told(self, least_s: float, usually: "_Meanwhile | None" = None) -> _Told | None:
        """Return what some rank does for at least so long, in the lowest layer, or whom others wait for.

        For at least so much longer than between two `usually`.
        """
        if least_s <= 0:
            return None
        layers = self._by_layer(np.ones(len(self._taken), np.bool_), least_s, usually)
        lowest = layers.pop(max(layers)) if layers and max(layers) == len(self._trace.order) - 1 else None
        awaited = lowest or self._awaited(least_s, usually)
        return awaited or next(reversed(layers.values()), None) or self._opened(least_s)

    def elsewhere(self, loop: Loop, rank: int | None, least_s: float) -> _Told | None:
        """Return what one rank does on other files than those of a loop for at least so long."""
        kinds, own = file_kinds(self._trace.definitions.files.name), {step.file for step in loop.body}
        other = np.array([kind not in own for kind in kinds] + [False])
        mine = other[self._file] & (self._ranks[self._process] == rank)
        return next(reversed(self._by_layer(mine, least_s).values()), None)

    def most(self, layer: str, rank: int | None) -> tuple[str | None, str | None]:
        """Return the kind of operations and the file on which a layer spends most, of one rank or of all."""
        mine = self._layer == self._trace.order.index(layer)
        return self._most(mine & (self._ranks[self._process] == rank) if rank is not None else mine)

    @property
    def _ranks(self) -> Ints:
        return np.asarray(self._trace.definitions.groups.rank, np.int64)

    def _rank(self, process: int) -> int | None:
        rank = int(self._ranks[process]) if process < len(self._ranks) else -1
        return None if rank < 0 else rank

    def _by_layer(self, some: Mask, least_s: float, usually: "_Meanwhile | None" = None) -> dict[int, _Told]:
        """Return by layer what the rank does there that is in calls longest, if for long enough."""
        found: dict[int, _Told] = {}
        for layer in np.unique(self._layer[some]).tolist():
            there = some & (self._layer == layer)
            by_process = self._by_process(there)
            more = by_process if usually is None else by_process - usually._by_process(usually._layer == layer)
            slowest = int(np.argmax(more))
            if more[slowest] >= least_s:
                mine, name, rank = there & (self._process == slowest), self._trace.order[layer], self._rank(slowest)
                taken = float(by_process[slowest])
                text = f"{name} {self._done(mine)} for {seconds_text(taken)}{self._rank_text(rank)}"
                found[layer] = _Told(Cause(name, rank, *self._most(mine), taken), text)
        return found

    def _by_process(self, mine: Mask) -> Floats:
        groups = len(self._trace.definitions.groups.id)
        return np.asarray(np.bincount(self._process[mine], self._taken[mine], groups), np.float64)

    def _most(self, mine: Mask) -> tuple[str | None, str | None]:
        """Return the kind of some operations that takes longest, and the file on which that is."""
        if not mine.any():
            return None, None
        mode = int(np.argmax(np.bincount(self._mode[mine], self._taken[mine])))
        by_file = self._by_file(mine & (self._mode == mode))
        file = self._trace.definitions.files.name[int(np.argmax(by_file))] if len(by_file) else None
        return MODES[IoMode(mode)], file

    def _by_file(self, mine: Mask) -> Floats:
        mine = mine & (self._file >= 0)
        return np.asarray(np.bincount(self._file[mine], self._taken[mine]), np.float64)

    def _done(self, mine: Mask) -> str:
        """Return what some operations are, and the file on which most of their time is spent."""
        kinds = np.bincount(self._mode[mine], self._taken[mine])
        named = " and ".join(
            _CALLED[IoMode(kind)] for kind in np.argsort(-kinds).tolist() if kinds[kind] >= _PART * kinds.sum()
        )
        by_file = self._by_file(mine)
        if not len(by_file):
            return named
        others = int(np.count_nonzero(by_file >= _PART * by_file.max())) - 1
        more = f" and {counted(others, 'other')}" if others > 0 else ""
        return f"{named} of {self._trace.definitions.files.name[int(np.argmax(by_file))].rpartition('/')[2]}{more}"

    def _rank_text(self, rank: int | None) -> str:
        return f" on rank {rank}" if self._trace.ranks > 1 and rank is not None else ""

    def _opened(self, least_s: float) -> _Told | None:
        """Return the rank that opens, closes or deletes, or seeks, most often, if that may take so long."""
        taken = self._often * (_EACH_S, _SEEK_S)
        process, seeks = np.unravel_index(int(taken.argmax()), taken.shape)
        rank, many = self._rank(int(process)), int(self._often[process, seeks])
        if taken[process, seeks] < least_s:
            return None
        text = f"{many:,} {'seeks' if seeks else 'opens, closes or deletions'}{self._rank_text(rank)}"
        return _Told(Cause(None, rank, None, None, None), text)

    def _awaited(self, least_s: float, usually: "_Meanwhile | None") -> _Told | None:
        """Return the rank that others wait for, in calls of I/O or else where all ranks meet, if for long enough."""
        calls = self._trace.calls
        if not calls.recorded or calls.totals is None:
            return None
        met, chain = calls.meetings, calls.chain
        inside, waits = self._waits(met)
        if found := _most_awaited(waits, None if usually is None else usually._waits(met)[1], least_s):
            place, taken = found
            row = met.final[inside[place]]
            function = calls.totals.functions.regions.name[met.region[row]]
            layer, rank = self._trace.order[int(met.layer[row])], self._rank(_awaited_process(met)[inside[place]])
        elif chain and (
            found := _most_awaited(self._held_up(chain), None if usually is None else usually._held_up(chain), least_s)
        ):
            place, taken = found
            function, layer, rank = chain.function[place], None, _awaited_rank(chain)[place]
        else:
            return None
        text = f"the others wait for rank {rank} for {seconds_text(taken)} in {function}"
        return _Told(Cause(layer, rank, function, None, taken), text)

    def _waits(self, met: Meetings) -> tuple[Ints, _Waits]:
        """Return which calls ranks are in together, a number of layer and last rank of each, and for how long in s.

        A call of one layer makes those of the layers below, in which the same ranks wait.
        """
        begin = met.begin[met.first]
        inside = np.flatnonzero((begin >= self._low) & (begin < self._high))
        pair = met.layer[met.final] * len(self._trace.definitions.groups.id) + _awaited_process(met)
        waited = met.waited[met.median][inside] / self._trace.definitions.clock.ticks_per_second
        return inside, _Waits(pair[inside], waited)

    def _held_up(self, chain: WaitingChain) -> _Waits:
        """Return by step of a chain a number of the last rank, and how long half of the others wait for it then."""
        end = chain.end * self._trace.definitions.clock.ticks_per_second
        number = np.array([chain.ranks.index(rank) for rank in _awaited_rank(chain)])
        return _Waits(number, np.where((end > self._low) & (end <= self._high), chain.mostly, 0.0))


def _awaited_process(met: Meetings) -> Ints:
    """Return the process that others wait for longest in each meeting: in the end, where that is known."""
    cause = met.cause[met.longest]
    return np.where(cause >= 0, cause, met.process[met.final])


def _awaited_rank(chain: WaitingChain) -> list[int | None]:
    """Return the rank that others wait for in each step of a chain: in the end, where that is known."""
    return [last if cause is None else cause for cause, last in zip(chain.cause, chain.rank, strict=True)]


def _most_awaited(waits: _Waits, usual: _Waits | None, least_s: float) -> tuple[int, float] | None:
    """Return the place of the longest wait for those who are waited for longest, and how long that is in all."""
    number, waited = waits
    by_number = np.bincount(number, waited, minlength=1)
    if usual is not None:
        by_number = by_number - np.bincount(*usual, minlength=len(by_number))[: len(by_number)]
    if by_number.max() < least_s:
        return None
    waited = np.where(number == np.argmax(by_number), waited, 0)
    return int(np.argmax(waited)), float(waited.sum())
