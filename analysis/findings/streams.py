"""Findings about what the program's own operations do one after the other, and about single ones that take long."""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from ...layers.flow.calls import ALIGNMENT
from ...layers.flow.streams import Deed
from ...model.arrays import Ints, Mask
from ...model.codes import IoMode
from ...model.keyed import KeyedSums
from ...model.quantities import bytes_text, counted, named_ranks, percent_text, seconds_text
from .evidence import RANKS_SHOWN, Evidence, Match
from .rules import Rule

_WAYS: Final = {"read": IoMode.READ, "write": IoMode.WRITE}
_HALF_OCTAVES: Final = 2
_MOST: Final = 0.8
"""Share of the time that slow operations lose, of which it is told when and where."""


def alternating_access(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find layers in which processes change between reading and writing a file."""
    for layer, sums in _streams(evidence):
        turns = _of(sums.deeds, Deed.TURNS)
        count = int(turns["count"].sum())
        all_of = count + int(_of(sums.deeds, Deed.GOES_ON)["count"].sum())
        if count < rule.thresholds["operations"] or count < rule.thresholds["share"] * all_of:
            continue
        yield Match(
            layer,
            f"{count:,} of the program's {all_of:,} {layer} transfers go the other way than the one before on the same "
            f"file ({percent_text(count / all_of)}): it is read and written by turns",
            {"turns": count, "operations": all_of, "share": count / all_of, **_where(evidence, turns)},
            cost_s=_longest(evidence, turns),
        )


def metadata_sync(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find flushes after which next to nothing has been written since the one before."""
    for layer, sums in _streams(evidence):
        empty = _of(sums.deeds, Deed.FLUSHES_NOTHING)
        count, cost = int(empty["count"].sum()), _longest(evidence, empty)
        all_of = count + int(_of(sums.deeds, Deed.FLUSHES)["count"].sum())
        if count < rule.thresholds["operations"] or cost < rule.thresholds["seconds"]:
            continue
        yield Match(
            layer,
            f"{counted(count, 'flush', 'flushes')} of the program's {all_of:,} through {layer} put out next to "
            f"nothing: their process had written at most {bytes_text(evidence.sums.limits.empty)} to the file since "
            "the last one",
            {"flushes": all_of, "empty_flushes": count, "share": count / all_of, **_where(evidence, empty)},
            severity="warning" if cost >= rule.thresholds["severe_share"] * evidence.run_s else None,
            cost_s=cost,
        )


def unaligned_requests(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find layers whose requests begin beside the blocks of the file, and what that takes longer than on them."""
    for layer, sums in _streams(evidence):
        for way, mode in _WAYS.items():
            apart = _of(sums.deeds, Deed.READS_BESIDE + mode)
            on = _of(sums.deeds, Deed.READS_ALIGNED + mode)
            count, moved = int(apart["count"].sum()), int(apart["bytes"].sum())
            all_of = count + int(on["count"].sum())
            if count < rule.thresholds["operations"] or count < rule.thresholds["share"] * all_of:
                continue
            # What it costs is known only where there are others to compare with.
            beside = count < (1 - rule.thresholds["compared"]) * all_of and bool(on["ticks"].sum())
            second = evidence.cells.window.ticks_per_second
            slower = float(apart["ticks"].sum() / moved * on["bytes"].sum() / on["ticks"].sum()) if beside else None
            if slower is not None and slower <= 1:
                # Nothing is lost by where they begin.
                continue
            cost = None if slower is None else (1 - 1 / slower) * float(apart["ticks"].max()) / second
            than = "" if slower is None else f"; they take {slower:.1f} times as long a byte as the others"
            yield Match(
                layer,
                f"{percent_text(count / all_of)} of the program's {all_of:,} {layer} {way}s of at least "
                f"{bytes_text(ALIGNMENT)} begin beside the {ALIGNMENT // 1024} KiB blocks of the file{than}",
                {
                    "direction": way,
                    "unaligned_operations": count,
                    "operations": all_of,
                    "share": count / all_of,
                    "bytes": moved,
                    "slower": slower,
                    **_where(evidence, apart),
                },
                severity="warning" if (cost or 0.0) >= rule.thresholds["severe_share"] * evidence.run_s else None,
                cost_s=cost,
            )


def slow_operations(evidence: Evidence, rule: Rule) -> Iterator[Match]:
    """Find few transfers that take most of the time: far longer than others of their size."""
    second = evidence.cells.window.ticks_per_second
    least = max(rule.thresholds["seconds"], rule.thresholds["share_of_run"] * evidence.run_s)
    for layer, sums in _streams(evidence):
        for way, mode in _WAYS.items():
            of_way = sums.paces.taken(sums.paces.keys[0] == mode)
            if not len(of_way):
                continue
            usual = _medians(of_way)
            octaves = (of_way.keys[2] - usual) / _HALF_OCTAVES
            slow = octaves >= np.log2(rule.thresholds["slower"])
            all_of, taken = of_way["count"].sum(), of_way["ticks"].sum()
            count, ticks = int(of_way["count"][slow].sum()), int(of_way["ticks"][slow].sum())
            if not count or count > rule.thresholds["operations_share"] * all_of:
                continue
            if ticks < rule.thresholds["time_share"] * taken:
                continue
            processes = np.unique(of_way.keys[3][slow])
            if 2 * count >= of_way["count"][np.isin(of_way.keys[3], processes)].sum():
                # All of what these ranks do is slow: that is slow_ranks.
                continue
            # What would be left of them at the usual pace.
            excess = np.where(slow, of_way["ticks"] * (1 - 2.0 ** -np.maximum(octaves, 0)), 0)
            _, place = np.unique(of_way.keys[3], return_inverse=True)
            cost = min(float(np.bincount(place.ravel(), excess).max()) / second, evidence.run_s)
            if cost < least:
                continue
            # The slowest that make up most of the time lost say when and where to look.
            order = np.argsort(-octaves, kind="stable")
            until = int(np.searchsorted(np.cumsum(excess[order]), _MOST * excess.sum())) + 1
            found = of_way.taken(order[:until])
            times = float(ticks / count / max(1.0, (taken - ticks) / max(1, all_of - count)))
            where = _where(evidence, KeyedSums((found.keys[0], found.keys[3]), found.values))
            start, end = where["time_range_s"]
            ranks = _ranks(evidence, found.keys[3])
            who = f" on {named_ranks(ranks)}" if ranks else ""
            yield Match(
                layer,
                f"{count:,} of the program's {int(all_of):,} {layer} {way}s ({percent_text(count / all_of)}) take "
                f"{percent_text(ticks / taken)} of their time, at least {rule.thresholds['slower']:.0f} times as long "
                f"as others of their size; most of it{who} from {seconds_text(start)} to {seconds_text(end)}",
                {
                    "direction": way,
                    "operations": int(all_of),
                    "slow_operations": count,
                    "share": float(count / all_of),
                    "time_share": float(ticks / taken),
                    "times_as_long": times,
                    **where,
                },
                severity="warning" if cost >= rule.thresholds["severe_share"] * evidence.run_s else None,
                cost_s=cost,
            )


def _streams(evidence: Evidence) -> Iterator[tuple[str, Any]]:
    """Give the layers with operations of the program's own, highest first."""
    for row, layer in enumerate(evidence.cells.layers):
        if row in evidence.sums.streams:
            yield layer, evidence.sums.streams[row]


def _of(deeds: KeyedSums, deed: int) -> KeyedSums:
    return deeds.taken(deeds.keys[0] == deed)


def _longest(evidence: Evidence, found: KeyedSums) -> float:
    """Return the time of the process that is longest in some operations, in s."""
    ticks = int(found["ticks"].max(initial=0))
    return min(ticks / evidence.cells.window.ticks_per_second, evidence.run_s)


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


def _where(evidence: Evidence, found: KeyedSums) -> dict[str, Any]:
    """Return who did some operations, by process in the second key, and when."""
    named = _ranks(evidence, found.keys[1])
    second = evidence.cells.window.ticks_per_second
    time = [int(found["begin"].min()) / second, int(found["end"].max()) / second] if len(found) else None
    return {"ranks": named[:RANKS_SHOWN], "rank_count": len(named), "time_range_s": time}


def _ranks(evidence: Evidence, processes: Ints) -> list[int]:
    """Return the ranks of some processes, each once, in ascending order."""
    ranks = np.append(evidence.definitions.groups.rank, -1)[np.unique(processes)]
    return sorted({int(rank) for rank in ranks if rank >= 0})
