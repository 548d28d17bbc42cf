"""Plots as SVG text without styles of their own: axes, curves, points, bars and grids of cells, coloured by class."""

import math
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Final

import numpy as np

from ...model.arrays import Floats

_LEFT, _RIGHT, _TOP, _BOTTOM = 76, 12, 8, 34
MOST_POINTS: Final = 2000
"""Of a curve: more than its picture has columns."""


class Plot:
    """A plot with linear axes from a lower to an upper end each.

    Parameters
    ----------
    x, y : (float, float)
        Ends of the axes; y grows upwards.
    x_text, y_text : callable
        Write a tick's value.
    x_title, y_title : str
    title : str
        What the picture shows, for those who cannot see it.
    width, height : int
        In user units.
    """

    def __init__(
        self,
        x: tuple[float, float],
        y: tuple[float, float],
        x_text: Callable[[float], str],
        y_text: Callable[[float], str],
        title: str,
        *,
        x_title: str = "",
        y_title: str = "",
        width: int = 960,
        height: int = 150,
    ) -> None:
        self._x, self._y = _ends(x), _ends(y)
        self._width, self._height = width, height + (14 if x_title else 0)
        self._bottom = _BOTTOM + (14 if x_title else 0)
        self._title = title
        self._parts: list[str] = []
        self._axes(x_text, y_text, x_title, y_title)

    def steps(self, values: Floats, interval: float, name: str) -> None:
        """Draw values that each hold for `interval`, from 0 on, as an area; of many the largest of each few."""
        if not len(values):
            return
        count = min(len(values), MOST_POINTS)
        starts = (np.arange(count) * len(values)) // count
        edges = np.append(starts, len(values)) * interval
        drawn = np.maximum.reduceat(values, starts)
        floor = self._at_y(max(0.0, self._y[0]))
        corners = [f"M{self._at_x(0.0):.1f} {floor:.1f}"]
        for value, end in zip(drawn.tolist(), edges[1:].tolist(), strict=True):
            corners.append(f"V{self._at_y(value):.1f}H{self._at_x(end):.1f}")
        self._parts.append(f'<path class="{name}" d="{"".join(corners)}V{floor:.1f}Z"/>')

    def line(self, x: Sequence[float], y: Sequence[float], name: str) -> None:
        """Draw a line through points."""
        step = max(1, len(x) // MOST_POINTS)
        places = " ".join(f"{self._at_x(a):.1f},{self._at_y(b):.1f}" for a, b in zip(x[::step], y[::step], strict=True))
        self._parts.append(f'<polyline class="{name}" points="{places}"/>')

    def points(
        self, x: Sequence[float], y: Sequence[float], name: str, texts: Sequence[str] | None = None, radius: float = 3
    ) -> None:
        """Draw points; `texts` show where the pointer rests on one."""
        for place, (a, b) in enumerate(zip(x, y, strict=True)):
            told = f"<title>{escape(texts[place])}</title>" if texts else ""
            at = f'cx="{self._at_x(a):.1f}" cy="{self._at_y(b):.1f}" r="{radius:g}"'
            self._parts.append(f'<circle class="{name}" {at}>{told}</circle>')

    def span(self, start: float, end: float, name: str, text: str = "") -> None:
        """Shade a stretch of the x axis over the whole height."""
        self.box((start, end), self._y, name, text)

    def box(self, x: tuple[float, float], y: tuple[float, float], name: str, text: str = "") -> None:
        """Draw a rectangle."""
        left, right = self._at_x(x[0]), self._at_x(x[1])
        top, bottom = self._at_y(y[1]), self._at_y(y[0])
        told = f"<title>{escape(text)}</title>" if text else ""
        at = f'x="{left:.1f}" y="{top:.1f}" width="{max(0.4, right - left):.1f}" height="{max(0.4, bottom - top):.1f}"'
        self._parts.append(f'<rect class="{name}" {at}>{told}</rect>')

    def level(self, y: float, name: str, text: str) -> None:
        """Draw a line at a height, with its words."""
        if not self._y[0] <= y <= self._y[1]:
            return
        at = self._at_y(y)
        self._parts.append(f'<path class="{name}" d="M{_LEFT} {at:.1f}H{self._width - _RIGHT}"/>')
        self._parts.append(f'<text class="muted" x="{self._width - _RIGHT - 4}" y="{at - 4:.1f}" text-anchor="end">')
        self._parts.append(f"{escape(text)}</text>")

    def mark(self, x: float, name: str) -> None:
        """Draw a line at a place of the x axis."""
        self._parts.append(f'<path class="{name}" d="M{self._at_x(x):.1f} {_TOP}V{self._height - self._bottom}"/>')

    def svg(self) -> str:
        """Return the picture."""
        return (
            f'<svg width="{self._width}" viewBox="0 0 {self._width} {self._height}" role="img" '
            f'aria-label="{escape(self._title)}">'
            f"{''.join(self._parts)}</svg>"
        )

    def _at_x(self, value: float) -> float:
        low, high = self._x
        return _LEFT + (min(max(value, low), high) - low) / (high - low) * (self._width - _LEFT - _RIGHT)

    def _at_y(self, value: float) -> float:
        low, high = self._y
        room = self._height - self._bottom - _TOP
        return self._height - self._bottom - (min(max(value, low), high) - low) / (high - low) * room

    def _axes(self, x_text: Callable[[float], str], y_text: Callable[[float], str], x_title: str, y_title: str) -> None:
        floor, right = self._height - self._bottom, self._width - _RIGHT
        self._parts.append(f'<path class="axis" d="M{_LEFT} {_TOP}V{floor}H{right}"/>')
        for value in ticks(*self._x, max(2, self._width // 120)):
            at = self._at_x(value)
            self._parts.append(f'<path class="axis" d="M{at:.1f} {floor}v4"/>')
            self._parts.append(
                f'<text x="{at:.1f}" y="{floor + 18}" text-anchor="middle">{escape(x_text(value))}</text>'
            )
        for value in ticks(*self._y, max(3, (floor - _TOP) // 40)):
            at = self._at_y(value)
            self._parts.append(f'<path class="axis" d="M{_LEFT} {at:.1f}h-4"/>')
            self._parts.append(
                f'<text x="{_LEFT - 7}" y="{at + 4:.1f}" text-anchor="end">{escape(y_text(value))}</text>'
            )
        if x_title:
            self._parts.append(
                f'<text class="muted" x="{(_LEFT + right) / 2:.0f}" y="{self._height - 6}" text-anchor="middle">'
                f"{escape(x_title)}</text>"
            )
        if y_title:
            self._parts.append(f'<text class="muted" x="{_LEFT + 6}" y="{_TOP + 11}">{escape(y_title)}</text>')


def ticks(low: float, high: float, most: int) -> list[float]:
    """Return at most about `most` + 1 round numbers between two ends: multiples of 1, 2 or 5 times a power of ten."""
    rough = (high - low) / max(1, most)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(size * power for size in (1, 2, 5, 10) if size * power >= rough * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    return [place * step for place in range(first, math.floor(high / step + 1e-9) + 1)]


def histogram(
    values: Iterable[float], ends: tuple[float, float], bins: int, x_text: Callable[[float], str], title: str
) -> str:
    """Return the numbers of values in bins of equal width, as a picture."""
    counts, edges = np.histogram(np.clip(np.fromiter(values, np.float64), *ends), bins, ends)
    plot = Plot(
        ends, (0.0, float(max(1, counts.max())) * 1.05), x_text, lambda count: f"{count:,.0f}", title,
        x_title=title, width=460, height=190,
    )  # fmt: skip
    for low, high, count in zip(edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), strict=True):
        if count:
            plot.box((low, high), (0.0, count), "bar", f"{count:,} from {x_text(low)} to {x_text(high)}")
    return plot.svg()


def cells(
    values: Floats, rows: Sequence[str], columns: Callable[[int], str], name: Callable[[float], str], title: str
) -> str:
    """Return a grid of cells coloured by class, a line a row of `values`; NaN is left blank.

    Parameters
    ----------
    values : float64 (n, m)
    rows : sequence of str
        Names of the lines.
    columns : callable
        What a column is.
    name : callable
        Class of a value.
    title : str
    """
    count, length = values.shape
    height, label = 15, 150
    width = max(2.0, min(24.0, 800 / max(1, length)))
    parts = []
    for row in range(count):
        top = row * height
        text = rows[row] if len(rows[row]) <= 24 else f"{rows[row][:10]}…{rows[row][-12:]}"
        parts.append(f'<text x="{label - 6}" y="{top + 12}" text-anchor="end">{escape(text)}</text>')
        # Neighbours of one value are one rectangle.
        start = 0
        for column in range(1, length + 1):
            same = column < length and (
                values[row, column] == values[row, start]
                or (np.isnan(values[row, column]) and np.isnan(values[row, start]))
            )
            if same:
                continue
            value = float(values[row, start])
            if not math.isnan(value):
                told = f"{rows[row]}, {columns(start)}: {value:g}"
                at = f'x="{label + start * width:.1f}" y="{top + 1}" width="{(column - start) * width:.1f}"'
                parts.append(
                    f'<rect class="{name(value)}" {at} height="{height - 2}"><title>{escape(told)}</title></rect>'
                )
            start = column
    base = count * height
    for tick in ticks(0, length, 6) if length > 1 else [0.0]:
        if tick < length:
            at_tick = label + tick * width
            text = escape(columns(int(tick)))
            parts.append(f'<text class="muted" x="{at_tick:.1f}" y="{base + 14}">{text}</text>')
    size = max(620.0, label + length * width + 60)
    return (
        f'<svg width="{size:.0f}" viewBox="0 0 {size:.0f} {base + 20}" role="img" aria-label="{escape(title)}">'
        f"{''.join(parts)}</svg>"
    )


def _ends(ends: tuple[float, float]) -> tuple[float, float]:
    low, high = ends
    return (low, high) if high > low else (low, low + 1.0)
