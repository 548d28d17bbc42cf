"""An archive as a source: however it is cut into partitions, and in whatever order they are read, it tells the same."""

import pickle
import random
import struct
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from iostrata import SelectionError
from iostrata.model.codes import IoFlag, IoRecord, Status
from iostrata.model.operations import Operations
from iostrata.model.stream import source as stream_source
from iostrata.otf2io.archive import open_archive
from iostrata.otf2io.matching import matcher
from iostrata.otf2io.source import Otf2Source

from .reading import read_events

FIXTURES = Path(__file__).parents[2] / "fixtures"
ALL = sorted(anchor.parent.name for anchor in FIXTURES.glob("*/traces.otf2"))
NON_BLOCKING = int(IoFlag.NON_BLOCKING)
Collect = Callable[..., Any]


def check_same(found: Any, expected: Any) -> None:
    """Check that two readings have the same operations, other events, counts and damage."""
    for column in fields(Operations):
        mine, theirs = getattr(found.operations, column.name), getattr(expected.operations, column.name)
        assert mine.dtype == theirs.dtype
        np.testing.assert_array_equal(mine, theirs, column.name)
    for name in vars(expected.other_events):
        np.testing.assert_array_equal(getattr(found.other_events, name), getattr(expected.other_events, name), name)
    assert found.damage == expected.damage
    for name in ("events", "io_events", "unmatched", "cut", "given_up"):
        assert getattr(found.tally, name) == getattr(expected.tally, name), name


def cut_into(monkeypatch: pytest.MonkeyPatch, parts: int) -> None:
    """Make sources give about so many partitions to one worker."""
    monkeypatch.setattr(stream_source, "PARTITIONS_PER_WORKER", parts)


@pytest.mark.parametrize("name", ALL)
def test_partitions_and_their_order_do_not_matter(name: str, collect: Collect, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = open_archive(FIXTURES / name)
    cut_into(monkeypatch, 1)
    whole = collect(archive)
    assert len(whole.partitions) == 1
    assert len(whole.operations)
    for parts in (2, 7):
        cut_into(monkeypatch, parts)
        check_same(collect(archive), whole)
        check_same(collect(archive, order=lambda count: random.Random(count).sample(range(count), count)), whole)
        if not name.startswith("broken_"):
            # How far a location is believed behind damage differs by a few events.
            check_same(collect(archive, "library"), whole)
    monkeypatch.setattr(matcher, "ENOUGH", 50)
    check_same(collect(archive), whole)


@pytest.mark.parametrize("name", ALL)
def test_partitions_are_all_processes_once(name: str) -> None:
    archive = open_archive(FIXTURES / name)
    group = archive.definitions.locations.group
    for workers in (1, 2, 5):
        partitions = Otf2Source(archive).partitions(10**9, workers)
        assert [partition.number for partition in partitions] == list(range(len(partitions)))
        locations = [row for partition in partitions for row in partition.locations]
        assert sorted(locations) == list(range(len(group)))
        processes = [set(group[list(partition.locations)].tolist()) for partition in partitions]
        assert sum(map(len, processes)) == len(set().union(*processes))
        assert pickle.loads(pickle.dumps(partitions)) == partitions
        assert len({partition.most_operations for partition in partitions}) == 1


@pytest.mark.parametrize("name", ["nonblocking4", "threads2", "ckpt4_compiler_flush"])
def test_a_small_bound_cuts_at_rest(name: str, collect: Collect, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = open_archive(FIXTURES / name)
    whole = collect(archive)
    monkeypatch.setattr(stream_source, "FEWEST_OPERATIONS", 64)
    source = Otf2Source(archive)
    sizes = [len(block.operations) for part in source.partitions(1, 2) for block in source.read(part)]
    assert len(sizes) > 2 * len(source.partitions(1, 2)) - 1 or max(sizes) <= 128
    found = collect(archive, memory=1)
    assert found.tally.given_up == 0
    found.tally.cut = 0
    check_same(found, whole)


def test_the_source_travels_without_what_it_has_read() -> None:
    source = Otf2Source(open_archive(FIXTURES / "ckpt4"))
    here = [block for part in source.partitions(None, 1) for block in source.read(part)]
    sent = pickle.loads(pickle.dumps(source))
    there = [block for part in sent.partitions(None, 1) for block in sent.read(part)]
    assert [one.operations.begin.tolist() for one in here] == [one.operations.begin.tolist() for one in there]
    assert (sent.path, sent.engine) == (source.path, source.engine)


def test_a_partition_can_be_read_again() -> None:
    source = Otf2Source(open_archive(FIXTURES / "broken_race_corruption"))
    for partition in source.partitions(None, 1):
        first, second = list(source.read(partition)), list(source.read(partition))
        assert [one.events for one in first] == [one.events for one in second]
        assert [one.damage for one in first] == [one.damage for one in second]
        assert [len(one.operations) for one in first] == [len(one.operations) for one in second]


@pytest.mark.parametrize("workers", [0, -3])
def test_workers_below_one(workers: int) -> None:
    with pytest.raises(SelectionError, match="workers"):
        Otf2Source(open_archive(FIXTURES / "serial1")).partitions(None, workers)


@pytest.mark.parametrize("seed", range(12))
def test_damaged_archives(seed: int, copy_of: Callable[[str], Path], collect: Collect, monkeypatch: Any) -> None:
    chance = random.Random(seed)
    folder = copy_of(("nonblocking4", "ckpt4_compiler_flush", "threads2")[seed % 3])
    paths = sorted((folder / "traces").glob("*.evt"))
    for path in chance.sample(paths, min(2, len(paths))):
        content = bytearray(path.read_bytes())
        at = chance.randrange(20, len(content) - 20)
        if seed % 4 == 0:
            content = content[:at]
        elif seed % 4 == 1:
            content[at : at + 64] = chance.randbytes(64)
        elif seed % 4 == 2:
            content[2:10] = struct.pack("<Q", 7)
        else:
            del content[at : at + chance.randrange(1, 40)]
        path.write_bytes(content)
    archive = open_archive(folder)
    whole = collect(archive)
    assert whole.damage.damaged
    assert whole.damage == read_events(archive, "direct").damage
    for parts in (1, 7):
        cut_into(monkeypatch, parts)
        check_same(collect(archive, workers=1 + seed % 2), whole)


def test_missing_files(copy_of: Callable[[str], Path], collect: Collect) -> None:
    folder = copy_of("nonblocking4")
    (folder / "traces" / "1.evt").unlink()
    (folder / "traces" / "2.def").unlink()
    for engine in ("direct", "library"):
        assert {one.location for one in collect(open_archive(folder), engine).damage.locations} == {1, 2}


def begin(time: int, matching: int, flags: int = 0, handle: int = 0) -> tuple[Any, ...]:
    return "IoOperationBegin", time, (handle, 1, flags, 10 + matching, matching), ()


def complete(time: int, matching: int, handle: int = 0) -> tuple[Any, ...]:
    return "IoOperationComplete", time, (handle, 1000 + matching, matching), ()


def test_many_in_flight(written_archive: Any, new_location: Any, collect: Collect) -> None:
    # Kernels that move what is in flight run here as the program runs them.
    count = 5000
    events = [begin(row, row, NON_BLOCKING * (row % 2)) for row in range(count)]
    ends = [complete(count + row, count - 1 - row) for row in range(count)]
    found = collect(open_archive(written_archive([new_location(events=[*events, *ends])] * 2)))
    assert (found.operations.status == Status.COMPLETE).all()
    assert found.operations.begin.tolist() == [time for time in range(count) for _ in range(2)]
    assert found.operations.end.tolist() == [2 * count - 1 - time for time in range(count) for _ in range(2)]
    assert found.tally.unmatched == 0


@pytest.mark.parametrize("most", [30, 200])
def test_more_in_flight_than_a_block_may_have(
    most: int, written_archive: Any, new_location: Any, collect: Collect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_source, "FEWEST_OPERATIONS", most)
    monkeypatch.setattr(matcher, "_SLICE", 10)
    events = [begin(row, row) for row in range(100)] + [complete(100 + row, row) for row in range(100)]
    archive = open_archive(written_archive([new_location(events=events)]))
    found = collect(archive, memory=1)
    lost = int((found.operations.status == Status.NEVER_COMPLETED).sum())
    assert len(found.operations) == 100
    assert found.tally.given_up == found.tally.unmatched == lost
    assert (lost > 0) == (most < 100)


def test_a_process_that_never_rests_is_cut_and_counted(
    written_archive: Any, new_location: Any, collect: Collect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_source, "FEWEST_OPERATIONS", 20)
    monkeypatch.setattr(matcher, "_SLICE", 10)
    always = [begin(0, 0, NON_BLOCKING, 7)]
    events = [event for row in range(1, 500) for event in (begin(10 * row, row), complete(10 * row + 5, row))]
    archive = open_archive(written_archive([new_location(events=[*always, *events, complete(9999, 0, 7)])]))
    found = collect(archive, memory=1)
    assert found.tally.cut > 10
    assert found.tally.given_up == 0
    found.tally.cut = 0
    found.damage = replace(found.damage, cuts=0)
    check_same(found, collect(archive))


@pytest.mark.parametrize("promised", [0, 1, 13, 5000])
@pytest.mark.parametrize("engine", ["direct", "library"])
def test_a_sound_file_is_right_where_the_definitions_are_not(
    promised: int, engine: str, written_archive: Any, new_location: Any, collect: Collect
) -> None:
    events = [event for row in range(999) for event in (begin(10 * row, row), complete(10 * row + 5, row))]
    wrong = new_location(events=events)
    wrong.promised = promised
    archive = open_archive(written_archive([wrong, new_location(events=events[:4])], chunk=1 << 18))
    found = collect(archive, engine)
    # Of no promise nothing is missing.
    assert found.damage.damaged == (promised > 0)
    assert found.damage.miscounted == (promised == 0)
    assert (found.damage.events_expected, found.damage.events_read) == ((promised or 1998) + 4, 2002)
    assert len(found.operations) == 1001


def test_several_chunks_of_a_file_with_another_number(
    written_archive: Any, new_location: Any, collect: Collect
) -> None:
    events = [event for row in range(30000) for event in (begin(10 * row, row), complete(10 * row + 5, row))]
    wrong = new_location(events=events)
    wrong.promised = 13
    folder = written_archive([wrong], chunk=1 << 18)
    path = folder / "traces" / "0.evt"
    assert path.stat().st_size > 3 << 18
    for engine in ("direct", "library"):
        found = collect(open_archive(folder), engine)
        assert [one.events_expected for one in found.damage.locations] == [13]
        assert len(found.operations) == 30000
    content = bytearray(path.read_bytes())
    content[(1 << 18) + 2] ^= 1
    path.write_bytes(content)
    for engine in ("direct", "library"):
        found = collect(open_archive(folder), engine)
        assert found.damage.damaged
        assert found.damage.events_read == 13


def test_progress_counts_all_events() -> None:
    archive = open_archive(FIXTURES / "ckpt4")
    seen: list[tuple[int, int]] = []
    read_events(archive, "direct", 2, lambda *now: seen.append(now))
    total = int(archive.definitions.locations.events.sum())
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1] == (total, total)


def test_other_events_are_all_that_are_none_of_an_operation(collect: Collect) -> None:
    archive = open_archive(FIXTURES / "ncckpt4")
    read = read_events(archive, "direct")
    kind = read.events.kind
    expected = read.events.take((kind < IoRecord.OPERATION_BEGIN) | (kind > IoRecord.OPERATION_CANCELLED))
    found = collect(archive, workers=2).other_events
    for name in vars(expected):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


@pytest.mark.parametrize("engine", ["direct", "library"])
def test_all_threads_count_in_the_same_walk(monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
    """From Python 3.12 on, each of them could make one of its own, and what it had read was taken for lost."""
    source, ready = Otf2Source(open_archive(FIXTURES / "aperiodic4"), engine), threading.Barrier(8)
    make = source._new_walk

    def make_slowly(*what: Any) -> Any:
        time.sleep(0.05)
        return make(*what)

    monkeypatch.setattr(source, "_new_walk", make_slowly)

    def walk(number: int) -> Any:
        ready.wait()
        return source._walk(number % 2 > 0)

    with ThreadPoolExecutor(8) as threads:
        walks = list(threads.map(walk, range(8)))
    assert len({id(one) for one in walks}) == 2
    assert source.walk is walks[0]
