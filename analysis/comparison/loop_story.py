"""Loops in the story of a run, in place of what its bandwidth alone suggests."""

from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final, Literal

import numpy as np

from ...layers.selection.directions import DIRECTIONS, LayerDirection
from ...layers.statistics.kinds import common_folder
from ...layers.trace import Trace
from ...model.quantities import bytes_text, seconds_text
from ..loops.loops import Iteration, Loop, Loops, Rest
from ..loops.timing import pauses_of
from ..loops.words import alike, alike_text, layers_called, moved_text, paces_text, who_text, within_text
from ..registry import DEFAULT_METHOD
from ..results.result import PeriodResult
from .iterations import loops_of
from .story import Segment, starting, story_of

_LEAST: Final = 0.001
"""Share of the bytes of a run, and of its time, below which a loop is left out."""
_MUCH: Final = 0.05
"""Share of the bytes of the layer that the program called from which on its loop is told, however little that is."""
_THROUGHOUT: Final = 0.5
"""Share of the run from which on a loop goes on for most of it."""
_STEPS_TOLD: Final = 2
"""Such loops that are told whatever they move, those with most iterations."""
_INSIDE: Final = 0.8
"""Share of the bytes of a stretch, or of its time where none are moved, that must be in loops that stand for it."""
_PARTLY: Final = 0.2
"""The same from which on only the rest is told."""
_MOMENT: Final = 1e-9
"""Seconds by which times may be off as they were rounded."""
_MOVED: Final = {"read": "bytes_read", "write": "bytes_written"}
_GUESSED: Final = frozenset(
    {"checkpoints", "log", "writes", "reads", "bursts", "burst", "input", "metadata", "final dump"}
)


def story_by_loops(
    trace: Trace,
    results: Mapping[LayerDirection, PeriodResult],
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
    loops = [one for one in _told(trace, found) if names & set(one.layers)]
    most = max((one.bytes for one in loops), default=0)
    story = _around(trace, story, loops)
    kept = [left for one in story if (left := _left_of(one, loops, most, found)) is not None]
    folder = common_folder(step.file for one in loops for step in one.body)
    pauses = [one.start for one in story if one.kind == "pause"]
    # What is told before a pause is not told again as lasting through it.
    parts = [
        tuple(part) for group in alike(loops) for _, part in groupby(group, lambda one: bisect(pauses, one.begin_s))
    ]
    made = [_segment(found, group, folder, pauses) for group in parts]
    return tuple(sorted([*kept, *made], key=lambda one: (one.start, one.end)))


def _around(trace: Trace, story: Iterable[Segment], loops: Sequence[Loop]) -> tuple[Segment, ...]:
    """Return a story in which start-up ends with the first loop, without the pauses that are usual in loops."""
    begun = min((one.begin_s for one in loops), default=np.inf)
    started = (starting(trace, one, begun) if one.kind == "start-up" else one for one in story)
    return tuple(one for one in started if one.kind != "pause" or not any(_is_usual(one, loop) for loop in loops))


def _is_usual(pause: Segment, loop: Loop) -> bool:
    """Tell whether a pause is what lies between two iterations of a loop, or in one, as in others."""
    begin, end = (np.array([getattr(one, name) for one in loop.iterations]) for name in ("begin_s", "end_s"))
    middle = 0.5 * (pause.start + pause.end)
    place = int(np.searchsorted(begin, middle)) - 1
    if place < 0 or len(begin) < 2:
        return False
    inside = middle <= end[place]
    if not inside and place + 1 == len(begin):
        return False
    if not inside and loop.kinds is not None and loop.kinds.expects(begin[place + 1] - begin[place]):
        return True
    # Of iterations that ranks do one rank after the other, or each at its own time, it is what lies between the ranks.
    if inside and np.median(begin[1:] - end[:-1]) < 0:
        return not pauses_of(np.append(np.diff(begin), pause.end - pause.start))[-1]
    lengths = end - begin if inside else begin[1:] - end[:-1]
    return not pauses_of(np.maximum(lengths, 0.0))[place]


def _told(trace: Trace, found: Loops) -> Iterator[Loop]:
    """Give the loops that last, and move much of what the run does or a layer does in a direction, or nothing.

    And those that go on for most of the run, if only with a line of a log at each step.
    """
    most = max((one.bytes for one in found.outermost), default=0)
    start, end = trace.window
    lasting = {one.id for one in found.substantial}
    through = [one for one in found.substantial if one.end_s - one.begin_s > _THROUGHOUT * (end - start)]
    steps = {one.id for one in sorted(through, key=lambda one: -one.count)[:_STEPS_TOLD]}
    for one in found.outermost:
        lasts = one.end_s - one.begin_s > _LEAST * (end - start)
        moves = one.bytes > _LEAST * most or (_is_much(trace, one) and not one.in_bursts)
        if lasts and (moves or one.id in steps or (one.bits > 0 and not one.bytes and one.id in lasting)):
            yield one


def _is_much(trace: Trace, loop: Loop) -> bool:
    """Tell whether a loop moves much of the bytes of the layer that the program called, as a log through ISO C does."""
    top = next(iter(loop.sums), "")
    moved = (
        (_bytes(loop, top, way), trace.layers[top].statistics(way).bytes) for way in DIRECTIONS if top in trace.layers
    )
    return any(mine > _MUCH * of_all for mine, of_all in moved)


def _bytes(one: Loop | Iteration, layer: str, direction: str | None) -> float:
    """Return what a layer moves in a loop, or in one of its iterations."""
    part = (one.sums if isinstance(one, Loop) else one.layers).get(layer)
    return 0.0 if part is None or direction is None else float(getattr(part, _MOVED[direction]))


def _left_of(segment: Segment, loops: Sequence[Loop], most: float, found: Loops) -> Segment | None:
    """Return what of a stretch loops do not tell; None where that is little, or bursts of little beside the loops."""
    if segment.kind not in _GUESSED:
        return segment
    inside, time = _told_of(segment, loops)
    if segment.direction is None:
        return None if time >= _INSIDE * (segment.end - segment.start) else segment
    rest = _rest_of(segment, loops, found)
    begin, end = max(segment.start, rest.begin), min(segment.end, rest.end)
    # What is moved in part of a loop is a guess, and what is in none is not.
    all_there = rest.begin >= segment.start - _MOMENT and rest.end <= segment.end + _MOMENT
    outside = _outside(segment.layers[0], segment.direction, loops, found.trace)
    left = outside if all_there else min(segment.bytes - inside, outside)
    inside = segment.bytes - left
    few = segment.kind in ("burst", "bursts") and left < _LEAST * most
    if begin > end or few or inside >= _INSIDE * segment.bytes:
        return None
    # Of many bursts in a loop, one that is none of it may move the most.
    moving = (one for one in loops if _bytes(one, segment.layers[0], segment.direction))
    bursts = sum(one.count for one in moving if _shared(segment, one.begin_s, one.end_s) > 0)
    if inside < (_MOMENT if all_there else _PARTLY) * segment.bytes and bursts < _INSIDE * segment.phases:
        return segment
    return _as_rest(segment, rest._replace(begin=begin, end=end), left)


def _as_rest(segment: Segment, rest: Rest, left: float) -> Segment:
    """Return what is left of a stretch as one."""
    verb, who = ("read" if segment.direction == "read" else "written"), segment.text.rpartition("; ")[2]
    ranks = segment.ranks
    if len(rest.ranks) == 1 and ranks is not None:
        who, ranks = ", ".join((f"rank {rest.ranks[0]}", *who.split(", ")[1:])), 1
    text = f"{bytes_text(left)} {verb} outside of loops; {who}"
    own = rest.begin, rest.end, "burst", segment.direction, segment.layers
    return Segment(*own, phases=1, bytes=left, bytes_per_phase=left, ranks=ranks, text=text)


def _outside(layer: str, direction: str, loops: Iterable[Loop], trace: Trace) -> float:
    """Return what a layer moves in none of some loops."""
    whole = sum(trace.layers[layer].statistics(way).bytes for way in DIRECTIONS if way == direction)
    return max(0.0, whole - sum(_bytes(one, layer, direction) for one in loops))


def _rest_of(segment: Segment, loops: Sequence[Loop], found: Loops) -> Rest:
    """Return when the layer of a stretch moves what is in none of some loops, and who may do so."""
    layer, known = segment.layers[0], {one.id for one in loops}
    others = (one for one in found.outermost if one.id not in known and _bytes(one, layer, segment.direction))
    rest = [Rest(one.begin_s, one.end_s, one.ranks) for one in others]
    rest += [one for one in (found.rest(layer, str(segment.direction)),) if one is not None]
    ranks = sorted({rank for one in rest for rank in one.ranks})
    begin, end = (min((one.begin for one in rest), default=np.inf), max((one.end for one in rest), default=-np.inf))
    return Rest(begin, end, tuple(ranks))


def _told_of(segment: Segment, loops: Iterable[Loop]) -> tuple[float, float]:
    """Return the bytes of a stretch that are in loops, and for how much of its time, in s, there are any."""
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
    return inside, time


def _shared(segment: Segment, begin: float, end: float) -> float:
    """Return for how long a stretch and another share their time, in s; a moment where they touch."""
    return min(segment.end, end) - max(segment.start, begin) + _MOMENT


def _segment(found: Loops, group: Sequence[Loop], folder: str, pauses: Sequence[float]) -> Segment:
    """Return loops that are alike as one stretch; times at which the run pauses may lie in it."""
    begin, end = min(one.begin_s for one in group), max(one.end_s for one in group)
    called = " and ".join(layers_called(group[0], found.loops))
    who = ", ".join(filter(None, (who_text(group, found.trace.ranks), called)))
    pace, outer, amounts, period = paces_text(group), "", "", None
    if len(group) == 1:
        (loop,) = group
        outer, amounts = within_text(loop, found.loops, folder), moved_text(loop, found.loops, called)
        period = loop.interval_s.mean if loop.timing != "irregular" else None
    if any(begin < one < end for one in pauses):
        # A mean over a pause is the length of none.
        if len(group) > 1:
            pace = ""
        elif pace.endswith("on average"):
            pace = f"half of the intervals up to {seconds_text(group[0].interval_s.median)}"
        pace = ", ".join(filter(None, (pace, "before and after a pause")))
    what = ", ".join(filter(None, (alike_text(group, found.loops, folder), pace, outer)))
    count, moved = sum(one.count for one in group), float(sum(one.bytes for one in group))
    return Segment(
        begin,
        end,
        "loop",
        layers=group[0].layers,
        period=period,
        phases=count,
        bytes=moved,
        bytes_per_phase=moved / count,
        ranks=len({rank for one in group for rank in one.ranks}) or None,
        text=found.trace.definitions.recording.told("; ".join(filter(None, (what, amounts, who)))),
    )
