"""The terminal view of ``iostrata loops``."""

from typing import Final

from rich.console import Console
from rich.text import Text

from ...analysis.loops.loops import Loop, Loops
from ...analysis.loops.words import loop_text, outlier_text, ranks_text
from ...layers.loops.kinds import common_folder
from ...model.quantities import bytes_text, percent_text, range_text, seconds_text
from ...model.text import printable
from .console import bounded, print_damage, print_heading, print_paragraph, table_of_numbers

_SHOWN: Final = 8
"""Loops on one screen, those that move most first."""


def print_loops(found: Loops, console: Console, iterations: bool = False) -> None:
    """Print the loops as a tree, and what stands out in their iterations."""
    print_heading(found.trace, console)
    order = sorted(found.outermost, key=_weight, reverse=True)
    shown = order[:_SHOWN] if bounded(console) and not iterations else order
    if not order:
        print_paragraph("Nothing that the program calls repeats beyond chance.", console, indent=0)
    folder = common_folder(step.file for loop in shown for step in loop.body)
    for loop in sorted(shown, key=lambda one: one.begin_s):
        print_paragraph(_line(found, loop, folder), console, indent=0)
        print_paragraph(_numbers(loop), console, "dim", indent=4)
        if iterations:
            _print_iterations(loop, console)
    if len(shown) < len(order):
        print_paragraph(f"and {len(order) - len(shown)} that move less; --json has all", console, "dim", indent=0)
    if folder:
        print_paragraph(f"Files are in {printable(folder)}.", console, "dim", indent=0)
    print_damage(found.trace.damage, console)


def _weight(loop: Loop) -> tuple[float, int]:
    return loop.bytes, loop.count


def _line(found: Loops, loop: Loop, folder: str) -> Text:
    """Return a loop with who does it and when."""
    who = ranks_text(loop.ranks, found.trace.ranks)
    when = range_text(loop.begin_s, loop.end_s)
    return Text.assemble((f"{loop_text(loop, found.loops, folder)}", "bold"), f"  {who}, {when}")


def _numbers(loop: Loop) -> str:
    """Return how long iterations take, and what stands out."""
    interval, parts = loop.interval_s, []
    if loop.count > 1:
        how = {"clock": "like a clock", "regular": "regular", "irregular": "irregular"}[loop.timing]
        sure = "" if loop.timing_probability is None else f", {percent_text(loop.timing_probability)} sure"
        parts.append(f"every {seconds_text(interval.median)}, {how} (jitter {percent_text(interval.jitter)}{sure})")
    if loop.timing_changes:
        parts.append(loop.timing_changes)
    for top, part in list(loop.sums.items())[:1]:
        amounts = {"read": part.bytes_read, "written": part.bytes_written}
        moved = [f"{bytes_text(amount / loop.count)} {verb}" for verb, amount in amounts.items() if amount]
        if moved:
            parts.append(f"{' and '.join(moved)} each in {printable(top)}")
    stands_out = outlier_text(loop)
    return "; ".join([*parts, stands_out] if stands_out else parts)


def _print_iterations(loop: Loop, console: Console) -> None:
    """Print a row for each iteration."""
    titles = ["iteration", "begin", "length"]
    for layer in loop.layers:
        titles += [f"{printable(layer)} bytes", "busy", "slowest"]
    rows = []
    for number, one in enumerate(loop.iterations, 1):
        mark = "*" if one.outlier else ""
        row = [f"{mark}{number}", seconds_text(one.begin_s), seconds_text(one.end_s - one.begin_s)]
        for layer in loop.layers:
            part = one.layers.get(layer)
            if part is None:
                row += ["–", "–", "–"]
                continue
            slowest = "–" if part.slowest_rank is None else f"rank {part.slowest_rank}"
            row += [bytes_text(part.bytes_read + part.bytes_written), seconds_text(part.busy_s), slowest]
        rows.append(row)
    console.print(table_of_numbers(titles, rows))
    console.print()
