"""The group ``loops`` of an HDF5 file: what the program does over and over, and what layers do in each iteration."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Final

from ...analysis.loops.loops import Iteration, LayerPart, Loop, Loops
from ...analysis.loops.words import body_text, ranks_text
from ...model.metrics import Metric, metrics_of
from .groups import write_axes
from .variables import GroupWriter, Variable

_TIMES: Final[tuple[Variable, ...]] = (
    ("begin_s", "s", "first begin of one of its operations, from the trace's start"),
    ("end_s", "s", "last end of one of its operations, from the trace's start"),
)
_LOOPS: Final[tuple[Variable, ...]] = (
    *_TIMES,
    ("bits", "1", "bits saved by telling the run by this loop; 0 for one step done many times"),
    ("interval_s", "s", "median time from one begin of an iteration to the next", attrgetter("interval_s.median")),
    ("lower_quartile_s", "s", "lower quartile of these times", attrgetter("interval_s.lower_quartile")),
    ("upper_quartile_s", "s", "upper quartile of these times", attrgetter("interval_s.upper_quartile")),
    ("jitter", "1", "coefficient of variation of these times", attrgetter("interval_s.jitter")),
    ("timing", "text", "how iterations follow one another: clock, regular, irregular"),
    ("ranks", "text", "ranks that do it", lambda loop: ranks_text(loop.ranks, 0, whole=True)),
    ("layers", "text", "layers that take part, the highest first", lambda loop: " ".join(loop.layers)),
)
_SLOWEST: Final[tuple[Variable, ...]] = (
    ("iteration", "1", "iteration that takes longest, from 1 on, where that is worth a word"),
    ("length_s", "s", "how long it takes"),
    ("usual_s", "s", "how long iterations take in the median"),
    ("text", "text", "that in words, and by which layer, call, file and rank"),
)
_ITERATIONS: Final[tuple[Variable, ...]] = (
    *_TIMES,
    ("outlier", "flag", "whether it took much longer than the others of its loop"),
    ("other", "flag", "whether some rank missed steps or did more than usual"),
)
_SUMS: Final = tuple(one for one in metrics_of(LayerPart) if one.name not in LayerPart.OPTIONAL)
"""What is known of all iterations together, too."""


def write_loops(writer: GroupWriter, found: Loops, names: tuple[str, ...]) -> None:
    """Write a row for each loop and for each iteration of the outermost ones, and what layers do in the latter.

    Parameters
    ----------
    names : tuple of str
        Layers of the dimension ``layer`` of the root.
    """
    row, loops = ("loop",), found.loops
    write_axes(writer, names)
    writer.dimension("loop", len(loops))
    writer.integers("loop", row, [one.id for one in loops], "1", "id of the loop, as in iostrata loops")
    parents = [-1 if one.parent is None else one.parent for one in loops]
    writer.integers("parent", row, parents, "1", "id of the loop that it is in, -1 for an outermost one")
    writer.integers("count", row, [one.count for one in loops], "1", "iterations")
    writer.text("body", row, [body_text(one, loops) for one in loops], long_name="steps of an iteration")
    writer.table(row, loops, _LOOPS)
    slowest = [found.slowest.get(one.id) for one in loops]
    writer.table(row, slowest, _SLOWEST, "slowest_")
    _write_parts(writer, ("loop", "layer"), [one.sums for one in loops], names, _SUMS)
    outside = [replace(one, key=f"outside_{one.key}") for one in _SUMS if one.adds == "sum"]
    _write_parts(writer, ("layer",), [found.outside], names, outside)
    _write_iterations(writer.subgroup("iterations"), found.outermost, names)


def _write_iterations(writer: GroupWriter, loops: Sequence[Loop], names: tuple[str, ...]) -> None:
    """Write the iterations that are listed one by one."""
    each: list[tuple[Loop, int, Iteration]] = [
        (loop, number, one) for loop in loops for number, one in enumerate(loop.iterations, 1)
    ]
    row, iterations = ("iteration",), [one for _, _, one in each]
    write_axes(writer, names)
    writer.dimension("iteration", len(each))
    writer.integers("loop_id", row, [loop.id for loop, _, _ in each], "1", "id of the loop")
    writer.integers("number", row, [number for _, number, _ in each], "1", "number in the loop, from 1 on")
    writer.table(row, iterations, _ITERATIONS)
    parts = [one.layers for one in iterations]
    _write_parts(writer, ("iteration", "layer"), parts, names, metrics_of(LayerPart))


def _write_parts(
    writer: GroupWriter,
    dimensions: tuple[str, ...],
    parts: Sequence[dict[str, LayerPart]],
    names: tuple[str, ...],
    metrics: Iterable[Metric],
) -> None:
    """Write some metrics of what layers do, a row for each of `parts`."""
    nothing = LayerPart(0, 0, 0, 0.0)
    cells = [part.get(name, nothing) for part in parts for name in names]
    for one in metrics:
        values = [one.value(cell) for cell in cells]
        if one.name.endswith("_rank"):
            ranks = [-1 if rank is None else rank for rank in values]
            writer.integers(one.key, dimensions, ranks, one.unit, f"{one.sentence} -1 for none.")
        else:
            writer.metric(one, dimensions, values)
