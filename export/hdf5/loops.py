"""The group ``loops`` of an HDF5 file: what the program does over and over, and what layers do in each iteration."""

from collections.abc import Sequence
from operator import attrgetter
from typing import Final

from ...analysis.loops.loops import Iteration, LayerPart, Loop, Loops
from ...analysis.loops.words import body_text, ranks_text
from .groups import write_axes
from .variables import GroupWriter, Variable

_TIMES: Final[tuple[Variable, ...]] = (
    ("begin_s", "s", "first begin of one of its operations, from the trace's start"),
    ("end_s", "s", "last end of one of its operations, from the trace's start"),
)
_LOOPS: Final[tuple[Variable, ...]] = (
    *_TIMES,
    ("bits", "1", "bits saved by telling the run by this loop; 0 for one step done many times"),
    (
        "interval_s",
        "s",
        "median time from one begin of an iteration to the next",
        attrgetter("interval_s.median"),
    ),
    ("lower_quartile_s", "s", "lower quartile of these times", attrgetter("interval_s.lower_quartile")),
    ("upper_quartile_s", "s", "upper quartile of these times", attrgetter("interval_s.upper_quartile")),
    ("jitter", "1", "coefficient of variation of these times", attrgetter("interval_s.jitter")),
    ("timing", "text", "how iterations follow one another: clock, regular, irregular"),
    ("ranks", "text", "ranks that do it", lambda loop: ranks_text(loop.ranks, 0)),
    ("layers", "text", "layers that take part, the highest first", lambda loop: " ".join(loop.layers)),
)
_ITERATIONS: Final[tuple[Variable, ...]] = (
    *_TIMES,
    ("outlier", "flag", "whether it took much longer than the others of its loop"),
    ("other", "flag", "whether some rank missed steps or did more than usual"),
)
_AMOUNTS: Final = (
    ("bytes_read", "byte", "bytes read"),
    ("bytes_written", "byte", "bytes written"),
    ("operations", "1", "reads and writes"),
    ("flushes", "1", "flushes"),
    ("hidden_operations", "1", "operations that no call of the program caused, as far as the trace tells"),
)


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
    _write_parts(writer, ("loop", "layer"), [one.sums for one in loops], names, "", "in all iterations of a loop")
    _write_parts(writer, ("layer",), [found.outside], names, "outside_", "in no loop")
    _write_iterations(writer.subgroup("iterations"), found.outermost, names)


def _write_iterations(writer: GroupWriter, loops: Sequence[Loop], names: tuple[str, ...]) -> None:
    """Write the iterations that are told one by one."""
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
    grid = ("iteration", "layer")
    _write_parts(writer, grid, parts, names, "", "in the iteration")
    slowest = [_slowest(part.get(name)) for part in parts for name in names]
    writer.integers("slowest_rank", grid, slowest, "1", "rank whose operations took longest, -1 for none")


def _slowest(part: LayerPart | None) -> int:
    return -1 if part is None or part.slowest_rank is None else part.slowest_rank


def _write_parts(
    writer: GroupWriter,
    dimensions: tuple[str, ...],
    parts: Sequence[dict[str, LayerPart]],
    names: tuple[str, ...],
    prefix: str,
    where: str,
) -> None:
    """Write what layers do, a row for each of `parts`."""
    cells = [part.get(name) for part in parts for name in names]
    for name, units, what in _AMOUNTS:
        values = [0 if one is None else getattr(one, name) for one in cells]
        writer.amounts(prefix + name, dimensions, values, units, f"{what} {where}")
    if not prefix:
        busy = [0.0 if one is None else one.busy_s for one in cells]
        writer.floats("busy_s", dimensions, busy, "s", f"time in which any operation was under way {where}")
