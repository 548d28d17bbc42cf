"""Substantial I/O, where a signal is above its own mean, and how well a period describes it (FTIO, IPDPS'24, §II-C)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...signals.construction import StepSignal
from ..results.result import PeriodMetrics


def characterise(signal: StepSignal, period: float | None = None) -> PeriodMetrics:
    """Compute R_IO and B_IO of a signal and, for a period, sigma_vol, sigma_time and the periodicity score.

    Parameters
    ----------
    signal : StepSignal
        The exact signal, not its samples.
    period : float or None
        Any period in s, whichever method found it.

    Returns
    -------
    PeriodMetrics
        A number that is not defined is None: those of the period without one, or with one longer than the signal;
        ratios of an empty stretch or volume.

    Notes
    -----
    The sub-traces T_i are the complete periods from the window's start on; a rest shorter than a period belongs to
    none, since its volume and its share of I/O are not those of a period. Standard deviations are those of the
    population, which bounds sigma_vol by 0.5 as the paper says. sigma_time may exceed it where the rest holds most
    of the I/O; the score is clipped to [0, 1]. O(n + m) for n steps and m periods.
    """
    part = substantial(signal)
    length = signal.duration
    if length <= 0:
        return PeriodMetrics(r_io=None, b_io=None)
    r_io = part.length / length
    b_io = part.volume / part.length if part.length > 0 else None
    if period is None:
        return PeriodMetrics(r_io=r_io, b_io=b_io)

    volume_per_period = part.volume * period / length
    complete = int(np.floor(min(length / period, 2.0**31) + 1e-9))
    # More periods than steps, each with a number of its own, would be an allocation out of proportion to the signal.
    most = 16 * (signal.times.size + signal.impulse_times.size) + 2**20
    if not 1 <= complete <= most:
        return PeriodMetrics(r_io=r_io, b_io=b_io, volume_per_period=volume_per_period)
    start, end = signal.window
    edges = np.minimum(start + period * np.arange(complete + 1), end)

    until = signal.volume_until(edges)
    until[0] = 0.0
    volumes = np.diff(until)
    length_until = np.concatenate(([0.0], np.cumsum(np.where(part.above, np.diff(signal.times), 0.0))))
    shares = np.diff(np.interp(edges, signal.times, length_until)) / period
    sigma_time = float(np.sqrt(np.mean((shares - r_io) ** 2)))
    largest = float(volumes.max())
    if largest <= 0:
        return PeriodMetrics(r_io=r_io, b_io=b_io, sigma_time=sigma_time, volume_per_period=volume_per_period)
    sigma_vol = float(np.std(volumes / largest))
    return PeriodMetrics(
        r_io=r_io,
        b_io=b_io,
        sigma_vol=sigma_vol,
        sigma_time=sigma_time,
        volume_per_period=volume_per_period,
        periodicity_score=float(np.clip(1.0 - sigma_vol - sigma_time, 0.0, 1.0)),
    )


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
