"""What the walk keeps of a location, and what the flags that it leaves there mean, in words."""

import os
from typing import Final

import numpy as np
import numpy.typing as npt

from ...model.definitions import Definitions
from ...model.kernels import inlined
from ...model.stream.damage import LocationDamage
from ..files.anchor import Anchor


def location_damage(
    anchor: Anchor, definitions: Definitions, states: npt.NDArray[np.int64], rows: npt.NDArray[np.intp]
) -> tuple[LocationDamage, ...]:
    """Describe which of the locations in `rows` have lost something or are damaged.

    Parameters
    ----------
    states : int64 (locations, STATE_SIZE)
        As the walk left them.

    Returns
    -------
    tuple of LocationDamage
        In the order of `rows`.
    """
    found = []
    damaged = (states[rows, DAMAGE] != 0) | (states[rows, EVENTS] != states[rows, EXPECTED])
    for row in rows[damaged].tolist():
        identity = int(definitions.locations.id[row])
        promised = int(states[row, EXPECTED])
        read = int(states[row, EVENTS])
        flags = int(states[row, DAMAGE])
        reason = _reason(anchor, identity, flags, int(states[row, PLACE]), read, promised)
        found.append(LocationDamage(identity, row, promised, read, reason))
    return tuple(found)


def _reason(anchor: Anchor, location: int, flags: int, place: int, read: int, promised: int) -> str:
    if flags & NO_FILE:
        return _file_reason(anchor, location, "evt", "event file", "")
    if flags & EMPTY:
        return "its event file is empty"
    meaning = ", so its ids and times mean nothing"
    if flags & NO_DEFINITIONS:
        return _file_reason(anchor, location, "def", "definition file", meaning)
    if flags & BAD_DEFINITIONS:
        return "its definition file is damaged" + meaning
    if flags & NO_HEADER:
        reason = "its event file has no OTF2 header"
    elif flags & UNREADABLE:
        reason = f"its event file cannot be read behind event {place}"
    elif flags & GARBAGE:
        reason = f"its event file holds garbage after event {place}"
    elif flags & BAD_CHUNK:
        reason = f"chunk {place} of its event file has no valid header"
    elif flags & CUT:
        reason = "its event file is cut short"
    elif flags & MORE:
        return f"its event file holds more events than the {promised} that the definitions promise"
    elif flags & NO_END:
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


CHUNK, POSITION, EVENTS, STAMP, FIRST_STAMP, LATEST, DAMAGE, PLACE, EXPECTED, CHECKED, PENDING = range(11)
"""Columns: next chunk, number of the last event passed, events read, last and first time stamp (their bits), time of
the last I/O event, flags of damage, and where the first of them struck (events read before it, or a chunk); events that
the file should hold, and whether the file itself was asked for them; the offset in attributes (its bits) whose event
stands in the next chunk, −1 where there is none."""

STATE_SIZE: Final = 11

NO_FILE: Final = 1
EMPTY: Final = 2
NO_HEADER: Final = 4
BAD_CHUNK: Final = 8
GARBAGE: Final = 16
CUT: Final = 32
NO_END: Final = 64
MORE: Final = 128
UNREADABLE: Final = 256
NO_DEFINITIONS: Final = 512
BAD_DEFINITIONS: Final = 1024
BACKWARDS: Final = 2048

_LOSSES: Final = NO_HEADER | BAD_CHUNK | GARBAGE | CUT | UNREADABLE


def new_states(promised: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the states of locations that have not been walked yet, int64 (locations, STATE_SIZE).

    Parameters
    ----------
    promised : int64 (locations,)
        Events that the definitions promise.
    """
    states = np.zeros((len(promised), STATE_SIZE), np.int64)
    states[:, LATEST] = np.iinfo(np.int64).min
    states[:, EXPECTED] = promised
    states[:, PENDING] = -1
    return states


@inlined
def note(state: npt.NDArray[np.int64], flag: int, place: int | np.int64) -> None:
    """Add a flag of damage; `place` counts where it is the first loss."""
    if state[DAMAGE] & _LOSSES == 0:
        state[PLACE] = place
    state[DAMAGE] |= flag
