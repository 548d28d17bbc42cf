"""What a finding is declared by: one function with its thresholds, what it needs, and what helps."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import cache, cached_property
from inspect import Parameter, signature
from operator import attrgetter
from typing import Any, Final

from ...model.plugins import Plugins, docstring, instance_of
from ...model.recording import Recording
from .facts import Match

SEVERITIES: Final = ("critical", "warning", "info")
"""From the most to the least severe."""
_FROM: Final = (0.2, 0.02, 0.0)
"""From which share of the run on a cost is that: what takes a fiftieth of a run is hardly seen in its length."""
_NOTE: Final = re.compile(r"^:([^:]+): (.*(?:\n +.*)*)", re.MULTILINE)
_COUNTS: Final = ("calls", "count", "files", "flushes", "operations", "phases", "transfers")
_UNITS: Final = {"bytes": "byte", "s": "s", "share": "share", "rank": "rank", "ranks": "rank"} | dict.fromkeys(
    _COUNTS, "count"
)
"""Units of numbers by the last word of their names."""


@dataclass(frozen=True)
class Rule:
    """One kind of finding: what the decorator `finding` makes of a function.

    Attributes
    ----------
    id : str
        Its name, which does not change.
    look : callable
        ``(facts, **thresholds)`` to an iterator of `Match`.
    may_be_meant : bool
        Whether what it finds may well be right as it is: then it is for information, whatever it costs.
    notes : mapping of str to str
        ``Why``, ``How it is measured``, ``When it is wrong`` and ``What helps``.
    thresholds : mapping of str to float
        From where on it reports, by the names of the function's keyword parameters.
    needs : tuple of str
        What the recorder must know, by the names of `iostrata.model.recording.CAPABILITIES`: what is not recorded
        would look like a fault. All rules need single operations.
    units : mapping of str to str
        Units of those numbers in the evidence whose name does not end in a word that says so.
    explained_by : mapping of str to float
        Rules that name the cause: where one of them reports at least this share of the cost in the same layer and
        direction, this rule does not report the time once more; of operations only.
    follows : tuple of str
        Rules that ask for the same: beside one in the same layer and direction that costs as much, this one is for
        information.
    by_time : bool
        Whether times decide, so that one run has the finding and the next does not.
    outside_io : bool
        Whether what it costs is spent outside of I/O, such as waiting for who is late.
    counted : callable or None
        The same in counters, where what it needs of operations is not known: ``(counted_facts, **thresholds)``, of
        which it takes those that it has parameters for, to an iterator of `Match`.
    counters_only : bool
        Whether `look` itself looks at counters.
    limits : mapping of str to str
        Thresholds that are applied operation by operation: field of `iostrata.layers.flow.relations.SizeLimits` to name
        of the threshold.
    """

    id: str
    look: Callable[..., Iterator[Match]]
    _: KW_ONLY
    may_be_meant: bool = False
    notes: Mapping[str, str] = field(default_factory=dict)
    thresholds: Mapping[str, float] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)
    explained_by: Mapping[str, float] = field(default_factory=dict)
    follows: tuple[str, ...] = ()
    by_time: bool = False
    outside_io: bool = False
    counted: Callable[..., Iterator[Match]] | None = None
    counters_only: bool = False
    limits: Mapping[str, str] = field(default_factory=dict)

    @property
    def advice(self) -> str:
        """What to do, with the names of the knobs."""
        return self.notes.get("What helps", "")

    @property
    def in_short(self) -> str:
        """What is wrong, as a clause, and behind a semicolon what helps; empty where it does not say so."""
        return self.notes.get("In short", "").rstrip(".")

    def reason_missing(self, recording: Recording) -> str:
        """Return why it cannot be looked for in what a recorder knows; empty where it can."""
        return "" if self.by_counters(recording) else self._reason_no_operations(recording)

    def by_counters(self, recording: Recording) -> bool:
        """Tell whether it is looked for in counters: where operations do not tell, and they do."""
        able = self.counters_only or (self.counted is not None and bool(self._reason_no_operations(recording)))
        return able and recording.counters is not None

    def _reason_no_operations(self, recording: Recording) -> str:
        if self.counters_only:
            return f"{recording.recorder} kept no counters"
        return recording.reason(*self._all_needs)

    @cached_property
    def _all_needs(self) -> tuple[str, ...]:
        return ("operations", *self.needs)

    def looked_for(self, facts: Any, by_counters: bool) -> Iterator[Match]:
        """Give its matches in `facts`."""
        if by_counters and self.counted is not None:
            known = _parameters(self.counted)
            taken = {name: value for name, value in self.thresholds.items() if name in known}
            return self.counted(facts, **taken)
        return self.look(facts, **self.thresholds)

    def unit(self, name: str) -> str | None:
        """Return the unit of a number in its evidence.

        ``byte``, ``s``, ``1/s``; ``share``: of 1; ``times``: one over the other; ``ratio``: 0 where all do the same;
        ``count``; ``number``: of a thing; ``rank``: the number of a rank, or where it is no list of them how many they
        are. None for text.
        """
        return self.units.get(name) or _UNITS.get(name.rpartition("_")[2])


@cache
def _parameters(function: Callable[..., Any]) -> frozenset[str]:
    return frozenset(signature(function).parameters)


def finding(**declared: Any) -> Callable[[Callable[..., Iterator[Match]]], Rule]:
    """Make a rule of a function that looks for it.

    The function takes `iostrata.analysis.findings.Facts` and its thresholds as keyword parameters, and yields a
    `Match` for each place where it applies. Its name is the rule's id, with hyphens. Its docstring is its section of
    the guide and its advice: what it finds; under ``Parameters`` the unit of each threshold and the reason for it;
    under ``Notes`` the fields ``In short``, ``Why``, ``How it is measured``, ``When it is wrong`` and ``What helps``.

    Parameters
    ----------
    **declared
        What else `Rule` has, where it applies: ``may_be_meant``, ``needs``, ``units``, ``explained_by``, ``follows``,
        ``by_time``, ``outside_io`` and ``limits``.
    """

    def declare(function: Callable[..., Iterator[Match]]) -> Rule:
        parameters = signature(function).parameters.values()
        thresholds = {one.name: one.default for one in parameters if one.kind is Parameter.KEYWORD_ONLY}
        notes = {name: " ".join(text.split()) for name, text in _NOTE.findall(docstring(function))}
        name = function.__name__.replace("_", "-")
        return Rule(name, function, notes=notes, thresholds=thresholds, **declared)

    return declare


def severity_of(share: float | None) -> str:
    """Return how severe it is to cost a share of the run; what nobody knows the cost of is for information.

    >>> [severity_of(share) for share in (0.71, 0.05, 0.0026, None)]
    ['critical', 'warning', 'info', 'info']
    """
    return next(name for name, least in zip(SEVERITIES, _FROM, strict=True) if (share or 0.0) >= least)


def rule_of(name: str) -> Rule:
    """Return the rule with an id."""
    return next(rule for rule in rules() if rule.id == name)


_INSTALLED: Final = Plugins("iostrata.findings", instance_of(Rule))


def rules() -> tuple[Rule, ...]:
    """Return all rules by their ids, ours and those that other packages add by entry points ``iostrata.findings``."""
    return tuple(sorted(_INSTALLED.all().values(), key=attrgetter("id")))
