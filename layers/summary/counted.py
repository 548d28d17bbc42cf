"""What counters tell of a layer where its operations are not known one by one."""

from dataclasses import dataclass

import numpy as np

from ...model.arrays import Ints, Mask
from ...model.recording import Counters
from ..handles.scope import Scope
from ..selection.directions import DIRECTIONS
from ..statistics.distribution import RequestBytes, quantile_places


@dataclass(frozen=True, eq=False)
class CountedLayer:
    """The counters of a layer in some directions.

    Attributes
    ----------
    counters : Counters
    rows : bool (n,)
        Which of them are of the layer, on files that count.
    directions : tuple of str
    """

    counters: Counters
    rows: Mask
    directions: tuple[str, ...]

    @property
    def operations(self) -> int:
        """How many transfers there were."""
        return int(sum(np.maximum(self.counters.of(way)[0][self.rows], 0).sum() for way in self.directions))

    @property
    def summed_s(self) -> float | None:
        """What they took, summed over all ranks; None where that was not counted."""
        names = [f"{way}_time" for way in self.directions]
        known = any(self.counters.has(name, self.rows) for name in names)
        return float(self.counters.time(*names)[self.rows].sum()) if known else None

    @property
    def moving(self) -> Mask:
        """Rows that transferred anything, bool (n,)."""
        columns = [column for way in self.directions for column in self.counters.of(way)]
        return np.asarray(self.rows & np.any([column > 0 for column in columns], axis=0))

    @property
    def files(self) -> int:
        """How many files there were."""
        return len(np.unique(self.counters.file[self.moving]))

    @property
    def ranks(self) -> int | None:
        """How many ranks; None where sums over the ranks that share a file are all there is."""
        ranks = np.unique(self.counters.rank[self.moving])
        return None if (ranks < 0).any() else len(ranks)

    @property
    def request_bytes(self) -> RequestBytes | None:
        """Sizes, as far as they follow from the four commonest ones of each row; None where no such are counted."""
        counters, sizes = self.counters, dict[int, int]()
        mine, total = self.moving, self.operations
        if not counters.has("access1_count", mine):
            return None
        # What a row counts is of both directions.
        both = np.all([counters.of(way)[0] > 0 for way in DIRECTIONS], axis=0)
        alone = mine if len(self.directions) == len(DIRECTIONS) else mine & ~both
        for number in range(1, 5):
            size, often = (counters.count(f"access{number}_{what}")[alone] for what in ("access", "count"))
            for one in np.unique(size[often > 0]).tolist():
                sizes[one] = sizes.get(one, 0) + int(often[size == one].sum())
        return RequestBytes(*known_quantiles(sizes, total))


def known_quantiles(sizes: dict[int, int], total: int) -> list[int | None]:
    """Return smallest, median, nine tenths and largest of `total` numbers of which only some are known.

    One is known where it is the same however small or large the others are.

    >>> known_quantiles({256: 90, 8: 2}, 100)
    [None, 256, 256, None]
    """
    unknown = total - sum(sizes.values())
    if total <= 0 or unknown < 0:
        return [None] * 4
    numbers = np.array(sorted(sizes))
    until: Ints = np.cumsum([sizes[one] for one in numbers.tolist()])
    found: list[int | None] = []
    for place in quantile_places(total):
        low, high = (int(np.searchsorted(until, at, side="right")) for at in (place - unknown, place))
        same = place >= unknown and low == high and high < len(numbers)
        found.append(int(numbers[high]) if same else None)
    return found


def counted_layer(scope: Scope, layer: str, directions: tuple[str, ...]) -> CountedLayer | None:
    """Return the counters of a layer; None where there are none, or they are not of the time that counts."""
    definitions = scope.definitions
    counters, window, length = definitions.recording.counters, scope.window, definitions.clock.length
    if counters is None or window.start > 0 or window.end < length:
        return None
    rows = np.isin(counters.module, [place for place, name in enumerate(counters.layers) if name == layer])
    if not definitions.recording.reason("handles"):
        rows &= np.append(scope.selection.file_reason < 0, True)[counters.file]
    return CountedLayer(counters, rows, directions) if rows.any() else None
