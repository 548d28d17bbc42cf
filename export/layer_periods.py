"""Which layers and directions are asked for, and the period of each."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from ..analysis.detect import detect_period
from ..analysis.registry import DEFAULT_METHOD
from ..analysis.results import PeriodResult
from ..layers.layer import Layer
from ..layers.signal import StepSignal
from ..layers.trace import Trace

DIRECTIONS: Final = ("read", "write")
"""Directions that are looked at unless one is named, each by itself."""


@dataclass(frozen=True, eq=False)
class LayerPeriod:
    """The bandwidth of one layer in one direction, and the verdict on its period."""

    layer: str
    direction: str
    traffic: str
    signal: StepSignal
    result: PeriodResult


def chosen_layers(trace: Trace, names: Iterable[str] = ()) -> tuple[Layer, ...]:
    """Return the layers of these names, highest first; all layers where there are no names.

    Raises
    ------
    SelectionError
        If the trace has no layer of one of the names.
    """
    wanted = {trace.layers[name].name for name in names}
    return tuple(layer for layer in trace.layers.values() if not wanted or layer.name in wanted)


def layer_periods(
    layers: Iterable[Layer],
    directions: Iterable[str] = DIRECTIONS,
    traffic: str = "all",
    method: str = DEFAULT_METHOD,
    fs: float | Literal["auto"] = "auto",
    filter: str | None = None,
) -> Iterator[LayerPeriod]:
    """Detect the period of each layer in each direction in which it moved bytes, one after the other.

    Parameters
    ----------
    layers : iterable of Layer
    directions : iterable of {"read", "write", "total"}
    traffic : {"all", "own", "inherited"}
    method : str
    fs : float or "auto"
        Sampling frequency in Hz.
    filter : str, optional
        As `detect_period` takes it.

    Raises
    ------
    SelectionError
        As `detect_period`.
    """
    directions = tuple(directions)
    for layer in layers:
        for direction in directions:
            signal = layer.bandwidth(direction, traffic)
            if signal.volume > 0:
                result = detect_period(signal, method, fs, filter=filter)
                yield LayerPeriod(layer.name, direction, traffic, signal, result)
