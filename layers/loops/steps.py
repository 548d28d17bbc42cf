"""The program's own calls as steps, by thread and kind of file; threads that do the same are one group."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np

from ...model.arrays import Columns, Ints, Links, Mask, Rows, column_at
from ...model.codes import METADATA_NAMES, UNDEFINED_UINT64, IoFlag, IoRecord
from ...model.definitions import Definitions
from ...model.sums import NOBODY, Sums, by_key
from ..attribution.attribution import TraceBlock
from ..handles.metadata import selected_metadata
from ..handles.scope import Scope
from ..table import MODES
from .kinds import file_kinds

MOST_STEPS: Final = 1 << 15
"""Steps of a thread and kind of file that are kept; where there are more, those without a pause between are one."""
_SPARSE: Final = 8
"""Places for each step from which on they are numbered before steps are sorted into them."""
STEP_CODES: Final = 8
"""More than there are kinds of steps."""
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


def kinds_of_files(definitions: Definitions) -> tuple[tuple[str, ...], Links]:
    """Return the kinds of files in order, and the kind of each file, int32 (files,)."""
    kinds, place = np.unique(np.array(file_kinds(definitions.files.name), object), return_inverse=True)
    return tuple(kinds.tolist()), place.reshape(-1).astype(np.int32)


@dataclass(frozen=True, eq=False, repr=False)
class OwnSteps(Columns):
    """What the program itself called on selected files within the window; columns of shape (n,).

    By `key` and then in the order of their begins.

    Attributes
    ----------
    key : int64
        Thread and kind of file: ``location * kinds + kind``.
    code : int32
        See `StepCode`.
    size : int64
        Bytes asked for, else moved; `UNKNOWN_BYTES` where neither is known.
    file : int32
    begin, end : int64
    row : int64
        Of the operation, −1 for metadata events.
    """

    key: Ints
    code: Links
    size: Ints
    file: Links
    begin: Ints
    end: Ints
    row: Ints


def own_steps(block: TraceBlock, kind_of_file: Links, kinds: int) -> tuple[OwnSteps, Ints]:
    """Return the steps in a block, and where those of each key begin, int64 (keys+1,)."""
    from ..attribution.attribution_kernel import rows_by_key

    traffic = block
    operations = traffic.operations
    rows = np.flatnonzero(traffic.selected & traffic.own & (traffic.attribution.parent < 0) & (traffic.layer >= 0))
    asked, moved = operations.requested[rows], operations.moved[rows]
    size = np.where(asked == UNDEFINED_UINT64, moved, asked).astype(np.int64)
    collective = (operations.flags[rows] & np.uint32(IoFlag.COLLECTIVE)) != 0
    kind = np.minimum(operations.mode[rows], len(MODES) - 1).astype(np.int32)
    code = (traffic.layer[rows] * STEP_CODES + kind) * 2 + collective
    file = column_at(block.scope.definitions.handles.file, operations.handle[rows])
    begin = operations.begin[rows]
    end = block.scope.window.ends(operations)[rows]
    events, event_code = _own_events(block)
    location = operations.location[rows]
    if len(events):
        metadata = block.metadata
        location = np.append(location, metadata.location[events])
        code, file = np.append(code, event_code), np.append(file, metadata.file[events])
        begin, end = (np.append(one, metadata.time[events]) for one in (begin, end))
        size = np.append(size, np.full(len(events), UNKNOWN_BYTES))
        rows = np.append(rows, np.full(len(events), -1))
    order = np.argsort(begin, kind="stable") if len(events) else np.arange(len(rows))
    known = file[order] >= 0
    order = order[known]
    of_location = location[order].astype(np.int64) * kinds + kind_of_file[file[order]]
    most = len(block.scope.definitions.locations.id) * kinds
    if most > _SPARSE * len(order):
        keys, place = np.unique(of_location, return_inverse=True)
        by_key, start = rows_by_key(place.reshape(-1), len(keys))
    else:
        by_key, start = rows_by_key(of_location, most)
        keys = np.flatnonzero(np.diff(start))
        start = np.append(start[keys], start[-1])
    order = order[by_key]
    columns: tuple[Any, ...] = (code.astype(np.int32), size, file, begin, end, rows)
    return OwnSteps(np.repeat(keys, np.diff(start)), *(one[order] for one in columns)), start


def _own_events(block: TraceBlock) -> tuple[Rows, Links]:
    """Return the metadata events that are steps, and their codes."""
    metadata, scope = block.metadata, block.scope
    layer = scope.layer_rows(metadata.paradigm)
    is_step = np.isin(metadata.kind, _RECORDS)
    own = column_at(scope.stack.higher, metadata.handle) < 0
    chosen = is_step & own & (layer >= 0) & selected_metadata(metadata, scope.selection, scope.window)
    events = np.flatnonzero(chosen)
    kind = np.zeros(256, np.int32)
    kind[list(_RECORDS)] = len(MODES) + np.arange(len(_RECORDS))
    return events, (layer[events] * STEP_CODES + kind[metadata.kind[events]]) * 2


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

    @cached_property
    def first(self) -> Ints:
        """Number of calls before each step, and of all, int64 (n+1,)."""
        return np.concatenate(([0], np.cumsum(self.count)))

    def part(self, low: int, high: int) -> "Steps":
        """Return the steps from one place to another, without a copy."""
        return Steps(*(getattr(self, one.name)[low:high] for one in fields(self)))

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

    digest: Any = field(default_factory=lambda: hashlib.blake2b(digest_size=16))
    parts: list[Steps] = field(default_factory=list)
    waiting: int = 0
    latest: int = np.iinfo(np.int64).min
    file: int = -1
    least: int = -1

    def add(self, steps: Steps) -> None:
        self.digest.update(steps.code.tobytes())
        self.parts.append(steps)
        self.waiting += len(steps)
        if self.waiting > 4 * MOST_STEPS:
            self.parts = [self.joined()]
            self.waiting = len(self.parts[0])

    def joined(self) -> Steps:
        steps, self.least = Steps.concatenate(self.parts).bounded(MOST_STEPS, self.least)
        return steps


class StepSums(Sums):
    """The steps of a trace, added up block by block; what repeats in several ranks is kept once.

    Attributes
    ----------
    groups : dict of (int, bytes) to StepGroup
        By kind of file and what is called.
    """

    scope: Scope
    groups: dict[tuple[int, bytes], StepGroup] = by_key()

    def __post_init__(self) -> None:
        super().__post_init__()
        self._sequences: dict[int, _Sequence] = {}
        self._kinds, self._kind_of_file = kinds_of_files(self.scope.definitions)

    def add(self, block: TraceBlock) -> None:
        """Add a block; those of a process come one after the other."""
        from .steps_kernel import gaps_before

        own, start = own_steps(block, self._kind_of_file, len(self._kinds))
        if not len(own):
            return
        keys = own.key[start[:-1]].tolist()
        states = [self._sequences.setdefault(key, _Sequence()) for key in keys]
        latest = np.array([one.latest for one in states])
        gap = gaps_before(start, own.begin, own.end, latest)
        before = np.empty_like(own.file)
        before[1:] = own.file[:-1]
        before[start[:-1]] = [one.file for one in states]
        fresh = own.file != before
        nothing, one = np.zeros(len(own), np.int64), np.ones(len(own), np.int64)
        size = own.size
        whole = Steps(own.code, nothing, one, size, size, size, own.file, fresh, gap, own.begin, own.end)
        for state, (low, high), last in zip(states, pairwise(start.tolist()), latest.tolist(), strict=True):
            state.add(whole.part(low, high))
            state.latest, state.file = last, int(own.file[high - 1])

    def finish(self, going_on: Ints = NOBODY) -> None:
        """Put the threads of processes that are over into groups."""
        super().finish(going_on)
        process = self.scope.definitions.locations.group
        for key in sorted(self._sequences):
            location, kind = divmod(key, len(self._kinds))
            if process[location] in going_on:
                continue
            sequence = self._sequences.pop(key)
            group = StepGroup(kind, [location], sequence.joined())
            self._join((kind, sequence.digest.digest()), group)

    def _join(self, name: tuple[int, bytes], group: StepGroup) -> None:
        if name in self.groups:
            self.groups[name].merge(group)
        else:
            self.groups[name] = group

    @property
    def kinds(self) -> tuple[str, ...]:
        """Names of the kinds of files."""
        return self._kinds

    @property
    def kind_of_file(self) -> Links:
        """Kind of each file, int32 (files,)."""
        return self._kind_of_file

    def ordered(self) -> list[StepGroup]:
        """Return the groups of all processes, by their kind of file and first thread."""
        self.finish()
        return sorted(self.groups.values(), key=lambda one: (one.kind, one.locations))


def ranks_of(definitions: Definitions, locations: Iterable[int]) -> list[int]:
    """Return the ranks of some threads, each once."""
    groups = definitions.locations.group[list(locations)]
    return sorted(set(np.append(definitions.groups.rank, -1)[groups].tolist()))
