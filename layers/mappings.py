"""The layers of a trace by their names."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..model.arrays import column_at
from ..model.errors import UnknownKeyError, import_library
from .handles.block import ScopedBlock
from .handles.metadata import selected_metadata
from .layer import Layer, LayerRows
from .summary.accumulator import OperationSums
from .summary.statistics import statistics_table


class LayerMapping(Mapping[str, Layer]):
    """Layers by name, highest first; read-only.

    Names may be written in any case where that leaves no doubt. Asking for a layer that is not there raises
    `UnknownLayerError`, a SelectionError that is also a KeyError.
    """

    def __init__(self, layers: Mapping[str, Layer]) -> None:
        self._layers = dict(layers)

    def __getitem__(self, name: str) -> Layer:
        try:
            return self._layers[name]
        except KeyError:
            alike = [known for known in self._layers if isinstance(name, str) and known.lower() == name.lower()]
            if len(alike) == 1:
                return self._layers[alike[0]]
            there = ", ".join(self._layers) or "none"
            raise UnknownLayerError(f"no layer {name!r} in this trace; there are {there}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._layers)

    def __len__(self) -> int:
        return len(self._layers)

    def __repr__(self) -> str:
        return f"<layers {', '.join(self._layers) or 'none'}>"

    def _repr_html_(self) -> str:
        return statistics_table(one.statistics(direction) for one in self.values() for direction in one.directions)

    def to_dataframe(self) -> Any:
        """Return a ``pandas.DataFrame`` of the statistics, one row a layer and direction that had operations."""
        pandas = import_library("pandas")
        entries = [layer.statistics(direction).to_dict() for layer in self.values() for direction in layer.directions]
        for entry in entries:
            entry.update({f"request_{key}": value for key, value in entry.pop("request_bytes").items()})
        return pandas.DataFrame(entries).set_index(["layer", "direction"]) if entries else pandas.DataFrame()


class UnknownLayerError(UnknownKeyError):
    """Raised when a layer is asked for that the trace does not have."""


def layers_of(sums: OperationSums, whole: ScopedBlock | None) -> LayerMapping:
    """Return the layers of a trace, with their operations on selected files in the window where these are kept."""
    order = sums.scope.order
    rows = [None] * len(order) if whole is None else _rows_of_layers(whole)
    return LayerMapping({name: Layer(name, sums, of) for name, of in zip(order, rows, strict=True)})


def _rows_of_layers(whole: ScopedBlock) -> list[LayerRows]:
    scope, operations, metadata = whole.scope, whole.operations, whole.metadata
    layer_row = column_at(np.where(scope.selection.selected, scope.stack.layer, np.int32(-1)), operations.handle)
    layer_row[~scope.window.overlaps(operations)] = -1
    metadata_layer = scope.layer_rows(metadata.paradigm)
    metadata_layer[~selected_metadata(metadata, scope.selection, scope.window)] = -1
    return [
        LayerRows(operations, np.flatnonzero(layer_row == row), metadata, np.flatnonzero(metadata_layer == row))
        for row in range(len(scope.order))
    ]
