"""`layers --json` against a count that shares no code with the package: `otf2-print`, added up line by line."""

import json
import re
import shutil
import subprocess
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

FIXTURES = Path(__file__).parents[2] / "fixtures"
ARCHIVES = sorted(path.parent for path in FIXTURES.glob("*/truth.json") if path.parent.name != "broken_race_corruption")
EXACT = [archive for archive in ARCHIVES if not archive.name.startswith("nonblocking")]
"""Those whose truth is exact by design."""
UNDEFINED = 2**64 - 1
ABOVE = {"POSIX": {"netCDF", "HDF5", "MPI-IO", "ISOC"}, "ISOC": {"netCDF", "HDF5", "MPI-IO"}}
ABOVE |= {"MPI-IO": {"netCDF", "HDF5"}, "HDF5": {"netCDF"}, "netCDF": set()}
NOISE = re.compile(r"^/(proc|sys|dev|etc|usr|lib\w*)(/|$)|^/tmp/ompi\.|\.sm$|\.locktest\.\d+$|/pmix")


@dataclass
class Printed:
    """What `otf2-print` says of an archive: bytes and operations by (layer, direction, own), and counts of events."""

    bytes: dict[tuple[str, str, bool], int]
    operations: dict[tuple[str, str, bool], int]
    events: int
    io_events: int


def number(text: str, key: str) -> int:
    return int(re.search(rf"{key}: (\d+)", text)[1])


def reference(text: str, key: str) -> int | None:
    found = re.search(rf"(?:^|, |\s){key}: \"[^\"]*\" <(\d+)>", text)
    return int(found[1]) if found else None


def printed(archive: Path) -> Printed:
    """Count by walking the printed text in the order of time, one record after the other."""
    anchor = archive / "traces.otf2"
    definitions = subprocess.run(["otf2-print", "-G", anchor], capture_output=True, text=True, check=True).stdout
    groups, paradigms, files, handles = {}, {}, {}, {}
    for line in definitions.splitlines():
        record, _, rest = line.partition(" ")
        found = re.match(r"\s*(\d+)\s+(.*)", rest)
        if not found:
            continue
        key, text = int(found[1]), found[2]
        if record == "LOCATION":
            groups[key] = reference(text, "Group")
        elif record == "IO_PARADIGM":
            paradigms[key] = re.search(r'Identification: "([^"]*)"', text)[1]
        elif record in ("IO_REGULAR_FILE", "IO_DIRECTORY"):
            files[key] = re.search(r'Name: "([^"]*)"', text)[1]
        elif record == "IO_HANDLE":
            handles[key] = (reference(text, "File"), reference(text, "I/O Paradigm"), reference(text, "Parent"))
    events = subprocess.run(["otf2-print", anchor], capture_output=True, text=True, check=True).stdout
    pending = defaultdict(deque)
    volume, count = defaultdict(int), defaultdict(int)
    total = io_events = 0
    for line in events.splitlines():
        found = re.match(r"([A-Z][A-Z0-9_]+)\s+(\d+)\s+(\d+)  ?(.*)", line)
        if not found:
            continue
        record, location, text = found[1], int(found[2]), found[4]
        total += 1
        if not record.startswith("IO_"):
            continue
        io_events += 1
        if not record.startswith("IO_OPERATION_"):
            continue
        handle = reference(text, "Handle")
        key = (groups[location], handle, number(text, "Matching Id"))
        if record == "IO_OPERATION_BEGIN":
            pending[key].append(re.search(r"Mode: (\w+)", text)[1].lower())
            name = classify(handle, handles, paradigms, files)
            if name and pending[key][-1] != "flush":
                count[(name[0], pending[key][-1], name[1])] += 1
        elif record in ("IO_OPERATION_COMPLETE", "IO_OPERATION_CANCELLED") and pending[key]:
            mode = pending[key].popleft()
            name = classify(handle, handles, paradigms, files)
            if record == "IO_OPERATION_COMPLETE" and name and mode != "flush":
                result = number(text, "Bytes Result")
                volume[(name[0], mode, name[1])] += 0 if result == UNDEFINED else result
    return Printed(volume, count, total, io_events)


def classify(handle, handles, paradigms, files):
    """Return (layer, own) of a handle of the application, None of one that is set aside."""
    file, paradigm, parent = handles[handle]
    if file is None or NOISE.search(files[file]) or not files[file].startswith("/"):
        return None
    layer = paradigms[paradigm]
    own = True
    while parent is not None:
        own = own and paradigms[handles[parent][1]] not in ABOVE[layer]
        parent = handles[parent][2]
    return layer, own


@pytest.mark.skipif(shutil.which("otf2-print") is None, reason="needs otf2-print (Debian package otf2-tools)")
@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda path: path.name)
def test_layers_equal_the_printed_text(document: Callable[..., Any], archive: Path) -> None:
    layers = document("layers", archive)
    expected = printed(archive)
    assert layers["trace"]["events"] == expected.events
    assert layers["trace"]["io_events"] == expected.io_events
    found = {(entry["layer"], entry["direction"]): entry for entry in layers["layers"]}
    assert set(found) == {key[:2] for key in expected.operations}
    for (layer, direction), entry in found.items():
        own, inherited = (layer, direction, True), (layer, direction, False)
        assert entry["bytes"] == expected.bytes[own] + expected.bytes[inherited]
        assert entry["own_bytes"] == expected.bytes[own]
        assert entry["operations"] == expected.operations[own] + expected.operations[inherited]
        assert entry["own_operations"] == expected.operations[own]


@pytest.mark.parametrize("archive", EXACT, ids=lambda path: path.name)
def test_layers_equal_the_truth_of_the_program(document: Callable[..., Any], archive: Path) -> None:
    layers = document("layers", archive)
    truth = json.loads((archive / "truth.json").read_text())["bytes_by_layer_all_ranks"]
    found = {(entry["layer"], entry["direction"]): entry for entry in layers["layers"]}
    if archive.name == "threads2":
        written = truth["POSIX_aio"]["write"] + truth["POSIX_called_by_program"]["write"]
        truth = {"POSIX_called_by_program": {"write": written, "read": 0}}
    recorded = {entry["layer"] for entry in layers["layers"]}
    checked = 0
    for layer, directions in truth.items():
        name, key = ("POSIX", "own_bytes") if layer == "POSIX_called_by_program" else (layer, "bytes")
        if name not in recorded and archive.name == "ncckpt4_plain":
            continue
        for direction, expected in directions.items():
            entry = found.get((name, direction))
            assert (entry[key] if entry else 0) == expected, (layer, direction)
            checked += 1
    assert checked
