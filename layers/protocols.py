"""What a trace is to functions that take any: read in full or in bounded memory; and documents about it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from ..model.damage import DamageReport, damage_entry
from ..model.definitions import Definitions
from ..model.document import SCHEMA_VERSION, Document
from ..model.errors import SelectionError
from ..signals.step import StepSignal
from .selection.files import FileSelection
from .selection.window import NO_LENGTH, TickWindow, trace_window
from .statistics.statistics import LayerStatistics, SetAside

if TYPE_CHECKING:
    from .handles.forest import HandleForest


class AnyLayer(ABC):
    """Base of layers, `iostrata.layers.layer.Layer` and `iostrata.layers.summary.layer.BinnedLayer`.

    Attributes
    ----------
    name : str
        Identification of the paradigm.
    tick_window : TickWindow
        Part of the trace's time that signals and statistics are of.
    """

    name: str
    tick_window: TickWindow

    @property
    def window(self) -> tuple[float, float]:
        """Start and end of the signals in s from the trace's start."""
        return self.tick_window.seconds

    @property
    @abstractmethod
    def directions(self) -> tuple[str, ...]:
        """Those of ``read`` and ``write`` that have operations."""

    @property
    @abstractmethod
    def flushes(self) -> int:
        """Number of flushes; they move no bytes and have no direction."""

    @property
    @abstractmethod
    def flush_busy_s(self) -> float:
        """Time in s in which at least one flush that ended was under way."""

    @abstractmethod
    def bandwidth(self, direction: str, traffic: str = "all") -> StepSignal:
        """Return the aggregate bandwidth in bytes per second."""

    @abstractmethod
    def signal(self, quantity: str = "bandwidth", direction: str = "total", traffic: str = "all") -> StepSignal:
        """Return the signal of a quantity by its name."""

    @abstractmethod
    def statistics(self, direction: str, traffic: str = "all") -> LayerStatistics:
        """Return the statistics of one direction."""


AnyLayerT = TypeVar("AnyLayerT", bound=AnyLayer, covariant=True)


class HasLayers(Protocol[AnyLayerT]):
    """Whatever has layers."""

    @property
    def layers(self) -> Mapping[str, AnyLayerT]:
        """The layers by name, highest first."""


class AnyTrace(ABC):
    """Base of traces, `iostrata.layers.trace.Trace` and `iostrata.layers.summary.trace.BinnedTrace`.

    Attributes
    ----------
    path : Path
        The archive's anchor.
    damage : DamageReport
        What is lost.
    engine : str
        What read the events.
    events_total : int
        Events of any kind that were read.
    unmatched_events : int
        Events that end, issue or test an operation without a begin; they count nowhere else.
    tick_window : TickWindow
        Part of the trace's time that layers, handles and what is set aside are of.
    selection : FileSelection
        Which handles are selected.
    """

    path: Path
    definitions: Definitions
    damage: DamageReport
    engine: str
    events_total: int
    unmatched_events: int
    tick_window: TickWindow
    selection: FileSelection

    @property
    @abstractmethod
    def layers(self) -> Mapping[str, AnyLayer]:
        """The layers by name, highest first."""

    @property
    @abstractmethod
    def handles(self) -> "HandleForest":
        """The forest of all I/O handles."""

    @property
    @abstractmethod
    def set_aside(self) -> SetAside:
        """What is not selected."""

    @property
    @abstractmethod
    def io_events(self) -> int:
        """Number of I/O events that were read."""

    @property
    @abstractmethod
    def extent(self) -> tuple[int, int] | None:
        """First begin and last begin or end of all operations in ticks; None where there are none."""

    @property
    def resolution(self) -> float | None:
        """Width in s of the bins that signals are made of; None where signals are exact."""
        return None

    def check_frequency(self, fs: float) -> None:
        """Do nothing unless bins of 1/`fs` seconds are finer than those that the trace was read into.

        Raises SelectionError if they are.
        """
        if self.resolution is not None and fs * self.resolution > 1 + 1e-6:
            raise SelectionError(
                f"bins of {1 / fs:.6g} s are finer than those that were kept, of {self.resolution:.6g} s: read the "
                "trace with this frequency or with more memory"
            )

    @cached_property
    def duration(self) -> float:
        """Length of the trace in s, as its clock properties give it; where they give none, up to the last operation."""
        clock = self.definitions.clock
        return clock.duration if clock.length < NO_LENGTH else trace_window(clock, self.extent).seconds[1]

    @property
    def files(self) -> str:
        """What files are selected: ``application``, ``all`` or a pattern."""
        return self.selection.files

    @property
    def window(self) -> tuple[float, float]:
        """Start and end in s from the trace's start of `tick_window`.

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


def document(trace: AnyTrace, **parts: object) -> Document:
    """Return a document about a trace: what every one begins with, its own `parts`, and what the trace has lost."""
    return {
        "schema_version": SCHEMA_VERSION,
        "trace": {
            "path": str(trace.path),
            "duration_s": trace.duration,
            "locations": trace.locations,
            "ranks": trace.ranks,
            "nodes": trace.nodes,
            "events": trace.events_total,
            "io_events": trace.io_events,
            "window_s": trace.window,
            "files": trace.files,
            "engine": trace.engine,
            **({} if trace.resolution is None else {"resolution_s": trace.resolution}),
        },
        **parts,
        "damage": damage_entry(trace.damage),
    }
