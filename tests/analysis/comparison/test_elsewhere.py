"""What takes much of a run outside of its I/O: recorded runs, and cut-down ones whose numbers are known."""

from types import SimpleNamespace

import numpy as np
import pytest
from iostrata import open_trace
from iostrata.analysis.comparison.elsewhere import by_cost, elsewhere, time_in_mpi, timed_elsewhere
from iostrata.analysis.comparison.overview import overview_of
from iostrata.analysis.comparison.polling import _waits, opens_in_vain
from iostrata.layers.attribution.calls.meetings import Meetings
from iostrata.model.keyed import KeyedSums
from otf2.enums import IoOperationMode


def test_the_rank_that_all_wait_for_is_named_with_what_each_waits(fixtures):
    trace = open_trace(fixtures / "late4")
    (sentence,) = elsewhere(trace)
    chain = trace.calls.chain
    waited = sum(one for rank, one in zip(chain.rank, chain.waited, strict=True) if rank == 2) / 3
    assert sentence.startswith(f"The other ranks wait {1e3 * waited:.0f} ms each, 16 % of the run, for rank 2, ")
    assert sentence.endswith("0 % of what it does meanwhile is I/O")


def test_calls_on_what_is_set_aside_are_told_where_they_take_much_of_the_run(fixtures):
    trace = open_trace(fixtures / "small_files2")
    (sentence,) = elsewhere(trace)
    share = trace.calls.cost.set_aside.max() / trace.calls.cost.length
    assert f"on rank 0, {100 * share:.0f} % of the run" in sentence
    assert sentence.endswith(": 90 % of it pread64")


@pytest.mark.parametrize("name", ["ckpt4", "serial1", "ncckpt4"])
def test_nothing_is_said_of_runs_that_spend_little_there(fixtures, name):
    assert elsewhere(open_trace(fixtures / name)) == ()


def made(
    *,
    aside=0.0,
    waited=(0.0, 0.0),
    io=0.0,
    function="read",
    meetings=5,
    mostly=1.0,
    longest=None,
    by=0.0,
    longer=0.0,
):
    """Return a run of 10 s on two ranks, whose calls of one function on what is set aside take `aside` on rank 1.

    Each rank is waited for in as many calls, of which the longest one may be told; `io` of the time is in I/O. Of what
    rank 0 is in MPI while rank 1 is not, `by` are messages and the like. Rank 0 is `longer` in I/O.
    """
    times = np.zeros((1, 3, 3), np.int64)
    times[0, 1, 2] = int(1e6 * aside)
    calls = SimpleNamespace(
        times=times,
        undecided_count=np.zeros(1, np.bool_),
        serves=np.zeros(1, np.bool_),
        metadata=KeyedSums.none(7, "calls", "ticks", "begin", "end"),
        scope=SimpleNamespace(window=SimpleNamespace(start=0, end=10)),
        paths=SimpleNamespace(region=np.zeros(1, np.int32)),
        functions=SimpleNamespace(layer=np.zeros(1, np.int64), regions=SimpleNamespace(name=(function,))),
    )
    mpi, own = np.array([sum(waited), 0.0]), np.array([longer, 0.0])
    cost = SimpleNamespace(rank=(0, 1), set_aside=np.array([0.0, aside]), length=10.0, mpi=mpi, io=own)
    held = dict(sorted(enumerate(waited), key=lambda one: -one[1]))
    each = np.repeat(np.array(waited) / meetings, meetings)
    if longest is not None:
        each = np.where(
            np.arange(2 * meetings) % meetings, (np.repeat(waited, meetings) - longest) / (meetings - 1), longest
        )
    chain = SimpleNamespace(
        rank=(0,) * meetings + (1,) * meetings,
        cause=(0,) * meetings + (1,) * meetings,
        ranks=(0, 1),
        function=("MPI_Barrier",) * 2 * meetings,
        end=np.arange(2.0 * meetings),
        waited=each,
        each=np.where(np.arange(2 * meetings)[:, np.newaxis] // meetings == [1, 0], each[:, np.newaxis], 0.0),
        mostly=mostly * each,
        io_mostly=io * mostly * each,
        held_up=held,
    )
    summed, awaited = np.array([0.0, 0.9 * by]), np.array([0.0, by])
    alone = SimpleNamespace(rank=(0, 1), summed=summed, io=np.zeros(2), stretches=np.ones(2), awaited=awaited)
    alone = alone if by else None
    met, one_each = Meetings.empty(), SimpleNamespace(group=np.arange(2), first=np.ones(2, np.bool_))
    definitions = SimpleNamespace(
        groups=SimpleNamespace(id=np.arange(2)), locations=one_each, clock=SimpleNamespace(ticks_per_second=1.0)
    )
    found = SimpleNamespace(totals=calls, cost=cost, chain=chain, alone=alone, all_meetings=met, messages={})
    return SimpleNamespace(calls=found, definitions=definitions)


@pytest.mark.parametrize(
    ("run", "told"),
    [
        (made(aside=0.99), None),
        (made(aside=1.01), "1.01 s on rank 1, 10 % of the run, are calls"),
        (made(aside=4.0), "are calls of I/O on files set aside or not known: 100 % of it read"),
        # That is a finding.
        (made(aside=4.0, function="fcntl"), None),
        (made(waited=(0.1, 0.45)), None),
        (made(waited=(0.1, 1.1)), "Rank 0 waits 1.1 s, 11 % of the run, for rank 1, which comes last to 5 of 10 calls"),
        # By messages as well, and the other way round.
        (made(waited=(0.1, 1.1), by=2.5), "Rank 0 waits 2.5 s, 25 % of the run, for rank 1"),
        (made(waited=(1.2, 1.4)), "0 % of what it does meanwhile is I/O; rank 1 waits 1.2 s for rank 0 in turn"),
        (
            made(waited=(1.1, 1.0), io=0.6),
            "for rank 0, which comes last to 5 of 10 calls in which all meet; it is mostly",
        ),
        (made(waited=(1.1, 1.2), io=0.2), "20 % of what it does meanwhile is I/O"),
        # It moves the data of both, and comes later from there.
        (made(waited=(2.0, 0.1), longer=1.5), "it is 1.5 s longer in I/O than they, so that it comes later to what"),
        # Few barriers, or one rank of several that waits.
        (
            made(waited=(0.1, 1.9), meetings=2),
            "waits 1.9 s, 19 % of the run, in 2 calls of MPI_Barrier, until 2 s and 3 s",
        ),
        (
            made(waited=(0.1, 3.9), meetings=4),
            "in 4 calls of MPI_Barrier, until 4 s, 5 s, 6 s and 7 s, for rank 1; 0 % of what",
        ),
        (made(waited=(0.1, 4.0), mostly=0.3), "5 calls of MPI_Barrier, until 5 s, 6 s, 7 s, 8 s and 9 s, for rank 1"),
        (
            made(waited=(0.1, 4.0), mostly=0.3, meetings=6),
            "6 calls of MPI_Barrier, the first until 6 s and the last until 11",
        ),
        (
            made(waited=(1.95, 1.95), mostly=0.3),
            "wait 1.95 s each on average, 20 % of the run, in 10 calls in which all meet",
        ),
        (made(waited=(0.1, 4.0), meetings=10, longest=3.0), "waits 3 s, 30 % of the run, in one MPI_Barrier"),
    ],
)
def test_what_is_told_begins_at_a_twentieth_of_the_run_or_a_tenth_of_what_is_set_aside(run, told):
    found = elsewhere(run)
    assert (len(found), told is None or told in found[0]) == (int(told is not None), True)


def test_who_waits_at_the_end_and_for_whom_is_told(written):
    """Ranks 2 and 3 are done after 100 ms; ranks 0 and 1 write until the barrier."""
    for rank in range(2):
        handle = written.handle(written.file(f"/s/{rank}"), written.posix)
        written.call(rank, "write", 0, 900_000 + rank)
        written.operate(rank, handle, IoOperationMode.WRITE, 1, 900_000, 2**20)
    for rank in range(4):
        written.call(rank, "MPI_Barrier", 100_000 if rank > 1 else 900_000 + rank, 1_000_000)
    trace = written.closed()
    assert time_in_mpi(trace) == {"MPI_Barrier": pytest.approx(2.0, abs=1e-5)}
    (sentence,) = elsewhere(trace)
    assert sentence.startswith("Ranks 2 and 3 wait 800 ms, 80 % of the run, in one MPI_Barrier, until 900 ms")
    assert sentence.endswith("for ranks 0 and 1; who comes last is mostly in I/O meanwhile")


@pytest.mark.parametrize("early", [False, True])
def test_who_waits_for_the_root_of_a_broadcast_waits_for_what_it_does(written, early):
    """Rank 0 reads before it sends; where it is early, it goes on at once, and nobody waits."""
    handle = written.handle(written.file("/s/index"), written.posix)
    for begin in (0, 500_000):
        sends = begin + (1000 if early else 300_000)
        written.call(0, "read", begin + 10, sends - 10)
        written.operate(0, handle, IoOperationMode.READ, begin + 11, sends - 11, 2**20)
        written.call(0, "MPI_Bcast", sends, sends + 1)
        for rank in range(1, 4):
            comes = begin + (300_000 + rank if early else 100)
            written.call(rank, "MPI_Bcast", comes, max(sends, comes) + 50)
    written.call(0, "read", 999_990, 1_000_000)
    found = elsewhere(written.closed())
    if early:
        assert found == ()
    else:
        (sentence,) = found
        assert sentence.startswith(
            "Ranks 1, 2 and 3 wait 600 ms, 60 % of the run, in 2 calls of MPI_Bcast, until 300 ms"
        )
        assert sentence.endswith("and 800 ms, for rank 0; it is mostly in I/O meanwhile")


@pytest.mark.parametrize(("later", "ends"), [(10, True), (60, False)])
def test_who_finds_a_file_long_after_it_asked_for_it_did_not_wait_until_then(later, ends):
    begin = np.array([0, 10, 20, 30, 30 + later])
    tried, waited = _waits(begin, np.array([False] * 4 + [True]))
    assert (tried.tolist(), waited.tolist()) == (([0] * 4 + [4], [0] * 4 + [40]) if ends else ([0] * 5, [0] * 5))


def test_who_looks_in_several_places_at_once_asks_once():
    begin = np.array([0, 1, 2, 3, 13, 23, 33, 43, 53])
    tried, _ = _waits(begin, np.array([False] * 8 + [True]))
    assert tried.tolist() == [0] * 8 + [5]


@pytest.mark.parametrize("made_by", [0, "renamed", 1, None])
def test_who_opens_files_in_vain_until_another_has_made_them_is_told(written, made_by):
    """Rank 1 asks for each of three files every 2 ms for 200 ms; with none made it may look for a stop.

    Where another wrote it under another name rank 0 finds it first, and only reads.
    """
    for step in range(3):
        handles = [written.handle(written.file(f"/s/{step}.done"), written.posix) for _ in range(2)]
        start = 300_000 * step
        if made_by in (0, "renamed"):
            written.call(0, "open", start + 199_000, start + 199_010)
            written.create(0, handles[0], start + 199_005)
        if made_by == "renamed":
            written.operate(0, handles[0], IoOperationMode.READ, start + 199_020, start + 199_030, 1)
        for place in range(100):
            # It does not get the processor once.
            begin = start + 2000 * place + (500 if place == 50 else 0)
            written.call(1, "open", begin, begin + 10)
        written.call(1, "open64" if made_by is None else "open", start + 200_000, start + 200_010)
        if made_by is not None:
            written.create(1, handles[1], start + 200_005)
    written.call(2, "close", 999_990, 1_000_000)
    handle = written.handle(written.file("/s/a"), written.posix)
    written.operate(2, handle, IoOperationMode.WRITE, 999_991, 999_999, 1)
    trace = written.closed()
    found = elsewhere(trace)
    assert opens_in_vain(trace) == (301 if made_by is None else 300) + (2 if made_by is None else 0)
    if made_by is None:
        assert found == ()
    else:
        (sentence,) = found
        assert sentence.startswith(
            "Rank 1 opens files in vain 300 times (0.done and 2 others), every 2 ms for 600 ms, 60 %"
        )
        assert ("until rank 0 has made them" in sentence) is (made_by == 0)


def test_a_trace_without_calls_tells_nothing_of_them():
    calls = SimpleNamespace(totals=None, cost=None, chain=None)
    assert elsewhere(SimpleNamespace(calls=calls)) == ()


@pytest.mark.parametrize("ranks", [1, 2])
def test_who_waits_is_not_looked_for_where_nobody_can_wait_much(ranks):
    """It takes another look at all events."""
    run = made()
    known = SimpleNamespace(rank=tuple(range(ranks)), set_aside=np.zeros(ranks), length=10.0)
    known.mpi, known.io = np.full(ranks, 0.1 if ranks > 1 else 9.0), np.full(ranks, 0.1)
    # Without a chain, looking for it would fail.
    run.calls = SimpleNamespace(totals=run.calls.totals, cost=known)
    assert elsewhere(run) == ()


def test_ranks_that_hardly_wait_are_not_told_as_if_they_did(written):
    """Ranks 2 and 3 compute, one or the other longer, and ranks 0 and 1 wait for both again and again."""
    for step in range(6):
        end = 150_000 * (step + 1)
        for rank, comes in enumerate((30_000, 31_000, *((1_000, 100) if step % 2 else (100, 1_000)))):
            written.call(rank, "MPI_Barrier", end - comes, end)
    handle = written.handle(written.file("/s/a"), written.posix)
    for rank in range(4):
        written.call(rank, "write", 910_000, 910_020)
        written.operate(rank, handle, IoOperationMode.WRITE, 910_005, 910_010, 1)
    overview = overview_of(written.closed())
    first, second = overview.opening
    assert first.startswith("Ranks 0 and 1 wait 179 to 185 ms, up to 20 % of the run, in 6 calls of MPI_Barrier, the")
    assert first.endswith("for ranks 2 and 3; 0 % of what who comes last does meanwhile is I/O")
    # What takes less comes behind it.
    assert second == overview.headline.text


@pytest.mark.parametrize("asks", [True, False])
def test_who_waits_for_requests_of_its_own_io_is_in_no_calls_for_messages(written, asks):
    for step in range(4):
        begin = 200_000 * step
        written.call(0, "MPI_File_iwrite_at" if asks else "MPI_Isend", begin, begin + 100)
        written.call(0, "MPI_Wait", begin + 200, begin + 40_000)
    handle = written.handle(written.file("/s/a"), written.posix)
    for rank in range(1, 4):
        written.call(rank, "write", 910_000, 999_000)
        written.operate(rank, handle, IoOperationMode.WRITE, 910_005, 998_000, 1)
    assert bool([one for one in elsewhere(written.closed()) if "in MPI_Wait: " in one]) is not asks


@pytest.mark.parametrize("senders", [1, 3])
def test_who_is_in_calls_for_messages_for_much_of_the_run_is_told_where_it_is_few(written, senders):
    for step in range(4):
        for rank in range(4):
            written.call(rank, "MPI_Ssend", 200_000 * step, 200_000 * step + (40_000 if rank < senders else 10))
    handle = written.handle(written.file("/s/a"), written.posix)
    written.call(1, "write", 910_000, 999_000)
    written.operate(1, handle, IoOperationMode.WRITE, 910_005, 998_000, 1)
    found = elsewhere(written.closed())
    assert len(found) == (senders == 1)
    assert senders > 1 or found[0].startswith(
        "Rank 0 is 160 ms, 16 % of the run, in calls that send or receive messages"
    )


def test_what_takes_longer_than_all_io_comes_first_but_for_what_is_io_itself():
    headline = SimpleNamespace(text="I/O", io_s=1.0)
    assert by_cost(headline, (("less", 0.9), ("more", 1.1))) == ("more", "I/O", "less")
    ((_, seconds),) = timed_elsewhere(made(waited=(1.2, 1.0), io=0.6))
    assert seconds == pytest.approx(0.4 * 1.2)
    ((_, seconds),) = timed_elsewhere(made(waited=(2.0, 0.1), longer=1.5))
    assert seconds == pytest.approx(0.5)
