"""All operations of a trace beside what the numbers between layers need of them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ...model.codes import PROCESS, IoMode, Status
from ...model.definitions import Definitions
from ...model.errors import SelectionError
from ...model.operations import Operations, view
from ...model.rows import nearest_marked, sound_parents
from ..handles.forest import higher_ancestors
from ..handles.order import layer_name, layer_rows
from ..selection.files import FileSelection
from ..selection.window import Amounts, TickWindow
from ..statistics.statistics import zeros_like_amounts
from .attribution import Attribution
from .collectives import CollectiveCalls, collective_calls


@dataclass(frozen=True, eq=False)
class Traffic:
    """The operations of a trace, of all files and times, with the columns that flows and balances share.

    Attributes
    ----------
    operations : Operations (n,)
    definitions : Definitions
    layers : tuple of str
        Highest first.
    attribution : Attribution
    selection : FileSelection
    window : TickWindow
    """

    operations: Operations
    definitions: Definitions
    layers: tuple[str, ...]
    attribution: Attribution
    selection: FileSelection
    window: TickWindow

    @property
    def layer(self) -> npt.NDArray[np.int32]:
        """Layer of each operation, −1 where undefined, int32 (n,)."""
        return self.attribution.layer

    @cached_property
    def within(self) -> npt.NDArray[np.bool_]:
        """Whether an operation overlaps the window, bool (n,)."""
        return self.window.overlaps(self.operations)

    @cached_property
    def selected(self) -> npt.NDArray[np.bool_]:
        """Whether an operation overlaps the window and is on a selected file, bool (n,)."""
        selected = self.within.copy()
        defined = self.operations.handle >= 0
        selected[~defined] = False
        selected[defined] &= self.selection.selected[self.operations.handle[defined]]
        return selected

    @cached_property
    def moved(self) -> Amounts:
        """Bytes that each operation moved within the window, (n,)."""
        if self.within.all():
            return self.window.bytes_within(self.operations)
        part = self.window.bytes_within(view(self.operations, self.within))
        amounts = zeros_like_amounts(part, len(self.operations))
        amounts[self.within] = part
        return amounts

    @cached_property
    def calls(self) -> CollectiveCalls:
        """The collective operations, grouped across ranks."""
        return collective_calls(self.operations, self.layer, self.definitions)

    @cached_property
    def handle_layer(self) -> npt.NDArray[np.int32]:
        """Layer of each handle, −1 where undefined, int32 (handles,)."""
        return layer_rows(self.definitions, self.layers, self.definitions.handles.paradigm)

    @cached_property
    def handle_parent(self) -> npt.NDArray[np.int32]:
        """Parent of each handle without circles, −1 at a root, int32 (handles,)."""
        return sound_parents(self.definitions.handles.parent)[0]

    @cached_property
    def handle_higher(self) -> npt.NDArray[np.int32]:
        """Nearest ancestor of each handle in a higher layer, −1 where it has none, int32 (handles,)."""
        return higher_ancestors(self.handle_parent, self.handle_layer)

    @cached_property
    def own(self) -> npt.NDArray[np.bool_]:
        """Whether an operation's handle has no ancestor of a higher layer: the program called it, bool (n,)."""
        defined = self.operations.handle >= 0
        own = np.ones(len(self.operations), np.bool_)
        own[defined] = self.handle_higher[self.operations.handle[defined]] < 0
        return own

    def times(self, rows: npt.NDArray[np.integer]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return begin and end of the part of some operations within the window, int64 (m,).

        All of them overlap the window. One that never ended takes no time.
        """
        operations = view(self.operations, np.asarray(rows, np.intp))
        begin, end = self.window.clipped(operations)
        return begin, np.where(operations.status == Status.NEVER_COMPLETED, begin, end)

    @property
    def processes(self) -> npt.NDArray[np.intp]:
        """Rows in ``Definitions.groups`` that are processes."""
        return np.flatnonzero(self.definitions.groups.kind == PROCESS)

    def layer_row(self, name: str) -> int:
        """Return the place of a layer, 0 for the highest.

        Raises
        ------
        SelectionError
            If the trace has no such layer.
        """
        if name not in self.layers:
            raise SelectionError(f"no layer {name!r} in this trace; there are {', '.join(self.layers) or 'none'}")
        return self.layers.index(name)

    def of_direction(self, direction: str) -> npt.NDArray[np.bool_]:
        """Return whether an operation is of a direction, bool (n,); ``total`` is reads and writes.

        Raises
        ------
        SelectionError
            If there is no such direction.
        """
        modes = {"read": [IoMode.READ], "write": [IoMode.WRITE], "total": [IoMode.READ, IoMode.WRITE]}
        if direction not in modes:
            raise SelectionError(f"no direction {direction!r}; there are read, write, total")
        found = np.zeros(len(self.operations), np.bool_)
        for mode in modes[direction]:
            found |= self.operations.mode == mode
        return found

    def at_handles(self, column: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """Return a column over handles as one over operations, −1 where the handle is undefined."""
        found = np.full(len(self.operations), -1, np.int32)
        defined = self.operations.handle >= 0
        found[defined] = column[self.operations.handle[defined]]
        return found

    @cached_property
    def _ancestors(self) -> dict[int, tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]]:
        return {}

    def ancestor_in(self, layer: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """Return `Attribution.ancestor_in` of a layer, kept for all flows from it."""
        if layer not in self._ancestors:
            self._ancestors[layer] = self.attribution.ancestor_in(layer)
        return self._ancestors[layer]

    def ancestor_handle_in(self, layer: int) -> npt.NDArray[np.int32]:
        """Return the nearest ancestor of each operation's handle in a layer, −1 where there is none, int32 (n,)."""
        return self.at_handles(nearest_marked(self.handle_parent, self.handle_layer == layer))

    def absolute_offsets(self, layer: str) -> bool:
        """Tell whether offsets in a layer count from the start of the file; MPI-IO counts from the file view."""
        return not any(p.parallel for p in self.definitions.paradigms if layer_name(p) == layer)

    def connected(self, upper: int, lower: int) -> bool:
        """Tell whether a handle of the lower layer descends from one of the upper layer, which stands above it."""
        descends = nearest_marked(self.handle_parent, self.handle_layer == upper) >= 0
        return upper < lower and bool((descends & (self.handle_layer == lower)).any())
