"""Paragraphs: sentences that wrap between words, and never between a number and its unit."""

import re
from typing import Final

from rich.console import Console
from rich.text import Text

from .console import bounded

_TOGETHER: Final = re.compile(r"(?<=\d) (?=(?:%|[kMGTPE]?B(?:/s)?|[mµ]?s|[kMG]?Hz|\([<>\d])(?![\w-]))|(?<=rank) (?=\d)")
_HELD: Final = "\ue000"
"""Stands for a blank at which no line ends; no name out of a trace has it, for `printable` writes it as an escape."""


def print_paragraph(text: Text | str, console: Console, style: str = "", indent: int = 2) -> None:
    """Print a paragraph in the width of the console, indented; as one line where that is unbounded."""
    whole = Text(text, style=style) if isinstance(text, str) else text
    if not bounded(console):
        console.print(Text.assemble(" " * indent, whole))
        return
    whole = whole.copy()
    whole.plain = _TOGETHER.sub(_HELD, whole.plain)
    for line in whole.wrap(console, max(8, console.width - indent)):
        line.rstrip()
        line.plain = line.plain.replace(_HELD, " ")
        console.print(Text.assemble(" " * indent, line), no_wrap=True, overflow="ignore", crop=False)
