"""Judges our method on the recordings in a folder beside the repository."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from iostrata.analysis.detect import detect_period
from iostrata.analysis.results.result import PeriodResult
from iostrata.signals.construction import step_signal
from judging import deviation, phase_f1

from .comparisons import judged_comparisons
from .darshan_logs import available, darshan_signals
from .otf2_recordings import Expected, recorded_signals

#: Where recordings lie: beside the repository.
SHARED = Path(__file__).resolve().parents[4] / "shared"
PERIOD, BYTES, START = 0.01, 0.02, 0.1
FEWEST_PHASES = 4
#: Regimes of this many phases must be found.
REGIME = 6


def judged_recordings(method: str, folder: Path = SHARED) -> Iterator[dict[str, Any]]:
    """Yield one row a signal; where a kind of recording cannot be read, a row that says so."""
    if not (folder / "traces").is_dir():
        yield {"kind": "missing", "what": "recorded OTF2 archives: not beside the repository, left out"}
    for expected, signal in recorded_signals(folder):
        yield _judge(expected, detect_period(signal, method))
    yield from judged_comparisons(folder, method)
    logs = folder / "recorders" / "darshan"
    if not logs.is_dir():
        yield {"kind": "missing", "what": "Darshan logs: not beside the repository, left out"}
    elif not available():
        yield {"kind": "missing", "what": "Darshan logs: pydarshan is not installed, left out"}
    else:
        for log, module, direction, signal in darshan_signals(logs):
            result = detect_period(signal, method)
            yield {
                "kind": "darshan",
                "recording": log,
                "signal": f"{module} {direction}",
                "stated": result.period if result.periodic else None,
                "confidence": result.confidence,
                "phases": len(result.phases),
                "right": not result.periodic or len(result.phases) >= FEWEST_PHASES,
            }


def _judge(expected: Expected, result: PeriodResult) -> dict[str, Any]:
    stated = result.period if result.periodic else None
    row: dict[str, Any] = {
        "kind": "recording",
        "recording": expected.recording,
        "signal": f"{expected.layer} {expected.direction}",
        "what": expected.what,
        "expected": list(expected.periods),
        "stated": stated,
        "confidence": result.confidence,
        "phases": len(result.phases),
    }
    if stated is not None:
        row["right"] = deviation(stated, expected.periods) <= PERIOD
    if expected.periods and (expected.phases or REGIME) >= REGIME:
        row["regime found"] = any(deviation(stay.period, expected.periods) <= PERIOD for stay in result.regimes)
    if "IOR" in expected.what:
        row["expected phases"] = expected.phases
        row["count right"] = len(result.phases) == expected.phases
        moved = np.array([phase.volume for phase in result.phases])
        row["bytes right"] = moved.size == expected.phases and bool(
            np.all(np.abs(moved / expected.bytes_a_phase - 1) <= BYTES)
        )
    if expected.starts is not None:
        slack = START * expected.periods[0]
        said = np.array([phase.start for phase in result.phases])
        # What a program writes before its first checkpoint, such as fill values, is not in its list of them.
        row["f1"] = phase_f1(said[said >= expected.starts[0] - slack], expected.starts, slack)
        row |= _of_the_starts(expected.starts, result)
    return row


def _of_the_starts(starts: np.ndarray, result: PeriodResult) -> dict[str, Any]:
    """Return what the true starts of phases allow: their jitter, and what is told of them alone, as equal impulses.

    A period is said of a regime, so that it also is compared with the mean interval of the phases of that regime.
    """
    intervals = np.diff(starts)
    told = detect_period(step_signal(starts, starts, np.ones(starts.size)))
    row: dict[str, Any] = {
        "jitter": float(intervals.std() / intervals.mean()),
        "first": float(intervals[0] / np.median(intervals)),
        "told of starts": told.period if told.periodic else None,
    }
    regime = next((one for one in result.regimes if one.period == result.period), None)
    if result.periodic and regime is not None and regime.phases:
        first = int(np.argmin(np.abs(starts - regime.start)))
        own = np.diff(starts[first : first + regime.phases])
        row["right of its phases"] = bool(own.size) and abs(result.period / own.mean() - 1) <= PERIOD
    return row
