"""Text compressed by gzip, of one or several members: inflated a piece at a time, as far as it is sound."""

from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from io import FileIO
from typing import Any, Final

try:
    # The same functions, two to three times as fast.
    _ZLIB: Any = import_module("zlib_ng.zlib_ng")
except ImportError:
    _ZLIB = import_module("zlib")

InflatingError: Final[type[Exception]] = _ZLIB.error
zlib_stream: Final[Callable[..., Any]] = _ZLIB.decompressobj
"""Returns what inflates one stream, given the window where it is another one."""
GZIP: Final = b"\x1f\x8b"
_READ: Final = 1 << 18
"""Bytes that are inflated at once."""
_PACKED: Final = 1 << 13
"""Bytes of a compressed file that are read at once: what a step of inflating leaves of them is copied."""
_FIRST: Final = 1 << 16
_GZIPPED: Final = 31
"""The largest window, in gzip's wrapping."""


def first_text(head: bytes) -> bytes:
    """Return the first bytes of the text of a file, of a compressed one inflated."""
    if not head.startswith(GZIP):
        return head
    text = b""
    with suppress(InflatingError):
        while head.startswith(GZIP) and len(text) < _FIRST:
            member = zlib_stream(_GZIPPED)
            text += member.decompress(head, _FIRST)
            head = member.unused_data
    return text


def filling(file: FileIO, faults: list[str]) -> Callable[[memoryview], int]:
    """Return what puts the next of a file's text, plain or not, into a room and returns its length, 0 at the end.

    Why compressed text ends early goes to `faults`.
    """
    packed = file.read(len(GZIP)) == GZIP
    file.seek(0)
    return inflating(file, faults) if packed else file.readinto


def inflating(file: FileIO, faults: list[str]) -> Callable[[memoryview], int]:
    """Return what puts the next of a compressed file's text into a room and returns its length, 0 at the end."""
    # One or several members, as DFTracer writes them a block each.
    stream, over, waiting = zlib_stream(_GZIPPED), True, b""

    def fill(room: memoryview) -> int:
        nonlocal stream, over, waiting
        while True:
            if stream.eof:
                waiting, stream, over = stream.unused_data, zlib_stream(_GZIPPED), True
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
            except InflatingError:
                faults.append("the compressed data are damaged")
                return 0
            waiting = stream.unconsumed_tail
            if part:
                room[: len(part)] = part
                return len(part)

    return fill
