"""The iteration that takes longest until the next one: what goes on meanwhile is to blame, whatever loop it is in."""

import pytest
from iostrata import find_loops, open_trace
from iostrata.analysis.loops.slowest import slowest_text
from otf2.enums import IoOperationFlag, IoOperationMode

WRITE, READ = IoOperationMode.WRITE, IoOperationMode.READ
PERIOD, SLOW = 50_000, 7


def begins(count=16, longer=400_000):
    """Give when each of some iterations begins, one of which takes longer until the next."""
    return [10_000 + PERIOD * step + (longer if step >= SLOW else 0) for step in range(count)]


def texts(written):
    written.closed()
    found = find_loops(open_trace(written.folder))
    return {one.body[0].file: slowest_text(found, one) for one in found.outermost}


def checkpoints(written, times, ranks=4):
    data = written.handle(written.file("/s/data"), written.posix)
    for rank in range(ranks):
        for at in times:
            for block in range(4):
                written.operate(rank, data, WRITE, at + 20 * block + rank, at + 20 * block + 10 + rank, 4096)


def test_a_read_of_another_file_by_one_rank_is_to_blame(written):
    checkpoints(written, begins())
    other = written.handle(written.file("/s/big.in"), written.posix)
    at = begins()[SLOW - 1] + 1000
    written.operate(1, other, READ, at, at + 390_000, 1 << 28)
    text = texts(written)["/s/data"]
    assert text == (
        "from iteration 7 to the next it takes 450 ms, 50 ms is usual (POSIX reads of big.in for 390 ms on rank 1)"
    )


@pytest.mark.parametrize("memory", [None, 400_000_000])
def test_the_document_has_the_iteration_and_what_is_to_blame(written, memory):
    """Also where operations are not kept."""
    checkpoints(written, begins())
    other = written.handle(written.file("/s/big.in"), written.posix)
    at = begins()[SLOW - 1] + 1000
    written.operate(1, other, READ, at, at + 390_000, 1 << 28)
    written.closed()
    (loop,) = find_loops(open_trace(written.folder, memory=memory)).to_dict()["loops"]
    told = loop["slowest"]
    assert told["text"].startswith(
        "from iteration 7 to the next it takes 450 ms, 50 ms is usual (POSIX reads of big.in"
    )
    assert (told["iteration"], told["until_next"], told["outlier"]) == (7, True, True)
    assert (told["length_s"], told["usual_s"]) == pytest.approx((0.45, 0.05))
    taken = told["cause"].pop("taken_s")
    assert told["cause"] == {"layer": "POSIX", "rank": 1, "call": "read", "file": "/s/big.in"}
    assert taken == pytest.approx(0.39, rel=1e-3)


def test_what_a_rank_that_begins_late_does_before_is_told(written):
    data = written.handle(written.file("/s/data"), written.posix)
    other = written.handle(written.file("/s/table.in"), written.posix)
    for rank in range(4):
        for step in range(16):
            at = 10_000 + PERIOD * step
            if (rank, step) == (2, SLOW):
                written.operate(rank, other, READ, at + 10, at + 19_000, 1 << 20)
                at += 20_000
            for block in range(4):
                written.operate(rank, data, WRITE, at + 20 * block + rank, at + 20 * block + 10 + rank, 4096)
    text = texts(written)["/s/data"]
    assert "(rank 2 begins 20 ms after most others: POSIX reads of table.in for 19 ms on rank 2)" in text


@pytest.mark.parametrize(("longer", "takes"), [(400_000, "450 ms"), (30_000, "80 ms")])
def test_a_rank_that_others_wait_for_before_the_next_iteration_is_named(written, longer, takes):
    """The calls in which they wait leave no event."""
    handle = written.handle(written.file("/s/field"), written.mpi)
    for rank in range(4):
        for step, at in enumerate(begins(longer=longer)):
            early = at - (longer - 5_000 if step == SLOW and rank != 2 else 20) - rank
            written.call(rank, "MPI_File_set_view", early, at - 5)
            written.operate(rank, handle, WRITE, at, at + 100, 4096, IoOperationFlag.COLLECTIVE)
            written.call(rank, "MPI_File_write_all", at - 1, at + 101)
    text = texts(written)["/s/field"]
    assert text.startswith(f"from iteration 7 to the next it takes {takes}, 50 ms is usual (the others wait for rank 2")
    assert text.endswith("in MPI_File_set_view)")


def test_a_rank_that_others_wait_for_in_a_barrier_is_named(written):
    """Which is no call of I/O."""
    handle = written.handle(written.file("/s/field"), written.posix)
    for rank in range(4):
        for step, at in enumerate(begins()):
            written.operate(rank, handle, WRITE, at, at + 100, 4096)
            written.call(rank, "pwrite", at - 1, at + 101)
            written.call(rank, "MPI_Barrier", at - (40 if step != SLOW or rank == 2 else 390_000) - rank, at - 5)
    text = texts(written)["/s/field"]
    assert text.startswith("from iteration 7 to the next it takes 450 ms, 50 ms is usual (the others wait for rank 2")
    assert text.endswith("in MPI_Barrier)")


def test_a_rank_that_others_wait_for_before_every_so_many_iterations_is_named(written):
    """It spreads its work anew."""
    handle = written.handle(written.file("/s/field"), written.posix)
    for rank in range(4):
        for step in range(16):
            longer = 40_000 if step % 4 == 3 else 0
            at = 10_000 + 20_000 * step + 40_000 * ((step + 1) // 4)
            written.operate(rank, handle, WRITE, at, at + 100, 4096)
            written.call(rank, "pwrite", at - 1, at + 101)
            written.call(rank, "MPI_Barrier", at - 40 - (longer if rank != 2 else 0) - rank, at - 5)
    assert texts(written)["/s/field"] == "before every 4th: the others wait for rank 2 for 40 ms in MPI_Barrier"


def test_iterations_that_take_no_time_have_no_slowest_one(written):
    """Nor is one looked for among calls of which none waits for another rank."""
    data = written.handle(written.file("/s/data"), written.posix)
    for at in range(10_000, 100_000, 10_000):
        written.operate(0, data, WRITE, at, at, 4096)
    written.call(0, "main", 5_000, 100_000)
    assert texts(written) == {"/s/data": ""}


def test_what_ranks_do_that_take_no_part_is_not_to_blame(written):
    checkpoints(written, begins(), ranks=3)
    other = written.handle(written.file("/s/mesh.in"), written.posix)
    at = begins()[SLOW - 1] + 1000
    written.operate(3, other, READ, at, at + 390_000, 1 << 28)
    assert texts(written)["/s/data"] == "from iteration 7 to the next it takes 450 ms, 50 ms is usual"


def test_what_goes_on_between_all_iterations_is_not_to_blame(written):
    checkpoints(written, begins(longer=30_000))
    other = written.handle(written.file("/s/each.in"), written.posix)
    for at in begins(longer=30_000):
        written.operate(1, other, READ, at + 1000, at + 41_000, 1 << 20)
    assert "each.in" not in texts(written)["/s/data"]


def test_ranks_that_never_wait_for_one_another_have_no_longest_iteration(written):
    data = written.handle(written.file("/s/data"), written.posix)
    for rank in range(4):
        for step in range(40):
            at = 10_000 + (1000 + 20 * rank) * step + 3000 * rank
            written.operate(rank, data, WRITE, at, at + 900, 4096)
    assert texts(written)["/s/data"].startswith("ranks are up to ")


def test_the_pace_of_a_rank_that_is_slower_and_waits_for_nobody_is_told(written):
    data = written.handle(written.file("/s/data"), written.posix)
    for rank in range(4):
        for step in range(25):
            at = 10_000 + (40_000 if rank == 2 else 20_000) * step + rank
            written.operate(rank, data, WRITE, at, at + 100, 4096)
    assert texts(written)["/s/data"] == "ranks are up to 480 ms apart: rank 2 takes 40 ms, 20 ms is usual"


def test_ranks_that_get_apart_a_little_more_each_time_do_not_wait_for_one_another(written):
    data = written.handle(written.file("/s/data"), written.posix)
    for rank in range(4):
        for step in range(20):
            at = 10_000 + 50_000 * step + (1_000 * step if rank == 3 else 0) + rank
            written.operate(rank, data, WRITE, at, at + 100, 4096)
    assert texts(written)["/s/data"] == "ranks are up to 19 ms apart"


@pytest.mark.parametrize("many", [12_000, 200])
def test_many_deletions_between_two_steps_are_to_blame(written, many):
    checkpoints(written, begins())
    scratch = [written.handle(written.file(f"/t/{number:05}.tmp"), written.posix) for number in range(many)]
    for number, handle in enumerate(scratch):
        at = begins()[SLOW - 1] + 1000 + number * 300_000 // many
        written.create(3, handle, at)
        written.destroy(3, handle, at + 10)
    text = texts(written)["/s/data"]
    assert text.endswith("(24,000 opens, closes or deletions on rank 3)" if many > 200 else "50 ms is usual")


def test_many_seeks_between_two_steps_are_told_as_such(written):
    checkpoints(written, begins(longer=60_000))
    other = written.handle(written.file("/s/index"), written.posix)
    for place in range(40_000):
        written.seek(1, other, begins()[SLOW - 1] + 1000 + place)
    assert texts(written)["/s/data"].endswith("(40,000 seeks on rank 1)")


def test_an_iteration_whose_own_steps_take_long_is_told_by_them(written):
    data = written.handle(written.file("/s/data"), written.posix)
    for step in range(16):
        at, long = 10_000 + PERIOD * step, 8_000 if step == SLOW else 10
        for block in range(4):
            written.operate(0, data, WRITE, at + block * (long + 10), at + block * (long + 10) + long, 4096)
    assert texts(written)["/s/data"].startswith("iteration 8 takes 32 ms, ")
