"""What a trace's definitions, the chosen files and the window tell without any event."""

from ..otf2io.definitions import Definitions
from .file_rules import FileSelection
from .window import TickWindow


class TraceFacts:
    """Base of traces, however they were read.

    Attributes
    ----------
    definitions : Definitions
    selection : FileSelection
        Which handles are selected.
    tick_window : TickWindow
        Part of the trace's time that layers, handles and what is set aside speak of.
    """

    definitions: Definitions
    selection: FileSelection
    tick_window: TickWindow

    @property
    def files(self) -> str:
        """What files are selected: ``application``, ``all`` or a pattern."""
        return self.selection.files

    @property
    def window(self) -> tuple[float, float]:
        """Start and end in s from the trace's start of what layers, handles and `set_aside` speak of.

        Without a selection it is 0 to `duration`, extended by operations that lie outside of it.
        """
        return self.tick_window.seconds

    @property
    def ranks(self) -> int:
        """Number of processes."""
        return self.definitions.process_count

    @property
    def nodes(self) -> int:
        """Number of compute nodes that have processes."""
        return self.definitions.node_count

    @property
    def locations(self) -> int:
        """Number of locations."""
        return len(self.definitions.locations.id)
