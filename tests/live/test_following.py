"""Following and replaying: the last answer is the one of the whole, however it came."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from iostrata import detect_period, open_trace, step_signal
from iostrata.live import following
from iostrata.live import sources as live_sources
from iostrata.live.following import follow, follow_jobs, replay
from iostrata.live.job import LiveJob
from iostrata.live.records.intake import Key, Spans
from iostrata.live.sources import FileSource

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"


def made_run(seed=3):
    """Return lines of a run of two periods, in the order in which operations end."""
    rng = np.random.default_rng(seed)
    starts = np.concatenate((10.0 * np.arange(12), 120 + 4.0 * np.arange(14))) + rng.uniform(0, 0.1, 26)
    start = np.repeat(starts, 3) + np.tile([0.0, 0.4, 0.9], 26)
    end = start + rng.uniform(0.3, 0.6, start.size)
    order = np.argsort(end)
    return start[order], end[order], rng.integers(10**6, 2 * 10**6, start.size)


def lines_of(start, end, volume):
    rows = zip(start.tolist(), end.tolist(), volume.tolist(), strict=True)
    return b"".join(
        json.dumps({"layer": "POSIX", "mode": "write", "start": one, "end": other, "bytes": moved}).encode() + b"\n"
        for one, other, moved in rows
    )


def last_of(updates):
    *_, last = updates
    assert last.last
    return last.answers


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.lists(st.integers(0, 7000), max_size=6), ask=st.booleans())
def test_cut_into_any_pieces_the_last_answer_is_that_of_the_whole(tmp_path, cuts, ask):
    start, end, volume = made_run()
    data = lines_of(start, end, volume)
    job = LiveJob()
    path = tmp_path / "live.jsonl"
    path.write_bytes(b"")
    source = FileSource(path, job.intake)
    edges = sorted({0, len(data), *(min(cut, len(data)) for cut in cuts)})
    for low, high in pairwise(edges):
        with path.open("ab") as file:
            file.write(data[low:high])
        source.read()
        job.take()
        if ask:
            job.answers(0.0, job.intake.clock.now or 0.0)
    (answer,) = last_of(follow(job, [source], 60.0, once=True))
    whole = detect_period(step_signal(start, end, volume, window=(float(start.min()), float(end.max()))))
    assert len(whole.regimes) == 2
    assert answer.period == whole.regimes[-1].period
    assert answer.confidence == pytest.approx(whole.regimes[-1].confidence, rel=1e-9)
    assert answer.regime_start == whole.regimes[-1].start
    assert answer.phases == len(whole.phases) == 26
    assert answer.bytes == volume.sum()


@pytest.mark.parametrize(
    "name", ["ckpt4", "ckpt4_jitter", "ncckpt8", "aperiodic4", "nonblocking4", "threads2", "mixed4"]
)
def test_replayed_in_any_steps_the_last_answer_is_the_offline_one(name):
    check_last_answers(open_trace(FIXTURES / name))


@pytest.mark.recordings
@pytest.mark.parametrize("name", ["ior_posix_fpp8", "ior_compiler4", "pair_strided_coll", "sig_run1"])
def test_so_it_is_of_benchmarks(name, recordings):
    check_last_answers(open_trace(recordings / "benchmarks" / name))


def check_last_answers(trace):
    compared = 0
    for interval in (None, trace.duration / 7):
        for answer in last_of(replay(LiveJob(), trace, interval)):
            offline = detect_period(trace.layers[answer.layer].bandwidth(answer.direction))
            assert answer.periodic == offline.periodic
            assert answer.phases == len(offline.phases)
            assert answer.reason == offline.reason.replace("the clear regime that moved most", "the latest regime")
            if offline.periodic:
                latest = offline.regimes[-1]
                assert answer.period == pytest.approx(latest.period, rel=1e-6)
                assert answer.regime_start == pytest.approx(latest.start, abs=1e-6)
                assert answer.confidence == pytest.approx(latest.confidence, abs=1e-6)
            compared += 1
    assert compared


def test_no_period_is_said_of_fewer_than_four_phases():
    start, end, volume = made_run()
    for phases in range(1, 9):
        job = LiveJob()
        rows = slice(0, 3 * phases)
        job.intake.clock.advance(0.0, float(end[rows].max()))
        job.add(Key("POSIX", "write"), Spans(start[rows], end[rows], volume[rows]))
        (answer,) = job.answers(0.0, float(end[rows].max()))
        if phases < 4:
            assert not answer.periodic
            # What bursts have in common foretells the next one from the third on.
            assert (answer.next_start is None) == (phases < 3)
    assert answer.periodic


def test_several_jobs_at_once_each_with_its_priority(tmp_path):
    jobs = []
    for name, period in (("short", 1.0), ("long", 20.0), ("once", None)):
        start = period * np.arange(1, 12) if period else np.array([3.0])
        job = LiveJob(name=name)
        path = tmp_path / name
        path.write_bytes(lines_of(start, start + 0.1, np.full(start.size, 10**6)))
        jobs.append((job, [FileSource(path, job.intake)]))
    answers = {one.job: one for one in last_of(follow_jobs(jobs, 60.0, once=True))}
    assert [answers[name].period for name in ("short", "long", "once")] == [pytest.approx(1), pytest.approx(20), None]
    assert [answers[name].set for name in ("short", "long", "once")] == [0, 1, None]
    assert [answers[name].priority for name in ("short", "long", "once")] == pytest.approx([1.0, 0.1, 0.1])


def test_several_jobs_owe_together_what_following_all_of_them_took(tmp_path, monkeypatch):
    jobs, owed = [], []
    for name, phases in (("busy", 40), ("idle", 1)):
        start = np.arange(1.0, 1 + phases)
        job = LiveJob(name=name)
        path = tmp_path / name
        path.write_bytes(lines_of(start, start + 0.1, np.full(start.size, 10**6)))
        jobs.append((job, [FileSource(path, job.intake)]))

    def dearer(measured, passed, counted):
        owed.append((measured, passed, counted, [job.counted for job, _ in jobs]))
        return 3.0

    monkeypatch.setattr(following, "dearer", dearer)
    updates = follow_jobs(jobs, 0.01)
    next(updates)
    next(updates)
    updates.close()
    (measured, passed, counted, each), *_ = owed
    assert counted == pytest.approx(sum(each))
    assert min(measured, passed, *each) > 0


def test_what_is_left_out_of_all_sources_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(live_sources, "MOST_FILES", 1)
    job = LiveJob()
    for number in range(6):
        folder = tmp_path / str(number % 2)
        folder.mkdir(exist_ok=True)
        (folder / f"{number}.jsonl").write_bytes(lines_of(*(column[:3] for column in made_run())))
    followed = [live_sources.open_source(str(tmp_path / name), job.intake) for name in "01"]
    *_, last = follow(job, followed, 0.05, once=True)
    assert last.counts.left_out == 4
    assert last.answers[0].operations == 6
