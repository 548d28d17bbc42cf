"""Archives that are made for a test, operation by operation."""

import otf2
import pytest
from iostrata import open_trace
from iostrata.analysis.findings import find
from otf2.enums import (
    IoAccessMode,
    IoCreationFlag,
    IoHandleFlag,
    IoOperationFlag,
    IoParadigmClass,
    IoParadigmFlag,
    IoSeekOption,
    IoStatusFlag,
    LocationGroupType,
    Paradigm,
    RegionRole,
)

PLAIN = IoOperationFlag.NONE


class Written:
    """An archive of four ranks on two nodes, or one, with an MPI-IO and a POSIX handle a file."""

    def __init__(self, folder, nodes=2):
        self.folder = folder
        self.trace = otf2.writer.Writer(str(folder), "traces", timer_resolution=10**6)
        definitions = self.trace.definitions
        machine = definitions.system_tree_node("m", class_name="machine")
        nodes = [definitions.system_tree_node(f"n{row}", class_name="node", parent=machine) for row in range(nodes)]
        groups = [
            definitions.location_group(f"MPI Rank {rank}", LocationGroupType.PROCESS, nodes[rank // 2 % len(nodes)])
            for rank in range(4)
        ]
        self.threads = [self.trace.event_writer("thread", group=group) for group in groups]
        self.mpi = definitions.io_paradigm("MPI-IO", "MPI I/O", IoParadigmClass.PARALLEL, IoParadigmFlag.NONE, {})
        self.posix = definitions.io_paradigm("POSIX", "POSIX I/O", IoParadigmClass.SERIAL, IoParadigmFlag.OS, {})
        self.offset = definitions.attribute("Offset", type=otf2.Type.UINT64)
        self.machine = machine
        self.events = []
        self.regions = {}

    def file(self, name):
        return self.trace.definitions.io_regular_file(name, self.machine)

    def handle(self, file, paradigm, parent=None, communicator=None):
        return self.trace.definitions.io_handle("", file, paradigm, IoHandleFlag.NONE, communicator, parent)

    def operate(self, rank, handle, mode, begin, end, size, flags=PLAIN, offset=None, moved=None):
        attributes = {} if offset is None else {self.offset: offset}
        matching = len(self.events)
        begun = (handle, mode, flags, size, matching, attributes)
        self.events.append((begin, len(self.events), rank, "io_operation_begin", begun))
        self.events.append(
            (
                end,
                -len(self.events),
                rank,
                "io_operation_complete",
                (handle, size if moved is None else moved, matching),
            )
        )

    def create(self, rank, handle, time):
        arguments = (handle, IoAccessMode.READ_WRITE, IoCreationFlag.NONE, IoStatusFlag.NONE)
        self.events.append((time, len(self.events), rank, "io_create_handle", arguments))

    def destroy(self, rank, handle, time):
        self.events.append((time, len(self.events), rank, "io_destroy_handle", (handle,)))

    def seek(self, rank, handle, time):
        self.events.append((time, len(self.events), rank, "io_seek", (handle, 0, IoSeekOption.FROM_START, 0)))

    def call(self, rank, name, begin, end):
        """Let a rank be in a function of MPI or of POSIX, around what it does at these times and between them."""
        if name not in self.regions:
            of_mpi = name.startswith("MPI_")
            self.regions[name] = self.trace.definitions.region(
                name,
                region_role=RegionRole.FUNCTION if of_mpi else RegionRole.FILE_IO,
                paradigm=Paradigm.MPI if of_mpi else Paradigm.USER,
            )
        self.events.append((begin, -1, rank, "enter", (self.regions[name],)))
        self.events.append((end, 10**9, rank, "leave", (self.regions[name],)))

    def closed(self):
        for thread in self.threads:
            thread.enter(0, self.trace.definitions.region("main"))
        for time, _, rank, name, arguments in sorted(self.events, key=lambda event: event[:2]):
            getattr(self.threads[rank], name)(time, *arguments)
        self.trace.close()
        return open_trace(self.folder)

    def findings(self):
        return {one.id: one for one in reversed(find(self.closed()))}


@pytest.fixture
def written_on_one_node(tmp_path):
    return Written(tmp_path / "made", nodes=1)


@pytest.fixture
def written(tmp_path):
    return Written(tmp_path / "made")
