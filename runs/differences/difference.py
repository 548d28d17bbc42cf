"""Two sides of runs compared: the changes between them, and the verdict."""

import functools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Final, NamedTuple

import numpy as np

from ...analysis.findings import rules
from ...model.document import SCHEMA_VERSION, Document, keys_of, plain
from ...model.errors import TraceError
from ...model.quantities import seconds_text
from ..collection.names import distinct_names
from ..collection.rows import LayerRow, Run
from .changes import Change, changes_between
from .recorded import NotRecorded, cautions, other_work
from .testing import ENOUGH
from .words import things_text

_VISIBLE: Final = 0.005
"""Change of a logarithm from which on numbers of three digits differ."""
_LONGER: Final = 1.02
"""How many times as long one side takes from which on it is told, though it may be chance."""
_SHOWS_NOTHING: Final = ("finding", "finding-cost", "imbalance", "slowest-rank")
"""Changes that make no run better by themselves."""
_TIMES: Final = ("time", "bandwidth", "iteration-time", "iteration-interval", "duration")
"""Changes that say which side is faster."""
_SHOWS_HOW_LONG: Final = (*_TIMES, *_SHOWS_NOTHING, "period", "phases")
"""Changes that equal runs may show."""
_BY_LOAD: Final = math.log(4.0)
"""Change of the logarithm of a time that others on a machine or file system easily make: equal runs differed by 3."""
_CAUSE: Final = (1 / 3, 1.5)
"""Share of such a difference that a finding must cost more, or I/O take, at least and at most, to be its cause."""
_FAR: Final = 1.1
"""How many times as long a side takes that is not called better, whatever its parts are."""
_MEANS: Final = 1.1
"""Up to which times arithmetic and geometric means of intervals that are periodic differ, of one program's own."""
_STARTING: Final = 0.2
"""Share of such a difference from which on that is told of it which lies before the first I/O, or in MPI."""
_SLOWER: Final = ("slow-iteration", "slow-operations", "slow-ranks")
"""Findings that tell no cause of what stood in the way: others explain it that cost half as much."""
_ANY_IO: Final = ("not-overlapped",)
"""Findings about whatever I/O there is, which are behind no time: what is done in it is."""


class Behind(NamedTuple):
    """What may be behind it that one side takes longer: in s, by its name, and which change it is.

    Its weight says how much it explains beside others; findings have no direction.
    """

    cost_s: float
    name: str
    weight: float
    id: str
    layer: str
    direction: str | None = None

    def explains(self, most: float, rest: float, whole: float) -> bool:
        """Tell whether it explains the `rest` of a difference, in s, of which no more than `most` may be it.

        What a finding costs is a bound; what is done more often surely is, if beside other things.
        """
        is_far = self.direction is None and self.cost_s > _CAUSE[1] * whole
        return self.weight > 0 and 0 < _CAUSE[0] * rest <= most and not is_far

    def is_told_by(self, change: Change) -> bool:
        """Tell whether a change is about it."""
        kind, _, finding = change.id.partition(":")
        if self.direction is None:
            return finding == self.id and change.layer == self.layer
        return kind in (self.id, "time") and (change.layer, change.direction) == (self.layer, self.direction)


class PhasePair(NamedTuple):
    """A phase of one run and what it is in the other; times in s from the traces' starts, volumes in bytes."""

    before_start: float
    before_end: float
    before_bytes: float
    after_start: float
    after_end: float
    after_bytes: float


_PHASES: Final = {**keys_of(str, "layer direction"), **keys_of(float, " ".join(PhasePair._fields))}
DIFFERENCE: Final = {
    "schema_version": int,
    "verdict": str,
    "took?": str | None,
    "uncertain?": str | None,
    "before": list[str],
    "after": list[str],
    "unusable?": list[Annotated[Document, keys_of(str, "job reason")]],
    "changes": tuple[Change, ...],
    "cautions?": tuple[str, ...],
    "not_recorded?": tuple[NotRecorded, ...],
    "phases?": list[Annotated[Document, _PHASES]],
}
"""Keys of the document; a history in which nothing changed has neither of the optional ones."""


@dataclass(frozen=True)
class Difference:
    """What differs between runs before and after a change.

    Attributes
    ----------
    before, after : tuple of Run
        Those that could be used.
    unusable : tuple of Run
        Those that could not.
    layers : tuple of str
        Of all runs, highest first.
    changes : tuple of Change
        What matters first.
    not_recorded : tuple of NotRecorded
        What only one side's recorder tells, and is no change.
    """

    before: tuple[Run, ...]
    after: tuple[Run, ...]
    unusable: tuple[Run, ...]
    layers: tuple[str, ...]
    changes: tuple[Change, ...]
    not_recorded: tuple[NotRecorded, ...] = ()

    @property
    def mattering(self) -> tuple[Change, ...]:
        """The changes that matter."""
        return tuple(change for change in self.changes if change.matters)

    @property
    def shown(self) -> tuple[Change, ...]:
        """The changes that matter, and before them what may be behind the time, certain or not."""
        cause = [] if self.behind is None else [one for one in self.changes if self.behind.is_told_by(one)][:1]
        rest = [one for one in self.mattering if one not in cause and not _is_again(one, self.mattering)]
        return (*cause, *rest)

    @property
    def smaller(self) -> tuple[Change, ...]:
        """The changes that do not matter but can be distinguished in three digits."""
        known = {one.layer for one in self.changes if one.id == "iteration-time"}
        told = "".join(one.text for one in self.shown[:1])
        return tuple(
            one
            for one in self.changes
            if not one.matters
            and one.size >= _VISIBLE
            # What the first one cost stands behind it, and how long the runs are in the verdict.
            and one.text not in told
            and not (one.id == "duration" and self.took is not None)
            # Iterations tell it better.
            and not (one.id in ("time", "bandwidth") and one.p_value is None and one.layer in known)
            and not _is_again(one, self.changes)
        )

    @property
    def names(self) -> dict[str, str]:
        """What each run is called beside the others, by its key."""
        return distinct_names({run.job.job: run.job.name for run in (*self.before, *self.after, *self.unusable)})

    @property
    def cautions(self) -> tuple[str, ...]:
        """Sentences on what could not be compared, and on damage."""
        other = () if self._other_work is None else (self._other_work,)
        return (*other, *cautions((self.before, self.after), self.not_recorded))

    @functools.cached_property
    def _other_work(self) -> str | None:
        return other_work(self.before, self.after, self.layers)

    @property
    def verdict(self) -> str:
        """``same``, ``better``, ``worse``, or ``changed`` where it is both or neither, or A and B do different work.

        Better is what takes less time, or moves less for the same: a finding that went, and ranks that do more alike,
        have yet to show in these.
        """
        if not self.mattering:
            return "same"
        measured = {change.good for change in self.mattering if change.id.split(":")[0] not in _SHOWS_NOTHING} - {0}
        if self._other_work is not None or len(measured) != 1:
            return "changed"
        took = self._lengths
        if min(took) > 0 and (took[1] / took[0] if measured == {1} else took[0] / took[1]) >= _FAR:
            return "changed"
        return "better" if measured == {1} else "worse"

    @property
    def _lengths(self) -> list[float]:
        """How long both sides take on average, in s."""
        return [float(np.mean([run.job.duration_s or 0.0 for run in side])) for side in (self.before, self.after)]

    @property
    def took(self) -> str | None:
        """By how much one side takes longer and what may be why; None for next to nothing."""
        return self._longer[0]

    @property
    def behind(self) -> Behind | None:
        """What of it may be why, as `took` says."""
        return self._longer[1]

    @functools.cached_property
    def _longer(self) -> tuple[str | None, Behind | None]:
        sides, took = (self.before, self.after), self._lengths
        if min(took) <= 0:
            return None, None
        if max(took) < _LONGER * min(took):
            return self._as_long(max(took))
        more, slow = abs(took[1] - took[0]), took.index(max(took))
        text = f"B takes {seconds_text(more)} {'more' if slow else 'less'} than A"
        early = [_mean(_start_up(run) for run in side) for side in sides]
        starting = _finite(early[slow] - early[1 - slow], 0.0)
        started = against = ""
        if starting >= _STARTING * more:
            started = f"{seconds_text(min(starting, more))} of it before the first I/O"
        elif starting <= -_STARTING * more:
            against = f", although its first I/O comes {seconds_text(-starting)} {'earlier' if slow else 'later'}"
        rest = max(more - starting, 0.0) if started or against else more
        by_io, behind = self._by_io(slow, more, rest, started)
        return f"{text}{by_io}{against}", behind

    def _as_long(self, took: float) -> tuple[str | None, Behind | None]:
        """Say by how much I/O takes longer on one side though the runs take as long: where it is much of that, in s."""
        io = [_mean(_known_io(run) for run in side) for side in (self.before, self.after)]
        slow = int(io[1] > io[0])
        less = _finite(io[slow] - io[1 - slow], 0.0)
        if less < (_LONGER - 1) * took:
            return None, None
        text, behind = self._by_io(slow, less, less, "")
        spent = (
            f"B takes as long as A, but is in I/O for {seconds_text(less)} {'more' if slow else 'less'} "
            f"({seconds_text(io[1])} instead of {seconds_text(io[0])})"
        )
        return f"{spent}{self._mostly(slow, less) if behind is None else text}", behind

    def _by_io(self, slow: int, more: float, rest: float, started: str) -> tuple[str, Behind | None]:
        """Say how much of what one side takes `more` is I/O, of the `rest` in s that does not lie before the first."""
        io = [_mean(_known_io(run) for run in side) for side in (self.before, self.after)]
        less = _finite(io[slow] - io[1 - slow], math.inf)
        for causes in (self._done_more(slow, less), self._dearer(slow)):
            behind = max(causes, key=lambda one: one.weight * one.cost_s, default=None)
            # No more than I/O as a whole takes longer.
            most = 0.0 if behind is None else min(behind.cost_s, rest, less)
            if behind is not None and behind.explains(most, rest, max(more, rest)):
                up_to = seconds_text(min(most, more))
                part = f", {started} and up to {up_to} of it" if started else f", of which up to {up_to}"
                return f"{part} may be {behind.name}", behind
        told, waiting = f", {started}" if started else "", self._in_mpi(slow, rest)
        if math.isinf(less) or less > _CAUSE[1] * rest:
            return f"{told}{waiting}", None
        spent = f"in I/O for {seconds_text(io[1])} instead of {seconds_text(io[0])}"
        if less >= _CAUSE[0] * rest:
            return f"{told}, and is {spent}{self._mostly(slow, less)}", None
        what = "the rest" if started else "that"
        return (
            f"{told}; {f'most of {what} is no' if less > 0 else f'none of {what} is'} I/O: B is {spent}{waiting}",
            None,
        )

    def _mostly(self, slow: int, less: float) -> str:
        """Say what is busy for longer on the slow side, or costs more, where it is much of `less` in s of I/O."""
        keys = {(row.layer, row.direction) for side in (self.before, self.after) for run in side for row in run.layers}
        busy = {
            f"{things_text(*key)} keep the layer busy for": [_busy(side, *key) for side in (self.before, self.after)]
            for key in sorted(keys)
        }
        costs = [_costs(side) for side in (self.before, self.after)]
        found = {
            f"{name} ({layer}) costs up to": [side.get((name, layer), 0.0) for side in costs]
            for name, layer in costs[slow]
            if name not in (*_ANY_IO, *_SLOWER)
        }
        told = {**busy, **found}
        text = max(told, key=lambda one: told[one][slow] - told[one][1 - slow], default="")
        if not text or told[text][slow] - told[text][1 - slow] < _CAUSE[0] * less:
            return ""
        was, now = map(seconds_text, told[text])
        return f"; {text} {now} instead of {was}"

    def _in_mpi(self, slow: int, rest: float) -> str:
        """Say in which function of MPI ranks are longer, as they wait, on one side; where it is much of `rest` in s."""
        sides = [_in_functions(side) for side in (self.before, self.after)]
        if not all(sides):
            return ""
        more = {name: took - sides[1 - slow].get(name, 0.0) for name, took in sides[slow].items()}
        name = max(more, key=lambda one: more[one])
        if more[name] < _STARTING * rest:
            return ""
        was, now = (seconds_text(side.get(name, 0.0)) for side in sides)
        return f"; ranks are in {name} for {now} each on average instead of {was}"

    @property
    def uncertain(self) -> str | None:
        """What `took` says where too few runs make no time certain."""
        times = [one.size for one in self.mattering if one.good and one.id in _TIMES]
        sure = bool(times) and (self._does_other or max(times) >= _BY_LOAD)
        return None if sure or min(len(self.before), len(self.after)) >= ENOUGH else self.took

    @functools.cached_property
    def _does_other(self) -> bool:
        """Whether anything matters but times: without, others on the machine or file system may be all of it."""
        return any(one.id.split(":")[0] not in _SHOWS_HOW_LONG for one in self.mattering)

    def _done_more(self, slow: int, less: float) -> Iterator[Behind]:
        """Give how much longer a side is in what it surely does more often, or waits for, in s.

        It waits no longer for what does not block than it is longer in I/O, which is `less`.
        """
        for one in self.mattering:
            if one.id not in ("operations", "layer", "non-blocking") or not one.layer or not one.direction:
                continue
            often = [round(float(side or 0), 3) for side in (one.before, one.after)]
            busy = [_busy(side, one.layer, one.direction) for side in (self.before, self.after)]
            # Ranks that do it one after the other keep a layer busy for longer than each is in I/O.
            cost, name, more = min(busy[slow] - busy[1 - slow], less), things_text(one.layer, one.direction), slow
            if one.id == "non-blocking":
                cost, name, more = min(busy[slow], _finite(less, 0.0)), f"{name} that block", 1 - slow
            elif one.id == "operations":
                name += f" ({often[1]:,.0f} instead of {often[0]:,.0f})"
            else:
                name = f"new {name}" if slow else name
            if often[more] > often[1 - more]:
                yield Behind(cost, name, 1.0, one.id, one.layer, one.direction)

    def _dearer(self, slow: int) -> Iterator[Behind]:
        """Give what findings cost more on one side, in s, where both could have had them.

        What is there as before is behind nothing where it may be meant, or nothing is done in another way.
        """
        changed = {(one.id, one.layer) for one in self.changes}
        costs, known = [_costs(side) for side in (self.before, self.after)], {rule.id: rule for rule in rules()}
        for (name, layer), cost in costs[slow].items():
            other = costs[1 - slow].get((name, layer))
            weight = 0.0 if name in _ANY_IO else 0.5 if name in _SLOWER else 1.0
            if other is not None and (not self._does_other or (name in known and known[name].may_be_meant)):
                continue
            if other is not None or (f"finding:{name}", layer) in changed:
                yield Behind(cost - (other or 0.0), f"{name} ({layer})", weight, name, layer)

    def phases(self, layer: str, direction: str) -> tuple[PhasePair, ...]:
        """Return the aligned phases of the first run of each side; empty where one has none."""
        firsts = self.before[0].layers, self.after[0].layers
        rows = [[row for row in own if (row.layer, row.direction) == (layer, direction)] for own in firsts]
        return aligned_phases(rows[0][0], rows[1][0]) if all(rows) else ()

    def to_dict(self) -> Annotated[Document, DIFFERENCE]:
        """Return the document of ``iostrata diff --json``."""
        keys = dict.fromkeys((row.layer, row.direction) for row in self.before[0].layers)
        return {
            "schema_version": SCHEMA_VERSION,
            "verdict": self.verdict,
            "took": self.took,
            "uncertain": self.uncertain,
            "before": [run.job.job for run in self.before],
            "after": [run.job.job for run in self.after],
            "unusable": [{"job": run.job.job, "reason": run.job.reason} for run in self.unusable],
            **{name: plain(getattr(self, name)) for name in ("changes", "cautions", "not_recorded")},
            "phases": [
                {"layer": layer, "direction": direction, **pair._asdict()}
                for layer, direction in keys
                for pair in self.phases(layer, direction)
            ],
        }


def diff_runs(before: Sequence[Run], after: Sequence[Run]) -> Difference:
    """Compare runs before a change with runs after it.

    Parameters
    ----------
    before, after : sequence of Run
        One or several each. Several make an interval and a test of what is a bare difference with one.

    Raises
    ------
    TraceError
        If a side has no run that can be used.
    """
    usable = [tuple(run for run in side if run.job.usable) for side in (before, after)]
    unusable = tuple(run for run in (*before, *after) if not run.job.usable)
    for side, given in zip(usable, (before, after), strict=True):
        if not side:
            raise TraceError(
                f"none of the runs can be used: {given[0].job.reason or given[0].job.job}" if given else "no runs given"
            )
    order = _order(usable[0] + usable[1])
    found = Difference(usable[0], usable[1], unusable, order, *changes_between(usable[0], usable[1], order))
    if (behind := found.behind) is None:
        return found
    first = sorted(found.changes, key=lambda one: not (one.matters and behind.is_told_by(one)))
    return replace(found, changes=tuple(first))


def _order(runs: Sequence[Run]) -> tuple[str, ...]:
    """Return the layers of all runs; what one run has above another layer stands above it, the longest stacks lead."""
    found: list[str] = []
    for run in sorted(runs, key=lambda run: -len(run.job.layers)):
        place = 0
        for layer in (*run.job.layers, *(row.layer for row in run.layers)):
            if layer in found:
                place = found.index(layer) + 1
            else:
                found.insert(place, layer)
                place += 1
    return tuple(found)


def _start_up(run: Run) -> float:
    """Return the time in s before the first I/O of a run, of an MPI program its start; not finite if not known."""
    phases = (row.phase_start_s[0] for row in run.layers if len(row.phase_start_s))
    return min((*phases, *(one.begin_s for one in run.loops)), default=math.nan)


def _known_io(run: Run) -> float:
    """Return how long the rank that is longest in I/O is in it, in s; not finite where that is not known."""
    share, length = run.job.io_share, run.job.duration_s
    return math.nan if share is None or length is None else share * length


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


def _finite(value: float, other: float) -> float:
    """Return a value, or another one where it is not finite."""
    return value if math.isfinite(value) else other


def _costs(runs: Sequence[Run]) -> dict[tuple[str, str], float]:
    """Return what findings cost on average, in s, the dearest of each name and layer in a run."""
    found: dict[tuple[str, str], float] = {}
    for run in runs:
        own: dict[tuple[str, str], float] = {}
        for one in run.findings:
            own[one.id, one.layer] = max(own.get((one.id, one.layer), 0.0), one.cost_s or 0.0)
        for key, cost in own.items():
            found[key] = found.get(key, 0.0) + cost / len(runs)
    return found


def _in_functions(runs: Sequence[Run]) -> dict[str, float]:
    """Return how long ranks are in functions of MPI on average, in s; nothing where that is not known of each run."""
    found: dict[str, float] = {}
    for job in (run.job for run in runs):
        if not job.mpi_functions or not job.ranks:
            return {}
        for name, took in zip(job.mpi_functions, job.mpi_s, strict=False):
            found[name] = found.get(name, 0.0) + took / job.ranks / len(runs)
    return found


def _is_again(change: Change, others: Sequence[Change]) -> bool:
    """Tell whether a change of a period is that of how often iterations begin, by another mean of the same times."""
    means = (change.before, change.after) if change.id == "period" else ()
    alike = ((one.before, one.after) for one in others if one.id == "iteration-interval")
    return any(
        all(isinstance(x, float) and isinstance(y, float) and max(x, y) < _MEANS * min(x, y) for x, y in pairs)
        for pairs in (list(zip(means, one, strict=False)) for one in alike)
        if pairs
    )


def _busy(runs: Sequence[Run], layer: str, direction: str) -> float:
    """Return for how long a direction keeps a layer busy on average, in s."""
    rows = [row for run in runs for row in run.layers if (row.layer, row.direction) == (layer, direction)]
    return sum(row.busy_s or 0.0 for row in rows) / len(runs)


def aligned_phases(before: LayerRow, after: LayerRow) -> tuple[PhasePair, ...]:
    """Return the phases of two runs that belong together, in the order of time.

    Where there are as many on both sides, the first belongs to the first and so on. Else those belong together that lie
    at the same place among the bytes moved: noise cuts a phase into several, or joins some, and moves no bytes. What
    only one of them has, such as the end of a longer run, is left out.
    """
    one, other = _columns(before), _columns(after)
    if not len(one) or not len(other):
        return ()
    if len(one) == len(other):
        return tuple(PhasePair(*row) for row in np.hstack([one, other]).tolist())
    edges, middles = np.cumsum(one[:, 2]), np.cumsum(other[:, 2]) - other[:, 2] / 2
    place = np.searchsorted(edges, middles, side="left")
    place = place[place < len(one)]
    rows, first = np.unique(place, return_index=True)
    if not len(rows):
        return ()
    last = np.append(first[1:], len(place)) - 1
    moved = np.add.reduceat(other[: len(place), 2], first)
    whole = np.column_stack([one[rows], other[first, 0], other[last, 1], moved])
    return tuple(PhasePair(*row) for row in whole.tolist())


def _columns(row: LayerRow) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    columns = np.array([row.phase_start_s, row.phase_end_s, row.phase_bytes], np.float64).T
    return columns[columns[:, 2] > 0] if len(columns) else np.zeros((0, 3))
