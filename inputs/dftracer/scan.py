"""A compiled scan of lines of JSON for the few fields of a DFTracer event that matter here.

The module needs numba; import it inside the function that uses it.
"""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...model.kernels import compiled, hashed, random_seed

NUMBERS: Final = ("pid", "tid", "ts", "dur", "ph", "fd", "ret", "offset", "count", "size", "flags")
"""Columns of numbers; `ph` is the code of its one letter."""
TEXTS: Final = ("name", "cat", "fname", "fhash", "hostname", "hhash", "arg_name", "arg_value")
UNKNOWN: Final = -(2**62)

_LONGEST_KEY: Final = 8
_FIRST_TEXT: Final = 100
_INSIDE: Final = -2
"""Place of the object whose own entries matter."""
_MOST_KEYS: Final = 32
_AFTER: Final = (34, 44, 125, 32)
"""What may follow a whole number: a quote, a comma, a brace, a blank."""
_LETTER: Final = NUMBERS.index("ph")
_MIX: Final = np.uint64(0x9E3779B97F4A7C15)
_ALL: Final = np.uint64(0xFFFFFFFFFFFFFFFF)
_ONES: Final = np.uint64(0x0101010101010101)
_HIGHEST: Final = np.uint64(0x8080808080808080)
_QUOTES: Final = np.uint64(0x2222222222222222)
_BACKSLASHES: Final = np.uint64(0x5C5C5C5C5C5C5C5C)


def _packed(name: str) -> int:
    """Return a key of up to eight letters as one number."""
    return int.from_bytes(name.encode(), "big")


_TOP: Final = {"pid": 0, "tid": 1, "ts": 2, "dur": 3, "ph": 4, "name": 100, "cat": 101}
_INNER: Final = {
    "fd": 5, "ret": 6, "offset": 7, "count": 8, "size": 9, "flags": 10,
    "fname": 102, "fhash": 103, "hostname": 104, "hhash": 105, "name": 106, "value": 107,
}  # fmt: skip
_KEYS: Final = np.array([*map(_packed, _TOP), *map(_packed, _INNER)], np.uint64)
_PLACES: Final = np.array([*_TOP.values(), *_INNER.values()], np.int64)
_TOPS: Final = len(_TOP)
_ARGUMENTS: Final = np.uint64(_packed("args"))


class Names:
    """Different texts of a piece of text, numbered as they first come: a hash table that grows."""

    def __init__(self, room: int = 1 << 12) -> None:
        self.slots = np.full(2 * room, -1, np.int32)
        self.table = np.zeros((room, 3), np.int64)
        self.count = np.zeros(1, np.int64)
        self.seed = random_seed()

    def grow(self) -> None:
        """Make room for four times as many."""
        count = int(self.count[0])
        table = np.zeros((4 * len(self.table), 3), np.int64)
        table[:count] = self.table[:count]
        self.table, self.slots = table, np.full(2 * len(table), -1, np.int32)
        _place_again(self.table, count, self.slots, self.seed)

    def texts(self, text: npt.NDArray[np.uint8]) -> list[bytes]:
        """Return the texts in their order."""
        return [text[start:end].tobytes() for start, end in self.table[: int(self.count[0]), :2].tolist()]


def scan(
    text: npt.NDArray[np.uint8],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], Names, npt.NDArray[np.uint8]]:
    """Read lines of JSON.

    Parameters
    ----------
    text : uint8 (n,)

    Returns
    -------
    numbers : int64 (lines, len(NUMBERS))
        `UNKNOWN` where a line has no such number.
    codes : int32 (lines, len(TEXTS))
        Places of texts in `names`, −1 where a line has none.
    names : Names
    state : uint8 (lines,)
        0 for a line without an event, 1 for an event, 2 for one that cannot be read.
    """
    ends = np.append(np.flatnonzero(text == 10), len(text))
    lines = len(ends)
    numbers = np.full((lines, len(NUMBERS)), UNKNOWN, np.int64)
    codes = np.full((lines, len(TEXTS)), -1, np.int32)
    state = np.zeros(lines, np.uint8)
    # The eight bytes from each place on, as one number.
    words = np.ndarray((max(0, len(text) - 7),), "<u8", text, strides=(1,))
    names, line = Names(), 0
    while line < lines:
        line = _scan(
            text,
            words,
            ends,
            line,
            numbers,
            codes,
            state,
            names.slots,
            names.table,
            names.count,
            names.seed,
            _KEYS,
            _PLACES,
        )
        if line < lines:
            names.grow()
    return numbers, codes, names, state


@compiled
def _place_again(table: Any, count: int, slots: Any, seed: Any) -> None:
    mask = slots.size - 1
    for code in range(count):
        slot = np.int64(hashed(np.uint64(table[code, 2]), seed) & np.uint64(mask))
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = code


@compiled
def _equal(text: Any, words: Any, first: int, second: int, length: int) -> Any:
    place = 0
    while place + 8 <= length:
        if words[first + place] != words[second + place]:
            return False
        place += 8
    while place < length:
        if text[first + place] != text[second + place]:
            return False
        place += 1
    return True


@compiled
def _code(text: Any, words: Any, start: int, end: int, slots: Any, table: Any, count: Any, seed: Any) -> Any:
    """Return the number of a text, a new one for a new text; there is room for it."""
    value, i = np.uint64(end - start), start
    while i + 8 <= end:
        value = (value ^ words[i]) * _MIX
        value ^= value >> np.uint64(29)
        i += 8
    word = np.uint64(0)
    while i < end:
        word = (word << np.uint64(8)) | np.uint64(text[i])
        i += 1
    value = (value ^ word) * _MIX
    mask = slots.size - 1
    slot = np.int64(hashed(value, seed) & np.uint64(mask))
    while slots[slot] >= 0:
        code = slots[slot]
        first = table[code, 0]
        alike = table[code, 2] == np.int64(value) and table[code, 1] - first == end - start
        if alike and _equal(text, words, first, start, end - start):
            return code
        slot = (slot + 1) & mask
    code = count[0]
    table[code, 0], table[code, 1], table[code, 2] = start, end, np.int64(value)
    slots[slot] = code
    count[0] = code + 1
    return code


@compiled
def _number(text: Any, i: int, end: int) -> Any:
    """Return a whole number, of one with a fraction what stands before it; `UNKNOWN` where it is none."""
    negative = i < end and text[i] == 45
    if negative:
        i += 1
    first = i
    value = np.int64(0)
    while i < end and 48 <= text[i] <= 57 and i - first < 18:
        value = value * 10 + (np.int64(text[i]) - 48)
        i += 1
    if i == first or (i < end and text[i] != 46):
        return UNKNOWN
    return -value if negative else value


@compiled
def _closing(text: Any, words: Any, i: int, end: int) -> int:
    """Return where the quote is that ends a text; `end` where there is none."""
    while i + 8 <= end:
        # A byte of these is 0 where there is a quote, or a backslash; subtracting ones borrows from a 0 only.
        quote, backslash = words[i] ^ _QUOTES, words[i] ^ _BACKSLASHES
        if ((quote - _ONES) & ~quote | (backslash - _ONES) & ~backslash) & _HIGHEST:
            break
        i += 8
    while i < end and text[i] != 34:
        i += 2 if text[i] == 92 else 1
    return min(i, end)


@compiled
def _place(key: Any, depth: int, keys: Any, places: Any) -> Any:
    """Return what a key stands for; −1 for one that does not matter."""
    if depth == 0 and key == _ARGUMENTS:
        return _INSIDE
    for one in range(_TOPS if depth else 0, keys.size if depth else _TOPS):
        if keys[one] == key:
            return places[one]
    return -1


@compiled
def _behind(text: Any, words: Any, i: int, end: int) -> int:
    """Return where an object or array is over; `end` where it is not."""
    depth = 0
    while i < end:
        if text[i] == 34:
            i = _closing(text, words, i + 1, end)
        elif text[i] == 123 or text[i] == 91:
            depth += 1
        elif text[i] == 125 or text[i] == 93:
            depth -= 1
            if depth == 0:
                return i + 1
        i += 1
    return end


@compiled
def _scan(
    text: Any, words: Any, ends: Any, line: int, numbers: Any, codes: Any, state: Any,
    slots: Any, table: Any, count: Any, seed: Any, keys: Any, places: Any,
) -> int:  # fmt: skip
    """Read lines until there may be no room for the names of another one; return the next one."""
    # Lines are alike: each key and text is first compared with that at the same place of the line before.
    before = np.full(codes.shape[1], -1, np.int64)
    known_key = np.zeros(_MOST_KEYS, np.uint64)
    known_place = np.full(_MOST_KEYS, 2, np.int64)
    known_word = np.zeros(_MOST_KEYS, np.uint64)
    known_mask = np.zeros(_MOST_KEYS, np.uint64)
    known_length = np.zeros(_MOST_KEYS, np.int64)
    while line < ends.size and count[0] + 8 <= table.shape[0]:
        end = ends[line]
        i, depth, outcome, number = (ends[line - 1] + 1 if line else 0), 0, 0, 0
        while i < end and (text[i] <= 32 or text[i] == 91 or text[i] == 44):
            i += 1
        if i < end and text[i] != 93:
            # Whatever ends this loop early is no event.
            outcome = 2
            if text[i] == 123:
                i += 1
                while i < end:
                    while i < end and (text[i] <= 32 or text[i] == 44):
                        i += 1
                    if i >= end:
                        break
                    if text[i] == 125:
                        i += 1
                        depth -= 1
                        if depth < 0:
                            outcome = 1
                            break
                        continue
                    if text[i] != 34:
                        break
                    i += 1
                    first, key = i, np.uint64(0)
                    mask = known_mask[number]
                    if (
                        mask
                        and i + 8 <= end
                        and (words[i] & mask) == known_word[number]
                        and known_place[number] >> 8 == depth
                    ):
                        i += known_length[number]
                        place = (known_place[number] & 255) - 3
                    else:
                        while i < end and text[i] != 34 and text[i] != 92:
                            key = (key << np.uint64(8)) | np.uint64(text[i])
                            i += 1
                        plain = i < end and text[i] == 34
                        if i < end and text[i] == 92:
                            i = _closing(text, words, i, end)
                        if i - first > _LONGEST_KEY:
                            # None that matters: what of it is in the number is not all of it.
                            key = np.uint64(0)
                        if known_key[number] == key and known_place[number] >> 8 == depth:
                            place = (known_place[number] & 255) - 3
                        else:
                            place = _place(key, depth, keys, places)
                            known_key[number], known_place[number] = key, depth << 8 | place + 3
                        known_mask[number] = 0
                        if plain and i - first < _LONGEST_KEY and first + 8 <= end:
                            # With the quote behind it, so that a longer key is another one.
                            known_mask[number] = _ALL >> np.uint64(8 * (_LONGEST_KEY - 1 - (i - first)))
                            known_word[number] = words[first] & known_mask[number]
                            known_length[number] = i - first
                    number = min(number + 1, _MOST_KEYS - 1)
                    i += 1
                    while i < end and (text[i] <= 32 or text[i] == 58):
                        i += 1
                    if i >= end:
                        break
                    letter = text[i]
                    if letter == 123 and place == _INSIDE:
                        depth = 1
                        i += 1
                        continue
                    if letter == 123 or letter == 91:
                        i = _behind(text, words, i, end)
                        continue
                    if 0 <= place < _LETTER or _LETTER < place < _FIRST_TEXT:
                        first = i + (letter == 34)
                        last, negative = first, False
                        if last < end and text[last] == 45:
                            last, negative = last + 1, True
                        value, digits = np.int64(0), last
                        while last < end and 48 <= text[last] <= 57 and last - digits < 18:
                            value = value * 10 + (np.int64(text[last]) - 48)
                            last += 1
                        closed = last < end and last > digits
                        if closed and (text[last] == 34) == (letter == 34) and (text[last] in _AFTER):
                            numbers[line, place] = -value if negative else value
                            i = last + (letter == 34)
                            continue
                    if letter == 34:
                        first = i + 1
                        code = before[place - _FIRST_TEXT] if place >= _FIRST_TEXT else -1
                        length = table[code, 1] - table[code, 0] if code >= 0 else 0
                        if (
                            length > 0
                            and first + length < end
                            and text[first + length] == 34
                            and _equal(text, words, table[code, 0], first, length)
                        ):
                            codes[line, place - _FIRST_TEXT] = code
                            i = first + length + 1
                            continue
                        last = _closing(text, words, first, end)
                        if last >= end:
                            i = end
                            break
                        i = last + 1
                    else:
                        first = i
                        while i < end and text[i] > 32 and text[i] != 44 and text[i] != 125:
                            i += 1
                        last = i
                        if first == last:
                            break
                    if place == _LETTER:
                        numbers[line, _LETTER] = text[first]
                    elif place >= _FIRST_TEXT:
                        column = place - _FIRST_TEXT
                        if last > first:
                            before[column] = _code(text, words, first, last, slots, table, count, seed)
                            codes[line, column] = before[column]
                    elif place >= 0:
                        numbers[line, place] = _number(text, first, last)
                while i < end and (text[i] <= 32 or text[i] == 44 or text[i] == 93):
                    i += 1
                if i < end:
                    outcome = 2
        state[line] = outcome
        line += 1
    return line
