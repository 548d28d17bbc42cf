"""What an archive has lost: a report of it, per location."""

from dataclasses import dataclass


@dataclass(frozen=True)
class LocationDamage:
    """Loss at one location: `location` is its OTF2 id, `row` its row in the definitions, counts are of all events."""

    location: int
    row: int
    events_expected: int
    events_read: int
    reason: str


@dataclass(frozen=True)
class DamageReport:
    """Events that the definitions promise and events that were read, over all locations and where they differ."""

    events_expected: int
    events_read: int
    locations: tuple[LocationDamage, ...]

    @property
    def damaged(self) -> bool:
        """Whether anything was lost or is doubtful."""
        return bool(self.locations)
