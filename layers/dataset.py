"""The bandwidths of all layers on one time axis, as they stand in the root of an HDF5 file and in xarray."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal, Protocol

import numpy as np

from ..model.definitions import Definitions
from ..model.document import SCHEMA_VERSION
from ..model.errors import SelectionError, import_library
from ..model.version import __version__
from ..signals.samples import bin_count
from ..signals.step import FEWEST_AUTOMATIC_BINS, StepSignal, automatic_frequency
from .layer import Layer
from .selection.directions import DIRECTIONS, check_traffic

VARIABLES: Final[dict[str, dict[str, str]]] = {
    "layer": {"long_name": "I/O layer, highest first"},
    "direction": {"long_name": "direction of the transfers"},
    "time": {
        "long_name": "time from the trace's start, bin centre",
        "units": "s",
        "axis": "T",
        "bounds": "time_bnds",
    },
    "time_bnds": {"long_name": "start and end of the bin", "units": "s"},
    "bandwidth": {
        "long_name": "bandwidth of the layer, mean over the bin",
        "units": "byte s-1",
        "cell_methods": "time: mean",
    },
    "abstraction_error": {
        "long_name": "share of the volume that the bins put at another time than the exact signal",
        "units": "1",
    },
}
"""What readers of such data look for, by the CF conventions."""


class Layered(Protocol):
    """What has layers with bandwidths: `iostrata.Trace`."""

    @property
    def path(self) -> Path: ...
    @property
    def definitions(self) -> Definitions: ...
    @property
    def files(self) -> str: ...
    @property
    def window(self) -> tuple[float, float]: ...
    @property
    def resolution(self) -> float | None: ...
    @property
    def layers(self) -> Mapping[str, Layer]: ...


def common_frequency(trace: Layered, signals: Iterable[StepSignal]) -> float:
    """Return the largest sampling frequency in Hz that one of the signals asks for."""
    start, end = trace.window
    rate = max(map(automatic_frequency, signals), default=FEWEST_AUTOMATIC_BINS / (end - start))
    # Where the bins that were kept begin beside the window, finer ones seem to bring something.
    return float(rate if trace.resolution is None else min(rate, 1 / trace.resolution))


def check_frequency(trace: Layered, fs: float) -> None:
    """Do nothing unless bins of 1/`fs` seconds are finer than those that the trace was read into.

    Raises SelectionError if they are.
    """
    if trace.resolution is not None and fs * trace.resolution > 1 + 1e-6:
        raise SelectionError(
            f"bins of {1 / fs:.6g} s are finer than those that were kept, of {trace.resolution:.6g} s: read the trace "
            "with this frequency or with more memory"
        )


def provenance(trace: Layered, fs: float, automatic: bool, traffic: str) -> dict[str, str | int | float]:
    """Return what tells where the bandwidths come from."""
    program = f"iostrata {__version__}"
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    start, end = trace.window
    recording = trace.definitions.recording
    return {
        "Conventions": "CF-1.11",
        "title": f"I/O of {trace.path} by layer",
        "recorder": recording.recorder,
        "not_recorded": ", ".join(recording.missing),
        "history": f"{now} written by {program}",
        "source": f"{program}, trace {trace.path}",
        "schema_version": SCHEMA_VERSION,
        "trace_start_ticks": trace.definitions.clock.start,
        "ticks_per_second": trace.definitions.clock.ticks_per_second,
        "fs_hz": fs,
        "fs_automatic": int(automatic),
        "window_start_s": start,
        "window_end_s": end,
        "traffic": traffic,
        "files": trace.files,
        **({} if trace.resolution is None else {"resolution_s": trace.resolution}),
    }


def bandwidth_dataset(trace: Layered, fs: float | Literal["auto"], traffic: str) -> Any:
    """Return the bandwidths as an ``xarray.Dataset``; see `iostrata.Trace.to_xarray`."""
    xarray = import_library("xarray")
    check_traffic(traffic)
    layers = [layer for layer in trace.layers.values() if layer.directions]
    signals = [layer.bandwidth(direction, traffic) for layer in layers for direction in DIRECTIONS]
    rate = common_frequency(trace, signals) if fs == "auto" else fs
    start, end = trace.window
    bins = bin_count(end - start, rate)
    check_frequency(trace, rate)
    samples = [signal.sample(rate, abstraction_error=True) for signal in signals]
    shape = len(layers), len(DIRECTIONS)
    edges = start + np.arange(bins + 1) / rate
    coordinates = {
        "layer": ("layer", np.array([layer.name for layer in layers], object)),
        "direction": ("direction", np.array(DIRECTIONS, object)),
        "time": ("time", start + (np.arange(bins) + 0.5) / rate),
    }
    data = {
        "time_bnds": (("time", "bnds"), np.stack((edges[:-1], edges[1:]), axis=1)),
        "bandwidth": (("layer", "direction", "time"), np.reshape([one.values for one in samples], (*shape, bins))),
        "abstraction_error": (("layer", "direction"), np.reshape([one.abstraction_error for one in samples], shape)),
    }
    found = xarray.Dataset(data, coordinates, provenance(trace, float(rate), fs == "auto", traffic))
    for name, attributes in VARIABLES.items():
        found[name].attrs = dict(attributes)
    return found
