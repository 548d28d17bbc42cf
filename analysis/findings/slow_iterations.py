"""Findings about iterations of a loop: some that take much longer than the others, and I/O between computing."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np

from ...layers.selection.directions import Direction
from ...layers.statistics.kinds import file_kinds
from ...model.arrays import Mask
from ...model.codes import IoFlag, IoMode
from ...model.quantities import seconds_text
from ..loops.find import find_loops
from ..loops.loops import BodyStep, Iteration, Loop
from ..loops.words import Blame, blame_of, outlier_text, slow_iterations
from .facts import MUCH_OF_RUN, Facts, Gain, Match
from .rule import finding

_MODES: Final = {"read": IoMode.READ, "write": IoMode.WRITE, "flush": IoMode.FLUSH}


@finding(by_time=True, units={"iteration": "count", "slower": "times", "loop": "count", "iterations": "count"})
def slow_iteration(facts: Facts, *, fewest_iterations: float = 4, share_of_run: float = 0.01) -> Iterator[Match]:
    """An iteration of a loop takes much longer than the others, as a layer is busy or a rank comes late.

    Parameters
    ----------
    fewest_iterations : count
        In fewer, it is not known what is usual.
    share_of_run : share
        Less makes no run faster.

    Notes
    -----
    :In short: iteration {iteration} takes {times} times as long as usual{reason}; {instead}.
    :Why: The same steps can be done as fast as in the other iterations.
    :How it is measured: Iterations that stand out by their length, as ``iostrata loops`` marks them, if a layer is busy
        for most of it or of what it takes longer than usual, or a rank comes late to collective calls by as much. Cost
        is by how much longer than usual they take, no more than the layer is busy or the rank late.
    :When it is wrong: Under a load that comes and goes lengths vary by factors, and the longest of ten is often several
        times the median: only what is longer than the others let expect stands out. The first iteration may do more
        than the others: create files, allocate space, fill caches.
    :What helps: Of a first iteration, create and preallocate files before the loop, or keep them open. Of others, see
        what else was done then; a load of other jobs on the file system comes and goes, so compare with another run.
    """
    for loop in find_loops(facts.trace).outermost:
        long = slow_iterations(loop)
        blamed = {number: who for number, one in long.items() if (who := blame_of(loop, one)) and who.costs}
        if len(loop.iterations) < fewest_iterations or not blamed or not loop.usual_length:
            continue
        worst = next(iter(blamed))
        usual = {number: loop.usual_of(long[number]) for number in blamed}
        cost = sum(min(long[number].length_s - usual[number], who.seconds) for number, who in blamed.items())
        others = (one for number, one in enumerate(loop.iterations, 1) if number not in long)
        longest = max((one.length_s for one in others if one.other == long[worst].other), default=0.0)
        least = sum(
            max(0.0, min(long[number].length_s - max(longest, usual[number]), who.seconds))
            for number, who in blamed.items()
        )
        if cost < share_of_run * facts.run_s:
            continue
        done = _done(facts, loop, long[worst], blamed[worst])
        where = _where(facts, long[worst], blamed[worst], done)
        yield Match(
            blamed[worst].layer,
            f"of {loop.count:,} iterations, {outlier_text(loop)}",
            {
                **{"loop": loop.id, "iteration": worst, "slower": long[worst].length_s / usual[worst]},
                "iterations": sorted(blamed),
                **_in_words(blamed[worst], where["files"]),
            },
            cost_s=cost,
            gain=Gain((cost / 2, cost), "from half of it, where it must be done sometime, to all")
            if blamed[worst].waits
            else Gain((least, cost), "were they as long as the longest of the others, and as long as usual"),
            cells=done,
            where=where,
        )


def _done(facts: Facts, loop: Loop, one: Iteration, who: Blame) -> Mask:
    """Return the operations that make an iteration long: the loop's own, or what a rank does that is waited for."""
    cells, (begin, end) = facts.cells, facts.ticks(one.begin_s, one.end_s)
    of_rank = np.append(facts.definitions.groups.rank, -1)[cells.process] == who.rank
    there = (
        cells.selected & (cells.columns.begin <= end) & (cells.columns.end >= begin) & (of_rank | (who.rank is None))
    )
    steps = list(_steps({one.id: one for one in find_loops(facts.trace).loops}, loop))
    kinds = {step.file for step in steps}
    of_loop = [kind in kinds for kind in file_kinds(facts.definitions.files.name)]
    on_files = np.append(of_loop, False)[cells.file] if all(kinds) else cells.selected
    elsewhere = there & cells.own & ~on_files
    if who.waits and elsewhere.any():
        return np.asarray(elsewhere)
    done = on_files & (~cells.own | np.isin(cells.mode, [_MODES[step.kind] for step in steps if step.kind in _MODES]))
    return np.asarray(there & done & (cells.layer == cells.layer_row(who.layer)))


def _steps(loops: Mapping[int, Loop], loop: Loop) -> Iterator[BodyStep]:
    """Give the steps of an iteration, and of loops within it."""
    for step in loop.body:
        yield from (step,) if step.loop is None else _steps(loops, loops[step.loop])


def _in_words(who: Blame, files: Sequence[str]) -> dict[str, str]:
    """Return why and what helps, for a headline."""
    if not who.waits or who.rank is None:
        return {"instead": "the usual pace"}
    reason = f", as others wait for rank {who.rank}"
    if not files:
        return {"reason": reason, "instead": "if it came in time, that"}
    return {
        "reason": f"{reason}, which is busy with {Path(files[0]).name}",
        "instead": "doing that elsewhere or not at all",
    }


def _where(facts: Facts, one: Iteration, who: Blame, done: Mask) -> dict[str, Any]:
    """Return who is to blame, when, and on which files it is longest."""
    ranks = {} if who.rank is None else {"ranks": [who.rank], "rank_count": 1}
    files = facts.on_files(facts.cells.file[done], facts.cells.columns.ticks[done])
    return {**ranks, **files, "time_range_s": [one.begin_s, one.end_s]}


_ASKED_BADLY: Final = dict.fromkeys(
    ("metadata-storm", "random-access", "read-amplification", "read-back", "redundant-reads", "small-requests"), 0.5
)
"""Findings that ask for less I/O: what is left may then go on meanwhile."""


@finding(
    may_be_meant=True,
    needs=("metadata",),
    by_time=True,
    explained_by=_ASKED_BADLY,
    units={"iterations": "count", "loop": "count"},
)  # fmt: skip
def not_overlapped(
    facts: Facts,
    *,
    fewest_iterations: float = 4,
    share_of_run: float = MUCH_OF_RUN,
    alike: float = 0.5,
    beside: float = 0.25,
) -> Iterator[Match]:
    """A loop computes and does I/O by turns, and ranks wait for the I/O.

    Parameters
    ----------
    fewest_iterations : count
        In fewer, it is not known that computing follows.
    share_of_run : share
        Less makes no run faster.
    alike : share
        Of the iterations that must be followed by computing, and of the time between them that ranks must compute: else
        it is elsewhere.
    beside : times
        The I/O of an iteration, which the computing that follows must take: less of it hides little.

    Notes
    -----
    :In short: {direction} and computing take turns; letting both go on at once.
    :Why: While the program computes the storage is idle, and the other way round.
    :How it is measured: For each iteration of an outermost loop the time that the rank longest in the reads or writes
        of its layer waits for them there, and the time from its end to the begin of the next one. What could go on
        behind the computing is the smaller of both, summed over iterations: at most, as it takes a processor and memory
        too. Nothing is said where most of its ranks are in MPI or I/O for half of the time between, where one iteration
        makes most of it, where other threads do I/O already, or where small requests and the like take the time.
    :When it is wrong: Computing that uses all cores or all of the memory's bandwidth is slowed down by I/O beside it.
        What the program writes must not change before it is written, and what it reads must be known beforehand. Time
        outside of calls may be spent asleep, or waiting for something else.
    :What helps: Begin I/O and go on computing, and wait only where the buffer is needed again (MPI_File_iwrite_at and
        MPI_File_iread_at with MPI_Wait after the computing, H5Dwrite_async, AsyncWrite of ADIOS2), or let a thread of
        its own do it, with two buffers by turns. Reads: ask for the next piece before computing with this one.
    """
    cost = facts.trace.calls.cost
    if cost is None or facts.first_threads_s is not None:
        return
    for loop in find_loops(facts.trace).outermost:
        layer, direction = loop.layers[0], _mostly(loop)
        mine = facts.cells.of(layer, "total") & facts.cells.own
        whole, seconds = facts.cells.seconds(mine), facts.rank_seconds(mine)
        if len(loop.iterations) < fewest_iterations or not whole or not seconds.any():
            continue
        parts = [one.layers.get(layer) for one in loop.iterations]
        summed = np.array([0.0 if one is None else one.summed_s or 0.0 for one in parts])
        waited = summed * float(seconds.max()) / whole
        between = np.array([max(0.0, b.begin_s - a.end_s) for a, b in pairwise(loop.iterations)])
        hidden = np.minimum(waited[:-1], between)
        # Of others, whoever sleeps or computes alone, the time between is none of computing.
        others = [other for rank, other in zip(cost.rank, cost.other, strict=True) if rank in loop.ranks]
        computing = np.median(others) if others else 0.0
        bound, computes = float(hidden.sum()), computing >= alike * between.sum()
        # As few as two equal ones would vary as much.
        stalled = hidden.sum() ** 2 < 2 * (hidden**2).sum()
        if not computes or bound < share_of_run * facts.run_s or stalled:
            continue
        if (hidden >= beside * waited[:-1]).mean() < alike:
            continue
        begun = mine & ((facts.cells.flags & np.uint32(IoFlag.NON_BLOCKING)) > 0)
        at_once = 2 * facts.cells.operations(begun) > facts.cells.operations(mine)
        how = "which are non-blocking, but waited for at once" if at_once else "which ranks wait for"
        yield Match(
            layer,
            f"{loop.count:,} iterations spend {seconds_text(float(waited.mean()))} each on average in {layer} "
            f"{direction}s, {how}, {seconds_text(float(np.median(between)))} (median) before the next begins: at "
            f"most {seconds_text(bound)} of it could go on while they compute",
            {"direction": direction, "loop": loop.id, "iterations": loop.count, "between_s": float(np.median(between))},
            cells=mine,
            cost_s=bound,
            gain=Gain((0.0, bound), "from nothing to the smaller of I/O and what lies between, iteration by iteration"),
        )


def _mostly(loop: Loop) -> Direction:
    """Return what a loop moves most bytes by."""
    read, written = (sum(getattr(one, name) for one in loop.sums.values()) for name in ("bytes_read", "bytes_written"))
    return "read" if read > written else "write"
