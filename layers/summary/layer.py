"""One layer of a trace that was read into bins and statistics."""

from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from ...model.codes import IoMode
from ...model.errors import SelectionError
from ...signals.step import StepSignal
from ..handles.stack import Lineages
from ..mappings import statistics_table
from ..protocols import AnyLayer
from ..selection.directions import DIRECTIONS, check_quantity, modes_of
from ..selection.window import TickWindow
from ..statistics.counts import ValueCounts
from ..statistics.statistics import LayerStatistics
from .accumulator import OperationSums, categories_of
from .busy_time import BusyTime
from .tables import CANCELLED, MODES, NEVER, OPERATIONS, UNDEFINED


@dataclass(frozen=True, eq=False)
class BinnedLayer(AnyLayer):
    """Bandwidths in bins and statistics of one layer, on the selected files within the trace's window.

    Attributes
    ----------
    name : str
        Identification of the paradigm: ``MPI-IO``, ``POSIX``.
    sums : OperationSums
        Of all layers.
    """

    name: str
    sums: OperationSums
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

    @property
    def directions(self) -> tuple[str, ...]:
        return tuple(way for way in DIRECTIONS if self._count(self._categories(way, "all"), OPERATIONS))

    @property
    def flushes(self) -> int:
        return self._count(categories_of(self.lineages_of(), [IoMode.FLUSH]), OPERATIONS)

    @property
    def flush_busy_s(self) -> float:
        busy = self._busy(categories_of(self.lineages_of(), [IoMode.FLUSH]))
        return busy.length / self.tick_window.ticks_per_second

    def bandwidth(self, direction: str, traffic: str = "all", below: str | None = None) -> StepSignal:
        """Return the bandwidth as `Layer.bandwidth`, constant within each bin."""
        categories = self._categories(direction, traffic)
        if below is not None:
            categories = sorted({*categories} & {*categories_of(self.lineages_of("all", below), range(MODES))})
        name = f"{self.name} {direction}" if traffic == "all" else f"{self.name} {direction} ({traffic})"
        return self.sums.grid.signal(np.array(categories, np.int64), self.tick_window, name)

    def signal(self, quantity: str = "bandwidth", direction: str = "total", traffic: str = "all") -> StepSignal:
        """Return `bandwidth`; raise SelectionError for other quantities, which have no bins."""
        check_quantity(quantity)
        if quantity != "bandwidth":
            self._refuse(f"the signal {quantity!r}")
        return self.bandwidth(direction, traffic)

    def by(self, key: str) -> NoReturn:
        """Raise SelectionError: bins are of whole layers."""
        self._refuse(f"parts by {key}")

    def request_counts(self, direction: str) -> ValueCounts:
        return self._requests(self._categories(direction, "all"))

    def statistics(self, direction: str, traffic: str = "all") -> LayerStatistics:
        """Return the statistics of one direction, the numbers of `Layer.statistics`.

        Two of them can be inexact where there are very many different values: ``busy_s`` where there were more than
        2^17 busy stretches (then ``busy_step_s`` is above 0), and p50 and p90 of ``request_bytes``, which are at
        most 0.2 % too large where there were more than 49,000 sizes.
        """
        categories = self._categories(direction, traffic)
        own = sorted({*categories} & {*self._categories(direction, "own")})
        sums, second = self.sums.sums, self.tick_window.ticks_per_second
        moved, own_moved = self.sums.bytes(categories), self.sums.bytes(own)
        here = sums.handle_used[:, list(modes_of(direction))].any(axis=1) & self._handles(categories)
        files = np.unique(self.sums.definitions.handles.file[here])
        busy = self._busy(categories)
        return LayerStatistics(
            layer=self.name,
            direction=direction,
            operations=self._count(categories, OPERATIONS),
            bytes=moved,
            busy_s=busy.length / second,
            summed_s=self.sums.summed_ticks(categories) / second,
            files=int((files >= 0).sum()),
            handles=int(here.sum()),
            ranks=int(sums.processes[categories].any(axis=0).sum()),
            own_operations=self._count(own, OPERATIONS),
            own_bytes=float(own_moved) if isinstance(moved, float) else own_moved,
            undefined_bytes_operations=self._count(categories, UNDEFINED),
            cancelled_operations=self._count(categories, CANCELLED),
            never_completed_operations=self._count(categories, NEVER),
            request_bytes=self._requests(categories).quantiles(),
            busy_step_s=busy.step / second,
        )

    def _categories(self, direction: str, traffic: str) -> list[int]:
        return categories_of(self.lineages_of(traffic), modes_of(direction))

    def _count(self, categories: list[int], column: int) -> int:
        return int(self.sums.sums.counts[categories, column].sum())

    def _requests(self, categories: list[int]) -> ValueCounts:
        requests = ValueCounts()
        for category in self._wide(categories):
            if category in self.sums.requests:
                requests.merge(self.sums.requests[category])
        return requests

    def _busy(self, categories: list[int]) -> BusyTime:
        union = BusyTime(*self.sums.covered)
        for category in self._wide(categories):
            union.merge(self.sums.busy[category])
        return union

    def _wide(self, categories: list[int]) -> list[int]:
        return np.unique(self.sums.wide[categories]).tolist() if categories else []

    def _handles(self, categories: list[int]) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
        """Return whether each handle is of one of the categories, whatever its mode."""
        return np.isin(self.sums.category_of_handle, [category - category % MODES for category in categories])

    def _refuse(self, what: str) -> NoReturn:
        raise SelectionError(f"{what}: the trace was read in bounded memory, which keeps only bandwidths of layers")
