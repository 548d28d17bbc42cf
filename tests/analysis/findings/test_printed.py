"""Numbers of findings against the same counted from the text of ``otf2-print``, which knows nothing of ours."""

import json
import re
import shutil
import subprocess
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace

import pytest
from iostrata import open_trace
from iostrata.analysis.findings import find, rules
from iostrata.model.codes import IoRecord

pytestmark = pytest.mark.skipif(shutil.which("otf2-print") is None, reason="needs otf2-print of the OTF2 library")

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
        return is_application(self.handles[handle][0].removeprefix('"file://').partition('"')[0])

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


def is_application(file):
    aside = file.startswith(SYSTEM) or ".locktest." in file or "/pmix" in file or file.endswith(".sm")
    return file.startswith("/") and not aside


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


@pytest.fixture
def archive(request, fixtures):
    """Return a function that returns the folder of an archive: of the project, or of a benchmark."""

    def folder(name):
        own = fixtures / name
        return own if own.is_dir() else request.getfixturevalue("recordings") / "benchmarks" / name

    return folder


def recorded(*names):
    """Return benchmarks as parameters of tests that are marked for them."""
    return [pytest.param(name, marks=pytest.mark.recordings) for name in names]


def look(folder):
    """Return the findings of an archive without thresholds of time and share, and what is printed of it."""
    least = {"least_share": 0, "least_s": 0, "least_bytes": 1}
    low = [
        replace(rule, thresholds={name: least.get(name, value) for name, value in rule.thresholds.items()})
        for rule in rules()
    ]
    (anchor,) = folder.glob("*.otf2")
    return find(open_trace(folder), low), printed(anchor)


def overlap(begin, end, others):
    """Return for how long [begin, end] runs beside at least one of the others."""
    total, until = 0, begin
    for start, stop in sorted(others):
        start, stop = max(start, until), min(stop, end)
        if stop > start:
            total, until = total + stop - start, stop
    return total


@pytest.mark.parametrize("name", ["ckpt4", "ckpt16", "ncckpt4", *recorded("h5bench_write8", "btio_pnetcdf9")])
def test_ranks_wait_only_while_they_are_in_the_call(name, archive):
    found, text = look(archive(name))
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


@pytest.mark.parametrize("name", ["ncckpt4_romio", "ncckpt4", *recorded("ior_mpiio_coll8")])
def test_every_read_of_what_a_process_wrote_counts(name, archive):
    found, text = look(archive(name))
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


@pytest.mark.parametrize("name", ["ncckpt4", *recorded("mdtest8", "pair_xfer_4k")])
def test_opens_and_deletions_of_the_program_are_those_printed(name, archive):
    folder = archive(name)
    (anchor,) = folder.glob("*.otf2")
    text, trace = printed(anchor), open_trace(folder)
    expected = Counter()
    for kind, _, _, line in text.events:
        if kind == "DELETE_FILE":
            expected[IoRecord.DELETE_FILE] += is_application(re.search(r'File: "file://(.*)" <', line)[1])
        elif kind in ("CREATE_HANDLE", "DESTROY_HANDLE", "SEEK"):
            handle = number(re.search(r'Handle: (".*?" <\d+>)', line)[1])
            if text.layer(handle) == "POSIX" and text.is_application(handle):
                expected[IoRecord[kind]] += 1
    kinds = trace.sums.handles.kinds_of(trace.order.index("POSIX"))
    assert {kind: kinds.get(kind, 0) for kind in expected} == expected
    created = sum(
        "CREATE" in re.search(r"Creation Flags: (\{.*?\}|\w+)", line)[1]
        and text.is_application(handle)
        and text.layer(handle) == "POSIX"
        for kind, _, _, line in text.events
        if kind == "CREATE_HANDLE"
        for handle in [number(re.search(r'Handle: (".*?" <\d+>)', line)[1])]
    )
    told = trace.sums.handles.text_of(trace.order.index("POSIX"))
    assert (f"opens ({created:,} of them to create)" in told) is (created > 0)
    if name == "mdtest8":
        assert (expected[IoRecord.CREATE_HANDLE], expected[IoRecord.DELETE_FILE]) == (1160, 576)
        assert created == 8 * 4 * 18  # 8 ranks, 4 iterations, 18 files each
    storms = [one for one in find(trace) if one.id == "metadata-storm"]
    # Of IOR's metadata operations nearly all are the seek before each transfer.
    assert bool(storms) is (name == "mdtest8")


@pytest.mark.filterwarnings("ignore:.*claim to be more than an hour outside")
@pytest.mark.parametrize("name", ["ncckpt4", "ckpt4", *recorded("ior_fsync_per_write")])
def test_flushes_and_writes_take_as_long_as_printed(name, archive):
    found, text = look(archive(name))
    intervals = defaultdict(list)
    for one in text.operations:
        if text.is_application(one.handle):
            intervals[text.layer(one.handle), one.mode, one.location].append(one.end - one.begin)
    seconds = defaultdict(float)
    for (layer, mode, _), times in intervals.items():
        seconds[layer, mode] = max(seconds[layer, mode], sum(times) / text.ticks_per_second)
    order = ("netCDF", "HDF5", "MPI-IO", "ISOC", "POSIX")
    flushes = sorted((one for one in found if one.id == "flush-dominates"), key=lambda one: order.index(one.layer))
    assert bool(flushes) is any(mode == "FLUSH" for _, mode in seconds)
    for one in flushes:
        # What a flush of a higher layer causes is not told again.
        within = seconds[one.layer, "FLUSH"]
        assert 0 < one.evidence["flush_s"] <= within + 1e-9
        # What ranks wait for the last of them to come is no time of flushes and writes.
        assert one is not flushes[0] or one.evidence["flush_s"] == pytest.approx(within, rel=0.05)
        assert one.evidence["write_s"] == pytest.approx(seconds[one.layer, "WRITE"], rel=0.05)
    if name == "ior_fsync_per_write":
        assert (seconds["POSIX", "FLUSH"], seconds["POSIX", "WRITE"]) == pytest.approx((0.45, 0.05), abs=0.01)
        assert next(one for one in found if one.severity == "warning").id == "flush-dominates"


@pytest.mark.recordings
@pytest.mark.parametrize(
    ("one", "other", "knob", "opposite"),
    [
        ("pair_xfer_4k", "pair_xfer_1m", "more per call", ("smaller requests", "less per call")),
        ("pair_strided_indep", "pair_strided_coll", "independent calls", ("MPI_File_write_at_all",)),
        # OMPIO against ROMIO: no advice names the other library, and none may ask for the slower one.
        ("pair_ompio", "pair_romio", None, ("use ROMIO", "--mca io romio")),
    ],
)
def test_advice_for_the_slower_of_a_pair_never_is_the_opposite_of_what_helped(one, other, knob, opposite, archive):
    rates = {}
    for name in (one, other):
        results = json.loads((archive(name) / "truth.json").read_text())["repetitions"]
        writes = [row["bwMiB"] for row in results if row["access"] == "write"]
        rates[name] = sum(writes) / len(writes)
    slower = min(rates, key=rates.__getitem__)
    advice = [found.advice for found in find(open_trace(archive(slower)))]
    assert advice
    assert not [text for text in advice if any(words.lower() in text.lower() for words in opposite)]
    if knob is not None:
        assert knob in advice[0]


@pytest.mark.parametrize("name", recorded("sig_run1", "sig_run2", "sig_run5", "pair_ompio"))
def test_opening_and_closing_costs_what_the_benchmark_itself_says(name, archive):
    text = (archive(name) / "benchmark_output.txt").read_text()
    own = sum(float(one) for one in re.findall(r'"(?:open|close)Time": ([0-9.]+)', text))
    (one,) = (one for one in find(open_trace(archive(name))) if one.id == "metadata-time")
    assert (one.layer, one.severity) == ("MPI-IO", "warning")
    # The benchmark counts what ranks wait for the last one there as well.
    assert 0.85 * own <= one.cost_s <= 1.1 * own


@pytest.mark.recordings
def test_slow_operations_are_in_the_repetition_that_the_benchmark_says_was_slow(archive):
    text = (archive("ior_large16") / "benchmark_output.txt").read_text()
    took = [float(one) for one in re.findall(r'"access": "write".*?"totalTime": ([0-9.]+)', text, re.DOTALL)]
    assert took[0] == max(took) > 5 * sorted(took)[-2]
    findings = find(open_trace(archive("ior_large16")))
    assert findings[0].id == "slow-operations"
    start, end = findings[0].time_range
    assert end - start == pytest.approx(took[0], rel=0.1)


def test_slow_ranks_are_busy_for_as_long_as_printed(archive):
    found, text = look(archive("ior384"))
    busy = defaultdict(float)
    for one in text.operations:
        if one.mode == "WRITE":
            busy[one.location] += (one.end - one.begin) / text.ticks_per_second
    slow = [seconds for rank, seconds in busy.items() if rank >= 96]
    fast = [seconds for rank, seconds in busy.items() if rank < 96]
    one = next(one for one in found if one.id == "slow-ranks")
    assert "(288 in all)" in one.text
    assert one.evidence["direction"] == "write"
    assert (one.evidence["slowest_s"], one.evidence["fastest_s"]) == pytest.approx((max(slow), min(fast)))
