"""What every layer does in each iteration: an operation belongs to the iteration of the call that caused it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from ...model.arrays import Ints, Links, column_at
from ...model.keyed import KeyedSums
from ...model.ranges import RangeUnion
from ...model.sums import Sums, keyed, nested
from ..attribution.attribution import TraceBlock
from ..handles.scope import Scope
from ..selection.window import FRACTION, whole_and_part
from .steps import own_steps

OUTSIDE: Final = -1
METADATA: Final = 3
"""In the place of a mode: the program's own opens, closes and deletions."""


class Spans(NamedTuple):
    """Iterations of a thread on one kind of file, by the number of the program's own call there; in order."""

    first: Ints
    """Call with which each begins, int64 (n,)."""
    behind: Ints
    """The first call behind each."""
    place: Ints
    """Number of each among the iterations of all loops."""

    def of(self, call: Ints) -> Ints:
        """Return the number of the iteration of each call, `OUTSIDE` where it is in none."""
        row = np.searchsorted(self.first, call, side="right") - 1
        inside = (row >= 0) & (call < np.append(self.behind, 0)[row])
        return np.where(inside, np.append(self.place, OUTSIDE)[row], OUTSIDE)


@dataclass(frozen=True, eq=False)
class Assignment:
    """Which calls and times belong to which iteration.

    Attributes
    ----------
    spans : mapping of int to Spans
        By thread and kind of file, numbered as in `OwnSteps`.
    kinds : int
    kind_of_file : int32 (files,)
    times : mapping of int to (int64 (n,), int64 (n,))
        Of kinds of files: when iterations begin, in order, and their numbers; for what no call caused.
    """

    spans: Mapping[int, Spans]
    kinds: int
    kind_of_file: Links
    times: Mapping[int, tuple[Ints, Ints]]


class IterationSums(Sums):
    """What all operations on selected files add up to, by iteration, `OUTSIDE` for those in none.

    Attributes
    ----------
    amounts : KeyedSums
        By iteration, layer and mode.
    ranks : KeyedSums
        The ticks of operations by iteration, layer and process.
    busy : RangeUnion
        When operations were under way, by ``iteration * layers + layer``.
    """

    scope: Scope
    assignment: Assignment
    amounts: KeyedSums = keyed(3, "operations", "hidden", "whole", "part", "begin", "end")
    ranks: KeyedSums = keyed(3, "ticks")
    busy: RangeUnion = nested(lambda sums: RangeUnion(sums.scope.exact))

    def __post_init__(self) -> None:
        super().__post_init__()
        self._calls: dict[int, int] = {}

    def add(self, block: TraceBlock) -> None:
        """Add a block; those of a process come one after the other."""
        traffic, known = block, self.assignment
        steps, start = own_steps(block, known.kind_of_file, known.kinds)
        of_step = np.full(len(steps), OUTSIDE)
        for key, low, high in zip(steps.key[start[:-1]].tolist(), start[:-1].tolist(), start[1:].tolist(), strict=True):
            before = self._calls.get(key, 0)
            self._calls[key] = before + high - low
            if key in known.spans:
                of_step[low:high] = known.spans[key].of(np.arange(before, before + high - low))
        is_call = steps.row >= 0
        of_row = np.full(len(traffic.operations), OUTSIDE)
        of_row[steps.row[is_call]] = of_step[is_call]
        iteration = of_row[_callers(traffic)]
        rows = np.flatnonzero(traffic.selected & (traffic.layer >= 0))
        iteration = iteration[rows]
        hidden = (traffic.attribution.parent[rows] < 0) & ~traffic.own[rows]
        iteration[hidden] = self._at_time(traffic, rows[hidden])
        begin, end = traffic.times(rows)
        whole, part = whole_and_part(traffic.moved[rows])
        layer = traffic.layer[rows].astype(np.int64)
        mode = traffic.mode[rows].astype(np.int64)
        values = {"operations": np.ones(len(rows)), "hidden": hidden, "whole": whole, "part": part}
        self.amounts = self.amounts.plus([iteration, layer, mode], {**values, "begin": begin, "end": end})
        inside = iteration >= 0
        process = traffic.operations.process[rows[inside]]
        self.ranks = self.ranks.plus([iteration[inside], layer[inside], process], {"ticks": (end - begin)[inside]})
        group = iteration * len(self.scope.order) + layer
        self.busy.add(group[inside], begin[inside], end[inside])
        self._add_metadata(steps.code[~is_call] // 16, of_step[~is_call], steps.begin[~is_call])

    def _add_metadata(self, layer: Links, iteration: Ints, time: Ints) -> None:
        values = {"operations": 1, "hidden": 0, "whole": 0, "part": 0, "begin": time, "end": time}
        self.amounts = self.amounts.plus([iteration, layer, np.full(len(time), METADATA)], values)

    def _at_time(self, traffic: TraceBlock, rows: Ints) -> Ints:
        """Return the iteration in whose time some operations begin, among those on files of their kind."""
        found = np.full(len(rows), OUTSIDE)
        file = column_at(self.scope.definitions.handles.file, traffic.handle[rows])
        begin = traffic.operations.begin[rows]
        kind = np.append(self.assignment.kind_of_file, np.int32(-1))[file]
        for one, (starts, places) in self.assignment.times.items():
            mine = kind == one
            at = np.searchsorted(starts, begin[mine], side="right") - 1
            found[mine] = np.where(at >= 0, places[at], OUTSIDE)
        return found

    @property
    def layers(self) -> int:
        """Number of layers."""
        return len(self.scope.order)

    def bytes(self, rows: Ints) -> int | float:
        """Return the bytes of some rows of `amounts`; an int where they are whole."""
        part = int(self.amounts["part"][rows].sum())
        whole = int(self.amounts["whole"][rows].sum())
        return whole + part / FRACTION if part else whole


def _callers(traffic: TraceBlock) -> Ints:
    """Return for each operation the one of the highest layer that caused it, itself where there is none."""
    parent = traffic.attribution.parent
    root = np.where(parent < 0, np.arange(len(parent)), parent)
    while not np.array_equal(further := root[root], root):
        root = further
    return np.asarray(root, np.int64)
