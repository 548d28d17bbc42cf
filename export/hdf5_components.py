"""The groups ``regimes`` and ``components`` of an HDF5 file: what holds when, and each signal as a few cosines."""

from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from ..analysis.fourier_fit import FourierFit
from ..analysis.results import PeriodResult
from .hdf5_variables import GroupWriter

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
