"""Numbers as they stand in the bytes of OTF2 files, read and written inside compiled loops.

A compressed integer is a size byte, then that many little-endian bytes; size 0 is zero, size 255 *undefined*
(all ones). The readers here load eight bytes at once, whatever the size, so a buffer must hold `PADDING` bytes of any
content behind the last byte that is looked at; whether a number lies within its record is for the caller to check.
The writers store eight bytes at once likewise.
"""

from typing import Any, Final

import numpy as np

from ...model.arrays import Codes, Octets, Unsigned
from ...model.kernels import inlined, unchecked
from ..files.anchor import LITTLE_ENDIAN, MAGIC_BYTE
from ..files.regular import END

PADDING: Final = 4096
"""Bytes that must follow the last looked-at byte of a buffer: more than all fields of one I/O record together."""


load_byte: Final = unchecked("load_byte")
load_word: Final = unchecked("load_word")
store_word: Final = unchecked("store_word")


@inlined
def first_not_below(values: Codes | Unsigned, low: int, high: int, wanted: Any) -> int:
    """Return the first row from `low` on, before `high`, of ascending values that is not below one; else `high`."""
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def begins_chunk(data: Octets, at: int) -> bool:
    """Whether a chunk begins at `at`, as written by a little-endian machine."""
    return bool(load_byte(data, at) == MAGIC_BYTE and load_byte(data, at + 1) == LITTLE_ENDIAN)


@inlined
def is_end(data: Octets, at: int) -> bool:
    """Whether the two bytes that every whole file ends with stand at `at`."""
    return bool(load_byte(data, at) == END[0] and load_byte(data, at + 1) == END[1])


_MASKS: Final = np.array([(1 << (8 * size)) - 1 for size in range(9)], np.uint64)
_UNDEFINED: Final = np.uint64(2**64 - 1)
_NOTHING: Final = np.uint64(0)
_LONGEST_RECORD: Final = 2**40
_INVALID_STEP: Final = 512
"""How far a number of impossible size moves on: beyond the end of any record short enough for a length byte."""


@inlined
def read_integer(data: Octets, at: int) -> tuple[np.uint64, int]:
    """Return the compressed integer of up to 64 bits at `at` and the position behind it.

    A size that no integer has puts that position behind the end of the record, where the caller notices it.
    """
    size = load_byte(data, at)
    if size <= 8:
        return load_word(data, at + 1) & _MASKS[np.uint64(size)], at + 1 + size
    if size == 255:
        return _UNDEFINED, at + 1
    return _NOTHING, at + _INVALID_STEP


@inlined
def read_short_integer(data: Octets, at: int) -> tuple[np.uint64, int]:
    """Return the compressed integer of up to 32 bits at `at`, *undefined* as 2**32 − 1, and the position behind it."""
    size = load_byte(data, at)
    if size <= 4:
        return load_word(data, at + 1) & _MASKS[np.uint64(size)], at + 1 + size
    if size == 255:
        return _MASKS[4], at + 1
    return _NOTHING, at + _INVALID_STEP


@inlined
def record_extent(data: Octets, at: int) -> tuple[int, int]:
    """Return where the fields of the record at `at` begin and end; the end is negative where it is absurd."""
    size = load_byte(data, at + 1)
    if size != 255:
        return at + 2, at + 2 + size
    length = int(np.int64(load_word(data, at + 2)))
    if length < 0 or length > _LONGEST_RECORD:
        return at + 10, -1
    return at + 10, at + 10 + length


@inlined
def write_integer(data: Octets, at: int, value: np.uint64) -> int:
    """Write a number of up to 64 bits as a compressed integer, all ones as *undefined*; return the position behind."""
    if value == _UNDEFINED:
        data[at] = 255
        return at + 1
    size = 0
    rest = value
    while rest > _NOTHING:
        size += 1
        rest >>= np.uint64(8)
    data[at] = size
    store_word(data, at + 1, value)
    return at + 1 + size


@inlined
def write_short_integer(data: Octets, at: int, value: np.uint64) -> int:
    """Write a number of up to 32 bits as `write_integer` does, 2**32 − 1 as *undefined*."""
    return write_integer(data, at, _UNDEFINED if value == _MASKS[4] else value & _MASKS[4])
