"""Numbers of findings against the same counted from the text of ``otf2-print``, which knows nothing of ours."""

import os
import re
import shutil
import subprocess
from collections import defaultdict
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from iostrata import open_trace
from iostrata.analysis.findings.find import find
from iostrata.analysis.findings.rules import RULES

pytestmark = pytest.mark.skipif(shutil.which("otf2-print") is None, reason="needs otf2-print of the OTF2 library")

BENCHMARKS = Path(os.environ.get("IOSTRATA_BENCHMARKS", Path(__file__).resolve().parents[4] / "shared" / "benchmarks"))
"""Recordings of known benchmarks, which are no part of the project."""

HANDLE = re.compile(
    r"IO_HANDLE +(\d+)  Name: \".*?\" <\d+>, File: (UNDEFINED|\".*\" <\d+>), I/O Paradigm: \".*?\" <(\d+)>, "
    r"Flags: .*?, Communicator: (UNDEFINED|\".*?\" <\d+>), Parent: (UNDEFINED|\".*\" <\d+>)$"
)
PARADIGM = re.compile(r"IO_PARADIGM +(\d+)  Identification: \"(.*?)\"")
OPERATION = re.compile(r"IO_OPERATION_(BEGIN|COMPLETE) +(\d+) +(\d+)  Handle: \".*\" <(\d+)>, (.*)Matching Id: (\d+)")
OTHER = re.compile(r"IO_(\w+) +(\d+) +(\d+)  ")
SYSTEM = ("/proc/", "/sys/", "/dev/", "/etc/", "/usr/", "/lib", "/tmp/ompi.")
RESOLUTION = re.compile(r"Ticks per Seconds: (\d+)")


@dataclass
class Operation:
    location: int
    handle: int
    begin: int
    end: int
    mode: str
    collective: bool
    moved: int
    offset: int | None


@dataclass
class Printed:
    """What there is, as printed: handles by their id are (file, paradigm, communicator, parent)."""

    paradigms: dict[int, str] = field(default_factory=dict)
    handles: dict[int, tuple[str, int, str, int | None]] = field(default_factory=dict)
    operations: list[Operation] = field(default_factory=list)
    events: list[tuple[str, int, int, str]] = field(default_factory=list)
    ticks_per_second: int = 0

    def layer(self, handle):
        return self.paradigms[self.handles[handle][1]]

    def is_application(self, handle):
        file = self.handles[handle][0].removeprefix('"file://').partition('"')[0]
        return file.startswith("/") and not file.startswith(SYSTEM) and ".locktest." not in file

    def below(self, handle, layer):
        """Tell whether a handle descends from one of a layer."""
        parent = self.handles[handle][3]
        while parent is not None:
            if self.layer(parent) == layer:
                return True
            parent = self.handles[parent][3]
        return False


def number(text):
    return None if text == "UNDEFINED" else int(text[text.rindex("<") + 1 : -1])


def printed(anchor):
    """Run ``otf2-print`` on an archive and read its text."""
    found, begun = Printed(), {}
    for line in text_of("-G", anchor):
        if match := PARADIGM.match(line):
            found.paradigms[int(match[1])] = match[2]
        elif match := HANDLE.match(line):
            parent = number(match[5])
            found.handles[int(match[1])] = (match[2], int(match[3]), match[4], parent)
        elif match := RESOLUTION.search(line):
            found.ticks_per_second = int(match[1])
    latest = None
    for line in text_of("", anchor):
        if match := OPERATION.match(line):
            kind, location, time, handle, more, matching = match.groups()
            key = int(location), int(handle), int(matching)
            if kind == "BEGIN":
                mode = re.search(r"Mode: (\w+)", more)[1]
                one = Operation(key[0], key[1], int(time), -1, mode, "COLLECTIVE" in more, 0, None)
                begun[key] = latest = one
            else:
                one = begun.pop(key)
                one.end, one.moved = int(time), int(re.search(r"Bytes Result: (\d+)", more)[1])
                found.operations.append(one)
                latest = None
        elif match := OTHER.match(line):
            found.events.append((match[1], int(match[2]), int(match[3]), line))
        elif latest is not None and (match := re.search(r'\("Offset" <\d+>; UINT64; (\d+)\)', line)):
            latest.offset = int(match[1])
    return found


def text_of(option, anchor):
    command = ["otf2-print", *([option] if option else []), str(anchor)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def archive(name, fixtures):
    """Return the folder of an archive of the project, or skip where a foreign one is not on this machine."""
    if (fixtures / name).is_dir():
        return fixtures / name
    if not (BENCHMARKS / name).is_dir():
        pytest.skip(f"no recording {name} on this machine (IOSTRATA_BENCHMARKS names their folder)")
    return BENCHMARKS / name


def look(name, fixtures):
    """Return the findings of an archive without thresholds of time and share, and what is printed of it."""
    folder = archive(name, fixtures)
    rules = [replace(rule, thresholds={**rule.thresholds, "share": 0, "seconds": 0, "bytes": 1}) for rule in RULES]
    (anchor,) = folder.glob("*.otf2")
    return find(open_trace(folder), rules), printed(anchor)


def overlap(begin, end, others):
    """Return for how long [begin, end] runs beside at least one of the others."""
    total, until = 0, begin
    for start, stop in sorted(others):
        start, stop = max(start, until), min(stop, end)
        if stop > start:
            total, until = total + stop - start, stop
    return total


@pytest.mark.parametrize("name", ["ckpt4", "ckpt16", "ncckpt4", "h5bench_write8"])
def test_ranks_wait_only_while_they_are_in_the_call(name, fixtures):
    found, text = look(name, fixtures)
    of_rank = defaultdict(list)
    for one in text.operations:
        of_rank[one.location].append(one)
    calls, places = defaultdict(list), defaultdict(int)
    for operations in of_rank.values():
        below = [one for one in operations if text.layer(one.handle) == "POSIX" and text.below(one.handle, "MPI-IO")]
        for one in sorted(operations, key=lambda one: one.begin):
            if text.layer(one.handle) == "MPI-IO" and one.collective:
                file, _, communicator, _ = text.handles[one.handle]
                key = one.location, file, communicator
                places[key] += 1
                moving = [
                    (low.begin, low.end)
                    for low in below
                    if one.begin <= low.begin and low.end <= one.end and low.moved and low.mode == one.mode
                ]
                calls[file, communicator, places[key]].append((one, moving))
    waiting = summed = 0
    for call in calls.values():
        transfers = [pair for one, moving in call for pair in moving if one.mode == "WRITE"]
        if not transfers:
            continue
        summed += sum(one.end - one.begin for one, _ in call)
        waiting += sum(overlap(one.begin, one.end, transfers) for one, moving in call if not moving)
    evidence = next(one for one in found if one.id == "waiting-ranks").evidence
    assert evidence["waiting_s"] == pytest.approx(waiting / text.ticks_per_second)
    assert evidence["share"] == pytest.approx(waiting / summed)
    assert 0 < evidence["share"] < 1
    if name == "h5bench_write8":
        assert evidence["waiting_s"] == pytest.approx(3.7, abs=0.05)
        assert evidence["share"] == pytest.approx(0.28, abs=0.005)


@pytest.mark.parametrize("name", ["ncckpt4_romio", "ncckpt4", "ior_mpiio_coll8"])
def test_every_read_of_what_a_process_wrote_counts(name, fixtures):
    found, text = look(name, fixtures)
    written, begun = defaultdict(list), {}
    operations = sorted(
        (one for one in text.operations if text.layer(one.handle) == "POSIX"), key=lambda one: one.begin
    )
    operations = [one for one in operations if text.is_application(one.handle) and one.offset is not None]
    for one in operations:
        if one.mode == "WRITE":
            written[one.location, text.handles[one.handle][0]].append((one.offset, one.offset + one.moved))
            begun.setdefault((one.location, text.handles[one.handle][0]), one.begin)
    back = total = 0
    for one in operations:
        key = one.location, text.handles[one.handle][0]
        if one.mode == "READ":
            total += one.moved
            if key in begun and one.begin > begun[key]:
                back += overlap(one.offset, one.offset + one.moved, written[key])
    evidence = [one for one in found if one.id == "read-back" and one.layer == "POSIX"]
    assert [one.evidence["read_back_bytes"] for one in evidence] == ([back] if back else [])
    if back:
        assert evidence[0].evidence["share"] == pytest.approx(back / total)
    if name == "ior_mpiio_coll8":
        # 8 repetitions of 32 MiB: rank 0, the only one to write, reads all again.
        assert back == 8 * 32 * 2**20
