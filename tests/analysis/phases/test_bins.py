"""Bins are recognised, and bins that are too coarse."""

import numpy as np
import pytest
from iostrata import detect_period, detect_period_samples, step_signal
from iostrata.analysis.phases.bins import bin_width, in_units, too_coarse
from iostrata.analysis.phases.bursts import vertices


def bins(values: np.ndarray, width: float) -> object:
    edges = width * np.arange(values.size + 1)
    return step_signal(edges[:-1], edges[1:], values * width)


@pytest.mark.parametrize("width", [60.0, 1.0, 1 / 3, 1e-6])
def test_bins_are_recognised(width: float) -> None:
    random = np.random.default_rng(0)
    assert bin_width(*vertices(bins(random.exponential(size=300), width))) == pytest.approx(width, rel=1e-6)
    # Counts, of which many are 0 and neighbours often alike.
    assert bin_width(*vertices(bins(random.poisson(0.4, 300).astype(float), width))) == pytest.approx(width, rel=1e-6)


@pytest.mark.parametrize("width", [0.1, 0.7, 1 / 3])
@pytest.mark.parametrize("first", [0.0, 17.3])
def test_bins_whose_ends_are_rounded_are_recognised(width: float, first: float) -> None:
    random, start = np.random.default_rng(5), first + width * np.arange(800)
    for _ in range(4):
        signal = step_signal(start, start + width, random.exponential(size=800))
        assert bin_width(*vertices(signal)) == pytest.approx(width, rel=1e-6)
        assert not detect_period(signal).periodic


@pytest.mark.parametrize("late", ["milliseconds", "jitter", "slow"])
@pytest.mark.parametrize("law", ["exponential", "normal", "counts"])
def test_bins_of_a_sampler_that_is_not_exact_are_recognised(late: str, law: str) -> None:
    """A sampler that is late by a little, or whose times were rounded: noise in such bins had a period in a third."""
    random = np.random.default_rng(3)
    for _ in range(4):
        edges = {
            "milliseconds": np.round(np.arange(601) / 3, 3),
            "jitter": np.arange(601) + 0.01 * random.normal(size=601),
            "slow": np.cumsum(np.append(0.0, 1 + 0.002 * random.exponential(size=600))),
        }[late]
        rates = {
            "exponential": random.exponential(size=600),
            "normal": np.maximum(10 + random.normal(size=600), 0.0),
            "counts": random.poisson(0.7, 600).astype(float),
        }[law]
        signal = step_signal(edges[:-1], edges[1:], rates * np.diff(edges))
        assert bin_width(*vertices(signal)) == pytest.approx(float(np.median(np.diff(edges))), rel=0.1)
        assert not detect_period(signal).periodic


@pytest.mark.parametrize("seed", range(4))
def test_pulses_of_equal_parts_are_no_bins(seed: int) -> None:
    random = np.random.default_rng(seed)
    start = np.add.outer(16.3 * np.arange(20) + 0.3 * random.normal(size=20), [0.0, 1.0, 2.0]).ravel()
    assert bin_width(*vertices(step_signal(start, start + 1.0, random.uniform(1, 2, 60)))) == 0.0


def test_an_exact_signal_has_no_bins() -> None:
    start = np.sort(np.random.default_rng(0).uniform(0, 100, 50))
    assert bin_width(*vertices(step_signal(start, start + 0.1, np.ones(50)))) == 0.0


def test_a_train_whose_pauses_are_as_long_as_its_pulses_is_exact() -> None:
    start = 10.0 * np.arange(30)
    assert bin_width(*vertices(step_signal(start, start + 5, np.ones(30), window=(-3.0, 300.0)))) == 0.0


def test_ticks_of_a_clock_are_no_bins() -> None:
    start = np.sort(np.random.default_rng(0).integers(0, 10**10, 200)) * 1e-9
    assert bin_width(*vertices(step_signal(start, start + 1e-3, np.ones(200)))) == 0.0


@pytest.mark.parametrize(
    ("bins_a_period", "coarse"), [(1.4, True), (1.7, True), (1.9, True), (6.3, False), (20.7, False)]
)
def test_fewer_than_two_bins_a_period_are_too_coarse(bins_a_period: float, coarse: bool) -> None:
    start = 10.0 * np.arange(200)
    exact = step_signal(start, start + 1, np.ones(200))
    width = 10.0 / bins_a_period
    sampled = exact.sample(1 / width)
    assert too_coarse(*vertices(bins(sampled.values, width)), width) == coarse


def test_the_spectrum_is_of_a_length_that_is_quickly_transformed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls of 1 µs every 100 µs on a grid of ns make a hundred bins each, and their number may be a large prime."""
    lengths, rfft = [], np.fft.rfft
    monkeypatch.setattr(np.fft, "rfft", lambda values: lengths.append(len(values)) or rfft(values))
    values = np.arange(104_729) % 2 + 0.1 * np.random.default_rng(2).random(104_729)
    assert too_coarse(*vertices(bins(values, 1.0)), 1.0)
    assert lengths[0] > 0.98 * len(values)
    assert lengths[0] % 1024 == 0


@pytest.mark.parametrize("every", [2, 40])
def test_of_many_bins_pieces_tell(every: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not all bins of a long signal are transformed at once, and a pause in which nothing happens hides nothing."""
    lengths, rfft = [], np.fft.rfft
    monkeypatch.setattr(np.fft, "rfft", lambda values: lengths.append(len(values)) or rfft(values))
    values = (np.arange(600_000) % every < 1) + 0.1 * np.random.default_rng(3).random(600_000)
    values = np.concatenate([values, np.zeros(3_000_000), values])
    assert too_coarse(*vertices(bins(values, 1.0)), 1.0) == (every < 4)
    assert max(lengths) <= 2**20


@pytest.mark.parametrize("bins_a_period", [7.6, 7.8, 7.9, 5.3, 11.7])
def test_harmonics_of_short_bursts_are_not_what_is_too_fast(bins_a_period: float) -> None:
    random, width = np.random.default_rng(1), 10.0 / bins_a_period
    start = 10 * np.arange(40) + 0.1 * random.normal(size=40) + 3
    edges = width * np.arange(int(400 / width) + 1)
    volumes = np.diff(step_signal(start, start + 0.5, np.ones(40), window=(0.0, 410.0)).volume_until(edges))
    assert detect_period(step_signal(edges[:-1], edges[1:], volumes)).period == pytest.approx(10, rel=0.01)


def ticks(random: np.random.Generator) -> np.ndarray:
    """Return what a counter of whole units says of independent exponential rates of a twelfth of a unit a bin."""
    return np.diff(np.floor(np.cumsum(random.exponential(size=600) / 12)))


@pytest.mark.parametrize("seed", range(6))
def test_units_of_a_counter_that_carries_its_remainder_are_no_phases(seed: int) -> None:
    counted = ticks(np.random.default_rng(seed))
    assert in_units(*vertices(bins(counted, 5.0)))
    assert not detect_period(bins(counted, 5.0)).periodic
    assert not detect_period_samples(counted, 0.2).periodic


def test_bursts_of_one_bin_that_come_evenly_are_phases() -> None:
    values = np.zeros(300)
    values[5::12] = 7.0
    assert in_units(*vertices(bins(values, 1.0)))
    assert detect_period(bins(values, 1.0)).period == pytest.approx(12)
    assert detect_period_samples(values, 1.0).period == pytest.approx(12, rel=0.02)


def test_bursts_that_are_alike_but_on_no_grid_or_of_several_sizes_are_no_units() -> None:
    random = np.random.default_rng(0)
    start = 10.0 * np.arange(40) + random.normal(size=40)
    assert not in_units(*vertices(step_signal(start, start + 1, np.ones(40))))
    assert not in_units(*vertices(step_signal(np.rint(start), np.rint(start) + 1, random.uniform(1, 2, 40))))
    assert detect_period(step_signal(start, start + 1, np.ones(40))).period == pytest.approx(10, rel=0.02)


def test_bins_of_sources_out_of_step_are_told_by_the_middle_of_a_long_signal() -> None:
    random = np.random.default_rng(9)
    ends = 300_000
    edges = np.sort(np.append(np.arange(ends // 2), np.arange(ends // 2) + 0.3))
    rates = random.exponential(size=ends - 1)
    signal = step_signal(edges[:-1], edges[1:], rates * np.diff(edges))
    assert bin_width(*vertices(signal)) == pytest.approx(1.0, rel=1e-6)
    # Pulses of many lengths are none, however many there are.
    start = np.cumsum(random.exponential(size=ends))
    assert bin_width(*vertices(step_signal(start[:-1], start[1:], rates))) == 0.0
