"""Bin averages of a step signal, what they lose, and how fine they should be."""

import math
from typing import Any, ClassVar, Final

import numpy as np

from ..model.arrays import Floats
from ..model.display import axes_for
from ..model.document import Record
from ..model.errors import SelectionError, import_library
from ..model.quantities import is_number

MOST_BINS: Final = 2**24
"""Most bins that a signal is sampled into: 128 MiB of float64, and about ten times that in a spectrum."""


class Samples(Record, eq=False):
    """A signal averaged over bins of equal width; the volume is that of the signal.

    Attributes
    ----------
    values : float64 (n,)
        Average in each bin, in `unit`. The last bin may extend past the window's end; the signal is zero there.
    fs : float
        Bins per second.
    start : float
        Beginning of the first bin in s.
    unit, name : str
        As in `StepSignal`.
    abstraction_error : float or None
        `abstraction_error` of the signal at `fs`, where it was asked for.
    """

    ENTRIES: ClassVar = ("name", "unit", "fs", "start", "abstraction_error", "values")

    values: Floats
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
    def edges(self) -> Floats:
        """Edges of the bins in s, float64 (n+1,)."""
        return np.asarray(self.start + np.arange(len(self) + 1) / self.fs, dtype=np.float64)

    @property
    def times(self) -> Floats:
        """Centres of the bins in s, float64 (n,)."""
        return np.asarray(self.start + (np.arange(len(self)) + 0.5) / self.fs, dtype=np.float64)

    @property
    def volume(self) -> float:
        """Integral over all bins."""
        return float(self.values.sum() / self.fs)

    def to_dataframe(self) -> Any:
        """Return a ``pandas.DataFrame`` with ``value`` by ``time_s``, the bin centres; needs pandas."""
        pandas = import_library("pandas")
        index = pandas.Index(self.times, name="time_s")
        table = pandas.DataFrame({"value": self.values}, index=index)
        table.attrs = {"name": self.name, "unit": self.unit, "fs_hz": self.fs}
        return table

    def plot(self, ax: Any = None, **kwargs: Any) -> Any:
        """Draw the averages of the bins; needs matplotlib.

        Returns `ax`, without it the axes of a new figure; further arguments are for ``Axes.stairs``.
        """
        ax = axes_for(ax, "time (s)", self.unit)
        if self.name:
            kwargs.setdefault("label", self.name)
        ax.stairs(self.values, self.edges, **kwargs)
        return ax

    def to_xarray(self) -> Any:
        """Return an ``xarray.DataArray`` on ``time`` (bin centres, s), with CF attributes; needs xarray."""
        xarray = import_library("xarray")
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

    A remainder of less than 1e-9 of a bin, or within the rounding of ``duration * fs``, opens no further bin. Raises
    SelectionError if `fs` or ``1 / fs`` is not a finite number above 0, or there would be more than 2^24 bins.
    """
    if not (is_number(fs) and math.isfinite(fs) and fs > 0):
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
