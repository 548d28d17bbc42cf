"""What takes much of a run outside of I/O on selected files: calls that are set aside, and a rank all wait for."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from ...layers.attribution.calls.cost import RunCost, WaitingChain
from ...layers.trace import Trace
from ...model.arrays import Floats, Ints
from ...model.quantities import counted, named_ranks, percent_text, seconds_range_text, seconds_text
from ...model.stream.calls import OF_MPI
from ..findings.locks import LOCKS
from ..findings.waiting import MUCH_WAITED, others_may_wait, outside_alone
from .headline import Headline
from .polling import Timed, polled

_MUCH: Final = 0.1
"""Share of the run from which on it is told that it goes to calls that are set aside."""
_MOSTLY: Final = 0.5
"""Share of something from which on a part of it is most of it."""
_OTHERS: Final = 0.75
"""Of the other ranks, which wait nearly as long: with less they are named."""
_MEETINGS: Final = 5
"""Calls in which all meet and wait for one rank, from which on it is told: start, end and one barrier are none."""


def elsewhere(trace: Trace) -> tuple[str, ...]:
    """Return a sentence on each; none where the trace does not tell when functions were entered and left."""
    return tuple(text for text, _ in timed_elsewhere(trace))


def by_cost(headline: Headline, found: Sequence[Timed]) -> tuple[str, ...]:
    """Return the sentences with that on the I/O in its place: behind what takes longer than all of it."""
    longer = [text for text, seconds in found if headline.io_s is not None and seconds > headline.io_s]
    return (*longer, headline.text, *(text for text, _ in found if text not in longer))


def timed_elsewhere(trace: Trace) -> tuple[Timed, ...]:
    """Return each sentence with the time in s that it is about, without what is I/O of who is waited for."""
    cost, chain = trace.calls.cost, trace.calls.chain if others_may_wait(trace) else None
    if cost is None or chain is None:
        alone = tuple(_awaited_alone(trace))
        return (*_set_aside(trace), *(alone or _in_messages(trace)), *polled(trace, MUCH_WAITED))
    for_one = tuple(_awaited(trace, cost, chain))
    others = for_one or tuple(_awaited_alone(trace)) or tuple(_all(cost, chain))
    others += tuple(_at_one_place(cost, chain, bool(for_one), bool(others)))
    return (*_set_aside(trace), *(others or _in_messages(trace)), *polled(trace, MUCH_WAITED))


def _set_aside(trace: Trace) -> Iterator[Timed]:
    """Tell of calls of I/O on files that are set aside, or that tell no file, as those that lock one."""
    calls, cost = trace.calls.totals, trace.calls.cost
    if calls is None or cost is None or not len(cost.set_aside):
        return
    most = int(cost.set_aside.argmax())
    spent = float(cost.set_aside[most])
    if spent < _MUCH * cost.length:
        return
    region = calls.paths.region
    aside = calls.times[:, 1, 2] + calls.times[:, 2, 2] * ~(calls.undecided_count[region] | calls.serves)
    ticks = np.bincount(region, np.where(calls.functions.layer[region] >= 0, aside, 0))
    first = int(ticks.argmax())
    share, name = ticks[first] / max(1.0, ticks.sum()), calls.functions.regions.name[first]
    if name in LOCKS and share >= _MOSTLY:
        # A finding of its own, which the headline tells.
        return
    who = "" if cost.rank[most] is None or len(cost.rank) < 2 else f" on rank {cost.rank[most]}"
    mostly = f": {percent_text(share)} of it {name}" if share >= _MOSTLY else ""
    of_run = percent_text(spent / cost.length)
    text = f"{seconds_text(spent)}{who}, {of_run} of the run, are calls of I/O on files set aside or not known{mostly}"
    yield text, spent


def _awaited(trace: Trace, cost: RunCost, chain: WaitingChain) -> Iterator[Timed]:
    """Tell for which rank the others wait where all meet in calls of MPI, whatever that one does meanwhile."""
    rank, held = next(iter(chain.held_up.items()), (None, 0.0))
    mine = np.array([one == rank for one in chain.cause]) & (chain.waited > 0)
    each, mostly = held / (len(cost.rank) - 1), float(chain.mostly[mine].sum())
    if rank is None or each < MUCH_WAITED * cost.length or held < _MOSTLY * float(chain.waited.sum()):
        return
    # It is slow where that happens again and again, and to most of the others.
    if mine.sum() < _MEETINGS or chain.waited[mine].max() > _MOSTLY * held or mostly < _MOSTLY * each:
        return
    if not _all_others_wait(chain, rank, chain.each[mine].sum(axis=0)):
        return
    does, in_io = _meanwhile(_longer_in_io(trace, cost, rank), each, float(chain.io_mostly[mine].sum()) / mostly)
    alone = trace.calls.alone
    if alone is not None and rank in alone.rank and alone.summed[alone.rank.index(rank)] > each:
        # Messages make them wait as well.
        each = float(alone.awaited[alone.rank.index(rank)])
    waits, share = int((chain.waited > 0).sum()), percent_text(each / cost.length)
    itself = np.array([one == rank for one in chain.rank])[mine]
    late = "comes last to" if itself.mean() >= _MOSTLY else "holds up others that come last to"
    yield (
        f"{_others_wait(chain, rank, each)}, {share} of the run, for rank {rank}, which {late} "
        f"{mine.sum():,} of {counted(waits, 'call')} in which all meet; {does}{_in_turn(cost, rank, chain)}",
        each * (1 - in_io),
    )


def _meanwhile(longer: float, each: float, io: float) -> tuple[str, float]:
    """Return what a rank does while each of the others waits for it, in words, and which share of that is I/O.

    It is so much `longer` in I/O than they, and `io` is the share of I/O in what it does while they wait.
    """
    if longer >= _MOSTLY * each:
        text = f"it is {seconds_text(longer)} longer in I/O than they, so that it comes later to what follows"
        return text, min(1.0, longer / each)
    return _does(io), io


def _all_others_wait(chain: WaitingChain, rank: int, waited: Floats) -> bool:
    """Tell whether nearly all others wait about as long for a rank; else some come as late as it does."""
    others = waited[[one != rank for one in chain.ranks]]
    return bool(np.mean(others >= _MOSTLY * others.max()) >= _OTHERS)


def _others_wait(chain: WaitingChain, rank: int, each: float) -> str:
    """Return how long each of the other ranks waits, in words."""
    others = [one for one in chain.ranks if one != rank]
    if len(others) == 1:
        return f"Rank {others[0]} waits {seconds_text(each)}"
    return f"The other ranks wait {seconds_text(each)} each"


def _longer_in_io(trace: Trace, cost: RunCost, rank: int) -> float:
    """Return how much longer a rank is in I/O than the others (median), without what they wait there, in s."""
    met = trace.calls.all_meetings
    waited = np.bincount(met.process, met.waited, minlength=len(trace.definitions.groups.id))
    first = trace.definitions.locations.group[trace.definitions.locations.first]
    worked = cost.io - waited[first] / trace.definitions.clock.ticks_per_second
    place = cost.rank.index(rank)
    return float(worked[place] - np.median(np.delete(worked, place)))


def _in_turn(cost: RunCost, rank: int | None, chain: WaitingChain) -> str:
    """Return how long a rank that others wait for waits for the next one of those, in words, where it is much."""
    other, held = next(((one, held) for one, held in chain.held_up.items() if one != rank), (None, 0.0))
    each = held / (len(chain.ranks) - 1)
    step = _longest_step(chain)
    if other is None or rank is None or each < MUCH_WAITED * cost.length or chain.cause[step] == other:
        # The longest step is told by itself.
        return ""
    who = f"rank {rank} waits" if len(chain.ranks) == 2 else "all wait"
    return f"; {who} {seconds_text(each)} for rank {other} in turn"


def _all(cost: RunCost, chain: WaitingChain) -> Iterator[Timed]:
    """Tell how long ranks wait where all meet, now for one rank and now for another."""
    # Where a run begins and ends all wait for the slowest once, and what makes most of it is told by itself.
    again = np.array([bool(one) and not one.startswith(("MPI_Init", "MPI_Finalize")) for one in chain.function])
    waited = chain.waited * again
    # Who comes last does not wait, but it is another one each time.
    each, most = float(waited.sum()) / len(chain.ranks), int(waited.argmax())
    if np.count_nonzero(waited) < _MEETINGS or each < MUCH_WAITED * cost.length or 2 * waited[most] >= waited.sum():
        return
    if max(chain.held_up.values()) > _MOSTLY * float(chain.waited.sum()):
        # It is one rank, but few times or for few others.
        return
    same = _alike(chain, _longest_step(chain))
    if len(same) >= _MEETINGS and chain.waited[same].sum() > _MOSTLY * waited.sum():
        # The same ranks wait each time, whichever of the others is last.
        return
    yield (
        f"Ranks wait {seconds_text(each)} each on average, {percent_text(each / cost.length)} of the run, in "
        f"{counted(int(again.sum()), 'call')} in which all meet, now for one rank and now for another; longest in one "
        f"{chain.function[most]}, until {seconds_text(float(chain.end[most]))}, for rank {chain.rank[most]}",
        each,
    )


def _at_one_place(cost: RunCost, chain: WaitingChain, for_one: bool, told: bool) -> Iterator[Timed]:
    """Tell which ranks wait much of the run in calls of one function in which all meet, or in one, and for whom.

    Not for the rank that others wait for most, where that is told `for_one`; in one call, where what recurs is `told`.
    """
    step = _longest_step(chain)
    alike = _alike(chain, step)
    alike = alike if len(alike) < _MEETINGS or not told else [step]
    waited = chain.each[alike].sum(axis=0)
    long = waited >= max(MUCH_WAITED * cost.length, _MOSTLY * float(waited.max(initial=0.0)))
    if not long.any() or None in chain.ranks or (for_one and chain.cause[step] == next(iter(chain.held_up))):
        return
    named = list(zip((one for one in chain.ranks if one is not None), long.tolist(), strict=True))
    early, late = ([one for one, waits in named if waits is there] for there in (True, False))
    least, most = float(waited[long].min()), float(waited.max())
    share, until = percent_text(most / cost.length), [seconds_text(float(chain.end[row])) for row in alike]
    span = seconds_range_text(least, most)
    yield (
        f"{named_ranks(early).capitalize()} wait{'s' if len(early) == 1 else ''} {span}, "
        f"{'up to ' if ' to ' in span else ''}{share} of the run, in {_calls_until(chain.function[step], until)}, for "
        f"{_late(chain, late, np.array(alike))}",
        most * (1 - _io_share(chain, np.array(alike))),
    )


def _alike(chain: WaitingChain, step: int) -> list[int]:
    """Return the steps at whose end the same ranks wait in the function of `step`, and half as long at least."""
    wait = chain.each >= np.maximum(_MOSTLY * chain.each.max(axis=1, keepdims=True), 1e-9)
    least = max(_MOSTLY * float(chain.waited[step]), 1e-9)
    same = (chain.waited >= least) & (wait == wait[step]).all(axis=1)
    return [row for row in np.flatnonzero(same).tolist() if chain.function[row] == chain.function[step]]


def _longest_step(chain: WaitingChain) -> int:
    """Return the step at whose end the others wait longest, but for the start: processes start one after the other."""
    met = [row for row, name in enumerate(chain.function) if not name.startswith("MPI_Init")]
    return max(met, key=lambda row: chain.waited[row], default=0)


def _calls_until(name: str, until: Sequence[str]) -> str:
    """Return calls of a function that end then, in words."""
    if len(until) == 1:
        return f"one {name}, until {until[0]}"
    if len(until) > _MEETINGS:
        return f"{len(until):,} calls of {name}, the first until {until[0]} and the last until {until[-1]}"
    return f"{len(until)} calls of {name}, until {', '.join(until[:-1])} and {until[-1]}"


def _late(chain: WaitingChain, late: list[int], steps: Ints) -> str:
    """Return for whom ranks wait in some steps of a chain, and what that does meanwhile, in words."""
    cause, last = chain.cause[steps[0]], chain.rank[steps[0]]
    if cause is None:
        return f"rank {last}, which is in MPI itself until then: for whom it waits there is not known"
    mostly = float(chain.mostly[steps].sum())
    does = _io_share(chain, steps)
    if not mostly:
        return named_ranks(late)
    if len(late) > 1 and {chain.cause[row] for row in steps} <= set(late):
        return f"{named_ranks(late)}; {_does(does, 'who comes last')}"
    also = "" if cause == last else f", for which rank {last} waits as well before it comes"
    return f"rank {cause}{also}; {_does(does)}"


def _io_share(chain: WaitingChain, steps: Ints) -> float:
    """Return which share of what who is waited for does in some steps of a chain is I/O."""
    return float(chain.io_mostly[steps].sum()) / max(float(chain.mostly[steps].sum()), 1e-300)


def _awaited_alone(trace: Trace) -> Iterator[Timed]:
    """Tell for which rank all others wait one after the other, by messages, as in a pipeline."""
    cost, found = trace.calls.cost, outside_alone(trace)
    if cost is None or found is None:
        return
    rank, seconds, io = found
    longest = list(time_in_mpi(trace).items())[:2]
    named = [name for name, took in longest if 2 * took >= longest[0][1]]
    yield (
        f"For {seconds_text(seconds)}, {percent_text(seconds / cost.length)} of the run, all ranks but rank {rank} are "
        f"in MPI, most in {' and '.join(named)}, until it calls MPI, again and again: they wait for it, or for others "
        f"that do; less for it to do could save up to about that; {_does(io / seconds)}",
        seconds - io,
    )


def _in_messages(trace: Trace) -> Iterator[Timed]:
    """Tell which ranks, half of them at most, are in calls for messages for much of the run, and in which one most."""
    cost, by_rank = trace.calls.cost, dict[int, float]()
    if cost is None or not others_may_wait(trace):
        return
    for (rank, _), seconds in trace.calls.messages.items():
        by_rank[rank] = by_rank.get(rank, 0.0) + seconds
    most = max(by_rank.values(), default=0.0)
    ranks = sorted(
        rank for rank, seconds in by_rank.items() if seconds >= max(_MOSTLY * most, MUCH_WAITED * cost.length)
    )
    if not 0 < 2 * len(ranks) <= len(cost.rank):
        # Where most ranks are, it is what they exchange.
        return
    mine = [((rank, name), seconds) for (rank, name), seconds in trace.calls.messages.items() if rank in ranks]
    (_, name), _ = max(mine, key=lambda one: one[1])
    span, share = seconds_range_text(min(by_rank[rank] for rank in ranks), most), percent_text(most / cost.length)
    yield (
        f"{named_ranks(ranks).capitalize()} {'is' if len(ranks) == 1 else 'are'} {span}, "
        f"{'up to ' if ' to ' in span else ''}{share} of the run, in calls that send or receive "
        f"messages, most in {name}: for another rank to do its part, or for long messages",
        most,
    )


def time_in_mpi(trace: Trace) -> dict[str, float]:
    """Return how long all ranks together are in each function of MPI that does no I/O, in s, the longest first.

    Without start and end of MPI, where all wait for the slowest once.
    """
    calls = trace.calls.totals
    if calls is None:
        return {}
    regions, region = calls.functions.regions, calls.paths.region
    ends = np.array([name.startswith(("MPI_Init", "MPI_Finalize")) for name in regions.name])
    of_mpi = (regions.paradigm == OF_MPI) & ~calls.functions.does_io & ~ends
    ticks = np.bincount(region, np.where(of_mpi[region], calls.times[:, 0, 2], 0), len(regions.name))
    longest, second = np.argsort(-ticks, kind="stable"), trace.definitions.clock.ticks_per_second
    found = Counter[str]()
    for row in longest[ticks[longest] > 0].tolist():
        found[regions.name[row]] += int(ticks[row])
    return {name: took / second for name, took in found.most_common()}


def _does(io: float, who: str = "it") -> str:
    """Return which share of what a rank does while others wait for it is I/O, in words."""
    return (
        f"{who} is mostly in I/O meanwhile"
        if io >= _MOSTLY
        else f"{percent_text(io)} of what {who} does meanwhile is I/O"
    )
