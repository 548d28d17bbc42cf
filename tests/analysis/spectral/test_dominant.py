"""Candidates by any criterion, written out slowly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata import SelectionError
from iostrata.analysis.spectral.dominant import dominant_frequency, separate_harmonics
from iostrata.analysis.spectral.outliers import Z_SCORE, OutlierCriterion
from iostrata.analysis.spectral.spectrum import power_spectrum


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


def separated(lines: list[int]) -> tuple[list[int], list[int]]:
    """Apply the rule to each pair: a multiple of a lower candidate is ignored.

    A frequency between two lines has its multiple up to one line off; a line that is more than 5 % off is another one.
    """
    kept: list[int] = []
    dropped: list[int] = []
    for line in lines:
        near = {lower * factor for lower in kept for factor in range(2, line // lower + 2)}
        if any(line == multiple or (abs(line - multiple) == 1 and multiple >= 20) for multiple in near):
            dropped.append(line)
        else:
            kept.append(line)
    return kept, dropped


@given(st.sets(st.integers(1, 3000), max_size=200).map(sorted))
def test_the_sieve_is_the_walk(lines: list[int]) -> None:
    kept, dropped = separate_harmonics(np.array(lines, dtype=np.int64))
    assert (kept.tolist(), dropped.tolist()) == separated(lines)


def test_multiples_of_a_period_between_two_lines_are_harmonics() -> None:
    kept, dropped = separate_harmonics(np.array([45, 89, 134]))
    assert kept.tolist() == [45]
    assert dropped.tolist() == [89, 134]


def test_frequencies_that_are_no_multiples_stay_candidates() -> None:
    # IPDPS'24, §II-B2: more than two candidates are no period, unless they are multiples of each other.
    kept, dropped = separate_harmonics(np.array([2, 3, 5]))
    assert kept.tolist() == [2, 3, 5]
    assert dropped.size == 0


def test_a_neighbour_is_no_harmonic() -> None:
    kept, _ = separate_harmonics(np.array([27, 28]))
    assert kept.tolist() == [27, 28]


def test_many_lines_are_separated_at_once() -> None:
    lines = np.arange(2**16, 2**17)
    kept, dropped = separate_harmonics(lines)
    assert kept.size + dropped.size == lines.size
    # 2 · 2^16 - 1 lies one line off twice the lowest, and is the only one.
    assert dropped.tolist() == [2**17 - 1]


@pytest.mark.parametrize("lines", [[0, 3], [3, 3], [5, 2]])
def test_what_are_no_lines_is_refused(lines: list[int]) -> None:
    with pytest.raises(SelectionError):
        separate_harmonics(np.array(lines))


@given(st.floats(10.0, 400.0), st.integers(2, 9))
def test_harmonics_of_any_frequency_between_two_lines_go(frequency: float, count: int) -> None:
    # The truth is the frequency itself and not the line next to it; from the third on, rounding may exceed one line.
    lines = sorted({round(frequency), round(2 * frequency)})
    kept, dropped = separate_harmonics(np.array(lines))
    assert (kept.tolist(), dropped.tolist()) == (lines[:1], lines[1:])
    whole = np.round(frequency) * np.arange(1, count + 1)
    assert separate_harmonics(whole.astype(np.int64))[0].tolist() == [round(frequency)]


@given(st.integers(10, 400), st.floats(1.15, 1.85))
def test_other_frequencies_stay(line: int, ratio: float) -> None:
    lines = np.array([line, round(ratio * line)])
    assert separate_harmonics(lines)[0].tolist() == lines.tolist()
