"""Archives written anew, beside the ``otf2`` package's own writer: ``python benchmarks/writing.py``.

Each turn is a process of its own, which writes a small archive first, so that kernels and libraries are there. Both
write the same operations, a begin with its offset and an end each. The package takes a call an event, so it gets fewer;
rates are events a second of processor time.
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from results import write_section

TITLE = "Writing OTF2 archives"
BLOCK = 1 << 17
SHAPES = {"1 location": 1, "64 locations": 64, "1024 locations": 1024}
FEWER = 50
"""The package's writer gets this part of the operations."""


def ours(folder: Path, count: int, locations: int) -> None:
    """Write `count` operations block by block."""
    from iostrata.model.codes import UNDEFINED_TIME, UNDEFINED_UINT8, UNDEFINED_UINT32
    from iostrata.model.definitions import (
        Clock,
        Definitions,
        Files,
        Handles,
        LocationGroups,
        Locations,
        Paradigm,
        SystemTree,
    )
    from iostrata.model.events import IoEvents
    from iostrata.model.operations import Operations
    from iostrata.otf2io.writing.archive import write_archive

    names = tuple(f"rank {number}" for number in range(locations))
    ones, rows = np.ones(locations, np.uint8), np.arange(locations, dtype=np.int32)
    one, none, root = np.zeros(1, np.uint32), np.full(1, UNDEFINED_UINT32, np.uint32), np.full(1, -1, np.int32)
    definitions = Definitions(
        Clock(10**9, 0, 1000 * count, None),
        SystemTree(one, ("machine",), ("machine",), root),
        LocationGroups(rows.astype(np.uint32), names, ones, np.zeros(locations, np.int32), rows),
        Locations(rows.astype(np.uint64), names, ones, np.zeros(locations, np.uint64), rows),
        (Paradigm(0, "POSIX", "POSIX", False, True, ()),),
        Files(one, ("/scratch/a",), np.zeros(1, np.bool_), root, ({},)),
        Handles(
            one, ("",), np.zeros(1, np.int32), np.zeros(1, np.int32), one, none, root, np.zeros(1, np.bool_),
            np.full(1, UNDEFINED_UINT8, np.uint8), one,
        ),
        (),
        (),
        {},
    )  # fmt: skip

    def blocks() -> Iterator[tuple[Operations, IoEvents]]:
        for first in range(0, count, BLOCK):
            number = np.arange(first, min(first + BLOCK, count))
            begin, rows = number * 1000, len(number)
            location = (number % locations).astype(np.int32)
            size = np.full(rows, 4096, np.uint64)
            zeros = np.zeros(rows, np.uint8)
            yield (
                Operations(
                    location, location, location, np.zeros(rows, np.int32), zeros + np.uint8(1),
                    zeros.astype(np.uint32),
                    begin, np.full(rows, UNDEFINED_TIME), begin + 500, size, size, number.astype(np.uint64) * 4096,
                    number.astype(np.uint64), zeros.astype(np.uint32), zeros,
                ),
                IoEvents.empty(),
            )  # fmt: skip

    write_archive(folder / "x", definitions, blocks())


def package(folder: Path, count: int, locations: int) -> None:
    """Write them by a call an event."""
    import otf2
    from otf2.enums import IoOperationFlag, IoOperationMode, IoParadigmClass, IoParadigmFlag, Type

    with otf2.writer.open(str(folder / "x"), archive_name="x", timer_resolution=10**9) as trace:
        made = trace.definitions
        offset = made.attribute("Offset", "Position in the file", Type.UINT64)
        paradigm = made.io_paradigm(
            identification="POSIX",
            name="POSIX",
            io_paradigm_class=IoParadigmClass.SERIAL,
            io_paradigm_flags=IoParadigmFlag.OS,
        )
        node = made.system_tree_node("machine", class_name="machine")
        handle = made.io_handle(file=made.io_regular_file("/scratch/a", scope=node), io_paradigm=paradigm, name="")
        groups = [made.location_group(f"rank {number}", system_tree_parent=node) for number in range(locations)]
        writers = [trace.event_writer_from_location(made.location(group.name, group=group)) for group in groups]
        mode, flags = IoOperationMode.WRITE, IoOperationFlag.NONE
        for number in range(count):
            writer = writers[number % locations]
            position = {offset: number * 4096}
            writer.io_operation_begin(number * 1000, handle, mode, flags, 4096, number, attributes=position)
            writer.io_operation_complete(number * 1000 + 500, handle, 4096, number)


WRITERS = {"iostrata": ours, "otf2": package}


def turn(writer: str, count: int, locations: int) -> dict[str, float]:
    """Write in this process, and return events a second and the peak of memory in MB."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        WRITERS[writer](folder, 1000, 1)
        for path in folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        start = time.process_time()
        WRITERS[writer](folder, count, locations)
        seconds = time.process_time() - start
    return {"rate": 2 * count / seconds, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6}


def main() -> None:
    """Measure both writers in turns and write the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--operations", type=int, default=5_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--turn", nargs=3, metavar=("WRITER", "OPERATIONS", "LOCATIONS"))
    chosen = parser.parse_args()
    if chosen.turn:
        print(json.dumps(turn(chosen.turn[0], int(chosen.turn[1]), int(chosen.turn[2]))))
        return
    lines = ["| archive | iostrata, M events/s | peak MB | `otf2`, M events/s | ratio |", "|---|---|---|---|---|"]
    for shape, locations in SHAPES.items():
        found: dict[str, list[dict[str, float]]] = {writer: [] for writer in WRITERS}
        for _ in range(chosen.rounds):
            for writer, turns in found.items():
                count = chosen.operations // (1 if writer == "iostrata" else FEWER)
                command = [sys.executable, __file__, "--turn", writer, str(count), str(locations)]
                turns.append(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
        rate = {writer: statistics.median(one["rate"] for one in turns) / 1e6 for writer, turns in found.items()}
        peak = statistics.median(one["peak"] for one in found["iostrata"])
        ratio = rate["iostrata"] / rate["otf2"]
        lines.append(f"| {shape} | {rate['iostrata']:.1f} | {peak:.0f} | {rate['otf2']:.3f} | {ratio:.0f} |")
    text = (
        f"{chosen.operations:,} operations in blocks of {BLOCK:,}, each a begin with its offset and an end; the "
        f"package's writer, which takes a call an event, writes every {FEWER}th. Events a second of processor time, "
        f"medians of {chosen.rounds} turns a writer, interleaved; the load of the machine was "
        f"{', '.join(f'{one:.1f}' for one in os.getloadavg())}. Each location has files of its own: where it has few "
        "operations, opening and closing them is what takes time.\n\n"
    )
    write_section(TITLE, text + "\n".join(lines))


if __name__ == "__main__":
    main()
