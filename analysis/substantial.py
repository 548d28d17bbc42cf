"""Substantial I/O: where a signal is above its own mean (FTIO, IPDPS'24, §II-C b)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ..layers.signal import StepSignal


@dataclass(frozen=True, eq=False)
class Substantial:
    """S, the subset of a signal where its rate is greater than volume / length of the whole.

    Attributes
    ----------
    threshold : float
        V / L, in the signal's unit.
    above : bool (n,)
        Which steps of the signal belong to S.
    length : float
        L(S) in s.
    volume : float
        V(S): the volume of these steps and of all impulses.
    """

    threshold: float
    above: NDArray[np.bool_]
    length: float
    volume: float


def substantial(signal: StepSignal) -> Substantial:
    """Find the substantial part of a signal.

    Parameters
    ----------
    signal : StepSignal
        The exact signal, not its samples.

    Returns
    -------
    Substantial
        An impulse moves its volume at an unbounded rate: it belongs to S with its volume and has no length.
    """
    duration = signal.duration
    threshold = signal.volume / duration if duration > 0 else 0.0
    above = signal.values > threshold
    lengths = np.diff(signal.times)[above]
    volume = float(np.dot(signal.values[above], lengths) + signal.impulse_volumes.sum())
    return Substantial(threshold=threshold, above=above, length=float(lengths.sum()), volume=volume)
