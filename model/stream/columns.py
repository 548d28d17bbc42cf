"""All operations of a trace in memory, out of its blocks."""

from dataclasses import fields
from typing import Any, Final

import numpy as np

from ..arrays import Links
from ..definitions import Definitions
from ..events import IoEvents
from ..operations import Operations
from .source import Block

PATH: Final = "path"
"""The column of blocks that is none of `Operations`."""
_DERIVED: Final = "process"
"""The one that follows from another, the location."""
_COLUMNS: Final = tuple(field.name for field in fields(Operations) if field.name != _DERIVED)


class CollectedOperations:
    """Takes blocks in the order of partitions and gives all operations, ordered by begin, then location id.

    Columns grow one by one and are ordered one by one: memory is what the operations take, and a column or two.

    Parameters
    ----------
    columns : tuple of str
        Those of `Operations` that are wanted, ``begin`` and ``location`` among them, or ``path``.
    """

    def __init__(self, definitions: Definitions, columns: tuple[str, ...] = _COLUMNS) -> None:
        self._definitions = definitions
        self._rows = 0
        empty = Operations.empty()
        self._columns: dict[str, Any] = {name: getattr(empty, name, np.empty(0, np.int32)).copy() for name in columns}
        self._borrowed = False
        self._metadata = [IoEvents.empty()]
        self._metadata_paths = [np.empty(0, np.int32)]

    def add(self, block: Block) -> None:
        """Take the operations and metadata events of a block."""
        self._metadata.append(block.metadata)
        if block.metadata_path is not None:
            self._metadata_paths.append(block.metadata_path)
        rows = self._rows + len(block.operations)
        given = {name: block.path if name == PATH else getattr(block.operations, name) for name in self._columns}
        if not self._rows:
            # Small traces have no other block: what it has is not copied.
            self._columns, self._rows, self._borrowed = given, rows, True
            return
        for name, values in given.items():
            column = self._columns[name].copy() if self._borrowed else self._columns[name]
            # Memory of large arrays is moved to where there is room for more without being copied.
            column.resize(rows, refcheck=False)
            column[self._rows :] = values
            self._columns[name] = column
        self._rows, self._borrowed = rows, False

    def metadata(self) -> tuple[IoEvents, Links]:
        """Return all metadata events, locations in the order of the definitions, and their call paths where known."""
        events, paths = IoEvents.concatenate(self._metadata), np.concatenate(self._metadata_paths)
        if (events.location[1:] < events.location[:-1]).any():
            order = np.argsort(events.location, kind="stable")
            return events.take(order), paths[order] if len(paths) else paths
        return events, paths

    def columns(self) -> dict[str, Any]:
        """Return the columns of all operations by their names; nothing can be added any more."""
        columns, order = self._columns, self._order()
        if order is not None:
            # What a column stood in is where the next one of its type goes to: fresh memory costs more than the moves.
            spare: dict[int, Any] = {}
            for name, column in columns.items():
                room = spare.pop(column.itemsize, None)
                target = np.empty_like(column) if room is None else room.view(column.dtype)
                columns[name] = np.take(column, order, out=target, mode="clip")
                if not self._borrowed:
                    spare[column.itemsize] = column
        return columns

    def operations(self) -> Operations:
        """Return all operations; nothing can be added any more."""
        columns = self.columns()
        return Operations(**columns, process=self._definitions.locations.group[columns["location"]])

    def _order(self) -> Any:
        """Return the rows by begin, then location id; None where they stand so."""
        begin, location = self._columns["begin"], self._columns["location"]
        identity = self._definitions.locations.id
        rising = bool((identity[1:] > identity[:-1]).all())
        order = None
        if (begin[1:] < begin[:-1]).any():
            order = np.argsort(begin, kind="stable")
            begin, location = begin[order], location[order]
        placed = location if rising else identity[location]
        if ((begin[1:] == begin[:-1]) & (placed[1:] < placed[:-1])).any():
            return np.lexsort((identity[self._columns["location"]], self._columns["begin"]))
        return order
