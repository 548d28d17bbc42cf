"""Definitions: against the official Python reader on real archives, and hostile ones written for the purpose."""

import random
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import _otf2
import numpy as np
import otf2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata import TraceError
from iostrata.model.budget import memory_given
from iostrata.model.codes import UNDEFINED_UINT32
from iostrata.model.definitions import Group, Locations
from iostrata.otf2io.archive import Archive, open_archive
from iostrata.otf2io.definitions.read import COMM_LOCATIONS, PARADIGM_MPI, ranks
from otf2.enums import IoAccessMode, IoHandleFlag, IoStatusFlag, Type

from ..reading import EventsRead

Read = Callable[[str], tuple[Archive, EventsRead]]


def reference(definition: Any) -> int | None:
    return None if definition is None else int(definition._ref)


def test_equal_the_official_python_reader(sound_name: str, read_fixture: Read, fixtures: Path) -> None:
    ours = read_fixture(sound_name)[0].definitions
    with otf2.reader.open(str(fixtures / sound_name / "traces.otf2")) as trace:
        theirs = trace.definitions
        clock = theirs.clock_properties
        assert (ours.clock.ticks_per_second, ours.clock.start, ours.clock.length) == (
            clock.timer_resolution,
            clock.global_offset,
            clock.trace_length,
        )

        def identity(column: Any, row: int) -> int | None:
            return None if row < 0 else int(column[row])

        nodes = list(theirs.system_tree_nodes)
        assert ours.system_tree.id.tolist() == [node._ref for node in nodes]
        assert ours.system_tree.name == tuple(node.name for node in nodes)
        assert ours.system_tree.class_name == tuple(node.class_name for node in nodes)
        assert [identity(ours.system_tree.id, row) for row in ours.system_tree.parent] == [
            reference(node.parent) for node in nodes
        ]

        groups = list(theirs.location_groups)
        assert ours.groups.id.tolist() == [group._ref for group in groups]
        assert ours.groups.name == tuple(group.name for group in groups)
        assert ours.groups.kind.tolist() == [group.location_group_type.value for group in groups]
        assert [identity(ours.system_tree.id, row) for row in ours.groups.node] == [
            reference(group.system_tree_parent) for group in groups
        ]

        locations = list(theirs.locations)
        assert ours.locations.id.tolist() == [location._ref for location in locations]
        assert ours.locations.name == tuple(location.name for location in locations)
        assert ours.locations.events.tolist() == [location.number_of_events for location in locations]
        assert [identity(ours.groups.id, row) for row in ours.locations.group] == [
            reference(location.group) for location in locations
        ]

        assert [(p.id, p.identification, p.name, p.parallel, p.os) for p in ours.paradigms] == [
            (p._ref, p.identification, p.name, p.io_paradigm_class.value == 1, bool(p.io_paradigm_flags.value & 1))
            for p in theirs.io_paradigms
        ]
        files = sorted([*theirs.io_regular_files, *theirs.io_directories], key=lambda file: file._ref)
        order = np.argsort(ours.files.id)
        assert ours.files.id[order].tolist() == [file._ref for file in files]
        assert [ours.files.name[row] for row in order] == [file.name for file in files]
        assert ours.files.directory[order].tolist() == [type(file).__name__ == "IoDirectory" for file in files]
        assert [identity(ours.system_tree.id, ours.files.scope[row]) for row in order] == [
            reference(file.scope) for file in files
        ]
        properties = {(p.io_file._ref, p.name): p.value for p in theirs.io_file_properties}
        assert {
            (int(ours.files.id[row]), name): value
            for row in range(len(ours.files.id))
            for name, value in ours.files.properties[row].items()
        } == properties

        handles = list(theirs.io_handles)
        assert ours.handles.id.tolist() == [handle._ref for handle in handles]
        assert ours.handles.name == tuple(handle.name for handle in handles)
        assert [identity(ours.files.id, row) for row in ours.handles.file] == [reference(h.file) for h in handles]
        assert [ours.paradigms[row].id for row in ours.handles.paradigm] == [h.io_paradigm._ref for h in handles]
        assert ours.handles.flags.tolist() == [handle.io_handle_flags.value for handle in handles]
        assert [None if c == UNDEFINED_UINT32 else c for c in ours.handles.communicator.tolist()] == [
            reference(handle.comm) for handle in handles
        ]
        assert [identity(ours.handles.id, row) for row in ours.handles.parent] == [
            reference(handle.parent) for handle in handles
        ]
        states = {
            s.io_handle._ref: (s.io_access_mode.value, s.io_status_flags.value)
            for s in theirs.io_pre_created_handle_states
        }
        assert {
            int(ours.handles.id[row]): (
                int(ours.handles.precreated_mode[row]),
                int(ours.handles.precreated_status[row]),
            )
            for row in np.flatnonzero(ours.handles.precreated)
        } == states

        assert ours.attributes == {attribute._ref: attribute.name for attribute in theirs.attributes}
        assert {(c.id, c.name, c.group, c.parent) for c in ours.communicators} == {
            (c._ref, c.name, reference(c.group), reference(c.parent)) for c in theirs.comms
        }
        sets = {g._ref: g for g in theirs.groups}
        for group in ours.location_sets:
            assert (group.name, group.kind) == (sets[group.id].name, sets[group.id].group_type.value)
            assert len(group.members) == len(sets[group.id].members)


def test_versions_of_paradigms(read_fixture: Read) -> None:
    paradigms = {p.identification: p for p in read_fixture("ncckpt4")[0].definitions.paradigms}
    assert paradigms["netCDF"].properties == (("VERSION", "4.9.0"),)
    assert paradigms["HDF5"].properties == (("VERSION", "HDF5 library version: 1.10.8"),)
    assert paradigms["POSIX"].properties == ()


@pytest.mark.parametrize(("name", "ranks"), [("ckpt16", 16), ("ncckpt8", 8), ("threads2", 2), ("serial1", 1)])
def test_ranks(name: str, ranks: int, read_fixture: Read) -> None:
    groups = read_fixture(name)[0].definitions.groups
    assert groups.rank.tolist() == list(range(ranks))
    if ranks > 1:
        assert [groups.name[rank] for rank in range(ranks)] == [f"MPI Rank {rank}" for rank in range(ranks)]


def test_ranks_follow_the_group_of_mpi_locations(new_archive: Callable[..., Any]) -> None:
    with closing(new_archive()) as trace:
        d = trace.defined
        definitions = trace.definitions
        locations = [definitions.location(f"thread {i}", group=d.groups[i]) for i in range(2)]
        definitions.location_group("GPU", otf2.LocationGroupType.ACCELERATOR, d.node)
        definitions.group("", otf2.GroupType.COMM_LOCATIONS, otf2.Paradigm.MPI, otf2.GroupFlag.NONE, locations[::-1])
    assert open_archive(d.folder).definitions.groups.rank.tolist() == [1, 0, -1]


def low_level(trace: Any, write: Callable[[Any], None]) -> Any:
    """Close an archive with its global definitions written record by record."""

    def write_global_definitions() -> None:
        writer = _otf2.Archive_GetGlobalDefWriter(trace.handle)
        _otf2.GlobalDefWriter_WriteString(writer, 0, "")
        write(writer)
        _otf2.Archive_CloseGlobalDefWriter(trace.handle, writer)

    trace._write_global_definitions = write_global_definitions
    trace.close()
    return trace.defined.folder


def clock(writer: Any) -> None:
    _otf2.GlobalDefWriter_WriteClockProperties(writer, 1000, 5, 10, 2**64 - 1)


def handle(writer: Any, identity: int, parent: int, file: int = 77, paradigm: int = 9) -> None:
    _otf2.GlobalDefWriter_WriteIoHandle(
        writer, identity, 0, file, paradigm, _otf2.IO_HANDLE_FLAG_NONE, UNDEFINED_UINT32, parent
    )


def test_undefined_references_and_cycles(new_archive: Callable[..., Any]) -> None:
    def write(writer: Any) -> None:
        clock(writer)
        for identity, parent in ((0, 2), (1, 0), (2, 1), (3, 3), (4, 500), (5, 4), (6, 2), (0, 5)):
            handle(writer, identity, parent)
        for identity, parent in ((10, 11), (11, 10)):
            _otf2.GlobalDefWriter_WriteSystemTreeNode(writer, identity, 0, 0, parent)
        _otf2.GlobalDefWriter_WriteLocation(writer, 8, 99, _otf2.LOCATION_TYPE_CPU_THREAD, 0, 1234)

    definitions = open_archive(low_level(new_archive(), write)).definitions
    assert definitions.handles.id.tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert definitions.handles.parent.tolist() == [-1, 0, 1, -1, -1, 4, 2]
    assert definitions.handles.file.tolist() == definitions.handles.paradigm.tolist() == [-1] * 7
    assert definitions.system_tree.parent.tolist() == [-1, 0]
    assert definitions.locations.group.tolist() == [-1]
    assert definitions.locations.name == ("",)
    assert definitions.clock.realtime_ns is None


def test_names_may_be_any_bytes(copy_of: Callable[[str], Path]) -> None:
    folder = copy_of("serial1")
    path = folder / "traces.def"
    content = path.read_bytes()
    assert content.count(b"POSIX I/O") == 1
    path.write_bytes(content.replace(b"POSIX I/O", b"P\xff\xfeIX \xc3/O"))
    assert open_archive(folder).definitions.paradigms[0].name == "P\\xff\\xfeIX \\xc3/O"


def test_values_of_file_properties(new_archive: Callable[..., Any]) -> None:
    with closing(new_archive()) as trace:
        file = trace.defined.file
        for name, kind, value in (
            ("text", Type.STRING, "lustre"),
            ("small", Type.INT8, -3),
            ("large", Type.UINT64, 2**63),
            ("real", Type.DOUBLE, 0.5),
            ("single", Type.FLOAT, -2.0),
        ):
            trace.definitions.io_file_property(file, name, kind, value)
    files = open_archive(trace.defined.folder).definitions.files
    assert files.properties[0] == {
        "text": "lustre",
        "small": "-3",
        "large": "9223372036854775808",
        "real": "0.5",
        "single": "-2.0",
    }


def test_precreated_handles_and_communicators(new_archive: Callable[..., Any]) -> None:
    with closing(new_archive()) as trace:
        d = trace.defined
        proxy = trace.definitions.io_handle(
            "all", None, d.paradigm, IoHandleFlag.PRE_CREATED | IoHandleFlag.ALL_PROXY, None, None
        )
        trace.definitions.io_pre_created_handle_state(proxy, IoAccessMode.WRITE_ONLY, IoStatusFlag.APPEND)
        make = trace.definitions.group
        threads = [trace.definitions.location(f"thread {rank}", group=d.groups[rank]) for rank in range(2)]
        make("", otf2.GroupType.COMM_LOCATIONS, otf2.Paradigm.MPI, otf2.GroupFlag.NONE, threads)
        members = make("", otf2.GroupType.COMM_GROUP, otf2.Paradigm.MPI, otf2.GroupFlag.NONE, [0, 1])
        world = trace.definitions.comm("world", members, None, otf2.CommFlag.NONE)
        trace.definitions.comm("half", members, world, otf2.CommFlag.NONE)
    definitions = open_archive(d.folder).definitions
    handles = definitions.handles
    row = handles.name.index("all")
    assert (handles.flags[row], handles.file[row], handles.precreated[row]) == (3, -1, True)
    assert handles.precreated_mode[row] == IoAccessMode.WRITE_ONLY.value
    assert handles.precreated_status[row] == IoStatusFlag.APPEND.value
    assert [(c.name, c.group, c.parent) for c in definitions.communicators] == [("world", 1, None), ("half", 1, 0)]
    assert definitions.location_sets[1].members.tolist() == [0, 1]


def test_no_clock(new_archive: Callable[..., Any]) -> None:
    with pytest.raises(TraceError, match="has no clock"):
        open_archive(low_level(new_archive(), lambda writer: handle(writer, 0, UNDEFINED_UINT32)))


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.6, 0.99, 0.9999])
def test_cut_definitions(share: float, copy_of: Callable[[str], Path], capfd: pytest.CaptureFixture[str]) -> None:
    folder = copy_of("ckpt4_linktime")
    path = folder / "traces.def"
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(TraceError) as error:
        open_archive(folder)
    assert "\n" not in str(error.value)
    assert str(path) in str(error.value)
    assert capfd.readouterr() == ("", "")


def test_missing_definitions(copy_of: Callable[[str], Path]) -> None:
    folder = copy_of("serial1")
    (folder / "traces.def").unlink()
    with pytest.raises(TraceError, match="are missing"):
        open_archive(folder)


def test_garbage_in_definitions_is_one_error_or_harmless(copy_of: Callable[[str], Path]) -> None:
    folder = copy_of("ckpt4_linktime")
    path = folder / "traces.def"
    content = path.read_bytes()
    for seed in range(12):
        damaged = bytearray(content)
        chance = random.Random(seed)
        start = chance.randrange(18, len(content) - 300)
        damaged[start : start + 256] = chance.randbytes(256)
        path.write_bytes(damaged)
        # In a process of its own: what the library does with garbage is not ours to promise.
        code = (
            "import sys\n"
            "from iostrata.otf2io.archive import open_archive\n"
            "from iostrata.model.errors import TraceError\n"
            "try:\n"
            "    open_archive(sys.argv[1])\n"
            "except TraceError as error:\n"
            "    print(error)\n"
        )
        done = subprocess.run([sys.executable, "-c", code, str(folder)], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.count("\n") <= 1


def test_definitions_that_take_more_than_is_allowed_are_refused_before_they_are_read(fixtures: Path) -> None:
    with memory_given(1000), pytest.raises(TraceError, match=r"traces\.def: global definitions of .* would take"):
        open_archive(fixtures / "ncckpt4")


@given(chance=st.randoms(use_true_random=False))
def test_a_process_has_the_rank_of_the_first_member_that_is_one_of_its_locations(chance: random.Random) -> None:
    processes = [chance.random() < 0.7 for _ in range(chance.randrange(1, 6))]
    location = chance.sample(range(20), chance.randrange(1, 8))
    process = [chance.randrange(-1, len(processes)) for _ in location]
    members = [chance.randrange(22) for _ in range(chance.randrange(1, 12))]
    count = len(location)
    locations = Locations(
        np.array(location, np.uint64), ("",) * count, np.zeros(count, np.uint8), np.zeros(count, np.uint64),
        np.array(process, np.int32),
    )  # fmt: skip
    expected = [-1] * len(processes)
    for position, member in enumerate(members):
        owner = dict(zip(location, process, strict=True)).get(member, -1)
        if owner >= 0 and processes[owner] and expected[owner] < 0:
            expected[owner] = position
    group = Group(1, "", COMM_LOCATIONS, PARADIGM_MPI, np.array(members, np.uint64))
    assert ranks(np.array(processes), locations, (group,)).tolist() == expected
