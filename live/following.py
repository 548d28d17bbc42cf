"""Following sources, and replaying traces: a list of answers after every update."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..layers.selection.directions import DIRECTIONS, is_of_direction
from ..layers.selection.window import completed_bytes
from ..layers.trace import Trace
from ..model.document import SCHEMA_VERSION, Plain
from ..model.operations import view
from .answer import Answer
from .job import LiveJob
from .records.intake import Counts, Key, Spans
from .sources import LiveSource, raise_limits, wait_for

LOOK_AGAIN: Final = 0.2
"""Seconds after which a file is looked at again that had nothing new."""
LOOKING: Final = 100.0
"""Times the processor time that it took to look at all sources in vain after which they are looked at again."""


@dataclass(frozen=True)
class Update:
    """All answers at one time; `last` after the end of the input."""

    time: float
    answers: list[Answer]
    counts: Counts
    last: bool

    def line(self, answer: Answer) -> dict[str, Plain]:
        """Return one of the answers as a line of JSON, with the number of the schema first."""
        return {
            "schema_version": SCHEMA_VERSION,
            **answer.to_dict(),
            "input": {**self.counts.to_dict()},
            "last": self.last,
        }


def follow(job: LiveJob, sources: Sequence[LiveSource], interval: float, *, once: bool = False) -> Iterator[Update]:
    """Follow the sources of a job; yield an update every `interval` s of real time, and one at the end.

    Parameters
    ----------
    job : LiveJob
    sources : sequence of LiveSource
    interval : float
        In s.
    once : bool
        Whether the end of what is there is the end of the input.
    """
    intake, clock = job.intake, job.intake.clock
    raise_limits()
    due = time.monotonic() + interval
    latest, moved_at = clock.now, time.monotonic()
    try:
        while True:
            began = time.thread_time()
            read = [source.read() for source in sources]
            again = max(LOOK_AGAIN, LOOKING * (time.thread_time() - began))
            if intake.waiting:
                job.take()
            now = time.monotonic()
            if clock.now != latest:
                latest, moved_at = clock.now, now
            more = any(read)
            ended = all(source.finished() for source in sources)
            if not more and (ended or _at_end(sources, once)):
                break
            if now >= due:
                due = now + interval
                if clock.now is not None and clock.begin is not None:
                    # While nothing is written the clock goes on.
                    silent = clock.now + (now - moved_at)
                    yield Update(silent, job.answers(clock.begin, silent), intake.counts, False)
            if not more:
                _wait(sources, due, again)
    finally:
        for source in sources:
            source.close()
    job.take()
    end, begin = clock.now or 0.0, clock.begin or 0.0
    yield Update(end, job.answers(begin, end, True, ended), intake.counts, True)


def _wait(sources: Sequence[LiveSource], due: float, again: float) -> None:
    """Wait until a stream has more, or an update is due; of files for so many seconds only."""
    descriptors = [source.descriptors() for source in sources]
    pause = max(0.0, due - time.monotonic())
    wait_for([one for own in descriptors for one in own], pause if all(descriptors) else min(pause, again))


def _at_end(sources: Sequence[LiveSource], once: bool) -> bool:
    """Tell whether all input is read: of a stream only when it has been closed."""
    return all(source.finished() or (once and not source.descriptors()) for source in sources)


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
