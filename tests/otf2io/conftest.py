"""Real archives, damaged copies of them, archives written on the spot, and definitions made of a few numbers."""

import itertools
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import _otf2
import numpy as np
import otf2
import pytest
from iostrata.model.definitions import Clock, Definitions, Files, Handles, LocationGroups, Locations, SystemTree
from iostrata.model.events import IoEvents
from iostrata.model.stream.columns import CollectedOperations
from iostrata.model.stream.source import Block, Tally
from iostrata.otf2io.archive import Archive, open_archive
from iostrata.otf2io.source import Otf2Source
from otf2.enums import IoHandleFlag, IoParadigmClass, IoParadigmFlag, LocationGroupType

from .reading import EventsRead, read_events

FIXTURES = Path(__file__).parents[2] / "fixtures"
SOUND = sorted(
    anchor.parent.name for anchor in FIXTURES.glob("*/traces.otf2") if not anchor.parent.name.startswith("broken_")
)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run tests that take `sound_name` on every sound archive."""
    if "sound_name" in metafunc.fixturenames:
        metafunc.parametrize("sound_name", SOUND)


@pytest.fixture(scope="session")
def read_fixture() -> Callable[[str], tuple[Archive, EventsRead]]:
    """Return a function that reads a real archive, once for all tests."""
    known: dict[str, tuple[Archive, EventsRead]] = {}

    def read(name: str) -> tuple[Archive, EventsRead]:
        if name not in known:
            archive = open_archive(FIXTURES / name)
            known[name] = (archive, read_events(archive, "library"))
        return known[name]

    return read


@pytest.fixture(scope="session")
def collect() -> Callable[..., SimpleNamespace]:
    """Return a function that reads an archive partition by partition; it gives what all of them tell.

    `order` is the order in which the partitions are read, by default their own.
    """

    def read(
        archive: Archive, engine: str = "auto", memory: int | None = None, workers: int = 1, order: Any = None
    ) -> SimpleNamespace:
        source = Otf2Source(archive, engine)
        partitions = source.partitions(memory, workers)
        blocks: dict[int, list[Block]] = {}
        for number in range(len(partitions)) if order is None else order(len(partitions)):
            blocks[number] = list(source.read(partitions[number]))
        collected, tally = CollectedOperations(archive.definitions), Tally()
        for number in range(len(partitions)):
            for block in blocks[number]:
                collected.add(block)
                tally.add(block)
        events, _ = collected.metadata()
        return SimpleNamespace(
            partitions=partitions,
            operations=collected.operations(),
            other_events=events,
            tally=tally,
            damage=tally.damage,
        )

    return read


@pytest.fixture
def copy_of(tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that copies a real archive so that it can be damaged."""

    def copy(name: str) -> Path:
        target = tmp_path / name
        shutil.copytree(FIXTURES / name, target)
        for path in (target, *target.rglob("*")):
            os.chmod(path, 0o755 if path.is_dir() else 0o644)
        return target

    return copy


@pytest.fixture
def new_archive(tmp_path: Path) -> Callable[..., Any]:
    """Return a function that opens an archive for writing by the official Python package.

    It gives the writer with `folder`, two processes with a thread `location` factory, one POSIX paradigm, one file and
    handles h0 to h3 in `defined`.
    """

    def create(name: str = "written", archive_name: str = "traces", **options: Any) -> Any:
        folder = tmp_path / name
        trace = otf2.writer.Writer(str(folder), archive_name, timer_resolution=10**6, **options)
        definitions = trace.definitions
        node = definitions.system_tree_node("node", class_name="node")
        paradigm = definitions.io_paradigm("POSIX", "POSIX I/O", IoParadigmClass.SERIAL, IoParadigmFlag.OS, {})
        file = definitions.io_regular_file("/scratch/data", node)
        trace.defined = SimpleNamespace(
            folder=folder,
            node=node,
            paradigm=paradigm,
            file=file,
            groups=[
                definitions.location_group(f"MPI Rank {rank}", LocationGroupType.PROCESS, node) for rank in range(2)
            ],
            handles=[definitions.io_handle(f"h{i}", file, paradigm, IoHandleFlag.NONE, None, None) for i in range(4)],
        )
        return trace

    return create


@pytest.fixture(scope="session")
def plain_definitions() -> Callable[..., Definitions]:
    """Return a function that makes definitions of location ids, their processes' rows and handle ids."""

    def make(location_ids: Sequence[int], groups: Sequence[int], handle_ids: Sequence[int] = (0, 1)) -> Definitions:
        processes = max([*groups, -1]) + 1
        handles = len(handle_ids)
        return Definitions(
            clock=Clock(10**9, 0, 10**9, None),
            system_tree=SystemTree(np.empty(0, np.uint32), (), (), np.empty(0, np.int32)),
            groups=LocationGroups(
                np.arange(processes, dtype=np.uint32),
                tuple(f"process {row}" for row in range(processes)),
                np.ones(processes, np.uint8),
                np.full(processes, -1, np.int32),
                np.arange(processes, dtype=np.int32),
            ),
            locations=Locations(
                np.array(location_ids, np.uint64),
                tuple(f"thread {row}" for row in range(len(location_ids))),
                np.ones(len(location_ids), np.uint8),
                np.zeros(len(location_ids), np.uint64),
                np.array(groups, np.int32),
            ),
            paradigms=(),
            files=Files(np.empty(0, np.uint32), (), np.empty(0, np.bool_), np.empty(0, np.int32), ()),
            handles=Handles(
                np.array(handle_ids, np.uint32),
                tuple(f"handle {identity}" for identity in handle_ids),
                *(np.full(handles, -1, np.int32) for _ in range(2)),
                np.zeros(handles, np.uint32),
                np.full(handles, 2**32 - 1, np.uint32),
                np.full(handles, -1, np.int32),
                np.zeros(handles, np.bool_),
                np.full(handles, 255, np.uint8),
                np.zeros(handles, np.uint32),
            ),
            location_sets=(),
            communicators=(),
            attributes={},
        )

    return make


@dataclass
class WrittenLocation:
    """What to write of a location with the low-level writers of the official package.

    `events` are (record, time, fields, attributes): the record's name as in ``EvtWriter_<name>``, its fields in order,
    and attributes as (id, name of the ``AttributeList_Add`` function, value). `maps` are id maps, kind of id → (sparse,
    pairs of local and global id); `clock` (time, offset) pairs; `promised` the number of events that the definitions
    promise, by default those written.
    """

    events: list[tuple[str, int, tuple[Any, ...], tuple[tuple[int, str, Any], ...]]] = field(default_factory=list)
    maps: dict[int, tuple[bool, list[tuple[int, int]]]] = field(default_factory=dict)
    clock: list[tuple[int, int]] = field(default_factory=list)
    promised: int | None = None


@pytest.fixture
def written_archive(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes `WrittenLocation` of any content; it gives the folder.

    Handles 0 to 19 and files 0 to 19 exist, regions 0 to 9 named "region 0", ..., attribute 5 is *Offset*.
    """
    numbers = itertools.count()

    def write(locations: Sequence[WrittenLocation], chunk: int = 2**18, start: int = 0, length: int = 10**9) -> Path:
        folder = tmp_path / f"written{next(numbers)}"
        archive = _otf2.Archive_Open(
            str(folder), "traces", _otf2.FILEMODE_WRITE, chunk, 2**22, _otf2.SUBSTRATE_POSIX, _otf2.COMPRESSION_NONE
        )
        flush = _otf2.FlushCallbacks(pre_flush=lambda *_: _otf2.FLUSH, post_flush=None)
        _otf2.Archive_SetFlushCallbacks(archive, flush, None)
        _otf2.Archive_SetSerialCollectiveCallbacks(archive)
        _otf2.Archive_OpenDefFiles(archive)
        _otf2.Archive_OpenEvtFiles(archive)
        for row, location in enumerate(locations):
            _write_events(archive, row, location)
            _write_local_definitions(archive, row, location)
        _otf2.Archive_CloseEvtFiles(archive)
        _otf2.Archive_CloseDefFiles(archive)
        _write_global_definitions(archive, locations, start, length)
        _otf2.Archive_Close(archive)
        return folder

    return write


def _write_events(archive: Any, row: int, location: WrittenLocation) -> None:
    writer = _otf2.Archive_GetEvtWriter(archive, row)
    for record, time, values, attributes in location.events:
        listed = _otf2.AttributeList_New() if attributes else None
        for identity, kind, value in attributes:
            getattr(_otf2, f"AttributeList_Add{kind}")(listed, identity, value)
        getattr(_otf2, f"EvtWriter_{record}")(writer, listed, time, *values)
        if listed is not None:
            _otf2.AttributeList_Delete(listed)
    _otf2.Archive_CloseEvtWriter(archive, writer)


def _write_local_definitions(archive: Any, row: int, location: WrittenLocation) -> None:
    writer = _otf2.Archive_GetDefWriter(archive, row)
    for kind, (sparse, pairs) in location.maps.items():
        ids = _otf2.IdMap_Create(_otf2.ID_MAP_SPARSE if sparse else _otf2.ID_MAP_DENSE, max(len(pairs), 1))
        for local, target in pairs:
            _otf2.IdMap_AddIdPair(ids, local, target)
        _otf2.DefWriter_WriteMappingTable(writer, kind, ids)
        _otf2.IdMap_Free(ids)
    for time, offset in location.clock:
        _otf2.DefWriter_WriteClockOffset(writer, time, offset, 0.0)
    _otf2.Archive_CloseDefWriter(archive, writer)


def _write_global_definitions(archive: Any, locations: Sequence[WrittenLocation], start: int, length: int) -> None:
    writer = _otf2.Archive_GetGlobalDefWriter(archive)
    none = 2**32 - 1
    names = itertools.count()

    def text(value: str) -> int:
        identity = next(names)
        _otf2.GlobalDefWriter_WriteString(writer, identity, value)
        return identity

    _otf2.GlobalDefWriter_WriteClockProperties(writer, 10**9, start, length, 2**64 - 1)
    _otf2.GlobalDefWriter_WriteSystemTreeNode(writer, 0, text("node"), text("machine"), none)
    _otf2.GlobalDefWriter_WriteAttribute(writer, 5, text("Offset"), text(""), _otf2.TYPE_UINT64)
    _otf2.GlobalDefWriter_WriteIoParadigm(writer, 0, text("POSIX"), text("POSIX I/O"), 0, 1, [], [], [])
    for region in range(10):
        name = text(f"region {region}")
        _otf2.GlobalDefWriter_WriteRegion(writer, region, name, name, name, 1, 1, 0, name, 0, 0)
    for number in range(20):
        _otf2.GlobalDefWriter_WriteIoRegularFile(writer, number, text(f"/scratch/{number}"), none)
        _otf2.GlobalDefWriter_WriteIoHandle(writer, number, text(f"handle {number}"), number, 0, 0, none, none)
    for row, location in enumerate(locations):
        _otf2.GlobalDefWriter_WriteLocationGroup(writer, row, text(f"MPI Rank {row}"), 1, 0, none)
        promised = len(location.events) if location.promised is None else location.promised
        _otf2.GlobalDefWriter_WriteLocation(writer, row, text(f"thread {row}"), 1, promised, row)
    _otf2.Archive_CloseGlobalDefWriter(archive, writer)


@pytest.fixture(scope="session")
def new_location() -> type[WrittenLocation]:
    """Return the class of what `written_archive` writes."""
    return WrittenLocation


@pytest.fixture(scope="session")
def assert_same_events() -> Callable[[IoEvents, IoEvents], None]:
    """Return a check that two sets of I/O events are the same, column by column."""

    def check(found: IoEvents, expected: IoEvents) -> None:
        assert len(found) == len(expected)
        for column in fields(IoEvents):
            mine, theirs = getattr(found, column.name), getattr(expected, column.name)
            assert mine.dtype == theirs.dtype
            rows = np.flatnonzero(mine != theirs)
            assert not len(rows), (column.name, rows[:5], mine[rows[:5]], theirs[rows[:5]], expected.kind[rows[:5]])

    return check
