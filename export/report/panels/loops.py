"""Loops as the page draws them: their iterations over one another by layer, and one after the other over time."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ....analysis.comparison.layer_periods import LayerPeriod
from ....analysis.loops.loops import Iteration, Loop, Loops
from ....analysis.loops.words import blame_text, titled
from ....model.arrays import Ints
from ....model.quantities import count_text, seconds_text
from ...encoding import packed, shortened
from ...page.document import Axis, Beside, Chart, Heading, Legend, PageBlock, Paragraph, Series
from .limits import Limits

_COLUMNS: Final = 64
"""Of a curve of an iteration."""
_STAND_OUT: Final = 6
"""Iterations that are drawn in colour, the longest first."""
_LONGEST: Final = 4
"""Times the median of lengths at which what is drawn ends."""
_MOVED: Final = {"read": "bytes_read", "write": "bytes_written"}
_TONES: Final = {
    "write": "write: the iteration of median length",
    "read": "read: the iteration of median length",
    "use": "others",
    "period": "those that take much longer than the others",
}
_EXPLAINED: Final = (
    "Bandwidth of a layer from the begin of each iteration on, all iterations over one another: what differs between "
    "them shows. It is that of all the layer does meanwhile, also of what does not belong to the loop."
)


def shown_loops(found: Loops, limits: Limits) -> list[Loop]:
    """Return the loops whose iterations are drawn, those that move most, in the order of their begins."""
    told = [one for one in found.substantial if any(each.length_s for each in one.iterations)]
    told.sort(key=lambda one: (-one.bytes, one.begin_s))
    return sorted(told[: limits.loops], key=lambda one: one.begin_s)


def loop_strips(found: Loops | None, limits: Limits) -> list[dict[str, Any]]:
    """Return when iterations were: begins and ends in s, float64; of too many neighbours are put together."""
    strips = []
    for loop, title in _titled(found, limits):
        iterations = loop.iterations
        together = -(-len(iterations) // limits.phases)
        groups = [iterations[place : place + together] for place in range(0, len(iterations), together)]
        notes = ["; ".join(blame_text(loop, one) for one in group if one.outlier) for group in groups]
        strips.append(
            {
                "title": title,
                "total": len(iterations),
                "together": together,
                "start": packed([group[0].begin_s for group in groups], "f8"),
                "end": packed([max(one.end_s for one in group) for group in groups], "f8"),
                "notes": {str(place): note for place, note in enumerate(notes) if note},
            }
        )
    return strips


def loop_charts(found: Loops | None, shown: Sequence[LayerPeriod], limits: Limits) -> list[PageBlock]:
    """Return the iterations of loops over one another, a chart for each layer and direction that takes part."""
    blocks: list[PageBlock] = []
    drawn: set[str] = set()
    for loop, title in _titled(found, limits):
        moving = [one for one in shown if _moves(loop, one)]
        if moving:
            drawn |= {one.direction or "write" for one in moving}
            drawn |= {"period"} if any(one.outlier for one in loop.iterations) else set()
            blocks.append(Heading(title))
            blocks.append(Beside([_chart(loop, one, limits.iterations) for one in moving]))
    if not blocks:
        return []
    tones = [(tone, text) for tone, text in _TONES.items() if tone in drawn | {"use"}]
    return [Paragraph(_EXPLAINED), Legend(tones), *blocks]


def _titled(found: Loops | None, limits: Limits) -> list[tuple[Loop, str]]:
    if found is None:
        return []
    most = limits.characters // 2
    return [(one, shortened(text, most)) for one, text in titled(found, shown_loops(found, limits))]


def _moves(loop: Loop, period: LayerPeriod) -> bool:
    part = loop.sums.get(period.layer)
    ways = _MOVED.values() if period.direction is None else (_MOVED[period.direction],)
    return part is not None and any(getattr(part, way) for way in ways)


def _chart(loop: Loop, period: LayerPeriod, most: int) -> Chart:
    iterations = loop.iterations
    length = np.array([one.length_s for one in iterations])
    usual = int(np.argsort(length, kind="stable")[len(length) // 2])
    long = [place for place in np.argsort(-length, kind="stable").tolist() if iterations[place].outlier][:_STAND_OUT]
    others = [place for place in _spread(len(iterations), most).tolist() if place != usual and place not in long]
    end = min(float(length.max()), _LONGEST * float(length[usual])) or float(length.max())
    tone = period.direction or "write"
    drawn = [_line(iterations[place], period, end, "faint") for place in others]
    name = f"iteration {usual + 1}, of median length ({seconds_text(float(length[usual]))})"
    drawn.append(_line(iterations[usual], period, end, f"{tone} bold", name))
    for place in long:
        name = f"iteration {place + 1}, {seconds_text(float(length[place]))} {blame_text(loop, iterations[place])}"
        drawn.append(_line(iterations[place], period, end, "period", name))
    count, shown = len(iterations), len(drawn)
    caption = f"{count_text(shown)} of {count_text(count)} iterations" if shown < count else ""
    if float(length.max()) > end:
        longer = f"the longest lasts {seconds_text(float(length.max()))}"
        caption = f"{caption}; {longer}" if caption else longer
    axes = Axis("seconds", "since the begin of the iteration", ends=(0.0, end)), Axis("rate")
    return Chart(f"{period.layer} {tone}", *axes, drawn, caption, read=True, heading=True)


def _spread(count: int, most: int) -> Ints:
    """Return places of as many iterations as are drawn, the first and the last among them."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(np.int64))


def _line(one: Iteration, period: LayerPeriod, end: float, tone: str, name: str = "") -> Series:
    """Return the mean rates of an iteration in columns of equal width, as far as they are drawn."""
    step = one.length_s / _COLUMNS
    if not step > 0:
        return Series("line", tone, y=np.zeros(0), every=(0.0, 0.0), name=name)
    volume = period.signal.volume_until(one.begin_s + step * np.arange(_COLUMNS + 1))
    within = (np.arange(_COLUMNS) + 0.5) * step <= end
    return Series("line", tone, y=(np.diff(volume) / step)[within], every=(step / 2, step), name=name)
