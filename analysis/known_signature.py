"""A signature of an application that was found before, read back: what a run is expected to do."""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from ..model.arrays import Floats, Frozen
from ..model.document import read_document
from .phases.stretches import MOST_JITTER

_UNUSUAL: Final = 0.01
"""Share of the usual runs that may be called unusual, by what they do in all bursts together."""


class KnownSignature(Frozen):
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


def is_signature(document: object) -> bool:
    """Tell whether a document is one of a signature."""
    return isinstance(document, dict) and {"bursts", "signature", "duration_s"} <= set(document)


def read_signature(path: Path) -> KnownSignature:
    """Read what ``iostrata signature --json`` printed; TraceError if it is none, OSError if it cannot be read."""
    return read_document(path, "a document of 'iostrata signature --json'", partial(_known, path.stem))


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


def _used(samples: Sequence[Mapping[str, Any]]) -> tuple[Floats, Floats]:
    """Return how long the runs took that a signature is of, in s, and what they moved; float64 (runs,) each."""
    used = [one for one in samples if one["used"]]
    return np.array([one["duration_s"] for one in used], float), np.array([one["volume"] for one in used], float)


def _known(name: str, document: Mapping[str, Any]) -> KnownSignature:
    if not is_signature(document):
        raise ValueError("no bursts")
    bursts, samples = document["bursts"], document["samples"]
    if not isinstance(bursts, list) or not isinstance(samples, list) or not bursts:
        raise ValueError("no bursts")
    start, end, volumes = (np.array([one[key] for one in bursts], float) for key in ("start_s", "end_s", "volume"))
    peaks = tuple(np.array(one.get("peaks_s") or [one["peak_s"]], float) for one in bursts)
    lengths, moved = _used(samples)
    # The clock of a signature is that of its shortest run.
    shortest = float(str(document["duration_s"]))
    if not len(lengths) or shortest == 0:
        raise ValueError("no run that takes time")
    longer = float(lengths.mean()) / shortest
    order = np.argsort(start, kind="stable")
    _check_bursts(
        np.concatenate((start, end, *peaks, [longer])), end - start, np.concatenate((volumes, lengths, moved))
    )
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
        room=(room_of(lengths) / float(lengths.mean()), room_of(moved) / float(moved.mean())),
    )


def _check_bursts(times: Floats, lengths: Floats, amounts: Floats) -> None:
    """Raise ValueError unless times are finite and from 0 on, lengths not negative, and amounts more than 0."""
    sound = np.isfinite(times).all() and (times >= 0).all() and (lengths >= 0).all()
    if not sound or not 0 < amounts.min() <= amounts.max() < math.inf:
        raise ValueError("bursts that cannot be")


def room_of(values: Floats, tests: int = 1) -> float:
    """Return by how much a further value may differ from the mean of some and be as usual, in one of so many tests."""
    from scipy.special import stdtrit

    n = len(values)
    if n < 2:
        return 0.0
    return float(stdtrit(n - 1, 1 - _UNUSUAL / (2 * tests)) * values.std(ddof=1) * math.sqrt(1 + 1 / n))
