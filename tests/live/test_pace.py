"""Which of the latest intervals are of the pace of now."""

import numpy as np
import pytest
from iostrata.live.pace import SAME, latest_pace


def intervals(rng, count, period, jitter, about_clock):
    """Return intervals of a jitter each, or between starts that have it about a clock."""
    off = jitter * np.clip(rng.normal(size=count + about_clock), -2.5, 2.5)
    return period * (1 + (np.diff(off) if about_clock else off))


@pytest.mark.parametrize("about_clock", [False, True], ids=["follow", "clock"])
@pytest.mark.parametrize(("jitter", "ratio", "share"), [(0.02, 1.2, 1.0), (0.1, 1.5, 0.8), (0.1, 0.5, 0.8)])
def test_a_change_of_pace_is_found_after_four_intervals(about_clock, jitter, ratio, share):
    right = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        before = intervals(rng, 14, 10.0, jitter, about_clock)
        own = np.append(before, intervals(rng, 4, 10.0 * ratio, jitter, about_clock))
        latest = own[-latest_pace(own, 3).latest :]
        right.append(abs(latest.mean() / (10.0 * ratio) - 1) <= SAME)
    assert np.mean(right) >= share


@pytest.mark.parametrize("about_clock", [False, True], ids=["follow", "clock"])
def test_without_a_change_hardly_any_is_found_and_it_is_as_sure_as_it_is_right(about_clock):
    wrong, sure, right = [], [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        every = intervals(rng, 40, 10.0, rng.choice((0.02, 0.05, 0.1, 0.15)), about_clock)
        for count in range(6, 41, 5):
            found = latest_pace(every[:count], 3)
            off = abs(every[count - found.latest : count].mean() / 10.0 - 1) > SAME
            wrong.append(off and found.latest < count)
            sure.append(found.confidence)
            right.append(not off)
    assert np.mean(wrong) <= 0.01
    assert -0.1 <= np.mean(sure) - np.mean(right) <= 0.03


def test_a_single_delay_is_no_change():
    every = intervals(np.random.default_rng(1), 20, 10.0, 0.05, False)
    every[12] = 45.0
    assert all(latest_pace(every[:count], 3).latest == count for count in range(4, 16))


def test_where_one_pace_follows_another_for_the_second_time_the_latest_counts():
    rng = np.random.default_rng(4)
    every = np.concatenate([intervals(rng, 9, period, 0.05, False) for period in (10.0, 12.5, 10.0)])
    assert latest_pace(every, 3).latest == pytest.approx(9, abs=1)
