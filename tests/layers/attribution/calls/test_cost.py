"""What I/O costs a run, against sums over the printed events, and over runs whose bound is known."""

import re
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from iostrata import open_trace
from iostrata.layers.attribution.calls.cost import RunCost

FIXTURES = Path(__file__).resolve().parents[4] / "fixtures"
EVENT = re.compile(r'^(ENTER|LEAVE) +(\d+) +(\d+)  Region: ".*" <(\d+)>$')


def printed(anchor):
    """Return for each location how long its innermost call was of I/O and of MPI, and when any was in I/O, in ticks."""
    text = subprocess.run(["otf2-print", "-G", anchor], capture_output=True, text=True, check=True).stdout
    kind = {}
    for number, name, role, paradigm in re.findall(
        r'^REGION +(\d+)  Name: "(.*?)" <.*Role: (\w+), Paradigm: "?(\w+)"?', text, re.MULTILINE
    ):
        io = role.startswith("FILE_IO") or name.startswith("MPI_File_")
        kind[number] = "io" if io else "mpi" if paradigm == "MPI" else "other"
    text = subprocess.run(["otf2-print", anchor], capture_output=True, text=True, check=True).stdout
    stacks, last, sums, open_io = defaultdict(list), {}, defaultdict(lambda: defaultdict(int)), 0
    steps = []
    for line in text.splitlines():
        if found := EVENT.match(line):
            enter, location, time, region = found[1] == "ENTER", found[2], int(found[3]), found[4]
            stack = stacks[location]
            if stack:
                sums[location][kind[stack[-1]]] += time - last[location]
            last[location] = time
            if enter:
                stack.append(region)
            else:
                place = len(stack) - 1 - stack[::-1].index(region)
                del stack[place]
            if kind[region] == "io":
                steps.append((time, 1 if enter else -1))
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
    first = [sums[str(rank)] for rank in trace.cost.rank]
    for kind, column in (("io", trace.cost.io), ("mpi", trace.cost.mpi)):
        assert [round(one * second) for one in column.tolist()] == [ticks[kind] for ticks in first]
    every = sum(ticks["io"] for ticks in sums.values())
    assert trace.cost.other_threads_io.sum() * second == pytest.approx(every - sum(ticks["io"] for ticks in first))
    assert trace.cost.any_io * second == pytest.approx(covered)
    assert not trace.cost.set_aside.any()


def test_parts_fill_the_window(fixtures):
    cost = open_trace(fixtures / "ckpt4_compiler").cost
    whole = cost.io + cost.mpi + cost.set_aside + cost.other
    assert whole == pytest.approx(cost.length)
    assert 0 < cost.most_saved <= cost.any_io


@pytest.mark.parametrize(
    ("io", "other", "any_io", "saved"),
    [
        # One rank writes while the other waits for it in MPI: all of the writing could go.
        ([4.0, 0.0], [6.0, 6.0], 4.0, 4.0),
        # Each rank in turn: no more than each needs for its own work can go.
        ([5.0, 5.0], [5.0, 5.0], 10.0, 5.0),
        # Another thread writes behind the first one's back.
        ([0.0], [10.0], 3.0, 0.0),
        # I/O is all there is.
        ([10.0], [0.0], 10.0, 10.0),
    ],
)
def test_free_io_saves_no_more_than_this(io, other, any_io, saved):
    columns = np.array(io), 10.0 - np.array(io) - np.array(other)
    cost = RunCost((0,) * len(io), *columns, np.zeros(len(io)), np.array(other), np.zeros(len(io)), any_io, 10.0)
    assert cost.most_saved == saved
    assert cost.to_dict()["most_saved_s"] == saved


def test_without_enter_and_leave_nothing_is_told(fixtures):
    assert open_trace(fixtures / "ior384").cost is None
