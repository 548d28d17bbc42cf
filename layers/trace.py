"""The layered trace: an archive's I/O, split into layers, and what it adds up to."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

import numpy as np

from ..model.arrays import Frozen
from ..model.codes import IoMode
from ..model.definitions import Definitions
from ..model.document import SCHEMA_VERSION
from ..model.errors import SelectionError, import_library
from ..model.events import IoEvents
from ..model.operations import Operations, check_rows, view
from ..model.stream.damage import DamageReport
from ..model.stream.source import Tally
from ..signals.samples import bin_count
from ..signals.step import FEWEST_AUTOMATIC_BINS, StepSignal, automatic_frequency
from .attribution.attribution import TraceBlock
from .attribution.breakdown import Breakdown
from .attribution.callers import TraceCalls, split
from .attribution.file_positions import AccessKinds
from .attribution.stream import Stream
from .flow.flow import Flow
from .flow.relations import Relations
from .handles.forest import HandleForest, handle_forest
from .handles.metadata import handle_lifetimes
from .handles.scope import Scope
from .handles.sums import HandleSums
from .layer import LayerMapping, layers_of
from .selection.directions import DIRECTIONS, Direction, Traffic, check_traffic
from .selection.files import select_files
from .selection.window import NO_LENGTH, Seconds, SetAside, select_window, trace_window
from .statistics.grouping import KINDS_OF_KEYS
from .summary.accumulator import OperationSums
from .summary.counted import counted_breakdown
from .summary.parts import BinnedParts, Counted
from .summary.statistics import ChosenSums
from .table import TellsIterations, data_frame, operation_table

_FIRST: Final = 1 << 10
"""Operations that are looked at before any are summed up."""


class TraceSums(Frozen):
    """What a trace adds up to, each sum when it is first asked for.

    Attributes
    ----------
    stream : Stream
    known : mapping of str to object
        What the first reading has added up: values of `operations`, `handles` and `relations`.
    """

    stream: Stream
    known: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        vars(self).update(self.known)

    @cached_property
    def operations(self) -> OperationSums:
        """Sums over all operations."""
        sums = OperationSums(self.stream.scope)
        sums.add_operations(self.stream.kept.operations)
        return sums

    @cached_property
    def handles(self) -> HandleSums:
        """What metadata events and the lifetimes of handles add up to."""
        return self.stream.summed(lambda: HandleSums(self.stream.scope))

    @property
    def extent(self) -> tuple[int, int] | None:
        """First begin and last begin or end of all operations in ticks; None where there are none."""
        kept = self.stream.in_memory
        return self.operations.extent if kept is None else kept.operations.extent

    def parts(self, by: str) -> BinnedParts:
        """Return the parts of the layers by a key, of a trace that is not kept; each use reads it once more.

        Raises SelectionError if there is no such key, or operations are kept: see `Layer.by`.

        Parameters
        ----------
        by : {"file", "stream", "filesystem", "rank", "node", "handle"}
        """
        if self.stream.in_memory is not None or self.operations.grid is None:
            raise SelectionError("parts in bins are of a trace that was read in bounded memory")
        return BinnedParts(self.stream, Counted(self.stream.scope, by), self.operations.grid)


VARIABLES: Final[dict[str, dict[str, str]]] = {
    "layer": {"long_name": "I/O layer, highest first"},
    "direction": {"long_name": "direction of the transfers"},
    "time": {"long_name": "time from the trace's start, bin centre", "units": "s", "axis": "T", "bounds": "time_bnds"},
    "time_bnds": {"long_name": "start and end of the bin", "units": "s"},
    "bandwidth": {
        "long_name": "bandwidth of the layer, mean over the bin",
        "units": "byte s-1",
        "cell_methods": "time: mean",
    },
    "abstraction_error": {
        "long_name": "share of the volume that the bins put at another time than the exact signal",
        "units": "1",
    },
}
"""What readers of such data look for, by the CF conventions."""


def common_frequency(trace: "Trace", signals: Iterable[StepSignal]) -> float:
    """Return the largest sampling frequency in Hz that one of the signals asks for."""
    start, end = trace.window
    rate = max(map(automatic_frequency, signals), default=FEWEST_AUTOMATIC_BINS / (end - start))
    # Where the bins that were kept begin beside the window, finer ones seem to bring something.
    return float(rate if trace.resolution is None else min(rate, 1 / trace.resolution))


def check_frequency(trace: "Trace", fs: float) -> None:
    """Do nothing unless bins of 1/`fs` seconds are finer than those that the trace was read into.

    Raises SelectionError if they are.
    """
    if trace.resolution is not None and fs * trace.resolution > 1 + 1e-6:
        raise SelectionError(
            f"bins of {1 / fs:.6g} s are finer than those that were kept, of {trace.resolution:.6g} s: read the trace "
            "with this frequency or with more memory"
        )


def provenance(trace: "Trace", fs: float, automatic: bool, traffic: Traffic) -> dict[str, str | int | float]:
    """Return what tells where the bandwidths come from."""
    from ..model.version import __version__  # which takes long to be found out

    program = f"iostrata {__version__}"
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    start, end = trace.window
    recording = trace.definitions.recording
    return {
        "Conventions": "CF-1.11",
        "title": f"I/O of {trace.path} by layer",
        "recorder": recording.recorder,
        "not_recorded": ", ".join(recording.missing),
        "history": f"{now} written by {program}",
        "source": f"{program}, trace {trace.path}",
        "schema_version": SCHEMA_VERSION,
        "trace_start_ticks": trace.definitions.clock.start,
        "ticks_per_second": trace.definitions.clock.ticks_per_second,
        "fs_hz": fs,
        "fs_automatic": int(automatic),
        "window_start_s": start,
        "window_end_s": end,
        "traffic": traffic,
        "files": trace.files,
        **({} if trace.resolution is None else {"resolution_s": trace.resolution}),
    }


def bandwidth_dataset(trace: "Trace", fs: float | Literal["auto"], traffic: Traffic) -> Any:
    """Return the bandwidths as an ``xarray.Dataset``; see `iostrata.Trace.to_xarray`."""
    xarray = import_library("xarray")
    check_traffic(traffic)
    layers = [layer for layer in trace.layers.values() if layer.directions]
    signals = [layer.bandwidth(direction, traffic) for layer in layers for direction in DIRECTIONS]
    rate = common_frequency(trace, signals) if fs == "auto" else fs
    start, end = trace.window
    bins = bin_count(end - start, rate)
    check_frequency(trace, rate)
    samples = [signal.sample(rate, abstraction_error=True) for signal in signals]
    shape = len(layers), len(DIRECTIONS)
    edges = start + np.arange(bins + 1) / rate
    coordinates = {
        "layer": ("layer", np.array([layer.name for layer in layers], object)),
        "direction": ("direction", np.array(DIRECTIONS, object)),
        "time": ("time", start + (np.arange(bins) + 0.5) / rate),
    }
    data = {
        "time_bnds": (("time", "bnds"), np.stack((edges[:-1], edges[1:]), axis=1)),
        "bandwidth": (("layer", "direction", "time"), np.reshape([one.values for one in samples], (*shape, bins))),
        "abstraction_error": (("layer", "direction"), np.reshape([one.abstraction_error for one in samples], shape)),
    }
    found = xarray.Dataset(data, coordinates, provenance(trace, float(rate), fs == "auto", traffic))
    for name, attributes in VARIABLES.items():
        found[name].attrs = dict(attributes)
    return found


Made = TypeVar("Made")


class Trace(Frozen):
    """The I/O of an archive, or of what another recorder wrote, split into layers; the result of `open_trace`.

    All numbers are sums over the blocks of its stream. These are kept, and signals are exact; or they were added up
    while they were read, in bounded memory, with signals in bins of time. What needs the operations one by one then
    raises SelectionError, and some of what is asked for reads the trace once more.

    Attributes
    ----------
    stream : Stream
        All operations and metadata events, of all files and times, block by block.
    sums : TraceSums
        What they add up to.
    tally : Tally
        How many events were read, and what was lost.
    """

    stream: Stream
    sums: TraceSums
    tally: Tally

    def __post_init__(self) -> None:
        # Of an archive, the reader has made the rows.
        if self.stream.in_memory is not None and self.stream.known_reading is None:
            check_rows(*self.stream.in_memory, self.definitions)

    def __repr__(self) -> str:
        start, end = self.window
        what = f"layers {', '.join(self.order) or 'none'}"
        if self.resolution is None:
            what = f"{len(self.operations)} I/O operations, {what}"
        else:
            what = f"{what} in bins of {self.resolution:.6g} s"
        return (
            f"<Trace {str(self.path)!r}: {self.duration:.6g} s, {self.ranks} ranks on {self.definitions.node_count} "
            f"nodes, {what}, files {self.files}, window {start:.6g}:{end:.6g} s"
            f"{', damaged' if self.damage.damaged else ''}>"
        )

    def _repr_html_(self) -> str:
        from ..model.display import html_table

        facts = [
            ("duration", f"{self.duration:.6g} s"),
            ("ranks", self.ranks),
            ("nodes", self.definitions.node_count),
            ("I/O events", self.tally.io_events),
            ("window", "{:.6g} to {:.6g} s".format(*self.window)),
            ("files", self.files),
            ("set aside", f"{self.set_aside.operations:,} operations on {self.set_aside.files:,} files"),
        ]
        if self.damage.damaged:
            facts.append(("damaged", f"{self.damage.events_read:,} of {self.damage.events_expected:,} events read"))
        return html_table(facts, caption=f"Trace {self.path}") + self.layers._repr_html_()

    @property
    def path(self) -> Path:
        """The archive's anchor, or the file of another recorder."""
        return self.stream.path

    @property
    def scope(self) -> Scope:
        """Which files, which part of the time and which layers count."""
        return self.stream.scope

    @property
    def definitions(self) -> Definitions:
        """What the trace defines: locations, handles, files and so on."""
        return self.scope.definitions

    def once(self, make: "Callable[[Trace], Made]") -> Made:
        """Return what an analysis makes of the trace: made when it is first asked for, and kept with the trace."""
        kept: dict[Any, Made] = vars(self).setdefault("made", {})
        if make not in kept:
            kept[make] = make(self)
        return kept[make]

    @cached_property
    def damage(self) -> DamageReport:
        """What is lost."""
        return self.tally.damage

    @property
    def order(self) -> tuple[str, ...]:
        """Names of the layers, highest first."""
        return self.scope.order

    @property
    def operations(self) -> Operations:
        """All operations, of all files and times.

        Raises
        ------
        SelectionError
            If the trace was read in bounded memory.
        """
        return self.stream.kept.operations

    @cached_property
    def layers(self) -> LayerMapping:
        """The layers by name, highest first: all paradigms that have handles."""
        return layers_of(self.sums.operations, None if self.stream.in_memory is None else self.stream.whole)

    @cached_property
    def handles(self) -> HandleForest:
        """The forest of all I/O handles, of all files; without their lifetimes where operations are not kept.

        There, at an edge that the window leaves open, metadata events outside of the time of all operations count too.
        """
        sums, kept = self.sums.operations, self.stream.in_memory
        return handle_forest(
            self.sums.handles,
            sums.sums.handle_operations,
            sums.handle_bytes(IoMode.READ),
            sums.handle_bytes(IoMode.WRITE),
            None if kept is None else handle_lifetimes(self.stream.whole.metadata, kept.operations, self.definitions),
        )

    @cached_property
    def calls(self) -> TraceCalls:
        """Who called the I/O, what the calls took and cost, and who waited for whom."""
        return TraceCalls(self.stream)

    @cached_property
    def relations(self) -> Relations:
        """What the layers are to each other: flows, balances, hidden traffic, where time is spent."""
        return Relations(self.stream, known=self.sums.known.get("relations"))

    @property
    def flows(self) -> tuple[Flow, ...]:
        """The flows, read and write, of all pairs of layers that the handles connect."""
        return self.relations.flows

    def flow(self, upper: str, lower: str, direction: Direction = "total") -> Flow:
        """Return what became of the operations of one layer in a layer below it, adjacent or not.

        Parameters
        ----------
        upper, lower : str
            Names of layers.
        direction : {"read", "write", "total"}

        Raises
        ------
        SelectionError
            If the trace has no such layer, `upper` does not stand above `lower`, or there is no such direction.
        """
        return self.relations.flow(upper, lower, direction)

    def breakdown(self, by: str) -> Breakdown:
        """Split what each layer did, transfers and metadata operations, by a key.

        Parameters
        ----------
        by : {"layer", "file", "stream", "filesystem", "rank", "node", "handle", "function", "caller", "callpath"}

        Raises
        ------
        SelectionError
            If there is no such key, it is not known who called, or the recorder does not tell it.
        """
        recording = self.definitions.recording
        if recording.reason("operations") and (found := counted_breakdown(self.scope, by)) is not None:
            return found
        needs = KINDS_OF_KEYS[by].needs if by in KINDS_OF_KEYS else ()
        recording.require(self.path, f"--by {by}", *needs)
        table = split(self.calls, by)
        return table.of_intervals() if recording.reason("operations") else table

    def begins_with_what_counts(self) -> bool:
        """Tell whether one of the first operations counts, as far as is known before any are summed up."""
        if self.stream.in_memory is None:
            return False
        operations = self.stream.kept.operations
        first = TraceBlock(self.scope, view(operations, np.arange(min(_FIRST, len(operations)))), IoEvents.empty())
        of_layer = first.at_handles(self.scope.stack.layer) >= 0
        return bool((first.selected & of_layer & (first.mode <= IoMode.FLUSH)).any())

    @cached_property
    def set_aside(self) -> SetAside:
        """What is not selected of the operations within the window, summed over the layers."""
        sums = self.sums.operations
        files = np.unique(self.definitions.handles.file[sums.sums.aside_used])
        moved, reasons = ChosenSums(sums, [sums.categories]).bytes, self.scope.selection.named(sums.sums.aside)
        return SetAside(int(sums.sums.aside.sum()), moved, int((files >= 0).sum()), reasons)

    @property
    def resolution(self) -> float | None:
        """Width in s of the bins that signals are made of; None where signals are exact."""
        if self.stream.in_memory is not None or self.sums.operations.grid is None:
            return None
        return self.sums.operations.grid.width / self.definitions.clock.ticks_per_second

    @cached_property
    def duration(self) -> float:
        """Length of the trace in s, as its clock properties give it; where they give none, up to the last operation."""
        clock = self.definitions.clock
        return clock.duration if clock.length < NO_LENGTH else trace_window(clock, self.sums.extent).seconds[1]

    @property
    def files(self) -> str:
        """What files are selected: ``application``, ``all`` or a pattern."""
        return self.scope.selection.files

    @property
    def window(self) -> tuple[float, float]:
        """Start and end in s from the trace's start of what counts.

        Without a selection it is 0 to `duration`, extended by operations that lie outside of it.
        """
        return self.scope.window.seconds

    @property
    def ranks(self) -> int:
        """Number of processes."""
        return self.definitions.process_count

    def to_dataframe(self, loops: TellsIterations | None = None) -> Any:
        """Return the operations within the window, of all files, as a table, one row an operation; needs pandas.

        The columns are those that `iostrata.write_parquet` lists, without ``function``; ``operation`` is the index, to
        which ``parent`` refers.

        Parameters
        ----------
        loops : Loops, optional
            What `iostrata.find_loops` has found, for the columns ``loop`` and ``iteration``.

        Examples
        --------
        >>> table = open_trace("fixtures/ckpt4").to_dataframe()  # doctest: +SKIP
        >>> table[table.selected].groupby(["layer", "rank"]).bytes_moved.sum()  # doctest: +SKIP
        """
        traffic = self.stream.whole
        numbers = None if loops is None else loops.reader()(traffic)
        rows = np.flatnonzero(traffic.within)
        columns = operation_table(traffic, rows, AccessKinds(self.order).of(traffic, rows), loops=numbers)
        return data_frame(columns).set_index("operation")

    def to_xarray(self, *, fs: float | Literal["auto"] = "auto", traffic: Traffic = "all") -> Any:
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

    def select(self, *, files: str | None = None, window: Seconds | None = None) -> "Trace":
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
            If no file matches, or the window is empty or outside the trace; or the trace was read in bounded memory:
            give ``files`` and ``window`` to `open_trace`.
        """
        kept, scope = self.stream.kept, self.scope
        selection, chosen = scope.selection, scope.window
        if files is not None:
            selection = select_files(self.definitions, files, selection.rules)
        if window is not None:
            chosen = select_window(trace_window(self.definitions.clock, kept.operations.extent), window)
        covered = chosen.start, chosen.end
        stream = replace(self.stream, scope=replace(scope, selection=selection, window=chosen, covered=covered))
        selected = trace_of(stream, self.tally)
        selected.__dict__["calls"] = self.calls.of_selection(stream)
        return selected


def trace_of(stream: Stream, tally: Tally) -> Trace:
    """Return the trace of a stream whose blocks are kept; nothing of it is added up yet."""
    return Trace(stream, TraceSums(stream), tally)
