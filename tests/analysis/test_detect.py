"""Detection from signals and from samples, and input that is neither."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata import SelectionError, StepSignal, detect_period, detect_period_samples, step_signal


def bursts(scale: float = 1.0) -> np.ndarray:
    """Thirty bursts of three samples, one every ten samples."""
    return scale * (np.arange(300) % 10 < 3)


def test_samples_are_analysed_as_they_are() -> None:
    result = detect_period_samples(bursts(), 4.0, method="ftio")
    assert result.period == pytest.approx(2.5)
    assert (result.sampling.fs, result.sampling.samples, result.sampling.automatic) == (4.0, 300, False)
    assert result.sampling.abstraction_error == pytest.approx(0.0, abs=1e-9)
    assert len(result.phases) == 30
    assert result.phases[1].start == pytest.approx(2.5)
    assert result.phases[1].volume == pytest.approx(0.75)


@given(
    count=st.integers(1, 400),
    fs=st.one_of(st.floats(1e-3, 1e6), st.sampled_from([0.1, 1 / 3, 3.0, 7.0, 1e9])),
    seed=st.integers(0, 99),
)
def test_every_sample_is_one_bin(count: int, fs: float, seed: int) -> None:
    samples = np.random.default_rng(seed).exponential(size=count)
    result = detect_period_samples(samples, fs, method="ftio")
    assert result.sampling.samples == count


def test_samples_and_their_step_signal_give_the_same() -> None:
    samples = bursts(1e6)
    at = np.arange(300) / 4.0
    signal = step_signal(at, at + 0.25, samples * 0.25, window=(0.0, 75.0))
    direct, sampled = detect_period(signal, "ftio", fs=4.0), detect_period_samples(samples, 4.0, method="ftio")
    assert direct.period == pytest.approx(sampled.period)
    assert direct.confidence == pytest.approx(sampled.confidence)
    assert len(direct.phases) == len(sampled.phases)
    assert direct.metrics is not None
    assert sampled.metrics is not None
    assert direct.metrics.sigma_time == pytest.approx(sampled.metrics.sigma_time)


@pytest.mark.parametrize("kind", [list, tuple, np.asarray, lambda x: x.astype(np.int64), lambda x: x > 0])
def test_any_row_of_numbers_will_do(kind) -> None:  # type: ignore[no-untyped-def]
    assert detect_period_samples(kind(bursts()), 1.0, method="ftio").period == pytest.approx(10)


def test_a_constant_and_a_scale_change_no_period() -> None:
    plain = detect_period_samples(bursts(), 1.0, method="ftio")
    for samples in (bursts() - 5.0, bursts(1e12), bursts(1e-12), bursts() * 3 - 1):
        shifted = detect_period_samples(samples, 1.0, method="ftio")
        assert shifted.period == plain.period
        assert shifted.confidence == pytest.approx(plain.confidence)


def test_negative_samples_are_measured_from_the_smallest() -> None:
    result = detect_period_samples(bursts() - 5.0, 1.0, method="ftio")
    assert result.evidence.baseline == -5.0
    assert result.phases[0].volume == pytest.approx(3.0)
    assert detect_period_samples(bursts(), 1.0, method="ftio").evidence.baseline is None


@pytest.mark.parametrize(
    "samples",
    [
        [],
        [[1.0, 2.0], [3.0, 4.0]],
        [[1.0], [2.0, 3.0]],
        5.0,
        [1.0, np.nan],
        [1.0, np.inf],
        [1.0, -np.inf],
        ["a", "b"],
        [1j, 2.0],
        [None, 1.0],
        [1.7e308, -1.7e308],
        [1e141] * 10,
    ],
)
def test_what_is_no_row_of_finite_numbers_is_refused_in_one_line(samples: object) -> None:
    with pytest.raises(SelectionError) as caught:
        detect_period_samples(samples, 1.0, method="ftio")  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("fs", [0, -1.0, np.nan, np.inf, "fast", None, True, [1.0]])
def test_a_frequency_that_is_none_is_refused(fs: object) -> None:
    signal = step_signal([0.0], [1.0], [1.0], window=(0.0, 10.0))
    for call in (
        lambda: detect_period_samples(bursts(), fs, method="ftio"),  # type: ignore[arg-type]
        lambda: detect_period(signal, "ftio", fs=fs),  # type: ignore[arg-type]
    ):
        with pytest.raises(SelectionError, match="frequency") as caught:
            call()
        assert "\n" not in str(caught.value)


def test_samples_have_no_automatic_frequency() -> None:
    with pytest.raises(SelectionError, match="frequency"):
        detect_period_samples(bursts(), "auto", method="ftio")  # type: ignore[arg-type]


def test_a_frequency_of_too_many_bins_is_refused() -> None:
    signal = step_signal([0.0], [1.0], [1.0], window=(0.0, 10.0))
    with pytest.raises(SelectionError):
        detect_period(signal, "ftio", fs=1e12)


def test_unknown_options_and_methods_are_refused() -> None:
    signal = step_signal([0.0], [1.0], [1.0], window=(0.0, 10.0))
    with pytest.raises(SelectionError, match="tolerance"):
        detect_period(signal, "ftio", tolerence=0.8)
    with pytest.raises(SelectionError, match="ftio"):
        detect_period(signal, "fourier")


def broken(**changes: np.ndarray) -> StepSignal:
    """A signal made by hand, not by the functions that check it."""
    parts = {
        "times": np.array([0.0, 1.0, 2.0]),
        "values": np.array([1.0, 2.0]),
        "impulse_times": np.zeros(0),
        "impulse_volumes": np.zeros(0),
        "cumulative": np.array([0.0, 1.0, 3.0]),
    }
    return StepSignal(**(parts | changes))


@pytest.mark.parametrize(
    "signal",
    [
        broken(values=np.array([1.0, -2.0])),
        broken(values=np.array([1.0, np.nan])),
        broken(values=np.array([1.0, np.inf])),
        broken(impulse_times=np.array([1.0]), impulse_volumes=np.array([-1.0])),
        broken(times=np.array([0.0, 1.0, np.inf])),
        broken(times=np.array([1.0, 1.0, 1.0])),
        np.ones(30),
        "signal",
    ],
)
def test_what_is_no_signal_is_refused_in_one_line(signal: object) -> None:
    with pytest.raises(SelectionError) as caught:
        detect_period(signal, "ftio")  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
