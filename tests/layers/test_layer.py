"""Signals of a layer: volume, traffic and window."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata import SelectionError
from iostrata.model.codes import IoMode, IoRecord, Status

HANDLES = [("MPI-IO", "/s/a", -1), ("POSIX", "/s/a", 0), ("POSIX", "/s/b", -1), ("POSIX", None, -1)]
ROWS = [
    {"handle": 0, "begin": 0, "end": 400, "moved": 800},
    {"handle": 1, "begin": 100, "end": 300, "moved": 600, "process": 1},
    {"handle": 2, "begin": 200, "end": 200, "moved": 50},
    {"handle": 2, "begin": 250, "end": 350, "moved": 100, "mode": IoMode.READ},
    {"handle": 2, "begin": 500, "end": None, "requested": 9},
    {"handle": 2, "begin": 600, "end": 700, "status": Status.CANCELLED},
    {"handle": 2, "begin": 600, "end": 700, "moved": None},
    {"handle": 2, "begin": 800, "end": 900, "moved": 0},
    {"handle": 3, "begin": 100, "end": 200, "moved": 10**6},
    {"handle": 1, "begin": 950, "end": 1000, "mode": IoMode.FLUSH},
]


@pytest.mark.parametrize("window", [None, (0.5, 6.5), (2.0, 3.0)])
@pytest.mark.parametrize("quantity", ["bandwidth", "operations", "metadata", "in-flight"])
def test_what_operations_contribute_is_the_volume_of_the_signal(make_trace, window, quantity):
    made = make_trace(HANDLES, ROWS)
    for layer in (made if window is None else made.select(window=window)).layers.values():
        for direction in ("read", "write", "total") if quantity != "metadata" else ("total",):
            rows, amounts = layer.contributions(quantity, direction)
            assert len(np.unique(rows)) == len(amounts)
            assert amounts.sum() == pytest.approx(layer.signal(quantity, direction).volume)


def test_bandwidth_is_bytes_spread_over_their_time(make_trace):
    posix = make_trace(HANDLES, ROWS).layers["POSIX"]
    signal = posix.bandwidth("write")
    assert signal.window == (0.0, 10.0)
    assert signal.volume == 650
    assert signal.impulse_times.tolist() == [2.0]
    assert signal.impulse_volumes.tolist() == [50.0]
    assert signal.sample(1.0).values == pytest.approx([0, 300, 350, 0, 0, 0, 0, 0, 0, 0])
    assert posix.bandwidth("read").volume == 100
    assert posix.bandwidth("total").volume == 750
    assert posix.bandwidth("write", "own").volume == 50
    assert posix.bandwidth("write", "inherited").volume == 600
    assert posix.bandwidth("read", "inherited").volume == 0
    assert signal.name == "POSIX write"
    assert posix.bandwidth("write", "own").name == "POSIX write (own)"


def test_other_signals(make_trace):
    events = [
        {"kind": IoRecord.CREATE_HANDLE, "time": 100, "handle": 12},
        {"kind": IoRecord.SEEK, "time": 110, "handle": 12},
        {"kind": IoRecord.SEEK, "time": 110, "handle": 13},
        {"kind": IoRecord.CREATE_HANDLE, "time": 300, "handle": 10},
        {"kind": IoRecord.DELETE_FILE, "time": 1000, "mode": 3, "value": 51},
        {"kind": IoRecord.OPERATION_BEGIN, "time": 400, "handle": 12},
    ]
    trace = make_trace(HANDLES, ROWS, events)
    posix = trace.layers["POSIX"]
    metadata = posix.metadata_rate()
    assert metadata.impulse_times.tolist() == [1.0, 1.1, 10.0]
    assert metadata.unit == "s-1"
    assert trace.layers["MPI-IO"].metadata_rate().volume == 1
    assert trace.select(window=(0, 1.1)).layers["POSIX"].metadata_rate().volume == 1
    # Six operations ended that are neither flush nor set aside; the seventh never completed.
    assert posix.operation_rate().volume == 6
    assert posix.operation_rate("read").volume == 1
    flight = posix.in_flight()
    assert flight.volume_until([5.0, 10.0]) == pytest.approx([3.0, 3 + 5 + 3])
    assert posix.in_flight("write", "inherited").volume == pytest.approx(2.0)


def test_flushes_stand_by_themselves(make_trace):
    posix = make_trace(HANDLES, ROWS).layers["POSIX"]
    assert (posix.flushes, posix.flush_busy_s) == (1, 0.5)
    assert posix.directions == ("read", "write")
    assert posix.statistics("total").operations == len(posix.operations) - 1
    assert make_trace(HANDLES, ROWS).layers["MPI-IO"].directions == ("write",)


def test_own_traffic_has_no_handle_of_a_higher_layer_above(make_trace):
    layers = make_trace(HANDLES, ROWS).layers
    assert np.array_equal(layers["MPI-IO"].rows_of("total", "own"), layers["MPI-IO"].rows_of("total"))
    posix = layers["POSIX"]
    moves = posix.operations.mode < 2
    assert posix.rows_of("total", "own").tolist() == posix.rows[moves & (posix.operations.handle == 2)].tolist()
    assert posix.statistics("write").own_bytes == 50
    assert repr(posix) == "<Layer POSIX: 8 operations, read 100 bytes, write 650 bytes>"


@pytest.mark.parametrize("wrong", [("up", "all"), ("write", "mine"), ("flush", "all"), ("READ", "own")])
def test_unknown_directions_and_traffic_are_refused(make_trace, wrong):
    layer = make_trace(HANDLES, ROWS).layers["POSIX"]
    with pytest.raises(SelectionError, match="there are"):
        layer.bandwidth(*wrong)
    if wrong[1] == "all":
        with pytest.raises(SelectionError, match="there are"):
            layer.statistics(wrong[0])


times = st.tuples(st.integers(0, 900), st.integers(0, 100), st.integers(0, 10**6))


@given(st.lists(times, max_size=15), st.sets(st.integers(1, 999), max_size=4))
def test_bytes_of_windows_add_up_and_signals_have_the_statistics_bytes(make_trace, rows, edges):
    rows = [{"handle": 2, "begin": begin, "end": begin + length, "moved": moved} for begin, length, moved in rows]
    trace = make_trace(HANDLES, rows)
    whole = trace.layers["POSIX"].statistics("write")
    assert whole.bytes == sum(row["moved"] for row in rows)
    assert isinstance(whole.bytes, int)
    assert trace.layers["POSIX"].bandwidth("write").volume == pytest.approx(whole.bytes, rel=1e-12)
    cuts = [0, *sorted(edge / 100 for edge in edges), 10]
    volume = summed = operations = 0
    for low, high in pairwise(cuts):
        layer = trace.select(window=(low, high)).layers["POSIX"]
        part = layer.statistics("write")
        assert layer.bandwidth("write").volume == pytest.approx(part.bytes, rel=1e-9, abs=1e-6)
        volume += part.bytes
        summed += part.summed_s
        operations += part.operations
    assert volume == pytest.approx(whole.bytes, rel=1e-9, abs=1e-6)
    assert summed == pytest.approx(whole.summed_s)
    assert operations >= whole.operations


def test_a_trace_without_operations_has_layers_without_directions(make_trace):
    layer = make_trace(HANDLES).layers["POSIX"]
    assert layer.directions == ()
    assert layer.bandwidth("write").volume == 0
    assert layer.in_flight().volume == 0
    assert layer.metadata_rate().volume == 0
    statistics = layer.statistics("write")
    assert (statistics.operations, statistics.bytes, statistics.busy_s) == (0, 0, 0.0)
    assert statistics.request_bytes.p50 is None
    assert np.array_equal(layer.rows_of("total", "own"), [])
