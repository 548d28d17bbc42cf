"""A watcher over a long run: cost and memory are bounded, and its latest phases say the same as the whole."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from iostrata.analysis.results.result import is_certain
from iostrata.live import budget
from iostrata.live import signal as live_signal
from iostrata.live import watcher as watching
from iostrata.live.activity import Activity
from iostrata.live.budget import Credit
from iostrata.live.job import LiveJob
from iostrata.live.outlook import outlook
from iostrata.live.records.intake import Key, Spans
from iostrata.live.watcher import Watcher
from iostrata.model.quantities import seconds_text
from iostrata.signals.construction import step_signal


def phases_at(starts, per_phase=20, seed=0):
    rng = np.random.default_rng(seed)
    start = np.repeat(starts, per_phase) + np.tile(np.linspace(0, 1, per_phase), starts.size)
    end = start + rng.uniform(0.05, 0.1, start.size)
    return start, end, rng.integers(10**5, 10**6, start.size)


def watched(start, end, volume, every):
    watcher, answers = Watcher(Key("POSIX", "write")), []
    for low in range(0, start.size, every):
        rows = slice(low, low + every)
        watcher.add(Spans(start[rows], end[rows], volume[rows]))
        answers.append(watcher.answer(0.0, float(end[rows].max())))
    return watcher, answers


def test_a_long_run_is_followed_on_the_grid(monkeypatch):
    monkeypatch.setattr(live_signal, "EXACT", 400)
    rng = np.random.default_rng(1)
    starts = np.concatenate((10.0 * np.arange(150), 1500 + 4.0 * np.arange(60)))
    start, end, volume = phases_at(starts + rng.uniform(0, 0.1, starts.size))
    watcher, answers = watched(start, end, volume, 100)
    assert watcher.signal._exact is None
    early, late = answers[25], answers[-1]
    assert early.period == pytest.approx(10.0, rel=1e-3)
    assert early.next_start is not None
    assert early.next_start[0] < starts[130] + 0.05 < early.next_start[1]
    assert late.period == pytest.approx(4.0, rel=1e-3)
    assert late.regime_start == pytest.approx(1500.0, abs=5.0)
    assert late.phases == pytest.approx(starts.size, abs=2)
    assert late.bytes == volume.sum()
    last = watcher.answer(0.0, float(end.max()), last=True)
    assert last.period == pytest.approx(4.0, rel=1e-3)
    assert last.phases == starts.size


def test_phases_are_counted_over_a_run_that_no_bin_remembers():
    rng = np.random.default_rng(2)
    starts = np.concatenate((10.0 * np.arange(2200), 22000 + 7.0 * np.arange(40)))
    start, end, volume = phases_at(starts + rng.uniform(0, 0.1, starts.size), per_phase=4)
    _, answers = watched(start, end, volume, 20)
    assert answers[2200 // 5 - 1].period == pytest.approx(10.0, rel=1e-3)
    assert all(one.period == pytest.approx(7.0, rel=1e-2) for one in answers[2205 // 5 :])
    assert answers[-1].phases == pytest.approx(starts.size, abs=2)


def test_silence_takes_the_next_phase_away():
    starts = 10.0 * np.arange(12) + np.random.default_rng(3).uniform(0, 0.5, 12)
    start, end, volume = phases_at(starts)
    watcher, answers = watched(start, end, volume, 40)
    due = answers[-1]
    assert due.next_start[0] <= 120.25 <= due.next_start[1]
    assert due.probability > 0.8
    waiting = [watcher.answer(0.0, now) for now in (115.0, 120.0, 120.5, 121.0, 200.0)]
    assert waiting[0].next_start is not None
    assert waiting[-1].next_start is None
    assert all(one.period == due.period and not one.in_phase for one in waiting)
    known = [one.probability or 0.0 for one in waiting]
    assert known == sorted(known, reverse=True)
    assert all(one.next_start is None or one.next_start[0] >= one.time for one in waiting)


def test_a_burst_that_fits_no_regime_takes_it_away_too():
    start, end, _ = phases_at(np.append(10.0 * np.arange(12), 113.0), per_phase=1)
    _, answers = watched(start, end, np.geomspace(10**4, 10**8, start.size).astype(int), 1)
    assert answers[-2].next_start is not None
    # Another may follow as this one did, which is less sure.
    assert answers[-1].next_start[1] < 120
    assert answers[-1].probability < answers[-2].probability


def test_looks_take_a_share_of_the_jobs_time_and_phases_are_of_now(monkeypatch):
    """Eight signals of a phase a second each: looks are counted, not timed, so that a replay says the same."""
    looks = []
    monkeypatch.setattr(watching, "outlook", lambda signal: looks.append(1) or outlook(signal))
    credit = Credit()
    watchers = [Watcher(Key(f"layer {number}", "write"), credit) for number in range(8)]
    start, end, _ = phases_at(np.cumsum(np.random.default_rng(9).uniform(0.6, 1.4, 60)), per_phase=1)
    volume, behind = 10**6 + np.arange(start.size), 0
    for row in range(start.size):
        credit.grant(float(end[row]))
        for watcher in watchers:
            watcher.add(Spans(start[row : row + 1], end[row : row + 1], volume[row : row + 1]))
            answer = watcher.answer(0.0, float(end[row]))
            assert abs(answer.phases - row - 1) <= 2
            # What is not of now says of when it is.
            behind += answer.as_of is not None
            assert answer.reason.startswith("As of") == (answer.as_of is not None)
    assert behind
    assert budget.LOOK * (len(looks) - 1) <= budget.SAVED + 0.5 * budget.SHARE * float(end[-1])


def followed(interval, signals=8, periods=30, times_as_dear=0.0):
    """Return the answers about signals with a phase every 2 s, update by update, so many times dearer than counted."""
    job, told = LiveJob(), []
    starts = np.repeat(2.0 * np.arange(periods), 4) + np.tile(0.05 * np.arange(4), periods)
    times = np.arange(interval, 2.0 * periods, interval)
    for low, high in pairwise([0.0, *times]):
        rows = starts[(starts + 0.04 > low) & (starts + 0.04 <= high)]
        for number in range(signals if rows.size else 0):
            job.add(Key(f"layer {number}", "write"), Spans(rows, rows + 0.04, np.full(rows.size, 10**6)))
        told.append(job.answers(0.0, high))
        if times_as_dear:
            measured = budget.LINES * interval + times_as_dear * job.counted
            job.settle(budget.dearer(measured, interval, job.counted))
    return told


def test_answers_take_a_share_of_the_jobs_time_too_whatever_the_interval():
    """Ten updates a second of eight signals: what is not of now says so, and each signal has its turn."""
    told = [one for answers in followed(0.1) for one in answers]
    anew = [one for one in told if one.as_of is None]
    assert budget.SILENT * len(anew) <= budget.SAVED + 0.5 * budget.SHARE * told[-1].time + budget.MOVED
    assert all(one.reason.startswith("As of") for one in told if one.as_of is not None)
    for name in {one.layer for one in told}:
        times = [one.time for one in anew if one.layer == name]
        assert max(np.diff(times)) < 1.6
    assert told[-1].bytes == 30 * 4 * 10**6
    assert followed(0.1) == followed(0.1)


@pytest.mark.parametrize(("times_as_dear", "paid"), [(1.0, 1.0), (3.0, 3.0), (100.0, 1.0 + budget.DEARER)])
def test_what_was_measured_above_what_is_counted_is_paid_too(times_as_dear, paid):
    """On a machine under load a look is dearer; what is loaded once does not silence the job for minutes."""
    told = [one for answers in followed(0.1, times_as_dear=times_as_dear) for one in answers]
    anew = sum(one.as_of is None for one in told)
    least = sum(one.as_of is None for answers in followed(0.1) for one in answers)
    assert anew == least if times_as_dear == 1.0 else 0 < anew < least
    assert paid * budget.SILENT * anew <= budget.SAVED + 0.5 * budget.SHARE * told[-1].time + paid * budget.MOVED


def test_at_the_usual_interval_every_answer_of_eight_signals_is_of_now():
    answers = [one for told in followed(1.0) for one in told]
    assert all(one.as_of is None for one in answers)
    for one in answers:
        if one.time > 5:
            assert abs(one.phases - (one.time // 2 + 1)) <= 1
        if one.phases >= 4 and one.time > 5:
            assert one.period == pytest.approx(2.0, rel=0.05)


def test_nothing_follows_the_end_of_all_writers():
    watcher, answers = watched(*phases_at(10.0 * np.arange(12)), 20)
    assert answers[-1].next_start is not None
    last = watcher.answer(0.0, 111.0, last=True, ended=True)
    assert (last.next_start, last.in_phase, last.phases) == (None, False, 12)


def test_the_third_iteration_foretells_the_next_by_its_contents():
    """Equal contents are evidence after two iterations; their times alone would need four phases."""
    starts = np.array([0.0, 9.0, 21.0, 30.5])
    start = np.repeat(starts, 4) + np.tile(0.1 * np.arange(4), 4)
    _, answers = watched(start, start + 0.05, np.full(16, 2**20), 1)
    third = answers[8]
    assert (third.iteration, third.next_bytes, third.next_operations) == (3, 2**22, 4)
    assert third.next_start[0] < 30.5 < third.next_start[1]
    assert answers[5].next_bytes is None
    assert answers[-1].iteration == 4


def test_nothing_is_periodic_that_is_rather_wrong_than_right():
    """Two intervals of 1.2 and 2 s tell when the next may come, and no period."""
    start = np.repeat(np.array([0.0, 1.2, 3.2, 4.7]), 4) + np.tile(0.01 * np.arange(4), 4)
    _, answers = watched(start, start + 0.005, np.full(16, 2**20), 1)
    third = answers[9]
    assert (third.iteration, third.periodic, third.period, third.next_bytes) == (3, False, None, 2**22)
    assert "too few for a period" in third.reason
    assert all(one.confidence >= 0.5 for one in answers if one.periodic)


@pytest.mark.parametrize("before", [[0.1], [0.0, 0.1, 9.0]])
def test_what_came_before_a_long_silence_does_not_hide_what_repeats_since(before):
    """A program reads its input, starts for 20 s, and then writes every 0.1 s."""
    begin = 29.0 + 0.1 * np.arange(40)
    start = np.append(before, begin)
    volume = np.append(np.full(len(before), 77), np.full(40, 5000))
    _, answers = watched(start, start + 0.01, volume, 1)
    later = answers[len(before) + 3 :]
    told = [one for one in later if one.next_start is not None and one.next_bytes == 5000]
    assert len(told) == len(later)
    assert all(one.next_start[0] <= came <= one.next_start[1] for one, came in zip(later[5:], begin[9:], strict=False))


def test_iterations_of_two_bursts_tell_which_comes_next():
    starts = np.cumsum(np.tile([4.0, 5.0], 5))
    volume = np.tile([1000, 5000], 5)
    _, answers = watched(starts, starts + 0.5, volume, 1)
    assert [one.next_bytes for one in answers[4:]] == [5000, 1000] * 3
    assert answers[-1].iteration == 5
    assert answers[-1].next_start[0] == pytest.approx(starts[-1] + 4.0, abs=0.1)


def test_the_next_phase_moves_what_phases_do_and_not_the_small_bursts_between_them():
    """Dumps of any size come every 2 s, and two lines of a log between them."""
    rng = np.random.default_rng(3)
    dumps = np.cumsum(2 + 0.06 * rng.standard_normal(14))
    sizes = (4e6 * np.exp(0.3 * rng.standard_normal(14))).astype(int)
    start, volume = np.append(dumps, [dumps + 0.6, dumps + 1.2]), np.append(sizes, np.full(28, 132))
    order = np.argsort(start)
    _, answers = watched(start[order], start[order] + 0.05, volume[order], 1)
    told = [one for one in answers[12:] if one.next_start is not None and one.next_start[0] - dumps[0] > 0]
    of_dumps = [one for one in told if np.abs(dumps - np.mean(one.next_start)).min() < 0.1 and one.period]
    assert len(of_dumps) > 20
    assert all(one.next_bytes > 10**6 for one in of_dumps)


def test_after_a_change_of_pace_those_before_it_are_still_counted():
    """Their longer pauses part the latest bursts best, and join the ones before to one."""
    starts = np.append(np.cumsum(0.5 + 0.01 * (np.arange(9) % 3)), 5.5 + np.arange(3))
    start = np.repeat(starts, 4) + np.tile(0.002 * np.arange(4), 12)
    activity = Activity(start, start + 0.001, np.full(48, 2**20), np.ones(48, np.int64))
    gap, repeats = Watcher(Key("POSIX", "write"))._parting(activity, 7.6)
    assert (len(activity.bursts(gap)), repeats.volume, repeats.iterations) == (12, 2**22, 12)


def test_what_no_longer_fits_is_told_as_of_the_latest_time_that_it_did():
    _, answers = watched(*phases_at(10.0 * np.arange(12)), 20)
    watcher, one = Watcher(Key("POSIX", "write")), answers[-1]
    assert watcher._latest_of(replace(one, time=50.0, period=11.0, as_of=None)).period == 11.0
    earlier = replace(one, time=60.0, period=9.0, as_of=20.0, confidence=0.5)
    told = watcher._latest_of(earlier)
    assert (told.period, told.as_of, told.confidence, told.time) == (11.0, 50.0, 0.5, 60.0)
    assert told.reason == f"As of 50 s: {one.reason}"
    later = replace(earlier, as_of=55.0)
    assert watcher._latest_of(later) is later
    # Once it was told that there is none, it is not told again.
    watcher._latest_of(replace(one, time=70.0, period=None, as_of=None))
    assert watcher._latest_of(earlier) is earlier


def test_a_phase_that_came_after_missing_ones_was_not_expected_then():
    starts = np.append(10.0 * np.arange(8), 90.0)
    _, answers = watched(*phases_at(starts), 20)
    assert answers[-1].reason.endswith("5 phases since 31.1 s began at multiples of the period, 1 missing.")


def test_bursts_that_are_alike_foretell_the_next_by_a_range_and_show_no_period():
    starts = np.array([0.0, 9.0, 21.0, 30.5, 50.0])
    volume = np.array([167_045, 172_525, 162_025, 170_137, 161_893])
    _, answers = watched(starts, starts + 0.5, volume, 1)
    third = answers[2]
    assert third.iteration == 3
    assert third.next_bytes_range[0] < volume[0] < third.next_bytes < volume[1] < third.next_bytes_range[1]
    assert (third.next_operations, third.next_operations_range) == (1, None)
    assert third.next_start[0] < 30.5 < third.next_start[1]
    assert not third.periodic


@pytest.mark.parametrize("growth", [1.04, 0.96])
def test_volumes_that_drift_are_foretold_by_their_steps(growth):
    """A mesh is refined: each dump is larger than the one before."""
    starts = 7.0 * np.arange(16)
    dumps = (10**6 * growth ** np.arange(16)).astype(int)
    start = np.repeat(starts, 2) + np.tile([0.0, 0.1], 16)
    _, answers = watched(start, start + 0.05, np.repeat(dumps, 2), 2)
    for answer, due in zip(answers[3:], 2 * dumps[4:], strict=False):
        low, high = answer.next_bytes_range
        assert low <= due <= high
        assert high - low < 0.15 * due
        assert answer.next_operations == 2


def test_bursts_of_any_size_foretell_the_next_and_are_no_iterations():
    """Their next start has the law of their intervals, and their bytes that of the ones before."""
    rng = np.random.default_rng(8)
    starts = np.cumsum(rng.uniform(5, 15, 40))
    volume = np.exp(rng.uniform(np.log(10**3), np.log(10**6), 40)).astype(int)
    _, answers = watched(starts, starts + 0.5, volume, 1)
    told = [(one, row) for row, one in enumerate(answers[3:-1], 4)]
    assert all(one.next_start is not None and one.iteration is None for one, _ in told)
    begins = [one.next_start[0] <= starts[row] <= one.next_start[1] for one, row in told]
    moves = [one.next_bytes_range[0] <= volume[row] <= one.next_bytes_range[1] for one, row in told]
    assert np.mean(begins) >= np.mean([one.probability for one, _ in told]) - 0.1
    assert np.mean(moves) >= 0.85


def test_a_burst_under_way_that_is_larger_than_expected_takes_no_long_loop_away():
    starts = 10.0 * np.arange(8)
    start = np.append(np.repeat(starts, 4) + np.tile(0.1 * np.arange(4), 8), 80.0 + 0.1 * np.arange(6))
    _, answers = watched(start, start + 0.05, np.full(start.size, 2**20), 1)
    assert answers[-1].in_phase
    assert (answers[-1].next_bytes, answers[-1].next_operations) == (2**22, 4)
    assert answers[-1].next_start[0] < 90.0 < answers[-1].next_start[1]


def is_settled(answer):
    low, high = answer.period_interval
    return is_certain(answer.confidence, 0.5 * (high - low) / answer.period)


@pytest.mark.parametrize("same", [True, False], ids=["contents", "times"])
def test_what_would_settle_a_period_is_told_of_those_that_are_probable_only(same):
    told = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        starts = np.cumsum(10 * rng.normal(1, rng.uniform(0.02, 0.3), 24).clip(0.3))
        start, end, volume = phases_at(starts, seed=seed)
        _, answers = watched(start, end, np.full_like(volume, 10**6) if same else volume, 20)
        periodic = [one for one in answers if one.periodic]
        told += [(is_settled(one), "Iteration" in one.reason, "since" in one.reason) for one in periodic]
        for one in periodic:
            low, high = map(seconds_text, one.period_interval)
            assert one.reason.startswith("About every") != is_settled(one)
            assert is_settled(one) or f"({low} … {high})" in one.reason
    assert len(set(told)) == 4 + 2 * same, set(told)


def test_what_has_come_since_is_no_longer_needed():
    start, end, volume = phases_at(10.0 * np.arange(12) + np.tile((0.0, 1.2), 6))
    _, answers = watched(start, end, volume, 20)
    needed = [one.reason.split(" more would settle it")[0].rpartition(" ")[2] for one in answers[5:9]]
    assert [int(more) + one.phases for more, one in zip(needed, answers[5:9], strict=True)] == [11] * 4
    assert is_settled(answers[9])


def test_the_reason_is_of_the_latest_regime():
    starts = np.concatenate((10.0 * np.arange(30), 300 + 4.0 * np.arange(12)))
    _, answers = watched(*phases_at(starts + np.random.default_rng(2).uniform(0, 0.1, starts.size)), 100)
    assert answers[-1].period == pytest.approx(4.0, rel=1e-2)
    assert "that moved most" not in answers[-1].reason


@pytest.mark.parametrize("noise", ["background", "small operations"])
@pytest.mark.parametrize("period", [2.0, 21.0])
def test_a_change_of_period_is_told_within_five_phases_whatever_lies_between_them(noise, period):
    rng = np.random.default_rng(11)
    first, second = 7.0 * np.arange(16), 16 * 7.0 + period * np.arange(10)
    starts = np.concatenate((first, second))
    starts += rng.uniform(0, 0.02 * period, starts.size)
    start, end, volume = phases_at(starts)
    last = float(end.max())
    if noise == "background":
        edges = np.linspace(0, last, int(2 * last))
        other = edges[:-1], edges[1:], rng.integers(1000, 100_000, edges.size - 1)
    else:
        places = rng.uniform(0, last, int(last / 4))
        other = places, places + 0.04, rng.integers(1000, 100_000, places.size)
    start, end, volume = (np.concatenate(pair) for pair in zip((start, end, volume), other, strict=True))
    order = np.argsort(end, kind="stable")
    start, end, volume = start[order], end[order], volume[order]
    watcher, done, right = Watcher(Key("POSIX", "write")), 0, []
    for begin in starts:
        stop = int(np.searchsorted(end, begin + 1.1))
        watcher.add(Spans(start[done:stop], end[done:stop], volume[done:stop]))
        answer, done = watcher.answer(0.0, begin + 1.1), stop
        right.append(answer.period == pytest.approx(7.0 if len(right) < 16 else period, rel=0.1))
    assert all(right[6:16])
    assert all(right[20:])


def test_phases_of_two_periods_at_the_same_time_are_counted_and_foretold():
    """Small writes every 1.5 s and large ones every 6 s, just before one of them: each is a phase."""
    small, large = 0.6 + 1.5 * np.arange(60), 6.24 + 6.0 * np.arange(15)
    starts = np.concatenate((small, large)) + np.random.default_rng(5).uniform(0, 0.01, 75)
    lasts = np.repeat([0.02, 0.3], [60, 15])
    volume, order = np.repeat([10**6, 10**7], [60, 15]), np.argsort(starts)
    starts, ends, volume = starts[order], (starts + lasts)[order], volume[order]
    watcher, phases, right = Watcher(Key("POSIX", "write")), [], []
    for row in range(len(starts) - 1):
        watcher.add(Spans(starts[row : row + 1], ends[row : row + 1], volume[row : row + 1]))
        answer = watcher.answer(0.0, float(ends[row]) + 0.3 * float(starts[row + 1] - ends[row]))
        phases.append(answer.phases)
        if answer.next_start is not None:
            right.append(answer.next_start[0] <= starts[row + 1] <= answer.next_start[1])
    assert max(abs(told - row - 1) for row, told in enumerate(phases[24:], 24)) <= 1
    assert "2 periods at the same time" in answer.reason
    assert len(right[-30:]) == 30
    assert np.mean(right[-30:]) >= 0.8


def test_a_tenth_of_the_usual_pause_parts_phases():
    start, end, volume = phases_at(10.0 * np.arange(8))
    signal = live_signal.LiveSignal()
    signal.add(start, end, volume)
    found = outlook(signal.whole((0.0, 80.0)))
    assert found.clear
    assert found.quiet == pytest.approx(0.9, abs=0.02)


def test_a_regime_does_not_outlast_its_bursts_where_smaller_ones_go_on():
    """Eight large bursts a second apart, then a hundred small ones: each is a phase, and the period is theirs."""
    starts = np.concatenate((np.arange(8.0), 10 + 0.2 * np.arange(100)))
    volume = np.repeat([10**7, 10**6], [8, 100])
    watcher, done, told = Watcher(Key("POSIX", "write")), 0, []
    for now in np.arange(1.05, 30.0):
        stop = int(np.searchsorted(starts, now - 0.02))
        watcher.add(Spans(starts[done:stop], starts[done:stop] + 0.01, volume[done:stop]))
        done = stop
        told.append((watcher.answer(0.0, now), stop))
    late = [(answer, there) for answer, there in told if answer.time > 16]
    assert all(answer.period == pytest.approx(0.2, rel=0.05) for answer, _ in late)
    assert all(abs(answer.phases - there) <= 1 for answer, there in late)


def test_a_regime_is_over_once_only_small_bursts_come_where_several_were_due():
    start = 10.0 * np.arange(12) + np.random.default_rng(1).uniform(0, 0.2, 12)
    found = outlook(step_signal(start, start + 0.5, np.full(12, 10**6), window=(0.0, 112.0)))
    small = start[-1] + 0.5 * found.period + np.arange(0.0, 90.0, 3.0)
    starts, volume = np.append(start, small), np.repeat([10**6, 10**3], [12, small.size])
    bursts = Activity(starts, starts + 0.5, volume, np.ones(starts.size, np.int64))
    since = [found.continued(bursts.take(np.arange(count))).since for count in range(12, starts.size + 1)]
    assert since[0] == 0
    assert since[-1] > 0


@pytest.mark.parametrize("share", [None, 0.007])
def test_a_new_pace_of_the_same_bursts_is_told_from_their_third_iteration_on(share):
    """Checkpoints 3 s apart, then 1.5 s, then 4 s: the pace of now is told, neither that of before nor a mean."""
    apart = np.repeat([3.0, 1.5, 4.0], [10, 12, 8])
    starts = np.append(0.0, np.cumsum(apart)) + np.random.default_rng(3).uniform(0, 0.02, apart.size + 1)
    watcher = Watcher(Key("POSIX", "write"), Credit(share))
    done, told = 0, []
    for now in np.arange(1.0, starts[-1], 1.0):
        stop = int(np.searchsorted(starts + 0.1, now))
        begins = np.repeat(starts[done:stop], 4) + np.tile(0.02 * np.arange(4), stop - done)
        watcher.add(Spans(begins, begins + 0.015, np.full(begins.size, 2**20)))
        done = stop
        answer = watcher.answer(0.0, now)
        # From the end of the third interval of a pace on.
        if 4 < stop <= 11 or 14 < stop <= 23 or stop > 26:
            told.append(answer.period == pytest.approx(apart[stop - 2], rel=0.1) and abs(answer.phases - stop) <= 1)
    assert all(told)


@pytest.mark.parametrize("ratio", [0.5, 0.8, 1.2, 2.0])
@pytest.mark.parametrize("width", [0.0, 0.25], ids=["operations", "bins"])
def test_a_change_of_pace_is_told_within_four_phases_also_where_bursts_fit_the_old_one(ratio, width):
    told, early = [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        apart = np.repeat([10.0, 10.0 * ratio], [14, 5]) * rng.normal(1, 0.04, 19)
        starts = np.append(0.0, np.cumsum(apart))
        low, high = starts, starts + rng.uniform(0.3, 0.6, starts.size)
        if width:
            low, high = np.floor(low / width) * width, np.ceil(high / width) * width
        watcher, done = Watcher(Key("POSIX", "write"), Credit(0.007)), 0
        volume = rng.integers(10**6, 2 * 10**6, starts.size)
        for now in np.arange(1.0, starts[-1]):
            stop = int(np.searchsorted(high, now))
            watcher.add(Spans(low[done:stop], high[done:stop], volume[done:stop]))
            done, answer = stop, watcher.answer(0.0, float(now))
            if stop == 14:
                early.append(answer.period == pytest.approx(10.0, rel=0.1))
        told.append(answer.period == pytest.approx(10.0 * ratio, rel=0.1) and abs(answer.phases - 19) <= 1)
    assert all(early)
    assert sum(told) >= 9


def test_one_late_phase_leaves_a_period_that_is_told_rather_right_than_wrong():
    rng = np.random.default_rng(5)
    apart = 10.0 * rng.normal(1, 0.02, 24)
    apart[-4] *= 1.2
    starts = np.append(0.0, np.cumsum(apart))
    watcher, told = Watcher(Key("POSIX", "write")), []
    for start, volume in zip(starts, rng.integers(10**6, 2 * 10**6, starts.size), strict=True):
        watcher.add(Spans(np.array([start]), np.array([start + 0.5]), np.array([volume])))
        told.append(watcher.answer(0.0, float(start) + 1.5))
    assert all(one.period == pytest.approx(10.0, rel=0.05) for one in told[8:])
    assert all(one.confidence >= 0.5 for one in told[8:])
    assert min(told[20:], key=lambda one: one.confidence).confidence < told[20].confidence


def test_a_look_at_two_paces_together_that_finds_no_period_takes_none_away(monkeypatch):
    rng = np.random.default_rng(2)
    starts = np.append(0.0, np.cumsum(np.repeat([10.0, 5.0], [12, 8]) * rng.normal(1, 0.05, 20)))
    watcher, told = Watcher(Key("POSIX", "write")), []
    monkeypatch.setattr(
        watching,
        "outlook",
        lambda signal: replace(outlook(signal), trains=(), period=None) if len(told) > 12 else outlook(signal),
    )
    for start, volume in zip(starts, rng.integers(10**6, 2 * 10**6, starts.size), strict=True):
        watcher.add(Spans(np.array([start]), np.array([start + 0.5]), np.array([volume])))
        told.append(watcher.answer(0.0, float(start) + 1.5))
    assert all(one.period == pytest.approx(5.0, rel=0.1) for one in told[16:])
    assert "before that they were" in told[-1].reason
    assert [one.phases for one in told[16:]] == list(range(17, 22))


def told_of(start, every, share=None, length=1e-5):
    """Return the answers about operations of one size, an update every so many seconds."""
    job, answers, at = LiveJob(share=share), [], 0
    for now in np.arange(1, int(start[-1] / every) + 3) * every:
        stop = int(np.searchsorted(start, now - length))
        part = start[at:stop]
        job.add(Key("POSIX", "read"), Spans(part, part + length, np.full(part.size, 16384)))
        answers += job.answers(0.0, float(now))
        at = stop
    return answers


def test_phases_of_what_repeats_in_its_contents_are_its_bursts_also_told_again():
    looks, answers = Credit(), Credit()
    watcher = Watcher(Key("POSIX", "write"), looks, answers=answers)
    starts = np.append(10.0 * np.arange(12), 110 + 3.0 * np.arange(1, 12))
    told = None
    for row, start in enumerate(starts):
        if row == 12:
            assert told.period == pytest.approx(10)
            looks.spend(1.0)
        if row == 20:
            answers.spend(1.0)
        volume = 10**6 if row < 12 else 4 * 10**5
        watcher.add(Spans(np.array([start]), np.array([start + 0.1]), np.array([volume])))
        told = watcher.answer(0.0, start + 2)
        if row > 16:
            assert (told.as_of is None) == (row < 20)
            assert told.period == pytest.approx(3)
            assert told.phases == row + 1


def test_what_has_been_silent_for_long_was_one_burst():
    gaps = np.random.default_rng(1).choice([0.002, 0.004, 0.008], 9)
    answers = told_of(np.append(np.repeat(np.cumsum(gaps), 4), 2.0), 0.1)
    silent = [one for one in answers if 0.5 < one.time < 1.9]
    assert silent
    assert {(one.phases, one.iteration, one.in_phase) for one in silent} == {(1, None, False)}


def test_phases_that_contents_repeat_in_are_counted_over_a_run_that_no_bin_remembers():
    random = np.random.default_rng(3)
    start = np.cumsum(random.choice([1.0, 2.0, 4.0], 5000) * random.uniform(0.8, 1.2, 5000))
    answers = told_of(start, 50.0, length=0.1)
    told = [one for one in answers if one.iteration is not None and one.as_of is None]
    assert told[-1].iteration < 2200
    assert all(one.phases >= 0.85 * np.searchsorted(start, one.time) for one in told)


@pytest.mark.parametrize(("pause", "goes_on"), [(0.1, True), (5.0, False)])
def test_phases_without_a_period_are_counted_on_until_far_longer_pauses_part_them(pause, goes_on):
    start = np.cumsum(0.02 * np.random.default_rng(6).integers(1, 9, 16))
    found = outlook(step_signal(start, start + 0.01, np.full(16, 10**6), window=(0.0, float(start[-1]) + 0.02)))
    assert found.train is None
    assert found.clear
    start = np.append(start, start[-1] + pause)
    bursts = Activity(start, start + 0.01, np.full(17, 10**6), np.ones(17, np.int64))
    assert found.counted(bursts) == found.phases + 1
    assert found.goes_on(bursts) == goes_on


def test_a_reason_why_there_was_no_period_is_not_told_when_more_has_come():
    watcher = Watcher(Key("POSIX", "write"), looks := Credit())
    starts, told = np.cumsum(np.random.default_rng(3).exponential(5.0, 40)), []
    for row, start in enumerate(starts):
        watcher.add(Spans(np.array([start]), np.array([start + 0.1]), np.array([10**6 + row])))
        told.append(watcher.answer(0.0, start + 0.2))
        if row == 10:
            looks.spend(10.0)
    late = [one for one in told if one.as_of is not None]
    assert late
    assert all(one.reason.startswith("As of") and "phases" not in one.reason for one in late)
