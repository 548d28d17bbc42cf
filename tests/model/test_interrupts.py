"""Interrupts that are kept until the end, and signals that become interrupts; only the main thread has either."""

import signal
import subprocess
import sys
import threading

import pytest
from iostrata.model.interrupts import ENDING, end_like_interrupts, kept_interrupts


@pytest.fixture(autouse=True)
def _handlers():
    before = {number: signal.getsignal(number) for number in ENDING}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def in_a_thread(call):
    failed = []

    def run():
        try:
            call()
        except (ValueError, AssertionError) as error:  # what `signal.signal` raises there
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return failed


def keep():
    kept = []
    with kept_interrupts(kept):
        assert kept == []


def test_an_interrupt_is_raised_at_the_end():
    signal.signal(signal.SIGINT, signal.default_int_handler)
    done = []

    def interrupted():
        with kept_interrupts([]):
            signal.raise_signal(signal.SIGINT)
            done.append("after it")

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert done == ["after it"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_what_another_handles_stays_with_it():
    seen = []
    signal.signal(signal.SIGINT, lambda *_: seen.append("seen"))
    with kept_interrupts([]):
        signal.raise_signal(signal.SIGINT)
        assert seen == ["seen"]


@pytest.mark.parametrize("handler", [signal.default_int_handler, signal.SIG_DFL])
def test_other_threads_leave_signals_alone(handler):
    for number in ENDING:
        signal.signal(number, handler)
    assert in_a_thread(keep) == in_a_thread(end_like_interrupts) == []
    assert all(signal.getsignal(number) is handler for number in ENDING)


def test_signals_that_end_a_process_interrupt_it_and_those_ignored_stay_so():
    for number in ENDING:
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    end_like_interrupts()
    assert signal.getsignal(signal.SIGTERM) is signal.default_int_handler
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN


def test_an_interrupted_process_does_not_wait_for_its_threads():
    """One thread computes for a minute; the process itself has ended with its message."""
    script = (
        "import sys, threading, time\n"
        "from iostrata.cli import main, run\n"
        "def interrupted(arguments):\n"
        "    threading.Thread(target=time.sleep, args=(60,)).start()\n"
        "    raise KeyboardInterrupt\n"
        "run._run = interrupted\n"
        "sys.exit(main())\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=50)
    assert done.returncode == 130
    assert done.stderr == "iostrata: error: interrupted\n"
