"""The page itself: style, code and contents in one HTML file that loads nothing and runs nothing else."""

import os
from base64 import b64encode
from collections.abc import Iterable, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from ...model.text import printable
from ..atomic import atomic_file
from ..encoding import without_long_text
from ..json.documents import json_text
from ..written import Written
from .document import PageDocument

BASE: Final = ("columns.js", "text.js", "elements.js", "hints.js", "canvas.js", "blocks.js", "charts.js")
"""Parts of the page's code in the order in which they need each other: what every page is made of."""

_LONGEST: Final = 400
"""Characters of a text; of a longer one, which only a name can be, the middle is left out."""


def write_page(
    documents: Iterable[PageDocument], path: str | os.PathLike[str], title: str = "", most_bytes: int = 0
) -> Written:
    """Write a page, whole or not at all; raises OutputError.

    Parameters
    ----------
    documents : iterable of PageDocument
        The same with less and less in it: the first one that is not too large is written, or else the last.
    title : str
        Of the window; the document's where it is empty.
    most_bytes : int
        Size that is not too large; 0 for any.
    """
    with atomic_file(path) as temporary:
        for document in documents:
            contents = without_long_text(document.to_dict(), _LONGEST)
            text = page(contents, title or document.title, document.pictures).encode()
            if not most_bytes or len(text) <= most_bytes:
                break
        temporary.write_bytes(text)
    return Written(Path(path), len(text), cut=document.cut)


def page(contents: dict[str, Any], title: str, pictures: Sequence[str] = ()) -> str:
    """Return a page as one HTML text.

    Nothing of `contents` becomes markup: it stands in the page as JSON in which no ``<`` is left, and the code writes
    it as text. The policy in the page lets a browser run and apply only what has the hashes of our own code and style,
    and load nothing.

    Parameters
    ----------
    contents : dict
        As from `PageDocument.to_dict`.
    title : str
        Of the window; any text.
    pictures : sequence of str
        Scripts and styles in the folder ``browser`` beyond `BASE`.
    """
    parts = ("page.css", *BASE, *pictures, "main.js")
    style, code = ("".join(_part(name) for name in parts if name.endswith(kind)) for kind in (".css", ".js"))
    code = f"(() => {{\n'use strict';\n{code}}})();\n"
    allowed = f"script-src '{_hash(code)}'; style-src '{_hash(style)}'"
    policy = f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(printable(title))}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        '<main id="report"><noscript><p>This page draws itself: please allow it to run its own code. '
        "It loads nothing.</p></noscript></main>\n"
        f'<script type="application/json" id="contents">{embedded(contents)}</script>\n'
        f"<script>{code}</script>\n</body>\n</html>\n"
    )


def embedded(contents: dict[str, Any]) -> str:
    r"""Return `contents` as JSON that can stand in a script element: with ``<``, ``>`` and ``&`` as ``\u003c``."""
    text = json_text(contents, indent=None)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _part(name: str) -> str:
    """Return a part of the code or the style without its indents and comments, which no browser needs."""
    lines = files(__package__).joinpath("browser", name).read_text(encoding="utf-8").splitlines()
    kept = (line.strip() for line in lines)
    return "".join(f"{line}\n" for line in kept if line and not line.startswith("//"))


def _hash(text: str) -> str:
    return "sha256-" + b64encode(sha256(text.encode()).digest()).decode("ascii")
