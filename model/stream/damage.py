"""What an archive has lost: a report of it, per location."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final

from ..document import Document, keys_of
from ..errors import TraceError


@dataclass(frozen=True)
class LocationDamage:
    """Loss at one location: `location` is its OTF2 id, `row` its row in the definitions, counts are of all events.

    Both are −1 where it is not known which location has lost something. What is `inherited` had been lost before the
    trace was converted to what was read.
    """

    location: int
    row: int
    events_expected: int
    events_read: int
    reason: str
    inherited: bool = False

    @property
    def place(self) -> str:
        """The location in words."""
        return f"location {self.location}" if self.row >= 0 else "location unknown"


@dataclass(frozen=True)
class DamageReport:
    """Events that should be there and events that were read, over all locations and where they differ.

    Attributes
    ----------
    events_expected : int
        Events that the definitions promise; those of the files where the definitions are wrong.
    miscounted : int
        Locations for which they are: no event file holds what is promised, or nothing is. Nothing is lost.
    cuts : int
        How often a process had to be cut, for want of memory, at a moment at which operations were in flight.
    given_up : int
        Operations that were given up as never completed because more were in flight than the memory allows.
    irregular : mapping of str to int
        Rows that count although they are odd, by what is odd about them: of no bytes, of no duration.
    """

    events_expected: int
    events_read: int
    locations: tuple[LocationDamage, ...]
    miscounted: int = 0
    cuts: int = 0
    given_up: int = 0
    irregular: Mapping[str, int] = field(default_factory=dict)

    @property
    def damaged(self) -> bool:
        """Whether anything was lost or is damaged."""
        return bool(self.locations)

    def check_something_read(self, path: Path) -> None:
        """Do nothing unless all of the events of the archive at `path` are lost.

        Inherited losses do not count: what was converted could be read.

        Raises
        ------
        TraceError
            If they are.
        """
        lost = [one for one in self.locations if not one.inherited]
        if lost and not self.events_read:
            first = lost[0]
            raise TraceError(
                f"{path}: none of the {self.events_expected} events can be read "
                f"({first.place}: {first.reason}); copy the archive again"
            )


_LOST: Final = {"location": int | None, **keys_of(int, "events_expected events_read"), "reason": str}
DAMAGE: Final = {
    "damaged": bool,
    **keys_of(int, "events_expected events_read"),
    "locations": list[Annotated[Document, _LOST]],
    **keys_of(int, "miscounted_locations? cuts? given_up_operations?"),
    "irregular_rows?": dict[str, int],
}


def damage_entry(report: DamageReport) -> Annotated[Document, DAMAGE]:
    """Return the object ``damage``."""
    noted = {"miscounted_locations": report.miscounted, "cuts": report.cuts, "given_up_operations": report.given_up}
    return {
        "damaged": report.damaged,
        "events_expected": report.events_expected,
        "events_read": report.events_read,
        "locations": [
            {
                "location": damage.location if damage.row >= 0 else None,
                "events_expected": damage.events_expected,
                "events_read": damage.events_read,
                "reason": damage.reason,
            }
            for damage in report.locations
        ],
        **{name: count for name, count in noted.items() if count},
        **({"irregular_rows": dict(report.irregular)} if report.irregular else {}),
    }
