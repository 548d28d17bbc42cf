"""Recorder's Parquet files: calls by their functions, times that are better than what is told of them."""

import iostrata
import pytest
from iostrata.inputs.recognition import find_recorder
from iostrata.layers.selection.source import open_source
from iostrata.model.codes import IoFlag
from iostrata.runs.collection.content import find_traces

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

CALLS = [
    # rank, function, file, size, begin in s, duration in s
    (0, "MPI_File_open", "/a", 0, 1.0, 0.5),
    (0, "open", "/a", 0, 1.1, 0.2),
    (0, "MPI_File_write_at_all", "/a", 100, 2.0, 1.0),
    (0, "pwrite64", "/a", 100, 2.25, 0.5),
    (1, "MPI_File_iread", "/a", 7, 4.0, 0.125),
    (1, "fread", "/b", 30, 5.0, 0.25),
    (1, "fsync", "/a", 0, 6.0, 0.25),
    (1, "lseek", "/a", 20, 6.5, 0.001),
    (1, "unlink", "/b", 0, 7.0, 0.001),
    (1, "__xstat", "/b", 0, 7.1, 0.001),
    (0, "close", "/a", 0, 8.0, 0.5),
]


def write(folder, calls, **others):
    rank, function, file, size, begin, duration = (list(column) for column in zip(*calls, strict=True))
    middle = [round((start + length / 2) * 1e7) for start, length in zip(begin, duration, strict=True)]
    columns = {
        "rank": pyarrow.array(rank, pyarrow.int32()),
        "thread_id": pyarrow.array([70 + one for one in rank], pyarrow.int32()),
        "io_cat": pyarrow.array([0] * len(rank), pyarrow.int32()),
        "acc_pat": pyarrow.array([0] * len(rank), pyarrow.int32()),
        "tstart": pyarrow.array(begin, pyarrow.float32()),
        "func_id": pyarrow.array(function, pyarrow.large_string()),
        "hostname": pyarrow.array([f"n{one}" for one in rank], pyarrow.large_string()),
        "file_name": pyarrow.array(file, pyarrow.large_string()),
        "size": pyarrow.array(size, pyarrow.int64()),
        "tmid": pyarrow.array(middle, pyarrow.int64()),
        "duration": pyarrow.array(duration, pyarrow.float32()),
        **others,
    }
    folder.mkdir(exist_ok=True)
    parquet.write_table(pyarrow.table(columns), folder / f"part.{len(list(folder.iterdir()))}.parquet")
    return folder


@pytest.fixture
def calls(tmp_path):
    folder = write(tmp_path / "run", CALLS[:6])
    return write(folder, CALLS[6:])


def test_calls_are_operations_of_their_layer(calls):
    assert find_recorder(calls).name == "Recorder"
    trace = iostrata.open_trace(calls)
    found = {
        (name, way): (layer.statistics(way).operations, layer.statistics(way).bytes)
        for name, layer in trace.layers.items()
        for way in layer.directions
    }
    assert found == {
        ("MPI-IO", "read"): (1, 7),
        ("MPI-IO", "write"): (1, 100),
        ("ISOC", "read"): (1, 30),
        ("POSIX", "write"): (1, 100),
    }
    assert trace.flow("MPI-IO", "POSIX", "write").amplification == 1.0
    assert trace.ranks == 2


def test_what_is_recorded_of_each_call(calls):
    source = open_source(calls)
    rows = source.operations
    assert (rows.begin / 1e9).tolist() == pytest.approx([2.0, 2.25, 4.0, 5.0, 6.0], abs=1e-7)
    assert (rows.end / 1e9).tolist() == pytest.approx([3.0, 2.75, 4.125, 5.25, 6.25], abs=1e-7)
    assert rows.mode.tolist() == [1, 1, 0, 0, 2]
    assert rows.flags.tolist() == [IoFlag.COLLECTIVE, 0, IoFlag.NON_BLOCKING, 0, 0]
    assert len(source.metadata) == 5
    recording = source.definitions.recording
    assert recording.missing == ("offsets",)
    trace = iostrata.open_trace(calls)
    paths = trace.calls.paths
    # The write of POSIX is in that of MPI-IO; what moves nothing and opens nothing counts as well.
    assert paths.texts("callpath", paths.operation[[1]]) == ["MPI_File_write_at_all > pwrite64"]
    times = {(one.layer, one.kind): one for one in trace.calls.totals.call_times}
    assert [one.function for one in times["POSIX", "other_calls"].functions] == ["__xstat"]
    assert times["POSIX", "opens"].summed_s == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("function", "layer"),
    [("ftruncate64", "POSIX"), ("fstat", "POSIX"), ("fcntl", "POSIX"), ("fallocate", "POSIX"), ("ftell", "ISOC")],
)
def test_not_all_that_begins_with_f_is_of_streams(tmp_path, function, layer):
    calls = [(0, "open", "/a", 0, 1.0, 0.1), (0, "fopen", "/b", 0, 1.2, 0.1), (0, function, "/a", 0, 1.5, 0.25)]
    trace = iostrata.open_trace(write(tmp_path / "run", calls))
    (one,) = (one for one in trace.calls.totals.call_times if one.kind == "other_calls")
    assert (one.layer, one.calls, one.summed_s) == (layer, 1, pytest.approx(0.25))


def test_times_are_better_than_seven_digits(tmp_path):
    folder = write(tmp_path / "run", [(0, "write", "/a", 1, 6683.0000125, 0.000002)])
    rows = open_source(folder).operations
    assert rows.begin.tolist() == [6683000012500]
    assert rows.end.tolist() == [6683000014500]


def test_files_that_do_not_fit_together_are_refused(calls):
    write(calls, CALLS, size=pyarrow.array(["x"] * len(CALLS)))
    with pytest.raises(iostrata.TraceError, match="Recorder's Parquet cannot be read: "):
        iostrata.open_trace(calls)


def test_a_folder_of_recorder_is_one_trace_for_who_searches(tmp_path):
    runs = [write(tmp_path / name, CALLS[:6]) for name in ("one", "two")]
    assert list(find_traces([runs[0]])) == runs[:1]
    assert list(find_traces([tmp_path])) == runs


@pytest.mark.recordings
def test_cm1_as_published(recorders):
    """1,282 reads of 20.03 GiB and 2,303 writes of 1.15 GiB in 0.58 s, by WisIO, whose authors publish the trace."""
    trace = iostrata.open_trace(recorders / "recorder", files="all")
    reads, writes = (trace.layers["POSIX"].statistics(way) for way in ("read", "write"))
    assert (reads.operations, reads.bytes) == (1282, 21_508_390_912)
    assert (writes.operations, writes.bytes) == (2303, 1_230_852_944)
    assert writes.summed_s == pytest.approx(0.58, abs=0.005)
    assert sum(one.calls for one in trace.calls.totals.call_times) == 23_878


def test_parts_that_are_listed_and_not_there_are_lost(calls):
    listed = []
    for part in sorted(calls.glob("*.parquet")):
        one = parquet.read_metadata(part)
        one.set_file_path(part.name)
        listed.append(one)
    listed[0].append_row_groups(listed[1])
    listed[0].write_metadata_file(calls / "_metadata")
    assert not iostrata.open_trace(calls).damage.damaged
    (calls / "part.1.parquet").unlink()
    damage = iostrata.open_trace(calls).damage
    assert "part.1.parquet is not the part that _metadata lists" in str(damage.locations)
    assert damage.events_expected - damage.events_read == len(CALLS[6:])
    (calls / "_metadata").write_bytes(b"PAR1 no more")
    assert "_metadata, the list of the parts, cannot be read" in str(iostrata.open_trace(calls).damage.locations)


@pytest.mark.parametrize(("size", "damaged"), [(-1, False), (-2, True), (-(2**40), True)])
def test_a_negative_size_is_damage_and_one_that_is_not_known_is_none(tmp_path, size, damaged):
    folder = write(tmp_path / "run", [(0, "write", "/a", 100, 1.0, 0.5), (0, "write", "/a", size, 2.0, 0.5)])
    trace = iostrata.open_trace(folder)
    assert trace.damage.damaged is damaged
    assert trace.layers["POSIX"].statistics("write").bytes == 100
    assert not damaged or "a negative size" in str(trace.damage.locations)


ROWS = len(CALLS)


@pytest.mark.parametrize("name", ["rank", "thread_id", "size", "tmid", "duration"])
@pytest.mark.parametrize(
    "values",
    [
        [None] * ROWS,
        [True] * ROWS,
        [[1]] * ROWS,
        ["x"] * ROWS,
        [{"a": 1}] * ROWS,
        [float("inf")] * ROWS,
        [1e30] * ROWS,
        pyarrow.array([2**64 - 1] * ROWS, pyarrow.uint64()),
    ],
    ids=["none", "flags", "lists", "words", "records", "infinite", "large", "unsigned"],
)
def test_calls_whose_numbers_make_no_sense_are_refused(name, values, tmp_path):
    with pytest.raises(iostrata.TraceError, match="no row of Recorder's Parquet has a rank"):
        iostrata.open_trace(write(tmp_path / "run", CALLS, **{name: values}))


def test_numbers_of_other_types_count_as_far_as_they_are_whole(tmp_path):
    rank = [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, None, float("nan"), 0.5]
    trace = iostrata.open_trace(write(tmp_path / "run", CALLS, rank=rank))
    assert trace.ranks == 2
    assert len(trace.operations) == 5
    (damage,) = trace.damage.locations
    assert (damage.events_expected, damage.events_read) == (ROWS, ROWS - 3)
    assert "a number that is missing or makes no sense" in damage.reason


@pytest.mark.parametrize("name", ["func_id", "file_name", "hostname"])
@pytest.mark.parametrize("values", [[[1]] * ROWS, [{"a": 1}] * ROWS, [b"\xff"] * ROWS, [7] * ROWS, [None] * ROWS])
def test_names_that_are_no_text_end_nothing(name, values, tmp_path):
    trace = iostrata.open_trace(write(tmp_path / "run", CALLS, **{name: values}))
    assert len(trace.operations) == (0 if name == "func_id" else 5)
