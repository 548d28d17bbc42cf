"""Calls followed while a trace is read: the tree of call paths and the time of every function, added up."""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ....model.arrays import Ints, Links, RowsOfIds, any_ancestor, column_at, empty_columns
from ....model.codes import IoRecord
from ....model.events import IoEvents
from ....model.keyed import KeyedSums
from ....model.ranges import RangeUnion
from ....model.stream.calls import RegionEvents, Regions
from ...handles.scope import Scope
from ...selection.window import NO_LENGTH
from .functions import FunctionGroups

KINDS: Final = 256
"""More than there are kinds of records: of a layer and a kind one group is made."""
NO_EVENT: Final = 0
"""In place of a record's kind where a call has no I/O event of its own."""
_FEWEST: Final = 1 << 8
_MOST_LAYERS: Final = 62
"""Layers that have a bit of an int64."""


class CallSums:
    """What follows the calls of some processes (`FollowsCalls`) and adds up what they took; sums of others merge.

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
    """

    def __init__(self, scope: Scope, functions: FunctionGroups) -> None:
        from . import kernel

        definitions, selection, window = scope.definitions, scope.selection, scope.window
        self.scope, self.functions = scope, functions
        ids = functions.regions.id
        self._rows = RowsOfIds(ids)
        self._about = kernel.Functions(functions.does_io, functions.layer, functions.group)
        # Garbage can be any time; differences of these fit into 64 bits.
        start, end = (max(-NO_LENGTH, min(NO_LENGTH, edge)) for edge in (window.start, window.end))
        self._limits = kernel.Limits(start, end, window.closed)
        self._aside_handles = np.append(selection.handle_reason >= 0, selection.undefined_handle >= 0)
        self._aside_files = np.append(selection.file_reason >= 0, False)
        self._handles, self._files = RowsOfIds(definitions.handles.id), RowsOfIds(definitions.files.id)
        self._layer_of_handle = scope.layer_rows(definitions.handles.paradigm)
        self._seed = np.uint64(0x9E3779B97F4A7C15)
        self._state = np.zeros(kernel.STATE_SIZE, np.int64)
        self._state[[kernel.LOCATION, kernel.TOP, kernel.FREE]] = -1
        self._latest = np.full(len(ids), -1, np.int64)
        self._paths = _new_paths(_FEWEST)
        self._frames: Any = empty_columns(kernel.Frames, _FEWEST)
        self.metadata = KeyedSums.none(7, "calls", "ticks", "begin", "end")
        self.within = KeyedSums.none(4, "calls")
        self.busy = RangeUnion(scope.exact)
        self.shares = KeyedSums.none(2, "ticks")

    def add(self, events: IoEvents, regions: RegionEvents) -> Links:
        """Take a batch; batches of a location come one after the other. Give the path of each I/O event, int32 (n,)."""
        return self._walk(events, regions, False)

    def finish(self) -> None:
        """Say that no more batches will come."""
        from .kernel import DEPTH

        if self._state[DEPTH]:
            self._walk(IoEvents.empty(), RegionEvents.empty(), True)

    def named(self, function: Links) -> Links:
        """Return the paths of operations of which only the function is known, a row of the regions."""
        count = len(self.functions.regions)
        places = self._insert(np.full(count, -1, np.int32), np.arange(count, dtype=np.int32), np.zeros(count, np.bool_))
        return np.append(places, np.int32(-1))[function]

    def merge(self, other: "CallSums") -> Links:
        """Add the sums of other processes; give the places of their paths here, int32 (paths,)."""
        from .kernel import LEFT_OUT

        self.finish()
        other.finish()
        parent, region, recursive, times = other.paths
        places = self._insert(parent, region, recursive)
        self._state[LEFT_OUT] += other._state[LEFT_OUT]
        known = places >= 0
        np.add.at(self._paths.times, places[known], times[known])
        self.metadata = self.metadata.merged(other.metadata)
        self.within = self.within.merged(other.within)
        self.busy.merge(other.busy)
        self.shares = self.shares.merged(other.shares)
        return places

    @property
    def regions(self) -> Regions:
        """All functions that the trace defines."""
        return self.functions.regions

    @property
    def paths(self) -> tuple[Links, Links, npt.NDArray[np.bool_], Ints]:
        """Parent, region and recursion of each path, and its times; as `kernel.Paths` has them."""
        from .kernel import PATHS

        count = self._state[PATHS]
        paths = self._paths
        return paths.parent[:count], paths.region[:count], paths.recursive[:count], paths.times[:count]

    @property
    def left_out(self) -> int:
        """Calls that found no room among the paths."""
        from .kernel import LEFT_OUT

        return int(self._state[LEFT_OUT])

    def _walk(self, events: IoEvents, regions: RegionEvents, over: bool) -> Links:
        from . import kernel

        found = np.full(len(events), -1, np.int32)
        rows = self._rows.rows(regions.region)
        if not (rows >= 0).all():
            regions, rows = regions.take(rows >= 0), rows[rows >= 0]
        enters = int(regions.enter.sum())
        open_calls = int(self._state[kernel.DEPTH])
        self._make_room(enters)
        locations = [self._state[kernel.LOCATION], *events.location[[0, -1] if len(events) else []].tolist()]
        locations += regions.location[[0, -1] if len(regions) else []].tolist()
        first, last = min(max(one, 0) for one in locations), max(locations)
        low, high = -NO_LENGTH, NO_LENGTH
        shares = np.zeros((max(0, last - first) + 1, len(self.functions.names)), np.int64)
        calls = empty_columns(kernel.Calls, enters + open_calls)
        count = kernel.walk_calls(
            self._events(events),
            kernel.Crossings(regions.location, np.clip(regions.time, low, high), rows, regions.enter, regions.position),
            self._paths, self._frames, self._state, self._latest, self._about, self._limits, shares, first, calls,
            found, self._seed, over,
        )  # fmt: skip
        ended: Any = (column[:count] for column in calls)
        self._take(kernel.Calls(*ended))
        location, group = np.nonzero(shares)
        self.shares = self.shares.merged(KeyedSums((location + first, group), {"ticks": shares[location, group]}))
        return found

    def _events(self, events: IoEvents) -> Any:
        from . import kernel

        definitions = self.scope.definitions
        handle = self._handles.rows(events.handle)
        file = column_at(definitions.handles.file, handle)
        layer = column_at(self._layer_of_handle, handle)
        aside = self._aside_handles[handle]
        deletes = np.flatnonzero(events.kind == IoRecord.DELETE_FILE)
        if len(deletes):
            file[deletes] = self._files.rows(events.value[deletes])
            ids = np.array([paradigm.id for paradigm in definitions.paradigms], np.uint64)
            paradigm = RowsOfIds(ids).rows(events.mode[deletes].astype(np.uint64))
            layer[deletes] = self.scope.layer_rows(paradigm)
            aside[deletes] = self._aside_files[file[deletes]]
        time = np.clip(events.time, -NO_LENGTH, NO_LENGTH)
        return kernel.Events(events.location, events.kind, time, handle, file, layer, aside.astype(np.uint8))

    def _take(self, calls: Any) -> None:
        """Add the calls that ended."""
        from .kernel import ASIDE, TRANSFER, UNDECIDED

        lost = np.flatnonzero(calls.aside == UNDECIDED)
        named = (calls.location[lost], -1 - calls.region[lost])
        self.shares = self.shares.merged(KeyedSums(named, {"ticks": calls.own[lost]}))
        rows = np.flatnonzero(calls.aside != ASIDE)
        if not len(rows):
            return
        own, kind = self.functions.layer[calls.region[rows]], calls.did[rows].astype(np.int64)
        layer = np.where(own >= 0, own, calls.layer[rows])
        begin, end, undecided = calls.begin[rows], calls.end[rows], calls.aside[rows] == UNDECIDED
        region = np.where(kind == NO_EVENT, calls.region[rows], -1)
        self.busy.add(busy_groups(layer, kind, region, undecided), begin, end)
        process = self._process(calls.location[rows])
        around = self._enclosing()[calls.path[rows]]
        decided = np.where(undecided, calls.region[rows], -1)
        self.within = self.within.merged(KeyedSums((process, layer, around, decided), {"calls": np.ones(len(rows))}))
        keys = (layer, kind, process, calls.handle[rows], calls.file[rows], region, undecided)
        still = kind != TRANSFER
        begin, end = begin[still], end[still]
        values = {"calls": np.ones(len(begin), np.int64), "ticks": end - begin, "begin": begin, "end": end}
        self.metadata = self.metadata.merged(KeyedSums([key[still] for key in keys], values))

    def _enclosing(self) -> Ints:
        """Return the layers in whose calls each path is, a bit each; none for the places behind the last path."""
        parent, region, _, _ = self.paths
        layer, found = self.functions.layer[region], np.zeros(len(parent) + 2, np.int64)
        for row in range(min(len(self.scope.order), _MOST_LAYERS)):
            found[:-2] |= any_ancestor(parent, layer == row).astype(np.int64) << row
        return found

    def _process(self, location: npt.NDArray[np.integer]) -> Links:
        return np.asarray(self.scope.definitions.locations.group[location], np.int32)

    def _insert(self, parent: Links, region: Links, recursive: npt.NDArray[np.bool_]) -> Links:
        from .kernel import insert_paths

        places = np.empty(len(parent), np.int32)
        self._make_room(len(parent))
        insert_paths(parent, region, recursive, self._paths, self._state, places, self._seed)
        return places

    def _make_room(self, more: int) -> None:
        from .kernel import DEEPEST, DEPTH, MOST_PATHS, PATHS

        count = int(self._state[PATHS])
        needed = min(count + more, MOST_PATHS)
        if needed > len(self._paths.parent):
            parent, region, recursive, times = self.paths
            self._paths = _new_paths(max(needed, 2 * count))
            self._state[PATHS] = 0
            self._insert_known(parent, region, recursive, times)
        open_calls = int(self._state[DEPTH])
        needed = min(open_calls + more, DEEPEST)
        if needed > len(self._frames.region):
            larger = empty_columns(type(self._frames), max(needed, 2 * len(self._frames.region)))
            for old, new in zip(self._frames, larger, strict=True):
                new[: len(old)] = old
            self._frames = larger

    def _insert_known(self, parent: Links, region: Links, recursive: npt.NDArray[np.bool_], times: Ints) -> None:
        from .kernel import insert_paths

        places = np.empty(len(parent), np.int32)
        insert_paths(parent, region, recursive, self._paths, self._state, places, self._seed)
        self._paths.times[: len(parent)] = times


def busy_groups(
    layer: npt.NDArray[np.integer],
    kind: npt.NDArray[np.integer],
    region: npt.NDArray[np.integer],
    undecided: npt.NDArray[Any],
) -> Ints:
    """Return the groups of `CallSums.busy`: by layer and kind, without an event by function and whether undecided."""
    by_function = -1 - 2 * region.astype(np.int64) - undecided
    return np.where(kind == NO_EVENT, by_function, (layer.astype(np.int64) + 1) * KINDS + kind)


def functions_of_groups(group: Ints) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """Return the function of each group, −1 where that has an event, and whether its calls are undecided."""
    return np.where(group < 0, (-1 - group) // 2, -1), (group < 0) & ((-1 - group) % 2 == 1)


def _new_paths(count: int) -> Any:
    from .kernel import Paths

    size = 1 << max(4, (2 * count - 1).bit_length())
    # Times have more than one dimension.
    table = empty_columns(Paths, count)
    return table._replace(times=np.empty((count, 3, 3), np.int64), table=np.full(size, -1, np.int32))
