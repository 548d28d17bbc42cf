"""A line of progress on stderr while a trace is read, for people who wait in front of a terminal."""

import sys
import threading
import time
from types import TracebackType
from typing import Final, Self, TextIO

import click

DELAY_S: Final = 0.5
"""Work that ends earlier shows nothing."""
COMPILING: Final = "compiling for this machine, which is done once and takes a minute or more"
REFRESH_S: Final = 0.1


QUIETLY: Final = "iostrata.quiet"
"""Key under which the context of a command keeps whether nothing but errors is to be said."""


def is_quiet() -> bool:
    """Tell whether nothing but errors is to be said on stderr."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(QUIETLY))


class Progress:
    """Callable ``(done, total)`` that keeps one line on `stream` up to date and removes it in the end.

    It stays silent where `stream` is no terminal and until `DELAY_S` have passed. Several threads may call it.

    Parameters
    ----------
    task : str
        What is being done, such as ``reading events``.
    stream : text stream, optional
        Default: stderr.
    """

    def __init__(self, task: str, stream: TextIO | None = None) -> None:
        self._task = task
        self._stream = sys.stderr if stream is None else stream
        self._shown = False
        self._next = time.monotonic() + DELAY_S
        self._lock = threading.Lock()
        self._told = self._stream is not None and not is_quiet()
        self._visible = self._told and self._stream.isatty()

    def __call__(self, done: int, total: int) -> None:
        """Say that `done` of `total` are behind us."""
        if not self._visible or time.monotonic() < self._next:
            return
        with self._lock:
            self._next = time.monotonic() + REFRESH_S
            share = f"{min(100, 100 * done // total):3d} % of {total:,}" if total > 0 else f"{done:,}"
            self._stream.write(f"\r\x1b[K{self._task} {share}")
            self._stream.flush()
            self._shown = True

    def compiling(self) -> None:
        """Say that loops are being compiled, which takes a minute or more the first time on a machine.

        Without a terminal, too: a job that does so looks as if it hung.
        """
        if not self._visible:
            if self._told:
                self._stream.write(f"iostrata: note: {COMPILING}\n")
                self._told = False
            return
        with self._lock:
            self._stream.write(f"\r\x1b[K{COMPILING}")
            self._stream.flush()
            self._shown = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            if self._shown:
                self._stream.write("\r\x1b[K")
                self._stream.flush()
            self._visible = False
