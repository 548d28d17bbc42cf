"""What calls took: of each function, of each kind of metadata operation, of each process."""

from functools import cached_property
from typing import Annotated, Any, Final

import numpy as np

from ....model.arrays import Array, Integers, Ints, Links, Mask, any_ancestor
from ....model.codes import IoRecord
from ....model.document import Document, Record
from ....model.events import IoEvents
from ....model.keyed import KeyedSums
from ....model.ranges import RangeUnion
from ....model.stream.calls import RegionEvents
from ....model.sums import NOBODY, Sums, by_key, keyed, nested
from ...handles.scope import Scope
from .functions import COMPLETION, LEAVE_EVENTS, NO_EVENT, TRANSFER, FunctionGroups, PathTree
from .meetings import SharedCalls, SharedRows, may_wait
from .walk import CallTree, CallWalker, EndedCalls, deeds_of

KINDS: Final = 256
"""More than there are kinds of records: of a layer and a kind one group is made."""
_DID: Final = np.arange(KINDS, dtype=np.uint8)
_DID[IoRecord.OPERATION_BEGIN : IoRecord.OPERATION_CANCELLED + 1] = TRANSFER
_DID[IoRecord.OPERATION_COMPLETE] = COMPLETION
"""What the records of events tell of the calls that they are in."""
_MOST_LAYERS: Final = 62
"""Layers that have a bit of an int64."""


def busy_groups(layer: Integers, kind: Integers, region: Integers, undecided: Array) -> Ints:
    """Return the groups of `Calls.busy`: by layer and kind, without an event by function and whether undecided."""
    by_function = -1 - 2 * region.astype(np.int64) - undecided
    return np.where(kind == NO_EVENT, by_function, (layer.astype(np.int64) + 1) * KINDS + kind)


OTHER_CALLS: Final = "other_calls"
CALL_KINDS: Final = {
    "opens": (IoRecord.CREATE_HANDLE,),
    "closes": (IoRecord.DESTROY_HANDLE,),
    "duplications": (IoRecord.DUPLICATE_HANDLE,),
    "seeks": (IoRecord.SEEK,),
    "status_changes": (IoRecord.CHANGE_STATUS_FLAGS,),
    "deletions": (IoRecord.DELETE_FILE,),
    "locks": (IoRecord.ACQUIRE_LOCK, IoRecord.RELEASE_LOCK, IoRecord.TRY_LOCK),
    OTHER_CALLS: (NO_EVENT,),
}
"""Calls that move no data by the records of what they do; the last are those that leave no I/O event of their own."""


class FunctionTime(Record):
    """How often a function was called, and what that took in s."""

    function: str
    calls: int
    summed_s: float


class CallTime(Record):
    """What the calls of one kind in one layer took.

    Attributes
    ----------
    layer : str
    kind : str
        A key of `CALL_KINDS`.
    calls : int
        On selected files and within the window.
    summed_s, busy_s : float
        From Enter to Leave, in s: the sum over the calls, and the time in which any was under way.
    functions : tuple of FunctionTime
        Of other calls, which they are, those that took longest first.
    """

    layer: str
    kind: str
    calls: int
    summed_s: float
    busy_s: float
    functions: tuple[FunctionTime, ...] = ()

    def to_dict(self) -> Annotated[Document, {"functions?": tuple[FunctionTime, ...]}]:
        """Return the fields as in ``layers --json``."""
        entry = super().to_dict()
        return entry if self.functions else {name: value for name, value in entry.items() if name != "functions"}


class Calls(Sums):
    """What calls took within the window: follows those of some processes (`FollowsCalls`); sums of others merge.

    Memory follows the call paths, of which there are at most 2^20, the depth of calls, and handles times processes.

    Attributes
    ----------
    scope : Scope
    functions : FunctionGroups
    metadata : KeyedSums
        By layer, kind of record (0: without an I/O event), process, handle, file and, where there is no event,
        function, each −1 for none, and whether the call is undecided: calls that move no data within the window,
        none on files that are set aside, their ticks from Enter to Leave, and the first begin and last end.
    within : KeyedSums
        By process, layer, the layers in whose calls it was (a bit each, the highest layer's the lowest), and the
        function where the call is undecided, −1 where it is not: calls of I/O, whatever they did.
    busy : RangeUnion
        When such calls, and those that move data, were under way, by `busy_groups`.
    shares : KeyedSums
        By location and row of ``FunctionGroups.names``, the ticks of calls without those of the calls in them; of
        undecided calls, by location and −1 − row of the function.
    tree : CallTree
    shared : dict of int to SharedCalls
        By layer, calls that may wait for other processes and are in no other call of the layer.
    """

    scope: Scope
    functions: FunctionGroups
    metadata: KeyedSums = keyed(7, "calls", "ticks", "begin", "end")
    within: KeyedSums = keyed(4, "calls")
    busy: RangeUnion = nested(lambda sums: RangeUnion(sums.scope.exact))
    shares: KeyedSums = keyed(2, "ticks")
    tree: CallTree = nested(lambda _sums: CallTree())
    shared: dict[int, SharedCalls] = by_key()

    def prepare(self) -> None:
        self._walker = CallWalker(self.scope, self.functions, self.tree)
        self._may_wait = np.zeros(0, np.bool_)

    def add(self, events: IoEvents, regions: RegionEvents) -> Links:
        """Take a batch; batches of a location come one after the other. Give the path of each I/O event, int32 (n,)."""
        ended, paths = self._walker.add(events, deeds_of(events, _DID), regions)
        self._take(ended)
        return paths

    def finish(self, going_on: Ints = NOBODY) -> None:
        """Say that no more batches will come."""
        super().finish(going_on)
        if self._walker.open_calls:
            self._take(self._walker.finish())

    @property
    def paths(self) -> PathTree:
        """The tree of call paths."""
        return PathTree(self.functions.regions, *self.tree.columns[:2])

    def _take(self, ended: EndedCalls) -> None:
        """Add the calls that ended."""
        from .kernel import ASIDE, UNDECIDED

        calls, did = ended.calls, ended.did
        location, group = np.nonzero(ended.shares)
        shares = KeyedSums((location + ended.first_location, group), {"ticks": ended.shares[location, group]})
        lost = np.flatnonzero(did.aside == UNDECIDED)
        named = KeyedSums((calls.location[lost], -1 - calls.region[lost]), {"ticks": calls.own[lost]})
        self.shares = self.shares.merged(shares, named)
        rows = np.flatnonzero(did.aside != ASIDE)
        if not len(rows):
            return
        own, kind = self.functions.layer[calls.region[rows]], did.did[rows].astype(np.int64)
        layer = np.where(own >= 0, own, did.layer[rows])
        begin, end, undecided = calls.begin[rows], calls.end[rows], did.aside[rows] == UNDECIDED
        region = np.where(kind == NO_EVENT, calls.region[rows], -1)
        self.busy.add(busy_groups(layer, kind, region, undecided), begin, end)
        process = self.scope.definitions.locations.group[calls.location[rows]]
        around = self._enclosing()[calls.path[rows]]
        decided = np.where(undecided, calls.region[rows], -1)
        self.within = self.within.plus((process, layer, around, decided), {"calls": 1})
        keys = (layer, kind, process, did.handle[rows], did.file[rows], region, undecided)
        every = SharedRows(did.did[rows], process, did.handle[rows], did.file[rows], calls.region[rows], begin, end)
        self._share(calls.path[rows], around, every, layer)
        still = kind < TRANSFER
        begin, end = begin[still], end[still]
        values = {"calls": 1, "ticks": end - begin, "begin": begin, "end": end}
        self.metadata = self.metadata.plus([key[still] for key in keys], values)

    def _share(self, path: Links, around: Ints, rows: SharedRows, layer: Ints) -> None:
        """Keep the calls that may wait for other processes."""
        if len(self._may_wait) != len(self.tree) + 2:
            self._may_wait = np.append(may_wait(self.paths, self.functions), [False, False])
        waits = self._may_wait[path] & (around >> np.maximum(layer, 0) & 1 == 0)
        for one in np.unique(layer[waits]).tolist():
            self.shared.setdefault(one, SharedCalls()).add(rows.take(waits & (layer == one)))

    def _enclosing(self) -> Ints:
        """Return the layers in whose calls each path is, a bit each; none for the places behind the last path."""
        parent, region, _, _ = self.tree.columns
        layer, found = self.functions.layer[region], np.zeros(len(parent) + 2, np.int64)
        for row in range(min(len(self.scope.order), _MOST_LAYERS)):
            found[:-2] |= any_ancestor(parent, layer == row).astype(np.int64) << row
        return found

    def __repr__(self) -> str:
        return f"<Calls: {int(self.times[:, :, 0].sum()):,} calls, {len(self.tree):,} call paths>"

    @property
    def times(self) -> Ints:
        """Of each path and the calls that count, are on files set aside or do not tell their file, int64 (n, 3, 3).

        How many, ticks from Enter to Leave, and ticks without the calls inside.
        """
        return self.tree.columns[3]

    @cached_property
    def undecided_count(self) -> Mask:
        """Whether calls of a function count that do not tell their file, bool (functions,).

        Functions of the operating system and of C leave an event wherever they succeed on what is recorded; without one
        they failed, or were called on what is not, such as a pipe of the MPI library. Of the layers above some never
        do, such as ``MPI_File_set_view`` or ``nc_enddef``; they count where none of their calls has any, and so do
        those that wait for asynchronous operations.
        """
        if self.scope.selection.files == "all":
            return np.ones(len(self.functions.regions), np.bool_)
        tells = np.zeros(len(self.functions.regions), np.bool_)
        tells[self.paths.region[self.times[:, :2, 0].any(axis=1)]] = True
        low = [row for row, name in enumerate(self.scope.order) if name in LEAVE_EVENTS]
        regions = self.functions.regions
        silent = ~np.isin(self.functions.layer, low) | regions.waits_for_io | regions.on_files
        return np.asarray((~tells | regions.on_files) & (self.functions.layer >= 0) & silent, np.bool_)

    @cached_property
    def counted(self) -> Ints:
        """Calls, ticks and ticks without the calls inside of each path, int64 (n, 3); none that is set aside."""
        decided: Ints = self.times[:, 0]
        return decided + np.where(self.undecided_count[self.paths.region][:, None], self.times[:, 2], 0)

    @cached_property
    def outermost(self) -> Ints:
        """As `counted`, without the ticks of calls inside another one of their layer, so that they can be added up."""
        found, layer = self.counted.copy(), self.functions.layer[self.paths.region]
        for row in range(len(self.scope.order)):
            of_layer = layer == row
            found[of_layer & any_ancestor(self.paths.parent, of_layer), 1] = 0
        return found

    @cached_property
    def by_function(self) -> Ints:
        """The same of each function, int64 (functions, 3).

        A call of a function that is open already adds to its calls, not again to its ticks.
        """
        sums = np.zeros((len(self.functions.regions), 3), np.int64)
        counted = self.counted.copy()
        counted[self.tree.columns[2], 1] = 0
        np.add.at(sums, self.paths.region, counted)
        return sums

    @cached_property
    def counted_metadata(self) -> KeyedSums:
        """The sums of the calls that move no data and count."""
        region, undecided = self.metadata.keys[5:]
        return self.metadata.taken((undecided == 0) | np.append(self.undecided_count, True)[region])

    @cached_property
    def counted_within(self) -> KeyedSums:
        """The calls of I/O that count by process, layer and the layers in whose calls they were (a bit each)."""
        _, layer, _, region = self.within.keys
        counted = (region < 0) | np.append(self.undecided_count, True)[region]
        chosen = self.within.taken(counted & (layer >= 0))
        return KeyedSums(chosen.keys[:3], chosen.values)

    @cached_property
    def any_ticks(self) -> int:
        """Ticks in which any process was in a call that counts."""

        def counts(group: Ints) -> Ints:
            region, undecided = np.divmod(-1 - group, 2)
            left_out = (group < 0) & (undecided > 0) & ~self.undecided_count[np.where(group < 0, region, 0)]
            return left_out.astype(np.int64)

        return int(self.busy.regrouped(counts).lengths(np.zeros(1, np.int64))[0])

    @cached_property
    def call_times(self) -> tuple[CallTime, ...]:
        """What the calls that move no data took, by layer and kind."""
        return self._call_times(self.counted_metadata)

    def call_times_of(self, process: int) -> tuple[CallTime, ...]:
        """Return what those of a process took; when any was under way is of all processes."""
        sums = self.counted_metadata
        return self._call_times(sums.taken(sums.keys[2] == process))

    def _call_times(self, sums: KeyedSums) -> tuple[CallTime, ...]:
        layer, kind, _, _, _, region, undecided = sums.keys
        group = busy_groups(layer, kind, region, undecided)
        covered, begin, end = self.busy.covered()
        found = []
        for row, name in enumerate(self.scope.order):
            for key, records in CALL_KINDS.items():
                rows = (layer == row) & np.isin(kind, np.array(records, np.int64))
                if not rows.any():
                    continue
                of_kind = np.isin(covered, group[rows])
                together = RangeUnion(exact=True)
                together.add(np.zeros(int(of_kind.sum()), np.int64), begin[of_kind], end[of_kind])
                summed = int(sums["ticks"][rows].sum()) / self.scope.window.ticks_per_second
                busy = together.length / self.scope.window.ticks_per_second
                functions = self._functions(sums.taken(rows)) if key == OTHER_CALLS else ()
                found.append(CallTime(name, key, int(sums["calls"][rows].sum()), summed, busy, functions))
        return tuple(found)

    def _functions(self, sums: KeyedSums) -> tuple[FunctionTime, ...]:
        """Return the functions of some calls that have no event."""
        names = self.functions.regions.name
        by_region = KeyedSums([sums.keys[5]], sums.values)
        columns = by_region.keys[0], by_region["calls"], by_region["ticks"] / self.scope.window.ticks_per_second
        rows = zip(*(column.tolist() for column in columns), strict=True)
        found = [FunctionTime(names[row], calls, seconds) for row, calls, seconds in rows]
        return tuple(sorted(found, key=lambda one: (-one.summed_s, one.function)))

    @cached_property
    def group_seconds(self) -> dict[str, float]:
        """Time in s of the calls of each group, without that of calls inside them, summed over all threads."""
        group, ticks = self.group_ticks.keys[1], self.group_ticks["ticks"]
        sums = np.bincount(group, ticks, minlength=len(self.functions.names)) / self.scope.window.ticks_per_second
        return {name: value for name, value in zip(self.functions.names, sums.tolist(), strict=True) if value}

    def handle_seconds(self, handles: int) -> Any:
        """Return the time in s of the calls that move no data on each handle, float64 (handles,)."""
        sums = self.counted_metadata
        known = sums.keys[3] >= 0
        ticks = np.bincount(sums.keys[3][known], sums["ticks"][known], minlength=handles)
        return ticks / self.scope.window.ticks_per_second

    @property
    def io_stretches(self) -> tuple[Ints, Ints, Ints]:
        """When calls of I/O that count were under way: group as of `busy`, begin and end in ticks."""
        group, begin, end = self.busy.covered()
        function, undecided = np.divmod(np.maximum(-1 - group, 0), 2)
        chosen = (undecided == 0) | self.undecided_count[function]
        return group[chosen], begin[chosen], end[chosen]

    @cached_property
    def group_ticks(self) -> KeyedSums:
        """By location and row of ``functions.names``, the ticks of calls without those of the calls in them.

        Calls that do not tell their file are the time of calls that count after all, where a function is only in these.
        """
        location, group = self.shares.keys
        row, region = np.maximum(-1 - group, 0), self.paths.region
        own, length = self.times[:, 2, 2], len(self.functions.regions)
        serving, alone = (np.bincount(region, own * there, length) > 0 for there in (self.serves, ~self.serves))
        counts = (self.undecided_count | (serving & ~alone))[row]
        of_function = np.where(counts, self.functions.group[row], len(self.functions.names) - 1)
        return KeyedSums((location, np.where(group >= 0, group, of_function)), self.shares.values)

    @property
    def serves(self) -> Mask:
        """Whether calls on a path are in calls of I/O that all count, whose time theirs is, bool (paths,)."""
        parent, counted = self.paths.parent, self.times[:, :, 0]
        counts = self.functions.does_io[self.paths.region] & (counted[:, 0] > 0) & ~counted[:, 1:].any(axis=1)
        return np.asarray((parent >= 0) & np.append(counts, False)[parent])
