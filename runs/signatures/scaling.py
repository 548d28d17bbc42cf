"""How the I/O of an application follows the number of its ranks (IOSI, Figure 20)."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from ...model.document import Record
from .traces import RunSignals

NEAR: Final = 0.15
"""How far an exponent may be from 0 or 1 to be called none or linear: 1.1 times as much for twice the ranks."""


_NAMES: Final[dict[int | None, tuple[str, str]]] = {0: ("strong scaling", "the same"), 1: ("weak scaling", "linear")}
"""Of whole powers: what it is where bytes follow it, and how one is told."""


class Scaling(Record):
    """What runs of different numbers of ranks move, and how long they take for it.

    Attributes
    ----------
    ranks : tuple of int
        The numbers of ranks that there are, ascending.
    volume_bytes, busy_s, bandwidth : tuple of float
        Of a run of each (medians): bytes, time in s in which anything moves, and bytes over that time.
    volume_exponent, busy_exponent, bandwidth_exponent : float
        Power of the number of ranks that each follows, by a line through the logarithms of all runs: 1 is linear.
    """

    ranks: tuple[int, ...]
    volume_bytes: tuple[float, ...]
    busy_s: tuple[float, ...]
    bandwidth: tuple[float, ...]
    volume_exponent: float
    busy_exponent: float
    bandwidth_exponent: float

    @property
    def text(self) -> str:
        """What grows with the ranks, in a sentence."""
        told = (
            ("bytes", self.volume_exponent, self.volume_bytes),
            ("the time in which they move", self.busy_exponent, self.busy_s),
            ("the bandwidth meanwhile", self.bandwidth_exponent, self.bandwidth),
        )
        parts = [f"{name} {values[-1] / values[0]:.3g} times ({_kind(power)})" for name, power, values in told]
        kind = _NAMES.get(_near(self.volume_exponent), ("scaling",))[0]
        return f"{kind}: from {self.ranks[0]:,} to {self.ranks[-1]:,} ranks {', '.join(parts)}"


def _near(power: float) -> int | None:
    return next((whole for whole in (0, 1) if abs(power - whole) <= NEAR), None)


def _kind(power: float) -> str:
    return _NAMES.get(_near(power), ("", f"power {power:.2f}"))[1]


def scaling_of(runs: Sequence[RunSignals], layer: str) -> Scaling | None:
    """Return how a layer of runs follows their number of ranks; None where that is one number, or not known."""
    ranks = np.array([run.ranks for run in runs])
    every = np.unique(ranks)
    if len(every) < 2 or every[0] < 1:
        return None
    signals = [run.signals[layer] for run in runs]
    volume = np.array([signal.volume for signal in signals], np.float64)
    # What moves in no time counts as a tick.
    busy = np.array([max(float(np.diff(one.times)[one.values > 0].sum()), 1e-9) for one in signals])
    rows = np.array([volume, busy, volume / busy])
    slopes = [float(np.polyfit(np.log(ranks), np.log(row), 1)[0]) for row in rows]
    moved, lasting, rate = (tuple(float(np.median(row[ranks == one])) for one in every) for row in rows)
    return Scaling(tuple(every.tolist()), moved, lasting, rate, *slopes)
