"""Substantial I/O, where a signal is above its own mean, and how well a period describes it (FTIO, IPDPS'24, §II-C)."""

import numpy as np

from ...model.arrays import Floats
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
    length = signal.duration
    if length <= 0:
        return PeriodMetrics()
    # Substantial is what is above the mean rate. An impulse, at an unbounded rate, is so and has no length.
    above, steps = signal.values > signal.volume / length, np.diff(signal.times)
    busy = float(steps[above].sum())
    moved = float(np.dot(signal.values[above], steps[above]) + signal.impulse_volumes.sum())
    r_io = busy / length
    b_io = moved / busy if busy > 0 else None
    if period is None:
        return PeriodMetrics(r_io=r_io, b_io=b_io)

    volume_per_period = moved * period / length
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
    length_until = np.append(0.0, np.cumsum(np.where(above, steps, 0.0)))
    shares = np.diff(np.interp(edges, signal.times, length_until)) / period
    sigma_time = float(np.sqrt(np.mean((shares - r_io) ** 2)))
    return _metrics(r_io, b_io, volumes, sigma_time, volume_per_period)


def characterise_phases(start: Floats, end: Floats, volume: Floats, until: float, spans: Floats) -> PeriodMetrics:
    """Characterise a regime by its phases, which take the place of substantial I/O.

    Parameters
    ----------
    start, end, volume : float64 (n,)
        Of each phase, times in s.
    until : float
        End of the regime in s, one period after the last start or less.
    spans : float64 (n-1,)
        Periods from each phase to the next.

    Returns
    -------
    PeriodMetrics
        Of the n periods that begin with a phase: R_IO, B_IO, σ_vol of the volume relative to the largest, σ_time of the
        share of I/O about R_IO (eq. 4), their volume and the score. B_IO is None where phases take no time.
    """
    length = end - start
    whole = max(until, float(end[-1])) - float(start[0])
    r_io = float(length.sum()) / whole if whole > 0 else None
    b_io = float(volume.sum() / length.sum()) if length.sum() > 0 else None
    if r_io is None or len(start) < 2:
        return PeriodMetrics(r_io=r_io, b_io=b_io)
    intervals = np.diff(start) / spans
    intervals = np.append(intervals, intervals.mean())
    # Where nothing is quiet between two phases, both may begin at one time.
    shares = np.minimum(np.divide(length, intervals, out=np.ones(len(length)), where=intervals > 0), 1.0)
    return _metrics(r_io, b_io, volume, float(np.std(shares)), float(volume.mean()))


def _metrics(
    r_io: float, b_io: float | None, volumes: Floats, sigma_time: float, volume_per_period: float
) -> PeriodMetrics:
    """Return all metrics; σ_vol and the score are not defined where nothing moved."""
    largest = float(volumes.max())
    sigma_vol = float(np.std(volumes / largest)) if largest > 0 else None
    score = None if sigma_vol is None else float(np.clip(1.0 - sigma_vol - sigma_time, 0.0, 1.0))
    return PeriodMetrics(
        r_io=r_io,
        b_io=b_io,
        sigma_vol=sigma_vol,
        sigma_time=sigma_time,
        volume_per_period=volume_per_period,
        periodicity_score=score,
    )
