"""How a bound of memory is shared out between the program, threads, bins and what is counted."""

import os
from dataclasses import dataclass
from typing import Final

from ...model.errors import SelectionError
from ...model.stream.source import Source

PROGRAM: Final = 200 << 20
"""Bytes of the program itself with compiled kernels and what analyses and HDF5 need, as measured."""
RELATIONS: Final = 560 << 20
"""Most bytes of what layers are to each other, and of the blocks that are looked at for it, as measured."""
_RELATIONS_PER_EVENT: Final = 100
MOST_BINS: Final = 1 << 20
FEWEST_BINS: Final = 1 << 10

_BYTES_PER_BIN: Final = 16
_ANALYSED: Final = 12
"""Signals' worth of memory for the one that is analysed."""
BYTES_PER_HANDLE: Final = 700
"""What the forest of handles and writing it to HDF5 take for each, as measured."""
_BYTES_PER_SIGNAL: Final = 8 << 20
"""Stretches and sizes that are counted, at most, and the memory to join them."""
_SHORTEST_ROW: Final = 8
_ROW: Final = 46
_BYTES_PER_THREAD: Final = 12 << 20

_EVENTS_WAITING: Final = range(1 << 16, 1 << 20)
"""How many events may wait for other threads of their process, at least and at most."""

_BYTES_PER_EVENT_WAITING: Final = 400
"""While they are matched, as measured."""


@dataclass(frozen=True)
class MemoryPlan:
    """What a bound of memory allows.

    Attributes
    ----------
    workers : int
        Threads that read.
    bins : int
        Bins of each signal, a power of two.
    events_waiting : int
        Events that may wait for other threads of their process; they are matched while no signal is analysed yet.
    base : int
        Bytes that depend on neither threads nor bins.
    thread : int
        Bytes for each thread.
    wanted : int
        Bytes that all threads would have if there were memory for them.
    signals : int
        Number of signals that there can be.
    """

    workers: int
    bins: int
    events_waiting: int
    base: int
    thread: int
    wanted: int
    signals: int

    def memory_for(self, bins: int) -> int:
        """Return the bytes with which there are at least `bins` bins of each signal; `MOST_BINS` is the most."""
        most = max(FEWEST_BINS, 1 << (bins - 1).bit_length())
        fewest, needed = (count * _bytes_per_bin(self.signals) for count in (FEWEST_BINS, most))
        # Half of what is left beyond the fewest bins goes to threads, as far as they want it; see `plan_memory`.
        return self.base + needed + min(self.wanted, max(self.thread, needed - fewest))


def plan_memory(
    memory: int,
    source: Source,
    signals: int,
    workers: int | None = None,
    handle_bytes: int = BYTES_PER_HANDLE,
    kinds: int | None = None,
    relations: bool = False,
) -> MemoryPlan:
    """Share out `memory` bytes.

    There are `kinds` of statistics, by default one for each of the `signals`. `handle_bytes` are set aside for what is
    done with each handle, and up to `RELATIONS` where these are added up. One thread and the fewest bins come first. Of
    the rest threads get up to half, bins what is left; so with more memory there are never fewer of either. Raises
    SelectionError if it is not a whole number of bytes, or is not enough for one thread and 1024 bins, or `workers` is
    below one.
    """
    if isinstance(memory, bool) or not isinstance(memory, int) or memory <= 0:
        raise SelectionError(f"memory {memory!r}: give a whole number of bytes above 0")
    if workers is not None and workers < 1:
        raise SelectionError(f"{workers} workers cannot read anything; give 1 or more")
    definitions = source.definitions
    thread = _BYTES_PER_THREAD + source.chunk + source.chunk // _SHORTEST_ROW * _ROW
    events = sum(definitions.locations.events.tolist())
    base = (
        PROGRAM + min(RELATIONS, _RELATIONS_PER_EVENT * events) * relations + handle_bytes * len(definitions.handles.id)
    )
    base += source.held + _BYTES_PER_SIGNAL * (signals if kinds is None else kinds)
    fewest = FEWEST_BINS * _bytes_per_bin(signals)
    if base + thread + fewest > memory:
        raise SelectionError(
            f"{source.path}: {memory / 1e6:.0f} MB of memory are not enough; give at least "
            f"{-(-(base + thread + fewest) // 10**6)}M"
        )
    wanted = (workers or len(os.sched_getaffinity(0))) * thread
    for_threads = min(wanted, max(thread, (memory - base - fewest) // 2))
    bins = 1 << (((memory - base - for_threads) // _bytes_per_bin(signals)).bit_length() - 1)
    bins = min(bins, MOST_BINS)
    waiting = max(
        _EVENTS_WAITING.start, min(_ANALYSED * _BYTES_PER_BIN * bins // _BYTES_PER_EVENT_WAITING, _EVENTS_WAITING.stop)
    )
    return MemoryPlan(for_threads // thread, bins, waiting, base, thread, wanted, signals)


def _bytes_per_bin(signals: int) -> int:
    return _BYTES_PER_BIN * (max(signals, 1) + _ANALYSED)
