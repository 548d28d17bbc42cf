"""A compiled scan of lines of JSON for the few fields of a DFTracer event that matter here."""

from typing import Any, Final

import numpy as np

from ...model.kernels import compiled

NUMBERS: Final = ("pid", "tid", "ts", "dur", "ph", "fd", "ret", "offset", "count", "size", "flags")
"""Columns of numbers; `ph` is the code of its one letter."""
TEXTS: Final = ("name", "cat", "fname", "fhash", "hostname", "hhash", "arg_name", "arg_value")
UNKNOWN: Final = -(2**62)
_ARGUMENTS: Final = "args"
_OFFSET_BASIS: Final = 0xCBF29CE484222325
_PRIME: Final = 0x100000001B3


def _hash(text: str) -> int:
    """Return the FNV-1a hash of a text, 64 bits (G. Fowler, L. C. Noll, K.-P. Vo)."""
    value = _OFFSET_BASIS
    for byte in text.encode():
        value = (value ^ byte) * _PRIME % 2**64
    return value


_TOP: Final = {"pid": 0, "tid": 1, "ts": 2, "dur": 3, "ph": 4, "name": 100, "cat": 101}
_INNER: Final = {
    "fd": 5, "ret": 6, "offset": 7, "count": 8, "size": 9, "flags": 10,
    "fname": 102, "fhash": 103, "hostname": 104, "hhash": 105, "name": 106, "value": 107,
}  # fmt: skip
_KEYS: Final = [
    np.array([_hash(name) for name in table], np.uint64) for table in (_TOP, _INNER)
]
_PLACES: Final = [np.array(list(table.values()), np.int64) for table in (_TOP, _INNER)]
_ARGS_HASH: Final = np.uint64(_hash(_ARGUMENTS))


def scan(text: "np.ndarray[Any, np.dtype[np.uint8]]") -> tuple[Any, Any, Any, Any]:
    """Read lines of JSON.

    Parameters
    ----------
    text : uint8 (n,)

    Returns
    -------
    numbers : int64 (lines, len(NUMBERS))
        `UNKNOWN` where a line has no such number.
    hashes : uint64 (lines, len(TEXTS))
        Of the bytes of each text as they stand in the line, 0 where there is none.
    places : int64 (lines, len(TEXTS), 2)
        Where each text starts and ends.
    state : uint8 (lines,)
        0 for a line without an event, 1 for an event, 2 for one that cannot be read.
    """
    lines = int(np.count_nonzero(text == 10)) + 1
    numbers = np.full((lines, len(NUMBERS)), UNKNOWN, np.int64)
    hashes = np.zeros((lines, len(TEXTS)), np.uint64)
    places = np.zeros((lines, len(TEXTS), 2), np.int64)
    state = np.zeros(lines, np.uint8)
    _scan(text, *_KEYS, *_PLACES, _ARGS_HASH, numbers, hashes, places, state)
    return numbers, hashes, places, state


@compiled
def _scan(
    text: Any, top: Any, inner: Any, top_places: Any, inner_places: Any, arguments: Any,
    numbers: Any, hashes: Any, places: Any, state: Any,
) -> None:  # fmt: skip
    size, line, start = len(text), 0, 0
    while start < size:
        end = start
        while end < size and text[end] != 10:
            end += 1
        state[line] = _scan_line(
            text, start, end, top, inner, top_places, inner_places, arguments, numbers[line], hashes[line], places[line]
        )
        line += 1
        start = end + 1


@compiled
def _scan_line(
    text: Any, i: int, end: int, top: Any, inner: Any, top_places: Any, inner_places: Any, arguments: Any,
    numbers: Any, hashes: Any, places: Any,
) -> int:  # fmt: skip
    while i < end and (text[i] == 32 or text[i] == 9 or text[i] == 13 or text[i] == 91 or text[i] == 44):
        i += 1
    if i >= end or text[i] == 93:
        return 0
    if text[i] != 123:
        return 2
    i += 1
    depth = 0
    while True:
        while i < end and (text[i] == 32 or text[i] == 9 or text[i] == 44):
            i += 1
        if i >= end:
            return 2
        if text[i] == 125:
            i += 1
            if depth == 0:
                break
            depth = 0
            continue
        if text[i] != 34:
            return 2
        key, i, _ = _text(text, i + 1, end)
        if i >= end:
            return 2
        i += 1
        while i < end and (text[i] == 32 or text[i] == 58):
            i += 1
        if i >= end:
            return 2
        place = -1
        if depth == 0:
            for one in range(len(top)):
                if top[one] == key:
                    place = top_places[one]
        else:
            for one in range(len(inner)):
                if inner[one] == key:
                    place = inner_places[one]
        if text[i] == 123 and depth == 0 and key == arguments:
            depth = 1
            i += 1
        elif text[i] == 34:
            first = i + 1
            found, i, plain = _text(text, first, end)
            if i >= end:
                return 2
            if place >= 100:
                hashes[place - 100] = found
                places[place - 100, 0] = first
                places[place - 100, 1] = i
            elif place == 4:
                numbers[4] = text[first] if i > first else UNKNOWN
            elif place >= 0:
                numbers[place] = _number(text, first, i)
            i += 1
        elif text[i] == 123 or text[i] == 91:
            i = _skip(text, i, end)
            if i >= end:
                return 2
        else:
            first = i
            found = np.uint64(_OFFSET_BASIS)
            while i < end and text[i] != 44 and text[i] != 125 and text[i] != 32 and text[i] != 13:
                found = (found ^ np.uint64(text[i])) * np.uint64(_PRIME)
                i += 1
            if i >= end or i == first:
                return 2
            if place >= 100:
                hashes[place - 100] = found
                places[place - 100, 0] = first
                places[place - 100, 1] = i
            elif place >= 0:
                numbers[place] = _number(text, first, i)
    while i < end and (text[i] == 32 or text[i] == 9 or text[i] == 13 or text[i] == 44 or text[i] == 93):
        i += 1
    return 1 if i >= end else 2


@compiled
def _text(text: Any, i: int, end: int) -> tuple[Any, int, bool]:
    """Return the hash of what stands between quotes, and where the closing one is."""
    found = np.uint64(_OFFSET_BASIS)
    plain = True
    while i < end and text[i] != 34:
        if text[i] == 92:
            plain = False
            found = (found ^ np.uint64(text[i])) * np.uint64(_PRIME)
            i += 1
            if i >= end:
                break
        found = (found ^ np.uint64(text[i])) * np.uint64(_PRIME)
        i += 1
    return found, i, plain


@compiled
def _number(text: Any, i: int, end: int) -> int:
    """Return a whole number, of one with a fraction what stands before it; `UNKNOWN` where it is none."""
    negative = i < end and text[i] == 45
    if negative:
        i += 1
    first, value = i, 0
    while i < end and 48 <= text[i] <= 57 and i - first < 18:
        value = value * 10 + (text[i] - 48)
        i += 1
    if i == first or (i < end and text[i] != 46):
        return UNKNOWN
    return -value if negative else value


@compiled
def _skip(text: Any, i: int, end: int) -> int:
    """Return where an object or array is over; `end` where it is not."""
    depth = 0
    while i < end:
        if text[i] == 34:
            _, i, _ = _text(text, i + 1, end)
        elif text[i] == 123 or text[i] == 91:
            depth += 1
        elif text[i] == 125 or text[i] == 93:
            depth -= 1
            if depth == 0:
                return i + 1
        i += 1
    return end
