"""What could be saved at least and at most, by what a trace shows of the better case, and which one that is."""

from typing import Final

import numpy as np

from ...layers.flow.access_pattern import Deed
from ...layers.selection.directions import modes_of
from ...model.arrays import Floats, Mask
from ...model.codes import IoRecord
from ...model.keyed import KeyedSums
from ...model.quantities import bytes_text, seconds_text
from .facts import KIB, Facts, Gain

_FASTEST: Final = 0.1
"""Share of the bytes whose pace counts as the best: fewer may be a cache's, or the clock's."""
_NEEDED: Final = (IoRecord.CREATE_HANDLE, IoRecord.DESTROY_HANDLE)
_LITTLE: Final = 64 * KIB
"""Bytes a flush below which it is the storage's latency that takes the time."""
_ENOUGH: Final = 4
"""Larger transfers below which nobody knows how long one usually takes."""


def gain_of_larger(facts: Facts, layer: int, mode: int, size: float, costs: tuple[float, float, float]) -> Gain | None:
    """Return what larger transfers than `size` would save of their cost; None where no pace of transfers is known.

    At least what the pace of the larger ones there are saves, at most what the best pace of a tenth of the bytes saves.
    Without any larger ones it is not known whether bytes or calls cost the time.

    Parameters
    ----------
    layer : int
        Row of the layer.
    mode : int
        Of transfers; see `iostrata.layers.flow.access_pattern.StreamSums`.
    size : byte
    costs : float, float, float
        Time in s of the rank that is longest in the smaller ones: without what few of them take longer, with as much of
        that as fewer of them would spare, and what their operations take.
    """
    cost, spared, moving = costs
    streams = facts.sums.streams.get(layer)
    if streams is None:
        return None
    paces = streams.paces.taken(streams.paces.keys[0] == mode)
    small = paces.keys[1] < np.log2(size)
    part, others = paces.taken(small), paces.taken(~small)
    if not part["bytes"].sum() or not cost:
        return None
    usual = part["ticks"].sum() / part["bytes"].sum() * (cost / moving)
    best = min(1.0, float(best_pace(paces) / usual))
    rate = f"{bytes_text(facts.cells.window.ticks_per_second / (best * usual))}/s"
    if others["count"].sum() < _ENOUGH:
        return Gain(
            (0.0, spared), "from nothing, if bytes cost the time, to all, if calls do: there are no larger ones"
        )
    larger = min(1.0, float(others["ticks"].sum() / others["bytes"].sum() / usual))
    low, high = sorted((cost * (1 - larger), cost * (1 - best)))
    high += spared - cost
    return Gain((low, high), f"at the mean rate of larger ones, and at the best rate there is, {rate}")


def gain_of_fewer_flushes(facts: Facts, layer: int, flushing: Mask, cost: float, written: float) -> Gain | None:
    """Return what leaving out flushes, cells, would save; None where nothing tells, nothing where none flushes twice.

    At least those that put out nothing: what others put out must be some time. Where each puts out so little that it
    waits for the storage rather than for bytes, half as many take half as long, too: `written` is how many bytes are
    put out, by lower layers in flushes as well.
    """
    flushes, process = facts.cells.operations(flushing), facts.cells.process[flushing]
    if np.bincount(process[process >= 0], facts.cells.columns.operations[flushing][process >= 0]).max(initial=0) <= 1:
        return Gain((0.0, 0.0), "none of them is made again")
    streams = facts.sums.streams.get(layer)
    if streams is None or not len(streams.deeds):
        return None
    empty = streams.deeds.taken(streams.deeds.keys[0] == Deed.FLUSHES_NOTHING)
    least = float(empty["ticks"].max(initial=0)) / facts.cells.window.ticks_per_second
    if least < cost / 2 and written < _LITTLE * flushes:
        each = bytes_text(written / flushes)
        return Gain((cost / 2, cost), f"by half as many, as {each} each wait and move little, and without any")
    return Gain((least, cost), "without those that put out nothing, as others put out what must be, and without any")


def gain_of_not_waiting(facts: Facts, layer: int, waits: Mask, cost: float) -> Gain | None:
    """Return what writes in the cells `waits` would save if they did not wait: all beyond the best rate there is."""
    streams, moved = facts.sums.streams.get(layer), facts.cells.bytes(waits)
    if streams is None or not moved or not len(streams.paces):
        return None
    best = best_pace(streams.paces.taken(streams.paces.keys[0] == modes_of("write")[0]))
    second = facts.cells.window.ticks_per_second
    least = cost * (1 - min(1.0, best * moved / (second * facts.rank_seconds(waits).sum())))
    return Gain((least, cost), f"at the best rate there is, {bytes_text(second / best)}/s, and without waiting at all")


def best_pace(paces: KeyedSums) -> float:
    """Return the ticks a byte that the fastest tenth of the bytes do not exceed."""
    each = paces["ticks"] / np.maximum(paces["bytes"], 1)
    order = np.argsort(each, kind="stable")
    return float(each[order[np.searchsorted(np.cumsum(paces["bytes"][order]), _FASTEST * paces["bytes"].sum())]])


def gain_of_fewer_calls(facts: Facts, sums: KeyedSums, took: Floats) -> Gain | None:
    """Return what calls that move no data would save, were there fewer; None where it is not known, and nothing
    where each is made once.

    At least what the rank that is shortest in them spends in all but the first on each file, as what a rank spends
    longer it may wait. At most what the longest spends, with all in one file: without any that need not be, and but for
    one open and one close.

    Parameters
    ----------
    sums : KeyedSums
        As `iostrata.layers.attribution.calls.calls.Calls.metadata`.
    took : float64 (processes,)
        Time in s that each process spends in them.
    """
    again = sums["ticks"] * (1 - 1 / np.maximum(sums["calls"], 1))
    kind = np.unique(np.stack((sums.keys[2], sums.keys[1], sums.keys[5])), axis=1, return_inverse=True)[1].reshape(-1)
    calls, ticks = (np.bincount(kind, sums[name]) for name in ("calls", "ticks"))
    in_one = sums["ticks"] - (ticks / np.maximum(calls, 1) ** 2)[kind] * sums["calls"]
    spared = np.where(np.isin(sums.keys[1], _NEEDED), in_one, sums["ticks"])
    some, all_spared = (
        np.bincount(sums.keys[2], one, minlength=len(took)) / facts.cells.window.ticks_per_second
        for one in (again, spared)
    )
    least, most = float(some[took > 0].min(initial=np.inf)), float(all_spared.max(initial=0.0))
    if least == np.inf:
        return None
    if most <= 0:
        return Gain((0.0, 0.0), "none of them is made again")
    shortest = "all but the first on each file, on the rank that is shortest in them"
    return Gain((least, most), f"from {shortest}, to all of the longest but those of one file, {seconds_text(most)}")


def gain_of_sharing(longest: float, mean: float, ranks: int, nodes: int, flushing: float) -> Gain:
    """Return what sharing work among all ranks, `mean` s each, would save of `longest` s.

    Ranks that move data at once may slow one another: then it is half of the most. Those of one node share its memory
    and device: then it is a quarter, as runs that were done both ways show, and what is `flushing` takes as long
    whoever does it.
    """
    most = max(0.0, longest - mean)
    if nodes != 1:
        return Gain((most / 2, most), f"if ranks slow one another, and by all {ranks:,}")
    least = max(0.0, most - flushing) / 4
    return Gain((least, most), f"if ranks of one node share its memory and device, and by all {ranks:,}")
