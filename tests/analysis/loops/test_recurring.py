"""Steps that a few iterations add, and loops that come with every so-and-so-many iteration of another."""

import numpy as np
import pytest
from iostrata import find_loops, open_trace
from iostrata.analysis.loops.loops import Within
from iostrata.analysis.loops.recurring import evenly
from iostrata.analysis.loops.words import loop_text, within_text
from otf2.enums import IoOperationMode

WRITE, FLUSH = IoOperationMode.WRITE, IoOperationMode.FLUSH


@pytest.mark.parametrize("shift", [0, -7])
def test_a_dump_at_every_fifth_step_comes_with_every_fifth_line_of_the_log(written, shift):
    """Whether it is written a little before the line or behind it."""
    log, dumps = (written.handle(written.file(name), written.posix) for name in ("/s/run.log", "/s/dumps"))
    written.create(0, log, 10)
    written.create(0, dumps, 20)
    for step in range(30):
        at = 10_000 + 50_000 * step
        written.operate(0, log, WRITE, at, at + 5, 80)
        if step % 5 == 4:
            written.operate(0, dumps, WRITE, at + 6 + 3 * shift, at + 7 + 3 * shift, 1 << 20)
    written.closed()
    found = find_loops(open_trace(written.folder))
    loops = {one.body[0].file: one for one in found.outermost}
    within = loops["/s/dumps"].within
    assert (within.loop, within.every) == (loops["/s/run.log"].id, 5)
    assert within_text(loops["/s/dumps"], found.loops, "/s/") == "with every 5th of the 30 on run.log"
    assert loops["/s/run.log"].within is None


def test_dumps_of_other_ranks_come_with_every_third_step(written):
    log, dumps = (written.handle(written.file(name), written.posix) for name in ("/s/run.log", "/s/dumps"))
    for step in range(24):
        at = 10_000 + 50_000 * step
        written.operate(0, log, WRITE, at, at + 5, 80)
        for rank in (1, 2) if step % 3 == 2 else ():
            written.operate(rank, dumps, WRITE, at + 10 + rank, at + 20 + rank, 1 << 20)
    written.closed()
    found = find_loops(open_trace(written.folder))
    loops = {one.body[0].file: one for one in found.outermost}
    assert (loops["/s/dumps"].ranks, loops["/s/dumps"].within) == ((1, 2), Within(loops["/s/run.log"].id, 3, 3))


def test_dumps_at_random_steps_come_with_no_step(written):
    rng = np.random.default_rng(3)
    log, dumps = (written.handle(written.file(name), written.posix) for name in ("/s/run.log", "/s/dumps"))
    for step in range(30):
        written.operate(0, log, WRITE, 10_000 + 50_000 * step, 10_005 + 50_000 * step, 80)
    for step in sorted(rng.choice(30, 6, replace=False).tolist()):
        written.operate(0, dumps, WRITE, 10_010 + 50_000 * step, 10_020 + 50_000 * step, 1 << 20)
    written.closed()
    assert [one.within for one in find_loops(open_trace(written.folder)).outermost] == [None, None]


def test_what_another_rank_does_by_a_clock_of_its_own_comes_with_no_step(written):
    """Twice as seldom but for 2 %: by chance in every second step, and further behind each time."""
    log, status = (written.handle(written.file(name), written.posix) for name in ("/s/run.log", "/s/status"))
    for step in range(24):
        written.operate(0, log, WRITE, 10_000 + 50_000 * step, 10_005 + 50_000 * step, 80)
        if step % 2:
            written.operate(1, status, WRITE, 12_000 + 51_000 * step, 12_010 + 51_000 * step, 19)
    written.closed()
    assert all(one.within is None for one in find_loops(open_trace(written.folder)).outermost)


def test_what_every_sixth_iteration_adds_is_told(written):
    data = written.handle(written.file("/s/data"), written.posix)
    for step in range(24):
        at = 10_000 + 50_000 * step
        for block in range(3):
            written.operate(0, data, WRITE, at + 20 * block, at + 20 * block + 10, 4096)
        if step == 14:
            written.operate(0, data, WRITE, at + 100, at + 200, 1 << 24)
        if step % 6 == 5:
            written.operate(0, data, FLUSH, at + 300, at + 400, 0)
    written.closed()
    (loop,) = find_loops(open_trace(written.folder)).outermost
    told = [(one.step.kind, one.step.count, one.iterations, one.first, one.every) for one in loop.added]
    assert told == [("write", 1, 1, 15, None), ("flush", 1, 4, 6, 6)]
    assert loop.added[0].step.mean_bytes == 1 << 24
    text = "24 × (3 × write 4 KiB /s/data; iteration 15 also write ~16.8 MB; every 6th also flush)"
    assert loop_text(loop, (loop,)) == text


@pytest.mark.parametrize("better", [(3,), (1, 2, 5)])
def test_a_file_that_some_iterations_write_is_told_with_these(written, better):
    """The best model so far is kept when there is one: neither a loop of its own nor lost."""
    log, best = (written.handle(written.file(name), written.posix) for name in ("/s/model", "/s/best"))
    for step in range(8):
        at = 10_000 + 50_000 * step
        for block in range(4):
            written.operate(0, log, WRITE, at + 20 * block, at + 20 * block + 10, 4096 * (block + 1))
        if step in better:
            written.create(0, best, at + 1000)
            for block in range(4):
                written.operate(0, best, WRITE, at + 1100 + 20 * block, at + 1110 + 20 * block, 1 << 20)
            written.destroy(0, best, at + 1300)
    written.closed()
    found = find_loops(open_trace(written.folder))
    (loop,) = found.outermost
    whom = f"iteration {better[0] + 1}" if len(better) == 1 else f"{len(better)} of them"
    assert loop_text(loop, found.loops, "/s/").endswith(f"; {whom} also open best, 4 × write ~1.05 MB, close)")
    assert [number for number, one in enumerate(loop.iterations) if one.other] == list(better)
    extra = {one.layers["POSIX"].bytes_written for number, one in enumerate(loop.iterations) if number in better}
    assert extra == {10 * 4096 + (4 << 20)}


def test_places_are_even_throughout_or_not_at_all():
    assert evenly(np.arange(5, 60, 12), 60) == (12, 6)
    assert evenly(np.array([5, 17, 30]), 40) is None
    # Only in the first half.
    assert evenly(np.arange(5, 30, 12), 60) is None
    assert evenly(np.arange(10), 10) is None
