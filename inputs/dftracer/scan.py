"""A compiled scan of lines of JSON for the few fields of a DFTracer event that matter here.

Numba may have to compile it: import it inside the function that uses it.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from ...model.arrays import Ints, Links, Octets, Unsigned
from ...model.kernels import compiled_uncounted, hashed, inlined, inner, random_seed
from .fields import NO_AMOUNT, NUMBERS, TEXTS, UNKNOWN

_COLUMNS: Final = (*NUMBERS, *TEXTS)
_FIRST_TEXT: Final = len(NUMBERS)
_LETTER: Final = NUMBERS.index("ph")
_RESULT, _SIZE = map(NUMBERS.index, ("ret", "size"))
_FAILED: Final = (np.int64((2**64 - 4096) // 10), np.int64(2**64 // 10))
"""Errors, from −4096 to −1, as numbers of 64 bits without a sign, which have 20 digits: the first 19 of them."""
_ROOM: Final = np.int64((2**63 - 10) // 10)
"""Numbers that another digit can follow."""
_BLANK_ROW: Final = np.array([*(UNKNOWN for _ in NUMBERS), *(-1 for _ in TEXTS)], np.int64)

_TOP: Final = {
    **{name: name for name in ("pid", "tid", "ts", "dur", "ph", "name", "cat")},
    # As TAU has them.
    "return": "ret",
    "pathname": "fname",
}
_INNER: Final = {
    **{name: name for name in ("fd", "ret", "offset", "count", "size", "flags", "fname", "fhash", "hostname", "hhash")},
    "name": "arg_name",
    "value": "arg_value",
    "hash": "arg_hash",
    "path": "fname",
    "nmemb": "count",
}
"""Columns by the keys of an event, and of its arguments."""


def _packed(name: str) -> int:
    """Return a key of up to eight letters as one number."""
    return int.from_bytes(name.encode(), "big")


_LONGEST_KEY: Final = 8
_KEYS: Final = np.array([*map(_packed, _TOP), *map(_packed, _INNER)], np.uint64)
_PLACES: Final = np.array([_COLUMNS.index(name) for name in (*_TOP.values(), *_INNER.values())], np.int64)
_TOPS: Final = len(_TOP)
_ARGUMENTS: Final = np.uint64(_packed("args"))
_NOTHING: Final = -1
_INSIDE: Final = -2
"""Place of the object whose own entries matter."""
_EVENT: Final = -3
_BLANK: Final = -4
_BROKEN: Final = -5
_FULL: Final = -6

_OPENING: Final = (34, 58, 91, 123)
"""What a value that is no number, or more of the gap before it, begins with: a quote, a colon, a bracket, a brace."""
_AFTER: Final = (34, 44, 125, 32)
"""What may follow a whole number: a quote, a comma, a brace, a blank."""
_FIRST_ROWS: Final = 1 << 12
_MOST_GAPS: Final = 256
_GAP_WORDS: Final = 3
_LENGTH, _STANDS_FOR, _DEPTH, _OPENED, _BELOW, _BESIDE, _VALUE, _VALUE_LENGTH = range(8)
"""Columns of what is known of a gap: its characters, what the value behind it stands for, the depth and the opening
character there, the first gap that follows it, the next that follows the same one, and the last value's own."""
_GAP_FACTS: Final = 8
_MIX: Final = np.uint64(0x9E3779B97F4A7C15)
_ALL: Final = np.uint64(0xFFFFFFFFFFFFFFFF)


class _Text(NamedTuple):
    """Lines that each end with a newline, and `BEHIND` bytes more; as words the eight bytes from each place on."""

    letters: Octets
    words: Unsigned


class _Names(NamedTuple):
    """Different texts, numbered as they first come, one behind the other in `text`: a hash table.

    Attributes
    ----------
    table : int64 (n, 3)
        Where each begins and ends, and its hash.
    counts : int64 (2,)
        How many texts, and how many letters.
    last : int64
        Of each column of texts, −1 at first.
    """

    slots: Links
    table: Ints
    text: _Text
    counts: Ints
    seed: np.uint64
    last: Ints


class _Gaps(NamedTuple):
    """What stands between two values of a line, a tree by what gap they follow.

    Attributes
    ----------
    letters, masks : uint64 (g, _GAP_WORDS)
        The characters of each, and how many there are.
    facts : int64 (g, _GAP_FACTS)
    values : uint64 (g, 2)
        The last short value behind each with its mask.
    """

    letters: Unsigned
    masks: Unsigned
    facts: Ints
    values: Unsigned


def _text(letters: Octets) -> _Text:
    return _Text(letters, np.ndarray((len(letters) - 7,), "<u8", letters, strides=(1,)))


class Scanner:
    """Events of lines that come piece by piece.

    Attributes
    ----------
    unreadable : int
        Lines that cannot be read.
    """

    def __init__(self) -> None:
        self.unreadable, self._rows, room = 0, 0, 1 << 12
        self._table = np.empty((_FIRST_ROWS, len(_COLUMNS)), np.int64)
        letters, masks, values = (np.zeros((_MOST_GAPS, width), np.uint64) for width in (_GAP_WORDS, _GAP_WORDS, 2))
        self._gaps = _Gaps(letters, masks, np.zeros((_MOST_GAPS, _GAP_FACTS), np.int64), values)
        slots, table = np.full(2 * room, -1, np.int32), np.empty((room, 3), np.int64)
        counts, last = np.zeros(2, np.int64), np.full(len(TEXTS), -1, np.int64)
        self._names = _Names(slots, table, _text(np.empty(64 * room, np.uint8)), counts, random_seed(), last)

    def add(self, text: Octets, size: int) -> None:
        """Read the whole lines, each with a newline, that are the first `size` bytes of a text with `BEHIND` more."""
        start = 0
        while start < size:
            start, self._rows, broken = _scan(
                _text(text), start, size, self._table, self._rows, _BLANK_ROW, self._names, self._gaps, _KEYS, _PLACES
            )
            self.unreadable += broken
            if self._rows == len(self._table):
                # In place, where the system can: a large one is not copied.
                self._table.resize((len(self._table) * 3 // 2, len(_COLUMNS)), refcheck=False)
            elif start < size:
                self._names = _with_more_room(self._names)

    def columns(self) -> dict[str, Ints]:
        """Return numbers of the events, `UNKNOWN` where one has none, and places of texts, −1 where one has none."""
        return {name: self._table[: self._rows, place] for place, name in enumerate(_COLUMNS)}

    def texts(self) -> list[str]:
        """Return the different texts in their order, as they were written."""
        letters = self._names.text.letters[: self._names.counts[1]]
        return letters.tobytes().decode("utf-8", "backslashreplace").split("\n")[:-1]


def _with_more_room(names: _Names) -> _Names:
    """Return names with room for twice as many."""
    table, letters = (np.concatenate([one, np.empty_like(one)]) for one in (names.table, names.text.letters))
    slots = np.full(2 * len(table), -1, np.int32)
    _place_again(table, names.counts[0], slots, names.seed)
    return names._replace(slots=slots, table=table, text=_text(letters))


@compiled_uncounted
def _place_again(table: Any, count: int, slots: Any, seed: Any) -> None:
    mask = slots.size - 1
    for code in range(count):
        slot = np.int64(hashed(np.uint64(table[code, 2]), seed) & np.uint64(mask))
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = code


@inlined
def _equal(words: Any, place: int, others: Any, first: int, last: int) -> Any:
    """Tell whether a text of others stands at a place of words."""
    while first + 8 <= last:
        if words[place] != others[first]:
            return False
        place += 8
        first += 8
    rest = last - first
    return rest == 0 or (words[place] ^ others[first]) << np.uint64(8 * (8 - rest)) == 0


@inner
def _hash(text: Any, start: int, end: int) -> Any:
    value, i = np.uint64(end - start), start
    while i + 8 <= end:
        value = (value ^ text.words[i]) * _MIX
        value ^= value >> np.uint64(29)
        i += 8
    if i < end:
        value ^= text.words[i] << np.uint64(8 * (8 - (end - i)))
    return value * _MIX


@inner
def _code(text: Any, start: int, end: int, names: Any) -> Any:
    """Return the number of a text, a new one for a new text; −1 where there is no room for its letters."""
    slots, table, own, counts = names.slots, names.table, names.text, names.counts
    value, mask = _hash(text, start, end), slots.size - 1
    slot = np.int64(hashed(value, names.seed) & np.uint64(mask))
    while slots[slot] >= 0:
        code = slots[slot]
        first, last = table[code, 0], table[code, 1]
        alike = table[code, 2] == np.int64(value) and last - first == end - start
        if alike and _equal(text.words, start, own.words, first, last):
            return code
        slot = (slot + 1) & mask
    code, first = counts[0], counts[1]
    last = first + end - start
    if last + 9 > own.letters.size:
        return -1
    for i in range(end - start):
        own.letters[first + i] = text.letters[start + i]
    own.letters[last] = 10
    table[code, 0], table[code, 1], table[code, 2] = first, last, np.int64(value)
    slots[slot] = code
    counts[0], counts[1] = code + 1, last + 1
    return code


@inner
def _closing(letters: Any, i: int) -> int:
    """Return where the quote is that ends a text; where the line ends if there is none."""
    while letters[i] != 34 and letters[i] != 10:
        if letters[i] == 92 and letters[i + 1] != 10:
            i += 1
        i += 1
    return i


@inner
def _behind(letters: Any, i: int) -> int:
    """Return where an object or array is over; where the line ends if it is not."""
    depth = 0
    while letters[i] != 10:
        if letters[i] == 34:
            i = _closing(letters, i + 1)
            if letters[i] == 10:
                return i
        elif letters[i] == 123 or letters[i] == 91:
            depth += 1
        elif letters[i] == 125 or letters[i] == 93:
            depth -= 1
            if depth == 0:
                return i + 1
        i += 1
    return i


@inner
def _skipped(letters: Any, i: int, one: int, other: int) -> int:
    """Return where what is neither blank nor one of two characters comes next, or the line ends."""
    while letters[i] != 10 and (letters[i] <= 32 or letters[i] == one or letters[i] == other):
        i += 1
    return i


@inner
def _place(letters: Any, first: int, last: int, depth: int, keys: Any, places: Any) -> Any:
    """Return the column that a key stands for; `_NOTHING` for one that does not matter."""
    key = np.uint64(0)
    if last - first <= _LONGEST_KEY:
        for one in range(first, last):
            key = (key << np.uint64(8)) | np.uint64(letters[one])
    if depth == 0 and key == _ARGUMENTS:
        return _INSIDE
    for one in range(_TOPS if depth else 0, keys.size if depth else _TOPS):
        if keys[one] == key:
            return places[one]
    return _NOTHING


@inner
def _begun(letters: Any, i: int) -> Any:
    """Return where the event of a line begins, behind its brace, and `_NOTHING`; or `_BLANK` or `_BROKEN`."""
    i = _skipped(letters, i, 91, 44)
    if letters[i] == 93:
        while letters[i] != 10:
            i += 1
    if letters[i] == 123:
        return i + 1, _NOTHING
    return i + 1, _BLANK if letters[i] == 10 else _BROKEN


@inner
def _gap(letters: Any, i: int, depth: int, keys: Any, places: Any) -> Any:
    """Read what stands between a value, or the line's start, and the next value.

    Returns where that begins, behind its quote; what it stands for, `_EVENT` behind the line where the event is over,
    `_BLANK` behind one that has none, `_BROKEN` where it cannot be read; the depth there; and the character that opens
    it, 0 for a number.
    """
    if depth < 0:
        i, place = _begun(letters, i)
        if place != _NOTHING:
            return i, place, depth, 0
        depth = 0
    while True:
        i = _skipped(letters, i, 44, 44)
        if letters[i] == 125 and depth == 0:
            i = _skipped(letters, i + 1, 44, 93)
            return i + 1, _EVENT if letters[i] == 10 else _BROKEN, depth, 0
        if letters[i] == 125:
            i, depth = i + 1, depth - 1
            continue
        last = _closing(letters, i + 1) if letters[i] == 34 else i
        if letters[last] != 34 or last == i:
            return i, _BROKEN, depth, 0
        place = _place(letters, i + 1, last, depth, keys, places)
        i = _skipped(letters, last + 1, 58, 58)
        letter = np.int64(letters[i])
        if letter == 123 and place == _INSIDE:
            i, depth = i + 1, 1
            continue
        if letter in (34, 123, 91):
            return i + 1, place, depth, letter
        return i, _BROKEN if letter == 10 else place, depth, 0


@inlined
def _known_gap(text: Any, i: int, node: int, gaps: Any) -> Any:
    """Return the gap behind another one that stands at a place; 0 where it is none of those that did before."""
    words, letters, masks, facts = text.words, gaps.letters, gaps.masks, gaps.facts
    one = facts[node, _BELOW]
    while one:
        if (words[i] ^ letters[one, 0]) & masks[one, 0] == 0:
            length = facts[one, _LENGTH]
            if (
                (length <= 8 or (words[i + 8] ^ letters[one, 1]) & masks[one, 1] == 0)
                and (length <= 16 or (words[i + 16] ^ letters[one, 2]) & masks[one, 2] == 0)
                and (
                    facts[one, _OPENED]
                    or facts[one, _STANDS_FOR] == _EVENT
                    or (text.letters[i + length] > 32 and text.letters[i + length] not in _OPENING)
                )
            ):
                break
        one = facts[one, _BESIDE]
    return one


@inner
def _keep_gap(
    text: Any, first: int, last: int, before: int, stands_for: Any, depth: Any, opened: Any, gaps: Any
) -> Any:
    """Return the number of a gap that is new; the last one stands for all that are not kept: nothing follows them."""
    facts, node = gaps.facts, gaps.facts[0, _LENGTH] + 1
    if last - first > 8 * _GAP_WORDS or node >= _MOST_GAPS - 1 or before >= _MOST_GAPS - 1:
        return _MOST_GAPS - 1
    facts[0, _LENGTH] = node
    for part in range(_GAP_WORDS):
        there = min(max(last - first - 8 * part, 0), 8)
        if there:
            gaps.masks[node, part] = _ALL >> np.uint64(64 - 8 * there)
            gaps.letters[node, part] = text.words[first + 8 * part] & gaps.masks[node, part]
    facts[node, _LENGTH], facts[node, _STANDS_FOR] = last - first, stands_for
    facts[node, _DEPTH], facts[node, _OPENED] = depth, opened
    facts[node, _BESIDE], facts[before, _BELOW] = facts[before, _BELOW], node
    return node


@inlined
def _integer(letters: Any, first: int) -> Any:
    """Return a whole number, as far as it fits, and where it ends; the place itself where there is none."""
    last, value = first, np.int64(0)
    if letters[last] == 45:
        last += 1
    digits = last
    while 48 <= letters[last] <= 57 and value <= _ROOM:
        value = value * 10 + (np.int64(letters[last]) - 48)
        last += 1
    return (-value if digits > first else value), (last if last > digits else first)


@inner
def _value_end(letters: Any, i: int, opened: Any) -> Any:
    """Return where a value ends; `_BROKEN` where the line does before."""
    last = i
    if opened == 34:
        last = _closing(letters, i)
        return _BROKEN if letters[last] == 10 else last
    while letters[last] > 32 and letters[last] != 44 and letters[last] != 125:
        last += 1
    return last if last > i else _BROKEN


@inlined
def _number(letters: Any, first: int, opened: Any, place: Any) -> Any:
    """Return a number without its fraction and where it ends, or `_BROKEN`; `UNKNOWN` or `NO_AMOUNT` if it is none."""
    value, last = _integer(letters, first)
    if last > first and (letters[last] == 34) == (opened == 34) and letters[last] in _AFTER:
        return value, last
    # A fraction, another text, a number that is too large.
    end, behind = _value_end(letters, first, opened), last
    if letters[last] == 46:
        behind += 1
        while 48 <= letters[behind] <= 57:
            behind += 1
    if last > first and behind == end:
        return value, end
    failed = _FAILED[0] <= value <= _FAILED[1] and end == last + 1
    # null, or no letters at all, tells nothing.
    told = end != first and not (letters[first] == 110 and letters[first + 1] == 117)
    amount = place in (_RESULT, _SIZE) and told and not failed
    return np.int64(NO_AMOUNT if amount else UNKNOWN), end


@inlined
def _name(text: Any, first: int, column: Any, opened: Any, names: Any) -> Any:
    """Return the number of a text, −1 where it is empty, and where it ends, or `_BROKEN` or `_FULL`."""
    code = names.last[column]
    if code >= 0 and opened == 34:
        begin, end = names.table[code, 0], names.table[code, 1]
        last = first + end - begin
        there = last < text.words.size and text.letters[last] == 34
        if there and _equal(text.words, first, names.text.words, begin, end):
            return code, last
    last = _value_end(text.letters, first, opened)
    if last <= first:
        return np.int64(-1), last
    code = np.int64(_code(text, first, last, names))
    if code < 0:
        return code, _FULL
    names.last[column] = code
    return code, last


@inlined
def _line(text: Any, i: int, table: Any, row: int, names: Any, gaps: Any, keys: Any, places: Any) -> Any:
    """Read a line into a row; return where it ends, and `_EVENT`, `_BLANK`, `_BROKEN` or, without room, `_FULL`.

    Lines are alike: what stands between two values of one, and the values, are first compared with those of lines
    before.
    """
    facts, values = gaps.facts, gaps.values
    node, depth = 0, -1
    while True:
        one = _known_gap(text, i, node, gaps)
        if one:
            i, node = i + facts[one, _LENGTH], one
            place, depth, opened = facts[one, _STANDS_FOR], facts[one, _DEPTH], facts[one, _OPENED]
        else:
            first = i
            i, place, depth, opened = _gap(text.letters, i, depth, keys, places)
            if place in (_BROKEN, _BLANK):
                return i, place
            node = _keep_gap(text, first, i, node, place, depth, opened, gaps)
        if place == _EVENT:
            return i, place
        if opened in (123, 91):
            i = _behind(text.letters, i - 1)
            continue
        if values[node, 1] and (text.words[i] & values[node, 1]) == values[node, 0]:
            # The last one again, with the character behind it.
            value, last = facts[node, _VALUE], i + facts[node, _VALUE_LENGTH]
        else:
            if place >= _FIRST_TEXT:
                value, last = _name(text, i, place - _FIRST_TEXT, opened, names)
            elif place >= 0 and place != _LETTER:
                value, last = _number(text.letters, i, opened, place)
            else:
                value, last = np.int64(text.letters[i]), _value_end(text.letters, i, opened)
            if last < 0:
                return i, last
            if last - i < 8 and node < _MOST_GAPS - 1:
                values[node, 1] = _ALL >> np.uint64(8 * (7 - (last - i)))
                values[node, 0] = text.words[i] & values[node, 1]
                facts[node, _VALUE], facts[node, _VALUE_LENGTH] = value, last - i
        if place >= 0:
            table[row, place] = value
        i = last + (opened == 34)


@compiled_uncounted
def _scan(
    text: Any, i: int, size: int, table: Any, row: int, blank: Any, names: Any, gaps: Any, keys: Any, places: Any
) -> Any:
    """Read lines until there is no room for another one, or may be none for its names.

    Returns where the next one begins, how many rows there are then, and how many lines could not be read.
    """
    broken = 0
    while i < size and row < table.shape[0] and names.counts[0] + names.last.size <= names.table.shape[0]:
        line = i
        for column in range(blank.size):
            table[row, column] = blank[column]
        i, place = _line(text, i, table, row, names, gaps, keys, places)
        if place == _FULL:
            return line, row, broken
        if place == _EVENT:
            row += 1
        elif place == _BROKEN:
            broken += 1
            while text.letters[i] != 10:
                i += 1
            i += 1
    return i, row, broken
