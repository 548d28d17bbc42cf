"""The terminal view of ``iostrata diff``."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from rich.console import Console
from rich.text import Text

from ...model.quantities import counted, seconds_text
from ...model.text import printable
from ...runs.collection.rows import JobRow, Run
from ...runs.differences.changes import Change
from ...runs.differences.difference import Difference
from ..terminal.console import print_paragraph, written_lines
from ..written import Written

VERDICTS: Final = {
    "same": "No change that matters.",
    "better": "B is better than A.",
    "worse": "B is worse than A.",
    "changed": "B differs from A.",
}
_SIGNS: Final = {1: ("+", "green"), -1: ("−", "red"), 0: ("·", "bold")}
_NAMES_SHOWN: Final = 4
_SHOWN: Final = 10
"""Changes that matter in the terminal: more are mostly the same seen in other numbers."""
_SMALLER_SHOWN: Final = 3
_OF_LAYER: Final = re.compile(r" (has|(reads|writes|flushes|metadata operations) [a-z]+) ")
"""How sentences go on that begin with a layer and are of its operations."""


def print_difference(
    difference: Difference, out: Console, broken: Mapping[str, Sequence[str]], written: Written | None = None
) -> None:
    """Print the verdict, the changes that matter, those that do not in short, and which rules are broken."""
    names = difference.names
    for letter, runs in (("A", difference.before), ("B", difference.after)):
        print_paragraph(Text.assemble((f"{letter}  ", "bold"), _side_text(runs, names)), out, indent=0)
    for run in difference.unusable:
        print_paragraph(f"left out: {run.job.job}: {run.job.reason}", out, "yellow", indent=0)
    out.print()
    print_paragraph(Text(verdict_text(difference), style="bold"), out, indent=0)
    _print_mattering(difference.shown, out)
    rest = difference.smaller
    _print_smaller(rest, out)
    if difference.cautions:
        out.print()
    for caution in difference.cautions:
        print_paragraph(printable(caution), out, "yellow", indent=0)
    if min(len(difference.before), len(difference.after)) < 3 and any(c.id == "time" for c in rest):
        out.print()
        text = "Times of single runs vary: three runs a side or more let smaller changes be told from chance."
        print_paragraph(text, out, "dim", 0)
    for rule, texts in broken.items():
        print_paragraph(f"--fail-on {rule}: {printable(texts[0])}", out, "bold red", indent=0)
    if written is not None:
        out.print(written_lines(written))


def verdict_text(difference: Difference) -> str:
    """Return the first sentence: the verdict, how much longer a side takes, and whether few runs make that certain."""
    took = difference.took
    if took is None:
        known = all(run.job.duration_s for run in (*difference.before, *difference.after))
        as_long = " The runs take as long." if known and difference.verdict in ("better", "worse") else ""
        return f"{VERDICTS[difference.verdict]}{as_long}"
    took = printable(took)
    if difference.uncertain is None:
        return f"{VERDICTS[difference.verdict]} {took}."
    few = "one run" if min(len(difference.before), len(difference.after)) == 1 else "two runs"
    if not difference.mattering:
        return f"No change is certain with {few} a side: {took}."
    return f"{VERDICTS[difference.verdict]} {took}; {few} a side does not make that certain."


def _print_mattering(shown: Sequence[Change], out: Console) -> None:
    """Print the changes that matter, the same of several layers as one; of many the first ones."""
    # What one cost stands behind it.
    apart = [one for one in shown if not any(one.text in other.text for other in shown if other is not one)]
    folded = _folded(apart)
    for change in folded[:_SHOWN]:
        _print_change(change, out)
    if len(folded) > _SHOWN:
        print_paragraph(f"and {len(folded) - _SHOWN} more that matter; --json has all", out, "dim")


def _folded(changes: Sequence[Change]) -> list[Change]:
    """Return changes, those that say the same of several layers once, for all of these."""
    layers: dict[str, list[str]] = {}
    found: dict[str, Change] = {}
    for one in changes:
        own = one.layer and _OF_LAYER.match(one.text.removeprefix(one.layer))
        key = f"{{}}{one.text.removeprefix(one.layer)}" if one.layer and own else one.text
        layers.setdefault(key, []).append(one.layer or "")
        found.setdefault(key, one)
    several = {key: f"{', '.join(some[:-1])} and {some[-1]}" for key, some in layers.items() if len(some) > 1}
    return [
        replace(one, text=key.replace("{}", several[key], 1).replace(" has ", " each have ", 1))
        if key in several
        else one
        for key, one in found.items()
    ]


def _print_smaller(changes: Sequence[Change], out: Console) -> None:
    """Print the first of the changes that do not matter; nothing where there are none."""
    if not changes:
        return
    out.print()
    print_paragraph("Differences that may be chance, or are too small to matter:", out, "dim", indent=0)
    for change in changes[:_SMALLER_SHOWN]:
        print_paragraph(printable(change.text), out, "dim")
    if len(changes) > _SMALLER_SHOWN:
        print_paragraph(f"and {len(changes) - _SMALLER_SHOWN} more; --json has all", out, "dim")


def _print_change(change: Change, out: Console) -> None:
    sign, style = _SIGNS[change.good]
    told = printable(change.text)
    if out.is_terminal:
        print_paragraph(Text.assemble((f"{sign} ", style), told), out, indent=0)
    else:
        print_paragraph(told, out)


def length_text(job: JobRow) -> str:
    """Return how long a run takes, and how long of it the rank longest in I/O is in it, on how many ranks."""
    length, share = job.duration_s or 0.0, job.io_share
    io = "" if share is None else f", {seconds_text(share * length)} of it in I/O"
    return f"{seconds_text(length)}{io}, {counted(job.ranks or 0, 'rank')}"


def _side_text(runs: Sequence[Run], names: Mapping[str, str]) -> str:
    if len(runs) == 1:
        return f"{runs[0].job.job}: {length_text(runs[0].job)}"
    shown = ", ".join(names[run.job.job] for run in runs[:_NAMES_SHOWN])
    return f"{counted(len(runs), 'run')}: {shown}{', …' if len(runs) > _NAMES_SHOWN else ''}"
