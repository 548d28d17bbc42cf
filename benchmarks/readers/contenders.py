"""One reading of an archive by one contender, timed: ``python benchmarks/readers/contenders.py direct ARCHIVE``.

Prints events, I/O rows and seconds of the event part; start-up, compilation and global definitions are not in it, they
are the same for all or shown elsewhere. A contender that is compiled reads a small archive first.
"""

import argparse
import ctypes
import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np

WARM_UP = Path(__file__).parents[2] / "fixtures" / "serial1"
ROWS = 1 << 16

Timing = tuple[int, int, float]
"""Events, I/O rows, seconds."""


def direct(path: Path, workers: int) -> Timing:
    """Walk all locations in batches that are counted and forgotten."""
    from iostrata.otf2io.archive import open_archive
    from iostrata.otf2io.source import Otf2Source

    source = Otf2Source(open_archive(path), "direct")
    walk = source.walk
    start = time.perf_counter()
    partitions: SimpleQueue[Any] = SimpleQueue()
    for partition in source.partitions(None, workers):
        partitions.put(partition)
    rows = [0] * workers

    def work(worker: int) -> None:
        while True:
            try:
                partition = partitions.get_nowait()
            except Empty:
                return
            for events in source.events(partition):
                rows[worker] += len(events)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(1, workers)]
    for thread in threads:
        thread.start()
    work(0)
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - start
    damage = walk.damage(np.arange(len(walk.counts)))
    if damage:
        raise RuntimeError(f"{path} is damaged: {damage[0]}")
    return int(walk.counts.sum()), sum(rows), seconds


def columns(path: Path, workers: int) -> Timing:
    """Match all rows into the columns of all operations, as an analysis does."""
    from functools import partial

    from iostrata.model.stream.columns import CollectedOperations
    from iostrata.model.stream.mapping import map_partitions
    from iostrata.model.stream.source import Tally
    from iostrata.otf2io.archive import open_archive
    from iostrata.otf2io.source import Otf2Source

    source = Otf2Source(open_archive(path), "direct")
    start = time.perf_counter()
    collected, tally = CollectedOperations(source.definitions), Tally()
    for blocks in map_partitions(partial(_blocks, source), source.partitions(None, workers), 0, workers):
        for block in blocks:
            collected.add(block)
            tally.add(block)
    collected.operations()
    return tally.events, tally.io_events, time.perf_counter() - start


def _blocks(source: Any, partition: Any, _done: Any) -> list[Any]:
    return list(source.read(partition))


def high_level(path: Path, _: int) -> Timing:
    """Go through the events of the official Python package's reader and look at those of I/O."""
    import otf2

    kinds = tuple(kind for name, kind in vars(otf2.events).items() if name.startswith("Io") and isinstance(kind, type))
    start = time.perf_counter()
    events = rows = 0
    with otf2.reader.open(str(path / "traces.otf2")) as trace:
        for _location, event in trace.events:
            events += 1
            rows += isinstance(event, kinds)
    return events, rows, time.perf_counter() - start


def compiled_callbacks(path: Path, _: int) -> Timing:
    """Read by local readers of the package's library with callbacks compiled by numba."""
    from iostrata.otf2io.archive import open_archive
    from iostrata.otf2io.files.libotf2 import library, open_reader

    lib = library()
    archive = open_archive(path)
    identities = archive.definitions.locations.id.tolist()
    rows = np.zeros((ROWS + 1, 8), np.uint64)
    offsets = [identity for identity, name in archive.definitions.attributes.items() if name == "Offset"]
    callbacks = compile_callbacks(offsets[0] if offsets else 2**32 - 1)
    done = ctypes.c_uint64()
    events = 0
    start = time.perf_counter()
    with open_reader(archive.anchor) as reader:
        for identity in identities:
            lib.OTF2_Reader_SelectLocation(reader, identity)
        lib.OTF2_Reader_OpenDefFiles(reader)
        lib.OTF2_Reader_OpenEvtFiles(reader)
        table = ctypes.c_void_p(lib.OTF2_EvtReaderCallbacks_New())
        for name, callback in callbacks.items():
            setter = getattr(lib, f"OTF2_EvtReaderCallbacks_Set{name}Callback")
            setter.argtypes = (ctypes.c_void_p, ctypes.c_void_p)
            setter(table, callback.address)
        for identity in identities:
            definitions = lib.OTF2_Reader_GetDefReader(reader, identity)
            if definitions:
                lib.OTF2_Reader_ReadAllLocalDefinitions(reader, definitions, ctypes.byref(done))
                lib.OTF2_Reader_CloseDefReader(reader, definitions)
            local = lib.OTF2_Reader_GetEvtReader(reader, identity)
            lib.OTF2_Reader_RegisterEvtCallbacks(reader, local, table, rows.ctypes.data)
            lib.OTF2_Reader_ReadLocalEvents(reader, local, 2**62, ctypes.byref(done))
            events += done.value
            lib.OTF2_Reader_CloseEvtReader(reader, local)
        lib.OTF2_EvtReaderCallbacks_Delete(table)
        lib.OTF2_Reader_CloseEvtFiles(reader)
        lib.OTF2_Reader_CloseDefFiles(reader)
    return events, int(rows[0, 0]), time.perf_counter() - start


def compile_callbacks(offset_attribute: int) -> dict[str, Any]:
    """Compile one callback for each I/O record, which puts a row into the matrix that it is given.

    The matrix has eight uint64 columns (kind, time, handle, mode, flags, matching id, value, offset); its first row
    holds the number of rows so far and a place for an attribute's value.
    """
    from iostrata.otf2io.files.libotf2 import library
    from numba import carray, cfunc, njit, types

    lib = library()
    none, no_handle = np.uint64(2**64 - 1), np.uint32(2**32 - 1)
    size_of = lib.OTF2_AttributeList_GetNumberOfElements
    size_of.restype, size_of.argtypes = ctypes.c_uint32, (ctypes.c_void_p,)
    value_of = lib.OTF2_AttributeList_GetUint64
    value_of.restype, value_of.argtypes = ctypes.c_int, (ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p)
    attribute_id = np.uint32(offset_attribute)

    @njit(forceinline=True)
    def put(user, kind, time, handle, mode, flags, matching, value, offset):  # type: ignore[no-untyped-def]
        rows = carray(user, (ROWS + 1, 8), np.uint64)
        row = 1 + (rows[0, 0] & np.uint64(ROWS - 1))
        rows[0, 0] += np.uint64(1)
        rows[row, 0] = kind
        rows[row, 1] = time
        rows[row, 2] = handle
        rows[row, 3] = mode
        rows[row, 4] = flags
        rows[row, 5] = matching
        rows[row, 6] = value
        rows[row, 7] = offset
        return 0

    head = (types.uint64, types.uint64, types.uint64, types.voidptr, types.voidptr)
    u8, u32, u64 = types.uint8, types.uint32, types.uint64

    def compiled(*fields: Any) -> Callable[[Any], Any]:
        return cfunc(types.int32(*head, *fields))

    @compiled(u32, u8, u32, u32)
    def create(_l, time, _p, user, _a, handle, mode, creation, status):  # type: ignore[no-untyped-def]
        return put(user, 69, time, handle, mode, status, 0, creation, none)

    @compiled(u32)
    def destroy(_l, time, _p, user, _a, handle):  # type: ignore[no-untyped-def]
        return put(user, 70, time, handle, 0, 0, 0, 0, none)

    @compiled(u32, u32, u32)
    def duplicate(_l, time, _p, user, _a, old, new, status):  # type: ignore[no-untyped-def]
        return put(user, 71, time, old, 0, status, 0, new, none)

    @compiled(u32, u64, u8, u64)
    def seek(_l, time, _p, user, _a, handle, request, whence, result):  # type: ignore[no-untyped-def]
        return put(user, 72, time, handle, whence, 0, 0, request, result)

    @compiled(u32, u32)
    def change(_l, time, _p, user, _a, handle, status):  # type: ignore[no-untyped-def]
        return put(user, 73, time, handle, 0, status, 0, 0, none)

    @compiled(u8, u32)
    def delete(_l, time, _p, user, _a, paradigm, file):  # type: ignore[no-untyped-def]
        return put(user, 74, time, no_handle, paradigm, 0, 0, file, none)

    @compiled(u32, u8, u32, u64, u64)
    def begin(_l, time, _p, user, attributes, handle, mode, flags, size, matching):  # type: ignore[no-untyped-def]
        rows = carray(user, (ROWS + 1, 8), np.uint64)
        offset = none
        if size_of(attributes) > 0 and value_of(attributes, attribute_id, rows[0, 1:].ctypes) == 0:
            offset = rows[0, 1]
        return put(user, 75, time, handle, mode, flags, matching, size, offset)

    @compiled(u32, u64, u64)
    def complete(_l, time, _p, user, _a, handle, size, matching):  # type: ignore[no-untyped-def]
        return put(user, 78, time, handle, 0, 0, matching, size, none)

    def matched(kind: int) -> Any:
        @compiled(u32, u64)
        def callback(_l, time, _p, user, _a, handle, matching):  # type: ignore[no-untyped-def]
            return put(user, kind, time, handle, 0, 0, matching, 0, none)

        return callback

    def lock(kind: int) -> Any:
        @compiled(u32, u8)
        def callback(_l, time, _p, user, _a, handle, lock_type):  # type: ignore[no-untyped-def]
            return put(user, kind, time, handle, lock_type, 0, 0, 0, none)

        return callback

    return {
        "IoCreateHandle": create,
        "IoDestroyHandle": destroy,
        "IoDuplicateHandle": duplicate,
        "IoSeek": seek,
        "IoChangeStatusFlags": change,
        "IoDeleteFile": delete,
        "IoOperationBegin": begin,
        "IoOperationTest": matched(76),
        "IoOperationIssued": matched(77),
        "IoOperationComplete": complete,
        "IoOperationCancelled": matched(79),
        "IoAcquireLock": lock(80),
        "IoReleaseLock": lock(81),
        "IoTryLock": lock(82),
    }


CONTENDERS: dict[str, Callable[[Path, int], Timing]] = {
    "direct": direct,
    "columns": columns,
    "callbacks": compiled_callbacks,
    "high-level": high_level,
}


def main() -> None:
    """Read the command line, warm up, read, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("contender", choices=CONTENDERS)
    parser.add_argument("archive", type=Path)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    read = CONTENDERS[options.contender]
    if read is not high_level:
        read(WARM_UP, options.workers)
    events, rows, seconds = read(options.archive, options.workers)
    print(json.dumps({"events": events, "rows": rows, "seconds": seconds}))


if __name__ == "__main__":
    main()
