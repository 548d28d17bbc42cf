"""What objects look like: in a notebook small tables and curves as HTML, every text escaped, and axes to draw on."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from .arrays import Floats
from .errors import import_library

_LEFT = "text-align:left"


def html_table(rows: Iterable[Sequence[object]], header: Sequence[str] = (), caption: str = "") -> str:
    """Return a table whose first column names what the others say of it.

    Parameters
    ----------
    rows : iterable of sequences
        Integers get thousands separators, floats six significant digits, all else is taken as text.
    header : sequence of str, optional
    caption : str, optional
    """
    head = "".join(f"<th style='{_LEFT}'>{escape(name)}</th>" for name in header)
    body = "".join(f"<tr>{''.join(_cell(value, place) for place, value in enumerate(row))}</tr>" for row in rows)
    title = f"<caption style='{_LEFT};font-weight:bold'>{escape(caption)}</caption>" if caption else ""
    return f"<table>{title}{f'<thead><tr>{head}</tr></thead>' if head else ''}<tbody>{body}</tbody></table>"


def html_curve(values: Floats, label: str, width: int = 480, height: int = 60) -> str:
    """Return values as an SVG area over equal steps, from 0 to the largest of them.

    Parameters
    ----------
    values : float64 (n,)
        Not negative.
    label : str
        What the picture shows, for those who do not see it.
    width, height : int
        In pixels.
    """
    top = float(values.max(initial=0.0)) or 1.0
    step = width / max(len(values), 1)
    points = [f"M0 {height}"]
    for place, share in enumerate((values / top).tolist()):
        points.append(f"V{height - share * height:.1f}H{(place + 1) * step:.1f}")
    return (
        f"<svg width='{width}' height='{height}' viewBox='0 0 {width} {height}' role='img' "
        f"aria-label='{escape(label, quote=True)}'><path d='{''.join(points)}V{height}Z' fill='#0a5fa8'/></svg>"
    )


def axes_for(ax: Any, xlabel: str, ylabel: str = "") -> Any:
    """Return `ax` with its axes named, that of a new figure where it is None; needs matplotlib."""
    if ax is None:
        ax = import_library("matplotlib.pyplot").subplots()[1]
    ax.set_xlabel(xlabel)
    if ylabel:
        ax.set_ylabel(ylabel)
    return ax


def _cell(value: object, place: int) -> str:
    if place == 0:
        return f"<th style='{_LEFT}'>{escape(str(value))}</th>"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"<td style='{_LEFT}'>{escape('' if value is None else str(value))}</td>"
    return f"<td style='text-align:right'>{f'{value:,}' if isinstance(value, int) else f'{value:.6g}'}</td>"
