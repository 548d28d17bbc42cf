"""A signature that is read back: by numbers worked out by hand, and the t distribution of SciPy."""

import json
import math
import os

import numpy as np
import pytest
from iostrata import TraceError
from iostrata.analysis.known_signature import as_periods, is_signature, read_signature, room_of
from iostrata.model.document import read_document
from scipy.stats import t


def burst(start, end, volume=10.0, **more):
    return {"start_s": start, "end_s": end, "peak_s": (start + end) / 2, "volume": volume} | more


def sample(duration=20.0, volume=30.0, used=True):
    return {"name": "a", "used": used, "duration_s": duration, "volume": volume}


def document(bursts, samples=None, duration=20.0, **more):
    entry = {"schema_version": 1, "layer": "POSIX", "direction": "write", "signature": [], "duration_s": duration}
    return entry | {"bursts": bursts, "samples": samples or [sample()]} | more


@pytest.fixture
def known(tmp_path):
    def read(*arguments, **more):
        (tmp_path / "usual.json").write_text(json.dumps(document(*arguments, **more)))
        return read_signature(tmp_path / "usual.json")

    return read


THREE = [burst(12.0, 14.0, 30.0), burst(0.0, 2.0), burst(6.0, 8.0, 20.0)]


def test_bursts_are_in_order_and_on_the_clock_of_a_usual_run(known):
    """The signature's is that of its shortest run, of 20 s; its runs take 25 s on average."""
    found = known(THREE, [sample(20.0, 50.0), sample(30.0, 70.0), sample(1e9, 1e9, used=False)])
    assert (found.name, found.duration, found.volume) == ("usual", 25.0, 60.0)
    assert found.start.tolist() == [0, 7.5, 15]
    assert found.end.tolist() == [2.5, 10, 17.5]
    assert found.volumes.tolist() == [10, 20, 30]
    assert [one.tolist() for one in found.peaks] == [[1.25], [8.75], [16.25]]
    # Between bursts are 5 s.
    assert found.pause == 2.5
    assert found.step(1) == (7.5, np.array([7.5]))
    assert found.room == pytest.approx((room_of(np.array([20.0, 30.0])) / 25, room_of(np.array([50.0, 70.0])) / 60))


def test_steps_of_single_runs_are_known_where_all_of_them_have_both_bursts(known):
    bursts = [burst(0, 2, peaks_s=[1.0, 1.5]), burst(6, 8, peaks_s=[7.0, 7.25]), burst(12, 14, peaks_s=[13.0])]
    found = known(bursts)
    assert found.step(1)[1].tolist() == [6, 5.75]
    assert found.step(2)[1].tolist() == []


def test_without_a_pause_nothing_parts_bursts(known):
    assert known([burst(0, 2)]).pause == math.inf
    assert known([burst(0, 2), burst(2, 4)]).pause == math.inf
    # What overlaps or touches is no pause.
    assert known([burst(0, 2), burst(2, 4), burst(3, 5), burst(8, 9)]).pause == 1.5


def test_it_is_of_its_layer_and_of_a_log_of_any(known):
    found = known(THREE)
    assert found.is_of("POSIX", "write")
    assert not found.is_of("POSIX", "read")
    assert not found.is_of("MPI-IO", "write")
    log = known(THREE, layer=None)
    assert log.is_of("MPI-IO", "write")
    assert not log.is_of("MPI-IO", "read")


@pytest.mark.parametrize("count", [2, 3, 10])
@pytest.mark.parametrize("tests", [1, 7])
def test_a_usual_run_is_within_the_prediction_interval_of_99_percent(count, tests):
    values = np.random.default_rng(count).normal(100, 5, count)
    expected = t.ppf(1 - 0.01 / (2 * tests), count - 1) * values.std(ddof=1) * math.sqrt(1 + 1 / count)
    assert room_of(values, tests) == pytest.approx(expected)
    assert room_of(values[:1]) == 0


def test_as_periods_it_has_a_phase_a_burst_and_a_period_where_these_are_even():
    found = as_periods(document(THREE))
    (entry,) = found["layers"]
    assert (entry["layer"], entry["direction"], entry["bytes"], entry["period_s"]) == ("POSIX", "write", 30, 6)
    assert entry["phases"] == [{"start_s": one, "end_s": one + 2} for one in (0, 6, 12)]
    assert found["trace"]["duration_s"] == 20
    assert as_periods(document(THREE[:2]))["layers"][0]["period_s"] is None
    uneven = as_periods(document([*THREE, burst(100, 121)], layer=None))
    assert uneven["layers"][0]["layer"] == "the log"
    assert uneven["layers"][0]["period_s"] is None
    assert uneven["trace"]["duration_s"] == 121
    # The next burst ends the one before; one that takes no time is no phase.
    cut = as_periods(document([burst(0, 9), burst(6, 8), burst(12, 12)]))["layers"][0]["phases"]
    assert cut == [{"start_s": 0, "end_s": 6}, {"start_s": 6, "end_s": 8}]


@pytest.mark.parametrize(
    "change",
    [
        {"bursts": []},
        {"bursts": {}},
        {"samples": {}},
        {"samples": [sample(used=False)]},
        {"bursts": [burst(-1.0, 2.0)]},
        {"bursts": [burst(3.0, 2.0)]},
        {"bursts": [burst(0.0, 1e400)]},
        {"bursts": [burst(0.0, 2.0, 0.0)]},
        {"bursts": [burst(0.0, 2.0, 1e400)]},
        {"samples": [sample(volume=0.0)]},
        {"samples": [sample(duration=0.0)]},
        {"duration_s": 0},
        {"duration_s": None},
        {"schema_version": 2},
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path, change):
    (tmp_path / "a.json").write_text(json.dumps(document(THREE) | change))
    with pytest.raises(TraceError, match="not a document of"):
        read_signature(tmp_path / "a.json")


def test_bursts_that_take_no_time_at_the_begin_are_sound(known):
    assert known([burst(0.0, 0.0)]).start.tolist() == [0]


def test_a_document_is_known_by_its_keys_and_a_large_one_is_not_read(tmp_path):
    assert is_signature(document(THREE))
    assert not is_signature({"bursts": [], "signature": []})
    assert not is_signature([])
    path = tmp_path / "a.json"
    path.write_text(json.dumps(document(THREE)))
    size = path.stat().st_size
    assert read_document(path, "it", len, size) == len(document(THREE))
    with pytest.raises(TraceError, match=r"not it \(it is larger"):
        read_document(path, "it", len, size - 1)
    os.truncate(path, 2**30 + 1)
    with pytest.raises(TraceError, match="larger than 1,024 MiB"):
        read_signature(path)
