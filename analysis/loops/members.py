"""Loops of threads, before those that go on together become one."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...layers.loops.steps import StepGroup, Steps
from ...model.arrays import Ints
from .folding import Folded


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
