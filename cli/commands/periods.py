"""Show each layer's bandwidth over time and its period."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ..options import (
    BRIEF,
    DIRECTION,
    FILTER,
    FREQUENCY,
    LAYERS,
    MEMORY,
    METHOD,
    ORDER,
    RANKS,
    READING,
    TRAFFIC,
    TUNING,
    by_rank,
    option,
    picture_option,
)
from ..progress import Progress
from ..request import Request, console, is_given, prepare_picture, print_json, refuse, refuse_frequency, trace_command

if TYPE_CHECKING:
    from ...analysis.comparison.layer_periods import LayerPeriod, PartsLeftOut
    from ...analysis.findings.last_ranks import LastRank, SignalOf
    from ...analysis.timefrequency.filters import Butterworth
    from ...export.written import Written
    from ...layers.selection.directions import Quantity
    from ...layers.trace import Trace

_NEEDS_OPERATIONS: Final = "--memory keeps bytes in bins of time, and --signal needs single operations: leave out one"
PARTS_SHOWN: Final = 8
PARTS_IN_JSON: Final = 1000

SIGNAL = option(
    "--signal",
    "What is looked at: bytes per second, operations per second, metadata events (opens, closes, seeks, …) per "
    "second, or the number of operations under way. Metadata events have neither direction nor traffic.",
    "quantity",
    choices=["bandwidth", "operations", "metadata", "in-flight"],
    default="bandwidth",
)
BY = option(
    "--by",
    "Split each layer by file, stream (files whose names differ in numbers and the like), file system, rank or "
    "compute node: one verdict per part, the largest first.",
    choices=["file", "stream", "filesystem", "rank", "node"],
)
PARTS = option(
    "--parts N",
    "With --by: how many parts of a layer and direction are analysed, the largest first; the rest is named and "
    f"not analysed.  [default: {PARTS_SHOWN}; with --json {PARTS_IN_JSON}]",
    type=click.IntRange(min=1),
)
COMPONENTS = option(
    "--components N",
    "Describe each signal by N cosines, too: frequency in Hz, amplitude in the signal's unit and phase in rad, "
    "fitted by bounded least squares, with the error beside that of the plain sum of the N strongest lines of the "
    "Fourier transform. Sampled at --fs, at most 2^14 times.",
    type=click.IntRange(1, 100),
)
PLOT = picture_option(
    "Draw each signal with phases, regimes and fit, its scalogram, short-time Fourier transform, spectrum and "
    "autocorrelation "
    "(needs matplotlib). A file that is there already is replaced once the new one is complete."
)
PHASES = option(
    "--phases",
    "Also list the phases of each signal: when each begins and ends, how long after the one before, what it "
    "moves, at which mean rate, and which rank was the last one, how long after the median of the ranks. With --json "
    "phases are there anyway, and with this who was last in each.",
)
_OWN = (BRIEF, PHASES, SIGNAL, BY, RANKS, PARTS, COMPONENTS, PLOT)
_SHARED = (LAYERS, DIRECTION, TRAFFIC, METHOD, *TUNING, FREQUENCY, FILTER, ORDER, *READING, MEMORY)


@trace_command("periods traces.otf2 --layer MPI-IO --components 10 --plot periods.png", *_OWN, *_SHARED)
def command(
    request: Request,
    brief: bool,
    phases: bool,
    quantity: "Quantity",
    by: str | None,
    ranks: tuple[int, ...],
    parts: int | None,
    components: int | None,
    picture: Path | None,
    order: int | None,
    **tuning: Any,
) -> None:
    """First a table: each layer and direction that moved bytes, its rate in phases of substantial I/O, its period, and
    from when to when that holds. Then a curve and a verdict of each: the period in s with its uncertainty and the
    confidence in it (0 to 1), or why there is none. Bandwidths are in B/s with decimal prefixes (1 MB/s = 1,000,000
    B/s).

    Phases are bursts of I/O that stand out; recurrence is the mean time between their starts, periodic or not, and
    jitter its coefficient of variation. The abstraction error is the share of the volume that sampling puts at another
    time than the exact signal. Substantial I/O is what runs above the signal's mean: R_IO is its share of the time,
    B_IO its mean value. The periodicity score, 0 to 1, says how much the periods are alike in their volume and in their
    share of substantial I/O: 1 where all are the same.

    In JSON, unit is that of the signal (byte s-1, s-1, or 1 for operations in flight). Volumes are its integral over
    time: bytes, or for the other signals volume, a number of operations or events, or the summed time in operations in
    s.
    """
    by = by_rank(by, ranks)
    directed = (request.direction, request.traffic) != (None, "all")
    refuse({
        "--parts says how many parts are analysed, so it needs --by": parts is not None and by is None,
        "--signal metadata has neither --direction nor --traffic: leave them out": quantity == "metadata" and directed,
        _NEEDS_OPERATIONS: request.memory is not None and quantity != "bandwidth",
        "--phases lists what --brief leaves out: leave out one": brief and phases,
        "--order is that of a filter, so it needs --filter": order is not None and request.filter is None,
    })  # fmt: skip
    refuse_frequency(request, bool(request.filter or components or picture))
    options, filter = _options(request.method, tuning), _filter(request.filter, order)
    prepare_picture(picture)
    from ...analysis.comparison.layer_periods import LayerPeriod, fitted

    trace, found = _search(request, by, parts, ranks, quantity, filter, options)
    periods: list[LayerPeriod | PartsLeftOut] = []
    with Progress("detecting periods") as progress:
        for period in found:
            if components is not None and isinstance(period, LayerPeriod):
                period = replace(period, fit=fitted(period.signal, components, request.fs, filter))
            periods.append(period)
            progress(len(periods), 0)
        written = _draw(request, periods, picture)
    last = _last_ranks(trace, periods) if phases and by is None and quantity == "bandwidth" else {}
    if request.as_json:
        from ...export.json.documents import periods_document

        print_json(periods_document(trace, periods, written, last))
    else:
        from ...export.terminal.periods import print_periods

        print_periods(trace, periods, console(), request.traffic, quantity, written, brief, phases, last)


def _search(
    request: Request,
    by: str | None,
    parts: int | None,
    ranks: tuple[int, ...],
    quantity: "Quantity",
    filter: "Butterworth | None",
    options: dict[str, Any],
) -> "tuple[Trace, Iterator[LayerPeriod | PartsLeftOut]]":
    """Open the trace and return it with the periods of its layers, or of their parts, which are found one by one."""
    from ...analysis.comparison.iterations import loops_of
    from ...analysis.comparison.layer_periods import chosen_layers, layer_periods, part_periods
    from ...layers.selection.directions import NEEDS_OF_QUANTITIES
    from ...layers.statistics.grouping import KINDS_OF_KEYS

    most = parts or (PARTS_IN_JSON if request.as_json or ranks else PARTS_SHOWN)
    trace = request.open(parts=None if by is None else (by, most))
    found: Iterator[LayerPeriod | PartsLeftOut]
    layers = chosen_layers(trace, request.layers)
    looked_at = (request.directions, request.traffic, request.method, request.fs, quantity, filter, options)
    own = is_given("method") or filter is not None or options
    loops = None if own or by not in (None, "stream") else loops_of(trace)
    if by is None:
        found = layer_periods(layers, *looked_at, loops=loops)
    else:
        binned = None if trace.resolution is None else trace.sums.parts(by)
        found = part_periods(layers, by, most, *looked_at, binned, loops, ranks)
    require = trace.definitions.recording.require
    require(trace.path, f"--signal {quantity}", *NEEDS_OF_QUANTITIES[quantity])
    if by is not None:
        require(trace.path, f"--by {by}", *KINDS_OF_KEYS[by].needs)
    return trace, found


def _draw(request: Request, periods: "Iterable[LayerPeriod | PartsLeftOut]", picture: Path | None) -> "Written | None":
    """Write the picture if there is to be one."""
    if picture is None:
        return None
    from ...analysis.comparison.layer_periods import LayerPeriod
    from ...export.figure import write_period_figure

    shown = [period for period in periods if isinstance(period, LayerPeriod)]
    return write_period_figure(shown, picture, request.fs, request.filter)


def _last_ranks(
    trace: "Trace", periods: "Iterable[LayerPeriod | PartsLeftOut]"
) -> "dict[SignalOf, tuple[LastRank | None, ...]]":
    """Return who was last in each phase of each signal."""
    from ...analysis.comparison.layer_periods import LayerPeriod
    from ...analysis.findings.last_ranks import last_ranks

    of = [one for one in periods if isinstance(one, LayerPeriod)]
    return last_ranks(trace, {(one.layer, one.direction or "total", one.traffic): one.result.phases for one in of})


def _options(method: str, tuning: dict[str, Any]) -> dict[str, Any]:
    """Return the options that were given; a usage error where the method has none of that name."""
    given = {name: value for name, value in tuning.items() if value is not None}
    if given:
        from ...analysis.registry import period_method

        known = period_method(method).defaults
        for name in given:
            if name not in known:
                flags = ", ".join(f"--{one.replace('_', '-')}" for one in known if one in tuning) or "none of these"
                raise click.UsageError(
                    f"--{name.replace('_', '-')} is no option of the method {method}: it has {flags}"
                )
    return given


def _filter(text: str | None, order: int | None) -> "Butterworth | None":
    """Return the filter that was asked for."""
    if text is None:
        return None
    from ...analysis.timefrequency.filters import Butterworth

    form = Butterworth.parse(text)
    return form if order is None else replace(form, order=order)
