"""The default method on signals of many shapes in whole, as stored, and its pieces on their thresholds."""

import numpy as np
import pytest
from iostrata import detect_period, step_signal
from iostrata.analysis.phases import bins, bursts, concurrent, stretches


def signal_of(starts, length, volume, end):
    return step_signal(starts, starts + length, np.broadcast_to(volume, starts.shape), window=(0.0, end))


def made(kind):
    rng = np.random.default_rng(len(kind))
    even = 2.0 + 10.0 * np.arange(20)
    if kind == "regimes":
        return signal_of(np.concatenate([even, 220 + 3.0 * np.arange(30)]), 0.5, 1e6, 320.0)
    if kind == "gap":
        return signal_of(np.concatenate([even[:8], even[12:] + 31.0]), 0.5, 1e6, 260.0)
    if kind == "two at once":
        both = np.concatenate([even, 4.3 + 7.0 * np.arange(28)])
        order = np.argsort(both)
        return signal_of(both[order], 0.3, np.where(order < 20, 5e6, 1e6), 205.0)
    if kind == "binned":
        base = signal_of(even, 1.5, 1e6, 205.0).sample(4.0)
        edges = base.start + np.arange(len(base.values) + 1) / base.fs
        return step_signal(edges[:-1], edges[1:], base.values / base.fs, window=(edges[0], edges[-1]))
    if kind == "drift":
        return signal_of(2.0 + np.cumsum(rng.uniform(9.0, 11.0, 30)), 0.5, rng.uniform(1e5, 3e6, 30), 330.0)
    if kind == "skips":
        return signal_of(even[rng.uniform(size=20) < 0.75], 0.5, 1e6, 205.0)
    if kind == "random":
        return signal_of(np.sort(rng.uniform(0, 190, 40)), 0.2, 1e6, 200.0)
    if kind == "clusters":
        return signal_of((even[:, None] + [0, 0.4, 0.9]).ravel(), 0.2, 1e6, 205.0)
    if kind == "lone":
        return signal_of(even[:1], 0.2, 1e6, 205.0)
    return signal_of(even[:4], 0.5, 1e6, 50.0)


KINDS = ("regimes", "gap", "two at once", "binned", "drift", "skips", "random", "clusters", "lone", "four")


@pytest.mark.parametrize("kind", KINDS)
def test_verdicts_are_those_stored(held, kind):
    signal = made(kind)
    times, cumulative = bursts.vertices(signal)
    width = bins.bin_width(times, cumulative)
    sets = bursts.sets_of_bursts(times, cumulative, width)
    trains = [stretches.divided(one)[0] for one in sets]
    pieces = {
        "vertices": (times, cumulative),
        "extent": bursts.extent(times, cumulative),
        "clipped": bursts.clipped(times, cumulative, 10.0, 60.0),
        "levels": bursts.levels(times, cumulative),
        "width": width,
        "widths": [bins.bin_width(times, cumulative, fs) for fs in (1.0, 4.0)],
        "units": bins.in_units(times, cumulative),
        "coarse": bins.too_coarse(times, cumulative, width) if width else None,
        "sets": sets,
        "few": bursts.few_bursts(times, cumulative),
        "divided": [stretches.divided(one) for one in sets],
        "resting": [stretches.resting_train(one, 3.0) for one in sets],
        "joined": [stretches.joined(one) for one in trains],
        "concurrent": [concurrent.concurrent_trains(one, 0.1, 0.01) for one in sets],
    }
    held(kind.replace(" ", "_"), {"result": detect_period(signal), **pieces})


def test_the_period_is_that_of_the_signal():
    assert detect_period(made("gap")).period == pytest.approx(10.0, rel=0.01)
    assert detect_period(made("binned")).period == pytest.approx(10.0, rel=0.02)
    assert detect_period(made("random")).period is None
    assert {round(one.period) for one in detect_period(made("regimes")).regimes} == {3, 10}
