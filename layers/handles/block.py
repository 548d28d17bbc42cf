"""Operations and metadata events of some processes of a trace: what all sums over it are added up from."""

from dataclasses import dataclass
from functools import cached_property

from ...model.events import IoEvents
from ...model.operations import Operations
from .metadata import MetadataEvents, metadata_events
from .scope import Scope


@dataclass(frozen=True, eq=False)
class ScopedBlock:
    """Operations and other I/O events of some processes, of all files and times, and what of them counts.

    Attributes
    ----------
    scope : Scope
        What counts.
    operations : Operations (n,)
        Ordered by begin.
    other_events : IoEvents (m,)
        I/O events that are none of an operation.
    """

    scope: Scope
    operations: Operations
    other_events: IoEvents

    @cached_property
    def metadata(self) -> MetadataEvents:
        """The other events, tied to their handles, files and processes."""
        return metadata_events(self.other_events, self.scope.definitions)
