"""Whether I/O overlaps computing, against sweeps over what otf2-print prints, and against a run that is known."""

import re
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

import numpy as np
import otf2
import pytest
from iostrata import open_trace
from otf2.enums import (
    IoAccessMode,
    IoHandleFlag,
    IoOperationFlag,
    IoOperationMode,
    IoParadigmClass,
    IoParadigmFlag,
    RegionRole,
)

FIXTURES = Path(__file__).resolve().parents[4] / "fixtures"
EVENT = re.compile(r'^(ENTER|LEAVE) +(\d+) +(\d+)  Region: ".*" <(\d+)>$')
BEGIN = re.compile(
    r"^IO_OPERATION_BEGIN +(\d+) +(\d+)  Handle: .* <(\d+)>, Mode: .*, Operation Flags: (.*?), .*Matching Id: (\d+)$"
)
END = re.compile(r"^IO_OPERATION_(?:COMPLETE|CANCELLED) +(\d+) +(\d+)  Handle: .* <(\d+)>.*Matching Id: (\d+)$")


def printed(anchor):
    """Return by location the ticks with a non-blocking operation under way, and those outside of I/O and MPI."""
    text = subprocess.run(["otf2-print", "-G", anchor], capture_output=True, text=True, check=True).stdout
    busy = set()
    for number, name, role, paradigm in re.findall(
        r'^REGION +(\d+)  Name: "(.*?)" <.*Role: (\w+), Paradigm: "?(\w+)"?', text, re.MULTILINE
    ):
        if role.startswith("FILE_IO") or paradigm == "MPI" or name == "aio_suspend":
            busy.add(number)
    text = subprocess.run(["otf2-print", anchor], capture_output=True, text=True, check=True).stdout
    whole, computing, last, calls = (defaultdict(int) for _ in range(4))
    open_operations = defaultdict(set)
    for line in text.splitlines():
        if found := EVENT.match(line):
            location, time, step = found[2], int(found[3]), (1 if found[1] == "ENTER" else -1) * (found[4] in busy)
        elif found := BEGIN.match(line) or END.match(line):
            location, time, step = found[1], int(found[2]), 0
        else:
            continue
        if open_operations[location]:
            whole[location] += time - last[location]
            computing[location] += (time - last[location]) * (calls[location] == 0)
        last[location] = time
        calls[location] += step
        if found := BEGIN.match(line):
            if "NON_BLOCKING" in found[4]:
                open_operations[location].add((found[3], found[5]))
        elif found := END.match(line):
            open_operations[location].discard((found[3], found[4]))
    return whole, computing


@pytest.mark.skipif(shutil.which("otf2-print") is None, reason="needs otf2-print of the OTF2 library")
@pytest.mark.parametrize("name", ["nonblocking4_nodupfd", "nonblocking4"])
@pytest.mark.parametrize("options", [{}, {"memory": 500 * 10**6}], ids=str)
def test_overlap_as_otf2_print_tells(name, options):
    trace = open_trace(FIXTURES / name, files="all", **options)
    whole, computing = printed(FIXTURES / name / "traces.otf2")
    second = trace.definitions.clock.ticks_per_second
    overlap = trace.calls.overlap
    assert sum(whole.values()) > 0
    for rank, found, hidden in zip(overlap.rank, overlap.under_way, overlap.computing, strict=True):
        # In this archive operations that never complete are under way until the end of the window here.
        assert found * second == pytest.approx(whole[str(rank)], rel=0.02)
        assert hidden * second == pytest.approx(computing[str(rank)], rel=0.02)


def run(folder, wait_from):
    """Write a run of 1 s: a write is under way from 0.1 to 0.9 s, and MPI_Wait from `wait_from` to 0.9 s."""
    with otf2.writer.open(str(folder), archive_name="traces", timer_resolution=1000) as trace:
        definitions = trace.definitions
        node = definitions.system_tree_node("node", class_name="node")
        writer = trace.event_writer("thread", group=definitions.location_group("MPI Rank 0", system_tree_parent=node))
        mpi = {"paradigm": otf2.enums.Paradigm.MPI}
        main = definitions.region("main", paradigm=otf2.enums.Paradigm.USER, region_role=RegionRole.FUNCTION)
        start = definitions.region("MPI_File_iwrite", region_role=RegionRole.FILE_IO, **mpi)
        wait = definitions.region("MPI_Wait", region_role=RegionRole.POINT2POINT, **mpi)
        paradigm = definitions.io_paradigm("MPI-IO", "MPI I/O", IoParadigmClass.PARALLEL, IoParadigmFlag.NONE, {})
        handle = definitions.io_handle(
            "", definitions.io_regular_file("/data/a", node), paradigm, IoHandleFlag.NONE, None, None
        )
        writer.enter(0, main)
        writer.io_create_handle(10, handle, IoAccessMode.WRITE_ONLY, 0, 0)
        writer.enter(100, start)
        writer.io_operation_begin(100, handle, IoOperationMode.WRITE, IoOperationFlag.NON_BLOCKING, 4096, 1)
        writer.io_operation_issued(110, handle, 1)
        writer.leave(120, start)
        writer.enter(wait_from, wait)
        writer.io_operation_complete(900, handle, 4096, 1)
        writer.leave(900, wait)
        writer.io_destroy_handle(950, handle)
        writer.leave(1000, main)
    return open_trace(folder / "traces.otf2")


@pytest.mark.parametrize("wait_from", [120, 500, 900])
def test_what_is_not_waited_for_overlaps(tmp_path, wait_from):
    overlap = run(tmp_path / "trace", wait_from).calls.overlap
    assert overlap.under_way.tolist() == pytest.approx([0.8])
    assert overlap.computing.tolist() == pytest.approx([(wait_from - 120) / 1000])
    assert overlap.to_dict()["ranks"] == [
        {"rank": 0, "under_way_s": pytest.approx(0.8), "computing_s": pytest.approx((wait_from - 120) / 1000)}
    ]


def test_ranks_in_io_over_time_add_up(tmp_path):
    overlap = run(tmp_path / "trace", 500).calls.overlap
    width = np.diff(overlap.edges)
    assert (overlap.io * width).sum() == pytest.approx(0.02)
    assert (overlap.mpi * width).sum() == pytest.approx(0.4)
    at = (overlap.edges[:-1] >= 0.5) & (overlap.edges[1:] <= 0.9)
    assert overlap.mpi[at] == pytest.approx(1.0)


def test_blocking_runs_have_none(fixtures):
    assert open_trace(fixtures / "ncckpt4").calls.overlap.to_dict() == {
        "under_way_s": 0.0,
        "computing_s": 0.0,
        "ranks": [],
    }
    assert open_trace(fixtures / "ior384").calls.overlap is None
