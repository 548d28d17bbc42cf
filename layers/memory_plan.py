"""How a bound of memory is shared out between the program, threads, bins and what is counted."""

import os
from dataclasses import dataclass
from typing import Final

from ..otf2io.anchor import Anchor
from ..otf2io.definitions import Definitions
from ..otf2io.errors import SelectionError

PROGRAM: Final = 200 << 20
"""Bytes of the program itself with compiled kernels and what analyses and HDF5 need, as measured."""
MOST_BINS: Final = 1 << 20
FEWEST_BINS: Final = 1 << 10

_BYTES_PER_BIN: Final = 16
_ANALYSED: Final = 12
"""Signals' worth of memory for the one that is analysed."""
_BYTES_PER_HANDLE: Final = 300
_BYTES_PER_SIGNAL: Final = 8 << 20
"""Stretches and sizes that are counted, at most, and the memory to join them."""
_SHORTEST_ROW: Final = 8
_ROW: Final = 46
_BYTES_PER_THREAD: Final = 12 << 20


@dataclass(frozen=True)
class MemoryPlan:
    """What a bound of memory allows.

    Attributes
    ----------
    memory : int
        The bound in bytes.
    workers : int
        Threads that read.
    bins : int
        Bins of each signal, a power of two.
    fixed : int
        Bytes that do not depend on the number of bins.
    signals : int
        Number of signals that there can be.
    """

    memory: int
    workers: int
    bins: int
    fixed: int
    signals: int

    def memory_for(self, bins: int) -> int:
        """Return the bytes that a number of bins takes in all, rounded up to a power of two of bins."""
        return self.fixed + (1 << (bins - 1).bit_length()) * _bytes_per_bin(self.signals)


def plan_memory(
    memory: int, anchor: Anchor, definitions: Definitions, signals: int, workers: int | None = None
) -> MemoryPlan:
    """Share out `memory` bytes.

    Threads are dropped first, then bins.

    Raises
    ------
    SelectionError
        If it is not a whole number of bytes, or is not enough for one thread and 1024 bins.
    """
    if isinstance(memory, bool) or not isinstance(memory, int) or memory <= 0:
        raise SelectionError(f"memory {memory!r}: give a whole number of bytes above 0")
    thread = _BYTES_PER_THREAD + anchor.event_chunk + anchor.event_chunk // _SHORTEST_ROW * _ROW
    base = PROGRAM + _BYTES_PER_HANDLE * len(definitions.handles.id) + _BYTES_PER_SIGNAL * signals
    fewest = FEWEST_BINS * _bytes_per_bin(signals)
    threads = min(workers or len(os.sched_getaffinity(0)), max(1, (memory - base - fewest) // (2 * thread)))
    fixed = base + threads * thread
    if fixed + fewest > memory:
        raise SelectionError(
            f"{anchor.path}: {memory >> 20} MiB of memory are not enough; give at least "
            f"{-(-(fixed + fewest) >> 20)} MiB"
        )
    bins = 1 << (((memory - fixed) // _bytes_per_bin(signals)).bit_length() - 1)
    return MemoryPlan(memory, threads, min(bins, MOST_BINS), fixed, signals)


def _bytes_per_bin(signals: int) -> int:
    return _BYTES_PER_BIN * (max(signals, 1) + _ANALYSED)
