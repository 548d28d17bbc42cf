"""What goes on beside all that a rank does costs no more than the rank waits for it."""

import json

import pytest
from iostrata import open_trace
from iostrata.analysis.findings import find
from otf2.enums import IoOperationFlag, IoOperationMode

WRITE, NON_BLOCKING = IoOperationMode.WRITE, IoOperationFlag.NON_BLOCKING


def written_beside_computing(written, size, pieces, merged):
    """Ten steps of 100 ms a rank, most of it non-blocking writes of which a rank waits 2 ms for each step's."""
    file = written.file("/s/data")
    upper = written.handle(file, written.mpi)
    lower = written.handle(file, written.posix, upper)
    for rank in range(4):
        written.call(rank, "MPI_File_open", 0, 50_000)
        written.create(rank, upper, 49_000)
        for step in range(10):
            begin = 100_000 * (step + 1)
            for piece in range(pieces):
                start = begin + 20 * piece
                written.call(rank, "MPI_File_iwrite_at", start, start + 10)
                written.operate(rank, upper, WRITE, start + 5, begin + 89_000 + piece, size, flags=NON_BLOCKING)
            written.call(rank, "MPI_Wait", begin + 88_000, begin + 90_000)
            if merged:
                written.operate(rank, lower, WRITE, begin + 88_100, begin + 88_900, pieces * size)
            else:
                written.operate(rank, lower, WRITE, begin + 10, begin + 88_900, pieces * size, flags=NON_BLOCKING)
    return find(written.closed())


def test_non_blocking_operations_cost_what_a_rank_waits_for_them(written):
    found = written_beside_computing(written, 2**20, 1, merged=False)
    shared = next(one for one in found if one.id == "shared-file-independent")
    # They are under way for 0.89 s, and calls of MPI that begin and end them take 20 ms.
    assert shared.cost_s == pytest.approx(10 * 0.00201, rel=0.01)
    assert all(one.cost_s is None or one.cost_s <= 0.0702 for one in found)


@pytest.mark.parametrize("merged", [True, False])
def test_non_blocking_requests_that_are_put_together_are_not_small(written, merged):
    found = written_beside_computing(written, 2**13, 16, merged=True) if merged else ()
    if not merged:
        # Blocking ones wait for each.
        file = written.file("/s/data")
        upper = written.handle(file, written.mpi)
        lower = written.handle(file, written.posix, upper)
        for row in range(640):
            written.operate(row % 4, upper, WRITE, 1000 * row, 1000 * row + 900, 2**13)
        written.operate(0, lower, WRITE, 639_000, 639_800, 2**20)
        found = find(written.closed())
    assert (("small-requests", "MPI-IO") in {(one.id, one.layer) for one in found}) is not merged


@pytest.mark.parametrize("threads", [(7,), (8,), (8, 9)])
@pytest.mark.parametrize(
    ("by_turns", "rule", "cost_s"), [("read", "alternating-access", 4), ("fsync", "flush-dominates", 2)]
)
def test_what_other_threads_do_is_in_the_background_and_counts_once(tmp_path, threads, by_turns, rule, cost_s):
    """200 calls of 20 ms each by a thread: by the first one of the process, another, or two others at once."""
    calls = [(7, 0, 10, "write")]
    for row in range(200):
        calls += [(tid, 50_000 * row + 100, 20_000, ("write", by_turns)[row % 2]) for tid in threads]
    lines = [
        {"id": row, "name": name, "cat": "POSIX", "ph": "X", "ts": begin, "dur": length, "pid": 7, "tid": tid}
        | {"args": {"fhash": 12, "size_sum": 2**20, "ret": 0 if name == "fsync" else 2**20}}
        for row, (tid, begin, length, name) in enumerate(calls)
    ]
    path = tmp_path / "trace.pfw"
    path.write_text("[\n" + "".join(json.dumps(one) + "\n" for one in lines) + "]")
    one = next(one for one in find(open_trace(path)) if one.id == rule)
    # Of two threads at once every second call goes on as the other one did.
    assert one.cost_s == pytest.approx(cost_s / (2 if (len(threads), by_turns) == (2, "read") else 1), rel=0.02)
    aside = 7 not in threads
    assert one.severity == ("info" if aside else "critical")
    assert ("in the background" in one.statement) is aside
