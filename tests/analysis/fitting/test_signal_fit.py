"""A signal as cosines, against sums that are made anew."""

import numpy as np
import pytest
from iostrata import StepSignal, step_signal
from iostrata.analysis.fitting import MOST_SAMPLES, fit_signal
from iostrata.analysis.timefrequency.filters import filter_samples, filtered_signal


def bursts(count: int = 12, period: float = 10.3) -> StepSignal:
    start = 3.0 + period * np.arange(count)
    return step_signal(start, start + 2.5, np.full(count, 1e9), window=(0.0, 3.0 + period * count))


@pytest.mark.parametrize("fs", ["auto", 1.7])
def test_errors_are_those_of_the_sums(fs: float | str) -> None:
    found = fit_signal(bursts(), 4, fs=fs)
    values = found.samples.values
    assert found.samples.volume == pytest.approx(12e9)
    for share, sums in zip(found.error_shares, (found.fit.components, found.fit.lines), strict=True):
        assert share == pytest.approx(np.mean((values - sums.values) ** 2) / np.var(values), rel=1e-6)
    assert found.error_shares[0] <= found.error_shares[1]
    assert 1 / found.fit.components.frequency[0] == pytest.approx(10.3, rel=0.01)
    document = found.to_dict()
    assert document["fitted"]["error_share"] == found.error_shares[0]
    assert document["lines"]["mean_square_error"] == found.fit.lines.mean_square_error
    assert document["components"] == len(document["fitted"]["frequency_hz"]) == 4


def test_a_frequency_that_takes_too_many_samples_is_lowered() -> None:
    found = fit_signal(bursts(), 2, fs=1e6)
    assert len(found.samples) == MOST_SAMPLES


def test_a_constant_signal_has_nothing_to_explain() -> None:
    found = fit_signal(step_signal([0.0], [8.0], [80.0], window=(0.0, 8.0)), 3)
    assert found.error_shares == (0.0, 0.0)
    assert found.fit.components.mean == pytest.approx(10.0)


def test_a_filtered_signal_is_fitted_as_it_is_with_its_negative_values() -> None:
    signal = bursts()
    filtered = filtered_signal(signal, "high:0.02", 2.0)
    found = fit_signal(filtered.signal, 3, fs=2.0, baseline=filtered.baseline)
    expected = filter_samples(signal.sample(2.0), "high:0.02")
    assert filtered.baseline < 0
    np.testing.assert_allclose(found.samples.values, expected.values, atol=1e-6 * expected.values.max())


def test_a_picture_shows_signal_and_sums() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    found = fit_signal(bursts(), 3)
    ax = found.plot(color="k")
    lines = {line.get_label(): line for line in ax.lines}
    (fit,) = (line for name, line in lines.items() if name.startswith("fit of 3 cosines"))
    np.testing.assert_allclose(fit.get_ydata(), found.fit.components.values)
    np.testing.assert_allclose(fit.get_xdata(), found.samples.times)
    assert fit.get_color() == "k"
    assert {text.get_text() for text in ax.get_legend().get_texts()} == {"signal", *lines}
    plt.close(ax.figure)
