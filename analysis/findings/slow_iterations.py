"""Findings about single iterations of a loop that take much longer than the others."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...model.codes import IoMode
from ..loops.find import find_loops
from ..loops.loops import Iteration
from ..loops.words import Blame, blame_of, outlier_text, slow_iterations
from .facts import Facts, Gain, Match
from .rule import finding


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
    :In short: iteration {iteration} takes {times} times as long as usual; the usual pace.
    :Why: The same steps can be done as fast as in the other iterations.
    :How it is measured: Iterations that stand out by their length, as ``iostrata loops`` marks them, if a layer is busy
        for most of it or of what it takes longer than usual, or a rank comes late to collective calls by as much. Cost
        is by how much longer than usual they take, no more than the layer is busy or the rank late.
    :When it is wrong: Under a load that comes and goes lengths vary by factors, and the longest of ten is often several
        times the median: only what is longer than the others let expect stands out. The first iteration may do more
        than the others: create files, allocate space, fill caches.
    :What helps: Of a first iteration, create and preallocate files before the loop, or keep them open. Of others, see
        what the rank did before; a load of other jobs on the file system comes and goes, so compare with another run.
    """
    for loop in find_loops(facts.trace).outermost:
        usual, long = loop.usual_length, slow_iterations(loop)
        blamed = {number: who for number, one in long.items() if (who := blame_of(loop, one)) and who.costs}
        if len(loop.iterations) < fewest_iterations or not blamed or not usual:
            continue
        worst = next(iter(blamed))
        cost = sum(min(long[number].length_s - usual, who.seconds) for number, who in blamed.items())
        slower = sorted(one.length_s for number, one in enumerate(loop.iterations, 1) if number not in long)
        longest = max(usual, slower[-1]) if slower else usual
        if cost < share_of_run * facts.run_s:
            continue
        yield Match(
            blamed[worst].layer,
            f"of {loop.count:,} iterations, {outlier_text(loop)}",
            {"loop": loop.id, "iteration": worst, "slower": long[worst].length_s / usual, "iterations": sorted(blamed)},
            cost_s=cost,
            gain=Gain(
                (sum(max(0, min(long[one].length_s - longest, who.seconds)) for one, who in blamed.items()), cost),
                "were they as long as the longest of the others, and as long as usual",
            ),
            where=_where(facts, long[worst], blamed[worst]),
        )


def _where(facts: Facts, one: Iteration, who: Blame) -> dict[str, Any]:
    """Return who is to blame, when, and on which files the layer that is busy then is longest."""
    rank, within = facts.definitions.groups.rank, facts.ticks(one.begin_s, one.end_s)
    there = np.arange(len(rank)) if who.rank is None else np.flatnonzero(rank == who.rank)
    ranks = {} if who.rank is None else {"ranks": [who.rank], "rank_count": 1}
    files = facts.files_within(who.layer, there, within, *IoMode, own=False)
    return {**ranks, **files, "time_range_s": [one.begin_s, one.end_s]}
