"""One trace read into the rows of a collection."""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np

from ...analysis.comparison.elsewhere import time_in_mpi
from ...analysis.comparison.headline import headline_of
from ...analysis.comparison.iterations import loops_of
from ...analysis.comparison.layer_periods import LayerPeriod, in_loop
from ...analysis.comparison.polling import opens_in_vain
from ...analysis.detect import detect_period
from ...analysis.findings.counted import facts_of
from ...analysis.findings.find import Finding, applicable, find
from ...analysis.registry import DEFAULT_METHOD
from ...analysis.results.result import PeriodResult
from ...layers.flow.cells import Cells
from ...layers.layer import Layer
from ...layers.opening import open_trace
from ...layers.selection.directions import DIRECTIONS, Direction, LayerDirection
from ...layers.summary.counted import FLUSHES, METADATA, counted_layer
from ...layers.summary.statistics import counted_statistics
from ...layers.trace import Trace
from ...model.arrays import Mask
from ...model.codes import PROCESS, IoFlag
from ...model.document import plain
from ...model.errors import IostrataError
from ...model.metrics import metrics_of
from ...model.stream.summary import start_date
from ...model.text import printable
from ...signals.step import StepSignal
from .content import content_hash, trace_name
from .loops import loop_rows
from .rows import FAILED, METRICS_OF_LAYERS, READ, SIGNAL_BINS, FindingRow, JobRow, LayerRow, Run, SignalRow
from .segments import SegmentSums

DEFAULT_SEGMENT_S: Final = 5.0
"""The sampling interval of Betke & Kunkel's monitoring."""
DEFAULT_MEMORY: Final = 2 * 10**9
_MEMORY_PER_BYTE: Final = 20
"""What reading all operations takes at most for each byte of a trace: some 380 bytes an operation of 20 to 40."""
_MOST_PHASES: Final = 1024
_MOST_FINDINGS: Final = 200
_MOST_FUNCTIONS: Final = 64
"""Functions of MPI, the longest ones: more than a program uses."""


@dataclass(frozen=True)
class Settings:
    """With what traces are read into a collection.

    Attributes
    ----------
    files : str
        As `iostrata.open_trace` takes it.
    window : (start, end) or None
        In s, as `iostrata.open_trace` takes it.
    segment : float
        Length of a segment in s.
    method : str
        How periods are detected.
    engine, calls : str
        As `iostrata.open_trace` takes them.
    memory : int
        Bytes from which on a trace is not kept in full but summed up in bins.
    """

    files: str = "application"
    window: tuple[float | None, float | None] | None = None
    segment: float = DEFAULT_SEGMENT_S
    method: str = DEFAULT_METHOD
    engine: str = "auto"
    calls: str = "auto"
    memory: int = DEFAULT_MEMORY

    @cached_property
    def text(self) -> str:
        """What the rows depend on, as JSON."""
        told = {name: value for name, value in asdict(self).items() if name not in ("engine", "memory")}
        return json.dumps(told, sort_keys=True)


def job_key(path: str | os.PathLike[str]) -> str:
    """Return the key of a trace's rows: its full path, made safe to print."""
    return printable(os.fsencode(os.path.abspath(path)).decode("utf-8", "backslashreplace"))


def read_run(path: str | os.PathLike[str], settings: Settings, known: tuple[str, str] | None = None) -> Run | None:
    """Read a trace into a run.

    Parameters
    ----------
    path : path
        Whatever `iostrata.open_trace` takes.
    known : (str, str), optional
        Content and settings of the trace when it was last read.

    Returns
    -------
    Run or None
        Nothing where content and settings are still those; a run that failed where the trace cannot be used, whatever
        is wrong with it.
    """
    path, content = Path(path), None
    try:
        content, size = content_hash(path)
        if known == (content, settings.text):
            return None
        return _run(path, content, size, settings)
    except IostrataError as error:
        return failed_run(path, str(error), content, settings)
    except OSError as error:
        reason = (error.strerror or " ".join(str(error).split())).lower()
        return failed_run(path, f"cannot read {error.filename or path}: {reason}", content, settings)
    except MemoryError:
        return failed_run(path, "out of memory; give --memory less or fewer --workers", content, settings)
    except Exception as error:  # noqa: BLE001
        # One trace of thousands that shows a fault of ours must not cost the others.
        return failed_run(path, f"{type(error).__name__}: {error}", content, settings)


def failed_run(path: Path, reason: str, content: str | None = None, settings: Settings | None = None) -> Run:
    """Return the run of a trace that cannot be used."""
    text = printable(" ".join(reason.split()))[:1000]
    told = None if settings is None or content is None else settings.text
    name = printable(trace_name(path).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace"))
    return Run(JobRow(job=job_key(path), name=name, status=FAILED, reason=text, content=content, settings=told))


def _run(path: Path, content: str, size: int, settings: Settings) -> Run:
    memory = settings.memory if size * _MEMORY_PER_BYTE > settings.memory else None
    told: dict[str, Any] = {name: getattr(settings, name) for name in ("engine", "calls", "files", "window")}
    trace = open_trace(path, **told, workers=1, memory=memory)
    return run_of(trace, settings, job_key(path), printable(trace_name(path)), content)


def run_of(trace: Trace, settings: Settings, job: str, name: str, content: str | None = None) -> Run:
    """Return the run of a trace that is open."""
    ways = [(layer, direction) for layer in trace.layers.values() for direction in layer.directions]
    signals = {(layer.name, direction): layer.bandwidth(direction) for layer, direction in ways}
    segments = trace.stream.summed(lambda: SegmentSums(trace, settings.segment))
    found = find(trace)
    first = headline_of(trace, found)
    row = JobRow(
        job=job,
        name=name,
        status=READ,
        content=content,
        settings=settings.text,
        **_recorded(trace),
        **_moved(trace, segments, signals, first.mean_io_s),
        **_found(trace, found),
        io_share=first.io_share,
        cause=printable(first.cause) if first.cause else None,
    )
    layers = tuple(_layer_rows(trace, job, settings, signals, segments.metadata))
    known = _finding_rows(job, found), tuple(_signal_rows(job, signals)), segments.rows(job)
    return Run(row, layers, *known, *loop_rows(trace, job))


def _recorded(trace: Trace) -> dict[str, Any]:
    """Return the columns of a run on what ran, and what was recorded of it."""
    definitions = trace.definitions
    recording, groups = definitions.recording, definitions.groups
    watched = recording.layers
    if watched is None:
        watched = tuple(one.identification for one in definitions.paradigms)
    by_counters = bool(recording.reason("operations")) and recording.counters is not None
    others = {"flush": "flushes", "metadata": "metadata"}
    rest = {name: by_counters or not recording.reason(of) for name, of in others.items()}
    # Of some processes it may not be known where they ran.
    nodes_known = not recording.reason("nodes") and (groups.node[groups.kind == PROCESS] >= 0).all()
    return {
        "engine": trace.stream.engine,
        "recorder": recording.recorder,
        "layers_recorded": tuple(dict.fromkeys(printable(one) for one in (*watched, *trace.layers))) if watched else (),
        "directions_recorded": ("read", "write", *(name for name, known in rest.items() if known)),
        "findings_sought": tuple(rule.id for rule in applicable(recording)),
        "start_utc": start_date(definitions.clock),
        "duration_s": trace.duration,
        "ranks": trace.ranks,
        "nodes": trace.definitions.node_count if nodes_known else None,
        "locations": len(trace.definitions.locations.id),
        "events": trace.tally.events,
        "io_events": trace.tally.io_events,
        "layers": tuple(printable(one) for one in trace.layers),
    }


def _moved(
    trace: Trace, segments: SegmentSums, signals: Iterable[LayerDirection], mean_io_s: float | None
) -> dict[str, Any]:
    """Return the columns of a run on what the program itself did; a rank is in I/O for `mean_io_s` where known."""
    recording = trace.definitions.recording
    unknown_times = bool(recording.reason("operations"))
    counted = unknown_times and any(counted_layer(trace.scope, one, DIRECTIONS) for one in trace.layers)
    own: dict[str, Any] = {}
    if counted:
        # On files on which no higher layer did the same.
        groups = [one.own for one in facts_of(trace).groups]
        took = (one.counters.time(f"{one.direction}_time")[one.rows].sum() for one in groups)
        own = _own(trace, groups, float(sum(took)))
        on_files = np.any([one.rows for one in groups], axis=0)
        own["cost_s"] += float(facts_of(trace).counters.time("meta_time")[on_files].sum())
    elif not recording.reason("handles") or len(trace.layers) < 2:
        # What of several layers is the program's own is known by the handles alone.
        layers = [trace.layers[name].statistics(direction, "own") for name, direction in signals]
        own = _own(trace, layers, sum(one.summed_s for one in layers))
        own |= {} if mean_io_s is None else {"cost_s": mean_io_s * trace.ranks}
    found = own | {"metadata_operations": sum(segments.metadata.values()), "io_s": segments.busy_s}
    unknown = {one.name for one in metrics_of(JobRow) if recording.reason(*one.needs)}
    unknown -= own.keys() if counted else set()
    return {name: value for name, value in found.items() if name not in unknown}


def _own(trace: Trace, parts: Sequence[Any], cost: float) -> dict[str, Any]:
    """Return the columns on what the program itself did in some parts of a trace, which cost some s of its ranks."""
    moved = {way: float(sum(one.bytes for one in parts if one.direction == way)) for way in DIRECTIONS}
    return {
        "operations": sum(one.operations for one in parts),
        "bytes_read": moved["read"],
        "bytes_written": moved["write"],
        "rank_io_s": cost / max(1, trace.ranks),
        "cost_s": cost,
    }


def _found(trace: Trace, found: Sequence[Finding]) -> dict[str, Any]:
    """Return the columns of a run on findings and damage."""
    severities = [one.severity for one in found]
    in_mpi = dict(list(time_in_mpi(trace).items())[:_MOST_FUNCTIONS])
    return {
        "findings": len(found),
        "critical": severities.count("critical"),
        "warnings": severities.count("warning"),
        "damaged": trace.damage.damaged,
        "events_lost": max(0, trace.damage.events_expected - trace.damage.events_read),
        "set_aside_operations": trace.set_aside.operations,
        "failed_opens": opens_in_vain(trace),
        "mpi_functions": tuple(map(printable, in_mpi)),
        "mpi_s": tuple(in_mpi.values()),
    }


def _finding_rows(job: str, found: Sequence[Finding]) -> tuple[FindingRow, ...]:
    return tuple(
        FindingRow(
            job=job,
            id=one.id,
            severity=one.severity,
            layer=one.layer,
            text=printable(one.text),
            advice=one.advice,
            evidence=json.dumps(plain(one.evidence)),
            cost_s=one.cost_s,
        )
        for one in found[:_MOST_FINDINGS]
    )


def _layer_rows(
    trace: Trace, job: str, settings: Settings, signals: dict[LayerDirection, StepSignal], metadata: dict[str, int]
) -> Iterator[LayerRow]:
    by_counters = bool(trace.definitions.recording.reason("operations"))
    for name, layer in trace.layers.items():
        for direction in layer.directions:
            yield _layer_row(trace, layer, job, direction, settings, signals[name, direction])
        safe = printable(name)
        if layer.flushes:
            yield LayerRow(job=job, layer=safe, direction="flush", operations=layer.flushes, busy_s=layer.flush_busy_s)
        if events := metadata.get(name, 0):
            yield LayerRow(job=job, layer=safe, direction="metadata", operations=events)
        counted = counted_layer(trace.scope, name, DIRECTIONS) if by_counters else None
        if counted is not None and (flushes := counted.calls(*FLUSHES)):
            yield LayerRow(job=job, layer=safe, direction="flush", operations=flushes)
        if counted is not None and (calls := counted.calls(*METADATA)):
            yield LayerRow(job=job, layer=safe, direction="metadata", operations=calls, seeks=counted.calls("seeks"))

    for one in counted_statistics(trace.scope, DIRECTIONS):
        values = {name: metric.value(one) for name, metric in METRICS_OF_LAYERS.items()}
        values |= {"bytes": float(one.bytes), **_counted(trace, one.layer, one.direction)}
        known = {field.name: values[field.name] for field in fields(LayerRow) if values.get(field.name) is not None}
        yield LayerRow(job=job, layer=printable(one.layer), direction=one.direction, **known)


def _layer_row(
    trace: Trace, layer: Layer, job: str, direction: Direction, settings: Settings, signal: StepSignal
) -> LayerRow:
    statistics, recording = layer.statistics(direction), trace.definitions.recording
    told = {name: one.value(statistics) for name, one in METRICS_OF_LAYERS.items()}
    values: dict[str, Any] = {
        **told,
        "bytes": float(statistics.bytes),
        "own_bytes": float(statistics.own_bytes),
        **(_phases(_period(trace, layer.name, direction, settings.method, signal)) if signal.volume > 0 else {}),
    }
    unknown = {one.name for one in metrics_of(LayerRow) if recording.reason(*one.needs)}
    unknown -= {name for name, value in told.items() if value is not None}
    if recording.reason("operations"):
        counted = _counted(trace, layer.name, direction)
        values, unknown = values | counted, unknown - counted.keys()
    else:
        cells = trace.relations.cells
        chosen = cells.of(layer.name, direction)
        values |= {
            "collective_operations": cells.operations(chosen & (cells.flags & IoFlag.COLLECTIVE > 0)),
            "non_blocking_operations": cells.operations(chosen & (cells.flags & IoFlag.NON_BLOCKING > 0)),
            "imbalance": _imbalance(cells, chosen),
            **_flow_above(trace, layer.name, direction),
        }
    known = {one.name: values[one.name] for one in fields(LayerRow) if one.name in values.keys() - unknown}
    return LayerRow(job=job, layer=printable(layer.name), direction=direction, **known)


def _period(trace: Trace, layer: str, direction: Direction, method: str, signal: StepSignal) -> PeriodResult:
    """Return the verdict of the command `periods`."""

    def detect(one: StepSignal) -> PeriodResult:
        return detect_period(one, method)

    return in_loop(LayerPeriod(layer, direction, "all", signal, detect(signal)), loops_of(trace, method), detect).result


def _counted(trace: Trace, layer: str, direction: str) -> dict[str, Any]:
    """Return the columns of a layer that counters give in place of operations."""
    counters = counted_layer(trace.scope, layer, (direction,))
    if counters is None:
        return {}
    found: dict[str, Any] = {"collective_operations": counters.collective, "imbalance": counters.imbalance}
    pair = facts_of(trace).pair("MPI-IO", layer, direction) if layer == "POSIX" else None
    if pair is not None:
        upper, lower = pair
        found |= {"above": upper.layer, "fan_out": lower.operations / upper.operations}
        found |= {"amplification": lower.bytes / upper.bytes} if upper.bytes else {}
    return found


def _imbalance(cells: Cells, chosen: Mask) -> float | None:
    """Return how much longer than the mean the rank takes that is longest in some operations."""
    process, ticks = cells.process[chosen], cells.columns.ticks[chosen]
    of_rank = np.bincount(process[process >= 0], ticks[process >= 0])
    ticks = of_rank[of_rank > 0]
    return float(ticks.max() / ticks.mean()) if len(ticks) else None


def _phases(result: PeriodResult) -> dict[str, Any]:
    """Return the columns of a layer on its period and phases."""
    low, high = result.period_interval or (None, None)
    shown = result.phases[:_MOST_PHASES]
    return {
        "periodic": result.periodic,
        "period_s": result.period,
        "period_low_s": low,
        "period_high_s": high,
        "confidence": result.confidence,
        "recurrence_s": result.recurrence,
        "jitter": result.jitter,
        "phases": len(result.phases),
        "phase_start_s": tuple(phase.start for phase in shown),
        "phase_end_s": tuple(phase.end for phase in shown),
        "phase_bytes": tuple(phase.volume for phase in shown),
    }


def _flow_above(trace: Trace, layer: str, direction: Direction) -> dict[str, Any]:
    """Return the columns of a layer on the flow into it from the one right above that moved most."""
    into = [flow for flow in trace.relations.flows_of((direction,)) if flow.lower == layer and flow.adjacent]
    if not into:
        return {}
    flow = max(into, key=lambda flow: flow.upper_bytes)
    return {"above": printable(flow.upper), "amplification": flow.amplification, "fan_out": flow.fan_out}


def _signal_rows(job: str, signals: dict[LayerDirection, StepSignal]) -> Iterator[SignalRow]:
    for (layer, direction), signal in signals.items():
        start, end = signal.window
        width = (end - start) / SIGNAL_BINS
        values = signal.sample(1 / width).values
        # Rounding may give one more.
        values[SIGNAL_BINS - 1] += values[SIGNAL_BINS:].sum()
        told, of = tuple(values[:SIGNAL_BINS].tolist()), printable(layer)
        yield SignalRow(job=job, layer=of, direction=direction, start_s=start, bin_s=width, values=told)
