"""Verdicts on layers that are cut by one phase or get 1 % noise, on made signals of many shapes and on archives."""

from dataclasses import replace

import numpy as np
import pytest
from iostrata import detect_period, open_trace, step_signal
from iostrata.analysis.comparison.following import follows
from iostrata.analysis.comparison.periods import compare_periods

END = 400.0


def made(start, length, volume=1.0, end=END):
    start = np.asarray(start, float)
    kept = (start >= 0) & (start < end)
    start, length, volume = (np.broadcast_to(one, start.shape)[kept] for one in (start, length, volume))
    return step_signal(start, np.minimum(start + length, end), volume, window=(0.0, end))


def plain(_rng):
    start = 3 + 10.0 * np.arange(38)
    return made(start, 2.0), made(start + 0.3, 1.0)


def jitter(rng):
    start = 3 + 10.0 * np.arange(38) + rng.normal(0, 0.8, 38)
    return made(start, 2.0), made(start + rng.uniform(0, 0.5, 38), 1.0)


def few(rng):
    start = 3 + 10.0 * np.arange(7) + rng.normal(0, 0.3, 7)
    return made(start, 2.0, end=80.0), made(start + 0.1, rng.uniform(0.5, 2, 7), end=80.0)


def uneven_below(rng):
    start = 3 + 10.0 * np.arange(38)
    parts = np.concatenate([one + np.cumsum(rng.exponential(0.2, rng.integers(2, 9))) for one in start])
    return made(start, 3.0), made(parts, 0.1, rng.lognormal(0, 1, parts.size))


def long_phases(rng):
    start = 3 + 10.0 * np.arange(38)
    return made(start, 8.0), made(start + 0.5, rng.uniform(5.5, 8, 38))


def missing(rng):
    start = (3 + 10.0 * np.arange(38))[np.sort(rng.permutation(38)[:31])]
    return made(start, 2.0), made(start + 0.2, 2.0)


def regimes_with_pause(_rng):
    start = np.concatenate((3 + 4.0 * np.arange(30), 150 + 15.0 * np.arange(16)))
    return made(start, 1.0), made(start + 1e-5, 1.0)


def background(_rng):
    start = 3 + 10.0 * np.arange(38)
    steady = np.arange(0, END, 1.0)
    return made(start, 2.0), made(np.append(start, steady), np.append(np.full(38, 2.0), np.full(steady.size, 1.0)), 0.1)


def large_first(_rng):
    start = 3 + 10.0 * np.arange(38)
    return made(start, 2.0), made(
        np.append(0.5, start + 0.2), np.append(2.0, np.full(38, 1.5)), np.append(15, np.ones(38))
    )


def flat(_rng):
    return made(3 + 10.0 * np.arange(38), 2.0), made([0.0], END, 38.0)


def drained_at_random(rng):
    return made(3 + 10.0 * np.arange(38), 2.0), made(np.sort(rng.uniform(0, END - 9, 60)), rng.exponential(2.0, 60))


def fourth_only(_rng):
    return made(3 + 5.0 * np.arange(76), 1.0), made(3 + 20.0 * np.arange(19), 1.0, 4.0)


def faster_halfway(_rng):
    return made(3 + 10.0 * np.arange(38), 2.0), made(
        np.concatenate((3 + 10.0 * np.arange(20), 203 + 6.3 * np.arange(30))), 1.0
    )


def no_period(rng):
    start = np.sort(rng.uniform(0, END - 2, 30))
    return made(start, 1.0), made(start + 0.1, 1.0)


def only_below(_rng):
    return made([0.0], END, 38.0), made(3 + 10.0 * np.arange(38), 2.0)


SHAPES = {
    plain: "same",
    jitter: "same",
    few: "same",
    uneven_below: "same",
    long_phases: "same",
    missing: "same",
    regimes_with_pause: "same",
    background: "same",
    large_first: "same",
    flat: "smeared",
    drained_at_random: "smeared",
    fourth_only: "harmonic",
    faster_halfway: "split",
    no_period: "none",
    only_below: "absent-above",
}


def intervals(signal):
    return (
        np.concatenate((signal.times[:-1], signal.impulse_times)),
        np.concatenate((signal.times[1:], signal.impulse_times)),
        np.concatenate((signal.values * np.diff(signal.times), signal.impulse_volumes)),
    )


def without_a_phase(signal, first):
    """Leave out the last phase, or the first, with all that comes after or before it."""
    phases = detect_period(signal).phases
    if len(phases) < 2:
        return signal
    start, end, volume = intervals(signal)
    kept = start >= phases[0].end if first else start < phases[-1].start
    return step_signal(start[kept], end[kept], volume[kept], window=signal.window)


def with_noise(signal):
    rng = np.random.default_rng(1)
    start, end, volume = intervals(signal)
    at = rng.uniform(signal.window[0], signal.window[0] + 0.999 * signal.duration, 200)
    return step_signal(
        np.append(start, at),
        np.append(end, at + 1e-4 * signal.duration),
        np.append(volume, np.full(200, 0.01 * signal.volume / 200)),
        window=signal.window,
    )


CHANGES = (
    lambda signal: without_a_phase(signal, first=False),
    lambda signal: without_a_phase(signal, first=True),
    with_noise,
)


def verdicts(upper, lower):
    """Return the verdict, and those after each of the changes to either layer."""
    pairs = [(upper, lower), *((change(upper), lower) for change in CHANGES)]
    pairs += [(upper, change(lower)) for change in CHANGES]
    return [compare_periods(*((signal, detect_period(signal)) for signal in pair)).verdict for pair in pairs]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_small_changes_of_made_signals_change_no_verdict(shape, seed):
    upper, lower = shape(np.random.default_rng(seed))
    assert verdicts(upper, lower) == 7 * [SHAPES[shape]]


@pytest.mark.parametrize("name", ["ckpt4", "ckpt16", "ckpt4_jitter", "ncckpt4", "ncckpt8", "mixed4"])
def test_small_changes_of_archives_change_no_verdict(fixtures, name):
    trace = open_trace(fixtures / name)
    seen = 0
    for flow in trace.flows:
        signals = [
            trace.layers[flow.upper].bandwidth(flow.direction),
            trace.layers[flow.lower].bandwidth(flow.direction, below=flow.upper),
        ]
        if any(signal.volume <= 0 for signal in signals):
            continue
        found = verdicts(*signals)
        assert found == 7 * found[:1], (flow.upper, flow.lower, flow.direction)
        assert found[0] == ("same" if flow.direction == "write" else "none")
        seen += 1
    assert seen


def test_bursts_at_random_do_not_follow_by_chance():
    rng = np.random.default_rng(5)
    followed = 0
    for _ in range(300):
        count = int(rng.integers(4, 30))
        start = 3 + 10.0 * np.arange(count)
        end = start[-1] + 10
        leader = made(start, 1.0, end=end)
        other = made(np.sort(rng.uniform(0, end - 1, count)), 1.0, end=end)
        followed += follows(leader, detect_period(leader), other, 10.0, 0.0, end)
    assert followed <= 3


def test_stretches_shorter_than_a_period_decide_nothing():
    upper, lower = regimes_with_pause(np.random.default_rng(0))
    found = compare_periods((upper, detect_period(upper)), (lower, detect_period(lower)))
    assert found.verdict == "same"
    assert [one.relation for one in found.stretches] == ["same", "same"]
    assert min(one.end - one.start for one in found.stretches) > 50


def test_a_period_that_does_not_show_cycle_by_cycle_says_nothing():
    signal = made(3 + 10.0 * np.arange(38), 2.0)
    result = detect_period(signal)
    lobe = replace(result, phases=(), regimes=(), periods=(replace(result.periods[0], period=0.13),))
    assert compare_periods((signal, result), (signal, lobe)).verdict == "same"
    assert follows(signal, result, signal, 10.0, 0.0, END)
    assert not follows(signal, lobe, signal, 0.13, 0.0, END)


def test_two_concurrent_periods_are_the_same_whichever_is_the_stronger():
    slow, fast = 3 + 10.0 * np.arange(38), 3.7 + 2.37 * np.arange(165)
    upper, lower = (
        made(
            np.append(slow, fast),
            np.append(np.full(38, 0.5), np.full(165, 0.2)),
            np.append(np.full(38, share), np.ones(165)),
        )
        for share in (4.0, 4.6)
    )
    results = [detect_period(signal) for signal in (upper, lower)]
    both = tuple(replace(results[0].periods[0], period=period) for period in (10.0, 2.37))
    first, second = (
        replace(result, periods=order, regimes=()) for result, order in zip(results, (both, both[::-1]), strict=True)
    )
    assert compare_periods((upper, first), (lower, second)).verdict == "same"
