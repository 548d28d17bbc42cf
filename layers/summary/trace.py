"""A trace read in bounded memory: bandwidths of its layers in bins, and statistics, but no operations."""

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ...model.codes import UNDEFINED_UINT32, IoMode
from ...model.damage import DamageReport
from ...model.definitions import Definitions
from ...model.errors import SelectionError
from ...model.operations import OperationBatch, OperationColumns
from ...model.stream.mapping import map_partitions
from ...model.stream.source import Block, Partition, Tally
from ...otf2io.source import open_source
from ...signals.samples import bin_count
from ..dataset import bandwidth_dataset
from ..handles.forest import HandleForest, assembled_forest
from ..handles.order import layer_order
from ..handles.stack import handle_stack
from ..mappings import LayerMapping
from ..protocols import AnyTrace
from ..selection.files import DEFAULT_RULES, FileRule, FileSelection, select_files
from ..selection.window import TickWindow, bounded_windows, select_window, trace_window
from ..statistics.statistics import SetAside
from .accumulator import OperationSums, category_count
from .layer import BinnedLayer
from .memory import BYTES_PER_HANDLE, MOST_BINS, MemoryPlan, plan_memory

Window = tuple[float | None, float | None]
"""As in `iostrata.layers.trace`."""


@dataclass(frozen=True, eq=False)
class BinnedTrace(AnyTrace):
    """What `open_trace` returns with a bound of memory: layers as bins and statistics; attributes as in `Trace`."""

    path: Path
    definitions: Definitions
    sums: OperationSums
    damage: DamageReport
    engine: str
    events_total: int
    events_of_io: int
    tick_window: TickWindow
    selection: FileSelection
    unmatched_events: int

    def __repr__(self) -> str:
        start, end = self.window
        return (
            f"<BinnedTrace {str(self.path)!r}: {self.duration:.6g} s, {self.ranks} ranks on {self.nodes} nodes, "
            f"layers {', '.join(self.sums.order) or 'none'} in bins of {self.resolution:.6g} s, "
            f"files {self.files}, window {start:.6g}:{end:.6g} s{', damaged' if self.damage.damaged else ''}>"
        )

    @property
    def resolution(self) -> float:
        """Width in s of the bins that were kept; signals are constant within each."""
        return self.sums.grid.width / self.definitions.clock.ticks_per_second

    @property
    def io_events(self) -> int:
        """Number of I/O events read."""
        return self.events_of_io

    @property
    def extent(self) -> tuple[int, int] | None:
        """First begin and last begin or end of all operations in ticks; None where there are none."""
        return self.sums.extent

    @cached_property
    def layers(self) -> LayerMapping[BinnedLayer]:
        """The layers by name, highest first."""
        return LayerMapping(
            {name: BinnedLayer(name, row, self.sums, self.tick_window) for row, name in enumerate(self.sums.order)}
        )

    @cached_property
    def handles(self) -> HandleForest:
        """The forest of all I/O handles, of all files, without their lifetimes.

        At an edge that the window leaves open, metadata events outside of the time of all operations count too.
        """
        sums = self.sums.sums
        return assembled_forest(
            self.definitions,
            self.sums.order,
            self.selection,
            operations=sums.handle_operations,
            bytes_read=self.sums.handle_bytes(IoMode.READ),
            bytes_written=self.sums.handle_bytes(IoMode.WRITE),
            metadata_events=self.sums.metadata_counts,
            ranks=self.sums.processes_by_handle,
            lifetimes=None,
        )

    @cached_property
    def set_aside(self) -> SetAside:
        """What is not selected of the operations within the window, summed over the layers."""
        sums = self.sums.sums
        files = np.unique(self.definitions.handles.file[sums.aside_used])
        return SetAside(
            int(sums.aside.sum()),
            self.sums.bytes([self.sums.categories]),
            int((files >= 0).sum()),
            self.selection.named(sums.aside),
        )

    def to_xarray(self, *, fs: float | Literal["auto"] = "auto", traffic: str = "all") -> Any:
        """Return the bandwidths on one time axis; as `iostrata.Trace.to_xarray`."""
        return bandwidth_dataset(self, fs, traffic)


def read_binned_trace(
    path: str | Path,
    memory: int,
    *,
    fs: float | Literal["auto"] = "auto",
    engine: str = "auto",
    workers: int | None = None,
    files: str = "application",
    window: Window | None = None,
    progress: Callable[[int, int], None] | None = None,
    rules: Iterable[tuple[str, str]] = DEFAULT_RULES,
    handle_bytes: int = BYTES_PER_HANDLE,
) -> BinnedTrace:
    """Read an OTF2 archive into bins and statistics, in memory that does not follow the number of events.

    Raises TraceError if the archive cannot be read, or nothing of its events; SelectionError if files, window or `fs`
    make no sense, the memory is not enough, or the archive is one that the engine ``direct`` cannot read.

    Parameters
    ----------
    handle_bytes : int
        What to set aside of the memory for each handle of the trace.
    path, memory, fs, engine, workers, files, window, progress, rules
        As in `open_trace`; the engine must be able to read directly. There are at most 2^20 bins.
    """
    from .bins import BinGrid

    source = open_source(path, engine)
    archive, definitions = source.archive, source.definitions
    selection = select_files(definitions, files, tuple(FileRule(*rule) for rule in rules))
    counted, covered = bounded_windows(definitions, window)
    order = layer_order(definitions)
    plan = plan_memory(memory, archive.anchor, definitions, signal_count(definitions, order), workers, handle_bytes)
    width, bins = _bins(covered, plan, fs)
    grid = BinGrid(category_count(order), bins, float(covered.start), width)
    sums = OperationSums(definitions, order, selection, counted, grid, (covered.start, covered.end))
    tally = Tally()
    lock = threading.Lock()

    def read(partition: Partition, done: Callable[[int], None]) -> None:
        for block in source.read(partition, done=done):
            with lock:
                sums.add(_batch(block, definitions))
                tally.add(block)

    total = sum(definitions.locations.events.tolist())
    bound = plan.events_waiting * 400
    for _ in map_partitions(read, source.partitions(bound, plan.workers), total, plan.workers, progress):
        pass
    tally.damage.check_something_read(source.path)
    final = select_window(trace_window(definitions.clock, sums.extent), window)
    grid.cover(final)
    return BinnedTrace(
        path=source.path,
        definitions=definitions,
        sums=sums,
        damage=tally.damage,
        engine=source.engine,
        events_total=tally.events,
        events_of_io=tally.io_events,
        tick_window=final,
        selection=selection,
        unmatched_events=tally.unmatched,
    )


def signal_count(definitions: Definitions, order: tuple[str, ...]) -> int:
    """Return how many signals there can be: layer, own or inherited, read or write."""
    stack = handle_stack(definitions, order)
    return 2 * len(np.unique(np.stack((stack.layer, stack.own))[:, stack.layer >= 0], axis=1).T)


def _batch(block: Block, definitions: Definitions) -> OperationBatch:
    operations = block.operations
    columns = {name: getattr(operations, name) for name in OperationColumns._fields}
    columns["handle"] = np.append(definitions.handles.id, np.uint32(UNDEFINED_UINT32))[operations.handle]
    return OperationBatch(OperationColumns(**columns), block.metadata)


def _bins(window: TickWindow, plan: MemoryPlan, fs: float | Literal["auto"]) -> tuple[float, int]:
    """Return width in ticks and number of the bins that are kept."""
    length = window.end - window.start
    if fs == "auto":
        # Nothing is known of what lies between two ticks.
        return max(length / plan.bins, 1.0), plan.bins
    low, high = window.seconds
    needed = bin_count(high - low, fs)
    if needed > MOST_BINS:
        raise SelectionError(
            f"{needed} bins of {1 / fs:.6g} s are more than the {MOST_BINS} that can be kept: take a lower frequency"
        )
    if needed > plan.bins:
        raise SelectionError(
            f"{needed} bins of {1 / fs:.6g} s do not fit into the memory: give it "
            f"{-(-plan.memory_for(needed) // 10**6)}M, or take a lower frequency"
        )
    parts = max(1, min(plan.bins // needed, int(window.ticks_per_second / fs)))
    return window.ticks_per_second / (fs * parts), plan.bins
