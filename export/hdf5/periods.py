"""The groups ``periods``, ``regimes`` and ``components`` of an HDF5 file."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from ...analysis.comparison.layer_periods import DIRECTIONS
from ...analysis.detect import detect_period
from ...analysis.fitting.fourier_fit import FourierFit
from ...analysis.fitting.signal_fit import fit_signal
from ...analysis.registry import detector
from ...analysis.results.result import PeriodResult
from ...analysis.timefrequency.filters import Butterworth, filtered_signal
from ...signals.construction import StepSignal
from .variables import GroupWriter

Place = tuple[int, int]

_AXES: Final = ("layer", "direction")


def write_regimes(writer: GroupWriter, results: Mapping[Place, PeriodResult]) -> None:
    """Write one row for each regime of each signal; rows of one signal stand together, in the order of time.

    Parameters
    ----------
    writer : GroupWriter
        Of a group that inherits the dimensions ``layer`` and ``direction``.
    results : mapping of (layer row, direction row) to PeriodResult
    """
    rows = [(place, regime) for place, result in sorted(results.items()) for regime in result.regimes]
    writer.dimension("regime", len(rows))
    _write_places(writer, "regime", [place for place, _ in rows])
    columns = (
        ("start", "s", "start of the stretch, from the trace's start", [one.start for _, one in rows]),
        ("end", "s", "end of the stretch, from the trace's start", [one.end for _, one in rows]),
        ("period", "s", "period that holds in it", [one.period for _, one in rows]),
        ("confidence", "1", "confidence of the method in this period", [_number(one.confidence) for _, one in rows]),
        ("phases", "1", "number of phases that begin in it", [_number(one.phases) for _, one in rows]),
        (
            "valid_share",
            "1",
            "share of it in which the sliding correlation (DFT x DWT) says that the period holds",
            [_number(one.valid_share) for _, one in rows],
        ),
    )
    for name, units, long_name, values in columns:
        writer.numbers(name, ("regime",), np.array(values, np.float64), long_name=long_name, units=units)


def write_components(writer: GroupWriter, fits: Mapping[Place, FourierFit]) -> None:
    """Write one row for each cosine of each signal, the strongest first.

    Parameters
    ----------
    writer : GroupWriter
        As of `write_regimes`.
    fits : mapping of (layer row, direction row) to FourierFit
    """
    rows = [(place, fit, number) for place, fit in sorted(fits.items()) for number in range(len(fit.components))]
    writer.dimension("component", len(rows))
    _write_places(writer, "component", [place for place, _, _ in rows])

    def column(name: str, of_fit: bool) -> npt.NDArray[np.float64]:
        parts = (fit.components if of_fit else fit.lines for _, fit, _ in rows)
        return np.array([getattr(part, name)[row[2]] for part, row in zip(parts, rows, strict=True)], np.float64)

    for name, units, long_name in (
        ("frequency", "s-1", "frequency of the cosine"),
        ("amplitude", "byte s-1", "amplitude of the cosine"),
        ("phase", "radian", "phase of the cosine at the window's start"),
    ):
        writer.numbers(name, ("component",), column(name, True), long_name=f"{long_name}, fitted", units=units)
        line = f"{long_name}, line of the Fourier transform"
        writer.numbers(f"line_{name}", ("component",), column(name, False), long_name=line, units=units)
    for name, long_name in (("fit", "fitted sum"), ("line", "sum of the lines")):
        values = [
            (fit.components if name == "fit" else fit.lines).mean_square_error / max(fit.lines.mean, 1e-300) ** 2
            for _, fit, _ in rows
        ]
        writer.numbers(
            f"{name}_error",
            ("component",),
            np.array(values, np.float64),
            long_name=f"mean square error of the {long_name} of the signal, over the square of its mean",
            units="1",
        )


def _number(value: float | None) -> float:
    return np.nan if value is None else float(value)


def _write_places(writer: GroupWriter, dimension: str, places: list[Place]) -> None:
    rows = np.array(places, np.int32).reshape(-1, len(_AXES))
    for position, axis in enumerate(_AXES):
        long_name = f"row of the {dimension}'s {axis} in the dimension {axis}"
        writer.numbers(f"{dimension}_{axis}", (dimension,), rows[:, position], long_name=long_name, units="1")


Results = Mapping[tuple[int, int], PeriodResult]

Getter = Callable[[PeriodResult], float | None]

_GRID: Final = ("layer", "direction")

_NUMBERS: Final[tuple[tuple[str, str, str, Getter], ...]] = (
    ("period_s", "s", "strongest period", lambda result: result.period),
    ("frequency_hz", "s-1", "frequency of the strongest period", lambda result: result.frequency),
    ("confidence", "1", "confidence of the method in the period", lambda result: result.confidence),
    ("recurrence_s", "s", "mean time between the starts of phases", lambda result: result.recurrence),
    ("jitter", "1", "coefficient of variation of the time between phases", lambda result: result.jitter),
    ("fs_hz", "s-1", "sampling frequency of the analysis", lambda result: result.sampling.fs),
    (
        "abstraction_error",
        "1",
        "share of the volume that the bins of the analysis put at another time than the exact signal",
        lambda result: result.sampling.abstraction_error,
    ),
)
"""Variables on (layer, direction): name, units, long name, and where the number stands."""

_METRICS: Final = (
    ("sigma_vol", "1", "standard deviation of the volume of a period, relative to the largest"),
    ("sigma_time", "1", "standard deviation of the share of substantial I/O in a period from r_io"),
    ("r_io", "1", "share of the time spent on substantial I/O"),
    ("b_io", "byte s-1", "mean bandwidth of the substantial I/O"),
    ("volume_per_period", "byte", "substantial volume of a period"),
    ("periodicity_score", "1", "1 - sigma_vol - sigma_time"),
)


@dataclass(frozen=True)
class PeriodSearch:
    """How periods are looked for: a method, which must exist, its sampling frequency in Hz, and a filter before it."""

    method: str
    fs: float | Literal["auto"]
    filter: str | None = None

    def __post_init__(self) -> None:
        detector(self.method)
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


def write_periods(writer: GroupWriter, results: Results, names: tuple[str, ...]) -> None:
    """Write the verdicts on the signals of `names`.

    Parameters
    ----------
    writer : GroupWriter
        Of a group that inherits the dimensions ``layer``, ``direction`` and ``bnds``.
    results : mapping of (layer row, direction row) to PeriodResult
        Signals without volume have none.
    names : tuple of str
        Layers, as many as ``layer`` has rows.
    """
    shape = (len(names), len(DIRECTIONS))
    periodic = np.zeros(shape, np.int8)
    samples = np.zeros(shape, np.int64)
    interval = np.full((*shape, 2), np.nan)
    for place, result in results.items():
        periodic[place] = result.periodic
        samples[place] = result.sampling.samples
        if result.period_interval is not None:
            interval[place] = result.period_interval
    writer.numbers(
        "periodic",
        _GRID,
        periodic,
        long_name="whether the signal is periodic; no where it moved no bytes",
        flag_values=np.array([0, 1], np.int8),
        flag_meanings="no yes",
    )
    for name, units, long_name, getter in _NUMBERS:
        writer.numbers(name, _GRID, _grid(shape, results, getter), long_name=long_name, units=units)
    writer.numbers(
        "period_interval_s", (*_GRID, "bnds"), interval, long_name="lower and upper end of the period", units="s"
    )
    writer.numbers("samples", _GRID, samples, long_name="number of bins of the analysis", units="1")
    for name, units, long_name in _METRICS:
        writer.numbers(name, _GRID, _grid(shape, results, _metric(name)), long_name=long_name, units=units)
    places = [(row, column) for row in range(shape[0]) for column in range(shape[1])]
    writer.text(
        "method",
        _GRID,
        [results[place].method if place in results else "" for place in places],
        long_name="method that looked for periods",
    )
    writer.text(
        "reason",
        _GRID,
        [results[place].reason if place in results else "The signal moved no bytes." for place in places],
        long_name="why the verdict is what it is",
    )
    _write_tables(writer, results)


def _grid(shape: tuple[int, int], results: Results, getter: Getter) -> npt.NDArray[np.float64]:
    grid = np.full(shape, np.nan)
    for place, result in results.items():
        value = getter(result)
        if value is not None:
            grid[place] = value
    return grid


def _metric(name: str) -> Getter:
    def value(result: PeriodResult) -> float | None:
        found: float | None = getattr(result.metrics, name, None)
        return found

    return value


def _write_tables(writer: GroupWriter, results: Results) -> None:
    """Write tables of which each row names its layer and direction; rows of one signal stand together, in order."""
    found = sorted(results.items())
    _write_table(
        writer,
        "component",
        [
            (place, (one.period, *one.period_interval, one.confidence, one.volume))
            for place, result in found
            for one in result.periods
        ],
        (
            ("period_s", "s", "period of the component; a signal has several at the same time, the strongest first"),
            ("period_low_s", "s", "lower end of the component's period"),
            ("period_high_s", "s", "upper end of the component's period"),
            ("confidence", "1", "confidence of the method in the component's period"),
            ("bytes", "byte", "volume that recurs with the component's period"),
        ),
    )
    _write_table(
        writer,
        "phase",
        [(place, (one.start, one.end, one.volume)) for place, result in found for one in result.phases],
        (
            ("start_s", "s", "start of the phase, a burst of substantial I/O, from the trace's start"),
            ("end_s", "s", "end of the phase, from the trace's start"),
            ("bytes", "byte", "volume of the phase"),
        ),
    )
    _write_table(
        writer,
        "regime",
        [(place, (one.start, one.end, one.period)) for place, result in found for one in result.regimes],
        (
            ("start_s", "s", "start of the regime, a stretch of the run with one period, from the trace's start"),
            ("end_s", "s", "end of the regime, from the trace's start"),
            ("period_s", "s", "period of the regime"),
        ),
    )


def _write_table(
    writer: GroupWriter,
    dimension: str,
    rows: list[tuple[tuple[int, int], tuple[float, ...]]],
    columns: tuple[tuple[str, str, str], ...],
) -> None:
    places = np.array([place for place, _ in rows], np.int32).reshape(-1, len(_GRID))
    values = np.array([row for _, row in rows], np.float64).reshape(-1, len(columns))
    writer.dimension(dimension, len(rows))
    for position, axis in enumerate(_GRID):
        long_name = f"row of the {dimension}'s {axis} in the dimension {axis}"
        writer.numbers(f"{dimension}_{axis}", (dimension,), places[:, position], long_name=long_name, units="1")
    for position, (name, units, long_name) in enumerate(columns):
        writer.numbers(f"{dimension}_{name}", (dimension,), values[:, position], long_name=long_name, units=units)
