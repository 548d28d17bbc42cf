"""Loops in the story of a run, in place of what its bandwidth alone suggests."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal

from ...layers.statistics.kinds import common_folder
from ...layers.trace import Trace
from ..loops.loops import Iteration, Loop, Loops
from ..loops.words import layers_called, loop_text, pace_text, ranks_text
from ..registry import DEFAULT_METHOD
from ..results.result import PeriodResult
from .iterations import loops_of
from .story import Segment, story_of

_LEAST: Final = 0.001
"""Share of the bytes of a run, and of its time, below which a loop is left out."""
_MUCH: Final = 0.05
"""Share of the bytes of the layer that the program called from which on its loop is told, however little that is."""
_INSIDE: Final = 0.8
"""Share of the bytes of a stretch, or of its time where none are moved, that must be in loops that stand for it."""
_MOMENT: Final = 1e-9
"""Seconds by which times may be off as they were rounded."""
_MOVED: Final = {"read": "bytes_read", "write": "bytes_written"}
_GUESSED: Final = frozenset({"checkpoints", "log", "writes", "reads", "bursts", "burst", "input", "metadata"})


def story_by_loops(
    trace: Trace,
    results: Mapping[tuple[str, str], PeriodResult],
    layers: Iterable[str],
    method: str = DEFAULT_METHOD,
    fs: float | Literal["auto"] = "auto",
) -> tuple[Segment, ...]:
    """Return the story of a run in which loops stand for the stretches that lie in them.

    Without single operations, and with another method than the default one, it is that of the signals alone.

    Parameters
    ----------
    layers : iterable of str
        Names of those that are looked at; loops in which none of them takes part are left out.
    trace, results, method, fs
        As in `story_of`.
    """
    story = story_of(trace, results, method, fs)
    known = loops_of(trace, method)
    if known is None:
        return story
    found, names = known.loops, set(layers)
    loops = [one for one in _told(trace, found.outermost) if names & set(one.layers)]
    kept = [one for one in story if one.kind not in _GUESSED or not _is_told(one, loops)]
    folder = common_folder(step.file for one in loops for step in one.body)
    made = [_segment(found, one, folder) for one in loops]
    return tuple(sorted([*kept, *made], key=lambda one: (one.start, one.end)))


def _told(trace: Trace, loops: Sequence[Loop]) -> Iterator[Loop]:
    """Give the loops that last, and move much of what the run does or a layer does in a direction, or nothing."""
    most = max((one.bytes for one in loops), default=0)
    start, end = trace.window
    for one in loops:
        lasts = one.end_s - one.begin_s > _LEAST * (end - start)
        moves = one.bytes > _LEAST * most or _is_much(trace, one)
        if lasts and (moves or (one.bits > 0 and not one.bytes)):
            yield one


def _is_much(trace: Trace, loop: Loop) -> bool:
    """Tell whether a loop moves much of the bytes of the layer that the program called, as a log through ISO C does."""
    top = next(iter(loop.sums), "")
    moved = ((_bytes(loop, top, way), trace.layers[top].statistics(way).bytes) for way in _MOVED if top in trace.layers)
    return any(mine > _MUCH * of_all for mine, of_all in moved)


def _bytes(one: Loop | Iteration, layer: str, direction: str | None) -> float:
    """Return what a layer moves in a loop, or in one of its iterations."""
    part = (one.sums if isinstance(one, Loop) else one.layers).get(layer)
    return 0.0 if part is None or direction is None else float(getattr(part, _MOVED[direction]))


def _is_told(segment: Segment, loops: Iterable[Loop]) -> bool:
    """Tell whether most bytes of a stretch, or most of the time of one in which none are moved, are in loops."""
    layer, inside, time = segment.layers[0], 0.0, 0.0
    for one in loops:
        if layer not in one.sums:
            continue
        time += max(0.0, _shared(segment, one.begin_s, one.end_s + one.interval_s.mean))
        if one.iterations:
            there = (part for part in one.iterations if _shared(segment, part.begin_s, part.end_s) > 0)
            inside += sum(_bytes(part, layer, segment.direction) for part in there)
        else:
            share = _shared(segment, one.begin_s, one.end_s) / max(one.end_s - one.begin_s, _MOMENT)
            inside += _bytes(one, layer, segment.direction) * min(1.0, max(0.0, share))
    return inside >= _INSIDE * segment.bytes if segment.direction else time >= _INSIDE * (segment.end - segment.start)


def _shared(segment: Segment, begin: float, end: float) -> float:
    """Return for how long a stretch and another share their time, in s; a moment where they touch."""
    return min(segment.end, end) - max(segment.start, begin) + _MOMENT


def _segment(found: Loops, loop: Loop, folder: str) -> Segment:
    regular = loop.timing != "irregular"
    called = " and ".join(layers_called(loop, found.loops))
    what = ", ".join(filter(None, (loop_text(loop, found.loops, folder), pace_text(loop))))
    return Segment(
        loop.begin_s,
        loop.end_s,
        "loop",
        layers=loop.layers,
        period=loop.interval_s.mean if regular else None,
        phases=loop.count,
        bytes=float(loop.bytes),
        bytes_per_phase=loop.bytes / loop.count,
        ranks=len(loop.ranks),
        text=f"{what}; {ranks_text(loop.ranks, found.trace.ranks)}, {called}",
    )
