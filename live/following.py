"""Following sources, and replaying traces: a list of answers after every update."""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Annotated, Final

import numpy as np

from ..analysis.set_10 import LONGEST, SHORTEST, set_numbers, set_priorities
from ..layers.selection.directions import DIRECTIONS, is_of_direction
from ..layers.selection.window import completed_bytes
from ..layers.trace import Trace
from ..model.document import SCHEMA_VERSION, Plain
from ..model.operations import view
from .answer import Answer
from .budget import dearer
from .job import LiveJob
from .records.intake import Counts, Key, Spans
from .sources import LiveSource, raise_limits, wait_for

LOOK_AGAIN: Final = 0.2
"""Seconds after which a file is looked at again that had nothing new."""
LINE: Final = 0.01
"""Seconds between updates for each of their answers at least: to tell one again takes some 50 µs of processor time."""
LOOKING: Final = 100.0
"""Times the processor time that it took to look at all sources in vain after which they are looked at again."""


_LINE: Final = {"schema_version": int, "input": Counts, "last": bool}


@dataclass(frozen=True)
class Update:
    """All answers at one time; `last` after the end of the input."""

    time: float
    answers: list[Answer]
    counts: Counts
    last: bool

    def line(self, answer: Answer) -> Annotated[dict[str, Plain], Answer, _LINE]:
        """Return one of the answers as a line of JSON, with the number of the schema first."""
        told = {"schema_version": SCHEMA_VERSION, **answer.to_dict()}
        return {**told, "input": self.counts.to_dict(), "last": self.last}


def follow(job: LiveJob, sources: Sequence[LiveSource], interval: float, *, once: bool = False) -> Iterator[Update]:
    """Follow the sources of a job; yield an update every `interval` s of real time, and one at the end.

    Of many answers an update is every 10 ms an answer at most.

    Parameters
    ----------
    job : LiveJob
    sources : sequence of LiveSource
    interval : float
        In s.
    once : bool
        Whether the end of what is there is the end of the input.
    """
    return follow_jobs([(job, sources)], interval, once=once)


def follow_jobs(
    jobs: Sequence[tuple[LiveJob, Sequence[LiveSource]]], interval: float, *, once: bool = False
) -> Iterator[Update]:
    """Follow several jobs, each with its sources, as `follow` does one: an update has the answers of all.

    Where jobs have names, their answers have the set and the priority that Set-10 would give each by its period.
    """
    followed = [_Followed(job, sources) for job, sources in jobs]
    raise_limits()
    settled, used = time.monotonic(), time.thread_time()
    due = settled + interval
    try:
        while True:
            began = time.thread_time()
            read = [one.read() for one in followed]
            more = any(read)
            again = max(LOOK_AGAIN, LOOKING * (time.thread_time() - began))
            now = time.monotonic()
            if not more and all(one.is_at_end(once) for one in followed):
                break
            if now >= due:
                told = [one for one in followed if one.job.intake.clock.now is not None]
                answers = [one.answers(now) for one in told]
                due = now + max(interval, LINE * sum(map(len, answers)))
                if told:
                    yield _update(told, answers, False)
                counted = sum(one.job.counted for one in followed)
                factor = dearer(time.thread_time() - used, now - settled, counted)
                for one in followed:
                    one.job.settle(factor)
                settled, used = now, time.thread_time()
            if not more:
                _wait([source for one in followed for source in one.sources], due, again)
    finally:
        for one in followed:
            one.close()
    yield _update(followed, [one.answers(None) for one in followed], True)


class _Followed:
    """A job with its sources."""

    def __init__(self, job: LiveJob, sources: Sequence[LiveSource]) -> None:
        self.job, self.sources = job, sources
        self._latest, self._moved_at = job.intake.clock.now, time.monotonic()
        self._ahead = self._told = -math.inf
        self._over = False

    def read(self) -> bool:
        """Take in what there is; tell whether there was anything."""
        read = [source.read() for source in self.sources]
        more = any(read)
        self.job.intake.counts.left_out = sum(source.left_out() for source in self.sources)
        if self.job.intake.waiting:
            self.job.take()
        before, latest = self._latest, self.job.intake.clock.now
        if latest is not None and latest != before:
            self._latest, self._moved_at = latest, time.monotonic()
            if before is not None and latest < before:
                self._ahead = self._told = -math.inf
            # Lines come some time after what they tell of; the job's clock is as far as the fastest of them says.
            self._ahead = max(self._ahead, latest - self._moved_at)
        self._over = not more and all(source.finished() for source in self.sources)
        return more

    def is_at_end(self, once: bool) -> bool:
        """Tell whether all input is read: of a stream only when it has been closed."""
        return self._over or all(source.finished() or (once and not source.descriptors()) for source in self.sources)

    def answers(self, now: float | None) -> list[Answer]:
        """Say what holds at a time of the monotonic clock, or None, at the end."""
        clock = self.job.intake.clock
        if now is None:
            self.job.take()
        begin, latest = clock.begin or 0.0, clock.now or 0.0
        if now is None:
            answers = self.job.answers(begin, latest, True, self._over)
            return [replace(one, time=max(one.time, self._told)) for one in answers]
        # While nothing is written the clock goes on.
        silent = 0.0 if self._over else now - self._moved_at
        self._told = max(self._told, latest + silent)
        return self.job.answers(begin, self._told, ended=self._over, reached=self._ahead + now)

    def close(self) -> None:
        """Close the sources."""
        for source in self.sources:
            source.close()


def _update(followed: Sequence[_Followed], answers: Sequence[list[Answer]], last: bool) -> Update:
    """Put together what is said of all jobs."""
    names = [one.job.name for one in followed]
    if None not in names:
        answers = [
            [replace(one, job=name, set=number, priority=priority) for one in own]
            for own, name, (number, priority) in zip(answers, names, _set_10(answers), strict=True)
        ]
    counts = [one.job.intake.counts for one in followed]
    total = Counts(*(sum(getattr(one, field.name) for one in counts) for field in fields(Counts)))
    told = [one for own in answers for one in own]
    at = max((one.job.intake.clock.now or 0.0 for one in followed), default=0.0)
    return Update(max((one.time for one in told), default=at), told, total, last)


def _set_10(answers: Sequence[list[Answer]]) -> list[tuple[int | None, float]]:
    """Return set and priority of each job, by the period of what moves most of what is periodic in it."""
    heaviest = (max((one for one in own if one.period), key=lambda one: one.bytes, default=None) for own in answers)
    periods = np.array([np.nan if one is None else one.period for one in heaviest], np.float64)
    numbers = set_numbers(np.clip(periods, SHORTEST, LONGEST))
    sets = [None if np.isnan(one) else int(one) for one in numbers.tolist()]
    return list(zip(sets, set_priorities(numbers).tolist(), strict=True))


def _wait(sources: Sequence[LiveSource], due: float, again: float) -> None:
    """Wait until a stream has more, or an update is due; of files for so many seconds only."""
    descriptors = [source.descriptors() for source in sources]
    pause = max(0.0, due - time.monotonic())
    wait_for([one for own in descriptors for one in own], pause if all(descriptors) else min(pause, again))


def replay(job: LiveJob, trace: Trace, interval: float | None, speed: float | None = None) -> Iterator[Update]:
    """Replay a trace: operations come in when they end; yield an update every `interval` s of the trace's time.

    Parameters
    ----------
    job : LiveJob
    trace : Trace
    interval : float or None
        In s; None for a hundredth of the trace.
    speed : float or None
        How many times faster than it ran; None for as fast as possible.
    """
    begin, end = trace.window
    columns = [(key, one) for key, one in trace_columns(trace)]
    at = [0] * len(columns)
    step = interval or (end - begin) / 100
    count = max(int(np.ceil((end - begin) / step * (1 - 1e-12))), 1)
    started = time.monotonic()
    for number in range(1, count + 1):
        now = end if number == count else begin + number * step
        if speed is not None:
            time.sleep(max(0.0, started + (now - begin) / speed - time.monotonic()))
        for row, (key, one) in enumerate(columns):
            stop = int(np.searchsorted(one.end, now, side="right")) if number < count else len(one)
            part = slice(at[row], stop)
            at[row] = stop
            if stop > part.start:
                job.add(key, Spans(one.start[part], one.end[part], one.volume[part]))
        over = number == count
        yield Update(now, job.answers(begin, now, over, over), job.intake.counts, over)


def trace_columns(trace: Trace) -> Iterator[tuple[Key, Spans]]:
    """Yield the operations of each layer and direction of a trace in the order in which they ended, in s."""
    for layer in trace.layers.values():
        resolution = layer.scope.window.ticks_per_second
        for direction in DIRECTIONS:
            chosen = view(layer.operations, is_of_direction(layer.operations.mode, direction))
            moved = completed_bytes(chosen)
            kept = view(chosen, moved > 0)
            start, end = kept.begin / resolution, layer.scope.window.ends(kept) / resolution
            order = np.argsort(end, kind="stable")
            if order.size:
                yield (
                    Key(layer.name, direction),
                    Spans(start[order], end[order], moved[moved > 0][order].astype(np.int64)),
                )
