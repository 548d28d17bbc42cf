"""What the layers of a trace are to each other, added up block by block: all that is compared and found."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Self

import numpy as np

from ...model.arrays import Frozen, Ints, Rows, Unsigned
from ...model.codes import IoMode
from ...model.definitions import Definitions
from ...model.errors import SelectionError
from ...model.keyed import KeyedSums
from ...model.operations import view
from ...model.quantities import counted
from ...model.sums import NOBODY, Sums, by_key, keyed, nested
from ..attribution.attribution import TraceBlock
from ..attribution.collectives import CallPlaces
from ..attribution.file_positions import FilePositions
from ..attribution.stream import Stream
from ..handles.scope import Scope
from ..handles.stack import layer_name, layer_place
from ..selection.directions import DIRECTIONS, Direction, modes_of
from ..selection.window import whole_and_part
from ..statistics.distribution import ValueCounts
from .access_pattern import Access, AccessSums, ReadBackSums, StreamSums
from .balance import (
    HiddenTraffic,
    LayerBalance,
    TimeSplit,
    covered_times,
    hidden_traffic,
    layer_balances,
    layers_below,
    time_splits,
)
from .calls import FlowRows, FlowSums, split_operations
from .cells import Cells, CellSums, layer_bits
from .flow import Flow, are_adjacent

_CALL: Final = ("count", "whole", "part", "begin", "end")


@dataclass(frozen=True)
class SizeLimits:
    """From where on requests are small or large, for what is looked at operation by operation.

    Attributes
    ----------
    small : float
        Requests of fewer bytes are small.
    split : float
        Requests from this size on may be split,
    pieces : float
        into at least that many operations below.
    empty : float
        Flushes after no more written bytes than these have nothing to put out: a record of a few has to last, too.
    """

    small: float = 65536
    split: float = 65536
    pieces: float = 2
    empty: float = 0


DEFAULT_LIMITS: Final = SizeLimits()


class RelationSums(Sums):
    """Sums over the operations of whole processes, which merge; memory follows handles, processes and collective calls.

    The order in which blocks are added or merged does not matter.

    Parameters
    ----------
    directions : tuple of {"read", "write", "total"}
        Of the flows.
    pairs : iterable of (int, int), optional
        Upper and lower layers, counted from the highest; without it all that handles connect.
    most_calls : int, optional
        Collective calls beyond which there is no memory.
    """

    scope: Scope
    directions: tuple[Direction, ...] = DIRECTIONS
    limits: SizeLimits = DEFAULT_LIMITS
    pairs: Iterable[tuple[int, int]] | None = None
    most_calls: int | None = None
    cells: CellSums = nested(lambda _sums: CellSums())
    flows: dict[tuple[int, int, str], FlowSums] = by_key()
    access: dict[tuple[int, int, str], AccessSums] = by_key()
    covered_times: dict[tuple[int, str], Ints] = by_key()
    requests: dict[tuple[int, str], ValueCounts] = by_key()
    read_back: dict[int, ReadBackSums] = by_key()
    streams: dict[int, StreamSums] = by_key()
    calls: KeyedSums = keyed(3, *_CALL)
    children: KeyedSums = keyed(2, "count")

    def prepare(self) -> None:
        scope, pairs, stack = self.scope, self.pairs, Cells(self.scope, self.cells)
        if pairs is None:
            pairs = [(high, low) for high in range(len(scope.order)) for low in layers_below(stack, high)]
        self.adjacent = {(high, low): are_adjacent(stack, high, low) for high, low in pairs}
        self.formats = format_layers(scope.definitions, scope.order)
        self._places, self._positions = CallPlaces(), FilePositions()
        self._first = KeyedSums.none(3, "begin")

    def add(self, block: TraceBlock) -> None:
        """Add a block; metadata events play no part."""
        self.finish(np.unique(block.operations.process).astype(np.int64))
        sequence, place = self._places.keys(block.operations, block.sequences)
        offset = self._positions.offsets(block)
        split: list[tuple[int, Rows]] = []
        there = [direction for direction in self.directions if block.of_direction(direction).any()]
        for (high, low), adjacent in self.adjacent.items():
            for direction in there:
                rows = FlowRows(block, high, low, direction)
                marks = np.zeros(len(rows.upper), np.bool_)
                if adjacent and len(rows.beneath):
                    marks = split_operations(rows, self.limits.split, self.limits.pieces)
                    split.append((low, rows.upper[marks]))
                below = np.flatnonzero(rows.descending)
                if len(rows.upper) or len(below):
                    key = high, low, direction
                    known = self.flows.setdefault(key, FlowSums(adjacent, self.scope))
                    known.add(rows, marks, sequence, place, offset)
                    self._add_access(block, offset, key, below)
        for row, layer in enumerate(self.scope.order):
            of_layer = block.selected & (block.layer == row)
            for direction in self.directions:
                # What is read again is looked for in all layers.
                again = direction == "read" and block.absolute_offsets(layer)
                if again or any(high == row for high, _ in self.adjacent):
                    rows_there = np.flatnonzero(of_layer & block.of_direction(direction))
                    self._add_access(block, offset, (row, row, direction), rows_there)
            rows_of = np.flatnonzero(of_layer & block.of_direction("total"))
            if len(rows_of) and block.absolute_offsets(layer):
                known_back = self.read_back.setdefault(row, ReadBackSums(self.scope.exact))
                known_back.add(view(block.operations, rows_of), block.file[rows_of], offset[rows_of])
            own, others = np.flatnonzero(of_layer & block.own), self._put_out(block, row)
            if len(own) or len(others):
                sums = StreamSums(self.limits.empty, block.absolute_offsets(layer))
                self.streams.setdefault(row, sums).add(block, own, others, offset[own])
            for direction in DIRECTIONS:
                self._add_layer(block, row, direction)
        early = layer_bits(self._early(block), len(block.operations))
        self.cells.add(block, self.limits.small, early, layer_bits(split, len(block.operations)))
        self._add_calls(block, sequence, place)

    def _put_out(self, block: TraceBlock, row: int) -> Ints:
        """Return what the program's own flushes of a layer put out beside its own writes there, and what else does so.

        What layers above write and what the layer writes for them, of which a part may be told twice; and its flushes
        for them. A flush above that becomes none here puts out nothing. Nothing where no handle of the layer is the
        program's own.
        """
        stack = block.stack
        if not ((stack.layer == row) & (stack.higher < 0)).any():
            return NOBODY
        here, above = block.layer == row, (block.layer >= 0) & (block.layer < row)
        flushes, writes = here & (block.mode == IoMode.FLUSH), block.of_direction("write")
        return np.flatnonzero(block.selected & ~(here & block.own) & (flushes | ((here | above) & writes)))

    def finish(self, going_on: Ints = NOBODY) -> None:
        """Forget what is kept of processes of which more may come: of all but those that are going on."""
        super().finish(going_on)
        self._places.finish(going_on)
        self._positions.finish(going_on)
        self._first = self._first.taken(np.isin(self._first.keys[1], going_on))

    def _early(self, traffic: TraceBlock) -> Iterator[tuple[int, Rows]]:
        """Give for each format layer the writes below before its process's own first write of the file there."""
        writes = traffic.selected & traffic.of_direction("write")
        process, begin = traffic.operations.process.astype(np.int64), traffic.operations.begin
        file = traffic.file.astype(np.int64)
        for name in self.formats:
            row = traffic.layer_row(name)
            upper = np.flatnonzero(writes & (traffic.layer == row))
            keys = np.full(len(upper), row), process[upper], file[upper]
            self._first = self._first.plus(keys, {"begin": begin[upper]})
            descends = (traffic.ancestor_handle_in(row) >= 0) & (traffic.ancestor_in(row)[0] < 0)
            below = np.flatnonzero(writes & descends & (traffic.layer > row))
            first = self._first.at(
                (np.full(len(below), row), process[below], file[below]), "begin", np.iinfo(np.int64).max
            )
            yield row, below[begin[below] < first]

    @cached_property
    def table(self) -> Cells:
        """The cells, once all operations are added."""
        return Cells(self.scope, self.cells)

    def _add_layer(self, traffic: TraceBlock, row: int, direction: str) -> None:
        """Add what concerns a layer by itself."""
        rows = np.flatnonzero(traffic.selected & (traffic.layer == row) & traffic.of_direction(direction))
        if not len(rows):
            return
        self.requests.setdefault((row, direction), ValueCounts(self.scope.exact)).add(traffic.operations.size[rows])
        covered = covered_times(traffic, row, direction)
        if covered is not None and len(covered):
            self.covered_times[row, direction] = self.covered_times.get((row, direction), 0) + covered

    def _add_access(self, traffic: TraceBlock, offset: Unsigned, key: tuple[int, int, str], rows: Ints) -> None:
        if key not in self.access:
            self.access[key] = AccessSums(traffic.absolute_offsets(self.scope.order[key[1]]), self.scope.exact)
        self.access[key].add(view(traffic.operations, rows), traffic.file[rows], offset[rows])

    def _add_calls(self, traffic: TraceBlock, sequence: Ints, place: Ints) -> None:
        """Add collective calls, and how many operations of a lower layer ran inside each."""
        parent = traffic.attribution.parent
        above = parent[parent >= 0]
        above = above[place[above] >= 0]
        if len(above):
            self.children = self.children.plus((sequence[above], place[above]), {"count": 1})
        rows = np.flatnonzero((place >= 0) & traffic.selected)
        if len(rows):
            whole, part = whole_and_part(traffic.moved[rows])
            keys = (sequence[rows], place[rows], traffic.mode[rows])
            columns = (1, whole, part, *traffic.times(rows))
            self.calls = self.calls.plus(keys, dict(zip(_CALL, columns, strict=True)))
            self._check_room()

    def absorb(self, other: Self) -> None:
        """Check that the calls of both fit."""
        super().absorb(other)
        self._check_room()

    def _check_room(self) -> None:
        if self.most_calls is not None and self.calls.at_most > self.most_calls and len(self.calls) > self.most_calls:
            raise SelectionError(
                f"more than {counted(self.most_calls, 'collective call')} do not fit into the memory until all ranks "
                "are read: give more, or look at a part of the run with --window"
            )


def format_layers(definitions: Definitions, order: tuple[str, ...]) -> tuple[str, ...]:
    """Return the layers that give data a format: parallel ones above MPI-IO, such as netCDF and HDF5."""
    limit = order.index("MPI-IO") if "MPI-IO" in order else len(order)
    parallel = {layer_name(one) for one in definitions.paradigms if one.parallel}
    return tuple(name for name in order[:limit] if name in parallel and name != "MPI-IO")


class Relations(Frozen):
    """What the layers of a trace are to each other, added up when it is first asked for.

    Attributes
    ----------
    stream : Stream
    limits : SizeLimits
        From where on requests are small or large.
    known : RelationSums or None
        The sums where the trace's first reading has added them up.
    """

    stream: Stream
    limits: SizeLimits = DEFAULT_LIMITS
    known: RelationSums | None = None

    def with_limits(self, limits: SizeLimits) -> "Relations":
        """Return the same with other limits."""
        return self if limits == self.limits else Relations(self.stream, limits)

    @cached_property
    def sums(self) -> RelationSums:
        """The sums over all operations, of reads and writes."""
        return self.known or self._sums(DIRECTIONS)

    @cached_property
    def cells(self) -> Cells:
        """The operations of each kind taken together."""
        return self.sums.table

    @property
    def balances(self) -> tuple[LayerBalance, ...]:
        """For each layer and direction with operations, which of them have a parent, and which have none."""
        return tuple(layer_balances(self.cells))

    @property
    def time_splits(self) -> tuple[TimeSplit, ...]:
        """For each layer and direction with layers below, in which layer the time of its operations is spent."""
        return tuple(time_splits(self.cells, self.sums.covered_times))

    @property
    def accesses(self) -> tuple[Access, ...]:
        """How layers whose offsets count from the start of the file go through files, of the program and from above."""
        found = (sums.accesses(self.stream.scope.order[row]) for row, sums in sorted(self.sums.streams.items()))
        of_flows = (flow.access_below for flow in self.flows if flow.adjacent)
        return (*(one for each in found for one in each), *(one for one in of_flows if one is not None))

    @cached_property
    def hidden(self) -> tuple[HiddenTraffic, ...]:
        """Bytes that have no operation above although a layer above caused them, or none below."""
        return tuple(hidden_traffic(self.cells, self.sums.calls, self.sums.children))

    @cached_property
    def flows(self) -> tuple[Flow, ...]:
        """The flows, read and write, of all pairs of layers that the handles connect."""
        return tuple(flow for flow in self._flows(self.sums) if flow.there)

    def flows_of(self, directions: tuple[Direction, ...]) -> tuple[Flow, ...]:
        """Return the flows of some directions, of all pairs of layers that the handles connect."""
        if set(directions) <= set(DIRECTIONS):
            return tuple(flow for flow in self.flows if flow.direction in directions)
        return tuple(flow for flow in self._flows(self._sums(directions)) if flow.there)

    def flow(self, upper: str, lower: str, direction: Direction) -> Flow:
        """Return what became of the operations of one layer in a layer below it.

        Raises SelectionError if the trace has no such layer, `upper` does not stand above `lower`, or there is no such
        direction.
        """
        modes_of(direction)
        order = self.stream.scope.order
        high, low = layer_place(order, upper), layer_place(order, lower)
        if high >= low:
            raise SelectionError(f"layer {upper} does not stand above {lower}; the order is {', '.join(order)}")
        known: tuple[Flow, ...] = vars(self).get("flows", ())
        for flow in known:
            if (flow.upper, flow.lower, flow.direction) == (upper, lower, direction):
                return flow
        return next(self._flows(self._sums((direction,), ((high, low),))))

    def _flows(self, sums: RelationSums) -> Iterator[Flow]:
        """Give the flows of all pairs of layers in all directions that were added up."""
        order, empty = sums.scope.order, AccessSums(False, sums.scope.exact)
        for (high, low), adjacent in sums.adjacent.items():
            for direction in sums.directions:
                keys = ((high, high, direction), (high, low, direction))
                above, below = (sums.access.get(key, empty).pattern() for key in keys)
                flow = sums.flows.get(keys[1]) or FlowSums(False, sums.scope)
                yield Flow(
                    order[high], order[low], direction, adjacent, sums.table, flow, above, below,
                    None if self.stream.in_memory is None else self.stream.whole,
                )  # fmt: skip

    def _sums(
        self, directions: tuple[Direction, ...], pairs: tuple[tuple[int, int], ...] | None = None
    ) -> RelationSums:
        reading = self.stream.known_reading
        most = None if reading is None else reading.most_calls
        return self.stream.summed(lambda: RelationSums(self.stream.scope, directions, self.limits, pairs, most))
