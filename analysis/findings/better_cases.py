"""What could be saved at least and at most, by what a trace shows of the better case, and which one that is."""

from typing import Final

import numpy as np

from ...layers.flow.access_pattern import Deed
from ...model.arrays import Floats
from ...model.codes import IoRecord
from ...model.keyed import KeyedSums
from ...model.quantities import bytes_text, seconds_text
from .facts import Facts, Gain

_FASTEST: Final = 0.1
"""Share of the bytes whose pace counts as the best: fewer may be a cache's, or the clock's."""
_NEEDED: Final = (IoRecord.CREATE_HANDLE, IoRecord.DESTROY_HANDLE)
_ENOUGH: Final = 4
"""Larger transfers below which nobody knows how long one usually takes."""


def gain_of_larger(facts: Facts, layer: int, mode: int, size: float, cost: float) -> Gain | None:
    """Return what larger transfers than `size` would save of `cost`; None where no pace of transfers is known.

    At least what the pace of the larger ones there are saves, nothing without any: bytes may be what costs. At most
    what the best pace of a tenth of the bytes saves.

    Parameters
    ----------
    layer : int
        Row of the layer.
    mode : int
        Of transfers; see `iostrata.layers.flow.access_pattern.StreamSums`.
    size : byte
    cost : float
        Time in s of the rank that is longest in the smaller ones.
    """
    streams = facts.sums.streams.get(layer)
    if streams is None:
        return None
    paces = streams.paces.taken(streams.paces.keys[0] == mode)
    small = paces.keys[1] < np.log2(size)
    part, others = paces.taken(small), paces.taken(~small)
    if not part["bytes"].sum():
        return None
    usual = part["ticks"].sum() / part["bytes"].sum()
    each = paces["ticks"] / np.maximum(paces["bytes"], 1)
    order = np.argsort(each, kind="stable")
    until = np.searchsorted(np.cumsum(paces["bytes"][order]), _FASTEST * paces["bytes"].sum())
    best = min(1.0, float(each[order[until]] / usual))
    rate = f"{bytes_text(facts.cells.window.ticks_per_second / (best * usual))}/s"
    if others["count"].sum() < _ENOUGH:
        return Gain((0.0, cost * (1 - best)), f"from nothing, if bytes cost the time, to all at the best rate, {rate}")
    larger = min(1.0, float(others["ticks"].sum() / others["bytes"].sum() / usual))
    low, high = sorted((cost * (1 - larger), cost * (1 - best)))
    return Gain((low, high), f"at the mean rate of larger ones, and at the best rate there is, {rate}")


def gain_of_fewer_flushes(facts: Facts, layer: int, cost: float) -> Gain | None:
    """Return what leaving out flushes would save: at least those that put out next to nothing; None without any."""
    streams = facts.sums.streams.get(layer)
    if streams is None:
        return None
    empty = streams.deeds.taken(streams.deeds.keys[0] == Deed.FLUSHES_NOTHING)
    least = float(empty["ticks"].max(initial=0)) / facts.cells.window.ticks_per_second
    if not least:
        return None
    return Gain((min(least, cost), cost), "without those that put out next to nothing, and without any")


def gain_of_fewer_calls(facts: Facts, sums: KeyedSums, took: Floats) -> Gain | None:
    """Return what calls that move no data would save, were each made once by a rank on a file; None where each is.

    At least what the rank that is shortest in the others spends there, as what a rank spends longer it may wait. At
    most what the longest spends, without any of those that need not be: all but opens and closes.

    Parameters
    ----------
    sums : KeyedSums
        As `iostrata.layers.attribution.calls.calls.Calls.metadata`.
    took : float64 (processes,)
        Time in s that each process spends in them.
    """
    again = sums["ticks"] * (1 - 1 / np.maximum(sums["calls"], 1))
    spared = np.where(np.isin(sums.keys[1], _NEEDED), again, sums["ticks"])
    some, all_spared = (
        np.bincount(sums.keys[2], ticks, minlength=len(took)) / facts.cells.window.ticks_per_second
        for ticks in (again, spared)
    )
    least, most = float(some[took > 0].min(initial=np.inf)), float(all_spared.max(initial=0.0))
    if not 0 < least < np.inf:
        return None
    shortest = "all but the first on each file, on the rank that is shortest in them"
    return Gain((least, most), f"from {shortest}, to all that need not be on the longest, {seconds_text(most)}")


def gain_of_sharing(longest: float, mean: float, movers: int, ranks: int) -> Gain:
    """Return what sharing the work of `movers` ranks would save: by twice as many, and by all, of `longest` s."""
    twice = mean if ranks <= 2 * movers else longest * 0.5
    low, high = sorted((max(0.0, longest - max(mean, twice)), longest - mean))
    return Gain((low, high), f"by twice as many ranks as the {movers:,} that do it, and by all {ranks:,}")
