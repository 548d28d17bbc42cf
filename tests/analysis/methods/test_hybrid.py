"""The hybrid on signals made with the published numbers of the Frontiers'25 paper, and on real archives."""

import json
from pathlib import Path

import numpy as np
import pytest
from iostrata import SelectionError, StepSignal, detect_period, detect_period_samples, open_trace, step_signal
from iostrata.analysis.methods.hybrid_search import analyse_hybrid, broad_peak
from iostrata.analysis.spectral.dominant import dominant_frequency
from iostrata.analysis.spectral.spectrum import power_spectrum


def train(starts: np.ndarray, length: float, end: float) -> StepSignal:
    """Equal bursts."""
    return step_signal(starts, starts + length, np.ones(starts.size), window=(0.0, end))


def overlap(found: list[tuple[float, float]], truth: list[tuple[float, float]], end: float) -> float:
    """Intersection over union on a fine grid."""
    grid = np.arange(0, end, 0.01)
    one = np.any([(grid >= a) & (grid < b) for a, b in found], axis=0) if found else np.zeros(grid.size, bool)
    other = np.any([(grid >= a) & (grid < b) for a, b in truth], axis=0)
    return float((one & other).sum() / (one | other).sum())


@pytest.mark.parametrize("length", [4.0, 6.0, 8.0])
def test_hacc_io(length: float) -> None:
    truth = [(9.88, 72.08), (106.38, 168.28)]
    starts = np.concatenate([low + 18.01 * np.arange(4) for low, _ in truth])
    result = detect_period(train(starts, length, 180.1), "hybrid", 1.0)
    assert result.period == pytest.approx(18.01, rel=0.01)
    assert overlap([(stay.start, stay.end) for stay in result.regimes], truth, 180.1) >= 0.9


@pytest.mark.parametrize("length", [4.0, 7.0, 10.0])
def test_dlio(length: float) -> None:
    starts = 84.54 + 27.65 * np.arange(10)
    result = detect_period(train(starts, length, 400.0), "hybrid", 10.0)
    assert result.period == pytest.approx(27.65, rel=0.005)
    assert overlap([(stay.start, stay.end) for stay in result.regimes], [(84.54, 370.04)], 400.0) >= 0.9
    assert len(result.phases) == 10


def test_what_it_says_has_its_parts() -> None:
    result = detect_period(train(5 + 20.0 * np.arange(20), 4.0, 405.0), "hybrid")
    assert result.periodic
    assert result.method == "hybrid"
    assert result.period_interval is not None
    assert result.period_interval[0] < 20 < result.period_interval[1]
    assert result.evidence.valid_share > 0.9
    assert result.evidence.correlation > 0.5
    assert 0 < result.confidence <= 1
    document = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert document["regimes"][0]["period_s"] == pytest.approx(20, rel=1e-3)


@pytest.mark.parametrize("wavelet", ["db4", "sym5", "coif2"])
def test_other_wavelets_find_the_same(wavelet: str) -> None:
    result = detect_period(train(5 + 20.0 * np.arange(20), 4.0, 405.0), "hybrid", 2.0, wavelet=wavelet)
    assert result.period == pytest.approx(20, rel=1e-3)
    assert result.regimes[0].start == pytest.approx(5, abs=1.5)


@pytest.mark.parametrize("samples", [[1.0], [0.0] * 50, [3.0] * 50, [0.0, 1.0] + [0.0] * 40, list(range(40))])
def test_what_has_no_period_has_none(samples: list[float]) -> None:
    result = detect_period_samples(samples, 1.0, method="hybrid")
    assert not result.periodic
    assert result.confidence == 0
    assert result.regimes == ()
    assert result.reason


@pytest.mark.parametrize("options", [{"wavelet": "morl"}, {"level": 50}, {"tolerance": 0}, {"threshold": -1}])
def test_an_option_out_of_range_is_refused(options: dict[str, object]) -> None:
    with pytest.raises(SelectionError):
        detect_period(train(5 + 20.0 * np.arange(20), 4.0, 405.0), "hybrid", 2.0, **options)


@pytest.mark.parametrize(
    ("archive", "layer"),
    [
        ("ckpt4", "MPI-IO"),
        # Short bursts with jitter after a large one, which the window must follow.
        ("ncckpt4", "MPI-IO"),
        ("ncckpt4", "netCDF"),
        ("ckpt16", "POSIX"),
        ("ncckpt8", "POSIX"),
        ("mixed4", "POSIX"),
    ],
)
def test_real_checkpoints_have_their_period_where_they_are(fixtures: Path, archive: str, layer: str) -> None:
    signal = open_trace(fixtures / archive).layers[layer].bandwidth("write")
    hybrid, auto = detect_period(signal, "hybrid"), detect_period(signal, "auto")
    assert auto.period is not None
    assert hybrid.period == pytest.approx(auto.period, rel=0.05)
    assert len(hybrid.regimes) == 1
    assert hybrid.regimes[0].start == pytest.approx(auto.phases[0].start, abs=1.1 * auto.period)
    assert hybrid.regimes[0].end == pytest.approx(auto.phases[-1].end, abs=1.1 * auto.period)


def test_data_and_plot() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    samples = train(5 + 20.0 * np.arange(20), 4.0, 405.0).sample(2.0)
    found = analyse_hybrid(samples.values, 2.0)
    data = found.to_xarray()
    assert data["approximation"].dims == ("time",)
    assert data["correlation"].size == samples.values.size - 40 + 1
    assert found.to_dict()["period_s"] == pytest.approx(20, rel=1e-3)
    ax = found.plot()
    assert ax.get_xlabel() == "time (s)"
    import matplotlib.pyplot as plt

    plt.close(ax.figure)


def test_real_checkpoints_whose_jitter_parts_the_peak_have_their_period(fixtures: Path) -> None:
    truth = json.loads((fixtures / "ckpt4_jitter" / "truth.json").read_text())["checkpoints"]
    result = detect_period(open_trace(fixtures / "ckpt4_jitter").layers["MPI-IO"].bandwidth("write"), "hybrid")
    assert result.period == pytest.approx(truth["mean_interval_s"], rel=0.01)
    assert result.evidence.valid_share > 0.9


@pytest.mark.parametrize(("lines", "named"), [((9, 10, 11), 10), ((9, 10, 12), None), ((5, 13, 18), None)])
def test_lines_are_one_peak_where_they_are_neighbours(lines: tuple[int, ...], named: int | None) -> None:
    at = np.arange(200)
    waves = [np.cos(2 * np.pi * k * at / 200 + k) * (1.05 if k == 10 else 1.0) for k in lines]
    spectrum = power_spectrum(np.sum(waves, axis=0), 1.0)
    found = dominant_frequency(spectrum)
    assert found.line is None
    peak = broad_peak(spectrum, found, 0.8)
    assert peak.line == named
    assert (peak.confidence > 0) == (named is not None)
    # Where there is a line, or nothing stands out, nothing changes.
    for values in (np.cos(2 * np.pi * 10 * at / 200), np.random.default_rng(1).normal(size=200)):
        spectrum = power_spectrum(values, 1.0)
        found = dominant_frequency(spectrum)
        assert broad_peak(spectrum, found, 0.8) is found


def test_an_approximation_that_misses_bursts_makes_no_slow_period() -> None:
    # Coefficients of 32 samples meet bursts 26 samples apart in a beat that is not in the signal.
    found = {}
    for period in (25.0, 25.9, 27.3, 29.0):
        values = np.zeros(560)
        values[np.arange(3, 560, period).astype(int)] = 1.0
        found[period] = analyse_hybrid(values, 1.0).period
    # That of 27.3 samples is left open.
    assert found.pop(27.3) is None
    assert list(found.values()) == pytest.approx(list(found), rel=0.05)


def noise(kind: str, seed: int) -> StepSignal:
    """Noise in bins of a minute, or bursts at random times."""
    rng = np.random.default_rng(seed)
    if kind == "bursts":
        starts = np.sort(rng.uniform(0, 300, int(rng.integers(10, 80))))
        return train(starts, float(rng.choice([0.05, 0.5, 2.0])), 303.0)
    values = rng.exponential(size=600) if kind == "exponential" else rng.normal(10 if kind == "white" else 0, 1, 600)
    if kind == "AR(1)":
        for place in range(1, values.size):
            values[place] += 0.9 * values[place - 1]
    starts = 60.0 * np.arange(600)
    return step_signal(starts, starts + 60, values - values.min(), window=(0.0, 36_000.0))


@pytest.mark.parametrize("kind", ["white", "exponential", "AR(1)", "bursts"])
def test_noise_has_no_period(kind: str) -> None:
    found = [detect_period(noise(kind, seed), "hybrid") for seed in range(50)]
    assert sum(result.periodic for result in found) <= 2
    rejected = [result for result in found if "no more in step than noise" in result.reason]
    assert rejected
    for result in rejected:
        assert result.period is None
        assert result.regimes == ()
        assert result.confidence == 0
        assert result.evidence.p_value > 0.01


def test_the_false_alarm_rate_is_the_users() -> None:
    signal = train(5 + 20.0 * np.arange(20), 4.0, 405.0)
    p_value = detect_period(signal, "hybrid").evidence.p_value
    assert 0 < p_value < 1e-4
    assert not detect_period(signal, "hybrid", false_alarm_rate=0.5 * p_value).periodic
    with pytest.raises(SelectionError):
        detect_period(signal, "hybrid", false_alarm_rate=0.0)


def test_the_interval_is_half_a_line_of_the_spectrum_to_each_side() -> None:
    result = detect_period(train(2.0 * np.arange(50), 0.5, 100.0), "hybrid", 10.0)
    assert result.period is not None
    assert result.period_interval is not None
    low, high = (1.0 / one for one in result.period_interval)
    assert low - high == pytest.approx(1.0 / 100.0, rel=0.01)
    assert (low + high) / 2 == pytest.approx(1.0 / result.period)
