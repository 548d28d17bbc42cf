"""Where time goes, against a walk over every tick."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata import open_trace
from iostrata.model.codes import IoMode

STACK = [("netCDF", "/s/o", -1), ("MPI-IO", "/s/o", 0), ("POSIX", "/s/o", 1), ("POSIX", "/tmp/ompi.x/a.sm", 1)]
OPERATION = st.fixed_dictionaries(
    {
        "handle": st.integers(0, 3),
        "begin": st.integers(0, 40),
        "length": st.integers(0, 30),
        "mode": st.sampled_from(list(IoMode)),
        "process": st.integers(0, 1),
        "moved": st.just(1),
    }
)


def test_a_nested_call(make_trace):
    rows = [
        {"handle": 0, "begin": 0, "end": 100, "moved": 1},
        {"handle": 1, "begin": 20, "end": 90, "moved": 1},
        {"handle": 2, "begin": 30, "end": 40, "moved": 1},
        {"handle": 3, "begin": 60, "end": 65, "moved": 1, "mode": IoMode.READ},
    ]
    first, second = make_trace(STACK, rows).relations.time_splits
    assert (first.layer, first.direction) == ("netCDF", "write")
    assert first.spent_s == pytest.approx({"netCDF": 0.30, "MPI-IO": 0.55, "POSIX": 0.15})
    assert second.spent_s == pytest.approx({"MPI-IO": 0.55, "POSIX": 0.15})
    assert first.to_dict()["exclusive_s"] == pytest.approx(0.30)


@given(st.lists(OPERATION, max_size=14))
def test_parts_equal_a_count_of_ticks(make_trace, rows):
    trace = make_trace(STACK, [{**row, "end": row["begin"] + row["length"]} for row in rows])
    operations, found = trace.operations, trace.stream.whole.attribution
    layer = found.layer.tolist()
    parent = found.parent.tolist()
    for split in trace.relations.time_splits:
        row = trace.stream.whole.layer_row(split.layer)
        spent = dict.fromkeys(split.spent_s, 0)
        for number in range(len(operations)):
            if layer[number] != row or operations.mode[number] != IoMode[split.direction.upper()]:
                continue
            if not trace.stream.whole.selected[number]:
                continue
            below = []
            for other in range(len(operations)):
                at = other
                while at >= 0 and at != number:
                    at = parent[at]
                if at == number:
                    below.append(other)
            for tick in range(int(operations.begin[number]), int(operations.end[number])):
                at_work = [layer[one] for one in below if operations.begin[one] <= tick < operations.end[one]]
                spent[trace.stream.whole.layers[max(at_work)]] += 1
        assert split.spent_s == pytest.approx({name: ticks / 100 for name, ticks in spent.items()})
        assert sum(split.spent_s.values()) == pytest.approx(split.summed_s)


def test_a_netcdf_write_of_the_real_archive(fixtures):
    trace = open_trace(fixtures / "ncckpt4")
    splits = {(one.layer, one.direction): one for one in trace.relations.time_splits}
    one = splits["netCDF", "write"]
    assert list(one.spent_s) == ["netCDF", "HDF5", "MPI-IO", "POSIX"]
    flow = trace.flow("netCDF", "HDF5", "write")
    assert one.spent_s["netCDF"] == pytest.approx(flow.exclusive_s)
    assert one.spent_s["POSIX"] == pytest.approx(trace.flow("netCDF", "POSIX", "write").contained_s)
