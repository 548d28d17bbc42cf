"""Writes a synthetic OTF2 archive of the MONC case of the multi-layer paper.

Source: the case study (section 5 and figures 6 to 9) of the paper that introduced I/O recording on several layers to
Score-P and OTF2 ("Multi-layer I/O recording", the MONC cloud model on a Cray XC30). What the paper says and this
archive has:

- 112 processes on 8 nodes, 14 a node, of which the first of each node is an I/O server (ranks 0, 14, 28, …) with a pool
  of ten threads; the other 104 compute and do no I/O.
- At the end of the run, a thread of each server (thread 7 of rank 0, thread 2 of the others) writes one file,
  ``RCE_dump_329.nc``, by netCDF. Each ``nc_put_vara_double`` calls ``MPI_File_write_at_all`` of all servers.
- Inside that call each server opens ``/proc/<pid>/maps`` by the ISO C interface, reads it line by line and closes it.
- Only rank 0 then writes the file by POSIX; the others wait in the collective call until it is done.

The node of rank 0, nid01713, therefore does most system calls within MPI I/O (figure 9). What the paper does not tell
is chosen here and can be set: the number of variables, the bytes of each server, the lines of a maps file, all times.

Run ``python tests/archives/monc.py FOLDER`` to write the archive to FOLDER.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import otf2
from otf2.enums import (
    GroupType,
    IoAccessMode,
    IoCreationFlag,
    IoHandleFlag,
    IoOperationFlag,
    IoOperationMode,
    IoParadigmClass,
    IoParadigmFlag,
    IoStatusFlag,
    LocationGroupType,
    Paradigm,
)

MILLISECOND = 1000
"""Ticks of the archive's clock, which has a resolution of 1 µs."""


@dataclass(frozen=True)
class Case:
    """What is written; times in ticks."""

    nodes: int = 8
    processes_per_node: int = 14
    threads: int = 10
    variables: int = 24
    server_bytes: int = 262_144
    maps_lines: int = 30
    maps_line_bytes: int = 80
    pieces: int = 4
    first_dump: int = 5000 * MILLISECOND
    call: int = 40 * MILLISECOND


def write_monc(folder: str | Path, case: Case | None = None) -> Path:
    """Write the archive and return the path of its anchor.

    Parameters
    ----------
    folder : path
        Folder that does not exist yet.
    case : Case, optional
    """
    case = case or Case()
    with otf2.writer.open(str(folder), archive_name="traces", timer_resolution=10**6) as trace:
        _Archive(trace, case).write()
    return Path(folder) / "traces.otf2"


class _Archive:
    def __init__(self, trace: otf2.writer.Writer, case: Case) -> None:
        self.trace, self.case = trace, case
        definitions = self.definitions = trace.definitions
        machine = definitions.system_tree_node("archer", class_name="machine")
        self.nodes = [
            definitions.system_tree_node(f"nid{1713 + row:05d}", class_name="node", parent=machine)
            for row in range(case.nodes)
        ]
        self.groups = [
            definitions.location_group(
                f"MPI Rank {rank}", LocationGroupType.PROCESS, self.nodes[rank // case.processes_per_node]
            )
            for rank in range(case.nodes * case.processes_per_node)
        ]
        self.servers = [row * case.processes_per_node for row in range(case.nodes)]
        netcdf, mpi, isoc, posix = (
            definitions.io_paradigm(name, title, kind, flags, {})
            for name, title, kind, flags in (
                ("netCDF", "NetCDF", IoParadigmClass.PARALLEL, IoParadigmFlag.NONE),
                ("MPI-IO", "MPI I/O", IoParadigmClass.PARALLEL, IoParadigmFlag.NONE),
                ("ISOC", "ISO C I/O", IoParadigmClass.SERIAL, IoParadigmFlag.NONE),
                ("POSIX", "POSIX I/O", IoParadigmClass.SERIAL, IoParadigmFlag.OS),
            )
        )
        masters = [definitions.location("Master thread", group=group) for group in self.groups]
        self.masters = [trace.event_writer_from_location(master) for master in masters]
        pool = {
            rank: [
                trace.event_writer(f"Pthread thread {thread + 1}", group=self.groups[rank])
                for thread in range(case.threads)
            ]
            for rank in self.servers
        }
        # The paper names thread 7 of rank 0 and thread 2 of rank 14.
        self.writers = {rank: pool[rank][6 if rank == 0 else 1] for rank in self.servers}
        self.others = [thread for threads in pool.values() for thread in threads if thread not in self.writers.values()]
        world = definitions.group(
            "MPI locations",
            GroupType.COMM_LOCATIONS,
            paradigm=Paradigm.MPI,
            members=tuple(masters),
        )
        members = definitions.group(
            "I/O servers", GroupType.COMM_GROUP, paradigm=Paradigm.MPI, members=tuple(self.servers)
        )
        self.world = world
        comm = definitions.comm("I/O servers", members)
        dump = definitions.io_regular_file("/fs3/work/monc/RCE_dump_329.nc", machine)
        self.netcdf = definitions.io_handle("", dump, netcdf, IoHandleFlag.NONE, comm, None)
        self.mpi = definitions.io_handle("", dump, mpi, IoHandleFlag.NONE, comm, self.netcdf)
        self.posix = definitions.io_handle("", dump, posix, IoHandleFlag.NONE, None, self.mpi)
        self.maps = {
            rank: definitions.io_handle(
                "",
                definitions.io_regular_file(f"/proc/{43867 + rank}/maps", self.nodes[row]),
                isoc,
                IoHandleFlag.NONE,
                None,
                self.mpi,
            )
            for row, rank in enumerate(self.servers)
        }
        self.main = definitions.region("main")
        self.work = definitions.region("thread_pool_work")
        self.put = definitions.region("nc_put_vara_double")

    def write(self) -> None:
        """Write the events of all locations."""
        case = self.case
        end = case.first_dump + (case.variables + 2) * case.call
        for master in self.masters:
            master.enter(0, self.main)
            master.leave(end, self.main)
        for thread in self.others:
            thread.enter(10 * MILLISECOND, self.work)
            thread.leave(end - 10 * MILLISECOND, self.work)
        for rank, thread in self.writers.items():
            opened = case.first_dump - case.call
            for delay, handle in enumerate((self.netcdf, self.mpi)):
                self._create(thread, opened + delay, handle)
            if rank == 0:
                self._create(thread, opened + 2, self.posix)
            for variable in range(case.variables):
                self._dump(thread, rank, case.first_dump + variable * case.call)
            closed = case.first_dump + case.variables * case.call
            if rank == 0:
                thread.io_destroy_handle(closed, self.posix)
            thread.io_destroy_handle(closed + 1, self.mpi)
            thread.io_destroy_handle(closed + 2, self.netcdf)

    def _create(self, thread: otf2.event_writer.EventWriter, time: int, handle: object, read: bool = False) -> None:
        mode = IoAccessMode.READ_ONLY if read else IoAccessMode.READ_WRITE
        thread.io_create_handle(time, handle, mode, IoCreationFlag.NONE, IoStatusFlag.NONE)

    def _dump(self, thread: otf2.event_writer.EventWriter, rank: int, start: int) -> None:
        """Write one nc_put_vara_double of one server."""
        case = self.case
        write, read = IoOperationMode.WRITE, IoOperationMode.READ
        collective, plain = IoOperationFlag.COLLECTIVE, IoOperationFlag.NONE
        stop = start + case.call * 3 // 4
        time = start + rank
        thread.enter(time, self.put)
        thread.io_operation_begin(time + 10, self.netcdf, write, collective, case.server_bytes, 1)
        thread.io_operation_begin(time + 200, self.mpi, write, collective, case.server_bytes, 1)
        maps = self.maps[rank]
        self._create(thread, time + 300, maps, read=True)
        time += 310
        for _ in range(case.maps_lines):
            thread.io_operation_begin(time, maps, read, plain, case.maps_line_bytes, 2)
            thread.io_operation_complete(time + 5, maps, case.maps_line_bytes, 2)
            time += 10
        thread.io_destroy_handle(time + 10, maps)
        if rank == 0:
            whole = case.server_bytes * case.nodes
            first = start + 4 * MILLISECOND
            step = (stop - MILLISECOND - first) // case.pieces
            for piece in range(case.pieces):
                size = whole // case.pieces
                thread.io_operation_begin(first + piece * step, self.posix, write, plain, size, 1)
                thread.io_operation_complete(first + (piece + 1) * step - 100, self.posix, size, 1)
        thread.io_operation_complete(stop + rank, self.mpi, case.server_bytes, 1)
        thread.io_operation_complete(stop + rank + 100, self.netcdf, case.server_bytes, 1)
        thread.leave(stop + rank + 120, self.put)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python monc.py FOLDER")
    print(write_monc(sys.argv[1]))
