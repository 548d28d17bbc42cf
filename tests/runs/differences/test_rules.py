"""Which changes break a rule that names no quantity, and how runs are put in order."""

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from iostrata import SelectionError
from iostrata.runs.differences.history import in_order
from iostrata.runs.differences.rules import FailRule

CHANGES = [
    SimpleNamespace(id=name, good=good, text=f"{name} {good}")
    for name in ("time", "finding:few-stripes")
    for good in (-1, 0, 1)
]


@pytest.mark.parametrize(
    ("rule", "broken"),
    [
        ("worse", ["time -1", "finding:few-stripes -1"]),
        ("finding", ["finding:few-stripes -1"]),
        ("changed", [one.text for one in CHANGES]),
    ],
)
def test_a_rule_is_broken_by_what_is_worse_or_came_or_by_anything(rule, broken):
    assert list(FailRule(rule).broken_by(SimpleNamespace(mattering=CHANGES, changes=[]))) == broken
    with pytest.raises(SelectionError):
        FailRule(f"{rule}r")


def test_runs_are_in_the_order_of_their_starts_or_of_their_keys_where_one_is_not_known():
    def run(job, day, usable=True):
        start = None if day is None else datetime(2026, 1, day, tzinfo=UTC)
        return SimpleNamespace(job=SimpleNamespace(job=job, start_utc=start, usable=usable))

    runs = [run("a", 3), run("c", 1), run("b", 2), run("d", 1, usable=False)]
    assert [one.job.job for one in in_order(runs)] == ["c", "b", "a"]
    assert [one.job.job for one in in_order([*runs, run("0", None)])] == ["0", "a", "b", "c"]
