"""The compiled walk along Enter and Leave: the stack of open calls, the tree of call paths, the calls that ended.

Numba may have to compile it: import it inside the function that uses it.
"""

from typing import Final, NamedTuple

import numpy as np

from ....model.arrays import Ints, Links, Mask, Octets, Ticks
from ....model.kernels import compiled_uncounted, hashed, inlined
from ....model.stream.calls import RegionEvents
from .functions import COMPLETION, NO_EVENT, TRANSFER

UNKNOWN: Final = -1
"""The path of what happens outside of any call."""
FOLDED: Final = -2
"""The path of calls beyond those that a tree has room for."""
MOST_PATHS: Final = 1 << 20
DEEPEST: Final = 1 << 20
"""Calls that may be open at once; further ones do not count."""
_SEED: Final = np.uint64(0x9E3779B97F4A7C15)

DEPTH, LOCATION, TIME, BEYOND, TOP, FREE, FIRST, STATE_SIZE = range(8)
"""What a state holds: open calls, row of the location, its last time, open calls beyond `DEEPEST`, the place of the
innermost call, a free place among those used before (−1 for none of either), and the location that `shares` begins at.
"""
NODES, LEFT_OUT = range(2)
"""What ``Paths.used`` holds: nodes, and calls that found no room for one."""

CALLS, WHOLE, OWN = range(3)
"""Columns of `Paths.times`: calls, their ticks from Enter to Leave, and those without the calls inside."""
COUNTED, ASIDE, UNDECIDED = range(3)
"""Whether a call is on a selected file; calls of I/O that leave no event do not tell theirs."""


class Paths(NamedTuple):
    """Nodes of a tree of call paths, each behind its parent, and the table that finds them.

    Attributes
    ----------
    parent : int32 (n,)
        −1 at a root.
    region : int32 (n,)
    recursive : bool (n,)
        Whether the region is on the path above already.
    times : int64 (n, 3, 3)
        Of calls that are `COUNTED`, `ASIDE` and `UNDECIDED`: `CALLS`, `WHOLE` and `OWN`.
    table : int32 (2^k,)
        Nodes by the hash of parent and region, −1 where free; at most half is in use.
    used : int64 (2,)
        `NODES` and `LEFT_OUT`.
    """

    parent: Links
    region: Links
    recursive: Mask
    times: Ints
    table: Links
    used: Ints


class Frames(NamedTuple):
    """Open calls of the present location, a list linked in both directions; columns of the same length.

    Attributes
    ----------
    region, path : int32
    depth : int32
        Number of calls around it.
    begin, since, inside : int64
        When it was entered; since when its time is that of the call below it; ticks of the calls in it so far.
    former, below, above : int64
        Places of the open call of the same region before it, and of its neighbours; −1 for none. Of a free place,
        `below` is the next free one.
    """

    region: Links
    path: Links
    depth: Links
    begin: Ticks
    since: Ticks
    inside: Ticks
    former: Ints
    below: Ints
    above: Ints


class Notes(NamedTuple):
    """What I/O events, or calls by the events in them, did, and what that was on."""

    did: Octets
    """`NO_EVENT`, the record of the first metadata event, or `TRANSFER` and more; of events also `COMPLETION`, of calls
    that are no I/O by themselves nothing else."""
    handle: Links
    file: Links
    layer: Links
    aside: Octets


class Ended(NamedTuple):
    """Calls that ended within the window; columns that the walk fills."""

    location: Links
    path: Links
    depth: Links
    region: Links
    begin: Ticks
    end: Ticks
    own: Ticks


class Functions(NamedTuple):
    """What is known of each region; see `FunctionGroups`."""

    does_io: Mask
    layer: Links
    group: Links
    completes: Links


class Edges(NamedTuple):
    """Window in ticks, and whether its end belongs to it."""

    start: int
    end: int
    closed: bool


class Walk(NamedTuple):
    """All that the walk goes by and fills.

    Attributes
    ----------
    frames, noted
        Open calls; with room for as many more as there are Enters.
    state : int64
        As the batch before left it.
    latest : int64 (regions,)
        Place of the latest open call of each region, −1 for none.
    shares : int64 (locations, groups+1)
        Ticks by location from ``state[FIRST]`` on and group; the last ones are of what calls of I/O call that is none,
        and of calls that are set aside. Undecided calls are in none.
    ended, did
        With room for the calls that are open and as many more as there are Enters.
    every : bool
        Whether all calls that end are written, or those of I/O only.
    """

    paths: Paths
    frames: Frames
    noted: Notes
    state: Ints
    latest: Ints
    functions: Functions
    edges: Edges
    shares: Ints
    ended: Ended
    did: Notes
    every: bool


@inlined
def find_path(paths: Paths, parent: int | np.int64, region: int, recursive: bool) -> int | np.int64:
    """Return the node of a region below another node, if need be a new one; `FOLDED` where there is no room."""
    if parent == FOLDED:
        paths.used[LEFT_OUT] += 1
        return FOLDED
    mask = len(paths.table) - 1
    key = (np.uint64(parent + 1) << np.uint64(32)) | np.uint64(region)
    place = np.int64(hashed(key, _SEED)) & mask
    while paths.table[place] >= 0:
        node = paths.table[place]
        if paths.parent[node] == parent and paths.region[node] == region:
            return np.int64(node)
        place = (place + 1) & mask
    node = paths.used[NODES]
    if node >= MOST_PATHS:
        paths.used[LEFT_OUT] += 1
        return FOLDED
    paths.used[NODES] += 1
    paths.table[place] = node
    paths.parent[node] = parent
    paths.region[node] = region
    paths.recursive[node] = recursive
    paths.times[node] = 0
    return np.int64(node)


@inlined
def _within(begin: int | np.int64, end: int | np.int64, edges: Edges) -> int | np.int64:
    return max(0, min(end, edges.end) - max(begin, edges.start))


@inlined
def _counts(begin: int | np.int64, end: int | np.int64, edges: Edges) -> bool | np.bool_:
    """Return whether a call has time in common with the window; one without duration lies in it."""
    if end > begin:
        return max(begin, edges.start) < min(end, edges.end)
    return edges.start <= begin and (begin < edges.end or (edges.closed and begin == edges.end))


@inlined
def _copy(target: Notes, row: int | np.int64, source: Notes, other: int | np.int64) -> None:
    target.did[row] = source.did[other]
    target.handle[row] = source.handle[other]
    target.file[row] = source.file[other]
    target.layer[row] = source.layer[other]
    target.aside[row] = source.aside[other]


@inlined
def _open(region: int, walk: Walk) -> None:
    """Begin a call."""
    frames, noted, state, latest = walk.frames, walk.noted, walk.state, walk.latest
    if state[DEPTH] >= DEEPEST:
        state[BEYOND] += 1
        walk.paths.used[LEFT_OUT] += 1
        return
    place, top = state[FREE], state[TOP]
    if place >= 0:
        state[FREE] = frames.below[place]
    else:
        place = state[DEPTH]
    caller, depth = np.int64(UNKNOWN), np.int32(0)
    if top >= 0:
        caller, depth = np.int64(frames.path[top]), np.int32(frames.depth[top] + 1)
        frames.above[top] = place
    frames.above[place] = -1
    frames.below[place] = top
    frames.region[place] = region
    frames.path[place] = find_path(walk.paths, caller, region, latest[region] >= 0)
    frames.depth[place] = depth
    frames.begin[place] = frames.since[place] = state[TIME]
    frames.inside[place] = 0
    frames.former[place] = latest[region]
    noted.did[place] = NO_EVENT
    noted.handle[place] = noted.file[place] = noted.layer[place] = -1
    noted.aside[place] = UNDECIDED
    latest[region] = state[TOP] = place
    state[DEPTH] += 1


@inlined
def _taken_out(place: int | np.int64, now: int | np.int64, walk: Walk) -> int | np.int64:
    """Take a call out of the open ones, the latest of its region; give the ticks of the calls in it."""
    frames, state = walk.frames, walk.state
    below, above = frames.below[place], frames.above[place]
    inside = np.int64(frames.inside[place])
    walk.latest[frames.region[place]] = frames.former[place]
    if below >= 0:
        frames.above[below] = above
        frames.inside[below] += _within(frames.since[place], now, walk.edges)
    if above >= 0:
        inside += _within(frames.since[above], now, walk.edges)
        frames.since[above] = max(now, frames.since[above])
        frames.below[above] = below
    else:
        state[TOP] = below
    frames.below[place] = state[FREE]
    state[FREE] = place
    state[DEPTH] -= 1
    return inside


@inlined
def _aside(place: int | np.int64, walk: Walk) -> int:
    """Return whether an open call counts."""
    frames, does_io, aside = walk.frames, walk.functions.does_io, walk.noted.aside
    below = frames.below[place]
    if aside[place] != UNDECIDED:
        return int(aside[place])
    if not does_io[frames.region[place]]:
        return COUNTED
    if below >= 0 and does_io[frames.region[below]]:
        # It serves the call that it is in.
        return int(aside[below])
    return UNDECIDED


@inlined
def _group(place: int | np.int64, aside: int, walk: Walk) -> int | np.int64:
    """Return the group that the time of an open call belongs to."""
    frames, does_io, last = walk.frames, walk.functions.does_io, int(walk.shares.shape[1]) - 1
    region, below = frames.region[place], frames.below[place]
    if walk.noted.did[place] == COMPLETION:
        return last - 2
    if below >= 0 and does_io[frames.region[below]] and not does_io[region]:
        return last if walk.noted.aside[below] == ASIDE else last - 1
    return last if aside == ASIDE else np.int64(walk.functions.group[region])


@inlined
def _close(place: int | np.int64, walk: Walk, row: int) -> int:
    """End a call; give the next free row of those that ended."""
    frames, state, ended = walk.frames, walk.state, walk.ended
    now, region, path, begin = state[TIME], frames.region[place], frames.path[place], frames.begin[place]
    end, aside = max(now, begin), _aside(place, walk)
    group = _group(place, aside, walk)
    inside = _taken_out(place, now, walk)
    if not _counts(begin, end, walk.edges):
        return row
    first, last = max(begin, walk.edges.start), min(end, walk.edges.end)
    own = max(0, last - first - inside)
    if path >= 0:
        times = walk.paths.times
        times[path, aside, CALLS] += 1
        times[path, aside, WHOLE] += last - first
        times[path, aside, OWN] += own
    if aside != UNDECIDED:
        walk.shares[state[LOCATION] - state[FIRST], group] += own
    if walk.every or walk.functions.does_io[region]:
        ended.location[row] = state[LOCATION]
        ended.path[row] = path
        ended.depth[row] = frames.depth[place]
        ended.region[row] = region
        ended.begin[row] = first
        ended.end[row] = last
        ended.own[row] = own
        _copy(walk.did, row, walk.noted, place)
        walk.did.aside[row] = aside
        row += 1
    return row


@inlined
def _close_all(walk: Walk, row: int) -> int:
    while walk.state[TOP] >= 0:
        row = _close(walk.state[TOP], walk, row)
    return row


@inlined
def _note(event: int, events: Notes, walk: Walk) -> int | np.int64:
    """Let the innermost call know of an I/O event in it; give its path."""
    top = walk.state[TOP]
    if top < 0:
        return UNKNOWN
    region, did, known = walk.frames.region[top], events.did[event], walk.noted.did[top]
    if walk.functions.does_io[region] and did != NO_EVENT and known < TRANSFER:
        # Where a call makes handles of two layers, as fopen does, the one of its own layer says what it did.
        layer = walk.functions.layer[region]
        better = walk.noted.layer[top] != layer and events.layer[event] == layer
        if did >= TRANSFER or known == NO_EVENT or better:
            _copy(walk.noted, top, events, event)
            if did == COMPLETION:
                walk.noted.did[top] = TRANSFER
    completes = walk.functions.completes[region]
    if did == COMPLETION and completes >= 0 and completes == events.layer[event] and events.aside[event] == COUNTED:
        walk.noted.did[top] = COMPLETION
    return np.int64(max(walk.frames.path[top], UNKNOWN))


@compiled_uncounted
def walk_calls(
    location: Links, time: Ticks, events: Notes, crossings: RegionEvents, walk: Walk, found: Links, over: bool
) -> int:
    """Follow the calls of a batch; give the number of rows written to ``walk.ended``.

    A Leave ends the latest open call of its region, whatever was entered since: Score-P writes calls of helper threads
    into the location of the thread that they help. At any time the call entered last is the innermost. A Leave without
    an Enter does nothing. What is open when a location is over ends with its last time stamp.

    Parameters
    ----------
    location, time : int32 (events,), int64 (events,)
        Where and when I/O events of the batch happened.
    found : int32 (events,)
        Gets the path that each event happened in.
    over : bool
        Whether the last location of the batch is over with it.
    """
    row = event = crossing = 0
    state = walk.state
    while event < len(time) or crossing < len(crossings.time):
        is_event = crossing >= len(crossings.time) or (event < len(time) and crossings.position[crossing] > event)
        here = location[event] if is_event else crossings.location[crossing]
        if here != state[LOCATION]:
            row = _close_all(walk, row)
            state[LOCATION] = here
            state[BEYOND] = 0
        if is_event:
            state[TIME] = time[event]
            found[event] = _note(event, events, walk)
            event += 1
            continue
        state[TIME] = crossings.time[crossing]
        region = crossings.region[crossing]
        if crossings.enter[crossing]:
            _open(region, walk)
        elif state[BEYOND] > 0:
            state[BEYOND] -= 1
        elif walk.latest[region] >= 0:
            row = _close(walk.latest[region], walk, row)
        crossing += 1
    return _close_all(walk, row) if over else row


@compiled_uncounted
def insert_paths(parent: Links, region: Links, recursive: Mask, paths: Paths, places: Links) -> None:
    """Find the nodes of another tree in this one, which has room for all; `places` gets where they are."""
    for node in range(len(parent)):
        above = np.int64(UNKNOWN)
        if parent[node] >= 0:
            above = np.int64(places[parent[node]])
        places[node] = find_path(paths, above, region[node], recursive[node])
