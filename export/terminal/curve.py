"""A bandwidth curve in characters: an area chart of braille dots, or of ASCII where the encoding has no braille."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
from rich.text import Text

from ...model.quantities import seconds_text

GUTTER: Final = 11
"""Columns of the labels left of a curve."""
_DOTS_A_ROW: Final = 4
_BRAILLE_BLANK: Final = 0x2800
_LEFT: Final = (0x40, 0x04, 0x02, 0x01)
_RIGHT: Final = (0x80, 0x20, 0x10, 0x08)
_ASCII: Final = " .:|"
_ROUNDING: Final = 1e-6
"""Share of a column by which times may miss its edge."""


def labelled_curve(
    averages: npt.NDArray[np.float64],
    top: str,
    height: int,
    window: tuple[float, float],
    strips: Sequence[tuple[str, str, str]] = (),
    ascii_only: bool = False,
) -> Iterator[Text]:
    """Give the lines of a curve from 0 to its largest value, with strips below it and an axis of time.

    Parameters
    ----------
    averages : float array (n,)
        ``points_per_column`` of them share a character.
    top : str
        The largest value in words.
    window : (float, float)
        Start and end of the axis in s.
    strips : sequence of (label, line, style)
        As from `interval_row` and `tick_row`.
    """
    width = len(averages) // points_per_column(ascii_only)
    edge, corner, line = "|+-" if ascii_only else "┤└─"
    for number, row in enumerate(area_rows(averages, float(averages.max()), height, ascii_only)):
        yield Text.assemble(f"{top if number == 0 else '':>{GUTTER}}{edge}", (row, "cyan"))
    yield Text(f"{'0':>{GUTTER}}{corner}{line * width}")
    for label, marks, style in strips:
        yield Text.assemble(f"{label:>{GUTTER}} ", (marks, style))
    start, end = window
    labels = (seconds_text(start), seconds_text((start + end) / 2), seconds_text(end))
    yield Text(f"{'':>{GUTTER}} {axis_row(labels, width)}", style="dim")


def points_per_column(ascii_only: bool) -> int:
    """Return how many values `area_rows` draws side by side in one character."""
    return 1 if ascii_only else 2


def area_rows(values: npt.NDArray[np.float64], top: float, height: int, ascii_only: bool = False) -> list[str]:
    """Draw `values` as a filled area on a linear axis from 0 to `top`.

    Parameters
    ----------
    values : float array (n,)
        Not negative; ``points_per_column`` of them share a character.
    top : float
        Value at the upper edge.
    height : int
        Number of lines.
    ascii_only : bool
        Draw with ``. : |`` in place of braille dots.

    Returns
    -------
    list of str
        `height` lines, the highest first. A value above 0 shows at least one dot.
    """
    levels = len(_ASCII) - 1 if ascii_only else _DOTS_A_ROW
    steps = height * levels
    scaled = np.zeros(len(values)) if top <= 0 else np.clip(values / top, 0, 1) * steps
    dots = np.where(values > 0, np.maximum(np.rint(scaled), 1), 0).astype(np.intp)
    rows = []
    for row in range(height - 1, -1, -1):
        filled = np.clip(dots - row * levels, 0, levels)
        rows.append("".join(_ASCII[level] for level in filled) if ascii_only else _braille(filled))
    return rows


def _braille(filled: npt.NDArray[np.intp]) -> str:
    if len(filled) % 2:
        filled = np.append(filled, 0)
    left = np.concatenate([[0], np.cumsum(_LEFT)])
    right = np.concatenate([[0], np.cumsum(_RIGHT)])
    codes = _BRAILLE_BLANK + left[filled[::2]] + right[filled[1::2]]
    return "".join(map(chr, codes))


def interval_row(intervals: Iterable[tuple[float, float]], window: tuple[float, float], width: int, mark: str) -> str:
    """Draw `intervals` of time as stretches of `mark` on a line of `width` columns; each takes at least one column."""
    cells = [" "] * width
    for start, end in intervals:
        first = _column(start, window, width)
        beyond = math.ceil(_place(end, window, width) - _ROUNDING)
        last = max(first + 1, min(width, beyond))
        cells[first:last] = mark * (last - first)
    return "".join(cells)


def tick_row(times: Iterable[float], window: tuple[float, float], width: int, mark: str) -> str:
    """Draw `times` as single marks on a line of `width` columns."""
    cells = [" "] * width
    for time in times:
        cells[_column(time, window, width)] = mark
    return "".join(cells)


def axis_row(labels: tuple[str, str, str], width: int) -> str:
    """Write three labels at the left end, the middle and the right end of a line; the middle only where it fits."""
    left, middle, right = labels
    room = width - len(left) - len(right)
    if room < 1:
        return left[:width]
    if room < len(middle) + 4:
        return left + " " * room + right
    before = max(2, width // 2 - len(middle) // 2 - len(left))
    before = min(before, room - len(middle) - 2)
    return left + " " * before + middle + " " * (room - before - len(middle)) + right


def _column(time: float, window: tuple[float, float], width: int) -> int:
    """Return the column that `time` falls into."""
    return min(width - 1, max(0, math.floor(_place(time, window, width) + _ROUNDING)))


def _place(time: float, window: tuple[float, float], width: int) -> float:
    """Return how many columns lie between the window's start and `time`."""
    start, end = window
    return (time - start) / (end - start) * width if end > start else 0.0
