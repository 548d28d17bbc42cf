"""Common bursts by their order, for samples in which every burst is the program's own.

IOSI corrects the drift of a longer run by taking values away at regular intervals, which is all that can be done where
bursts of other jobs lie in between. In a trace they do not: the n-th burst of one run is the n-th of another, or one of
them lacks it. What delays a run delays it at some bursts only, and by more than the distance of two bursts: no grid
finds them then, their order does.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from typing import Final, NamedTuple

import numpy as np

from ...model.arrays import Floats, Ints, Rows
from ...model.errors import SelectionError
from .bursts import Burst
from .sample import Sample

MOST_REFERENCES: Final = 5
MOST_PAIRS: Final = 2**24


def ordered_bursts(
    found: Sequence[Sequence[Burst]], prepared: Sequence[Sample], farthest: float, supported: int
) -> list[list[Burst]]:
    """Return the common bursts, of each sample at most one burst, in the order of time.

    Each of some samples is the reference once: its bursts are matched with those of all others, and those that enough
    samples have are common. The reference whose common bursts have the most members is taken. A burst that is left over
    and nearer to a common one than half the usual quiet between bursts is a part of it, for contention interrupts
    bursts.

    Parameters
    ----------
    found : sequence of sequence of Burst
        Of each sample.
    prepared : sequence of Sample
        The samples, of one length.
    farthest : float
        By how many values two runs may be apart.
    supported : int
        Samples that make a burst common.
    """
    best = _best_groups([_BurstTimes.of(own) for own in found], farthest, supported)
    member = [np.full(len(own), -1) for own in found]
    for number, group in enumerate(best):
        for sample, row in group:
            member[sample][row] = number
    common: list[list[Burst]] = [[] for _ in best]
    for sample, own in enumerate(found):
        for number, parts in groupby(_joined(own, member[sample]), key=lambda part: part[0]):
            common[number].append(_whole([part[1] for part in parts], prepared[sample]))
    return common


def _best_groups(runs: "Sequence[_BurstTimes]", farthest: float, supported: int) -> list[list[tuple[int, int]]]:
    """Return the common bursts, as sample and row of each member, of the reference of which they have the most."""
    best: list[list[tuple[int, int]]] = []
    for reference in _references(runs):
        groups = [group for group in _groups(runs, reference, farthest) if len(group) >= supported]
        if sum(map(len, groups)) > sum(map(len, best)):
            best = groups
    return best


class _BurstTimes(NamedTuple):
    """The bursts of a sample that count: their rows among all, times of their crests, and volumes."""

    rows: Rows
    times: Floats
    volumes: Floats

    @classmethod
    def of(cls, bursts: Sequence[Burst]) -> "_BurstTimes":
        rows = np.flatnonzero([one.counts for one in bursts])
        counting = [bursts[row] for row in rows.tolist()]
        times = np.array([one.centre for one in counting], np.float64)
        return cls(rows, times, np.array([one.volume for one in counting]))


def _references(runs: Sequence[_BurstTimes]) -> list[int]:
    """Return the samples to try as reference: those whose number of bursts is nearest to the median number."""
    counts = np.array([len(run.rows) for run in runs])
    order = np.argsort(np.abs(counts - np.median(counts)), kind="stable")
    return [int(place) for place in order[:MOST_REFERENCES] if counts[place]]


def _groups(runs: Sequence[_BurstTimes], reference: int, farthest: float) -> list[list[tuple[int, int]]]:
    """Return for each burst of the reference the sample and row of all bursts that match it, its own among them."""
    from .kernels import matched_bursts

    first = runs[reference]
    distance = float(np.median(np.diff(first.times))) if len(first.times) > 1 else max(1.0, farthest)
    groups: list[list[tuple[int, int]]] = [[(reference, int(row))] for row in first.rows]
    for sample, run in enumerate(runs):
        if sample == reference or not len(run.rows):
            continue
        near = np.searchsorted(run.times, [first.times - farthest, first.times + farthest])
        if (near[1] - near[0]).sum() > MOST_PAIRS:
            raise SelectionError(
                f"runs of {len(first.times):,} and {len(run.times):,} bursts have too many pairs to be matched; "
                "take a longer --interval"
            )
        pairs: Ints = matched_bursts(first.times, run.times, first.volumes, run.volumes, farthest, distance)
        for there, here in pairs.tolist():
            groups[there].append((sample, int(run.rows[here])))
    return groups


def _joined(own: Sequence[Burst], member: Ints) -> list[tuple[int, Burst]]:
    """Return the bursts of one sample that belong to a common burst, with its number; parts of one are neighbours."""
    rows = np.flatnonzero(member >= 0).tolist()
    if not rows:
        return []
    quiet = np.array([max(0, own[there].start - own[here].end) for here, there in pairwise(rows)])
    nearest = float(np.median(quiet)) / 2 if len(quiet) else 0.0
    joined = []
    for row, burst in enumerate(own):
        number = int(member[row])
        if number < 0:
            place = bisect_left(rows, row)
            sides = []
            if place > 0:
                sides.append((burst.start - own[rows[place - 1]].end, int(member[rows[place - 1]])))
            if place < len(rows):
                sides.append((own[rows[place]].start - burst.end, int(member[rows[place]])))
            gap, number = min(sides)
            if gap > nearest:
                continue
        joined.append((number, burst))
    return joined


def _whole(parts: Sequence[Burst], sample: Sample) -> Burst:
    """Return one burst from the start of the first part to the end of the last."""
    highest = max(parts, key=lambda part: float(part.values.max()))
    start, end = parts[0].start, parts[-1].end
    return replace(highest, start=start, end=end, values=sample.values[start:end])
