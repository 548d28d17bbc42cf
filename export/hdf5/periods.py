"""The groups ``periods``, ``regimes`` and ``components`` of an HDF5 file."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from operator import attrgetter
from typing import Final, Literal

import numpy as np

from ...analysis.detect import detect_period
from ...analysis.fitting import FourierFit, fit_signal
from ...analysis.registry import period_method
from ...analysis.results.result import PeriodResult
from ...analysis.timefrequency.filters import Butterworth, filtered_signal
from ...layers.selection.directions import DIRECTIONS
from ...signals.construction import StepSignal
from .groups import write_axes
from .variables import GroupWriter, Variable

Place = tuple[int, int]
"""Row of the layer and of the direction of a signal."""

_GRID: Final = ("layer", "direction")

_VERDICTS: Final[tuple[Variable, ...]] = (
    ("periodic", "flag", "whether the signal is periodic; no where it moved no bytes"),
    ("period_s", "s", "strongest period", attrgetter("period")),
    ("frequency_hz", "s-1", "frequency of the strongest period", attrgetter("frequency")),
    ("confidence", "1", "confidence of the method in the period"),
    ("recurrence_s", "s", "mean time between the starts of phases", attrgetter("recurrence")),
    ("jitter", "1", "coefficient of variation of the time between phases"),
    ("fs_hz", "s-1", "sampling frequency of the analysis", attrgetter("sampling.fs")),
    ("abstraction_error", "1", "share of the volume that sampling displaces", attrgetter("sampling.abstraction_error")),
    ("samples", "count", "number of bins of the analysis", attrgetter("sampling.samples")),
    ("method", "text", "method that looked for periods"),
)
_METRICS: Final[tuple[Variable, ...]] = (
    ("sigma_vol", "1", "standard deviation of the volume of a period, relative to the largest"),
    ("sigma_time", "1", "standard deviation of the share of substantial I/O in a period from r_io"),
    ("r_io", "1", "share of the time spent on substantial I/O"),
    ("b_io", "byte s-1", "mean bandwidth of the substantial I/O"),
    ("volume_per_period", "byte", "substantial volume of a period"),
    ("periodicity_score", "1", "1 - sigma_vol - sigma_time"),
)
"""On (layer, direction), as the verdicts are."""

_START: Final = "start of the {}, from the trace's start"
_END: Final = "end of the {}, from the trace's start"

_TABLES: Final[tuple[tuple[str, str, tuple[Variable, ...]], ...]] = (
    (
        "concurrent_period",
        "periods",
        (
            (
                "period_s",
                "s",
                "period that holds at the same time as others; the strongest of a signal comes first",
                attrgetter("period"),
            ),
            ("period_low_s", "s", "lower end of this period", lambda one: one.period_interval[0]),
            ("period_high_s", "s", "upper end of this period", lambda one: one.period_interval[1]),
            ("confidence", "1", "confidence of the method in this period"),
            ("bytes", "byte", "volume that recurs with this period", attrgetter("volume")),
        ),
    ),
    (
        "phase",
        "phases",
        (
            ("start_s", "s", _START.format("phase, a burst of substantial I/O"), attrgetter("start")),
            ("end_s", "s", _END.format("phase"), attrgetter("end")),
            ("bytes", "byte", "volume of the phase", attrgetter("volume")),
        ),
    ),
    (
        "regime",
        "regimes",
        (
            ("start_s", "s", _START.format("regime, a stretch of the run with one period"), attrgetter("start")),
            ("end_s", "s", _END.format("regime"), attrgetter("end")),
            ("period_s", "s", "period of the regime", attrgetter("period")),
        ),
    ),
)
"""Tables in the group ``periods``: their dimension, what of a result they list, and their variables."""

_REGIMES: Final[tuple[Variable, ...]] = (
    ("start", "s", _START.format("stretch")),
    ("end", "s", _END.format("stretch")),
    ("period", "s", "period that holds in it"),
    ("confidence", "1", "confidence of the method in this period"),
    ("phases", "1", "number of phases that begin in it"),
    ("valid_share", "1", "share of it in which the sliding correlation (DFT x DWT) says that the period holds"),
)

_COSINES: Final = (
    ("frequency", "s-1", "frequency of the cosine"),
    ("amplitude", "byte s-1", "amplitude of the cosine"),
    ("phase", "radian", "phase of the cosine at the window's start"),
)


@dataclass(frozen=True)
class PeriodSearch:
    """How periods are looked for: a method, which must exist, its sampling frequency in Hz, and a filter before it."""

    method: str
    fs: float | Literal["auto"]
    filter: str | None = None

    def __post_init__(self) -> None:
        period_method(self.method)
        if self.filter is not None:
            Butterworth.parse(self.filter)

    def of(self, signal: StepSignal) -> PeriodResult:
        """Return the verdict on `signal`."""
        return detect_period(signal, self.method, self.fs, filter=self.filter)

    def fit(self, signal: StepSignal, components: int) -> FourierFit:
        """Return `signal`, after the filter, as `components` cosines."""
        if self.filter is None:
            return fit_signal(signal, components, fs=self.fs).fit
        filtered = filtered_signal(signal, self.filter, self.fs)
        return fit_signal(filtered.signal, components, fs=self.fs, baseline=filtered.baseline).fit


def write_regimes(writer: GroupWriter, results: Mapping[Place, PeriodResult]) -> None:
    """Write one row for each regime of each signal; rows of one signal stand together, in the order of time.

    Parameters
    ----------
    writer : GroupWriter
        Of a group that inherits the dimensions ``layer`` and ``direction``.
    results : mapping of (layer row, direction row) to PeriodResult
    """
    rows = [(place, regime) for place, result in sorted(results.items()) for regime in result.regimes]
    _write_places(writer, "regime", [place for place, _ in rows])
    writer.table(("regime",), [one for _, one in rows], _REGIMES)


def write_components(writer: GroupWriter, fits: Mapping[Place, FourierFit]) -> None:
    """Write one row for each cosine of each signal, the strongest first.

    Parameters
    ----------
    writer : GroupWriter
        As of `write_regimes`.
    fits : mapping of (layer row, direction row) to FourierFit
    """
    rows = [(place, fit, number) for place, fit in sorted(fits.items()) for number in range(len(fit.components))]
    row = ("component",)
    _write_places(writer, "component", [place for place, _, _ in rows])
    for name, units, long_name in _COSINES:
        fitted = [getattr(fit.components, name)[number] for _, fit, number in rows]
        lines = [getattr(fit.lines, name)[number] for _, fit, number in rows]
        writer.floats(name, row, fitted, units, f"{long_name}, fitted")
        writer.floats(f"line_{name}", row, lines, units, f"{long_name}, line of the Fourier transform")
    for name, of, what in (("fit", "components", "fitted sum"), ("line", "lines", "sum of the lines")):
        errors = [getattr(fit, of).mean_square_error / max(fit.lines.mean, 1e-300) ** 2 for _, fit, _ in rows]
        long_name = f"mean square error of the {what} of the signal, over the square of its mean"
        writer.floats(f"{name}_error", row, errors, "1", long_name)


def write_periods(writer: GroupWriter, results: Mapping[Place, PeriodResult], names: tuple[str, ...]) -> None:
    """Write the verdicts on the signals of `names`.

    Parameters
    ----------
    writer : GroupWriter
        As of `write_regimes`.
    results : mapping of (layer row, direction row) to PeriodResult
        Signals without volume have none.
    names : tuple of str
        Layers, as many as ``layer`` has rows.
    """
    write_axes(writer, names)
    found = [results.get(place) for place in product(range(len(names)), range(len(DIRECTIONS)))]
    writer.table(_GRID, found, _VERDICTS)
    writer.table(_GRID, [None if one is None else one.metrics for one in found], _METRICS)
    interval = [end for one in found for end in (one and one.period_interval) or (None, None)]
    writer.floats("period_interval_s", (*_GRID, "bnds"), interval, "s", "lower and upper end of the period")
    reasons = ["The signal moved no bytes." if one is None else one.reason for one in found]
    writer.text("reason", _GRID, reasons, long_name="why the verdict is what it is")
    for dimension, listed, variables in _TABLES:
        rows = [(place, one) for place, result in sorted(results.items()) for one in getattr(result, listed)]
        _write_places(writer, dimension, [place for place, _ in rows])
        writer.table((dimension,), [one for _, one in rows], variables, f"{dimension}_")


def _write_places(writer: GroupWriter, dimension: str, places: list[Place]) -> None:
    """Create a dimension whose rows belong to signals; rows of one signal stand together, in order."""
    writer.dimension(dimension, len(places))
    for position, axis in enumerate(_GRID):
        long_name = f"row of the {dimension}'s {axis} in the dimension {axis}"
        rows = [place[position] for place in places]
        writer.integers(f"{dimension}_{axis}", (dimension,), rows, "1", long_name, np.int32)
