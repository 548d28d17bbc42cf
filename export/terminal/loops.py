"""The terminal view of ``iostrata loops``."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from rich.console import Console
from rich.text import Text

from ...analysis.loops.loops import LayerPart, Loop, Loops
from ...analysis.loops.slowest import slowest_text
from ...analysis.loops.streams import FileStream, StreamLayer, of_stream
from ...analysis.loops.words import (
    alike,
    alike_text,
    changes_text,
    moved_text,
    pace_text,
    paces_text,
    timing_text,
    who_text,
    within_text,
)
from ...layers.statistics.kinds import common_folder
from ...model.quantities import bytes_text, counted, range_text, seconds_text
from ...model.text import printable
from .console import bounded, fitted, print_damage, print_heading, print_paragraph, table_of_numbers

_SHOWN: Final = 8
"""Streams on one screen, those that move most first."""
_LINES: Final = 23
"""Of a terminal of 24, one of which is the prompt's."""
_BESIDE: Final = 7
"""Lines of the screen that are not of loops."""


def print_loops(found: Loops, console: Console, iterations: bool = False) -> None:
    """Print the loops as a tree, and what stands out in their iterations."""
    print_heading(found.trace, console)
    order = sorted(found.substantial, key=_weight, reverse=True)
    shown = _fitting(found, order, console) if bounded(console) and not iterations else order
    if not order:
        much = "that moves or lasts much " if found.outermost else ""
        print_paragraph(f"Nothing {much}that the program calls repeats beyond chance.", console, indent=0)
    folder = common_folder(step.file for loop in shown for step in loop.body)
    in_order = sorted(shown, key=lambda one: one.begin_s)
    for group in [(one,) for one in in_order] if iterations else alike(in_order):
        _print_loops(found, group, folder, console)
        if iterations:
            _print_iterations(group[0], console)
    if left_out := len(found.outermost) - len(shown):
        rest = counted(left_out, "loop that moves", "loops that move")
        print_paragraph(f"and {rest} less; iostrata loops --json has all", console, "dim", indent=0)
    if folder:
        print_paragraph(f"Files are in {printable(folder)}.", console, "dim", indent=0)
    print_damage(found.trace.damage, console)


def _print_loops(found: Loops, group: Sequence[Loop], folder: str, console: Console) -> None:
    """Print a loop, or several that are alike as one."""
    print_paragraph(_line(found, group, folder), console, indent=0)
    numbers = _numbers(found, group[0], folder) if len(group) == 1 else _in_all(group)
    print_paragraph(numbers, console, "dim", indent=4)


def _in_all(group: Sequence[Loop]) -> str:
    """Return how often loops that are alike begin, and what they move together, in the highest layer."""
    top = next(iter(group[0].sums), "")
    parts = [one.sums[top] for one in group if top in one.sums]
    moved = _amounts(sum(one.bytes_read for one in parts), sum(one.bytes_written for one in parts))
    what = f"{moved} by all of them in {printable(top)}" if moved else "nothing moved"
    return "; ".join(filter(None, (paces_text(group), what)))


def _amounts(read: float, written: float) -> str:
    ways = (read, "read"), (written, "written")
    return " and ".join(f"{bytes_text(amount)} {verb}" for amount, verb in ways if amount)


def _fitting(found: Loops, order: Sequence[Loop], console: Console) -> Sequence[Loop]:
    """Return the first loops that fit the screen, at least one."""
    room = (max(_LINES, console.height - 1) if console.is_terminal else _LINES) - _BESIDE
    folder = common_folder(step.file for loop in order for step in loop.body)
    fitting: list[Loop] = []
    for group in alike(order):
        with console.capture() as printed:
            _print_loops(found, group, folder, console)
        room -= printed.get().count("\n")
        if room < 0:
            break
        fitting += group
    return fitting or order[:1]


def print_streams(found: Loops, streams: Sequence[FileStream], console: Console) -> None:
    """Print what is done to each kind of file, and the loops in which that is done."""
    print_heading(found.trace, console)
    shown = streams[:_SHOWN] if bounded(console) else streams
    loops = {one.id: one for one in found.outermost}
    folder = common_folder(one.file for one in shown)
    for stream in shown:
        moved = "; ".join(_moved_by(layer, one) for layer, one in stream.layers.items()) or "nothing moved"
        name = printable(stream.file.removeprefix(folder)) or "no name"
        print_paragraph(Text.assemble((name, "bold"), f"  {counted(stream.files, 'file')}, {moved}"), console, indent=0)
        for loop in (of_stream(loops[number], stream) for number in stream.loops):
            text = ", ".join(filter(None, (_line(found, [loop], stream.file).plain, pace_text(loop))))
            print_paragraph(text, console, "dim", indent=4)
        if not stream.loops:
            print_paragraph("in no loop", console, "dim", indent=4)
    if left_out := len(streams) - len(shown):
        print_paragraph(f"and {counted(left_out, 'further stream')}; --json has them all", console, "dim", indent=0)
    if folder:
        print_paragraph(f"Files are in {printable(folder)}.", console, "dim", indent=0)
    print_damage(found.trace.damage, console)


def _moved_by(layer: str, one: StreamLayer) -> str:
    return f"{_amounts(one.bytes_read, one.bytes_written) or 'nothing moved'} in {printable(layer)}"


def _weight(loop: Loop) -> tuple[float, int]:
    return loop.bytes, loop.count


def _line(found: Loops, group: Sequence[Loop], folder: str) -> Text:
    """Return loops that are alike with who does them and when."""
    when = range_text(min(one.begin_s for one in group), max(one.end_s for one in group))
    where = ", ".join(filter(None, (who_text(group, found.trace.ranks), when)))
    told = found.trace.definitions.recording.told
    return Text.assemble((told(alike_text(group, found.loops, folder)), "bold"), told(f"  {where}"))


def _numbers(found: Loops, loop: Loop, folder: str) -> str:
    """Return how long iterations take, and what stands out."""
    pace = ", ".join(filter(None, (pace_text(loop), timing_text(loop))))
    outer = printable(found.trace.definitions.recording.told(within_text(loop, found.loops, folder)))
    texts = (
        pace,
        outer,
        changes_text(loop),
        printable(moved_text(loop, found.loops)),
        printable(slowest_text(found, loop)),
    )
    return "; ".join(filter(None, texts))


def _print_iterations(loop: Loop, console: Console) -> None:
    """Print a row for each iteration, or why there is none."""
    if not loop.iterations:
        print_paragraph("So many iterations are not told one by one.", console, "dim", indent=4)
        return
    several = len(loop.ranks) > 1
    top = next((name for name, part in loop.sums.items() if part.bytes_read + part.bytes_written), "")
    rows = []
    until = [*(seconds_text(after.begin_s - one.begin_s) for one, after in pairwise(loop.iterations)), ""]
    for number, (one, behind) in enumerate(zip(loop.iterations, until, strict=True), 1):
        mark, parts = "*" if one.outlier else "", [one.layers.get(layer) for layer in loop.layers]
        row = [f"{mark}{number}", seconds_text(one.begin_s), behind, seconds_text(one.length_s)]
        if top:
            moved = one.layers.get(top)
            row.append("–" if moved is None else bytes_text(moved.bytes_read + moved.bytes_written))
        rows.append(row + [_busy_text(part, several) for part in parts])
    titles = ["", "begin", "to next", "length", *(["moved"] if top else []), *map(printable, loop.layers)]
    # What begins tell as well gives way, and of layers the lowest ones.
    console.print(fitted(table_of_numbers(titles, rows), console, "to next", *reversed(titles[4:])))
    what = f"moved in {printable(top)}; " if top else ""
    rank = " and its slowest rank" if several else ""
    print_paragraph(f"{what}by layer: the time it was busy{rank}", console, "dim", indent=0)
    console.print()


def _busy_text(part: LayerPart | None, several: bool) -> str:
    """Return how long a layer was busy, and of several ranks the slowest one."""
    if part is None:
        return "–"
    rank = f" {part.slowest_rank:2d}" if several and part.slowest_rank is not None else ""
    return f"{seconds_text(part.busy_s)}{rank}"
