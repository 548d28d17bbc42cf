"""What a trace is to functions that take any: read in full or in bounded memory; and what its head tells."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from ..model.damage import DamageReport
from ..model.definitions import Definitions
from ..model.document import SCHEMA_VERSION, Document
from ..model.errors import SelectionError
from ..signals.step import StepSignal
from .selection.files import FileSelection
from .selection.window import TickWindow
from .statistics.statistics import LayerStatistics, SetAside

if TYPE_CHECKING:
    from .handles.forest import HandleForest


class TraceFacts:
    """Base of traces, however they were read.

    Attributes
    ----------
    definitions : Definitions
    selection : FileSelection
        Which handles are selected.
    tick_window : TickWindow
        Part of the trace's time that layers, handles and what is set aside speak of.
    """

    definitions: Definitions
    selection: FileSelection
    tick_window: TickWindow

    @property
    def resolution(self) -> float | None:
        """Width in s of the bins that signals are made of; None where signals are exact."""
        return None

    def check_frequency(self, fs: float) -> None:
        """Do nothing unless bins of 1/`fs` seconds are finer than those that were kept.

        Raises
        ------
        SelectionError
            If they are.
        """
        if self.resolution is not None and fs * self.resolution > 1 + 1e-6:
            raise SelectionError(
                f"bins of {1 / fs:.6g} s are finer than those that were kept, of {self.resolution:.6g} s: read the "
                "trace with this frequency or with more memory"
            )

    @property
    def files(self) -> str:
        """What files are selected: ``application``, ``all`` or a pattern."""
        return self.selection.files

    @property
    def window(self) -> tuple[float, float]:
        """Start and end in s from the trace's start of what layers, handles and `set_aside` speak of.

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


class AnyLayer(Protocol):
    """`iostrata.layers.layer.Layer` or `iostrata.layers.summary.layer.BinnedLayer`."""

    @property
    def name(self) -> str:
        """Identification of the paradigm."""

    @property
    def directions(self) -> tuple[str, ...]:
        """Those of ``read`` and ``write`` that have operations."""

    @property
    def flushes(self) -> int:
        """Number of flushes."""

    @property
    def flush_busy_s(self) -> float:
        """Time in s in which at least one flush was under way."""

    def bandwidth(self, direction: str, traffic: str = "all") -> StepSignal:
        """Return the aggregate bandwidth in bytes per second."""

    def signal(self, quantity: str = "bandwidth", direction: str = "total", traffic: str = "all") -> StepSignal:
        """Return the signal of a quantity by its name."""

    def statistics(self, direction: str, traffic: str = "all") -> LayerStatistics:
        """Return the statistics of one direction."""


AnyLayerT = TypeVar("AnyLayerT", bound=AnyLayer, covariant=True)


class HasLayers(Protocol[AnyLayerT]):
    """Whatever has layers."""

    @property
    def layers(self) -> Mapping[str, AnyLayerT]:
        """The layers by name, highest first."""


class AnyTrace(Protocol):
    """`iostrata.layers.trace.Trace` or `iostrata.layers.summary.trace.BinnedTrace`."""

    @property
    def path(self) -> Path:
        """The archive's anchor."""

    @property
    def definitions(self) -> Definitions:
        """Of the archive."""

    @property
    def damage(self) -> DamageReport:
        """What is lost."""

    @property
    def engine(self) -> str:
        """What read the events."""

    @property
    def events_total(self) -> int:
        """Number of events of any kind that were read."""

    @property
    def io_events(self) -> int:
        """Number of I/O events that were read."""

    @property
    def unmatched_events(self) -> int:
        """Events without a begin."""

    @property
    def tick_window(self) -> TickWindow:
        """Part of the trace's time that counts."""

    @property
    def window(self) -> tuple[float, float]:
        """The same in s."""

    @property
    def resolution(self) -> float | None:
        """Width in s of the bins that signals are made of; None where signals are exact."""

    def check_frequency(self, fs: float) -> None:
        """Refuse bins finer than those that were kept."""

    @property
    def duration(self) -> float:
        """Length of the trace in s."""

    @property
    def selection(self) -> FileSelection:
        """Which handles count."""

    @property
    def files(self) -> str:
        """What files are selected."""

    @property
    def ranks(self) -> int:
        """Number of processes."""

    @property
    def nodes(self) -> int:
        """Number of compute nodes that have processes."""

    @property
    def locations(self) -> int:
        """Number of locations."""

    @property
    def layers(self) -> Mapping[str, AnyLayer]:
        """The layers by name, highest first."""

    @property
    def handles(self) -> "HandleForest":
        """The forest of all I/O handles."""

    @property
    def set_aside(self) -> SetAside:
        """What is not selected."""


def head(trace: AnyTrace) -> Document:
    """Return what every document about a trace begins with."""
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
    }
