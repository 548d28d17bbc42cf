"""Processor time of our method on large signals, in seconds of one run after a small one that compiles."""

import time

import numpy as np
from iostrata.analysis.detect import detect_period
from iostrata.signals.construction import step_signal


def _requests(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return intervals that make about `count` steps: bursts of 50 requests every 10 s, rates uneven."""
    rng = np.random.default_rng(7)
    bursts = max(count // 50, 1)
    start = (10.0 * np.arange(bursts)[:, None] + 0.05 * np.arange(50)).ravel()
    return start, start + 0.05, rng.uniform(0.5, 1.5, start.size) * 1e6


def _noise(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return exponential noise in bins of 1 s."""
    start = np.arange(count, dtype=float)
    return start, start + 1.0, np.random.default_rng(9).exponential(1e6, count)


def _irregular(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return bursts of many lengths at uniform times: two steps each."""
    rng = np.random.default_rng(10)
    start = np.sort(rng.uniform(0, 5.0 * count, count // 2))
    return start, start + rng.exponential(2.0, start.size), rng.lognormal(20, 1, start.size)


def _cycles(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(8)
    start = 10.0 * np.arange(count) + 0.1 * rng.normal(size=count)
    start = np.sort(start - start.min())
    return start, start + 2.0, rng.uniform(0.8, 1.2, count) * 1e9


def measured_times(method: str) -> dict[str, float]:
    """Return seconds of the processor for 10^6 steps of three kinds and for 10^5 cycles."""
    found = {}
    for name, make, count in (
        ("10^6 steps, bursts of 50 requests", _requests, 1_000_000),
        ("10^6 steps, noise in bins", _noise, 1_000_000),
        ("10^6 steps, irregular bursts", _irregular, 1_000_000),
        ("10^5 cycles", _cycles, 100_000),
    ):
        detect_period(step_signal(*make(1000)), method)
        signal = step_signal(*make(count))
        begin = time.process_time()
        detect_period(signal, method)
        found[name] = time.process_time() - begin
    return found
