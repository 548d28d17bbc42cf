"""What the layers of a trace are to each other: its sums, and the flows that are asked for."""

from ...model.errors import SelectionError
from ..attribution.blocks import Blocks
from ..handles.order import layer_place
from ..selection.directions import DIRECTIONS, modes_of
from .flow import Flow
from .sums import DEFAULT_LIMITS, RelationSums, SizeLimits


def sum_relations(
    blocks: Blocks,
    directions: tuple[str, ...] = DIRECTIONS,
    limits: SizeLimits = DEFAULT_LIMITS,
    pairs: tuple[tuple[int, int], ...] | None = None,
) -> RelationSums:
    """Add up what the layers are to each other: flows of some directions, limits and pairs of layers."""
    return blocks.summed(lambda: RelationSums(blocks.scope, directions, limits, pairs))


def flows_of(blocks: Blocks, directions: tuple[str, ...]) -> tuple[Flow, ...]:
    """Return the flows of some directions, of all pairs of layers that the handles connect."""
    sums = sum_relations(blocks, directions)
    return sums.all_flows(sums.table(), blocks.known_traffic)


def flow_between(blocks: Blocks, upper: str, lower: str, direction: str, known: tuple[Flow, ...] = ()) -> Flow:
    """Return what became of the operations of one layer in a layer below it; one of the `known` if it is there.

    Raises SelectionError as `iostrata.layers.trace.Trace.flow`.
    """
    modes_of(direction)
    order = blocks.scope.order
    high, low = layer_place(order, upper), layer_place(order, lower)
    if high >= low:
        raise SelectionError(f"layer {upper} does not stand above {lower}; the order is {', '.join(order)}")
    for flow in known:
        if (flow.upper, flow.lower, flow.direction) == (upper, lower, direction):
            return flow
    sums = sum_relations(blocks, (direction,), pairs=((high, low),))
    return sums.flow(sums.table(), high, low, direction, blocks.known_traffic)
