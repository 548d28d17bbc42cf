"""Attribution of ten million operations: a stack of three layers on many ranks, half of it through the handles.

Made in memory, so that nothing but the attribution is measured. Every tenth upper call is non-blocking, and a tenth of
the lowest operations are on handles without a parent, which must be found by enclosing calls.
"""

import argparse
import statistics
import time

import numpy as np
from iostrata.layers.attribution.attribution import attribute_operations
from iostrata.layers.handles.stack import handle_stack, layer_order
from iostrata.model.codes import UNDEFINED_TIME, UNDEFINED_UINT64
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
from iostrata.model.operations import Operations
from results import write_section

CHILDREN = 8
"""POSIX operations beneath each MPI-IO one; the first of every ten calls has a netCDF call around it."""


def made(operations: int, ranks: int) -> tuple[Operations, Definitions]:
    """Return about `operations` operations on `ranks` ranks, ordered by begin, and their definitions."""
    calls = operations // ((CHILDREN + 2) * ranks)
    step = 10 * (CHILDREN + 2)
    base = np.arange(calls, dtype=np.int64) * step
    starts = [base, base + 1]
    ends = [base + step - 1, base + step - 2]
    handles = [np.zeros(calls, np.int32), np.ones(calls, np.int32)]
    for child in range(CHILDREN):
        begin = base + 5 + 9 * child
        starts.append(begin)
        ends.append(begin + 8)
        # The last of the children goes through a handle without a parent in every call.
        handles.append(np.full(calls, 3 if child == CHILDREN - 1 else 2, np.int32))
    begin, end, handle = (np.concatenate(parts) for parts in (starts, ends, handles))
    location = np.repeat(np.arange(ranks, dtype=np.int32), len(begin))
    begin = np.tile(begin, ranks) + location
    end, handle = np.tile(end, ranks) + location, np.tile(handle, ranks)
    order = np.lexsort((location, begin))
    location, begin, end, handle = location[order], begin[order], end[order], handle[order]
    count = len(begin)
    flags = np.where((handle == 1) & (begin % 10 == 0), 1, 0).astype(np.uint32)
    undefined = np.full(count, UNDEFINED_UINT64, np.uint64)
    columns = Operations(
        location=location,
        end_location=location,
        process=location,
        handle=handle,
        mode=np.ones(count, np.uint8),
        flags=flags,
        begin=begin,
        issued=np.where(flags > 0, end, UNDEFINED_TIME),
        end=end,
        requested=undefined,
        moved=np.full(count, 4096, np.uint64),
        offset=undefined,
        matching=np.ones(count, np.uint64),
        tests=np.zeros(count, np.uint32),
        status=np.zeros(count, np.uint8),
    )
    rows = np.arange(ranks, dtype=np.int32)
    nothing = np.zeros(4, np.uint32)
    definitions = Definitions(
        clock=Clock(10**9, 0, int(end.max()), None),
        system_tree=SystemTree(np.zeros(1, np.uint32), ("node",), ("node",), np.array([-1], np.int32)),
        groups=LocationGroups(rows.astype(np.uint32), ("",) * ranks, np.ones(ranks, np.uint8), rows * 0, rows),
        locations=Locations(
            rows.astype(np.uint64), ("",) * ranks, np.ones(ranks, np.uint8), np.zeros(ranks, np.uint64), rows
        ),
        paradigms=(
            Paradigm(0, "netCDF", "NetCDF", True, False, ()),
            Paradigm(1, "MPI-IO", "MPI I/O", True, False, ()),
            Paradigm(2, "POSIX", "POSIX I/O", False, True, ()),
        ),
        files=Files(np.zeros(1, np.uint32), ("/scratch/out.nc",), np.zeros(1, bool), np.array([-1], np.int32), ({},)),
        handles=Handles(
            np.arange(4, dtype=np.uint32),
            ("",) * 4,
            np.zeros(4, np.int32),
            np.array([0, 1, 2, 2], np.int32),
            nothing,
            nothing,
            np.array([-1, 0, 1, -1], np.int32),
            np.zeros(4, bool),
            nothing.astype(np.uint8),
            nothing,
        ),
        location_sets=(),
        communicators=(),
        attributes={},
    )
    return columns, definitions


def main() -> None:
    """Measure and write the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--operations", type=int, default=10_000_000)
    parser.add_argument("--ranks", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    small = made(10_000, 10)
    attribute_operations(*small, handle_stack(small[1], layer_order(small[1])))
    operations, definitions = made(arguments.operations, arguments.ranks)
    order = layer_order(definitions)
    seconds = []
    for _ in range(arguments.rounds):
        start = time.perf_counter()
        found = attribute_operations(operations, definitions, handle_stack(definitions, order))
        seconds.append(time.perf_counter() - start)
    with_parent = np.count_nonzero(found.parent >= 0)
    expected = np.count_nonzero(operations.handle > 0)
    if with_parent != expected:
        raise SystemExit(f"{with_parent} operations have a parent, {expected} should")
    body = (
        f"| operations | ranks | median in s | fastest in s | ns an operation |\n|---|---|---|---|---|\n"
        f"| {len(operations):,} | {arguments.ranks:,} | {statistics.median(seconds):.2f} | {min(seconds):.2f} "
        f"| {1e9 * statistics.median(seconds) / len(operations):.0f} |\n\n"
        f"{arguments.rounds} rounds after the kernels were compiled; {with_parent:,} operations have a parent, "
        f"{np.count_nonzero(found.inferred):,} of them inferred."
    )
    write_section("Attribution", body)
    print(body)


if __name__ == "__main__":
    main()
