"""Reads and writes that transfer nothing and are tried again."""

import pytest
from iostrata import open_trace
from iostrata.analysis.comparison.headline import headline_of
from iostrata.analysis.findings import find
from iostrata.model.codes import UNDEFINED_UINT64
from otf2.enums import IoOperationMode

MODES = {"read": IoOperationMode.READ, "write": IoOperationMode.WRITE}


def tried(written, way, times, pause, name="/s/a"):
    """Let rank 1 try so many transfers in vain, a pause after one another, between some that succeed."""
    handle = written.handle(written.file(name), written.posix)
    written.call(0, "close", 0, 10)
    for step in range(4):
        start = 200_000 * step
        for place in range(times + 1):
            begin = start + pause * place
            # The last one succeeds.
            moved = 4096 if place == times else 0 if way == "read" else UNDEFINED_UINT64
            written.operate(1, handle, MODES[way], begin, begin + 10, 4096, moved=moved)
    written.operate(0, handle, MODES[way], 999_000, 999_990, 4096)
    trace = written.closed()
    return trace, {one.id: one for one in find(trace)}


@pytest.mark.parametrize(
    ("way", "text"),
    [
        (
            "write",
            "40 of 45 POSIX writes fail, 10 ms after one another, for 360 ms, 36 % of the run: what they were to",
        ),
        ("read", "40 of 45 POSIX reads return nothing, 10 ms after one another, for 360 ms, 36 % of the run: there is"),
    ],
)
def test_transfers_that_are_tried_again_cost_the_time_between_them(written, way, text):
    one = tried(written, way, 10, 10_000)[1]["transfers-in-vain"]
    assert one.text.startswith(text)
    assert (one.severity, one.evidence["ranks"], one.evidence["files"]) == ("critical", [1], ["/s/a"])
    assert one.cost_s == pytest.approx(0.36)


def test_a_device_that_is_set_aside_counts_for_writes(written):
    trace, found = tried(written, "write", 10, 10_000, "/dev/full")
    assert found["transfers-in-vain"].text.startswith("40 POSIX writes fail")
    text = headline_of(trace, tuple(found.values())).text
    assert "; trying writes in vain takes 36 % more (360 ms); ending at the first error" in text


@pytest.mark.parametrize(("way", "severity"), [("write", "info"), ("read", None)])
def test_few_that_cost_nothing_are_told_of_writes_alone(written, way, severity):
    """The end of a file is read once or twice; what is not written is missing."""
    found = tried(written, way, 2, 10)[1]
    assert getattr(found.get("transfers-in-vain"), "severity", None) == severity


def test_files_that_are_read_to_their_ends_one_after_another_are_not_waited_for(written):
    """As by what copies: a read of nothing, and another one, before the next file."""
    written.call(0, "close", 0, 10)
    for step in range(90):
        handle = written.handle(written.file(f"/s/{step}"), written.posix)
        for place, moved in enumerate((4096, 0, 0)):
            begin = 10_000 * step + 4_000 * place
            written.operate(1, handle, MODES["read"], begin, begin + 10, 4096, moved=moved)
    assert "transfers-in-vain" not in {one.id for one in find(written.closed())}


def test_a_series_that_goes_on_in_the_next_block_is_one(written):
    handle = written.handle(written.file("/s/a"), written.posix)
    written.call(0, "close", 0, 10)
    for place in range(40_000):
        written.operate(1, handle, MODES["write"], 100 + 20 * place, 105 + 20 * place, 4096, moved=UNDEFINED_UINT64)
    kept = written.closed()
    costs = [
        next(one.cost_s for one in find(trace) if one.id == "transfers-in-vain")
        for trace in (kept, open_trace(written.folder, memory=260_000_000))
    ]
    assert costs == [pytest.approx(39_999 * 20e-6, abs=1e-9)] * 2
