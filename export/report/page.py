"""The page itself: style, code and contents in one HTML file that loads nothing and runs nothing else."""

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any, Final

from ..json.documents import json_text

SCRIPTS: Final = (
    "text.js",
    "columns.js",
    "elements.js",
    "canvas.js",
    "hints.js",
    "view.js",
    "plot.js",
    "bandwidth.js",
    "spectra.js",
    "flow.js",
    "timeline.js",
    "heat.js",
    "histograms.js",
    "handles.js",
    "tables.js",
    "calls.js",
    "stacks.js",
    "collectives.js",
    "periods.js",
    "main.js",
)
"""Parts of the page's code in the order in which they need each other."""


BASE: Final = ("text.js", "columns.js", "elements.js", "hints.js", "tables.js", "plain.js")
"""What pages without a time axis of one trace are made of, before a script of their own."""


def page(contents: dict[str, Any], title: str, scripts: Sequence[str] = SCRIPTS) -> str:
    """Return the report as one HTML text.

    Nothing of `contents` becomes markup: it stands in the page as JSON in which no ``<`` is left, and the code writes
    it as text. The policy in the page lets a browser run and apply only what has the hashes of our own code and style,
    and load nothing.

    Parameters
    ----------
    contents : dict
        As from `report_contents`, or whatever the scripts show.
    title : str
        Of the page; any text.
    scripts : sequence of str
        Files in the folder ``page``, in the order in which they need each other.
    """
    style = _part("page.css")
    code = "(() => {\n'use strict';\n" + "".join(_part(name) for name in scripts) + "})();\n"
    allowed = f"script-src '{_hash(code)}'; style-src '{_hash(style)}'"
    policy = f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        '<main id="report"><noscript><p>This report draws itself: please allow it to run its own code. '
        "It loads nothing.</p></noscript></main>\n"
        f'<script type="application/json" id="contents">{embedded(contents)}</script>\n'
        f"<script>{code}</script>\n</body>\n</html>\n"
    )


def embedded(contents: dict[str, Any]) -> str:
    r"""Return `contents` as JSON that can stand in a script element: with ``<``, ``>`` and ``&`` as ``\u003c``."""
    text = json_text(contents, indent=None)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _part(name: str) -> str:
    return files(__package__).joinpath("page", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + b64encode(sha256(text.encode()).digest()).decode("ascii")
