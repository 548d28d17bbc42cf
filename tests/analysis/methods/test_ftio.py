"""FTIO on real archives and on signals of which the answer is known."""

import json
import math
import statistics
from pathlib import Path

import numpy as np
import pytest
from iostrata import Regime, SelectionError, detect_period, detect_period_samples, open_trace, step_signal


def sound_archives() -> list[str]:
    """Names of the archives that a program left whole."""
    folder = Path(__file__).parents[3] / "fixtures"
    return sorted(path.parent.name for path in folder.glob("*/*.otf2") if not path.parent.name.startswith("broken"))


def recurrences(folder: Path) -> dict[str, float]:
    """Mean intervals that the programs noted themselves."""
    notes = json.loads((folder / "truth.json").read_text())
    return {
        name: note["mean_interval_s"]
        for name, note in notes.items()
        if isinstance(note, dict) and "mean_interval_s" in note
    }


CHECKPOINTS = [
    name for name in sound_archives() if name.startswith(("ckpt", "ncckpt")) or name in ("mixed4", "serial1")
]


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_checkpoints_are_found_on_the_line_nearest_to_their_period(name: str, fixtures: Path) -> None:
    trace = open_trace(fixtures / name)
    truth = recurrences(fixtures / name)["checkpoints"]
    for layer in trace.layers.values():
        if layer.name == "ISOC" or "write" not in layer.directions:
            continue
        result = detect_period(layer.bandwidth("write"), method="ftio")
        assert result.frequency is not None, layer.name
        assert round(result.frequency * trace.duration) == round(trace.duration / truth), layer.name
        assert abs(result.frequency - 1 / truth) <= 0.5 / trace.duration
        low, high = result.period_interval or (math.inf, 0.0)
        assert low <= truth <= high


@pytest.mark.parametrize("name", [name for name in CHECKPOINTS if name not in ("mixed4", "serial1")])
def test_log_lines_of_another_layer_have_their_own_period(name: str, fixtures: Path) -> None:
    trace = open_trace(fixtures / name)
    truth = recurrences(fixtures / name)["log_lines"]
    result = detect_period(trace.layers["ISOC"].bandwidth("write"), method="ftio")
    assert result.frequency is not None
    assert abs(result.frequency - 1 / truth) <= 0.5 / trace.duration


def test_own_and_inherited_traffic_of_one_layer_have_periods_of_their_own(fixtures: Path) -> None:
    trace = open_trace(fixtures / "mixed4")
    truth = recurrences(fixtures / "mixed4")
    posix = trace.layers["POSIX"]
    own = detect_period(posix.bandwidth("write", traffic="own"), method="ftio")
    inherited = detect_period(posix.bandwidth("write", traffic="inherited"), method="ftio")
    assert own.frequency is not None
    assert inherited.frequency is not None
    assert abs(own.frequency - 1 / truth["posix_log"]) <= 0.5 / trace.duration
    assert abs(inherited.frequency - 1 / truth["checkpoints"]) <= 0.5 / trace.duration
    assert len(own.phases) == 80
    assert len(inherited.phases) == 20


def ior(seed: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Eight phases of about 25 s, one about every 98 s in 781.7 s, each of 640 requests of 32 ranks."""
    rng = np.random.default_rng(seed)
    starts, ends = [], []
    for phase in range(8):
        at = 781.7 / 8 * phase + rng.normal(0, 3) + 20
        for _ in range(32):
            lengths = rng.gamma(8.0, 25 / 160, 20)
            end = at + np.cumsum(lengths)
            starts.append(end - lengths)
            ends.append(end)
    start, end = np.concatenate(starts), np.concatenate(ends)
    return start, end, np.full(start.size, 2.0**21)


def test_a_run_like_the_example_of_the_paper() -> None:
    signal = step_signal(*ior(), window=(0.0, 781.7))
    result = detect_period(signal, method="ftio", fs=10.0)
    assert result.sampling.samples == 7817
    assert not result.sampling.automatic
    assert result.sampling.abstraction_error is not None
    assert result.sampling.abstraction_error < 0.05
    assert result.period == pytest.approx(781.7 / 8)
    assert 0.5 < result.confidence < 0.9
    lowered = detect_period(signal, method="ftio", fs=10.0, tolerance=0.3)
    assert lowered.period == result.period
    assert (result.evidence.harmonics, lowered.evidence.harmonics) == (0, 1)
    assert lowered.confidence > result.confidence
    assert 0.9 < result.evidence.autocorrelation_confidence <= 1
    assert result.evidence.autocorrelation_period_s == pytest.approx(98, rel=0.05)
    assert result.evidence.refined_confidence > result.confidence
    assert len(result.phases) == 8
    assert result.recurrence == pytest.approx(781.7 / 8, rel=0.02)
    assert result.jitter is not None
    assert result.jitter < 0.1
    assert sum(phase.volume for phase in result.phases) == pytest.approx(signal.volume, rel=0.02)
    assert result.metrics is not None
    assert result.metrics.r_io == pytest.approx(8 * 25 / 781.7, rel=0.15)
    assert result.metrics.sigma_vol == pytest.approx(0.0, abs=0.1)
    assert result.regimes == (Regime(0.0, 781.7, result.period),)


def test_sixteen_candidates_are_listed() -> None:
    # Twenty waves of one height, none of them a harmonic of another.
    lines = np.arange(101, 121)
    samples = 20 + np.cos(2 * np.pi * np.outer(np.arange(1000), lines) / 1000).sum(axis=1)
    evidence = detect_period_samples(samples, 1.0, method="ftio").evidence
    assert evidence.candidates == 20
    assert len(evidence.candidates_hz) == 16
    assert {round(one * 1000) for one in evidence.candidates_hz} < set(lines.tolist())


def test_disagreement_of_the_autocorrelation_lowers_the_refined_confidence() -> None:
    # Twenty bursts of 15 s every 30 s: whole in the first signal, beats of 3 s in the second. The fundamental stays,
    # while the peaks of the autocorrelation come 3 s apart.
    n = np.arange(600)
    burst = (n % 30 < 15).astype(float)
    agreed = detect_period_samples(burst, 1.0, method="ftio")
    disagreed = detect_period_samples(burst * (1 + (n % 3 == 0)), 1.0, method="ftio")
    assert agreed.period == disagreed.period == pytest.approx(30)
    assert agreed.evidence.autocorrelation_period_s == pytest.approx(30)
    assert disagreed.evidence.autocorrelation_period_s == pytest.approx(3)
    refined = {}
    for name, result in (("agreed", agreed), ("disagreed", disagreed)):
        parts = [result.confidence, result.evidence.autocorrelation_confidence, result.evidence.similarity]
        refined[name] = np.mean(parts)
        assert result.evidence.refined_confidence == pytest.approx(refined[name])
    assert agreed.evidence.similarity == pytest.approx(1.0)
    assert disagreed.evidence.similarity < 0.5
    assert refined["agreed"] == pytest.approx(1.0)
    assert refined["disagreed"] < disagreed.confidence
    assert refined["disagreed"] < refined["agreed"] - 0.2


def test_signals_without_a_recurrence_name_no_period() -> None:
    window = (0.0, 100.0)
    signals = {
        "empty": step_signal([], [], [], window=window),
        "constant": step_signal([0.0], [100.0], [1e9], window=window),
        "one impulse": step_signal([40.0], [40.0], [1e9], window=window),
        "one short burst": step_signal([40.0], [40.1], [1e9], window=window),
    }
    for name, signal in signals.items():
        result = detect_period(signal, method="ftio")
        assert not result.periodic, name
        assert result.confidence == 0.0
        assert result.periods == result.regimes == ()
        assert result.recurrence is None
        assert result.jitter is None
        assert result.metrics is not None
        assert result.metrics.sigma_vol is None
        assert result.reason


@pytest.mark.parametrize("window", [0.3, 7.0, 1e5])
@pytest.mark.parametrize("fs", [77.7, 1e3])
def test_a_constant_rate_is_constant_in_any_sampling(window: float, fs: float) -> None:
    signal = step_signal([0.0, window / 3], [window, window], [1e9, 0.0], window=(0.0, window))
    result = detect_period(signal, method="ftio", fs=fs / window * 17)
    assert not result.periodic


def test_two_lines_name_the_stronger_one() -> None:
    n = np.arange(400)
    waves = 3 + np.cos(2 * np.pi * 21 * n / 400) + 1.05 * np.cos(2 * np.pi * 50 * n / 400)
    result = detect_period_samples(waves, 1.0, method="ftio")
    assert result.frequency == pytest.approx(50 / 400)
    assert result.confidence == pytest.approx(1.05**2 / (1 + 1.05**2), rel=0.02)
    assert "Two frequencies" in result.reason


def test_three_lines_name_none() -> None:
    n = np.arange(400)
    waves = 4 + sum(np.cos(2 * np.pi * k * n / 400) for k in (21, 50, 77))
    result = detect_period_samples(waves, 1.0, method="ftio")
    assert not result.periodic
    assert "3 frequencies" in result.reason
    assert result.evidence.candidates == 3


def test_harmonics_are_dropped_and_do_not_weigh_on_the_confidence() -> None:
    train = np.zeros(400)
    train[::20] = 1.0
    result = detect_period_samples(train, 1.0, method="ftio")
    assert result.period == pytest.approx(20)
    assert result.confidence == pytest.approx(1.0)
    assert "set aside as harmonics: 9" in result.reason


def test_a_period_as_long_as_the_window_is_named_as_such() -> None:
    n = np.arange(200)
    result = detect_period_samples(1 + np.cos(2 * np.pi * n / 200), 2.0, method="ftio")
    assert result.period == pytest.approx(100)
    assert "the window itself" in result.reason


@pytest.mark.parametrize("option", [{"tolerance": 0.0}, {"tolerance": 1.1}, {"threshold": 0.0}, {"threshold": np.nan}])
def test_options_out_of_range_are_refused(option: dict[str, float]) -> None:
    with pytest.raises(SelectionError, match=next(iter(option))):
        detect_period_samples(np.arange(30.0), 1.0, method="ftio", **option)


def test_phases_are_told_where_no_period_is_named() -> None:
    """Nine bursts at uneven times: no line stands out, yet they recur, and a reader wants to know."""
    start = np.array([1.0, 4.0, 17.0, 21.0, 42.0, 50.0, 71.0, 88.0, 96.0])
    signal = step_signal(start, start + 0.4, np.full(9, 100), window=(0.0, 100.0))
    result = detect_period(signal, method="ftio")
    assert not result.periodic
    assert [phase.start for phase in result.phases] == pytest.approx(start.tolist())
    assert result.recurrence == pytest.approx(np.diff(start).mean())
    assert result.jitter == pytest.approx(np.diff(start).std() / np.diff(start).mean())


@pytest.mark.parametrize("direction", ["read", "write"])
def test_phases_of_a_cluster_run_are_those_of_the_program(direction: str, fixtures: Path) -> None:
    """Within a phase of IOR the bandwidth drops below its mean for seconds; it is one phase all the same."""
    truth = json.loads((fixtures / "ior384" / "truth.json").read_text())[f"{direction}_phases"]
    signal = open_trace(fixtures / "ior384").layers["MPI-IO"].bandwidth(direction)
    result = detect_period(signal, method="ftio")
    assert [phase.start for phase in result.phases] == pytest.approx(truth["starts_s"], abs=0.05)
    assert result.recurrence == pytest.approx(truth["mean_interval_s"], rel=0.005)


def bursts(seed: int) -> np.ndarray:
    """Twenty bursts, about one in 30 samples, in weak noise."""
    rng = np.random.default_rng(seed)
    samples = rng.exponential(0.02, 600)
    for start in 30 * np.arange(20) + rng.integers(-2, 3, 20) + 5:
        samples[start : start + 10] += 1.0
    return samples


@pytest.mark.parametrize("seed", range(6))
def test_the_confidence_is_the_mean_of_three(seed: int) -> None:
    samples = bursts(seed)
    plain = detect_period_samples(samples, 2.0, method="ftio")
    alone = detect_period_samples(samples, 2.0, method="autocorrelation")
    merged = detect_period_samples(samples, 2.0, method="ftio-merged")
    assert merged.method == "ftio-merged"
    assert plain.period is not None
    assert merged.period == plain.period
    assert merged.period_interval == plain.period_interval
    periods = [*np.asarray(alone.evidence.candidates_s).tolist(), plain.period]
    assert len(periods) == alone.evidence.candidates + 1
    agreement = 1 - statistics.pstdev(periods) / statistics.fmean(periods)
    assert merged.confidence == pytest.approx((plain.confidence + alone.confidence + agreement) / 3)
    assert merged.periods[0].confidence == merged.confidence
    assert merged.evidence.refined_confidence == merged.confidence
    assert merged.evidence.spectral_confidence == plain.confidence


def test_an_autocorrelation_without_a_peak_counts_against_the_period() -> None:
    ramp = np.arange(30.0)
    plain = detect_period_samples(ramp, 1.0, method="ftio")
    merged = detect_period_samples(ramp, 1.0, method="ftio-merged")
    assert merged.period == plain.period == pytest.approx(30.0)
    assert merged.confidence == pytest.approx(plain.confidence / 3)
    assert "counts against it" in merged.reason
    assert merged.evidence.refined_confidence is None


def test_without_a_line_there_is_no_period_whatever_the_autocorrelation_says() -> None:
    n = np.arange(400)
    waves = 4 + sum(np.cos(2 * np.pi * k * n / 400) for k in (21, 50, 77))
    merged = detect_period_samples(waves, 1.0, method="ftio-merged")
    assert not merged.periodic
    assert merged.confidence == 0.0
