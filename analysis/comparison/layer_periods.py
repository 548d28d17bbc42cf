"""Which layers, parts of them and directions are asked for, and the period of each."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

from ...layers.layer import Layer, LayerParts
from ...layers.selection.directions import DIRECTIONS, Direction, Quantity, Traffic
from ...layers.statistics.grouping import Key, part_title
from ...layers.summary.parts import BinnedParts, PartSignal
from ...layers.trace import Trace
from ...model.arrays import Frozen
from ...model.errors import SelectionError
from ...signals.construction import StepSignal
from ..detect import detect_period
from ..fitting import SignalFit
from ..registry import DEFAULT_METHOD, period_method
from ..results.result import PeriodResult
from ..timefrequency.filters import Butterworth
from .iterations import LayerLoop, TraceLoops, period_by_loops

NO_OPTIONS: Final[Mapping[str, Any]] = MappingProxyType({})


class LayerPeriod(Frozen):
    """One signal of a layer, or of a part of it, and the verdict on its period.

    Attributes
    ----------
    layer : str
    direction : str or None
        None for metadata events, which have none.
    traffic : str
    signal : StepSignal
    result : PeriodResult
    quantity : str
        What the signal measures, one of `iostrata.layers.selection.directions.QUANTITIES`.
    by : str or None
        The kind of part, such as ``rank``; None for the whole layer.
    part : str, int or None
        The key of the part; with `by`, None stands for operations that have no such key.
    false_alarm_rate : float or None
        At which a part was tested: that of the method over the number of parts; None for the whole layer, or a method
        without such a rate.
    fit : SignalFit or None
        The signal as a few cosines, where that was asked for.
    loop : LayerLoop or None
        What the program does over and over, of which `result` is then the verdict.
    by_signal : PeriodResult or None
        What the method says of the signal alone, where there is a loop.
    """

    layer: str
    direction: Direction | None
    traffic: Traffic
    signal: StepSignal
    result: PeriodResult
    quantity: Quantity = "bandwidth"
    by: str | None = None
    part: Key = None
    false_alarm_rate: float | None = None
    fit: "SignalFit | None" = None
    loop: LayerLoop | None = None
    by_signal: PeriodResult | None = None

    @property
    def of_signal(self) -> PeriodResult:
        """What the method says of the signal alone."""
        return self.by_signal or self.result


class PartsLeftOut(Frozen):
    """Parts of a layer that were not analysed because there are too many.

    Attributes
    ----------
    layer, direction, traffic, quantity, by : str
        As in `LayerPeriod`.
    unit : str
        Of the signals.
    volumes : tuple of (key, float)
        Key of each part and the volume of its signal, the largest first.
    """

    layer: str
    direction: Direction | None
    traffic: Traffic
    quantity: Quantity
    by: str
    unit: str
    volumes: tuple[tuple[Key, float], ...]


def chosen_layers(trace: Trace, names: str | Iterable[str] | None = None) -> tuple[Layer, ...]:
    """Return the layers of these names, or the one of this name, highest first; all layers where there are no names.

    Raises SelectionError if the trace has no layer of one of the names.
    """
    wanted = {trace.layers[name].name for name in ((names,) if isinstance(names, str) else names or ())}
    return tuple(layer for layer in trace.layers.values() if not wanted or layer.name in wanted)


def layer_periods(
    layers: Iterable[Layer],
    directions: Iterable[Direction] = DIRECTIONS,
    traffic: Traffic = "all",
    method: str = DEFAULT_METHOD,
    fs: float | Literal["auto"] = "auto",
    quantity: Quantity = "bandwidth",
    filter: Butterworth | str | None = None,
    options: Mapping[str, Any] = NO_OPTIONS,
    loops: TraceLoops | None = None,
) -> Iterator[LayerPeriod]:
    """Detect the period of each layer in each direction in which there was something, one after the other.

    Parameters
    ----------
    layers : iterable of Layer
    directions : iterable of {"read", "write", "total"}
        Metadata events have none; there is one signal of them.
    traffic : {"all", "own", "inherited"}
    method : str
    fs : float or "auto"
        Sampling frequency in Hz.
    quantity : {"bandwidth", "operations", "metadata", "in-flight"}
    filter : Butterworth or str, optional
        As `detect_period` takes it.
    options : mapping
        Further parameters of the method by name.
    loops : TraceLoops, optional
        Of the trace: the bandwidth of what is moved in a loop has its period, the same in all layers.

    Raises
    ------
    SelectionError
        As `detect_period` and `Layer.signal`.
    """
    detect = _detector(method, fs, filter, options)
    for layer in layers:
        for direction in _ways(quantity, directions):
            signal = layer.signal(quantity, direction or "total", traffic)
            if signal.volume > 0:
                found = LayerPeriod(layer.name, direction, traffic, signal, detect(signal), quantity)
                yield in_loop(found, loops, detect)


def _detector(
    method: str, fs: float | Literal["auto"], filter: Butterworth | str | None, options: Mapping[str, Any]
) -> Callable[[StepSignal], PeriodResult]:
    """Return what gives the verdict on a signal."""
    return lambda signal: detect_period(signal, method, fs, filter=filter, **options)


def in_loop(found: LayerPeriod, loops: TraceLoops | None, detect: Callable[[StepSignal], PeriodResult]) -> LayerPeriod:
    """Return a period as that of the loop that the bytes of a layer, or of one of its streams, are moved in.

    `detect` gives the verdict on other signals.
    """
    direction = found.direction or "total"
    if loops is None or (found.traffic, found.quantity) != ("all", "bandwidth") or found.by not in (None, "stream"):
        return found
    several = loops.deciding(found.layer, direction, found.part if isinstance(found.part, str) else None)
    if not several:
        return replace(found, result=loops.without_slices(found.result, found.layer, direction, found.signal))
    top = found.layer if found.by else loops.top(several[0].loop, direction)

    def leader() -> tuple[str, PeriodResult]:
        return top, found.result if top == found.layer else detect(loops.bandwidth(top, direction))

    result = period_by_loops(several, found.result, found.signal, leader)
    result = loops.without_slices(result, found.layer, direction, found.signal)
    return replace(found, result=result, loop=loops.entry(several[0]), by_signal=found.result)


def part_periods(
    layers: Iterable[Layer],
    by: str,
    most: int,
    directions: Iterable[Direction] = DIRECTIONS,
    traffic: Traffic = "all",
    method: str = DEFAULT_METHOD,
    fs: float | Literal["auto"] = "auto",
    quantity: Quantity = "bandwidth",
    filter: Butterworth | str | None = None,
    options: Mapping[str, Any] = NO_OPTIONS,
    binned: BinnedParts | None = None,
    loops: TraceLoops | None = None,
    only: tuple[Key, ...] = (),
) -> Iterator[LayerPeriod | PartsLeftOut]:
    """Detect the periods of the parts of each layer in each direction, the largest part first.

    Parameters
    ----------
    layers : iterable of Layer
    by : {"file", "stream", "filesystem", "rank", "node", "handle"}
    most : int
        How many parts of a layer and direction are analysed; what is left out follows them as one `PartsLeftOut`.
    directions, traffic, method, fs, quantity, filter, options
        As in `layer_periods`.
    binned : BinnedParts, optional
        Of a trace that was read in bounded memory, where layers do not have their parts.
    loops : TraceLoops, optional
        Of the trace: a stream that is moved in a loop has its period.
    only : tuple
        The only parts that are wanted, by their keys; all without them.

    Raises
    ------
    SelectionError
        As `layer_periods`, or if there is no such key.

    Notes
    -----
    Each part is one more chance for a false alarm. So that the method's false-alarm rate holds for all of them
    together, each is tested at that rate over their number (Bonferroni), whatever layer or direction they belong to.
    """
    what, ways = (quantity, traffic), _ways(quantity, directions)
    tables = [table for layer in layers for table in _part_tables(layer, by, most, ways, what, binned)]
    count = sum(not only or key in only for table in tables for key in table.keys)
    if only and not count:
        raise SelectionError(f"{by} {only[0]} is none of the parts that are looked at here")
    usual = {**period_method(method).defaults, **options}.get("false_alarm_rate")
    rate = None if usual is None else usual / max(count, 1)
    detect = _detector(method, fs, filter, options if rate is None else {**options, "false_alarm_rate": rate})
    signals = _part_signals(tables, by, what, binned)
    for layer, direction, _, keys, left_out in tables:
        for key, signal in zip(keys, signals, strict=False):
            if not only or key in only:
                found = LayerPeriod(layer.name, direction, traffic, signal, detect(signal), quantity, by, key, rate)
                yield in_loop(found, loops, detect)
        if left_out and not only:
            unit = layer.signal(quantity, direction or "total", traffic).unit
            yield PartsLeftOut(layer.name, direction, traffic, quantity, by, unit, left_out)


class _PartTable(NamedTuple):
    """The parts of a layer in one direction: those that are looked at, the largest first, and the others."""

    layer: Layer
    direction: Direction | None
    parts: LayerParts | None
    keys: tuple[Key, ...]
    left_out: tuple[tuple[Key, float], ...]


def _part_tables(
    layer: Layer,
    by: str,
    most: int,
    ways: Iterable[Direction | None],
    what: tuple[Quantity, Traffic],
    binned: BinnedParts | None,
) -> Iterator[_PartTable]:
    """Give the parts of a layer in each direction; `what` are quantity and traffic."""
    quantity, traffic = what
    parts = layer.by(by) if binned is None else None
    for direction in ways:
        way = direction or "total"
        if parts is not None:
            volumes = parts.volumes(quantity, way, traffic)
        elif binned is not None:
            layer.check_quantity(quantity, way, traffic)
            volumes = binned.volumes(layer.categories(way, traffic))
        there = [(key, volume) for key, volume in volumes.items() if volume > 0]
        yield _PartTable(layer, direction, parts, tuple(key for key, _ in there[:most]), tuple(there[most:]))


def _part_signals(
    tables: Iterable[_PartTable], by: str, what: tuple[Quantity, Traffic], binned: BinnedParts | None
) -> Iterator[StepSignal]:
    """Give the signals of the parts that are looked at, in their order; in bins they are all made at once."""
    quantity, traffic = what
    looked_at = [(table, table.direction or "total", key) for table in tables for key in table.keys]
    if binned is None:
        return (table.parts[key].signal(quantity, way, traffic) for table, way, key in looked_at if table.parts)
    wanted = []
    for table, way, key in looked_at:
        part = replace(table.layer, part=part_title(by, key))
        wanted.append(PartSignal(table.layer.categories(way, traffic), key, part.named(way, traffic)))
    return iter(binned.signals(wanted))


def fitted(
    signal: StepSignal, components: int, fs: float | Literal["auto"] = "auto", filter: Butterworth | str | None = None
) -> "SignalFit":
    """Return a signal as `components` cosines.

    Parameters
    ----------
    signal : StepSignal
    components : int
    fs : float or "auto"
        As `iostrata.analysis.fitting.fit_signal` takes it.
    filter : str, optional
        Put before the fit, as it was put before the method.

    Raises SelectionError if the number of components is not at least 1.
    """
    from ..fitting import fit_signal

    if filter is None:
        return fit_signal(signal, components, fs=fs)
    from ..timefrequency.filters import filtered_signal

    filtered = filtered_signal(signal, filter, fs)
    return fit_signal(filtered.signal, components, fs=fs, baseline=filtered.baseline)


def _ways(quantity: Quantity, directions: Iterable[Direction]) -> tuple[Direction | None, ...]:
    return (None,) if quantity == "metadata" else tuple(directions)
