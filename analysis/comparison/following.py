"""Whether a signal follows the period of another one, burst by burst, where by itself it shows no such period."""

from typing import Final

import numpy as np

from ...model.arrays import Floats
from ...signals.construction import StepSignal
from ..results.result import PeriodResult

FEWEST_CYCLES: Final = 3
MOST_CYCLES: Final = 4096
PARTS: Final = 32
"""Parts that a cycle is divided into."""
LEAD: Final = 0.25
"""Share of a cycle before its burst: as far as the other signal may be ahead."""
KEPT: Final = 0.5
"""Share of the concentration at the period from which on a signal follows rather than being smeared."""
CHANCE: Final = 0.01
"""Share of signals that have nothing to do with the period and are taken to follow."""
OWN_CHANCE: Final = 0.001
"""The same of a signal's own period, of which the beats are its own phases."""


def follows(
    leader: StepSignal, result: PeriodResult, other: StepSignal, period: float, start: float, end: float
) -> bool:
    """Say whether a signal follows the bursts of another one within a stretch.

    Parameters
    ----------
    leader, result : StepSignal, PeriodResult
        The signal with the period, and its verdict; a cycle goes from one of its phases to the next.
    other : StepSignal
        The signal that may follow, or be ahead; the leader itself, to see whether it has the period there at all.
    period : float
        In s.
    start, end : float
        The stretch in s.

    Notes
    -----
    In each cycle m = ∫ exp(2πiφ) dV / V, φ the time in cycles, says where in the cycle the volume of a signal comes and
    how close together. The signal follows if the mean of m over all cycles is at least half as long as that of the
    leader, and if it is no chance: of n independent complex normal m, the share |Σm|² / (n Σ|m|²) is above c with
    probability (1 - c)^(n - 1). At least every other cycle moves something. Cycles follow the leader's phases, so
    jitter, drift and pauses of the leader do not matter, and each counts alike, so one large burst does not either.
    """
    beats = _beats(result, period, start, end)
    if beats.size < FEWEST_CYCLES:
        return False
    own, moments = _moments(leader, beats, period), _moments(other, beats, period)
    power = float(np.sum(np.abs(moments) ** 2))
    if not power > 0 or 2 * np.count_nonzero(moments) < beats.size:
        return False
    length = abs(complex(moments.mean()))
    share = min(1.0, beats.size * length**2 / power)
    chance = (1 - share) ** (beats.size - 1)
    return length >= KEPT * abs(complex(own.mean())) and chance <= (OWN_CHANCE if other is leader else CHANCE)


def _beats(result: PeriodResult, period: float, start: float, end: float) -> Floats:
    """Return the starts of the cycles: of phases the nearest to a period after the last, or that time without one."""
    phases = np.array([phase.start for phase in result.phases])
    phases = phases[(phases >= start - LEAD * period) & (phases <= end)]
    if phases.size == 0:
        count = min(max(round((end - start) / period), 0), MOST_CYCLES)
        return np.asarray(start + period * np.arange(count), np.float64)
    beats = [float(phases[0])]
    while len(beats) < MOST_CYCLES and beats[-1] + 0.5 * period < phases[-1]:
        expected = beats[-1] + period
        low, high = np.searchsorted(phases, (expected - 0.5 * period, expected + 0.5 * period), side="right")
        near = phases[low:high]
        beats.append(float(near[np.argmin(np.abs(near - expected))]) if near.size else expected)
    return np.array(beats)


def _moments(signal: StepSignal, beats: Floats, period: float) -> np.ndarray[tuple[int], np.dtype[np.complex128]]:
    """Return m of each cycle, 0 where nothing moved."""
    known = np.concatenate(([beats[0] - period], beats, [beats[-1] + period]))
    turns = np.arange(beats.size * PARTS + 1) / PARTS - LEAD
    volume = np.diff(signal.volume_until(np.interp(turns, np.arange(-1, beats.size + 1), known)))
    volume = volume.reshape(beats.size, PARTS)
    total = volume.sum(axis=1)
    around = volume @ np.exp(2j * np.pi * np.arange(PARTS) / PARTS)
    return np.asarray(np.divide(around, total, out=np.zeros(beats.size, np.complex128), where=total > 0))
