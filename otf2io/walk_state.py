"""How far the walk of a location has come and what damage it met: a row of numbers that compiled loops keep."""

from typing import Final

import numpy as np
import numpy.typing as npt

from .compiled import inlined

CHUNK, POSITION, EVENTS, STAMP, FIRST_STAMP, LATEST, DAMAGE, PLACE = range(8)
"""Columns: next chunk, number of the last event passed, events read, last and first time stamp (their bits), time of
the last I/O event, flags of damage, and where the first of them struck (events read before it, or a chunk)."""

STATE_SIZE: Final = 8

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


def new_states(locations: int) -> npt.NDArray[np.int64]:
    """Return the states of locations that have not been walked yet, int64 (locations, STATE_SIZE)."""
    states = np.zeros((locations, STATE_SIZE), np.int64)
    states[:, LATEST] = np.iinfo(np.int64).min
    return states


@inlined
def note(state: npt.NDArray[np.int64], flag: int, place: int | np.int64) -> None:
    """Add a flag of damage; `place` counts where it is the first loss."""
    if state[DAMAGE] & _LOSSES == 0:
        state[PLACE] = place
    state[DAMAGE] |= flag
