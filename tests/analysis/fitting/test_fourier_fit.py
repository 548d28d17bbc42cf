"""The fit against known cosines and against SciPy's own bounded least squares."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from iostrata import Samples, SelectionError
from iostrata.analysis.fitting import fourier_fit
from scipy.optimize import least_squares


@given(
    arrays(np.float64, st.integers(1, 60), elements=st.floats(0, 1e12)),
    st.integers(1, 6),
    st.floats(0.05, 1),
)
def test_it_is_never_worse_and_stays_within_its_bounds(values: np.ndarray, count: int, bound: float) -> None:
    fit = fourier_fit(Samples(values, 3.0, 2.0), count, bound=bound)
    scale = 1 + np.abs(values).max()
    before = np.mean(((values - fit.lines.values) / scale) ** 2)
    after = np.mean(((values - fit.components.values) / scale) ** 2)
    assert after <= before + 1e-12
    assert fit.components.mean == fit.lines.mean == pytest.approx(values.mean())
    assert 0 <= fit.reduction <= 1
    line = 3.0 / values.size
    # Each fitted frequency has one line within the bound that no other one needs; in order, both go up together.
    moved = np.abs(np.sort(fit.components.frequency) - np.sort(fit.lines.frequency))
    assert np.all(moved <= bound * line * (1 + 1e-9))
    assert np.all(fit.components.frequency <= 1.5 * (1 + 1e-12))
    assert np.all(fit.components.amplitude >= 0)
    if fit.fell_back:
        assert fit.components is fit.lines


@pytest.mark.parametrize("period", [7.3, 18.01, 27.65, 44.4])
def test_an_off_grid_cosine_is_found(period: float) -> None:
    times = np.arange(400) / 2.0
    values = 50 + 20 * np.cos(2 * np.pi * times / period + 1.0)
    fit = fourier_fit(Samples(values, 2.0, 0.0), 1)
    assert 1 / fit.components.frequency[0] == pytest.approx(period, rel=2e-3)
    assert fit.components.amplitude[0] == pytest.approx(20, rel=0.02)
    assert fit.reduction > 0.9


@pytest.mark.parametrize("seed", range(6))
def test_scipy_finds_nothing_better_from_the_same_start(seed: int) -> None:
    rng = np.random.default_rng(seed)
    times = np.arange(150.0) + 0.5
    # Far apart, so that no two of the strongest lines belong to one cosine.
    periods = np.array([30.0, 12.0, 5.0]) * rng.uniform(0.95, 1.05, 3)
    waves = [rng.uniform(5, 9) * np.cos(2 * np.pi * times / period + rng.uniform(0, 6)) for period in periods]
    values = 20 + np.sum(waves, axis=0) + rng.normal(0, 0.5, 150)
    fit = fourier_fit(Samples(values, 1.0, 0.0), 3)
    low, high = (fit.lines.frequency + step / 150 for step in (-0.5, 0.5))

    def residuals(p: np.ndarray) -> np.ndarray:
        angle = 2 * np.pi * p[6:, None] * times
        return values - fit.lines.mean - p[:3] @ np.cos(angle) - p[3:6] @ np.sin(angle)

    start = np.concatenate(
        (
            fit.lines.amplitude * np.cos(fit.lines.phase),
            -fit.lines.amplitude * np.sin(fit.lines.phase),
            fit.lines.frequency,
        )
    )
    bounds = (np.r_[[-np.inf] * 6, low], np.r_[[np.inf] * 6, high])
    peer = least_squares(residuals, start, bounds=bounds, x_scale="jac", xtol=1e-12, ftol=1e-12)
    assert fit.components.mean_square_error <= 1.001 * 2 * peer.cost / 150


@pytest.mark.parametrize("values", [np.zeros(0 + 5), np.full(100, 3.0), np.array([1.0]), np.arange(3.0)])
def test_what_there_is_nothing_to_fit_in_falls_back(values: np.ndarray) -> None:
    fit = fourier_fit(Samples(values, 1.0, 0.0), 3)
    assert fit.components.mean_square_error <= fit.lines.mean_square_error


@pytest.mark.parametrize("bound", [0, -0.1, 1.1, np.nan])
def test_a_bound_out_of_range_is_refused(bound: float) -> None:
    with pytest.raises(SelectionError):
        fourier_fit(Samples(np.ones(20), 1.0, 0.0), 2, bound=bound)


def test_data_and_plot() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    fit = fourier_fit(Samples(np.random.default_rng(1).random(50), 1.0, 0.0), 3)
    assert fit.to_dict()["reduction"] == fit.reduction
    import matplotlib.pyplot as plt

    plt.close(fit.plot().figure)


def test_the_largest_cosines_come_first_where_the_fit_changes_their_order() -> None:
    times = np.arange(200.0)
    # Halfway between two lines a cosine shows up as 2/pi of its amplitude.
    between, on_line = 10 * np.cos(2 * np.pi * 20.5 / 200 * times), 8 * np.cos(2 * np.pi * 60 / 200 * times)
    fit = fourier_fit(Samples(between + on_line, 1.0, 0.0), 2)
    assert not fit.fell_back
    assert np.all(np.diff(fit.components.amplitude) <= 0)
    assert fit.components.frequency[0] == pytest.approx(20.5 / 200, abs=1e-3)
    assert fit.lines.frequency[0] == pytest.approx(60 / 200)


@pytest.mark.parametrize(
    ("before", "after", "words"), [(1.0, 0.999, "<1 % less"), (1.0, 1.0, "0 % less"), (2.0, 1.0, "50 % less")]
)
def test_the_label_of_a_fit_says_how_much_less_its_error_is(before: float, after: float, words: str) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    fit = fourier_fit(Samples(np.random.default_rng(1).random(50), 1.0, 0.0), 3)
    lines, fitted = replace(fit.lines, mean_square_error=before), replace(fit.components, mean_square_error=after)
    ax = replace(fit, lines=lines, components=fitted).plot()
    assert ax.lines[1].get_label() == f"fit of 3 cosines, error {words}"
