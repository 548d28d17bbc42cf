"""The made inputs of the accuracy study have the truth that they claim, and the right answer is judged right."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from iostrata import step_signal

STUDY = Path(__file__).parents[2] / "benchmarks" / "accuracy"
SEEDS = (11, 12, 13)


@pytest.fixture(scope="module")
def study() -> Iterator[SimpleNamespace]:
    before = set(sys.modules)
    sys.path.insert(0, str(STUDY))
    try:
        import judging  # type: ignore[import-not-found]
        import methods  # type: ignore[import-not-found]

        from inputs import catalogue, signal_input, verdict_pairs  # type: ignore[import-not-found]

        yield SimpleNamespace(
            classes=catalogue.catalogue(), judging=judging, methods=methods, inputs=signal_input, pairs=verdict_pairs
        )
    finally:
        sys.path.remove(str(STUDY))
        for name in set(sys.modules) - before:
            module = sys.modules[name]
            if isinstance(module, ModuleType) and str(getattr(module, "__file__", "")).startswith(str(STUDY)):
                del sys.modules[name]


def small(study):
    return [one for one in study.classes.values() if one.family != "sweep"]


def test_a_seed_gives_one_input(study):
    for one in small(study):
        first, again, other = one.input(11), one.input(11), one.input(17)
        assert np.array_equal(first.start, again.start), one.name
        assert np.array_equal(first.volume, again.volume), one.name
        assert first.window == again.window, one.name
        same = first.volume.size == other.volume.size and np.array_equal(first.volume, other.volume)
        assert not same or not np.array_equal(first.start, other.start) or one.name.startswith("null 800 s"), one.name


def test_intervals_are_sound(study):
    for one in small(study):
        for seed in SEEDS:
            given = one.input(seed)
            low, high = given.window
            assert np.all(given.end >= given.start), one.name
            assert np.all(given.volume >= 0), one.name
            assert np.all((given.end >= low) & (given.start <= high)), one.name
            assert step_signal(given.start, given.end, given.volume, window=given.window).duration > 0


def test_phases_lie_in_the_window_and_hold_what_is_bounded(study):
    for one in small(study):
        for seed in SEEDS:
            given = one.input(seed)
            truth = given.truth
            if truth.phase_start is None:
                continue
            slack = 0.0 if given.samples is None else 1 / given.fs
            assert truth.phase_start.min() >= given.window[0] - 1e-9, one.name
            assert truth.phase_start.max() <= given.window[1] + slack, one.name
            if truth.bounded and given.samples is None:
                assert truth.phase_bytes.sum() == pytest.approx(given.volume.sum()), one.name


def test_regimes_are_in_order_and_hold_their_phases(study):
    for one in small(study):
        if one.family != "regimes":
            continue
        for seed in SEEDS:
            truth = one.input(seed).truth
            assert len(truth.regimes) >= 2, one.name
            for before, after in zip(truth.regimes[:-1], truth.regimes[1:], strict=True):
                assert before.last < after.start, one.name
            if truth.phase_start is not None:
                for regime in truth.regimes:
                    inside = (truth.phase_start >= regime.start - 1e-9) & (truth.phase_start <= regime.last + 1e-9)
                    mean = np.diff(truth.phase_start[inside]).mean()
                    assert mean == pytest.approx(regime.period, rel=0.02), one.name


def test_missing_phases_lie_on_the_clock(study):
    for seed in SEEDS:
        truth = study.classes["period/missing"].input(seed).truth
        steps = np.diff(truth.phase_start) / truth.periods[0]
        assert np.abs(steps - np.round(steps)).max() < 0.25
        assert np.round(steps).max() >= 2


def test_bin_averages_keep_the_volume(study):
    for name in ("period/plain", "period/steady background", "null/Hawkes, steps"):
        given = study.classes[name].input(11)
        fs = 97 / (given.window[1] - given.window[0])
        signal = step_signal(given.start, given.end, given.volume, window=given.window)
        assert study.inputs.bin_averages(given, fs) == pytest.approx(signal.sample(fs).values[:97], abs=1e3)


def oracle(study, truth):
    """Say what is true."""
    regimes = tuple(study.methods.StatedRegime(one.start, one.last + one.period, one.period) for one in truth.regimes)
    period = truth.periods[0] if truth.periods else None
    return study.methods.Answer(period, 1.0, 0.0, period, truth.periods, regimes)


def test_the_truth_is_judged_right_and_another_answer_wrong(study):
    for one in small(study):
        for seed in SEEDS:
            given = one.input(seed)
            answer = oracle(study, given.truth)
            right = study.judging.judge(answer, given, one.family)
            assert not right["wrong"], one.name
            assert right["found"] == bool(given.truth.periods), one.name
            far = 7.3 * max(given.truth.periods, default=1.0)
            regimes = tuple(replace(stay, period=far) for stay in answer.regimes)
            other = replace(answer, period=far, estimate=far, periods=(far,), regimes=regimes)
            wrong = study.judging.judge(other, given, one.family)
            assert wrong["wrong"], one.name
            assert not wrong["found"], one.name


def test_pairs_differ_only_outside_of_the_signal(study):
    for base, change, given, changed in study.pairs.pairs(np.random.default_rng(5)):
        one = step_signal(given.start, given.end, given.volume, window=given.window)
        other = step_signal(changed.start, changed.end, changed.volume, window=changed.window)
        low, high = given.window[0], min(given.window[1], changed.window[1])
        inside = [
            float(signal.volume_until(np.array([high]))[0] - signal.volume_until(np.array([low]))[0])
            for signal in (one, other)
        ]
        assert inside[0] == pytest.approx(inside[1], rel=1e-6), (base, change)
        assert (changed.window != given.window) or change.startswith("read")
