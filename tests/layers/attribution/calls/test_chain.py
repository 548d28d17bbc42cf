"""The longest chain of waiting against what ``otf2-print`` tells, and where there is none."""

import re
import shutil
import subprocess
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import numpy as np
import otf2
import pytest
from iostrata import open_trace
from iostrata.layers.attribution.calls.cost import _covered
from iostrata.model.ranges import RangeUnion
from otf2.enums import (
    IoHandleFlag,
    IoOperationMode,
    IoParadigmClass,
    IoParadigmFlag,
    LocationGroupType,
    Paradigm,
    RegionRole,
)

FIXTURES = Path(__file__).resolve().parents[4] / "fixtures"
EVENT = re.compile(r'^(ENTER|LEAVE) +(\d+) +(\d+)  Region: "(.*)" <\d+>$')
SECOND = 10**9


def calls_of(name, function):
    """Return the enters and leaves of a function by location, in ticks from the trace's start."""
    anchor = FIXTURES / name / "traces.otf2"
    text = subprocess.run(["otf2-print", "-G", anchor], capture_output=True, text=True, check=True).stdout
    start = int(re.search(r"Global Offset: (\d+)", text)[1])
    text = subprocess.run(["otf2-print", anchor], capture_output=True, text=True, check=True).stdout
    found = {"ENTER": defaultdict(list), "LEAVE": defaultdict(list)}
    for line in text.splitlines():
        if (event := EVENT.match(line)) and event[4] == function:
            found[event[1]][int(event[2])].append(int(event[3]) - start)
    return found["ENTER"], found["LEAVE"]


@pytest.mark.skipif(shutil.which("otf2-print") is None, reason="needs otf2-print of the OTF2 library")
@pytest.mark.parametrize("options", [{}, {"memory": 5 * 10**8}, {"engine": "library"}])
def test_who_is_last_as_otf2_print_tells(options):
    enter, leave = calls_of("late4", "MPI_Barrier")
    assert {len(times) for times in (*enter.values(), *leave.values())} == {12}
    expected = []
    for place in range(12):
        begins = {rank: times[place] for rank, times in enter.items()}
        last = max(begins, key=begins.get)
        assert begins[last] <= min(times[place] for times in leave.values())
        expected.append((last, begins[last], sum(begins[last] - begin for begin in begins.values())))
    chain = open_trace(FIXTURES / "late4", **options).calls.chain
    told = [
        (rank, round(end * SECOND), round(waited * SECOND))
        for rank, end, waited, function in zip(chain.rank, chain.end, chain.waited, chain.function, strict=True)
        if function == "MPI_Barrier"
    ]
    assert told == expected
    # The rank that computes for 60 ms more before each dump.
    assert sum(rank == 2 for rank, *_ in told) >= 11
    assert next(iter(chain.held_up)) == 2
    assert chain.held_up[2] >= 11 * 3 * 0.03


@pytest.mark.parametrize("name", ["late4", "ncckpt4", "ckpt4_compiler", "ckpt8_unnested"])
def test_a_chain_fills_the_window(name):
    trace = open_trace(FIXTURES / name)
    chain = trace.calls.chain
    assert (chain.start[0], chain.end[-1]) == pytest.approx(trace.window)
    assert all(one == other for one, other in zip(chain.end[:-1], chain.start[1:], strict=True))
    whole = chain.end - chain.start
    assert ((chain.io >= 0) & (chain.mpi >= 0) & (chain.io + chain.mpi <= whole + 1e-9)).all()
    assert chain.io_s + chain.mpi_s + chain.other_s == pytest.approx(trace.duration)
    # No chain has more of I/O than there is time in which any rank is in I/O.
    assert chain.io_s <= trace.calls.cost.any_io + 1e-9
    assert sum(chain.held_up.values()) == pytest.approx(chain.waited.sum())
    # Half of the others wait at least as long, and as the last one comes it does I/O for no longer.
    assert (2 * chain.waited >= (trace.ranks // 2) * chain.mostly - 1e-9).all()
    assert ((chain.io_mostly <= chain.mostly + 1e-9) & (chain.io_mostly <= chain.io + 1e-9)).all()
    document = chain.to_dict()
    assert document["steps_total"] == len(chain.rank)
    ends = [step["end_s"] for step in document["steps"]]
    assert all(one <= other for one, other in pairwise(ends))


def test_one_rank_or_no_calls_have_none():
    assert open_trace(FIXTURES / "serial1").calls.chain is None
    assert open_trace(FIXTURES / "ior384").calls.chain is None


def test_a_call_on_what_is_set_aside_is_no_io_of_the_chain(tmp_path):
    """Rank 0 has a helper thread of the MPI library in it, which waits in a ``read`` of a pipe that is not recorded."""
    with otf2.writer.open(str(tmp_path / "trace"), archive_name="traces", timer_resolution=10**6) as trace:
        definitions = trace.definitions
        node = definitions.system_tree_node("node", class_name="node")
        posix = definitions.io_paradigm("POSIX", "POSIX", IoParadigmClass.SERIAL, IoParadigmFlag.OS, {})
        file = definitions.io_regular_file("/d/a", node)
        handle = definitions.io_handle("", file, posix, IoHandleFlag.NONE, None, None)
        read, write = (definitions.region(name, region_role=RegionRole.FILE_IO) for name in ("read", "write"))
        barrier = definitions.region("MPI_Barrier", paradigm=Paradigm.MPI)
        for rank in range(2):
            group = definitions.location_group(f"MPI Rank {rank}", LocationGroupType.PROCESS, node)
            writer = trace.event_writer(f"thread {rank}", group=group)
            if rank == 0:
                writer.enter(0, read)
            for step in range(10):
                begin = 100_000 * step
                writer.enter(begin + 10_000, write)
                writer.io_operation_begin(begin + 10_000, handle, IoOperationMode.WRITE, 0, 4096, 1)
                writer.io_operation_complete(begin + 20_000, handle, 4096, 1)
                writer.leave(begin + 20_000, write)
                writer.enter(begin + 90_000 - 1000 * (rank == 1), barrier)
                writer.leave(begin + 95_000, barrier)
            if rank == 0:
                writer.leave(1_000_000, read)
    trace = open_trace(tmp_path / "trace" / "traces.otf2")
    chain = trace.calls.chain
    assert len(chain.rank) == 11
    assert chain.io_s == pytest.approx(0.1)
    # It comes last, 1 ms each time, but not for its I/O.
    assert (chain.mostly.sum(), chain.io_mostly.sum()) == (pytest.approx(0.01), 0)
    assert chain.io_s <= trace.calls.cost.any_io + 1e-9


def test_what_a_union_covers_between_edges_as_counted_tick_by_tick():
    random = np.random.default_rng(7)
    union, busy = RangeUnion(True), np.zeros((4, 300), np.int64)
    for group, begin in zip(random.integers(0, 3, 40).tolist(), random.integers(0, 280, 40).tolist(), strict=True):
        end = begin + int(random.integers(0, 20))
        union.add(*(np.array([one], np.int64) for one in (group, begin, end)))
        busy[group, begin:end] = 1
    edges = np.sort(random.integers(0, 300, 60))
    # Group 3 has no ranges at all.
    group = random.integers(0, 4, 59)
    expected = [busy[one, a:b].sum() for one, a, b in zip(group, edges[:-1], edges[1:], strict=True)]
    assert _covered(union, group, edges[:-1], edges[1:]).tolist() == expected
