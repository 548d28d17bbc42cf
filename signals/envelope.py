"""Signals as a page draws them: exact where they are short, else mean, smallest and largest rate of each bin."""

from dataclasses import dataclass

import numpy as np

from ..model.arrays import Floats
from .construction import StepSignal


@dataclass(frozen=True, eq=False)
class Envelope:
    """A signal over adjoining stretches of time.

    Attributes
    ----------
    edges : float64 (n+1,)
        Edges of the stretches in s, increasing; the first and the last are the signal's window.
    mean : float64 (n,)
        Mean rate; times the length of the stretch it is the volume there, impulses included.
    low, high : float64 (n,)
        Smallest and largest rate that the signal takes in the stretch; impulses have no rate and do not count.
    exact : bool
        Whether the stretches are the signal's own steps.
    """

    edges: Floats
    mean: Floats
    low: Floats
    high: Floats
    exact: bool


def envelope(signal: StepSignal, most_steps: int, bins: int) -> Envelope:
    """Return `signal` in at most `most_steps` steps where it has no more and no impulses, else in `bins` equal bins."""
    if len(signal.values) <= most_steps and not len(signal.impulse_times):
        return Envelope(signal.times, signal.values, signal.values, signal.values, True)
    edges = np.linspace(*signal.window, bins + 1)
    edges[-1] = signal.times[-1]
    if not (np.diff(edges) > 0).all():  # a window of a few units in the last place holds no more bins
        edges = np.unique(edges)
    volume = signal.volume_until(edges)
    volume[0] = 0.0  # an impulse at the window's start belongs to the first bin
    mean = np.maximum(np.diff(volume), 0.0) / np.diff(edges)
    first = np.clip(np.searchsorted(signal.times, edges[:-1], side="right") - 1, 0, len(signal.values) - 1)
    stop = np.maximum(np.searchsorted(signal.times, edges[1:], side="left"), first + 1)
    places = np.column_stack((first, stop)).ravel()
    # The pairs may end at the number of steps, which `reduceat` refuses as a start.
    low = np.minimum.reduceat(np.append(signal.values, np.inf), places)[::2]
    high = np.maximum.reduceat(np.append(signal.values, -np.inf), places)[::2]
    return Envelope(edges, mean, low, high, False)
