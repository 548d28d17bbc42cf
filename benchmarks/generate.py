"""Write large synthetic OTF2 archives: ``python benchmarks/generate.py FOLDER --kind mixed``.

The anchor and the global definitions are written by the OTF2 library, the event files and local definitions by the
compiled emission in `record_emission`, at some hundred MB/s.
"""

import argparse
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import otf2
import otf2.enums
from record_emission import LONGEST_EVENT, emit_events, emit_layered_events, emit_local_definitions

START: Final = 1_000_000_000
STEP: Final = 500
"""Mean distance of two events in ticks (of a nanosecond)."""


COLLECTIVE: Final = 2
"""The flag of a collective operation."""


@dataclass(frozen=True)
class Shape:
    """Sizes of an archive: locations, events on each, I/O events among a thousand, handles on each location.

    With `layers`, the first half of the handles are of MPI-IO, on files that all ranks share, and each has one of the
    second half, of POSIX, below it.
    """

    locations: int
    events: int
    per_mille_io: int
    handles: int
    layers: bool = False


SHAPES: Final = {
    "io": Shape(locations=64, events=156_250, per_mille_io=1000, handles=64),
    "mixed": Shape(locations=16, events=1_250_000, per_mille_io=50, handles=64),
    "many": Shape(locations=4096, events=1000, per_mille_io=200, handles=8),
    "layered": Shape(locations=4096, events=4884, per_mille_io=1000, handles=8, layers=True),
}


def _write_global_definitions(folder: Path, shape: Shape, chunk: int) -> int:
    """Write the anchor and the global definitions with the library; give the id of the attribute *Offset*."""
    length = 2 * STEP * shape.events + 1000
    with otf2.writer.open(str(folder), timer_resolution=1_000_000_000, chunk_size_events=chunk) as archive:
        definitions = archive.definitions
        root = definitions.system_tree_node("machine")
        posix = definitions.io_paradigm(
            "POSIX", "POSIX I/O", otf2.enums.IoParadigmClass.SERIAL, otf2.enums.IoParadigmFlag.OS
        )
        offset = definitions.attribute("Offset", "position in the file", otf2.enums.Type.UINT64)
        for region in range(64):
            definitions.region(f"region {region}")
        definitions.metric_class(
            [
                definitions.metric_member(
                    "value",
                    "",
                    otf2.enums.MetricType.USER,
                    otf2.enums.MetricMode.ABSOLUTE_POINT,
                    otf2.enums.Type.UINT64,
                    otf2.enums.Base.DECIMAL,
                    0,
                    "",
                )
            ],
            otf2.enums.MetricOccurrence.ASYNCHRONOUS,
            otf2.enums.RecorderKind.ABSTRACT,
        )
        groups = [
            definitions.location_group(f"MPI Rank {row}", otf2.enums.LocationGroupType.PROCESS, system_tree_parent=root)
            for row in range(shape.locations)
        ]
        thread = otf2.enums.LocationType.CPU_THREAD
        locations = [
            definitions.location(f"Master thread {row}", thread, shape.events, group)
            for row, group in enumerate(groups)
        ]
        mpi = otf2.enums.Paradigm.MPI
        definitions.group("", otf2.enums.GroupType.COMM_LOCATIONS, mpi, members=locations)
        ranks = definitions.group("", otf2.enums.GroupType.COMM_GROUP, mpi, members=locations)
        world = definitions.comm("MPI_COMM_WORLD", ranks)
        flags = otf2.enums.IoHandleFlag.NONE
        if shape.layers:
            parallel = otf2.enums.IoParadigmClass.PARALLEL
            upper = definitions.io_paradigm("MPI-IO", "MPI I/O", parallel, otf2.enums.IoParadigmFlag.NONE)
            shared = [
                definitions.io_regular_file(f"/scratch/data.{number}", scope=root)
                for number in range(shape.handles // 2)
            ]
            for row in range(shape.locations):
                # The writer takes definitions that are equal for one, so names differ.
                name = f"of rank {row}"
                above = [definitions.io_handle(name, file, upper, flags, comm=world, parent=None) for file in shared]
                for file, parent in zip(shared, above, strict=True):
                    definitions.io_handle(name, file, posix, flags, comm=None, parent=parent)
        else:
            for row in range(shape.locations):
                for handle in range(shape.handles):
                    file = definitions.io_regular_file(f"/scratch/data.{row}.{handle}", scope=root)
                    definitions.io_handle(f"handle {handle}", file, posix, flags, comm=None, parent=None)
        archive._first_timestamp = START
        archive._last_timestamp = START + length
        archive._realtime_timestamp = 1_700_000_000.0
        return int(offset._ref)


def generate(folder: Path, shape: Shape, chunk: int = 1 << 20, seed: int = 1) -> int:
    """Write an archive of `shape` into `folder`, in place of what is there; give the bytes of its event files."""
    shutil.rmtree(folder, ignore_errors=True)
    attribute = _write_global_definitions(folder, shape, chunk)
    inner = folder / "traces"
    inner.mkdir(exist_ok=True)
    room = np.empty((LONGEST_EVENT * shape.events * 2) // 3 + 2 * chunk, np.uint8)
    local = np.empty(64 + 9 * shape.handles, np.uint8)
    times = np.array([START, START + 2 * STEP * shape.events], np.int64)
    total = 0
    for row in range(shape.locations):
        if shape.layers:
            size = emit_layered_events(room, shape.events, chunk, shape.handles, COLLECTIVE, START, STEP, seed + row)
        else:
            size = emit_events(
                room, shape.events, chunk, shape.per_mille_io, shape.handles, 64, attribute, START, STEP, seed + row
            )
        if size < 0:
            raise RuntimeError(f"room for {shape.events} events was too small")
        room[:size].tofile(inner / f"{row}.evt")
        used = emit_local_definitions(local, shape.handles, row * shape.handles, times, row)
        local[:used].tofile(inner / f"{row}.def")
        total += size
    return total


def main() -> None:
    """Read the command line and write the archive."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kind", choices=sorted(SHAPES), default="mixed")
    parser.add_argument("--locations", type=int)
    parser.add_argument("--events", type=int, help="events on each location")
    parser.add_argument("--per-mille-io", type=int)
    parser.add_argument("--handles", type=int, help="handles on each location")
    parser.add_argument("--chunk", type=int, default=1 << 20, help="size of an event chunk in bytes")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    base = SHAPES[options.kind]
    shape = Shape(
        locations=options.locations or base.locations,
        events=options.events or base.events,
        per_mille_io=base.per_mille_io if options.per_mille_io is None else options.per_mille_io,
        handles=options.handles or base.handles,
        layers=base.layers,
    )
    begin = time.perf_counter()
    size = generate(options.folder, shape, options.chunk, options.seed)
    took = time.perf_counter() - begin
    print(f"{options.folder}: {shape}, {size / 1e6:.1f} MB of events in {took:.1f} s")


if __name__ == "__main__":
    main()
