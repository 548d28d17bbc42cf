"""Compiled: a walk along Enter and Leave that gives each call with its depth and what its I/O was on."""

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ....model.kernels import compiled

LOCATION, DEPTH, TIME, STATE_SIZE = range(4)
"""What a state holds: row of the location, open calls, the last time stamp."""
_TRANSFERS: Final = 3
"""Kinds of transfers are 1 to this, as in ``STACK_KINDS``; 0 is none."""


class Frames(NamedTuple):
    """Open calls of the present location, the outermost first; `level` is the depth at which a call was entered."""

    region: npt.NDArray[np.int32]
    begin: npt.NDArray[np.int64]
    level: npt.NDArray[np.int32]
    handle: npt.NDArray[np.int32]
    layer: npt.NDArray[np.int32]
    kind: npt.NDArray[np.uint8]


class Bars(NamedTuple):
    """Calls that have ended; columns that the walk fills."""

    location: npt.NDArray[np.int32]
    depth: npt.NDArray[np.int32]
    region: npt.NDArray[np.int32]
    handle: npt.NDArray[np.int32]
    kind: npt.NDArray[np.uint8]
    begin: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]


@compiled
def _end(place: int, now: int, frames: Any, state: Any, bars: Any, row: int) -> int:
    """Write the call at a place and take it out of the open ones."""
    bars.location[row] = state[LOCATION]
    bars.depth[row] = frames.level[place]
    bars.region[row] = frames.region[place]
    bars.handle[row] = frames.handle[place]
    bars.kind[row] = frames.kind[place]
    bars.begin[row] = frames.begin[place]
    bars.end[row] = max(now, frames.begin[place])
    for later in range(place, state[DEPTH] - 1):
        frames.region[later] = frames.region[later + 1]
        frames.begin[later] = frames.begin[later + 1]
        frames.level[later] = frames.level[later + 1]
        frames.handle[later] = frames.handle[later + 1]
        frames.layer[later] = frames.layer[later + 1]
        frames.kind[later] = frames.kind[later + 1]
    state[DEPTH] -= 1
    return row + 1


@compiled
def walk(events: Any, crossings: Any, layer_of: Any, frames: Any, state: Any, bars: Any, over: bool) -> int:
    """Follow the calls of a batch; give the number of rows written to `bars`.

    A Leave ends the latest open call of its region, as in `iostrata.layers.attribution.calls.kernel.walk_calls`. An I/O
    event belongs to the innermost open call where that does I/O: a transfer before anything else, and of handles of
    several layers the one of the function's own layer.

    Parameters
    ----------
    events : (location, time, kind, handle, layer)
        Columns of I/O events; kinds as in ``STACK_KINDS``, 0 for those that do not count.
    crossings : (location, time, region, enter, position)
        Columns of Enter and Leave.
    layer_of : int32 (regions,)
        Layer of a function of I/O, −1 where it is not known, −2 of all other functions.
    """
    event_location, event_time, event_kind, event_handle, event_layer = events
    location_of, times, region_of, enter, position = crossings
    row = event = crossing = 0
    while event < len(event_time) or crossing < len(times):
        is_event = crossing >= len(times) or (event < len(event_time) and position[crossing] > event)
        location = event_location[event] if is_event else location_of[crossing]
        time = event_time[event] if is_event else times[crossing]
        if location != state[LOCATION]:
            while state[DEPTH] > 0:
                row = _end(state[DEPTH] - 1, state[TIME], frames, state, bars, row)
            state[LOCATION] = location
        state[TIME] = time
        if is_event:
            top, kind = state[DEPTH] - 1, event_kind[event]
            if top >= 0 and kind > 0 and layer_of[frames.region[top]] >= -1:
                transfer, known = kind <= _TRANSFERS, frames.kind[top]
                own = layer_of[frames.region[top]]
                better = frames.layer[top] != own and event_layer[event] == own
                if known == 0 or (transfer and known > _TRANSFERS) or (not transfer and known > _TRANSFERS and better):
                    frames.kind[top] = kind
                    frames.handle[top] = event_handle[event]
                    frames.layer[top] = event_layer[event]
            event += 1
            continue
        region = region_of[crossing]
        if enter[crossing]:
            place = state[DEPTH]
            if place < len(frames.region):
                frames.region[place] = region
                frames.begin[place] = time
                frames.level[place] = 0 if place == 0 else frames.level[place - 1] + 1
                frames.handle[place] = -1
                frames.layer[place] = -1
                frames.kind[place] = 0
                state[DEPTH] += 1
        else:
            place = state[DEPTH] - 1
            while place >= 0 and frames.region[place] != region:
                place -= 1
            if place >= 0:
                row = _end(place, time, frames, state, bars, row)
        crossing += 1
    if over:
        while state[DEPTH] > 0:
            row = _end(state[DEPTH] - 1, state[TIME], frames, state, bars, row)
    return row
