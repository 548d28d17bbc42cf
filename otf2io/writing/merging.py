"""Several event files of one location, each in the order of time, merged into one."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from ...model.arrays import Octets, Unsigned
from ...model.kernels import compiled_uncounted, inlined
from ..direct.integers import load_byte, load_word, store_word
from ..files.anchor import CHUNK_HEADER
from .chunks import AT, CHUNK, EVENTS, MARGIN, NEW, Bytes, State, end_file, write_chunk

AT_ONCE: Final = 16
"""Files merged at once; each takes a chunk of memory."""

_ALL_DONE: Final = -1
_CHUNK_FULL: Final = -2
_TIMESTAMP: Final = 5
_ATTRIBUTES: Final = 6
_PLACE, _LEFT, _STAMP, _NUMBER = range(4)
"""Places in the state of a file that is read: where its chunk is read, events left in that, its time stamp, the chunk's
number, −1 behind the last."""


def merge_files(paths: Sequence[Path]) -> None:
    """Merge event files into the first of them and remove the others.

    Raises OSError if one cannot be read or written.
    """
    target, paths = paths[0], list(paths)
    while len(paths) > 1:
        some, paths = paths[:AT_ONCE], paths[AT_ONCE:]
        merged = some[0].with_suffix(".merged")
        _merge(some, merged)
        for path in some[1:]:
            path.unlink()
        merged.replace(some[0])
        # Behind those that were not merged yet, so that none is copied more often than need be.
        paths.append(some[0])
    if paths[0] != target:
        paths[0].replace(target)


def _merge(paths: Sequence[Path], merged: Path) -> None:
    data = np.zeros((len(paths), CHUNK + MARGIN), np.uint8)
    reading = np.zeros((len(paths), 4), np.int64)
    for number, path in enumerate(paths):
        _read_chunk(path, data[number], reading[number], 0)
    out, state, last = np.zeros(CHUNK + MARGIN, np.uint8), np.array(NEW, np.int64), np.zeros(1, np.uint64)
    while True:
        begin = int(state[AT])
        outcome = merge_events(data, reading, out, state, last)
        write_chunk(merged, state, out, begin, outcome == _CHUNK_FULL)
        if outcome == _ALL_DONE:
            return end_file(merged, state)
        if outcome != _CHUNK_FULL:
            _read_chunk(paths[outcome], data[outcome], reading[outcome], int(reading[outcome, _NUMBER]) + 1)


def _read_chunk(path: Path, data: Octets, reading: State, number: int) -> None:
    with path.open("rb") as file:
        file.seek(number * CHUNK)
        content = file.read(CHUNK)
    first, last = (int.from_bytes(content[at : at + 8], "little") for at in (2, 10))
    data[: len(content)] = np.frombuffer(content, np.uint8)
    reading[:] = CHUNK_HEADER, last - first + 1, 0, number
    if len(content) <= CHUNK_HEADER or last < first:
        reading[[_LEFT, _NUMBER]] = 0, -1


@inlined
def _earliest(data: Bytes, reading: State) -> tuple[int, int]:
    """Return the file whose event comes next, −1 where all are done, and one that needs a chunk first, −1 for none."""
    chosen = -1
    for file in range(len(data)):
        if reading[file, _NUMBER] < 0:
            continue
        if reading[file, _LEFT] == 0:
            return chosen, file
        place = reading[file, _PLACE]
        if load_byte(data[file], place) == _TIMESTAMP:
            reading[file, _STAMP] = np.int64(load_word(data[file], place + 1))
            reading[file, _PLACE] = place + 9
        if chosen < 0 or np.uint64(reading[file, _STAMP]) < np.uint64(reading[chosen, _STAMP]):
            chosen = file
    return chosen, -1


@inlined
def _copy_event(data: Bytes, place: int, out: Bytes, at: int) -> int:
    """Copy the event at a place, with its attributes, and return its length."""
    end = place
    if load_byte(data, end) == _ATTRIBUTES:
        end += 2 + load_byte(data, end + 1)
    end += 2 + load_byte(data, end + 1)
    # Whole words: what they bring along behind the event is written over, or lies behind the end.
    for step in range(0, end - place, 8):
        store_word(out, at + step, load_word(data, place + step))
    return int(end - place)


@compiled_uncounted
def merge_events(data: Bytes, reading: State, out: Bytes, state: State, last: Unsigned) -> int:
    """Copy events in the order of time until all are copied, a chunk is full, or a file needs its next chunk.

    Parameters
    ----------
    data : uint8 (files, n)
        The present chunk of each file.
    reading : int64 (files, 4)
    out, state
        Of the file that is written, as in `iostrata.otf2io.writing.kernel.put_events`.
    last : uint64 (1,)
        Time stamp last written.

    Returns
    -------
    int
        The file that needs its next chunk, or a negative number.
    """
    at = state[AT]
    chosen, empty = _earliest(data, reading)
    while empty < 0 and chosen >= 0 and at + MARGIN <= CHUNK:
        stamp = np.uint64(reading[chosen, _STAMP])
        if at == CHUNK_HEADER or stamp != last[0]:
            out[at] = _TIMESTAMP
            store_word(out, at + 1, stamp)
            at += 9
            last[0] = stamp
        length = _copy_event(data[chosen], reading[chosen, _PLACE], out, at)
        at += length
        state[EVENTS] += 1
        reading[chosen, _PLACE] += length
        reading[chosen, _LEFT] -= 1
        chosen, empty = _earliest(data, reading)
    state[AT] = at
    if empty >= 0:
        return empty
    if chosen < 0:
        return _ALL_DONE
    out[at] = 0
    return _CHUNK_FULL
