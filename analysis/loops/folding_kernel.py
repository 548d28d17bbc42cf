"""The compiled length of a description. Numba may have to compile it: import it inside the function that uses it."""

import math
from typing import Any

import numpy as np

from ...model.arrays import Floats, Ints
from ...model.kernels import compiled, hashed, inlined

_BASE = np.uint64(0x9E3779B97F4A7C15)


@compiled
def weights_of(token: Ints) -> tuple[Floats, float]:
    """Return the bits of each token by itself, and by how much their sum is more than that of the order alone."""
    table = np.zeros(token.max() + 1, np.int64)
    for one in token:
        table[one] += 1
    bits = np.empty(table.size)
    surplus = -math.lgamma(token.size + 1.0) / math.log(2.0)
    for one in range(table.size):
        if table[one]:
            bits[one] = np.log2(token.size) - np.log2(table[one])
            surplus += table[one] * bits[one] + math.lgamma(table[one] + 1.0) / math.log(2.0)
    return bits[token], surplus


@inlined
def _changed(token: Ints, weight: Floats, low: int, high: int, old: int, until: int) -> Any:
    """Return the bits for a part of the sequence as a change of an earlier one: where, and what stands there."""
    length, known = high - low, until - old
    shorter = min(length, known)
    front = 0
    while front < shorter and token[low + front] == token[old + front]:
        front += 1
    back = 0
    while back < shorter - front and token[high - 1 - back] == token[until - 1 - back]:
        back += 1
    bits = 1.0 + 2.0 * np.log2(known + 1.0)
    for place in range(low + front, high - back):
        bits += weight[place]
    return bits


@inlined
def _content(token: Ints, weight: Floats, low: int, high: int) -> Any:
    """Return a number that stands for a part of the sequence, and the bits of its tokens."""
    key, bits = np.uint64(high - low), 0.0
    for place in range(low, high):
        key = (key ^ np.uint64(token[place] + 1)) * _BASE
        key ^= key >> np.uint64(29)
        bits += weight[place]
    return key, bits


@compiled
def described(token: Ints, weight: Floats, cut: Ints) -> tuple[float, Floats, Floats, Ints]:
    """Describe a sequence as parts, of which one that was there before is only named.

    Parameters
    ----------
    token : int64 (n,)
    weight : float64 (n,)
        Bits of each token by itself.
    cut : int64 (parts,)
        Where each part begins; what stands before the first is no part.

    Returns
    -------
    saved : float
        Bits that this saves against the tokens by themselves.
    left, spared : float64 (parts,)
        Bits of each part that was not there before, told by the difference to another where that is less, and how much
        less that is.
    first : int64 (parts,)
        Number of the first part that is the same.
    """
    parts = cut.size
    first = np.empty(parts, np.int64)
    room = 4
    while room < 2 * parts:
        room *= 2
    table = np.full(room, -1, np.int64)
    keys = np.empty(parts, np.uint64)
    count = np.zeros(parts, np.int64)
    latest = np.empty(parts, np.int64)
    saved, most = 0.0, -1
    left, spared = np.zeros(parts), np.zeros(parts)
    for part in range(parts):
        low = cut[part]
        high = cut[part + 1] if part + 1 < parts else token.size
        key, bits = _content(token, weight, low, high)
        slot = np.int64(key & np.uint64(room - 1))
        while table[slot] >= 0 and keys[table[slot]] != key:
            slot = (slot + 1) & (room - 1)
        keys[part] = key
        if table[slot] >= 0:
            known = table[slot]
            saved += bits - np.log2((part + 1.0) / count[known])
        else:
            known = part
            table[slot] = part
            least = bits
            if part > 0:
                least = min(least, _changed(token, weight, low, high, cut[part - 1], cut[part]))
                if latest[most] != part - 1:
                    old = latest[most]
                    least = min(least, _changed(token, weight, low, high, cut[old], cut[old + 1]))
            saved += bits - least - np.log2(part + 1.0)
            left[part], spared[part] = least, bits - least
        first[part] = known
        count[known] += 1
        latest[known] = part
        if most < 0 or count[known] > count[most]:
            most = known
    return saved, left, spared, first


@compiled
def numbered(one: Ints, other: Ints) -> Ints:
    """Return a number for each row of two columns, the same for equal rows, counted as they first occur; int64 (n,)."""
    size = 64
    while size < 2 * one.size:
        size *= 2
    number, first, count = np.empty(one.size, np.int64), np.full(size, -1, np.int64), 0
    for row in range(one.size):
        slot = np.int64(hashed(np.uint64(one[row]), hashed(np.uint64(other[row]), _BASE))) & (size - 1)
        known = first[slot]
        while known >= 0 and (one[known] != one[row] or other[known] != other[row]):
            slot = (slot + 1) & (size - 1)
            known = first[slot]
        if known < 0:
            first[slot], number[row] = row, count
            count += 1
        else:
            number[row] = number[known]
    return number
