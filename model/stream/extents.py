"""When the locations of a trace begin and end, and which of them cannot be of the same run as the others."""

from typing import Final

import numpy as np
import numpy.typing as npt

from ..arrays import Frozen, Ints, Mask, Rows, Unsigned
from ..definitions import Clock
from ..quantities import seconds_text

_TOLERANCE: Final = 0.01
"""Seconds that corrected clocks may lead beyond the trace's edges: in recordings it is at most some 20 µs."""
_FAR_SHARE: Final = 0.1
"""Share of the trace up to which the definitions are imprecise where most locations lie outside."""
_SPREADS: Final = 10.0
"""Times that others spread: beyond it a process that begins and ends displaced alike has another clock."""
_FEWEST: Final = 4
"""Processes among which one can stand out from the others."""
_FEWEST_EVENTS: Final = 16
"""Events of a location that no other has at the same ticks by chance."""


_NUMBERS: Final = ("begin", "end", "owner", "synchronised", "resynchronised")
EXTENT: Final = np.dtype([*((name, np.int64) for name in _NUMBERS), ("print", np.uint64)])
"""What is known of the files of a location, times in ticks from the trace's start: first and last event; 1 where its
own definitions say that they are its process's, −1 where they say another's, 0 where they do not say; the first and
last clock offset, the last before the first where there are none; a fingerprint of the events, 0 where none is."""
_LONGEST: Final = 2**61
_FOREIGN: Final = "its definition file is of another process or run: ids, times and files may be another's"
_COPY: Final = "its event file begins as that of location {} does, to the tick: one is a copy"
NO_EXTENT: Final = (0, -1, 0, 0, -1, 0)


class Extents(Frozen):
    """What is known of the files of locations that have events, columns of shape (n,).

    Attributes
    ----------
    row, id, process, events
        Of the location: row in the definitions, id, number of its process, events read.
    first : bool
        Whether its process has the location of id 0, which needs not say whose its definitions are.
    known : EXTENT
    """

    clock: Clock
    row: Rows
    id: Unsigned
    process: Ints
    events: Ints
    first: Mask
    known: npt.NDArray[np.void]

    @classmethod
    def joined(cls, parts: "tuple[Extents, ...]") -> "Extents":
        """Return those of all parts, in the order of their rows."""
        order = np.argsort(np.concatenate([part.row for part in parts]), kind="stable")
        names = ("row", "id", "process", "events", "first", "known")
        columns = {name: np.concatenate([getattr(part, name) for part in parts])[order] for name in names}
        # What a damaged file claims stays where sums and differences fit.
        for name in ("begin", "end", "synchronised", "resynchronised"):
            columns["known"][name].clip(-_LONGEST, _LONGEST, out=columns["known"][name])
        return cls(parts[0].clock, **columns)

    def by_process(self, of: Ints, until: Ints) -> tuple[Ints, Ints, Ints]:
        """Return the least of `of` and the most of `until` of each process, and which process each location is of."""
        processes, number = np.unique(self.process, return_inverse=True)
        least, most = np.full(len(processes), 2**62), np.full(len(processes), -(2**62))
        np.minimum.at(least, number, of)
        np.maximum.at(most, number, until)
        return least, most, number


def contradictions(parts: tuple[Extents, ...], known: set[int]) -> dict[int, tuple[int, int, str]]:
    """Return the locations whose files are not of this run or have another clock: id, events and why, by row.

    Rows that are `known` for damage are left out.
    """
    if not parts:
        return {}
    extents = Extents.joined(parts)
    reasons: dict[int, str] = {}
    for place in np.flatnonzero(_foreign(extents)).tolist():
        reasons.setdefault(place, _FOREIGN)
    for place in np.flatnonzero(_outside(extents)).tolist():
        reasons.setdefault(place, _outside_text(extents, place))
    for place, other in _copies(extents):
        if not {int(extents.row[one]) for one in (place, other)} & known and other not in reasons:
            reasons.setdefault(place, _COPY.format(extents.id[other]))
    for place, displaced in _displaced(extents):
        early = "earlier" if displaced < 0 else "later"
        by = seconds_text(abs(displaced) / extents.clock.ticks_per_second)
        reasons.setdefault(place, f"its process begins and ends {by} {early} than the others: its clock may be off")
    return {
        int(extents.row[place]): (int(extents.id[place]), int(extents.events[place]), reason)
        for place, reason in sorted(reasons.items())
        if int(extents.row[place]) not in known
    }


def _foreign(extents: Extents) -> Mask:
    """Return whose definitions are those of another process or run."""
    owner, known = extents.known["owner"], extents.known
    # Who says nothing is the first process, or none does.
    silent = (owner == 0) & ~extents.first if owner.any() else np.zeros(len(owner), np.bool_)
    begin, end, number = extents.by_process(known["begin"], known["end"])
    # A clock is measured while its process runs.
    first, last = known["synchronised"], known["resynchronised"]
    apart = (first <= last) & ((last < begin[number]) | (first > end[number]))
    return np.asarray((owner < 0) | silent | apart, np.bool_)


def _outside(extents: Extents) -> Mask:
    """Return which begin or end outside of the trace."""
    clock = extents.clock
    if not 0 < clock.length < _LONGEST:
        return np.zeros(len(extents.row), np.bool_)
    beyond = np.maximum(-extents.known["begin"], extents.known["end"] - clock.length)
    found = beyond > _TOLERANCE * clock.ticks_per_second
    if 1 < len(found) < 2 * np.count_nonzero(found):
        found &= beyond > _FAR_SHARE * clock.length
    return np.asarray(found, np.bool_)


def _outside_text(extents: Extents, place: int) -> str:
    known, clock = extents.known[place], extents.clock
    ends = known["begin"], known["end"] - clock.length
    early, late = (seconds_text(abs(int(ticks)) / clock.ticks_per_second) for ticks in ends)
    where = [f"begin {early} before the trace"] if known["begin"] < 0 else []
    where += [f"end {late} after the trace"] if known["end"] > clock.length else []
    return f"its events {' and '.join(where)}: its clock is off, or it is of another run"


def _copies(extents: Extents) -> list[tuple[int, int]]:
    """Return pairs of locations with the same event file, where that is not what most have."""
    rows = np.flatnonzero((extents.events >= _FEWEST_EVENTS) & (extents.known["print"] > 0))
    _, first, number = np.unique(extents.known["print"][rows], return_index=True, return_inverse=True)
    again = np.setdiff1d(np.arange(len(rows)), first)
    if 2 * len(again) > len(rows):
        # Made by a program, or by a clock that ticks rarely.
        return []
    return [(int(rows[one]), int(rows[first[number[one]]])) for one in again.tolist()]


def _displaced(extents: Extents) -> list[tuple[int, float]]:
    """Return locations of processes that begin and end later or earlier than all others by about the same."""
    begin, end, number = extents.by_process(extents.known["begin"], extents.known["end"])
    if len(begin) < _FEWEST:
        return []
    at_begin, at_end = (one - np.median(one) for one in (begin, end))
    usual = max(float(np.sort(np.abs(one))[-2]) for one in (at_begin, at_end))
    least = max(_TOLERANCE * extents.clock.ticks_per_second, _SPREADS * usual)
    far = np.minimum(np.abs(at_begin), np.abs(at_end)) > least
    far &= (at_begin > 0) == (at_end > 0)
    return [(int(place), float(at_end[number[place]])) for place in np.flatnonzero(far[number]).tolist()]
