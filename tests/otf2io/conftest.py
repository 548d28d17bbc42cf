"""Real archives, damaged copies of them, archives written on the spot, and definitions made of a few numbers."""

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import otf2
import pytest
from iostrata.otf2io.archive import Archive, EventsRead, open_archive, read_events
from iostrata.otf2io.definitions import (
    Clock,
    Definitions,
    Files,
    Handles,
    LocationGroups,
    Locations,
    SystemTree,
)
from otf2.enums import IoHandleFlag, IoParadigmClass, IoParadigmFlag, LocationGroupType

FIXTURES = Path(__file__).parents[2] / "fixtures"
SOUND = sorted(
    anchor.parent.name for anchor in FIXTURES.glob("*/traces.otf2") if not anchor.parent.name.startswith("broken_")
)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run tests that take `sound_name` on every sound archive."""
    if "sound_name" in metafunc.fixturenames:
        metafunc.parametrize("sound_name", SOUND)


@pytest.fixture(scope="session")
def fixtures() -> Path:
    """Return the folder of the real archives."""
    return FIXTURES


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
