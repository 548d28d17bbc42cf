"""Methods that need scikit-learn, without it."""

import sys

import numpy as np
import pytest
from iostrata import SelectionError, detect_period_samples

DETECTORS = {"ftio-dbscan": "cluster", "ftio-isolation-forest": "ensemble", "ftio-lof": "neighbors"}


@pytest.mark.parametrize("method", DETECTORS)
def test_a_missing_extra_is_one_clear_line(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, f"sklearn.{DETECTORS[method]}", None)
    with pytest.raises(SelectionError, match=r"pip install 'iostrata\[outliers\]'") as caught:
        detect_period_samples(np.arange(60.0), 1.0, method=method)
    assert method in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("method", ["ftio", "ftio-peaks", "ftio-merged", "autocorrelation"])
def test_other_methods_do_without(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ["sklearn", *(f"sklearn.{module}" for module in DETECTORS.values())]:
        monkeypatch.setitem(sys.modules, name, None)
    wave = 1 + np.cos(2 * np.pi * np.arange(200) / 20)
    assert detect_period_samples(wave, 1.0, method=method).period == pytest.approx(20)
