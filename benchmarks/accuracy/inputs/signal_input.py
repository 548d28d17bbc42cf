"""What every generator returns: a signal, as intervals or as samples, and the truth about it."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class TrueRegime:
    """A stretch in which one period holds.

    Attributes
    ----------
    start : float
        Start of its first phase in s.
    last : float
        Start of its last phase in s; the stretch may be said to end anywhere from here to one period later.
    period : float
        In s.
    phase_bytes : float
        Mean volume of its phases in bytes.
    """

    start: float
    last: float
    period: float
    phase_bytes: float


@dataclass(frozen=True, eq=False)
class Truth:
    """What is true of a signal.

    Attributes
    ----------
    periods : tuple of float
        Periods in s that hold at the same time, that of more volume first; empty where there is none.
    also_found : tuple of float
        Further periods in s that count as found, where two answers are equally right.
    not_wrong : tuple of float
        Periods in s that do not count as wrong although they are not what is looked for, such as a whole multiple
        where every k-th phase is larger.
    regimes : tuple of TrueRegime
        In the order of time; empty where there is none.
    merged : bool
        Whether regimes of one period may also be reported as one.
    phase_start, phase_end, phase_bytes : float64 (n,) or None
        True phases in s and bytes, where they are known and do not overlap.
    bounded : bool
        Whether the phases hold all that was moved, so that bytes outside of phases can be measured.
    drift : float
        (last interval - first interval) / mean interval.
    pause : float or None
        Constant time in s from the end of a phase to the start of the next.
    law : float or None
        Mean in s of the law that the intervals are drawn from, about which their own mean varies.
    """

    periods: tuple[float, ...] = ()
    also_found: tuple[float, ...] = ()
    not_wrong: tuple[float, ...] = ()
    regimes: tuple[TrueRegime, ...] = ()
    merged: bool = False
    phase_start: Floats | None = None
    phase_end: Floats | None = None
    phase_bytes: Floats | None = None
    bounded: bool = False
    drift: float = 0.0
    pause: float | None = None
    law: float | None = None


NO_PERIOD = Truth()


@dataclass(frozen=True, eq=False)
class SignalInput:
    """A signal as a user would give it, with the truth.

    Attributes
    ----------
    start, end, volume : float64 (n,)
        Intervals of I/O in s and bytes.
    window : (float, float)
        In s.
    truth : Truth
    samples : float64 (m,) or None
        Where given, the input is these samples instead of the intervals; the intervals are then the samples' bins.
    fs : float
        Of the samples in Hz, and the sampling frequency that FTIO is given.
    """

    start: Floats
    end: Floats
    volume: Floats
    window: tuple[float, float]
    truth: Truth = NO_PERIOD
    samples: Floats | None = None
    fs: float = 1.0


def as_bins(values: Floats, width: float, truth: Truth = NO_PERIOD) -> SignalInput:
    """Return mean rates of adjoining bins of one width in s, as intervals from t = 0."""
    edges = width * np.arange(values.size + 1)
    return SignalInput(edges[:-1], edges[1:], values * width, (0.0, float(edges[-1])), truth, fs=1 / width)


def as_samples(given: SignalInput, fs: float) -> SignalInput:
    """Return the same input as bin averages at `fs` in Hz; a rest shorter than a bin at the end is left out."""
    if given.fs == fs and np.allclose(np.diff(given.start), 1 / fs) and np.allclose(given.end - given.start, 1 / fs):
        rates = given.volume * fs
    else:
        rates = bin_averages(given, fs)
    edges = given.window[0] + np.arange(rates.size + 1) / fs
    window = (given.window[0], float(edges[-1]))
    return SignalInput(edges[:-1], edges[1:], rates / fs, window, given.truth, rates, fs)


def bin_averages(given: SignalInput, fs: float) -> Floats:
    """Return the mean rate in each whole bin of the window, in bytes/s."""
    low, high = given.window
    edges = low + np.arange(int((high - low) * fs + 1e-9) + 1) / fs
    # Volume until t: each interval adds a ramp from its start to its end; one of no length adds a step.
    length = np.maximum(given.end - given.start, 1e-9)
    slope = given.volume / length
    places = np.concatenate((given.start, given.start + length))
    changes = np.concatenate((slope, -slope))
    order = np.argsort(places, kind="stable")
    places, changes = places[order], changes[order]
    rate = np.concatenate(([0.0], np.cumsum(changes)))
    until = np.concatenate(([0.0], np.cumsum(rate[1:-1] * np.diff(places))))
    moved = np.interp(edges, places, until, left=0.0, right=float(until[-1]))
    return np.maximum(np.diff(moved), 0.0) * fs
