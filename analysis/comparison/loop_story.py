"""Loops in the story of a run, in place of what its bandwidth alone suggests."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal

from ...layers.loops.kinds import common_folder
from ...layers.trace import Trace
from ...model.quantities import seconds_text
from ..loops.loops import Loop, Loops
from ..loops.words import loop_text, ranks_text
from ..registry import DEFAULT_METHOD
from ..results.result import PeriodResult
from .iterations import loops_of
from .story import Segment, story_of

_LEAST: Final = 0.001
"""Share of the bytes of a run, and of its time, below which a loop is left out."""
_INSIDE: Final = 0.8
"""Share of a stretch that must lie in loops for these to tell what it is."""
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
    most = max((one.bytes for one in loops), default=0)
    start, end = trace.window
    for one in loops:
        lasts = one.end_s - one.begin_s > _LEAST * (end - start)
        if lasts and (one.bytes > _LEAST * most or (one.bits > 0 and not one.bytes)):
            yield one


def _is_told(segment: Segment, loops: Iterable[Loop]) -> bool:
    """Tell whether a stretch lies in loops that move bytes in its layer and direction."""
    length = max(segment.end - segment.start, 1e-9)
    for one in loops:
        part = one.sums.get(segment.layers[0]) if segment.layers else None
        moves = part is not None and (segment.direction is None or getattr(part, _MOVED[segment.direction]) > 0)
        end = one.end_s + one.interval_s.median
        if moves and min(segment.end, end) - max(segment.start, one.begin_s - 1e-9) >= _INSIDE * length:
            return True
    return False


_MOVED: Final = {"read": "bytes_read", "write": "bytes_written"}


def _segment(found: Loops, loop: Loop, folder: str) -> Segment:
    regular = loop.timing != "irregular"
    every = f", every {seconds_text(loop.interval_s.median)}" if loop.count > 1 else ""
    who = ranks_text(loop.ranks, found.trace.ranks)
    return Segment(
        loop.begin_s,
        loop.end_s,
        "loop",
        layers=loop.layers,
        period=loop.interval_s.median if regular else None,
        phases=loop.count,
        bytes=float(loop.bytes),
        bytes_per_phase=loop.bytes / loop.count,
        ranks=len(loop.ranks),
        text=f"{loop_text(loop, found.loops, folder)}{every}; {who}",
    )
