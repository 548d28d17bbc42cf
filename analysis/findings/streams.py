"""Findings about what the program's own operations do one after the other, and about single ones that take long."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np

from ...layers.flow.access_pattern import Deed
from ...layers.flow.calls import ALIGNMENT
from ...layers.flow.relations import SizeLimits
from ...layers.selection.directions import DIRECTIONS, modes_of
from ...model.arrays import Floats, Ints, Mask
from ...model.codes import IoMode
from ...model.keyed import KeyedSums
from ...model.quantities import bytes_text, counted, named_ranks, percent_text, seconds_text
from .better_cases import best_pace
from .counted import CountedFacts, stride_of
from .facts import MIB, Facts, Gain, Match
from .rule import finding

_PACES_PER_OCTAVE: Final = 2
_SPREAD: Final = 30
"""Transfers that make half of what few of them lose, from which on they are all over the run, as where a rank waits for
a processor that it shares: who calls less often meets fewer of them, and of 30 that come by chance a fifth more or less
come the next time."""
_HARDLY_ANY: Final = 10
"""Times those that make half of it that slow ones are, from which on their number says little of what is lost."""
_NO_HEAD_S: Final = 1e-3
"""Time of a transfer below which no head of a disk moves: half a turn alone takes 2 ms at 15,000 a minute."""


class _Waited(NamedTuple):
    """Sums as `iostrata.layers.flow.access_pattern.StreamSums` has them, of a part of the ticks."""

    deeds: KeyedSums
    paces: KeyedSums


def _alternating_counted(counters: CountedFacts, *, operations: float, least_share: float) -> Iterator[Match]:
    """Find them by the turns that are counted."""
    for group in (one.asked for one in counters.layers):
        turns, count = group.sum("rw_switches"), group.operations
        if turns < operations or turns < least_share * count:
            continue
        yield counters.match(
            group,
            f"{turns:,} of {count:,} {group.layer} transfers ({percent_text(turns / count)}) go the other way than the "
            "one before on the same file: it is read and written by turns",
            {"turns": turns, "operations": count, "share": turns / count},
            kinds=("read", "write"),
            share=min(1.0, turns / count),
        )


@finding(units={"turns": "count"}, counted=_alternating_counted)
def alternating_access(facts: Facts, *, operations: float = 100, least_share: float = 0.25) -> Iterator[Match]:
    """At least a quarter of the transfers go the other way than the one before on the same file.

    Parameters
    ----------
    operations : count
        A few changes cost little.
    least_share : share
        Of the transfers: below, most of them go on in one direction.

    Notes
    -----
    :In short: reads and writes of a file take turns; reading first.
    :Why: Read-ahead is dropped, caches on other nodes are called back.
    :How it is measured: Each process's transfers with a file in their order.
    :When it is wrong: Within one page or in memory it costs nothing.
    :What helps: Read first what is needed and write at the end, or keep it in memory: each change empties read-ahead
        and makes caches on other nodes give up their locks.
    """
    for layer, sums in _streams(facts):
        turns = _of(sums, Deed.TURNS)
        count = _count(turns)
        all_of = count + _count(_of(sums, Deed.GOES_ON))
        if count < operations or count < least_share * all_of:
            continue
        yield Match(
            layer,
            f"{count:,} of the program's {all_of:,} {layer} transfers go the other way than the one before on the same "
            f"file ({percent_text(count / all_of)}): it is read and written by turns",
            {"turns": count, "operations": all_of, "share": count / all_of},
            where={**_where(facts, layer, turns, *IoMode), **_both_ways_files(facts, layer)},
            cost_s=_longest(facts, turns),
        )


def _both_ways_files(facts: Facts, layer: str) -> dict[str, Any]:
    """Return the files that a process both reads and writes by a layer itself."""
    cells = facts.cells
    mine = cells.of(layer, "total") & cells.own & (cells.file >= 0)
    place = (cells.process.astype(np.int64) << 32) + cells.file
    read, written = (place[mine & (cells.mode == mode)] for mode in (IoMode.READ, IoMode.WRITE))
    both = mine & np.isin(place, np.intersect1d(read, written))
    return facts.on_files(cells.file[both], cells.columns.operations[both]) if both.any() else {}


@finding(needs=("flushes",), limits={"empty": "written"})
def metadata_sync(
    facts: Facts, *, written: float = SizeLimits.empty, operations: float = 10, least_s: float = 0.01
) -> Iterator[Match]:
    """Flushes before which the process wrote nothing to the file, and in which no lower layer writes.

    Parameters
    ----------
    written : byte
        More may be a header that is not worth a flush, or a record that is.
    operations : count
        A few flushes at the end of a run are what they should be.
    least_s : s
        Less is a single access of a disk.

    Notes
    -----
    :In short: flushes put out nothing; leaving them out.
    :Why: They wait for the storage to make durable what is no data.
    :How it is measured: Bytes that a process wrote to a file since its flush before, and that lower layers write within
        the flush, such as metadata that a library keeps until then.
    :When it is wrong: One process may flush what others wrote, which is no waste where they do not; a flush of a folder
        makes last that files in it were created or deleted.
    :What helps: Flush after data was written and only then: drop the second of two calls (a close, MPI_File_sync and
        nc_sync flush themselves), and do not flush on ranks that wrote nothing.
    """
    for layer, sums in _streams(facts):
        empty = _of(sums, Deed.FLUSHES_NOTHING)
        count, cost = _count(empty), _longest(facts, empty)
        all_of = count + _count(_of(sums, Deed.FLUSHES))
        if count < operations or cost < least_s:
            continue
        yield Match(
            layer,
            f"{counted(count, 'flush', 'flushes')} of the program's {all_of:,} through {layer} put out nothing: their "
            f"process had written {f'at most {bytes_text(written)}' if written else 'nothing'} to the file since the "
            f"last one{', nor did a lower layer in them' if len(facts.cells.layers) > 1 else ''}",
            {"flushes": all_of, "empty_flushes": count, "share": count / all_of},
            where=_where(facts, layer, empty, IoMode.FLUSH),
            cost_s=cost,
            gain=Gain(
                (cost * float(empty["ticks"].min() / empty["ticks"].max()), cost),
                "on the rank that is shortest in them, and on the longest",
            ),
        )


def _unaligned_counted(counters: CountedFacts, *, operations: float, least_share: float) -> Iterator[Match]:
    """Find them by counters, which are of reads and writes together and of any size, and know the file's own block."""
    for group in counters.layers:
        apart, count = group.sum("file_not_aligned"), group.operations
        if apart < operations or apart < least_share * count:
            continue
        block = int(counters.counters.count("file_alignment")[group.rows].max())
        small = sum(replace(group, direction=way).small(SizeLimits.small) for way in DIRECTIONS)
        found = counters.match(
            group,
            f"{percent_text(apart / count)} of {count:,} {group.layer} transfers begin beside the file system's blocks "
            f"of {bytes_text(block)}",
            {"operations": count, "unaligned_operations": apart, "share": apart / count, "block_bytes": block},
            kinds=("read", "write"),
            # Of large requests only the ends are beside a block.
            share=apart / count * min(1.0, block * count / max(1, group.bytes)),
        )
        # Small requests cannot be aligned.
        yield replace(found, minor=True) if 2 * small >= count else found


@finding(units={"slower": "times"}, counted=_unaligned_counted, explained_by={"slow-operations": 0.5})
def unaligned_requests(
    facts: Facts, *, operations: float = 100, least_share: float = 0.5, compared: float = 0.1
) -> Iterator[Match]:
    """Half of the requests of at least 4 KiB begin beside 4 KiB blocks of the file.

    Parameters
    ----------
    operations : count
        A few take no time that matters.
    least_share : share
        Of the requests: below, most of them are aligned.
    compared : share
        Of the requests that must be aligned: of fewer the time of an aligned one is not known.

    Notes
    -----
    :In short: {direction} begin beside the blocks of the file; alignment.
    :Why: Blocks and stripes at the ends are read, changed and written, and locked by two ranks.
    :How it is measured: Offsets of the program's own requests, in layers whose offsets count from the start of the
        file, as far as the trace has them (see ``read-back``); cost is what they take longer a byte than aligned ones,
        unknown where there are none.
    :When it is wrong: Requests one after the other are put together by the page cache. Where few requests take most of
        the time, that is told by ``slow-operations`` instead: where they begin has no part in it.
    :What helps: Let data begin at a multiple of the block or stripe: H5Pset_alignment, nc__enddef with v_align, or
        padding of headers and records.
    """
    second = facts.cells.window.ticks_per_second
    for layer, direction, mode, sums in _both_ways(facts):
        apart, on = (_of(sums, deed + mode) for deed in (Deed.READS_BESIDE, Deed.READS_ALIGNED))
        count = _count(apart)
        all_of = count + _count(on)
        if count < operations or count < least_share * all_of:
            continue
        slower = _times_slower(apart, on) if count < (1 - compared) * all_of else None
        if slower is not None and slower <= 1:
            # Nothing is lost by where they begin.
            continue
        cost = None if slower is None else (1 - 1 / slower) * float(apart["ticks"].max()) / second
        than = "" if slower is None else f"; they take {slower:.1f} times as long a byte as the others"
        yield Match(
            layer,
            f"{percent_text(count / all_of)} of the program's {all_of:,} {layer} {direction}s of at least "
            f"{bytes_text(ALIGNMENT)} begin beside the {ALIGNMENT // 1024} KiB blocks of the file{than}",
            {
                "direction": direction,
                "unaligned_operations": count,
                "operations": all_of,
                "share": count / all_of,
                "bytes": int(apart["bytes"].sum()),
                "slower": slower,
            },
            where=_where(facts, layer, apart, mode),
            cost_s=cost,
        )


def _times_slower(some: KeyedSums, others: KeyedSums) -> float | None:
    """Return how many times as long a byte some operations take as others; None where the others took no time."""
    if not others["ticks"].sum():
        return None
    return float(some["ticks"].sum() / int(some["bytes"].sum()) * others["bytes"].sum() / others["ticks"].sum())


def _random_counted(
    counters: CountedFacts, *, operations: float, each: float, least_share: float, size: float
) -> Iterator[Match]:
    """Find them by counters of consecutive and sequential requests."""
    for group in (one.asked for one in counters.groups):
        count = group.operations
        apart = count - group.sum("consec_{}s")
        few = count < max(operations, each * int(group.openers.sum()))
        if few or not group.has("consec_{}s") or apart < least_share * count or group.bytes >= size * count:
            continue
        if group.again:
            continue
        stride, back = stride_of(group), max(0, count - group.sum("seq_{}s"))
        how = f"the next one is {bytes_text(stride)} further" if stride else f"{back:,} of them go back in the file"
        yield counters.match(
            group,
            f"{percent_text(apart / count)} of {count:,} {group.layer} {group.direction}s of "
            f"{bytes_text(group.bytes / count)} on average do not follow the one before: {how}",
            {"operations": count, "apart_operations": apart, "back_operations": back, "stride": stride},
            share=apart * size / (count * size + group.bytes),
        )


@finding(counted=_random_counted, follows=("small-requests",), units={"stride": "byte", "slower": "times"})
def random_access(
    facts: Facts,
    *,
    operations: float = 100,
    each: float = 4,
    least_share: float = 0.5,
    size: float = MIB,
    compared: float = 0.1,
) -> Iterator[Match]:
    """Half of the requests, of less than 1 MiB on average, do not begin where the one before ended.

    Parameters
    ----------
    operations : count
        A few take no time that matters.
    each : count
        Requests a process: of fewer the first ones are most.
    least_share : share
        Of the requests: below, most follow one another.
    size : byte
        Larger requests keep the storage busy wherever they begin.
    compared : share
        Of the requests that must follow one another: of fewer it is not known how long such a one takes.

    Notes
    -----
    :In short: {direction} do not follow one another; sorting them.
    :Why: Read-ahead and write-behind serve what follows; all else waits for the storage, and locks are taken anew.
    :How it is measured: Offsets of the program's own requests, each against the one before of its process, file and
        direction, where the trace has offsets (see ``read-back``); cost is what they take longer a byte than those that
        follow one another. Without those, and in counters of consecutive and of sequential requests, it is the time of
        the slowest rank in the requests, of which a seek takes as long as moving 1 MiB. Beside ``small-requests`` it is
        for information.
    :When it is wrong: Where several files are in use at once, each is read in its order.
    :What helps: Sort the requests, or read larger pieces into memory. Strides: a file view (MPI_File_set_view,
        hyperslabs) and collective calls let the library merge them.
    """
    second = facts.cells.window.ticks_per_second
    for layer, direction, mode, sums in _both_ways(facts):
        apart, after, back, strided = (
            _of(sums, deed + mode)
            for deed in (Deed.READS_APART, Deed.READS_NEXT, Deed.READS_BACK, Deed.READS_IN_STRIDES)
        )
        count, moved = _count(apart), int(apart["bytes"].sum())
        all_of = count + _count(after)
        few = count < max(operations, each * len(np.unique(apart.keys[1])))
        # Of requests of unknown sizes nobody knows where they end.
        if few or not moved or count < least_share * all_of or moved >= size * count:
            continue
        if _count(after) >= compared * all_of:
            slower = _times_slower(apart, after)
            share = 1 - 1 / slower if slower is not None and slower > 1 else 0.0
        else:
            slower, share = None, count * size / (count * size + moved)
        if not share:
            # Nothing is lost by where they begin.
            continue
        cost, each_s = share * float(apart["ticks"].max()) / second, float(apart["ticks"].sum()) / second / count
        strides, backward = _count(strided), _count(back)
        how = "most in equal strides" if 2 * strides >= count else f"{backward:,} of them go back in the file"
        than = "" if slower is None else f"; they take {slower:.1f} times as long a byte as the others"
        yield Match(
            layer,
            f"{percent_text(count / all_of)} of {all_of:,} {layer} {direction}s of {bytes_text(moved / count)} on "
            f"average do not follow the one before: {how}{than}",
            {
                "direction": direction,
                "operations": all_of,
                "apart_operations": count,
                "back_operations": backward,
                "strided_operations": strides,
                "share": count / all_of,
                "slower": slower,
            },
            where=_where(facts, layer, apart, mode),
            cost_s=cost,
            gain=None if slower else _gain_of_sorting(facts, layer, mode, sums, each_s, cost),
        )


def _gain_of_sorting(facts: Facts, layer: str, mode: int, sums: _Waited, each: float, cost: float) -> Gain | None:
    """Return what sorting transfers of `each` s would save of their cost: no more than the best pace of those there.

    That is known where nothing is read ahead and no disk's head moves; None elsewhere, as then it may be nearly all.
    """
    cells, paces = facts.cells, sums.paces.taken(sums.paces.keys[0] == mode)
    mine = cells.of(layer, DIRECTIONS[mode]) & cells.own
    cached = facts.trace.sums.handles.uncached.at((cells.handle, cells.process), "count") == 0
    if each >= _NO_HEAD_S or (mine & cached).any() or not paces["ticks"].sum():
        return None
    most = cost * max(0.0, 1 - best_pace(paces) * int(paces["bytes"].sum()) / float(paces["ticks"].sum()))
    why = "no disk's head moves in the time that each takes, and past caches nothing is read ahead in any order"
    return Gain((0.0, most), f"to the best rate there is, as {why}")


@finding(by_time=True, units={"times_as_long": "times"}, explained_by={"small-requests": 1.0})
def slow_operations(
    facts: Facts,
    *,
    slower: float = 8.0,
    operations_share: float = 0.25,
    time_share: float = 0.5,
    most_of_loss: float = 0.8,
    least_s: float = 0.01,
    share_of_run: float = 0.01,
) -> Iterator[Match]:
    """Few transfers, at most a quarter, take half of the time: at least eight times as long as others of their size.

    Parameters
    ----------
    slower : times
        As long as the median of their size. Transfers of one size vary by a few times on a shared file system.
    operations_share : share
        Of the transfers: more of them are what is usual.
    time_share : share
        Of the time of all transfers: below, the others are what takes long.
    most_of_loss : share
        Of the time lost, of which the text says when and where: the rest may be anywhere.
    least_s : s
        Less is a single access of a disk.
    share_of_run : share
        Less makes no run faster.

    Notes
    -----
    :In short: a few {direction} take most of the time; the usual pace.
    :Why: The mean bandwidth says nothing then: usually it is faster, and something else stood in the way.
    :How it is measured: Time per byte in half-octaves, by size in powers of two, against the median of the same size;
        collective calls are left out, since a rank is as slow there as the others make it. Cost is what would be saved
        at the usual pace; time and ranks are those of four fifths of it.
    :When it is wrong: Caches make most transfers too fast: then the slow ones are the true speed of the storage.
    :What helps: See what else went on at that time: the first touch of a file or of memory, a cache that was written
        out, a flush, other jobs on the file system. More of the same work elsewhere changes nothing; look at the time
        and the ranks that are named.
    """
    least = max(least_s, share_of_run * facts.run_s)
    for layer, direction, mode, sums in _both_ways(facts):
        found = _SlowTransfers(sums.paces.taken(sums.paces.keys[0] == mode), slower)
        if found.few(operations_share, time_share) and found.cost(facts) >= least:
            yield _slow_match(facts, layer, direction, found, most_of_loss)


class Stalled(NamedTuple):
    """What the rank that loses most loses in few transfers, in s, whether these are all over the run, and how many."""

    seconds: float
    spread: bool
    number: int


def stalled(facts: Facts, size: float) -> dict[tuple[str, str], Stalled]:
    """Return what is lost in few transfers smaller than `size` by layer and direction.

    Of the program's own, where `slow_operations` would tell so of them.
    """
    limits, found = slow_operations.thresholds, {}
    for layer, direction, mode, sums in _both_ways(facts):
        small = (sums.paces.keys[0] == mode) & (sums.paces.keys[1] < np.log2(size))
        slow = _SlowTransfers(sums.paces.taken(small), limits["slower"])
        if slow.few(limits["operations_share"], limits["time_share"]):
            spread = slow.half >= _SPREAD
            found[layer, direction] = Stalled(slow.cost(facts), spread, slow.count)
    return found


class _SlowTransfers:
    """Transfers that take at least `slower` times as long as others of their size.

    Parameters
    ----------
    paces : KeyedSums
        See `iostrata.layers.flow.access_pattern.StreamSums`.
    slower : float
    """

    def __init__(self, paces: KeyedSums, slower: float) -> None:
        self.paces, self.slower = paces, slower
        self.octaves = (paces.keys[2] - _medians(paces)) / _PACES_PER_OCTAVE
        slow = self.octaves >= np.log2(slower)
        self.count, self.all_of = int(paces["count"][slow].sum()), _count(paces)
        self.ticks, self.all_ticks = int(paces["ticks"][slow].sum()), int(paces["ticks"].sum())
        same = np.isin(paces.keys[3], paces.keys[3][slow])
        self.all_of_same_ranks = int(paces["count"][same].sum())
        # What would be left of them at the usual pace.
        self.excess = np.where(slow, paces["ticks"] * (1 - 2.0 ** -np.maximum(self.octaves, 0)), 0)

    @property
    def half(self) -> int:
        """How many make half of what is lost, the slowest first."""
        order = np.argsort(-self.octaves, kind="stable")
        until = int(np.searchsorted(np.cumsum(self.excess[order]), 0.5 * self.excess.sum())) + 1
        return int(self.paces["count"][order[:until]].sum())

    def few(self, operations_share: float, time_share: float) -> bool:
        """Tell whether few take most of the time; where all of what their ranks do is slow, that is slow_ranks."""
        enough = 0 < self.count <= operations_share * self.all_of and self.ticks >= time_share * self.all_ticks
        return enough and 2 * self.count < self.all_of_same_ranks

    def cost(self, facts: Facts) -> float:
        """Return what the rank that loses most would save at the usual time, in s."""
        _, place = np.unique(self.paces.keys[3], return_inverse=True)
        second = facts.cells.window.ticks_per_second
        return min(float(np.bincount(place.ravel(), self.excess).max()) / second, facts.run_s)

    def worst(self, share: float) -> KeyedSums:
        """Return the slowest that make up a share of the time lost, by mode and process."""
        order = np.argsort(-self.octaves, kind="stable")
        until = int(np.searchsorted(np.cumsum(self.excess[order]), share * self.excess.sum())) + 1
        found = self.paces.taken(np.isin(np.arange(len(order)), order[:until]))
        return KeyedSums((found.keys[0], found.keys[3]), found.values)


def _slow_match(facts: Facts, layer: str, direction: str, found: _SlowTransfers, most_of_loss: float) -> Match:
    """Return the match of slow transfers: those that lose most of the time say when and where to look."""
    worst = found.worst(most_of_loss)
    where, ranks = _where(facts, layer, worst, *modes_of(direction), share=most_of_loss), facts.ranks(worst.keys[1])
    start, end = where["time_range_s"]
    who = f" on {named_ranks(ranks)}" if 0 < len(ranks) < facts.trace.ranks else ""
    share, time_share = found.count / found.all_of, found.ticks / found.all_ticks
    others = max(1.0, (found.all_ticks - found.ticks) / max(1, found.all_of - found.count))
    return Match(
        layer,
        f"{found.count:,} of the program's {found.all_of:,} {layer} {direction}s ({percent_text(share)}) take "
        f"{percent_text(time_share)} of their time, at least {found.slower:.0f} times as long as others of their size; "
        f"{_half_text(found)}most of it{who} from {seconds_text(start)} to {seconds_text(end)}",
        {
            "direction": direction,
            "operations": found.all_of,
            "slow_operations": found.count,
            "share": share,
            "time_share": time_share,
            "times_as_long": found.ticks / found.count / others,
        },
        where=where,
        cost_s=found.cost(facts),
        gain=Gain((0.0, found.cost(facts)), "from nothing, where what stood in the way comes again, to the usual pace"),
    )


def _half_text(found: _SlowTransfers) -> str:
    """Return how few of them make half of what is lost, where that is not how many they are."""
    few = found.half < min(_SPREAD, found.count / _HARDLY_ANY)
    return f"half of the time lost is in {found.half:,} of them; " if few else ""


def _both_ways(facts: Facts) -> Iterator[tuple[str, str, int, _Waited]]:
    """Give layer, direction, mode of its operations and sums, as `_streams`."""
    for layer, sums in _streams(facts):
        for direction in DIRECTIONS:
            yield layer, direction, modes_of(direction)[0], sums


def _streams(facts: Facts) -> Iterator[tuple[str, _Waited]]:
    """Give the layers with operations of the program's own, highest first, with the ticks that may be waited for."""
    cells, own = facts.cells, facts.cells.selected & facts.cells.own & (facts.cells.process >= 0)
    for row, layer in enumerate(cells.layers):
        if row not in facts.sums.streams:
            continue
        mine, sums = own & (cells.layer == row), facts.sums.streams[row]
        ticks, length = cells.columns.ticks[mine], len(facts.definitions.groups.id)
        whole, waited = (
            np.bincount(cells.process[mine], of, minlength=length) for of in (ticks, ticks * facts.waited_part[mine])
        )
        # Behind all processes that of none, where it is not known who calls.
        part = np.append(np.where(whole > 0, waited / np.maximum(whole, 1), 1.0), 1.0)
        yield layer, _Waited(_scaled(sums.deeds, part), _scaled(sums.paces, part))


def _scaled(found: KeyedSums, part: Floats) -> KeyedSums:
    """Return sums whose last key is the process with a part of their ticks."""
    ticks = np.rint(found["ticks"] * part[found.keys[-1]]).astype(np.int64)
    return KeyedSums(found.keys, {**found.values, "ticks": ticks})


def _of(sums: _Waited, deed: int) -> KeyedSums:
    return sums.deeds.taken(sums.deeds.keys[0] == deed)


def _count(found: KeyedSums) -> int:
    return int(found["count"].sum())


def _longest(facts: Facts, found: KeyedSums) -> float:
    """Return the time of the process that is longest in some operations, in s."""
    ticks = int(found["ticks"].max(initial=0))
    return min(ticks / facts.cells.window.ticks_per_second, facts.run_s)


def _medians(paces: KeyedSums) -> Ints:
    """Return for each row the class of pace that half of the transfers of its size do not exceed."""
    size, pace = paces.keys[1], paces.keys[2]
    usual = np.zeros(len(paces), np.int64)
    for one in np.unique(size).tolist():
        rows: Mask = size == one
        order = np.argsort(pace[rows], kind="stable")
        until = np.cumsum(paces["count"][rows][order])
        usual[rows] = pace[rows][order][np.searchsorted(until, until[-1] / 2)]
    return usual


def _where(facts: Facts, layer: str, found: KeyedSums, *modes: int, share: float = 1.0) -> dict[str, Any]:
    """Return who did some operations, by process in the second key, when, and on which files as `files_within`."""
    if not len(found):
        return {**facts.who(found.keys[1]), "time_range_s": None}
    within = (int(found["begin"].min()), int(found["end"].max()))
    files = facts.files_within(layer, found.keys[1], within, *modes, share=share)
    return {**facts.who(found.keys[1]), **files, "time_range_s": facts.extent(found["begin"], found["end"])}
