"""What can be wrong with the files of a location, in words: the same whichever engine reads them."""

from typing import Final

_MEANINGLESS: Final = ", so its ids and times mean nothing"

MISSING: Final = "its event file is missing"
EMPTY: Final = "its event file is empty"
NO_HEADER: Final = "its event file has no OTF2 header"
UNREADABLE: Final = "its event file cannot be read behind event {place}"
GARBAGE: Final = "its event file holds garbage after event {place}"
BAD_CHUNK: Final = "chunk {place} of its event file has no valid header"
CUT: Final = "its event file is cut short"
MORE: Final = "its event file holds more events than the {expected} that the definitions promise"
NO_END: Final = "its event file lacks its end"
MISCOUNTED: Final = "its event file holds {events} events, the definitions promise {expected}"
BACKWARDS: Final = "its time stamps run backwards"
NO_DEFINITIONS: Final = f"its definition file is missing{_MEANINGLESS}"
BAD_DEFINITIONS: Final = f"its definition file is damaged{_MEANINGLESS}"


def other_count(events: int, promised: int) -> str:
    """Return what a file that is sound as such and holds another number of events than is promised may be."""
    told = MISCOUNTED.format(events=events, expected=promised)
    return f"{told}: it belongs elsewhere, or a part of it is missing"


def unopened(what: str, error: OSError | None) -> str:
    """Return why a file could not be opened; `error` is that of another attempt, None where it succeeded."""
    why = f"cannot be read ({error.strerror})" if error else "could not be opened"
    return f"its {what} file {why}{_MEANINGLESS if what == 'definition' else ''}"
