"""The layered trace: an archive's I/O, split into layers."""

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..model.arrays import column_at
from ..model.damage import DamageReport
from ..model.definitions import Definitions
from ..model.errors import SelectionError
from ..model.events import IoEvents
from ..model.operations import Operations
from ..model.stream.source import Source
from .attribution.attribution import Attribution, attribute_operations
from .attribution.breakdown import FUNCTION, Breakdown, BreakdownSums
from .attribution.calls.calls import Calls, as_calls, sum_calls
from .attribution.calls.functions import function_groups
from .attribution.calls.paths import CallPaths, read_call_paths
from .attribution.calls.sums import CallSums
from .attribution.functions import CallingFunctions
from .attribution.traffic import Traffic
from .dataset import bandwidth_dataset
from .flow.sums import Limits, RelationSums
from .handles.lifetimes import Lifetimes, handle_lifetimes
from .handles.metadata import MetadataEvents, metadata_events, selected_metadata
from .handles.order import layer_name, layer_order, layer_rows
from .handles.stack import handle_lineages, handle_stack
from .handles.sums import HandleSums
from .layer import Layer
from .mappings import LayerMapping
from .protocols import AnyTrace, BlockSumsT
from .selection.directions import DIRECTIONS
from .selection.files import FileRule, FileSelection, select_files
from .selection.window import TickWindow, select_window, trace_window
from .summary.accumulator import OperationSums
from .table import data_frame, operation_table

Window = tuple[float | None, float | None]


@dataclass(frozen=True, eq=False)
class Trace(AnyTrace):
    """An archive's I/O, split into layers; the result of `open_trace`.

    Attributes
    ----------
    path : Path
        The archive's anchor.
    definitions : Definitions
    other_events : IoEvents
        All I/O events of the archive that are none of an operation.
    operations : Operations
        All operations, of all files and times.
    damage : DamageReport
    engine : str
        The engine that read the events: ``direct`` or ``library``.
    events_total : int
        Number of all events read, I/O or not.
    tick_window : TickWindow
        Part of the trace's time that layers, handles and `set_aside` are of.
    rules : tuple of FileRule
        Which files are no application files.
    selection : FileSelection
        Which handles are selected.
    events_of_io : int
        Number of all I/O events read.
    unmatched_events : int
        Events that end, issue or test an operation without a begin; they count nowhere else.
    source : Source or None
        Where the trace is read from, if something must be read again.
    workers : int or None
        Threads that read, where something must be read again.
    """

    path: Path
    definitions: Definitions
    other_events: IoEvents
    operations: Operations
    damage: DamageReport
    engine: str
    events_total: int
    tick_window: TickWindow
    rules: tuple[FileRule, ...]
    selection: FileSelection
    events_of_io: int = 0
    unmatched_events: int = 0
    source: Source | None = None
    workers: int | None = None

    def __repr__(self) -> str:
        start, end = self.window
        return (
            f"<Trace {str(self.path)!r}: {self.duration:.6g} s, {self.ranks} ranks on {self.nodes} nodes, "
            f"{len(self.operations)} I/O operations, layers {', '.join(self.order) or 'none'}, "
            f"files {self.files}, window {start:.6g}:{end:.6g} s{', damaged' if self.damage.damaged else ''}>"
        )

    def _repr_html_(self) -> str:
        from ..model.display import html_table

        facts = [
            ("duration", f"{self.duration:.6g} s"),
            ("ranks", self.ranks),
            ("nodes", self.nodes),
            ("I/O operations", len(self.operations)),
            ("window", "{:.6g} to {:.6g} s".format(*self.window)),
            ("files", self.files),
            ("set aside", f"{self.set_aside.operations:,} operations on {self.set_aside.files:,} files"),
        ]
        if self.damage.damaged:
            facts.append(("damaged", f"{self.damage.events_read:,} of {self.damage.events_expected:,} events read"))
        return html_table(facts, caption=f"Trace {self.path}") + self.layers._repr_html_()

    @property
    def extent(self) -> tuple[int, int] | None:
        """First begin and last begin or end of all operations in ticks; None where there are none."""
        return self.operations.extent

    @property
    def io_events(self) -> int:
        """Number of I/O events read."""
        return self.events_of_io

    @cached_property
    def metadata(self) -> MetadataEvents:
        """I/O events that move no data, of all files and times."""
        return metadata_events(self.other_events, self.definitions)

    @property
    def function_names(self) -> tuple[str, ...]:
        return self.calling_functions.names

    def operation_blocks(
        self, functions: bool
    ) -> Iterator[tuple[Traffic, npt.NDArray[np.int64], npt.NDArray[np.int32], int]]:
        unknown = np.full(len(self.operations), -1, np.int32)
        yield self.traffic, self.traffic.calls.call, self.calling_functions.operation if functions else unknown, 0

    def blocks(self) -> Iterator[tuple[Operations, IoEvents]]:
        yield self.operations, self.other_events

    def sum_blocks(self, make: Callable[[], BlockSumsT]) -> BlockSumsT:
        sums = make()
        sums.add(self.operations, self.metadata)
        return sums

    @cached_property
    def handle_sums(self) -> HandleSums:
        sums = HandleSums(self.definitions, self.order, self.selection, self.tick_window, exact=True)
        sums.add(self.operations, self.metadata)
        return sums

    @property
    def lifetimes(self) -> Lifetimes:
        return handle_lifetimes(self.metadata, self.operations, self.definitions)

    @cached_property
    def sums(self) -> OperationSums:  # type: ignore[override]
        covered = self.tick_window.start, self.tick_window.end
        sums = OperationSums(self.definitions, self.order, self.selection, self.tick_window, covered, exact=True)
        sums.add(self.operations)
        return sums

    @cached_property
    def attribution(self) -> Attribution:
        """The parent of each operation in a higher layer; of all files and times."""
        return attribute_operations(self.operations, self.definitions, self.order)

    @cached_property
    def traffic(self) -> Traffic:
        """All operations beside what the numbers between layers need of them."""
        return Traffic(
            self.operations, self.definitions, self.order, self.attribution, self.selection, self.tick_window
        )

    @cached_property
    def call_paths(self) -> CallPaths:
        """The call path in which each operation and other I/O event was recorded, of all files and times.

        The first use reads the events of the archive once more, then with Enter and Leave.

        Raises
        ------
        SelectionError
            If the recorder does not tell which function was called.
        TraceError
            If the archive is gone or has changed since it was opened.
        """
        if self.source is None:
            raise SelectionError(f"{self.path}: it is not known where this trace was read from")
        make = self._call_sums(self.source)
        paths, sums = read_call_paths(self.source, self.operations, self.other_events, make, self.workers)
        if self.source.tells_calls:
            # The same pass has told both.
            self.__dict__.setdefault("calls", as_calls(sums))
        return paths

    @cached_property
    def calling_functions(self) -> CallingFunctions:
        """The I/O function in which each operation and other I/O event was recorded; of `call_paths`."""
        return CallingFunctions.of_paths(self.call_paths)

    @cached_property
    def calls(self) -> Calls | None:
        """What the calls took, as their Enter and Leave tell; None where the trace does not record them.

        The first use reads the events of the archive once more.
        """
        if self.source is None or not self.source.tells_calls:
            return None
        threads = self.source.worker_count(self.workers)
        partitions = self.source.partitions(None, threads)
        return as_calls(sum_calls(self.source, self._call_sums(self.source), partitions, threads))

    def _call_sums(self, source: Source) -> Callable[[], CallSums]:
        functions = function_groups(source.regions, self.order)
        known = (self.definitions, self.order, self.selection, self.tick_window, functions)
        return functools.partial(CallSums, *known, exact=True)

    def relations_with(
        self,
        directions: tuple[str, ...] = DIRECTIONS,
        limits: Limits | None = None,
        pairs: tuple[tuple[int, int], ...] | None = None,
    ) -> RelationSums:
        traffic, covered = self.traffic, (self.tick_window.start, self.tick_window.end)
        known = (self.definitions, self.order, self.selection, self.tick_window, covered)
        sums = RelationSums(*known, directions, limits, exact=True, pairs=pairs)
        sums.add_traffic(traffic)
        return sums

    def breakdown(self, by: str) -> Breakdown:
        """Split what each layer did, transfers and metadata operations, by a key.

        Parameters
        ----------
        by : {"file", "filesystem", "rank", "node", "handle", "function"}

        Raises
        ------
        SelectionError
            If there is no such key, or functions are not known: see `calling_functions`.
        """
        functions = self.calling_functions if by == FUNCTION else None
        known = (self.definitions, self.order, self.selection, self.tick_window)
        sums = BreakdownSums(*known, by, functions.names if functions else (), exact=True)
        sums.add_traffic(self.traffic, self.metadata, functions)
        if self.calls is not None:
            sums.add_calls(self.calls)
        return sums.breakdown()

    @cached_property
    def layers(self) -> LayerMapping[Layer]:
        """The layers by name, highest first: all paradigms that have handles."""
        definitions, operations, window = self.definitions, self.operations, self.tick_window
        stack = handle_stack(definitions, self.order)
        lineages = handle_lineages(stack)
        layer_row = column_at(np.where(self.selection.selected, stack.layer, np.int32(-1)), operations.handle)
        layer_row[~window.overlaps(operations)] = -1
        paradigms = {layer_name(paradigm): paradigm for paradigm in reversed(definitions.paradigms)}
        metadata_layer = layer_rows(definitions, self.order, self.metadata.paradigm)
        metadata_layer[~selected_metadata(self.metadata, self.selection, window)] = -1
        return LayerMapping(
            {
                name: Layer(
                    name=name,
                    paradigm=paradigms[name],
                    definitions=definitions,
                    trace_operations=operations,
                    rows=np.flatnonzero(layer_row == row),
                    order=self.order,
                    lineages=lineages,
                    trace_metadata=self.metadata,
                    metadata_rows=np.flatnonzero(metadata_layer == row),
                    tick_window=window,
                    trace_sums=self.sums,
                )
                for row, name in enumerate(self.order)
            }
        )

    def to_dataframe(self) -> Any:
        """Return the operations within the window, of all files, as a table, one row an operation; needs pandas.

        The columns are those that `iostrata.write_parquet` lists, without ``function``; ``operation`` is the index, to
        which ``parent`` refers.

        Examples
        --------
        >>> table = open_trace("fixtures/ckpt4").to_dataframe()  # doctest: +SKIP
        >>> table[table.selected].groupby(["layer", "rank"]).bytes_moved.sum()  # doctest: +SKIP
        """
        rows = np.flatnonzero(self.traffic.within)
        return data_frame(operation_table(self.traffic, rows)).set_index("operation")

    def to_xarray(self, *, fs: float | Literal["auto"] = "auto", traffic: str = "all") -> Any:
        """Return the bandwidths on one time axis, as the root of a file of `iostrata.write_hdf5`; needs xarray.

        Parameters
        ----------
        fs : float or "auto"
            Bins per second (Hz). "auto" takes the largest frequency that a signal asks for, at most 2^17 bins.
        traffic : {"all", "own", "inherited"}
            Which traffic of a layer counts.

        Returns
        -------
        xarray.Dataset
            ``bandwidth(layer, direction, time)`` in byte/s as means of bins, whose sum times their width is the layer's
            bytes, with ``time_bnds`` and ``abstraction_error(layer, direction)``.

        Raises
        ------
        SelectionError
            If `fs` or `traffic` makes no sense for this trace.
        """
        return bandwidth_dataset(self, fs, traffic)

    def select(self, *, files: str | None = None, window: Window | None = None) -> "Trace":
        """Return the trace with other files or another window; nothing is read again.

        Parameters
        ----------
        files : str, optional
            ``application``, ``all`` or a pattern for full names; without it the files stay.
        window : (start, end) in s from the trace's start, optional
            None in place of a number means the trace's edge; the window is cut to the trace. Operations across an edge
            count in proportion. Without it the window stays; ``(None, None)`` is the whole trace.

        Raises
        ------
        SelectionError
            If no file matches, or the window is empty or outside the trace.
        """
        selection = self.selection if files is None else select_files(self.definitions, files, self.rules)
        chosen = self.tick_window
        if window is not None:
            chosen = select_window(trace_window(self.definitions.clock, self.extent), window)
        selected = replace(self, selection=selection, tick_window=chosen)
        for name in ("call_paths", "calling_functions"):
            if known := self.__dict__.get(name):
                # They cost another pass over the events and depend on neither files nor window.
                selected.__dict__[name] = known
        return selected

    @cached_property
    def order(self) -> tuple[str, ...]:
        return layer_order(self.definitions)
