"""Verdicts on what became of a period in the layer below, on recorded archives, and whether small changes matter."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from iostrata.analysis.comparison.periods import compare_flows, compare_periods
from iostrata.analysis.detect import detect_period
from iostrata.layers.flow.flow import Flow
from iostrata.layers.opening import open_trace
from iostrata.signals.construction import step_signal
from iostrata.signals.step import StepSignal

from .otf2_recordings import expectations

#: Share of the bytes above up to which nothing arrives below.
NOTHING = 0.01
NOISE = 0.01


def judged_comparisons(folder: Path, method: str) -> Iterator[dict[str, Any]]:
    """Yield one row a flow: verdict, those that are right, and how many of four small changes change it."""

    def found(signal: StepSignal) -> Any:
        return detect_period(signal, method)

    for recording, lines in expectations().items():
        anchor = folder / recording / "traces.otf2"
        if not anchor.exists():
            continue
        trace = open_trace(anchor)
        for place, comparison in compare_flows(trace, trace.flows, found).items():
            flow = trace.flows[place]
            right = _right(flow, lines)
            row = {
                "kind": "comparison",
                "recording": recording,
                "flow": f"{flow.upper} → {flow.lower} {flow.direction}",
                "verdict": comparison.verdict,
                "expected": right,
                "right": comparison.verdict in right,
            }
            if comparison.upper is not None and comparison.lower is not None:
                upper = trace.layers[flow.upper].bandwidth(flow.direction)
                lower = trace.layers[flow.lower].bandwidth(flow.direction, below=flow.upper)
                pairs = [(change(upper), lower) for change in (without_last_phase, with_noise)]
                pairs += [(upper, change(lower)) for change in (without_last_phase, with_noise)]
                verdicts = [compare_periods((one, found(one)), (other, found(other))).verdict for one, other in pairs]
                row["kept"] = all(verdict == comparison.verdict for verdict in verdicts)
                row["after changes"] = verdicts
            yield row


def _right(flow: Flow, lines: list[dict[str, str]]) -> list[str]:
    """Return the verdicts that are right.

    Repetitions of IOR under load are so irregular that no period in either layer is right as well; log lines of a few
    bytes stay in the buffer of ISO C.
    """
    about = [line for line in lines if line["period_s"] and line["direction"] == flow.direction]
    log = any(line["layer"] == flow.upper for line in about)
    if flow.lower_bytes <= NOTHING * flow.upper_bytes:
        return ["absent-below"] if log else ["none", "absent-below"]
    if not any(line["layer"] in (flow.upper, flow.lower, "MPI-IO") for line in about):
        return ["none"]
    return ["same", "none"] if any("IOR" in line["what"] for line in about) else ["same"]


def _parts(signal: StepSignal) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the signal as intervals (start, end in s, volume), impulses last."""
    start = np.concatenate((signal.times[:-1], signal.impulse_times))
    end = np.concatenate((signal.times[1:], signal.impulse_times))
    return start, end, np.concatenate((signal.values * np.diff(signal.times), signal.impulse_volumes))


def without_last_phase(signal: StepSignal) -> StepSignal:
    """Return a signal without what begins with its last phase."""
    start, end, volume = _parts(signal)
    moved = volume > 0
    phases = detect_period(signal).phases
    cut = phases[-1].start if phases else float(start[moved].max(initial=signal.window[1]))
    kept = start < cut - 1e-12
    return step_signal(start[kept], end[kept], volume[kept], window=signal.window)


def with_noise(signal: StepSignal) -> StepSignal:
    """Return a signal with 1 % of its volume added at 200 random places."""
    rng = np.random.default_rng(1)
    start, end, volume = _parts(signal)
    at = rng.uniform(*signal.window, 200)
    long = 1e-4 * signal.duration
    added = np.full(200, NOISE * signal.volume / 200)
    return step_signal(
        np.append(start, at),
        np.append(end, np.minimum(at + long, signal.window[1])),
        np.append(volume, added),
        window=signal.window,
    )
