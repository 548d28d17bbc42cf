"""Findings about what makes data durable: flushes, and writes that wait for the storage."""

from collections.abc import Iterator

import numpy as np

from ...layers.flow.access_pattern import written_in_flushes
from ...model.arrays import Mask
from ...model.codes import IoMode
from ...model.quantities import bytes_text, counted, percent_text, seconds_text
from .better_cases import gain_of_fewer_flushes, gain_of_not_waiting
from .counted import EACH, CountedFacts, pattern_text
from .facts import Facts, Gain, Match
from .rule import finding


def _flushes_counted(counters: CountedFacts, *, least_share: float, least_s: float) -> Iterator[Match]:
    """Find about as many flushes as writes; the time of both is counted together, so that theirs is not known."""
    for group in counters.groups:
        flushes = group.sum("fsyncs", "fdsyncs", "syncs")
        share = min(1.0, flushes / group.operations)
        if group.direction != "write" or share < least_share or counters.longest(group.rows, "write")[0] < least_s:
            continue
        each = bytes_text(group.bytes / group.operations)
        when = "after each" if share >= EACH else "in each flush"
        yield counters.match(
            group,
            f"{counted(flushes, 'flush', 'flushes')} beside {counted(group.operations, 'write')} of {each} on average: "
            f"{group.layer} waits for the storage {when}{pattern_text(group, flushes=False)}",
            {"flushes": flushes, "operations": group.operations, "share": share},
            share=share,
        )


@finding(needs=("flushes",), by_time=True, counted=_flushes_counted)
def flush_dominates(facts: Facts, *, least_share: float = 0.5, least_s: float = 0.01) -> Iterator[Match]:
    """Flushes take longer than the writes they flush, or 2 % of the run, or 10 % of the I/O.

    Parameters
    ----------
    least_share : share
        Of the time of flushes and writes: below, the writes are what takes long.
    least_s : s
        Less is a single access of a disk.

    Notes
    -----
    :In short: flushes take long; fewer flushes.
    :Why: Each waits for the storage instead of memory.
    :How it is measured: The time of the rank that is longest in the layer's flushes, and of that in its writes, or
        those of a layer above where it has none; what a flush of a higher layer causes is not told again.
    :When it is wrong: Data that must outlive a crash needs them.
    :What helps: Put several changes into one transaction, as each commit flushes; flush once at the end of a phase
        instead of after each write; drop MPI_File_sync, nc_sync and H5Fflush before a close that does it anyway; let
        one rank flush a shared file; where nothing must outlive a crash of the node, do not flush at all.
    """
    cells = facts.cells
    flush = cells.selected & (cells.mode == IoMode.FLUSH)
    parent, below = cells.attribution.parent, written_in_flushes(cells, cells.moved)
    reported = np.zeros(len(flush), np.bool_)
    for row, layer in enumerate(cells.layers):
        of_layer = cells.layer == row
        reported |= of_layer & (parent >= 0) & reported[parent]
        mask = flush & of_layer & ~reported
        if not mask.any():
            continue
        through, written = _written(facts, row, mask)
        flushing, writing = facts.longest_s(mask), facts.longest_s(written)
        if flushing < least_s or (flushing < least_share * (flushing + writing) and not facts.is_much(flushing)):
            continue
        reported |= mask
        count, writes = cells.operations(mask), cells.operations(written)
        beside = f", {counted(writes, f'{through}write')} {seconds_text(writing)}" if writes else ", without any write"
        inside = float(below[mask].sum())
        beside += f"; lower layers write {bytes_text(inside)} in these flushes" if inside else ""
        yield Match(
            layer,
            f"{counted(count, f'{layer} flush takes', f'{layer} flushes take')} a rank up to {seconds_text(flushing)}"
            f"{beside}",
            {
                "flushes": count,
                "flush_s": flushing,
                "write_s": writing,
                "written_in_flushes": inside,
                "share": flushing / (flushing + writing),
            },
            cells=mask,
            cost_s=flushing,
            gain=_gain(facts, row, (mask, written), flushing, inside),
        )


def _gain(facts: Facts, row: int, cells: tuple[Mask, Mask], cost: float, inside: float) -> Gain | None:
    """Return what leaving out flushes, the first `cells`, saves, in which lower layers write so many bytes `inside`.

    What the second ones, the writes before, left to them must be written some time, as in a close.
    """
    (flushes, written), columns = cells, facts.cells.columns
    found, moved = gain_of_fewer_flushes(facts, row, flushes, cost, inside + facts.cells.bytes(written)), 0.0
    if inside:
        ticks = float(written_in_flushes(facts.cells, columns.ticks.astype(np.float64))[flushes].sum())
        moved = ticks * min(1.0, facts.cells.bytes(written) / inside) / max(1.0, float(columns.ticks[flushes].sum()))
    if not moved:
        return found
    found = found or Gain((0.0, cost), "without any")
    least, most = (one * (1 - min(1.0, moved)) for one in found.gain_s)
    return Gain(
        (least, most), f"{found.gain_reason}; {percent_text(min(1.0, moved))} of it moves data that must be written"
    )


def _written(facts: Facts, row: int, flushes: Mask) -> tuple[str, Mask]:
    """Return the writes that flushes of a layer put out: its own, or those of the layer above with most, by its name.

    What is below streams of ISO C is often not recorded.
    """
    cells = facts.cells
    written = cells.of(cells.layers[row], "write")
    if written.any():
        return "", written
    above = (cells.of(layer, "write") & np.isin(cells.file, cells.file[flushes]) for layer in cells.layers[:row])
    found = max(above, key=cells.bytes, default=written)
    return (f"{cells.layers[cells.layer[found][0]]} " if found.any() else ""), found


@finding(needs=("metadata",), units={"synchronous_writes": "count"})
def synchronous_writes(facts: Facts, *, least_s: float = 0.001, share_of_run: float = 0.001) -> Iterator[Match]:
    """Files are opened by ``O_SYNC`` or ``O_DSYNC``.

    Parameters
    ----------
    least_s : s
        Less is noise of the clock.
    share_of_run : share
        Less makes no run faster.

    Notes
    -----
    :In short: each write waits for the storage; opening files without O_SYNC.
    :Why: Each write waits for the storage, as if a flush followed it.
    :How it is measured: The status flags of the open; cost is the time of the rank that is longest in the writes.
    :When it is wrong: Data that must outlive a crash needs it, such as a journal.
    :What helps: Open the file without O_SYNC and O_DSYNC, and flush once where data must outlive a crash; larger writes
        wait less often.
    """
    cells = facts.cells
    waits = facts.trace.sums.handles.synchronous.at((cells.handle, cells.process), "count") > 0
    for row, layer in enumerate(cells.layers):
        writes = cells.of(layer, "write")
        mine = writes & waits
        waited = facts.longest_s(mine)
        if waited < max(least_s, share_of_run * facts.run_s):
            continue
        count = cells.operations(mine)
        yield Match(
            layer,
            f"{count:,} of {counted(cells.operations(writes), f'{layer} write')} wait for the storage each, "
            f"{bytes_text(cells.bytes(mine) / max(count, 1))} at a time on average: their files are opened by "
            "O_SYNC or O_DSYNC",
            {"direction": "write", "synchronous_writes": count},
            cells=mine,
            gain=gain_of_not_waiting(facts, row, mine, waited),
        )
