"""Bin averages, the error they make and the automatic frequency, against rational arithmetic and brute force."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata import SelectionError
from iostrata.signals.construction import StepSignal, event_signal, step_signal
from iostrata.signals.samples import MOST_BINS, bin_count
from iostrata.signals.step import abstraction_error, automatic_frequency

FREQUENCIES = st.one_of(st.floats(1e-3, 40), st.sampled_from([0.1, 0.3, 1.0, 2.0, 3.0, 4.0, 10.0, 12.8]))


@st.composite
def signals(draw: st.DrawFn) -> StepSignal:
    """Signals over about ten seconds with breakpoints on and off the edges of bins, and impulses."""
    low = draw(st.sampled_from([0.0, 0.5, -3.0, 1e5]))
    length = draw(st.sampled_from([10.0, 9.7, 0.3]))
    count = draw(st.integers(0, 10))
    share = st.one_of(st.floats(-0.2, 1.2), st.integers(0, 20).map(lambda part: part / 20))
    start = low + length * np.array(draw(st.lists(share, min_size=count, max_size=count)))
    durations = st.sampled_from([0.0, 1e-9, 1e-3, 0.1, 0.5, 2.0, 10.0])
    end = start + np.array(draw(st.lists(durations, min_size=count, max_size=count)))
    volumes = st.one_of(st.integers(0, 100), st.integers(0, 10**15))
    volume = draw(st.lists(volumes, min_size=count, max_size=count))
    return step_signal(start, end, volume, window=(low, low + length))


def pieces(signal: StepSignal, edges: list[float]) -> list[list[tuple[Fraction, Fraction, Fraction]]]:
    """The parts (start, end, rate) of the signal in each bin; the last bin takes all that follows."""
    cuts = [Fraction(edge) for edge in edges]
    cuts[-1] = max(cuts[-1], Fraction(signal.times[-1]))
    result = []
    for left, right in pairwise(cuts):
        rows = []
        for start, end, value in zip(signal.times[:-1], signal.times[1:], signal.values, strict=True):
            first, last = max(Fraction(start), left), min(Fraction(end), right)
            if first < last:
                rows.append((first, last, Fraction(value)))
        result.append(rows)
    return result


def impulses_in(signal: StepSignal, edges: list[float]) -> list[Fraction]:
    totals = [Fraction(0)] * (len(edges) - 1)
    for time, volume in zip(signal.impulse_times, signal.impulse_volumes, strict=True):
        row = max(row for row, edge in enumerate(edges[:-1]) if edge <= time)
        totals[row] += Fraction(volume)
    return totals


def exact_bins(signal: StepSignal, edges: list[float]) -> list[Fraction]:
    return [
        sum((rate * (end - start) for start, end, rate in rows), impulses)
        for rows, impulses in zip(pieces(signal, edges), impulses_in(signal, edges), strict=True)
    ]


@given(signals(), FREQUENCIES)
def test_volume_is_conserved(signal: StepSignal, fs: float) -> None:
    samples = signal.sample(fs)
    assert samples.values.sum() / fs == pytest.approx(signal.volume, rel=1e-13, abs=0)
    assert samples.volume == pytest.approx(signal.volume, rel=1e-13, abs=0)
    assert np.all(samples.values >= 0)


@given(signals(), FREQUENCIES)
def test_each_bin_agrees_with_rational_arithmetic(signal: StepSignal, fs: float) -> None:
    samples = signal.sample(fs)
    expected = [float(volume) * fs for volume in exact_bins(signal, samples.edges.tolist())]
    np.testing.assert_allclose(samples.values, expected, rtol=1e-14)


@given(signals(), FREQUENCIES)
def test_bins_cover_the_window(signal: StepSignal, fs: float) -> None:
    samples = signal.sample(fs)
    assert abs(len(samples) - signal.duration * fs) < 1 + 1e-6
    assert samples.edges[0] == signal.window[0]
    assert samples.edges[-1] >= signal.window[1] - 1e-8 / fs
    assert samples.edges[-2] < signal.window[1]
    np.testing.assert_allclose(samples.times, (samples.edges[1:] + samples.edges[:-1]) / 2)


@pytest.mark.parametrize(
    ("duration", "fs", "bins"),
    [
        (420.0, 10.0, 4200),
        (0.3, 10.0, 3),
        (1.1, 100.0, 110),
        (99.99999999, 1.0, 100),
        (100.00000000001, 1.0, 100),
        (100.0001, 1.0, 101),
        (1e-9, 1.0, 1),
        (10.0, 0.01, 1),
        (1.0, MOST_BINS, MOST_BINS),
        (3.0, MOST_BINS / 3, MOST_BINS),
    ],
)
def test_bin_count(duration: float, fs: float, bins: int) -> None:
    assert bin_count(duration, fs) == bins


def test_impulses_on_bin_edges_are_in_the_bin_that_begins_there_and_at_the_end_in_the_last() -> None:
    at = [0.0, 0.3, 0.7, 1.0]
    samples = step_signal(at, at, [1.0, 2.0, 4.0, 8.0], window=(0.0, 1.0)).sample(10.0)
    assert samples.values.tolist() == [10.0, 0, 0, 20.0, 0, 0, 0, 40.0, 0, 80.0]


def test_a_small_volume_keeps_its_digits_beside_a_large_one() -> None:
    samples = step_signal([0.0, 2.0], [1.0, 3.0], [1e18, 3.0], window=(0.0, 4.0)).sample(1.0)
    assert samples.values.tolist() == [1e18, 0.0, 3.0, 0.0]


def test_last_bin_reaches_past_the_window() -> None:
    samples = step_signal([0.0], [2.5], [25.0], window=(0.0, 2.5)).sample(1.0)
    assert samples.values.tolist() == [10.0, 10.0, 5.0]
    assert samples.edges.tolist() == [0.0, 1.0, 2.0, 3.0]


@pytest.mark.parametrize("fs", [0.0, -1.0, math.nan, math.inf, "10", None, MOST_BINS, 1e-310, np.float64(1e-309)])
def test_refuses_frequencies_that_make_no_bins(fs: object) -> None:
    with pytest.raises(SelectionError):
        step_signal([0.0], [1.0], [1.0], window=(0.0, 2.0)).sample(fs)  # type: ignore[arg-type]


@given(signals(), FREQUENCIES)
def test_abstraction_error_agrees_with_rational_arithmetic(signal: StepSignal, fs: float) -> None:
    edges = signal.sample(fs).edges.tolist()
    width = 1 / Fraction(fs)
    distance = sum(impulses_in(signal, edges), Fraction(0))
    for volume, rows in zip(exact_bins(signal, edges), pieces(signal, edges), strict=True):
        average = volume / width
        distance += sum((abs(rate - average) * (end - start) for start, end, rate in rows), Fraction(0))
    last = exact_bins(signal, edges)[-1] / width
    distance += last * max(Fraction(0), Fraction(edges[-1]) - Fraction(signal.times[-1]))
    expected = float(distance / (2 * Fraction(signal.volume))) if signal.volume else 0.0
    assert abstraction_error(signal, fs) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert 0 <= abstraction_error(signal, fs) <= 1
    assert signal.sample(fs, abstraction_error=True).abstraction_error == abstraction_error(signal, fs)
    assert signal.sample(fs).abstraction_error is None


def test_abstraction_error_of_known_signals() -> None:
    constant = step_signal([0.0], [8.0], [8.0])
    assert abstraction_error(constant, 1.0) == 0.0
    half = step_signal([0.0], [4.0], [8.0], window=(0.0, 8.0))
    assert abstraction_error(half, 1 / 8) == 0.5
    assert abstraction_error(half, 1 / 4) == 0.0
    assert abstraction_error(event_signal([1.0, 2.0], window=(0.0, 8.0)), 64.0) == 1.0
    assert abstraction_error(step_signal([], [], [], window=(0.0, 8.0)), 1.0) == 0.0


def test_abstraction_error_counts_what_leaves_the_window() -> None:
    assert abstraction_error(step_signal([0.0], [1.0], [1.0]), 0.5) == pytest.approx(0.5)


def square_wave(period: float, duty: float, duration: float) -> StepSignal:
    start = np.arange(0, duration, period) + 0.37 * period * (1 - duty)
    return step_signal(start, start + duty * period, np.full(len(start), 1e6), window=(0.0, duration))


def coarsest(signal: StepSignal, most_bins: int) -> float:
    ladder = [2**power for power in range(6, 28) if 2**power <= most_bins]
    sound = [bins for bins in ladder if abstraction_error(signal, bins / signal.duration) <= 0.05]
    return (sound or ladder[-1:])[0] / signal.duration


@given(signals())
def test_automatic_frequency_is_the_coarsest_sound_rung(signal: StepSignal) -> None:
    assert automatic_frequency(signal, 2**12) == coarsest(signal, 2**12)


@pytest.mark.parametrize(
    ("period", "duty", "duration"), [(30.0, 0.5, 420.0), (7.3, 0.3, 420.0), (0.41, 0.2, 20.0), (1.0, 0.01, 100.0)]
)
def test_automatic_frequency_of_square_waves(period: float, duty: float, duration: float) -> None:
    signal = square_wave(period, duty, duration)
    fs = automatic_frequency(signal)
    assert fs == coarsest(signal, 2**17)
    assert abstraction_error(signal, fs) <= 0.05
    assert 64 < fs * duration <= 2**17
    assert fs * duty * period > 2


def test_automatic_frequency_of_constant_and_idle_signals_has_64_bins() -> None:
    assert automatic_frequency(step_signal([0.0], [10.0], [1e9])) == 6.4
    assert automatic_frequency(step_signal([], [], [], window=(0.0, 10.0))) == 6.4


def test_automatic_frequency_looks_past_a_rung_that_is_worse_than_the_one_below() -> None:
    """In each of 64 bins an impulse in one half makes up for a gap in the other: 128 bins shift twice as much."""
    bins = np.arange(64.0)
    start, end = np.concatenate((bins, bins + 0.74)), np.concatenate((bins + 0.70, bins + 1))
    signal = step_signal(start, end, end - start, window=(0.0, 64.0)) + step_signal(
        bins + 0.2, bins + 0.2, np.full(64, 0.04), window=(0.0, 64.0)
    )
    assert abstraction_error(signal, 1.0) == pytest.approx(0.04)
    assert 0.05 < abstraction_error(signal, 2.0) < 0.1
    assert automatic_frequency(signal) == 1.0 == coarsest(signal, 2**17)


def test_automatic_frequency_stops_at_the_limit() -> None:
    pulses = square_wave(1.0, 1e-7, 64.0)
    assert automatic_frequency(pulses) == 2**17 / 64
    assert automatic_frequency(pulses, 1000) == 512 / 64
    assert automatic_frequency(pulses, 10) == 8 / 64
    assert automatic_frequency(event_signal([1.0, 5.0], window=(0.0, 64.0))) == 2**17 / 64
    assert len(pulses.sample(automatic_frequency(pulses))) == 2**17


def test_automatic_frequency_does_not_depend_on_the_unit_of_volume() -> None:
    signal = square_wave(7.3, 0.3, 420.0)
    scaled = StepSignal(
        signal.times, signal.values * 2.0**20, signal.impulse_times, signal.impulse_volumes, signal.cumulative * 2.0**20
    )
    assert automatic_frequency(scaled) == automatic_frequency(signal)


@pytest.mark.parametrize("most_bins", [0, -5, MOST_BINS + 1])
def test_automatic_frequency_refuses_limits_out_of_range(most_bins: int) -> None:
    with pytest.raises(SelectionError, match="most_bins"):
        automatic_frequency(square_wave(1.0, 0.5, 8.0), most_bins)


@given(signals(), st.integers(0, 6))
def test_a_finer_partition_at_most_doubles_the_error(signal: StepSignal, power: int) -> None:
    coarse = abstraction_error(signal, 2**power / signal.duration)
    for finer in range(power + 1, 9):
        assert abstraction_error(signal, 2**finer / signal.duration) <= 2 * coarse + 1e-6


def test_samples_represent_themselves() -> None:
    samples = step_signal([0.0], [1.0], [8.0], window=(0.0, 2.0), name="POSIX").sample(1.0)
    assert repr(samples) == "Samples('POSIX', 2 bins of 1 s from 0 s, volume=8, unit='byte s-1')"
    assert samples.to_dict() == {
        "name": "POSIX",
        "unit": "byte s-1",
        "fs_hz": 1.0,
        "start_s": 0.0,
        "abstraction_error": None,
        "values": [8.0, 0.0],
    }


def test_samples_become_a_data_array() -> None:
    pytest.importorskip("xarray")
    signal = step_signal([1.0], [2.0], [8.0], window=(1.0, 3.0), name="POSIX")
    array = signal.sample(2.0, abstraction_error=True).to_xarray()
    assert array.dims == ("time",)
    assert array.name == "POSIX"
    assert array.values.tolist() == [8.0, 8.0, 0.0, 0.0]
    assert array.time.values.tolist() == [1.25, 1.75, 2.25, 2.75]
    assert array.time.attrs["units"] == "s"
    assert array.attrs["units"] == "byte s-1"
    assert array.attrs["cell_methods"] == "time: mean"
    assert array.attrs["abstraction_error"] == 0.0
    assert "abstraction_error" not in signal.sample(2.0).to_xarray().attrs
