"""What became of a recording: which layers are in it, and what went wrong with it that the archive shows."""

import mmap
import os
import re
import shutil
import struct
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from ..analysis.comparison.headline import forks
from ..model.quantities import counted, seconds_text

if TYPE_CHECKING:
    from ..layers.trace import Trace

_FUNCTIONS: Final = {
    "netCDF": b"\0nc_put_var",
    "PnetCDF": b"\0ncmpi_put_var",
    "ADIOS": b"\0adios2_put",
    "HDF5": b"\0H5Dwrite",
    "MPI-IO": b"\0MPI_File_write",
}
"""Names of functions of layers as they stand in a program that calls them."""
_ASKED_FOR: Final = (*_FUNCTIONS, "ISOC", "POSIX")
_FLUSH: Final = re.compile(rb"\x05(.{8})\x0a([\x01-\x08])(.{8})", re.DOTALL)
"""A time stamp and the record BUFFER_FLUSH with the time at which it was over."""
_MEGABYTE: Final = 1 << 20
_MOST_MEMORY: Final = 4095 * _MEGABYTE
"""What Score-P takes at most."""
_LEAST_MEMORY: Final = 16 * _MEGABYTE
_UNITS: Final = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


@dataclass(frozen=True)
class Flushes:
    """How often Score-P wrote its full buffer of a trace while the program ran.

    Attributes
    ----------
    count : int
    processes : int
        Processes that did so.
    longest_s : float
        What it took of one of them at most.
    memory : int
        Bytes for a process, with which none of them would have had to.
    """

    count: int
    processes: int
    longest_s: float
    memory: int


def memory_of(text: str) -> int:
    """Return what a value of SCOREP_TOTAL_MEMORY means, in bytes; 0 of none."""
    found = re.fullmatch(r"\s*(\d+)\s*([kmg]?)i?b?\s*", text.lower())
    return int(found[1]) * _UNITS[found[2]] if found else 0


def flushes_of(trace: "Trace") -> Flushes | None:
    """Return how often the buffer was full; None where it never was."""
    definitions = trace.definitions
    groups, clock = definitions.locations.group, definitions.clock
    size = np.zeros(len(groups), np.int64)
    taken, counts = np.zeros(len(groups)), np.zeros(len(groups), np.int64)
    for row, location in enumerate(definitions.locations.id.tolist()):
        path = trace.path.with_suffix("") / f"{location}.evt"
        # An empty file cannot be mapped.
        with (
            suppress(OSError, ValueError),
            path.open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            size[row] = len(data)
            for begin, end in _flushes_in(data, clock.start, clock.start + clock.length):
                counts[row] += 1
                taken[row] += (end - begin) / clock.ticks_per_second
    if not counts.any():
        return None
    process = np.where(groups >= 0, groups, len(groups) + np.arange(len(groups)))
    held = max(int(size[process == one].sum()) for one in np.unique(process))
    # Pages that are not full, and what else Score-P keeps.
    needed = held + held // 4 + _LEAST_MEMORY
    return Flushes(int(counts.sum()), len(np.unique(process[counts > 0])), float(taken.max()), needed)


def _flushes_in(data: mmap.mmap, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield when each flush in the bytes of an event file began and ended, as the tracer's clock has it."""
    for found in _FLUSH.finditer(data):
        begin = struct.unpack("<Q", found[1])[0]
        over = int.from_bytes(found[3][: found[2][0]], "little")
        if start <= begin <= over <= max(end, begin):
            yield begin, over


def layers_in(trace: "Trace") -> str:
    """Say which layers were recorded, of how many processes, and which were not."""
    locations = trace.definitions.locations
    processes = len(np.unique(locations.group[locations.events > 0]))
    names = trace.order
    rest = [name for name in _ASKED_FOR if name not in names]
    found = f"Recorded of {counted(processes, 'process', 'processes')}: {', '.join(names) or 'no layer of I/O'}"
    return f"{found}; no call of {', '.join(rest)}" if rest else found


def faults_of(trace: "Trace", command: Sequence[str]) -> Iterator[str]:
    """Say what is wrong with the trace of a command that could have been prevented."""
    flushes = flushes_of(trace)
    if flushes is not None:
        yield _flush_text(flushes)
    if forks(trace):
        yield "the program forks: what its children read and write is not recorded"
    if not any(layer.directions for layer in trace.layers.values()):
        yield (
            "Score-P ran, but recorded no operation: the program makes none, or leaves it to others that it starts, "
            "which are not recorded"
        )
    for program in _programs(command):
        held = Path(program).read_bytes()
        for layer, function in _FUNCTIONS.items():
            if layer not in trace.order and function in held:
                yield (
                    f"{Path(program).name} has functions of {layer}, but no call of them was recorded: it made none, "
                    f"or is linked with {layer} statically, and only shared libraries are recorded{_excluded(layer)}"
                )


def _flush_text(flushes: Flushes) -> str:
    memory = -(-flushes.memory // _MEGABYTE)
    cure = f"SCOREP_TOTAL_MEMORY={memory}M is enough for all of it"
    if flushes.memory > _MOST_MEMORY:
        cure = f"it needs {memory} MB, and Score-P takes less than 4 GB: record a shorter run, or on more processes"
    processes = counted(flushes.processes, "process", "processes")
    return (
        f"Score-P's memory was full: it wrote the trace {counted(flushes.count, 'time', 'times')} while the program "
        f"ran, on {processes}, for {seconds_text(flushes.longest_s)} of one at most, which is in the times of the "
        f"calls around; {cure}"
    )


def _programs(command: Sequence[str]) -> Iterator[str]:
    """Yield the binaries in a command."""
    for word in command:
        path = shutil.which(word)
        if path is not None and Path(path).is_file():
            with open(path, "rb") as file:
                if file.read(4) == b"\x7fELF":
                    yield path


def _excluded(layer: str) -> str:
    """Say what in the environment keeps a layer from being recorded."""
    groups = os.environ.get("SCOREP_MPI_ENABLE_GROUPS", "io").lower()
    if layer == "MPI-IO" and not re.search(r"\b(io|all)\b", groups):
        return "; SCOREP_MPI_ENABLE_GROUPS is without io"
    return "; SCOREP_FILTERING_FILE may exclude it" if os.environ.get("SCOREP_FILTERING_FILE") else ""
