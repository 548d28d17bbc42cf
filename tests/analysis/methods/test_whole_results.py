"""All methods on the same signals: what they answer in whole, as stored."""

import numpy as np
import pytest
from iostrata import SelectionError, detect_period, open_trace, step_signal
from iostrata.analysis.registry import methods


def bursts(period, count, seed, jitter=0.0, missing=0.0, volume=(1.0, 1.0)):
    rng = np.random.default_rng(seed)
    begin = 3.0 + period * (np.arange(count) + jitter * rng.uniform(-1, 1, count))
    begin = begin[rng.uniform(size=count) >= missing]
    length = period * rng.uniform(0.1, 0.2, begin.size)
    return step_signal(begin, begin + length, 1e6 * rng.uniform(*volume, begin.size), window=(0.0, period * count + 6))


SIGNALS = {
    "even": lambda: bursts(10.0, 24, 1),
    "jitter": lambda: bursts(4.0, 40, 2, jitter=0.1),
    "missing": lambda: bursts(2.0, 60, 3, missing=0.2, volume=(0.5, 2.0)),
    "few": lambda: bursts(5.0, 3, 4),
    "aperiodic": lambda: bursts(3.0, 50, 5, jitter=2.0, volume=(0.1, 3.0)),
}


def answer(signal, method, fs="auto"):
    try:
        return detect_period(signal, method, fs)
    except SelectionError as error:
        return {"error": str(error)}


@pytest.mark.parametrize("method", methods())
def test_answers_are_those_stored(held, method):
    held(method, {name: answer(make(), method) for name, make in SIGNALS.items()})


@pytest.mark.parametrize("method", methods())
def test_answers_at_a_sampling_frequency_are_those_stored(held, method):
    held(f"at_frequencies_{method}", {fs: answer(SIGNALS["jitter"](), method, fs) for fs in (2.0, 7.5)})


@pytest.mark.parametrize("method", methods())
def test_answers_for_recordings_are_those_stored(fixtures, held, method):
    found = {}
    for name in ("ckpt4", "ior384"):
        trace = open_trace(fixtures / name)
        for layer in trace.layers.values():
            for direction in layer.directions:
                found[name, layer.name, direction] = detect_period(layer.bandwidth(direction), method)
    held(f"recordings_{method}", found)
