"""Keeps `RESULTS.md`: every benchmark replaces its own section and leaves the others alone."""

import datetime
import re
from pathlib import Path

from processes import machine

PATH = Path(__file__).with_name("RESULTS.md")
HEADER = "# Measurements\n\nWritten by the scripts in this folder; ratios are of runs interleaved on one machine.\n"


def write_section(title: str, body: str) -> None:
    """Put `body` (Markdown) under the heading `title`, with the date and the machine."""
    text = PATH.read_text() if PATH.exists() else HEADER
    stamp = f"*{datetime.date.today()}, {machine()}*"
    section = f"## {title}\n\n{stamp}\n\n{body.strip()}\n"
    existing = re.compile(rf"^## {re.escape(title)}\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
    text = existing.sub(lambda _: section + "\n", text) if existing.search(text) else text.rstrip() + "\n\n" + section
    PATH.write_text(text.rstrip() + "\n")
