"""A run beside a signature that was found before: whether it is a usual one, and where it deviates."""

import math
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from ...analysis.known_signature import KnownSignature, room_of
from ...analysis.phases.bursts import vertices
from ...model.arrays import Floats
from ...model.document import Record
from ...model.quantities import bytes_text, counted, factor_text, seconds_text
from ...signals.step import StepSignal

_LEAST: Final = 0.1
"""Share by which a run may always differ and be a usual one."""


class Deviation(Record):
    """Where a run is not as usual: the burst (from 1 on), None for the run as a whole, and a sentence."""

    burst: int | None
    text: str


class Likeness(Record):
    """A run beside a signature: whether it is a usual one, and where it deviates; times in s, `volume` in bytes."""

    run: str
    typical: bool
    duration_s: float
    volume_bytes: float
    bursts: int
    deviations: tuple[Deviation, ...]


def compared(known: KnownSignature, run: str, signal: StepSignal) -> Likeness:
    """Return whether a run is as usual, by its length, its volume, and its bursts one by one.

    The bursts of the run are what moves between pauses of half the usual pause of the signature. They are matched in
    their order, as bursts of runs are when a signature is found; a burst that is later than usual is told by the time
    from the one before it.
    """
    # Loading what finds bursts takes longer than reading a signature.
    from .alignment import MOST_PAIRS
    from .kernels import MOST_SKIPPED, matched_bursts

    found = list(_of_whole(known, signal))
    start, volumes = _bursts(known, signal)
    first = float(known.start[0])
    begin = start - start[0] + first if len(start) else start
    apart = float(np.median(np.diff(known.start))) if len(known.start) > 1 else known.duration
    farthest = math.inf if len(known.start) * len(start) <= MOST_PAIRS else MOST_SKIPPED * apart
    pairs = matched_bursts(known.start, begin, known.volumes, volumes, farthest, apart)
    mine = dict(pairs.tolist())
    for row in range(len(known.start)):
        number = row + 1
        if row not in mine:
            usually = f"{bytes_text(float(known.volumes[row]))} at {seconds_text(float(known.start[row]))}"
            found.append(Deviation(number, f"burst {number}, usually {usually}, is missing"))
            continue
        at = mine[row]
        ratio = float(volumes[at] / known.volumes[row])
        if abs(math.log(ratio)) > math.log1p(max(_LEAST, known.room[1])):
            text, usual_text = (bytes_text(float(one)) for one in (volumes[at], known.volumes[row]))
            found.append(
                Deviation(number, f"burst {number} moves {text} instead of {usual_text}: {factor_text(ratio, 3)} times")
            )
        if row and row - 1 in mine:
            usual, steps = known.step(row)
            step = float(begin[at] - begin[mine[row - 1]])
            if abs(step - usual) > max(_LEAST * usual, room_of(steps, len(known.start))):
                text = f"burst {number} begins {seconds_text(step)} after the one before it"
                found.append(Deviation(number, f"{text} instead of {seconds_text(usual)}"))
    others = len(start) - len(mine)
    if others:
        found.append(Deviation(None, f"{counted(others, 'burst')} that no usual run has"))
    return Likeness(run, not found, signal.duration, float(signal.volume), len(start), tuple(found))


def _of_whole(known: KnownSignature, signal: StepSignal) -> Iterator[Deviation]:
    """Give how the length and the volume of a run differ."""
    told: Sequence[tuple[str, float, float, float, str]] = (
        ("takes", signal.duration, known.duration, known.room[0], seconds_text(signal.duration)),
        ("moves", float(signal.volume), known.volume, known.room[1], bytes_text(signal.volume)),
    )
    for verb, value, usual, room, text in told:
        if value <= 0 or abs(math.log(value / usual)) > math.log1p(max(_LEAST, room)):
            ratio = "" if value <= 0 else f": {factor_text(value / usual, 3)} times"
            was = seconds_text(usual) if verb == "takes" else bytes_text(usual)
            yield Deviation(None, f"the run {verb} {text} instead of {was}{ratio}")


def _bursts(known: KnownSignature, signal: StepSignal) -> tuple[Floats, Floats]:
    """Return begin in s from that of the run, and volume of the bursts of a signal, float64 (n,) each."""
    times, cumulative = vertices(signal)
    rows = np.flatnonzero(np.diff(cumulative) > 0)
    if not rows.size:
        return np.zeros(0), np.zeros(0)
    firsts = np.append(0, np.flatnonzero(times[rows[1:]] - times[rows[:-1] + 1] > known.pause) + 1)
    edges = np.append(cumulative[rows[firsts]], cumulative[rows[-1] + 1])
    return times[rows[firsts]] - signal.window[0], np.diff(edges)
