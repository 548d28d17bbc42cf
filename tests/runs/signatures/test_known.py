"""A signature that goes back in: which runs are usual, what comes next while one runs, and as a job to schedule."""

import json

import numpy as np
import pytest
from iostrata import TraceError, step_signal
from iostrata.analysis.known_signature import read_signature
from iostrata.live.job import LiveJob
from iostrata.live.records.intake import Key, Spans
from iostrata.runs.scheduling.recordings import read_periods, recorded_job
from iostrata.runs.signatures.known import compared

STARTS = np.array([3.0, 13.0, 23.0, 53.0, 63.0])
VOLUMES = np.array([1e8, 1e8, 4e8, 1e8, 1e8])


@pytest.fixture
def known(tmp_path):
    """Return the path of a signature of five bursts and four runs, whose steps vary by .2 s."""
    rng = np.random.default_rng(1)
    bursts = [
        {
            "start_s": start, "peak_s": start + 1, "end_s": start + 2, "volume": volume,
            "peaks_s": (start + 1 + 0.1 * rng.standard_normal(4)).tolist(), "samples": list("abcd"),
        }
        for start, volume in zip(STARTS.tolist(), VOLUMES.tolist(), strict=True)
    ]  # fmt: skip
    samples = [
        {"name": one, "used": True, "duration_s": 70.0 + place, "volume": 8e8} for place, one in enumerate("abcd")
    ]
    document = {
        "schema_version": 1, "layer": "POSIX", "direction": "write", "duration_s": 70.0, "samples": samples,
        "signature": [], "bursts": bursts,
    }  # fmt: skip
    path = tmp_path / "usual.json"
    path.write_text(json.dumps(document))
    return path


def signal(starts=STARTS, volumes=VOLUMES, length=71.5):
    return step_signal(np.asarray(starts), np.asarray(starts) + 2.0, np.asarray(volumes), window=(0.0, length))


def test_a_usual_run_is_one_and_what_deviates_is_named(known):
    usual = read_signature(known)
    assert compared(usual, "run", signal()).typical
    told = {
        "burst 3 moves 800 MB instead of 400 MB: 2 times": signal(volumes=VOLUMES * [1, 1, 2, 1, 1]),
        "burst 4, usually 100 MB at 54.1 s, is missing": signal(np.delete(STARTS, 3), np.delete(VOLUMES, 3)),
        "burst 3 begins 15 s after the one before it instead of 10.2 s": signal(STARTS + np.array([0, 0, 5, 0, 0])),
        "1 burst that no usual run has": signal([*STARTS, 40.0], [*VOLUMES, 1e8]),
        "the run takes 200 s instead of 71.5 s: 2.8 times": signal(length=200.0),
    }
    for sentence, one in told.items():
        found = compared(usual, "run", one)
        assert not found.typical
        assert sentence in [deviation.text for deviation in found.deviations]
    assert not compared(usual, "empty", signal([], [])).typical


@pytest.mark.parametrize("direction", ["write", "read"])
def test_the_next_burst_is_foretold_from_the_first_on(known, direction):
    job, told = LiveJob(known=read_signature(known)), []
    for start, volume in zip(STARTS[:3].tolist(), (VOLUMES[:3] / 4).tolist(), strict=True):
        begin = start + 0.5 * np.arange(4)
        job.add(Key("POSIX", direction), Spans(begin, begin + 0.5, np.full(4, round(volume))))
        told += job.answers(0.0, start + 2.5)
    if direction == "read":
        assert told[0].next_start is None
        return
    assert [one.next_bytes for one in told] == [100_000_000, 400_000_000, 100_000_000]
    for one, start in zip(told, (13.0, 23.0, 53.0), strict=True):
        assert one.next_start[0] < start + 0.8
        assert one.next_start[1] > start
        assert "By the signature usual, burst" in one.reason
    assert told[0].probability > 0.7


def test_it_is_a_job_for_a_schedule(known):
    job = recorded_job("usual", read_periods(known))
    assert job.work == pytest.approx(2.0 * 71.5 / 70, rel=1e-3)
    assert (len(job.compute), job.period, job.signal) == (5, None, "POSIX write")


@pytest.mark.parametrize(
    "damage", [{"bursts": []}, {"bursts": [{}]}, {"samples": 3}, {"duration_s": "x"}, {"schema_version": 9}]
)
def test_what_is_no_signature_is_told_in_a_line(known, damage):
    known.write_text(json.dumps({**json.loads(known.read_text()), **damage}))
    for reader in (read_signature, read_periods):
        with pytest.raises(TraceError, match="not a document of"):
            reader(known)


def test_what_moves_on_at_another_rate_is_one_burst(known):
    """Its parts are longer than the pauses that separate bursts; a step of no bytes between is the pause."""
    usual = read_signature(known)
    assert 4 < usual.pause < 4.5
    rising = step_signal([5.0, 25.0, 49.0], [25.0, 45.0, 50.0], [1e8, 4e8, 1e8], window=(0.0, 71.5))
    assert compared(usual, "run", rising).bursts == 1
    apart = step_signal([5.0, 25.0, 49.5], [25.0, 45.0, 50.0], [1e8, 4e8, 1e8], window=(0.0, 71.5))
    assert compared(usual, "run", apart).bursts == 2
