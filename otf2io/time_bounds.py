"""Events that claim to be far outside of the trace's time: a damaged time stamp or clock offset, not a long run."""

from typing import Final

import numpy as np
import numpy.typing as npt

from ..model.damage import LocationDamage
from ..model.definitions import Clock, Definitions
from ..model.events import IoEvents

SLACK_SECONDS: Final = 3600
"""How far corrected clocks may move an event past the trace's edges."""

_LONGEST: Final = 2**61


def outside_reach(events: IoEvents, clock: Clock) -> npt.NDArray[np.intp]:
    """Return the rows of events more than an hour before the trace's start or behind its end."""
    slack = min(SLACK_SECONDS * clock.ticks_per_second, _LONGEST)
    last = min(clock.length, _LONGEST) + slack
    return np.flatnonzero((events.time < -slack) | (events.time > last))


def without_rows(events: IoEvents, rows: npt.NDArray[np.intp]) -> IoEvents:
    """Return the other rows."""
    kept = np.ones(len(events), np.bool_)
    kept[rows] = False
    return events.take(kept)


def reach_damage(
    damage: tuple[LocationDamage, ...],
    ignored: npt.NDArray[np.int64],
    counts: npt.NDArray[np.uint64],
    definitions: Definitions,
) -> tuple[LocationDamage, ...]:
    """Add to `damage` the locations of which events were left out; what is known of a location already stays.

    Parameters
    ----------
    damage : tuple of LocationDamage
    ignored : int64 (locations,)
        Number of I/O events left out.
    counts : uint64 (locations,)
        Number of all events read.
    definitions : Definitions
    """
    known = {one.row for one in damage}
    locations = definitions.locations
    added = [
        LocationDamage(
            int(locations.id[row]),
            row,
            int(locations.events[row]),
            int(counts[row]),
            f"{int(ignored[row])} of its I/O events claim to be more than an hour outside of the trace and are ignored",
        )
        for row in np.flatnonzero(ignored).tolist()
        if row not in known
    ]
    return tuple(sorted((*damage, *added), key=lambda one: one.row))
