"""The function in which each I/O event happened, by a compiled walk along Enter and Leave."""

import numpy as np

from ...model.arrays import Ints, Links, Mask
from ...model.kernels import compiled
from ..definitions.regions import IoRegions
from .walk import RegionEvents


def event_functions(location: Links, entered: RegionEvents, regions: IoRegions) -> Links:
    """Return the row in `regions` of the function in which each event happened, −1 where there is none.

    A Leave closes the latest open Enter of its function, whatever was entered since: events need not be well nested.

    Parameters
    ----------
    location : int32 (n,)
        Location of each I/O event.
    entered : RegionEvents
        Of the same read; of functions in `regions` only.
    """
    return innermost_regions(
        location,
        entered.location,
        np.searchsorted(regions.id, entered.region).astype(np.int32),
        entered.enter,
        entered.position,
        len(regions.id),
        int(np.bincount(entered.location).max(initial=0)),
    )


@compiled
def innermost_regions(
    event_location: Links, location: Links, region: Links, enter: Mask, position: Ints, regions: int, room: int
) -> Links:
    """Return for each event the region entered last on its location and not left, −1 where there is none.

    A Leave closes the latest open Enter of its region, whatever was entered since; one without an Enter does nothing.

    Parameters
    ----------
    event_location : int32 (n,)
        Location of each event; the events of one location stand together.
    location, region : int32 (m,)
        Of each Enter and Leave; the locations stand in the order of `event_location`. Regions from 0 on.
    enter : bool (m,)
        False for Leave.
    position : int64 (m,)
        Row of the event that each stands before, non-decreasing.
    regions : int
        Number of regions.
    room : int
        Number of Enter and Leave of the location with most of them.

    Returns
    -------
    int32 (n,)

    Notes
    -----
    O(n + m + regions), however many Enters stay open: they form a list linked in both directions, from which a Leave
    takes its Enter out, wherever it stands.
    """
    found = np.full(event_location.size, -1, np.int32)
    below = np.empty(room, np.int64)
    above = np.empty(room, np.int64)
    same_before = np.empty(room, np.int64)
    entered = np.empty(room, np.int32)
    latest = np.full(regions, -1, np.int64)
    top = -1
    current = -1
    first = 0
    row = 0
    for event in range(event_location.size + 1):
        while row < location.size and position[row] <= event:
            if location[row] != current:
                while top >= 0:
                    latest[entered[top]] = -1
                    top = below[top]
                current = location[row]
                first = row
            key = region[row]
            if enter[row]:
                place = row - first
                entered[place] = key
                below[place] = top
                above[place] = -1
                if top >= 0:
                    above[top] = place
                same_before[place] = latest[key]
                latest[key] = place
                top = place
            elif latest[key] >= 0:
                place = latest[key]
                latest[key] = same_before[place]
                if below[place] >= 0:
                    above[below[place]] = above[place]
                if above[place] >= 0:
                    below[above[place]] = below[place]
                else:
                    top = below[place]
            row += 1
        if event < event_location.size and event_location[event] == current and top >= 0:
            found[event] = entered[top]
    return found
