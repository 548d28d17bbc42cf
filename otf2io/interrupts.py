"""Ctrl-C while foreign code calls back: an exception raised in a callback would be printed and forgotten."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def kept_interrupts(kept: list[BaseException]) -> Iterator[None]:
    """Put interrupts into `kept` instead of raising them; the first is raised at the end.

    Only the main thread gets interrupts, and only where nobody else handles them; elsewhere this does nothing. What
    runs inside has to look at `kept` now and then.

    Raises
    ------
    KeyboardInterrupt
        At the end, if there was one.
    """
    in_charge = threading.current_thread() is threading.main_thread()
    if not in_charge or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def keep(_number: int, _frame: FrameType | None) -> None:
        kept.append(KeyboardInterrupt())

    signal.signal(signal.SIGINT, keep)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if kept:
        raise kept[0]
