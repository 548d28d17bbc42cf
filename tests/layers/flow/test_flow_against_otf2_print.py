"""Flows and balances of real archives against plain loops over what otf2-print prints.

The loops share no code with the package: events in the order of each location's file, a list of what is in flight,
walks along the parents of handles.
"""

import re
import shutil
import subprocess
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from iostrata import open_trace

pytestmark = pytest.mark.skipif(shutil.which("otf2-print") is None, reason="otf2-print is not installed")

FIXTURES = Path(__file__).parents[3] / "fixtures"
NAMES = sorted(path.parent.name for path in FIXTURES.glob("*/traces.otf2") if "broken" not in path.parent.name)
HANDLE = re.compile(
    r'^IO_HANDLE +(\d+)  Name: ".*?" <\d+>, File: (?:UNDEFINED|".*?" <(\d+)>), I/O Paradigm: ".*?" <(\d+)>, '
    r"Flags: .*?, Communicator: .*?, Parent: (?:UNDEFINED|.* <(\d+)>)$"
)
FILE = re.compile(r'^IO_(?:REGULAR_FILE|DIRECTORY) +(\d+)  Name: "(.*?)" <\d+>')
PARADIGM = re.compile(r'^IO_PARADIGM +(\d+)  Identification: "(.*?)"')
BEGIN = re.compile(r'^IO_OPERATION_BEGIN +(\d+) +(\d+)  Handle: ".*" <(\d+)>, Mode: (\w+), .*Matching Id: (\d+)$')
COMPLETE = re.compile(
    r'^IO_OPERATION_(COMPLETE|CANCELLED) +(\d+) +(\d+)  Handle: ".*" <(\d+)>,(?: Bytes Result: (\w+),)? '
    r"Matching Id: (\d+)$"
)
ORDER = ["netCDF", "HDF5", "MPI-IO", "ISOC", "POSIX"]
SYSTEM = ("/proc/", "/sys/", "/dev/", "/etc/", "/usr/", "/lib", "/tmp/ompi.", "pipe:", "socket:", "anon_inode:")


@dataclass
class Operation:
    handle: int
    rank: int
    mode: str
    begin: int
    end: int | None = None
    moved: int = 0
    parent: "Operation | None" = None
    above: dict = field(default_factory=dict)


class Printed:
    """One archive, as its text says."""

    def __init__(self, anchor):
        text = subprocess.run(["otf2-print", "-G", anchor], capture_output=True, text=True, check=True).stdout
        self.parent, self.layer, self.file = {}, {}, {}
        paradigms, files = {}, {}
        for line in text.splitlines():
            if found := PARADIGM.match(line):
                paradigms[found[1]] = found[2]
            elif found := FILE.match(line):
                files[found[1]] = found[2]
            elif found := HANDLE.match(line):
                handle = int(found[1])
                self.file[handle] = files.get(found[2])
                self.layer[handle] = paradigms[found[3]]
                self.parent[handle] = None if found[4] is None else int(found[4])
        text = subprocess.run(["otf2-print", anchor], capture_output=True, text=True, check=True).stdout
        self.operations = []
        flying = defaultdict(list)
        by_key = defaultdict(list)
        for line in text.splitlines():
            if found := BEGIN.match(line):
                location, time, handle, mode, matching = (
                    int(found[1]),
                    int(found[2]),
                    int(found[3]),
                    found[4],
                    found[5],
                )
                operation = Operation(handle, location & 0xFFFFFFFF, mode, time)
                above = self.higher(handle)
                for other in flying[location]:
                    if other.handle in above:
                        operation.parent = other
                flying[location].append(operation)
                by_key[location & 0xFFFFFFFF, handle, matching].append((operation, location))
                self.operations.append(operation)
            elif found := COMPLETE.match(line):
                location, time = int(found[2]), int(found[3])
                waiting = by_key[location & 0xFFFFFFFF, int(found[4]), found[6]]
                mine = [entry for entry in waiting if entry[1] == location] or waiting
                operation, started = mine[0]
                waiting.remove(mine[0])
                flying[started].remove(operation)
                operation.end = time
                if found[1] == "COMPLETE" and int(found[5]) != 2**64 - 1:
                    operation.moved = int(found[5])

    def higher(self, handle):
        found, at = set(), self.parent[handle]
        while at is not None:
            if ORDER.index(self.layer[at]) < ORDER.index(self.layer[handle]):
                found.add(at)
            at = self.parent[at]
        return found

    def descends(self, handle, layer):
        at = self.parent[handle]
        while at is not None:
            if self.layer[at] == layer:
                return True
            at = self.parent[at]
        return False

    def application(self, handle):
        name = self.file[handle]
        if name is None or name.startswith(SYSTEM) or name.endswith(".sm"):
            return False
        return ".locktest." not in name and "/pmix" not in name and "/ompi." not in name

    def in_layer(self, operation, layer):
        at = operation.parent
        while at is not None and self.layer[at.handle] != layer:
            at = at.parent
        return at


@pytest.fixture(scope="module")
def printed(fixtures):
    known = {}

    def read(name):
        if name not in known:
            known[name] = Printed(str(fixtures / name / "traces.otf2")), open_trace(fixtures / name)
        return known[name]

    return read


@pytest.mark.parametrize("name", NAMES)
def test_flows(printed, name):
    text, trace = printed(name)
    assert trace.flows or name in ("threads2", "ior384", "serial1", "small_files2", "late4")
    for flow in trace.flows:
        mode = flow.direction.upper()
        some = [one for one in text.operations if one.mode == mode and text.application(one.handle)]
        upper = [one for one in some if text.layer[one.handle] == flow.upper]
        lower = [one for one in some if text.layer[one.handle] == flow.lower and text.descends(one.handle, flow.upper)]
        attributed = [one for one in lower if text.in_layer(one, flow.upper)]
        hidden = [one for one in lower if not text.in_layer(one, flow.upper)]
        assert (flow.upper_operations, flow.upper_bytes) == (len(upper), sum(one.moved for one in upper))
        assert (flow.lower_operations, flow.lower_bytes) == (len(lower), sum(one.moved for one in lower))
        assert flow.attributed_operations == len(attributed)
        assert flow.attributed_bytes == sum(one.moved for one in attributed)
        assert flow.fan_out == (len(attributed) / len(upper) if upper else None)
        assert flow.hidden_operations == len(hidden)
        assert flow.hidden_bytes == sum(one.moved for one in hidden)
        assert list(flow.upper_ranks.ranks.moving) == sorted({one.rank for one in upper if one.moved})
        assert list(flow.lower_ranks.ranks.moving) == sorted({one.rank for one in lower if one.moved})
        by_rank = defaultdict(int)
        for one in lower:
            by_rank[one.rank] += one.moved
        if sum(by_rank.values()):
            assert flow.lower_ranks.ranks.busiest_share == pytest.approx(max(by_rank.values()) / sum(by_rank.values()))
        against = [
            one
            for one in text.operations
            if one.mode == ("READ" if mode == "WRITE" else "WRITE")
            and text.layer[one.handle] == flow.lower
            and text.application(one.handle)
            and (above := text.in_layer(one, flow.upper))
            and above.mode == mode
            and text.application(above.handle)
        ]
        assert flow.against_bytes == sum(one.moved for one in against)
        children = defaultdict(set)
        for one in text.operations:
            above = text.in_layer(one, flow.upper)
            if above is not None and text.layer[one.handle] == flow.lower and above.end is not None:
                children[id(above)].add((max(one.begin, above.begin), min(one.end or above.end, above.end)))
        covered = sum(_union(children[id(above)]) for above in upper)
        assert round(flow.contained_s * trace.definitions.clock.ticks_per_second) == covered
        whole = flow.by_file
        assert whole.bytes["upper"].sum() == flow.upper_bytes
        assert whole.bytes["lower"].sum() == flow.lower_bytes
        files = defaultdict(int)
        for one in upper:
            files[text.file[one.handle]] += one.moved
        found = {row["file"]: row["upper_bytes"] for row in whole.to_dict() if row["upper_operations"]}
        assert found == files


def _union(intervals):
    length = 0
    reached = None
    for begin, end in sorted(intervals):
        begin = begin if reached is None else max(begin, reached)
        if end > begin:
            length += end - begin
            reached = end
    return length


@pytest.mark.parametrize("name", NAMES)
def test_balances_conserve_every_byte(printed, name):
    text, trace = printed(name)
    rows = {(one.layer, one.direction.upper()): one for one in trace.relations.balances}
    expected = defaultdict(lambda: defaultdict(int))
    for one in text.operations:
        if one.mode == "FLUSH":
            continue
        parts = expected[text.layer[one.handle], one.mode]
        parts["bytes"] += one.moved
        if not text.application(one.handle):
            parts["set_aside_bytes"] += one.moved
        elif one.parent is not None:
            parts["attributed_bytes"] += one.moved
        else:
            parts["without"] += one.moved
            if not text.higher(one.handle):
                parts["own"] += one.moved
    assert rows.keys() == expected.keys()
    for key, row in rows.items():
        parts = expected[key]
        assert row.bytes == parts["bytes"]
        assert row.attributed_bytes == parts["attributed_bytes"]
        assert row.set_aside_bytes == parts["set_aside_bytes"]
        assert row.inferred_bytes + row.hidden_bytes == parts["without"]
        assert row.own_bytes + row.inferred_bytes == parts["own"]
        assert row.attributed_bytes + row.inferred_bytes + row.hidden_bytes + row.set_aside_bytes == row.bytes


def test_what_the_archives_are_known_for(printed):
    def write(name, upper, lower):
        return printed(name)[1].flow(upper, lower, "write")

    # One to one on each of four ranks, in collective calls.
    assert write("ncckpt4", "netCDF", "HDF5").fan_out == 1.0
    assert write("ncckpt4", "netCDF", "HDF5").call_operations.mean == 4.0
    fill = write("ncckpt4", "netCDF", "POSIX")
    assert fill.amplification == pytest.approx(2.0, abs=1e-3)
    assert fill.attributed_amplification == pytest.approx(1.0, abs=1e-3)
    assert write("ncckpt4_nofill", "netCDF", "POSIX").amplification == pytest.approx(1.0, abs=1e-3)
    assert list(write("ckpt4", "MPI-IO", "POSIX").lower_ranks.ranks.moving) == [0]
    assert list(write("ckpt16", "MPI-IO", "POSIX").lower_ranks.ranks.moving) == [0, 8]
    assert list(write("ckpt4_romio", "MPI-IO", "POSIX").lower_ranks.ranks.moving) == [0, 1, 2, 3]
    # 4 MiB of MPI_File_preallocate have no MPI-IO operation around them.
    assert write("nonblocking4", "MPI-IO", "POSIX").hidden_bytes == 4 * 2**20
    assert (
        write("nonblocking4", "MPI-IO", "POSIX").lower_bytes
        == write("nonblocking4_nodupfd", "MPI-IO", "POSIX").lower_bytes
    )
