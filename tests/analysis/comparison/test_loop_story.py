"""Loops in the story of a run, however it is read."""

import math
import re

import numpy as np
import pytest
from iostrata import open_trace
from iostrata.analysis.comparison.overview import overview_of


@pytest.mark.parametrize("archive", ["ckpt4", "ncckpt4"])
def test_bounded_memory_tells_the_same_loops(fixtures, archive):
    whole, bounded = (
        [one.text for one in overview_of(open_trace(fixtures / archive, memory=memory)).story if one.kind == "loop"]
        for memory in (None, 400_000_000)
    )
    assert whole
    assert whole == bounded


def test_a_pause_is_no_part_of_a_loop_that_goes_on_beside_it(tmp_path):
    # Two dumps, in which each rank writes files of its own one after the other.
    rows = ["layer,rank,mode,start,end,bytes,file"]
    for begin in (1.0, 61.0):
        for rank in range(4):
            for number in range(3 + rank):
                at = begin + 0.05 * number + 0.001 * rank
                rows.append(
                    f"POSIX,{rank},write,{at},{at + 0.01},{5_000_000 + 7 * number},/out/{begin:.0f}/d.{rank}.{number}"
                )
    (tmp_path / "table.csv").write_text("\n".join(rows))
    story = overview_of(open_trace(tmp_path / "table.csv")).story
    (pause,) = (one for one in story if one.kind == "pause")
    loops = [one for one in story if one.kind == "loop"]
    assert loops
    for one in loops:
        through = one.start < pause.start and one.end > pause.end
        assert through is ("before and after a pause" in one.text)
        pace = r"half of the intervals up to [\d.]+ m?s, |(mostly )?every [\d.]+ m?s, "
        assert not through or re.search(rf"\), ({pace})?before and after a pause; ", one.text)
        assert not (through and re.search("every .* on average", one.text))


@pytest.mark.parametrize(("longer", "told"), [(1.1, False), (1.7, False), (5.0, True)])
def test_what_lies_between_all_iterations_is_no_pause_and_the_last_of_them_no_final_dump(tmp_path, longer, told):
    rows, begin = ["layer,rank,mode,start,end,bytes,file"], 1.0
    for number in range(8):
        rows += [f"POSIX,{rank},write,{begin},{begin + 0.05},4000000,/out/d.{number}" for rank in range(4)]
        begin += 1.0 * (longer if number == 6 else 1.0)
    (tmp_path / "table.csv").write_text("\n".join(rows))
    kinds = [one.kind for one in overview_of(open_trace(tmp_path / "table.csv")).story]
    assert ("pause" in kinds) is told
    assert kinds.count("loop") == 1
    assert not {"final dump", "checkpoints", "burst"} & set(kinds)


def test_a_time_of_which_it_is_said_that_nothing_is_read_or_written_has_nothing(tmp_path):
    rows = ["layer,rank,mode,start,end,bytes,file"]
    rows += [f"POSIX,0,write,{number},{number + 0.5},100000000,/out/d.{number}" for number in range(1, 5)]
    rows += [f"POSIX,0,write,{9 + 0.01 * line},{9.005 + 0.01 * line},17,/out/log" for line in range(50)]
    rows += ["POSIX,0,read,19.9,20,1,/out/last"]
    (tmp_path / "table.csv").write_text("\n".join(rows))
    trace = open_trace(tmp_path / "table.csv")
    signal = trace.layers["POSIX"].bandwidth("total")
    silent = [one for one in overview_of(trace).story if one.direction is None and one.kind != "loop"]
    assert silent
    for one in silent:
        moved = float(np.diff(signal.volume_until([one.start, one.end]))[0])
        assert ("no reads or writes" in one.text or "no I/O" in one.text) <= (moved == 0), one.text
        assert one.bytes == pytest.approx(moved)


def test_nothing_is_told_beside_loops_where_all_is_in_them_however_unevenly(tmp_path):
    """A file is written in too many iterations to be told one by one, faster and faster."""
    rows, time = ["layer,rank,mode,start,end,bytes,file"], 0.5
    rng = np.random.default_rng(3)
    for number in range(24_000):
        time += 4e-4 * math.exp(-number / 5000) * rng.lognormal(0, 1.5)
        rows.append(f"POSIX,0,write,{time:.9f},{time + 1e-6:.9f},4096,/s/out")
    (tmp_path / "table.csv").write_text("\n".join(rows))
    story = overview_of(open_trace(tmp_path / "table.csv")).story
    assert sum(one.bytes for one in story if one.kind == "loop") == 24_000 * 4096
    assert not [one.text for one in story if one.kind != "loop" and one.bytes]


def _writes(tmp_path, begin, ranks=1):
    """Return the overview of a program in which ranks write as much at these times."""
    rows = ["layer,rank,mode,start,end,bytes,file"]
    for rank in range(ranks):
        rows += [f"POSIX,{rank},write,{at:.6f},{at + 0.01:.6f},4000000,/out/d" for at in begin]
    (tmp_path / "table.csv").write_text("\n".join(rows))
    return overview_of(open_trace(tmp_path / "table.csv"))


def test_gaps_at_random_are_neither_a_pace_nor_pauses(tmp_path):
    for seed in range(5):
        gaps = np.random.default_rng(seed).exponential(0.2, 30)
        story = _writes(tmp_path, 0.5 + np.cumsum(gaps + 0.01)).story
        (loop,) = (one for one in story if one.kind == "loop")
        assert "on average" in loop.text
        assert "mostly" not in loop.text
        assert "pause" not in loop.text
        assert "pause" not in [one.kind for one in story]


def test_a_loop_that_becomes_slower_all_the_time_has_no_period(tmp_path):
    found = _writes(tmp_path, 0.5 + np.cumsum(np.linspace(0.12, 0.5, 20)), ranks=4)
    (period,) = found.periods
    assert not period.result.periodic
    assert "slower and slower" in period.result.reason
    assert period.result.jitter == pytest.approx(period.loop.interval_s.jitter)
    (text,) = (one.text for one in found.story if one.kind == "loop")
    assert "every 320 ms on average, slower and slower;" in text


def test_a_line_of_a_log_at_each_step_is_told_however_little_it_is_and_start_up_ends_with_it(tmp_path):
    rows = ["layer,rank,mode,start,end,bytes,file"]
    for step in range(60):
        at = 1.0 + 0.1 * step
        rows.append(f"POSIX,0,write,{at},{at + 0.001},80,/out/run.log")
        if step % 6 == 5:
            rows += [f"POSIX,{rank},write,{at + 0.01},{at + 0.05},40000000,/out/dump.{step}" for rank in range(4)]
    (tmp_path / "table.csv").write_text("\n".join(rows))
    first, *story = overview_of(open_trace(tmp_path / "table.csv")).story
    assert (first.kind, first.text, first.end) == ("start-up", "start-up, no I/O", 1.0)
    log, dumps = (one for one in story if one.kind == "loop")
    assert log.text.startswith("60 × (write 80 B run.log), every 100 ms; ")
    assert dumps.text.startswith("10 × (write 40 MB dump.*), every 600 ms, with every 6th of the 60 on run.log; ")


@pytest.mark.parametrize(("begin", "slower"), [(0.98, 1.0), (0.98, 1.5), (0.97, 1.3)])
def test_what_one_rank_writes_before_a_loop_is_told_as_that_and_of_the_time_at_which_it_does(tmp_path, begin, slower):
    """In the signal it is one stretch with the many writes behind it, at the pace of which some ranks stay behind."""
    rows = ["layer,rank,mode,start,end,bytes,file", f"POSIX,0,write,{begin},{begin + 0.001},5000,/out/run.cfg"]
    for rank in range(4):
        pace = 0.03 * (slower if rank == 3 else 1.0)
        rows += [f"POSIX,{rank},write,{1 + pace * step},{1.001 + pace * step},25,/out/log.{rank}" for step in range(60)]
    (tmp_path / "table.csv").write_text("\n".join(rows))
    story = overview_of(open_trace(tmp_path / "table.csv")).story
    (loop,) = (one for one in story if one.kind == "loop")
    assert loop.bytes == 4 * 60 * 25
    (rest,) = (one for one in story if one.kind != "loop" and one.bytes)
    assert (rest.start, rest.end, rest.bytes, rest.ranks) == (
        pytest.approx(begin),
        pytest.approx(begin + 0.001),
        5000,
        1,
    )
    assert rest.text == ("5 kB written; 1 rank, POSIX", "5 kB written outside of loops; rank 0, POSIX")[slower > 1]


def test_one_large_write_before_small_ones_of_a_loop_is_told_without_them(tmp_path):
    rows = ["layer,rank,mode,start,end,bytes,file"]
    for number in range(21):
        times = (0.026 + 0.0115 * number + 4e-5 * part for part in range(30 + number % 7))
        rows += [f"POSIX,0,write,{at},{at + 2e-5},{4096 + 64 * (number % 5)},/out/table" for at in times]
    rows += ["POSIX,0,write,0.268,0.27,276000,/out/table"]
    for number in range(40):
        at = 0.3 + 0.1445 * number
        rows += [f"POSIX,0,read,{at + 1e-3 * part},{at + 1e-3 * part + 5e-4},200000,/out/table" for part in range(34)]
        rows += [f"POSIX,0,write,{at + 0.11},{at + 0.1101},{340 + 17 * number},/out/result.{number}"]
    (tmp_path / "table.csv").write_text("\n".join(rows))
    story = overview_of(open_trace(tmp_path / "table.csv")).story
    assert [one.kind for one in story if one.direction or one.kind == "loop"] == ["loop", "burst", "loop"]
    assert story[-2].text == "276 kB written outside of loops; rank 0, POSIX"
