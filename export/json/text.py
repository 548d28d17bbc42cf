"""A document as JSON that any strict parser takes."""

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from ...model.document import Plain, plain

_ITEMS_AT_ONCE: Final = 1000
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def json_text(document: dict[str, object], indent: int | None = 1) -> str:
    """Return `document` as one JSON text, pure ASCII and with its keys in their order.

    NumPy values become Python's, a number that is not finite becomes null, and what is no character (half a surrogate
    pair, out of a file name that is not UTF-8) becomes U+FFFD. Without `indent` it is one line without blanks.
    """
    separators = None if indent else (",", ":")
    return json.dumps(_sound(plain(document)), indent=indent, separators=separators, allow_nan=False)


def json_pieces(document: dict[str, object]) -> Iterator[str]:
    """Yield the text of `json_text` in pieces; a value that is an iterator becomes a list that is never held whole."""
    before = "{"
    for key, value in document.items():
        yield f"{before}\n {json.dumps(key)}: "
        before = ","
        if isinstance(value, Iterator):
            yield from _list_pieces(value)
        else:
            yield _indented(value, 1)
    yield "\n}" if document else "{}"


def _list_pieces(items: Iterator[object]) -> Iterator[str]:
    before = "["
    while some := list(islice(items, _ITEMS_AT_ONCE)):
        yield before + ",".join(f"\n  {_indented(item, 2)}" for item in some)
        before = ","
    yield "[]" if before == "[" else "\n ]"


def _indented(value: object, depth: int) -> str:
    # In JSON a line never ends within a text.
    text = json.dumps(_sound(plain(value)), indent=1, allow_nan=False)
    return text.replace("\n", "\n" + " " * depth)


def _sound(value: Plain) -> Plain:
    if isinstance(value, str):
        return _LONE_SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_sound(item) for item in value]
    if isinstance(value, dict):
        return {_LONE_SURROGATE.sub("\ufffd", key): _sound(item) for key, item in value.items()}
    return value
