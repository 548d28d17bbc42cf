"""What every layer does in each iteration: an operation belongs to the iteration of the call that caused it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ...model.arrays import Ints, Links
from ...model.keyed import KeyedSums
from ...model.ranges import MOST_STRETCHES, RangeUnion
from ...model.sums import Sums, keyed, nested
from ..attribution.attribution import TraceBlock
from ..handles.scope import Scope
from .steps import STEP_CODES, FileKinds, OwnCalls, keys_with_room, some_rows

if TYPE_CHECKING:
    from .steps_kernel import Groups, Stretches

OUTSIDE: Final = -1
_AMOUNTS: Final = 9
"""Columns of `Groups`."""
_GROUPS: Final = 1 << 10
_MODES: Final = 256
"""Numbers of a mode."""
NOBODY_TOLD: Final[Links] = np.zeros(0, np.int32)
METADATA: Final = 3
"""In the place of a mode: the program's own opens, closes and deletions."""


class Spans(NamedTuple):
    """Iterations by the number of the program's own call, in the order of keys and calls; shape (n,)."""

    key: Ints
    """Thread and kind of file, numbered as in `OwnCalls`."""
    first: Ints
    """Call with which each begins."""
    behind: Ints
    """The first call behind each."""
    place: Ints
    """Number of each among the iterations of all loops."""


class Times(NamedTuple):
    """When iterations on files of a kind begin, in the order of kinds and times, for what no call caused; (n,)."""

    kind: Ints
    begin: Ints
    place: Ints
    """Number of the iteration, `OUTSIDE` behind the last of a loop."""


@dataclass(frozen=True, eq=False)
class Assignment:
    """Which calls and times belong to which iteration."""

    spans: Spans
    times: Times
    kinds: FileKinds


def _groups_with_room(most: int) -> "Groups":
    from .steps_kernel import Groups

    keys, amounts = keys_with_room(most), np.empty((most, _AMOUNTS), np.int64)
    return Groups(keys, amounts, np.empty(most, np.int64), np.empty(most, np.int64))


class IterationRows:
    """Tells which iteration operations belong to, block by block; the blocks of a process come one after the other."""

    def __init__(self, scope: Scope, assignment: Assignment) -> None:
        from .steps_kernel import Sizes, Stretches

        self._assignment = assignment
        self._calls: dict[int, int] = {}
        self._of_row = np.zeros(0, np.int32)
        layers = len(scope.order)
        self._groups = _groups_with_room(_GROUPS)
        self._stretches = Stretches(*(np.zeros(0, np.int64) for _ in range(3)))
        self.sizes: Sizes = Sizes(max(1, len(scope.lineages)), _MODES, len(scope.definitions.groups.id) + 1, layers)

    def of(self, block: TraceBlock) -> Links:
        """Return the iteration of each operation of a block, `OUTSIDE` for those in none and on files set aside."""
        told = np.full(len(block.operations), OUTSIDE, np.int32)
        self.added(block, told)
        return told

    def added(
        self, block: TraceBlock, told: Links = NOBODY_TOLD, shift: int = 0
    ) -> tuple["Groups", "Stretches", OwnCalls, Ints]:
        """Return what operations add to iterations, the program's own calls, and the iteration of each of these.

        It is valid until the next block; see `caused_by` for what else is given.
        """
        from .steps_kernel import Stretches, TimeColumns, caused_by

        own, times = OwnCalls.of(block, self._assignment.kinds), self._assignment.times
        of_call = self._of_calls(own)
        if len(self._of_row) < len(own.calls.handle):
            self._of_row = np.empty(len(own.calls.handle), np.int32)
        if len(self._stretches.union) < len(own.chosen):
            self._stretches = Stretches(*(np.empty(len(own.chosen), np.int64) for _ in range(3)))
        start = np.searchsorted(times.kind, np.arange(self._assignment.kinds.total + 1))
        kinds = TimeColumns(start, times.begin, times.place)
        calls = own.chosen, own.row, of_call, self._of_row, told, own.calls
        columns = *calls, own.handles, kinds, own.edges, self.sizes, shift
        while (found := caused_by(*columns, self._groups, self._stretches))[0] < 0:
            self._groups = _groups_with_room(2 * len(self._groups.union))
        known, count = found
        groups = self._groups._replace(
            keys=self._groups.keys._replace(key=self._groups.keys.key[:known]), amounts=self._groups.amounts[:known]
        )
        return groups, some_rows(self._stretches, slice(count)), own, of_call

    def _of_calls(self, own: OwnCalls) -> Ints:
        """Return the iteration of each of the program's own calls."""
        from .steps_kernel import SpanColumns, iterations_of_calls

        key, *columns = self._assignment.spans
        low, high = (np.searchsorted(key, own.keys, side=side) for side in ("left", "right"))
        keys = own.keys.tolist()
        before = np.array([self._calls.get(one, 0) for one in keys], np.int64)
        found = iterations_of_calls(own.number, before, low, high, SpanColumns(*columns))
        self._calls.update(zip(keys, before.tolist(), strict=True))
        return found


@dataclass(frozen=True, eq=False)
class IterationNumbers:
    """The loop of each iteration, and its number there.

    Attributes
    ----------
    assignment : Assignment
        Of all iterations, also of loops with so many that their sums are put together.
    loop, number : int64 (iterations,)
        Id of the loop, and the number of the iteration from 1 on.
    """

    assignment: Assignment
    loop: Ints
    number: Ints

    def reader(self, scope: Scope) -> Callable[[TraceBlock], tuple[Ints, Ints]]:
        """Return what gives the loop and iteration of each operation, block by block; −1 for those in none."""
        rows = IterationRows(scope, self.assignment)
        loop, number = np.append(self.loop, OUTSIDE), np.append(self.number, OUTSIDE)

        def read(block: TraceBlock) -> tuple[Ints, Ints]:
            place = rows.of(block)
            return loop[place], number[place]

        return read


class IterationSums(Sums):
    """What all operations on selected files add up to, by iteration, `OUTSIDE` for those in none.

    Attributes
    ----------
    amounts : KeyedSums
        By iteration, origin and mode. An origin is a lineage of handles (`Lineages`); metadata events, which may not
        have a handle, have one of their layer, behind all lineages.
    ranks : KeyedSums
        The ticks of operations by iteration, layer and process, when the first one began, how many are collective, and
        the sum of these ones' begins, of which only differences tell, as it may have run over.
    outside : KeyedSums
        By layer, mode and process, when operations that are in no iteration began first and ended last.
    busy : RangeUnion
        When operations were under way, by ``iteration * layers + layer``.
    """

    scope: Scope
    assignment: Assignment
    amounts: KeyedSums = keyed(3, "operations", "hidden", "whole", "part", "begin", "end")
    ranks: KeyedSums = keyed(3, "ticks", "begin", "collective", "begins")
    outside: KeyedSums = keyed(3, "begin", "end")
    busy: RangeUnion = nested(lambda sums: RangeUnion(sums.scope.exact))

    def __post_init__(self) -> None:
        super().__post_init__()
        self._rows = IterationRows(self.scope, self.assignment)

    def add(self, block: TraceBlock) -> None:
        """Add a block; those of a process come one after the other."""
        groups, stretches, own, of_call = self._rows.added(block, shift=self.busy.shift)
        sizes, is_union = self._rows.sizes, groups.keys.key < 0
        self._add_busy(groups, stretches)
        keys, process = np.divmod(groups.keys.key[~is_union], sizes.processes)
        keys, mode = np.divmod(keys, _MODES)
        iteration, lineage = np.divmod(keys, sizes.lineages)
        iteration, layer = iteration - 1, self.layer_of_origin[lineage]
        *amounts, ticks, collective, begins = groups.amounts[~is_union].T
        values = dict(zip(self.amounts.values, amounts, strict=True))
        self.amounts = self.amounts.plus((iteration, lineage, mode), values)
        inside = iteration >= 0
        columns = ticks, values["begin"], collective, begins
        of_rank = {name: column[inside] for name, column in zip(self.ranks.values, columns, strict=True)}
        self.ranks = self.ranks.plus((iteration[inside], layer[inside], process[inside] - 1), of_rank)
        times = {name: values[name][~inside] for name in self.outside.values}
        self.outside = self.outside.plus((layer[~inside], mode[~inside], process[~inside] - 1), times)
        if len(own.events.time):
            is_event = own.row < 0
            event = -1 - own.row[is_event]
            self._add_metadata(own.events.code[event] // (2 * STEP_CODES), of_call[is_event], own.events.time[event])

    def _add_busy(self, groups: "Groups", stretches: "Stretches") -> None:
        from .steps_kernel import coarser

        count, shift = len(stretches.union), self.busy.shift
        if not self.scope.exact and count > MOST_STRETCHES:
            last = np.where(groups.keys.key < 0, groups.last[: len(groups.keys.key)], -1)
            count, shift = coarser(stretches, last, count, MOST_STRETCHES, shift)
        union, begin, end = (one[:count] for one in stretches)
        self.busy.add(-1 - groups.keys.key[union], begin.copy(), end.copy(), shift)

    def _add_metadata(self, layer: Links, iteration: Ints, time: Ints) -> None:
        values = {"operations": 1, "hidden": 0, "whole": 0, "part": 0, "begin": time, "end": time}
        origin = layer + len(self.scope.lineages)
        self.amounts = self.amounts.plus([iteration, origin, np.full(len(time), METADATA)], values)

    @cached_property
    def layer_of_origin(self) -> Ints:
        """Layer of each origin, counted from the highest."""
        return np.array([*self.scope.lineages.layer, *range(self.layers)], np.int64)

    @property
    def layers(self) -> int:
        """Number of layers."""
        return len(self.scope.order)
