"""Loops of threads, before those that go on together become one."""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Final

import numpy as np

from ...layers.loops.steps import StepGroup, Steps
from ...model.arrays import Ints
from .folding import Folded

_ODD: Final = 0.2
"""Share of the iterations in which a thread may do something else than others do."""


@dataclass(frozen=True, eq=False)
class Member:
    """What a group of threads repeats on one kind of file."""

    group: StepGroup
    folded: Folded

    @cached_property
    def begin(self) -> Ints:
        """When each iteration begins in the first thread, int64 (count,); evenly where several are kept as one."""
        steps, (row, place, of) = self.group.steps, self._places
        return np.asarray(steps.begin[row] + (steps.end[row] - steps.begin[row]) // of * place)

    @cached_property
    def _places(self) -> tuple[Ints, Ints, Ints]:
        """The first step of each iteration, and which of how many iterations it is there."""
        row, repeats = self.folded.start[:-1], self.folded.repeats
        of = np.ones(len(row), np.int64) if repeats is None else repeats
        place = np.arange(of.sum()) - np.repeat(np.cumsum(of) - of, of)
        return np.repeat(row, of), place, np.repeat(of, of)

    @cached_property
    def calls(self) -> Ints:
        """The call with which each iteration begins, and the one behind the last, int64 (count+1,)."""
        steps, start = self.group.steps, self.folded.start
        row, place, of = self._places
        return np.append(steps.first[row] + steps.count[row] // of * place, steps.first[start[-1]])

    @cached_property
    def end(self) -> int:
        """When the last one ends there."""
        return int(self.group.steps.end[self.folded.start[-2] : self.folded.start[-1]].max())

    @property
    def weight(self) -> int:
        """Calls in all."""
        first = self.group.steps.first
        start = self.folded.start
        return int(first[start[-1]] - first[start[0]]) * len(self.group.locations)


def calls_by_kind(steps: Steps, folded: Folded) -> Ints:
    """Return how many calls of each kind of step there are in each iteration, int64 (count, kinds)."""
    return np.add.reduceat(steps.kinds[: folded.start[-1]].astype(np.int64), folded.start[:-1])


def completed(member: Member, like: Member) -> Member | None:
    """Return a loop with the iterations in which its threads do something else, where others have some more; else None.

    Each of those begins with the first step from when it begins in the others on.
    """
    folded, steps, count = member.folded, member.group.steps, like.folded.count
    missing = count - folded.count
    if folded.repeats is not None or like.folded.repeats is not None or not 0 < missing <= max(1, _ODD * count):
        return None
    place = np.searchsorted((like.begin[1:] + like.begin[:-1]) // 2, member.begin)
    if len(np.unique(place)) < len(place):
        return None
    # The threads may be somewhat ahead of the others.
    due = like.begin + min(0, int((member.begin - like.begin[place]).min()))
    odd = np.setdiff1d(np.arange(count), place)
    row = np.searchsorted(steps.begin, due[odd])
    end = max(int(folded.start[-1]), int(np.searchsorted(steps.begin, like.end, side="right")))
    behind = np.searchsorted(steps.begin, np.append(due[1:], like.end)[odd])
    edges = np.sort(np.concatenate((folded.start[:-1], row)))
    if (row >= behind).any() or (np.diff(edges) <= 0).any():
        return None
    edges = np.append(edges, end if row[-1] > folded.start[-2] else folded.start[-1])
    other = np.isin(edges[:-1], row) | np.isin(edges[:-1], folded.start[:-1][folded.other])
    usual = int(np.searchsorted(edges, folded.start[folded.usual]))
    units = [steps.unit[low:high] for low, high in pairwise(edges.tolist())]
    # What the iteration before one of those had too much is none of it now.
    for before in (np.flatnonzero(np.isin(edges, row)) - 1).tolist():
        other[before] &= before < 0 or not np.array_equal(units[before], units[usual])
    return replace(member, folded=replace(folded, start=edges, usual=usual, other=other))
