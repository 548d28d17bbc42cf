"""A watcher over a long run: cost and memory are bounded, and its latest phases say the same as the whole."""

import numpy as np
import pytest
from iostrata.live import signal as live_signal
from iostrata.live.records.intake import Key, Spans
from iostrata.live.watcher import Credit, Watcher


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


def test_a_whole_run_that_no_longer_shows_a_period_is_not_looked_at(monkeypatch):
    """A look at thousands of phases in bins as wide as their period costs a quarter of a second and tells nothing."""
    monkeypatch.setattr(live_signal, "EXACT", 400)
    whole, widths = live_signal.LiveSignal.whole, []
    monkeypatch.setattr(
        live_signal.LiveSignal, "whole", lambda self, window: widths.append(self.whole_width) or whole(self, window)
    )
    rng = np.random.default_rng(2)
    starts = np.concatenate((10.0 * np.arange(2200), 22000 + 7.0 * np.arange(40)))
    start, end, volume = phases_at(starts + rng.uniform(0, 0.1, starts.size), per_phase=4)
    watcher, answers = watched(start, end, volume, 20)
    assert watcher.signal.whole_width > 10.0 / 4
    assert widths.count(0.0) >= 4
    assert max(widths) <= 10.0 / 4
    assert answers[2200 // 5 - 1].period == pytest.approx(10.0, rel=1e-3)
    assert all(one.period == pytest.approx(7.0, rel=1e-2) for one in answers[2205 // 5 :])
    assert answers[-1].phases == pytest.approx(starts.size, abs=40)


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
    starts = np.append(10.0 * np.arange(12), 113.0)
    _, answers = watched(*phases_at(starts), 20)
    assert answers[-2].next_start is not None
    assert answers[-1].next_start is None


def test_looks_take_no_more_than_they_may(monkeypatch):
    start, end, volume = phases_at(10.0 * np.arange(40))
    looks = []
    watcher = Watcher(Key("POSIX", "write"), Credit(0.0))
    monkeypatch.setattr(Watcher, "_latest", lambda self, *_: looks.append(1) or self._outlook)
    for low in range(0, start.size, 20):
        rows = slice(low, low + 20)
        watcher.add(Spans(start[rows], end[rows], volume[rows]))
        watcher.answer(0.0, float(end[rows].max()))
    # One look, and then none is left.
    assert (watcher._seen, looks) == (20, [])
    assert watcher.answer(0.0, 400.0, last=True).period == pytest.approx(10.0)


def test_the_reason_is_of_the_latest_regime():
    starts = np.concatenate((10.0 * np.arange(30), 300 + 4.0 * np.arange(12)))
    _, answers = watched(*phases_at(starts + np.random.default_rng(2).uniform(0, 0.1, starts.size)), 100)
    assert answers[-1].period == pytest.approx(4.0, rel=1e-2)
    assert "that moved most" not in answers[-1].reason
