"""Events of DFTracer files as columns: files inflated and scanned a piece at a time."""

import json
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...model.arrays import Ints, Links

GZIP: Final = b"\x1f\x8b"
_PIECE: Final = 1 << 23
"""Bytes of text that are scanned at once."""
_READ: Final = 1 << 20
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
    from .scan import NUMBERS, TEXTS, scan

    names: dict[bytes, int] = {}
    numbers: list[Any] = [np.empty((0, len(NUMBERS)), np.int64)]
    texts: list[Any] = [np.empty((0, len(TEXTS)), np.int32)]
    unreadable, faults = 0, list[str]()
    for piece in _pieces(path, faults):
        found, codes, different, state = scan(piece)
        unreadable += int((state == 2).sum())
        known = [names.setdefault(text, len(names)) for text in different.texts(piece)]
        events = state == 1
        if not events.all():
            found, codes = found[events], codes[events]
        numbers.append(found)
        texts.append(np.array([*known, -1], np.int32)[codes])
    table, codes = np.concatenate(numbers), np.concatenate(texts)
    return Lines(
        {name: table[:, column].copy() for column, name in enumerate(NUMBERS)},
        {name: codes[:, column].copy() for column, name in enumerate(TEXTS)},
        tuple(map(_decoded, names)),
        unreadable,
        faults[0] if faults else None,
    )


def _decoded(raw: bytes) -> str:
    if b"\\" in raw:
        try:
            return str(json.loads(b'"' + raw + b'"')).encode("utf-8", "backslashreplace").decode()
        except ValueError:
            pass
    return raw.decode("utf-8", "backslashreplace")


def _pieces(path: Path, faults: list[str]) -> Iterator[npt.NDArray[np.uint8]]:
    """Yield the text of a file in pieces of whole lines, each until the next; why it ends early goes to `faults`."""
    # One room for all of them, which stays in the cache.
    room = np.empty(_PIECE + _READ, np.uint8)
    filled = 0
    for part in _text(path, faults):
        if filled + len(part) > len(room):
            if filled > _LONGEST_LINE:
                faults.append("a line is too long")
                return
            room = np.concatenate([room, np.empty(len(room), np.uint8)])
        room[filled : filled + len(part)] = np.frombuffer(part, np.uint8)
        before, filled = filled, filled + len(part)
        if filled < _PIECE:
            continue
        last = part.rfind(b"\n")
        if last >= 0:
            end = before + last + 1
            yield room[:end]
            filled -= end
            room[:filled] = room[end : end + filled].copy()
    if filled:
        yield room[:filled]


def _text(path: Path, faults: list[str]) -> Iterator[bytes]:
    with path.open("rb") as file:
        start = file.read(2)
        file.seek(0)
        if start != GZIP:
            while part := file.read(_READ):
                yield part
            return
        # One or several members, as DFTracer writes them a block each.
        stream = zlib.decompressobj(31)
        over = True
        while waiting := file.read(_READ):
            while waiting:
                if over and not waiting.startswith(GZIP[:1]):
                    faults.append("what follows the compressed data is something else")
                    return
                over = False
                try:
                    part = stream.decompress(waiting, _READ)
                except zlib.error:
                    faults.append("the compressed data are damaged")
                    return
                yield part
                waiting = stream.unconsumed_tail
                if stream.eof:
                    waiting, stream, over = stream.unused_data, zlib.decompressobj(31), True
        if not over:
            faults.append("the compressed data end too early: the file is cut")
