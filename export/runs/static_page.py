"""A page that needs neither code nor network: sections of text, pictures and tables under one policy."""

import os
from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Final

from ...model.text import printable
from ..atomic import atomic_file
from ..written import Written

_LIGHT: Final = (
    "--page:#fff;--panel:#f5f6f8;--line:#c9ced6;--text:#14181f;--muted:#4d5663;--a:#084f8e;--b:#a33c02;--c:#2b7a4b;"
    "--shade:#d6eadd;--one:#e2b04a;--four:#a33c02;--none:#e9ecf0"
)
_DARK: Final = (
    "--page:#14171c;--panel:#1d2128;--line:#414a57;--text:#eceff4;--muted:#aeb7c4;--a:#86c4fb;--b:#ffa666;--c:#6cc793;"
    "--shade:#234231;--one:#b98d31;--four:#ff7d4d;--none:#2a303a"
)
STYLE: Final = f"""
:root{{color-scheme:light;{_LIGHT}}}
@media (prefers-color-scheme:dark){{:root{{color-scheme:dark;{_DARK}}}}}
@media print{{:root{{color-scheme:light;{_LIGHT}}}figure,tr{{break-inside:avoid}}}}
*{{box-sizing:border-box}}
body{{margin:0;background:var(--page);color:var(--text);font:15px/1.5 system-ui,"Segoe UI",Roboto,sans-serif}}
main{{max-width:1100px;margin:0 auto;padding:1rem 1.25rem 3rem}}
h1{{font-size:1.5rem;line-height:1.25;overflow-wrap:anywhere}}h2{{font-size:1.2rem;margin:2rem 0 .25rem}}
p{{max-width:75ch;margin:.25rem 0 .6rem;overflow-wrap:anywhere}}
.muted,figcaption{{color:var(--muted)}}
figure{{margin:.6rem 0}}figcaption{{font-size:.9rem;overflow-wrap:anywhere}}
.row{{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,22rem),1fr));gap:.5rem 1.5rem}}
.wide{{overflow-x:auto}}
svg{{display:block;max-width:100%;height:auto;font:12px system-ui,"Segoe UI",Roboto,sans-serif}}
svg text{{fill:var(--text)}}svg .muted{{fill:var(--muted)}}
.axis{{stroke:var(--muted);fill:none}}.area{{fill:var(--a)}}.faint{{fill:var(--muted);opacity:.45}}.bar{{fill:var(--a)}}
.line{{fill:none;stroke:var(--b);stroke-width:1.5}}.rule{{stroke:var(--b);stroke-dasharray:5 4}}
.grid{{stroke:var(--line)}}.burst{{fill:var(--shade);stroke:var(--page)}}.unit{{fill:var(--shade);stroke:var(--line)}}
.dot{{fill:var(--muted)}}.good{{fill:var(--a)}}.bad{{fill:none;stroke:var(--b);stroke-width:2}}.link{{fill:none;stroke:var(--c)}}
.s0{{fill:var(--none)}}.s1{{fill:var(--one)}}.s4{{fill:var(--four)}}
.key{{display:inline-block;width:1.1em;height:.75em;margin:0 .35em 0 .9em;border:1px solid var(--line)}}
.key.s0{{background:var(--none)}}.key.s1{{background:var(--one)}}.key.s4{{background:var(--four)}}
table{{border-collapse:collapse;font-variant-numeric:tabular-nums}}
th,td{{padding:.2rem .9rem .2rem 0;text-align:right;border-bottom:1px solid var(--line);vertical-align:top}}
td{{white-space:nowrap}}
th:first-child,td:first-child{{text-align:left;overflow-wrap:anywhere;white-space:normal;min-width:min(12rem,40vw)}}
td.text,th.text{{text-align:left;white-space:normal;min-width:min(16rem,60vw)}}
"""


@dataclass(frozen=True)
class Section:
    """A heading, markup below it."""

    title: str
    body: str


def paragraph(text: str) -> str:
    """Return a paragraph of any text."""
    return f"<p>{escape(printable(text))}</p>"


def figure(picture: str, caption: str) -> str:
    """Return an SVG picture with a caption of any text."""
    return f"<figure>{picture}<figcaption>{escape(printable(caption))}</figcaption></figure>"


def table(header: Sequence[str], rows: Iterable[Sequence[str]], texts: Sequence[int] = ()) -> str:
    """Return a table of any texts; the first column and those of `texts` are on the left, numbers on the right."""
    kinds = [' class="text"' if place in texts else "" for place in range(len(header))]
    head = "".join(f"<th{kind}>{escape(name)}</th>" for kind, name in zip(kinds, header, strict=True))
    cells = (
        "".join(f"<td{kind}>{escape(printable(cell))}</td>" for kind, cell in zip(kinds, row, strict=True))
        for row in rows
    )
    body = "".join(f"<tr>{row}</tr>" for row in cells)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def write_page(path: str | os.PathLike[str], title: str, intro: str, sections: Iterable[Section]) -> Written:
    """Write a page whole or not at all; it may load nothing and run nothing. Raises OutputError."""
    policy = f"default-src 'none'; style-src 'sha256-{b64encode(sha256(STYLE.encode()).digest()).decode()}'"
    parts = "".join(f"<section><h2>{escape(part.title)}</h2>{part.body}</section>" for part in sections)
    named = escape(printable(title))
    text = (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy, quote=True)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        f"<title>{named}</title><style>{STYLE}</style></head>\n"
        f"<body><main><h1>{named}</h1>{intro}{parts}</main></body></html>\n"
    ).encode("utf-8", "replace")
    with atomic_file(path) as temporary:
        temporary.write_bytes(text)
    return Written(Path(path), len(text))
