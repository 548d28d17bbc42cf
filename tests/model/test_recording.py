"""What a recorder's counters add up to, by module."""

import numpy as np
from iostrata.model.recording import Counters, Recording


def test_sums_of_a_module_leave_out_what_it_did_not_record() -> None:
    zeros = np.zeros(4, np.int32)
    counters = Counters(
        module=np.array([0, 0, 0, 1], np.int32), file=zeros, rank=zeros, reads=zeros.astype(np.int64),
        writes=zeros.astype(np.int64), bytes_read=zeros.astype(np.int64), bytes_written=zeros.astype(np.int64),
        modules=("POSIX", "STDIO"), layers=("POSIX", "ISOC"),
        counts={"opens": np.array([2, -1, 3, -1])},
        seconds={"read_start_timestamp": np.array([0.0, 1.5, 0.5, 0.0]), "read_time": np.array([0.25, -1.0, 0.5, 0.0])},
    )  # fmt: skip
    of_posix, of_streams = counters.module_sums()
    # A first time of 0 is that of a file on which nothing was done.
    assert of_posix == {
        "module": "POSIX", "layer": "POSIX", "records": 3, "opens": 5, "read_start_timestamp": 0.5, "read_time": 0.75,
    }  # fmt: skip
    assert of_streams == {"module": "STDIO", "layer": "ISOC", "records": 1, "read_time": 0.0}
    assert counters.count("opens", "nothing").tolist() == [2, 0, 3, 0]


def test_what_was_counted_is_asked_for_by_layer_and_direction() -> None:
    rows = 2
    numbers = {name: np.arange(1, rows + 1) for name in ("reads", "writes", "bytes_read", "bytes_written")}
    zeros = np.zeros(rows, np.int32)
    counters = Counters(np.arange(rows, dtype=np.int32), zeros, zeros, **numbers, modules=("A", "B"), layers=("A", "B"))
    recording = Recording(counters=counters)
    for layers, named in (((), ("A", "B")), (("A",), ("A",)), (("B", "C"), ("B",)), (("C",), ())):
        for directions, moved in ((("read",), ("read",)), (("total",), ("read", "write")), ((), ())):
            told = [(one.layer, one.direction) for one in recording.counted(layers, directions)]
            assert sorted(told) == [(name, way) for name in named for way in moved]
    assert Recording().counted((), ("total",)) == []


def test_totals_are_of_what_moved_or_transferred_anything() -> None:
    """Of one rank that transferred nothing, one that moved nothing it knows, and a row of all ranks."""
    counters = Counters(
        module=np.array([0, 0, 0, 1], np.int32), file=np.array([0, 0, 1, 2], np.int32),
        rank=np.array([0, 1, 2, -1], np.int32), reads=np.array([0, 2, 0, -1]), writes=np.array([0, 0, 3, -1]),
        bytes_read=np.array([0, 0, 0, 50]), bytes_written=np.array([0, 0, 70, 0]),
        modules=("POSIX", "HEATMAP"), layers=("POSIX", "MPI-IO"),
        seconds={"read_time": np.array([1.0, 2.0, 4.0, -1.0])},
    )  # fmt: skip
    found = [tuple(vars(one).values()) for one in counters.totals()]
    assert found == [
        ("POSIX", "POSIX", "read", 2, 0, 1, 1, 2.0),
        ("POSIX", "POSIX", "write", 3, 70, 1, 1, None),
        ("HEATMAP", "MPI-IO", "read", None, 50, 1, None, None),
    ]
    assert counters.of_layer("MPI-IO").tolist() == [False, False, False, True]


def test_ranks_that_nobody_knows_to_be_of_mpi_are_processes() -> None:
    text = "2 ranks, rank 1 most of all on /data/rank 1/slow-ranks.h5"
    assert Recording().told(text) == text
    assert Recording(processes=True).told(text) == "2 processes, process 1 most of all on /data/rank 1/slow-ranks.h5"
