"""How much of a trace the report holds, so that its size does not follow that of the trace."""

from collections.abc import Iterator
from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Limits:
    """Most of each kind that goes into a report; what is left out is counted and the page says so.

    Attributes
    ----------
    curves : int
        Curves of bandwidth (a layer in one direction), the one with most bytes first.
    steps : int
        Steps of a signal that is kept exactly; a longer one is binned.
    bins : int
        Bins of a signal that is not kept exactly, with mean, smallest and largest rate in each.
    lines : int
        Points of a spectrum.
    phases : int
        Phases listed a curve.
    segments : int
        Segments of the run that are listed.
    drawn_phases : int
        Phases drawn a curve; of more, neighbours are drawn as one.
    rows : int
        Rows of the timeline.
    marks : int
        Marks in the timeline, over all rows.
    handles : int
        Handles in the tree.
    sparkline : int
        Bins of a handle's small curve.
    heat_rows, heat_bins : int
        Rank groups and time bins of a heat map.
    characters : int
        Length of a name; a longer one loses its middle.
    locations : int
        Damaged locations listed.
    nodes : int
        Nodes of the system tree listed.
    call_paths : int
        Call paths listed.
    stack_threads, stack_bars : int
        Threads whose call stacks are drawn, and calls in them; of more, neighbours are drawn as one.
    calls : int
        Collective calls drawn a pair of layers and direction; of more, neighbours are drawn as one.
    loops, iterations : int
        Loops whose iterations are drawn, and iterations drawn over one another.
    pairs : int
        Pairs of layers, and entries of any list that the comparison of layers holds.
    """

    curves: int = 24
    steps: int = 3000
    bins: int = 2048
    lines: int = 768
    phases: int = 1000
    segments: int = 60
    drawn_phases: int = 6000
    rows: int = 480
    marks: int = 20_000
    handles: int = 1000
    sparkline: int = 48
    heat_rows: int = 96
    heat_bins: int = 240
    characters: int = 400
    locations: int = 200
    nodes: int = 300
    call_paths: int = 400
    stack_threads: int = 24
    stack_bars: int = 12_000
    calls: int = 2000
    loops: int = 8
    iterations: int = 32
    pairs: int = 200

    def smaller(self) -> "Iterator[Limits]":
        """Give these limits, and ever smaller ones."""
        limits = self
        while True:
            yield limits
            if limits == limits.halved():
                return
            limits = limits.halved()

    def halved(self) -> "Limits":
        """Return limits half as large, none below 8."""
        return Limits(**{field.name: max(8, getattr(self, field.name) // 2) for field in fields(self)})
