"""Events of DFTracer files as columns: files inflated and scanned a piece at a time."""

import json
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from ...model.arrays import Ints, Links

GZIP: Final = b"\x1f\x8b"
_PIECE: Final = 1 << 20
"""Bytes of text that are scanned at once; they stay in the processor's cache."""
_READ: Final = 1 << 18
"""Bytes that are inflated at once."""
_PACKED: Final = 1 << 14
"""Bytes of a compressed file that are read at once: what a step of inflating leaves of them is copied."""
_FIRST: Final = 1 << 16
_LONGEST_LINE: Final = 1 << 24
_COMPLETE, _METADATA = ord("X"), ord("M")


@dataclass(frozen=True, eq=False)
class Lines:
    """Events of one file, columns of shape (n,).

    Attributes
    ----------
    numbers : dict of int64
        By the names of `iostrata.inputs.dftracer.scan.NUMBERS`; `UNKNOWN` where absent.
    texts : dict of int32
        Places in `names`, −1 where absent, by the names of `iostrata.inputs.dftracer.scan.TEXTS`.
    names : tuple of str
    unreadable : int
        Lines that cannot be read.
    fault : str or None
        Why the file ends early.
    """

    numbers: dict[str, Ints]
    texts: dict[str, Links]
    names: tuple[str, ...]
    unreadable: int
    fault: str | None


def first_lines(head: bytes) -> bytes:
    """Return the first bytes of the text of a file, of a compressed one inflated."""
    if not head.startswith(GZIP):
        return head
    text = b""
    with suppress(zlib.error):
        while head.startswith(GZIP) and len(text) < _FIRST:
            member = zlib.decompressobj(31)
            text += member.decompress(head, _FIRST)
            head = member.unused_data
    return text


def read_lines(path: Path) -> Lines:
    """Read all events of a file; what lies behind damage is lost."""
    from .scan import NUMBERS, TEXTS, Scanner

    scanner, faults = Scanner(), list[str]()
    for piece in _pieces(path, faults):
        scanner.add(piece)
    return Lines(
        {name: scanner.numbers[:, column] for column, name in enumerate(NUMBERS)},
        {name: scanner.codes[:, column] for column, name in enumerate(TEXTS)},
        tuple(_decoded(name) if "\\" in name else name for name in scanner.names.texts()),
        scanner.unreadable,
        faults[0] if faults else None,
    )


def _decoded(written: str) -> str:
    """Return a text that has escapes."""
    try:
        return str(json.loads(f'"{written}"')).encode("utf-8", "backslashreplace").decode()
    except ValueError:
        return written


def _pieces(path: Path, faults: list[str]) -> Iterator[npt.NDArray[np.uint8]]:
    """Yield the text of a file in pieces of whole lines, each until the next; why it ends early goes to `faults`."""
    # One room for all of them, which stays in the cache.
    room = np.empty(_PIECE, np.uint8)
    filled = 0
    with path.open("rb", buffering=0) as file:
        packed = file.read(2) == GZIP
        file.seek(0)
        fill = _inflating(file, faults) if packed else file.readinto
        while got := fill(room.data[filled:]):
            filled += got
            if filled < len(room):
                continue
            end = _behind_the_last_line(room)
            if end:
                yield room[:end]
                filled -= end
                room[:filled] = room[end : end + filled].copy()
            elif filled > _LONGEST_LINE:
                faults.append("a line is too long")
                return
            else:
                room = np.concatenate([room, np.empty(len(room), np.uint8)])
    if filled:
        yield room[:filled]


def _behind_the_last_line(room: npt.NDArray[np.uint8]) -> int:
    """Return how much of a text are whole lines."""
    end, step = len(room), 1 << 12
    while end:
        start = max(end - step, 0)
        last = room[start:end].tobytes().rfind(b"\n")
        if last >= 0:
            return start + last + 1
        end, step = start, 16 * step
    return 0


def _inflating(file: FileIO, faults: list[str]) -> Callable[[memoryview], int]:
    """Return what puts the next of a compressed file's text into a room and returns its length, 0 at the end."""
    # One or several members, as DFTracer writes them a block each.
    stream, over, waiting = zlib.decompressobj(31), True, b""

    def fill(room: memoryview) -> int:
        nonlocal stream, over, waiting
        while True:
            if stream.eof:
                waiting, stream, over = stream.unused_data, zlib.decompressobj(31), True
            waiting = waiting or file.read(_PACKED)
            if not waiting:
                if not over:
                    faults.append("the compressed data end too early: the file is cut")
                return 0
            if over and not waiting.startswith(GZIP[:1]):
                faults.append("what follows the compressed data is something else")
                return 0
            over = False
            try:
                part = stream.decompress(waiting, min(len(room), _READ))
            except zlib.error:
                faults.append("the compressed data are damaged")
                return 0
            waiting = stream.unconsumed_tail
            if part:
                room[: len(part)] = part
                return len(part)

    return fill
