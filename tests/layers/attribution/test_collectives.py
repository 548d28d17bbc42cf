"""Collective calls against grouping by hand."""

from dataclasses import replace

import numpy as np
from iostrata.layers.attribution.collectives import (
    call_sequences,
    collective_calls,
)
from iostrata.model.codes import COMM_SELF, UNDEFINED_UINT32, IoFlag
from iostrata.model.definitions import Communicator, Group
from iostrata.model.keyed import numbered, positions

HANDLES = [("MPI-IO", "/a", -1), ("MPI-IO", "/b", -1), ("MPI-IO", "/a", -1), ("netCDF", "/a", -1)]


DUPLICATES = (Communicator(8, "dup", 4, 1), Communicator(9, "dup", 4, 1), Communicator(10, "other half", 5, 1))


def calls_of(make_trace, rows, communicator, collective=None, groups=()):
    trace = make_trace(HANDLES, [{"end": row["begin"] + 1, "moved": 1, **row} for row in rows])
    flags = [IoFlag.COLLECTIVE if collective is None or row in collective else 0 for row in range(len(rows))]
    operations = replace(trace.operations, flags=np.array(flags, np.uint32))
    definitions = replace(
        trace.definitions,
        handles=replace(trace.definitions.handles, communicator=np.array(communicator, np.uint32)),
        location_sets=tuple(groups),
        communicators=(
            Communicator(1, "MPI_COMM_WORLD", 4, None),
            Communicator(2, "MPI_COMM_SELF", 3, None),
            *DUPLICATES,
        ),
    )
    return collective_calls(operations, call_sequences(definitions, trace.stream.whole.stack.layer))


def test_the_k_th_call_of_each_rank_is_one(make_trace):
    rows = [{"handle": 0, "begin": 10 * step + rank, "process": rank} for step in range(3) for rank in range(3)]
    found = calls_of(make_trace, rows, [1, 1, 1, 1])
    assert found.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    # Ranks drift: the second call of one rank can begin before the first of another.
    rows = [{"handle": 0, "begin": 10 * step + 15 * rank, "process": rank} for step in range(3) for rank in range(3)]
    order = sorted(range(9), key=lambda row: rows[row]["begin"])
    found = calls_of(make_trace, rows, [1, 1, 1, 1])
    assert found.tolist() == [row // 3 for row in order]


def test_files_communicators_and_layers_have_sequences_of_their_own(make_trace):
    rows = [{"handle": handle, "begin": place, "process": 0} for place, handle in enumerate([0, 1, 2, 3, 0])]
    # Handles 0 and 2 share file and communicator: one sequence.
    assert calls_of(make_trace, rows, [1, 1, 1, 1]).tolist() == [0, 1, 2, 3, 4]
    rows += [{"handle": 2, "begin": 10, "process": 1}, {"handle": 0, "begin": 11, "process": 1}]
    assert calls_of(make_trace, rows, [1, 1, 1, 1]).tolist() == [0, 1, 2, 3, 4, 0, 2]
    assert calls_of(make_trace, rows, [1, 1, 7, 1]).tolist() == [0, 1, 2, 3, 4, 2, 0]


def test_two_duplicates_of_one_communicator_are_one(make_trace):
    # One rank came out of opening the file with handle 0, the other with handle 2, on duplicates of one communicator.
    rows = [{"handle": 2 * rank, "begin": 10 * step + rank, "process": rank} for step in range(2) for rank in range(2)]
    for first, second, calls in ((8, 9, 2), (9, 8, 2), (8, 10, 4), (8, 1, 4), (1, 1, 2)):
        found = calls_of(make_trace, rows, [first, 1, second, 1])
        assert set(np.bincount(found).tolist()) == {4 // calls}, (first, second)


def test_self_and_no_communicator(make_trace):
    rows = [{"handle": 0, "begin": rank, "process": rank} for rank in range(2)]
    groups = [Group(3, "", COMM_SELF, 0, np.empty(0, np.uint64)), Group(4, "", 5, 0, np.arange(2, dtype=np.uint64))]
    assert calls_of(make_trace, rows, [2, 1, 1, 1], groups=groups).tolist() == [0, 1]
    assert calls_of(make_trace, rows, [1, 1, 1, 1], groups=groups).tolist() == [0, 0]
    rows.append({"handle": 2, "begin": 5, "process": 1})
    alone = [UNDEFINED_UINT32] * 4
    assert calls_of(make_trace, rows, alone).tolist() == [0, 0, 1]


def test_others_are_in_no_call(make_trace):
    rows = [{"handle": 0, "begin": place, "process": place % 2} for place in range(4)]
    found = calls_of(make_trace, rows, [1, 1, 1, 1], collective={0, 1})
    assert found.tolist() == [0, 0, -1, -1]


def test_numbers_and_positions():
    assert positions(np.array([5, 3, 5, 5, 3])).tolist() == [0, 0, 1, 2, 1]
    assert positions(np.empty(0, np.int64)).tolist() == []
    first, second = np.array([1, 1, 2, 1]), np.array([7, 8, 7, 7])
    found = numbered(first, second)
    assert found[0] == found[3]
    assert len(set(found.tolist())) == 3
