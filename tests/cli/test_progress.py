"""Progress is for people who wait in front of a terminal, and leaves nothing behind."""

from io import StringIO

import pytest
from iostrata.cli.progress import COMPILING, DELAY_S, REFRESH_S, Progress


class Terminal(StringIO):
    """A text stream that says it is a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """Return a clock that stands still until it is set: a list with the time in s."""
    now = [100.0]
    monkeypatch.setattr("iostrata.cli.progress.time.monotonic", lambda: now[0])
    return now


def test_quick_work_shows_nothing(clock):
    stream = Terminal()
    with Progress("reading", stream) as progress:
        clock[0] += DELAY_S * 0.9
        progress(1, 2)
    assert stream.getvalue() == ""


def test_long_work_shows_its_share_and_clears_the_line(clock):
    stream = Terminal()
    with Progress("reading", stream) as progress:
        clock[0] += DELAY_S
        progress(1, 4)
        assert stream.getvalue().endswith("reading  25 % of 4")
    assert stream.getvalue().endswith("\r\x1b[K")


def test_the_line_is_not_rewritten_all_the_time(clock):
    stream = Terminal()
    with Progress("reading", stream) as progress:
        clock[0] += DELAY_S
        for done in range(100):
            clock[0] += REFRESH_S / 50
            progress(done, 100)
        assert stream.getvalue().count("reading") in (2, 3)


def test_a_pipe_sees_nothing(clock):
    stream = StringIO()
    with Progress("reading", stream) as progress:
        clock[0] += 100
        progress(1, 2)
    assert stream.getvalue() == ""


def test_a_failure_clears_the_line_too(clock):
    stream = Terminal()

    def fail():
        with Progress("reading", stream) as progress:
            clock[0] += 100
            progress(0, 0)
            raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011
        fail()
    assert stream.getvalue().endswith("\r\x1b[K")


def test_a_process_without_stderr(monkeypatch, clock):
    monkeypatch.setattr("sys.stderr", None)
    with Progress("reading") as progress:
        clock[0] += 100
        progress(1, 2)


def test_compiling_is_told_at_once_and_leaves_nothing_behind():
    stream = Terminal()
    with Progress("reading", stream) as progress:
        progress.compiling()
        assert "compiling for this machine" in stream.getvalue()
    assert stream.getvalue().endswith("\r\x1b[K")
    silent = StringIO()
    with Progress("reading", silent) as progress:
        progress.compiling()
        progress.compiling()
    # In the log of a job, too, once: it looks as if it hung.
    assert silent.getvalue() == f"iostrata: note: {COMPILING}\n"
