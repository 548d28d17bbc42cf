"""Which column is for what, by its name."""

from pathlib import Path

import pytest
from iostrata import TraceError
from iostrata.inputs.table.names import lack_text, lacking, roles, table_roles

NEEDED = ("layer", "rank", "start", "end", "bytes", "mode")


@pytest.mark.parametrize("name", ["start", "begin"])
@pytest.mark.parametrize(("unit", "factor"), [("", 10**9), ("_s", 10**9), ("_ms", 10**6), ("_us", 10**3), ("_ns", 1)])
def test_times_have_the_unit_that_ends_their_name(name, unit, factor):
    assert roles([f" {name.title()}{unit} "]) == ({"start": f" {name.title()}{unit} "}, {"start": factor})


def test_the_first_name_of_a_role_counts():
    assert roles(["kind", "direction", "mode"])[0] == {"mode": "mode"}
    assert roles(["direction", "kind"])[0] == {"mode": "kind"}
    assert roles(["begin_ns", "start_ms", "start_us"]) == ({"start": "start_ms"}, {"start": 10**6})
    assert roles(["Rank", "rank", "host", "hostname"])[0] == {"rank": "Rank", "node": "host"}


def test_of_a_table_of_ours_the_parent_is_an_operation():
    assert roles(["parent", "handle"])[0] == {"handle": "handle", "parent": "parent"}
    assert roles(["parent", "operation"])[0] == {"operation": "operation"}
    assert roles(["parent", "parent_handle", "operation"])[0]["parent"] == "parent_handle"


def test_a_column_of_one_direction_stands_for_bytes_and_mode():
    assert lacking({}) == NEEDED
    assert lacking(NEEDED) == ()
    for way in ("read", "written"):
        assert lacking({way, "layer", "start"}) == ("rank", "end")
    assert "bytes_read or bytes_written tells" in lack_text(("mode",))
    assert lack_text(("rank", "end")).endswith(
        "no column rank or end; needed are layer, rank, start, end, bytes and mode"
    )


def test_two_columns_of_one_name_are_refused_where_they_matter():
    path = Path("t.csv")
    assert table_roles(path, [*NEEDED, "x", "X"])[1] == {"start": 10**9, "end": 10**9}
    with pytest.raises(TraceError, match="two columns of the table are named 'rank'"):
        table_roles(path, [*NEEDED, "Rank "])
    with pytest.raises(TraceError, match="no column rank"):
        table_roles(path, [one for one in NEEDED if one != "rank"])
