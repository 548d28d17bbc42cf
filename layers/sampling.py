"""Bin averages of a step signal, what they lose, and how fine they should be."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..otf2io.errors import SelectionError

if TYPE_CHECKING:
    from .step import StepSignal

#: Most bins that a signal is sampled into: 128 MiB of float64, and about ten times that in a spectrum.
MOST_BINS = 2**24
#: Fewest bins that `automatic_frequency` chooses.
FEWEST_AUTOMATIC_BINS = 64
#: Share of the volume that `automatic_frequency` lets the bin averages put at another time.
AUTOMATIC_ERROR = 0.05


@dataclass(frozen=True, eq=False)
class Samples:
    """A signal averaged over bins of equal width; the volume is that of the signal.

    Attributes
    ----------
    values : float64 (n,)
        Average in each bin, in `unit`. The last bin may reach past the window's end; the signal is zero there.
    fs : float
        Bins per second.
    start : float
        Beginning of the first bin in s.
    unit, name : str
        As in `StepSignal`.
    abstraction_error : float or None
        `abstraction_error` of the signal at `fs`, where it was asked for.
    """

    values: npt.NDArray[np.float64]
    fs: float
    start: float
    unit: str = "byte s-1"
    name: str = ""
    abstraction_error: float | None = None

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        name = f"{self.name!r}, " if self.name else ""
        return (
            f"Samples({name}{len(self)} bins of {1 / self.fs:.6g} s from {self.start:.6g} s, "
            f"volume={self.volume:.6g}, unit={self.unit!r})"
        )

    @property
    def edges(self) -> npt.NDArray[np.float64]:
        """Edges of the bins in s, float64 (n+1,)."""
        return np.asarray(self.start + np.arange(len(self) + 1) / self.fs, dtype=np.float64)

    @property
    def times(self) -> npt.NDArray[np.float64]:
        """Centres of the bins in s, float64 (n,)."""
        return np.asarray(self.start + (np.arange(len(self)) + 0.5) / self.fs, dtype=np.float64)

    @property
    def volume(self) -> float:
        """Integral over all bins."""
        return float(self.values.sum() / self.fs)

    def to_dict(self) -> dict[str, Any]:
        """Return the samples as a dict of plain numbers and lists."""
        return {
            "name": self.name,
            "unit": self.unit,
            "fs_hz": self.fs,
            "start_s": self.start,
            "abstraction_error": self.abstraction_error,
            "values": self.values.tolist(),
        }

    def to_dataframe(self) -> Any:
        """Return a ``pandas.DataFrame`` with ``value`` by ``time_s``, the bin centres; needs pandas."""
        import pandas

        index = pandas.Index(self.times, name="time_s")
        table = pandas.DataFrame({"value": self.values}, index=index)
        table.attrs = {"name": self.name, "unit": self.unit, "fs_hz": self.fs}
        return table

    def plot(self, ax: Any = None, **kwargs: Any) -> Any:
        """Draw the averages of the bins; needs matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            A new figure without it.
        **kwargs
            For ``Axes.stairs``.

        Returns
        -------
        matplotlib.axes.Axes
        """
        import matplotlib.pyplot as plt

        if ax is None:
            ax = plt.subplots()[1]
        if self.name:
            kwargs.setdefault("label", self.name)
        ax.stairs(self.values, self.edges, **kwargs)
        ax.set_xlabel("time (s)")
        ax.set_ylabel(self.unit)
        return ax

    def to_xarray(self) -> Any:
        """Return an ``xarray.DataArray`` on ``time`` (bin centres, s), with CF attributes; needs xarray."""
        import xarray

        time = ("time", self.times, {"units": "s", "long_name": "time from the trace's start"})
        attributes: dict[str, Any] = {
            "units": self.unit,
            "cell_methods": "time: mean",
            "sampling_frequency_hz": self.fs,
        }
        if self.abstraction_error is not None:
            attributes["abstraction_error"] = self.abstraction_error
        return xarray.DataArray(
            self.values, dims=("time",), coords={"time": time}, name=self.name or None, attrs=attributes
        )


def bin_count(duration: float, fs: float) -> int:
    """Return the number of bins of width 1/`fs` that cover `duration` seconds, at least 1.

    A remainder of less than 1e-9 of a bin, or within the rounding of ``duration * fs``, opens no further bin.

    Raises
    ------
    SelectionError
        If `fs` or ``1 / fs`` is not a finite number above 0, or there would be more than 2^24 bins.
    """
    if not (isinstance(fs, (int, float, np.integer, np.floating)) and math.isfinite(fs) and fs > 0):
        raise SelectionError(f"sampling frequency {fs!r} is not a finite number of Hz above 0")
    if not math.isfinite(1 / float(fs)):
        raise SelectionError(f"sampling frequency {fs!r} Hz is too low: 1/fs is not a finite number of seconds")
    exact = duration * float(fs)
    if exact > MOST_BINS + 0.5:
        raise SelectionError(
            f"sampling {duration:.6g} s at {fs:.6g} Hz takes {exact:.3g} bins, more than {MOST_BINS}: "
            "use a lower frequency or a shorter window"
        )
    tolerance = max(1e-9, 8 * np.finfo(np.float64).eps * exact)
    return max(1, math.ceil(exact - tolerance))


def bin_averages(signal: "StepSignal", fs: float) -> npt.NDArray[np.float64]:
    """Return the average of `signal` in each bin of width 1/`fs`, float64 (n,)."""
    from .binning import bin_volumes

    bins = bin_count(signal.duration, fs)
    volumes = bin_volumes(signal.times, signal.values, signal.impulse_times, signal.impulse_volumes, float(fs), bins)
    return np.asarray(volumes * float(fs), dtype=np.float64)


def deviation_share(signal: "StepSignal", averages: npt.NDArray[np.float64], fs: float) -> float:
    """Return `abstraction_error` of `signal` for the bin averages at `fs` already at hand."""
    from .binning import absolute_deviation

    if signal.volume == 0:
        return 0.0
    misplaced = absolute_deviation(signal.times, signal.values, averages, float(fs)) + signal.impulse_volumes.sum()
    return float(min(1.0, misplaced / (2 * signal.volume)))


def abstraction_error(signal: "StepSignal", fs: float) -> float:
    """Return the share of the volume that bin averages put at another time than the exact signal.

    With x(t) the signal, x̄(t) its bin averages and V its volume this is ½ ∫|x(t) − x̄(t)| dt / V, the total variation
    distance of the two distributions of volume over time: 0 where the averages reproduce the signal, towards 1 where
    hardly any volume stays in place. An impulse is spread over its bin, so all of its volume counts as displaced.
    The integral is exact, not sampled; the cost is linear in steps and bins. A signal without volume has the error 0.

    The abstraction error of the FTIO paper (Tarraf et al., IPDPS 2024, §II-B and §II-E) is the difference in volume
    between the discrete and the original signal, because FTIO takes the value of the signal at points in time. Averages
    conserve the volume, so that difference is zero here for every fs and says nothing; hence this distance.

    Parameters
    ----------
    signal : StepSignal
    fs : float
        Sampling frequency in Hz.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    SelectionError
        As `StepSignal.sample`.
    """
    return deviation_share(signal, bin_averages(signal, fs), fs)


def automatic_frequency(signal: "StepSignal", most_bins: int = 2**17) -> float:
    """Return a sampling frequency in Hz that follows from the signal.

    It is the lowest frequency on the ladder 64, 128, 256, ... bins per window whose `abstraction_error` is at most 5 %,
    or, where no rung achieves that, the highest rung of at most `most_bins` bins. A constant signal and one without
    volume get 64 bins; a train of pulses much shorter than the finest bin, or of impulses, gets the highest rung.

    The FTIO paper (Tarraf et al., IPDPS 2024, §II-E) takes the smallest change of the bandwidth over time and notes
    that this is often needlessly fine: one operation of a nanosecond would decide for the whole run. Here an operation
    counts by its volume.

    The bins of one rung are halves of those of the rung below. The distance of a signal to its averages at most doubles
    from one partition to a finer one, so once a rung has more than twice the tolerated error, no coarser rung is
    acceptable and the search, from the finest rung down, ends.

    Parameters
    ----------
    signal : StepSignal
    most_bins : int
        Upper limit of the number of bins, from 1 to 2^24.

    Raises
    ------
    SelectionError
        If `most_bins` is out of range.
    """
    if not 1 <= most_bins <= MOST_BINS:
        raise SelectionError(f"most_bins {most_bins!r} is not between 1 and {MOST_BINS}")
    bins = 1 << (int(most_bins).bit_length() - 1)
    chosen = bins
    while bins >= FEWEST_AUTOMATIC_BINS:
        error = abstraction_error(signal, bins / signal.duration)
        if error > 2 * AUTOMATIC_ERROR:
            break
        if error <= AUTOMATIC_ERROR:
            chosen = bins
        bins //= 2
    return chosen / signal.duration
