"""The step signal: an exact piecewise-constant function of time; `signal` makes them."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..model.arrays import Floats, Frozen, Rows
from ..model.display import axes_for, html_curve, html_table
from ..model.document import Record
from ..model.errors import SelectionError, import_library
from .intervals import ClippedIntervals, checked_window
from .samples import MOST_BINS, Samples, bin_count

_CURVE_BINS = 240


class StepSignal(Record, eq=False):
    """A rate that is constant between breakpoints, with impulses for what moved in no time.

    Attributes
    ----------
    times : float64 (n+1,)
        Breakpoints in s from the trace's start, increasing; the first and the last are the window.
    values : float64 (n,)
        Rate between the breakpoints, in `unit`; never negative.
    impulse_times, impulse_volumes : float64 (m,)
        Breakpoints with volume moved in no time (operations of zero duration), and that volume.
    cumulative : float64 (n+1,)
        Volume from the window's start up to and including each breakpoint and the impulse there; never decreasing.
    unit : str
        Unit of `values`; that of a volume is `unit` times second.
    name : str
        What the signal is, for titles and tables.
    resolution : float
        Width in s of the bins that it was summed up in; 0 where it is exact.
    """

    ENTRIES: ClassVar = ("name", "unit", "window", "volume", "times", "values", "impulse_times", "impulse_volumes")
    KEYS: ClassVar = {"volume": "volume", "window": "window_s", "times": "times_s", "impulse_times": "impulse_times_s"}

    times: Floats
    values: Floats
    impulse_times: Floats
    impulse_volumes: Floats
    cumulative: Floats
    unit: str = "byte s-1"
    name: str = ""
    resolution: float = 0.0

    def __repr__(self) -> str:
        name = f"{self.name!r}, " if self.name else ""
        start, end = self.window
        return (
            f"StepSignal({name}{len(self.values)} steps and {len(self.impulse_times)} impulses "
            f"from {start:.6g} to {end:.6g} s, volume={self.volume:.6g}, unit={self.unit!r})"
        )

    def _repr_html_(self) -> str:

        start, end = self.window
        facts = [
            ("signal", self.name or "(no name)"),
            ("window", f"{start:.6g} to {end:.6g} s"),
            ("volume", f"{self.volume:,.0f} bytes" if self.unit == "byte s-1" else f"{self.volume:.6g} {self.unit} s"),
            ("steps", len(self.values)),
            ("impulses", len(self.impulse_times)),
        ]
        if self.duration <= 0:
            return html_table(facts)
        bins = self.sample(_CURVE_BINS / self.duration).values
        return html_table(facts) + html_curve(bins, f"{self.name} from {start:.6g} to {end:.6g} s")

    @property
    def window(self) -> tuple[float, float]:
        """Start and end of the signal in s."""
        return float(self.times[0]), float(self.times[-1])

    @property
    def duration(self) -> float:
        """Length of the window in s."""
        return float(self.times[-1] - self.times[0])

    @property
    def volume(self) -> float:
        """Integral over the window, impulses included; bytes where the signal is a bandwidth."""
        return float(self.cumulative[-1])

    def volume_until(self, t: npt.ArrayLike) -> Floats:
        """Return the volume from the window's start up to and including `t`, an impulse at `t` included.

        Parameters
        ----------
        t : array-like of float, any shape
            Times in s; before the window the volume is 0, after it that of the signal.

        Returns
        -------
        float64, shape of `t`
            Never decreasing in `t`.
        """
        at = np.asarray(t, dtype=np.float64)
        step = np.clip(np.searchsorted(self.times, at, side="right") - 1, 0, len(self.values) - 1)
        within = np.clip(at, self.times[0], self.times[-1]) - self.times[step]
        until = np.minimum(self.cumulative[step] + self.values[step] * within, self.cumulative[step + 1])
        until = np.where(at >= self.times[-1], self.cumulative[-1], until)
        return np.asarray(np.where(at < self.times[0], 0.0, until), dtype=np.float64)

    def sample(self, fs: float, *, abstraction_error: bool = False) -> Samples:
        """Return the averages of the signal in bins of width 1/`fs`; the volume is conserved.

        Bins start at the window's start and do not include their end, except that an impulse at the window's end is in
        the last bin. There are ceil(duration · fs) bins; the last may extend past the window's end; there the
        signal is zero, so that the sum of the values divided by `fs` is the volume to rounding.

        Parameters
        ----------
        fs : float
            Bins per second (Hz).
        abstraction_error : bool
            Also compute `Samples.abstraction_error`; one more pass over the signal.

        Raises
        ------
        SelectionError
            If `fs` is not a finite number above 0 or there would be more than 2^24 bins.
        """
        averages = bin_averages(self, fs)
        error = deviation_share(self, averages, fs) if abstraction_error else None
        return Samples(averages, float(fs), self.window[0], self.unit, self.name, error)

    def clip(self, start: float, end: float) -> "StepSignal":
        """Return the signal within [start, end], as far as that lies in its window.

        An impulse at `end` is left out unless `end` is the window's own end, so the volumes of adjoining parts add up.

        Raises
        ------
        SelectionError
            If `start` is not below `end`, or the signal has no part between them.
        """
        from .sweep import accumulate

        low, high = checked_window((start, end))
        first, last = self.window
        if low >= last or high <= first:
            raise SelectionError(
                f"window {low:.6g}:{high:.6g} s is outside the signal, which has {first:.6g}:{last:.6g} s"
            )
        if low <= first and high >= last:
            return self
        low, high = max(low, first), min(high, last)
        begin = int(np.searchsorted(self.times, low, side="right")) - 1
        stop = int(np.searchsorted(self.times, high, side="left"))
        times = np.concatenate(([low], self.times[begin + 1 : stop], [high]))
        values = self.values[begin:stop].copy()
        before_end = self.impulse_times <= high if high == last else self.impulse_times < high
        kept = (self.impulse_times >= low) & before_end
        impulses = self.impulse_times[kept], self.impulse_volumes[kept]
        cumulative = accumulate(times, values, *impulses)
        return StepSignal(times, values, *impulses, cumulative, self.unit, self.name, self.resolution)

    @staticmethod
    def sum(signals: Iterable["StepSignal"], name: str = "") -> "StepSignal":
        """Return the sum of at least one signal; all have the same window and unit. Their order does not matter.

        Raises
        ------
        SelectionError
            If there is no signal, or windows or units differ.
        """
        parts = list(signals)
        if not parts:
            raise SelectionError("a sum needs at least one signal")
        for part in parts[1:]:
            if part.window != parts[0].window or part.unit != parts[0].unit:
                raise SelectionError(
                    f"cannot add a signal over {part.window} s in {part.unit!r} to one over {parts[0].window} s in "
                    f"{parts[0].unit!r}: clip them to one window first"
                )
        rate = np.concatenate([part.values for part in parts])
        start = np.concatenate([part.times[:-1] for part in parts])
        end = np.concatenate([part.times[1:] for part in parts])
        point = np.concatenate([part.impulse_times for part in parts])
        order = np.argsort(point)
        point_volume = np.concatenate([part.impulse_volumes for part in parts])
        busy = rate > 0
        start, end, rate = start[busy], end[busy], rate[busy]
        spread = ClippedIntervals(start, end, rate, rate * (end - start), point[order], point_volume[order])
        whole = swept(spread, parts[0].window, parts[0].unit, name)
        return replace(whole, resolution=max(part.resolution for part in parts))

    def __add__(self, other: object) -> "StepSignal":
        if not isinstance(other, StepSignal):
            return NotImplemented
        return StepSignal.sum((self, other), self.name if self.name == other.name else "")

    def to_dataframe(self) -> Any:
        """Return a ``pandas.DataFrame``, one row a step: ``start_s``, ``end_s``, ``value`` in `unit`, ``volume``.

        An impulse is a row that ends where it starts, without a value.
        """
        pandas = import_library("pandas")
        volume = self.values * np.diff(self.times)
        steps = {"start_s": self.times[:-1], "end_s": self.times[1:], "value": self.values, "volume": volume}
        table = pandas.DataFrame(steps)
        if len(self.impulse_times):
            at = self.impulse_times
            impulses = {"start_s": at, "end_s": at, "value": np.full(len(at), np.nan), "volume": self.impulse_volumes}
            table = pandas.concat([table, pandas.DataFrame(impulses)]).sort_values(["start_s", "end_s"])
        table.attrs = {"name": self.name, "unit": self.unit}
        return table.reset_index(drop=True)

    def to_xarray(self) -> Any:
        """Return an ``xarray.Dataset`` on ``time`` (breakpoints, s), with CF attributes; needs xarray.

        ``rate`` holds from its time on until the next one and ends with a missing value; ``volume`` is cumulative and
        counts an impulse from its time on.
        """
        xarray = import_library("xarray")
        time = ("time", self.times, {"units": "s", "long_name": "time from the trace's start"})
        rate = {"units": self.unit, "long_name": self.name or "rate", "cell_methods": "time: point"}
        volume = {"units": f"{self.unit} s", "long_name": "volume from the window's start"}
        return xarray.Dataset(
            {"rate": ("time", np.append(self.values, np.nan), rate), "volume": ("time", self.cumulative, volume)},
            coords={"time": time},
        )

    def plot(self, ax: Any = None, **kwargs: Any) -> Any:
        """Draw the steps, and a tick at the bottom for each impulse; needs matplotlib.

        Returns `ax`, without it the axes of a new figure; further arguments are for ``Axes.stairs``.
        """
        ax = axes_for(ax, "time (s)", self.unit)
        if self.name:
            kwargs.setdefault("label", self.name)
        steps = ax.stairs(self.values, self.times, **kwargs)
        if len(self.impulse_times):
            bottom = np.zeros(len(self.impulse_times))
            ax.plot(self.impulse_times, bottom, "|", color=steps.get_edgecolor(), transform=ax.get_xaxis_transform())
        return ax


def swept(spread: ClippedIntervals, window: tuple[float, float], unit: str, name: str) -> StepSignal:
    """Return the signal of intervals and impulses that lie within `window`."""
    from .sweep import sweep

    by_start, by_end = map(_in_order, (spread.start, spread.end))
    times, values, cumulative, impulse_times, impulse_volumes = sweep(spread, by_start, by_end, *window)
    return StepSignal(times, values, impulse_times, impulse_volumes, cumulative, unit, name)


def _in_order(times: Floats) -> Rows:
    """Return the rows of times in their order, which they often have already."""
    return np.argsort(times) if (times[1:] < times[:-1]).any() else np.arange(times.size)


def bin_averages(signal: StepSignal, fs: float) -> Floats:
    """Return the average of `signal` in each bin of width 1/`fs`, float64 (n,)."""
    from .bins import bin_volumes

    bins = bin_count(signal.duration, fs)
    volumes = bin_volumes(signal.times, signal.values, signal.impulse_times, signal.impulse_volumes, float(fs), bins)
    return np.asarray(volumes * float(fs), dtype=np.float64)


def deviation_share(signal: StepSignal, averages: Floats, fs: float) -> float:
    """Return `abstraction_error` of `signal` for the bin averages at `fs` already at hand."""
    from .bins import absolute_deviation

    if signal.volume == 0:
        return 0.0
    misplaced = absolute_deviation(signal.times, signal.values, averages, float(fs)) + signal.impulse_volumes.sum()
    return float(min(1.0, misplaced / (2 * signal.volume)))


FEWEST_AUTOMATIC_BINS = 64
"""Fewest bins that `automatic_frequency` chooses."""
AUTOMATIC_ERROR = 0.05
"""Share of the volume that `automatic_frequency` lets the bin averages put at another time."""


def abstraction_error(signal: StepSignal, fs: float) -> float:
    """Return the share of the volume that bin averages put at another time than the exact signal.

    With x(t) the signal, x̄(t) its bin averages and V its volume this is ½ ∫|x(t) − x̄(t)| dt / V, the total variation
    distance of the two distributions of volume over time: 0 where the averages reproduce the signal, towards 1 where
    hardly any volume stays in place. An impulse is spread over its bin, so all of its volume counts as displaced.
    The integral is exact, not sampled; the cost is linear in steps and bins. A signal without volume has the error 0.

    The abstraction error of the FTIO paper (Tarraf et al., IPDPS 2024, §II-B and §II-E) is the difference in volume
    between the discrete and the original signal, because FTIO takes the value of the signal at points in time. Averages
    conserve the volume, so that difference is zero here for every fs and of no use; hence this distance. Raises
    SelectionError as `StepSignal.sample`.

    Parameters
    ----------
    fs : float
        Sampling frequency in Hz.

    Returns
    -------
    float
        In [0, 1].
    """
    return deviation_share(signal, bin_averages(signal, fs), fs)


def automatic_frequency(signal: StepSignal, most_bins: int = 2**17) -> float:
    """Return a sampling frequency in Hz that follows from the signal.

    It is the lowest frequency on the ladder 64, 128, 256, ... bins per window whose `abstraction_error` is at most 5 %,
    or, where no rung achieves that, the highest rung of at most `most_bins` bins. A constant signal and one without
    volume get 64 bins; a train of pulses much shorter than the finest bin, or of impulses, gets the highest rung.

    The FTIO paper (Tarraf et al., IPDPS 2024, §II-E) takes the smallest change of the bandwidth over time and notes
    that this is often needlessly fine: one operation of a nanosecond would decide for the whole run. Here an operation
    counts by its volume.

    The bins of one rung are halves of those of the rung below. The distance of a signal to its averages at most doubles
    from one partition to a finer one, so once a rung has more than twice the tolerated error, no coarser rung is
    acceptable and the search, from the finest rung down, ends. Raises SelectionError if `most_bins` is out of range.

    Parameters
    ----------
    most_bins : int
        Upper limit of the number of bins, from 1 to 2^24.
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


class Envelope(Frozen):
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
