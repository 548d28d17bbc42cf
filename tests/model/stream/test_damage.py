"""What damage is called, and when nothing is left."""

from pathlib import Path

import pytest
from iostrata import TraceError
from iostrata.model.stream.damage import DamageReport, LocationDamage, damage_entry

FIRST, NOWHERE = LocationDamage(7, 0, 5, 0, "cut"), LocationDamage(-1, -1, 5, 0, "cut")


def test_the_first_location_has_a_name_and_what_is_nowhere_has_none():
    assert (FIRST.place, NOWHERE.place) == ("location 7", "location unknown")
    found = damage_entry(DamageReport(10, 0, (FIRST, NOWHERE)))
    assert [one["location"] for one in found["locations"]] == [7, None]
    assert found["damaged"]


@pytest.mark.parametrize("read", [0, 1])
@pytest.mark.parametrize("lost", [(), (FIRST,), (LocationDamage(7, 0, 5, 0, "cut", inherited=True),)])
def test_an_archive_of_which_all_is_lost_is_refused_and_no_other(read, lost):
    report = DamageReport(5, read, lost)
    if lost == (FIRST,) and not read:
        with pytest.raises(TraceError, match=r"none of the 5 events can be read \(location 7: cut\)"):
            report.check_something_read(Path("a"))
    else:
        report.check_something_read(Path("a"))
