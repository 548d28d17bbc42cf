"""What is compared of a layer: each number by the row that it is taken from, and which way is the good one."""

import math
from dataclasses import replace

import pytest
from iostrata.runs.collection.rows import LayerRow
from iostrata.runs.differences.quantities import COUNTED, FLUSHED, JUDGED, QUANTITIES, RECURRING, TIMED

ROW = LayerRow(
    job="a", layer="POSIX", direction="write", operations=8, bytes=100.0, busy_s=3.0, slowest_s=2.0, bandwidth=50.0,
    files=5, ranks=4, collective_operations=2, non_blocking_operations=6, seeks=7, request_p50=12, imbalance=1.5,
    amplification=1.25, period_s=9.0, phases=11,
)  # fmt: skip
BY_ID = {one.id: one for one in QUANTITIES}
EXPECTED = {
    "collective": 2 / 8, "non-blocking": 6 / 8, "ranks": 4, "bytes": 100, "request-size": 12, "operations": 8,
    "seeks": 7, "files": 5, "imbalance": 1.5, "amplification": 1.25, "period": 9, "time": 3, "slowest-rank": 2,
    "bandwidth": 50,
    "phases": 11,
}  # fmt: skip


def test_each_is_taken_from_its_column():
    assert {name: one.value(ROW) for name, one in BY_ID.items()} == EXPECTED


def test_shares_are_of_operations_that_there_are_and_bytes_of_one_direction():
    for name in ("collective", "non-blocking"):
        assert BY_ID[name].share
        assert BY_ID[name].value(replace(ROW, operations=0)) is None
        assert BY_ID[name].value(replace(ROW, operations=None)) is None
    assert BY_ID["collective"].value(replace(ROW, collective_operations=None)) is None
    assert BY_ID["bytes"].value(replace(ROW, direction="read")) == 100
    assert BY_ID["bytes"].value(replace(ROW, direction="total")) is None


@pytest.mark.parametrize(("good", "names"), [(1, "bandwidth"), (-1, "imbalance amplification time slowest-rank")])
def test_more_bandwidth_is_better_and_less_time_and_nothing_else_is_judged(good, names):
    assert {one.id for one in QUANTITIES if one.good == good} == set(names.split())
    assert {one.good for one in QUANTITIES} == {-1, 0, 1}


def test_what_a_program_does_varies_least_and_a_run_easily_takes_1_4_times_as_long():
    order = [one.deviation for one in (COUNTED, RECURRING, TIMED, FLUSHED, JUDGED)]
    assert order == sorted(order)
    assert math.exp(TIMED.deviation) == pytest.approx(1.4, rel=0.02)
    # Nobody cares about a twentieth of what a program does, and about a tenth of a time.
    assert (COUNTED.least, RECURRING.least) == (0.05, 0.05)
    assert (TIMED.least, FLUSHED.least, JUDGED.least) == (0.1, 0.1, 0.1)
