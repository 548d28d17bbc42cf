"""A signature by loops: what repeated runs of a program share is read off its own calls, iteration by iteration.

No clock takes part in finding it: neither delays nor volumes of another order of magnitude, nor their number, hide a
burst. Times are those of iterations, on the clock of the shortest run. What is outside of loops is matched as bursts
of other programs are.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from ...analysis.loops.shared import find_shared_loops
from ...model.arrays import Floats
from ..collection.loops import rows_of_loops
from ..differences.iterations import RunLoop, loops_with_layers, matches
from .bursts import FEWEST_VALUES
from .preprocessing import compressed
from .sample import Sample
from .signature import DEFAULT_KAPPA, CommonBurst, SampleUse, Signature, SignatureParameters, extract_signature
from .traces import RunSignals

_SAME: Final = 2.0
"""Similarity of loops with the same steps, or the same transfers: what else was recorded of a run does not matter."""
_LITTLE: Final = 0.01
"""Share of the bytes outside of loops from which on bursts are looked for there."""
_REFERENCES: Final = 8
"""Runs that are tried as the one whose loops the others are to have."""


def loops_signature(
    runs: Sequence[RunSignals], samples: Sequence[Sample], layer: str, direction: str, kappa: float = DEFAULT_KAPPA
) -> Signature | None:
    """Return the iterations of loops that runs share; None where they share none that moves bytes.

    Parameters
    ----------
    runs : sequence of RunSignals
        With their loops.
    samples : sequence of Sample
        Their throughput, for the curves.
    layer, direction : str
        What counts as the volume of an iteration.
    kappa : float
        Share of the runs that must have an iteration.
    """
    runs = _agreed(runs)
    shared = _shared(runs, layer, direction)
    used = [place for place, found in enumerate(shared) if found]
    if len(used) < 2:
        return None
    supporting = max(1, math.ceil(kappa * len(used) - 1e-9))
    shortest = min(len(samples[place].values) for place in used)
    prepared = tuple(compressed(samples[place], shortest) for place in used)
    scale = {place: shortest / len(samples[place].values) for place in used}
    iterations = list(_common_iterations(shared, used, supporting, layer, direction))
    if not iterations:
        return None
    bursts = [_burst(*one, shared, runs, layer, direction, scale) for one in iterations]
    own = Counter(place for _, _, members in iterations for place in members)
    interval = prepared[0].interval
    rest = [_without(one, shared[place], scale[place], runs[place].signals[layer].window[0])
            for place, one in zip(used, prepared, strict=True)]  # fmt: skip
    bursts += _other_bursts(rest, prepared, kappa)
    # Of runs that are cut, iterations may lie behind the end.
    bursts = [one for one in bursts if one.start_s < shortest * interval]
    bursts.sort(key=lambda one: one.start_s)
    volume = float(np.mean([samples[place].volume for place in used]))
    parameters = SignatureParameters(
        "loops", "program", interval, 0, 0.0, kappa, supporting, supporting,
        outside_share=max(0.0, 1 - sum(one.volume for one in bursts) / volume),
    )  # fmt: skip
    missing = "it does not do the loops that the others share"
    uses = tuple(
        SampleUse(one.name, place in used, "" if place in used else missing, one.duration, one.volume, None, own[place])
        for place, one in enumerate(samples)
    )
    values = _drawn(bursts, interval, shortest)
    return Signature(interval, shortest * interval, uses, values, tuple(bursts), parameters, tuple(samples), prepared)


def _agreed(runs: Sequence[RunSignals]) -> list[RunSignals]:
    """Return runs with the loops that their traces have together."""
    known = [place for place, run in enumerate(runs) if run.trace]
    found = list(runs)
    for place, one in zip(known, find_shared_loops([run.trace for run in runs if run.trace]), strict=True):
        loops = loops_with_layers(*rows_of_loops(one, runs[place].key))
        found[place] = replace(runs[place], loops=tuple(loops))
    return found


def _shared(runs: Sequence[RunSignals], layer: str, direction: str) -> list[dict[int, RunLoop]]:
    """Return of each run the loops that it shares with the run that shares most, by their place there."""
    moving = [[one for one in run.loops if _volumes(one, layer, direction).any()] for run in runs]
    return max(
        ([matches(one, other, _SAME) for other in moving] for one in moving[:_REFERENCES]),
        key=lambda found: sum(map(len, found)),
    )


def _common_iterations(
    shared: Sequence[dict[int, RunLoop]], used: Sequence[int], supporting: int, layer: str, direction: str
) -> Iterator[tuple[int, int, list[int]]]:
    """Give the number, the loop and the runs of each iteration that moves bytes and that enough runs have."""
    for loop in dict.fromkeys(loop for found in shared for loop in found):
        moved = {place: _volumes(shared[place][loop], layer, direction) for place in used if loop in shared[place]}
        for number in range(max(map(len, moved.values()))):
            members = [place for place, volumes in moved.items() if volumes[number : number + 1].any()]
            if len(members) >= supporting:
                yield number, loop, members


def _without(sample: Sample, loops: dict[int, RunLoop], scale: float, first: float) -> Sample:
    """Return a sample without what it has in iterations of loops."""
    values = sample.values.copy()
    for one in loops.values():
        for begin, end in zip(one.row.iteration_begin_s, one.row.iteration_end_s, strict=True):
            low, high = (scale * (time - first) / sample.interval for time in (begin, end))
            values[max(0, math.floor(low)) : math.ceil(high)] = 0.0
    return sample.with_values(values)


def _other_bursts(rest: Sequence[Sample], whole: Sequence[Sample], kappa: float) -> list[CommonBurst]:
    """Return the bursts beside the loops that runs have in common, matched in their order."""
    shares = [one.volume / all_of.volume for one, all_of in zip(rest, whole, strict=True)]
    if max(shares) < _LITTLE or len(rest[0].values) < FEWEST_VALUES:
        return []
    return list(extract_signature(rest, recorded="program", kappa=kappa).bursts)


def _volumes(loop: RunLoop, layer: str, direction: str) -> Floats:
    """Return the bytes that each iteration moves in a layer and direction, float64 (count,) or (0,)."""
    row = loop.layers.get(layer)
    if row is None:
        return np.zeros(0)
    read, written = np.array(row.bytes_read, np.float64), np.array(row.bytes_written, np.float64)
    return read if direction == "read" else written if direction == "write" else np.add(read, written)


def _burst(
    number: int,
    loop: int,
    members: Sequence[int],
    shared: Sequence[dict[int, RunLoop]],
    runs: Sequence[RunSignals],
    layer: str,
    direction: str,
    scale: dict[int, float],
) -> CommonBurst:
    """Return an iteration that some runs have in common."""
    times, volumes = [], []
    for place in members:
        one, first = shared[place][loop], runs[place].signals[layer].window[0]
        begin, end = one.row.iteration_begin_s[number] - first, one.row.iteration_end_s[number] - first
        times.append((scale[place] * begin, scale[place] * end))
        volumes.append(_volumes(one, layer, direction)[number])
    begins, ends = np.array(times).T
    middles, names = (begins + ends) / 2, tuple(runs[place].name for place in members)
    start, middle, end = (float(one.mean()) for one in (begins, middles, ends))
    return CommonBurst(start, middle, end, float(np.mean(volumes)), names, tuple(middles.tolist()))


def _drawn(bursts: Sequence[CommonBurst], interval: float, length: int) -> Floats:
    """Return the throughput of bursts that move their bytes evenly, float64 (length,); volumes are kept."""
    edges = interval * np.arange(length + 1)
    moved = np.zeros(length + 1)
    for one in bursts:
        # An end of no length, or behind that of the shortest run, would lose bytes.
        end = min(max(one.end_s, one.start_s + 1e-9), edges[-1])
        start = min(one.start_s, end - 1e-9)
        moved += one.volume * np.clip((edges - start) / (end - start), 0.0, 1.0)
    moved[-1] = sum(one.volume for one in bursts)
    return np.asarray(np.diff(moved) / interval)
