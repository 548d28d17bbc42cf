"""Ctrl-C while the library reads: it ends the reading, whenever it comes."""

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from iostrata.model.interrupts import kept_interrupts
from iostrata.otf2io.archive import open_archive

from ..reading import read_events


@pytest.fixture(autouse=True)
def handled() -> Iterator[None]:
    """Have interrupts handled as where a person runs it; what a shell starts in the background ignores them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_is_raised_at_the_end() -> None:
    kept: list[BaseException] = []
    steps = []

    def interrupted() -> None:
        with kept_interrupts(kept):
            os.kill(os.getpid(), signal.SIGINT)
            steps.append(len(kept))

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert steps == [1]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_without_an_interrupt_nothing_happens() -> None:
    kept: list[BaseException] = []
    with kept_interrupts(kept):
        assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    assert kept == []
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_handler_of_somebody_else_stays() -> None:
    def other(_number: int, _frame: object) -> None:
        pass

    before = signal.signal(signal.SIGINT, other)
    try:
        with kept_interrupts([]):
            assert signal.getsignal(signal.SIGINT) is other
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_get_none() -> None:
    seen = []

    def work() -> None:
        with kept_interrupts([]):
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]


# One that comes after a file was opened and before its block begins leaves closing it to the collector of garbage.
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
@pytest.mark.parametrize("workers", [1, 2])
def test_reading_ends(workers: int, fixtures: Path) -> None:
    archive = open_archive(fixtures / "ior384")

    reading = threading.Event()

    def read_again_and_again() -> None:
        while True:
            reading.set()
            read_events(archive, "library", workers=workers)

    def interrupt() -> None:
        reading.wait()
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012  (it may come at any time from here on)
        thread.start()
        read_again_and_again()
    thread.join()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
