"""Samples out of traces: the bandwidth of one layer of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...layers.protocols import AnyTrace
from ...model.errors import SelectionError
from ...signals.step import StepSignal
from .sample import MOST_VALUES, Sample, usual_interval


@dataclass(frozen=True, eq=False)
class RunSignals:
    """The bandwidths of a run in one direction: those layers that moved bytes, highest first."""

    name: str
    signals: Mapping[str, StepSignal]


def run_signals(trace: AnyTrace, name: str, direction: str = "total") -> RunSignals:
    """Return the bandwidths of the layers of a trace; SelectionError if there is no such direction."""
    signals = {layer.name: layer.bandwidth(direction) for layer in trace.layers.values()}
    return RunSignals(name, {layer: signal for layer, signal in signals.items() if signal.volume > 0})


def common_layer(runs: Sequence[RunSignals], layer: str | None = None) -> str:
    """Return the layer to look at: the one named, else the highest that moved bytes in all runs.

    Raises
    ------
    SelectionError
        If a run has none, or not the one named.
    """
    for run in runs:
        if not run.signals:
            raise SelectionError(f"{run.name}: no layer moved bytes in this direction")
        if layer is not None and layer not in run.signals:
            raise SelectionError(f"{run.name}: layer {layer!r} moved no bytes; there are {', '.join(run.signals)}")
    if layer is not None:
        return layer
    for name in runs[0].signals:
        if all(name in run.signals for run in runs):
            return name
    raise SelectionError("no layer moved bytes in all runs; are they of one application?")


def trace_samples(runs: Sequence[RunSignals], layer: str, interval: float | None = None) -> list[Sample]:
    """Return a sample of each run.

    Parameters
    ----------
    layer : str
        As `common_layer` gives it.
    interval : float, optional
        In s; default: about 1/200 of the shortest run.

    Raises
    ------
    SelectionError
        If the interval makes no sense for these runs.
    """
    signals = [run.signals[layer] for run in runs]
    step = interval or usual_interval([signal.duration for signal in signals])
    longest = max(signal.duration for signal in signals)
    if longest / step > MOST_VALUES:
        raise SelectionError(f"an interval of {step:.6g} s makes more than {MOST_VALUES:,} values; take a longer one")
    return [
        Sample(run.name, np.asarray(signal.sample(1 / step).values, np.float64), step)
        for run, signal in zip(runs, signals, strict=True)
    ]
