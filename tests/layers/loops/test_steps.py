"""Steps in blocks and partitions are those of the whole; what is too long is kept coarsely, and stays in step."""

import os
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from iostrata import open_trace
from iostrata.analysis.loops.find import find_loops
from iostrata.analysis.loops.folding import fold
from iostrata.layers.loops import iterations
from iostrata.layers.loops import steps as module
from iostrata.layers.loops.steps import Steps, StepSums, kinds_of_files
from iostrata.layers.loops.steps_kernel import StepColumns
from iostrata.layers.statistics.kinds import file_kinds


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
    monkeypatch.setattr(module, "MOST_STEPS", 10)
    fine = sums_of(open_trace(fixtures / "ior384")).ordered()
    for group in fine:
        assert len(group.steps) < 82
        assert group.steps.first[-1] == 82
        assert np.maximum(group.steps.total, 0).sum() == 80 * 384 * 2**21


def long_sequence(rows, gap, cut):
    """Add (kind, size) to a sequence in blocks of a length, and return its steps."""
    kind, size = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    count, begin = len(rows), np.cumsum(gap + 5)
    code, nothing = (2 * kind).astype(np.int32), np.zeros(count, np.int32)
    columns = StepColumns(code, size, nothing, np.arange(count) == 0, gap, begin, begin + 5)
    sequence = module._Sequence()
    for low in range(0, count, cut):
        sequence.add(columns, low, min(count, low + cut))
    return sequence.joined()[1]


WRITE, FLUSH, OPEN = (1, 100), (2, -1), (3, -1)
BODY = [OPEN] + [WRITE, FLUSH] * 50
LONG = {
    "equal": ([WRITE] * 9000, 9000, False),
    "by turns": ([WRITE, FLUSH] * 4500, 4500, False),
    "paused": ([WRITE] * 9000, 90, True),
    "outer": (BODY * 89, 89, False),
}


@pytest.mark.parametrize("name", LONG)
def test_what_repeats_needs_no_room(monkeypatch, name):
    monkeypatch.setattr(module, "MOST_STEPS", 1000)
    rows, count, paused = LONG[name]
    gap = np.random.default_rng(1).lognormal(5, 1, len(rows)).astype(np.int64)
    gap[::100] += 10**6 * paused
    whole, *parts = (long_sequence(rows, gap, cut) for cut in (len(rows), 701, 64))
    assert len(whole) <= 1000
    assert whole.count.sum() == len(rows)
    assert all(same(whole, one) for one in parts)
    assert [one.count for one in fold(whole)] == [count]


def test_what_repeats_is_not_cut_where_the_room_for_calls_ends(monkeypatch):
    monkeypatch.setattr(module, "MOST_STEPS", 1500)
    rows = [*[WRITE] * 316, FLUSH] * 30
    steps = long_sequence(rows, np.ones(len(rows), np.int64), 701)
    assert steps.count.tolist() == [317] * 30


def test_the_short_gaps_behind_stragglers_are_no_pauses(monkeypatch):
    """Many ranks as one: calls overlap, but for the last ones of a phase; phases end by pauses or by another call."""
    monkeypatch.setattr(module, "MOST_STEPS", 1000)
    rows, gap = ([WRITE] * 500 + [(0, 100)] * 500) * 8, np.zeros(8000, np.int64)
    gap[::500] = 1_000_000
    gap.reshape(-1, 500)[:, 490:] = np.arange(10, 20)
    steps = long_sequence(rows, gap, 701)
    assert steps.count.tolist() == [500] * 16
    assert [one.count for one in fold(steps)] == [8]


RNG = np.random.default_rng(7)
BETWEEN = {
    "equal": [*[WRITE] * 700, FLUSH] * 20,
    "about as many": [one for _ in range(20) for one in (*[WRITE] * RNG.integers(600, 700), FLUSH)],
    "other sizes": [
        one for _ in range(20) for one in (*((1, int(size)) for size in RNG.integers(1, 5000, 700)), FLUSH)
    ],
    "reads and writes": [one for _ in range(20) for one in (*((kind, 100) for kind in RNG.integers(0, 2, 700)), FLUSH)],
}


@pytest.mark.parametrize("name", BETWEEN)
def test_calls_that_are_too_many_are_iterations_by_what_comes_evenly_between(monkeypatch, name):
    """Gaps lie nowhere apart; flushes in any other places are no iterations."""
    monkeypatch.setattr(module, "MOST_STEPS", 1000)
    rows, rng = BETWEEN[name], np.random.default_rng(1)
    gap = rng.lognormal(9, 0.6, len(rows)).astype(np.int64)
    (loop,) = fold(long_sequence(rows, gap, 701))
    assert abs(loop.count - 20) <= 1
    shuffled = [rows[place] for place in rng.permutation(len(rows))]
    assert not [one for one in fold(long_sequence(shuffled, gap, 701)) if one.count < 1000]


@pytest.mark.parametrize("bursts", [3, 8])
def test_few_long_pauses_of_what_needs_no_room_part_bursts(monkeypatch, bursts):
    """Three passes over a file, or eight dumps of many small records; the process stands still now and then."""
    monkeypatch.setattr(module, "MOST_STEPS", 1000)
    rng = np.random.default_rng(bursts)
    gap = rng.lognormal(2, 1, 5000 * bursts).astype(np.int64)
    gap[rng.integers(1, len(gap), 20)] = rng.integers(500, 4000, 20)
    gap[::5000] = rng.integers(50_000, 60_000, bursts)
    whole, *parts = (long_sequence([OPEN, *[WRITE] * len(gap)], np.append(0, gap), cut) for cut in (len(gap), 701))
    assert all(same(whole, one) for one in parts)
    (loop,) = fold(whole)
    assert loop.count == bursts
    assert not loop.other.any()
    (inner,) = loop.inner
    assert inner.count == 5000
    assert inner.joined


@pytest.mark.parametrize("keep", [range(0, 12, 3), [0], [0, 5]])
def test_joined_steps_add_up(keep):
    count = np.arange(12)
    code, file = count.astype(np.int32) % 3, np.zeros(12, np.int32)
    steps = Steps.of_calls(code, count, file, count == 0, count, 10 * count, 10 * count + 4)
    mask = np.isin(count, list(keep))
    joined = steps.coarsened(mask)
    assert joined.first.tolist() == [*keep, 12]
    assert joined.total.sum() == count.sum()
    assert joined.end[-1] == 114


@pytest.mark.parametrize("known", [0, 1, 7, 20])
@pytest.mark.parametrize("seed", range(5))
def test_calls_are_joined_to_steps_and_one_another_as_steps_are(known, seed):
    rng = np.random.default_rng(seed)
    code, size = 2 * rng.integers(0, 3, 40).astype(np.int32), rng.integers(-1, 3, 40)
    begin, file, fresh = np.cumsum(rng.integers(1, 90, 40)), np.zeros(40, np.int32), rng.integers(0, 9, 40) == 0
    columns = code, size, file, fresh, rng.integers(0, 5, 40), begin, begin + rng.integers(0, 99, 40)
    before = Steps.of_calls(*(one[:known] for one in columns)).coarsened(rng.integers(0, 2, known) == 0)
    latest = module._Latest(before, StepColumns(*(one[known:] for one in columns)))
    for keep in (rng.integers(0, one, len(latest)) == 0 for one in (1, 2, 4, 40)):
        assert same(latest.coarsened(keep.copy()).whole(), latest.whole().coarsened(keep.copy()))


@pytest.mark.parametrize("archive", ["ckpt4", "mixed4", "ior384"])
def test_keys_and_groups_may_be_more_than_there_is_room_for(fixtures, monkeypatch, archive):
    wide = find_loops(open_trace(fixtures / archive)).to_dict()
    monkeypatch.setattr(module, "_KEYS", 1)
    monkeypatch.setattr(iterations, "_GROUPS", 2)
    assert find_loops(open_trace(fixtures / archive)).to_dict() == wide


def test_kinds_of_files():
    names = ["one/x.001.nc", "one/x.002.nc", "two/x.001.nc", "log", "checkpoint0007", "checkpoint0008"]
    assert file_kinds(names) == ["one/x.*.nc", "one/x.*.nc", "two/x.001.nc", "log", "checkpoint*", "checkpoint*"]


ALONE = """
import numpy as np
from iostrata.layers.loops.steps_kernel import Stretches, coarser
found = Stretches(np.zeros(4, np.int64), np.array([0, 4, 8, 12]), np.array([1, 5, 9, 13]))
print(*coarser(found, np.full(1, -1), 4, 1, 0), found.begin[0], found.end[0])
"""


def test_stretches_are_rounded_where_no_other_loop_was_compiled_before(tmp_path):
    # Rounded to multiples of 4 all four touch: one is left, from 0 to 16.
    done = subprocess.run(
        [sys.executable, "-c", ALONE],
        capture_output=True,
        text=True,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        check=False,
    )
    assert done.stdout == "1 2 0 16\n", done.stderr


def test_pauses_are_kept_where_lines_of_a_few_sizes_repeat_by_chance(monkeypatch):
    """A line is flushed each time; its numbers get digits, and calls wait a little or sync now and then."""
    monkeypatch.setattr(module, "MOST_STEPS", 500)
    rng = np.random.default_rng(5)
    rows, gap = [OPEN], [0]
    for burst in range(30):
        gap += [50_000, *(4_000 if rng.random() < 0.001 else 3 for _ in range(799))]
        rows += [row for line in range(400) for row in ((1, 38 + len(str(line)) + (rng.random() < 0.05)), FLUSH)]
        if burst % 10 == 9:
            rows.append(FLUSH)
            gap.append(3)
    steps = long_sequence(rows, np.array(gap), len(rows))
    (loop,) = fold(steps, second=1e6)
    assert (loop.count, int(loop.other.sum())) == (30, 3)
