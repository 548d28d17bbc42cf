"""How a bound of memory is shared out between the program, threads, bins and what is counted."""

import os
from dataclasses import dataclass
from typing import Final

from ...model.codes import UNDEFINED_UINT32
from ...model.errors import SelectionError
from ...model.stream.source import Source

PROGRAM: Final = 200 << 20
"""Bytes of the program itself with compiled kernels and what analyses and HDF5 need, as measured."""
_RELATIONS: Final = 24 << 20
"""Bytes of what layers are to each other, but for collective calls, as measured."""
_RELATIONS_PER_EVENT: Final = 100
_FIRST_CALL, _CALL_OF_THREAD = 1500, 1200
"""Bytes that a collective call takes until all ranks are read, and on each thread that reads, as measured."""
_SHARE_OF_CALLS: Final = 3, 4
"""Of what is left beyond the least."""
MOST_BINS: Final = 1 << 20
FEWEST_BINS: Final = 1 << 10

_BYTES_PER_BIN: Final = 16
_ANALYSED: Final = 12
"""Signals' worth of memory for the one that is analysed."""
BYTES_PER_HANDLE: Final = 850
"""What the forest of handles and writing it to HDF5 take for each, as measured."""
_BYTES_PER_LOCATION: Final = 430
"""What the definitions of each, its paths and what is known of its files take, as measured with a million of them; as
much again where all ranks are related."""
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
    calls : int or None
        Collective calls that there is memory for; None where there is enough for as many as there can be.
    """

    workers: int
    bins: int
    events_waiting: int
    base: int
    thread: int
    wanted: int
    signals: int
    calls: int | None = None

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
    done with each handle. One thread and the fewest bins come first; with `relations` then collective calls, as many as
    there can be or up to three quarters of what is left. Of the rest threads get up to half, bins what is left; so with
    more memory there are never fewer of either. Raises SelectionError if it is not a whole number of bytes, or is not
    enough for one thread and 1024 bins, or `workers` is below one.
    """
    if isinstance(memory, bool) or not isinstance(memory, int) or memory <= 0:
        raise SelectionError(f"memory {memory!r}: give a whole number of bytes above 0")
    if workers is not None and workers < 1:
        raise SelectionError(f"{workers} workers cannot read anything; give 1 or more")
    definitions = source.definitions
    thread = _BYTES_PER_THREAD + source.chunk + source.chunk // _SHORTEST_ROW * _ROW
    events = sum(definitions.locations.events.tolist())
    base = PROGRAM + handle_bytes * len(definitions.handles.id)
    base += _BYTES_PER_LOCATION * len(definitions.locations.id) * (1 + relations)
    base += min(_RELATIONS, _RELATIONS_PER_EVENT * events) * relations
    base += source.held + _BYTES_PER_SIGNAL * (signals if kinds is None else kinds)
    fewest = FEWEST_BINS * _bytes_per_bin(signals)
    if base + thread + fewest > memory:
        raise SelectionError(
            f"{source.path}: {memory / 1e6:.0f} MB of memory are not enough; give at least "
            f"{-(-(base + thread + fewest) // 10**6)}M"
        )
    calls = None
    threads = workers or len(os.sched_getaffinity(0))
    if relations and (definitions.handles.communicator != UNDEFINED_UINT32).any():
        each = _FIRST_CALL + _CALL_OF_THREAD * threads
        part, whole = _SHARE_OF_CALLS
        most = (memory - base - thread - fewest) * part // whole // each
        # A call has two events on each rank or more, if others than one take part.
        calls = most if most < events // 4 else None
        base += each * min(most, events // 4)
    wanted = threads * thread
    for_threads = min(wanted, max(thread, (memory - base - fewest) // 2))
    bins = 1 << (((memory - base - for_threads) // _bytes_per_bin(signals)).bit_length() - 1)
    bins = min(bins, MOST_BINS)
    waiting = max(
        _EVENTS_WAITING.start, min(_ANALYSED * _BYTES_PER_BIN * bins // _BYTES_PER_EVENT_WAITING, _EVENTS_WAITING.stop)
    )
    return MemoryPlan(for_threads // thread, bins, waiting, base, thread, wanted, signals, calls)


def _bytes_per_bin(signals: int) -> int:
    return _BYTES_PER_BIN * (max(signals, 1) + _ANALYSED)
