"""Samples out of traces: the bandwidth of one layer of each."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...layers.selection.directions import Direction
from ...layers.trace import Trace
from ...model.arrays import Frozen
from ...model.errors import SelectionError
from ...signals.construction import signal_of_samples
from ...signals.step import StepSignal
from ..collection.loops import loop_rows
from ..collection.names import distinct_names
from ..differences.iterations import RunLoop, loops_of, loops_with_layers
from .sample import MOST_VALUES, Sample, usual_interval

if TYPE_CHECKING:
    from ..collection.tables import Collection


class RunSignals(Frozen):
    """The bandwidths of a run in one direction, of layers that moved bytes, highest first; name, loops and ranks.

    The `trace` is there where it has loops, which those of other runs may tell more of.
    """

    key: str
    name: str
    signals: Mapping[str, StepSignal]
    loops: tuple[RunLoop, ...] = ()
    ranks: int = 0
    trace: Trace | None = None


def run_signals(trace: Trace, key: str, name: str, direction: Direction = "total") -> RunSignals:
    """Return the bandwidths of the layers of a trace; SelectionError if there is no such direction."""
    signals = {layer.name: layer.bandwidth(direction) for layer in trace.layers.values()}
    loops = tuple(loops_with_layers(*loop_rows(trace, key)))
    moving = {layer: signal for layer, signal in signals.items() if signal.volume > 0}
    ranks = 0 if trace.definitions.recording.reason("ranks") else trace.ranks
    return RunSignals(key, name, moving, loops, ranks, trace if loops else None)


def collection_signals(collection: "Collection", direction: str = "total") -> list[RunSignals]:
    """Return the bandwidths of all usable runs of a collection, which has each in 512 bins; TraceError as that."""
    wanted = ("read", "write") if direction == "total" else (direction,)
    found = []
    for run in collection.runs(("signal", "loop", "iteration")):
        signals: dict[str, StepSignal] = {}
        for layer in run.job.layers:
            rows = [row for row in run.signals if row.layer == layer and row.direction in wanted]
            values = np.sum([np.array(row.values) for row in rows], axis=0) if rows else np.zeros(1)
            if values.any():
                signals[layer], _ = signal_of_samples(values, 1 / rows[0].bin_s, rows[0].start_s, "byte s-1")
        if run.job.usable:
            found.append(RunSignals(run.job.job, run.job.name, signals, tuple(loops_of(run)), run.job.ranks or 0))
    return found


def named_apart(runs: Sequence[RunSignals]) -> list[RunSignals]:
    """Return runs with names that tell them apart."""
    names = distinct_names({run.key: run.name for run in runs})
    return [replace(run, name=names[run.key]) for run in runs]


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
    told = zip(runs, signals, strict=True)
    return [Sample(run.name, np.asarray(signal.sample(1 / step).values, np.float64), step) for run, signal in told]
