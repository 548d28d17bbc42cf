"""Candidates by any criterion, written out slowly."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iostrata.analysis.spectral.dominant import dominant_frequency
from iostrata.analysis.spectral.outliers import Z_SCORE, OutlierCriterion
from iostrata.analysis.spectral.spectrum import power_spectrum


@settings(max_examples=150, deadline=None)
def is_multiple(line: int, lower: int) -> bool:
    """Whether a line is a multiple of a lower one, give or take one line and 5 %."""
    multiple = round(line / lower) * lower
    return multiple > lower and abs(line - multiple) <= min(1, 0.05 * multiple)


@given(
    seed=st.integers(0, 2**32 - 1),
    count=st.integers(20, 90),
    share=st.floats(0.0, 1.0),
    tolerance=st.sampled_from([0.3, 0.8, 1.0]),
    kind=st.sampled_from(["power", "amplitude"]),
    most=st.sampled_from([None, 8, 25]),
)
def test_candidates_are_outliers_near_the_largest(
    seed: int, count: int, share: float, tolerance: float, kind: str, most: int | None
) -> None:
    """A criterion that marks lines by lot says all there is to say about what is done with its marks."""
    rng = np.random.default_rng(seed)
    samples = rng.exponential(1.0, count)
    lines = min(count // 2, most or count)
    lot = rng.random(lines) < share
    criterion = OutlierCriterion(
        "lot", lambda scores, _: lot & (scores > 0), lambda _: 4, threshold=0.5, most_lines=most
    )
    found = dominant_frequency(power_spectrum(samples), criterion, kind=kind, tolerance=tolerance)

    transform = np.abs(np.fft.fft(samples))[1 : lines + 1]
    strengths = transform**2 if kind == "power" else transform
    z = (strengths - strengths.mean()) / strengths.std()
    marked = [k for k in range(1, lines + 1) if lot[k - 1] and z[k - 1] > 0]
    kept: list[int] = []
    dropped = []
    for k in marked:
        if z[k - 1] / z.max() < tolerance - 1e-12:
            continue
        if any(is_multiple(k, k0) for k0 in kept):
            dropped.append(k)
        else:
            kept.append(k)
    assert found.candidates.tolist() == kept
    assert found.harmonics.tolist() == dropped
    assert np.flatnonzero(found.outliers).tolist() == [k - 1 for k in marked]
    assert ("Only the lowest" in found.reason) == (lines < count // 2)
    if len(kept) not in (1, 2):
        assert found.line is None
        assert found.confidence == 0.0
        return
    line = max(kept, key=lambda k: strengths[k - 1])
    assert found.line == line
    first = sum(z[k - 1] for k in marked if k not in dropped)
    near = sum(z[k - 1] for k in range(1, lines + 1) if z[k - 1] / z.max() >= tolerance - 1e-12 and k not in dropped)
    assert found.confidence == pytest.approx((z[line - 1] / first + z[line - 1] / near) / 2)


def test_why_there_is_none_is_said() -> None:
    samples = np.random.default_rng(0).normal(size=100)
    spectrum = power_spectrum(samples)
    nothing = OutlierCriterion("lot", lambda scores, _: scores > np.inf, lambda _: 4, threshold=0.5)
    assert "none reaches a lot of 0.5" in dominant_frequency(spectrum, nothing).reason
    weakest = OutlierCriterion(
        "lot", lambda scores, _: scores == np.min(scores[scores > 0]), lambda _: 4, threshold=0.5
    )
    assert "within 80% of the largest" in dominant_frequency(spectrum, weakest).reason
    assert "largest z-score is" in dominant_frequency(spectrum, Z_SCORE, threshold=6.9).reason
    assert "Too few samples (100)" in dominant_frequency(spectrum, Z_SCORE, threshold=7.1).reason
