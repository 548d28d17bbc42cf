"""What the walk keeps of a location, and what the flags of damage that it leaves there mean, in words."""

import os
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...model.arrays import Ints, Rows
from ...model.definitions import Definitions
from ...model.kernels import inlined
from ...model.stream.damage import LocationDamage
from ..files import reasons
from ..files.anchor import Anchor

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
_REASONS: Final = (
    (EMPTY, reasons.EMPTY),
    (BAD_DEFINITIONS, reasons.BAD_DEFINITIONS),
    (NO_HEADER, reasons.NO_HEADER),
    (UNREADABLE, reasons.UNREADABLE),
    (GARBAGE, reasons.GARBAGE),
    (BAD_CHUNK, reasons.BAD_CHUNK),
    (CUT, reasons.CUT),
    (MORE, reasons.MORE),
    (NO_END, reasons.NO_END),
)
"""The first that is set tells best what is wrong with files that could be opened."""


class LocationState:
    """What the walk keeps of a location, as compiled loops see a row of an array of type `STATE`.

    Attributes
    ----------
    chunk : int64
        The next one.
    position : int64
        Number of the last event passed.
    events : int64
        Events read.
    expected : int64
        Events that the file should hold.
    checked : int64
        Whether the file itself was asked for them.
    stamp, first_stamp : uint64
        The last and the first time stamp.
    pending : uint64
        The offset in attributes whose event stands in the next chunk, ``2**64 − 1`` where there is none.
    latest : int64
        Time of the last I/O event.
    inside : int64
        Open regions of `Rules.around`.
    begin, end : int64
        Time of the first and the last of all events, once they have been walked.
    owner : int64
        As in `LocalIds`.
    synchronised, resynchronised : int64
        Time of the first and the last clock offset, the last before the first where there are fewer than two.
    print : uint64
        Fingerprint of the event file.
    damage : int64
        Flags.
    place : int64
        Where the first of them struck: events read before it, or a chunk.
    """

    chunk: np.int64
    position: np.int64
    events: np.int64
    expected: np.int64
    checked: np.int64
    stamp: np.uint64
    first_stamp: np.uint64
    pending: np.uint64
    latest: np.int64
    inside: np.int64
    begin: np.int64
    end: np.int64
    owner: np.int64
    synchronised: np.int64
    resynchronised: np.int64
    print: np.uint64
    damage: np.int64
    place: np.int64


STATE: Final = np.dtype(list(LocationState.__annotations__.items()))

States = npt.NDArray[np.void]


def new_states(promised: Ints) -> States:
    """Return the states of locations that have not been walked yet, `STATE` (locations,).

    Parameters
    ----------
    promised : int64 (locations,)
        Events that the definitions promise.
    """
    states = np.zeros(len(promised), STATE)
    states["latest"] = np.iinfo(np.int64).min
    states["expected"] = promised
    states["resynchronised"] = -1
    states["pending"] = np.iinfo(np.uint64).max
    return states


@inlined
def note(state: Any, flag: int, place: int | np.int64) -> None:
    """Add a flag of damage; `place` counts where it is the first loss."""
    if state.damage & _LOSSES == 0:
        state.place = place
    state.damage |= flag


def location_damage(anchor: Anchor, definitions: Definitions, states: States, rows: Rows) -> tuple[LocationDamage, ...]:
    """Describe which of the locations in `rows` have lost something or are damaged, in their order.

    Parameters
    ----------
    states : STATE (locations,)
        As the walk left them.
    """
    found = []
    damaged = (states["damage"][rows] != 0) | (states["events"][rows] != states["expected"][rows])
    for row in rows[damaged].tolist():
        identity = int(definitions.locations.id[row])
        state = dict(zip(STATE.names or (), states[row].tolist(), strict=True))
        reason = _reason(anchor, identity, state)
        found.append(LocationDamage(identity, row, state["expected"], state["events"], reason))
    return tuple(found)


def _reason(anchor: Anchor, location: int, state: dict[str, int]) -> str:
    if state["damage"] & NO_FILE:
        return _opening_reason(anchor.location_file(location, "evt"), "event", reasons.MISSING)
    if state["damage"] & NO_DEFINITIONS:
        return _opening_reason(anchor.location_file(location, "def"), "definition", reasons.NO_DEFINITIONS)
    other = reasons.BACKWARDS if state["events"] == state["expected"] else reasons.MISCOUNTED
    return next((text for flag, text in _REASONS if state["damage"] & flag), other).format_map(state)


def _opening_reason(path: Path, what: str, missing: str) -> str:
    try:
        os.close(os.open(path, os.O_RDONLY))
    except FileNotFoundError:
        return missing
    except OSError as error:
        return reasons.unopened(what, error)
    return reasons.unopened(what, None)
