"""What rules look at where single operations are not known: counters of files and ranks."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any, Final

import numpy as np

from ...layers.selection.directions import DIRECTIONS
from ...layers.selection.window import sums_by
from ...layers.summary.counted import KINDS, RankTimes, rank_times, sizes_told
from ...layers.trace import Trace
from ...model.arrays import Floats, Frozen, Ints, Mask
from ...model.codes import MOST_BYTES
from ...model.quantities import counted
from ...model.recording import Counters
from .facts import FILES_SHOWN, KIB, RANKS_SHOWN, Match, distinct_names

SMALL_CLASSES: Final = ("0_100", "100_1k", "1k_10k")
"""Classes of sizes in which all requests are small."""
EACH: Final = 0.9
"""As many seeks or flushes as requests, of which a few at the begin or the end have none."""
LIBRARIES: Final = ("PnetCDF", "HDF5", "MPI-IO")
_ORDER: Final = (*LIBRARIES, "POSIX")
"""Layers that call those after them on the same file."""


class CountedFacts(RankTimes):
    """The counters of a trace's files that count, for rules to look at.

    Parameters
    ----------
    trace : Trace
        One with counters.
    """

    def __init__(self, trace: Trace) -> None:
        counters = trace.definitions.recording.counters
        assert counters is not None
        super().__init__(trace.definitions, counters)
        self.definitions = trace.definitions
        self.selected = np.append(trace.scope.selection.file_reason < 0, True)[counters.file]

    @cached_property
    def seconds_of_slowest(self) -> dict[str, Floats]:
        """Those of the layers, which look at them, too."""
        return rank_times(self.definitions).seconds_of_slowest

    @cached_property
    def groups(self) -> "tuple[CountedGroup, ...]":
        """What each module transferred in each direction."""
        modules = enumerate(zip(self.counters.modules, self.counters.layers, strict=True))
        found = (
            CountedGroup(self, module, layer, way, self.selected & (self.counters.module == place) & (counts > 0))
            for place, (module, layer) in modules
            for way, counts in ((way, self.counters.of(way)[0]) for way in DIRECTIONS)
        )
        return tuple(one for one in found if one.rows.any())

    @cached_property
    def layers(self) -> "tuple[CountedGroup, ...]":
        """What each layer did, whatever the direction and by which module."""
        found = (
            CountedGroup(self, layer, layer, "total", self.selected & self.counters.of_layer(layer))
            for layer in dict.fromkeys(self.counters.layers)
        )
        return tuple(one for one in found if one.rows.any())

    def pair(self, upper: str, lower: str, direction: str) -> "tuple[CountedGroup, CountedGroup] | None":
        """Return what two layers transferred in a direction on the files that both used; None where there are none."""
        found = {one.layer: one for one in self.groups if one.direction == direction}
        if upper not in found or lower not in found:
            return None
        shared = self.on_files_of(found[upper].rows) & self.on_files_of(found[lower].rows)
        return (found[upper].only(shared), found[lower].only(shared)) if shared.any() else None

    def on_files_of(self, rows: Mask) -> Mask:
        """Return which rows are of the files of some rows, bool (n,)."""
        file = self.counters.file
        # The last is of none.
        used = np.zeros(int(file.max(initial=-1)) + 2, np.bool_)
        used[file[rows]] = True
        return used[file]

    def layer_on_files(self, layer: str, group: "CountedGroup") -> Mask:
        """Return the rows of a layer on the files of a group, whatever was done there, bool (n,)."""
        return self.selected & self.counters.of_layer(layer) & self.on_files_of(group.rows)

    @cached_property
    def only_written(self) -> Mask:
        """Which rows are of files that libraries write and do not read, bool (n,): what is read there is for writes."""
        above = np.any([self.counters.of_layer(one) for one in LIBRARIES], axis=0)
        read, written = (self.on_files_of(above & (self.counters.of(way)[0] > 0)) for way in DIRECTIONS)
        return np.asarray(written & ~read)

    def below_s(self, group: "CountedGroup") -> float:
        """Return the time in s that the slowest rank spends in transfers of layers below, on the files of a group."""
        lower = _ORDER[_ORDER.index(group.layer) + 1 :] if group.layer in _ORDER else ()
        return max((self.longest(self.layer_on_files(one, group), "read", "write")[0] for one in lower), default=0.0)

    def match(
        self,
        group: "CountedGroup",
        text: str,
        evidence: dict[str, Any],
        *,
        rows: Mask | None = None,
        kinds: tuple[str, ...] = (),
        share: float = 1.0,
        cost_s: float | None = None,
        named: int = 1,
    ) -> Match:
        """Return a match: who is slowest on which files, and `share` of the time of that rank as its cost.

        The time is that in the group's direction, or in `kinds`; more files than `named` are counted.
        """
        rows = group.rows if rows is None else rows
        seconds, slowest = self.longest(rows, *(kinds or group.kinds))
        cost = share * seconds if cost_s is None else cost_s
        files = self.on_files(rows, group.kinds)
        count, names = files["file_count"], files["files"]
        some = f" on {', '.join(names[:named])}" if count <= named or named > 1 else f" on {counted(count, 'file')}"
        if 1 < named < count:
            some += f" and {counted(count - named, 'other')}"
        return Match(
            group.layer,
            text + some + (f"; longest on rank {slowest}" if slowest >= 0 and self.processes > 1 else ""),
            {
                **({} if group.direction == "total" else {"direction": group.direction}),
                **evidence,
                **({"slowest_rank": slowest} if slowest >= 0 else {}),
                "slowest_s": seconds,
            },
            where={**files, **self._who(rows), "time_range_s": self._range(rows, group.kinds)},
            cost_s=cost,
        )

    def on_files(self, rows: Mask, kinds: tuple[str, ...]) -> dict[str, Any]:
        """Return the names of the files that take longest, and how many there are."""
        took = self.counters.time(*(f"{kind}_time" for kind in kinds))[rows]
        files, place = np.unique(self.counters.file[rows], return_inverse=True)
        order = np.argsort(-sums_by(place, took, len(files)), kind="stable")
        names = (self.definitions.files.name[int(files[one])] for one in order[:FILES_SHOWN])
        return {"files": distinct_names(names), "file_count": len(files)}

    def _who(self, rows: Mask) -> dict[str, Any]:
        """Return the ranks of some rows; of sums over all ranks that share a file only how many there are."""
        ranks = np.unique(self.counters.rank[rows])
        if (ranks < 0).any():
            return {"rank_count": self.processes}
        return {"ranks": ranks[:RANKS_SHOWN].tolist(), "rank_count": len(ranks)}

    def _range(self, rows: Mask, kinds: tuple[str, ...]) -> list[float] | None:
        names = ["open" if kind == "meta" else kind for kind in kinds]
        first, last = (
            np.concatenate([self.counters.time(f"{kind}_{end}_timestamp")[rows] for kind in names])
            for end in ("start", "end")
        )
        return [float(first[first > 0].min()), float(last.max())] if (first > 0).any() else None

    # What follows has the names of `Facts`, for `find` to treat both alike.

    def damaged(self, layer: str) -> bool:
        """Tell whether counters of a layer are missing, or of those that are on the same files."""
        beside = _ORDER if layer in _ORDER else (layer,)
        modules = zip(self.counters.modules, self.counters.layers, strict=True)
        return any(module in self.counters.incomplete and of in beside for module, of in modules)

    def cost(self, match: Match) -> float | None:
        """Return what a match costs the run in s."""
        return match.cost_s


def facts_of(trace: Trace) -> CountedFacts:
    """Return the counters of a trace for rules and others to look at, made once and kept with the trace."""
    return trace.once(CountedFacts)


class CountedGroup(Frozen):
    """What a module did in a direction.

    Attributes
    ----------
    facts : CountedFacts
    module, layer, direction : str
        A direction is ``total`` where both are meant.
    rows : bool (n,)
    """

    facts: CountedFacts
    module: str
    layer: str
    direction: str
    rows: Mask

    @property
    def counters(self) -> Counters:
        """All of them."""
        return self.facts.counters

    @property
    def kinds(self) -> tuple[str, ...]:
        """What its time is spent in."""
        return KINDS if self.direction == "total" else (self.direction,)

    @cached_property
    def operations(self) -> int:
        """Its transfers."""
        return int(self.each("operations").sum())

    @cached_property
    def bytes(self) -> int:
        """What they moved."""
        return int(self.each("bytes").sum())

    def each(self, what: str) -> Ints:
        """Return ``operations`` or ``bytes`` of each row, int64 (n,), 0 in those of others."""
        ways = DIRECTIONS if self.direction == "total" else (self.direction,)
        columns = [self.counters.of(way)[what == "bytes"] for way in ways]
        return np.asarray(sum(np.maximum(column, 0) for column in columns) * self.rows)

    @cached_property
    def busiest(self) -> tuple[int, int, int]:
        """What it moved in all, the rank that moved most of it, −1 where unknown, and how much.

        Of a file that ranks share it is known of the slowest and the fastest one.
        """
        moved, rank = self.each("bytes"), self.counters.rank
        by_rank = sums_by(rank[rank >= 0], moved[rank >= 0], max(self.facts.processes, 1))
        known = self.rows & (rank < 0)
        # What a rank moved is of both directions.
        share = moved[known] / np.maximum(self.of_both[known], 1)
        for which in ("slowest", "fastest") if known.any() else ():
            who, own = self.counters.count(f"{which}_rank")[known], self.counters.count(f"{which}_rank_bytes")[known]
            # Counters of a damaged log may be anything.
            own = np.fmax(np.minimum(own * share, moved[known]), 0).clip(max=MOST_BYTES).astype(int)
            np.add.at(by_rank, np.clip(who, 0, len(by_rank) - 1), own)
        total, most = int(moved.sum()), int(by_rank.argmax())
        return total, most if total else -1, min(total, int(by_rank.max(initial=0)))

    def only(self, rows: Mask) -> "CountedGroup":
        """Return the part of it in some rows."""
        return CountedGroup(self.facts, self.module, self.layer, self.direction, self.rows & rows)

    @property
    def of_both(self) -> Ints:
        """Bytes of each row in both directions, int64 (n,)."""
        return np.asarray(np.maximum(self.counters.bytes_read, 0) + np.maximum(self.counters.bytes_written, 0))

    @property
    def openers(self) -> Ints:
        """How many ranks each row is of, int64 (n,), 0 in those of others."""
        shared = self.counters.rank < 0
        return np.where(shared, self.facts.processes, 1) * self.rows

    @cached_property
    def own(self) -> "CountedGroup":
        """The part of it on files on which no module of a higher layer transferred in the same direction."""
        place = _ORDER.index(self.layer) if self.layer in _ORDER else 0
        above = [one for one in self.facts.groups if one.layer in _ORDER[:place] and one.direction == self.direction]
        return self.only(
            ~self.facts.on_files_of(np.any([np.zeros_like(self.rows), *(one.rows for one in above)], axis=0))
        )

    @property
    def asked(self) -> "CountedGroup":
        """The part of it without blocks that a library reads to change a part of them."""
        return self if self.direction == "write" else self.only(~self.facts.only_written)

    @property
    def users(self) -> tuple[Ints, Ints]:
        """File and rank of each pair that there is, int64 (n,) each, by file; −1 is all ranks together."""
        rank = self.counters.rank[self.rows].astype(np.int64)
        width = int(rank.max(initial=-1)) + 2
        pairs = np.unique(self.counters.file[self.rows] * width + rank + 1)
        return pairs // width, pairs % width - 1

    def sum(self, *names: str) -> int:
        """Return the sum of some counters; ``{}s`` in a name stands for ``reads`` or ``writes``."""
        told = [name.replace("{}", self.direction) for name in names]
        return int(self.counters.count(*told)[self.rows].sum())

    def has(self, name: str) -> bool:
        """Tell whether a counter is recorded."""
        return self.counters.has(name.replace("{}", self.direction), self.rows)

    @cached_property
    def again(self) -> bool:
        """Whether all requests read the same bytes: none ends further in its file than they are long."""
        reach = (self.counters.count("max_byte_read") + 1) * self.rows
        return self.has("max_byte_{}") and self.operations * int(reach.max(initial=0)) <= self.bytes

    @cached_property
    def collective_share(self) -> float:
        """Share of the calls that are collective."""
        if self.has("use_mpiio_collective"):
            by_row = self.counters.count("use_mpiio_collective") > 0
            return float(by_row[self.rows].mean())
        names = [f"{how}_{self.direction}s" for how in ("coll", "split")]
        return self.sum(*names) / self.operations if self.operations else 0.0

    @cached_property
    def commonest(self) -> dict[int, int]:
        """The commonest sizes of requests with their counts, the most frequent first; of files of one direction."""
        one_way = self.rows & ((self.counters.reads <= 0) | (self.counters.writes <= 0))
        return dict(sorted(sizes_told(self.counters, one_way).items(), key=lambda entry: -entry[1]))

    def small(self, limit: float) -> int:
        """Return how many requests are certainly smaller than some bytes."""
        by_class = self.sum(*(f"size_{{}}_{one}" for one in SMALL_CLASSES))
        most = self.sum("size_{}_10k_100k")
        between = (often for size, often in self.commonest.items() if 10_000 < size < limit) if most else ()
        return by_class + min(sum(between), most)

    def share_of_time(self, count: int, size: float = 64 * KIB) -> float:
        """Return the share of the time that `count` small requests take: each as long as moving `size` bytes more."""
        moved = min(self.bytes, count * 10_000) if count < self.operations else self.bytes
        return (count * size + moved) / (self.operations * size + self.bytes) if self.operations else 0.0


def pattern_text(group: CountedGroup, flushes: bool = True) -> str:
    """Return in words what stands beside requests: their commonest size, seeks, flushes and strides."""
    told = []
    if group.commonest:
        size, often = next(iter(group.commonest.items()))
        told.append(f"{min(often, group.operations):,} of {size:,} B")
    told += _beside(group, group.sum("seeks"), "a seek before each", "many seeks")
    flushed = group.sum("fsyncs", "fdsyncs", "syncs") if flushes and group.direction == "write" else 0
    told += _beside(group, flushed, "a flush after each", "many flushes")
    # Of a few requests a rank the first ones are most.
    often = group.operations >= 4 * int(group.openers.sum())
    if often and group.again:
        told.append("the same bytes each time")
    elif often and group.has("consec_{}s") and 2 * group.sum("consec_{}s") < group.operations:
        stride = stride_of(group)
        none = "few follow" if group.sum("consec_{}s") else "none follows"
        told.append(f"{none} the one before, the next is {stride:,} B further" if stride else "out of sequence")
    return f" ({', '.join(told)})" if told else ""


def _beside(group: CountedGroup, count: float, each: str, many: str) -> Iterator[str]:
    """Tell what comes with each request, or with half of them."""
    if 2 * count >= group.operations:
        yield each if count >= EACH * group.operations else many


def stride_of(group: CountedGroup) -> int:
    """Return the distance from the end of a request to the next one where half of them have the same, else 0."""
    counts = group.counters.count("stride1_count") * group.rows
    strides = group.counters.count("stride1_stride")
    place = int(counts.argmax())
    return int(strides[place]) if 2 * int(counts[strides == strides[place]].sum()) >= group.operations else 0
