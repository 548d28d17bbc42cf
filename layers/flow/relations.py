"""What the layers of a trace are to each other: its sums, and what follows from them."""

from dataclasses import dataclass
from functools import cached_property

from ...model.errors import SelectionError
from ..attribution.stream import Stream
from ..handles.order import layer_place
from ..selection.directions import DIRECTIONS, modes_of
from .balance import LayerBalance, TimeSplit
from .cells import Cells
from .flow import Flow
from .hidden import HiddenTraffic
from .sums import DEFAULT_LIMITS, RelationSums, SizeLimits


@dataclass(frozen=True, eq=False)
class Relations:
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
        return self.sums.table()

    @property
    def balances(self) -> tuple[LayerBalance, ...]:
        """For each layer and direction with operations, which of them have a parent, and which have none."""
        return self.sums.balances(self.cells)

    @property
    def time_splits(self) -> tuple[TimeSplit, ...]:
        """For each layer and direction with layers below, in which layer the time of its operations is spent."""
        return self.sums.time_splits(self.cells)

    @cached_property
    def hidden(self) -> tuple[HiddenTraffic, ...]:
        """Bytes that have no operation above although a layer above caused them, or none below."""
        return self.sums.hidden(self.cells)

    @cached_property
    def flows(self) -> tuple[Flow, ...]:
        """The flows, read and write, of all pairs of layers that the handles connect."""
        return self.sums.all_flows(self.cells, self.stream.known_traffic)

    def flows_of(self, directions: tuple[str, ...]) -> tuple[Flow, ...]:
        """Return the flows of some directions, of all pairs of layers that the handles connect."""
        if set(directions) <= set(DIRECTIONS):
            return tuple(flow for flow in self.flows if flow.direction in directions)
        sums = self._sums(directions)
        return sums.all_flows(sums.table(), self.stream.known_traffic)

    def flow(self, upper: str, lower: str, direction: str) -> Flow:
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
        sums = self._sums((direction,), ((high, low),))
        return sums.flow(sums.table(), high, low, direction, self.stream.known_traffic)

    def _sums(self, directions: tuple[str, ...], pairs: tuple[tuple[int, int], ...] | None = None) -> RelationSums:
        return self.stream.summed(lambda: RelationSums(self.stream.scope, directions, self.limits, pairs))
