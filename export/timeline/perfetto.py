"""A timeline as JSON trace events, which Perfetto's UI (ui.perfetto.dev) and chrome://tracing open.

Source: Google, "Trace Event Format" (Chrome), and Perfetto's documentation of what its importer takes: complete events
(``X``) with times in µs, counters (``C``), and names of processes and threads (``M``). Slices of one track must lie
inside one another or not overlap at all: what overlaps by a nanosecond is dropped or drawn wrongly. So times are whole
nanoseconds, written such that an importer that cuts off what is less than a nanosecond reads them back.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from heapq import heappop, heappush
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

from ...analysis.comparison.iterations import loops_of
from ...analysis.comparison.layer_periods import LayerPeriod, chosen_layers, layer_periods
from ...analysis.loops.find import find_loops
from ...analysis.loops.loops import Loop, Loops
from ...analysis.loops.words import blame_text, titled
from ...analysis.registry import DEFAULT_METHOD
from ...layers.attribution.calls.cost import io_seconds
from ...layers.attribution.calls.walk import StackBars
from ...layers.selection.directions import DIRECTIONS, Traffic
from ...layers.trace import Trace
from ...model.arrays import Frozen, Ints
from ...model.definitions import Definitions
from ...model.quantities import bytes_text, counted
from ...signals.step import envelope
from ..atomic import atomic_file
from ..encoding import shortened
from ..exporters import Exporter
from ..json.documents import json_text
from ..written import Written
from .causes import causing_slices, effects_of
from .marks import KINDS, Marks, held_periods, marks_of_files, merged_marks
from .stacks import call_stacks

MOST_SLICES: Final = 200_000
"""Operations, opens, closes and the like that are written one by one; of more, neighbours are written as one."""
COUNTER_BINS: Final = 4096
MOST_PHASES: Final = 10_000
MOST_ITERATIONS: Final = 10_000
"""Of all loops, those that move most first."""
_TRANSFERS: Final = tuple(KINDS.index(mode) for mode in ("read", "write", "flush"))
_CALLS: Final = {KINDS.index("open"): "open", KINDS.index("close"): "close", KINDS.index("other"): "metadata operation"}
"""Kinds of slices that move no bytes, and their names."""
_LANES: Final = 1 << 13
"""Numbers of tracks kept for each loop, more than it has iterations that are listed one by one."""
_CALL_TRACKS: Final = 1 << 20
"""Numbers of tracks of calls are beyond those of operations."""
LAYERS: Final = 1
"""Number of the process that stands for the layers as a whole; ranks follow it."""
_NAME: Final = 300


Pieces = Callable[[dict[str, Any], Iterable["Event"]], Iterator[bytes]]
"""Makes the content of a file of what it is about and of events, whose times are whole ns from 0 on."""


def write_perfetto(
    trace: Trace,
    path: str | os.PathLike[str],
    *,
    layers: str | Iterable[str] | None = None,
    traffic: Traffic = "all",
    method: str = DEFAULT_METHOD,
    fs: float | Literal["auto"] = "auto",
    most_slices: int = MOST_SLICES,
    pieces: Pieces | None = None,
) -> Written:
    """Write a trace's operations, opens, closes, bandwidths and phases as JSON trace events.

    Each rank is a process with a track a layer; what overlaps gets further tracks. Opens, closes and other metadata
    operations last from Enter to Leave where the trace has them, and no time where it has not; below them, all calls of
    each thread with I/O, a track a level, so that who called stands above each operation. The process ``layers`` has a
    counter with the bandwidth of each layer and direction (means over at most 4096 bins, in MB/s) and tracks with its
    phases and its periods, and with the iterations of each loop. Where each operation has a slice of its own, arrows
    lead from it to those of lower layers that it caused. Times are µs from the trace's start.

    Parameters
    ----------
    trace : Trace
        Its window and its selection of files count.
    path, layers, traffic, method, fs
        As in `iostrata.write_report`, with the same errors; counters, phases and periods are of `traffic`, operations
        of all. Where the recorder tells bytes by intervals and no single operations, there are no slices of operations.
    most_slices : int
        Most slices of operations, opens and the like. Where there are more, those of one rank, layer, file and kind
        with little time between them are written as one; and if that is not enough those of one rank, layer and kind.
        As many calls at most, those of one function and level close to each other as one.
    pieces : callable, optional
        Makes the content of a file of another form: of what it is about, and of events with times in ns from 0 on.
    """
    chosen = chosen_layers(trace, layers)
    names = tuple(layer.name for layer in chosen)
    periods = list(layer_periods(chosen, DIRECTIONS, traffic, method, fs, loops=loops_of(trace, method)))
    # What is known by intervals only is shown by the counters.
    slices = _slices(trace, names if trace.definitions.recording.knows("operations") else (), most_slices)
    calls = _calls(trace, most_slices)
    with atomic_file(path) as temporary:
        # Importers drop what lies before 0, which corrected clocks can bring about.
        origin = min(0, _nanoseconds(trace.window[0]))
        about = {"source": "iostrata", "trace": shortened(str(trace.path), _NAME), "start_s": origin / 1e9}
        events = chain(_events(trace, names, periods, slices), () if calls is None else _stacks(trace, calls[0]))
        with temporary.open("wb") as file:
            file.writelines((pieces or _json_pieces)(about, (_later(one, -origin) for one in events)))
        size = temporary.stat().st_size
    seconds = max(slices.gap, 0 if calls is None else calls[1]) / trace.scope.window.ticks_per_second
    count = int(slices.marks.count[np.isin(slices.marks.kind, _TRANSFERS)].sum())
    return Written(Path(path), size, names, operations=count, slices=len(slices.marks), gap_s=seconds)


def _later(event: "Event", by: int) -> "Event":
    if by and "ts" in event:
        event["ts"] += by
        event["effects"] = [(number, begun + by) for number, begun in event.get("effects", ())]
    return event


class _Slices(Frozen):
    """Slices in the order of their process, layer and begin; columns of shape (n,). `file` is −1 for any."""

    marks: Marks
    process: Ints
    layer: Ints
    file: Ints
    gap: int


def _slices(trace: Trace, layers: tuple[str, ...], most: int) -> _Slices:
    marks, key, process, files, finest = marks_of_files(trace, layers)
    marks = marks.take(np.isin(marks.kind, [*_TRANSFERS, *_CALLS]))
    if np.count_nonzero(np.bincount(marks.row * len(KINDS) + marks.kind)) > most:
        # More files and ranks than slices: a slice is then of any file.
        key = key // files * files
        pairs, row_of = np.unique(np.stack((key, process)), axis=1, return_inverse=True)
        marks, (key, process) = replace(marks, row=row_of[marks.row]), pairs
    merged, gap = merged_marks(marks, most)
    key, process = key[merged.row], process[merged.row]
    layer_row, file = np.divmod(key, files)
    order = np.lexsort((-merged.end, merged.start, layer_row, process))
    return _Slices(merged.take(order), process[order], layer_row[order], file[order] - 1, max(gap, finest))


def _calls(trace: Trace, most: int) -> tuple[StackBars, int] | None:
    """Return the calls of threads with I/O, and across which gaps in ticks neighbours are one; None where unknown."""
    if trace.calls.totals is None:
        return None
    with_io = np.flatnonzero(io_seconds(trace.calls.totals) > 0)
    return call_stacks(trace, with_io.tolist(), most)


def _json_pieces(about: dict[str, Any], events: Iterable["Event"]) -> Iterator[bytes]:
    yield f'{{"displayTimeUnit":"ms","otherData":{json_text(about, indent=None)},"traceEvents":[\n'.encode()
    separator = ""
    for event in chain.from_iterable(map(_with_arrows, events)):
        for name in {"ts", "dur"} & event.keys():
            event[name] = _microseconds(event[name])
        text = json_text(event, indent=None) if "args" in event else json.dumps(event)
        yield f"{separator}{text}".encode()
        separator = ",\n"
    yield b"\n]}\n"


def _with_arrows(event: "Event") -> Iterator["Event"]:
    """Give a slice, and the ends of arrows in it as events of their own: each leaves its cause where it arrives."""
    effects, number = event.pop("effects", ()), event.pop("effect", None)
    arrow: Event = {"name": "causes", "cat": "cause", "pid": event["pid"], "tid": event["tid"]}
    start = event.get("ts")
    yield event
    for effect, begun in effects:
        yield {**arrow, "ph": "s", "id": effect, "ts": begun}
    if number is not None:
        yield {**arrow, "ph": "f", "bp": "e", "id": number, "ts": start}


Event = dict[str, Any]
"""An event of the format, but times are ns, and a slice has its number where it is an ``effect``, and those of its
``effects`` with their begins."""


def _events(trace: Trace, layers: tuple[str, ...], periods: list[LayerPeriod], slices: _Slices) -> Iterator[Event]:
    yield from _named("process", LAYERS, 0, "layers", 0)
    for number, period in enumerate(periods):
        yield from _counter(period)
        yield from _phases(period, 2 * number + 1)
    if trace.definitions.recording.knows("operations"):
        yield from _loops(find_loops(trace), 2 * len(periods) + 1)
    yield from _operations(trace, layers, slices)


def _nanoseconds(seconds: float) -> int:
    return round(seconds * 1e9)


def _microseconds(nanoseconds: int) -> float:
    """Return µs such that 1000 times their float64, truncated, is `nanoseconds`."""
    value = nanoseconds / 1000
    return value if int(value * 1000) == nanoseconds else round(value + 0.0002, 4)


def _named(kind: str, process: int, thread: int, name: str, place: int) -> Iterator[Event]:
    """Give the name of a process or thread, and the place at which it is shown."""
    for what, value in (("name", shortened(name, _NAME)), ("sort_index", place)):
        yield {"ph": "M", "name": f"{kind}_{what}", "pid": process, "tid": thread, "args": {what: value}}


def _slice(
    name: str, start: float, end: float, process: int, thread: int, arguments: dict[str, Any], category: str = "io"
) -> Event:
    first = _nanoseconds(start)
    times: Event = {"ts": first, "dur": max(0, _nanoseconds(end) - first)}
    return {"ph": "X", "name": name, "cat": category, **times, "pid": process, "tid": thread, "args": arguments}


def _counter(period: LayerPeriod) -> Iterator[Event]:
    """Give the bandwidth where it changes; the value holds until the next one."""
    shown = envelope(period.signal, COUNTER_BINS, COUNTER_BINS)
    name = f"{period.layer} {period.direction} bandwidth"
    changes = np.flatnonzero(np.append(True, np.diff(shown.mean) != 0)) if len(shown.mean) else np.zeros(0, np.intp)
    for time, rate in zip(shown.edges[changes].tolist(), shown.mean[changes].tolist(), strict=True):
        event: Event = {"ph": "C", "name": name, "pid": LAYERS, "tid": 0, "ts": _nanoseconds(time)}
        yield {**event, "args": {"MB/s": round(rate / 1e6, 6)}}
    end = _nanoseconds(float(shown.edges[-1]))
    yield {"ph": "C", "name": name, "pid": LAYERS, "tid": 0, "ts": end, "args": {"MB/s": 0}}


def _phases(period: LayerPeriod, track: int) -> Iterator[Event]:
    result, title = period.result, f"{period.layer} {period.direction}"
    if result.phases:
        yield from _named("thread", LAYERS, track, f"{title} phases", track)
    for number, phase in enumerate(result.phases[:MOST_PHASES], 1):
        arguments: dict[str, Any] = {"bytes": phase.volume, "number": number, "of": len(result.phases)}
        yield _slice(f"phase {number}: {bytes_text(phase.volume)}", phase.start, phase.end, LAYERS, track, arguments)
    if result.period is not None:
        yield from _named("thread", LAYERS, track + 1, f"{title} period", track + 1)
    reached = -float("inf")
    for begin, end, name, regime in sorted(islice(held_periods(period), MOST_PHASES), key=lambda one: one[0]):
        if regime is None:
            arguments = {"period_s": result.period, "confidence": result.confidence, "reason": result.reason}
        else:
            arguments = {"period_s": regime.period, "confidence": regime.confidence}
        start = max(begin, reached)
        reached = max(reached, end)
        yield _slice(name, start, max(start, end), LAYERS, track + 1, arguments)


def _loops(found: Loops, track: int) -> Iterator[Event]:
    """Give the loops, and the iterations of each on tracks of their own."""
    left, shown = MOST_ITERATIONS, []
    for loop in sorted(found.outermost, key=lambda one: (-one.bytes, one.begin_s)):
        if 0 < len(loop.iterations) <= left:
            left -= len(loop.iterations)
            shown.append(loop)
    shown.sort(key=lambda one: one.begin_s)
    texts = [shortened(text, _NAME) for _, text in titled(found, shown)]
    about = [{"count": one.count, "timing": one.timing, "interval_s": one.interval_s.median} for one in shown]
    times = [(one.begin_s, one.end_s) for one in shown]
    yield from _laid_out("loops", track, list(zip(texts, times, about, strict=True)), "loop")
    for number, (loop, text) in enumerate(zip(shown, texts, strict=True), 1):
        yield from _laid_out(text, track + number * _LANES, _iterations(loop), "iteration")


_Entry = tuple[str, tuple[float, float], dict[str, Any]]
"""Name, begin and end, and arguments of a slice."""


def _laid_out(title: str, track: int, entries: Iterable[_Entry], category: str) -> Iterator[Event]:
    """Give slices, in the order of their begins, each on the first track that is free."""
    tracks = _Tracks()
    for name, (start, end), arguments in entries:
        lane, fresh = tracks.free(_nanoseconds(start), _nanoseconds(end))
        if fresh:
            yield from _named("thread", LAYERS, track + lane, _of_lane(title, lane), track + lane)
        yield _slice(name, start, end, LAYERS, track + lane, arguments, category)


def _iterations(loop: Loop) -> list[_Entry]:
    """Return the iterations of a loop as they begin."""
    found: list[_Entry] = []
    for number, one in enumerate(loop.iterations, 1):
        arguments: dict[str, Any] = {"loop": loop.id, "number": number, "of": loop.count}
        arguments |= {f"{layer} bytes": part.bytes_read + part.bytes_written for layer, part in one.layers.items()}
        arguments |= {"stands out": blame_text(loop, one)} if one.outlier else {}
        found.append((f"iteration {number}", (one.begin_s, one.end_s), arguments))
    return sorted(found, key=lambda one: one[1])


def _number_of(definitions: Definitions, process: int) -> int:
    """Return the number that a process has on the page: its rank, behind all ranks where it has none."""
    ranks = definitions.groups.rank
    ranked = process >= 0 and ranks[process] >= 0
    return LAYERS + 1 + (int(ranks[process]) if ranked else int(ranks.max(initial=-1)) + process + 2)


def _operations(trace: Trace, layers: tuple[str, ...], slices: _Slices) -> Iterator[Event]:
    """Give the slices of each rank and layer, each on the first track that is free."""
    definitions, marks = trace.definitions, slices.marks
    resolution = trace.scope.window.ticks_per_second
    columns = (slices.process, slices.layer, slices.file, marks.kind, marks.start, marks.end, marks.count, marks.bytes)
    place: tuple[int, int] | None = None
    tracks = _Tracks()
    causes = _causes(trace, layers, slices)
    begun = [_nanoseconds(one / resolution) for one in marks.start.tolist()]
    arrows = enumerate(zip(causes.tolist(), effects_of(causes), strict=True))
    for (process, layer, file, kind, first, last, count, volume), (number_of_slice, (cause, effects)) in zip(
        zip(*(column.tolist() for column in columns), strict=True), arrows, strict=True
    ):
        number = _number_of(definitions, process)
        if place is None or place[0] != process:
            title = definitions.groups.name[process] if process >= 0 else "no process"
            yield from _named("process", number, 0, title, number)
        if place != (process, layer):
            place, tracks = (process, layer), _Tracks()
        lane, fresh = tracks.free(first, last)
        track = lane * len(layers) + layer + 1
        if fresh:
            yield from _named("thread", number, track, _of_lane(layers[layer], lane), layer * 1000 + lane)
        word = _CALLS.get(kind, KINDS[kind])
        name = counted(count, word) if count > 1 else word
        arguments: dict[str, Any] = {"operations": count}
        if kind not in _CALLS:
            name, arguments = f"{name} {bytes_text(volume)}", {"bytes": volume, **arguments}
        if file >= 0:
            arguments["file"] = shortened(definitions.files.name[file], _NAME)
        event = _slice(name, first / resolution, last / resolution, number, track, arguments)
        if cause >= 0:
            event["effect"] = number_of_slice + 1
        if effects:
            event["effects"] = [(one + 1, begun[one]) for one in effects]
        yield event


def _causes(trace: Trace, layers: tuple[str, ...], slices: _Slices) -> Ints:
    """Return the slice that caused each, −1 where none is known, as where several operations are one slice."""
    marks, known = slices.marks, trace.definitions.recording.knows("operations")
    if not known or trace.resolution is not None or slices.gap or (marks.count > 1).any():
        return np.full(len(marks), -1, np.int64)
    return causing_slices(trace, layers, slices.process, slices.layer, marks.kind, marks.start, marks.end)


def _stacks(trace: Trace, bars: StackBars) -> Iterator[Event]:
    """Give the calls of threads, each level on tracks of its own: calls of helper threads cross those they help."""
    definitions, second = trace.definitions, trace.scope.window.ticks_per_second
    names = trace.calls.totals.functions.regions.name if trace.calls.totals is not None else ()
    locations, files = definitions.locations, definitions.handles.file
    bars = bars.take(np.lexsort((-bars.end, bars.begin, bars.depth, bars.location)))
    columns = (bars.location, bars.depth, bars.region, bars.handle, bars.begin, bars.end, bars.count)
    place: tuple[int, int] | None = None
    tracks, fresh_tracks = _Tracks(), _CALL_TRACKS
    lanes: list[int] = []
    for location, depth, region, handle, first, last, count in zip(*(one.tolist() for one in columns), strict=True):
        process = int(locations.group[location])
        number = _number_of(definitions, process)
        if place != (location, depth):
            place, tracks, lanes = (location, depth), _Tracks(), []
        lane, fresh = tracks.free(first, last)
        if fresh:
            fresh_tracks += 1
            lanes.append(fresh_tracks)
            title = f"{locations.name[location]}, calls, level {depth + 1}"
            yield from _named("thread", number, fresh_tracks, _of_lane(title, lane), fresh_tracks)
        arguments: dict[str, Any] = {"calls": count}
        if handle >= 0 and files[handle] >= 0:
            arguments["file"] = shortened(definitions.files.name[files[handle]], _NAME)
        name = shortened(names[region], _NAME)
        yield _slice(name, first / second, last / second, number, lanes[lane], arguments, "call")


def _of_lane(title: str, lane: int) -> str:
    """Return the title of a track; all but the first of a kind are numbered."""
    return title if lane == 0 else f"{title} ({lane + 1})"


class _Tracks:
    """Tracks of one rank and layer; each holds slices one after the other."""

    def __init__(self) -> None:
        self._busy: list[tuple[int, int]] = []
        self._idle: list[int] = []
        self._count = 0

    def free(self, start: int, end: int) -> tuple[int, bool]:
        """Return the first free track for a slice, and whether it is new; slices come in the order of their starts."""
        while self._busy and self._busy[0][0] <= start:
            heappush(self._idle, heappop(self._busy)[1])
        fresh = not self._idle
        lane = self._count if fresh else heappop(self._idle)
        self._count += fresh
        heappush(self._busy, (max(end, start), lane))
        return lane, fresh


EXPORTER: Final = Exporter(write_perfetto, "formats")
