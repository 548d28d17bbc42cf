"""A job that is followed: which records are taken, and input that has none."""

import numpy as np
import pytest
from iostrata import SelectionError, TraceError
from iostrata.live.job import LiveJob
from iostrata.live.records.intake import Key, Spans

SPANS = Spans(np.array([0.0, 2.0]), np.array([1.0, 3.0]), np.array([5, 7]))


def answered(*layers, direction=None):
    job = LiveJob(frozenset(layers), direction=direction)
    for key in (Key("POSIX", "read"), Key("POSIX", "write"), Key("MPI-IO", "write")):
        job.add(key, SPANS)
    return {(one.layer, one.direction): one.bytes for one in job.answers(0.0, 4.0)}


def test_layers_and_directions_that_are_asked_for_are_followed():
    assert answered() == {("POSIX", "read"): 12, ("POSIX", "write"): 12, ("MPI-IO", "write"): 12}
    assert answered("posix") == {("POSIX", "read"): 12, ("POSIX", "write"): 12}
    assert answered(direction="read") == {("POSIX", "read"): 12}
    assert answered("POSIX", direction="total") == {("POSIX", "total"): 24}


def test_input_without_records_or_without_the_layers_is_refused():
    job = LiveJob()
    job.check()
    job.intake.counts.malformed = 2
    with pytest.raises(TraceError, match=r"^2 lines and no record among them"):
        job.check()
    for layers in ((), ("posix",)):
        other = LiveJob(frozenset(layers))
        other.intake.keys[Key("POSIX", "write")] = 0
        other.intake.counts.malformed = 2
        other.check()
    lacking = LiveJob(frozenset({"posix", "HDF5"}))
    lacking.check()
    lacking.intake.keys[Key("POSIX", "write")] = 0
    with pytest.raises(SelectionError, match="no layer 'HDF5' in the input; there were POSIX"):
        lacking.check()


def test_half_of_a_share_is_for_looks_and_half_for_answers():
    job = LiveJob(share=0.5)
    assert (job._looks._share, job._answers._share) == (0.25, 0.25)
    assert LiveJob(share=None)._looks._share is None
    job._looks.spend(1.0)
    job._answers.spend(0.25)
    assert job.counted == 1.25
    job.settle(1.0)
    assert job.counted == 0
