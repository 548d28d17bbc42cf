"""A step signal made of samples, which are measured from the smallest where some are negative."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..otf2io.errors import SelectionError

if TYPE_CHECKING:
    from ..layers.signal import StepSignal

LARGEST_SAMPLE = 1e140
"""Largest absolute sample: the square of the sum of as many as memory holds stays finite."""


def signal_of_samples(values: NDArray[np.float64], fs: float, start: float, unit: str) -> tuple[StepSignal, float]:
    """Make a step signal of samples, and say what was taken off them so that none is negative.

    Parameters
    ----------
    values : float64 (n,)
        Finite.
    fs : float
        Sampling frequency in Hz.
    start : float
        Beginning of the first sample in s.
    unit : str

    Returns
    -------
    StepSignal, float
        And the smallest sample where it is negative, else 0.

    Raises
    ------
    SelectionError
        If a sample is too large to be squared.
    """
    from ..layers.signal import StepSignal

    baseline = min(float(values.min()), 0.0)
    if np.abs(values).max() > LARGEST_SAMPLE:
        raise SelectionError(f"samples beyond {LARGEST_SAMPLE:g} have no power in float64: scale them down")
    values = values - baseline
    signal = StepSignal(
        times=start + np.arange(values.size + 1) / fs,
        values=values,
        impulse_times=np.zeros(0),
        impulse_volumes=np.zeros(0),
        cumulative=np.concatenate(([0.0], np.cumsum(values / fs))),
        unit=unit,
    )
    return signal, baseline
