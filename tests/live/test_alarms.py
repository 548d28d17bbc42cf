"""Alarms while a job runs: each kind where it should be, and none where nothing has changed."""

from itertools import pairwise

import numpy as np
import pytest
from iostrata import SelectionError
from iostrata.live.alarms import parse_rule
from iostrata.live.job import LiveJob
from iostrata.live.records.intake import Key, Spans

WRITES = Key("POSIX", "write")


def kinds_of(starts, lengths, *, until=None, step=0.25, volume=10**6, limits=None):
    """Give the kinds of alarms after each update of a job whose phases start and last so, with the times of these."""
    job = LiveJob(limits=limits or {})
    until = until or float(starts[-1] + lengths[-1])
    found = []
    for before, now in pairwise(np.arange(0, until + step, step)):
        for start, length in zip(starts, lengths, strict=True):
            if before < start + length <= now:
                job.add(WRITES, Spans(np.array([start]), np.array([start + length]), np.array([volume])))
        told = ({one.kind: one for one in answer.alarms or ()} for answer in job.answers(0.0, float(now)))
        found += [(float(now), kinds) for kinds in told]
    return found


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("jitter", [0.0, 0.05, 0.1])
def test_a_steady_job_has_no_alarms(seed, jitter):
    random = np.random.default_rng(seed)
    starts = np.cumsum(2 + jitter * random.standard_normal(30))
    lengths = 0.2 * (1 + jitter * random.random(30))
    assert not any(kinds for _, kinds in kinds_of(starts, lengths))


def test_a_phase_that_does_not_come_is_overdue():
    starts, lengths = 2.0 * np.arange(1, 13), np.full(12, 0.2)
    found = kinds_of(starts, lengths, until=40.0)
    overdue = [now for now, kinds in found if "overdue" in kinds]
    # The next was expected at 26 s; half a period later is 27 s.
    assert 27.0 < min(overdue) < 28.5
    assert not any(set(kinds) - {"overdue"} for _, kinds in found)
    assert "was expected by" in next(kinds["overdue"].text for _, kinds in found if kinds)


def test_a_period_that_slips():
    starts = np.append(2.0 * np.arange(1, 13), 24.0 + 3.0 * np.arange(1, 13))
    found = kinds_of(starts, np.full(24, 0.2))
    slipped = {now: kinds["slipped"] for now, kinds in found if "slipped" in kinds}
    assert 27.0 < min(slipped) < 24.0 + 3.0 * 6
    assert max(slipped.values(), key=lambda one: one.value).value == pytest.approx(0.5, abs=0.02)
    assert not any("slipped" in kinds for _, kinds in kinds_of(starts, np.full(24, 0.2), limits={"slipped": 0.6}))


def test_the_period_that_slips_is_not_that_of_the_first_few_intervals():
    """The first three come 10 % later than the others do."""
    starts = np.cumsum([2.2] * 3 + [2.0] * 12 + [2.66] * 8)
    found = kinds_of(starts, np.full(23, 0.2))
    value = max(kinds["slipped"].value for _, kinds in found if "slipped" in kinds)
    assert value == pytest.approx(2.66 / 2.05 - 1, abs=0.03)


def test_bandwidth_that_falls():
    starts = 2.0 * np.arange(1, 15)
    lengths = np.where(np.arange(14) < 10, 0.2, 0.8)
    slow = {now: kinds["slow"] for now, kinds in kinds_of(starts, lengths) if "slow" in kinds}
    # The eleventh and the twelfth phase take four times as long, and end at 24.8 s.
    assert 24.5 < min(slow) < 26.5
    assert next(iter(slow.values())).value == pytest.approx(0.75, abs=0.01)


def test_rules_have_a_kind_and_a_limit():
    assert parse_rule("overdue") == ("overdue", 0.5)
    assert parse_rule("slow > 0.4") == ("slow", 0.4)
    for text in ("late", "slow<1", "slow>", "overdue>1e9x", ""):
        with pytest.raises(SelectionError, match="is no rule"):
            parse_rule(text)
