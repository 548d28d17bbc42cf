"""The program's own calls as steps, by thread and kind of file; threads that do the same are one group."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import numpy as np

from ...model.arrays import Columns, Ints, Links, Mask, column_at, columns_as
from ...model.codes import METADATA_NAMES, IoRecord
from ...model.definitions import Definitions
from ...model.sums import NOBODY, Sums, by_key
from ..attribution.attribution import TraceBlock
from ..handles.metadata import selected_metadata
from ..handles.scope import Scope
from ..table import MODES
from .kinds import file_kinds

if TYPE_CHECKING:
    from .steps_kernel import CallColumns, Edges, EventColumns, HandleColumns, StepColumns

MOST_STEPS: Final = 1 << 15
"""Steps of a thread and kind of file that are kept; where there are more, those without a pause between are one."""
STEP_CODES: Final = 8
"""More than there are kinds of steps."""
_FEWEST: Final = 3
"""Steps in which something may repeat; threads with fewer on a kind of file are left out."""
_COLLECTIVE: Final = 1
_RECORDS: Final = (IoRecord.CREATE_HANDLE, IoRecord.DESTROY_HANDLE, IoRecord.DELETE_FILE)
"""Metadata events that are steps; seeks, locks and the like come and go with the operations they are for."""
STEP_KINDS: Final = (*MODES.values(), *(METADATA_NAMES[one] for one in _RECORDS))
UNKNOWN_BYTES: Final = -1
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
    """The kinds of the files of a trace: their number, and the kind of each file, int32 (files,)."""

    total: int
    of_file: Links


def kinds_of_files(definitions: Definitions) -> tuple[tuple[str, ...], FileKinds]:
    """Return the kinds of files in order, and which file is of which."""
    titles = file_kinds(definitions.files.name)
    kinds = tuple(sorted(set(titles)))
    place = {title: number for number, title in enumerate(kinds)}
    of_file = np.fromiter((place[title] for title in titles), np.int32, len(titles))
    return kinds, FileKinds(len(kinds), of_file)


@dataclass(frozen=True, eq=False)
class OwnCalls:
    """What the program itself called on selected files within the window, in the order of begins.

    Attributes
    ----------
    row : int64 (n,)
        Of the operation; of a metadata event ``-1 - event``, a place in `events`.
    number : int64 (n,)
        Place of the call's key in `keys`.
    keys : int64 (keys,)
        Thread and kind of file: ``location * kinds + kind``.
    """

    row: Ints
    number: Ints
    keys: Ints
    calls: "CallColumns"
    handles: "HandleColumns"
    events: "EventColumns"
    edges: "Edges"

    @classmethod
    def of(cls, block: TraceBlock, kinds: FileKinds) -> "OwnCalls":
        """Return those of a block."""
        from .steps_kernel import CallColumns, Edges, grouped, own_calls

        window = block.window
        calls = columns_as(CallColumns, block.operations, parent=block.attribution.parent)
        handles, events = _handle_columns(block.scope, kinds), _own_events(block, kinds)
        edges = Edges(window.start, window.end, window.closed)
        row, key = own_calls(calls, handles, events, kinds.total, edges)
        return cls(row, *grouped(key), calls, handles, events, edges)


def _handle_columns(scope: Scope, kinds: FileKinds) -> "HandleColumns":
    from .steps_kernel import HandleColumns

    stack, file = scope.stack, scope.definitions.handles.file
    layer = np.where(scope.selection.selected, stack.layer, np.int32(-1))
    return HandleColumns(layer, layer * 2 * STEP_CODES, stack.higher < 0, file, column_at(kinds.of_file, file))


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
    key = metadata.location[events].astype(np.int64) * kinds.total + kinds.of_file[file]
    code = (layer[events] * STEP_CODES + kind[metadata.kind[events]]) * 2
    return EventColumns(metadata.time[events], key, code.astype(np.int32), file)


@dataclass(frozen=True, eq=False, repr=False)
class Steps(Columns):
    """Steps of one kind of file, of threads that do the same; columns of shape (n,).

    Attributes
    ----------
    code : int32
        See `StepCode`; of several that are one, the first.
    content : int64
        Number that stands for what is one: the same number, the same content; 0 for a single call.
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
    """

    code: Links
    content: Ints
    count: Ints
    low: Ints
    high: Ints
    total: Ints
    file: Links
    fresh: Mask
    gap: Ints
    begin: Ints
    end: Ints

    @classmethod
    def single(cls, columns: "StepColumns", low: int, high: int) -> "Steps":
        """Return calls from one place to another as steps, one each."""
        code, size, *others = (column[low:high] for column in cast("tuple[Any, ...]", columns))
        nothing, one = np.zeros(len(code), np.int64), np.ones(len(code), np.int64)
        return cls(code, nothing, one, size, size, size, *others)

    @cached_property
    def first(self) -> Ints:
        """Number of calls before each step, and of all, int64 (n+1,)."""
        return np.concatenate(([0], np.cumsum(self.count)))

    def coarsened(self, keep: Mask) -> "Steps":
        """Return the steps with each one that is not kept joined to the one before; the first is always kept."""
        keep[:1] = True
        start = np.flatnonzero(keep)
        joined = np.diff(np.append(start, len(self))) > 1

        def content() -> Ints:
            parts = np.uint64(0x9E3779B97F4A7C15) * (self.code.astype(np.uint64) + np.uint64(1))
            parts ^= self.content.astype(np.uint64) * np.uint64(3) + self.total.astype(np.uint64)
            place = np.arange(len(self)) - np.repeat(start, np.diff(np.append(start, len(self))))
            mixed = (parts * (place.astype(np.uint64) * np.uint64(2) + np.uint64(1))) ^ (parts >> np.uint64(29))
            return np.asarray(np.add.reduceat(mixed, start).view(np.int64) | 1)

        def summed(column: Ints) -> Ints:
            return np.asarray(np.add.reduceat(np.maximum(column, 0), start))

        return Steps(
            code=self.code[start],
            content=np.where(joined, content(), self.content[start]),
            count=np.add.reduceat(self.count, start),
            low=summed(self.low),
            high=summed(self.high),
            total=summed(self.total),
            file=self.file[start],
            fresh=np.logical_or.reduceat(self.fresh, start),
            gap=self.gap[start],
            begin=self.begin[start],
            end=np.maximum.reduceat(self.end, start),
        )

    def bounded(self, most: int, least: int) -> tuple["Steps", int]:
        """Return no more steps than that, and behind which gaps, in ticks, each begins; `least` is what is known of it.

        What would begin behind a shorter gap is joined to the step before.
        """
        steps = self if least < 0 else self.coarsened(self.gap > least)
        if len(steps) > most:
            place = len(steps) - most // 2
            least = int(np.partition(steps.gap, place)[place])
            steps = steps.coarsened(steps.gap > least)
        return steps, least


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
    """

    kind: int
    locations: list[int]
    steps: Steps

    def merge(self, other: "StepGroup") -> None:
        """Add other threads that do the same."""
        first, second = self.steps, other.steps
        if len(first) != len(second) or not np.array_equal(first.first, second.first):
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


@dataclass(eq=False)
class _Sequence:
    """The steps of a thread on one kind of file, while they come."""

    parts: list[tuple["StepColumns", int, int]] = field(default_factory=list)
    waiting: int = 0
    latest: int = np.iinfo(np.int64).min
    file: int = -1
    least: int = -1
    kept: Steps = field(default_factory=Steps.empty)
    digest: Any = field(default_factory=lambda: hashlib.blake2b(digest_size=16))

    def add(self, steps: "StepColumns", low: int, high: int) -> None:
        while high - low > (room := 4 * MOST_STEPS - self.waiting):
            # Always as many, wherever blocks end.
            self.parts.append((steps, low, low + room))
            self._join()
            low += room
        self.parts.append((steps, low, high))
        self.waiting += high - low

    def _join(self) -> None:
        for steps, low, high in self.parts:
            self.digest.update(steps.code[low:high].tobytes())
        fresh = [Steps.single(steps, low, high) for steps, low, high in self.parts]
        self.kept, self.least = Steps.concatenate([self.kept, *fresh]).bounded(MOST_STEPS, self.least)
        self.parts, self.waiting = [], 0

    def joined(self) -> tuple[bytes, Steps]:
        """Return what stands for what is called, and the steps."""
        self._join()
        return self.digest.digest(), self.kept

    def __len__(self) -> int:
        return len(self.kept) + self.waiting


class StepSums(Sums):
    """The steps of a trace, added up block by block; what repeats in several ranks is kept once.

    Attributes
    ----------
    groups : dict of (int, bytes) to StepGroup
        By kind of file and what is called.
    """

    scope: Scope
    kinds: FileKinds
    groups: dict[tuple[int, bytes], StepGroup] = by_key()

    def __post_init__(self) -> None:
        super().__post_init__()
        self._sequences: dict[int, _Sequence] = {}

    def add(self, block: TraceBlock) -> None:
        """Add a block; those of a process come one after the other."""
        from ..attribution.attribution_kernel import rows_by_key
        from .steps_kernel import steps_of_calls

        own = OwnCalls.of(block, self.kinds)
        states = [self._sequences.setdefault(key, _Sequence()) for key in own.keys.tolist()]
        latest = np.array([one.latest for one in states], np.int64)
        file = np.array([one.file for one in states], np.int64)
        order, start = rows_by_key(own.number, len(states))
        steps = steps_of_calls(own.row, order, start, own.calls, own.handles, own.events, own.edges, latest, file)
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
            if len(sequence) >= _FEWEST:
                digest, steps = sequence.joined()
                self._join((kind, digest), StepGroup(kind, [location], steps))

    def _join(self, name: tuple[int, bytes], group: StepGroup) -> None:
        if name in self.groups:
            self.groups[name].merge(group)
        else:
            self.groups[name] = group

    def ordered(self) -> list[StepGroup]:
        """Return the groups of all processes, by their kind of file and first thread."""
        self.finish()
        return sorted(self.groups.values(), key=lambda one: (one.kind, one.locations))


def ranks_of(definitions: Definitions, locations: Iterable[int]) -> list[int]:
    """Return the ranks of some threads, each once."""
    groups = definitions.locations.group[list(locations)]
    return sorted(set(np.append(definitions.groups.rank, -1)[groups].tolist()))
