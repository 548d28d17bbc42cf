"""What comes back: loops, their steps and iterations, and how regularly these follow one another."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any, ClassVar, Final, NamedTuple

import numpy as np

from ...layers.attribution.attribution import TraceBlock
from ...layers.document import OF_TRACE, document
from ...layers.loops.iterations import METADATA, OUTSIDE, IterationNumbers, IterationSums
from ...layers.loops.steps import STEP_KINDS, StepCode
from ...layers.selection.window import FRACTION
from ...layers.trace import Trace
from ...model.arrays import Floats, Ints, Mask, Rows
from ...model.codes import IoMode
from ...model.document import Document, Record
from ...model.errors import import_library
from ...model.metrics import metric
from .timing import MATTERS, Intervals, Kinds, Timing, kinds_of, standing_out, timing_of

_KIND: Final = 4
"""Iterations that do something else from which on it is known how long these take."""
_SUBSTANTIAL: Final = 0.001
"""Share of bytes, or of the run, from which on a loop is among the first to be shown."""


class BodyStep(Record):
    """A step of an iteration.

    Attributes
    ----------
    layer : str or None
        None for a loop.
    kind : str
        ``read``, ``write``, ``flush``, ``open``, ``close``, ``deletion``, ``data set open``, ``data set close``, or
        ``loop``.
    bytes : int or None
        Of one call of one rank; None where they vary or there are none.
    file : str
        Kind of file, with ``*`` for what differs.
    count : int
        How often it is done, one after the other.
    loop : int or None
        Id of the loop.
    ranks : tuple of int or None
        Those that do so, where not all ranks of the loop do.
    collective : bool or None
        True for a collective call.
    mean_bytes : float or None
        Where `bytes` vary: the mean over such calls of the layer in all iterations.
    mean_count : float or None
        Where most iterations do it more or less often than the usual one: the mean over all.
    """

    OPTIONAL: ClassVar = frozenset({"ranks", "collective", "mean_bytes", "mean_count"})

    layer: str | None
    kind: str
    bytes: int | None
    file: str
    count: int
    loop: int | None = None
    ranks: tuple[int, ...] | None = None
    collective: bool | None = None
    mean_bytes: float | None = None
    mean_count: float | None = None

    @classmethod
    def of(cls, layer: str, code: StepCode, size: int | None, file: str, count: int) -> "BodyStep":
        """Return the step that a code stands for."""
        kind = STEP_KINDS[code.kind]
        size = size if kind in ("read", "write") else None
        return cls(layer, kind, size, file, count, collective=code.collective or None)


class AddedStep(Record):
    """What a few iterations do beside the steps of the usual one.

    Attributes
    ----------
    step : BodyStep
    iterations : int
        How many do.
    first : int
        The first of them, counted from 1.
    every : int or None
        At what distance they come, from the begin of the loop to its end; None where they do not come evenly.
    """

    step: BodyStep
    iterations: int
    first: int
    every: int | None


class Within(Record):
    """The iterations of another loop with which those of one come: each so-and-so-many of all, the first one included.

    Attributes
    ----------
    loop : int
        Id of the other.
    every : int
        At what distance these iterations of the other come.
    first : int
        The first of them, counted from 1.
    """

    loop: int
    every: int
    first: int


class LayerPart(Record):
    """What a layer does in an iteration, or in all; ranks are known of an iteration only."""

    OPTIONAL: ClassVar = frozenset({"slowest_rank", "latest_rank", "latest_s", "summed_s", "awaited_rank", "awaited_s"})

    bytes_read: int | float = metric("Bytes read.", unit="byte")
    bytes_written: int | float = metric("Bytes written.", unit="byte")
    operations: int = metric("Reads and writes.")
    busy_s: float = metric("Time in which at least one operation was under way.", unit="s", adds="union")
    flushes: int = metric("Flushes.", default=0)
    hidden_operations: int = metric("Operations that no call of the program caused, as far as is known.", default=0)
    metadata_operations: int = metric("The program's own opens, closes and deletions.", default=0)
    slowest_rank: int | None = metric("Rank whose operations took longest, summed up.", adds="none", default=None)
    latest_rank: int | None = metric("Rank that began last, if not all began at once.", adds="none", default=None)
    latest_s: float | None = metric(
        "How long after the usual rank that one began.", unit="s", adds="none", default=None
    )
    summed_s: float | None = metric("Time of operations, summed over ranks.", unit="s", adds="none", default=None)
    awaited_rank: int | None = metric("Rank that came last to collective operations.", adds="none", default=None)
    awaited_s: float | None = metric(
        "How long after the usual rank that one came, summed over collective operations.",
        unit="s",
        adds="none",
        default=None,
    )


class Iteration(Record):
    """One pass of a loop, over all ranks.

    Attributes
    ----------
    outlier : bool
        Whether it took much longer than the others.
    other : bool
        Whether some rank missed steps or did more than usual.
    """

    begin_s: float
    end_s: float
    outlier: bool
    layers: dict[str, LayerPart]
    other: bool = False

    @property
    def length_s(self) -> float:
        """How long it takes over all ranks."""
        return self.end_s - self.begin_s


class Cause(Record):
    """What goes on for most of what an iteration takes longer, of the loop or not.

    Attributes
    ----------
    layer, rank, call, file : str or int or None
        Those that take most of that time; None where none is known, or not one alone. Of a rank that others wait for
        and that does nothing else, the call is that in which they wait.
    taken_s : float or None
        For how long, in s.
    """

    layer: str | None
    rank: int | None
    call: str | None
    file: str | None
    taken_s: float | None


class SlowestIteration(Record):
    """The iteration of a loop that takes longest.

    Attributes
    ----------
    iteration : int
        Its number, counted from 1.
    until_next : bool
        Whether it takes so long from its begin to that of the next one; else from its begin to its end.
    length_s : float
        How long it takes, in s.
    usual_s : float
        How long iterations take in the median, in s.
    outlier : bool
        Whether that is longer than the others let expect.
    cause : Cause or None
        What goes on for most of what it takes longer; None where nothing is known to.
    text : str
        All of it in words.
    """

    iteration: int
    until_next: bool
    length_s: float
    usual_s: float
    outlier: bool
    cause: Cause | None
    text: str


class Loop(Record):
    """Steps that ranks do again and again.

    Attributes
    ----------
    bits : float
        What telling the run by this loop saves against its steps by themselves; 0 for a single step done many times.
    timing : str
        ``clock``: begins lie on an even grid; ``regular``: intervals vary by a quarter at most; ``irregular``.
    timing_probability : float or None
        Of that class, given as many intervals; None where too few are known.
    timing_changes : str
        Pauses, another pace or a drift of the intervals where they are certain, in words.
    iterations : tuple of Iteration
        Empty for loops within a loop, and for those with more than 4,096.
    sums : dict of str to LayerPart
        What layers do in all iterations; empty for loops within a loop.
    added : tuple of AddedStep or None
        What a few iterations do more.
    within : Within or None
        The loop that goes on meanwhile, if each iteration comes with every so-and-so-many of its own.
    threads : int or None
        How many threads do it, where they are more than ranks.
    slowest : SlowestIteration or None
        The iteration that takes longest, where that is worth a word; in documents only, see `Loops.slowest`.
    """

    OPTIONAL: ClassVar = frozenset({"added", "within", "threads", "slowest"})

    id: int
    parent: int | None
    count: int
    ranks: tuple[int, ...]
    layers: tuple[str, ...]
    body: tuple[BodyStep, ...]
    begin_s: float = 0.0
    end_s: float = 0.0
    bits: float = 0.0
    interval_s: Intervals = Intervals()
    timing: str = "irregular"
    iterations: tuple[Iteration, ...] = ()
    sums: dict[str, LayerPart] = field(default_factory=dict)
    timing_probability: float | None = None
    timing_changes: str = ""
    added: tuple[AddedStep, ...] | None = None
    within: Within | None = None
    threads: int | None = None
    slowest: SlowestIteration | None = None

    def timed(self, begin: Floats, end: float, joined: bool) -> "Loop":
        """Return the loop, whose iterations begin at these times in s and the last of which ends then.

        Where several were `joined` these only say how often they begin, not how regularly.
        """
        timing = timing_of(begin)
        if joined:
            timing = Timing(timing.intervals, "irregular", None, "")
        return replace(
            self,
            begin_s=float(begin.min()),
            end_s=end,
            interval_s=timing.intervals,
            timing=timing.kind,
            timing_probability=timing.probability,
            timing_changes=timing.changes,
        )

    @property
    def bytes(self) -> int | float:
        """Bytes moved in the layer that moves most."""
        return max((one.bytes_read + one.bytes_written for one in self.sums.values()), default=0)

    @cached_property
    def kinds(self) -> Kinds | None:
        """The two kinds that times from one iteration to the next are of, if they clearly are."""
        return kinds_of(np.diff([one.begin_s for one in self.iterations])) if self.iterations else None

    @cached_property
    def kinds_of_lengths(self) -> Kinds | None:
        """The two kinds that lengths are of, if they clearly are and the longer ones matter beside the interval."""
        kinds = kinds_of(np.array([one.length_s for one in self.iterations]))
        return kinds if kinds is not None and kinds.longer - kinds.usual > MATTERS * self.interval_s.mean else None

    @cached_property
    def usual_length(self) -> float:
        """How long iterations take in the median, in s; 0 where they are not told one by one."""
        return float(np.median([one.length_s for one in self.iterations])) if self.iterations else 0.0

    def usual_of(self, one: Iteration) -> float:
        """How long iterations that do as one does take in the median, in s; of few that do something else, all."""
        return self._usual_of_alike[one.other]

    @cached_property
    def _usual_of_alike(self) -> dict[bool, float]:
        groups = _alike([one.other for one in self.iterations])
        lengths = np.array([one.length_s for one in self.iterations])
        return {self.iterations[place].other: float(np.median(lengths[group])) for group in groups for place in group}

    @cached_property
    def usual_busy(self) -> dict[str, float]:
        """How long each layer is busy in an iteration in the median, in s."""
        parts = {layer: [one.layers.get(layer) for one in self.iterations] for layer in self.layers}
        return {
            layer: float(np.median([0.0 if one is None else one.busy_s for one in mine]))
            for layer, mine in parts.items()
            if mine
        }

    @property
    def in_bursts(self) -> bool:
        """Whether half of the intervals are so short that their mean is none of them."""
        return self.timing == "irregular" and 2 * self.interval_s.median < self.interval_s.mean


def _alike(other: Sequence[bool]) -> list[Rows]:
    """Return the places of iterations that do the same; of a few that do something else it is not known what is usual.

    Such as those that also flush: they are longer, and as long as one another.
    """
    flags = np.array(other, np.bool_)
    groups = [np.flatnonzero(flags == one) for one in (False, True)]
    return groups if min(map(len, groups)) >= _KIND else [np.arange(len(flags))]


class Rest(NamedTuple):
    """When a layer moves bytes in no iteration, in s from the begin to the end, and the ranks that do."""

    begin: float
    end: float
    ranks: tuple[int, ...]


_LOOPS: Final = {"loops": tuple[Loop, ...], "outside": dict[str, LayerPart]}


@dataclass(frozen=True, eq=False)
class Loops:
    """The loops of a trace, outermost first, in the order of their begins.

    Attributes
    ----------
    trace : Trace
    loops : tuple of Loop
    sums : IterationSums
        Those of all iterations, and of what is in none.
    numbering : callable
        Gives which operation belongs to which iteration.
    finding_slowest : callable
        Gives the slowest iteration of loops by their ids.
    """

    trace: Trace
    loops: tuple[Loop, ...]
    sums: IterationSums
    numbering: Callable[[], IterationNumbers]
    finding_slowest: Callable[["Loops"], Mapping[int, SlowestIteration]]

    @property
    def outermost(self) -> tuple[Loop, ...]:
        """Those that are in no other."""
        return tuple(one for one in self.loops if one.parent is None)

    @property
    def substantial(self) -> tuple[Loop, ...]:
        """Outermost loops that move a thousandth of what the one that moves most does, or last as much of the run.

        What comes in bursts, or twice only, does not last, unless nothing moves at all.
        """
        start, end = self.trace.window
        most = max((one.bytes for one in self.outermost), default=0)

        def lasts(one: Loop) -> bool:
            again = (one.count > 2 or not most) and not one.in_bursts
            return again and one.end_s - one.begin_s > _SUBSTANTIAL * (end - start)

        return tuple(one for one in self.outermost if one.bytes > _SUBSTANTIAL * most or lasts(one))

    @property
    def outside(self) -> dict[str, LayerPart]:
        """What layers do in no iteration; with all iterations it is what they do in all."""
        return _in_all(self.sums, slice(*np.searchsorted(self.sums.amounts.keys[0], (OUTSIDE, OUTSIDE + 1))), {})

    def rest(self, layer: str, direction: str) -> Rest | None:
        """Return what a layer reads or writes in no iteration; None where that is nothing."""
        of_layer, mode, process = self.sums.outside.keys
        mine = (of_layer == self.trace.order.index(layer)) & (mode == int(IoMode[direction.upper()]))
        if not mine.any():
            return None
        ranks = np.append(self.trace.definitions.groups.rank, -1)[process[mine]]
        second = self.trace.definitions.clock.ticks_per_second
        begin, end = (self.sums.outside[name][mine] / second for name in ("begin", "end"))
        return Rest(float(begin.min()), float(end.max()), tuple(sorted(set(ranks.tolist()) - {-1})))

    @cached_property
    def slowest(self) -> Mapping[int, SlowestIteration]:
        """The slowest iteration of outermost loops by their ids, where it is worth a word, found when asked for."""
        return self.finding_slowest(self)

    def reader(self) -> Callable[[TraceBlock], tuple[Ints, Ints]]:
        """Return what gives the loop and iteration of each operation, block by block; −1 for those in none."""
        return self.numbering().reader(self.trace.scope)

    def to_dict(self) -> Annotated[Document, OF_TRACE, _LOOPS]:
        """Return the document of ``iostrata loops --json``."""
        return document(
            self.trace,
            loops=[replace(one, slowest=self.slowest.get(one.id)).to_dict() for one in self.loops],
            outside={name: part.to_dict() for name, part in self.outside.items()},
        )

    def to_dataframe(self) -> Any:
        """Return a ``pandas.DataFrame`` with a row for each iteration and layer; needs pandas."""
        rows = [
            {"loop": loop.id, "iteration": number, "begin_s": one.begin_s, "end_s": one.end_s, "outlier": one.outlier}
            | {"layer": layer, **part.to_dict()}
            for loop in self.outermost
            for number, one in enumerate(loop.iterations, 1)
            for layer, part in one.layers.items()
        ]
        return import_library("pandas").DataFrame(rows)


@dataclass(frozen=True, eq=False)
class Told:
    """What is known of the iterations of a loop, or of all of them as one.

    Attributes
    ----------
    begin, end : float64 (n,)
        In s.
    iterations : tuple of Iteration
    sums : dict of str to LayerPart
    """

    begin: Floats
    end: Floats
    iterations: tuple[Iteration, ...]
    sums: dict[str, LayerPart]

    @classmethod
    def of(cls, sums: IterationSums, first: int, count: int, other: Sequence[bool]) -> "Told":
        """Return what sums say of the iterations with the numbers from `first` on."""
        second = sums.scope.window.ticks_per_second
        edges = np.searchsorted(sums.amounts.keys[0], first + np.arange(count + 1))
        begin = np.minimum.reduceat(sums.amounts["begin"][: edges[-1]], edges[:-1]) / second
        end = np.maximum.reduceat(sums.amounts["end"][: edges[-1]], edges[:-1]) / second
        length = end - begin
        interval, long = float(np.ptp(begin)) / max(1, count - 1), np.zeros(count, np.bool_)
        for alike in _alike(other[:count]):
            long[alike] = standing_out(length[alike], interval)
        blamed = _blamed(sums, first, count)
        groups = first * sums.layers + np.arange(count * sums.layers)
        # Unions of very many intervals are rounded.
        mine = sums.busy.part(first * sums.layers, (first + count) * sums.layers)
        lengths = np.minimum(mine.lengths(groups) / second, np.repeat(length, sums.layers))
        busy = dict(zip(groups.tolist(), lengths.tolist(), strict=True))
        parts = _layer_parts(sums, slice(edges[0], edges[-1]), busy, blamed)
        of_iteration: list[dict[str, LayerPart]] = [{} for _ in range(count)]
        for group, part in parts.items():
            iteration, layer = divmod(group, sums.layers)
            of_iteration[iteration - first][sums.scope.order[layer]] = part
        columns = begin.tolist(), end.tolist(), long.tolist(), of_iteration, other[:count]
        iterations = tuple(Iteration(*row) for row in zip(*columns, strict=True))
        union = mine.regrouped(lambda group: group % sums.layers)
        of_layers = (union.lengths(np.arange(sums.layers)) / second).tolist()
        whole = _in_all(sums, slice(edges[0], edges[-1]), dict(enumerate(of_layers)))
        return cls(begin, end, iterations, whole)


def _in_all(sums: IterationSums, rows: slice, busy: Mapping[int, float]) -> dict[str, LayerPart]:
    """Return what layers do in several iterations, or outside of any; `busy` is by layer."""
    parts = _layer_parts(sums, rows, busy, {}, together=True)
    return {sums.scope.order[layer]: part for layer, part in parts.items()}


def _layer_parts(
    sums: IterationSums, rows: slice, busy: Mapping[int, float], blamed: Mapping[int, "_Blamed"], together: bool = False
) -> dict[int, LayerPart]:
    """Return what layers do in some rows of sums, by ``iteration * layers + layer``, or by layer for all `together`."""
    iteration, origin, mode = (key[rows] for key in sums.amounts.keys)
    layer = sums.layer_of_origin[origin]
    keys, place = np.unique(layer if together else iteration * sums.layers + layer, return_inverse=True)
    read, write, flush = mode == int(IoMode.READ), mode == int(IoMode.WRITE), mode == int(IoMode.FLUSH)

    def added(name: str, which: Mask) -> Ints:
        column = np.zeros(len(keys), np.int64)
        np.add.at(column, place[which], sums.amounts[name][rows][which])
        return column

    def bytes_of(which: Mask) -> list[int | float]:
        whole, part = added("whole", which), added("part", which)
        amounts: list[int | float] = whole.tolist()
        for one in np.flatnonzero(part).tolist():
            amounts[one] += part[one] / FRACTION
        return amounts

    columns = (
        bytes_of(read),
        bytes_of(write),
        added("operations", read | write).tolist(),
        [busy.get(key, 0.0) for key in keys.tolist()],
        added("operations", flush).tolist(),
        added("hidden", mode != METADATA).tolist(),
        added("operations", mode == METADATA).tolist(),
        *zip(*(blamed.get(key, _NOBODY) for key in keys.tolist()), strict=True),
    )
    return dict(zip(keys.tolist(), (LayerPart(*row) for row in zip(*columns, strict=True)), strict=True))


class _Blamed(NamedTuple):
    """Ranks of an iteration in a layer: whose operations took longest, which began last, how long after most, what
    those of all take together, and which came last to collective operations, how long after most in all of them.
    """

    slowest: int | None
    latest: int | None
    late_s: float | None
    summed_s: float | None
    awaited: int | None
    awaited_s: float | None


_NOBODY: Final = _Blamed(*[None] * 6)


def _blamed(sums: IterationSums, first: int, count: int) -> dict[int, _Blamed]:
    """Return the ranks to blame, by iteration and layer."""
    iteration, layer, process = sums.ranks.keys
    mine = (iteration >= first) & (iteration < first + count)
    group, process = (iteration * sums.layers + layer)[mine], process[mine]
    ticks, begin, calls, begins = (column[mine] for column in sums.ranks.values.values())
    low, last = np.flatnonzero(np.diff(group, prepend=-1)), np.flatnonzero(np.diff(group, append=-1))
    ranks, second = np.append(sums.scope.definitions.groups.rank, -1), sums.scope.window.ticks_per_second

    def by(amount: Ints) -> tuple[Ints, Floats]:
        """Return the rank that has most of each group, and how much more than the usual one in s, of two the other."""
        order = np.lexsort((amount, group))
        most, usual = order[last], order[(low + last) // 2]
        return ranks[process[most]], (amount[most] - amount[usual]) / second

    # Sums of begins are close to one another in a group, wherever they ran over.
    late_calls = begins - np.repeat(begins[low], last - low + 1)
    same = (np.minimum.reduceat(calls, low) == np.maximum.reduceat(calls, low)) if len(low) else low > 0
    (slowest, _), (latest, late), (awaited, waited) = by(ticks), by(begin), by(late_calls)
    waited = np.where(same & (calls[low] > 0), waited, 0.0)
    summed = np.add.reduceat(ticks, low) if len(low) else ticks
    columns = slowest, latest, late, summed / second, awaited, waited
    found = {}
    for key, row in zip(group[low].tolist(), zip(*(column.tolist() for column in columns), strict=True), strict=True):
        one = _Blamed(*row)
        one = one if one.slowest != -1 else one._replace(slowest=None)
        one = one if one.late_s else one._replace(latest=None, late_s=None)
        found[key] = one if one.awaited_s else one._replace(awaited=None, awaited_s=None)
    return found
