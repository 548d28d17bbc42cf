"""FTIO against the definitions of the paper, written out slowly: sums for the transform, sets for the candidates."""

import cmath
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from iostrata import PeriodResult, detect_period, detect_period_samples, open_trace
from scipy.fft import fft

MOST_FOR_SUMS = 1500
"""Samples up to which the transform is summed up; that takes their square."""


@dataclass
class Verdict:
    """What the paper's definitions give, and whether a comparison in them was too close to call."""

    line: int | None
    confidence: float
    kept: list[int]
    close: bool


def powers(samples: list[float]) -> dict[int, float]:
    """Power of each line k >= 1, by the sum that defines the transform."""
    count = len(samples)
    roots = [cmath.exp(-2j * cmath.pi * n / count) for n in range(count)]
    mean_sample = math.fsum(samples) / count
    power = {}
    for k in range(1, count // 2 + 1):
        transform = sum((samples[n] - mean_sample) * roots[k * n % count] for n in range(count))
        power[k] = abs(transform) ** 2 / count
    return power


def fast_powers(samples: list[float]) -> dict[int, float]:
    """The same by SciPy's complex transform, where the code under test has NumPy's real one."""
    count = len(samples)
    mean_sample = math.fsum(samples) / count
    lines = fft([complex(sample - mean_sample) for sample in samples])[1 : count // 2 + 1].tolist()
    return {k: abs(line) ** 2 / count for k, line in enumerate(lines, start=1)}


def is_multiple(line: int, lower: int) -> bool:
    """Whether a line is a multiple of a lower one, give or take one line and 5 %."""
    multiple = round(line / lower) * lower
    return multiple > lower and abs(line - multiple) <= min(1, 0.05 * multiple)


def paper(samples: list[float], tolerance: float = 0.8, threshold: float = 3.0) -> Verdict:
    """Eq. 1 to 3 and c_k of FTIO (IPDPS'24) by their definitions, in plain Python."""
    power = powers(samples) if len(samples) <= MOST_FOR_SUMS else fast_powers(samples)
    if not power:
        return Verdict(None, 0.0, [], False)
    largest_power = max(power.values())
    if (
        largest_power <= (1e-12 * math.fsum(samples)) ** 2
        or largest_power - min(power.values()) <= 1e-9 * largest_power
    ):
        return Verdict(None, 0.0, [], False)
    mean = sum(power.values()) / len(power)
    sigma = math.sqrt(sum((p - mean) ** 2 for p in power.values()) / len(power))
    z = {k: (p - mean) / sigma for k, p in power.items()}
    z_max = max(z.values())
    close = any(abs(z[k] - threshold) < 1e-6 or abs(z[k] / z_max - tolerance) < 1e-6 for k in z)

    outliers = {k for k in z if z[k] >= threshold}
    near = {k for k in z if z[k] / z_max >= tolerance}
    kept: list[int] = []
    dropped = set()
    for k in sorted(outliers & near):
        if any(is_multiple(k, k0) for k0 in kept):
            dropped.add(k)
        else:
            kept.append(k)
    if len(kept) not in (1, 2):
        return Verdict(None, 0.0, kept, close)
    line = max(kept, key=lambda k: (power[k], -k))
    if len(kept) == 2 and math.isclose(power[kept[0]], power[kept[1]], rel_tol=1e-9):
        close = True
    share_of_outliers = z[line] / sum(z[k] for k in outliers - dropped)
    share_of_near = z[line] / sum(z[k] for k in near - dropped)
    return Verdict(line, (share_of_outliers + share_of_near) / 2, kept, close)


def agrees(result: PeriodResult, samples: list[float], fs: float, **options: float) -> bool:
    """Compare a result with the paper's verdict; False where that is too close to call."""
    expected = paper(samples, **options)
    if expected.close:
        return False
    resolution = fs / len(samples)
    assert result.evidence.candidates == len(expected.kept)
    np.testing.assert_allclose(np.asarray(result.evidence.candidates_hz) / resolution, expected.kept[:16], rtol=1e-9)
    assert result.periodic == (expected.line is not None)
    assert result.confidence == pytest.approx(expected.confidence, rel=1e-6)
    if expected.line is None:
        assert result.period is None
        assert result.frequency is None
        assert result.period_interval is None
    else:
        assert result.frequency == pytest.approx(expected.line * resolution)
        assert result.period == pytest.approx(1 / (expected.line * resolution))
        assert result.period_interval == pytest.approx(
            (1 / ((expected.line + 0.5) * resolution), 1 / ((expected.line - 0.5) * resolution))
        )
    return True


@st.composite
def sampled_signals(draw: st.DrawFn) -> list[float]:
    """Bursts with a period and jitter, waves, and noise, alone or on top of each other."""
    count = draw(st.integers(1, 160))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    noise = draw(st.sampled_from([0.0, 0.05, 1.0]))
    samples = noise * rng.exponential(1.0, count)
    for _ in range(draw(st.integers(0, 2))):
        period = draw(st.floats(1.5, 60))
        if draw(st.booleans()):
            samples += 1 + np.sin(2 * np.pi * np.arange(count) / period)
        else:
            starts = np.arange(0, count, period) + draw(st.sampled_from([0.0, 0.3])) * rng.normal(
                size=int(np.ceil(count / period))
            )
            samples[np.clip(starts, 0, count - 1).astype(int)] += 3.0
    return [float(sample) for sample in samples]


def test_both_transforms_of_this_file_agree() -> None:
    samples = np.random.default_rng(5).exponential(1.0, 301).tolist()
    slow, fast = powers(samples), fast_powers(samples)
    assert list(slow) == list(fast)
    assert list(fast.values()) == pytest.approx(list(slow.values()), rel=1e-9)


@given(samples=sampled_signals(), tolerance=st.sampled_from([0.8, 0.45, 1.0]), threshold=st.sampled_from([3.0, 2.0]))
@example(samples=[0.0], tolerance=0.8, threshold=3.0)
@example(samples=[1.0] * 50, tolerance=0.8, threshold=3.0)
@example(samples=[0.1] * 49 + [7.0], tolerance=0.8, threshold=3.0)
@example(samples=[1.0, 0.0] * 40, tolerance=0.8, threshold=3.0)
@example(samples=[1.0, 0.0, 0.0] * 30, tolerance=0.8, threshold=3.0)
def test_candidates_and_confidence_are_those_of_the_paper(
    samples: list[float], tolerance: float, threshold: float
) -> None:
    result = detect_period_samples(samples, 4.0, method="ftio", tolerance=tolerance, threshold=threshold)
    assume(agrees(result, samples, 4.0, tolerance=tolerance, threshold=threshold))
    assert result.sampling.samples == len(samples)
    assert result.reason.endswith(".")


def sound_archives() -> list[str]:
    """Names of the archives that a program left whole."""
    folder = Path(__file__).parents[3] / "fixtures"
    return sorted(path.parent.name for path in folder.glob("*/*.otf2") if not path.parent.name.startswith("broken"))


@pytest.mark.parametrize("name", sound_archives())
def test_every_layer_of_every_archive_is_judged_as_the_paper_says(name: str, fixtures: Path) -> None:
    trace = open_trace(fixtures / name)
    judged = 0
    for layer in trace.layers.values():
        for direction in layer.directions:
            signal = layer.bandwidth(direction)
            for fs in ("auto", 150 / signal.duration, 397 / signal.duration):
                result = detect_period(signal, method="ftio", fs=fs)
                assert result.sampling.fs is not None
                samples = signal.sample(result.sampling.fs)
                assert samples.volume == pytest.approx(signal.volume)
                assert len(samples) == result.sampling.samples
                judged += agrees(result, samples.values.tolist(), samples.fs)
                if result.periodic:
                    assert result.periods[0].volume == pytest.approx(signal.volume)
    assert judged >= 3
