"""Signatures of applications whose bursts are known: beside other jobs, and by themselves but delayed."""

import math

import iostrata
import numpy as np
import pytest
from iostrata import SelectionError
from iostrata.analysis.phases.bursts import vertices
from iostrata.cli import main
from iostrata.runs import Collection
from iostrata.runs.signatures.sample import Sample, checked_samples
from iostrata.runs.signatures.signature import extract_signature, warped_mean
from iostrata.runs.signatures.traces import collection_signals, common_layer, run_signals, trace_samples

STARTS, WIDTHS = (40, 160, 280, 400, 520), (30, 12, 30, 12, 30)


def beside_others(count, seed, application=True):
    """Return samples of a day: the application's bursts of 10, background, and random bursts of other jobs."""
    random = np.random.default_rng(seed)
    made = []
    for place in range(count):
        values = random.gamma(2.0, 0.2, 620)
        for _ in range(random.poisson(5)):
            at, width = random.integers(620), random.integers(5, 40)
            values[at : at + width] += random.uniform(2, 12)
        delay = 0
        for start, width in zip(STARTS, WIDTHS, strict=True):
            delay += random.integers(0, 3)
            if application:
                values[start + delay : start + delay + width] += 10
        made.append(Sample(f"run {place}", values, 2.0))
    return made


@pytest.mark.parametrize("seed", range(6))
def test_the_applications_bursts_are_found_beside_other_jobs(seed):
    found = extract_signature(beside_others(8, seed))
    middles = [2 * (start + 2 + width / 2) for start, width in zip(STARTS, WIDTHS, strict=True)]
    assert [burst.peak_s for burst in found.bursts] == pytest.approx(middles, abs=12)
    volumes = [20 * width for width in WIDTHS]
    assert [burst.volume for burst in found.bursts] == pytest.approx(volumes, rel=0.35)
    assert found.volume == pytest.approx(sum(volumes), rel=0.1)
    assert 0.2 < found.parameters.background < 1.0


def test_a_short_burst_that_comes_late_in_one_run_is_common():
    """It lies beside those of all other runs; as all runs are needed it must not be left out."""
    late, width = 12, 4
    made = []
    for one, sample in enumerate(beside_others(8, 3, application=False)):
        values = sample.values
        for start in (100, 300, 500):
            values[start : start + 25] += 10
        start = 200 + (late if one == 5 else 0)
        values[190:230] = 0.4
        values[start : start + width] += 10
        made.append(Sample(sample.name, values, sample.interval))
    found = extract_signature(made, kappa=1.0)
    near = [burst for burst in found.bursts if abs(burst.peak_s - 2 * (200 + width / 2)) < 15]
    assert [len(burst.samples) for burst in near] == [sum(use.used for use in found.samples)]


def test_bursts_that_other_traffic_gives_another_shape_in_each_run_are_common():
    """Their points lie far apart in time and shape; that as much was moved in all runs at that time still shows."""
    random = np.random.default_rng(2)
    made = []
    for sample in beside_others(4, 2, application=False):
        values = sample.values
        for start in (60, 180, 300, 420, 540):
            values[start : start + 28] += 10
            before, after = random.integers(0, 16, 2)
            values[start - before : start] += random.uniform(6, 14)
            values[start + 28 : start + 28 + after] += random.uniform(6, 14)
        made.append(Sample(sample.name, values, sample.interval))
    found = [burst.peak_s for burst in extract_signature(made).bursts]
    # By their points alone only the third is; the second is drowned in one run.
    assert found == pytest.approx([2 * (start + 14) for start in (60, 300, 420, 540)], abs=20)


def test_jobs_that_have_nothing_in_common_have_no_signature():
    with_bursts = [bool(extract_signature(beside_others(6, seed, application=False)).bursts) for seed in range(40)]
    # One burst in 20 signatures may be chance.
    assert sum(with_bursts) <= 4


def alone(delays, volume=100.0, length=300):
    """Return a sample of a program by itself: ten bursts, each slowed down and delaying all that follow."""
    values, at = np.zeros(length + sum(delays)), 20
    for delay in delays:
        values[at : at + 4 + delay] = volume / (4 + delay)
        at += 24 + delay
    return values


def test_bursts_of_a_program_alone_are_matched_in_their_order_however_they_are_delayed():
    random = np.random.default_rng(3)
    delays = [random.integers(0, 12, 10) * (random.random(10) < 0.4) for _ in range(6)]
    samples = [Sample(f"run {place}", alone(one.tolist()), 0.5) for place, one in enumerate(delays)]
    found = extract_signature(samples, recorded="program")
    assert [burst.volume for burst in found.bursts] == pytest.approx([50.0] * 10, rel=0.02)
    assert found.volume == pytest.approx(500.0)
    used = tuple(sample.name for sample in found.samples if sample.used)
    assert all(burst.samples == used for burst in found.bursts)
    assert float(found.signature.sum()) * found.interval_s == pytest.approx(found.volume)


def test_a_burst_that_one_run_lacks_is_none_of_the_signature():
    samples = [Sample(f"run {place}", alone([0] * 10), 0.5) for place in range(5)]
    # It writes that later, or it would be an outlier by its volume.
    samples[2].values[20:24] = 0
    samples[2].values[44:48] *= 2
    found = extract_signature(samples, recorded="program")
    assert len(found.bursts) == 9
    lenient = extract_signature(samples, recorded="program", kappa=0.8)
    assert [len(burst.samples) for burst in lenient.bursts] == [4] + [5] * 9


def test_a_run_that_stands_out_is_told_with_the_reason():
    samples = beside_others(8, 1)
    samples.append(Sample("odd", np.full(2000, 60.0), 2.0))
    odd = extract_signature(samples).samples[-1]
    assert not odd.used
    assert "local outlier factor" in odd.reason


def test_baselines_give_a_signature_of_their_own():
    samples = beside_others(5, 2)
    for method in ("dtw", "plain"):
        found = extract_signature(samples, method=method)
        assert found.parameters.method == method
        assert found.bursts


@pytest.mark.parametrize(
    ("options", "words"),
    [({"gamma": 0.9, "kappa": 0.5}, "gamma"), ({"level": 0}, "level"), ({"method": "best"}, "no method")],
)
def test_parameters_that_make_no_sense_are_refused(options, words):
    with pytest.raises(SelectionError, match=words):
        extract_signature(beside_others(3, 0), **options)


def test_samples_that_cannot_be_compared_are_refused():
    one = Sample("one", np.ones(100), 1.0)
    for other, words in (
        ([], "at least 2"),
        ([Sample("two", np.ones(100), 2.0)], "interval"),
        ([Sample("two", np.full(100, np.nan), 1.0)], "not finite"),
    ):
        with pytest.raises(SelectionError, match=words):
            extract_signature([one, *other])


def test_runs_of_nothing_have_no_burst():
    found = extract_signature([Sample("a", np.zeros(100), 1.0), Sample("b", np.zeros(90), 1.0)])
    assert found.bursts == ()
    assert not found.signature.any()


@pytest.mark.recordings
def test_six_recordings_beside_random_load_have_ten_writes_in_common(recordings):
    runs = sorted((recordings / "benchmarks").glob("sig_run*"))
    signals = [run_signals(iostrata.open_trace(run), run.name, "write") for run in runs]
    for layer in ("MPI-IO", "POSIX"):
        samples = trace_samples(signals, common_layer(signals, layer))
        found = extract_signature(samples, recorded="program")
        assert len(found.bursts) == 10
        assert found.volume == pytest.approx(samples[0].volume, rel=0.02)


def test_the_warped_mean_of_equal_sequences_is_that_sequence() -> None:
    values = np.array([0.0, 1.0, 5.0, 2.0, 0.0, 3.0])
    assert warped_mean([values, values, values], len(values)).tolist() == values.tolist()


@pytest.mark.parametrize("interval", [1e-9, 2.0, 1e6])
def test_intervals_are_equal_up_to_rounding_however_short(interval):
    one, other = Sample("a", np.ones(9), interval), Sample("b", np.ones(9), math.nextafter(interval, 1))
    checked_samples((one, other))
    with pytest.raises(SelectionError, match="b: its interval"):
        checked_samples((one, Sample("b", np.ones(9), interval * (1 + 2e-9))))


@pytest.mark.parametrize("direction", ["total", "read", "write"])
def test_a_collection_gives_the_bandwidths_of_the_traces_that_it_was_made_of(fixtures, tmp_path, direction):
    pytest.importorskip("pyarrow")
    path = fixtures / "mixed4" / "traces.otf2"
    assert main(["collect", str(path), "-o", str(tmp_path / "runs"), "--workers", "1"]) == 0
    (found,) = collection_signals(Collection(tmp_path / "runs"), direction)
    trace = iostrata.open_trace(path)
    expected = run_signals(trace, "", "", direction)
    assert found.ranks == expected.ranks == 4
    assert found.signals.keys() == expected.signals.keys()
    for layer, signal in found.signals.items():
        assert signal.volume == pytest.approx(expected.signals[layer].volume, rel=1e-5)
        assert signal.duration == pytest.approx(trace.duration, rel=1 / 256)
        half = sum(trace.window) / 2
        before = [float(np.interp(half, *vertices(one))) for one in (signal, expected.signals[layer])]
        assert before[0] == pytest.approx(before[1], abs=signal.volume / 100)
