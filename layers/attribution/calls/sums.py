"""Calls added up while a trace is read: the tree of call paths and the time of every function."""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ....model.arrays import Ints, Links, Mask, any_ancestor
from ....model.codes import IoRecord
from ....model.events import IoEvents
from ....model.keyed import KeyedSums
from ....model.ranges import RangeUnion
from ....model.stream.calls import RegionEvents
from ....model.sums import NOBODY, Sums, keyed, nested
from ...handles.scope import Scope
from .functions import NO_EVENT, TRANSFER, FunctionGroups
from .keys import PathTree
from .walk import CallTree, CallWalker, EndedCalls

KINDS: Final = 256
"""More than there are kinds of records: of a layer and a kind one group is made."""
_DID: Final = np.arange(KINDS, dtype=np.uint8)
_DID[IoRecord.OPERATION_BEGIN : IoRecord.OPERATION_CANCELLED + 1] = TRANSFER
"""What the records of events tell of the calls that they are in."""
_MOST_LAYERS: Final = 62
"""Layers that have a bit of an int64."""


class CallSums(Sums):
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
    tree : CallTree
    """

    scope: Scope
    functions: FunctionGroups
    metadata: KeyedSums = keyed(7, "calls", "ticks", "begin", "end")
    within: KeyedSums = keyed(4, "calls")
    busy: RangeUnion = nested(lambda sums: RangeUnion(sums.scope.exact))
    shares: KeyedSums = keyed(2, "ticks")
    tree: CallTree = nested(lambda _sums: CallTree())

    def __post_init__(self) -> None:
        super().__post_init__()
        self._walker = CallWalker(self.scope, self.functions, self.tree)

    def add(self, events: IoEvents, regions: RegionEvents) -> Links:
        """Take a batch; batches of a location come one after the other. Give the path of each I/O event, int32 (n,)."""
        ended, paths = self._walker.add(events, _DID[events.kind], regions)
        self._take(ended)
        return paths

    def finish(self, going_on: Ints = NOBODY) -> None:
        """Say that no more batches will come."""
        super().finish(going_on)
        if self._walker.open_calls:
            self._take(self._walker.finish())

    def named(self, function: Links) -> Links:
        """Return the paths of operations of which only the function is known, a row of the regions."""
        count = len(self.functions.regions)
        roots = np.full(count, -1, np.int32), np.arange(count, dtype=np.int32), np.zeros(count, np.bool_)
        return np.append(self.tree.placed(*roots), np.int32(-1))[function]

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
        self.within = self.within.merged(KeyedSums((process, layer, around, decided), {"calls": np.ones(len(rows))}))
        keys = (layer, kind, process, did.handle[rows], did.file[rows], region, undecided)
        still = kind != TRANSFER
        begin, end = begin[still], end[still]
        values = {"calls": np.ones(len(begin), np.int64), "ticks": end - begin, "begin": begin, "end": end}
        self.metadata = self.metadata.merged(KeyedSums([key[still] for key in keys], values))

    def _enclosing(self) -> Ints:
        """Return the layers in whose calls each path is, a bit each; none for the places behind the last path."""
        parent, region, _, _ = self.tree.columns
        layer, found = self.functions.layer[region], np.zeros(len(parent) + 2, np.int64)
        for row in range(min(len(self.scope.order), _MOST_LAYERS)):
            found[:-2] |= any_ancestor(parent, layer == row).astype(np.int64) << row
        return found


def busy_groups(
    layer: npt.NDArray[np.integer],
    kind: npt.NDArray[np.integer],
    region: npt.NDArray[np.integer],
    undecided: npt.NDArray[Any],
) -> Ints:
    """Return the groups of `CallSums.busy`: by layer and kind, without an event by function and whether undecided."""
    by_function = -1 - 2 * region.astype(np.int64) - undecided
    return np.where(kind == NO_EVENT, by_function, (layer.astype(np.int64) + 1) * KINDS + kind)


def functions_of_groups(group: Ints) -> tuple[Ints, Mask]:
    """Return the function of each group, −1 where that has an event, and whether its calls are undecided."""
    return np.where(group < 0, (-1 - group) // 2, -1), (group < 0) & ((-1 - group) % 2 == 1)
