"""What comes first about a run: which share of it is I/O, where and why, and what could be saved."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from ...layers.attribution.calls.cost import io_seconds
from ...layers.selection.directions import DIRECTIONS
from ...layers.summary.counted import KINDS
from ...layers.trace import Trace
from ...model.arrays import Mask
from ...model.codes import WRITE_ONLY, IoFlag, IoMode
from ...model.document import Record
from ...model.quantities import (
    counted,
    factor_text,
    named_ranks,
    percent_text,
    seconds_range_text,
    seconds_text,
)
from ..findings.counted import CountedFacts, facts_of
from ..findings.facts import KIB, MUCH_OF_RUN, blocking_s
from ..findings.find import BOUNDED, LEAST_COST, Finding
from ..findings.rule import rule_of, rules

_LITTLE: Final = 0.01
"""Share of the run below which I/O is told to be little: runs differ by more."""
_OF_IO: Final = 0.1
"""Share of the I/O from which on a finding is its cause, where it is less than a warning."""
_MOST: Final = 0.5
"""Of the I/O that a cause costs: below, where the time goes is told first, and which part of it that is."""
_LATE: Final = ("stragglers", "late-arrivals")
"""What is told as well where something else is the cause."""
_UNEVEN: Final = ("serial-io", "imbalance")
"""What others may wait for: what they do is told beside the cause."""
_OF_ALL: Final = ("collective-without-benefit", "funnelled-collective", "layer-overhead", "waiting-ranks")
"""What all ranks wait for, in other calls as well."""
_APART: Final = "flush-dominates"
"""What never tells the time of one layer again in another, so that layers add up."""
_BESIDE: Final = {"lock-waiting": "waiting for locks of files", "transfers-in-vain": "trying {direction}s in vain"}
"""What counts as no I/O and is told beside it, in words."""
_NEEDLESS: Final = "read-back"
"""What need not be done at all: how it is done is told first, where that explains as much."""
_BY_TURN: Final = "not-overlapped"
"""What may be meant, and is told where nothing else is known to help."""
_MUCH_BESIDE: Final = 0.1
"""Share of the run from which on that is."""
_STALLED: Final = "slow-operations"
"""What the trace tells no cause of."""
_EVEN: Final = 0.8
"""Of what the rank longest in I/O spends there, the mean over ranks: above, one number tells of both."""
_BY_TURNS: Final = 1.5
"""Times the I/O of the rank longest in it, from which on what ranks do by turns is told: below, they mostly overlap."""
_ALONE: Final = 0.98
"""Of what ranks are in I/O together, which any of them is: above, no two are there at once."""
_ONE_TIME: Final = ("small-requests", "flush-dominates")
"""Causes whose time counters hold as one, so that nothing tells which of them it is."""
_ALIKE: Final = 0.9
"""Of what one of these costs: where another costs as much, both are named."""
_NOTHING: Final = (0.0, 0.0)
"""Where what helps would save none of the cost."""
_IN_MPI: Final = 0.1
"""Share of the run in calls of MPI below which communication is nothing to look at first."""
_RECORDED_S: Final = 8e-7
"""What recording an event of I/O takes with the Enter or Leave beside it: with Score-P 8.4 .3 µs where a rank has a
core of its own, .8 and 1.2 µs where four share two, as calls of 13 to 256 bytes show, timed with and without it."""
_RECORDED: Final = 0.1
"""Of the I/O that recording takes from which on that is told, where it is `_LITTLE` of the run as well."""
_MUCH_RECORDED: Final = 0.25
"""From which on it is told in any case, and nothing may be there to save."""
_MOST_RECORDED: Final = 0.75
"""From which on how long it takes is not told."""
_LITTLE_SEEN: Final = 0.02
"""Share of the run that I/O takes below which it is told what cannot be seen, where something hints at it."""
_ON_FILES: Final = re.compile("f?open|creat|p(read|write)")
"""Functions that leave an event wherever they succeed."""
_OFTEN: Final = 1000
"""Of their calls without one a rank, from which on they may be what the program does: libraries look for some hundred
files as they start."""
_FORK: Final = "fork"
"""The region that `iostrata record` marks where a process forks."""
_NEXT_TO_NOTHING: Final = 64 * KIB
"""Bytes below which what is opened is hardly read or written."""
_HELD: Final = 0.01
"""Share of the run for which a rank has files open to write, without a write, from which on that is told."""
_ASIDE: Final = 0.1
"""Share of the run that I/O which is set aside takes from which on that is told."""
_NAMED: Final = 4
"""More ranks than these are not named."""


class Headline(Record):
    """Which share of a run is I/O, and why.

    Attributes
    ----------
    text : str
        All of it in a sentence.
    cause : str
        What makes the time in I/O, or where most of it is spent, as in `text`; empty where that is not known.
    io_s : float or None
        Time in s that the first thread of the rank which is longest in I/O spends in calls of I/O on selected files:
        transfers, flushes, opens, closes and the like, and all that they wait for. A non-blocking operation that is
        under way while the thread does something else adds nothing, a call of MPI that completes one does. Where a
        recorder knows no calls, the time in which the rank has a blocking operation; None where there are no times.
    io_share : float or None
        The same over the length of the run, or of the window.
    run_s : float
    mean_io_s : float or None
        The mean over ranks; None where counters do not tell.
    any_io_s : float or None
        Time in s in which any thread is in such a call: more than `io_s` where ranks take turns, as they do where
        several share a core. None where no calls are recorded.
    rank : int or None
        The rank that is longest in I/O.
    layer : str or None
        Layer of the finding, or where most of the time is spent.
    finding : str or None
        Id of the finding that explains most of it; None where none tells why.
    cause_share : float or None
        Share of `io_s` that this finding costs: below a half, `layer` is where most of the time is spent.
    gain_s : tuple of float or None
        What could be saved, at least and at most, in s.
    gain_reason : str
        What these rest on.
    basis : str
        What `io_s` was measured by.
    """

    text: str
    cause: str = ""
    io_s: float | None = None
    io_share: float | None = None
    run_s: float = 0.0
    mean_io_s: float | None = None
    any_io_s: float | None = None
    rank: int | None = None
    layer: str | None = None
    finding: str | None = None
    cause_share: float | None = None
    gain_s: tuple[float, float] | None = None
    gain_reason: str = ""
    basis: str = ""


def headline_of(trace: Trace, findings: Sequence[Finding]) -> Headline:
    """Return what comes first about a trace and its `findings`, which are sorted as `find` does."""
    start, end = trace.window
    # Bins of a heat map may end after the run.
    run_s = min(end, max(trace.duration, start)) - start
    io = _measured(trace)
    if io is None:
        return _unknown(trace, run_s)
    longest, mean, rank, basis = io
    any_s, (threads, waited) = _of_any(trace), _other_threads(trace, findings, run_s)
    share = longest / run_s if run_s > 0 else 0.0
    known = Headline("", "", longest, share, run_s, mean, any_s, rank, basis=basis)
    told, head = trace.definitions.recording.told, _share_text(known, trace, threads)
    if threads and not longest:
        return replace(known, text=told(head + threads))
    beside = next((one for one in findings if one.id in _BESIDE), None)
    head += _of_beside(beside, run_s)
    little = share < _LITTLE
    causes, (recording, recorded) = (
        ([], ("", 0.0)) if little else (_causes(findings, longest, run_s), _recording(trace, mean, run_s))
    )
    part, text = min(1.0, _cost(causes) / longest) if causes else 0.0, ""
    if beside is not None and (beside.cost_s or 0.0) > max(_cost(causes), longest):
        known, causes = replace(known, finding=beside.id, gain_s=beside.gain_s, gain_reason=beside.gain_reason), []
    elif part < _MOST:
        known, text = _most_of_it(trace, known, waited)
    if causes:
        known, why = _blamed(known, causes, findings, part, recorded >= _MUCH_RECORDED)
        text += why
    if known.gain_s in (None, _NOTHING):
        text += _could_overlap(findings, run_s)
    rest = _late(findings, causes, run_s) + threads + _overlapped(trace, run_s) + _in_mpi(trace, run_s) + recording
    rest += _hidden(trace, share) + _unseen(trace, run_s)
    return replace(known, text=told(head + text + rest), cause=told(text).lstrip(" ,;:"))


def _unknown(trace: Trace, run_s: float) -> Headline:
    lacking = trace.definitions.recording.reason("times", "operations", "ranks")
    reason = lacking or "nothing that moved bytes took time"
    return Headline(f"How much of the {seconds_text(run_s)} a rank is in I/O is not known: {reason}", run_s=run_s)


def _most_of_it(trace: Trace, known: Headline, waited: bool) -> tuple[Headline, str]:
    """Return a headline with the layer whose calls of one kind take longest, and that in words."""
    mean, share = known.mean_io_s, known.io_share or 0.0
    layer, what = _longest(trace, known.io_s or 0.0, None if mean is None else mean * trace.ranks, known.rank)
    # Beside what other threads do, what is next to nothing of a rank's first one has no largest part.
    text = f", {what}" if layer and not (waited and share < _LITTLE) else ""
    return replace(known, layer=layer), text + ("; little to gain there" if 0 < share < _LITTLE and not waited else "")


def _share_text(known: Headline, trace: Trace, threads: str) -> str:
    """Return which share of the run is I/O, in words, with what tells that ranks differ."""
    longest, mean, any_s = known.io_s or 0.0, known.mean_io_s, known.any_io_s
    share = percent_text(known.io_share or 0.0)
    text = f"I/O is {share} of the run ({seconds_text(longest)} of {seconds_text(known.run_s)}"
    if known.rank is not None and trace.ranks > 1 and mean is not None and mean < _EVEN * longest:
        text += f" on rank {known.rank}, {seconds_text(mean)} on average"
    if any_s is not None and not threads and trace.ranks > 1 and any_s > _BY_TURNS * longest:
        text += f", {seconds_text(any_s)} on one rank or another"
        text += ", never on two at once" if any_s >= _ALONE * (mean or 0.0) * trace.ranks else ""
    return f"{text})"


def _could_overlap(findings: Sequence[Finding], run_s: float) -> str:
    """Return how much of the I/O could go on beside computing, in words, where nothing else is known to help."""
    one = next((one for one in findings if one.id == _BY_TURN and (one.cost_s or 0.0) >= _MUCH_BESIDE * run_s), None)
    return "" if one is None else f"; up to {seconds_text(one.cost_s or 0.0, 2)} of it could go on while ranks compute"


def _of_beside(one: Finding | None, run_s: float) -> str:
    """Return how long what counts as no I/O takes beside it, and what helps, in words; nothing where it is little."""
    if one is None or one.severity == "info":
        return ""
    waited, (least, most) = one.cost_s or 0.0, one.gain_s or _NOTHING
    helps, what = _in_short(one).partition(";")[2].strip(), _BESIDE[one.id].format_map(one.evidence)
    share, saves = percent_text(waited / run_s), f"{helps} could save {seconds_range_text(least, most)}"
    return f"; {what} takes {share} more ({seconds_text(waited)}); {saves if most else one.gain_reason}"


def _blamed(
    known: Headline, causes: Sequence[Finding], findings: Sequence[Finding], part: float, unsure: bool
) -> tuple[Headline, str]:
    """Return a headline with the `part` of the I/O that causes explain, and that in words.

    Where recording may have made the time, it is `unsure` that anything could be saved.
    """
    io_s, first = known.io_s or 0.0, causes[0]
    (gain, reason), layers = _gain_of(causes, io_s), " and ".join(dict.fromkeys(one.layer for one in causes))
    within = "" if layers == known.layer else f" in {layers},"
    gain = (0.0, gain[1]) if gain is not None and unsure else gain
    head = f": {layers}," if part >= _MOST else f"; {percent_text(part)} of the I/O{within}"
    found = replace(known, finding=first.id, cause_share=part, gain_s=gain, gain_reason=reason)
    found = replace(found, layer=first.layer) if part >= _MOST else found
    most = gain[1] if gain is not None else _cost(causes)
    # A finding that costs no more is for information, too.
    little = 0 < most < MUCH_OF_RUN * known.run_s
    of_run = f", {percent_text(most / known.run_s)} of the run" if little else ""
    return found, f"{head} {'since' if part >= _MOST else 'because'} {_why(causes, findings, gain, io_s)}{of_run}"


def _overlapped(trace: Trace, run_s: float) -> str:
    """Return how long non-blocking I/O is under way and hidden, in words; nothing where it is little."""
    under_way = trace.calls.non_blocking.length / trace.definitions.clock.ticks_per_second
    overlap = trace.calls.overlap if under_way >= _MUCH_BESIDE * run_s * max(1, trace.ranks) else None
    whole = 0.0 if overlap is None else float(overlap.under_way.sum())
    if overlap is None or not whole:
        return ""
    hidden, longest = float(overlap.computing.sum()) / whole, seconds_text(float(overlap.under_way.max()))
    return f"; non-blocking I/O is under way for {longest}, {percent_text(hidden)} of it hidden while ranks compute"


def _in_mpi(trace: Trace, run_s: float) -> str:
    """Return which share of the run ranks spend in calls of MPI, in words; nothing where it is little or not known."""
    mpi = trace.definitions.recording.mpi
    if mpi is None or not 0 < _IN_MPI * run_s <= mpi.mean_s:
        return ""
    mean = f"{seconds_text(mpi.mean_s)} on average{f', most in {mpi.most}' if mpi.most else ''}"
    return f"; ranks spend {percent_text(mpi.mean_s / run_s)} of the run in calls of MPI ({mean})"


def _other_threads(trace: Trace, findings: Sequence[Finding], run_s: float) -> tuple[str, bool]:
    """Return how long other threads than the first one of a rank are in I/O, in words, and whether it may wait.

    It waits no longer than the one of them that is longest there.
    """
    cost, calls = trace.calls.cost, trace.calls.totals
    beside = 0.0 if cost is None else float(cost.other_threads_io.max(initial=0.0))
    if not beside or calls is None:
        return "", False
    text = f"; other threads are in I/O for {seconds_text(beside)} beside the first one of a rank"
    if beside < _LITTLE * run_s:
        return text, False
    longest = float(np.delete(io_seconds(calls), trace.definitions.locations.first).max())
    beside_it = (one for one in findings if 2 * one.evidence.get("first_thread_s", np.inf) < (one.cost_s or 0.0))
    named = [one for one in beside_it if rule_of(one.id).in_short]
    first = max(named, key=lambda one: (not rule_of(one.id).by_time, one.cost_s or 0.0), default=None)
    why = "" if first is None or (first.cost_s or 0.0) < _MOST * longest else f", mostly because {_wrong(first)}"
    more = f"if it does, more threads, or less for each to do, could save up to {seconds_text(longest)}"
    return f"{text}{why}, and whether it waits for them is not recorded: {more}", True


def _of_any(trace: Trace) -> float | None:
    """Return the time in s in which any rank is in a call of I/O; None where no calls are recorded."""
    calls = trace.calls.totals
    return None if calls is None else calls.any_ticks / trace.definitions.clock.ticks_per_second


def _measured(trace: Trace) -> tuple[float, float | None, int | None, str] | None:
    """Return the time in I/O of the rank longest in it, the mean over ranks, that rank, and what it was measured by."""
    recording, cost = trace.definitions.recording, trace.calls.cost
    if cost is not None and len(cost.io):
        longest = int(cost.io.argmax())
        return float(cost.io[longest]), float(cost.io.mean()), cost.rank[longest], "calls"
    start, end = trace.window
    if recording.counters is not None and start <= 0.0 and end >= trace.duration:
        return _counted(facts_of(trace))
    if recording.reason("operations") or recording.reason("ranks"):
        return None
    took = blocking_s(trace)
    if not took.any():
        return None
    ranks = trace.definitions.groups.rank
    rank = int(ranks[took.argmax()])
    # Block devices are a process of their own, beside the ranks.
    of_ranks = took[ranks >= 0] if rank >= 0 else took
    return float(took.max()), float(of_ranks.sum()) / max(1, trace.ranks), rank if rank >= 0 else None, "operations"


def _counted(facts: CountedFacts) -> tuple[float, None, int | None, str]:
    """Return the same by counters: streams of ISO C are no part of the other layers, which call one another.

    There is no mean: of a file that ranks share only the slowest one's time is counted by itself.
    """
    stack, streams = (0.0, -1), (0.0, -1)
    for group in facts.layers:
        took = facts.longest(group.rows, *KINDS)
        stack, streams = (stack, took) if group.layer == "ISOC" else (max(stack, took), streams)
    together = stack[0] + streams[0] if stack[1] == streams[1] else max(stack[0], streams[0])
    longest = min(together, facts.run_s)
    rank = max(stack, streams)[1]
    return longest, None, rank if rank >= 0 else None, "counters"


def _causes(findings: Sequence[Finding], io_s: float, run_s: float) -> list[Finding]:
    """Return the findings of one kind that explain most of the I/O, the longest first, if it is a share that matters.

    What reads and what writes cost the same ranks in the same way adds up. What could save next to nothing of the run
    is no cause worth a headline, unless it is known that nothing helps.
    """
    explains = {rule.id for rule in rules() if rule.in_short and not (rule.may_be_meant or rule.outside_io)}
    least = LEAST_COST * run_s
    worth = [one for one in findings if one.gain_s in (None, _NOTHING) or one.gain_s[1] >= least]
    priced = [one for one in worth if one.id in explains and one.cost_s is not None]
    alike = [[one, *(other for other in priced if _adds(other, one))] for one in priced]
    found = max(alike, key=_explained, default=[])
    little = _cost(found) < _OF_IO * io_s and all(one.severity == "info" for one in found)
    return [] if little else found


def _explained(causes: Sequence[Finding]) -> tuple[float, float, float]:
    """Return what causes cost, the first of them, and what at least could be saved of it.

    Where it explains hardly more, what only the times of a run tell, and no reason for it, comes behind what the
    program does each time, and what may save nothing behind what saves something for sure; what nothing helps against,
    and that something stood in the way, behind what explains half as much.
    """
    first = causes[0]
    least = (first.gain_s or _NOTHING)[0]
    by_times = rule_of(first.id).by_time and "reason" not in first.evidence
    later = _ALIKE if by_times or first.id == _NEEDLESS or not least else 1.0
    half = first.gain_s == _NOTHING or first.id == _STALLED
    return _cost(causes) * (_MOST if half else later), _cost(causes[:1]), least


def _adds(other: Finding, one: Finding) -> bool:
    """Tell whether what another finding costs the same ranks in the same way adds to what one costs."""
    if other is one or other.id != one.id or not _who(other) & _who(one):
        return False
    ways = other.evidence.get("direction"), one.evidence.get("direction")
    return one.id == _APART if other.layer != one.layer else None not in ways and ways[0] != ways[1]


def _late(findings: Sequence[Finding], causes: Sequence[Finding], run_s: float) -> str:
    """Return how long others wait for ranks that are late or do more, in words; nothing where that is little.

    Nor where it is the cause that a rank is late.
    """
    known = {one.id for one in causes}
    late = (one for one in findings if one.id in _LATE and one.id not in known and one.severity != "info")
    uneven = [(one.evidence.get("others_wait_s", 0.0), one) for one in findings if one.id in _UNEVEN]
    found = [(one.cost_s or 0.0, one) for one in late][:1] or sorted(uneven, key=lambda pair: -pair[0])
    waited, first = found[0] if found else (0.0, None)
    if first is None or waited < MUCH_OF_RUN * run_s:
        return ""
    if first.id in known:
        return f"; others wait up to {seconds_text(waited)} for that"
    return f"; {_wrong(first)}, for which others wait up to {seconds_text(waited)}"


def _wrong(one: Finding) -> str:
    """Return what is wrong, in words."""
    return _in_short(one).partition(";")[0].format_map(_told([one]))


def _in_short(one: Finding) -> str:
    """Return what is wrong and what helps, as its rule says or the finding itself."""
    return str(one.evidence.get("in_short", rule_of(one.id).in_short))


def _cost(causes: Sequence[Finding]) -> float:
    """Return what causes cost together in I/O, in s; of what several threads do, the first one of a rank."""
    return sum(one.evidence.get("first_thread_s", one.cost_s) or 0.0 for one in causes)


def _who(one: Finding) -> frozenset[int]:
    """Return the ranks whose time it is."""
    return frozenset(one.evidence.get("slow_ranks", one.ranks))


def _why(causes: Sequence[Finding], findings: Sequence[Finding], gain: tuple[float, float] | None, io_s: float) -> str:
    """Return what is wrong, what helps and what could be saved, of one kind and of those that share its time."""
    first, told = causes[0], _told(causes)
    wrong, _, helps = zip(*(_in_short(one).partition(";") for one in _of_one_time(first, findings)), strict=True)
    saved = f"up to {seconds_text(min(io_s, _cost(causes)), 2)}"
    if gain == _NOTHING:
        return f"{' and '.join(wrong)}; nothing to gain by {' and '.join(map(str.strip, helps))}".format_map(told)
    if gain is not None:
        saved = seconds_range_text(*gain)
    return f"{' and '.join(wrong)}; {' and '.join(map(str.strip, helps))} could save {saved}".format_map(told)


def _told(causes: Sequence[Finding]) -> Mapping[str, Any]:
    """Return what short texts about causes of one kind may name."""
    first = causes[0]
    told: defaultdict[str, Any] = defaultdict(str, {"layer": first.layer, **first.evidence})
    told["times"] = factor_text(first.evidence.get("slower") or 0.0)
    told["who"] = named_ranks(list(first.ranks)) if 0 < len(first.ranks) <= _NAMED else "few ranks"
    told["direction"] = " and ".join(f"{one.evidence.get('direction', 'call')}s" for one in reversed(causes))
    return told


def _of_one_time(first: Finding, findings: Sequence[Finding]) -> list[Finding]:
    """Return a finding, among others that counters hold the same time for where there are any."""
    seconds, least = first.evidence.get("slowest_s"), _ALIKE * (first.cost_s or 0.0)
    if seconds is None or first.id not in _ONE_TIME:
        return [first]
    ids = {
        one.id: one
        for one in reversed(findings)
        if one.layer == first.layer and one.evidence.get("slowest_s") == seconds and (one.cost_s or 0.0) >= least
    }
    return [ids[one] for one in _ONE_TIME if one in ids]


def _gain_of(causes: Sequence[Finding], io_s: float) -> tuple[tuple[float, float] | None, str]:
    """Return what could be saved of the cost of all, at least and at most, and what that rests on.

    No range where nothing shows it, and no more than all of the I/O. Of a cause that is most of the I/O, at most the
    same share of all of it.
    """
    known, reason = [one for one in map(_gained, causes) if one is not None], causes[0].gain_reason
    if len(known) < len(causes):
        return None, reason
    (least, most), cost = (sum(one[place] for one in known) for place in (0, 1)), _cost(causes)
    waits = bool(causes[0].evidence.get("meanwhile"))
    if _MOST * io_s <= cost < io_s and causes[0].id in _OF_ALL and BOUNDED not in reason and not waits:
        # Closes and opens wait for the same: what spares most of these calls' time spares theirs.
        most *= io_s / cost
        reason += "; at most with as much of the other calls, if they wait for the same"
    most = min(most, io_s)
    return (min(least, most), most), reason


def _gained(one: Finding) -> tuple[float, float] | None:
    """Return what could be saved of what a cause costs, of several threads the part of the first one of a rank."""
    if one.gain_s is None or not one.cost_s:
        return one.gain_s
    part = _cost([one]) / one.cost_s
    return part * one.gain_s[0], part * one.gain_s[1]


def _longest(trace: Trace, longest: float, summed: float | None, rank: int | None) -> tuple[str | None, str]:
    """Return the layer whose calls of one kind take longest, and whether they are most of the I/O.

    Of the rank that is longest in I/O, for that is what it is told of; where calls are not recorded, summed over ranks.
    Where it is not known how long all are in I/O, the kinds of all layers together stand for it.
    """
    calls, groups = trace.calls.totals, trace.definitions.groups
    process = int(np.flatnonzero(groups.rank == rank)[0]) if calls is not None and rank is not None else None
    io_s = summed if process is None else longest
    took = _seconds_by_kind(trace, process)
    took |= _waited(trace, took, io_s, process)
    # The highest layer comes first where a lower one takes as long.
    (name, kind), most = max(took.items(), key=lambda item: item[1], default=(("", ""), 0.0))
    part = "most of it" if most > 0.5 * (sum(took.values()) if io_s is None else io_s) else "the largest part of it"
    what = kind if kind.startswith("waiting") else f"{name} {kind}"
    return (name, f"{part} {what}") if most > 0 else (None, "")


def _seconds_by_kind(trace: Trace, process: int | None) -> dict[tuple[str, str], float]:
    """Return how long calls of each kind take a process in s, or all, by layer and kind, the highest layer first.

    Where calls are recorded, non-blocking operations are left out: what they are under way is no time of a call.
    """
    calls = trace.calls.totals
    took: dict[tuple[str, str], float] = {}
    for layer in trace.layers.values():
        for direction in layer.directions:
            apart = 0.0 if calls is None else _seconds(trace, layer.name, direction, process)[0]
            every = layer.statistics(direction).summed_s or 0.0
            every = every if process is None else sum(_seconds(trace, layer.name, direction, process))
            took[layer.name, f"{direction}s"] = every - apart
        flushes = layer.flush_busy_s or 0.0
        took[layer.name, "flushes"] = flushes if process is None else sum(_seconds(trace, layer.name, "", process))
    for one in () if calls is None else calls.call_times if process is None else calls.call_times_of(process):
        took |= {(one.layer, f"{of.function} calls"): of.summed_s for of in one.functions}
        if not one.functions:
            took[one.layer, one.kind.replace("_", " ")] = one.summed_s
    return took


def _waited(
    trace: Trace, took: Mapping[tuple[str, str], float], io_s: float | None, process: int | None
) -> dict[tuple[str, str], float]:
    """Return how long ranks wait for non-blocking operations, at most what the calls of their layer leave of the I/O.

    It is the highest layer that waits. Nothing where no calls are recorded.
    """
    found: dict[tuple[str, str], float] = {}
    for direction in DIRECTIONS if io_s is not None and trace.calls.totals is not None else ():
        having = [one.name for one in trace.layers.values() if direction in one.directions]
        under_way = {name: seconds for name in having if (seconds := _seconds(trace, name, direction, process)[0])}
        for name, seconds in list(under_way.items())[:1]:
            others = sum(value for (layer, _), value in took.items() if layer == name)
            kind = f"waiting for non-blocking {name} {direction}s"
            found[name, kind] = min(seconds, max(0.0, (io_s or 0.0) - others))
    return found


def _seconds(trace: Trace, layer: str, direction: str, process: int | None) -> tuple[float, float]:
    """Return how long non-blocking and other operations of a layer are under way, in s, summed; flushes for ``""``."""
    cells = trace.relations.cells
    flushes = cells.selected & (cells.layer == cells.layer_row(layer)) & (cells.mode == IoMode.FLUSH)
    chosen = cells.of(layer, direction) if direction else flushes
    # Its time in I/O is that of its first thread.
    chosen &= (process is None) | (cells.process == process) & ~cells.beside
    beside = (cells.flags & np.uint32(IoFlag.NON_BLOCKING)) > 0
    return cells.seconds(chosen & beside), cells.seconds(chosen & ~beside)


def _recording(trace: Trace, mean: float | None, run_s: float) -> tuple[str, float]:
    """Return what recording takes of the I/O, in words where it is much, and as a share."""
    if not mean:
        return "", 0.0
    cells, handles = trace.relations.cells, trace.sums.handles
    events = 2 * cells.operations(cells.selected)
    events += sum(int(handles.times(row)[1].sum()) for row in range(len(cells.layers)))
    each = events * _RECORDED_S / trace.ranks
    if each < max(_RECORDED * mean, min(_MUCH_RECORDED * mean, _LITTLE * run_s)):
        return "", each / mean
    took = f"takes about {seconds_text(each)}{' a rank' if trace.ranks > 1 else ''} of that, or more"
    if each >= _MOST_RECORDED * mean:
        # What it takes is an estimate that may be above all the I/O there is.
        took = "may take most of that: it is an upper bound"
    return f"; recording its {events:,} events {took}", each / mean


def _hidden(trace: Trace, share: float) -> str:
    """Return what no recorder of calls sees, in words, where there is little I/O and something hints at it."""
    calls = trace.calls.totals
    if calls is None or share >= _LITTLE_SEEN:
        return ""
    names, region = calls.functions.regions.name, calls.paths.region
    without = np.bincount(region, calls.times[:, 2, 0], minlength=len(names)).astype(int)
    # Pipes and sockets, which nobody records, are neither opened nor have places.
    known = zip(names, without.tolist(), calls.functions.layer.tolist(), strict=True)
    failed = {name: count for name, count, layer in known if layer >= 0 and _ON_FILES.match(name)}
    text, most = "", max(failed, key=lambda name: failed[name], default="")
    if sum(failed.values()) >= _OFTEN * trace.ranks:
        text = (
            f"; {sum(failed.values()):,} calls such as {most} leave no event, as where they fail, and count as no I/O"
        )
    moved = sum(layer.statistics(way).bytes for layer in trace.layers.values() for way in layer.directions)
    opens = int(trace.sums.handles.opens["count"].sum())
    # Who opens thousands of files and moves nothing is after their names.
    if 0 < opens < _OFTEN and moved < _NEXT_TO_NOTHING:
        text += "; hardly a byte moves: what mapped files and child processes take is not recorded"
    return text


def _unseen(trace: Trace, run_s: float) -> str:
    """Return what is in no layer, in words.

    Calls on files that are not known, where they take long; what was written by functions that the recorder does not
    know, as flushes show that follow no write.
    """
    cost, text = trace.calls.cost, ""
    aside = float(cost.set_aside.mean()) if cost is not None and len(cost.set_aside) else 0.0
    if 0 < _ASIDE * run_s <= aside and not trace.set_aside.files:
        text = f". {percent_text(aside / run_s)} of the run more is I/O on files that are not known, and in no layer"
    for layer in trace.layers.values():
        if layer.name == "ISOC" and layer.flushes and not layer.statistics("write").operations:
            flushes = counted(layer.flushes, "flush", "flushes")
            text += f". {flushes} of ISOC without a recorded write: what fprintf and the like write is not recorded"
    return text + _of_children(trace) + _not_moved(trace, run_s)


def forks(trace: Trace) -> int:
    """Return how many children a program makes by fork, where that is marked; not those of the MPI library."""
    calls = trace.calls.totals
    if calls is None or _FORK not in calls.functions.regions.name:
        return 0
    paths, names = calls.paths, calls.functions.regions.name
    fork = np.array([name == _FORK for name in names])[paths.region]
    of_mpi = np.array([name.startswith("MPI_") for name in names])[paths.region]
    return int(calls.times[fork & ~((paths.parent >= 0) & of_mpi[paths.parent]), :, 0].sum())


def _of_children(trace: Trace) -> str:
    """Return that child processes are not recorded, in words, where the trace tells of forks."""
    made = forks(trace)
    return f". {counted(made, 'child', 'children')} {'is' if made == 1 else 'are'} forked and not recorded" * (made > 0)


def _not_moved(trace: Trace, run_s: float) -> str:
    """Return which files are open to write for long though nothing is recorded to be written to them, in words."""
    definitions, least = trace.definitions, _HELD * run_s
    if not definitions.recording.knows("operations", "metadata"):
        return ""
    handle, access = trace.sums.handles.writable.keys
    # Some are only made, to be there; what layers are to each other takes time to find.
    if not len(handle) or _held_s(trace, np.isin(trace.sums.handles.held.keys[0], handle)) < least:
        return ""
    # What is opened to read as well may only be read.
    cells = trace.relations.cells
    done = cells.columns.operations > 0
    found = [np.zeros(0, np.int64)]
    for used, mine in ((done & (cells.mode == IoMode.WRITE), access == WRITE_ONLY), (done, access != WRITE_ONLY)):
        file = definitions.handles.file[handle[mine & trace.scope.selection.selected[handle]]]
        found.append(np.setdiff1d(file[file >= 0], cells.file[used]))
    empty = np.unique(np.concatenate(found))
    empty = empty[~trace.scope.folders[empty]]
    of_empty = np.isin(trace.sums.handles.held.keys[0], handle[np.isin(definitions.handles.file[handle], empty)])
    if not len(empty) or _held_s(trace, of_empty) < least:
        return ""
    name = definitions.files.name[empty[0]].rpartition("/")[2]
    named = f"{name} and {counted(len(empty) - 1, 'other')}" if len(empty) > 1 else name
    return (
        f". No write is recorded to {counted(len(empty), 'file')} opened for it ({named}): what may reach "
        f"{'them' if len(empty) > 1 else 'it'} by mapping, copies within the system or other functions is not counted"
    )


def _held_s(trace: Trace, rows: Mask) -> float:
    """Return for how long a rank has some of the handles whose time is known on average, in s."""
    held, window = trace.sums.handles.held, trace.scope.window
    # One that was there before is gone without having been made.
    ticks = np.maximum(held["ticks"][rows] + (window.end - window.start) * held["open"][rows], 0)
    return float(ticks.sum()) / (window.ticks_per_second * max(1, trace.ranks))
