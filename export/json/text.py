"""A document as JSON that any strict parser takes."""

import json
import re
from typing import Final

from ...analysis.results.result import Plain, plain

_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def json_text(document: dict[str, object], indent: int | None = 1) -> str:
    """Return `document` as one JSON text, pure ASCII and with its keys in their order.

    NumPy values become Python's, a number that is not finite becomes null, and what is no character (half a surrogate
    pair, out of a file name that is not UTF-8) becomes U+FFFD. Without `indent` it is one line without blanks.
    """
    separators = None if indent else (",", ":")
    return json.dumps(_sound(plain(document)), indent=indent, separators=separators, allow_nan=False)


def _sound(value: Plain) -> Plain:
    if isinstance(value, str):
        return _LONE_SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_sound(item) for item in value]
    if isinstance(value, dict):
        return {_LONE_SURROGATE.sub("\ufffd", key): _sound(item) for key, item in value.items()}
    return value
