"""The direct engine against the library engine: every record type, mapping, clock, attribute list, chunk boundary."""

import itertools
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import otf2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata.model.codes import UNDEFINED_UINT64, IoRecord
from iostrata.model.events import IoEvents
from iostrata.model.stream.calls import EventBatch, RegionEvents
from iostrata.otf2io.archive import Archive, open_archive
from iostrata.otf2io.direct.walk import DirectWalk

from ..reading import EventsRead, read_events

Read = Callable[[str], tuple[Archive, EventsRead]]
Check = Callable[[IoEvents, IoEvents], None]

UNDEFINED_ID = 2**32 - 1
ATTRIBUTE, REGION, IO_FILE, IO_HANDLE = 1, 3, 12, 13


@pytest.fixture
def check_engines(assert_same_events: Check) -> Callable[[Path], EventsRead]:
    """Return a function that reads an archive by both engines, compares them and gives what they read."""

    def check(folder: Path) -> EventsRead:
        archive = open_archive(folder)
        expected = read_events(archive, "library")
        found = read_events(archive, "direct")
        assert_same_events(found.events, expected.events)
        assert found.counts.tolist() == expected.counts.tolist()
        assert found.damage == expected.damage
        return found

    return check


@pytest.mark.parametrize("workers", [1, 3])
def test_same_rows_as_the_library(workers: int, sound_name: str, read_fixture: Read, assert_same_events: Check) -> None:
    archive, expected = read_fixture(sound_name)
    found = read_events(archive, "direct", workers=workers)
    assert_same_events(found.events, expected.events)
    assert found.counts.tolist() == expected.counts.tolist()
    assert found.damage == expected.damage
    assert not found.damage.damaged


@pytest.mark.parametrize("rows", [1, 1000])
def test_batches_are_the_same_rows(rows: int, read_fixture: Read, assert_same_events: Check) -> None:
    archive, expected = read_fixture("ckpt4_compiler_flush")
    walk = DirectWalk(archive.anchor, archive.definitions)
    parts = [
        IoEvents.concatenate([batch.events, IoEvents.empty()])
        for batch in walk.batches(0, len(archive.definitions.locations.id), rows=rows)
    ]
    assert len(parts) > 2
    assert_same_events(IoEvents.concatenate(parts), expected.events)


def test_progress_reaches_all_events(fixtures: Path) -> None:
    archive = open_archive(fixtures / "ckpt16")
    calls: list[tuple[int, int]] = []
    read_events(archive, "direct", 2, lambda done, total: calls.append((done, total)))
    assert calls[-1] == (50980, 50980)
    assert [done for done, _ in calls] == sorted({done for done, _ in calls})


@pytest.mark.parametrize("rows", [1, 1000, 2**20])
def test_each_event_is_told_once_while_batches_are_read(rows: int, fixtures: Path) -> None:
    archive = open_archive(fixtures / "ckpt16")
    told: list[int] = []
    walk = DirectWalk(archive.anchor, archive.definitions)
    for _ in walk.batches(2, 9, rows, told.append):
        pass
    assert sum(told) == archive.definitions.locations.events[2:9].sum()
    assert min(told) >= 0
    assert (len(told) > 2) == (rows < 2**20)


def kept(batches: Iterable[EventBatch]) -> list[EventBatch]:
    """Return batches whose columns hold when others are asked for."""
    return [EventBatch(IoEvents.concatenate([one.events]), RegionEvents.concatenate([one.regions])) for one in batches]


def join_regions(batches: list[EventBatch]) -> RegionEvents:
    """Return Enter and Leave of batches, positions counted over the I/O events of all of them."""
    starts = itertools.accumulate((len(batch.events) for batch in batches), initial=0)
    parts = [replace(one.regions, position=one.regions.position + at) for one, at in zip(batches, starts, strict=False)]
    return RegionEvents.concatenate(parts)


@pytest.mark.parametrize("name", ["ckpt4_linktime", "ncckpt4_plain", "threads2"])
def test_regions_as_the_official_reader_gives_them(name: str, fixtures: Path) -> None:
    archive = open_archive(fixtures / name)
    definitions = archive.definitions
    with otf2.reader.open(str(fixtures / name / "traces.otf2")) as trace:
        wanted = [region._ref for region in trace.definitions.regions if region._ref % 3 == 0]
    walk = DirectWalk(archive.anchor, definitions, wanted)
    found = join_regions(kept(walk.batches(0, len(definitions.locations.id))))
    expected: list[list[tuple[int, int, int, bool]]] = [[] for _ in definitions.locations.id]
    with otf2.reader.open(str(fixtures / name / "traces.otf2")) as trace:
        rows = {location: row for row, location in enumerate(trace.definitions.locations)}
        for location, event in trace.events:
            if isinstance(event, (otf2.events.Enter, otf2.events.Leave)) and event.region._ref in wanted:
                enter = isinstance(event, otf2.events.Enter)
                row = rows[location]
                expected[row].append((row, event.time - definitions.clock.start, event.region._ref, enter))
    rows_found = list(zip(*(x.tolist() for x in (found.location, found.time, found.region, found.enter)), strict=True))
    assert rows_found == [row for rows in expected for row in rows]
    assert len(rows_found) > 10


def test_positions_of_regions_do_not_depend_on_batches(fixtures: Path) -> None:
    archive = open_archive(fixtures / "ckpt4_compiler_flush")
    wanted = list(range(400))
    locations = len(archive.definitions.locations.id)
    at_once = kept(DirectWalk(archive.anchor, archive.definitions, wanted).batches(0, locations, 10**6))
    assert len(at_once) == 1
    whole = at_once[0]
    batches = kept(DirectWalk(archive.anchor, archive.definitions, wanted).batches(0, locations, rows=1))
    joined = join_regions(batches)
    assert len(batches) > 2
    assert len(joined) == len(whole.regions) > 100
    for name in ("location", "time", "region", "enter", "position"):
        assert np.array_equal(getattr(joined, name), getattr(whole.regions, name))
    assert (np.diff(joined.position) >= 0).all()
    # An Enter or Leave stands between the I/O events around its position.
    inner = joined.position < len(whole.events)
    inner[inner] = whole.events.location[joined.position[inner]] == joined.location[inner]
    assert (joined.time[inner] <= whole.events.time[joined.position[inner]]).all()
    assert inner.sum() > 100


ALL_RECORDS: list[tuple[str, tuple[Any, ...]]] = [
    ("IoCreateHandle", (3, 2, 5, 9)),
    ("IoCreateHandle", (4, 0, UNDEFINED_ID, 0)),
    ("IoDestroyHandle", (3,)),
    ("IoDestroyHandle", (UNDEFINED_ID,)),
    ("IoDuplicateHandle", (3, 4, 7)),
    ("IoSeek", (3, -5, 1, 77)),
    ("IoSeek", (3, 2**63 - 1, 0, UNDEFINED_UINT64)),
    ("IoChangeStatusFlags", (300, 2**31)),
    ("IoDeleteFile", (0, 12)),
    ("IoDeleteFile", (255, UNDEFINED_ID)),
    ("IoOperationBegin", (3, 1, 3, 2**40, 2**63)),
    ("IoOperationBegin", (3, 2, 0, UNDEFINED_UINT64, 0)),
    ("IoOperationTest", (3, 2**63)),
    ("IoOperationIssued", (3, 2**63)),
    ("IoOperationComplete", (3, 2**40 - 1, 2**63)),
    ("IoOperationComplete", (3, UNDEFINED_UINT64, UNDEFINED_UINT64)),
    ("IoOperationCancelled", (3, 0)),
    ("IoAcquireLock", (3, 1)),
    ("IoReleaseLock", (3, 1)),
    ("IoTryLock", (3, 0)),
]

OTHER_RECORDS: list[tuple[str, tuple[Any, ...]]] = [
    ("BufferFlush", (2**60,)),
    ("MeasurementOnOff", (1,)),
    ("Enter", (300,)),
    ("Leave", (UNDEFINED_ID,)),
    ("MpiSend", (1, 2, 3, 2**50)),
    ("MpiIsend", (1, 2, 3, 4, 2**50)),
    ("MpiIsendComplete", (2**64 - 1,)),
    ("MpiIrecvRequest", (0,)),
    ("MpiRecv", (1, 2, 3, 4)),
    ("MpiIrecv", (1, 2, 3, 4, 5)),
    ("MpiRequestTest", (2**50,)),
    ("MpiRequestCancelled", (7,)),
    ("MpiCollectiveBegin", ()),
    ("MpiCollectiveEnd", (1, 2, 3, 4, 5)),
    ("OmpFork", (3,)),
    ("OmpJoin", ()),
    ("OmpAcquireLock", (1, 2)),
    ("OmpReleaseLock", (1, 2)),
    ("OmpTaskCreate", (2**40,)),
    ("OmpTaskSwitch", (0,)),
    ("OmpTaskComplete", (2**64 - 1,)),
    ("ParameterString", (1, 2)),
    ("ParameterInt", (1, -1)),
    ("ParameterUnsignedInt", (1, 2**64 - 1)),
    ("RmaWinCreate", (1,)),
    ("RmaWinDestroy", (1,)),
    ("RmaCollectiveBegin", ()),
    ("RmaCollectiveEnd", (1, 2, 3, 4, 5, 6)),
    ("RmaGroupSync", (1, 2, 3)),
    ("RmaRequestLock", (1, 2, 3, 1)),
    ("RmaAcquireLock", (1, 2, 3, 1)),
    ("RmaTryLock", (1, 2, 3, 1)),
    ("RmaReleaseLock", (1, 2, 3)),
    ("RmaSync", (1, 2, 1)),
    ("RmaWaitChange", (1,)),
    ("RmaPut", (1, 2, 3, 4)),
    ("RmaGet", (1, 2, 3, 4)),
    ("RmaAtomic", (1, 2, 1, 4, 5, 6)),
    ("RmaOpCompleteBlocking", (1, 2)),
    ("RmaOpCompleteNonBlocking", (1, 2)),
    ("RmaOpTest", (1, 2)),
    ("RmaOpCompleteRemote", (1, 2)),
    ("ThreadFork", (1, 2)),
    ("ThreadJoin", (1,)),
    ("ThreadTeamBegin", (1,)),
    ("ThreadTeamEnd", (1,)),
    ("ThreadAcquireLock", (1, 2, 3)),
    ("ThreadReleaseLock", (1, 2, 3)),
    ("ThreadTaskCreate", (1, 2, 3)),
    ("ThreadTaskSwitch", (1, 2, 3)),
    ("ThreadTaskComplete", (1, 2, 3)),
    ("ThreadCreate", (1, 2**63)),
    ("ThreadBegin", (1, 2)),
    ("ThreadWait", (1, 2)),
    ("ThreadEnd", (1, 2)),
    ("CallingContextEnter", (1, 2)),
    ("CallingContextLeave", (1,)),
    ("CallingContextSample", (1, 2, 3)),
    ("ProgramBegin", (1, list(range(1000, 1200)))),
    ("ProgramEnd", (-1,)),
    ("CommCreate", (1,)),
    ("CommDestroy", (1,)),
]


def test_every_record_type(
    written_archive: Any, new_location: Any, check_engines: Callable[[Path], EventsRead]
) -> None:
    events = [(name, 10 + 3 * i, values, ()) for i, (name, values) in enumerate(ALL_RECORDS + OTHER_RECORDS)]
    mirrored = [(name, 10 + 3 * i, event[2], ()) for i, event in enumerate(events[::-1]) for name in event[:1]]
    read = check_engines(written_archive([new_location(events), new_location(mirrored)]))
    assert set(read.events.kind.tolist()) == {int(kind) for kind in IoRecord}
    assert read.counts.tolist() == [len(events)] * 2


def test_values_of_all_sizes(
    written_archive: Any, new_location: Any, check_engines: Callable[[Path], EventsRead]
) -> None:
    numbers = sorted({value for bits in range(0, 65, 4) for value in (2**bits - 1, 2**bits % 2**64)})
    # More bytes than that in one operation are damage.
    sizes = [number if number <= 2**48 or number == UNDEFINED_UINT64 else 2**48 for number in numbers]
    events = [
        ("IoOperationBegin", 100 + i, (number % 2**32, 0, number % 2**32, sizes[i], numbers[-1 - i]), ())
        for i, number in enumerate(numbers)
    ]
    read = check_engines(written_archive([new_location(events)]))
    assert read.events.value.tolist() == sizes
    assert read.events.matching.tolist() == numbers[::-1]
    assert read.events.handle.tolist() == [number % 2**32 for number in numbers]


@pytest.mark.parametrize(
    "attributes",
    [
        ((5, "Uint64", 0),),
        ((5, "Uint64", UNDEFINED_UINT64),),
        ((5, "Uint64", 2**40), (7, "Uint64", 3)),
        ((1, "Uint8", 255), (2, "Uint16", 65535), (3, "Uint32", 2**32 - 1), (5, "Uint64", 77)),
        ((1, "Int8", -1), (2, "Int16", -2), (3, "Int32", -3), (4, "Int64", -4), (5, "Uint64", 78)),
        ((1, "Float", 1.5), (2, "Double", 2.5), (3, "StringRef", 300), (5, "Uint64", 79)),
        ((1, "RegionRef", 1), (2, "LocationRef", 2**40), (3, "IoHandleRef", 2), (5, "Uint64", 80)),
        ((5, "Uint32", 81),),
        ((5, "Int64", 82),),
        (*((100 + i, "Uint64", 2**60 + i) for i in range(60)), (5, "Uint64", 83)),
    ],
)
def test_attribute_lists(
    attributes: Any, written_archive: Any, new_location: Any, check_engines: Callable[[Path], EventsRead]
) -> None:
    begin = (3, 0, 0, 100, 1)
    events = [
        ("Enter", 10, (1,), attributes),
        ("IoOperationBegin", 11, begin, ()),
        ("IoOperationBegin", 12, begin, attributes),
        ("IoOperationBegin", 12, begin, ()),
        ("IoOperationComplete", 12, (3, 100, 1), attributes),
        ("MpiCollectiveBegin", 13, (), attributes),
        ("IoSeek", 13, (3, 0, 0, 5), attributes),
        ("IoOperationBegin", 13, begin, attributes),
    ]
    read = check_engines(written_archive([new_location(events)]))
    value = next(value for identity, kind, value in attributes if identity == 5)
    expected = value if ("Uint64" in {kind for identity, kind, _ in attributes if identity == 5}) else UNDEFINED_UINT64
    assert read.events.offset[[1, 5]].tolist() == [expected] * 2
    assert read.events.offset[[0, 2]].tolist() == [UNDEFINED_UINT64] * 2


MAPS = {
    "dense": (False, [(i, 19 - i) for i in range(20)]),
    "dense with holes": (False, [(0, 7), (1, UNDEFINED_ID), (2, 3)]),
    "dense, many to one": (False, [(i, 4) for i in range(6)]),
    "sparse": (True, [(2, 9), (3, 1), (17, 0), (300, 5)]),
}


@pytest.mark.parametrize("name", MAPS)
def test_id_maps(
    name: str, written_archive: Any, new_location: Any, check_engines: Callable[[Path], EventsRead]
) -> None:
    handles = [*range(20), 299, 300, 301, 2**31, UNDEFINED_ID - 1, UNDEFINED_ID]
    events: list[Any] = [("IoDestroyHandle", 10 + i, (handle,), ()) for i, handle in enumerate(handles)]
    events += [("IoDuplicateHandle", 100 + i, (handle, handles[-1 - i], 0), ()) for i, handle in enumerate(handles)]
    events += [("IoDeleteFile", 200 + i, (0, handle), ()) for i, handle in enumerate(handles)]
    maps = {IO_HANDLE: MAPS[name], IO_FILE: (False, [(0, 5), (1, 3)]), REGION: MAPS["sparse"]}
    plain, swapped = new_location(events), new_location(events)
    plain.maps = maps
    swapped.maps = {IO_FILE: MAPS[name], 0: MAPS["sparse"], IO_HANDLE: (True, [(0, 1), (1, 0)])}
    read = check_engines(written_archive([plain, swapped, new_location(events)]))
    known = dict(MAPS[name][1])
    assert read.events.handle[: len(handles)].tolist() == [known.get(handle, handle) for handle in handles]


def test_empty_map_is_damage_to_both(
    written_archive: Any, new_location: Any, check_engines: Callable[[Path], EventsRead]
) -> None:
    location = new_location([("IoDestroyHandle", 10, (1,), ())], {IO_HANDLE: (False, [])})
    assert check_engines(written_archive([location])).damage.damaged


def test_attribute_ids_are_mapped(
    written_archive: Any, new_location: Any, check_engines: Callable[[Path], EventsRead]
) -> None:
    begin = (3, 0, 0, 100, 1)
    events = [("IoOperationBegin", 10 + i, begin, ((i, "Uint64", 1000 + i),)) for i in range(8)]
    locations = [new_location(events), new_location(events)]
    locations[0].maps = {ATTRIBUTE: (False, [(0, 1), (1, 5), (2, 0)])}
    locations[1].maps = {ATTRIBUTE: (True, [(5, 2), (6, 5)])}
    offsets = check_engines(written_archive(locations)).events.offset.reshape(2, 8)
    assert [np.flatnonzero(row != UNDEFINED_UINT64).tolist() for row in offsets] == [[1, 5], [6]]


CLOCKS = {
    "one": [(1000, 500)],
    "two": [(1000, 7), (11000, 1007)],
    "falling": [(1000, 10**6), (2000, 0), (9000, -3333)],
    "many": [(1000 * i, int(300 * np.sin(i))) for i in range(1, 11)],
    "halves": [(0, 0), (10000, 5000), (20000, -5000)],
    "huge": [(0, 2**40), (2**50, -(2**40))],
    "same": [(1000, 5), (2000, 5), (3000, 5)],
}


@pytest.mark.parametrize("name", CLOCKS)
def test_clock_correction(
    name: str, written_archive: Any, new_location: Any, check_engines: Callable[[Path], EventsRead]
) -> None:
    times = sorted({*range(0, 12000, 97), 999, 1000, 1001, 1999, 2000, 2001, 10999, 11000, 11001, 25000, 2**45})
    events = [("IoDestroyHandle", time, (1,), ()) for time in times]
    location = new_location(events)
    location.clock = CLOCKS[name]
    read = check_engines(written_archive([location], start=100, length=2**62))
    if name == "one":
        assert read.events.time.tolist() == [time - 100 for time in times]


@pytest.mark.parametrize("chunk", [2**18, 270_001, 2**20])
def test_chunk_boundaries(
    chunk: int, written_archive: Any, new_location: Any, check_engines: Callable[[Path], EventsRead]
) -> None:
    rng = np.random.default_rng(chunk)
    events = []
    for i in range(40_000):
        name, values = (ALL_RECORDS + OTHER_RECORDS[:4])[rng.integers(len(ALL_RECORDS) + 4)]
        attributes = ((5, "Uint64", int(rng.integers(2**50))),) if i % 7 == 0 else ()
        events.append((name, 10 + i - i % 3, values, attributes))
    folder = written_archive([new_location(events), new_location(events[::2])], chunk)
    assert (folder / "traces" / "0.evt").stat().st_size > 2 * chunk or chunk == 2**20
    assert check_engines(folder).counts.tolist() == [40_000, 20_000]


def test_location_without_events(
    written_archive: Any, new_location: Any, check_engines: Callable[[Path], EventsRead]
) -> None:
    locations = [new_location(), new_location([("IoDestroyHandle", 5, (1,), ())]), new_location()]
    folder = written_archive(locations)
    assert check_engines(folder).counts.tolist() == [0, 1, 0]
    (folder / "traces" / "0.evt").unlink()
    assert not check_engines(folder).damage.damaged


IDS = st.one_of(st.integers(0, 25), st.integers(0, UNDEFINED_ID))
BYTES = st.one_of(st.integers(0, 300), st.integers(0, UNDEFINED_UINT64), st.just(UNDEFINED_UINT64))
FLAGS = st.integers(0, UNDEFINED_ID)
BYTE = st.integers(0, 255)
MODE = st.integers(0, 2)
RECORDS = st.one_of(
    st.tuples(st.just("IoCreateHandle"), st.tuples(IDS, BYTE, FLAGS, FLAGS)),
    st.tuples(st.just("IoDestroyHandle"), st.tuples(IDS)),
    st.tuples(st.just("IoDuplicateHandle"), st.tuples(IDS, IDS, FLAGS)),
    st.tuples(st.just("IoSeek"), st.tuples(IDS, st.integers(-(2**63), 2**63 - 1), BYTE, BYTES)),
    st.tuples(st.just("IoChangeStatusFlags"), st.tuples(IDS, FLAGS)),
    st.tuples(st.just("IoDeleteFile"), st.tuples(BYTE, IDS)),
    st.tuples(st.just("IoOperationBegin"), st.tuples(IDS, MODE, FLAGS, BYTES, BYTES)),
    st.tuples(st.sampled_from(["IoOperationTest", "IoOperationIssued", "IoOperationCancelled"]), st.tuples(IDS, BYTES)),
    st.tuples(st.just("IoOperationComplete"), st.tuples(IDS, BYTES, BYTES)),
    st.tuples(st.sampled_from(["IoAcquireLock", "IoReleaseLock", "IoTryLock"]), st.tuples(IDS, BYTE)),
    st.sampled_from(OTHER_RECORDS),
)
ATTRIBUTES = st.one_of(
    st.just(()),
    st.lists(
        st.one_of(
            st.tuples(st.integers(0, 9), st.just("Uint64"), BYTES),
            st.tuples(st.integers(0, 9), st.sampled_from(["Uint8", "Int8"]), st.integers(0, 127)),
            st.tuples(st.integers(0, 9), st.just("Double"), st.floats()),
            st.tuples(st.integers(10, 300), st.just("StringRef"), IDS),
        ),
        max_size=5,
        unique_by=lambda attribute: attribute[0],
    ).map(tuple),
)
ID_MAPS = st.one_of(
    st.lists(IDS, min_size=1, max_size=8).map(lambda ids: (False, list(enumerate(ids)))),
    st.dictionaries(st.integers(0, 40), IDS, min_size=1, max_size=8).map(lambda ids: (True, sorted(ids.items()))),
)


@st.composite
def streams(draw: st.DrawFn) -> tuple[list[Any], dict[int, Any], list[tuple[int, int]]]:
    time = draw(st.integers(0, 2**40))
    events = []
    for record, values in draw(st.lists(RECORDS, max_size=30)):
        time += draw(st.sampled_from([0, 1, 1000]))
        events.append((record, time, values, draw(ATTRIBUTES)))
    maps = draw(st.dictionaries(st.sampled_from([0, 2, REGION, IO_FILE, IO_HANDLE]), ID_MAPS, max_size=4))
    if draw(st.booleans()):
        # Two attributes of one event must not become the same: the library then stops reading.
        maps[ATTRIBUTE] = draw(st.permutations(range(10)).map(lambda ids: (False, list(enumerate(ids)))))
    steps = draw(st.lists(st.tuples(st.integers(1, 2**30), st.integers(-(2**30), 2**30)), max_size=4))
    clock, at = [], draw(st.integers(0, 2**40))
    for step, offset in steps:
        at += step
        clock.append((at, offset))
    return events, maps, clock


@given(st.lists(streams(), min_size=1, max_size=3), st.integers(0, 2**41))
def test_any_stream(written_archive: Any, new_location: Any, check_engines: Any, plans: list[Any], start: int) -> None:
    locations = [new_location(events, maps, clock) for events, maps, clock in plans]
    check_engines(written_archive(locations, start=start, length=2**45))
