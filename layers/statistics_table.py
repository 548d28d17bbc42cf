"""Statistics of layers as a table for notebooks."""

from collections.abc import Iterable

from .notebook import html_table
from .protocols import AnyLayer


def statistics_table(layers: Iterable[AnyLayer]) -> str:
    """Return the statistics of layers as an HTML table."""
    header = ("layer", "operations", "bytes", "busy (s)", "summed (s)", "ranks", "files", "own bytes")
    found = [layer.statistics(direction) for layer in layers for direction in layer.directions]
    rows = [
        (
            f"{one.layer} {one.direction}",
            one.operations,
            one.bytes,
            one.busy_s,
            one.summed_s,
            one.ranks,
            one.files,
            one.own_bytes,
        )
        for one in found
    ]
    return html_table(rows, header)
