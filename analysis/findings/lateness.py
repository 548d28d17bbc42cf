"""Findings about ranks that the others wait for, phase by phase."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from ...layers.attribution.calls.functions import FUNCTION
from ...layers.attribution.calls.meetings import Meetings
from ...layers.selection.directions import Direction, modes_of
from ...model.arrays import Ints, Mask
from ...model.quantities import counted, named_ranks, percent_text, seconds_text
from ..results.parts import Phase
from .facts import MIB, RANKS_SHOWN, Facts, Gain, Match
from .last_ranks import LateRanks, SignalOf, late_ranks
from .rule import finding
from .waiting import others_in_mpi

_MOSTLY: Final = 0.8
"""Of the time that others wait for the last ranks: those that it is due to are named where they are half at most."""
_MOST: Final = 0.9
"""Of the time that ranks wait: in as many calls as have that much, and others of half their length, it is told who
comes last."""
_LONGER: Final = 1.25
"""Times what ranks wait in a higher layer, which they do in those below as well."""


@finding(needs=("ranks", "metadata"), by_time=True)
def late_arrivals(facts: Facts, *, least_s: float = 0.01, share_of_run: float = 0.01) -> Iterator[Match]:
    """Ranks wait in calls that all make together, such as opens and collective writes, until the last one comes.

    Parameters
    ----------
    least_s : s
        Less is a single access of a disk.
    share_of_run : share
        Less makes no run faster.

    Notes
    -----
    :In short: {comes} late to calls of all ranks; evenly shared work before them.
    :Why: The time shows as I/O of those that wait, and no file system makes it shorter.
    :How it is measured: For each such call the time from when a rank enters it until the last one does, if none has
        left by then and the call takes less time from then on; cost is that of the rank which waits longest. Where the
        last one waits itself meanwhile, in another call of MPI, the time is that of the rank it waits for, as far as
        the trace tells which: of calls that all ranks make, and where one alone is not in MPI. Time in which the one
        that is waited for in the end is in I/O is left out. Who that is is told of as many calls as have 90 % of the
        time. No other finding counts it. A lower layer is told only where ranks wait longer there than in those above.
    :When it is wrong: What a rank did before is not told by its arrival: it may have computed longer, started later, or
        have been held up earlier. For whom a rank waits that receives a message is not known.
    :What helps: See what the rank does before: more work than the others, a slower core or node, output of its own such
        as a log. Where another rank is last each time, do less between such calls that takes ranks unequally long, or
        make the call less often; MPI_File_iwrite_all and its like let those that are early go on.
    """
    calls, reported = facts.trace.calls, 0.0
    if calls.totals is None:
        return
    for row, layer in enumerate(facts.cells.layers):
        met = calls.meetings.of_layer(row)
        second, processes = facts.cells.window.ticks_per_second, len(facts.definitions.groups.id)
        cost = float(np.bincount(met.process, met.waited, minlength=processes).max(initial=0)) / second
        if cost >= max(least_s, share_of_run * facts.run_s, _LONGER * reported):
            reported = cost
            yield _arrivals_match(facts, layer, met, cost, calls.totals.functions.regions.name)


def _arrivals_match(facts: Facts, layer: str, met: Meetings, cost: float, names: tuple[str, ...]) -> Match:
    """Return the match of calls of a layer in which the rank that waits longest does so for `cost` s."""
    second, longest = facts.cells.window.ticks_per_second, int(np.bincount(met.region, met.waited).argmax())
    # Behind the rank in the middle: that the first half waits for each other is no more than chance.
    behind, last, cause = met.waited[met.median] / second, met.process[met.final], met.cause[met.longest]
    cause = np.where(cause >= 0, cause, last)
    summed = np.add.reduceat(met.waited, met.first) / second
    # Who is late by microseconds elsewhere is of no interest.
    falling = np.sort(summed)[::-1]
    main = 2 * summed >= falling[np.searchsorted(np.cumsum(falling), _MOST * summed.sum())]
    held = np.bincount(cause[main], behind[main], minlength=len(facts.definitions.groups.id))
    order = np.argsort(-held, kind="stable")
    late = order[: int(np.searchsorted(np.cumsum(held[order]), _MOSTLY * held.sum())) + 1]
    always, mine = 2 * len(late) <= len(np.unique(met.process)), main & np.isin(cause, late)
    ranks, number, times = facts.ranks(late) if always else [], int(main.sum()), int(mine.sum())
    comes = f"{named_ranks(ranks)} come{'s' if len(ranks) == 1 else ''}" if always else "another rank each time comes"
    often = f"{times:,} times" if always and times < number else "each time"
    least, most = sorted((float((summed / met.counts).sum()), float(behind.sum())))
    # Of ranks that are named, how late these are where half of the waiting for them is.
    told = np.sort(behind[mine if always else main])
    after = float(told[np.searchsorted(np.cumsum(told), 0.5 * told.sum())])
    comes_last = f"{comes.replace(' each time', '')} last {often}, {seconds_text(after)} after the median of the others"
    told_of = f"to which {comes_last}"
    if 2 * np.count_nonzero(met.cause[met.longest][mine] < 0) > times:
        told_of += "; until then who comes last is in MPI itself, and for whom it waits there is not known"
    elif always and (victims := _held_up(facts, met, mine, names)):
        by = f"by {seconds_text(after)} for the one in the middle of the others"
        told_of = f"which {named_ranks(ranks)} hold{'s' if len(ranks) == 1 else ''} up {often}, {by}: {victims}"
    return Match(
        layer,
        f"ranks wait {seconds_text(float(summed.sum()))} in all in {layer} calls that several make together, most in "
        f"{names[longest]}, until the last one comes, {percent_text(float(summed[main].sum() / summed.sum()))} of "
        f"it in {counted(number, 'call')}, {told_of}",
        {
            "comes": comes.replace(" come", " once come") if always and times == 1 < number else comes,
            "calls": number,
            "last_calls": times if always else None,
            "waited_s": float(summed.sum()),
            "late_s": after,
        },
        cost_s=cost,
        gain=Gain((least, most), "from what ranks wait on average to what the one in the middle waits"),
        where={
            FUNCTION: names[longest],
            "ranks": ranks[:RANKS_SHOWN],
            "rank_count": len(ranks),
            **facts.on_files(met.file, met.waited),
            "time_range_s": facts.extent(met.begin, met.begin + met.waited),
        },
    )


def _held_up(facts: Facts, met: Meetings, mine: Mask, names: tuple[str, ...]) -> str:
    """Return who comes last to most of some calls as it waits for who is late, in words; empty where nobody does."""
    last, longest = met.process[met.final][mine], met.longest[mine]
    victim = (met.cause[longest] >= 0) & (met.cause[longest] != last)
    if 2 * victim.sum() <= len(last):
        return ""
    ranks, through = facts.ranks(last[victim]), met.through[longest][victim]
    through = through[through >= 0]
    where = f" in {names[int(np.bincount(through).argmax())]}" if len(through) else " in MPI"
    return f"{named_ranks(ranks)} come{'s' if len(ranks) == 1 else ''} last, after waiting{where}"


@finding(needs=("ranks",), explained_by={"imbalance": 0.5}, by_time=True, outside_io=True)
def stragglers(
    facts: Facts,
    *,
    phases: float = 4,
    least_share: float = 0.5,
    chance: float = 0.01,
    waited: float = 0.8,
    least_bytes: float = MIB,
    least_s: float = 0.01,
    share_of_run: float = 0.01,
) -> Iterator[Match]:
    """The same ranks, at most half of them, are late in most phases, and the others are done long before.

    Parameters
    ----------
    phases : count
        In fewer, the same rank may well be late by chance.
    least_share : share
        Of the phases: fewer are not most of them.
    chance : share
        Probability that as many phases come by chance, for any of the ranks.
    waited : share
        Of the time that they are late, which the others must be in MPI for longer: else nobody waits for them.
    least_bytes : byte
        Less is a log.
    least_s : s
        Less is a single access of a disk.
    share_of_run : share
        Less makes no run faster.

    Notes
    -----
    :In short: {last} last again and again; giving them less to do before.
    :Why: All wait for them, so that each phase lasts longer by that.
    :How it is measured: In each phase of the program's own reads or writes, who ends its last transfer late (begins its
        first one late, where transfers are collective; where calls are recorded, these are left to ``late-arrivals``):
        the ranks behind the widest gap; ``periods --phases`` shows who
        is last in each. They must be the same in half of the phases and more often than chance makes it (1 %), and the
        others must be in MPI for so much longer; those count that have transfers too. Cost is the sum of the times
        behind the last of the others. Who is late since it does most of the work is found by ``imbalance``.
    :When it is wrong: Without Enter and Leave of MPI it is not known whether anybody waits, and it is for information
        only. Ranks that are late one after the other, with no gap between them, are no stragglers by this rule.
    :What helps: See what these ranks do before they write or read: more work than the others, a slower core or node,
        output of their own such as a log; give them less to do, or let their part be moved by others.
    """
    moving, known = _phases(facts, phases, least_bytes)
    for (layer, direction, traffic), found in late_ranks(facts.trace, known).items():
        if found.collective and facts.trace.calls.recorded:
            continue
        number = len(found.gain)
        mine = _often_late(found, least_share, chance)
        # Where others are late as well, the phase would gain less without these.
        by_them = np.asarray(found.late[:, mine].any(axis=1) & ~found.late[:, ~mine].any(axis=1))
        count, late = int(by_them.sum()), float(found.gain[by_them].sum())
        if number < phases or not mine.any() or count < least_share * number:
            continue
        others = others_in_mpi(facts.trace, found.rank[mine], moving[layer, direction])
        if late < max(least_s, share_of_run * facts.run_s) or (others is not None and others < waited * late):
            continue
        cost = None if others is None else min(late, others)
        extent = known[layer, direction, traffic]
        last = _last(found, mine)
        after = seconds_text(float(np.median(found.after_median[by_them])))
        yield Match(
            layer,
            f"{last} last in {count:,} of {number:,} phases of the program's {layer} {direction}s, {after} after the "
            "median of the ranks",
            {
                "direction": direction,
                "last": last,
                "ranks": found.rank[mine].tolist()[:RANKS_SHOWN],
                "rank_count": int(mine.sum()),
                "phases": number,
                "last_phases": count,
                "late_s": float(np.median(found.after_median[by_them])),
            },
            where=_where(facts, layer, direction, found.rank[mine], (extent[0].start, extent[-1].end)),
            cost_s=cost,
        )


def _where(facts: Facts, layer: str, direction: Direction, ranks: Ints, seconds: tuple[float, float]) -> dict[str, Any]:
    """Return from when to when some ranks are late, and with which files."""
    late = np.flatnonzero(np.isin(facts.definitions.groups.rank, ranks))
    return {**facts.files_within(layer, late, facts.ticks(*seconds), *modes_of(direction)), "time_range_s": [*seconds]}


def _last(found: LateRanks, mine: Mask) -> str:
    """Return in words which ranks begin, or are done."""
    ranks = found.rank[mine].tolist()
    one = len(ranks) == 1
    what = ("begins" if one else "begin") if found.collective else ("is done" if one else "are done")
    return f"{named_ranks(ranks)} {what}"


def _phases(
    facts: Facts, fewest: float, least_bytes: float
) -> tuple[Mapping[tuple[str, Direction], list[int]], Mapping[SignalOf, tuple[Phase, ...]]]:
    """Return who moves what the program asks for, by layer and direction, and its phases where several ranks do."""
    moving: dict[tuple[str, Direction], list[int]] = {}
    known: dict[SignalOf, tuple[Phase, ...]] = {}
    for layer, direction, own in facts.own():
        moving[layer, direction] = facts.ranks_of(own)
        if facts.cells.bytes(own) < least_bytes or len(moving[layer, direction]) < 2:
            continue
        phases = facts.own_phases(layer, direction)
        if len(phases) >= fewest:
            known[layer, direction, "own"] = phases
    return moving, known


def _often_late(found: LateRanks, least_share: float, least_chance: float) -> Mask:
    """Return which ranks are late in most phases and in more of them than chance makes it, bool (ranks,)."""
    from scipy.special import bdtrc

    number, times = len(found.gain), found.late.sum(axis=0)
    # As often by chance, for any one of the ranks.
    each = float(np.median(found.count))
    chance = each * bdtrc(times - 1, number, float((found.late.sum(axis=1) / found.count).mean()))
    return np.asarray((times >= least_share * number) & (chance <= least_chance))
