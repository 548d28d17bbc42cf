"""Bins of a running job: operations as their lines count them, and times no better than a bin is wide."""

import json
from itertools import pairwise

import numpy as np
import pytest
from iostrata.analysis.phases.bursts import Bursts
from iostrata.analysis.phases.stretches import PulseTrain
from iostrata.live.activity import Activity
from iostrata.live.job import LiveJob
from iostrata.live.prediction import next_phase, start_law
from iostrata.live.records.intake import Intake, Key
from iostrata.live.records.lines import LineReader
from iostrata.live.repetition import repetition

WIDTH = 2**-7


def line(first, volumes, operations=None, mode="write"):
    entry = {"kind": "bins", "layer": "MPI-IO", "mode": mode, "origin": 0.0, "width": WIDTH, "first": first}
    counted = {} if operations is None else {"operations": operations}
    return json.dumps({**entry, **counted, "bytes": volumes}).encode() + b"\n"


@pytest.mark.parametrize(
    ("volumes", "operations", "counts"),
    [
        ([1, 0, 3], 10, [3, 7]),
        ([24, 0, 24, 0, 7345, 6303760], 15, [1, 1, 1, 12]),
        ([4, 0, 4], 1, [0, 1]),
        ([4, 0, 4], None, [1, 1]),
    ],
)
def test_operations_are_those_that_the_line_counts(volumes, operations, counts):
    intake = Intake()
    LineReader(intake).feed(line(0, volumes, operations))
    assert intake.take()[Key("MPI-IO", "write")].operations.tolist() == counts


def followed(intervals, *, length=3, operations=12):
    """Give the answers about a phase of some bins after each interval in bins, asked ten bins after it."""
    job, told = LiveJob(share=None), []
    reader = LineReader(job.intake)
    for first in np.cumsum(intervals).tolist():
        reader.feed(line(first, [2**20] * length, operations))
        job.take()
        told += job.answers(0.0, (first + length + 10) * WIDTH)
    return job, told


def test_the_next_phase_has_the_operations_of_the_lines():
    _, told = followed([80] * 8)
    assert told[-1].operations == 8 * 12
    assert told[-1].next_operations == 12
    assert told[-1].next_operations_range is None


def test_nothing_is_known_better_than_a_bin_is_wide():
    _, told = followed([120] * 10 + [56] * 8)
    for answer in told[4:]:
        low, high = answer.next_start
        assert high - low >= WIDTH
        assert answer.period_interval is None or answer.period_interval[0] < answer.period_interval[1]
    slipped = [one.reason for one in told[12:] if "apart, jitter" in one.reason and "regimes" not in one.reason]
    assert slipped
    assert all("jitter below 1.8 %, as bins are 7.81 ms wide" in one for one in slipped)
    assert told[-1].next_start[0] <= (10 * 120 + 9 * 56) * WIDTH <= told[-1].next_start[1]


def test_one_long_interval_is_a_delay_and_no_part_of_the_pace():
    start = np.cumsum([0.0, 82, 129, 82, 81, 82, 83, 82, 81, 82]) * WIDTH
    same = np.full(start.size, 2**20)
    repeats = repetition(Activity(start, start + 0.02, same, same), over=True)
    assert repeats.period == pytest.approx(82 * WIDTH, rel=0.01)
    assert repeats.sentence().endswith("but for 1 delay.")
    train = PulseTrain(Bursts(start, start + 0.02, same), np.ones(start.size - 1), 10.0)
    told = next_phase(start_law(train), float(start[-1]) + 0.1)
    assert told.earliest <= start[-1] + 82 * WIDTH <= told.latest
    assert told.latest - told.earliest < 0.1 * repeats.period


def test_a_phase_is_over_once_a_silence_is_longer_than_most_pauses_within():
    job = LiveJob(share=None)
    reader = LineReader(job.intake)
    for phase in range(6):
        # One phase has a pause within.
        volumes = [9, 9, 0, 0, 0, 0, 0, 0, 9, 9] if phase == 1 else [18, 18]
        reader.feed(line(80 * phase, volumes, 3))
        job.take()
        end = 80 * phase + len(volumes)
        (at_once,) = job.answers(0.0, end * WIDTH)
        (later,) = job.answers(0.0, (end + 40) * WIDTH)
        if phase >= 3:
            assert at_once.in_phase
            assert not later.in_phase
            (reached,) = job.answers(0.0, (end + 40) * WIDTH, reached=(end + 60) * WIDTH)
            assert not reached.in_phase


def test_a_log_and_dumps_of_one_program_keep_their_pace_and_their_count():
    job = LiveJob(share=None)
    reader, told, start = LineReader(job.intake), [], 0
    for dump in range(9):
        for step in range(15):
            start += 13
            reader.feed(line(start, [20 + (step > 8) + dump // 5], 1))
            job.take()
            told += job.answers(0.0, (start + 6) * WIDTH)
        reader.feed(line(start + 1, [6 * 10**6] * 2, 13))
        start += 3
    last = job.answers(0.0, (start + 6) * WIDTH, last=True, ended=True)
    assert told[-1].period == pytest.approx(198 * WIDTH, rel=0.01)
    assert not any(one.kind == "slipped" for answer in told for one in answer.alarms or ())
    phases = [answer.phases for answer in told + last]
    # The first dumps may still be phases of their own.
    assert min(later - earlier for earlier, later in pairwise(phases)) >= -2
    assert phases[-1] == pytest.approx(9 * 15, abs=1)


def test_what_repeats_in_its_contents_does_so_at_the_end_too():
    """Intervals of which times tell no period; what they hold is the same to the byte."""
    job, told = followed([80, 50, 110, 60, 125, 55, 90, 115, 70])
    assert told[-1].periodic
    (last,) = job.answers(0.0, job.intake.clock.now, last=True, ended=True)
    assert last.periodic
    assert last.iteration == told[-1].iteration == 9
