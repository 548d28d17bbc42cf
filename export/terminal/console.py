"""The console that views print to, and sentences that wrap between words, never between a number and its unit."""

import re
import sys
from io import StringIO, TextIOBase
from typing import Final, TextIO, cast

from rich.console import Console
from rich.text import Text

UNBOUNDED: Final = 1_000_000
"""Width in columns that no view fills: what goes into a pipe is neither wrapped nor cut."""
_PIPED_CURVE: Final = 100


def stdout_console(stream: TextIO | None = None, width: int | None = None) -> Console:
    """Return a console on `stream` (default: stdout).

    Colours appear on a terminal only and never where ``NO_COLOR`` is set. Nothing is taken for markup, so names out of
    a trace stay what they are.

    Parameters
    ----------
    stream : text stream, optional
    width : int, optional
        Columns; default: those of the terminal, or `UNBOUNDED` where `stream` is none.
    """
    # A process may be started without stdout.
    stream = stream or sys.stdout or StringIO()
    console = _QuietConsole(file=stream, width=width, markup=False, emoji=False, highlight=False)
    if console.is_terminal:
        return console
    console.file = cast(TextIO, _WithoutTrailingSpaces(stream))
    if width is None:
        console.width = UNBOUNDED
    return console


def bounded(console: Console) -> bool:
    """Tell whether lines have to fit a terminal."""
    return console.width < UNBOUNDED


def curve_width(console: Console) -> int:
    """Return the number of columns that a curve with its labels may take."""
    return console.width if bounded(console) else _PIPED_CURVE


class _QuietConsole(Console):
    """A console that leaves it to its caller what a closed pipe means; rich would exit with 1."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


class _WithoutTrailingSpaces(TextIOBase):
    """A text stream that drops the blanks with which tables fill up their lines; each write ends whole lines."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding

    def write(self, text: str) -> int:
        self._stream.write("\n".join(line.rstrip(" ") for line in text.split("\n")))
        return len(text)

    def flush(self) -> None:
        self._stream.flush()


_TOGETHER: Final = re.compile(r"(?<=\d) (?=(?:%|[kMGTPE]?B(?:/s)?|[mµ]?s|[kMG]?Hz|\([<>\d])(?![\w-]))|(?<=rank) (?=\d)")
_HELD: Final = "\ue000"
"""Stands for a blank at which no line ends; no name out of a trace has it, for `printable` writes it as an escape."""


def print_paragraph(text: Text | str, console: Console, style: str = "", indent: int = 2) -> None:
    """Print a paragraph in the width of the console, indented; as one line where that is unbounded."""
    for line in paragraph_lines(text, console, style, indent):
        console.print(line, no_wrap=True, overflow="ignore", crop=False)


def paragraph_lines(text: Text | str, console: Console, style: str = "", indent: int = 2) -> list[Text]:
    """Return the lines of a paragraph in the width of the console, indented; one line where that is unbounded."""
    whole = Text(text, style=style) if isinstance(text, str) else text.copy()
    if not bounded(console):
        return [Text.assemble(" " * indent, whole)]
    whole.plain = _TOGETHER.sub(_HELD, whole.plain)
    lines = list(whole.wrap(console, max(8, console.width - indent)))
    for line in lines:
        line.rstrip()
        line.plain = line.plain.replace(_HELD, " ")
    return [Text.assemble(" " * indent, line) for line in lines]
