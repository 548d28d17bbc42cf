"""What the flags that the walk leaves at a location mean, in words."""

import os

import numpy as np
import numpy.typing as npt

from . import walk_state as walk
from .anchor import Anchor
from .damage import LocationDamage
from .definitions import Definitions


def location_damage(
    anchor: Anchor, definitions: Definitions, states: npt.NDArray[np.int64]
) -> tuple[LocationDamage, ...]:
    """Describe the locations where something was lost or is doubtful.

    Parameters
    ----------
    anchor : Anchor
    definitions : Definitions
    states : int64 (locations, STATE_SIZE)
        As the walk left them.

    Returns
    -------
    tuple of LocationDamage
        In the order of the definitions.
    """
    locations = definitions.locations
    short = states[:, walk.EVENTS].astype(np.uint64) != locations.events
    found = []
    for row in np.flatnonzero((states[:, walk.DAMAGE] != 0) | short).tolist():
        identity = int(locations.id[row])
        promised = int(locations.events[row])
        read = int(states[row, walk.EVENTS])
        flags = int(states[row, walk.DAMAGE])
        reason = _reason(anchor, identity, flags, int(states[row, walk.PLACE]), read, promised)
        found.append(LocationDamage(identity, row, promised, read, reason))
    return tuple(found)


def _reason(anchor: Anchor, location: int, flags: int, place: int, read: int, promised: int) -> str:
    if flags & walk.NO_FILE:
        return _file_reason(anchor, location, "evt", "event file", "")
    if flags & walk.EMPTY:
        return "its event file is empty"
    meaning = ", so its ids and times mean nothing"
    if flags & walk.NO_DEFINITIONS:
        return _file_reason(anchor, location, "def", "definition file", meaning)
    if flags & walk.BAD_DEFINITIONS:
        return "its definition file is damaged" + meaning
    if flags & walk.NO_HEADER:
        reason = "its event file has no OTF2 header"
    elif flags & walk.UNREADABLE:
        reason = f"its event file cannot be read behind event {place}"
    elif flags & walk.GARBAGE:
        reason = f"its event file holds garbage after event {place}"
    elif flags & walk.BAD_CHUNK:
        reason = f"chunk {place} of its event file has no valid header"
    elif flags & walk.CUT:
        reason = "its event file is cut short"
    elif flags & walk.MORE:
        return f"its event file holds more events than the {promised} that the definitions promise"
    elif flags & walk.NO_END:
        reason = "its event file lacks its end"
    elif read != promised:
        return f"its event file holds {read} events, the definitions promise {promised}"
    else:
        return "its time stamps run backwards"
    return reason


def _file_reason(anchor: Anchor, location: int, suffix: str, what: str, meaning: str) -> str:
    path = anchor.base / f"{location}.{suffix}"
    try:
        os.close(os.open(path, os.O_RDONLY))
    except FileNotFoundError:
        return f"its {what} is missing{meaning}"
    except OSError as error:
        return f"its {what} cannot be read ({error.strerror}){meaning}"
    return f"its {what} could not be opened{meaning}"
