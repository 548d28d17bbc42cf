"""The bandwidth of a layer in bins of 1/fs seconds for FTIO; without --layer that which the program moved most in."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

from ..analysis.comparison.layer_periods import chosen_layers
from ..analysis.spectral.sampling_rate import phase_frequency
from ..layers.layer import Layer
from ..layers.selection.directions import DIRECTIONS, Direction, Traffic
from ..layers.trace import Trace, check_frequency
from ..model.errors import SelectionError
from ..signals.step import StepSignal
from .atomic import atomic_file
from .exporters import Exporter, OptionError
from .written import Written

SUFFIX: Final = ".ftio.jsonl"
_MODES: Final = {"read": "read_sync", "write": "write_sync"}


def write_ftio(
    trace: Trace,
    path: str | os.PathLike[str],
    *,
    layers: str | Iterable[str] | None = None,
    direction: Direction | None = None,
    traffic: Traffic = "all",
    fs: float | Literal["auto"] = "auto",
) -> Written:
    """Write the bandwidth of a layer as bin averages, for ``ftio PATH -m write -f FS``.

    FTIO (read with its version 0.0.9) takes one value of the bandwidth every 1/`fs` seconds. Of bins of that width it
    takes the average of each, so its spectrum is the one that the method ``ftio`` sees here. The sum over values times
    their distance is the layer's bytes. Both directions are in the file; ``-m`` chooses.

    Parameters
    ----------
    trace : Trace
    path : path
        File to write, which FTIO knows by the suffix ``.jsonl``. One that is there is replaced.
    layers : str or iterable of str, optional
        One layer, as there is one in a file; unless given the one that moved most of what the program itself asked for
        (the highest of equals).
    direction : {"read", "write"}, optional
        Only this one; it then decides an automatic frequency alone.
    traffic : {"all", "own", "inherited"}
    fs : float or "auto"
        Bins per second (Hz); "auto" as the method ``ftio`` has it, where directions differ the highest.

    Raises
    ------
    SelectionError
        If there are several layers, a layer, direction, traffic or `fs` does not exist or makes no sense, or nothing
        was moved.
    OutputError
        If the file cannot be written; nothing is left behind then.
    """
    if direction is not None and direction not in DIRECTIONS:
        raise SelectionError(f"FTIO knows no direction {direction!r}; choose one of {', '.join(DIRECTIONS)}")
    wanted = DIRECTIONS if direction is None else (direction,)
    found = chosen_layers(trace, layers) if layers else (_busiest(trace, wanted),)
    if len(found) > 1:
        raise OptionError(f"FTIO's file holds one layer: choose one of {', '.join(one.name for one in found)}")
    (chosen,) = found
    signals = {name: chosen.bandwidth(name, traffic) for name in wanted}
    moving = [signal for signal in signals.values() if signal.volume > 0]
    if not moving:
        raise SelectionError(f"layer {chosen.name} moved no bytes here, so FTIO has nothing to look at; choose another")
    rate = max(phase_frequency(signal) for signal in moving) if fs == "auto" else fs
    check_frequency(trace, rate)
    line = {_MODES[name]: _sample(chosen, name, traffic, trace.ranks, signal, rate) for name, signal in signals.items()}
    with atomic_file(path) as temporary:
        temporary.write_text(json.dumps(line, allow_nan=False) + "\n", "ascii")
    target = Path(path)
    bins = len(moving[0].sample(rate))
    note = None if layers else _choice(trace, chosen.name)
    return Written(target, target.stat().st_size, (chosen.name,), bins=bins, fs=float(rate), note=note)


def _busiest(trace: Trace, directions: tuple[Direction, ...]) -> Layer:
    """Return the layer that moved most of the program's own bytes. SelectionError where there are no layers."""
    if not trace.order:
        raise SelectionError(f"{trace.path}: no layers are recorded here, so FTIO has nothing to look at")
    own = [sum(trace.layers[name].statistics(one, "own").bytes for one in directions) for name in trace.order]
    return trace.layers[trace.order[own.index(max(own))]]


def _sample(
    layer: Layer, direction: Direction, traffic: Traffic, ranks: int, signal: StepSignal, fs: float
) -> dict[str, Any]:
    """Return what TMIO tells of one direction, as far as FTIO's spectrum needs it."""
    values = signal.sample(fs).values
    # FTIO adds up the distance of its samples in the same way: they meet the edges to the last bit.
    times = np.cumsum(np.append(signal.window[0], np.full(len(values), 1 / fs)))
    # Half a bin more, so that no rounding takes the last sample away.
    times = np.append(times, times[-1] + 0.5 / fs)
    return {
        "total_bytes": round(signal.volume),
        "total_io_ops": layer.statistics(direction, traffic).operations,
        "number_of_ranks": ranks,
        "bandwidth": {"b_overlap_avr": [*values.tolist(), 0.0, 0.0], "t_overlap": times.tolist()},
    }


def _choice(trace: Trace, taken: str) -> str | None:
    """Return which layer was chosen where nobody named one, and which others there are."""
    if len(trace.order) < 2:
        return None
    others = ", ".join(name for name in trace.order if name != taken)
    most = "bytes" if trace.definitions.recording.reason("handles") else "of the program's own bytes"
    return f"{SUFFIX} holds one layer: {taken} moved most {most}; --layer takes another ({others})"


EXPORTER: Final = Exporter(write_ftio, "formats")
