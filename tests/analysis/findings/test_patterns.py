"""What is read again: made archives in which it is known how often."""

import pytest
from iostrata.analysis.findings import find
from otf2.enums import IoOperationMode, IoParadigmClass, IoParadigmFlag

READ, WRITE = IoOperationMode.READ, IoOperationMode.WRITE
PART, PARTS, TOOK = 2**20, 4, 10_000


def read_over(written, times, *, ranks=range(4), handle=None):
    """Let ranks read the same 4 MiB some times over, 10 ms for each MiB, one rank after the other."""
    handle = handle or written.handle(written.file("/s/a"), written.posix)
    for turn in range(times):
        for part in range(PARTS):
            begin = 1_000_000 + (turn * PARTS + part) * 2 * TOOK
            for rank in ranks:
                written.operate(rank, handle, READ, begin, begin + TOOK, PART, offset=part * PART)
                written.call(rank, "read", begin, begin + TOOK)


def test_bytes_that_all_read_again_and_again(written):
    read_over(written, 2)
    one = written.findings()["redundant-reads"]
    assert "33.6 MB are read of 4.19 MB: 8 times over by POSIX" in one.text
    # Each rank reads all once more of what is read seven times more.
    assert "57 % of what is read again by the process that had read it" in one.text
    assert (one.evidence["read_bytes"], one.evidence["distinct_bytes"], one.evidence["times"]) == (2**25, 2**22, 8.0)
    assert one.cost_s == pytest.approx(2 * PARTS * TOOK / 1e6 * 7 / 8)
    assert one.evidence["ranks"] == [0, 1, 2, 3]


def test_files_that_are_read_twice_beside_others_that_are_read_once(written):
    read_over(written, 2, ranks=[0])
    read_over(written, 1, ranks=[0], handle=written.handle(written.file("/s/b"), written.posix))
    assert written.findings()["redundant-reads"].evidence["times"] == 1.5


def test_what_is_read_once_is_not_read_again(written):
    read_over(written, 1, ranks=[2])
    assert "redundant-reads" not in written.findings()


def test_little_that_is_read_again_is_a_header(written):
    handle = written.handle(written.file("/s/a"), written.posix)
    for turn in range(1000):
        written.operate(0, handle, READ, 1000 + 20 * turn, 1010 + 20 * turn, 1000, offset=0)
    # The run goes on for a second.
    written.operate(0, handle, READ, 1_000_000, 1_000_010, 0)
    assert "redundant-reads" not in written.findings()


def test_what_a_process_wrote_itself_is_read_back(written):
    handle = written.handle(written.file("/s/a"), written.posix)
    for part in range(PARTS):
        written.operate(1, handle, WRITE, 1000 + part * TOOK, 1500 + part * TOOK, PART, offset=part * PART)
    read_over(written, 3, ranks=[1], handle=handle)
    found = written.findings()
    assert "redundant-reads" not in found
    assert found["read-back"].evidence["read_back_bytes"] == 3 * PARTS * PART


def test_where_offsets_are_not_known_nothing_is_said(written):
    handle = written.handle(written.file("/s/a"), written.posix)
    for turn in range(32):
        written.operate(0, handle, READ, 1000 + 20 * turn, 1010 + 20 * turn, PART)
    assert "redundant-reads" not in written.findings()


@pytest.mark.parametrize(
    ("written_too", "asked", "told"), [(False, PART, True), (True, PART, False), (False, PART // 4, False)]
)
def test_offsets_of_the_layer_below_tell_what_a_layer_without_them_reads_again(written, written_too, asked, told):
    file = written.file("/s/a")
    upper = written.handle(file, written.mpi)
    lower = written.handle(file, written.posix, upper)
    if written_too:
        written.operate(0, upper, WRITE, 1000, 1100, PART)
    for turn in range(5):
        for part in range(PARTS):
            begin = 1_000_000 + (turn * PARTS + part) * 2 * TOOK
            # A library that reads far more than it is asked for reads again itself.
            written.operate(0, upper, READ, begin, begin + TOOK, asked)
            written.operate(0, lower, READ, begin + 10, begin + TOOK - 10, PART, offset=part * PART)
            written.call(0, "MPI_File_read_at", begin, begin + TOOK)
    found = written.findings()
    assert ("redundant-reads" in found) is told
    if told:
        assert "21 MB are read of 4.19 MB: 5 times over by MPI-IO" in found["redundant-reads"].text


@pytest.mark.parametrize(("took", "told"), [(10, False), (2_000, True)])
def test_little_that_is_read_again_counts_where_it_takes_much_of_the_run(written, took, told):
    handle = written.handle(written.file("/s/a"), written.posix)
    for turn in range(100):
        begin = 1000 + 4_000 * turn
        written.operate(0, handle, READ, begin, begin + took, 1000, offset=0)
        written.call(0, "read", begin, begin + took)
    assert ("redundant-reads" in written.findings()) is told


def test_what_asks_for_no_number_of_bytes_is_as_small_as_what_it_moves(make_trace):
    """``fprintf`` of lines, with ``fwrite`` of as many."""
    rows = [
        {"begin": 1000 * row, "end": 1000 * row + 900, "moved": 22, "requested": 22 if row % 2 else None}
        for row in range(400)
    ]
    trace = make_trace([("ISOC", "/s/log", -1)], rows)
    (found,) = (one for one in find(trace) if one.id == "small-requests")
    assert (found.evidence["operations"], found.evidence["median_request"]) == (400, 22)


@pytest.mark.parametrize("copied", [True, False])
def test_what_is_written_by_one_layer_and_read_by_another_is_read_back(written, copied):
    """A process stages through streams and copies by plain calls."""
    streams = written.trace.definitions.io_paradigm("ISOC", "ISO C", IoParadigmClass.SERIAL, IoParadigmFlag.OS, {})
    file = written.file("/tmp/a")
    staged, back, there = (
        written.handle(one, layer)
        for one, layer in ((file, streams), (file, written.posix), (written.file("/s/a"), written.posix))
    )
    for place in range(8):
        begin = 10_000 * place
        written.operate(1, staged, WRITE, begin, begin + 1_000, 2**20)
        written.operate(1, back, READ, 100_000 + begin, 105_000 + begin, 2**20)
        written.operate(1 if copied else 2, there, WRITE, 200_000 + begin, 201_000 + begin, 2**20)
    one = written.findings()["read-back"]
    assert one.text.startswith("POSIX: processes read 8.39 MB that they had written themselves through ISOC")
    assert ("and write 8.39 MB elsewhere: data is staged" in one.text) is copied
    assert (one.severity, one.gain_s) == ("info", pytest.approx((0.0, 0.04)))


def test_what_is_read_before_it_is_written_anew_is_not_read_back(written):
    streams = written.trace.definitions.io_paradigm("ISOC", "ISO C", IoParadigmClass.SERIAL, IoParadigmFlag.OS, {})
    file = written.file("/s/a")
    read, write = written.handle(file, written.posix), written.handle(file, streams)
    for place in range(8):
        written.operate(1, read, READ, 10_000 * place, 10_000 * place + 5_000, 2**20)
        written.operate(1, write, WRITE, 100_000 + 10_000 * place, 101_000 + 10_000 * place, 2**20)
    assert "read-back" not in written.findings()
