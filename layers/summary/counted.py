"""What counters tell of a layer where its operations are not known one by one."""

from functools import cached_property, lru_cache, reduce
from typing import Final

import numpy as np

from ...model.arrays import Array, Floats, Frozen, Ints, Mask
from ...model.definitions import Definitions
from ...model.recording import Counters
from ..attribution.breakdown import ACCESS, METADATA_KINDS, Breakdown
from ..handles.scope import Scope
from ..selection.directions import DIRECTIONS
from ..selection.window import sums_by
from ..statistics.distribution import RequestBytes, quantile_places
from ..statistics.grouping import KEYS, Key, grouping

KINDS: Final = ("read", "write", "meta")
"""What ranks spend their time in."""
FLUSHES: Final = ("fsyncs", "fdsyncs", "syncs", "flushes")
"""Counters of calls that make data durable, or hand it on."""
METADATA: Final = ("opens", "indep_opens", "coll_opens", "stats", "seeks")
"""Counters of calls that move no data."""


class RankTimes:
    """What ranks spend in reads, writes and metadata, by counters.

    Parameters
    ----------
    definitions : Definitions
    counters : Counters
        Those of its recording.
    """

    def __init__(self, definitions: Definitions, counters: Counters) -> None:
        self.counters, self.processes, self.run_s = counters, definitions.process_count, definitions.clock.duration

    @cached_property
    def seconds_of_slowest(self) -> dict[str, Floats]:
        """Time in s by kind, float64 (n,), of a row's rank, or of the slowest one of those that share a file.

        How much of its time the slowest rank spent in what is not recorded: it is parted as its share of the bytes
        and an equal share of the metadata would have it. Calls of a rank that take longer than the run in all, such as
        opens of pipes by several threads, wait beside each other: what they cost is not known, and counts as nothing.
        """
        counters = self.counters
        whole = {kind: counters.time(f"{kind}_time") for kind in KINDS}
        slowest, shared = counters.time("slowest_rank_time"), counters.rank < 0
        moved = np.maximum(counters.bytes_read, 0) + np.maximum(counters.bytes_written, 0)
        own = counters.count("slowest_rank_bytes")
        equal = 1 / max(self.processes, 1)
        share = np.where((moved > 0) & (own > 0), own / np.maximum(moved, 1), equal)
        parts = {kind: whole[kind] * (equal if kind == "meta" else share) for kind in KINDS}
        total = sum(parts.values(), np.zeros(len(slowest)))
        scale = np.where(slowest > 0, slowest / np.where(total > 0, total, 1), 1.0)
        found = {}
        # A layer's calls are in those of the layer above: each is looked at by itself.
        ranks, rank = self._ranks
        place = counters.module.astype(np.int64) * (len(ranks) + 1) + rank
        for kind in KINDS:
            by_rank = sums_by(place, whole[kind], max(1, len(counters.modules)) * (len(ranks) + 1))
            sound = shared | (by_rank[place] <= self.run_s + 1)
            found[kind] = np.where(shared, parts[kind] * scale, whole[kind]) * sound
        return found

    def longest(self, rows: Mask, *kinds: str) -> tuple[float, int]:
        """Return the time in s that the slowest rank spends in some rows, and its number, −1 where it is not known."""
        key = rows.tobytes(), kinds
        if key not in self._longest:
            self._longest[key] = self._found_longest(rows, kinds)
        return self._longest[key]

    @cached_property
    def _longest(self) -> dict[tuple[bytes, tuple[str, ...]], tuple[float, int]]:
        """What was asked before: a finding asks for its cost, and again for who it is."""
        return {}

    def _found_longest(self, rows: Mask, kinds: tuple[str, ...]) -> tuple[float, int]:
        took = reduce(np.add, [self.seconds_of_slowest[kind] for kind in kinds]) * rows
        ranks, rank = self._ranks
        # The last is of what ranks share.
        sums = np.bincount(rank, took, len(ranks) + 1)
        own, together = sums[:-1], float(sums[-1])
        longest = float(own.max(initial=0.0))
        slowest = int(ranks[own.argmax()]) if longest else -1
        if together and (shared := took * (rank == len(ranks))).max() >= longest:
            slowest = int(self.counters.counts["slowest_rank"][shared.argmax()])
        return min(longest + together, self.run_s), slowest

    @cached_property
    def _ranks(self) -> tuple[Ints, Ints]:
        """The ranks that have rows, and the place of each row's, one behind the last where several share it, int64."""
        rank = self.counters.rank.astype(np.int64)
        ranks = np.unique(rank[rank >= 0])
        return ranks, np.where(rank < 0, len(ranks), np.searchsorted(ranks, rank))


class CountedLayer(Frozen):
    """The counters of a layer in some directions; what is called as a metric of layers is that metric.

    Attributes
    ----------
    times : RankTimes
    rows : bool (n,)
        Which of the counters are of the layer, on files that count.
    directions : tuple of str
    """

    times: RankTimes
    rows: Mask
    directions: tuple[str, ...]

    @property
    def counters(self) -> Counters:
        """All of them."""
        return self.times.counters

    @cached_property
    def operations(self) -> int:
        """How many transfers there were."""
        return int(sum(np.maximum(self.counters.of(way)[0][self.rows], 0).sum() for way in self.directions))

    @cached_property
    def bytes(self) -> int:
        """How many bytes they moved."""
        return int(sum(np.maximum(self.counters.of(way)[1][self.rows], 0).sum() for way in self.directions))

    @property
    def summed_s(self) -> float | None:
        """What they took, summed over all ranks; None where that was not counted."""
        names = [f"{way}_time" for way in self.directions]
        known = any(self.counters.has(name, self.rows) for name in names)
        return float(self.counters.time(*names)[self.rows].sum()) if known else None

    @cached_property
    def slowest_s(self) -> float | None:
        """What they took on the rank that spent longest in them; None where that was not counted, or is nothing."""
        return self.times.longest(self.moving, *self.directions)[0] or None

    @property
    def slowest_bandwidth(self) -> float | None:
        """Bytes over the time of the slowest rank; None where the time of some of them is not known."""
        known = [self.counters.seconds.get(f"{way}_time", np.zeros(1)) for way in self.directions]
        if self.slowest_s is None or any((one < 0)[self.moving].any() for one in known):
            return None
        return self.bytes / self.slowest_s

    @property
    def imbalance(self) -> float | None:
        """Time of the slowest rank over the mean of those that take part; None where it is not known who does."""
        ranks = len(np.unique(self.counters.rank[self.moving]))
        slowest, summed = self.slowest_s, self.summed_s
        if not slowest or not summed or (self.counters.rank[self.moving] < 0).any():
            return None
        return slowest * ranks / summed

    @property
    def collective(self) -> int | None:
        """How many of the transfers were collective; None where that was not counted."""
        names, split = ([f"{how}_{way}s" for way in self.directions] for how in ("coll", "split"))
        return None if self.calls(*names) is None else self.calls(*names, *split)

    def calls(self, *names: str) -> int | None:
        """Return how many calls of some kinds there were; None where none of them was counted."""
        known = any(self.counters.has(name, self.rows) for name in names)
        return int(self.counters.count(*names)[self.rows].sum()) if known else None

    @cached_property
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
        counters, mine = self.counters, self.moving
        if not counters.has("access1_count", mine):
            return None
        # What a row counts is of both directions.
        both = np.all([counters.of(way)[0] > 0 for way in DIRECTIONS], axis=0)
        alone = mine if len(self.directions) == len(DIRECTIONS) else mine & ~both
        return RequestBytes(*known_quantiles(sizes_told(counters, alone), self.operations))


def sizes_told(counters: Counters, rows: Mask) -> dict[int, int]:
    """Return how often each size of requests occurs among the four commonest ones of some rows."""
    size, often = (
        np.concatenate([counters.count(f"access{number}_{what}")[rows] for number in range(1, 5)])
        for what in ("access", "count")
    )
    known = np.flatnonzero(often > 0)
    # By their place among the four, then by size.
    order = known[np.lexsort((size[known], known // max(1, len(size) // 4)))]
    found: dict[int, int] = {}
    for one, count in zip(size[order].tolist(), often[order].tolist(), strict=True):
        found[one] = found.get(one, 0) + count
    return found


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
    if (layer, directions) not in scope.counted:
        scope.counted[layer, directions] = _counted_layer(scope, layer, directions)
    found: CountedLayer | None = scope.counted[layer, directions]
    return found


def _counted_layer(scope: Scope, layer: str, directions: tuple[str, ...]) -> CountedLayer | None:
    definitions = scope.definitions
    counters, window, length = definitions.recording.counters, scope.window, definitions.clock.length
    if counters is None or window.start > 0 or window.end < length:
        return None
    rows = counters.of_layer(layer)
    if not definitions.recording.reason("handles"):
        rows &= np.append(scope.selection.file_reason < 0, True)[counters.file]
    elif (mine := _of_layer(definitions, layer)).any():
        # Intervals of time are of all files of a layer, or of its standard streams alone.
        rows &= scope.selection.selected[mine].any()
    return CountedLayer(rank_times(definitions), rows, directions) if rows.any() else None


def _of_layer(definitions: Definitions, layer: str) -> Mask:
    """Return which handles are of a layer, bool (handles,)."""
    named = np.array([*(one.identification == layer for one in definitions.paradigms), False])
    return np.asarray(named[definitions.handles.paradigm])


@lru_cache(maxsize=1)
def rank_times(definitions: Definitions) -> RankTimes:
    """Return the times of ranks, which all layers of a trace look at."""
    assert definitions.recording.counters is not None
    return RankTimes(definitions, definitions.recording.counters)


def counted_breakdown(scope: Scope, by: str) -> Breakdown | None:
    """Return what counters tell of each layer by what files have in common; None where they do not.

    Of metadata it is known how many opens and seeks there were, and what all of it took.
    """
    found = [counted_layer(scope, name, DIRECTIONS) for name in scope.order]
    if by not in KEYS or all(one is None for one in found):
        return None
    groups = grouping(scope.definitions, by)
    if groups.of != "file":
        return None
    layers, keys, parts = list[str](), list[Key](), list[dict[str, Array]]()
    for name, one in zip(scope.order, found, strict=True):
        if one is None:
            continue
        counters, rows = one.counters, np.flatnonzero(one.rows)
        places, inverse = np.unique(groups.table[counters.file[rows]], return_inverse=True)
        told = {
            "reads": counters.reads,
            "writes": counters.writes,
            "flushes": counters.count(*FLUSHES),
            "bytes_read": counters.bytes_read,
            "bytes_written": counters.bytes_written,
            "opens": counters.count("opens", "indep_opens", "coll_opens"),
            "seeks": counters.count("seeks"),
            "summed_s": counters.time("read_time", "write_time"),
            "metadata_s": counters.time("meta_time"),
        }
        sums = {key: sums_by(inverse, np.maximum(value[rows], 0), len(places)) for key, value in told.items()}
        for key, what in zip(ACCESS, DIRECTIONS, strict=False):
            there = counters.has(f"consec_{what}s", one.rows)
            after = counters.count(f"consec_{what}s")[rows]
            sums[key] = sums_by(inverse, after, len(places)) if there else np.full(len(places), None)
        parts.append(sums)
        keys += [groups.keys[place] for place in places.tolist()]
        layers += [name] * len(places)
    columns = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
    unknown = np.full(len(layers), None)
    rest = ("busy_s", "inside_operations", "inside_metadata", *METADATA_KINDS, *ACCESS[2:])
    return Breakdown(by, tuple(layers), tuple(keys), {**dict.fromkeys(rest, unknown), **columns})
