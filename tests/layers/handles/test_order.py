"""Order of layers from handles, against bogus parents and circles."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata.layers.handles.stack import handle_lineages, handle_stack, layer_order, layer_rows
from iostrata.model.codes import KNOWN_STACK
from iostrata.model.definitions import Paradigm


def test_the_stack_follows_the_parents_not_the_definitions(make_definitions):
    handles = [("netCDF", "/f", -1), ("HDF5", "/f", 0), ("MPI-IO", "/f", 1), ("POSIX", "/f", 2), ("ISOC", "/g", -1)]
    assert layer_order(make_definitions(handles)) == ("netCDF", "HDF5", "MPI-IO", "ISOC", "POSIX")
    # A file system library under POSIX's name, above all others, is what the trace says it is.
    turned = [("HDF5", "/f", -1), ("netCDF", "/f", 0), ("netCDF", "/g", 0)]
    assert layer_order(make_definitions(turned)) == ("HDF5", "netCDF")


def test_the_file_system_of_daos_stands_above_its_objects(make_definitions):
    paradigms = [Paradigm(40, "DAOS", "DAOS", True, False, ()), Paradigm(41, "DFS", "DFS", True, False, ()), "POSIX"]
    handles = [(name, "/f", -1) for name in ("DAOS", "DFS", "POSIX")]
    assert layer_order(make_definitions(handles, paradigms=paradigms)) == ("POSIX", "DFS", "DAOS")


def test_paradigms_without_handles_are_no_layers(make_definitions):
    assert layer_order(make_definitions([("POSIX", "/f", -1)])) == ("POSIX",)
    assert layer_order(make_definitions([])) == ()


def test_a_few_bogus_parents_do_not_turn_the_order_over(make_definitions):
    handles = [("ISOC", "/f", -1), ("POSIX", "/f", 0), ("POSIX", "/f", 0), ("ISOC", "/g", 1)]
    assert layer_order(make_definitions(handles)) == ("ISOC", "POSIX")


def test_the_operating_system_is_above_nobody_even_where_all_parents_are_bogus(make_definitions):
    handles = [("POSIX", "/f", -1), ("ISOC", "/g", 0), ("ISOC", "/h", 0), ("MPI-IO", "/i", 0)]
    assert layer_order(make_definitions(handles)) == ("MPI-IO", "ISOC", "POSIX")


def test_the_majority_wins_between_libraries(make_definitions):
    handles = [("HDF5", "/f", -1), ("netCDF", "/f", 0), ("netCDF", "/g", 0), ("HDF5", "/h", 1)]
    assert layer_order(make_definitions(handles)) == ("HDF5", "netCDF")


def test_the_weakest_edge_of_a_circle_gives_way(make_definitions):
    # netCDF above HDF5 (3), HDF5 above MPI-IO (2), MPI-IO above netCDF (1).
    handles = [("netCDF", "/f", -1), *[("HDF5", "/f", 0)] * 3, *[("MPI-IO", "/f", 1)] * 2, ("netCDF", "/f", 4)]
    assert layer_order(make_definitions(handles)) == ("netCDF", "HDF5", "MPI-IO")
    # The same circle, in which netCDF above HDF5 is the weakest.
    handles = [("netCDF", "/f", -1), ("HDF5", "/f", 0), *[("MPI-IO", "/f", 1)] * 2, *[("netCDF", "/f", 2)] * 3]
    assert layer_order(make_definitions(handles)) == ("HDF5", "MPI-IO", "netCDF")


@pytest.mark.parametrize(
    ("paradigm", "place"),
    [
        (Paradigm(40, "SIONlib", "SIONlib", True, False, ()), 2),
        (Paradigm(40, "zstream", "zstream", False, False, ()), 3),
        (Paradigm(40, "uring", "io_uring", False, True, ()), 4),
    ],
)
def test_unknown_paradigms_stand_where_their_class_belongs(make_definitions, paradigm, place):
    known = ["netCDF", "HDF5", "MPI-IO", "ISOC", "POSIX"]
    handles = [(name, "/f", -1) for name in ("POSIX", paradigm.identification, "MPI-IO", "ISOC", "HDF5", "netCDF")]
    expected = [*known[:place], paradigm.identification, *known[place:]]
    assert list(layer_order(make_definitions(handles, paradigms=[*known, paradigm]))) == expected


def test_an_unknown_paradigm_stands_above_those_it_parents(make_definitions):
    paradigm = Paradigm(40, "CDI", "CDI", False, False, ())
    handles = [("CDI", "/f", -1), ("netCDF", "/f", 0), ("HDF5", "/f", 1), ("POSIX", "/f", 2)]
    order = layer_order(make_definitions(handles, paradigms=["netCDF", "HDF5", "POSIX", paradigm]))
    assert order == ("CDI", "netCDF", "HDF5", "POSIX")


def test_paradigms_of_one_name_are_one_layer_and_a_nameless_one_has_a_name(make_definitions):
    twins = [Paradigm(1, "X", "", False, False, ()), Paradigm(2, "X", "", False, False, ())]
    nameless = Paradigm(3, "", "", False, False, ())
    definitions = make_definitions([("X", "/f", -1), ("", "/g", -1)], paradigms=[*twins, nameless])
    definitions.handles.paradigm[0] = 0
    order = layer_order(definitions)
    assert order == ("X", "paradigm 3")
    assert layer_rows(definitions, order, definitions.handles.paradigm).tolist() == [0, 1]


@given(st.lists(st.tuples(st.sampled_from([*KNOWN_STACK[3:7], "A", "B"]), st.integers(-1, 30)), max_size=20))
def test_any_forest_has_an_order_of_exactly_its_paradigms(make_definitions, rows):
    handles = [(name, "/f", parent if parent < len(rows) else -1) for name, parent in rows]
    order = layer_order(make_definitions(handles, paradigms=["POSIX", "ISOC", "MPI-IO", "HDF5", "A", "B"]))
    assert sorted(order) == sorted({name for name, _ in rows})


def test_what_is_below_another_layer_is_told_from_the_layers_own(make_definitions):
    """Also where only one handle has others below it, and wherever it stands."""
    for place in range(3):
        handles = [("POSIX", "/f", -1)] * 3
        handles.insert(place, ("HDF5", "/f", -1))
        handles.append(("POSIX", "/f", place))
        stack = handle_stack(make_definitions(handles), ("HDF5", "POSIX"))
        lineages = handle_lineages(stack)
        assert sorted(lineages.traffic) == [(0, False), (1, False), (1, True)]
        (inherited,) = lineages.chosen(1, "inherited")
        assert np.flatnonzero(lineages.of_handle == inherited).tolist() == [4]
