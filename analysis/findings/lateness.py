"""Findings about ranks that the others wait for, phase by phase."""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from ...layers.selection.directions import DIRECTIONS
from ...layers.trace import Trace
from ...model.quantities import seconds_text
from ..detect import detect_period
from ..results.parts import Phase
from .evidence import Evidence, Match
from .last_ranks import SignalOf, last_ranks
from .rules import Rule


def stragglers(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find a rank that is the last one in far more phases than chance makes it, and what that takes longer."""
    from scipy.special import bdtrc

    trace, cells = evidence.trace, evidence.cells
    known: dict[SignalOf, tuple[Phase, ...]] = {}
    for layer in cells.layers:
        for direction in DIRECTIONS:
            own = cells.of(layer, direction) & cells.own
            if cells.bytes(own) < rule.thresholds["bytes"] or len(evidence.ranks(own)) < 2:
                continue
            phases = detect_period(trace.layers[layer].bandwidth(direction, "own")).phases
            if len(phases) >= rule.thresholds["phases"]:
                known[layer, direction, "own"] = phases
    for (layer, direction, _), found in last_ranks(trace, known).items():
        last = [one for one in found if one is not None]
        if len(last) < rule.thresholds["phases"]:
            continue
        rank, times = Counter(one.rank for one in last).most_common(1)[0]
        ranks = float(np.median([one.ranks for one in last]))
        # As often by chance, for any one of the ranks.
        chance = ranks * float(bdtrc(times - 1, len(last), 1 / ranks))
        mine = [one for one in last if one.rank == rank]
        late, waited = sum(one.late for one in mine), _others_wait(trace, rank, mine[0].collective)
        if waited is not None and waited < rule.thresholds["waited"] * late:
            continue
        cost = None if waited is None else min(late, waited)
        least = max(rule.thresholds["seconds"], rule.thresholds["share_of_run"] * evidence.run_s)
        if times < rule.thresholds["share"] * len(last) or chance > rule.thresholds["chance"]:
            continue
        if late < least:
            continue
        what = "begins" if mine[0].collective else "is done"
        median = float(np.median([one.after_median for one in mine]))
        yield Match(
            layer,
            f"rank {rank} {what} last in {times:,} of {len(last):,} phases of the program's {layer} {direction}s, "
            f"{seconds_text(median)} after the median of the ranks",
            {
                "direction": direction,
                "ranks": [rank],
                "rank_count": 1,
                "phases": len(last),
                "last_phases": times,
                "late_s": median,
                "time_range_s": [known[layer, direction, "own"][0].start, known[layer, direction, "own"][-1].end],
            },
            severity="warning" if (cost or 0.0) >= rule.thresholds["severe_share"] * evidence.run_s else None,
            cost_s=cost,
        )


def _others_wait(trace: Trace, rank: int, in_io: bool) -> float | None:
    """Return how much longer than a rank the others are in MPI, or also in I/O, in s (median); None where unknown.

    A rank that is late and that nobody waits for costs nothing.
    """
    cost = trace.cost
    if cost is None or rank not in cost.rank:
        return None
    waiting = cost.mpi + cost.io if in_io else cost.mpi
    mine = cost.rank.index(rank)
    return max(0.0, float(np.median(np.delete(waiting, mine)) - waiting[mine]))
