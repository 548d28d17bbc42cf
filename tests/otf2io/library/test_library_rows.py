"""Rows of the library engine against the official Python reader and `otf2-print`."""

import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import otf2
import pytest
from iostrata.model.codes import UNDEFINED_UINT32, UNDEFINED_UINT64
from iostrata.model.events import IoEvents
from iostrata.otf2io.archive import Archive

from ..reading import EventsRead

Read = Callable[[str], tuple[Archive, EventsRead]]

SMALL = ["aperiodic4", "ckpt4", "ckpt4_linktime", "ckpt8_unnested", "ncckpt4", "nonblocking4", "serial1", "threads2"]

PRINT_NAMES = {
    "IO_CREATE_HANDLE": 69,
    "IO_DESTROY_HANDLE": 70,
    "IO_DUPLICATE_HANDLE": 71,
    "IO_SEEK": 72,
    "IO_CHANGE_STATUS_FLAGS": 73,
    "IO_DELETE_FILE": 74,
    "IO_OPERATION_BEGIN": 75,
    "IO_OPERATION_TEST": 76,
    "IO_OPERATION_ISSUED": 77,
    "IO_OPERATION_COMPLETE": 78,
    "IO_OPERATION_CANCELLED": 79,
    "IO_ACQUIRE_LOCK": 80,
    "IO_RELEASE_LOCK": 81,
    "IO_TRY_LOCK": 82,
}


def columns(events: IoEvents, rows: Any = slice(None)) -> list[tuple[int, ...]]:
    names = ("location", "kind", "time", "handle", "mode", "flags", "matching", "value", "offset")
    return list(zip(*(getattr(events, name)[rows].tolist() for name in names), strict=True))


def high_level_rows(folder: Path) -> Iterator[tuple[int, ...]]:
    """Read an archive by the official Python package's reader and lay its I/O events out as rows."""
    none = UNDEFINED_UINT64
    with otf2.reader.open(str(folder / "traces.otf2")) as trace:
        start = trace.definitions.clock_properties.global_offset
        row_of = {location: row for row, location in enumerate(trace.definitions.locations)}
        for location, event in trace.events:
            name = type(event).__name__
            if not name.startswith("Io"):
                continue
            kind, mode, flags, matching, value, offset = 0, 0, 0, 0, 0, none
            if name == "IoDuplicateHandle":
                kind, handle, flags, value = 71, event.old_handle, event.status_flags.value, event.new_handle._ref
            elif name == "IoDeleteFile":
                kind, handle, mode, value = 74, None, event.io_paradigm._ref, event.file._ref
            else:
                handle = event.handle
            if name == "IoCreateHandle":
                kind, mode = 69, event.mode.value
                flags, value = event.status_flags.value, event.creation_flags.value
            elif name == "IoDestroyHandle":
                kind = 70
            elif name == "IoSeek":
                kind, mode, value, offset = 72, event.whence.value, event.offset_request % 2**64, event.offset_result
            elif name == "IoChangeStatusFlags":
                kind, flags = 73, event.status_flags.value
            elif name == "IoOperationBegin":
                kind, mode, flags = 75, event.mode.value, event.operation_flags.value
                matching, value = event.matching_id, event.bytes_request
                for attribute, content in (event.attributes or {}).items():
                    if attribute.name == "Offset":
                        offset = content
            elif name in ("IoOperationTest", "IoOperationIssued", "IoOperationCancelled"):
                kind = {"IoOperationTest": 76, "IoOperationIssued": 77, "IoOperationCancelled": 79}[name]
                matching = event.matching_id
            elif name == "IoOperationComplete":
                kind, matching, value = 78, event.matching_id, event.bytes_result
            elif name in ("IoAcquireLock", "IoReleaseLock", "IoTryLock"):
                kind, mode = {"IoAcquireLock": 80, "IoReleaseLock": 81, "IoTryLock": 82}[name], event.lock_type.value
            reference = UNDEFINED_UINT32 if handle is None else handle._ref
            yield row_of[location], kind, event.time - start, reference, mode, flags, matching, value, offset


@pytest.mark.parametrize("name", SMALL)
def test_rows_equal_the_official_python_reader(name: str, read_fixture: Read, fixtures: Path) -> None:
    archive, read = read_fixture(name)
    expected: list[list[tuple[int, ...]]] = [[] for _ in archive.definitions.locations.id]
    for row in high_level_rows(fixtures / name):
        expected[row[0]].append(row)
    assert columns(read.events) == [row for rows in expected for row in rows]


# Where otf2-print is not installed this count cannot be made; it is part of the OTF2 tools, not of the package otf2.
@pytest.mark.skipif(shutil.which("otf2-print") is None, reason="otf2-print, the independent count, is not installed")
def test_record_counts_equal_otf2_print(sound_name: str, read_fixture: Read, fixtures: Path) -> None:
    if sound_name == "ckpt4_compiler_flush":
        pytest.skip("778,508 lines of otf2-print; the same program without compiler events is ckpt4_compiler")
    _, read = read_fixture(sound_name)
    printed = subprocess.run(
        ["otf2-print", str(fixtures / sound_name / "traces.otf2")], capture_output=True, text=True, check=True
    ).stdout
    names = Counter(line.split(maxsplit=1)[0] for line in printed.splitlines() if line.startswith("IO_"))
    counted = Counter(read.events.kind.tolist())
    assert {PRINT_NAMES[name]: count for name, count in names.items()} == counted
