"""Findings: what in the flow of I/O down the stack deserves a look, with the evidence and what helps."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from ...layers.flow.sums import Limits
from ...layers.trace import Trace
from ...model.document import Record
from ...model.quantities import percent_text, seconds_text
from ...model.recording import Recording
from .bytes import (
    data_sieving,
    fill_values,
    hidden_bytes,
    missing_lower_layer,
    read_amplification,
    read_back,
    write_amplification,
)
from .calls import (
    collective_without_benefit,
    flush_dominates,
    funnelled_collective,
    layer_overhead,
    shared_file_independent,
    synchronous_writes,
    waiting_ranks,
)
from .evidence import Evidence, Match
from .lateness import stragglers
from .operations import (
    imbalance,
    metadata_storm,
    metadata_time,
    opened_not_used,
    serial_io,
    slow_ranks,
    small_requests,
    split_requests,
    stray_files,
)
from .rules import LEAST_COST, LEAST_SHARE, RULES, SEVERITIES, Rule
from .streams import alternating_access, metadata_sync, slow_operations, unaligned_requests


@dataclass(frozen=True)
class Finding(Record):
    """One finding.

    Attributes
    ----------
    id : str
        Name of the rule.
    severity : str
        ``critical``, ``warning`` or ``info``.
    layer : str
        Layer that is looked at; of a pair the upper one.
    text : str
        What was found, in a sentence with its numbers.
    cost_s : float or None
        What it costs the run at most, in s: the time that the rank which is longest in the operations concerned spends
        there, or the part of it that the rule blames, as others may wait or compute meanwhile; None where the trace has
        no times of what it is about.
    cost_share : float or None
        The same over the length of the run, or of the window.
    evidence : mapping of str to number, str or list
        The numbers behind it, by names that are the rule's own; what all rules may tell stands in the fields below.
    advice : str
        What to do about it.
    """

    id: str
    severity: str
    layer: str
    text: str
    cost_s: float | None
    cost_share: float | None
    evidence: Mapping[str, Any]
    advice: str

    @property
    def statement(self) -> str:
        """The text without what it costs."""
        return self.text.replace(_costs(self.cost_s, self.cost_share), "")

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


DETECTORS: Final[dict[str, Callable[[Evidence, Rule], Iterator[Match]]]] = {
    "write-amplification": write_amplification,
    "read-amplification": read_amplification,
    "fill-values": fill_values,
    "data-sieving": data_sieving,
    "funnelled-collective": funnelled_collective,
    "collective-without-benefit": collective_without_benefit,
    "small-requests": small_requests,
    "split-requests": split_requests,
    "metadata-storm": metadata_storm,
    "metadata-time": metadata_time,
    "read-back": read_back,
    "imbalance": imbalance,
    "shared-file-independent": shared_file_independent,
    "opened-not-used": opened_not_used,
    "waiting-ranks": waiting_ranks,
    "flush-dominates": flush_dominates,
    "synchronous-writes": synchronous_writes,
    "slow-ranks": slow_ranks,
    "stragglers": stragglers,
    "slow-operations": slow_operations,
    "serial-io": serial_io,
    "alternating-access": alternating_access,
    "metadata-sync": metadata_sync,
    "unaligned-requests": unaligned_requests,
    "layer-overhead": layer_overhead,
    "stray-files": stray_files,
    "missing-lower-layer": missing_lower_layer,
    "hidden-traffic": hidden_bytes,
}
"""What looks for each rule."""


_NEEDS: Final[dict[str, tuple[str, ...]]] = {
    "funnelled-collective": ("ranks", "collective"),
    "collective-without-benefit": ("collective",),
    "waiting-ranks": ("ranks", "collective"),
    "shared-file-independent": ("ranks", "collective"),
    "imbalance": ("ranks",),
    "serial-io": ("ranks",),
    "slow-ranks": ("ranks",),
    "stragglers": ("ranks",),
    "opened-not-used": ("metadata",),
    "metadata-storm": ("metadata",),
    "metadata-time": ("metadata",),
    "flush-dominates": ("flushes",),
    "synchronous-writes": ("metadata",),
    "metadata-sync": ("flushes",),
}
"""What a rule takes for known, by the names of `Recording`: what is not recorded would look like a fault."""
_REASONS: Final = {
    "layer-overhead": (("funnelled-collective", "collective-without-benefit"), 0.5),
    "slow-ranks": (("slow-operations",), 1.0),
    "metadata-time": (("metadata-storm",), 0.5),
    "stragglers": (("imbalance",), 0.5),
}
"""Rules whose findings others explain, in the same layer and direction, and which share of the cost that takes."""
_FOLLOWS: Final = {"waiting-ranks": ("funnelled-collective",)}
"""Rules whose findings follow from others in the same layer and direction: beside these they are for information."""
_ALL_LAYERS: Final = ("missing-lower-layer", "hidden-traffic", "layer-overhead")
"""Rules that take for known whatever a layer calls; only where handles are recorded are the layers below known too."""


def _applies(rule: Rule, recording: Recording) -> bool:
    """Tell whether the recorder tells what a rule needs."""
    if rule.id in _ALL_LAYERS and recording.handles != "recorded":
        return False
    if recording.rows != "operations":
        return False
    return all(getattr(recording, name) for name in _NEEDS.get(rule.id, ()))


def applicable(recording: Recording, rules: Iterable[Rule] = RULES) -> tuple[Rule, ...]:
    """Return the rules that can be told from what a recorder tells."""
    return tuple(rule for rule in rules if _applies(rule, recording))


def find(trace: Trace, rules: Iterable[Rule] = RULES) -> tuple[Finding, ...]:
    """Return what the rules find in a trace, on its selected files and within its window.

    Parameters
    ----------
    rules : iterable of Rule
        Ids must be those of `DETECTORS`; those that need what the trace's recorder does not tell are left out.

    Returns
    -------
    tuple of Finding
        The most severe first; within a severity those that cost most. Nothing is a warning that concerns less than one
        per cent of the bytes and of the time, that costs less than a thousandth of the run, or of which it is not known
        what it costs. Where the trace is damaged, each says that what is lost may be behind it: a ratio of two layers
        is wrong where only one lost operations.
    """
    table = applicable(trace.definitions.recording, rules)
    evidence = Evidence(trace, _limits(table))
    caution = " (may come from the trace's damage)" if trace.damage.damaged else ""
    found = [_finding(evidence, rule, match, caution) for rule in table for match in DETECTORS[rule.id](evidence, rule)]
    found = [one for one in found if not _told(one, found)]
    found = [replace(one, severity=SEVERITIES[-1]) if _follows(one, found) else one for one in found]
    return tuple(sorted(found, key=lambda one: (SEVERITIES.index(one.severity), -(one.cost_s or 0.0))))


def _told(one: Finding, found: Iterable[Finding]) -> bool:
    """Tell whether another finding gives the reason of this one, so that the same time would be told twice."""
    if one.id not in _REASONS:
        return False
    reasons, share = _REASONS[one.id]
    return any((other.cost_s or 0.0) >= share * (one.cost_s or 0.0) for other in _beside(one, found, reasons))


def _follows(one: Finding, found: Iterable[Finding]) -> bool:
    """Tell whether this one follows from another, which asks for the same and costs at least as much."""
    return any((other.cost_s or 0.0) >= (one.cost_s or 0.0) for other in _beside(one, found, _FOLLOWS.get(one.id, ())))


def _beside(one: Finding, found: Iterable[Finding], rules: tuple[str, ...]) -> list[Finding]:
    """Return the findings of some rules in the same layer and direction."""
    where = one.layer, one.evidence.get("direction")
    return [other for other in found if other.id in rules and (other.layer, other.evidence.get("direction")) == where]


def _finding(evidence: Evidence, rule: Rule, match: Match, caution: str) -> Finding:
    """Return a match with what it costs, no more than an information where it is about next to nothing."""
    severity, cost = match.severity or rule.severity, evidence.cost(match)
    if cost is None or cost < LEAST_COST * evidence.run_s or not evidence.matters(match, LEAST_SHARE):
        severity = SEVERITIES[-1]
    share = cost / evidence.run_s if cost is not None and evidence.run_s > 0 else None
    text = match.text + _costs(cost, share) + caution
    return Finding(rule.id, severity, match.layer, text, cost, share, match.evidence, rule.advice)


def _costs(seconds: float | None, share: float | None) -> str:
    """Return the end of a sentence that says what a finding costs, empty where that is not known."""
    if seconds is None or share is None:
        return ""
    return f"; costs at most {seconds_text(seconds)}, {percent_text(share)} of the run"


def _limits(rules: Iterable[Rule]) -> Limits:
    """Return the thresholds that decide operation by operation."""
    limits: dict[str, float] = {}
    for rule in rules:
        if rule.id == "small-requests":
            limits["small"] = rule.thresholds["size"]
        elif rule.id == "split-requests":
            limits |= {"split": rule.thresholds["request"], "pieces": rule.thresholds["pieces"]}
        elif rule.id == "metadata-sync":
            limits["empty"] = rule.thresholds["written"]
    return Limits(**limits)
