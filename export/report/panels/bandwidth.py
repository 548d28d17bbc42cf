"""Signals as the page draws them: exact where they are short, else mean, smallest and largest rate of each bin."""

from collections.abc import Sequence
from typing import Any

from ....analysis.results.result import Phase
from ....signals.construction import StepSignal
from ....signals.step import envelope
from ...encoding import packed


def curve(signal: StepSignal, most_steps: int, bins: int) -> dict[str, Any]:
    """Return `envelope` of a signal as the page holds it.

    Edges are float64; rates are float32, accurate to 7 digits. An exact signal has one column for its three.
    """
    shown = envelope(signal, most_steps, bins)
    content: dict[str, Any] = {
        "exact": shown.exact,
        "unit": signal.unit,
        "steps": len(signal.values),
        "impulses": len(signal.impulse_times),
        "window_s": signal.window,
        "count": len(shown.mean),
        "peak": _peak(signal),
        "mean": packed(shown.mean, "f4"),
    }
    if shown.exact:
        content["edges"] = packed(shown.edges, "f8")
    else:
        content["low"] = packed(shown.low, "f4")
        content["high"] = packed(shown.high, "f4")
    return content


def _peak(signal: StepSignal) -> dict[str, float] | None:
    """Return the highest rate of the signal itself, whatever it is drawn with, and when; None where it has none."""
    if not len(signal.values) or not signal.values.max() > 0:
        return None
    place = int(signal.values.argmax())
    start, end = signal.times[place : place + 2]
    return {"rate": float(signal.values[place]), "start_s": float(start), "length_s": float(end - start)}


def phase_strip(phases: Sequence[Phase], most: int) -> dict[str, Any]:
    """Return begins and ends of phases in s, float64; of more than `most`, neighbours are put together."""
    together = max(1, -(-len(phases) // most))
    groups = [phases[place : place + together] for place in range(0, len(phases), together)]
    return {
        "total": len(phases),
        "together": together,
        "start": packed([group[0].start for group in groups], "f8"),
        "end": packed([group[-1].end for group in groups], "f8"),
        "bytes": packed([sum(phase.volume for phase in group) for group in groups], "f4"),
    }
