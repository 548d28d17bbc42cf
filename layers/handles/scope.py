"""What of a trace counts, and the blocks that all sums over it are added up from."""

from functools import cached_property
from typing import Any

import numpy as np

from ...model.arrays import Frozen, Links, Mask
from ...model.definitions import Definitions
from ...model.events import IoEvents
from ...model.operations import Operations
from ..selection.files import FileSelection
from ..selection.window import TickWindow
from .metadata import MetadataEvents, metadata_events
from .stack import HandleStack, Lineages, handle_lineages, handle_stack, layer_rows


class Scope(Frozen):
    """Files, time and layers of a trace that count, and how exact sums over its operations are.

    Attributes
    ----------
    definitions : Definitions
    order : tuple of str
        Layers, highest first.
    selection : FileSelection
        Which handles count.
    window : TickWindow
        Part of the trace's time that counts.
    covered : (int, int)
        Ticks between which most of the operations lie.
    exact : bool
        Whether distributions and unions are kept exactly, whatever memory that takes.
    """

    definitions: Definitions
    order: tuple[str, ...]
    selection: FileSelection
    window: TickWindow
    covered: tuple[int, int]
    exact: bool = False

    @cached_property
    def stack(self) -> HandleStack:
        """Layer, parent and nearest ancestor of a higher layer of each handle."""
        return handle_stack(self.definitions, self.order)

    @cached_property
    def lineages(self) -> Lineages:
        """The handles by their layer and the layers that they descend from."""
        return handle_lineages(self.stack)

    @cached_property
    def counted(self) -> dict[tuple[str, tuple[str, ...]], Any]:
        """What counters tell of layers in some directions, as far as it was asked for."""
        return {}

    @cached_property
    def folders(self) -> Mask:
        """Which files are folders: defined as such, or with other files in them, bool (n,)."""
        files = self.definitions.files
        parents = {name.rpartition("/")[0] for name in files.name}
        return files.directory | np.fromiter((name in parents for name in files.name), np.bool_, len(files.name))

    def layer_rows(self, paradigm: Links) -> Links:
        """Return the layer of each paradigm row, counted from the highest, int32 (n,), −1 where it is none."""
        return layer_rows(self.definitions, self.order, paradigm)


class ScopedBlock(Frozen):
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
