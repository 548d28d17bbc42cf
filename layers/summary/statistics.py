"""The numbers of a layer in one direction, each declared with its meaning and how it follows from the sums."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np

from ...model.arrays import Mask
from ...model.codes import KNOWN_STACK
from ...model.display import html_table
from ...model.document import Record
from ...model.metrics import metric, metrics_of
from ..handles.scope import Scope
from ..selection.directions import DIRECTIONS, Direction
from ..selection.window import FRACTION
from ..statistics.distribution import RequestBytes
from .accumulator import OperationSums
from .busy_time import BusyTime
from .counted import CountedLayer, counted_layer
from .tables import CANCELLED, CUT, MODES, NEVER, OPERATIONS, UNDEFINED


@dataclass(frozen=True)
class ChosenSums:
    """Sums over the operations of some categories: what the numbers of a layer follow from.

    Attributes
    ----------
    sums : OperationSums
    categories : list of int
    own : list of int
        Those of the categories that are the program's own.
    """

    sums: OperationSums
    categories: list[int]
    own: list[int] = field(default_factory=list)

    def count(self, column: int) -> int:
        """Return a column of `OperationTables.counts`."""
        return self._counts[column]

    @cached_property
    def _counts(self) -> list[int]:
        found: list[int] = self.sums.sums.counts[self.categories].sum(axis=0).tolist()
        return found

    @cached_property
    def bytes(self) -> int | float:
        """Bytes moved: an int, or a float where the window cuts an operation."""
        whole, part = map(int, self.sums.sums.bytes[self.categories].sum(axis=0))
        return whole + part / FRACTION if self.count(CUT) else whole

    @cached_property
    def of_own(self) -> "ChosenSums":
        """The program's own operations alone."""
        return ChosenSums(self.sums, self.own)

    @property
    def least_bytes(self) -> int | float | None:
        """Bytes moved at least; None where the bytes of all operations are known, or nothing is of others."""
        least = int(self.sums.sums.least[list(self.categories)].sum())
        return self.bytes + least if least else None

    @property
    def own_bytes(self) -> int | float:
        """Those of the program's own operations, a float where `bytes` is one."""
        own = self.of_own.bytes
        return float(own) if isinstance(self.bytes, float) else own

    @cached_property
    def busy(self) -> BusyTime:
        """When an operation was under way."""
        return self.sums.busy_time(self.categories)

    @cached_property
    def handles(self) -> Mask:
        """Which handles were used, bool (handles,)."""
        modes = sorted({category % MODES for category in self.categories})
        lineages = [category - category % MODES for category in self.categories]
        used = self.sums.sums.handle_used[:, modes].any(axis=1)
        return np.logical_and(used, np.any([self.sums.category_of_handle == one for one in {*lineages}], axis=0))

    @property
    def files(self) -> int:
        """How many files were used."""
        files = np.unique(self.sums.scope.definitions.handles.file[self.handles])
        return int((files >= 0).sum())

    @property
    def ranks(self) -> int | None:
        """How many processes took part; None where all ranks together, or a block device, are one of them."""
        definitions = self.sums.scope.definitions
        active: Mask = np.asarray(self.sums.sums.processes[self.categories].any(axis=0))
        # The first column is of no process.
        return None if (definitions.groups.rank[active[1:]] < 0).any() else int(active.sum())

    def seconds(self, ticks: float) -> float:
        """Return a number of ticks in s."""
        return ticks / self.sums.scope.window.ticks_per_second


def _bandwidth(of: ChosenSums) -> float | None:
    length = of.seconds(of.busy.length)
    return of.bytes / length if length > 0 else None


class LayerStatistics(Record):
    """What a layer did in one direction.

    A column of ``iostrata layers`` is a metric here: tables, documents, files and the glossary follow.

    Attributes
    ----------
    layer, direction : str
    unavailable : frozenset of str
        Metrics that the recorder does not provide.
    """

    layer: str
    direction: str
    operations: int = metric(
        "Data transfers of this layer and direction that overlap the window, whatever became of them.",
        needs=("operations",),
        of=lambda of: of.count(OPERATIONS),
        narrow="operations",
        gives_way=7,
    )
    bytes: int | float = metric(
        "Bytes moved by completed operations on the selected files, not a whole number where the window cuts one of "
        "them, which then counts in proportion. Never add layers up: a lower layer repeats the bytes of the one above.",
        unit="byte",
        narrow="bytes",
    )
    busy_s: float = metric(
        "Time in which at least one operation was under way on any rank (the union of the operations); one that never "
        "completed has no end and adds nothing.",
        unit="s",
        adds="union",
        needs=("operations",),
        of=lambda of: of.seconds(of.busy.length),
        narrow="busy",
        gives_way=6,
    )
    summed_s: float = metric(
        "Sum of the durations of all operations that ended, over all ranks.",
        unit="s",
        needs=("operations",),
        of=lambda of: of.seconds(int(of.sums.sums.ticks[of.categories].sum())),
    )
    slowest_s: float | None = metric(
        "Time that the slowest rank spent in operations, where counters tell it and not operations: the layer was busy "
        "for at least so long. Of a file that ranks share, its time is parted as its share of the bytes would have it.",
        unit="s",
        title="slowest rank",
        adds="none",
        narrow="slowest\nrank",
        gives_way=6,
    )
    bandwidth: float | None = metric(
        "Bytes divided by the time in which at least one operation was under way (busy).",
        key="bandwidth_bytes_per_s",
        unit="byte s-1",
        title="mean while busy",
        adds="none",
        needs=("operations",),
        of=_bandwidth,
        narrow="mean while\nbusy",
        gives_way=4,
    )
    slowest_bandwidth: float | None = metric(
        "Bytes divided by the time of the slowest rank, where counters tell it: the bandwidth was no higher than that, "
        "but where threads of a rank wait at the same time.",
        key="bandwidth_by_slowest_bytes_per_s",
        unit="byte s-1",
        title="bandwidth by it",
        adds="none",
        narrow="bandwidth\nby it",
        gives_way=4,
    )
    request_bytes: RequestBytes = metric(
        "Sizes asked for, over the operations whose request the trace knows, whole ones also where the window cuts "
        "them; the quantiles are sizes that occur.",
        unit="byte",
        title="request",
        adds="none",
        needs=("operations",),
        of=lambda of: of.sums.request_counts(of.categories).quantiles(),
    )
    ranks: int | None = metric(
        "Distinct processes of the operations.",
        adds="distinct",
        needs=("ranks",),
        narrow="ranks",
        gives_way=2,
    )
    files: int = metric(
        "Distinct files of the operations.",
        adds="distinct",
        needs=("handles",),
        narrow="files",
        gives_way=1,
    )
    handles: int = metric(
        "Distinct I/O handles of the operations.",
        adds="distinct",
        needs=("recorded handles",),
        of=lambda of: int(of.handles.sum()),
    )
    own_operations: int = metric(
        "Operations that the program did by calling this layer itself: on handles without an ancestor of a higher "
        "layer.",
        needs=("operations", "handles"),
        of=lambda of: of.of_own.count(OPERATIONS),
        column=False,
    )
    own_bytes: int | float = metric(
        "The part of the bytes that the program moved by calling this layer itself: on handles without an ancestor of "
        "a higher layer. The rest is inherited from the layers above.",
        unit="byte",
        needs=("handles",),
        part_of="bytes",
        narrow="own",
        gives_way=5,
    )
    undefined_bytes_operations: int = metric(
        "Operations whose bytes moved the trace does not know: failed, cancelled, never completed.",
        title="bytes unknown",
        needs=("operations",),
        of=lambda of: of.count(UNDEFINED),
        column=False,
    )
    least_bytes: int | float | None = metric(
        "Bytes moved at least: those of operations that tell them and, of calls of unknown bytes, what was moved right "
        "below in them; only where there are such calls.",
        key="bytes_at_least",
        unit="byte",
        title="at least",
        column=False,
    )
    cancelled_operations: int = metric(
        "Operations that were cancelled.", needs=("operations",), of=lambda of: of.count(CANCELLED), column=False
    )
    never_completed_operations: int = metric(
        "Operations that never completed.", needs=("operations",), of=lambda of: of.count(NEVER), column=False
    )
    busy_step_s: float = metric(
        "0 where the busy time is exact. Else, which happens only to traces read in bounded memory, the distance of "
        "the points in time that were looked at; with n busy stretches the error of the busy time is of the order of "
        "n^½ steps.",
        unit="s",
        adds="largest",
        needs=("operations",),
        of=lambda of: of.seconds(of.busy.step),
        column=False,
        default=0.0,
    )
    unavailable: frozenset[str] = field(default=frozenset(), repr=False)

    OPTIONAL: ClassVar = frozenset(("least_bytes", "slowest_s", "slowest_bandwidth"))


def layer_statistics(
    name: str, direction: Direction, of: ChosenSums, counted: CountedLayer | None = None
) -> LayerStatistics:
    """Return the statistics of a layer, by what was `counted` where operations are unknown; see `Layer.statistics`."""
    metrics = metrics_of(LayerStatistics)
    recording = of.sums.scope.definitions.recording
    lacking = {one.name for one in metrics if recording.reason(*one.needs) or not one.follows_from(of)}
    ended = of.count(OPERATIONS) - of.count(CANCELLED) - of.count(NEVER)
    if not of.bytes and of.count(UNDEFINED) == of.count(OPERATIONS) and (name in recording.called or ended):
        # Nobody knows what they moved, and that is not nothing.
        lacking |= {"bytes", "own_bytes", "bandwidth"}
    told: dict[str, Any] = {name: getattr(counted, name, None) for name in lacking}
    known = {name: value for name, value in told.items() if value is not None}
    values = known | {one.name: one.found(of) for one in metrics if one.name not in known}
    return LayerStatistics(name, direction, **values, unavailable=frozenset(lacking - known.keys()))


def counted_statistics(scope: Scope, directions: Iterable[str]) -> list[LayerStatistics]:
    """Return the statistics of layers that have counters alone, although operations of others are known."""
    counters, metrics, found = scope.definitions.recording.counters, metrics_of(LayerStatistics), []
    for name in sorted({*(() if counters is None else counters.layers)} - {*scope.order}):
        for direction in directions:
            of = counted_layer(scope, name, DIRECTIONS if direction == "total" else (direction,))
            if of is None or not of.operations:
                continue
            values = {one.name: getattr(of, one.name, None) for one in metrics}
            unknown = frozenset(key for key, value in values.items() if value is None)
            found.append(LayerStatistics(name, direction, **cast(Any, values), unavailable=unknown))
    return found


def with_counted(scope: Scope, entries: Iterable[LayerStatistics], directions: Iterable[str]) -> list[LayerStatistics]:
    """Return statistics with those of layers that have counters alone among them, the highest layer first."""
    told, counted = list(entries), counted_statistics(scope, directions)
    if counted:
        order = {name: row for row, name in enumerate(KNOWN_STACK)}
        told = sorted([*told, *counted], key=lambda one: order.get(one.layer, -1))
    return told


def statistics_table(found: Iterable[LayerStatistics]) -> str:
    """Return statistics as an HTML table."""
    metrics = [one for one in metrics_of(LayerStatistics) if one.narrow]
    header = ["layer", *(f"{one.title} ({one.unit})" if one.unit != "1" else one.title for one in metrics)]
    return html_table(
        ([f"{entry.layer} {entry.direction}", *(one.value(entry) for one in metrics)] for entry in found), header
    )
