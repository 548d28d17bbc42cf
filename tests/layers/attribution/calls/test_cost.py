"""What I/O costs a run, against sums over the printed events, and over runs whose bound is known."""

import re
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

import numpy as np
import otf2
import pytest
from iostrata import open_trace
from iostrata.analysis.findings import find
from iostrata.layers.attribution.calls.cost import RunCost
from otf2.enums import (
    IoAccessMode,
    IoCreationFlag,
    IoHandleFlag,
    IoOperationFlag,
    IoOperationMode,
    IoParadigmClass,
    IoParadigmFlag,
    IoStatusFlag,
    Paradigm,
    RegionRole,
)

FIXTURES = Path(__file__).resolve().parents[4] / "fixtures"
EVENT = re.compile(r'^(ENTER|LEAVE) +(\d+) +(\d+)  Region: ".*" <(\d+)>$')
BEGIN = re.compile(r"^IO_OPERATION_BEGIN +(\d+) +(\d+)  Handle: .* <(\d+)>, .*NON_BLOCKING.*Matching Id: (\d+)$")
END = re.compile(r"^IO_OPERATION_(?:COMPLETE|CANCELLED) +(\d+) +(\d+)  Handle: .* <(\d+)>.*Matching Id: (\d+)$")


def printed(anchor):
    """Return for each location how long it was in calls of I/O, and in others of MPI, and when any had I/O, in ticks.

    It has from the begin to the end of calls and of non-blocking operations.
    """
    text = subprocess.run(["otf2-print", "-G", anchor], capture_output=True, text=True, check=True).stdout
    kind = {}
    for number, name, role, paradigm in re.findall(
        r'^REGION +(\d+)  Name: "(.*?)" <.*Role: (\w+), Paradigm: "?(\w+)"?', text, re.MULTILINE
    ):
        io = role.startswith("FILE_IO") or name.startswith("MPI_File_") or name == "aio_suspend"
        kind[number] = "io" if io else "mpi" if paradigm == "MPI" else "other"
    text = subprocess.run(["otf2-print", anchor], capture_output=True, text=True, check=True).stdout
    stacks, last, sums, open_io = defaultdict(list), {}, defaultdict(lambda: defaultdict(int)), 0
    steps, begun = [], set()
    for line in text.splitlines():
        if found := EVENT.match(line):
            enter, location, time, region = found[1] == "ENTER", found[2], int(found[3]), found[4]
            stack = stacks[location]
            if stack:
                inside = any(kind[one] == "io" for one in stack)
                sums[location]["io" if inside else kind[stack[-1]]] += time - last[location]
            last[location] = time
            if enter:
                stack.append(region)
            else:
                place = len(stack) - 1 - stack[::-1].index(region)
                del stack[place]
            if kind[region] == "io":
                steps.append((time, 1 if enter else -1))
        elif found := BEGIN.match(line):
            begun.add(found.groups()[2:])
            steps.append((int(found[2]), 1))
        elif (found := END.match(line)) and found.groups()[2:] in begun:
            begun.remove(found.groups()[2:])
            steps.append((int(found[2]), -1))
    covered, before = 0, None
    for time, change in sorted(steps, key=lambda step: (step[0], -step[1])):
        if open_io:
            covered += time - before
        open_io, before = open_io + change, time
    return sums, covered


@pytest.mark.skipif(shutil.which("otf2-print") is None, reason="otf2-print, the independent count")
@pytest.mark.parametrize("name", ["ckpt4_compiler", "ncckpt4", "threads2", "small_files2"])
@pytest.mark.parametrize("options", [{}, {"memory": 500 * 10**6}], ids=str)
def test_shares_as_otf2_print_tells(name, options):
    trace = open_trace(FIXTURES / name, files="all", **options)
    sums, covered = printed(FIXTURES / name / "traces.otf2")
    second = trace.definitions.clock.ticks_per_second
    # Score-P numbers the locations of a process from its rank on, its first thread first.
    first = [sums[str(rank)] for rank in trace.calls.cost.rank]
    for kind, column in (("io", trace.calls.cost.io), ("mpi", trace.calls.cost.mpi)):
        assert [round(one * second) for one in column.tolist()] == [ticks[kind] for ticks in first]
    every = sum(ticks["io"] for ticks in sums.values())
    assert trace.calls.cost.other_threads_io.sum() * second == pytest.approx(
        every - sum(ticks["io"] for ticks in first)
    )
    assert trace.calls.cost.any_io * second == pytest.approx(covered)
    assert not trace.calls.cost.set_aside.any()


def test_parts_fill_the_window(fixtures):
    cost = open_trace(fixtures / "ckpt4_compiler").calls.cost
    whole = cost.io + cost.mpi + cost.set_aside + cost.other
    assert whole == pytest.approx(cost.length)
    assert 0 < cost.most_saved <= cost.any_io


@pytest.mark.parametrize(
    ("io", "other", "any_io", "saved"),
    [
        # One rank writes while the other waits for it in MPI: all of the writing could go.
        ([4.0, 0.0], [6.0, 6.0], 4.0, 4.0),
        # Each rank in turn: no more than each needs for its own work can go.
        ([5.0, 4.0], [5.0, 5.0], 9.0, 5.0),
        # Without MPI among the calls nobody knows whether the other rank waits: all of the writing could go.
        ([4.0, 0.0], [6.0, 10.0], 4.0, 4.0),
        # Another thread writes behind the first one's back.
        ([0.0], [10.0], 3.0, 0.0),
        # I/O is all there is.
        ([10.0], [0.0], 10.0, 10.0),
    ],
)
def test_free_io_saves_no_more_than_this(io, other, any_io, saved):
    columns, none = (np.array(io), 10.0 - np.array(io) - np.array(other)), np.zeros(len(io))
    cost = RunCost((0,) * len(io), *columns, none, np.array(other), none, none, any_io, 10.0)
    assert cost.most_saved == saved
    assert cost.to_dict()["most_saved_s"] == saved


def test_what_a_library_of_io_waits_for_in_its_calls_is_io(tmp_path):
    """HDF5 waits for other ranks in a broadcast, within a write; the same call outside of it is communication."""
    with otf2.writer.open(str(tmp_path / "trace"), archive_name="traces", timer_resolution=1000) as trace:
        definitions = trace.definitions
        node = definitions.system_tree_node("node", class_name="node")
        rank = definitions.location_group("MPI Rank 0", system_tree_parent=node)
        thread = trace.event_writer("thread", group=rank)
        library = definitions.io_paradigm("HDF5", "HDF5", IoParadigmClass.PARALLEL, IoParadigmFlag.NONE, {})
        write = definitions.region("H5Dwrite", source_file="HDF5", region_role=RegionRole.FILE_IO)
        send = definitions.region("MPI_Bcast", paradigm=Paradigm.MPI, region_role=RegionRole.COLL_ONE2ALL)
        data = definitions.io_regular_file("/data/a", node)
        handle = definitions.io_handle("", data, library, IoHandleFlag.NONE, None, None)
        thread.enter(0, write)
        thread.io_operation_begin(10, handle, IoOperationMode.WRITE, IoOperationFlag.COLLECTIVE, 4096, 1)
        thread.enter(100, send)
        thread.leave(500, send)
        thread.io_operation_complete(600, handle, 4096, 1)
        thread.leave(600, write)
        thread.enter(700, send)
        thread.leave(1000, send)
    cost = open_trace(tmp_path / "trace").calls.cost
    assert (cost.io.tolist(), cost.mpi.tolist()) == (pytest.approx([0.6]), pytest.approx([0.3]))
    assert cost.other.tolist() == pytest.approx([0.1])


@pytest.mark.parametrize("counts", [True, False])
def test_a_call_that_tells_no_file_is_the_time_of_the_one_that_it_serves(tmp_path, counts):
    """HDF5 sets a file view before it tells which file it creates something in, or without telling it."""
    with otf2.writer.open(str(tmp_path / "trace"), archive_name="traces", timer_resolution=1000) as trace:
        definitions = trace.definitions
        node = definitions.system_tree_node("node", class_name="node")
        rank = definitions.location_group("MPI Rank 0", system_tree_parent=node)
        thread = trace.event_writer("thread", group=rank)
        library = definitions.io_paradigm("HDF5", "HDF5", IoParadigmClass.PARALLEL, IoParadigmFlag.NONE, {})
        mpi = definitions.io_paradigm("MPI-IO", "MPI I/O", IoParadigmClass.PARALLEL, IoParadigmFlag.NONE, {})
        create, write = (
            definitions.region(name, source_file="HDF5", region_role=RegionRole.FILE_IO)
            for name in ("H5Dcreate2", "H5Dwrite")
        )
        view = definitions.region("MPI_File_set_view", paradigm=Paradigm.MPI, region_role=RegionRole.FILE_IO)
        file = definitions.io_regular_file("/data/a", node)
        handle, lower = (definitions.io_handle("", file, one, IoHandleFlag.NONE, None, None) for one in (library, mpi))
        flags = IoAccessMode.READ_WRITE, IoCreationFlag.NONE, IoStatusFlag.NONE
        thread.enter(0, create)
        thread.enter(100, view)
        thread.leave(500, view)
        if counts:
            thread.io_create_handle(550, handle, *flags)
        thread.leave(600, create)
        thread.enter(700, write)
        thread.io_operation_begin(700, handle, IoOperationMode.WRITE, IoOperationFlag.NONE, 4096, 1)
        thread.enter(720, view)
        thread.io_operation_begin(730, lower, IoOperationMode.WRITE, IoOperationFlag.NONE, 4096, 1)
        thread.io_operation_complete(740, lower, 4096, 1)
        thread.leave(750, view)
        thread.io_operation_complete(800, handle, 4096, 1)
        thread.leave(800, write)
        thread.enter(900, create)
        thread.io_create_handle(950, handle, *flags)
        thread.leave(1000, create)
    cost = open_trace(tmp_path / "trace").calls.cost
    assert cost.set_aside.tolist() == pytest.approx([0.0 if counts else 0.6])
    assert cost.io.tolist() == pytest.approx([0.8 if counts else 0.2])


@pytest.mark.parametrize(
    ("function", "handle", "in_io", "in_mpi"),
    [
        ("MPI_Wait", "mpi", 0.6, 0.0),
        # A library that tests requests of storage in all its calls.
        ("MPI_Wait", "posix", 0.0, 0.6),
        ("main", "mpi", 0.0, 0.0),
        ("MPI_Wait", "aside", 0.0, 0.6),
        ("MPI_Wait", None, 0.0, 0.6),
    ],
)
def test_a_call_of_mpi_that_completes_io_waits_for_it(tmp_path, function, handle, in_io, in_mpi):
    """The call takes .6 s; in it an operation of a layer, on a file that counts or not, or none is completed."""
    with otf2.writer.open(str(tmp_path / "trace"), archive_name="traces", timer_resolution=1000) as trace:
        definitions = trace.definitions
        node = definitions.system_tree_node("node", class_name="node")
        rank = definitions.location_group("MPI Rank 0", system_tree_parent=node)
        thread = trace.event_writer("thread", group=rank)
        main = definitions.region("main", paradigm=Paradigm.USER, region_role=RegionRole.FUNCTION)
        wait = definitions.region("MPI_Wait", paradigm=Paradigm.MPI, region_role=RegionRole.POINT2POINT)
        mpi = definitions.io_paradigm("MPI-IO", "MPI-IO", IoParadigmClass.PARALLEL, IoParadigmFlag.NONE, {})
        posix = definitions.io_paradigm("POSIX", "POSIX I/O", IoParadigmClass.SERIAL, IoParadigmFlag.OS, {})
        files = {"mpi": ("/data/a", mpi), "posix": ("/data/a", posix), "aside": ("/proc/stat", mpi)}
        handles = {
            name: definitions.io_handle(
                name, definitions.io_regular_file(path, node), of, IoHandleFlag.NONE, None, None
            )
            for name, (path, of) in files.items()
        }
        begin = definitions.region("MPI_File_iwrite", paradigm=Paradigm.MPI, region_role=RegionRole.FILE_IO)
        thread.enter(0, begin)
        for one in handles.values():
            thread.io_operation_begin(0, one, IoOperationMode.WRITE, IoOperationFlag.NON_BLOCKING, 4096, 1)
        for name, one in handles.items():
            if name != handle:
                thread.io_operation_complete(10, one, 4096, 1)
        thread.leave(10, begin)
        for region in (main, wait)[: 1 + (function == "MPI_Wait")]:
            thread.enter(300, region)
        if handle is not None:
            thread.io_operation_complete(800, handles[handle], 4096, 1)
        for region in (main, wait)[: 1 + (function == "MPI_Wait")][::-1]:
            thread.leave(900, region)
        thread.enter(950, wait)
        thread.leave(1000, wait)
    cost = open_trace(tmp_path / "trace").calls.cost
    assert (cost.io.tolist(), cost.mpi.tolist()) == (pytest.approx([in_io + 0.01]), pytest.approx([in_mpi + 0.05]))


@pytest.fixture
def asynchronous(tmp_path):
    """Write a run of 1 s that computes for 0.4 s, and waits in some way for what it began to write at 0.1 s."""

    def write(function, paradigm, file, role):
        with otf2.writer.open(str(tmp_path / "trace"), archive_name="traces", timer_resolution=1000) as trace:
            definitions = trace.definitions
            node = definitions.system_tree_node("node", class_name="node")
            rank = definitions.location_group("MPI Rank 0", system_tree_parent=node)
            first, second = (trace.event_writer(f"thread {row}", group=rank) for row in range(2))
            main = definitions.region("main", paradigm=Paradigm.USER, region_role=RegionRole.FUNCTION)
            begin = definitions.region("aio_write", source_file="POSIX_IO", region_role=RegionRole.FILE_IO)
            wait = definitions.region(function, source_file=file, paradigm=paradigm, region_role=role)
            posix = definitions.io_paradigm("POSIX", "POSIX I/O", IoParadigmClass.SERIAL, IoParadigmFlag.OS, {})
            data = definitions.io_regular_file("/data/a", node)
            handle = definitions.io_handle("", data, posix, IoHandleFlag.NONE, None, None)
            # Where threads wait for each other, another one writes.
            writing = second if paradigm == Paradigm.PTHREAD else first
            flag = IoOperationFlag.NONE if writing is second else IoOperationFlag.NON_BLOCKING
            first.enter(0, main)
            writing.enter(100, begin)
            writing.io_operation_begin(100, handle, IoOperationMode.WRITE, flag, 4096, 1)
            if writing is first:
                first.io_operation_issued(100, handle, 1)
                first.leave(100, begin)
            first.enter(300, wait)
            writing.io_operation_complete(900, handle, 4096, 1)
            if writing is second:
                second.leave(900, begin)
            first.leave(900, wait)
            first.leave(1000, main)
        return open_trace(tmp_path / "trace")

    return write


@pytest.mark.parametrize(
    ("function", "paradigm", "file", "role", "in_io"),
    [
        ("aio_suspend", Paradigm.NONE, "POSIX_IO", RegionRole.WRAPPER, 0.6),
        ("MPI_Wait", Paradigm.MPI, "MPI", RegionRole.POINT2POINT, 0.0),
        ("pthread_join", Paradigm.PTHREAD, "PTHREAD", RegionRole.FUNCTION, 0.0),
    ],
)
def test_who_waits_for_io_elsewhere_is_faster_with_free_io(asynchronous, function, paradigm, file, role, in_io):
    trace = asynchronous(function, paradigm, file, role)
    assert trace.calls.cost.io.tolist() == pytest.approx([in_io])
    # Without I/O the run computes for 0.3 + 0.1 s.
    assert trace.calls.cost.most_saved == pytest.approx(0.6)
    assert not [one for one in find(trace) if one.id == "metadata-time"]


def test_without_enter_and_leave_nothing_is_told(fixtures):
    assert open_trace(fixtures / "ior384").calls.cost is None
