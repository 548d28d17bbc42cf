"""Who asks again and again for a file that is not there yet, as one that waits for what another process makes."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from ...layers.attribution.calls.functions import NO_EVENT
from ...layers.attribution.calls.metadata_calls import MetadataCalls
from ...layers.selection.directions import is_of_direction
from ...layers.selection.window import sums_by
from ...layers.trace import Trace
from ...model.arrays import Ints, Mask
from ...model.keyed import KeyedSums
from ...model.quantities import counted, percent_text, seconds_text

_OPENS: Final = re.compile("(open|openat|fopen|creat)(64)?")
"""Functions that leave an event where they succeed."""
OFTEN: Final = 20
"""Opens that fail, below which a program looks for a file in some places."""
_PAUSE: Final = 5.0
"""Times the usual pause between two of them, from which on it does something else."""
_MOST: Final = 1 << 20
"""Opens up to which they are looked at."""
_LONG: Final = 10
"""Times as long as others that it waits for a file: these are not named."""

Timed = tuple[str, float]
"""A sentence and the time in s that it is about, without what is I/O of who is waited for."""


def opens_in_vain(trace: Trace) -> int | None:
    """Return how many opens of the program fail; None where that is not recorded."""
    failed = _failed(trace)
    return None if failed is None else int(failed["calls"].sum())


def _failed(trace: Trace) -> KeyedSums | None:
    """Return the sums over opens that fail; None where that is not recorded."""
    calls = trace.calls.totals
    if calls is None:
        return None
    sums = calls.metadata
    return sums.taken((sums.keys[1] == NO_EVENT) & _opens(calls.functions.regions.name)[sums.keys[5]])


def _opens(names: Sequence[str]) -> Mask:
    """Tell of functions by their names whether they open files; the last one is for none."""
    return np.array([bool(_OPENS.fullmatch(name)) for name in names] + [False], np.bool_)


def polled(trace: Trace, share_of_run: float) -> Iterator[Timed]:
    """Tell which threads open files in vain for so much of the run until they are there, and who made these."""
    calls, failed = trace.calls.totals, _failed(trace)
    if calls is None or failed is None:
        return
    window, opens = calls.scope.window, _opens(calls.functions.regions.name)
    least = share_of_run * (window.end - window.start)
    if not ((failed["calls"] >= OFTEN) & (failed["end"] - failed["begin"] >= least)).any():
        return
    parts, count = list[MetadataCalls](), 0
    for part in trace.calls.metadata_calls():
        parts.append(part.take(opens[part.region]))
        count += len(parts[-1])
        if count > _MOST:
            return
    found = MetadataCalls.concatenate(parts)
    found = found.take(np.lexsort((found.begin, found.location)))
    found = found.take(np.append(trace.scope.selection.file_reason < 0, True)[found.file])
    succeeds, process = found.kind != NO_EVENT, trace.definitions.locations.group[found.location].astype(np.int64)
    maker = _makers(trace, found, succeeds, process)
    for location in np.unique(found.location[~succeeds]).tolist():
        mine = np.flatnonzero(found.location == location)
        tried, waited = _waits(found.begin[mine], succeeds[mine])
        long = _LONG * waited > waited.max()
        times, ticks = int(tried[long].sum()), int(waited[long].sum())
        if ticks < least or times < OFTEN:
            continue
        whose = np.where(maker[mine] == process[mine], -1, maker[mine])
        files = found.file[mine][long & (found.file[mine] >= 0)]
        by_maker = sums_by(whose + 1, waited, len(trace.definitions.groups.id) + 1)
        ranks, second = np.append(trace.definitions.groups.rank, -1), window.ticks_per_second
        rank, most = int(ranks[process[mine[0]]]), int(ranks[by_maker.argmax() - 1])
        names = (trace.definitions.files.name[one] for one in dict.fromkeys(files.tolist()))
        named = _named([name for name in names if not name.endswith("/")])
        until = f"until rank {most} has made them" if most >= 0 and most != rank else "until they are there"
        share, pause = percent_text(ticks / (window.end - window.start)), seconds_text(ticks / second / times)
        who = f"Rank {rank}" if rank >= 0 else "A process"
        yield (
            f"{who} opens files in vain {times:,} times{named}, every {pause} for {seconds_text(ticks / second)}, "
            f"{share} of the run, {until}; whether it waits or works between is not recorded",
            ticks / second,
        )


def _named(files: Sequence[str]) -> str:
    """Return the first of some files, and how many others there are, in brackets; nothing where none is known."""
    if not files:
        return ""
    others = f" and {counted(len(files) - 1, 'other')}" if len(files) > 1 else ""
    return f" ({files[0].rpartition('/')[2]}{others})"


def _waits(begin: Ints, succeeds: Mask) -> tuple[Ints, Ints]:
    """Return for each open of a thread that succeeds how many fail before it, and how long these make it wait; (n,)."""
    tried, waited, gap = np.zeros(len(begin), np.int64), np.zeros(len(begin), np.int64), np.diff(begin)
    vain = np.flatnonzero(~succeeds[:-1])
    if not len(vain):
        return tried, waited
    median = float(np.median(gap[vain]))
    usual = int(_PAUSE * median)
    # Those that fail after one that succeeds, up to the next that does, if that follows as closely.
    first = np.append(0, np.flatnonzero(succeeds[:-1]) + 1)
    last = np.append(np.flatnonzero(succeeds[:-1]), len(begin) - 1)
    ended = (last > first) & succeeds[last]
    ended[ended] = gap[last[ended] - 1] <= usual
    until = np.append(0, np.cumsum(np.minimum(gap, usual)))
    waited[last[ended]] = (until[last] - until[first])[ended]
    # It looks for one file in several places at once.
    often = np.append(0, np.cumsum(gap * _PAUSE >= median))
    tried[last[ended]] = (often[last] - often[first])[ended]
    return tried, waited


def _makers(trace: Trace, found: MetadataCalls, succeeds: Mask, process: Ints) -> Ints:
    """Return the process that opened the file of each call first, int64 (n,), −1 where another may have made it.

    One that another process has written and renamed, which leaves no event, is made by none that opens it: who makes it
    writes it, unless nobody moves any of it.
    """
    cells = trace.relations.cells
    moved, writes = cells.moving & (cells.file >= 0), is_of_direction(cells.mode, "write")
    used = set(cells.file[moved].tolist())
    writers = set(zip(cells.file[moved & writes].tolist(), cells.process[moved & writes].tolist(), strict=True))
    known = np.flatnonzero(succeeds & (found.file >= 0))
    known = known[np.argsort(found.begin[known], kind="stable")]
    file, first = np.unique(found.file[known], return_index=True)
    maker = np.full(int(found.file.max(initial=-1)) + 2, -1)
    opened = zip(file.tolist(), process[known[first]].tolist(), strict=True)
    maker[file] = [who if one not in used or (one, who) in writers else -1 for one, who in opened]
    return maker[found.file]
