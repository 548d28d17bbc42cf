"""Findings: what stands out in the flow of I/O down the stack, with the evidence and what helps."""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final

import numpy as np

from ...layers.attribution.calls.cost import RunCost
from ...layers.attribution.calls.functions import CALLER, FUNCTION
from ...layers.flow.relations import SizeLimits
from ...layers.trace import Trace
from ...model.document import Record
from ...model.errors import IostrataError
from ...model.plugins import PluginWarning
from ...model.quantities import counted, named_ranks, percent_text, seconds_range_text, seconds_text
from ...model.recording import Recording
from ..results.result import PeriodResult
from .advice import advice_for, shown_in
from .counted import CountedFacts, facts_of
from .facts import NO_PERIODS, Facts, Match
from .rule import SEVERITIES, Rule, rules, severity_of
from .waiting import held_up_s, outside_alone

LEAST_COST: Final = 0.001
"""What costs a smaller share of the run is only counted where there is little room: runs differ by more."""
_RANKS: Final = "ranks"
"""What shows that advice for several ranks is of use."""
_NAMED: Final = 4
"""More ranks than these are not named."""
_OTHER_WORK: Final = ("late-arrivals", "slow-iteration")
"""Findings that what ranks do beside I/O may be the cause of: less of it saves more than I/O takes."""
BOUNDED: Final = "no more than the run takes beside what one rank does outside of I/O and MPI"
HIDDEN: Final = "without what goes on while another rank works that all wait for"
_SLACK: Final = 1.01
"""Of what a rank is in calls of I/O: operations in them take no longer."""
_BY_COUNTERS: Final = " (by sums of the whole run)"
_BESIDE: Final = " (in the background: by other threads than the first of a rank, which may not wait for it)"


class Finding(Record):
    """One finding.

    Attributes
    ----------
    id : str
        Name of the rule.
    severity : str
        ``critical`` where it costs a fifth of the run, ``warning`` from a fiftieth on; ``info`` where it costs less,
        where nobody knows what it costs, where it may well be meant, and where other threads than a rank's first one
        do it.
    layer : str
        Layer that is looked at; of a pair the upper one.
    sentence : str
        What was found, with its numbers.
    cost_s : float or None
        What it costs the run at most, in s: the time that the rank which is longest in the operations concerned spends
        there, or the part of it that the rule blames, as others may wait or compute meanwhile; of non-blocking
        operations what it may wait for them. None where the trace has no times of what it is about.
    cost_share : float or None
        The same over the length of the run, or of the window.
    evidence : mapping of str to number, str or list
        The numbers behind it, by names that are the rule's own; what all rules may give stands in the fields below.
    advice : str
        What to do about it.
    caution : str
        Why it may be wrong; empty where nothing is known against it.
    gain_s : tuple of float or None
        What of the cost could be saved, at least and at most, in s, by what the trace shows of a better case; None
        where it shows none.
    gain_reason : str
        Which better case.
    """

    ENTRIES: ClassVar = (
        "id", "severity", "layer", "text", "cost_s", "cost_share", "gain_s", "gain_reason", "evidence", "advice",
    )  # fmt: skip

    id: str
    severity: str
    layer: str
    sentence: str
    cost_s: float | None
    cost_share: float | None
    evidence: Mapping[str, Any]
    advice: str
    caution: str = ""
    gain_s: tuple[float, float] | None = None
    gain_reason: str = ""

    @property
    def statement(self) -> str:
        """What was found, without what it costs."""
        return self.sentence + self.caution

    @property
    def text(self) -> str:
        """What was found and what it costs."""
        if self.cost_s is None or self.cost_share is None:
            return self.statement
        cost = f"; costs at most {seconds_text(self.cost_s)}, {percent_text(self.cost_share)} of the run"
        gain = f", of which {self.gain_text} could be saved" if self.gain_s else ""
        gain = gain if any(self.gain_s or (1,)) else ", with nothing to save"
        return self.sentence + cost + gain + self.caution

    @property
    def gain_text(self) -> str:
        """What could be saved, from which time to which; empty where that is not known."""
        return "" if self.gain_s is None else seconds_range_text(*self.gain_s)

    @property
    def is_small(self) -> bool:
        """Whether it costs so little that it is only counted where there is little room."""
        return self.cost_share is not None and self.cost_share < LEAST_COST

    @property
    def ranks(self) -> tuple[int, ...]:
        """The first of the ranks concerned; empty where the finding is about no rank."""
        return tuple(self.evidence.get("ranks", ()))

    @property
    def files(self) -> tuple[str, ...]:
        """Names of the files concerned, those with the most operations first, at most 8."""
        return tuple(self.evidence.get("files", ()))

    @property
    def time_range(self) -> tuple[float, float] | None:
        """From the first begin to the last end of the operations concerned, in s from the trace's start."""
        found = self.evidence.get("time_range_s")
        return None if found is None else (found[0], found[1])


def applicable(recording: Recording) -> tuple[Rule, ...]:
    """Return the rules that can be looked for in what a recorder knows."""
    return tuple(rule for rule in rules() if not rule.reason_missing(recording))


def no_findings(recording: Recording) -> str:
    """Return what is said where there are no findings: what else could be looked for in another recording."""
    if not recording.reason("operations"):
        return "No findings."
    what = "No findings by counters: others" if recording.counters is not None else "No findings: they"
    return f"{what} need single operations, which are not recorded."


def find(
    trace: Trace, chosen: Iterable[Rule] | None = None, periods: Mapping[tuple[str, str], PeriodResult] = NO_PERIODS
) -> tuple[Finding, ...]:
    """Return what the rules find in a trace, on its selected files and within its window.

    Parameters
    ----------
    chosen : iterable of Rule, optional
        All of `rules` by default; a site that knows better changes thresholds by `dataclasses.replace`. Rules that need
        what the trace's recorder does not know are left out.
    periods : mapping
        What was detected already in the bandwidth of a layer in a direction, by default options; it is not done again.

    Returns
    -------
    tuple of Finding
        The most severe first; within a severity those that cost most, or half of it where they may be meant and
        show nothing to save. Where the trace is damaged, each says that what
        is lost may be behind it: a ratio of two layers is wrong where only one lost operations. One by counters says so
        where these are not complete.
    """
    recording = trace.definitions.recording
    table = [rule for rule in (rules() if chosen is None else chosen) if not rule.reason_missing(recording)]
    if not table:
        return ()
    shown = shown_in(trace.definitions, trace.order) | ({_RANKS} if trace.ranks > 1 else set())
    found = [
        (rule, _finding(facts, rule, match, shown))
        for rule, facts in _looked_at(trace, table, periods)
        for match in _matches(facts, rule)
    ]
    # What has its cause beside it would report the same time once more; by counters each has a time of its own.
    apart = {rule.id for rule in table if rule.by_counters(recording)}
    reported = [(rule, one) for rule, one in found if rule.id in apart or not _is_beside(one, rule.explained_by, found)]
    follows = (_is_beside(one, dict.fromkeys(rule.follows, 1.0), reported) for rule, one in reported)
    ranked = (replace(one, severity="info") if less else one for (_, one), less in zip(reported, follows, strict=True))
    meant = {rule.id for rule in table if rule.may_be_meant}

    def place(one: Finding) -> tuple[int, float, bool]:
        """Let what may well be right as it is come behind what costs as much, or half as much if it may save some."""
        half = 0.5 if one.id in meant and one.gain_s is None else 1.0
        return SEVERITIES.index(one.severity), -half * (one.cost_s or 0.0), one.id in meant

    return tuple(sorted(ranked, key=place))


def _looked_at(
    trace: Trace, table: Sequence[Rule], periods: Mapping[tuple[str, str], PeriodResult]
) -> Iterator[tuple[Rule, Facts | CountedFacts]]:
    """Give each rule with what it looks at: operations, or counters where the recorder has these only."""
    limits = {field: rule.thresholds[name] for rule in table for field, name in rule.limits.items()}
    recording = trace.definitions.recording
    facts: dict[bool, Facts | CountedFacts] = {}
    for rule in table:
        counters = rule.by_counters(recording)
        if counters not in facts:
            facts[counters] = facts_of(trace) if counters else Facts(trace, SizeLimits(**limits), periods)
        yield rule, facts[counters]


def evidence_units(findings: Iterable[Finding]) -> dict[str, str]:
    """Return the units of the numbers in the evidence of findings, by name; see `Rule.unit`."""
    known = {rule.id: rule for rule in rules()}
    names = [(known[one.id], name) for one in findings if one.id in known for name in one.evidence]
    return {name: unit for rule, name in names if (unit := rule.unit(name)) is not None}


def _matches(facts: Facts | CountedFacts, rule: Rule) -> Iterator[Match]:
    """Give the matches of a rule; one that fails warns, and costs the others nothing."""
    try:
        yield from rule.looked_for(facts, isinstance(facts, CountedFacts))
    except (IostrataError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001
        text = f"finding {rule.id} is left out: {type(error).__name__}: {' '.join(str(error).split())}"
        warnings.warn(text, PluginWarning, stacklevel=2)


def _is_beside(one: Finding, causes: Mapping[str, float], found: Iterable[tuple[Rule, Finding]]) -> bool:
    """Tell whether one of some rules reports in the layer and direction, or in any, at least its share of the cost."""
    layer, way, cost = one.layer, one.evidence.get("direction"), one.cost_s or 0.0
    beside = (other for _, other in found if other.layer == layer and other.evidence.get("direction", way) == way)
    return any(other.id in causes and (other.cost_s or 0.0) >= causes[other.id] * cost for other in beside)


def _names(text: str, evidence: Mapping[str, Any]) -> str:
    """Return which files, ranks and calls a finding is about, in brackets, as far as its text does not say so."""
    files, ranks = (one if isinstance(one := evidence.get(name), list) else [] for name in ("files", "ranks"))
    told = []
    if files and files[0] not in text and " files" not in text:
        others = evidence.get("file_count", 1) - 1
        told.append(f"{files[0]} and {counted(others, 'other')}" if others > 0 else files[0])
    if 0 < len(ranks) <= _NAMED and evidence.get("rank_count", len(ranks)) == len(ranks) and "rank" not in text:
        told.append(named_ranks(ranks))
    function, caller = (evidence.get(name, "") for name in (FUNCTION, CALLER))
    if caller or function not in text:
        told.append(f"{function} in {caller.partition(' (')[0]}" if caller else function)
    return f" ({'; '.join(told)})" if told else ""


def _by_streams(facts: Facts | CountedFacts, match: Match) -> bool:
    """Tell whether calls of ISO C make a match, or cause what does: only they have a buffer to set."""
    if match.layer == "ISOC" or match.cells is None or isinstance(facts, CountedFacts):
        return match.layer == "ISOC"
    cells = facts.cells
    above = cells.attribution.parent[match.cells]
    return bool((cells.layer[above[above >= 0]] == (*cells.layers, "ISOC").index("ISOC")).any())


def _first_threads_s(facts: Facts | CountedFacts, rule: Rule, match: Match) -> float | None:
    """Return how long the first thread of a rank is in what was found at most, in s; None where only first ones act."""
    if isinstance(facts, CountedFacts) or rule.outside_io or facts.first_threads_s is None:
        return None
    cells = match.cells
    if cells is None and "direction" in match.evidence:
        cells = facts.cells.of(match.layer, match.evidence["direction"])
    if cells is None or not cells.any():
        return facts.first_threads_s
    return min(facts.first_threads_s, facts.longest_s(cells & ~facts.cells.beside))


def _circumstances(facts: Facts | CountedFacts, match: Match, deed: str) -> dict[str, Any]:
    """Return by which calls, by whom, on which files and when something was done, as far as that is known."""
    if isinstance(facts, CountedFacts):
        return match.where or {}
    called = facts.called(match.layer, deed, match.cells)
    if match.where is not None:
        return {**called, **match.where}
    return called if match.cells is None else {**called, **facts.where(match.cells)}


def _bounded(
    facts: Facts | CountedFacts, rule: Rule, match: Match, gain: tuple[float, float] | None, reason: str
) -> tuple[tuple[float, float] | None, str]:
    """Return no more than the run could be shorter by if I/O took no time, as far as first threads tell it.

    Nor more than what does not go on while a rank works that all wait for. Of ranks that are few, at least no more than
    others are longer in MPI or I/O, where they may wait for these.
    """
    if isinstance(facts, CountedFacts) or rule.outside_io or rule.id in _OTHER_WORK or gain is None:
        return gain, reason
    cost = facts.trace.calls.cost
    if cost is None or cost.other_threads_io.any():
        return gain, reason
    held = _held_up_s(facts, match)
    if held < gain[1]:
        gain, reason = (min(gain[0], held), held), f"{reason}; {HIDDEN}"
    if gain[0] and cost.mpi.all() and match.cells is not None:
        gain = (min(gain[0], _waited_for_few(cost, facts.ranks_of(match.cells))), gain[1])
    if gain[1] <= cost.most_saved:
        return gain, reason
    if gain[1] > _SLACK * cost.io.max(initial=0.0) or not (cost.mpi.all() or len(cost.io) == 1):
        # What it is about is in no call that was recorded, or it is not known what a rank waits for.
        return gain, reason
    return (min(gain[0], cost.most_saved), cost.most_saved), f"{reason}; {BOUNDED}"


def _waited_for_few(cost: RunCost, ranks: Sequence[int]) -> float:
    """Return how much longer others are in MPI or I/O than `ranks` in MPI, in s; infinite unless these are few."""
    mine = np.isin([-1 if one is None else one for one in cost.rank], ranks)
    if not 0 < 2 * np.count_nonzero(mine) <= len(mine):
        return np.inf
    return max(0.0, float(np.median((cost.mpi + cost.io)[~mine]) - cost.mpi[mine].max()))


def _held_up_s(facts: Facts, match: Match) -> float:
    """Return for how long the operations of a match may hold up a run, in s; see `held_up_s`."""
    if match.cells is None or outside_alone(facts.trace) is None:
        return np.inf
    ranks = facts.definitions.groups.rank[facts.cells.processes].tolist()
    seconds = facts.rank_seconds(match.cells).tolist()
    each = (min(took, held_up_s(facts.trace, rank)) for rank, took in zip(ranks, seconds, strict=True) if took)
    return max(each, default=np.inf)


def _finding(facts: Facts | CountedFacts, rule: Rule, match: Match, shown: frozenset[str]) -> Finding:
    """Return a match with what it costs, and advice for the libraries and file systems `shown`."""
    cost = facts.cost(match)
    share = cost / facts.run_s if cost is not None and facts.run_s > 0 else None
    caution = _BY_COUNTERS if isinstance(facts, CountedFacts) else ""
    caution += " (may come from the trace's damage)" if facts.damaged(match.layer) else ""
    deed = str(match.evidence.get("direction", "flush" if "flushes" in match.evidence else ""))
    evidence = {**match.evidence, **_circumstances(facts, match, deed)}
    told = facts.definitions.recording.told
    severity = "info" if match.minor or rule.may_be_meant else severity_of(share)
    first_s = _first_threads_s(facts, rule, match)
    if first_s is not None and cost is not None:
        evidence["first_thread_s"] = min(first_s, cost)
        if severity_of(min(first_s, cost) / facts.run_s) != severity:
            severity, caution = "info", caution + _BESIDE
    libraries = shown if _by_streams(facts, match) else shown - {"ISOC"}
    text, advice = (
        told(match.text) + told(_names(match.text, evidence)),
        advice_for(match.advice or rule.advice, libraries, deed),
    )
    gained = _bounded(facts, rule, match, *match.gained(cost))
    return Finding(rule.id, severity, match.layer, text, cost, share, evidence, advice, caution, *gained)
