"""The loops of a trace as rows of a collection, and their steps read back."""

import json
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ...analysis.loops.find import find_loops
from ...analysis.loops.loops import LayerPart, Loop, Loops
from ...analysis.loops.words import body_text
from ...layers.trace import Trace
from ...model.text import printable
from .rows import IterationRow, LoopRow

_NOTHING = LayerPart(0, 0, 0, 0.0)


class LoopStep(NamedTuple):
    """What an iteration does in one of its steps.

    `bytes` is of one call, None where they vary or there are none; `often` of each of the `ranks` that do it, 0 for all
    of the loop. Where bytes vary there is their `mean`, and where it is done more or less often, `about` so often.
    """

    layer: str
    kind: str
    bytes: int | None
    file: str
    often: int
    ranks: int = 0
    mean: float | None = None
    about: bool = False

    def told(self) -> tuple[object, ...]:
        """Return the columns, without those at the end that are as usual."""
        return tuple(self) if self.about else tuple(self)[: 6 if self.mean is None else 7]


def loop_rows(trace: Trace, job: str) -> tuple[tuple[LoopRow, ...], tuple[IterationRow, ...]]:
    """Return the loops of a trace that are in no other, and what layers do in them; none where nobody can know."""
    if trace.definitions.recording.reason("operations"):
        return (), ()
    return rows_of_loops(find_loops(trace), job)


def rows_of_loops(found: Loops, job: str) -> tuple[tuple[LoopRow, ...], tuple[IterationRow, ...]]:
    """Return loops that are in no other, and what layers do in them."""
    known = {one.id: one for one in found.loops}
    loops = tuple(_loop_row(one, known, job) for one in found.outermost)
    return loops, tuple(row for one in found.outermost for row in _iteration_rows(one, job))


def _loop_row(loop: Loop, known: Mapping[int, Loop], job: str) -> LoopRow:
    return LoopRow(
        job=job,
        loop=loop.id,
        count=loop.count,
        ranks=len(loop.ranks),
        layers=tuple(map(printable, loop.layers)),
        text=printable(body_text(loop, tuple(known.values()))),
        steps=json.dumps([one.told() for one in _steps(loop, known, 1)]),
        begin_s=loop.begin_s,
        end_s=loop.end_s,
        interval_s=loop.interval_s.median,
        jitter=loop.interval_s.jitter,
        timing=loop.timing,
        bits=loop.bits,
        iteration_begin_s=tuple(one.begin_s for one in loop.iterations),
        iteration_end_s=tuple(one.end_s for one in loop.iterations),
        threads=loop.threads,
    )


def _steps(
    loop: Loop, known: Mapping[int, Loop], often: float, ranks: int = 0, about: bool = False
) -> Iterator[LoopStep]:
    """Give the steps of an iteration that is done some times, or `about` so many, by some ranks."""
    for step in loop.body:
        who = ranks if step.ranks is None else len(step.ranks)
        varies = about or step.mean_count is not None
        many = often * (step.count if step.mean_count is None else step.mean_count)
        if step.loop is not None:
            yield from _steps(known[step.loop], known, many, who, varies)
        elif step.layer is not None:
            layer, file, mean = printable(step.layer), printable(step.file), step.mean_bytes
            yield LoopStep(layer, step.kind, step.bytes, file, max(1, round(many)), who, mean, varies)


def _iteration_rows(loop: Loop, job: str) -> Iterator[IterationRow]:
    for layer in loop.layers if loop.iterations else ():
        parts = [one.layers.get(layer, _NOTHING) for one in loop.iterations]
        yield IterationRow(
            job=job,
            loop=loop.id,
            layer=printable(layer),
            bytes_read=tuple(float(one.bytes_read) for one in parts),
            bytes_written=tuple(float(one.bytes_written) for one in parts),
            operations=tuple(one.operations for one in parts),
            flushes=tuple(one.flushes for one in parts),
            metadata_operations=tuple(one.metadata_operations for one in parts),
            busy_s=tuple(one.busy_s for one in parts),
            summed_s=tuple(one.summed_s or 0.0 for one in parts),
        )


def steps_of(row: LoopRow) -> tuple[LoopStep, ...]:
    """Return the steps of an iteration of a loop of a collection; none where the list makes no sense."""
    try:
        steps = tuple(LoopStep(*one) for one in json.loads(row.steps))
    except (TypeError, ValueError):
        return ()
    types = str, int | None, int, int, int | float | None
    sound = (all(map(isinstance, (one.file, one.bytes, one.often, one.ranks, one.mean), types)) for one in steps)
    return steps if all(sound) and all(one.often > 0 and one.ranks >= 0 for one in steps) else ()
