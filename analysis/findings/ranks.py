"""Findings about who does the I/O: one rank, few of them, or some slower than others."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ...layers.flow.cells import Cells
from ...layers.flow.tables import MovingRanks, moving_ranks
from ...layers.loops.steps import kinds_of_files
from ...layers.selection.window import sums_by
from ...model.arrays import Floats, Mask
from ...model.arrays import Links as Ranks
from ...model.codes import IoFlag
from ...model.quantities import bytes_text, counted, named_ranks, percent_text, seconds_text
from .better_cases import gain_of_sharing
from .counted import CountedFacts, CountedGroup
from .facts import KIB, LEAST_SHARE, MIB, RANKS_SHOWN, Facts, Gain, Match
from .rule import finding
from .waiting import held_up_s, others_wait_s

_DO_ALL = " do all"
"""Of ranks that share the work alike: it may be what they are for."""
_UNITS = {"rank_imbalance": "ratio", "node_imbalance": "ratio"}


def _busiest_counted(counters: CountedFacts, least_bytes: float) -> Iterator[tuple[CountedGroup, int, int, int]]:
    """Give what the program itself moves by a module, how much that is, who moves most of it, and how much."""
    for group in counters.groups:
        own = group.own
        moved, rank, most = own.busiest
        if moved >= least_bytes and rank >= 0 and counters.processes > 1:
            yield own, moved, rank, most


def _imbalance_counted(
    counters: CountedFacts, *, least_share: float, times_fair: float, least_bytes: float
) -> Iterator[Match]:
    """Find a rank that moves most bytes."""
    for group, moved, rank, most in _busiest_counted(counters, least_bytes):
        share = most / moved
        if most == moved or share < max(least_share, min(1.0, times_fair / counters.processes)):
            continue
        longest, _ = counters.longest(group.rows, group.direction)
        mean = float(counters.counters.time(f"{group.direction}_time")[group.rows].sum()) / counters.processes
        yield counters.match(
            group,
            f"rank {rank} does {percent_text(share)} of the program's {group.layer} {group.direction}s, "
            f"{bytes_text(moved)} over {counted(counters.processes, 'rank')}",
            {
                "busiest": f"rank {rank} does {percent_text(share)}",
                "bytes": moved,
                "busiest_rank": rank,
                "share": share,
            },
            cost_s=max(0.0, longest - mean),
        )


@finding(needs=("ranks",), by_time=True, units=_UNITS, counted=_imbalance_counted)
def imbalance(
    facts: Facts, *, least_share: float = 0.5, times_fair: float = 2.0, least_bytes: float = MIB
) -> Iterator[Match]:
    """One rank, few ranks or one node do most of what the program asks for.

    Parameters
    ----------
    least_share : share
        Of the bytes: less is not most of them,
    times_fair : times
        nor is less than twice what each would have if all had the same.
    least_bytes : byte
        For less, one writer is as good as any.

    Notes
    -----
    :In short: {busiest} of the {direction}; even shares.
    :Why: The others wait, or their network lies idle.
    :How it is measured: Bytes of the program's own operations by rank and node, unless shares are even over all
        layers that it calls; cost is by how much longer than the mean the longest rank is in them, in flushes of what
        it wrote (beyond what the others spend in flushes), and in opens and closes.
    :When it is wrong: Aggregators that gather on purpose look the same; see who writes in the layer below. Where few
        ranks do all and share it alike, it is for information.
    :What helps: Spread the data over more writers: one a node, or all of them by MPI-IO or a library above it. Where
        few ranks are there to do it for all, see what each of their calls takes, or let more of them do it.
    """
    for layer, direction, own in facts.own():
        found, moved = moving_ranks(facts.cells, own), facts.cells.bytes(own)
        # One rank alone is serial_io.
        if moved < least_bytes or found.ranks.busiest_share is None or found.movers == 1:
            continue
        who = _busiest(found, least_share, times_fair)
        # Parts of a program may move as much through another layer each.
        in_any = np.logical_or.reduce([mine for _, way, mine in facts.own() if way == direction])
        if not who or not _busiest(moving_ranks(facts.cells, in_any), least_share, times_fair):
            continue
        seconds, flushing = _seconds(facts, layer, direction, own)
        yield Match(
            layer,
            f"{who} of the program's {layer} {direction}s, {bytes_text(moved)} over "
            f"{counted(len(found.ranks.name), 'rank')} on {counted(len(found.nodes.name), 'node')}",
            {
                "busiest": who,
                "direction": direction,
                "bytes": moved,
                "others_wait_s": others_wait_s(facts.trace, found.ranks.busiest),
                **found.to_dict(),
            },
            cells=own,
            cost_s=float(seconds.max(initial=0.0) - seconds.mean()),
            minor=who.endswith(_DO_ALL),
            gain=_gain(facts, found, float(seconds.max(initial=0.0)), float(seconds.mean()), flushing),
        )


def _gain(facts: Facts, found: MovingRanks, longest: float, mean: float, flushing: float) -> Gain:
    """Return what sharing the work of the busiest rank would save: not what goes on while all wait for another one."""
    gain = gain_of_sharing(longest, mean, len(found.ranks.name), len(found.nodes.name), flushing)
    most = held_up_s(facts.trace, found.ranks.busiest)
    if most >= gain.gain_s[1]:
        return gain
    why = "without what goes on while another rank works that all wait for"
    return Gain((0.0, most), f"{gain.gain_reason}; {why}")


def _seconds(facts: Facts, layer: str, direction: str, own: Mask) -> tuple[Floats, float]:
    """Return what each process spends in what the program asks for, in flushes of it, and in opens and closes.

    And the longest that any spends in flushes of it. What the other ranks spend in flushes as well, as where all make
    them together, is no part of either. Who moves most opens, truncates and closes what is large; of reads and writes
    each has its part by bytes.
    """
    seconds = facts.rank_seconds(own)
    flushing = facts.rank_seconds(facts.with_flushes(layer, direction, own) & ~own)
    if len(seconds) > 1:
        others = np.delete(flushing, seconds.argmax())
        flushing = np.maximum(0.0, flushing - np.median(others))
    seconds = seconds + flushing
    opening = facts.metadata_seconds(facts.cells.layer_row(layer))
    if opening is not None:
        both = facts.cells.bytes(facts.cells.of(layer, "total") & facts.cells.own)
        seconds = seconds + opening[facts.cells.processes] * (facts.cells.bytes(own) / max(1, both))
    return np.asarray(seconds), float(flushing.max(initial=0.0))


def _busiest(found: MovingRanks, least_share: float, times_fair: float) -> str:
    """Return in words which rank, ranks or node do most; empty where none does."""

    def most(count: int, share: float) -> bool:
        return count > 1 and share >= max(least_share, min(1.0, times_fair / count))

    ranks, nodes = len(found.ranks.name), len(found.nodes.name)
    rank_share, node_share = found.ranks.busiest_share or 0.0, found.nodes.busiest_share or 0.0
    one_rank, one_node = most(ranks, rank_share), most(nodes, node_share)
    if not (one_rank or one_node):
        return ""
    # Few that share the work: it is no one rank's, and a node's only because they are there.
    if 2 * found.movers <= ranks and rank_share * found.movers < times_fair:
        return f"{named_ranks(list(found.ranks.moving))}{_DO_ALL}"
    if one_rank:
        return f"rank {found.ranks.busiest} does {percent_text(rank_share)}"
    return f"node {found.nodes.busiest} does {percent_text(node_share)}"


def _serial_counted(counters: CountedFacts, *, least_bytes: float) -> Iterator[Match]:
    """Find a rank that moves all bytes."""
    for group, moved, rank, most in _busiest_counted(counters, least_bytes):
        if most == moved:
            yield counters.match(
                group,
                f"rank {rank} alone does the program's {group.layer} {group.direction}s, {bytes_text(moved)}, while "
                f"the other {counted(counters.processes - 1, 'rank')} move none",
                {"bytes": moved, "busiest_rank": rank},
                share=1 - 1 / counters.processes,
            )


@finding(needs=("ranks",), by_time=True, units=_UNITS, counted=_serial_counted)
def serial_io(facts: Facts, *, least_bytes: float = MIB, share_of_run: float = 0.02) -> Iterator[Match]:
    """One rank of several does all of it, or all of it on files of one kind, for which the others wait.

    Parameters
    ----------
    least_bytes : byte
        For less, one writer is as good as any.
    share_of_run : share
        For less waiting, what a rank does on files of its own may be left to it.

    Notes
    -----
    :In short: {who} alone does the program's {layer} {direction}{of}; sharing them.
    :Why: It cannot be faster than one process.
    :How it is measured: The program's own operations of a layer; cost is what the others could take from it, with
        opens, closes and the flushes of what is written, as far as the others do not spend as long in them. They wait
        for it as long as they are longer in MPI than it is (median), but no longer than it is longer in I/O than they.
        Where several ranks move data, the kind of files that one rank alone moves data of for longest, if it does so
        for longer than others (median) do the like on any.
        What others only read of what it writes, or the other way round, is handed on: no more is said where nobody
        waits in MPI.
    :When it is wrong: Where it is little, or the others compute meanwhile, it costs nothing that matters.
    :What helps: Let several ranks move the data: one a node, or all of them by MPI-IO or a library above it; where
        it is little, it may stay as it is. What one rank writes now and then, such as a dump for debugging: leave it
        out, or let a thread write it while all go on.
    """
    for layer, direction, own in facts.own():
        part, of = _alone(facts, own)
        found, moved = moving_ranks(facts.cells, part), facts.cells.bytes(part)
        ranks = len(found.ranks.name)
        if ranks < 2 or found.movers != 1:
            continue
        seconds, flushing = _seconds(facts, layer, direction, part)
        longest = float(seconds.max(initial=0.0))
        waited = others_wait_s(facts.trace, found.ranks.busiest)
        waited = min(waited, longest) if of else waited
        little = waited < share_of_run * facts.run_s
        if (little and (of or _handed_on(facts, layer, direction, part))) or (moved < least_bytes and not of):
            continue
        # What the others could take from it.
        do, wait = ("does", "waits") if ranks == 2 else ("do", "wait")
        waiting = f" and {wait} for it in MPI for up to {seconds_text(waited)}"
        waiting *= waited >= LEAST_SHARE * facts.run_s
        yield Match(
            layer,
            f"rank {found.ranks.busiest} alone does the program's {layer} {direction}s{of}, {bytes_text(moved)} "
            f"{f'by {facts.cells.operations(part):,} of them ' if of else ''}in {seconds_text(longest)}, while the "
            f"other {counted(ranks - 1, 'rank')} {do} none{waiting}",
            {
                "direction": direction,
                "bytes": moved,
                "of": of,
                "others_wait_s": waited,
                **found.to_dict(),
            },
            cells=part,
            cost_s=longest * (1 - 1 / ranks),
            gain=_gain(facts, found, longest, longest / ranks, flushing),
        )


def _handed_on(facts: Facts, layer: str, direction: str, part: Mask) -> bool:
    """Tell whether most of what one rank moves is on files that only others use the other way round.

    One produces there what another one consumes.
    """
    cells = facts.cells
    back = cells.of(layer, "read" if direction == "write" else "write") & cells.own & cells.moving & (cells.file >= 0)
    mine = np.isin(cells.process, cells.process[part & cells.moving])
    handed = np.setdiff1d(cells.file[back & ~mine], cells.file[back & mine])
    return bool(2 * cells.bytes(part & np.isin(cells.file, handed)) > cells.bytes(part))


def _alone(facts: Facts, own: Mask) -> tuple[Mask, str]:
    """Return operations of one rank alone, and in words which: all, or those on one kind of files.

    Where one rank takes no longer there than others on whatever, there are none.
    """
    cells, seconds = facts.cells, facts.rank_seconds(own)
    if len(np.unique(cells.process[own & cells.moving])) < 2:
        return own, ""
    kinds, of_file = kinds_of_files(facts.definitions)
    kind = np.append(of_file.of_file, -1)[cells.file]
    alone = _shared_or_alone(cells, own, kind, alone=True) & (kind >= 0)
    if not alone.any():
        return alone, ""
    one = int(facts.seconds_by(kind, len(kinds), alone & cells.moving).argmax())
    part = alone & (kind == one)
    took = facts.rank_seconds(part)
    if took.max(initial=0.0) <= 2 * float(np.median(np.delete(seconds, took.argmax()))):
        return own & False, ""
    return part, f" of {kinds[one].rpartition('/')[2]}"


def _shared_or_alone(cells: Cells, own: Mask, kind: Ranks, *, alone: bool) -> Mask:
    """Return the operations on kinds of files that one process alone moves data of, or on all others, bool (cells,)."""
    pairs = np.unique(np.stack((kind, cells.process))[:, own & cells.moving], axis=1)
    kinds, movers = np.unique(pairs[0], return_counts=True)
    return np.asarray(own & (np.isin(kind, kinds[movers == 1]) == alone))


def _slow_ranks_counted(
    counters: CountedFacts, *, slower: float, alike: float, least_bytes: float, least_s: float, share_of_run: float
) -> Iterator[Match]:
    """Find where the slowest rank takes longer than the mean of those that share its files, or have own ones."""
    for group in counters.groups:
        for part, ranks in _alike(group.own, alike):
            if 2 * group.collective_share >= 1 or part.bytes < least_bytes:
                continue
            longest, rank = counters.longest(part.rows, group.direction)
            mean = float(counters.counters.time(f"{group.direction}_time")[part.rows].sum()) / ranks
            cost = longest - mean
            if cost < max(least_s, share_of_run * counters.run_s) or longest < slower * mean:
                continue
            yield counters.match(
                part,
                f"rank {rank} takes {longest / mean:.1f} times as long as the mean of {counted(ranks, 'rank')} at like "
                f"amounts of the program's {group.layer} {group.direction}s: "
                f"{seconds_text(longest)} against {seconds_text(mean)}",
                {"slow_ranks": [rank], "slower": longest / mean, "mean_s": mean},
                cost_s=cost,
            )


def _alike(group: CountedGroup, alike: float) -> Iterator[tuple[CountedGroup, int]]:
    """Give files that all ranks share, and those of a rank each, where ranks move like amounts, and how many do."""
    table = group.counters
    slowest, fastest = (table.count(f"{one}_rank_bytes") for one in ("slowest", "fastest"))
    like = (slowest <= alike * fastest) & (fastest <= alike * slowest) & (slowest > 0)
    yield group.only((table.rank < 0) & like), group.facts.processes
    own = group.only(table.rank >= 0)
    ranks, place = np.unique(np.where(own.rows, table.rank, -1), return_inverse=True)
    moved = sums_by(place, own.each("bytes"), len(ranks))
    if moved.any():
        usual = float(np.median(moved[moved > 0]))
        usually = (moved * alike >= usual) & (moved <= alike * usual)
        yield own.only(usually[place]), int(usually.sum())


@finding(
    needs=("ranks",),
    explained_by={"slow-operations": 1.0},
    follows=("slow-target",),
    by_time=True,
    units={"slower": "times"},
    counted=_slow_ranks_counted,
)
def slow_ranks(
    facts: Facts,
    *,
    slower: float = 3.0,
    alike: float = 2.0,
    least_bytes: float = MIB,
    least_s: float = 0.01,
    share_of_run: float = 0.01,
) -> Iterator[Match]:
    """Some ranks take three times as long a byte as the others.

    Parameters
    ----------
    slower : times
        As long a byte, by medians: ranks of one node and one file differ by less.
    alike : times
        How much more or less a rank may move than usual to be compared: one that moves much less has another task.
    least_bytes : byte
        For less, the time of a byte is that of a call.
    least_s : s
        Less is a single access of a disk.
    share_of_run : share
        Less makes no run faster.

    Notes
    -----
    :In short: some ranks take longer for as much{by}; the pace of the others.
    :Why: The slowest decides.
    :How it is measured: Time over bytes of the program's own operations by rank, split at the widest gap; of ranks that
        move like amounts, half to twice the usual one (ranks with at least that much move half of all). Collective
        calls are left out: a rank is as slow there as the others make it. So are kinds of files that one rank alone
        moves data of: it does something else there. By counters, the slowest rank against the mean, of shared files and
        of those of a rank each.
    :When it is wrong: Ranks that do other kinds of requests are slower by right.
    :What helps: See what the slow ranks have in common: a node, a storage target (lfs getstripe), a network link, or a
        turn behind the others; let fewer ranks write at a time; spread files over more Lustre stripes (lfs setstripe
        -c).
    """
    for layer, direction, own in facts.own():
        # In a collective call a rank is as slow as the others make it.
        own &= (facts.cells.flags & np.uint32(IoFlag.COLLECTIVE)) == 0
        kind = np.append(kinds_of_files(facts.definitions)[1].of_file, -1)[facts.cells.file]
        own = _shared_or_alone(facts.cells, own, kind, alone=False)
        rank, seconds, pace = _paces(facts, own, least_bytes, alike)
        if len(pace) < 2:
            continue
        fast = int(np.argmax(np.diff(np.log(pace)))) + 1
        usual = np.median(pace[:fast])
        times = float(np.median(pace[fast:]) / usual)
        # What the slow ones would save at the pace of the fast ones.
        cost = float((seconds[fast:] * (1 - usual / pace[fast:])).max())
        least = float((seconds[fast:] * (1 - pace[fast - 1] / pace[fast:])).max())
        if times >= slower and cost >= max(least_s, share_of_run * facts.run_s):
            text, numbers = _slow_and_fast(rank, seconds, fast, times, f"{layer} {direction}s")
            sizes = _request_sizes(facts, own, rank, fast)
            other = max(sizes) >= slower * min(sizes)
            if other:
                text += f"; by {bytes_text(sizes[0])} at a time on average, the others by {bytes_text(sizes[1])}"
            yield Match(
                layer,
                text,
                {
                    "direction": direction,
                    **numbers,
                    "by": f", by {'smaller' if sizes[0] < sizes[1] else 'larger'} requests" if other else "",
                    "request_bytes": sizes[0],
                    "others_request_bytes": sizes[1],
                },
                cells=own,
                cost_s=cost,
                gain=Gain((least, cost), "at the pace of the slowest of the others, and at their median"),
            )


def _slow_and_fast(rank: Ranks, seconds: Floats, fast: int, times: float, transfers: str) -> tuple[str, dict[str, Any]]:
    """Return the ranks behind the first `fast` ones in words, and in numbers."""
    slow, others = sorted(rank[fast:].tolist()), counted(fast, "other")
    medians = [seconds_text(float(np.median(part))) for part in (seconds[fast:], seconds[:fast])]
    text = (
        f"{named_ranks(slow)} {'is' if len(slow) == 1 else 'are'} {times:.1f} times slower than {others} at like "
        f"amounts of the program's {transfers}: {medians[0]} against {medians[1]} (medians of ranks)"
    )
    extremes = {"slowest_s": float(seconds[fast:].max()), "fastest_s": float(seconds[:fast].min())}
    return text, {"slow_ranks": slow[:RANKS_SHOWN], "slower": times, **extremes}


def _request_sizes(facts: Facts, own: Mask, rank: Ranks, fast: int) -> tuple[float, float]:
    """Return the mean bytes of an operation of the ranks behind the first `fast` ones, and of these."""
    cells, of = facts.cells, facts.definitions.groups.rank[facts.cells.process]
    slow, others = (own & np.isin(of, ranks) for ranks in (rank[fast:], rank[:fast]))
    return cells.bytes(slow) / cells.operations(slow), cells.bytes(others) / cells.operations(others)


def _paces(facts: Facts, own: Mask, least_bytes: float, alike: float) -> tuple[Ranks, Floats, Floats]:
    """Return rank, time in s and time per byte of ranks that move like amounts, the fastest first.

    There are none where next to nothing moves.
    """
    cells, none = facts.cells, np.zeros(0)
    amount = moving_ranks(cells, own)
    if amount.movers < 2 or cells.bytes(own) < least_bytes:
        return none.astype(np.int32), none, none
    rows = cells.processes[np.argsort(facts.definitions.groups.rank[cells.processes], kind="stable")]
    seconds = facts.rank_seconds(own)[np.searchsorted(cells.processes, rows)]
    moved = amount.ranks.bytes.astype(np.float64)
    # Who moves much less has another task; half of the bytes are moved by ranks with at least the usual amount.
    falling = np.sort(moved)[::-1]
    usual = falling[np.searchsorted(np.cumsum(falling), 0.5 * moved.sum())]
    timed = (moved * alike >= usual) & (moved <= alike * usual) & (seconds > 0)
    rank, seconds, pace = np.array(amount.ranks.name)[timed], seconds[timed], seconds[timed] / moved[timed]
    order = np.argsort(pace, kind="stable")
    return rank[order], seconds[order], pace[order]


def _independent_counted(counters: CountedFacts, *, ranks: float, least_bytes: float) -> Iterator[Match]:
    """Find files that all ranks share, or several use, most of whose calls are independent; of reads, too."""
    for group in counters.groups:
        own, table = group.asked.own, counters.counters
        if group.layer == "ISOC" or counters.processes < ranks:
            continue
        users = np.bincount(own.users[0], minlength=int(table.file.max()) + 1)
        part = own.only((users[table.file] > 1) | (table.rank < 0))
        if part.bytes < least_bytes or 2 * part.collective_share >= 1:
            continue
        calls = f"independent {group.layer} {group.direction}s"
        some = f", {percent_text(part.collective_share)} of all are collective" if part.collective_share else ""
        mixed = group.layer == "MPI-IO" and part.small(64 * KIB) < 0.5 * part.operations
        found = counters.match(
            part,
            f"{counters.processes:,} ranks share files, {bytes_text(part.bytes)} by {part.operations:,} {calls}{some}",
            {"bytes": part.bytes, "operations": part.operations, "collective_share": part.collective_share},
            share=1 - part.collective_share,
        )
        yield found if mixed else replace(found, minor=True)


@finding(may_be_meant=True, needs=("ranks", "collective"), counted=_independent_counted)
def shared_file_independent(facts: Facts, *, ranks: float = 2, least_bytes: float = MIB) -> Iterator[Match]:
    """Several ranks write one file by independent calls.

    Parameters
    ----------
    ranks : count
        A file of one rank is not shared.
    least_bytes : byte
        Less is written in no time that matters.

    Notes
    -----
    :Why: On a parallel file system ranks whose parts share a stripe fight over its lock.
    :How it is measured: Files that two ranks or more wrote, without the collective flag.
    :When it is wrong: On a local disk, or with parts that end at stripes, it is as good as any; whether collective
        calls are better has to be measured.
    :What helps: Writes: let each rank's part begin and end at a block of the file system (a stripe of Lustre), so that
        no two ranks fight over a lock, or write one file a node. Reads: no locks are in the way, and large parts may
        stay as they are. Aggregating calls help where requests are small or locks do cost: measure both ways.
    """
    cells = facts.cells
    independent = cells.own & cells.moving & ((cells.flags & np.uint32(IoFlag.COLLECTIVE)) == 0) & (cells.file >= 0)
    for layer in cells.layers:
        mask = independent & cells.of(layer, "write")
        pairs = np.unique(np.stack((cells.file[mask], cells.process[mask])), axis=1)
        files, writers = np.unique(pairs[0], return_counts=True)
        shared = mask & np.isin(cells.file, files[writers >= ranks])
        moved, count = cells.bytes(shared), cells.operations(shared)
        if moved < least_bytes or not shared.any():
            continue
        where = facts.where(shared)
        yield Match(
            layer,
            f"{where['rank_count']:,} ranks write {bytes_text(moved)} to "
            f"{counted(where['file_count'], 'shared file')} by {count:,} independent {layer} operations",
            {"direction": "write", "bytes": moved, "operations": count},
            cells=shared,
            where=where,
        )
