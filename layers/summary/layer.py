"""One layer of a trace that was read into bins and statistics."""

from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from ...model.errors import SelectionError
from ...signals.step import StepSignal
from ..handles.stack import Lineages
from ..mappings import statistics_table
from ..protocols import AnyLayer
from ..selection.directions import check_quantity
from ..selection.window import TickWindow
from .accumulator import OperationSums, categories_of
from .bins import BinGrid
from .tables import MODES


@dataclass(frozen=True, eq=False)
class BinnedLayer(AnyLayer):
    """Bandwidths in bins and statistics of one layer, on the selected files within the trace's window.

    Attributes
    ----------
    name : str
        Identification of the paradigm: ``MPI-IO``, ``POSIX``.
    sums : OperationSums
        Of all layers.
    grid : BinGrid
        Bandwidths of all layers.
    """

    name: str
    sums: OperationSums
    grid: BinGrid
    tick_window: TickWindow

    @property
    def order(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.sums.order

    @property
    def lineages(self) -> Lineages:  # type: ignore[override]
        return self.sums.lineages

    def __repr__(self) -> str:
        moved = [f"{way} {self.sums.bytes(self._categories(way, 'all'))} bytes" for way in self.directions]
        return f"<BinnedLayer {self.name}: {', '.join(moved) or 'no transfers'}>"

    def _repr_html_(self) -> str:
        return statistics_table([self])

    def bandwidth(self, direction: str, traffic: str = "all", below: str | None = None) -> StepSignal:
        """Return the bandwidth as `Layer.bandwidth`, constant within each bin."""
        categories = self._categories(direction, traffic)
        if below is not None:
            categories = sorted({*categories} & {*categories_of(self.lineages_of("all", below), range(MODES))})
        name = f"{self.name} {direction}" if traffic == "all" else f"{self.name} {direction} ({traffic})"
        return self.grid.signal(np.array(categories, np.int64), self.tick_window, name)

    def signal(self, quantity: str = "bandwidth", direction: str = "total", traffic: str = "all") -> StepSignal:
        """Return `bandwidth`; raise SelectionError for other quantities, which have no bins."""
        check_quantity(quantity)
        if quantity != "bandwidth":
            self._refuse(f"the signal {quantity!r}")
        return self.bandwidth(direction, traffic)

    def by(self, key: str) -> NoReturn:
        """Raise SelectionError: bins are of whole layers."""
        self._refuse(f"parts by {key}")

    def _refuse(self, what: str) -> NoReturn:
        raise SelectionError(f"{what}: the trace was read in bounded memory, which keeps only bandwidths of layers")
