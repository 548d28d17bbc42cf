"""Steps in blocks and partitions are those of the whole; what is too long is kept coarsely, and stays in step."""

from functools import partial

import numpy as np
import pytest
from iostrata import open_trace
from iostrata.layers.loops import steps as module
from iostrata.layers.loops.kinds import file_kinds
from iostrata.layers.loops.steps import Steps, StepSums, kinds_of_files


def sums_of(trace):
    return trace.stream.summed(partial(StepSums, trace.scope, kinds_of_files(trace.definitions)[1]))


def same(one, other):
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in one.__dataclass_fields__)


@pytest.mark.parametrize("archive", ["ckpt4", "ncckpt4", "mixed4", "serial1", "ior384"])
@pytest.mark.parametrize("options", [{"workers": 1}, {"workers": 3}, {"memory": 400_000_000}])
def test_partitions_and_blocks_give_the_same_steps(fixtures, archive, options):
    whole = sums_of(open_trace(fixtures / archive)).ordered()
    parts = sums_of(open_trace(fixtures / archive, **options)).ordered()
    assert [(one.kind, one.locations) for one in whole] == [(one.kind, one.locations) for one in parts]
    assert all(same(one.steps, other.steps) for one, other in zip(whole, parts, strict=True))


def test_ranks_that_do_the_same_are_kept_once(fixtures):
    sums = sums_of(open_trace(fixtures / "ior384"))
    assert [len(one.locations) for one in sums.ordered()] == [384, 384]


def test_what_is_too_long_is_kept_by_its_longest_pauses(fixtures, monkeypatch):
    monkeypatch.setattr(module, "MOST_STEPS", 40)
    fine = sums_of(open_trace(fixtures / "ior384")).ordered()
    for group in fine:
        assert len(group.steps) < 82
        assert group.steps.first[-1] == 82
        assert group.steps.total.sum() == 80 * 384 * 2**21


@pytest.mark.parametrize("keep", [range(0, 12, 3), [0], [0, 5]])
def test_joined_steps_add_up(keep):
    count = np.arange(12)
    one = np.ones(12, np.int64)
    code, file = count.astype(np.int32) % 3, np.zeros(12, np.int32)
    steps = Steps(code, 0 * one, one, count, count, count, file, count == 0, count, 10 * count, 10 * count + 4)
    mask = np.isin(count, list(keep))
    joined = steps.coarsened(mask)
    assert joined.first.tolist() == [*keep, 12]
    assert joined.total.sum() == count.sum()
    assert joined.end[-1] == 114


def test_kinds_of_files():
    names = ["one/x.001.nc", "one/x.002.nc", "two/x.001.nc", "log", "checkpoint0007", "checkpoint0008"]
    assert file_kinds(names) == ["one/x.*.nc", "one/x.*.nc", "two/x.001.nc", "log", "checkpoint*", "checkpoint*"]
