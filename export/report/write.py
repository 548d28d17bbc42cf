"""Writing the report of a trace to a file."""

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final, Literal

from ...analysis.comparison.layer_periods import LayerPeriod, chosen_layers, layer_periods
from ...analysis.comparison.layers import compare_layers
from ...analysis.comparison.story import results_of, story_of
from ...analysis.registry import DEFAULT_METHOD
from ...layers.selection.directions import DIRECTIONS
from ...layers.trace import Trace
from ..page.html import write_page
from ..written import Written
from .contents import report_contents
from .panels.limits import Limits

MOST_BYTES: Final = 2_000_000
"""Size that no report exceeds."""


def write_report(
    trace: Trace,
    path: str | os.PathLike[str],
    *,
    layers: str | Iterable[str] | None = None,
    traffic: str = "all",
    method: str = DEFAULT_METHOD,
    fs: float | Literal["auto"] = "auto",
    most_bytes: int = MOST_BYTES,
    progress: Callable[[int, int], None] | None = None,
) -> Written:
    """Write a page that shows a trace: one HTML file that loads nothing.

    A page that would be too large is made anew with limits half as large, until it is not.

    Parameters
    ----------
    trace : Trace
        Its window and its selection of files count.
    path : path
        An existing file is replaced once the new one is complete.
    layers : str or iterable of str, optional
        Names of the layers to show; default: all.
    traffic : {"all", "own", "inherited"}
        Which traffic curves and periods are of; statistics and the timeline are of all.
    method : str
        How periods are detected.
    fs : float or "auto"
        Sampling frequency in Hz for that.
    most_bytes : int
        Size that the page does not exceed, unless the limits are down to a few entries each.
    progress : callable, optional
        Called with the layers done and the layers in total.

    Raises
    ------
    SelectionError
        If there is no such layer, traffic or method, or `fs` makes no sense.
    OutputError
        If the file cannot be written.

    Examples
    --------
    >>> write_report(open_trace("fixtures/ckpt4"), "report.html").layers  # doctest: +SKIP
    ('MPI-IO', 'ISOC', 'POSIX')
    """
    names = (layers,) if isinstance(layers, str) else tuple(layers or ())
    chosen = chosen_layers(trace, names)
    periods: list[LayerPeriod] = []
    for done, layer in enumerate(chosen):
        if progress is not None:
            progress(done, len(chosen))
        periods += layer_periods([layer], DIRECTIONS, traffic, method, fs)
    comparison = compare_layers(trace, layers=names, directions=DIRECTIONS, method=method, fs=fs, known=periods)
    story = story_of(trace, results_of(periods), method, fs)
    title = f"iostrata: {trace.path.parent.name or trace.path.name}"
    smaller = (report_contents(trace, chosen, periods, comparison, limits, story) for limits in Limits().smaller())
    written = write_page(smaller, path, title, most_bytes)
    return replace(written, layers=tuple(layer.name for layer in chosen))
