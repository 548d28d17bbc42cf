"""Butterworth filters against the definition of the filter and SciPy's design."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata import Period, Samples, SelectionError, StepSignal, detect_period, step_signal
from iostrata.analysis.methods.auto import AutoMethod
from iostrata.analysis.timefrequency.filters import Butterworth, filter_samples
from scipy.signal import sosfreqz


def response(form: Butterworth, frequency: float, fs: float) -> float:
    """Gain of both passes together."""
    _, gain = sosfreqz(form.sections(fs), [2 * np.pi * frequency / fs])
    return float(np.abs(gain[0]) ** 2)


@given(st.sampled_from(["low", "high", "band"]), st.integers(1, 8), st.floats(0.02, 0.2), st.floats(1.5, 2.2))
def test_the_response_is_minus_three_decibels_at_the_cutoffs(kind: str, order: int, low: float, ratio: float) -> None:
    cutoff = (low, low * ratio) if kind == "band" else (low,)
    form = Butterworth(kind, cutoff, order)  # type: ignore[arg-type]
    for hz in cutoff:
        assert response(form, hz, 1.0) == pytest.approx(np.sqrt(0.5), rel=1e-4)


def test_the_low_pass_is_butterworths_in_the_frequencies_of_the_prototype() -> None:
    form, fs = Butterworth("low", (0.5,), 3), 10.0
    w = np.tan(np.pi * np.array([0.1, 0.4, 0.7, 1.5, 3.0]) / fs) / np.tan(np.pi * 0.5 / fs)
    expected = 1 / (1 + (np.sqrt(2) - 1) * w**6)
    for hz, gain in zip([0.1, 0.4, 0.7, 1.5, 3.0], expected, strict=True):
        assert response(form, hz, fs) == pytest.approx(gain, rel=1e-9)


@pytest.mark.parametrize("form", ["low:1", "high:0.05", "band:0.05:1"])
def test_what_passes_is_not_shifted(form: str) -> None:
    times = np.arange(4000) / 20.0
    wave = np.cos(2 * np.pi * 0.25 * times)
    kept = filter_samples(Samples(wave, 20.0, 7.0), form)
    inner = slice(1000, 3000)
    np.testing.assert_allclose(kept.values[inner], wave[inner], atol=0.01)
    assert kept.start == 7.0


@pytest.mark.parametrize(("form", "slow", "fast"), [("low:0.5", 1, 0), ("high:0.5", 0, 1), ("band:0.4:0.9", 0, 0)])
def test_what_does_not_pass_is_gone(form: str, slow: int, fast: int) -> None:
    times = np.arange(8000) / 20.0
    waves = np.cos(2 * np.pi * 0.05 * times), np.cos(2 * np.pi * 4 * times)
    kept = filter_samples(Samples(waves[0] + waves[1], 20.0, 0.0), form).values
    inner = slice(2000, 6000)
    np.testing.assert_allclose(kept[inner], (slow * waves[0] + fast * waves[1])[inner], atol=0.01)


@pytest.mark.parametrize("count", [1, 2, 5, 30])
def test_few_samples_are_filtered_too(count: int) -> None:
    kept = Butterworth.parse("low:0.1").apply(np.ones(count), 1.0)
    np.testing.assert_allclose(kept, 1.0, atol=1e-6)


@pytest.mark.parametrize(
    "text",
    ["", "low", "low:", "low:x", "low:0", "low:-1", "low:1:2", "band:1", "band:2:1", "band:1:1", "mid:1", "low:inf"],
)
def test_what_is_no_filter_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(SelectionError) as caught:
        Butterworth.parse(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("form", ["low:1e-308", "high:1e-7", "band:1e-9:0.1"])
def test_a_cutoff_whose_period_has_more_samples_than_a_signal_is_refused(form: str) -> None:
    with pytest.raises(SelectionError, match="must be above"):
        Butterworth.parse(form).apply(np.ones(64), 1.0)


def test_a_cutoff_above_half_the_sampling_frequency_is_refused() -> None:
    with pytest.raises(SelectionError, match=r"below 0\.5 Hz"):
        Butterworth.parse("low:0.5").sections(1.0)
    with pytest.raises(SelectionError):
        Butterworth("low", (1.0,), 0)


@pytest.mark.parametrize("method", ["auto", "ftio", "hybrid"])
def test_a_filter_before_any_method_parts_two_periods(method: str) -> None:
    large, small = 100 + 10.0 * np.arange(40), 100 + np.arange(400.0)
    signal = step_signal(
        np.append(large, small),
        np.append(large + 4, small + 0.4),
        np.append(np.full(40, 40.0), np.full(400, 3.0)),
        window=(100, 500),
    )
    low = detect_period(signal, method, filter="low:0.3")
    assert low.period == pytest.approx(10, rel=0.02)
    assert low.evidence.filter == "low:0.3"
    assert low.sampling.automatic
    assert all(100 <= phase.start <= 500 for phase in low.phases)
    high = detect_period(signal, "ftio", filter=Butterworth("high", (0.75,), 8))
    assert high.period == pytest.approx(1, rel=0.05)
    assert high.evidence.baseline < 0


def test_a_filter_that_takes_too_many_samples_is_refused() -> None:
    signal = step_signal([0.0], [1.0], [1.0], window=(0.0, 1e6))
    with pytest.raises(SelectionError, match="lower cutoff"):
        detect_period(signal, filter="low:1000")


def bursts_from_the_start() -> StepSignal:
    start = 10.0 * np.arange(8)
    return step_signal(start, start + 1.0, np.full(8, 1e9), window=(0.0, 80.0))


def test_a_burst_at_the_beginning_stays_a_burst() -> None:
    samples = bursts_from_the_start().sample(50.0)
    kept = filter_samples(samples, "low:0.3").values
    assert kept.min() > -0.2 * kept.max()
    assert 0.5 < kept[:50].mean() / kept[500:550].mean() < 2
    assert kept.sum() / 50.0 == pytest.approx(8e9, rel=0.02)


@pytest.mark.parametrize("method", ["auto", "ftio", "hybrid"])
@pytest.mark.parametrize("form", ["low:0.3", "high:0.05", "band:0.05:0.5"])
def test_phases_after_a_filter_hold_what_was_moved_during_them(method: str, form: str) -> None:
    signal = bursts_from_the_start()
    found = detect_period(signal, method, filter=form)
    assert found.phases
    for phase in found.phases:
        busy = sum(max(0.0, min(phase.end, at + 1) - max(phase.start, at)) for at in 10.0 * np.arange(8))
        assert phase.volume == pytest.approx(1e9 * busy, abs=1)
    assert sum(phase.volume for phase in found.phases) <= signal.volume * (1 + 1e-9)
    assert all(period.volume <= signal.volume * (1 + 1e-9) for period in found.periods)
    assert found.metrics is not None
    assert found.metrics.r_io == pytest.approx(0.1)
    assert found.metrics.b_io == pytest.approx(1e9)
    assert found.sampling.abstraction_error is None


def test_the_period_after_a_low_pass_counts_the_first_burst() -> None:
    found = detect_period(bursts_from_the_start(), filter="low:0.3")
    assert len(found.phases) == 8
    assert found.period == pytest.approx(10.0, rel=0.015)


@pytest.mark.parametrize("method", ["auto", "ftio", "hybrid", "autocorrelation"])
@pytest.mark.parametrize("form", ["high:0.5", "low:0.05", "band:0.25:3", "band:0.001:0.02"])
@pytest.mark.parametrize("lengths", [(1.0, 1.0), (0.5, 4.0)])
def test_no_period_outside_of_the_passed_band_is_stated(method: str, form: str, lengths: tuple[float, float]) -> None:
    start = 10.0 * np.arange(40)
    signal = step_signal(start, start + np.resize(lengths, 40), np.full(40, 1e9), window=(0.0, 400.0))
    found = detect_period(signal, method, filter=form)
    passes = Butterworth.parse(form).passes
    assert all(passes(one.period) for one in (*found.periods, *found.regimes))
    assert found.period is None or passes(found.period)
    assert found.periodic == (found.period is not None) == bool(found.periods)


def test_a_period_that_the_filter_does_not_pass_is_the_reason() -> None:
    start = 10.0 * np.arange(40)
    signal = step_signal(start, start + 1.0, np.full(40, 1e9), window=(0.0, 400.0))
    found = detect_period(signal, filter="high:1")
    assert not found.periodic
    assert found.confidence == 0
    assert found.reason == "The signal recurs every 10 s, which the filter high:1 Hz does not pass."


@pytest.mark.parametrize(
    ("length", "form"), [(1, "high:0.25"), (1, "high:0.3"), (1, "high:0.5"), (3, "high:0.15"), (3, "high:0.3")]
)
def test_what_rings_after_a_filter_has_no_period(length: float, form: str) -> None:
    start = 10.0 * np.arange(40)
    signal = step_signal(start, start + length, np.full(40, 1e9), window=(0.0, 400.0))
    found = detect_period(signal, filter=form)
    assert (found.periodic, found.confidence, found.regimes, found.periods) == (False, 0, (), ())
    # Of what rings the bursts are too many, or their turns are as long as before.
    rings, recurs = f"The filter {form} Hz rings: only", r"The signal recurs every (10|9\.99\d*) s, which the filter"
    assert found.reason.startswith(rings) or re.match(recurs, found.reason)


def test_bursts_of_a_filter_that_moved_nothing_are_the_reason() -> None:
    start = 10.0 * np.arange(40)
    found = detect_period(step_signal(start, start + 3.0, np.full(40, 1e9), window=(0.0, 400.0)), filter="high:0.15")
    assert found.reason == "The filter high:0.15 Hz rings: only 40 of the 80 bursts that are left moved anything."


def test_fast_bursts_beside_slow_ones_have_their_period_after_a_high_pass() -> None:
    slow, fast = 100.0 * np.arange(8), 5.0 * np.arange(160)
    start, end = np.append(slow, fast), np.append(slow + 60.0, fast + 1.0)
    signal = step_signal(start, end, np.append(np.full(8, 6e10), np.full(160, 4e9)), window=(0.0, 800.0))
    found = detect_period(signal, filter="high:0.05")
    assert found.period == pytest.approx(5.0, rel=0.01)
    assert len(found.phases) == 160


def test_of_concurrent_periods_those_that_the_filter_passes_remain(monkeypatch: pytest.MonkeyPatch) -> None:
    start = 10.0 * np.arange(40)
    signal = step_signal(start, start + 1.0, np.full(40, 1e9), window=(0.0, 400.0))
    plain = detect_period(signal)
    both = replace(plain, periods=(*plain.periods, Period(1.0, (0.9, 1.1), 0.7, 4e9)))
    monkeypatch.setattr(AutoMethod, "detect", lambda _self, _signal, _fs: both)
    slow, fast = (detect_period(signal, filter=form) for form in ("low:0.3", "high:0.3"))
    assert [one.period for one in slow.periods] == [slow.period] == [plain.period]
    assert [one.period for one in fast.periods] == [fast.period] == [1.0]
    assert fast.confidence == 0.7
    assert fast.period_interval == (0.9, 1.1)
    assert fast.regimes == ()
    assert "does not pass" in fast.reason
