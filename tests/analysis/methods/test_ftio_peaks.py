"""Peaks of the spectrum against SciPy's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata import detect_period_samples
from iostrata.analysis.methods.ftio import is_peak
from scipy.signal import find_peaks


@given(st.lists(st.integers(-2, 9).map(float), min_size=2, max_size=60), st.sampled_from([0.5, 3.0]))
def test_peaks_are_those_of_scipy_in_the_mirrored_spectrum(values: list[float], height: float) -> None:
    both_sides = values + values[-2::-1]
    peaks, shape = find_peaks(both_sides, height=height, plateau_size=1)
    # A level top that reaches the last line goes on in the mirror image.
    own = {
        (left + len(values) - 1) // 2 if left < len(values) <= right + 1 else int(peak)
        for peak, left, right in zip(peaks, shape["left_edges"], shape["right_edges"], strict=True)
        if left < len(values)
    }
    assert set(np.flatnonzero(is_peak(np.array(values), height)).tolist()) == own


def test_a_frequency_between_two_lines_is_one_candidate() -> None:
    n = np.arange(400)
    wave = 3 + np.cos(2 * np.pi * 21.48 * n / 400)
    both = detect_period_samples(wave, 1.0, method="ftio")
    one = detect_period_samples(wave, 1.0, method="ftio-peaks")
    assert (both.evidence.candidates, one.evidence.candidates) == (2, 1)
    assert one.period == both.period == pytest.approx(400 / 21)
    assert one.method == "ftio-peaks"


def test_the_window_itself_is_no_peak() -> None:
    wave = 1 + np.cos(2 * np.pi * np.arange(200) / 200)
    assert detect_period_samples(wave, 1.0, method="ftio").periodic
    assert not detect_period_samples(wave, 1.0, method="ftio-peaks").periodic


def test_all_harmonics_of_a_clean_train_are_peaks() -> None:
    train = np.zeros(400)
    train[::20] = 1.0
    result = detect_period_samples(train, 1.0, method="ftio-peaks")
    assert result.period == pytest.approx(20)
    assert result.confidence == pytest.approx(1.0)
    assert result.evidence.harmonics == 9
