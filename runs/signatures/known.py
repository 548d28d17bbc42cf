"""A signature that was found before, read back: what a run of the application should do, and where one deviates."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from ...analysis.phases.bursts import vertices
from ...analysis.phases.stretches import MOST_JITTER
from ...model.arrays import Floats
from ...model.document import Record, checked_document
from ...model.errors import TraceError
from ...model.quantities import bytes_text, counted, seconds_text
from ...signals.step import StepSignal

_LARGEST: Final = 2**30
"""Bytes of a document that is read."""
_LEAST: Final = 0.1
"""Share by which a run may always differ and be a usual one."""
_UNUSUAL: Final = 0.01
"""Share of the usual runs that may be called unusual, by what they do in all bursts together."""


@dataclass(frozen=True, eq=False)
class KnownSignature:
    """What the runs of an application have in common, as ``iostrata signature --json`` printed it.

    Attributes
    ----------
    name : str
    layer : str or None
        None where a server's log was looked at.
    direction : str
    duration, volume : float
        Mean of its runs, in s and bytes.
    start, end, volumes : float64 (n,)
        Of the bursts, in s from the begin of a run, and bytes.
    peaks : tuple of float64 (k,)
        Of each burst where its middle is in each of its runs, in s.
    room : (float, float)
        Shares by which durations and volumes of usual runs may differ from their means.
    """

    name: str
    layer: str | None
    direction: str
    duration: float
    volume: float
    start: Floats
    end: Floats
    volumes: Floats
    peaks: tuple[Floats, ...]
    room: tuple[float, float]

    def is_of(self, layer: str, direction: str) -> bool:
        """Tell whether it is of a layer and direction."""
        return self.layer in (None, layer) and self.direction == direction

    @property
    def pause(self) -> float:
        """Time in s without I/O that is between bursts and not within one: half of the usual; infinite without any."""
        pauses = self.start[1:] - self.end[:-1]
        return float(np.median(pauses[pauses > 0])) / 2 if (pauses > 0).any() else math.inf

    def step(self, row: int) -> tuple[float, Floats]:
        """Return the time in s from the burst before one to it, and those of single runs, float64 (k,)."""
        one, other = self.peaks[row], self.peaks[row - 1]
        return float(self.start[row] - self.start[row - 1]), one - other if len(one) == len(other) else np.zeros(0)


@dataclass(frozen=True)
class Deviation(Record):
    """Where a run is not as usual: the burst (from 1 on), None for the run as a whole, and a sentence."""

    burst: int | None
    text: str


@dataclass(frozen=True)
class Likeness(Record):
    """A run beside a signature: whether it is a usual one, and where it deviates; times in s, `volume` in bytes."""

    run: str
    typical: bool
    duration_s: float
    volume_bytes: float
    bursts: int
    deviations: tuple[Deviation, ...]


def is_signature(document: object) -> bool:
    """Tell whether a document is one of a signature."""
    return isinstance(document, dict) and {"bursts", "signature", "duration_s"} <= set(document)


def read_signature(path: Path) -> KnownSignature:
    """Read what ``iostrata signature --json`` printed; TraceError if it is none, OSError if it cannot be read."""
    if path.stat().st_size > _LARGEST:
        raise TraceError(f"{path}: larger than 1 GiB, and no signature")
    try:
        document = checked_document(json.loads(path.read_bytes()))
        return _known(path.stem, document)
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        reason = " ".join(str(error).split())[:200]
        raise TraceError(f"{path}: not a document of 'iostrata signature --json' ({reason})") from None


def as_periods(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a signature as a document of ``iostrata periods --json`` has one, each of its bursts as a phase."""
    known = _known("", document)
    ends = np.minimum(known.end, np.append(known.start[1:], np.inf))
    steps = np.diff(known.start)
    even = len(steps) > 1 and float(steps.std(ddof=1)) <= MOST_JITTER * float(steps.mean())
    entry = {
        "layer": known.layer or "the log",
        "direction": known.direction,
        "bytes": known.volume,
        "period_s": float(steps.mean()) if even else None,
        "phases": [
            {"start_s": one, "end_s": other} for one, other in zip(known.start, ends, strict=True) if other > one
        ],
    }
    return {"trace": {"duration_s": max(known.duration, float(ends[-1]))}, "layers": [entry]}


def _known(name: str, document: Mapping[str, Any]) -> KnownSignature:
    if not is_signature(document):
        raise ValueError("no bursts")
    bursts, samples = document["bursts"], document["samples"]
    if not isinstance(bursts, list) or not isinstance(samples, list) or not bursts:
        raise ValueError("no bursts")
    start, end, volumes = (np.array([one[key] for one in bursts], float) for key in ("start_s", "end_s", "volume"))
    peaks = tuple(np.array(one.get("peaks_s") or [one["peak_s"]], float) for one in bursts)
    used = [one for one in samples if one["used"]]
    lengths, moved = (np.array([one[key] for one in used], float) for key in ("duration_s", "volume"))
    # The clock of a signature is that of its shortest run.
    longer = float(lengths.mean()) / float(str(document["duration_s"]))
    order = np.argsort(start, kind="stable")
    known = np.concatenate((start, end, *peaks, [longer]))
    above = np.concatenate((volumes, lengths, moved))
    if not (np.isfinite(known).all() and (known >= 0).all() and (end >= start).all() and 0 < above.min() < math.inf):
        raise ValueError("bursts that cannot be")
    layer = document.get("layer")
    return KnownSignature(
        name=name,
        layer=None if layer is None else str(layer),
        direction=str(document.get("direction", "total")),
        duration=float(lengths.mean()),
        volume=float(moved.mean()),
        start=longer * start[order],
        end=longer * end[order],
        volumes=volumes[order],
        peaks=tuple(longer * peaks[row] for row in order.tolist()),
        room=(_room(lengths) / float(lengths.mean()), _room(moved) / float(moved.mean())),
    )


def _room(values: Floats, tests: int = 1) -> float:
    """Return by how much a further value may differ from the mean of some and be as usual, in one of so many tests."""
    from scipy.special import stdtrit

    n = len(values)
    if n < 2:
        return 0.0
    return float(stdtrit(n - 1, 1 - _UNUSUAL / (2 * tests)) * values.std(ddof=1) * math.sqrt(1 + 1 / n))


def compared(known: KnownSignature, run: str, signal: StepSignal) -> Likeness:
    """Return whether a run is as usual, by its length, its volume, and its bursts one by one.

    The bursts of the run are what moves between pauses of half the usual pause of the signature. They are matched in
    their order, as bursts of runs are when a signature is found; a burst that is later than usual is told by the time
    from the one before it.
    """
    # Loading what finds bursts takes longer than reading a signature.
    from .alignment import MOST_PAIRS, MOST_SKIPPED, SKIP, STIFFNESS
    from .kernels import matched_bursts

    found = list(_of_whole(known, signal))
    start, volumes = _bursts(known, signal)
    first = float(known.start[0])
    begin = start - start[0] + first if len(start) else start
    apart = float(np.median(np.diff(known.start))) if len(known.start) > 1 else known.duration
    farthest = math.inf if len(known.start) * len(start) <= MOST_PAIRS else MOST_SKIPPED * apart
    pairs = matched_bursts(known.start, begin, known.volumes, volumes, farthest, apart, STIFFNESS, SKIP, MOST_SKIPPED)
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
            found.append(Deviation(number, f"burst {number} moves {text} instead of {usual_text}: {ratio:.3g} times"))
        if row and row - 1 in mine:
            usual, steps = known.step(row)
            step = float(begin[at] - begin[mine[row - 1]])
            if abs(step - usual) > max(_LEAST * usual, _room(steps, len(known.start))):
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
            ratio = "" if value <= 0 else f": {value / usual:.3g} times"
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
