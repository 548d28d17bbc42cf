"""What of a trace counts: the one thing that all sums over its operations are made with."""

from dataclasses import dataclass
from functools import cached_property

from ...model.arrays import Links
from ...model.definitions import Definitions
from ..selection.files import FileSelection
from ..selection.window import TickWindow
from .order import layer_rows
from .stack import HandleStack, handle_stack


@dataclass(frozen=True, eq=False)
class Scope:
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

    def layer_rows(self, paradigm: Links) -> Links:
        """Return the layer of each paradigm row, counted from the highest, int32 (n,), −1 where it is none."""
        return layer_rows(self.definitions, self.order, paradigm)
