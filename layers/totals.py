"""What a trace adds up to: over its operations, and over its metadata events and the lifetimes of handles."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..model.errors import SelectionError
from ..model.stream.source import Tally
from ..model.sums import Sums, nested
from .attribution.stream import Stream, TraceBlock
from .flow.relations import RelationSums
from .handles.scope import Scope
from .handles.sums import HandleSums
from .summary.accumulator import OperationSums
from .summary.parts import BinnedParts, Counted


class FirstSums(Sums):
    """What the first reading of a trace that is not kept adds up, beside `OperationSums`.

    Attributes
    ----------
    tally : Tally
        What the blocks say beside operations and metadata events.
    handles : HandleSums
    relations : RelationSums or None
        What layers are to each other, if asked for.
    """

    scope: Scope
    with_relations: bool
    tally: Tally = nested(lambda _sums: Tally())
    handles: HandleSums = nested(lambda sums: HandleSums(sums.scope))
    relations: RelationSums | None = nested(lambda sums: RelationSums(sums.scope) if sums.with_relations else None)

    def add(self, block: TraceBlock) -> None:
        """Add a block that was read."""
        if block.block is not None:
            self.tally.add(block.block)
        self.handles.add(block)
        if self.relations is not None:
            self.relations.add(block)


@dataclass(frozen=True, eq=False)
class TraceSums:
    """What a trace adds up to, each sum when it is first asked for.

    Attributes
    ----------
    stream : Stream
    known : mapping of str to object
        What the first reading has added up: values of `operations`, `handles` and `relations`.
    """

    stream: Stream
    known: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        vars(self).update(self.known)

    @cached_property
    def operations(self) -> OperationSums:
        """Sums over all operations."""
        sums = OperationSums(self.stream.scope)
        sums.add_operations(self.stream.kept.operations)
        return sums

    @cached_property
    def handles(self) -> HandleSums:
        """What metadata events and the lifetimes of handles add up to."""
        return self.stream.summed(lambda: HandleSums(self.stream.scope))

    @cached_property
    def relations(self) -> RelationSums | None:
        """What the layers are to each other, where the first reading has added it up."""
        return None

    @property
    def extent(self) -> tuple[int, int] | None:
        """First begin and last begin or end of all operations in ticks; None where there are none."""
        kept = self.stream.in_memory
        return self.operations.extent if kept is None else kept.operations.extent

    def parts(self, by: str) -> BinnedParts:
        """Return the parts of the layers by a key, of a trace that is not kept; each use reads it once more.

        Raises SelectionError if there is no such key, or operations are kept: see `Layer.by`.

        Parameters
        ----------
        by : {"file", "filesystem", "rank", "node", "handle"}
        """
        if self.stream.in_memory is not None or self.operations.grid is None:
            raise SelectionError("parts in bins are of a trace that was read in bounded memory")
        return BinnedParts(self.stream, Counted(self.stream.scope, by), self.operations.grid)
