"""The program's own calls as steps, by thread and kind of file; threads that do the same are one group."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from heapq import heappop, heappush
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import numpy as np

from ...model.arrays import Columns, Ints, Links, Mask, Rows, column_at, columns_as
from ...model.codes import METADATA_NAMES, IoRecord
from ...model.definitions import Definitions
from ...model.keyed import KeyedSums
from ...model.sums import NOBODY, Sums, by_key, keyed
from ..attribution.attribution import TraceBlock, handle_families
from ..handles.metadata import selected_metadata
from ..handles.scope import Scope
from ..statistics.kinds import file_kinds
from ..table import DIRECTIONS_OF_MODES, MODES

TableT = TypeVar("TableT", bound=tuple[Any, ...])

if TYPE_CHECKING:
    from .steps_kernel import CallColumns, Edges, EventColumns, HandleColumns, Keys, StepColumns

MOST_STEPS: Final = 1 << 15
"""Steps of a thread and kind of file that are kept; where there are more, those without a pause between are one."""
STEP_CODES: Final = 8
"""As many as there are kinds of steps, or more."""
_ANCHORS: Final = 8
"""Kinds of steps at which steps that are too many are cut by way of trial."""
_UNITS: Final = 64
"""Different things that repeat of which the calls are kept."""
_LONGEST: Final = 256
"""Calls of each of them up to which they are."""
_SEVERAL: Final = 16
"""Parts from which on it shows that they are the same."""
_LONGEST_GAPS: Final = 512
"""Of gaps that lie nowhere apart so many of the longest are kept, as some of them may be the program's pauses."""
_LONG: Final = 8.0
"""Times the usual time from one call to the next that these take at least."""
_ALIKE: Final = 0.9
"""Share of the parts that must be."""
_APART: Final = 1.25
"""Ratio of two gaps between which the bound of pauses may lie: within what is continuous there is none."""
_GAPS: Final = 4
"""Level of `Cuts` at which steps begin behind gaps only."""
_FEWEST: Final = 3
"""Steps in which something may repeat; threads with fewer on a kind of file are left out."""
_FEWEST_THREADS: Final = 3
"""Threads that follow one another from which on each may be what is done again."""
_KEYS: Final = 1 << 8
_RECENT: Final = 1 << 8
_COLLECTIVE: Final = 1
_RECORDS: Final = (IoRecord.CREATE_HANDLE, IoRecord.DESTROY_HANDLE, IoRecord.DELETE_FILE)
"""Metadata events that are steps; seeks, locks and the like come and go with the operations they are for."""
INSIDE: Final = ("data set open", "data set close")
"""Steps on handles of what is in a file, which its layer knows by itself, in the order of `_RECORDS`."""
STEP_KINDS: Final = (*MODES.values(), *(METADATA_NAMES[one] for one in _RECORDS), *INSIDE)
UNKNOWN_BYTES: Final = -1
READ, WRITE = (STEP_KINDS.index(one) for one in DIRECTIONS_OF_MODES)
OPEN: Final = STEP_KINDS.index(METADATA_NAMES[IoRecord.CREATE_HANDLE])


class StepCode(NamedTuple):
    """What a step is: a layer, counted from the highest, a place in `STEP_KINDS`, and whether it is collective."""

    layer: int
    kind: int
    collective: bool

    @classmethod
    def of(cls, code: int) -> "StepCode":
        """Return what a number of `own_steps` stands for."""
        return cls(code // (2 * STEP_CODES), code // 2 % STEP_CODES, bool(code & _COLLECTIVE))


class FileKinds(NamedTuple):
    """The kinds of the files of a trace: their number, and the kind of each file, int32 (files,).

    Where blocks are kept, so are their calls, from when these are made steps to when they have iterations. Where
    threads of a process follow one another, `lane` has the first one of each location's, int32 (locations,): they go
    on with what that one did, such as writing checkpoints in a thread made for each.
    """

    total: int
    of_file: Links
    calls: "dict[int, OwnCalls] | None" = None
    lane: Links | None = None


def kinds_of_files(definitions: Definitions, kept: bool = False) -> tuple[tuple[str, ...], FileKinds]:
    """Return the kinds of files in order, and which file is of which."""
    titles = file_kinds(definitions.files.name)
    kinds = tuple(sorted(set(titles)))
    place = {title: number for number, title in enumerate(kinds)}
    of_file = np.fromiter((place[title] for title in titles), np.int32, len(titles))
    return kinds, FileKinds(len(kinds), of_file, {} if kept else None)


@dataclass(frozen=True, eq=False)
class OwnCalls:
    """What the program itself called on selected files within the window, in the order of begins.

    Attributes
    ----------
    chosen : intp (m,)
        Rows of the block's operations in `calls`.
    row : int64 (n,)
        Of the operation; of a metadata event ``-1 - event``, a place in `events`.
    number : int64 (n,)
        Place of the call's key in `keys`.
    keys : int64 (keys,)
        Thread and kind of file: ``location * kinds + kind``.
    """

    chosen: Rows
    row: Ints
    number: Ints
    keys: Ints
    calls: "CallColumns"
    handles: "HandleColumns"
    events: "EventColumns"
    edges: "Edges"

    @classmethod
    def of(cls, block: TraceBlock, kinds: FileKinds) -> "OwnCalls":
        """Return those of a block; every other time those of the time before, where blocks are kept."""
        from .steps_kernel import CallColumns, Edges, own_calls

        window = block.window
        whole, chosen = block.stored
        first = int(chosen[0]) if len(chosen) else -1
        if kinds.calls and first in kinds.calls:
            return kinds.calls.pop(first)
        lane, location = kinds.lane, whole.operations.location
        location = location if lane is None else lane[location]
        calls = columns_as(CallColumns, whole.operations, parent=whole.attribution_once.parent, location=location)
        handles, events = _handle_columns(block.scope, kinds), _own_events(block, kinds)
        edges = Edges(window.start, window.end, window.closed)
        columns, total = (chosen, calls, handles, events, kinds.total, edges), len(chosen) + len(events.time)
        row, number, keys = np.empty(total, np.int64), np.empty(total, np.int64), keys_with_room(_KEYS)
        while (found_keys := own_calls(*columns, keys, row, number))[1] < 0:
            keys = keys_with_room(2 * len(keys.key))
        count, known = found_keys
        found = cls(chosen, row[:count], number[:count], keys.key[:known], calls, handles, events, edges)
        if kinds.calls is not None and first >= 0:
            kinds.calls[first] = found
        return found


def some_rows(columns: TableT, rows: slice) -> TableT:
    """Return some rows of a named tuple of columns."""
    made: Any = type(columns)
    taken: TableT = made(*(column[rows] for column in columns))
    return taken


def keys_with_room(most: int) -> "Keys":
    """Return room for so many keys, a power of two."""
    from .steps_kernel import Keys

    return Keys(np.empty(2 * most, np.int64), np.empty(most, np.int64), np.empty(_RECENT, np.int64))


def _handle_columns(scope: Scope, kinds: FileKinds) -> "HandleColumns":
    from .steps_kernel import HandleColumns

    stack, file = scope.stack, scope.definitions.handles.file
    layer = np.where(scope.selection.selected, stack.layer, np.int32(-1))
    own, lineage = stack.higher < 0, scope.lineages.of_handle
    return HandleColumns(layer, layer * 2 * STEP_CODES, own, lineage, file, column_at(kinds.of_file, file))


def _own_events(block: TraceBlock, kinds: FileKinds) -> "EventColumns":
    """Return the metadata events that are steps."""
    from .steps_kernel import EventColumns

    metadata, scope = block.metadata, block.scope
    layer = scope.layer_rows(metadata.paradigm)
    is_step = np.isin(metadata.kind, _RECORDS)
    own = (column_at(scope.stack.higher, metadata.handle) < 0) & (metadata.file >= 0)
    chosen = is_step & own & (layer >= 0) & selected_metadata(metadata, scope.selection, scope.window)
    events = np.flatnonzero(chosen)
    events = events[np.argsort(metadata.time[events], kind="stable")]
    kind = np.zeros(256, np.int32)
    kind[list(_RECORDS)] = len(MODES) + np.arange(len(_RECORDS))
    file = metadata.file[events]
    location = metadata.location[events] if kinds.lane is None else kinds.lane[metadata.location[events]]
    key = location.astype(np.int64) * kinds.total + kinds.of_file[file]
    inside = column_at(handle_families(scope.stack), metadata.handle[events]) != metadata.handle[events]
    kinds_of = kind[metadata.kind[events]] + len(_RECORDS) * inside
    code = (layer[events] * STEP_CODES + kinds_of) * 2
    return EventColumns(metadata.time[events], key, code.astype(np.int32), file)


class Steps(Columns):
    """Steps of one kind of file, of threads that do the same; columns of shape (n,).

    Attributes
    ----------
    code : int32
        See `StepCode`; of several that are one, the first.
    content : int64
        Number that stands for what is one: the same number, the same content; 0 for a single call.
    unit : int64
        The same for what is repeated in it; for a single call, that of the call.
    times : int64
        How often that is repeated.
    count : int64
        Calls.
    low, high, total : int64
        Least and largest bytes of a thread, and those of all threads; `UNKNOWN_BYTES` where unknown.
    file : int32
        Of the first thread.
    fresh : bool
        Whether its file is another one than that of the step before.
    gap : int64
        Ticks without any step before, the least of all threads.
    begin, end : int64
        Of the first thread.
    kinds : uint32 (n, kinds of steps)
        Calls of each of `STEP_KINDS`.
    """

    code: Links
    content: Ints
    unit: Ints
    times: Ints
    count: Ints
    low: Ints
    high: Ints
    total: Ints
    file: Links
    fresh: Mask
    gap: Ints
    begin: Ints
    end: Ints
    kinds: np.ndarray[tuple[int, int], np.dtype[np.uint32]]

    @classmethod
    def of_calls(cls, code: Links, size: Ints, file: Links, fresh: Mask, gap: Ints, begin: Ints, end: Ints) -> "Steps":
        """Return calls as steps, one each; columns as in `StepColumns`."""
        from .steps_kernel import units_of

        nothing, one = np.zeros(len(code), np.int64), np.ones(len(code), np.int64)
        kinds = np.eye(len(STEP_KINDS), dtype=np.uint32)[code // 2 % STEP_CODES]
        return cls(code, nothing, units_of(code, size), one, one, size, size, size, file, fresh, gap, begin, end, kinds)

    @cached_property
    def first(self) -> Ints:
        """Number of calls before each step, and of all, int64 (n+1,)."""
        return np.concatenate(([0], np.cumsum(self.count)))

    def coarsened(self, keep: Mask) -> "Steps":
        """Return the steps with each one that is not kept joined to the one before; the first is always kept."""
        from .steps_kernel import StepTable, joined_steps

        keep[:1] = True
        if keep.all():
            return self
        kinds = np.add.reduceat(self.kinds, np.flatnonzero(keep), axis=0, dtype=np.uint32)
        return Steps(*joined_steps(keep, columns_as(StepTable, self, calls=self.count)), kinds)

    @property
    def moving(self) -> Links:
        """What moves bytes in each step, as `code`: of what is mixed the one kind that does; int32 (n,)."""
        reads, writes = (self.kinds[:, kind] > 0 for kind in (READ, WRITE))
        kind = np.where(reads & ~writes, READ, np.where(writes & ~reads, WRITE, self.code // 2 % STEP_CODES))
        same = kind == self.code // 2 % STEP_CODES
        return np.where(same, self.code, 2 * (self.code // (2 * STEP_CODES) * STEP_CODES + kind)).astype(np.int32)


NO_STEPS: Final = replace(Steps.empty(), kinds=np.zeros((0, len(STEP_KINDS)), np.uint32))


@dataclass(frozen=True, eq=False)
class _Latest:
    """Steps of a thread, and the calls behind them that are to be steps: columns of both, of shape (n,)."""

    steps: Steps
    calls: "StepColumns"

    def __len__(self) -> int:
        return len(self.steps) + len(self.calls.code)

    @cached_property
    def unit(self) -> Ints:
        from .steps_kernel import units_of

        return np.concatenate((self.steps.unit, units_of(self.calls.code, self.calls.size)))

    @cached_property
    def code(self) -> Links:
        return np.concatenate((self.steps.code, self.calls.code))

    @cached_property
    def gap(self) -> Ints:
        return np.concatenate((self.steps.gap, self.calls.gap))

    @cached_property
    def fresh(self) -> Mask:
        return np.concatenate((self.steps.fresh, self.calls.fresh))

    @property
    def usual(self) -> float:
        """Ticks from one call to the next."""
        begin = np.append(self.steps.begin[:1], self.calls.begin[:1])[0]
        end = np.append(self.steps.end[-1:], self.calls.end[-1:])[-1]
        return max(1.0, float(end - begin) / float(self.steps.count.sum() + len(self.calls.code)))

    def part(self, low: int, high: int) -> "_Latest":
        """Return those from one place to another."""
        known = len(self.steps)
        steps = self.steps.take(np.arange(low, min(high, known))) if low < known else NO_STEPS
        inside = slice(max(low - known, 0), max(high - known, 0))
        return _Latest(steps, some_rows(self.calls, inside))

    def whole(self) -> Steps:
        """Return all as steps, one each."""
        single = Steps.of_calls(*self.calls)
        return Steps.concatenate([self.steps, single]) if len(self.steps) else single

    def coarsened(self, keep: Mask) -> "_Latest":
        """Return all with each one that is not kept joined to the one before; the first is always kept."""
        from .steps_kernel import joined_calls

        keep[:1] = True
        if keep.all():
            return self
        known = len(self.steps)
        first = known + int(np.argmax(np.append(keep[known:], True)))
        # Calls that go on with the last step.
        steps, rest = self.part(0, first).whole().coarsened(keep[:first]), self.part(first, len(self)).calls
        if len(rest.code):
            kinds = np.zeros((np.count_nonzero(keep[first:]), len(STEP_KINDS)), np.uint32)
            table = joined_calls(keep[first:], self.unit[first:], rest, STEP_CODES, kinds)
            steps = Steps.concatenate([steps, Steps(*table, kinds)])
        return _Latest(steps, self.part(len(self), len(self)).calls)

    def bounded(
        self, most: int, cuts: "Cuts", units: dict[int, Steps], over: bool
    ) -> tuple[Steps, "StepColumns", "Cuts"]:
        """Return no more steps than that, and where each begins; `cuts` is what is known of it.

        First what repeats is joined to a step each, then steps that are the same and follow one another without a long
        pause, and where that is not enough, all between long pauses. What is a step begins anyhow; `units` gets the
        calls of what repeats. Unless it is `over`, what may go on comes back for the next time.
        """
        from .steps_kernel import parts_of

        if cuts.body is None and len(self) > most:
            cuts = cuts._replace(body=_repeated(self.unit))
        steps, rest, known = self, self.part(len(self), len(self)), len(self.steps)
        if cuts.body:
            starts = parts_of(self.unit, known, *cuts.body)
            # What comes before the first of them is none, and pauses as long as known ones part what is longer.
            starts[: int(np.argmax(self.unit == cuts.body.anchor)) if not known else 0] = True
            length = np.diff(np.flatnonzero(np.append(starts, True)))
            longer = np.repeat(length > cuts.body.length, length)
            starts |= longer & (self.gap > cuts.least) & (cuts.least >= 0)
            last = int(np.flatnonzero(starts)[-1])
            if not over and known < last and len(self) - last <= max(_LONGEST, cuts.body.length):
                steps, rest, starts = self.part(0, last), self.part(last, len(self)), starts[:last]
            steps._add_units(joined := steps.coarsened(starts), np.flatnonzero(starts), units)
            steps = joined
        steps = steps.coarsened(steps._begins(cuts))
        while len(steps) > most:
            others = steps._others(cuts.level)
            if np.count_nonzero(others) > most // 2:
                cuts = cuts._replace(level=cuts.level + 1)
                continue
            cuts = cuts._replace(least=_bound(steps.gap[~others], most // 2, cuts.level == _GAPS, steps.usual))
            steps = steps.coarsened(steps._begins(cuts))
        return steps.whole(), rest.calls, cuts

    def _begins(self, cuts: "Cuts") -> Mask:
        """Return which steps are joined to none before."""
        return np.asarray((self.gap > cuts.least) | self._others(cuts.level), np.bool_)

    def _others(self, level: int) -> Mask:
        """Return which steps are another than that before, on another file, or none at all, by the level of `Cuts`."""
        others = self.fresh.copy() if level == 0 else np.zeros(len(self), np.bool_)
        if level < _GAPS:
            what = self.unit if level < 2 else self.code if level == 2 else _transfers(self.code)
            others[1:] |= what[1:] != what[:-1]
        others[:1] = True
        return others

    def _add_units(self, joined: "_Latest", start: Rows, units: dict[int, Steps]) -> None:
        """Add the calls of those joined steps that repeat most, unless they are known."""
        behind = np.append(start[1:], len(self))
        names, first, count = np.unique(joined.unit, return_index=True, return_counts=True)
        for place in np.argsort(-count, kind="stable")[:_ANCHORS].tolist():
            low, high = int(start[first[place]]), int(behind[first[place]])
            if 1 < high - low <= _LONGEST and len(units) < _UNITS and not self.steps.content[low:high].any():
                units.setdefault(int(names[place]), self.part(low, high).whole())


class Cuts(NamedTuple):
    """Where the steps of a thread that are too many to be kept begin."""

    least: int = -1
    """Behind gaps that are longer."""
    level: int = 0
    """0: also on another file, and where something else begins than what was repeated before; 1: without the file; 2:
    where another kind of call begins; 3: reading and writing as one kind, and all else; `_GAPS`: behind gaps only."""
    body: "Body | tuple[()] | None" = None
    """What is repeated; empty where nothing is, None while that is not known."""


class Body(NamedTuple):
    """Calls that are repeated."""

    anchor: int
    """Unit of the first; runs of it are not divided."""
    length: int
    content: int
    """Number that stands for all of them."""


def _transfers(code: Links) -> Mask:
    """Return what moves bytes."""
    return np.isin(code // 2 % STEP_CODES, (READ, WRITE))


def _bound(gap: Ints, most: int, anyhow: bool, usual: float) -> int:
    """Return a length that so many gaps exceed at most, where lengths lie far apart.

    Where they lie nowhere apart a few that are long exceed it, or, `anyhow`, so many do. Gaps that are short beside the
    `usual` time from one call to the next are no pauses.
    """
    order = np.sort(gap)[::-1].astype(np.float64)
    few = np.arange(_SEVERAL, min(most, len(order) // 2))
    ratio = (order[few - 1] + usual) / (order[few] + usual)
    apart = few[ratio > max(_APART, np.sqrt(ratio.max(initial=0)))]
    if len(apart):
        return int(np.sqrt(order[apart[-1] - 1] * order[apart[-1]]))
    if anyhow:
        return int(order[min(most, len(order) - 1)])
    return int(max(_LONG * usual, order[min(most, _LONGEST_GAPS, len(order) - 1)]))


def _repeated(unit: Ints) -> Body | tuple[()]:
    """Return what nearly all parts are if steps are cut at the begins of one kind of step, as finely as that goes."""
    from .steps_kernel import contents_of

    found: Body | tuple[()] = ()
    if (unit == unit[0]).all():
        return found
    units, first, place, count = np.unique(unit, return_index=True, return_inverse=True, return_counts=True)
    often, most = np.argsort(-count, kind="stable")[:_ANCHORS], 0
    for one in often[np.argsort(first[often])].tolist():
        starts = place == one
        starts[1:] &= place[1:] != place[:-1]
        start = np.flatnonzero(starts)
        # Those that cut as finely but for a step at the begin come second.
        if len(start) < max(_SEVERAL, most + 2) or 2 * len(start) > len(unit) + 1:
            continue
        behind = np.append(start[1:], len(unit))
        contents, which, alike = np.unique(contents_of(unit, start, behind), return_index=True, return_counts=True)
        best = int(np.argmax(alike))
        if alike[best] >= _ALIKE * len(start):
            length = int(behind[which[best]] - start[which[best]])
            found, most = Body(int(units[one]), length, int(contents[best])), len(start)
    return found


@dataclass(eq=False)
class StepGroup:
    """Threads that call the same, in the same order, on one kind of file.

    Attributes
    ----------
    kind : int
        Of the files.
    locations : list of int
        Rows of the threads, ascending; times are those of the first.
    steps : Steps
    units : dict of int to Steps
        The calls of a thread that some units are.
    """

    kind: int
    locations: list[int]
    steps: Steps
    units: dict[int, Steps] = field(default_factory=dict)

    def merge(self, other: "StepGroup") -> None:
        """Add other threads that do the same."""
        first, second = self.steps, other.steps
        if not np.array_equal(first.count, second.count):
            # Both know where some calls begin; what both know is kept.
            both = np.intersect1d(first.first[:-1], second.first[:-1])
            first, second = (one.coarsened(np.isin(one.first[:-1], both)) for one in (first, second))
        leader = first if self.locations[0] < other.locations[0] else second
        known = (first.total >= 0) & (second.total >= 0)
        self.steps = replace(
            leader,
            low=np.where(known, np.minimum(first.low, second.low), UNKNOWN_BYTES),
            high=np.where(known, np.maximum(first.high, second.high), UNKNOWN_BYTES),
            total=np.where(known, first.total + second.total, UNKNOWN_BYTES),
            gap=np.minimum(first.gap, second.gap),
        )
        self.locations = sorted(self.locations + other.locations)
        self.units = other.units | self.units


@dataclass(eq=False)
class _Sequence:
    """The steps of a thread on one kind of file, while they come."""

    parts: list[tuple["StepColumns", int, int]] = field(default_factory=list)
    waiting: int = 0
    latest: int = np.iinfo(np.int64).min
    file: int = -1
    cuts: Cuts = Cuts()
    kept: Steps = NO_STEPS
    rest: "StepColumns | None" = None
    units: dict[int, Steps] = field(default_factory=dict)
    digest: Any = field(default_factory=lambda: hashlib.blake2b(digest_size=16))

    def add(self, steps: "StepColumns", low: int, high: int) -> None:
        while high - low > (room := 4 * MOST_STEPS - self.waiting):
            # Always as many, wherever blocks end.
            self.parts.append((steps, low, low + room))
            self._join()
            low += room
        self.parts.append((steps, low, high))
        self.waiting += high - low

    def _join(self, over: bool = False) -> None:
        for columns, low, high in self.parts:
            self.digest.update(columns.code[low:high].tobytes())
        parts = [some_rows(columns, slice(low, high)) for columns, low, high in self.parts]
        parts = parts if self.rest is None else [self.rest, *parts]
        self.rest, self.parts, self.waiting = None, [], 0
        if parts:
            joined: Any = (np.concatenate(column) for column in zip(*parts, strict=True))
            latest = _Latest(self.kept, parts[0] if len(parts) == 1 else type(parts[0])(*joined))
            if self.cuts.body is None and len(latest) <= MOST_STEPS:
                self.kept = latest.whole()
            else:
                self.kept, self.rest, self.cuts = latest.bounded(MOST_STEPS, self.cuts, self.units, over)

    def joined(self) -> tuple[bytes, Steps]:
        """Return what stands for what is called, and the steps."""
        self._join(over=True)
        return self.digest.digest(), self.kept

    @property
    def calls(self) -> int:
        """Number of calls."""
        return int(self.kept.count.sum()) + (0 if self.rest is None else len(self.rest.code)) + self.waiting


class StepSums(Sums):
    """The steps of a trace, added up block by block; what repeats in several ranks is kept once.

    Attributes
    ----------
    groups : dict of (int, bytes) to StepGroup
        By kind of file and what is called.
    spans : KeyedSums
        By location, when its first call begins and its last one ends, in ticks.
    """

    scope: Scope
    kinds: FileKinds
    groups: dict[tuple[int, bytes], StepGroup] = by_key()
    spans: KeyedSums = keyed(1, "begin", "end")

    def __post_init__(self) -> None:
        super().__post_init__()
        self._sequences: dict[int, _Sequence] = {}

    def add(self, block: TraceBlock) -> None:
        """Add a block; those of a process come one after the other."""
        from .steps_kernel import steps_of_calls

        own = OwnCalls.of(block, self.kinds)
        states = [self._sequences.setdefault(key, _Sequence()) for key in own.keys.tolist()]
        latest = np.array([one.latest for one in states], np.int64)
        file = np.array([one.file for one in states], np.int64)
        start = np.append(0, np.cumsum(np.bincount(own.number, minlength=len(states))))
        steps = steps_of_calls(own.row, own.number, start, own.calls, own.handles, own.events, own.edges, latest, file)
        spans = {"begin": steps.begin[start[:-1]], "end": steps.end[start[1:] - 1]}
        self.spans = self.spans.plus([own.keys // self.kinds.total], spans)
        ends = zip(states, pairwise(start.tolist()), latest.tolist(), file.tolist(), strict=True)
        for state, (low, high), state_latest, state_file in ends:
            state.add(steps, low, high)
            state.latest, state.file = state_latest, state_file

    def finish(self, going_on: Ints = NOBODY) -> None:
        """Put the threads of processes that are over into groups."""
        super().finish(going_on)
        process = self.scope.definitions.locations.group
        for key in sorted(self._sequences):
            location, kind = divmod(key, self.kinds.total)
            if process[location] in going_on:
                continue
            sequence = self._sequences.pop(key)
            if sequence.calls >= _FEWEST:
                digest, steps = sequence.joined()
                self._join((kind, digest), StepGroup(kind, [location], steps, sequence.units))

    def _join(self, name: tuple[int, bytes], group: StepGroup) -> None:
        if name in self.groups:
            self.groups[name].merge(group)
        else:
            self.groups[name] = group

    def ordered(self) -> list[StepGroup]:
        """Return the groups of all processes, by their kind of file and first thread."""
        self.finish()
        return sorted(self.groups.values(), key=lambda one: (one.kind, one.locations))


def successive_threads(definitions: Definitions, spans: KeyedSums) -> Links | None:
    """Return the lanes of `FileKinds`; None where no three threads of a process follow one another.

    The first thread of a process is one by itself: others do what it does not wait for.
    """
    process, first = definitions.locations.group, definitions.locations.first
    location = spans.keys[0]
    mine = np.flatnonzero(~np.isin(location, first) & (process[location] >= 0))
    mine = mine[np.argsort(spans["begin"][mine], kind="stable")]
    lane = np.arange(len(process), dtype=np.int32)
    busy: dict[int, list[tuple[int, int]]] = {}
    columns = process[location[mine]], location[mine], spans["begin"][mine], spans["end"][mine]
    for of, one, begin, end in zip(*(column.tolist() for column in columns), strict=True):
        lanes = busy.setdefault(of, [])
        lane[one] = heappop(lanes)[1] if lanes and lanes[0][0] <= begin else one
        heappush(lanes, (end, int(lane[one])))
    return lane if np.bincount(lane).max(initial=0) >= _FEWEST_THREADS else None


def ranks_of(definitions: Definitions, locations: Iterable[int]) -> list[int]:
    """Return the ranks of some threads, each once; none where they are not known."""
    groups = definitions.locations.group[list(locations)]
    return sorted(set(np.append(definitions.groups.rank, -1)[groups].tolist()) - {-1})
