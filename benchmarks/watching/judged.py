"""Lines of `watch` judged by the run as it was: what they told of periods, phases, changes and the next phase.

Phases that were are those that `periods` finds in what a line knows to have ended, or by the time as of which the line
is, or with hindsight in the whole run, the nearest of these; what was over in a tenth of the time may be one, and where
a line tells iterations, bursts that repeat in all operations as they were count, too. Changes are those of the regimes
of the whole run. The next phase begins with the first operation after a line that says that none is under way.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import mean, median
from typing import Any

import iostrata
import numpy as np
from iostrata.live.activity import TOUCHING, Activity
from iostrata.live.outlook import outlook
from iostrata.live.records.intake import Key, Spans
from iostrata.live.repetition import repetition
from iostrata.live.signal import LiveSignal

FEWEST_PHASES = 4
WITHIN = 0.1
"""Share by which a period may be off."""
BRIEF = 10.0
"""Times as long as they took in all after which phases may be one, such as reads as a program starts."""
Line = dict[str, Any]
HEAD = (
    "answers from the 4th phase on | without period or reason | as of earlier | phases off by more than 1 | changes "
    "told within 4 phases | next phase: stated | true | phases"
)


@dataclass(eq=False)
class Judged:
    """What became of the lines about a run."""

    lines: int = 0
    """From the fourth phase on."""
    silent: int = 0
    """Without a period and a reason for that."""
    earlier: int = 0
    """As of an earlier time, which they say."""
    miscounted: int = 0
    """With more than one phase more or fewer than there were."""
    changes: int = 0
    late: int = 0
    """Changes of the period that were not told by the fourth phase after them."""
    stated: list[float] = field(default_factory=list)
    true: list[bool] = field(default_factory=list)
    """Probability of the next phase, once for each phase, and whether it began between the times told."""
    wrong: list[str] = field(default_factory=list)
    """What was miscounted or late, in words."""

    def add(self, other: "Judged") -> None:
        """Add what became of another run's."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)

    def row(self) -> str:
        """Return cells of a table."""
        counted = f"{self.miscounted / self.lines:.1%}" if self.lines else "–"
        next_phase = f"{mean(self.stated):.2f} | {mean(self.true):.2f} | {len(self.true)}" if self.true else "– | – | 0"
        told = f"{self.changes - self.late} of {self.changes}" if self.changes else "–"
        return f"{self.lines} | {self.silent} | {self.earlier} | {counted} | {told} | {next_phase}"


def judged(lines: Iterable[Line], streams: Iterable[tuple[Key, Spans]], shift: float = 0.0) -> Judged:
    """Judge all but the last lines, which are those of `periods`, by the operations that they were of.

    The clock of the lines is `shift` s ahead of that of the operations.
    """
    told: dict[tuple[str, str], list[Line]] = {}
    for line in lines:
        if not line["last"]:
            told.setdefault((line["layer"], line["direction"]), []).append(line)
    total = Judged()
    for key, columns in streams:
        if own := told.get((key.layer, key.direction)):
            order = np.argsort(columns.end, kind="stable")
            start, end, volume = columns.start[order], columns.end[order], columns.volume[order]
            signal = iostrata.step_signal(start, end, volume)
            stream = _Stream(Spans(start, end, volume), shift, iostrata.detect_period(signal))
            total.add(stream.judged(f"{key.layer} {key.direction}", own))
    return total


@dataclass(frozen=True, eq=False)
class _Stream:
    """One layer and direction of a run, in the order in which operations ended, and what `periods` finds in it."""

    columns: Spans
    shift: float
    result: "iostrata.PeriodResult"

    def judged(self, name: str, told: list[Line]) -> Judged:
        """Judge the lines about it."""
        found, seen, off = Judged(), -1, []
        whole = np.array([phase.start for phase in self.result.phases])
        rows = np.searchsorted(np.cumsum(self.columns.volume), [line["bytes"] for line in told], side="right").tolist()
        starts, ends = np.append(np.sort(self.columns.start), np.inf), np.append(-np.inf, self.columns.end)
        counts = self.phases(told, rows)
        by_time = {line["time_s"]: one for line, one in zip(told, counts, strict=True)}
        for line, row, then in zip(told, rows, counts, strict=True):
            now = line["time_s"] - self.shift
            late = int(np.searchsorted(whole, now, side="right"))
            over = late > 0 and now - whole[0] > BRIEF * (whole[late - 1] - whole[0])
            were = [
                then,
                late,
                by_time.get(line.get("as_of_s"), then),
                *[1] * int(over),
                *self.repeated(line, row, now),
            ]
            were = min(were, key=lambda one: abs(one - line["phases"]))
            if max(were, line["phases"]) >= FEWEST_PHASES:
                found.lines += 1
                found.silent += line["period_s"] is None and not line["reason"]
                found.earlier += "as_of_s" in line
                off.append(line["phases"] - were)
            if line["next_start_s"] is None or "as_of_s" in line or line["in_phase"] or seen == line["phases"]:
                continue
            begins = starts[int(np.searchsorted(starts, ends[row]))]
            if begins <= now:
                # It has begun, and is not told yet.
                continue
            seen = line["phases"]
            low, high = line["next_start_s"]
            found.stated.append(line["probability"])
            found.true.append(bool(low <= begins + self.shift <= high))
        found.miscounted = sum(abs(one) > 1 for one in off)
        if found.miscounted:
            found.wrong.append(f"{name}: phases told off by {min(off)} to {max(off)}, {found.miscounted} of {len(off)}")
        self._changes(name, told, found)
        return found

    def phases(self, told: list[Line], rows: list[int]) -> list[int]:
        """Return how many phases there were in the operations that each line knows."""
        signal, at, found = LiveSignal(), 0, []
        for line, row in zip(told, rows, strict=True):
            anew = row > at or not found
            signal.add(*(column[at:row] for column in (self.columns.start, self.columns.end, self.columns.volume)))
            at, begin = max(row, at), float(self.columns.start[0])
            window = begin, max(line["time_s"] - self.shift, begin)
            found.append(outlook(signal.whole(window)).phases if anew else found[-1])
        return found

    def repeated(self, line: Line, row: int, now: float) -> list[int]:
        """Return how many bursts there were, by each pause that parts them so that their contents repeat."""
        if "iteration" not in line or "next_bytes_range" in line:
            return []
        order = np.argsort(self.columns.start[:row], kind="stable")
        start, end, volume = (one[:row][order] for one in (self.columns.start, self.columns.end, self.columns.volume))
        activity = Activity(start, np.maximum.accumulate(end), volume, np.ones(row, np.int64)).bursts(TOUCHING)
        parted = [activity.bursts(gap) for gap, _ in activity.gaps(now)]
        return [len(one) for one in parted if repetition(one, now > one.end[-1]) is not None]

    def _changes(self, name: str, told: list[Line], found: Judged) -> None:
        """Look whether periods were told by the first line after the start of the fifth phase that they hold for."""
        times = np.array([line["time_s"] for line in told])
        starts = np.array([phase.start for phase in self.result.phases]) + self.shift
        every = median(np.diff(times)) if times.size > 1 else 0.0
        for regime in self.result.regimes[1:]:
            first = int(np.searchsorted(starts, regime.start + self.shift - WITHIN * regime.period))
            own = starts[first : int(np.searchsorted(starts, regime.end + self.shift))]
            at = int(np.searchsorted(times, own[FEWEST_PHASES])) if own.size > FEWEST_PHASES else times.size
            # What is faster than the updates cannot be told in time.
            if at == times.size or regime.period < every or times[at] > own[-1] + regime.period:
                continue
            found.changes += 1
            period = told[at]["period_s"]
            if period is None or abs(period / regime.period - 1) > WITHIN:
                found.late += 1
                which = f"{regime.period:.3g} s from {own[0]:.4g} s on"
                found.wrong.append(f"{name}: {which}; told at {times[at]:.4g} s: {period} ({told[at]['reason'][:90]})")
