"""The parts of a layer by file, file system, rank, node or handle; each is a layer of its own."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, Generic, Protocol, Self, TypeVar

import numpy as np
import numpy.typing as npt

from ..model.arrays import Rows, column_at
from ..model.definitions import Definitions
from ..model.errors import UnknownKeyError
from ..model.operations import Operations
from .handles.metadata import MetadataEvents
from .statistics.grouping import Key, grouping
from .statistics.statistics import sums_by


class Divisible(Protocol):
    """What can be split into parts of its own kind: `iostrata.Layer`."""

    @property
    def name(self) -> str:
        """Identification of the paradigm."""

    @property
    def definitions(self) -> Definitions:
        """Of the trace."""

    @property
    def operations(self) -> Operations:
        """Its operations."""

    @property
    def metadata_events(self) -> MetadataEvents:
        """Its metadata events."""

    def contributions(self, quantity: str, direction: str, traffic: str) -> tuple[Rows, npt.NDArray[Any]]:
        """Return what each operation, or metadata event, adds to the volume of a signal."""

    def narrowed(self, operations: Rows, metadata_events: Rows, part: str) -> Self:
        """Return the part that has some of the operations and metadata events only."""


LayerT = TypeVar("LayerT", bound=Divisible)


_TITLES: Final = {"rank": "rank {}", "handle": "handle {}"}
_WITHOUT: Final = {
    "file": "no file",
    "filesystem": "no known file system",
    "rank": "no rank",
    "node": "no node",
    "handle": "no handle",
}


def part_title(by: str, key: Key) -> str:
    """Return how a part is called: ``rank 3``, the name of a file, ``no file``."""
    return _WITHOUT[by] if key is None else _TITLES.get(by, "{}").format(key)


class LayerParts(Mapping[Key, LayerT], Generic[LayerT]):
    """Parts of a layer by their keys, in the order of the keys; read-only. A part is made when it is asked for.

    Only keys with operations or metadata events are there; every operation and event of the layer is in one part.
    Asking for another key raises `UnknownPartError`, a SelectionError that is also a KeyError.

    Attributes
    ----------
    layer : Layer
        The whole.
    by : str
        ``file``, ``filesystem``, ``rank``, ``node`` or ``handle``.
    """

    def __init__(
        self,
        layer: LayerT,
        by: str,
        keys: list[Key],
        place: npt.NDArray[np.intp],
        metadata_place: npt.NDArray[np.intp],
    ) -> None:
        self.layer = layer
        self.by = by
        self._place = place
        self._metadata_place = metadata_place
        self._number = {key: number for number, key in enumerate(keys)}
        edges = np.arange(len(keys) + 1)
        self._order = np.argsort(place, kind="stable")
        self._start = np.searchsorted(place[self._order], edges)
        self._metadata_order = np.argsort(metadata_place, kind="stable")
        self._metadata_start = np.searchsorted(metadata_place[self._metadata_order], edges)

    def __getitem__(self, key: Key) -> LayerT:
        if key not in self._number:
            raise UnknownPartError(f"layer {self.layer.name} has nothing by {self.by} {key!r}")
        number = self._number[key]
        rows = self._order[self._start[number] : self._start[number + 1]]
        events = self._metadata_order[self._metadata_start[number] : self._metadata_start[number + 1]]
        return self.layer.narrowed(rows, events, part_title(self.by, key))

    def __iter__(self) -> Iterator[Key]:
        return iter(self._number)

    def __len__(self) -> int:
        return len(self._number)

    def __repr__(self) -> str:
        return f"<{len(self)} parts of {self.layer.name} by {self.by}>"

    def volumes(self, quantity: str = "bandwidth", direction: str = "total", traffic: str = "all") -> dict[Key, float]:
        """Return the volume of `Layer.signal` of each part without making the signals, the largest first.

        Raises SelectionError as `Layer.signal`.

        Parameters
        ----------
        quantity, direction, traffic : str
            As in `Layer.signal`.
        """
        rows, amounts = self.layer.contributions(quantity, direction, traffic)
        place = self._metadata_place if quantity == "metadata" else self._place
        volumes: npt.NDArray[Any] = sums_by(place[rows], amounts, len(self)).astype(np.float64)
        keys = list(self._number)
        return {keys[row]: float(volumes[row]) for row in np.argsort(-volumes, kind="stable").tolist()}


class UnknownPartError(UnknownKeyError):
    """Raised when a part is asked for that a layer does not have."""


def layer_parts(layer: LayerT, by: str) -> LayerParts[LayerT]:
    """Split a layer by a key, with the groups of `breakdown`.

    Raises SelectionError if there is no such key.

    Parameters
    ----------
    by : str
        One of `iostrata.layers.statistics.grouping.KEYS`.
    """
    keys, places = grouping(layer.definitions, by)
    operations, events = layer.operations, layer.metadata_events
    file = column_at(layer.definitions.handles.file, operations.handle)
    group = places(file, operations.process, operations.handle)
    event_group = places(events.file, events.process, events.handle)
    there = np.unique(np.append(group, event_group))
    return LayerParts(
        layer,
        by,
        [keys[row] for row in there.tolist()],
        np.searchsorted(there, group),
        np.searchsorted(there, event_group),
    )
