"""Points in time at which something was under way, as bits.

Numba may have to compile it: import it inside the function that uses it.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np

from ...model.arrays import Ticks, Unsigned
from ...model.kernels import compiled, mixed

Words = Unsigned

MOST_POINTS: Final = 1 << 26
_WORD: Final = 64
_BLOCK: Final = 1 << 16
_ALL: Final = np.uint64(2**64 - 1)
_ONES: Final = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).sum(axis=1, dtype=np.uint8)
"""Bits that are set in each byte; NumPy before 2 cannot count them."""


class BusyPoints:
    """Whether something was under way at points in time, one in each `step` ticks; in 8 MiB by default.

    The share of busy points tells the busy time without bias. Where points lie a tick apart it is exact. Elsewhere each
    lies anywhere in its step, as if at random: operations as regular as the steps would meet equidistant points
    always or never.

    Parameters
    ----------
    start, end : int
        Ticks that the points cover at first; later ones make `step` twice as long.
    points : int, optional
        How many there are, a power of two.
    """

    def __init__(self, start: int, end: int, points: int | None = None) -> None:
        points = points or MOST_POINTS
        self._origin = start
        self.step = max(1, -(-(end - start) // points))
        self._spread = self.step
        self._words = np.zeros(points // _WORD, np.uint64)

    @property
    def length(self) -> int:
        """Estimate of the ticks in which at least one interval was open."""
        return int(_ONES[self._words.view(np.uint8)].sum(dtype=np.int64)) * self.step

    def add(self, begin: Ticks, end: Ticks) -> None:
        """Add intervals [begin, end] in any order; of each the begin counts and the end does not."""
        low, high = int(begin.min()), int(end.max())
        while low < self._origin or high > self._origin + self._points * self.step:
            self._coarsen(low < self._origin)
        _set_bits(self._words, self._points_before(begin), self._points_before(end))

    @property
    def _points(self) -> int:
        return len(self._words) * _WORD

    def _points_before(self, time: Ticks) -> Ticks:
        """Return how many points lie before each tick; some ticks are further apart than int64 tells."""
        origin, step = np.uint64(self._origin % 2**64), np.uint64(self.step)
        passed = time.astype(np.uint64) - origin
        cell = passed // step
        return (cell + (self._place_in(cell * step + origin) < passed % step)).astype(np.int64)

    def _place_in(self, start: Unsigned) -> Unsigned:
        """Return where in the step that begins at tick `start` its point lies, from 0 on.

        It depends on the tick alone, so points that are kept when steps get longer stay where they are.
        """
        found: Unsigned = mixed(start, np.uint64(0)) % np.uint64(self._spread)
        return found

    def joined(self, other: "BusyPoints") -> "BusyPoints":
        """Return the points at which something of either was under way."""
        union = BusyPoints(0, 1, self._points)
        union._origin, union.step, union._words = self._origin, self.step, self._words.copy()
        union._spread = self._spread
        if (self._origin, self.step, self._spread) == (other._origin, other.step, other._spread):
            union._words |= other._words
            return union
        while union.step < other.step:
            union._coarsen(to_the_left=False)
        for begin, end in other._runs():
            union.add(begin, end)
        return union

    def _runs(self) -> Iterator[tuple[Ticks, Ticks]]:
        """Yield runs of busy points as intervals from the first to one step behind the last."""
        for first in range(0, len(self._words), _BLOCK):
            bits = np.unpackbits(self._words[first : first + _BLOCK].view(np.uint8), bitorder="little")
            edges = np.flatnonzero(np.diff(bits, prepend=np.uint8(0), append=np.uint8(0)))
            if len(edges):
                runs = self._origin + (edges.astype(np.int64) + first * _WORD) * self.step
                yield runs[::2], runs[1::2]

    def _coarsen(self, to_the_left: bool) -> None:
        """Keep every other point; the points that are free now follow, or precede the others."""
        kept = np.zeros_like(self._words)
        half = len(kept) // 2
        for first in range(0, len(kept), _BLOCK):
            bits = np.unpackbits(self._words[first : first + _BLOCK].view(np.uint8), bitorder="little")
            part = np.packbits(bits[::2], bitorder="little").view(np.uint64)
            start = first // 2 + (half if to_the_left else 0)
            kept[start : start + len(part)] = part
        if to_the_left:
            self._origin -= self._points * self.step
        self.step *= 2
        self._words = kept


@compiled
def _set_bits(words: Words, first: Ticks, last: Ticks) -> None:
    """Set the bits from `first` to `last`, not included, of each pair."""
    for row in range(len(first)):
        low, high = first[row], last[row]
        if high <= low:
            continue
        word, final = low // 64, (high - 1) // 64
        head = _ALL << np.uint64(low - 64 * word)
        tail = _ALL >> np.uint64(64 * (final + 1) - high)
        if word == final:
            words[word] |= head & tail
            continue
        words[word] |= head
        for middle in range(word + 1, final):
            words[middle] = _ALL
        words[final] |= tail
