"""Findings about ranks that the others wait for, phase by phase."""

from collections.abc import Iterator

import numpy as np

from ...layers.selection.directions import DIRECTIONS
from ...layers.trace import Trace
from ...model.quantities import named_ranks, seconds_text
from ..detect import detect_period
from ..results.parts import Phase
from .evidence import RANKS_SHOWN, Evidence, Match
from .last_ranks import SignalOf, late_ranks
from .rules import Rule


def stragglers(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find ranks that are late in far more phases than chance makes them, and what that takes longer."""
    from scipy.special import bdtrc

    trace, cells = evidence.trace, evidence.cells
    known: dict[SignalOf, tuple[Phase, ...]] = {}
    moving: dict[tuple[str, str], list[int]] = {}
    for layer in cells.layers:
        for direction in DIRECTIONS:
            own = cells.of(layer, direction) & cells.own
            moving[layer, direction] = evidence.ranks(own)
            if cells.bytes(own) < rule.thresholds["bytes"] or len(moving[layer, direction]) < 2:
                continue
            phases = detect_period(trace.layers[layer].bandwidth(direction, "own")).phases
            if len(phases) >= rule.thresholds["phases"]:
                known[layer, direction, "own"] = phases
    for (layer, direction, _), found in late_ranks(trace, known).items():
        number = len(found.gain)
        if number < rule.thresholds["phases"]:
            continue
        # As often by chance, for any one of the ranks.
        each, times = float(np.median(found.count)), found.late.sum(axis=0)
        chance = each * bdtrc(times - 1, number, float((found.late.sum(axis=1) / found.count).mean()))
        mine = (times >= rule.thresholds["share"] * number) & (chance <= rule.thresholds["chance"])
        # Where others are late as well, the phase would gain less without these.
        by_them = found.late[:, mine].any(axis=1) & ~found.late[:, ~mine].any(axis=1)
        count, late = int(by_them.sum()), float(found.gain[by_them].sum())
        if not mine.any() or count < rule.thresholds["share"] * number:
            continue
        ranks = found.rank[mine].tolist()
        waited = _others_wait(trace, ranks, moving[layer, direction], found.collective)
        if waited is not None and waited < rule.thresholds["waited"] * late:
            continue
        cost = None if waited is None else min(late, waited)
        if late < max(rule.thresholds["seconds"], rule.thresholds["share_of_run"] * evidence.run_s):
            continue
        one = len(ranks) == 1
        what = ("begins" if one else "begin") if found.collective else ("is done" if one else "are done")
        median = float(np.median(found.after_median[by_them]))
        yield Match(
            layer,
            f"{named_ranks(ranks)} {what} last in {count:,} of {number:,} phases of the program's {layer} "
            f"{direction}s, {seconds_text(median)} after the median of the ranks",
            {
                "direction": direction,
                "ranks": ranks[:RANKS_SHOWN],
                "rank_count": len(ranks),
                "phases": number,
                "last_phases": count,
                "late_s": median,
                "time_range_s": [known[layer, direction, "own"][0].start, known[layer, direction, "own"][-1].end],
            },
            severity="warning" if (cost or 0.0) >= rule.thresholds["severe_share"] * evidence.run_s else None,
            cost_s=cost,
        )


def _others_wait(trace: Trace, ranks: list[int], moving: list[int], in_io: bool) -> float | None:
    """Return how much longer than some ranks the others are in MPI, or also in I/O, in s (median); None where unknown.

    A rank that is late and that nobody waits for costs nothing. Of the others only those count that are `moving`: who
    has nothing to do waits whoever is late.
    """
    cost = trace.cost
    if cost is None:
        return None
    waiting = cost.mpi + cost.io if in_io else cost.mpi
    rank = np.array([-1 if rank is None else rank for rank in cost.rank])
    mine = np.isin(rank, ranks)
    others = np.isin(rank, moving) & ~mine
    if not mine.any() or not others.any():
        return None
    return max(0.0, float(np.median(waiting[others]) - waiting[mine].max()))
