"""One trace read into the rows of a collection."""

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from ...analysis.detect import detect_period
from ...analysis.findings.find import applicable, find
from ...analysis.registry import DEFAULT_METHOD
from ...layers.flow.flow import Flow
from ...layers.layer import Layer
from ...layers.opening import open_trace
from ...layers.summary.statistics import LayerStatistics
from ...layers.trace import Trace
from ...model.codes import PROCESS, IoFlag
from ...model.document import plain
from ...model.errors import IostrataError
from ...model.metrics import columns_of
from ...model.recording import Recording
from ...model.text import printable
from ...signals.step import StepSignal
from .content import content_hash, trace_name
from .rows import FAILED, READ, SIGNAL_BINS, FindingRow, JobRow, LayerRow, Run, SignalRow
from .segments import SegmentSums

DEFAULT_SEGMENT_S: Final = 5.0
"""The sampling interval of Betke & Kunkel's monitoring."""
DEFAULT_MEMORY: Final = 2 * 10**9
_MEMORY_PER_BYTE: Final = 20
"""What reading all operations takes at most for each byte of a trace: some 380 bytes an operation of 20 to 40."""
_MOST_PHASES: Final = 1024
_MOST_FINDINGS: Final = 200


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
    engine : str
    memory : int
        Bytes from which on a trace is not kept in full but summed up in bins.
    """

    files: str = "application"
    window: tuple[float | None, float | None] | None = None
    segment: float = DEFAULT_SEGMENT_S
    method: str = DEFAULT_METHOD
    engine: str = "auto"
    memory: int = DEFAULT_MEMORY

    @property
    def text(self) -> str:
        """What the rows depend on, as JSON."""
        told = {name: value for name, value in asdict(self).items() if name not in ("engine", "memory")}
        return json.dumps(told, sort_keys=True)


def job_key(path: Path) -> str:
    """Return the key of a trace's rows: its full path, made safe to print."""
    return printable(os.fsencode(os.path.abspath(path)).decode("utf-8", "backslashreplace"))


def read_run(path: Path, settings: Settings, known: tuple[str, str] | None = None) -> Run | None:
    """Read a trace into a run.

    Parameters
    ----------
    path : Path
        Whatever `iostrata.open_trace` takes.
    known : (str, str), optional
        Content and settings of the trace when it was last read.

    Returns
    -------
    Run or None
        Nothing where content and settings are still those; a run that failed where the trace cannot be used, whatever
        is wrong with it.
    """
    content = None
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
    options: dict[str, Any] = {} if memory is None else {"memory": memory}
    trace = open_trace(path, engine=settings.engine, files=settings.files, window=settings.window, workers=1, **options)
    return run_of(trace, settings, job_key(path), printable(trace_name(path)), content)


def run_of(trace: Trace, settings: Settings, job: str, name: str, content: str | None = None) -> Run:
    """Return the run of a trace that is open."""
    signals = {
        (layer.name, direction): layer.bandwidth(direction)
        for layer in trace.layers.values()
        for direction in layer.directions
    }
    segments = trace.sum_blocks(lambda: SegmentSums(trace, settings.segment))
    layers = tuple(_layer_rows(trace, job, settings, signals, segments.metadata))
    found = find(trace)
    recording = trace.definitions.recording
    # What of several layers is the program's own is known by the handles alone.
    apart = recording.handles != "absent" or len(trace.layers) < 2
    counted, single = recording.rows == "operations" and apart, recording.rows == "operations"
    own = [trace.layers[name].statistics(direction, "own") for name, direction in signals]
    severities = [one.severity for one in found]
    damage = trace.damage
    row = JobRow(
        job=job,
        name=name,
        status=READ,
        content=content,
        settings=settings.text,
        engine=trace.engine,
        recorder=recording.recorder,
        layers_recorded=_layers_recorded(trace),
        directions_recorded=_directions_recorded(recording),
        findings_sought=tuple(rule.id for rule in applicable(recording)),
        start_utc=_start(trace.definitions.clock.realtime_ns),
        duration_s=trace.duration,
        ranks=trace.ranks,
        nodes=_nodes(trace),
        locations=trace.locations,
        events=trace.events_total,
        io_events=trace.io_events,
        layers=tuple(printable(one) for one in trace.layers),
        operations=sum(one.operations for one in own) if counted else None,
        bytes_read=float(sum(one.bytes for one in own if one.direction == "read")) if apart else None,
        bytes_written=float(sum(one.bytes for one in own if one.direction == "write")) if apart else None,
        metadata_operations=sum(segments.metadata.values()) if recording.metadata else None,
        io_s=segments.busy_s if single else None,
        rank_io_s=sum(one.summed_s for one in own) / max(1, trace.ranks) if counted else None,
        findings=len(found),
        critical=severities.count("critical"),
        warnings=severities.count("warning"),
        damaged=damage.damaged,
        events_lost=max(0, damage.events_expected - damage.events_read),
        set_aside_operations=trace.set_aside.operations,
    )
    findings = tuple(
        FindingRow(
            job=job,
            id=one.id,
            severity=one.severity,
            layer=one.layer,
            text=printable(one.text),
            advice=one.advice,
            evidence=json.dumps(plain(one.evidence)),
        )
        for one in found[:_MOST_FINDINGS]
    )
    return Run(row, layers, findings, tuple(_signal_rows(job, signals)), segments.rows(job))


def _nodes(trace: Trace) -> int | None:
    """Return the number of nodes, None where it is not known of every process on which it ran."""
    groups = trace.definitions.groups
    known = trace.definitions.recording.nodes and (groups.node[groups.kind == PROCESS] >= 0).all()
    return trace.nodes if known else None


def _layers_recorded(trace: Trace) -> tuple[str, ...]:
    """Return the layers that the recorder watched; empty where nobody knows which."""
    told = trace.definitions.recording.layers
    if told is None:
        told = tuple(one.identification for one in trace.definitions.paradigms)
    return tuple(dict.fromkeys(printable(one) for one in (*told, *trace.layers))) if told else ()


def _directions_recorded(recording: Recording) -> tuple[str, ...]:
    rest = {"flush": recording.flushes, "metadata": recording.metadata}
    return ("read", "write", *(name for name, known in rest.items() if known))


def _layer_rows(
    trace: Trace,
    job: str,
    settings: Settings,
    signals: dict[tuple[str, str], StepSignal],
    metadata: dict[str, int],
) -> Iterator[LayerRow]:
    for name, layer in trace.layers.items():
        for direction in layer.directions:
            yield _layer_row(trace, layer, job, direction, settings, signals[name, direction])
        safe = printable(name)
        if layer.flushes:
            yield LayerRow(job=job, layer=safe, direction="flush", operations=layer.flushes, busy_s=layer.flush_busy_s)
        if events := metadata.get(name, 0):
            yield LayerRow(job=job, layer=safe, direction="metadata", operations=events)


def _layer_row(
    trace: Trace, layer: Layer, job: str, direction: str, settings: Settings, signal: StepSignal
) -> LayerRow:
    statistics: LayerStatistics = layer.statistics(direction)
    cells = trace.cells
    chosen = cells.of(layer.name, direction)
    result = detect_period(signal, settings.method) if signal.volume > 0 else None
    flow = _flow_above(trace, layer.name, direction)
    low, high = (result.period_interval if result else None) or (None, None)
    phases = result.phases if result else ()
    sizes = statistics.request_bytes
    row = LayerRow(
        job=job,
        layer=printable(layer.name),
        direction=direction,
        operations=statistics.operations,
        bytes=float(statistics.bytes),
        busy_s=statistics.busy_s,
        summed_s=statistics.summed_s,
        bandwidth=statistics.bytes / statistics.busy_s if statistics.busy_s > 0 else None,
        files=statistics.files,
        handles=statistics.handles,
        ranks=statistics.ranks,
        own_operations=statistics.own_operations,
        own_bytes=float(statistics.own_bytes),
        undefined_bytes_operations=statistics.undefined_bytes_operations,
        collective_operations=cells.operations(chosen & (cells.flags & IoFlag.COLLECTIVE > 0)),
        non_blocking_operations=cells.operations(chosen & (cells.flags & IoFlag.NON_BLOCKING > 0)),
        request_min=sizes.min,
        request_p50=sizes.p50,
        request_p90=sizes.p90,
        request_max=sizes.max,
        above=None if flow is None else printable(flow.upper),
        amplification=None if flow is None else flow.amplification,
        fan_out=None if flow is None else flow.fan_out,
        periodic=None if result is None else result.periodic,
        period_s=None if result is None else result.period,
        period_low_s=low,
        period_high_s=high,
        confidence=None if result is None else result.confidence,
        recurrence_s=None if result is None else result.recurrence,
        jitter=None if result is None else result.jitter,
        phases=None if result is None else len(phases),
        phase_start_s=tuple(phase.start for phase in phases[:_MOST_PHASES]),
        phase_end_s=tuple(phase.end for phase in phases[:_MOST_PHASES]),
        phase_bytes=tuple(phase.volume for phase in phases[:_MOST_PHASES]),
    )
    unknown: dict[str, Any] = dict.fromkeys(_unknown(trace.definitions.recording))
    return replace(row, **unknown)


def _unknown(recording: Recording) -> set[str]:
    """Return the columns of a layer's row that the recorder does not tell."""
    found = {one.name.replace("_bytes_", "_") for one in columns_of(LayerStatistics) if recording.reason(*one.needs)}
    found -= {"cancelled_operations", "never_completed_operations", "busy_step_s"}
    if recording.reason("operations"):
        found |= {"bandwidth", "collective_operations", "non_blocking_operations"}
    if not recording.collective:
        found.add("collective_operations")
    return found


def _flow_above(trace: Trace, layer: str, direction: str) -> Flow | None:
    """Return the flow into a layer from the one right above that moved most."""
    into = [flow for flow in trace.flows_of((direction,)) if flow.lower == layer and flow.adjacent]
    return max(into, key=lambda flow: flow.upper_bytes, default=None)


def _signal_rows(job: str, signals: dict[tuple[str, str], StepSignal]) -> Iterator[SignalRow]:
    for (layer, direction), signal in signals.items():
        start, end = signal.window
        width = (end - start) / SIGNAL_BINS
        values = signal.sample(1 / width).values
        # Rounding may give one more.
        values[SIGNAL_BINS - 1] += values[SIGNAL_BINS:].sum()
        yield SignalRow(
            job=job,
            layer=printable(layer),
            direction=direction,
            start_s=start,
            bin_s=width,
            values=tuple(values[:SIGNAL_BINS].tolist()),
        )


def _start(realtime_ns: int | None) -> datetime | None:
    if realtime_ns is None:
        return None
    try:
        return datetime.fromtimestamp(realtime_ns / 1e9, UTC)
    except (OverflowError, ValueError, OSError):
        return None
