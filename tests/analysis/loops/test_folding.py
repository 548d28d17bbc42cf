"""Folding of sequences: what repeats is found whatever its times, and what does not is not."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iostrata.analysis.loops import folding
from iostrata.analysis.loops.folding import Cuts, Line, _iterations, unparted
from iostrata.layers.loops.steps import UNKNOWN_BYTES, Steps

READ, WRITE, FLUSH, OPEN, CLOSE = range(5)
fold = partial(folding.fold, second=1e6)


def steps_of(rows, gap=None):
    """Rows are (kind, size) or (kind, size, file)."""
    full = [(*row, 0)[:3] for row in rows]
    kind, size, file = (np.array(column, np.int64) for column in zip(*full, strict=True))
    count = len(full)
    gap = np.full(count, 10) if gap is None else np.asarray(gap, np.int64)
    begin = np.cumsum(gap + 5)
    size = np.where(kind >= FLUSH, UNKNOWN_BYTES, size)
    fresh = np.diff(file, prepend=-1) != 0
    code = (kind * 2).astype(np.int32)
    return Steps.of_calls(code, size, file.astype(np.int32), fresh, gap, begin, begin + 5)


BODY = [(OPEN, 0), (WRITE, 100), (WRITE, 100), (WRITE, 7), (CLOSE, 0)]


@given(st.integers(4, 40), st.integers(0, 2**32), st.sampled_from([0.0, 0.5, 3.0]))
def test_a_loop_is_found_whatever_its_times(count, seed, jitter):
    rng = np.random.default_rng(seed)
    gap = (100 * rng.lognormal(0, jitter, 5 * count)).astype(np.int64)
    (loop,) = fold(steps_of(BODY * count, gap))
    assert loop.count == count
    assert loop.start.tolist() == list(range(0, 5 * count + 1, 5))
    assert not loop.other.any()


@given(st.integers(8, 30), st.integers(4, 12), st.integers(0, 2**32))
def test_pauses_alone_make_a_loop_where_all_steps_are_the_same(count, inner, seed):
    rng = np.random.default_rng(seed)
    gap = rng.integers(1, 10, inner * count)
    gap[::inner] = rng.integers(1000, 3000, count)
    (loop,) = fold(steps_of([(WRITE, 100)] * (inner * count), gap))
    assert loop.start.tolist() == list(range(0, inner * count + 1, inner))


@pytest.mark.parametrize("second", [1e6, 1e9])
def test_few_pauses_part_equal_calls_evenly_unless_they_are_as_short_as_those_of_a_recorder(second):
    gap = np.full(40, 8)
    gap[::8] = 20_000
    (loop,) = folding.fold(steps_of([(OPEN, 0), *[(WRITE, 100)] * 40, (CLOSE, 0)], [0, *gap, 1500]), second=second)
    assert loop.count == (5 if second == 1e6 else 40)


@given(st.integers(4, 40))
def test_one_step_again_and_again_is_a_loop_also_in_a_file_that_is_opened_and_closed_once(count):
    (loop,) = fold(steps_of([(OPEN, 0)] + [(WRITE, 100)] * count + [(CLOSE, 0)]))
    assert loop.start.tolist() == list(range(1, count + 2))


@given(st.integers(8, 12))
def test_few_rounds_of_the_same_steps_are_a_loop_of_rounds_and_not_of_steps(count):
    rows = [(OPEN, 0), (WRITE, 2_000_000), (WRITE, 8), (CLOSE, 0)]
    (loop,) = fold(steps_of([rows[0], *rows[1:3] * count, rows[3]]))
    assert loop.start.tolist() == list(range(1, 2 * count + 2, 2))
    assert loop.bits > 0


@given(st.integers(8, 12), st.integers(1, 7))
def test_few_rounds_may_differ_in_sizes_that_are_near_one_another(count, longer):
    """A line of a log gets longer with the numbers in it."""
    lines = [(WRITE, 13 + (one >= longer)) for one in range(count)]
    (loop,) = fold(steps_of([(OPEN, 0), *(step for line in lines for step in (line, (FLUSH, 0))), (CLOSE, 0)]))
    assert loop.start.tolist() == list(range(1, 2 * count + 2, 2))


@given(st.integers(3, 8), st.integers(10, 20))
def test_loops_within_loops(outer, inner):
    rows = ([(OPEN, 0)] + [(WRITE, 100), (READ, 3)] * inner + [(FLUSH, 0), (CLOSE, 0)]) * outer
    (loop,) = fold(steps_of(rows))
    assert loop.count == outer
    assert [one.count for one in loop.inner] == [inner]


@given(st.integers(10, 14), st.integers(400, 500), st.integers(0, 2**32))
@settings(max_examples=20)
def test_sizes_that_grow_by_a_digit_do_not_hide_pauses(count, inner, seed):
    """Lines with a number and a position: shorter ones at first, which save bits wherever the run is cut."""
    rng = np.random.default_rng(seed)
    number = np.arange(count * inner)
    position = rng.integers(1, 399_000, number.size)
    size = 2000 + sum(np.floor(np.log10(one)).astype(int) for one in (number + 1, position))
    gap = rng.integers(1, 30, number.size)
    gap[::inner] = rng.integers(3000, 9000, count)
    (loop,) = fold(steps_of([(WRITE, int(one)) for one in size], gap))
    assert loop.start.tolist() == list(range(0, inner * count + 1, inner))


@given(st.integers(12, 40), st.data())
def test_single_iterations_may_miss_or_add_steps(count, data):
    odd = data.draw(st.lists(st.integers(1, count - 2), min_size=1, max_size=2, unique=True))
    rows = []
    for iteration in range(count):
        body = list(BODY)
        if iteration in odd:
            body = [*body[:3], *body[4:]] if data.draw(st.booleans()) else [*body[:4], (FLUSH, 0), body[4]]
        rows += body
    (loop,) = fold(steps_of(rows))
    assert loop.count == count
    assert set(np.flatnonzero(loop.other).tolist()) == set(odd)


def test_sizes_may_drift():
    rows = [row for one in range(30) for row in ((OPEN, 0), (WRITE, 1000 + 37 * one), (WRITE, 8), (CLOSE, 0))]
    (loop,) = fold(steps_of(rows))
    assert loop.count == 30


def test_numbered_files_are_iterations():
    rng = np.random.default_rng(1)
    rows = [(WRITE, int(size), file) for file in range(9) for size in rng.integers(1, 10**6, 4)]
    (loop,) = fold(steps_of(rows))
    assert loop.count == 9


def test_writing_and_reading_by_turns_is_one_loop():
    rows = [(OPEN, 0), *[(WRITE, 100)] * 4, (CLOSE, 0), (OPEN, 0), *[(READ, 100)] * 4, (CLOSE, 0)] * 8
    (loop,) = fold(steps_of(rows))
    assert loop.count == 8


def test_one_loop_may_follow_another():
    found = fold(steps_of([(WRITE, 100), (READ, 5)] * 20 + [(WRITE, 7), (FLUSH, 0), (READ, 9)] * 15))
    assert [one.count for one in found] == [20, 15]


def test_a_step_done_many_times_needs_no_evidence():
    (loop,) = fold(steps_of([(WRITE, 100)] * 50))
    assert (loop.count, loop.bits) == (50, 0)


@pytest.mark.parametrize("kinds", [2, 5])
def test_random_order_is_no_loop(kinds):
    rng = np.random.default_rng(7)
    wrong = 0
    for _ in range(60):
        rows = [(WRITE, 10 ** int(size)) for size in rng.integers(1, 1 + kinds, 120)]
        found = fold(steps_of(rows, rng.lognormal(5, 2, 120)))
        wrong += any(one.bits > 0 for one in found)
    assert wrong <= 1


@pytest.mark.parametrize("count", [0, 1, 2])
def test_too_few_steps_are_no_loop(count):
    assert fold(steps_of([(WRITE, 1)] * count) if count else Steps.empty()) == []


def test_a_last_iteration_that_ends_early_ends_with_the_steps():
    rows = ([(READ, 5)] + [(WRITE, 100)] * 9) * 8
    gap = np.full(80, 10)
    gap[::10] = 1000
    (loop,) = fold(steps_of(rows[:79], gap[:79]))
    assert (loop.count, loop.start[-1]) == (8, 79)


def test_sizes_that_are_near_one_another_are_one_step_unless_nearly_all_are_the_same():
    """A dump has a few bytes more as numbers get longer; a header of other size goes before."""
    near = [(WRITE, size) for size in [3_585_374, *[3_584_815] * 8, *[3_584_816] * 2]]
    (loop,) = fold(steps_of([(WRITE, 64), *near]))
    assert loop.start.tolist() == list(range(1, 13))
    (loop,) = fold(steps_of([(READ, 340), *[(READ, 345)] * 30]))
    assert loop.start.tolist() == list(range(1, 32))


@pytest.mark.parametrize("often", [4, 7])
def test_one_step_is_a_loop_also_where_some_iterations_add_another(often):
    """A log line with every record is none; a summary with every seventh is no loop of seven."""
    rows = [(WRITE, 512) if place else (WRITE, 33_333) for _ in range(5) for place in [*range(1, often + 1), 0]]
    gap = [3 if size == 33_333 else 1000 + 10 * place for place, (_, size) in enumerate(rows)]
    (loop,) = fold(steps_of([*rows, (WRITE, 512)], [*gap, 1000]))
    assert loop.count == 5 * often + 1
    assert loop.other.sum() == 5
    # Without pauses before each it is one of several steps.
    (loop,) = fold(steps_of(rows))
    assert loop.count == 5


@pytest.mark.parametrize("count", [8, 12])
def test_sizes_that_grow_are_a_loop_however_few_steps_there_are_beside_an_open_and_a_close(count):
    rows = [(OPEN, 0), *((WRITE, 24_500 + 4_500 * number) for number in range(count)), (CLOSE, 0)]
    (loop,) = fold(steps_of(rows))
    assert loop.start.tolist() == list(range(1, count + 2))


def test_long_pauses_that_come_by_chance_do_not_make_loops_of_several_iterations():
    # As of a database, whose log begins anew behind each checkpoint: the disk is busy before the 6th and 11th.
    steps = [(WRITE, 32), (FLUSH, 0), *([*[(WRITE, 24), (WRITE, 4096)] * 10, (FLUSH, 0)] * 5), *[(READ, 4096)] * 42]
    rng = np.random.default_rng(2)
    gap = rng.integers(3000, 5000, 12 * len(steps))
    gap[:: len(steps)] = rng.integers(8_000_000, 12_000_000, 12)
    gap[5 * len(steps)], gap[10 * len(steps)] = 31_000_000, 30_500_000
    (loop,) = fold(
        steps_of(
            [(OPEN, 0), *steps[:2], (WRITE, 24), (WRITE, 4096), *steps[2:], *steps * 11],
            np.append([0, 0, 0, 9, 9], gap)[: 3 + 12 * len(steps)],
        )
    )
    assert loop.count == 12


@pytest.mark.parametrize("slow", [0, 4, 9])
def test_an_iteration_whose_steps_are_all_slow_is_one_of_them(slow):
    # As of passes of equal writes over a file on a machine that is busy during one.
    gap = np.full(160, 2_000)
    gap[::16] = 1_000_000
    gap[16 * slow + 1 : 16 * slow + 16] = np.random.default_rng(1).integers(900_000, 2_000_000, 15)
    (loop,) = fold(steps_of([(OPEN, 0), *[(WRITE, 65536)] * 160, (CLOSE, 0)], np.concatenate([[0], gap, [10]])))
    assert loop.count == 10


@given(st.integers(8, 20), st.integers(4, 20))
def test_the_last_iteration_is_whole_where_other_steps_follow_that_begin_as_it_ends(count, after):
    """Data sets are opened, written and closed; then each is opened and closed once more, and the file is closed."""
    rows = [(OPEN, 0), *[(OPEN, 0), (WRITE, 100), (CLOSE, 0)] * count, *[(OPEN, 0), (CLOSE, 0)] * after, (CLOSE, 0)]
    gap = np.where([kind == CLOSE and rows[place - 1][0] == WRITE for place, (kind, _) in enumerate(rows)], 10**6, 10)
    for loop in (fold(steps_of(rows))[0], fold(steps_of(rows, gap))[0]):
        assert loop.start.tolist() == list(range(1, 3 * count + 2, 3))
        assert not loop.other.any()


def test_what_goes_on_behind_a_loop_without_its_pauses_is_none_of_it():
    gap = np.append(np.tile([1_000_000, 10, 10, 10], 10), np.full(200, 10))
    (loop, *_) = fold(steps_of([(WRITE, 100)] * 240, gap))
    assert loop.count <= 11


def test_a_last_iteration_that_only_writes_what_none_reads_is_none():
    """Each reads what the one before it has written, the first one what was written before."""
    write = [(OPEN, 0), (WRITE, 2_121_152), (CLOSE, 0)]
    read = [(OPEN, 0), (READ, 24_000), (READ, 2_097_152), (CLOSE, 0)]
    rows = [(*step, file) for file in range(25) for step in write + read][: 24 * 7 + 3]
    (loop,) = fold(steps_of(rows, [60_000 if place % 7 == 0 else 10 for place in range(len(rows))]))
    assert loop.start.tolist() == list(range(0, 24 * 7 + 1, 7))


@pytest.mark.parametrize(("pauses", "count"), [((50_000, 50_000), 40), ((50_000, 10), 20)])
def test_sets_of_files_by_turns_are_an_iteration_each_unless_pauses_say_other(pauses, count):
    """Ranks exchange halos by files: each writes one and reads two others, of even and of odd steps."""
    parts = [[(OPEN, 0), (WRITE, 100), (FLUSH, 0), (CLOSE, 0)], *[[(OPEN, 0), (READ, 100), (CLOSE, 0)]] * 2]
    rows = [(*step, 3 * half + file) for half in range(2) for file, part in enumerate(parts) for step in part] * 20
    gap = np.full(len(rows), 10)
    gap[::20], gap[10::20] = pauses
    (loop,) = fold(steps_of(rows, gap))
    assert loop.start.tolist() == list(range(0, 401, 400 // count))


def test_loops_within_an_iteration_stay_where_files_come_by_turns():
    rows = [(*step, file) for file in range(2) for step in [(OPEN, 0), *[(WRITE, 100), (READ, 3)] * 12, (CLOSE, 0)]]
    (loop,) = fold(steps_of(rows * 10))
    assert loop.count == 20
    assert [(one.count, one.body) for one in loop.inner] == [(12, (1, 3))]


def test_few_steps_of_other_sizes_are_no_loop():
    assert fold(steps_of([(OPEN, 0), (WRITE, 41_000), (WRITE, 44_000), (WRITE, 43_000), (CLOSE, 0)])) == []


@pytest.mark.parametrize("seed", range(4))
def test_pauses_of_a_core_that_is_shared_do_not_hide_what_is_done_from_each_open_to_the_next(seed):
    """A log of lines that grow by a digit is opened anew each 300 lines; each 21 to 24 lines the process stands still.

    The last file is opened and closed, with no line in it.
    """
    rng = np.random.default_rng(seed)
    rows, line = [], 0
    for _ in range(8):
        rows.append((OPEN, 0))
        for _ in range(300):
            rows.append((WRITE, 170 + len(str(line**2))))
            line += 1
        rows.append((CLOSE, 0))
    rows += [(OPEN, 0), (CLOSE, 0)]
    gap = rng.integers(200, 300, len(rows))
    gap[np.cumsum(rng.integers(21, 25, len(rows) // 25))] += rng.integers(5000, 6000, len(rows) // 25)
    found = fold(steps_of(rows, gap))
    assert [one.count for one in found] == [8]
    assert set(np.diff(found[0].start).tolist()) == {302}


@pytest.mark.parametrize(("count", "told"), [(32, True), (31, False)])
def test_one_step_that_is_all_there_is_behind_a_loop_is_one_too(count, told):
    """As in merging sorted runs: each is written, then all are read in small pieces."""
    found = fold(steps_of(BODY * 12 + [(READ, 512)] * count))
    assert [one.count for one in found] == ([12, count] if told else [12])
    assert not told or found[1].start.tolist() == list(range(60, 61 + count))


@pytest.mark.parametrize("ended", [70, 100, 300])
def test_an_iteration_that_was_not_ended_is_no_loop_by_itself(ended):
    """Iterations of as many equal writes, a pause between them; the last one ends early."""
    gap = np.full(12 * 400 + ended, 10)
    gap[::400] = 5000
    (loop,) = fold(steps_of([(WRITE, 100)] * len(gap), gap))
    assert loop.count in (12, 13)
    assert set(np.diff(loop.start[:13]).tolist()) == {400}


@given(st.integers(0, 2**32))
@settings(max_examples=20)
def test_long_pauses_part_iterations_whatever_the_short_gaps_between_them(seed):
    """In the last two of twelve bursts the process is disturbed at many of its writes."""
    rng = np.random.default_rng(seed)
    gap = rng.integers(0, 2, (12, 64))
    gap[10:][rng.random((2, 64)) < 0.6] = 10
    gap[:, 1] = 10
    gap[:, 0] = rng.integers(200_000, 220_000, 12)
    (loop,) = fold(steps_of([(OPEN, 0)] + [(WRITE, 100)] * gap.size, np.append(0, gap.ravel())))
    assert loop.start.tolist() == list(range(1, gap.size + 2, 64))


@pytest.mark.parametrize("late", [3, 14, 15])
def test_a_pause_within_an_iteration_does_not_part_it(late):
    """Three variables are written and flushed at a time; once the third one comes late."""
    rows = [(WRITE, 4_000_000), (FLUSH, 0), (OPEN, 0), (FLUSH, 0), (CLOSE, 0)]
    gap = np.full((16, 15), 10)
    gap[:, 0] = 200_000
    gap[late, 10] = 190_000
    (loop, *_) = fold(steps_of(rows * 48 + [(CLOSE, 0), (OPEN, 0), (FLUSH, 0)], np.append(gap.ravel(), [20] * 3)))
    assert loop.start.tolist()[:16] == list(range(0, 240, 15))
    assert loop.count == 16
    assert not loop.other.any()


def test_shorter_parts_before_the_usual_one_at_the_end_do_not_swallow_it():
    """As in a run that ends with equal steps after parts of one step each."""
    same, none = np.zeros(5, np.int64), np.zeros(5, np.bool_)
    line = Line([same], same, same, none, none, same, same, np.arange(5), none, 1e9)
    cuts = Cuts(0.0, np.array([0, 1, 2]), np.array([0, 0, 2]), same, same, 0.0, np.zeros(3))
    start, other, usual = _iterations(line, cuts, np.array([1, 2, 5]), 0, 3, 2)
    assert (np.diff(start) > 0).all()
    assert start[usual : usual + 2].tolist() == [2, 5]
    assert len(other) == len(start) - 1


def test_parts_shorter_than_what_they_begin_with_leave_no_empty_iteration():
    """Iterations of eight steps, of which some lack their end or add steps, and begin where the longest pause is."""
    rng = np.random.default_rng(2981)
    rng.integers(2, 5)
    body = [(int(rng.integers(0, 5)), int(rng.choice([100, 7, 4096]))) for _ in range(int(rng.integers(3, 9)))]
    rows = []
    for _ in range(int(rng.integers(5, 14))):
        whole = rng.random() >= 0.5
        rows.append(body if whole else body[: int(rng.integers(1, len(body) + 1))])
        if rng.random() < 0.3:
            rows[-1] = rows[-1] + [(int(rng.integers(0, 5)), int(rng.choice([100, 7])))] * int(rng.integers(1, 4))
    gap = [100_000 if not place else 10 for one in rows for place in range(len(one))]
    found = fold(steps_of([step for one in rows for step in one], gap))
    assert all((np.diff(one.start) > 0).all() for one in found)


@pytest.mark.parametrize(("second", "count"), [(1e9, 500), (1e4, 8)])
def test_pauses_that_are_short_by_themselves_and_beside_a_burst_make_no_loop(second, count):
    """A file is written in one go; each 66 writes the page cache takes its time, 90 ns or, as a program, 9 ms."""
    gap = np.full(502, 10)
    gap[1::66] = 90
    (loop,) = fold(steps_of([(OPEN, 0), *[(WRITE, 4096)] * 500, (CLOSE, 0)], gap), second=second)
    assert loop.count == count


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("pause", [250_000_000, 0])
def test_parts_with_the_same_calls_are_a_loop_wherever_the_system_stood_still_in_them(seed, pause):
    """Each file is opened, gets 160 lines of any length and is closed; what is kept are steps between long gaps."""
    rng = np.random.default_rng(seed)
    rows = [(kind, int(size), file) for file in range(5) for kind, size in _lines(rng)]
    steps = steps_of(rows, np.where([kind == OPEN for kind, *_ in rows], pause, rng.integers(1, 8_000_000, len(rows))))
    often = rng.choice([0.03, 0.3], 5)[steps.file]
    (loop,) = fold(steps.coarsened(steps.fresh | (rng.random(len(steps)) < often)))
    assert loop.count == 5
    assert not loop.other.any()


def _lines(rng):
    return [(OPEN, 0), *[(WRITE, int(size)) for size in rng.integers(20, 30, 160)], (CLOSE, 0)]


@given(st.integers(4, 12), st.integers(20, 60))
@settings(max_examples=20)
def test_numbered_files_between_long_pauses_are_a_loop_within_a_loop(count, files):
    rows = [(*step, 1 + file) for file in range(count * files) for step in [(OPEN, 0), (WRITE, 100), (CLOSE, 0)]]
    gap = np.tile([5, 1, 2], count * files)
    gap[:: 3 * files] = 90_000
    (loop,) = fold(steps_of(rows, gap))
    assert loop.start.tolist() == list(range(0, len(rows) + 1, 3 * files))
    assert [one.count for one in loop.inner] == [files]
    # Where some are longer only now and then, each file is an iteration.
    gap[:: 3 * files] = np.where(np.arange(count) % 2, 30, 5)
    assert [one.count for one in fold(steps_of(rows, gap))] == [count * files]


def test_iterations_that_grow_by_more_and_more_are_one_loop():
    """Dumps of a refined mesh: each has an eighth more blocks, and every fourth is read back."""
    rows = []
    for dump in range(20):
        blocks = int(7 * 1.125**dump)
        rows += [(OPEN, 0), *[(WRITE, 4096)] * blocks, (WRITE, 100 + 37 * dump), (FLUSH, 0), (CLOSE, 0)]
        rows += [(OPEN, 0), *[(READ, 4096)] * (blocks // 4 + 1), (CLOSE, 0)] if dump % 4 == 3 else []
    (loop,) = fold(steps_of(rows, [1000 if kind == OPEN else 10 for kind, _ in rows]))
    assert loop.count == 20


@pytest.mark.parametrize(("second", "count"), [(5_000_000, 1), (20_000_000, 1), (80_000_000, 0)])
def test_two_files_of_which_one_is_many_times_as_large_are_no_loop(second, count):
    rows = [(OPEN, 0, 0), (WRITE, 5_000_000, 0), (FLUSH, 0, 0), (CLOSE, 0, 0)]
    rows += [(OPEN, 0, 1), (WRITE, second, 1), (FLUSH, 0, 1), (CLOSE, 0, 1)]
    assert len(fold(steps_of(rows))) == count


@pytest.mark.parametrize(("long", "left"), [(60, 1), (9_000, 16)])
def test_equal_calls_that_were_joined_between_short_gaps_are_one_step(long, left):
    """A recorder takes a new page every 256 calls, of 1 µs each; a program pauses for 9 ms."""
    row = np.arange(4096)
    calls = steps_of([(WRITE, 24)] * len(row), np.where(row % 256, 20, long))
    joined = calls.coarsened(row % 256 == 0)
    assert len(joined.begin) == 16
    assert len(unparted(joined, 1e6).begin) == left


def files_of(parts):
    """Give the steps of files one after the other, each opened and closed: kinds, sizes, and the number of the file."""
    return [(kind, size, file) for file, part in parts for kind, size in [(OPEN, 0), *part, (CLOSE, 0)]]


def test_files_into_which_more_and_more_is_written_are_one_loop():
    """Levels of an adaptive mesh: 1 to 4 records of sizes that grow, with opens and closes of their own."""
    levels = [1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4]
    record = [(OPEN, 0), (WRITE, 1 << 20), (CLOSE, 0)]
    rows = files_of([(number, record * level) for number, level in enumerate(levels)])
    (loop,) = fold(steps_of(rows))
    assert loop.count == len(levels)


@given(st.integers(0, 2**32))
def test_files_of_any_length_are_one_loop(seed):
    """As an archive is unpacked: some blocks of one size into each file, and what is left."""
    rng = np.random.default_rng(seed)
    parts = [
        (n, [(WRITE, 10240)] * int(rng.integers(1, 98)) + [(WRITE, int(rng.integers(1, 10240)))]) for n in range(30)
    ]
    (loop,) = fold(steps_of(files_of(parts)))
    assert loop.count == 30


@given(st.integers(0, 2**32))
def test_files_read_in_random_order_are_one_loop_of_files_whatever_pauses_part_them(seed):
    """Epochs of unequal length, with validation between them, each of shards in another order."""
    rng = np.random.default_rng(seed)
    shards = [int(rng.integers(8)) for epoch in (6, 8, 8, 9, 9, 9) for _ in range(epoch)]
    gap = rng.integers(10, 100, 4 * len(shards))
    gap[::4] = 100_000 + rng.integers(0, 20_000, len(shards))
    gap[4 * np.cumsum([6, 8, 8, 9, 9])] = 350_000
    (loop,) = fold(
        steps_of(files_of([(shard, [(READ, 388 << 10), (READ, 4096)]) for shard in shards]), gap), second=1e9
    )
    assert loop.count == len(shards)


def test_two_files_by_turns_are_still_one_iteration():
    parts = [(number % 2, [(WRITE, 1000), (WRITE, 7 + number % 2)]) for number in range(24)]
    gap = np.full(24 * 4, 10)
    gap[::8] = 100_000
    (loop,) = fold(steps_of(files_of(parts), gap))
    assert loop.count == 12


def test_a_first_iteration_that_lacks_its_last_step_is_one():
    """Nothing is there to be read before the first time."""
    body = [(WRITE, 1000)] * 3 + [(READ, 1000)]
    rows = [(OPEN, 0)] + body[:3] + body * 13
    gap = np.full(len(rows), 10)
    gap[1], gap[4::4] = 100_000, 100_000
    (loop,) = fold(steps_of(rows, gap))
    assert (loop.count, loop.start[0]) == (14, 1)


def test_what_a_long_iteration_is_followed_by_at_once_is_one_more():
    body = [(WRITE, 4096)] * 3
    rows, gap = [], []
    for step in range(24):
        late = step == 15
        rows += body + [(WRITE, 1 << 24)] * 6 * (step == 14)
        gap += [10 if late else 100_000, 10, 10] + [10] * 6 * (step == 14)
    (loop,) = fold(steps_of(rows, gap))
    assert (loop.count, np.flatnonzero(loop.other).tolist()) == (24, [14])


def headed(seed, paused):
    """Give 25 headers of one size, each with some blocks of any size behind it, and pauses before them or anywhere."""
    rng = np.random.default_rng(seed)
    rows, begins = [(OPEN, 0)], []
    for _ in range(25):
        begins.append(len(rows))
        rows += [(WRITE, 32)] + [(WRITE, int(rng.integers(1_000, 80_000))) for _ in range(int(rng.integers(3, 9)))]
    gap = rng.integers(100, 500, len(rows))
    gap[begins if paused else rng.choice(len(rows), 25, replace=False)] = 10**8
    return steps_of(rows, gap)


def test_pauses_that_come_before_one_step_and_before_no_other_make_a_loop_however_unlike_its_iterations_are():
    found = [[one.count for one in fold(headed(seed, True))] for seed in range(40)]
    assert found.count([25]) >= 38


def test_pauses_anywhere_make_none_of_them():
    found = [fold(headed(seed, False)) for seed in range(40)]
    assert not any(one.count == 25 for loops in found for one in loops)


@pytest.mark.parametrize(("between", "inner"), [(10**8, 1), (600, 0)])
def test_files_in_sets_of_any_number_are_a_loop_of_sets_where_long_pauses_part_them(between, inner):
    rng = np.random.default_rng(7)
    many = rng.permutation([4, 5, 5, 6] * 5)
    gap = rng.integers(100, 300, 3 * many.sum())
    gap[3 * np.cumsum(many)[:-1]] = between
    (loop,) = fold(steps_of(files_of((file, [(WRITE, 1000)]) for file in range(many.sum())), gap))
    assert (loop.count, len(loop.inner)) == ((20, 1) if inner else (100, 0))


def test_a_merge_of_all_files_is_no_iteration_of_those_that_write_one_each():
    rows = [(kind, 0, file) for file in range(16) for kind in (OPEN, CLOSE)]
    rows += [(kind, 0, file) for kind in (OPEN, CLOSE) for file in range(16)]
    first, *_ = fold(steps_of(rows))
    assert (first.count, first.start[-1]) == (16, 32)


@pytest.mark.parametrize("seed", range(20))
def test_what_follows_a_pause_is_of_the_iteration_behind_it(seed):
    """Once in a while the program reads before it opens the next file."""
    rng = np.random.default_rng(seed)
    rows, gap, edges = [], [], [0]
    for number in range(20):
        more = [(READ, 50, number - 1)] * (number in (5, 11))
        mine = [*more, (OPEN, 0, number), (WRITE, 100, number), (WRITE, 7, number), (CLOSE, 0, number)]
        rows += mine
        gap += [int(2_000_000 * rng.lognormal(0, 0.4)), *rng.integers(10, 3000, len(mine) - 1).tolist()]
        edges.append(len(rows))
    (loop,) = fold(steps_of(rows, gap))
    assert loop.start.tolist() == edges
    assert np.flatnonzero(loop.other).tolist() == [5, 11]


def test_very_many_small_calls_in_one_iteration_do_not_hide_the_loop():
    """Those of the others that follow one another are kept as one, so that few steps are left."""
    few, odd = [(WRITE, 100)] * 4 + [(WRITE, 7)], [(WRITE, 60 + number % 5) for number in range(400)]
    rows = few * 5 + few[:3] + odd + few[4:] + few * 4
    steps = steps_of(rows)
    joined = np.append(True, (steps.unit[1:] != steps.unit[:-1]))
    joined[29:428] = False
    (loop,) = fold(steps.coarsened(joined))
    assert (loop.count, np.flatnonzero(loop.other).tolist()) == (10, [5])


@pytest.mark.parametrize("first", [0, 1])
def test_files_in_sets_are_no_parts_of_a_set_where_one_pause_comes_in_each(first):
    """A program computes after the first file of each hundred, so that no set that stands by itself begins there."""
    rows = [step for file in range(1200) for step in ((OPEN, 0, file), (READ, 4096, file), (CLOSE, 0, file))]
    gap = np.random.default_rng(3).integers(20, 400, len(rows))
    gap[3 * first :: 300] = 250_000
    (loop,) = fold(steps_of(rows, gap))
    assert (loop.count, [one.count for one in loop.inner]) == (12, [100])


@pytest.mark.parametrize(
    ("start", "told"), [((0, 5, 10, 15, 20), True), ((0, 5, 11, 15, 20), True), ((0, 5, 40, 45), False)]
)
def test_a_loop_within_an_iteration_has_about_as_many_steps_as_are_told_of_it(start, told):
    """Lines of a table whose numbers get digits: what comes between those that repeat is none of them."""
    other = np.diff(start) != 5
    assert folding._is_as_told(folding.Folded(np.array(start), 0, other, 9.0)) is told


def test_what_writes_the_file_that_all_iterations_read_is_none_of_them():
    """Records of any size, many of which are one step."""
    sizes = np.random.default_rng(3).integers(50, 5000, (5, 40))
    rows = [
        [(OPEN, 0), *((READ if place else WRITE, size) for size in part), (CLOSE, 0)]
        for place, part in enumerate(sizes)
    ]
    steps = steps_of(
        [row for part in rows for row in part], [20_000 if place % 42 == 0 else 10 for place in range(210)]
    )
    (loop,) = fold(steps.coarsened(np.isin(np.arange(210) % 42, (0, 1, 20, 41))))
    assert (loop.count, int(loop.start[0])) == (4, 4)


def test_parts_move_alike_unless_one_writes_what_the_other_reads():
    rows = [(OPEN, 0), (WRITE, 100), (CLOSE, 0), (OPEN, 0), (READ, 100), (CLOSE, 0), (OPEN, 0), (CLOSE, 0)]
    line = folding._line_of(steps_of(rows), 1e6)
    parts = slice(0, 3), slice(3, 6), slice(6, 8)
    assert [folding._move_alike(line, parts[0], other) for other in parts] == [True, False, True]


def test_files_are_iterations_also_where_what_is_kept_as_one_begins_within_them():
    """Of the first ten files each run of equal lines is known, of others where the second one begins."""
    rows = [(OPEN, 0), *[(WRITE, 8)] * 10, *[(WRITE, 9)] * 90, (CLOSE, 0)] * 30
    place = np.arange(len(rows))
    keep = np.where(place < 1020, np.isin(place % 102, (0, 1, 11, 101)), place % 102 == 11)
    (loop,) = fold(steps_of(rows, np.where(place % 102, 3, 50_000)).coarsened(keep))
    assert loop.count == 30


def test_what_is_opened_and_written_before_the_first_iteration_is_none_of_it():
    """One writes a mesh of lines, which then is read whole again and again."""
    rows = [(OPEN, 0), *[(WRITE, 40)] * 30, (CLOSE, 0), *[(OPEN, 0), *[(READ, 128)] * 30, (CLOSE, 0)] * 8]
    line = folding._line_of(steps_of(rows), 1e6)
    start, other = np.append(0, 64 + 32 * np.arange(8)), np.arange(8) == 0
    start, _ = folding._without_before(line, start, other, 1)
    assert start.tolist() == [32, *range(64, 289, 32)]
