"""The iteration that takes longest, until the next one begins, and what goes on meanwhile, of the loop or not."""

from functools import partial
from typing import Final

import numpy as np

from ...layers.trace import Trace
from ...model.arrays import Floats, Ints, Rows
from ...model.codes import IoMode
from ...model.quantities import counted, seconds_text
from .loops import Iteration, Loop, Loops
from .timing import standing_out
from .words import blame_text, outlier_text, slow_iterations

_MORE: Final = 1.5
"""Times what an iteration takes longer by its own steps that it must take longer until the next one to be told so."""
_MOST: Final = 0.5
"""Share of what it takes longer that must be due to what is named."""
_EACH_S: Final = 1e-5
"""Seconds that an open, a close or a deletion takes about at least, where it is not known how long."""
_CALLED: Final = {IoMode.READ: "reads", IoMode.WRITE: "writes", IoMode.FLUSH: "flushes"}
_PART: Final = 0.1
"""Share of the most from which on a kind of operation, or another file, counts."""


def slowest_text(found: Loops, loop: Loop) -> str:
    """Return which iteration takes longest, with the layer and rank to blame.

    By its own steps, as in `outlier_text`; else from its begin to the next one's, if that stands out by far more: what
    the ranks do then, or wait for, is no step of the loop. Ranks that never wait for one another have no iteration
    in common: then it is told how far they are apart.
    """
    if len(loop.iterations) < 3:
        return outlier_text(loop)
    begin, end = (np.array([getattr(one, name) for one in loop.iterations]) for name in ("begin_s", "end_s"))
    if len(loop.ranks) > 1 and np.median(begin[1:] - end[:-1]) < 0:
        apart = max((part.latest_s or 0.0 for one in loop.iterations for part in one.layers.values()), default=0.0)
        return f"ranks go on by themselves, up to {seconds_text(apart)} apart" if apart else ""
    own = max(slow_iterations(loop).values() or loop.iterations, key=lambda one: one.length_s)
    more = _MORE * (own.length_s - loop.usual_length)
    return _until_next(found.trace, begin, more) or outlier_text(loop, partial(_blame_text, found))


def _until_next(trace: Trace, begin: Floats, least_s: float) -> str:
    """Return behind which iteration more time passes than usual, if that is much and more than the least; else nothing.

    Of irregular intervals one is the longest: where it is known why, that is worth a word.
    """
    between = np.diff(begin)
    place, usual = int(np.argmax(between)), float(np.median(between))
    more = float(between[place]) - usual
    if more <= max(least_s, usual):
        return ""
    what = meanwhile(trace, float(begin[place]), float(begin[place + 1]), _MOST * more)
    if not what and not standing_out(between, float(between.mean()))[place]:
        return ""
    takes = f"it takes {seconds_text(float(between[place]))}, {seconds_text(usual)} is usual"
    return f"from iteration {place + 1} to the next {takes}" + (f" ({what})" if what else "")


def _blame_text(found: Loops, loop: Loop, one: Iteration) -> str:
    """Return what made an iteration long, in brackets, whatever loop it belongs to."""
    told = blame_text(loop, one)
    if not told.endswith("is transferred)") and not told.endswith("transferred in it)"):
        return told
    what = meanwhile(found.trace, one.begin_s, one.end_s, _MOST * one.length_s)
    return f"({what})" if what else told


def meanwhile(trace: Trace, begin_s: float, end_s: float, least_s: float) -> str:
    """Return what some rank does for at least so long between two times, in the lowest layer, or whom others wait for.

    Empty where nothing takes as long, and where operations are not kept.
    """
    if trace.stream.in_memory is None:
        return ""
    layers = _layers_meanwhile(trace, begin_s, end_s, least_s)
    lowest = layers.pop(max(layers)) if layers and max(layers) == len(trace.order) - 1 else ""
    awaited = "" if lowest else _awaited(trace, begin_s, end_s, least_s)
    return (
        lowest or awaited or next(reversed(layers.values()), "") or _metadata_meanwhile(trace, begin_s, end_s, least_s)
    )


def _layers_meanwhile(trace: Trace, begin_s: float, end_s: float, least_s: float) -> dict[int, str]:
    """Return by layer what the rank does there that is in calls longest, if for long enough."""
    block, second = trace.stream.whole, trace.definitions.clock.ticks_per_second
    low, high = round(begin_s * second), round(end_s * second)
    operations = block.operations
    rows = np.flatnonzero(operations.end[: np.searchsorted(operations.begin, high)] > low)
    known = trace.scope.selection.reason_of(operations.handle[rows]) < 0
    rows = rows[known & (operations.process[rows] >= 0)]
    begin, end = block.times(rows)
    ticks = np.maximum(np.minimum(end, high) - np.maximum(begin, low), 0)
    layer, process = trace.scope.stack.layer[operations.handle[rows]], operations.process[rows]
    found: dict[int, str] = {}
    for one in np.unique(layer[layer >= 0]).tolist():
        there = layer == one
        by_process = np.bincount(process[there], ticks[there])
        slowest = int(np.argmax(by_process))
        taken = float(by_process[slowest]) / second
        if taken >= least_s:
            mine = there & (process == slowest)
            what = _done(trace, rows[mine], ticks[mine])
            found[one] = f"{trace.order[one]} {what} for {seconds_text(taken)}{_rank_text(trace, slowest)}"
    return found


def _done(trace: Trace, rows: Rows, ticks: Ints) -> str:
    """Return what some operations are, and the file on which most of their time is spent."""
    operations, files = trace.stream.whole.operations, trace.definitions.files.name
    kinds = np.bincount(operations.mode[rows], ticks)
    named = " and ".join(
        _CALLED[IoMode(kind)] for kind in np.argsort(-kinds).tolist() if kinds[kind] >= _PART * kinds.sum()
    )
    file = trace.definitions.handles.file[operations.handle[rows]]
    if not (file >= 0).any():
        return named
    by_file = np.bincount(file[file >= 0], ticks[file >= 0])
    others = int(np.count_nonzero(by_file >= _PART * by_file.max())) - 1
    more = f" and {counted(others, 'other')}" if others > 0 else ""
    return f"{named} of {files[int(np.argmax(by_file))].rpartition('/')[2]}{more}"


def _rank_text(trace: Trace, process: int) -> str:
    rank = int(trace.definitions.groups.rank[process])
    return f" on rank {rank}" if trace.ranks > 1 and rank >= 0 else ""


def _metadata_meanwhile(trace: Trace, begin_s: float, end_s: float, least_s: float) -> str:
    """Return the rank that opens, closes or deletes most often between two times, if that may take so long."""
    events, second = trace.stream.whole.metadata, trace.definitions.clock.ticks_per_second
    there = (events.time >= begin_s * second) & (events.time < end_s * second) & (events.process >= 0)
    count = np.bincount(events.process[there], minlength=1)
    most = int(np.argmax(count))
    rank = _rank_text(trace, most) if len(trace.definitions.groups.rank) else ""
    return f"{count[most]:,} opens, closes or deletions{rank}" if count[most] * _EACH_S >= least_s else ""


def _awaited(trace: Trace, begin_s: float, end_s: float, least_s: float) -> str:
    """Return the rank that others wait for in calls between two times, if for long enough."""
    calls = trace.calls
    if not calls.recorded or calls.totals is None:
        return ""
    met, second = calls.meetings, trace.definitions.clock.ticks_per_second
    begin = met.begin[met.first]
    inside = np.flatnonzero((begin >= begin_s * second) & (begin < end_s * second))
    waited, last = met.waited[met.median][inside] / second, met.process[met.final][inside]
    # A call of one layer makes those of the layers below, in which the same ranks wait.
    pair = met.layer[met.final][inside] * len(trace.definitions.groups.id) + last
    by_pair = np.bincount(pair, waited, minlength=1)
    if by_pair.max() < least_s:
        return ""
    waited = np.where(pair == np.argmax(by_pair), waited, 0)
    longest = inside[int(np.argmax(waited))]
    function = calls.totals.functions.regions.name[met.region[met.final][longest]]
    rank = trace.definitions.groups.rank[met.process[met.final][longest]]
    return f"the others wait for rank {rank} for {seconds_text(float(waited.sum()))} in {function}"
