"""Substantial I/O: where a signal is above its own mean, and the phases that this makes (FTIO, IPDPS'24, §II-C b)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .results import Phase

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


def substantial_phases(
    signal: StepSignal, period: float, gap_share: float = 0.25, volume_share: float = 0.01
) -> tuple[Phase, ...]:
    """Find the phases of a signal whose period is known.

    Parameters
    ----------
    signal : StepSignal
        The exact signal.
    period : float
        Its period in s.
    gap_share : float
        Bursts less than this share of the period apart are one phase.
    volume_share : float
        Bursts with less than this share of the largest burst's volume are dropped.

    Returns
    -------
    tuple of Phase
        In the order of time; the volume of a phase is all that moves from its start to its end.

    Notes
    -----
    A burst is made of stretches of substantial I/O less than a quarter of ``gap_share`` apart. Small bursts are
    dropped before bursts are joined to phases: lines of a log between checkpoints would chain these together.
    """
    above = substantial(signal).above
    edges = np.diff(np.concatenate(([False], above, [False])).astype(np.int8))
    starts = np.concatenate((signal.times[np.flatnonzero(edges == 1)], signal.impulse_times))
    ends = np.concatenate((signal.times[np.flatnonzero(edges == -1)], signal.impulse_times))
    if starts.size == 0:
        return ()
    order = np.lexsort((ends, starts))
    starts, ends = _joined(starts[order], np.maximum.accumulate(ends[order]), 0.25 * gap_share * period)
    volumes = _volumes(signal, starts, ends)
    large = volumes >= volume_share * volumes.max()
    starts, ends = _joined(starts[large], ends[large], gap_share * period)
    volumes = _volumes(signal, starts, ends)
    rows = zip(starts.tolist(), ends.tolist(), volumes.tolist(), strict=True)
    return tuple(Phase(start, end, volume) for start, end, volume in rows)


def _joined(
    starts: NDArray[np.float64], ends: NDArray[np.float64], gap: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Join stretches less than ``gap`` apart; both arrays ascend."""
    parted = np.flatnonzero(starts[1:] - ends[:-1] >= gap)
    return starts[np.concatenate(([0], parted + 1))], ends[np.concatenate((parted, [ends.size - 1]))]


def _volumes(signal: StepSignal, starts: NDArray[np.float64], ends: NDArray[np.float64]) -> NDArray[np.float64]:
    """Measure what moves from each start to each end, impulses at both included."""
    return signal.volume_until(ends) - signal.volume_until(starts) + _impulses_at(signal, starts)


def _impulses_at(signal: StepSignal, times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum the impulses exactly at each time: ``volume_until`` has counted those at the start of a phase before it."""
    order = np.argsort(signal.impulse_times, kind="stable")
    impulse_times = signal.impulse_times[order]
    running = np.concatenate(([0.0], np.cumsum(signal.impulse_volumes[order])))
    first = np.searchsorted(impulse_times, times, side="left")
    last = np.searchsorted(impulse_times, times, side="right")
    result: NDArray[np.float64] = running[last] - running[first]
    return result


def recurrence(phases: tuple[Phase, ...], fewest: int = 4) -> tuple[float | None, float | None]:
    """Give the mean time between the starts of phases and its coefficient of variation.

    Parameters
    ----------
    phases : tuple of Phase
        In the order of time.
    fewest : int
        Number of phases below which nothing is said.

    Returns
    -------
    recurrence, jitter : float or None
        In s, and without unit.
    """
    if len(phases) < fewest:
        return None, None
    distances = np.diff([phase.start for phase in phases])
    mean = float(distances.mean())
    return mean, float(distances.std() / mean)
