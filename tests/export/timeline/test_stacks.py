"""Call stacks over time against the stacks that a slow walk finds in what otf2-print prints."""

import re
import shutil
import subprocess
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import otf2
import pytest
from iostrata import open_trace
from iostrata.export.timeline.stacks import call_stacks
from iostrata.layers.attribution.calls.cost import io_seconds
from iostrata.layers.attribution.calls.walk import STACK_KINDS as KINDS
from otf2.enums import IoAccessMode, IoHandleFlag, IoParadigmClass, IoParadigmFlag

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"
EVENT = re.compile(r'^(ENTER|LEAVE) +(\d+) +(\d+)  Region: "(.*)" <\d+>$')
IO = re.compile(r"^IO_(\w+) +(\d+) +(\d+)  .*")
needs_print = pytest.mark.skipif(shutil.which("otf2-print") is None, reason="needs otf2-print of the OTF2 library")


def printed(anchor):
    """Return (location, function, depth, ticks) of all calls, and those that made or destroyed a handle."""
    text = subprocess.run(["otf2-print", anchor], capture_output=True, text=True, check=True).stdout
    stacks, found, did = defaultdict(list), Counter(), Counter()
    for line in text.splitlines():
        if (event := EVENT.match(line)) is not None:
            kind, location, time, name = event[1], int(event[2]), int(event[3]), event[4]
            stack = stacks[location]
            if kind == "ENTER":
                stack.append([name, time, None, stack[-1][3] + 1 if stack else 0])
            else:
                # Calls of helper threads cross those of the thread that they help.
                place = max(row for row, call in enumerate(stack) if call[0] == name)
                name, begin, first, depth = stack.pop(place)
                found[location, name, depth, time - begin] += 1
                if first in ("CREATE_HANDLE", "DESTROY_HANDLE"):
                    did[name, {"CREATE_HANDLE": "open", "DESTROY_HANDLE": "close"}[first], time - begin] += 1
        elif (event := IO.match(line)) is not None and stacks[int(event[2])]:
            top = stacks[int(event[2])][-1]
            top[2] = top[2] or event[1]
    return found, did


@needs_print
@pytest.mark.parametrize("name", ["ncckpt4", "ckpt4_compiler"])
def test_every_call_has_its_depth_and_length(name):
    trace = open_trace(FIXTURES / name)
    locations = trace.definitions.locations
    bars, gap = call_stacks(trace, range(len(locations.id)), 10**6)
    assert gap == 0
    assert (bars.count == 1).all()
    names = trace.calls.totals.functions.regions.name
    expected, did = printed(str(FIXTURES / name / "traces.otf2"))
    length = (bars.end - bars.begin).tolist()
    rows = zip(locations.id[bars.location].tolist(), bars.region.tolist(), bars.depth.tolist(), length, strict=True)
    assert Counter((location, names[region], depth, ticks) for location, region, depth, ticks in rows) == expected
    # fopen makes handles of two layers; here the first event of a call says what it did.
    kinds = Counter(
        (names[region], KINDS[kind], ticks)
        for region, kind, ticks in zip(bars.region.tolist(), bars.kind.tolist(), length, strict=True)
        if KINDS[kind] in ("open", "close") and kind > 0
    )
    assert kinds == did


def test_bars_merge_to_the_limit_and_lose_no_call():
    trace = open_trace(FIXTURES / "ckpt4_compiler")
    every = range(trace.definitions.locations.id.size)
    whole, _ = call_stacks(trace, every, 10**6)
    few, gap = call_stacks(trace, every, 2000)
    assert len(few) <= 2000
    assert gap > 0
    assert few.count.sum() == whole.count.sum() == len(whole)
    assert set(zip(few.depth.tolist(), few.region.tolist(), strict=True)) == set(
        zip(whole.depth.tolist(), whole.region.tolist(), strict=True)
    )


def test_one_thread_of_many_is_as_among_all():
    trace = open_trace(FIXTURES / "ncckpt4")
    seconds = io_seconds(trace.calls.totals)
    busiest = int(seconds.argmax())
    alone, _ = call_stacks(trace, [busiest], 10**6)
    whole, _ = call_stacks(trace, range(trace.definitions.locations.id.size), 10**6)
    own = whole.take(whole.location == busiest)
    assert len(alone) == len(own)
    for column in ("depth", "region", "handle", "kind", "begin", "end"):
        np.testing.assert_array_equal(getattr(alone, column), getattr(own, column))


def test_calls_that_cross_end_with_their_own_leave_and_open_ones_with_the_location(tmp_path):
    with otf2.writer.open(str(tmp_path / "trace"), archive_name="traces", timer_resolution=10**6) as trace:
        definitions = trace.definitions
        node = definitions.system_tree_node("node", class_name="node")
        writer = trace.event_writer("thread", group=definitions.location_group("MPI Rank 0", system_tree_parent=node))
        one, other = (
            definitions.region(name, paradigm=otf2.enums.Paradigm.USER, region_role=otf2.enums.RegionRole.FUNCTION)
            for name in ("one", "other")
        )
        # Without a function of I/O a trace is none that tells of calls.
        definitions.region("read", region_role=otf2.enums.RegionRole.FILE_IO)
        writer.enter(0, one)
        writer.enter(10, other)
        writer.leave(20, one)
        writer.leave(30, other)
        writer.leave(35, other)
        writer.enter(40, one)
        posix = definitions.io_paradigm("POSIX", "POSIX", IoParadigmClass.SERIAL, IoParadigmFlag.OS, {})
        file = definitions.io_regular_file("/data/a", node)
        handle = definitions.io_handle("", file, posix, IoHandleFlag.NONE, None, None)
        writer.io_create_handle(40, handle, IoAccessMode.WRITE_ONLY, 0, 0)
    found = open_trace(tmp_path / "trace" / "traces.otf2")
    bars, _ = call_stacks(found, [0], 100)
    names = found.calls.totals.functions.regions.name
    rows = zip(bars.region.tolist(), bars.depth.tolist(), bars.begin.tolist(), bars.end.tolist(), strict=True)
    assert sorted((names[region], *rest) for region, *rest in rows) == [
        ("one", 0, 0, 20), ("one", 0, 40, 40), ("other", 1, 10, 30),
    ]  # fmt: skip


def test_of_many_files_calls_are_not_drawn_as_one_across_the_run(tmp_path):
    """600 files, ten at a time, each opened twice, half a run apart: what follows closely is one bar."""
    with otf2.writer.open(str(tmp_path / "trace"), archive_name="traces", timer_resolution=10**6) as trace:
        definitions = trace.definitions
        node = definitions.system_tree_node("node", class_name="node")
        writer = trace.event_writer("thread", group=definitions.location_group("MPI Rank 0", system_tree_parent=node))
        opens = definitions.region("open", region_role=otf2.enums.RegionRole.FILE_IO)
        posix = definitions.io_paradigm("POSIX", "POSIX", IoParadigmClass.SERIAL, IoParadigmFlag.OS, {})
        handles = [
            definitions.io_handle(
                "", definitions.io_regular_file(f"/data/{row}", node), posix, IoHandleFlag.NONE, None, None
            )
            for row in range(600)
        ]
        for place in range(1200):
            start, row = 20_000 * (place // 10) + 600 * (place % 10), place % 600
            writer.enter(start, opens)
            writer.io_create_handle(start + 100, handles[row], IoAccessMode.WRITE_ONLY, 0, 0)
            # The first files take longest.
            writer.leave(start + 200 + (200 if row < 16 else 0), opens)
            writer.io_destroy_handle(start + 500, handles[row])
    found = open_trace(tmp_path / "trace" / "traces.otf2")
    bars, _ = call_stacks(found, [0], 300)
    assert bars.count.sum() == 1200
    assert len(np.unique(bars.handle)) == 17
    others = bars.take(bars.handle < 0)
    assert others.count.sum() == 2 * (600 - 16)
    assert (others.end - others.begin).max() < 20_000
