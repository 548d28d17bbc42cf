"""Time of calls in which nothing moves below: below are all layers that are busy for them."""

import pytest
from iostrata.analysis.comparison.headline import headline_of
from iostrata.analysis.findings import find
from otf2.enums import (
    IoOperationFlag,
    IoOperationMode,
    IoParadigmClass,
    IoParadigmFlag,
)

READ, WRITE = IoOperationMode.READ, IoOperationMode.WRITE


def read_through_two_layers(written, busy_share, request=2**20, moved=2**20):
    """MPI-IO looks into the file by a stream of ISO C, and reads by POSIX: once below that stream, else directly."""
    streams = written.trace.definitions.io_paradigm(
        "ISOC", "ISO C I/O", IoParadigmClass.SERIAL, IoParadigmFlag.NONE, {}
    )
    file = written.file("/s/a")
    upper = written.handle(file, written.mpi)
    stream = written.handle(file, streams, upper)
    peeking, lower = written.handle(file, written.posix, stream), written.handle(file, written.posix, upper)
    written.operate(0, upper, READ, 0, 1000, 1024)
    written.operate(0, stream, READ, 100, 900, 1024)
    written.operate(0, peeking, READ, 200, 800, 1024)
    for step in range(200):
        start = 10_000 * (step + 1)
        written.operate(0, upper, READ, start, start + 9_000, request)
        written.operate(0, lower, READ, start + 10, start + 10 + int(9_000 * busy_share), moved)
    return written.findings()


@pytest.mark.parametrize("idle", [True, False])
def test_more_aggregators_may_save_nothing_where_most_of_the_time_nothing_is_written(written, idle):
    file = written.file("/s/a")
    upper = written.handle(file, written.mpi)
    lower = written.handle(file, written.posix, upper)
    for step in range(10):
        start = 100_000 * step
        for rank in range(4):
            written.operate(rank, upper, WRITE, start, start + 90_000, 2**18, IoOperationFlag.COLLECTIVE)
        written.operate(0, lower, WRITE, start + 10, start + 10 + (9_000 if idle else 80_000), 2**20)
    trace = written.closed()
    findings = find(trace)
    one = next(one for one in findings if one.id == "funnelled-collective")
    text = headline_of(trace, findings).text
    assert (one.gain_s[0] == 0, "and for 90 % of their time nothing moves below" in text) == (idle, idle)
    assert ("more aggregators, if ranks do not wait for a processor, could save up to" in text) is idle


def test_operations_of_one_call_take_its_time_once(written):
    """As `writev` does of its two parts."""
    handle = written.handle(written.file("/s/a"), written.posix)
    for step in range(200):
        start = 10_000 * step
        written.call(0, "writev", start, start + 5_000)
        for size in (4096, 8):
            written.operate(0, handle, WRITE, start, start + 5_000, size)
    one = written.findings()["small-requests"]
    assert one.cost_s == pytest.approx(200 * 0.005)


@pytest.mark.parametrize(("busy_share", "idle_s"), [(0.9, None), (0.25, 1.35)])
def test_below_are_all_layers_that_are_busy(written, busy_share, idle_s):
    ids = read_through_two_layers(written, busy_share)
    assert ("layer-overhead" in ids) is (idle_s is not None)
    if idle_s is not None:
        one = ids["layer-overhead"]
        assert one.cost_s == pytest.approx(idle_s, rel=0.01)
        assert "(75 %) nothing moves in POSIX" in one.text


def test_reading_too_much_is_why_small_reads_and_the_library_take_long(written):
    """8 KiB are asked for each time and 1 MiB is read below: that comes first, in the time of the calls."""
    found = read_through_two_layers(written, 0.25, request=2**13)
    one = found["read-amplification"]
    assert next(reversed(found.values())) is one
    assert one.severity == "critical"
    assert one.cost_s == pytest.approx(200 * 0.009, rel=0.02)
    assert one.gain_s == pytest.approx((200 * 0.00225, 200 * 0.009), rel=0.02)
    assert found["layer-overhead"].cost_s < 0.02
    assert "small-requests" not in found
