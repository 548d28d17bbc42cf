"""Write the list of all words of the tables and where each is explained: ``python docs/guide/terms.py``."""

import os
import re
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import iostrata
from iostrata.cli import main
from iostrata.export.report.glossary import GLOSSARY
from iostrata.export.terminal import layers as layers_view
from iostrata.export.terminal import watch as views
from iostrata.export.terminal.console import bounded
from iostrata.export.terminal.watch import watch_view
from iostrata.live.following import Update
from iostrata.model.metrics import metrics_of
from rich.console import Console, Group
from rich.table import Table

GUIDE = Path(__file__).parent
FIXTURES = GUIDE.parents[1] / "fixtures"
PAGE = GUIDE / "terms.rst"
HEAD = """All words of the tables
=======================

Every title of a column that a command prints, and every word of a page's hints, with where it is explained. A table has
columns of layers, files and ranks, too, which are names of the trace.

.. list-table::
   :header-rows: 1
   :widths: 25 35 40

   * - word
     - in
     - explained
"""
COMMANDS = (
    ("overview", "ncckpt4"),
    ("info", "ncckpt4"),
    ("layers", "ncckpt4"),
    ("layers", "ncckpt4", "--by", "file"),
    ("layers", "ncckpt4", "--by", "caller"),
    ("handles", "ncckpt4"),
    ("periods", "ncckpt4", "--by", "rank"),
    ("compare", "ncckpt4"),
    ("compare", "ckpt4", "--brief"),
    ("loops", "ncckpt4", "--iterations"),
    ("diff", "ncckpt4", "ncckpt4_nofill"),
    ("signature", "ckpt4", "ckpt4_linktime"),
    ("assess", "ckpt4", "ncckpt4"),
    ("schedule", "ckpt4", "ncckpt4"),
    ("watch", "--replay", "ckpt4", "--interval", "4"),
)
"""What is run to see which titles there are."""


def titles() -> dict[str, list[str]]:
    """Return the titles of all columns that the commands print, with the commands; of a row, ``""`` is none."""
    found: dict[str, list[str]] = {}
    shown = Console.print
    for name, *given in COMMANDS:

        def noted(thing: object, name: str = name) -> None:
            for column in thing.columns if isinstance(thing, Table) else ():
                commands = found.setdefault(str(column.header), [])
                commands += [name] if name not in commands else []

        def print_noting(console: Console, *things: object, **options: object) -> None:
            for thing in things:
                noted(thing)
            shown(console, *things, **options)  # type: ignore[arg-type]

        def seen(update: Update, title: str) -> Group:
            view = watch_view(update, title)
            for thing in view.renderables:
                noted(thing)
            return view

        Console.print = print_noting  # type: ignore[assignment,method-assign]
        layers_view.bounded, views.watch_view = lambda _console: True, seen
        # What is kept up to date is shown on terminals only.
        os.environ["FORCE_COLOR"] = "1" if name == "watch" else ""
        try:
            with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
                main([name, *(str(FIXTURES / one) if (FIXTURES / one).exists() else one for one in given)])
        finally:
            del os.environ["FORCE_COLOR"]
            Console.print, layers_view.bounded, views.watch_view = shown, bounded, watch_view  # type: ignore[method-assign]
    layers = set(iostrata.open_trace(FIXTURES / "ncckpt4").order)
    return {title: commands for title, commands in sorted(found.items()) if title and title not in layers}


def explained() -> dict[str, str]:
    """Return where words are explained: terms of the glossary, columns as they are declared, hints of the page."""
    text = (GUIDE / "glossary.rst").read_text(encoding="utf-8")
    # Terms that share a sentence stand one below the other.
    terms = [one for some in re.findall(r"^((?:   [^\s.][^\n]*\n)+)      \S", text, re.M) for one in some.split("\n")]
    terms = [one.strip() for one in terms if one]
    places = dict.fromkeys(GLOSSARY, "page: glossary and hints")
    places |= {one.title: ":doc:`glossary`, *Columns of layers*" for one in metrics_of(iostrata.LayerStatistics)}
    return places | {term: f":term:`{term}`" for term in terms}


def entries() -> list[tuple[str, str, str]]:
    """Return word, where it stands, and where it is explained, empty where it is not."""
    places, commands = explained(), titles()
    words = {word: [*commands.get(word, []), *(["report"] * (word in GLOSSARY))] for word in {**commands, **GLOSSARY}}
    return [(word, ", ".join(words[word]), places.get(word, "")) for word in sorted(words, key=str.lower)]


def page() -> str:
    """Return the page."""
    return HEAD + "".join(f"   * - {word}\n     - {where}\n     - {place}\n" for word, where, place in entries())


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
