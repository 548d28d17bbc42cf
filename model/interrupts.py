"""Interrupts, and signals that end a process likewise, where C calls Python and no exception may pass."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

ENDING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGXCPU)
"""SIGXCPU comes where a limit of processor time is reached, and again each second."""


@contextmanager
def kept_interrupts(kept: list[BaseException]) -> Iterator[None]:
    """Put interrupts into `kept` instead of raising them; the first is raised at the end.

    Only the main thread gets interrupts, and only where nobody else handles them; elsewhere this does nothing. What
    runs inside has to look at `kept` now and then.

    Raises KeyboardInterrupt at the end, if there was one.
    """
    in_charge = threading.current_thread() is threading.main_thread()
    ours = [number for number in ENDING if in_charge and signal.getsignal(number) is signal.default_int_handler]

    def keep(_number: int, _frame: FrameType | None) -> None:
        kept.append(KeyboardInterrupt())

    for number in ours:
        signal.signal(number, keep)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.default_int_handler)
    if kept:
        raise kept[0]


def end_within(seconds: float, status: int) -> None:
    """End this process with an exit code after so many seconds at the latest.

    At its end Python waits for all threads, and one that compiles or computes ends when it likes.
    """
    timer = threading.Timer(seconds, os._exit, (status,))
    timer.daemon = True
    timer.start()


def end_like_interrupts() -> None:
    """Let ``kill``, a batch system or a closed terminal interrupt this process, so that it leaves nothing behind."""
    for number in ENDING:
        if threading.current_thread() is threading.main_thread() and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)
