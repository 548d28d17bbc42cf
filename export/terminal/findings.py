"""Findings in the terminal: the first few on one screen, or all of them with what helps."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.text import Text

from ...analysis.findings.find import Finding
from ...model.quantities import counted, percent_text, seconds_text
from ...model.text import printable
from .console import bounded, paragraph_lines, print_paragraph

_STYLES: Final = {"critical": "bold red", "warning": "bold yellow", "info": "bold"}
_LINES_OF_EACH: Final = 2


def print_findings(findings: Sequence[Finding], console: Console) -> None:
    """Print all findings with their advice."""
    for one in findings:
        console.print(Text.assemble((one.severity, _STYLES[one.severity]), "  ", (one.id, "bold")))
        print_paragraph(printable(one.text), console)
        print_paragraph(printable(one.advice), console, "dim")


def first_findings(findings: Sequence[Finding], most: int, room: int, console: Console) -> list[Text]:
    """Return the lines of the first `most` findings, as many as fit into `room` lines, and a line with the others.

    Each is a heading and up to two lines of text, or one where there is little room. In a pipe they are told as they
    are.
    """
    told: list[list[Text]] = []
    for length in (_LINES_OF_EACH, 1):
        told = [_brief(one, length, console) for one in findings[:most]]
        if not bounded(console) or sum(map(len, told)) + (len(findings) > most) <= room:
            break
    while bounded(console) and len(told) > 1 and sum(map(len, told)) + (len(findings) > len(told)) > room:
        told.pop()
    lines = [line for one in told for line in one]
    rest = findings[len(told) :]
    if rest:
        often = Counter(one.id for one in rest)
        names = ", ".join(f"{name} ({count})" if count > 1 else name for name, count in often.items())
        line = Text(f"and {counted(len(rest), 'further finding')}: {names}", style="dim")
        if bounded(console):
            line.truncate(console.width, overflow="ellipsis")
        lines.append(line)
    return lines


def _brief(one: Finding, length: int, console: Console) -> list[Text]:
    """Return the lines of a finding, of its text no more than `length`."""
    heading = Text.assemble((one.severity, _STYLES[one.severity]), "  ", (one.id, "bold"))
    if one.cost_s is not None and one.cost_share is not None:
        cost = f", at most {seconds_text(one.cost_s)} ({percent_text(one.cost_share)}"
        whole = f"{cost} of the run)"
        heading.append(f"{cost})" if bounded(console) and len(heading) + len(whole) > console.width else whole)
    text = paragraph_lines(printable(one.statement), console)
    if bounded(console) and len(text) > length:
        text = text[:length]
        text[-1].truncate(max(8, console.width - 2))
        text[-1].append(" …")
    return [heading, *text]
