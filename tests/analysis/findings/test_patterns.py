"""What is read again: made archives in which it is known how often."""

import pytest
from otf2.enums import IoOperationMode

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


def test_what_is_read_once_is_not_read_again(written):
    read_over(written, 1, ranks=[2])
    assert "redundant-reads" not in written.findings()


def test_little_that_is_read_again_is_a_header(written):
    handle = written.handle(written.file("/s/a"), written.posix)
    for turn in range(1000):
        written.operate(0, handle, READ, 1000 + 20 * turn, 1010 + 20 * turn, 1000, offset=0)
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
