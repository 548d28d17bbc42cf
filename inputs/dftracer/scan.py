"""A compiled scan of lines of JSON for the few fields of a DFTracer event that matter here.

The module needs numba; import it inside the function that uses it.
"""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...model.kernels import compiled_uncounted, hashed, inner, random_seed
from .fields import NUMBERS, TEXTS, UNKNOWN

_LONGEST_KEY: Final = 8
_OPENING: Final = (34, 58, 91, 123)
"""What a value that is no number, or more of the gap before it, begins with: a quote, a colon, a bracket, a brace."""
_FIRST_TEXT: Final = 100
_NOTHING: Final = -1
_INSIDE: Final = -2
"""Place of the object whose own entries matter."""
_EVENT: Final = -3
_BLANK: Final = -4
_BROKEN: Final = -5
_FEWEST: Final = 16
_FIRST_ROWS: Final = 1 << 12
_MOST_GAPS: Final = 256
_GAP_WORDS: Final = 3
_LENGTH, _STANDS_FOR, _DEPTH, _OPENED, _BELOW, _BESIDE, _VALUE, _VALUE_LENGTH = range(8)
"""Columns of what is known of a gap: its characters, what the value behind it stands for, the depth and the opening
character there, the first gap that follows it, the next that follows the same one, and the last value's own."""
_GAP_FACTS: Final = 8
_AFTER: Final = (34, 44, 125, 32)
"""What may follow a whole number: a quote, a comma, a brace, a blank."""
_LETTER: Final = NUMBERS.index("ph")
_MIX: Final = np.uint64(0x9E3779B97F4A7C15)
_ALL: Final = np.uint64(0xFFFFFFFFFFFFFFFF)
_ONES: Final = np.uint64(0x0101010101010101)
_HIGHEST: Final = np.uint64(0x8080808080808080)
_QUOTES: Final = np.uint64(0x2222222222222222)
_BACKSLASHES: Final = np.uint64(0x5C5C5C5C5C5C5C5C)
_NEWLINES: Final = np.uint64(0x0A0A0A0A0A0A0A0A)
_ZEROS: Final = np.uint64(0x3030303030303030)
_UPPER: Final = np.uint64(0xF0F0F0F0F0F0F0F0)
_SIXES: Final = np.uint64(0x0606060606060606)
_PAIR: Final = np.uint64(0x000000FF000000FF)


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
    """Different texts, numbered as they first come, behind each other in `letters`: a hash table that grows."""

    def __init__(self, room: int = 1 << 12) -> None:
        self.slots = np.full(2 * room, -1, np.int32)
        # Where each begins and ends, and its hash.
        self.table = np.empty((room, 3), np.int64)
        self.letters = np.empty(64 * room, np.uint8)
        # How many texts, and how many letters.
        self.counts = np.zeros(2, np.int64)
        self.seed = random_seed()

    def grow(self) -> None:
        """Make room for twice as many."""
        self.table, self.letters = (np.concatenate([one, np.empty_like(one)]) for one in (self.table, self.letters))
        self.slots = np.full(2 * len(self.table), -1, np.int32)
        _place_again(self.table, self.counts[0], self.slots, self.seed)

    def texts(self) -> list[str]:
        """Return the texts in their order, as they were written."""
        texts = self.letters[: self.counts[1]].tobytes().decode("utf-8", "backslashreplace").split("\n")
        return texts[:-1]


class Scanner:
    """Events of lines that come piece by piece.

    Attributes
    ----------
    names : Names
    unreadable : int
        Lines that cannot be read.
    """

    def __init__(self) -> None:
        self.names, self.unreadable = Names(), 0
        self._rows = 0
        self._numbers = np.empty((_FIRST_ROWS, len(NUMBERS)), np.int64)
        self._codes = np.empty((_FIRST_ROWS, len(TEXTS)), np.int32)
        self._gaps, self._masks = (np.zeros((_MOST_GAPS, _GAP_WORDS), np.uint64) for _ in range(2))
        self._facts = np.zeros((_MOST_GAPS, _GAP_FACTS), np.int64)
        self._known = np.zeros((_MOST_GAPS, 2), np.uint64)
        self._before = np.full(len(TEXTS), -1, np.int64)

    def add(self, text: npt.NDArray[np.uint8]) -> None:
        """Read whole lines, uint8 (n,)."""
        names, start = self.names, 0
        if len(text) <= _FEWEST:
            # Loops would be compiled anew for what is too short to have words that overlap.
            text = np.concatenate([text, np.full(_FEWEST, ord("\n"), np.uint8)])
        while start < len(text):
            start, self._rows, broken = _scan(
                text, _words_of(text), start, self._numbers, self._codes, self._rows, names.slots, names.table,
                names.letters, _words_of(names.letters), names.counts, names.seed, _KEYS, _PLACES, self._gaps,
                self._masks, self._facts, self._known, self._before,
            )  # fmt: skip
            self.unreadable += broken
            if self._rows == len(self._numbers):
                # In place, where the system can: large ones are not copied.
                for table in (self._numbers, self._codes):
                    table.resize((len(table) * 3 // 2, table.shape[1]), refcheck=False)
            elif start < len(text):
                names.grow()

    @property
    def numbers(self) -> npt.NDArray[np.int64]:
        """Numbers of the events, int64 (n, len(NUMBERS)); `UNKNOWN` where one has no such number."""
        return self._numbers[: self._rows]

    @property
    def codes(self) -> npt.NDArray[np.int32]:
        """Places of their texts in `names`, int32 (n, len(TEXTS)); −1 where one has none."""
        return self._codes[: self._rows]


def _words_of(text: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint64]:
    """Return the eight bytes from each place on, as one number."""
    return np.ndarray((max(0, len(text) - 7),), "<u8", text, strides=(1,))


@compiled_uncounted
def _place_again(table: Any, count: int, slots: Any, seed: Any) -> None:
    mask = slots.size - 1
    for code in range(count):
        slot = np.int64(hashed(np.uint64(table[code, 2]), seed) & np.uint64(mask))
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = code


@inner
def _equal(words: Any, place: int, letter_words: Any, first: int, last: int) -> Any:
    """Tell whether a text stands at a place of words; there are eight letters of room behind the last one."""
    while first + 8 <= last:
        if words[place] != letter_words[first]:
            return False
        place += 8
        first += 8
    rest = last - first
    return rest == 0 or (words[place] ^ letter_words[first]) << np.uint64(8 * (8 - rest)) == 0


@inner
def _code(
    text: Any, words: Any, start: int, end: int, slots: Any, table: Any, letters: Any, letter_words: Any, counts: Any,
    seed: Any,
) -> Any:  # fmt: skip
    """Return the number of a text, a new one for a new text; −1 where there is no room for its letters."""
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
        first, last = table[code, 0], table[code, 1]
        if table[code, 2] == np.int64(value) and last - first == end - start:
            if start + end - start + 8 <= text.size:
                if _equal(words, start, letter_words, first, last):
                    return code
            else:
                alike = 0
                while alike < end - start and text[start + alike] == letters[first + alike]:
                    alike += 1
                if alike == end - start:
                    return code
        slot = (slot + 1) & mask
    code, first = counts[0], counts[1]
    last = first + end - start
    if last + 9 > letters.size:
        return -1
    for i in range(end - start):
        letters[first + i] = text[start + i]
    letters[last] = 10
    table[code, 0], table[code, 1], table[code, 2] = first, last, np.int64(value)
    slots[slot] = code
    counts[0], counts[1] = code + 1, last + 1
    return code


@inner
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


@inner
def _closing(text: Any, words: Any, i: int) -> int:
    """Return where the quote is that ends a text; where the line ends if there is none."""
    while i < words.size:
        # A byte of these is 0 where there is such a character; subtracting ones borrows from a 0 only.
        quote, backslash, newline = words[i] ^ _QUOTES, words[i] ^ _BACKSLASHES, words[i] ^ _NEWLINES
        found = (quote - _ONES) & ~quote | (backslash - _ONES) & ~backslash | (newline - _ONES) & ~newline
        if found & _HIGHEST:
            break
        i += 8
    while i < text.size and text[i] != 34 and text[i] != 10:
        if text[i] == 92 and i + 1 < text.size and text[i + 1] != 10:
            i += 1
        i += 1
    return i


@inner
def _place(key: Any, depth: int, keys: Any, places: Any) -> Any:
    """Return what a key stands for; `_NOTHING` for one that does not matter."""
    if depth == 0 and key == _ARGUMENTS:
        return _INSIDE
    for one in range(_TOPS if depth else 0, keys.size if depth else _TOPS):
        if keys[one] == key:
            return places[one]
    return _NOTHING


@inner
def _behind(text: Any, words: Any, i: int) -> int:
    """Return where an object or array is over; where the line ends if it is not."""
    depth = 0
    while i < text.size and text[i] != 10:
        if text[i] == 34:
            i = _closing(text, words, i + 1)
            if i >= text.size or text[i] == 10:
                return i
        elif text[i] == 123 or text[i] == 91:
            depth += 1
        elif text[i] == 125 or text[i] == 93:
            depth -= 1
            if depth == 0:
                return i + 1
        i += 1
    return i


@inner
def _gap(text: Any, words: Any, i: int, depth: int, keys: Any, places: Any) -> Any:
    """Read what stands between a value, or the line's start, and the next value.

    Returns where that begins, behind its quote; what it stands for, `_EVENT` behind the line where the event is over,
    `_BLANK` behind one that has none, `_BROKEN` where it cannot be read; the depth there; and the character that opens
    it, 0 for a number.
    """
    size = text.size
    if depth < 0:
        while i < size and text[i] != 10 and (text[i] <= 32 or text[i] == 91 or text[i] == 44):
            i += 1
        if i >= size or text[i] == 10:
            return i + 1, _BLANK, depth, 0
        if text[i] == 93:
            while i < size and text[i] != 10:
                i += 1
            return i + 1, _BLANK, depth, 0
        if text[i] != 123:
            return i, _BROKEN, depth, 0
        i, depth = i + 1, 0
    while True:
        while i < size and text[i] != 10 and (text[i] <= 32 or text[i] == 44):
            i += 1
        if i >= size or text[i] == 10:
            return i, _BROKEN, depth, 0
        if text[i] == 125:
            i += 1
            depth -= 1
            if depth >= 0:
                continue
            while i < size and text[i] != 10 and (text[i] <= 32 or text[i] == 44 or text[i] == 93):
                i += 1
            whole = i >= size or text[i] == 10
            return (i + 1, _EVENT, depth, 0) if whole else (i, _BROKEN, depth, 0)
        if text[i] != 34:
            return i, _BROKEN, depth, 0
        first = i + 1
        i = _closing(text, words, first)
        if i >= size or text[i] == 10:
            return i, _BROKEN, depth, 0
        key = np.uint64(0)
        if i - first <= _LONGEST_KEY:
            for one in range(first, i):
                key = (key << np.uint64(8)) | np.uint64(text[one])
        place = _place(key, depth, keys, places)
        i += 1
        while i < size and text[i] != 10 and (text[i] <= 32 or text[i] == 58):
            i += 1
        if i >= size or text[i] == 10:
            return i, _BROKEN, depth, 0
        letter = np.int64(text[i])
        if letter == 123 and place == _INSIDE:
            depth, i = 1, i + 1
            continue
        if letter == 34 or letter == 123 or letter == 91:
            return i + 1, place, depth, letter
        return i, place, depth, 0


@compiled_uncounted
def _scan(
    text: Any, words: Any, i: int, numbers: Any, codes: Any, row: int, slots: Any, table: Any, letters: Any,
    letter_words: Any, counts: Any, seed: Any, keys: Any, places: Any, gaps: Any, masks: Any, facts: Any, known: Any,
    before: Any,
) -> Any:  # fmt: skip
    """Read lines until there is no room for another one, or may be none for its names.

    Returns where the next one begins, how many rows there are then, and how many lines could not be read.

    Lines are alike: what stands between two values of one, and the values, are first compared with those of lines
    before. Gaps are a tree, by what gap they follow: `gaps` are the characters of each, `masks` how many there are,
    `facts` the columns below, and `known` the last short value behind it with its mask. `before` are the last texts.
    """
    size, broken = text.size, 0
    while i < size and row < numbers.shape[0] and counts[0] + codes.shape[1] <= table.shape[0]:
        line = i
        for column in range(numbers.shape[1]):
            numbers[row, column] = UNKNOWN
        for column in range(codes.shape[1]):
            codes[row, column] = -1
        node, depth = 0, -1
        while True:
            inside = i + 8 * _GAP_WORDS <= words.size
            one = facts[node, _BELOW] if inside else 0
            while one:
                if (words[i] ^ gaps[one, 0]) & masks[one, 0] == 0:
                    length = facts[one, _LENGTH]
                    if (
                        (length <= 8 or (words[i + 8] ^ gaps[one, 1]) & masks[one, 1] == 0)
                        and (length <= 16 or (words[i + 16] ^ gaps[one, 2]) & masks[one, 2] == 0)
                        and (
                            facts[one, _OPENED]
                            or facts[one, _STANDS_FOR] == _EVENT
                            or (text[i + length] > 32 and text[i + length] not in _OPENING)
                        )
                    ):
                        break
                one = facts[one, _BESIDE]
            if one:
                i += facts[one, _LENGTH]
                place, depth, opened = facts[one, _STANDS_FOR], facts[one, _DEPTH], facts[one, _OPENED]
                node = one
            else:
                first = i
                i, place, depth, opened = _gap(text, words, i, depth, keys, places)
                if place in (_BROKEN, _BLANK):
                    break
                last, free = min(i, size), facts[0, _LENGTH] + 1
                # The last gap is full of others that were not kept: nothing follows them.
                node_before, node = node, _MOST_GAPS - 1
                if last - first <= 8 * _GAP_WORDS and inside and free < node and node_before < node:
                    node = free
                    facts[0, _LENGTH] = free
                    for part in range(_GAP_WORDS):
                        bytes_there = min(max(last - first - 8 * part, 0), 8)
                        if bytes_there:
                            masks[node, part] = _ALL >> np.uint64(64 - 8 * bytes_there)
                            gaps[node, part] = words[first + 8 * part] & masks[node, part]
                    facts[node, _LENGTH] = last - first
                    facts[node, _STANDS_FOR] = place
                    facts[node, _DEPTH] = depth
                    facts[node, _OPENED] = opened
                    facts[node, _BESIDE] = facts[node_before, _BELOW]
                    facts[node_before, _BELOW] = node
            if place == _EVENT:
                break
            if opened == 123 or opened == 91:
                i = _behind(text, words, i - 1)
                continue
            if inside and known[node, 1] and (words[i] & known[node, 1]) == known[node, 0]:
                # The last one again, with the character behind it.
                if place >= _FIRST_TEXT:
                    codes[row, place - _FIRST_TEXT] = facts[node, _VALUE]
                elif place >= 0:
                    numbers[row, place] = facts[node, _VALUE]
                i += facts[node, _VALUE_LENGTH] + (opened == 34)
                continue
            first, value = i, np.int64(0)
            if 0 <= place < _FIRST_TEXT and place != _LETTER:
                last, negative = first, False
                if last < size and text[last] == 45:
                    last, negative = last + 1, True
                digits = last
                while last < words.size and last - digits < 16:
                    word = words[last]
                    small = word - _ZEROS
                    if (word & _UPPER) != _ZEROS or (small + _SIXES) & _UPPER != 0:
                        break
                    small = small * np.uint64(10) + (small >> np.uint64(8))
                    small = (
                        (small & _PAIR) * np.uint64(0x000F424000000064)
                        + ((small >> np.uint64(16)) & _PAIR) * np.uint64(0x0000271000000001)
                    ) >> np.uint64(32)
                    value = value * 100_000_000 + np.int64(small)
                    last += 8
                while last < size and 48 <= text[last] <= 57 and last - digits < 18:
                    value = value * 10 + (np.int64(text[last]) - 48)
                    last += 1
                if negative:
                    value = -value
                if last < size and last > digits and (text[last] == 34) == (opened == 34) and text[last] in _AFTER:
                    numbers[row, place] = value
                    i = last + (opened == 34)
                else:
                    # A fraction, another text, a number that is too large.
                    last = -1
            elif place >= _FIRST_TEXT and before[place - _FIRST_TEXT] >= 0:
                code = before[place - _FIRST_TEXT]
                last = first + table[code, 1] - table[code, 0]
                alike = opened == 34 and last + 8 <= size and text[last] == 34
                if alike and _equal(words, first, letter_words, table[code, 0], table[code, 1]):
                    codes[row, place - _FIRST_TEXT] = code
                    i = last + 1
                    continue
                last = -1
            else:
                last = -1
            if last < 0:
                if opened == 34:
                    last = _closing(text, words, first)
                    i = last + 1
                    if last >= size or text[last] == 10:
                        i, place = last, _BROKEN
                        break
                else:
                    while i < size and text[i] > 32 and text[i] != 44 and text[i] != 125:
                        i += 1
                    last = i
                    if first == last:
                        place = _BROKEN
                        break
                if place == _LETTER:
                    value = np.int64(text[first])
                    numbers[row, place] = value
                elif place >= _FIRST_TEXT:
                    if last > first:
                        value = _code(text, words, first, last, slots, table, letters, letter_words, counts, seed)
                        if value < 0:
                            return line, row, broken
                        before[place - _FIRST_TEXT] = value
                        codes[row, place - _FIRST_TEXT] = value
                    else:
                        value = np.int64(-1)
                elif place >= 0:
                    value = _number(text, first, last)
                    numbers[row, place] = value
            if last - first < 8 and inside and node < _MOST_GAPS - 1:
                known[node, 1] = _ALL >> np.uint64(8 * (7 - (last - first)))
                known[node, 0] = words[first] & known[node, 1]
                facts[node, _VALUE] = value
                facts[node, _VALUE_LENGTH] = last - first
        if place == _EVENT:
            row += 1
        elif place == _BROKEN:
            broken += 1
            while i < size and text[i] != 10:
                i += 1
            i += 1
    return i, row, broken
