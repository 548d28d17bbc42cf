"""The compiled walk along Enter and Leave: the stack of open calls, the tree of call paths, the calls that do I/O.

The module needs numba; import it inside the function that uses it.
"""

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ....model.arrays import Ints, Links, Mask, Ticks
from ....model.kernels import compiled_uncounted, hashed, inlined

UNKNOWN: Final = -1
"""The path of what happens outside of any call."""
FOLDED: Final = -2
"""The path of calls beyond those that a tree has room for."""
MOST_PATHS: Final = 1 << 20
DEEPEST: Final = 1 << 20
"""Calls that may be open at once; further ones do not count."""

DEPTH, LOCATION, TIME, BEYOND, PATHS, LEFT_OUT, TOP, FREE, STATE_SIZE = range(9)
"""What a state holds: open calls, row of the location, its last time, open calls beyond `DEEPEST`, paths, calls that
found no room for a path, the place of the innermost call, and a free place among those used before; −1 for none."""

NO_EVENT: Final = 0
TRANSFER: Final = 75
"""What a call did: no I/O event of its own, the record of its first metadata event, or a transfer or flush."""
_FIRST_TRANSFER, _LAST_TRANSFER = 75, 79

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
    """

    parent: Links
    region: Links
    recursive: Mask
    times: Ints
    table: Links


class Frames(NamedTuple):
    """Open calls of the present location, a list linked in both directions; columns of the same length.

    Attributes
    ----------
    region, path : int32
    begin, since, inside : int64
        When it was entered; since when its time is that of the call below it; ticks of the calls in it so far.
    former, below, above : int64
        Places of the open call of the same region before it, and of its neighbours; −1 for none. Of a free place,
        `below` is the next free one.
    did : uint8
        `NO_EVENT`, `TRANSFER` or the record of a metadata event.
    handle, file, layer : int32
        What that was on.
    aside : uint8
    """

    region: Links
    path: Links
    begin: Ticks
    since: Ticks
    inside: Ticks
    former: Ints
    below: Ints
    above: Ints
    did: npt.NDArray[np.uint8]
    handle: Links
    file: Links
    layer: Links
    aside: npt.NDArray[np.uint8]


class Calls(NamedTuple):
    """Calls that do I/O, within the window; columns that the walk fills."""

    location: Links
    path: Links
    region: Links
    begin: Ticks
    end: Ticks
    own: Ticks
    did: npt.NDArray[np.uint8]
    handle: Links
    file: Links
    layer: Links
    aside: npt.NDArray[np.uint8]


class Events(NamedTuple):
    """I/O events of a batch with what they are on."""

    location: Links
    kind: npt.NDArray[np.uint8]
    time: Ticks
    handle: Links
    file: Links
    layer: Links
    aside: npt.NDArray[np.uint8]


class Crossings(NamedTuple):
    """Enter and Leave of a batch; `region` is a row, `position` the I/O event that follows."""

    location: Links
    time: Ticks
    region: Links
    enter: Mask
    position: Ints


class Functions(NamedTuple):
    """What is known of each region: whether it does I/O, its layer (−1 for none) and the group its time belongs to."""

    does_io: Mask
    layer: Links
    group: Links


class Limits(NamedTuple):
    """Window in ticks, and whether its end belongs to it."""

    start: int
    end: int
    closed: bool


@inlined
def find_path(
    paths: Paths, state: Ints, parent: int | np.int64, region: int, recursive: bool, seed: np.uint64
) -> int | np.int64:
    """Return the node of a region below another node, if need be a new one; `FOLDED` where there is no room."""
    if parent == FOLDED:
        state[LEFT_OUT] += 1
        return FOLDED
    mask = len(paths.table) - 1
    key = (np.uint64(parent + 1) << np.uint64(32)) | np.uint64(region)
    place = np.int64(hashed(key, seed)) & mask
    while paths.table[place] >= 0:
        node = paths.table[place]
        if paths.parent[node] == parent and paths.region[node] == region:
            return np.int64(node)
        place = (place + 1) & mask
    node = state[PATHS]
    if node >= MOST_PATHS:
        state[LEFT_OUT] += 1
        return FOLDED
    state[PATHS] += 1
    paths.table[place] = node
    paths.parent[node] = parent
    paths.region[node] = region
    paths.recursive[node] = recursive
    paths.times[node] = 0
    return np.int64(node)


@inlined
def _within(begin: int | np.int64, end: int | np.int64, limits: Limits) -> int | np.int64:
    return max(0, min(end, limits.end) - max(begin, limits.start))


@inlined
def _close(
    place: int | np.int64,
    now: int | np.int64,
    paths: Paths,
    frames: Frames,
    state: Ints,
    latest: Ints,
    functions: Functions,
    limits: Limits,
    shares: Ints,
    first_location: int,
    calls: Calls,
    row: int,
) -> int:
    """End a call, the latest of its region; give the next free row of `calls`."""
    region, below, above = frames.region[place], frames.below[place], frames.above[place]
    latest[region] = frames.former[place]
    inside = frames.inside[place]
    if below >= 0:
        frames.above[below] = above
        frames.inside[below] += _within(frames.since[place], now, limits)
    if above >= 0:
        inside += _within(frames.since[above], now, limits)
        frames.since[above] = max(now, frames.since[above])
        frames.below[above] = below
    else:
        state[TOP] = below
    frames.below[place] = state[FREE]
    state[FREE] = place
    state[DEPTH] -= 1
    begin = frames.begin[place]
    end = max(now, begin)
    first, last = max(begin, limits.start), min(end, limits.end)
    if end > begin:
        counts = first < last
    else:
        counts = limits.start <= begin and (begin < limits.end or (limits.closed and begin == limits.end))
    if not counts:
        return row
    does_io = functions.does_io[region]
    aside = frames.aside[place]
    if aside == UNDECIDED:
        if not does_io:
            aside = COUNTED
        elif below >= 0 and functions.does_io[frames.region[below]]:
            # It serves the call that it is in.
            aside = frames.aside[below]
    own = max(0, last - first - inside)
    path = frames.path[place]
    if path >= 0:
        paths.times[path, aside, CALLS] += 1
        paths.times[path, aside, WHOLE] += last - first
        paths.times[path, aside, OWN] += own
    if aside != UNDECIDED:
        group = shares.shape[1] - 1 if aside == ASIDE else functions.group[region]
        shares[state[LOCATION] - first_location, group] += own
    if does_io:
        calls.location[row] = state[LOCATION]
        calls.path[row] = path
        calls.region[row] = region
        calls.begin[row] = first
        calls.end[row] = last
        calls.own[row] = own
        calls.did[row] = frames.did[place]
        calls.handle[row] = frames.handle[place]
        calls.file[row] = frames.file[place]
        calls.layer[row] = frames.layer[place]
        calls.aside[row] = aside
        row += 1
    return row


@inlined
def _note(event: int, events: Events, frames: Frames, state: Ints, functions: Functions) -> None:
    """Let the innermost call know of an I/O event in it."""
    top = state[TOP]
    region = frames.region[top]
    if not functions.does_io[region]:
        return
    kind = events.kind[event]
    if _FIRST_TRANSFER <= kind <= _LAST_TRANSFER:
        if frames.did[top] != TRANSFER:
            frames.did[top] = TRANSFER
            frames.aside[top] = events.aside[event]
            frames.handle[top] = events.handle[event]
            frames.file[top] = events.file[event]
            frames.layer[top] = events.layer[event]
        return
    # Where a call makes handles of two layers, as fopen does, the one of its own layer says what it did.
    layer = functions.layer[region]
    better = frames.layer[top] != layer and events.layer[event] == layer
    if frames.did[top] == NO_EVENT or (frames.did[top] != TRANSFER and better):
        frames.did[top] = kind
        frames.aside[top] = events.aside[event]
        frames.handle[top] = events.handle[event]
        frames.file[top] = events.file[event]
        frames.layer[top] = events.layer[event]


@compiled_uncounted
def walk_calls(
    events: Events,
    crossings: Crossings,
    paths: Paths,
    frames: Frames,
    state: Ints,
    latest: Ints,
    functions: Functions,
    limits: Limits,
    shares: Ints,
    first_location: int,
    calls: Calls,
    found: Links,
    seed: np.uint64,
    over: bool,
) -> int:
    """Follow the calls of a batch; give the number of rows written to `calls`.

    A Leave ends the latest open call of its region, whatever was entered since: Score-P writes calls of helper threads
    into the location of the thread that they help. At any time the call entered last is the innermost. A Leave without
    an Enter does nothing. What is open when a location is over ends with its last time stamp.

    Parameters
    ----------
    paths, frames, calls
        With room for as many more rows as there are Enters, `calls` for those that are open too.
    state : int64
        As the batch before left it.
    latest : int64 (regions,)
        Place of the latest open call of each region, −1 for none.
    shares : int64 (locations, groups+1)
        Ticks by location from `first_location` on and group; the last one is of calls that are set aside. Undecided
        calls are in none.
    found : int32 (events,)
        Gets the path that each event happened in.
    over : bool
        Whether the last location of the batch is over with it.
    """
    row = 0
    crossing = 0
    count = len(events.kind)
    crossed = len(crossings.time)
    event = 0
    while event < count or crossing < crossed:
        is_event = crossing >= crossed or (event < count and crossings.position[crossing] > event)
        if is_event:
            location, time = events.location[event], events.time[event]
        else:
            location, time = crossings.location[crossing], crossings.time[crossing]
        if location != state[LOCATION]:
            while state[TOP] >= 0:
                row = _close(
                    state[TOP], state[TIME], paths, frames, state, latest, functions, limits, shares, first_location,
                    calls, row,
                )  # fmt: skip
            state[LOCATION] = location
            state[BEYOND] = 0
        state[TIME] = time
        if is_event:
            found[event] = UNKNOWN
            if state[TOP] >= 0:
                found[event] = max(frames.path[state[TOP]], UNKNOWN)
                _note(event, events, frames, state, functions)
            event += 1
            continue
        region = crossings.region[crossing]
        if crossings.enter[crossing]:
            if state[DEPTH] >= DEEPEST:
                state[BEYOND] += 1
                state[LEFT_OUT] += 1
            else:
                place = state[FREE]
                if place >= 0:
                    state[FREE] = frames.below[place]
                else:
                    place = state[DEPTH]
                top = state[TOP]
                caller = np.int64(UNKNOWN)
                frames.above[place] = -1
                if top >= 0:
                    caller = np.int64(frames.path[top])
                    frames.above[top] = place
                frames.below[place] = top
                frames.region[place] = region
                frames.path[place] = find_path(paths, state, caller, region, latest[region] >= 0, seed)
                frames.begin[place] = time
                frames.since[place] = time
                frames.inside[place] = 0
                frames.former[place] = latest[region]
                frames.did[place] = NO_EVENT
                frames.handle[place] = -1
                frames.file[place] = -1
                frames.layer[place] = -1
                frames.aside[place] = UNDECIDED
                latest[region] = place
                state[TOP] = place
                state[DEPTH] += 1
        elif state[BEYOND] > 0:
            state[BEYOND] -= 1
        elif latest[region] >= 0:
            row = _close(
                latest[region], time, paths, frames, state, latest, functions, limits, shares, first_location, calls,
                row,
            )  # fmt: skip
        crossing += 1
    if over:
        while state[TOP] >= 0:
            row = _close(
                state[TOP], state[TIME], paths, frames, state, latest, functions, limits, shares, first_location,
                calls, row,
            )  # fmt: skip
    return row


@compiled_uncounted
def insert_paths(
    parent: Links, region: Links, recursive: Mask, paths: Paths, state: Ints, places: Links, seed: np.uint64
) -> None:
    """Find the nodes of another tree in this one, which has room for all; `places` gets where they are."""
    for node in range(len(parent)):
        above = np.int64(UNKNOWN)
        if parent[node] >= 0:
            above = np.int64(places[parent[node]])
        places[node] = find_path(paths, state, above, region[node], recursive[node], seed)
