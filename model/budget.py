"""How much memory a reader may take: what a file claims or unpacks to is checked before it is allocated."""

import ctypes
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from .errors import TraceError
from .quantities import bytes_text

_GIVEN: Final[ContextVar[int | None]] = ContextVar("memory that was given", default=None)


@contextmanager
def memory_given(memory: int | None) -> Iterator[None]:
    """Let readers take at most `memory` bytes within the block; None leaves it at `allowed_memory`."""
    token = _GIVEN.set(memory)
    try:
        yield
    finally:
        _GIVEN.reset(token)


def allowed_memory() -> int:
    """Return the bytes that a reader may take: those given, else half of what the process can have."""
    given = _GIVEN.get()
    if given is not None:
        return given
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return (machine if limit == resource.RLIM_INFINITY else min(machine, limit)) // 2


LOOKED_THROUGH_AFTER: Final = 10_000
"""Objects that a process of ours makes before Python looks for circles among them: nearly all that is made while
modules are imported stays, and to look through it after each 700 takes a tenth of a short command."""
_TRIM_THRESHOLD: Final = -1
_MMAP_THRESHOLD: Final = -3
_MMAP_MAX: Final = -4
"""Parameters of glibc's mallopt."""
KEPT: Final = 64 << 20
"""Bytes that a process may keep that lasts."""


def keep_freed_memory(most: int | None = None) -> None:
    """Let this process keep what it frees for what it allocates next, where the C library can do that.

    Columns of many operations are else given back one by one, and the system makes each new one empty again, which
    takes a third of the time of a command. For commands that end soon, and are not held to a memory; others keep
    `most` bytes.
    """
    try:
        adjust = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return
    adjust(*((_MMAP_MAX, 0) if most is None else (_MMAP_THRESHOLD, most // 2)))
    adjust(_TRIM_THRESHOLD, 2**31 - 1 if most is None else most)


def require_memory(path: object, needed: int, what: str) -> None:
    """Do nothing where `needed` bytes are allowed.

    Raises
    ------
    TraceError
        If they are more; it says `what` needs them.
    """
    allowed = allowed_memory()
    if needed > allowed:
        why = "were given with --memory" if _GIVEN.get() is not None else "are half of what this process can have"
        raise TraceError(
            f"{path}: {what} would take {bytes_text(needed)} of memory, and {bytes_text(allowed)} {why}; if the file "
            "is sound, give more with --memory"
        )
