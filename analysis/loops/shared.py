"""Runs of one program folded together: what one run alone tells too little of, all runs may tell by the same pauses.

By chance the k longest of the n gaps between calls are at one of ``n!/(k! (n-k)!)`` sets of places, in each run by
itself. So runs that do the same calls and pause at the same of them are evidence for iterations that begin there, also
where each has but four of two equal writes.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np

from ...layers.loops.steps import Steps
from ...layers.trace import Trace
from ...model.arrays import Floats, Ints, Mask
from .chances import factorial_bits
from .find import loops_of_members, streams_of
from .folding import EVIDENCE, Folded, fold
from .loops import Loops
from .members import Member

_FEWEST: Final = 4
"""Transfers that runs must share."""
_TRIED: Final = 16
"""Numbers of pauses that are tried: those behind which lengths of gaps lie furthest apart."""
_APART: Final = 1.25
"""Ratio that neighbouring lengths must have between which pauses begin, in the mean of the runs."""
_NEARLY_ALL: Final = 0.9
"""Share of the transfers that are in loops where these are all there is to tell."""
_CLEAR: Final = 2.0
"""Times a pause must be longer than other gaps."""


def find_shared_loops(traces: Sequence[Trace]) -> list[Loops]:
    """Return the loops of each run of a program, where they do the same calls with iterations that all agree on."""
    runs = [streams_of(trace) for trace in traces]
    streams: dict[tuple[object, ...], dict[int, int]] = {}
    for run, (names, _, groups) in enumerate(runs):
        alike = Counter[tuple[object, ...]]()
        for place, group in enumerate(groups):
            # Other programs, or sizes that chance makes, show in the first transfers.
            first = group.steps.unit[group.steps.total > 0][:_FEWEST].tobytes()
            name = names[group.kind].rsplit("/", 1)[-1], first, group.locations[0]
            streams.setdefault((*name, alike[name]), {})[run] = place
            alike[name] += 1
    seconds = [trace.definitions.clock.ticks_per_second for trace in traces]
    together = [
        [fold(group.steps, second=second) for group in groups]
        for second, (*_, groups) in zip(seconds, runs, strict=True)
    ]
    for places in streams.values():
        own = list(places.items())
        steps = [runs[run][2][place].steps for run, place in own]
        agreed = _agreed(steps, [together[run][place] for run, place in own])
        for (run, place), one in zip(own, agreed, strict=False):
            together[run][place] = [one]
    found = []
    for trace, (names, kinds, groups), folds in zip(traces, runs, together, strict=True):
        members = [Member(group, one) for group, own in zip(groups, folds, strict=True) for one in own]
        found.append(loops_of_members(trace, names, kinds, members))
    return found


def _agreed(steps: Sequence[Steps], folds: Sequence[Sequence[Folded]]) -> list[Folded]:
    """Return a loop of each run instead of its own ones; none where those are the same already, or the calls differ."""
    moves = [np.flatnonzero(one.total > 0) for one in steps]
    known = min(map(len, moves))
    calls = [one.unit[rows[:known]] for one, rows in zip(steps, moves, strict=True)]
    joined = any(one.content.any() for one in steps)
    if len(steps) < 2 or known < _FEWEST or joined or any(not np.array_equal(one, calls[0]) for one in calls):
        return []
    gaps = [_gaps(one, rows) for one, rows in zip(steps, moves, strict=True)]
    bodies = [[np.diff(one.start[one.usual : one.usual + 2]).tolist() for one in own] for own in folds]
    same = all(one == bodies[0] for one in bodies)
    whole = all(_are_bursts(*one) for one in zip(steps, moves, folds, strict=True))
    if same and whole:
        return []
    pause, bits = _common_pauses(np.array([one[:known] for one in gaps]))
    if not pause.any() and _each_is_a_burst(steps, moves, gaps):
        pause[:] = True
    elif not pause.any() and not same:
        most = max(range(len(folds)), key=lambda run: sum(one.bits for one in folds[run]))
        pause = np.isin(moves[most][:known], np.concatenate([one.start[:-1] for one in folds[most]]))
    if not pause.any():
        return []
    pause[0] = True
    usual = _usual(calls[0], np.flatnonzero(pause))
    return [_cut(rows, _pauses(gap, pause), usual, bits) for rows, gap in zip(moves, gaps, strict=True)]


def _each_is_a_burst(steps: Sequence[Steps], moves: Sequence[Ints], gaps: Sequence[Ints]) -> bool:
    """Tell whether transfers, all of one kind, lie further apart than they are long."""
    took = [one.end[rows] - one.begin[rows] for one, rows in zip(steps, moves, strict=True)]
    apart = all(np.median(gap[1:]) >= np.median(each) for gap, each in zip(gaps, took, strict=True))
    return apart and len(np.unique(steps[0].code[moves[0]])) == 1


def _gaps(steps: Steps, moves: Ints) -> Ints:
    """Return the longest gap before each transfer since the one before."""
    return np.maximum.reduceat(steps.gap, np.append(0, moves[:-1] + 1))


def _are_bursts(steps: Steps, moves: Ints, loops: Sequence[Folded]) -> bool:
    """Tell whether nearly all transfers are in loops whose iterations lie further apart than what they do."""
    inside = 0
    for one in loops:
        gap = steps.gap[: one.start[-1]].copy()
        between = gap[one.start[1:-1]]
        gap[one.start[:-1]] = 0
        if not one.bits or np.median(between) < _CLEAR * np.median(np.maximum.reduceat(gap, one.start[:-1])):
            return False
        inside += int(np.count_nonzero((moves >= one.start[0]) & (moves < one.start[-1])))
    return inside >= _NEARLY_ALL * len(moves)


def _common_pauses(gaps: Ints) -> tuple[Mask, float]:
    """Return before which calls all runs pause, and the bits that say so; nowhere where that may be chance.

    Parameters
    ----------
    gaps : int64 (runs, n)
    """
    pause = np.zeros(gaps.shape[1], np.bool_)
    size = len(pause) - 1
    order = np.log(np.sort(gaps[:, 1:] + 1.0)[:, ::-1])
    apart = (order[:, :-1] - order[:, 1:]).mean(axis=0)
    best, most = np.zeros(0, np.int64), 0.0
    tried = np.argsort(-apart, kind="stable")[:_TRIED]
    for many in (tried[apart[tried] >= np.log(_APART)] + 1).tolist():
        among = np.log(gaps[:, 1:] + 1.0) > order[:, many, None]
        longest = among.sum(axis=1)
        where = np.sort(np.argsort(-among.sum(axis=0), kind="stable")[:many])
        right = among[:, where].sum(axis=1)
        told = _choices(size, many)
        bits = (_choices(size, longest) - _choices(many, right) - _choices(size - many, longest - right)).sum()
        steps = np.diff(where, prepend=-1)
        # Where they come at even distances, that is all there is to tell.
        bits -= np.log2(size) if (steps == steps[0]).all() else told
        if bits > most:
            best, most = where, float(bits)
    others = np.delete(gaps[:, 1:], best, axis=1)
    clear = len(best) and np.median(gaps[:, best + 1], axis=1) >= _CLEAR * np.median(others, axis=1)
    if most < EVIDENCE + np.log2(_TRIED) or not np.all(clear):
        return pause, 0.0
    pause[best + 1] = True
    return pause, most


def _choices(of: int | Ints, some: int | Ints) -> Floats:
    """Return the binary logarithm of the number of ways to choose some of many."""
    return np.asarray(factorial_bits(of) - factorial_bits(some) - factorial_bits(of - some))


def _pauses(gap: Ints, common: Mask) -> Mask:
    """Return before which calls a run pauses, where it goes on for longer than others."""
    known = len(common)
    own, others = gap[1:known][common[1:]], gap[1:known][~common[1:]]
    least = np.sqrt(np.median(own) * max(1.0, np.median(others))) if len(own) and len(others) else 0.0
    return np.append(common, gap[known:] >= least)


def _usual(calls: Ints, start: Ints) -> int:
    """Return the number of the first part that is as most are."""
    parts = [one.tobytes() for one in np.split(calls, start[1:])]
    return parts.index(Counter(parts).most_common(1)[0][0])


def _cut(moves: Ints, pause: Mask, usual: int, bits: float) -> Folded:
    """Return a loop whose iterations begin behind pauses."""
    start = np.append(moves[pause], moves[-1] + 1)
    lengths = np.diff(start)
    return Folded(start, usual, lengths != lengths[usual], bits)
