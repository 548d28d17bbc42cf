"""A list of a document as CSV, for spreadsheets and shells: a row an entry, a column a key."""

import csv
import json
from collections.abc import Iterable, Iterator
from io import StringIO
from typing import Any, Final

from ...model.document import Document
from ...model.errors import SelectionError

MAIN: Final = {
    "assess": "jobs",
    "compare": "pairs",
    "diff": "changes",
    "handles": "handles",
    "info": "paradigms",
    "layers": "layers",
    "loops": "loops",
    "overview": "layers",
    "periods": "layers",
    "schedule": "jobs",
    "signature": "bursts",
}
"""The list that stands for the document of a command, where none is named."""
_SPLIT: Final = "breakdown"
"""What stands for it where a command was asked to split it."""


def csv_pieces(document: Document, command: str, name: str = "") -> Iterator[str]:
    """Give the list `name` of a command's document, or its main one, as lines of CSV, titles first.

    Nothing where it is empty. Numbers are exact, in the units that ``iostrata schema`` tells; what is not known is
    empty. Keys of an object are columns of their own, as in ``request_bytes.min``, and a list is its JSON.

    Raises
    ------
    SelectionError
        If the document has no such list of objects.
    """
    name = name or (_SPLIT if _SPLIT in document else MAIN[command])
    every = {key: value["rows"] if key == _SPLIT else value for key, value in document.items()}
    lists = {key: list(value) for key, value in every.items() if isinstance(value, list | Iterator)}
    known = {key: rows for key, rows in lists.items() if all(isinstance(one, dict) for one in rows)}
    if name not in known:
        raise SelectionError(f"the document has no table {name!r}; it has {', '.join(known) or 'none'}")
    rows = [dict(_flat(one)) for one in known[name]]
    titles = list(dict.fromkeys(title for row in rows for title in row))
    for row in [dict(zip(titles, titles, strict=True)), *rows] if rows else []:
        line = StringIO()
        csv.DictWriter(line, titles, lineterminator="\n").writerow(row)
        yield line.getvalue()


def _flat(entry: Document, before: str = "") -> Iterable[tuple[str, Any]]:
    for key, value in entry.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{before}{key}.")
        elif isinstance(value, list | dict | bool):
            yield before + key, json.dumps(value, ensure_ascii=False)
        else:
            yield before + key, "" if value is None else value
