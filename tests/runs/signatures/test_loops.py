"""Signatures by loops: tables of operations of made programs whose iterations are known."""

from dataclasses import replace

import iostrata
import numpy as np
import pytest
from iostrata.runs.signatures.loops import loops_signature
from iostrata.runs.signatures.sample import cut_to_shortest
from iostrata.runs.signatures.signature import extract_signature
from iostrata.runs.signatures.traces import common_layer, run_signals, trace_samples

MIB = 1 << 20
RANKS = 4


def made(folder, name, parts, *, rng=None, compute=0.5, rate=100 * MIB, files=("part0.bin", "part1.bin")):
    """Return the signals of a run that writes, for each of (count, blocks, bytes), so many iterations of blocks."""
    rows, now = ["layer,rank,mode,start,end,bytes,file"], 0.1
    for number, (count, blocks, size) in enumerate(parts):
        for _ in range(count):
            now += compute * (1 if rng is None else float(rng.lognormal(0, 0.5)))
            for _ in range(blocks):
                took = size / rate * (1 if rng is None else float(rng.lognormal(0, 0.3)))
                told = f"write,{now:.6f},{now + took:.6f},{size},{files[number]}"
                rows += [f"POSIX,{rank},{told}" for rank in range(RANKS)]
                now += took + 1e-5
    path = folder / f"{name}.csv"
    path.write_text("\n".join(rows))
    return run_signals(iostrata.open_trace(path), name, name, "write")


def signature(runs, kappa=0.9):
    layer = common_layer(runs)
    return loops_signature(runs, trace_samples(runs, layer), layer, "write", kappa)


def test_six_runs_of_large_and_of_small_bursts_have_all_of_them_in_common(tmp_path):
    runs = [made(tmp_path, f"run{n}", [(4, 1, 4 * MIB), (8, 1, MIB)]) for n in range(6)]
    found = signature(runs)
    assert len(found.bursts) == 12
    volumes = [RANKS * 4 * MIB] * 4 + [RANKS * MIB] * 8
    assert [burst.volume for burst in found.bursts] == pytest.approx(volumes)
    assert found.volume == pytest.approx(RANKS * 24 * MIB)
    assert found.parameters.outside_share == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(("count", "ratio"), [(8, 16), (40, 16), (400, 1)])
def test_bursts_are_exact_however_many_and_however_uneven_and_delayed(tmp_path, count, ratio):
    rng = np.random.default_rng(count)
    parts = [(count, 2, ratio * 65536), (count, 2, 65536)]
    runs = [made(tmp_path, f"run{n}", parts, rng=rng, compute=0.1 * (n + 1)) for n in range(3)]
    found = signature(runs)
    assert len(found.bursts) == 2 * count
    volumes = {round(burst.volume) for burst in found.bursts}
    assert volumes == {RANKS * 2 * 65536 * ratio, RANKS * 2 * 65536}
    assert all(use.used for use in found.samples)
    assert float(found.signature.sum()) * found.interval_s == pytest.approx(sum(one.volume for one in found.bursts))


@pytest.mark.parametrize("files", [("dump.bin", "restart.bin"), ("0.bin", "1.bin")])
@pytest.mark.parametrize("parts", [((4, 2), (4, 1)), ((4, 3), (4, 4)), ((4, 1), (5, 3)), ((20, 1), (22, 1))])
def test_few_iterations_of_few_equal_writes_are_told_by_the_pauses_that_all_runs_have(tmp_path, parts, files):
    rng = np.random.default_rng(1)
    longer = [(*parts[0], 65536), (parts[1][0] + 1, parts[1][1], 65536)]
    runs = [
        made(tmp_path, f"run{n}", longer if n == 2 else [(*one, 65536) for one in parts], rng=rng, files=files)
        for n in range(4)
    ]
    found = signature(runs)
    assert all(use.used for use in found.samples)
    volumes = [RANKS * blocks * 65536 for count, blocks in parts for _ in range(count)]
    assert [burst.volume for burst in found.bursts] == pytest.approx(volumes)


def test_runs_that_do_the_same_are_no_outliers_where_one_alone_tells_less_of_its_iterations(tmp_path):
    """Of four iterations of four writes one run is too little evidence, of ten it is not."""
    rng = np.random.default_rng(2)
    runs = [made(tmp_path, f"run{n}", [(10 if n else 4, 4, 65536)], rng=rng) for n in range(3)]
    assert [len(one.loops[0].row.iteration_begin_s) for one in runs] == [16, 10, 10]
    found = signature(runs, 0.9)
    assert [use.used for use in found.samples] == [True] * 3
    assert [burst.volume for burst in found.bursts] == pytest.approx([RANKS * 4 * 65536] * 4)


def test_pauses_at_other_places_in_each_run_and_gaps_that_are_all_alike_make_no_iterations(tmp_path):
    rng = np.random.default_rng(3)
    shuffled = []
    for n in range(4):
        parts = [(1, int(blocks), 65536) for blocks in rng.multinomial(12, [1 / 5] * 5) if blocks]
        shuffled.append(made(tmp_path, f"run{n}", parts, rng=rng, files=["a.bin"] * 5))
    assert {burst.volume for burst in signature(shuffled).bursts} == {RANKS * 65536}
    alike = [made(tmp_path, f"like{n}", [(12, 1, 65536)], rng=rng) for n in range(4)]
    assert len(signature(alike).bursts) == 12


def test_longer_runs_share_what_all_have_and_the_rest_is_told(tmp_path):
    counts = (10, 10, 14)
    runs = [made(tmp_path, f"run{n}", [(count, 4, MIB)]) for n, count in enumerate(counts)]
    found = signature(runs)
    assert [len(found.bursts), *(use.bursts for use in found.samples)] == [10, 10, 10, 10]
    assert all(use.used for use in found.samples)
    assert found.parameters.outside_share == pytest.approx(1 - 30 / sum(counts))
    assert len(signature(runs, 0.3).bursts) == 14


@pytest.mark.parametrize("by_loops", [True, False])
def test_of_partial_runs_the_common_beginning_has_a_signature_at_its_own_times(tmp_path, by_loops):
    """A run that was killed after five of twelve iterations; brought to its length the others would be too fast."""
    runs = [made(tmp_path, f"run{n}", [(5 if n == 3 else 12, 1, 4 * MIB)], compute=1.0) for n in range(4)]
    layer = common_layer(runs)
    samples = cut_to_shortest(trace_samples(runs, layer, 0.02))
    if by_loops:
        found = loops_signature(runs, samples, layer, "write", 0.9)
    else:
        found = extract_signature(samples, recorded="program")
    starts = np.array([burst.start_s for burst in found.bursts])
    # The clock of a sample is that of the first operation.
    assert starts - starts[0] == pytest.approx(1.04 * np.arange(5), abs=0.05)
    assert [burst.volume for burst in found.bursts] == pytest.approx([RANKS * 4 * MIB] * 5, rel=0.05)


def test_another_program_is_left_out_with_the_reason_and_runs_without_loops_have_no_such_signature(tmp_path):
    runs = [made(tmp_path, f"run{n}", [(6, 4, MIB)]) for n in range(3)]
    other = made(tmp_path, "other", [(9, 3, 3 * MIB)])
    found = signature([*runs, other])
    assert [use.used for use in found.samples] == [True, True, True, False]
    assert "loops that the others share" in found.samples[3].reason
    assert len(found.bursts) == 6
    without = [replace(one, loops=(), trace=None) for one in runs]
    assert signature(without) is None
    assert signature([runs[0], other]) is None
    assert extract_signature(trace_samples(without, "POSIX"), recorded="program").bursts
