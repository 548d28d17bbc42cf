"""Event files of chunks, as they grow on disk; the state of a file is an array that compiled loops carry on."""

import os
from pathlib import Path
from typing import Final

import numpy as np

from ...model.arrays import Ints, Octets
from ...model.codes import UNDEFINED_TIME
from ..files.anchor import CHUNK_HEADER, LITTLE_ENDIAN, MAGIC_BYTE
from ..files.regular import END

CHUNK: Final = 1 << 20
"""Bytes of a chunk, as Score-P has them."""
MARGIN: Final = 72
"""More bytes than an event takes with its time stamp, its attribute and the mark of a chunk's end."""

CHUNK_NUMBER, AT, EVENTS, BEFORE, LAST = range(5)
"""Places in the state of a file: its present chunk, bytes in that, events in all, events before the chunk, and the time
of the last event in ticks since the trace's start."""
NEW: Final = (0, CHUNK_HEADER, 0, 0, UNDEFINED_TIME)
"""State of a file without events."""

State = Ints
Bytes = Octets

NO_EVENTS: Final = bytes((MAGIC_BYTE, LITTLE_ENDIAN)) + (1).to_bytes(8, "little") + bytes(8) + END
"""A whole file of events or definitions that has none."""


def write_chunk(path: Path, state: State, out: Bytes, begin: int, full: bool) -> None:
    """Write the bytes of the present chunk from `begin` on, and its header; where it is `full`, another one follows.

    Raises OSError if that fails.
    """
    numbers = int(state[BEFORE]) + 1, int(state[EVENTS])
    header = bytes((MAGIC_BYTE, LITTLE_ENDIAN)) + b"".join(number.to_bytes(8, "little") for number in numbers)
    out[:CHUNK_HEADER] = np.frombuffer(header, np.uint8)
    position, end = int(state[CHUNK_NUMBER]) * CHUNK, int(state[AT]) + full
    if begin == CHUNK_HEADER:
        _write(path, (position, out[:end].data))
    else:
        _write(path, (position, out[:CHUNK_HEADER].data), (position + begin, out[begin:end].data))
    if full:
        state[[CHUNK_NUMBER, AT, BEFORE]] = state[CHUNK_NUMBER] + 1, CHUNK_HEADER, state[EVENTS]


def end_file(path: Path, state: State) -> None:
    """Write the end of a file. Raises OSError if that fails."""
    if not state[EVENTS]:
        path.write_bytes(NO_EVENTS)
    else:
        _write(path, (int(state[CHUNK_NUMBER]) * CHUNK + int(state[AT]), memoryview(END)))


def _write(path: Path, *pieces: tuple[int, memoryview]) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        for position, content in pieces:
            while len(content):
                done = os.pwrite(file, content, position)
                content, position = content[done:], position + done
    finally:
        os.close(file)
