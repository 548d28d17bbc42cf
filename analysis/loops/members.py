"""Loops of threads, before those that go on together become one."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Final

import numpy as np

from ...layers.loops.steps import StepGroup, Steps
from ...model.arrays import Ints, Rows
from .folding import Folded

_ODD: Final = 0.2
"""Share of the iterations in which a thread may do something else than others do."""
_LOOKED_AT: Final = 32
"""Loops with most calls beside which others are looked at: of thousands each with each would take too long."""
MOST_ITERATIONS: Final = 1 << 12
"""Iterations of a loop that are told one by one; of loops with more, only what they are in all."""


@dataclass(frozen=True, eq=False)
class Member:
    """What a group of threads repeats on one kind of file.

    Attributes
    ----------
    group : StepGroup
    folded : Folded
    places : intp (count,) or None
        Of what they do in some iterations of a loop only: which these are.
    """

    group: StepGroup
    folded: Folded
    places: Rows | None = None

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

    @cached_property
    def since(self) -> Ints:
        """From when on what no call caused is of each iteration, and of none behind the last one, int64 (count+1,).

        It is of the one that it is nearer to: what a data set needs is written before there is a handle of it.
        """
        steps, first = self.group.steps, self._places[0]
        before = np.maximum.accumulate(steps.end)[np.maximum(first - 1, 0)]
        inside = (first > 0) & (self._places[1] == 0) & (before < self.begin)
        return np.append(np.where(inside, (before + self.begin) // 2, self.begin), self.end + 1)

    @property
    def weight(self) -> int:
        """Calls in all."""
        first = self.group.steps.first
        start = self.folded.start
        return int(first[start[-1]] - first[start[0]]) * len(self.group.locations)


def heaviest(members: Iterable[Member]) -> list[Member]:
    """Return those with most calls, the most first."""
    return sorted(members, key=lambda one: one.weight, reverse=True)[:_LOOKED_AT]


def heaviest_of_threads(members: Iterable[Member]) -> dict[tuple[int, ...], list[Member]]:
    """Return those with most calls of each group of threads."""
    found: dict[tuple[int, ...], list[Member]] = {}
    for one in members:
        found.setdefault(tuple(one.group.locations), []).append(one)
    return {threads: heaviest(some) for threads, some in found.items()}


def regular(members: Iterable[Member]) -> list[Member]:
    """Return those of a loop that take part in each iteration."""
    return [one for one in members if one.places is None]


def slots_of(count: int) -> int:
    """Return how many iterations of a loop have sums of their own."""
    return count if count <= MOST_ITERATIONS else 1


def calls_by_kind(steps: Steps, folded: Folded) -> Ints:
    """Return how many calls of each kind of step there are in each iteration, int64 (count, kinds)."""
    return np.add.reduceat(steps.kinds[: folded.start[-1]].astype(np.int64), folded.start[:-1])


def matched(group: StepGroup, likes: Iterable[Member]) -> Iterator[Member]:
    """Give what threads do as often as others, step by step, whatever they do between.

    What comes between two iterations is with the first of them, as what single ones add.
    """
    own = _runs_of(group)
    for like in likes:
        if like.folded.repeats is None and (found := _matched(group, own, like)) is not None:
            yield found


def _matched(group: StepGroup, own: Ints, like: Member) -> Member | None:
    theirs = _runs_of(like.group, like.folded.body)
    length, most = len(theirs) - 1, len(own) - len(theirs) + 1
    if not 0 < length <= _LOOKED_AT or most < like.folded.count:
        return None
    same = np.all([(own[at : at + most, 1:] == theirs[at, 1:]).all(axis=1) for at in range(length)], axis=0)
    found = np.flatnonzero(same)
    if len(found) != like.folded.count or (np.diff(found) < length).any():
        return None
    other = np.diff(found, append=found[-1] + length) != length
    edges = np.append(own[found, 0], own[found[-1] + length, 0])
    return Member(group, Folded(edges, int(np.argmin(other)), other, 0.0))


def _runs_of(group: StepGroup, rows: tuple[int, int] | None = None) -> Ints:
    """Return where runs of one kind of step begin, their codes, calls and bytes of a thread; a last row is the end."""
    low, high = rows or (0, len(group.steps))
    steps = group.steps.take(np.arange(low, high))
    first = np.flatnonzero(np.append(True, (steps.code[1:] != steps.code[:-1]) | steps.fresh[1:]))
    amounts = (np.add.reduceat(one, first) for one in (steps.count, steps.total // len(group.locations)))
    return np.append(np.column_stack((first + low, steps.code[first], *amounts)), [[high, -1, 0, 0]], axis=0)


def unrolled(member: Member, like: Member) -> Member | None:
    """Return what is all that each iteration of a loop repeats as a loop, if that is done as often as another is."""
    folded = member.folded
    inner = folded.inner[0] if len(folded.inner) == 1 else None
    if inner is None or inner.repeats is not None or inner.other.any() or folded.other.any():
        return None
    if (int(inner.start[0]), int(inner.start[-1])) != folded.body or folded.count * inner.count != like.folded.count:
        return None
    edges = np.append(folded.start[:-1, None] + (inner.start[:-1] - inner.start[0]), folded.start[-1])
    none = np.zeros(len(edges) - 1, np.bool_)
    usual = int(np.searchsorted(edges, inner.start[inner.usual]))
    return replace(member, folded=Folded(edges, usual, none, folded.bits, inner.inner))


def completed(member: Member, like: Member) -> Member | None:
    """Return a loop with the iterations in which its threads do something else, where another one has more; else None.

    Each of those begins with the first step from when it begins in the other one on, in which others do the same, or
    the same threads something on other files, at about the same time or always before or after that.
    """
    folded, steps, count = member.folded, member.group.steps, like.folded.count
    missing, beside = count - folded.count, member.group.kind != like.group.kind
    if folded.repeats is not None or like.folded.repeats is not None or not 0 < missing <= max(1, _ODD * count):
        return None
    first, then = like.begin[:-1], like.begin[1:]
    ways = (np.searchsorted(edge, member.begin) for edge in ((then, first + 1) if beside else ((first + then) // 2,)))
    place = next((one for one in ways if (np.diff(one) > 0).all()), None)
    if place is None:
        return None
    # The threads may be somewhat ahead of the others.
    due = like.begin + min(0, int((member.begin - like.begin[place]).min()))
    odd = np.setdiff1d(np.arange(count), place)
    row = np.searchsorted(steps.begin, due[odd])
    until = like.end
    if beside:
        row = np.where(odd > place[-1], np.maximum(row, folded.start[-1]), row)
        later = np.median(steps.end[folded.start[1:] - 1] - like.begin[place])
        until = max(until, int(like.begin[-1] + later))
    end = max(int(folded.start[-1]), int(np.searchsorted(steps.begin, until, side="right")))
    behind = np.searchsorted(steps.begin, np.append(due[1:], until)[odd])
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
