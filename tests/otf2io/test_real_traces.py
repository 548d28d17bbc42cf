"""What the real archives hold that a reader must get right; the numbers of the tests are those of the list of quirks.

The counts come from each archive's MANIFEST.md and truth.json, which were made by other tools or by the traced program.
"""

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from iostrata.model.codes import UNDEFINED_UINT32, UNDEFINED_UINT64, IoFlag, IoMode, IoRecord, Status
from iostrata.model.definitions import Definitions
from iostrata.model.operations import Operations
from iostrata.otf2io.archive import Archive

from .reading import EventsRead

Read = Callable[[str], tuple[Archive, EventsRead]]
Matched = Callable[[str], tuple[Definitions, EventsRead, Operations]]

RECORDS = {
    "IoCreateHandle": 69,
    "IoDestroyHandle": 70,
    "IoDuplicateHandle": 71,
    "IoSeek": 72,
    "IoChangeStatusFlags": 73,
    "IoDeleteFile": 74,
    "IoOperationBegin": 75,
    "IoOperationTest": 76,
    "IoOperationIssued": 77,
    "IoOperationComplete": 78,
    "IoOperationCancelled": 79,
    "IoAcquireLock": 80,
    "IoReleaseLock": 81,
    "IoTryLock": 82,
}


@pytest.fixture
def matched(read_fixture: Read, collect: Callable[..., Any]) -> Matched:
    def match(name: str) -> tuple[Definitions, EventsRead, Operations]:
        archive, read = read_fixture(name)
        return archive.definitions, read, collect(archive, "library").operations

    return match


def layer_of(definitions: Definitions, operations: Operations) -> np.ndarray[Any, Any]:
    names = np.array([paradigm.identification for paradigm in definitions.paradigms])
    return names[definitions.handles.paradigm[operations.handle]]


def manifest(fixtures: Path, name: str, line: str) -> str | None:
    found = re.search(rf"^- {line}: (.*)$", (fixtures / name / "MANIFEST.md").read_text(), re.MULTILINE)
    return found and found.group(1)


def test_record_counts_of_the_manifest(sound_name: str, read_fixture: Read, fixtures: Path) -> None:
    text = manifest(fixtures, sound_name, "events")
    if text is None:
        assert sound_name == "ior384"
        text = "IoOperationBegin 61440, IoOperationComplete 61440, IoCreateHandle 768, IoDestroyHandle 768"
    counts = {name: int(count) for name, count in (part.split() for part in text.split(", "))}
    events = read_fixture(sound_name)[1].events
    assert Counter(events.kind.tolist()) == {kind: counts[name] for name, kind in RECORDS.items() if counts.get(name)}


def test_bytes_and_unfinished_operations_of_the_manifest(sound_name: str, matched: Matched, fixtures: Path) -> None:
    definitions, _, operations = matched(sound_name)
    if sound_name == "ior384":
        expected, unfinished = {"MPI-IO READ": 64_424_509_440, "MPI-IO WRITE": 64_424_509_440}, {}
    else:
        expected = json.loads(str(manifest(fixtures, sound_name, "bytes moved, all files, system files too")))
        unfinished = json.loads(str(manifest(fixtures, sound_name, "never completed")))
    moved: Counter[str] = Counter()
    layers = layer_of(definitions, operations)
    for layer, mode, amount in zip(
        layers.tolist(), operations.mode.tolist(), operations.bytes_moved.tolist(), strict=True
    ):
        moved[f"{layer} {IoMode(mode).name}"] += amount
    assert {key: amount for key, amount in moved.items() if amount} == expected
    assert Counter(layers[operations.status == Status.NEVER_COMPLETED].tolist()) == unfinished


def test_every_event_finds_its_operation(sound_name: str, read_fixture: Read, collect: Callable[..., Any]) -> None:
    found = collect(read_fixture(sound_name)[0])
    assert found.tally.unmatched == 0
    operations = found.operations
    ended = operations.status != Status.NEVER_COMPLETED
    assert np.all(operations.end[ended] >= operations.begin[ended])
    assert np.all(np.diff(operations.begin) >= 0)
    assert np.all(operations.handle >= 0)


def test_1_handle_ids_are_shared_by_processes_and_created_again(matched: Matched) -> None:
    definitions, read, operations = matched("ckpt4")
    creates = read.events.take(read.events.kind == IoRecord.CREATE_HANDLE)
    process = definitions.locations.group[creates.location]
    created = Counter(zip(process.tolist(), creates.handle.tolist(), strict=True))
    assert max(created.values()) > 1
    assert max(Counter(handle for _, handle in created).values()) == 4
    used = {(p, h) for p, h in zip(operations.process.tolist(), operations.handle.tolist(), strict=True)}
    assert max(Counter(handle for _, handle in used).values()) > 1
    same_process = definitions.locations.group[operations.end_location] == operations.process
    assert same_process.all()


@pytest.mark.parametrize("name", ["ckpt4", "nonblocking4"])
def test_2_matching_ids_are_used_again(name: str, matched: Matched) -> None:
    definitions, _, operations = matched(name)
    layers = layer_of(definitions, operations)
    posix = operations.matching[layers == "POSIX"].tolist()
    assert Counter(posix)[1] > 400
    # The parts of a vectored or listed call are in flight together and have ids of their own.
    assert (set(posix) == {1}) == (name == "ckpt4")
    assert set(operations.matching[layers == "ISOC"].tolist()) == {2}
    for process in range(4):
        mpi = operations.matching[(layers == "MPI-IO") & (operations.process == process)]
        assert len(set(mpi.tolist())) == len(mpi) > 0


def test_2_asynchronous_operations_end_on_another_thread(matched: Matched, fixtures: Path) -> None:
    definitions, _, operations = matched("threads2")
    asynchronous = (operations.flags & IoFlag.NON_BLOCKING) != 0
    assert asynchronous.sum() == 16
    assert np.all(operations.location[asynchronous] != operations.end_location[asynchronous])
    assert np.all(definitions.locations.group[operations.end_location] == operations.process)
    assert np.all(operations.issued[asynchronous] >= operations.begin[asynchronous])
    truth = json.loads((fixtures / "threads2" / "truth.json").read_text())
    assert operations.bytes_moved[asynchronous].sum() == truth["bytes_by_layer_all_ranks"]["POSIX_aio"]["write"]


def test_3_undefined_bytes(matched: Matched) -> None:
    _, _, operations = matched("nonblocking4")
    complete = operations.status == Status.COMPLETE
    flushes = operations.mode == IoMode.FLUSH
    assert flushes.any()
    assert np.all(operations.requested[flushes] == UNDEFINED_UINT64)
    assert np.all(operations.moved[flushes] == UNDEFINED_UINT64)
    unknown_request = (operations.requested == UNDEFINED_UINT64) & ~flushes
    assert set(operations.mode[unknown_request].tolist()) == {IoMode.READ, IoMode.WRITE}
    unknown_result = complete & ~flushes & (operations.moved == UNDEFINED_UINT64)
    assert unknown_result.any()


def test_3_results_never_exceed_requests(sound_name: str, matched: Matched) -> None:
    _, _, operations = matched(sound_name)
    known = (operations.requested != UNDEFINED_UINT64) & (operations.moved != UNDEFINED_UINT64)
    assert np.all(operations.moved[known] <= operations.requested[known])


def test_4_offsets_are_there_on_some_operations(matched: Matched) -> None:
    _, _, operations = matched("ckpt4")
    known = operations.offset != UNDEFINED_UINT64
    assert 0 < known.sum() < len(operations)
    assert operations.offset[known].max() < 10**9


def test_5_unfinished_things(matched: Matched) -> None:
    definitions, read, operations = matched("nonblocking4")
    assert (operations.status == Status.NEVER_COMPLETED).sum() == 12
    assert (operations.status == Status.CANCELLED).sum() == 8
    assert np.all(operations.moved[operations.status != Status.COMPLETE] == UNDEFINED_UINT64)
    events = read.events

    def handles(kind: IoRecord, column: str) -> set[tuple[int, int]]:
        rows = events.kind == kind
        process = definitions.locations.group[events.location[rows]]
        return set(zip(process.tolist(), getattr(events, column)[rows].tolist(), strict=True))

    created = handles(IoRecord.CREATE_HANDLE, "handle")
    duplicated = handles(IoRecord.DUPLICATE_HANDLE, "value")
    destroyed = handles(IoRecord.DESTROY_HANDLE, "handle")
    assert duplicated & destroyed - created
    assert created - destroyed


def test_6_precreated_handles(matched: Matched) -> None:
    definitions, read, operations = matched("nonblocking4")
    handles = definitions.handles
    ready = (handles.flags & 1) != 0
    names = {handles.name[row] for row in np.flatnonzero(ready)}
    assert {"STDOUT_FILENO", "stdout"} <= names
    assert np.all(handles.file[ready & handles.precreated] == -1)
    proxies = np.flatnonzero(handles.flags & 2)
    assert any("sync" in handles.name[row] for row in proxies)
    created = read.events.handle[read.events.kind == IoRecord.CREATE_HANDLE]
    assert not np.isin(handles.id[proxies], created).any()
    assert np.isin(operations.handle, np.flatnonzero(ready)).any()


def test_7_operations_that_are_not_nested(matched: Matched) -> None:
    _, _, operations = matched("nonblocking4")
    crossing = 0
    for location in np.unique(operations.location):
        mine = operations.take((operations.location == location) & (operations.status == Status.COMPLETE))
        ends: list[int] = []
        for begin, end in zip(mine.begin.tolist(), mine.end.tolist(), strict=True):
            ends = [open_end for open_end in ends if open_end > begin]
            crossing += any(open_end < end for open_end in ends)
            ends.append(end)
    assert crossing > 0


def chains(definitions: Definitions) -> Counter[str]:
    handles = definitions.handles
    found: Counter[str] = Counter()
    for row in range(len(handles.id)):
        names, at = [], row
        while at >= 0:
            names.append(definitions.paradigms[handles.paradigm[at]].identification)
            at = int(handles.parent[at])
        found[" < ".join(names)] += 1
    return found


def test_8_bogus_parents_are_handed_on_as_recorded(read_fixture: Read, fixtures: Path) -> None:
    for name in ("nonblocking4", "nonblocking4_nodupfd", "ckpt4", "ncckpt4"):
        expected = json.loads(str(manifest(fixtures, name, r"handle chains \(child < parent\)")))
        assert chains(read_fixture(name)[0].definitions) == expected
    assert chains(read_fixture("nonblocking4")[0].definitions)["POSIX < POSIX"] == 28


def test_9_parents_on_another_file(matched: Matched) -> None:
    definitions, _, _ = matched("nonblocking4")
    handles, files = definitions.handles, definitions.files
    strays = [
        files.name[handles.file[row]]
        for row in np.flatnonzero(handles.parent >= 0)
        if definitions.paradigms[handles.paradigm[handles.parent[row]]].identification == "MPI-IO"
        and handles.file[row] != handles.file[handles.parent[row]]
    ]
    assert any(name.endswith(".sm") or ".locktest." in name for name in strays)


def test_10_noise_of_the_start_is_read_too(matched: Matched) -> None:
    definitions, _, operations = matched("ckpt4")
    names = np.array([*definitions.files.name, ""])[definitions.handles.file[operations.handle]]
    system = np.char.startswith(names, "/proc") | np.char.startswith(names, "/sys")
    assert system.sum() > 900


def test_11_split_collectives_complete_at_their_end_call(matched: Matched) -> None:
    _, _, operations = matched("nonblocking4")
    both = operations.take(operations.flags == IoFlag.NON_BLOCKING | IoFlag.COLLECTIVE)
    assert len(both) == 20
    assert np.all(both.status == Status.COMPLETE)
    assert np.all(both.end > both.begin)
    open_ones = operations.take((operations.flags & IoFlag.NON_BLOCKING) != 0)
    overtaken = 0
    for location in np.unique(open_ones.location):
        mine = open_ones.take((open_ones.location == location) & (open_ones.status == Status.COMPLETE))
        overtaken += int(np.any(np.diff(mine.end) < 0)) + int(np.any(mine.begin[1:] < mine.end[:-1]))
    assert overtaken > 0


def test_13_communicators_of_handles(matched: Matched) -> None:
    definitions, _, _ = matched("ncckpt4")
    handles = definitions.handles
    layers = np.array([p.identification for p in definitions.paradigms])[handles.paradigm]
    known = {communicator.id for communicator in definitions.communicators}
    mpi = handles.communicator[(layers == "MPI-IO") & (handles.file >= 0)]
    assert len(mpi) > 0
    assert set(mpi.tolist()) <= known
    assert np.all(handles.communicator[np.isin(layers, ["POSIX", "ISOC"])] == UNDEFINED_UINT32)


def test_14_mpi_io_bytes_are_those_the_program_wrote(matched: Matched, fixtures: Path) -> None:
    for name in ("ckpt4", "ckpt4_romio", "ckpt16", "mixed4", "nonblocking4", "ckpt8_unnested"):
        definitions, _, operations = matched(name)
        truth = json.loads((fixtures / name / "truth.json").read_text())["bytes_by_layer_all_ranks"]["MPI-IO"]
        mpi = operations.take(layer_of(definitions, operations) == "MPI-IO")
        assert mpi.bytes_moved[mpi.mode == IoMode.WRITE].sum() == truth["write"]
        assert mpi.bytes_moved[mpi.mode == IoMode.READ].sum() == truth["read"]


def test_times_are_those_of_the_program(matched: Matched, fixtures: Path) -> None:
    definitions, _, operations = matched("nonblocking4")
    truth = json.loads((fixtures / "nonblocking4" / "truth.json").read_text())
    layers = layer_of(definitions, operations)
    rank_0 = operations.take((layers == "MPI-IO") & (operations.process == 0) & (operations.mode == IoMode.WRITE))
    begins = rank_0.begin + definitions.clock.start
    for event in truth["iwrite"]["events"]:
        # 1 ms: the program takes its time before it enters the call.
        assert np.min(np.abs(begins - event["start_monotonic_raw_ns"])) < 1_000_000
