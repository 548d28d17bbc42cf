"""Hidden traffic in traces made by hand and in archives of which it is known."""

import pytest
from iostrata import open_trace
from iostrata.layers.flow.balance import CAUSES
from iostrata.model.codes import IoMode

STACK = [("MPI-IO", "/s/a", -1), ("POSIX", "/s/a", 0), ("MPI-IO", "/s/b", -1), ("POSIX", "/s/own", -1)]


def found(trace):
    return {(one.kind, one.layer, one.direction): one for one in trace.relations.hidden}


def test_bytes_without_a_parent(make_trace):
    rows = [
        {"handle": 0, "begin": 0, "end": 10, "moved": 6},
        {"handle": 1, "begin": 2, "end": 8, "moved": 6},
        {"handle": 1, "begin": 20, "end": 30, "moved": 4, "process": 1},
        {"handle": 3, "begin": 40, "end": 50, "moved": 90},
    ]
    hidden = found(make_trace(STACK, rows))
    assert hidden.keys() == {("without-parent", "POSIX", "write")}
    (one,) = hidden.values()
    assert (one.other, one.operations, one.bytes, one.share) == ("MPI-IO", 1, 4, 0.04)
    assert (one.files, one.ranks, one.start_s, one.end_s) == (1, 1, 0.2, 0.3)
    assert one.to_dict()["explanation"] == CAUSES["outside-operations"]


@pytest.mark.parametrize(
    ("rows", "cause"),
    [
        ([{"handle": 2, "begin": 0, "end": 9, "moved": 5}], "layer-not-recorded"),
        ([{"handle": 0, "begin": 0, "end": 9, "moved": 5}], "calls-not-wrapped"),
        (
            [{"handle": 0, "begin": 0, "end": 9, "moved": 5}, {"handle": 1, "begin": 20, "end": 29, "moved": 5}],
            "buffered",
        ),
    ],
)
def test_bytes_without_children(make_trace, rows, cause):
    one = found(make_trace(STACK, rows))["without-children", "MPI-IO", "write"]
    assert (one.bytes, one.share, one.cause) == (5, 1.0, cause)


def test_the_lowest_layer_needs_no_children(make_trace):
    rows = [{"handle": 3, "begin": 0, "end": 9, "moved": 5, "mode": IoMode.READ}]
    assert not make_trace(STACK, rows).relations.hidden


def test_known_archives(fixtures):
    preallocated = found(open_trace(fixtures / "nonblocking4"))["without-parent", "POSIX", "write"]
    assert (preallocated.operations, preallocated.bytes, preallocated.ranks) == (1, 4 * 2**20, 1)
    linktime = found(open_trace(fixtures / "ckpt4_linktime"))["without-children", "MPI-IO", "write"]
    assert (linktime.bytes, linktime.share, linktime.cause) == (167_772_160, 1.0, "layer-not-recorded")
    assert ("without-children", "MPI-IO", "write") not in found(open_trace(fixtures / "ckpt16"))
