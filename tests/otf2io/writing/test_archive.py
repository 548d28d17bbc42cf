"""Archives made of any operations: both engines and the OTF2 tools read back what was written."""

import shutil
import subprocess
from dataclasses import fields, replace

import numpy as np
import otf2
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from iostrata import TraceError, open_trace
from iostrata.model.codes import UNDEFINED_TIME, UNDEFINED_UINT64, IoFlag, IoMode, IoRecord, Status
from iostrata.model.definitions import LocationGroups, Locations
from iostrata.model.events import IoEvents
from iostrata.model.operations import Operations
from iostrata.otf2io.writing import merging
from iostrata.otf2io.writing.archive import write_archive
from iostrata.otf2io.writing.chunks import CHUNK
from iostrata.otf2io.writing.definitions import numbered
from otf2.enums import IoOperationFlag, IoOperationMode, IoParadigmClass, IoParadigmFlag, LocationGroupType

LARGE = 2**47
"""Bytes of an operation that readers still believe."""
HANDLES = (("MPI-IO", "/scratch/a.nc", -1), ("POSIX", "/scratch/a.nc", 0), ("ISOC", None, -1))
THREADS = 2
"""Locations of the first process; the others have one."""

sizes = st.one_of(st.none(), st.just(0), st.integers(2**32, LARGE), st.integers(0, 300))
rows = st.lists(
    st.fixed_dictionaries(
        {
            "location": st.integers(0, 3),
            "begin": st.integers(0, 12) | st.integers(2**40, 2**50),
            "length": st.none() | st.integers(0, 6) | st.integers(0, 2**50),
            "issued": st.none() | st.integers(0, 6),
            "end_location": st.integers(0, 1),
            "handle": st.integers(-1, 2),
            "mode": st.sampled_from([IoMode.READ, IoMode.WRITE, IoMode.FLUSH]),
            "flags": st.integers(0, 3),
            "requested": sizes,
            "moved": sizes,
            "offset": st.none() | st.integers(0, 2**63),
            "tests": st.integers(0, 3),
            "cancelled": st.booleans(),
        }
    ),
    max_size=25,
)


@pytest.fixture
def definitions(make_definitions):
    """Four locations, of which the first two are threads of one process."""
    made = make_definitions(HANDLES, length=2**51, ticks_per_second=10**9)
    group = np.array([0, 0, 1, 2], np.int32)
    locations = Locations(np.array([7, 3, 2**40, 2**63], np.uint64), ("a", "b", "c", "d"), *_columns(4), group)
    return replace(numbered(made), locations=locations)


def _columns(count):
    return np.ones(count, np.uint8), np.zeros(count, np.uint64)


def operations_of(rows):
    rows = sorted(rows, key=lambda row: row["begin"])
    columns = {name.name: [] for name in fields(Operations)}
    for number, row in enumerate(rows):
        location, begin, length = row["location"], row["begin"], row["length"]
        shared = row["flags"] & IoFlag.NON_BLOCKING and location < THREADS
        ended = length is not None
        issued = row["issued"]
        if issued is not None and ended and issued > length:
            issued = length
        status = Status.NEVER_COMPLETED if not ended else Status.CANCELLED if row["cancelled"] else Status.COMPLETE
        known = {
            "location": location,
            "end_location": -1 if not ended else row["end_location"] if shared else location,
            "process": max(0, location - THREADS + 1),
            "begin": begin,
            "issued": UNDEFINED_TIME if issued is None else begin + issued,
            "end": begin + length if ended else UNDEFINED_TIME,
            "moved": UNDEFINED_UINT64 if row["moved"] is None or status else row["moved"],
            "requested": UNDEFINED_UINT64 if row["requested"] is None else row["requested"],
            "offset": UNDEFINED_UINT64 if row["offset"] is None else row["offset"],
            "matching": number,
            "status": status,
            **{name: row[name] for name in ("handle", "mode", "flags", "tests")},
        }
        for name, values in columns.items():
            values.append(known[name])
    empty = Operations.empty()
    return Operations(*(np.array(values, getattr(empty, name).dtype) for name, values in columns.items()))


def blocks_of(operations, cuts):
    """Cut operations into blocks in any way, which then are not in the order of time."""
    order = np.argsort([cuts[row % len(cuts)] for row in range(len(operations))], kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff([cuts[row % len(cuts)] for row in order])) + 1)
    return [(operations.take(np.sort(part)), IoEvents.empty()) for part in parts]


def read_back(folder, engine):
    trace = open_trace(folder / "x.otf2", engine=engine, files="all")
    assert not trace.damage.damaged
    assert trace.tally.unmatched == 0
    return trace


def in_order(operations, without=("matching",)):
    """Return the rows of operations as sets compare them."""
    names = [one.name for one in fields(Operations) if one.name not in without]
    return sorted(zip(*(getattr(operations, name).tolist() for name in names), strict=True))


def write(folder, definitions, blocks):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return write_archive(folder / "x", definitions, blocks)


def printed(*arguments):
    done = subprocess.run(["otf2-print", *map(str, arguments)], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout


@given(rows=rows, cuts=st.lists(st.integers(0, 4), min_size=1, max_size=5))
@example(rows=[], cuts=[0])
def test_what_is_written_is_read_by_both_engines(definitions, tmp_path, rows, cuts):
    operations = operations_of(rows)
    events_written = write(tmp_path / "out", definitions, blocks_of(operations, cuts))
    for engine in ("direct", "library"):
        trace = read_back(tmp_path / "out", engine)
        assert in_order(trace.operations) == in_order(operations)
        assert trace.tally.io_events == events_written


@given(rows=rows)
@settings(max_examples=15)
def test_operations_keep_their_order(definitions, tmp_path, rows):
    """Of one location; so each is found to belong to the same operation again."""
    operations = operations_of([{**row, "location": 2} for row in rows])
    write(tmp_path / "out", definitions, [(operations, IoEvents.empty())])
    again = read_back(tmp_path / "out", "direct").operations
    for name in ("begin", "end", "handle", "requested", "offset"):
        assert getattr(again, name).tolist() == getattr(operations, name).tolist()


@given(rows=rows)
@settings(max_examples=10)
def test_otf2_print_accepts_it(definitions, tmp_path, rows):
    count = write(tmp_path / "out", definitions, [(operations_of(rows), IoEvents.empty())])
    text = printed(tmp_path / "out" / "x.otf2")
    assert text.count("\nIO_") == count
    printed("-G", tmp_path / "out" / "x.otf2")


metadata_kinds = [kind for kind in IoRecord if not IoRecord.OPERATION_BEGIN <= kind <= IoRecord.OPERATION_CANCELLED]


@given(
    found=st.lists(
        st.tuples(
            st.sampled_from(metadata_kinds), st.integers(0, 9), st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1)
        ),
        max_size=20,
    )
)
def test_metadata_events_come_back(definitions, make_events, tmp_path, found):
    rows = []
    for kind, time, small, large in found:
        row = {"kind": kind, "time": time, "location": 2, "handle": small % 3}
        if kind == IoRecord.SEEK:
            row.update(mode=small % 3, value=large, offset=large // 3)
        elif kind == IoRecord.CREATE_HANDLE:
            row.update(mode=small % 3, value=small // 2, flags=small // 3)
        elif kind == IoRecord.DUPLICATE_HANDLE:
            row.update(value=small % 3, flags=small)
        elif kind == IoRecord.CHANGE_STATUS_FLAGS:
            row.update(flags=small)
        elif kind == IoRecord.DELETE_FILE:
            row.update(handle=2**32 - 1, mode=small % 5, value=0)
        elif kind >= IoRecord.ACQUIRE_LOCK:
            row.update(mode=small % 2)
        rows.append(row)
    rows.sort(key=lambda row: row["time"])
    events_in = make_events(rows)
    write(tmp_path / "out", definitions, [(Operations.empty(), events_in)])
    for engine in ("direct", "library"):
        again = read_back(tmp_path / "out", engine).stream.kept.other_events
        for name in (one.name for one in fields(IoEvents)):
            assert getattr(again, name).tolist() == getattr(events_in, name).tolist(), name


def many(make_definitions, count, locations):
    """Return definitions with many processes, and operations that fill several chunks of some."""
    made = make_definitions(HANDLES, length=10**12, ticks_per_second=10**9)
    names = tuple(f"rank {row}" for row in range(locations))
    identity, group = np.arange(locations, dtype=np.uint32), np.arange(locations, dtype=np.int32)
    one = np.ones(locations, np.uint8)
    definitions = replace(
        made,
        groups=LocationGroups(identity, names, one, np.ones(locations, np.int32), group),
        locations=Locations(identity.astype(np.uint64), names, *_columns(locations), group),
    )
    begin = np.arange(count, dtype=np.int64) * 10
    location = (np.arange(count) % locations).astype(np.int32)
    size = np.arange(count, dtype=np.uint64)
    return definitions, Operations(
        location,
        location,
        location,
        np.ones(count, np.int32),
        np.ones(count, np.uint8),
        np.zeros(count, np.uint32),
        begin,
        np.full(count, UNDEFINED_TIME),
        begin + 10 * locations - 5,
        size,
        size,
        size * 4096,
        size,
        np.zeros(count, np.uint32),
        np.zeros(count, np.uint8),
    )


@pytest.mark.parametrize(("count", "locations"), [(120_000, 1), (30_000, 3000)])
def test_chunks_and_many_locations(make_definitions, tmp_path, count, locations):
    definitions, operations = many(make_definitions, count, locations)
    thirds = np.array_split(np.arange(count), 3)
    write(tmp_path / "out", definitions, [(operations.take(part), IoEvents.empty()) for part in thirds])
    assert (locations == 1) == ((tmp_path / "out" / "x" / "0.evt").stat().st_size > 3 * CHUNK)
    for engine in ("direct", "library"):
        again = read_back(tmp_path / "out", engine).operations
        for name in ("location", "begin", "end", "moved", "offset"):
            assert np.array_equal(getattr(again, name), getattr(operations, name))


@pytest.mark.parametrize("at_once", [2, 16])
def test_blocks_in_any_order_are_merged(make_definitions, tmp_path, monkeypatch, at_once):
    monkeypatch.setattr(merging, "AT_ONCE", at_once)
    count = 100_000
    definitions, operations = many(make_definitions, count, 2)
    parts = np.array_split(np.arange(count), 7)
    blocks = [(operations.take(parts[number]), IoEvents.empty()) for number in (6, 4, 5, 3, 1, 2, 0)]
    write(tmp_path / "out", definitions, blocks)
    files = {path.name for path in (tmp_path / "out" / "x").iterdir()}
    assert files == {"0.evt", "0.def", "1.evt", "1.def"}
    for engine in ("direct", "library"):
        again = read_back(tmp_path / "out", engine).operations
        for name in ("location", "begin", "end", "moved", "offset"):
            assert np.array_equal(getattr(again, name), getattr(operations, name))


def test_the_bytes_are_those_of_the_official_library(definitions, tmp_path):
    """Written through the Python package, event by event, the file of a location is the same to the byte."""
    numbers = [0, 1, 255, 256, 2**24, 2**32 - 1, 2**32, 2**47]
    rows = [
        {
            "location": 0, "begin": 1000 * row, "length": 7, "issued": 3, "end_location": 0, "handle": 0, "mode": 1,
            "flags": 3 if row % 2 else 0, "requested": number, "moved": number, "offset": None, "tests": row % 2,
            "cancelled": row % 5 == 4,
        }
        for row, number in enumerate(numbers)
    ]  # fmt: skip
    write(tmp_path / "out", definitions, [(operations_of(rows), IoEvents.empty())])
    with otf2.writer.open(str(tmp_path / "peer"), archive_name="x", timer_resolution=10**9) as peer:
        names = peer.definitions
        group = names.location_group(
            "p",
            system_tree_parent=names.system_tree_node("m", class_name="m"),
            location_group_type=LocationGroupType.PROCESS,
        )
        location = names.location("l", group=group)
        paradigm = names.io_paradigm(
            identification="POSIX",
            name="POSIX",
            io_paradigm_class=IoParadigmClass.SERIAL,
            io_paradigm_flags=IoParadigmFlag.OS,
        )
        handle = names.io_handle(file=None, io_paradigm=paradigm, name="")
        writer = peer.event_writer_from_location(location)
        for row, number in enumerate(numbers):
            time = 1000 * row
            flags = IoOperationFlag.NON_BLOCKING | IoOperationFlag.COLLECTIVE if row % 2 else IoOperationFlag.NONE
            writer.io_operation_begin(time, handle, IoOperationMode.WRITE, flags, number, row)
            if row % 2:
                writer.io_operation_test(time, handle, row)
            writer.io_operation_issued(time + 3, handle, row)
            if row % 5 == 4:
                writer.io_operation_cancelled(time + 7, handle, row)
            else:
                writer.io_operation_complete(time + 7, handle, number, row)
    ours = (tmp_path / "out" / "x" / "7.evt").read_bytes()
    assert ours == (tmp_path / "peer" / "x" / "0.evt").read_bytes()
    # A location without events, and the definitions of one.
    peers = (tmp_path / "peer" / "x" / "0.def").read_bytes()
    assert (tmp_path / "out" / "x" / "3.evt").read_bytes() == peers == (tmp_path / "out" / "x" / "3.def").read_bytes()


def one_operation(begin, end):
    return operations_of(
        [
            {
                "location": 2, "begin": begin, "length": end - begin, "issued": None, "end_location": 0, "handle": 0,
                "mode": 1, "flags": 0, "requested": 5, "moved": 5, "offset": None, "tests": 0, "cancelled": False,
            }
        ]
    )  # fmt: skip


@pytest.mark.parametrize(("begin", "end"), [(2**60, 2**61), (-5, 3), (-(10**14), 10**14)])
def test_times_outside_of_the_clock_are_kept(definitions, tmp_path, begin, end):
    (tmp_path / "out").mkdir()
    blocks = [(one_operation(begin, end), IoEvents.empty())]
    write_archive(tmp_path / "out" / "x", definitions, blocks, min(begin, 0))
    again = read_back(tmp_path / "out", "direct")
    assert len(again.operations) == 1
    assert (again.operations.end - again.operations.begin).tolist() == [end - begin]
    assert again.duration >= (end - max(begin, 0)) / 10**9


def test_times_beyond_64_bits_are_refused(definitions, tmp_path):
    (tmp_path / "out").mkdir()
    late = replace(definitions, clock=replace(definitions.clock, start=2**64 - 22))
    # The largest number of 64 bits is no time, but that none is known.
    for place, end in enumerate((21, 23, 10**6)):
        with pytest.raises(TraceError, match="do not fit into an OTF2 archive"):
            write_archive(tmp_path / "out" / f"x{place}", late, [(one_operation(0, end), IoEvents.empty())])
    write_archive(tmp_path / "out" / "y", late, [(one_operation(0, 20), IoEvents.empty())])


texts = st.text(max_size=12)


@given(names=st.tuples(texts, texts, texts), key=texts, value=texts)
def test_names_of_any_characters(definitions, tmp_path, names, key, value):
    """A NUL, which OTF2 cannot have, and lone surrogates, which UTF-8 does not have, are escaped; all else stays."""

    def expected(text):
        return text.replace("\0", "\\0").encode("utf-8", "backslashreplace").decode()

    files = replace(definitions.files, name=(names[0],), properties=({key: value},))
    handles = replace(definitions.handles, name=names)
    write(tmp_path / "out", replace(definitions, files=files, handles=handles), [])
    again = open_trace(tmp_path / "out" / "x.otf2").definitions
    assert again.files.name == (expected(names[0]),)
    assert again.files.properties == ({expected(key): expected(value)},)
    assert again.handles.name == tuple(map(expected, names))
    assert again.handles.parent.tolist() == [-1, 0, -1]
    assert again.handles.file.tolist() == [0, 0, -1]


@example(ranks=[0, 1, 2])
@given(ranks=st.permutations([0, 1, 2]) | st.permutations([5, 0, 70]))
def test_ranks_come_back(definitions, tmp_path, ranks):
    groups = replace(definitions.groups, rank=np.array(ranks, np.int32))
    write(tmp_path / "out", replace(definitions, groups=groups), [])
    again = open_trace(tmp_path / "out" / "x.otf2").definitions
    assert again.groups.rank.tolist() == list(ranks)
    # Processes that are in the order of their ranks need no list of these.
    assert [one.name for one in again.location_sets] == ([] if list(ranks) == [0, 1, 2] else ["MPI ranks"])
    printed("-G", tmp_path / "out" / "x.otf2")


def test_a_parent_that_is_defined_behind_its_child(make_definitions, tmp_path):
    definitions = make_definitions((("POSIX", "/a", 1), ("MPI-IO", "/a", -1)))
    write(tmp_path / "out", definitions, [])
    again = open_trace(tmp_path / "out" / "x.otf2").definitions.handles
    parent = dict(zip(again.id.tolist(), again.parent.tolist(), strict=True))
    assert parent == {0: -1, 1: 0}
    assert printed(tmp_path / "out" / "x.otf2")


def test_ids_are_numbered_anew(make_definitions, make_events, tmp_path):
    """Handles from 10, files from 50, paradigms from 3 on; the tools warn of ids that do not begin at 0."""
    definitions = make_definitions(HANDLES, length=2**51)
    found = make_events(
        [
            {"kind": IoRecord.DUPLICATE_HANDLE, "time": 1, "handle": 10, "value": 11},
            {"kind": IoRecord.DELETE_FILE, "time": 2, "value": 50, "mode": 4},
            {"kind": IoRecord.DESTROY_HANDLE, "time": 3, "handle": 99},
        ]
    )
    write(tmp_path / "out", definitions, [(one_operation(0, 5), found)])
    again = read_back(tmp_path / "out", "direct")
    assert again.stream.kept.other_events.handle.tolist() == [0, 2**32 - 1, 2**32 - 1]
    assert again.stream.kept.other_events.value.tolist() == [1, 0, 0]
    assert again.stream.kept.other_events.mode.tolist() == [0, 1, 0]
    assert again.operations.handle.tolist() == [0]
    printed(tmp_path / "out" / "x.otf2")


def test_a_location_with_the_id_that_means_none_gets_another(make_definitions, tmp_path):
    definitions = make_definitions(HANDLES)
    ids = definitions.locations.id.copy()
    ids[0] = 2**64 - 1
    named = replace(definitions, locations=replace(definitions.locations, id=ids))
    write(tmp_path / "out", named, [(one_operation(0, 5), IoEvents.empty())])
    assert printed(tmp_path / "out" / "x.otf2")
    again = read_back(tmp_path / "out", "library")
    assert len(again.operations) == 1
    assert 2**64 - 1 not in again.definitions.locations.id.tolist()


def test_handles_of_no_paradigm_stay_so_and_the_tools_live(make_definitions, tmp_path):
    """otf2-print dies of a handle that has a file and no paradigm."""
    definitions = make_definitions(HANDLES)
    handles = replace(definitions.handles, paradigm=np.array([-1, 1, -1], np.int32))
    write(tmp_path / "out", replace(definitions, handles=handles), [(one_operation(0, 5), IoEvents.empty())])
    assert printed(tmp_path / "out" / "x.otf2")
    again = read_back(tmp_path / "out", "direct").definitions
    assert again.handles.paradigm.tolist() == [-1, 1, -1]
    assert [one.identification for one in again.paradigms] == [one.identification for one in definitions.paradigms]


def test_a_name_longer_than_a_usual_chunk(definitions, tmp_path):
    files = replace(definitions.files, name=("x" * 1_000_000,))
    write(tmp_path / "out", replace(definitions, files=files), [])
    assert open_trace(tmp_path / "out" / "x.otf2").definitions.files.name == files.name
