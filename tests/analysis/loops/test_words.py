"""Loops in words: nothing that misleads, and good English for one and for many."""

from dataclasses import replace

import numpy as np
import pytest
from iostrata.analysis.loops.loops import AddedStep, BodyStep, Iteration, LayerPart, Loop
from iostrata.analysis.loops.timing import pauses_of, timing_of
from iostrata.analysis.loops.words import (
    alike,
    alike_text,
    body_text,
    changes_text,
    loop_text,
    moved_text,
    outlier_text,
    pace_text,
    ranks_text,
    timing_text,
)


def loop_of(begin, lengths=None, busy=None, read=None):
    """Return a loop of writes to one file with these begins, lengths of iterations, times it is busy and bytes read."""
    count = len(begin)
    lengths, read = lengths or [0.1] * count, read or [0] * count
    iterations = []
    median = float(np.median(lengths))
    for place, (start, length) in enumerate(zip(begin, lengths, strict=True)):
        part = LayerPart(read[place], 100, 1, length if busy is None else busy, slowest_rank=3)
        iterations.append(Iteration(start, start + length, length > 1.5 * median, {"POSIX": part}))
    sums = {"POSIX": LayerPart(sum(read), 100 * count, count, 0.0)}
    timing = timing_of(np.array(begin, float))
    own = (1, None, count, (0, 3), ("POSIX",), (BodyStep("POSIX", "write", 50, "f", 1),), begin[0], begin[-1], 9.0)
    return Loop(*own, timing.intervals, timing.kind, tuple(iterations), sums, *timing[2:])


def test_the_pace_is_the_mean_as_periods_are():
    assert pace_text(loop_of([0, 1, 2, 3.1, 4])) == "every 1 s"
    assert pace_text(loop_of([5])) == ""


def test_irregular_intervals_that_are_mostly_alike_are_told_by_these():
    """A checkpoint every 5 s, and the last one as the run ends."""
    assert pace_text(loop_of([5, 10, 15, 20, 25, 25.3])) == "mostly every 5 s"


def test_what_half_of_irregular_intervals_are_is_no_pace():
    """Three of five are alike, and two are anything."""
    assert pace_text(loop_of([5, 10, 15, 20, 21, 29])) == "every 4.8 s on average"


def test_intervals_that_grow_are_told_with_their_mean():
    slower = loop_of(np.cumsum(np.linspace(0.12, 0.5, 20)).tolist())
    assert pace_text(slower) == "every 320 ms on average, slower and slower"


@pytest.mark.parametrize(
    ("between", "pauses"), [([1.0, 1.1, 0.9, 1.0, 1.05, 5.0], 1), ([0.1, 0.4, 1.2, 0.2, 0.05, 4.0], 0)]
)
def test_a_pause_is_longer_than_the_other_intervals_let_expect(between, pauses):
    assert np.count_nonzero(pauses_of(np.array(between))) == pauses


def test_a_large_factor_has_no_decimals():
    lengths = [0.001] * 9 + [0.09]
    assert "90 times as long as usual" in outlier_text(loop_of(list(range(10)), lengths))


def test_two_iterations_have_a_distance_and_no_jitter():
    two = loop_of([0, 0.5])
    assert (pace_text(two), timing_text(two)) == ("500 ms apart", "")


def test_bursts_do_not_pass_for_a_pace():
    """Ten lines at once, ten times: the median interval says nothing of when the next one comes."""
    lines = loop_of([burst + 0.001 * line for burst in range(10) for line in range(10)])
    assert pace_text(lines) == "every 1 ms, 991 ms after every 10th"
    assert timing_text(lines) == "in bursts: half of the intervals up to 1 ms"


def test_what_takes_longer_every_so_many_iterations_is_told():
    """A program spreads its work anew at every 6th, or every 6th of the same writes takes three times as long."""
    pauses = loop_of(np.cumsum([0.065 if step % 6 == 5 else 0.02 for step in range(30)]).tolist())
    assert (pace_text(pauses), changes_text(pauses)) == ("every 20 ms, 65 ms before every 6th", "")
    assert timing_text(pauses).endswith("of either")
    slow = loop_of(list(range(30)), [0.3 if step % 6 == 5 else 0.1 for step in range(30)])
    assert outlier_text(slow) == "every 6th takes 300 ms, 100 ms is usual (POSIX writes for 300 ms, most on rank 3)"
    by_chance = loop_of(np.cumsum([0.21 if step in (3, 4, 7, 9, 12) else 0.1 for step in range(16)]).tolist())
    assert pace_text(by_chance) == "mostly every 100 ms, 5 times 210 ms"


def test_most_iterations_in_one_burst_are_told_by_how_long_it_lasts():
    """Six reads of an input file as a run begins, and three as it ends: none of the intervals is 2.5 s."""
    begin = [0.002, 0.0021, 0.0022, 0.0061, 0.0064, 0.0066, 20, 20.0001, 20.0002]
    assert pace_text(loop_of(begin)) == "6 of them within 4.6 ms"


def test_what_few_iterations_move_is_not_told_of_each():
    assert moved_text(loop_of(range(8))) == "100 B written each in POSIX"
    log = loop_of(range(8), read=[0, 0, 4000, 0, 0, 0, 0, 0])
    assert moved_text(log) == "4 kB read in 1 iteration and 100 B written each in POSIX"
    assert moved_text(loop_of(range(8), read=[100] * 8)) == "100 B read and 100 B written each in POSIX"
    assert moved_text(loop_of(range(2), read=[0, 4000])).startswith("4 kB read in 1 iteration")
    assert moved_text(loop_of(range(2), read=[1000, 4000])).startswith("1 kB to 4 kB read (2.5 kB on average)")


def test_a_mean_that_no_iteration_moves_is_told_as_such():
    """A rank dumps its memory in one of them, or records of a log become larger from some iteration on."""
    once = loop_of(range(8), read=[100] * 7 + [9300])
    assert moved_text(once) == "100 B read in most, 1.25 kB on average and 100 B written each in POSIX"
    drifting = loop_of(range(8), read=list(range(100, 900, 100)))
    assert moved_text(drifting) == (
        "100 B to 800 B read, more each time (450 B on average) and 100 B written each in POSIX"
    )


def test_what_is_asked_for_is_told_where_less_comes():
    """A program asks for a block, and the file ends before."""
    reading = replace(
        loop_of(range(8), read=[145, 0, 0, 134, 0, 145, 12, 20]), body=(BodyStep("POSIX", "read", 145, "f", 2),)
    )
    assert moved_text(reading).startswith("0 B to 145 B read (57 B on average of 580 B asked for) and")
    vary = replace(reading, body=(BodyStep("POSIX", "read", None, "f", 2, ranks=(3,), mean_bytes=30.0),))
    assert moved_text(vary).startswith("0 B to 145 B read (57 B on average) and")
    others = replace(reading, iterations=tuple(replace(one, other=True) for one in reading.iterations))
    assert moved_text(others).startswith("0 B to 145 B read (57 B on average) and")


def test_what_the_program_moves_through_a_lower_layer_itself_is_told_beside_the_upper_one():
    """A checkpoint by POSIX, with lines of a log by ISO C before it, which ISO C writes through POSIX at its end."""
    line = BodyStep("ISOC", "write", 5, "log", 1)
    one = replace(loop_of(range(8)), iterations=())
    inner = replace(one, id=2, parent=1, count=10, ranks=(0,), body=(line,))
    body = (BodyStep(None, "loop", None, "log", 10, loop=2, ranks=(0,)), BodyStep("POSIX", "write", 500, "dump", 2))
    sums = {"ISOC": LayerPart(0, 8 * 50, 80, 0.0), "POSIX": LayerPart(0, 8 * 2000, 32, 0.0)}
    both = replace(one, body=body, sums=sums, layers=("ISOC", "POSIX"))
    assert moved_text(both, [both, inner]) == "2 kB written each in POSIX, 50 B written each in ISOC"
    # Also where it does so in a loop of its own.
    writes = replace(one, id=3, parent=1, count=2, body=(BodyStep("POSIX", "write", 500, "dump", 1),))
    within = replace(both, body=(body[0], BodyStep(None, "loop", None, "dump", 2, loop=3)))
    assert moved_text(within, [within, inner, writes]) == moved_text(both, [both, inner])
    # Layers are named where it is not all in the one that is known.
    assert moved_text(both, [both, inner], "ISOC") == moved_text(both, [both, inner])
    assert moved_text(replace(both, body=body[:1]), [both, inner], "ISOC") == "50 B written each"
    # What a lower layer moves for the upper one alone is not told again.
    assert moved_text(replace(both, body=body[:1]), [both, inner]) == "50 B written each in ISOC"


def test_steps_of_some_ranks_are_told_as_often_as_they_are_done_in_a_row():
    some = (0, 1, 2)
    pair = [BodyStep("POSIX", kind, size, "f", 1, ranks=some) for kind, size in (("write", 1 << 20), ("flush", None))]
    one = loop_of(range(8))
    inner = replace(one, id=2, parent=1, count=32, ranks=(3,), body=tuple(replace(step, ranks=None) for step in pair))
    nested = BodyStep(None, "loop", None, "f", 32, loop=2, ranks=(3,))
    body = (BodyStep("POSIX", "open", None, "f", 1), *pair, *pair, *pair, nested)
    whole = replace(one, body=body)
    text = "open f, 3 × (write 1 MiB, flush) [ranks 0–2], 32 × (write 1 MiB, flush) [rank 3]"
    assert body_text(whole, [whole, inner]) == text
    twice = replace(one, body=(*pair, body[0], *pair))
    assert body_text(twice, [twice]).count("write 1 MiB") == 2


def test_an_iteration_of_very_many_steps_is_told_like_others():
    steps = [BodyStep("POSIX", "write", 5000 + size, "f", 1) for size in range(1, 20_001)]
    one = replace(loop_of(range(8)), body=(*steps, *steps[-2:], *steps[-2:]))
    assert body_text(one, [one], most=1) == "3 × (write 25 kB f, write 25 kB), 19,998 smaller steps"


def test_what_a_lower_layer_moves_is_told_where_the_upper_one_moves_nothing():
    """A library that opens a file by ISO C and writes through its descriptor."""
    one = loop_of(range(8))
    above = replace(one, layers=("ISOC", "POSIX"), sums={"ISOC": LayerPart(0, 0, 0, 0.0), **one.sums})
    assert moved_text(above) == "100 B written each in POSIX"
    both = replace(one, sums={"ISOC": LayerPart(0, 80, 8, 0.0), "POSIX": LayerPart(8000, 80, 8, 0.0)})
    assert moved_text(replace(both, iterations=())) == "1 kB read each in POSIX, 10 B written each in ISOC"


@pytest.mark.parametrize(
    ("longest", "busy", "text"),
    [
        (1.0, None, "iteration 3 takes 1 s, 10 times as long as usual (POSIX writes for 1 s, most on rank 3)"),
        (30.0, None, "iteration 3 takes 30 s, 100 ms is usual (POSIX writes for 30 s, most on rank 3)"),
        (
            1.0,
            0.01,
            "iteration 3 takes 1 s, 10 times as long as usual (POSIX writes for 10 ms, most on rank 3; for most of "
            "it nothing is transferred)",
        ),
        (1.0, 0.0, ""),
        (0.14, 0.01, ""),
    ],
)
def test_the_slowest_iteration_is_told_with_its_layer_and_rank(longest, busy, text):
    assert outlier_text(loop_of(range(0, 400, 40), [0.1, 0.1, longest] + [0.1] * 7, busy)) == text


def test_the_only_rank_of_a_loop_is_not_said_to_have_done_most():
    """There is no other to compare it with, also in a run of one rank."""
    alone = replace(loop_of(range(0, 400, 40), [0.1, 0.1, 1.0] + [0.1] * 7), ranks=(3,))
    text = "iteration 3 takes 1 s, 10 times as long as usual (POSIX writes for 1 s)"
    assert outlier_text(alone) == text


def test_of_many_steps_the_largest_are_told_in_their_order_and_how_many_more_there_are():
    """A line fits on a screen; exports have all."""
    steps = tuple(BodyStep("POSIX", "write", 1000 + 100 * row, f"/run/{row}", 1) for row in (5, *range(12)))
    outer = replace(loop_of([0, 1]), body=steps)
    assert loop_text(outer, (), "/run/") == (
        "2 × (write 1.5 kB 5, write 1.3 kB 3, write 1.4 kB 4, write 1.5 kB 5, write 1.6 kB 6, "
        "write 1.7 kB 7, write 1.8 kB 8, write 1.9 kB 9, write 2 kB 10, write 2.1 kB 11, 3 smaller steps)"
    )
    assert body_text(outer, (), "/run/").count("write") == 13


def test_what_takes_longer_than_usual_is_to_blame_also_where_most_of_an_iteration_is_computing():
    """Of 1.8 s of computing and 50 ms of writing, one iteration writes 550 ms more."""
    one = loop_of(range(0, 40, 4), [1.85] * 6 + [2.4] + [1.85] * 3, 0.05)
    part = LayerPart(0, 100, 1, 0.6, flushes=1, slowest_rank=5)
    iterations = [*one.iterations[:6], replace(one.iterations[6], layers={"POSIX": part}), *one.iterations[7:]]
    blame = "POSIX writes and flushes for 600 ms, most on rank 5, 550 ms more than usual"
    assert outlier_text(replace(one, iterations=tuple(iterations))) == f"iteration 7 is the longest: 2.4 s ({blame})"
    blame = "POSIX writes for 50 ms, most on rank 3; for most of it nothing is transferred"
    assert outlier_text(one) == f"iteration 7 is the longest: 2.4 s ({blame})"


def test_the_longest_comes_first_whoever_is_to_blame():
    one = loop_of(range(0, 400, 40), [0.1, 0.1, 1.0] + [0.1] * 6 + [2.0])
    idle = replace(one.iterations[-1], layers={"POSIX": LayerPart(0, 100, 1, 0.01)})
    text = outlier_text(replace(one, iterations=(*one.iterations[:-1], idle)))
    assert text.startswith("iteration 10 takes 2 s")
    assert text.endswith("; 1 other stands out, too")


def test_a_file_is_named_once():
    """Also where a loop within goes on with it."""
    outer = loop_of([0, 1])
    inner = replace(outer, id=2, parent=1, count=4, body=(BodyStep("POSIX", "write", 4096, "/run/out", 1),))
    steps = (BodyStep("POSIX", "open", None, "/run/out", 1), BodyStep(None, "loop", None, "/run/out", 4, loop=2))
    outer = replace(outer, body=(*steps, BodyStep("POSIX", "write", 8, "/run/log", 1)))
    assert body_text(outer, (outer, inner), "/run/") == "open out, 4 × write 4 KiB, write 8 B log"


def test_whoever_flushed_is_not_said_to_have_written():
    """A layer's time is that of its flushes, too."""
    one = loop_of(range(0, 400, 40), [0.1, 0.1, 1.0] + [0.1] * 7)
    slow = replace(one.iterations[2], layers={"POSIX": LayerPart(0, 100, 1, 1.0, flushes=2, slowest_rank=2)})
    text = outlier_text(replace(one, iterations=(*one.iterations[:2], slow, *one.iterations[3:])))
    assert text.endswith("(POSIX writes and flushes for 1 s, most on rank 2)")


def test_steps_say_whether_they_are_collective_and_how_large_on_average():
    steps = (
        BodyStep("MPI-IO", "open", None, "/run/out", 1, collective=True),
        BodyStep("MPI-IO", "write", 2**20, "/run/out", 4, collective=True),
        BodyStep("MPI-IO", "write", None, "/run/out", 3, mean_bytes=1234.5),
        BodyStep("MPI-IO", "deletion", None, "/run/old", 1, ranks=(0,)),
        BodyStep("POSIX", "deletion", None, "/run/old", 1, ranks=(0,)),
    )
    body = body_text(replace(loop_of([0, 1]), body=steps), (), "/run/")
    assert body == "open out, 4 × collective write 1 MiB, 3 × write ~1.23 kB, delete [rank 0] old"


@pytest.mark.parametrize(("kind", "told"), [("open", "15 × open"), ("flush", "open, 14 × flush")])
def test_what_one_iteration_adds_is_told_once(kind, told):
    steps = BodyStep("POSIX", "open", None, "/a", 1), BodyStep("POSIX", kind, None, "/b", 14)
    loop = replace(loop_of(range(20)), added=tuple(AddedStep(one, 1, 17, None) for one in steps))
    assert loop_text(loop, ()).endswith(f"; iteration 17 also {told})")


def test_loops_of_the_same_steps_are_told_together():
    """Threads that take files in turn from a list have a loop each, with as many files as they got."""
    step = BodyStep("POSIX", "read", None, "/in/img_*", 1, mean_bytes=100.0)
    four = replace(loop_of(range(4)), body=(step,))
    nine = replace(loop_of(range(9)), id=2, body=(replace(step, mean_bytes=230.0),))
    other = replace(loop_of(range(9)), id=3, body=(replace(step, kind="write"),))
    groups = alike([four, other, nine])
    assert groups == [(four, nine), (other,)]
    assert alike_text(groups[0], [four, other, nine], "/in/") == "2 loops of 4 to 9 × (read ~190 B img_*)"
    assert alike_text(groups[1], [other], "/in/") == "9 × (write ~100 B img_*)"


def test_a_loop_of_one_step_within_is_that_step():
    outer = loop_of([0, 1])
    inner = replace(outer, id=2, parent=1, count=61, body=(BodyStep("POSIX", "write", 512 << 10, "/run/out", 1),))
    steps = (BodyStep("POSIX", "open", None, "/run/out", 1), BodyStep(None, "loop", None, "/run/out", 61, loop=2))
    assert body_text(replace(outer, body=steps), [inner], "/run/") == "open out, 61 × write 512 KiB"


@pytest.mark.parametrize(("size", "text"), [(65536, "64 KiB"), (64, "64 B")])
def test_a_loop_of_one_step_that_some_ranks_do_says_which(size, text):
    inner = Loop(2, 1, 9, (1,), ("POSIX",), (BodyStep("POSIX", "read", size, "f", 1),))
    reads, write = (
        BodyStep(None, "loop", None, "f", 9, 2, ranks=(1,)),
        BodyStep("POSIX", "write", 80, "f", 1, ranks=(0,)),
    )
    outer = Loop(1, None, 3, (0, 1), ("POSIX",), (reads, write))
    assert body_text(outer, (outer, inner), "", "f") == f"9 × read {text} [rank 1], write 80 B [rank 0]"


def test_many_ranks_at_one_distance_are_told_in_short_and_others_whole():
    assert ranks_text(range(0, 70, 10), 80) == "ranks 0, 10, …, 60"
    assert ranks_text(range(0, 60, 10), 80) == "ranks 0, 10, 20, 30, 40, 50"
    assert ranks_text((0, 10, 20, 30, 40, 50, 61), 80) == "ranks 0, 10, 20, 30, 40, 50, 61"
    assert ranks_text(range(1, 8), 80) == "ranks 1–7"


def test_ranks_that_are_not_known_are_not_told():
    assert ranks_text((), 8) == ""


def test_many_small_pieces_of_one_line_are_one_step_whatever_their_digits():
    """As fprintf makes them: loops of loops by how wide numbers are."""
    outer = loop_of(range(8))

    def write(size, often):
        return BodyStep("ISOC", "write", size, "log", often)

    inner = replace(outer, id=2, parent=1, count=10, body=(write(11, 9), write(9, 1)))
    loops = (replace(BodyStep(None, "loop", None, "log", 10, loop=2)), write(12, 100), write(20_000, 1))
    both = replace(outer, body=loops)
    assert body_text(both, [both, inner]) == "200 × write ~11 B log, write 20 kB"
    # Two steps of other sizes are a header and what comes behind it.
    few = replace(outer, body=(write(12, 1), write(40, 1)))
    assert body_text(few, [few]) == "write 12 B log, write 40 B"


def test_what_the_pace_says_is_not_said_again():
    begins = np.cumsum(np.geomspace(1, 9, 40))
    one = loop_of([0]).timed(begins, float(begins[-1]) + 1, False)
    one = replace(one, count=40, iterations=tuple(Iteration(at, at + 0.1, False, {}) for at in begins.tolist()))
    assert "slower and slower" in pace_text(one)
    assert changes_text(one) == ""
    assert changes_text(replace(one, timing="regular")) == "slower and slower"


@pytest.mark.parametrize(("own", "more"), [(1 << 20, "1.05 MB read each by own calls in POSIX"), (1000, "")])
def test_what_a_lower_layer_moves_beside_the_higher_one_is_told(own, more):
    """Of what it moves in all the higher one causes the rest; what is little beside that is not worth a word."""
    body = (BodyStep("MPI-IO", "read", 1 << 20, "a", 1), BodyStep("POSIX", "read", own, "b", 1))
    sums = {"MPI-IO": LayerPart(10 << 20, 0, 10, 0.0), "POSIX": LayerPart(10 * (own + (1 << 20)), 0, 20, 0.0)}
    loop = Loop(1, None, 10, (0,), ("MPI-IO", "POSIX"), body, sums=sums)
    assert moved_text(loop, (loop,)) == ", ".join(filter(None, ("1.05 MB read each in MPI-IO", more)))
