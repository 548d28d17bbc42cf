"""What traces read in full and traces read in bounded memory have in common, for functions that take either."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from ..otf2io.damage import DamageReport
from ..otf2io.definitions import Definitions
from .file_rules import FileSelection
from .statistics import LayerStatistics, SetAside
from .step import StepSignal
from .window import TickWindow

if TYPE_CHECKING:
    from .forest import HandleForest


class AnyLayer(Protocol):
    """`iostrata.layers.layer.Layer` or `iostrata.layers.binned_layer.BinnedLayer`."""

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
    """`iostrata.layers.trace.Trace` or `iostrata.layers.binned_trace.BinnedTrace`."""

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
