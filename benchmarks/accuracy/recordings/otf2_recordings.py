"""Signals of recorded OTF2 archives with what is expected of them (`expected.csv`) and the true starts of phases."""

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from iostrata.layers.opening import open_trace
from iostrata.signals.step import StepSignal

#: IOR waits 1 s between repetitions; s.
IDLE = 0.6


@dataclass(frozen=True, eq=False)
class Expected:
    """A line of `expected.csv`: periods in s (none, one, or several at a time), phases, bytes a phase, and starts.

    Periods and starts (in s, or None where they are not known) of checkpoints are as the program wrote them down.
    Those of IOR are of operations after more than 0.6 s with none in flight, as IOR waits 1 s between repetitions; its
    own times are those of its output, late by up to 0.4 s under load. Counts and bytes are IOR's, and agree.
    """

    recording: str
    layer: str
    direction: str
    periods: tuple[float, ...]
    phases: int | None
    bytes_a_phase: float | None
    what: str
    starts: np.ndarray | None


def expectations() -> dict[str, list[dict[str, str]]]:
    """Return the lines of the table by recording."""
    found: dict[str, list[dict[str, str]]] = {}
    with Path(__file__).with_name("expected.csv").open() as file:
        for line in csv.DictReader(file):
            found.setdefault(line["recording"], []).append(line)
    return found


def recorded_signals(folder: Path) -> Iterator[tuple[Expected, StepSignal]]:
    """Yield what is expected and the signal, for each line of the table whose archive is in the folder."""
    for recording, lines in expectations().items():
        anchor = folder / recording / "traces.otf2"
        if not anchor.exists():
            continue
        trace = open_trace(anchor)
        truth = json.loads((folder / recording / "truth.json").read_text())
        for line in lines:
            layer = trace.layers.get(line["layer"])
            if layer is not None:
                signal = layer.bandwidth(line["direction"])
                yield _expected(line, truth, trace, signal), signal


def _expected(line: dict[str, str], truth: dict[str, Any], trace: Any, signal: StepSignal) -> Expected:
    number = {name: float(line[name]) if line[name] else None for name in ("phases", "bytes_a_phase")}
    return Expected(
        line["recording"],
        line["layer"],
        line["direction"],
        tuple(float(period) for period in line["period_s"].split()),
        None if number["phases"] is None else int(number["phases"]),
        number["bytes_a_phase"],
        line["what"],
        _starts(line, truth, trace, signal),
    )


def _starts(line: dict[str, str], truth: dict[str, Any], trace: Any, signal: StepSignal) -> np.ndarray | None:
    """Return starts of phases in s from the trace's start, where the program's clock is that of the trace."""
    match line["starts"]:
        case "":
            return None
        case "idle":
            return _after_idle_time(signal, float(line["bytes_a_phase"]))
        case "write_phases" | "read_phases" as name:
            return np.array(truth[name]["starts_s"])
        case name:
            events = truth[name]["events"]
    ticks = trace.definitions.clock
    for clock in ("start_monotonic_raw_ns", "start_tsc"):
        starts = (
            np.array([event.get(clock, -1) for event in events], dtype=float) - ticks.start
        ) / ticks.ticks_per_second
        if np.all((starts >= 0) & (starts <= ticks.length / ticks.ticks_per_second)):
            return np.asarray(starts)
    return None


def _after_idle_time(signal: StepSignal, phase_bytes: float) -> np.ndarray:
    """Return starts of I/O after more than `IDLE` s without, where it moves more than 2 % of a phase's bytes."""
    busy = signal.values > 0
    start, end = signal.times[:-1][busy], signal.times[1:][busy]
    first = np.concatenate(([True], start[1:] - end[:-1] > IDLE))
    begin, last = start[first], end[np.append(np.flatnonzero(first)[1:], start.size) - 1]
    moved = signal.volume_until(last) - signal.volume_until(begin)
    return np.asarray(begin[moved > 0.02 * phase_bytes])
