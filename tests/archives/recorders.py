"""Records and files of other recorders, made of nothing but numbers."""

import json
import os
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

_START = "NULL POSIX MPI-IO"
_DXT = "STDIO DXT_POSIX DXT_MPIIO MDHIM"
MODULES = {
    version: text.split()
    for version, text in {
        "3.10": f"{_START} HDF5 PNETCDF BG/Q LUSTRE {_DXT}",
        "3.21": f"{_START} H5F H5D PNETCDF_FILE BG/Q LUSTRE {_DXT} APXC APMPI HEATMAP",
        "3.41": f"{_START} H5F H5D PNETCDF_FILE PNETCDF_VAR BG/Q LUSTRE {_DXT} APXC APMPI HEATMAP DFS DAOS",
    }.items()
}


def dxt(
    record: int, rank: int, writes: Sequence[tuple[Any, ...]], reads: Sequence[tuple[Any, ...]] = (), host: str = "n1"
) -> bytes:
    """Return a record of DXT; segments are (offset, length, start, end) and, where threads are known, the thread."""
    segments = [*writes, *reads]
    form = "<qqdd" if not segments or len(segments[0]) == 4 else "<qqddQ"
    head = struct.pack("<Qqq64sqq", record, rank, 0, host.encode(), len(writes), len(reads))
    return head + b"".join(struct.pack(form, *one) for one in segments)


def posix(record: int, rank: int, reads: int, writes: int, bytes_read: int, bytes_written: int) -> bytes:
    """Return a record of POSIX counters in version 4."""
    counters = [0] * 69
    counters[3], counters[4], counters[14], counters[15] = reads, writes, bytes_read, bytes_written
    return struct.pack("<Qq69q17d", record, rank, *counters, *[0.0] * 17)


def counters(module: tuple[str, int], record: int, rank: int, **values: float) -> bytes:
    """Return a record of a module of some version, by the names of its counters and times."""
    from iostrata.inputs.darshan.layouts import LAYOUTS

    layout = LAYOUTS[module]
    assert values.keys() <= {*layout.counters, *layout.times}
    counts = [int(values.get(name, 0)) for name in layout.counters]
    times = [float(values.get(name, 0)) for name in layout.times]
    head = [record, rank, record][: layout.start]
    packed = struct.pack(f"<Q{len(head) - 1}q{len(counts)}q{len(times)}d", *head, *counts, *times)
    return packed + bytes(layout.tail)


def stripes(record: int, targets: Sequence[int], size: int = 2**20, there: int = 248) -> bytes:
    """Return a record of Lustre's stripes."""
    return struct.pack(f"<Q6q{len(targets)}q", record, -1, there, 1, 0, size, len(targets), *targets)


def heatmap(record: int, rank: int, width: float, writes: Sequence[int], reads: Sequence[int]) -> bytes:
    """Return a record of HEATMAP."""
    return struct.pack(f"<QqdqQQ{2 * len(writes)}q", record, rank, width, len(writes), 0, 0, *writes, *reads)


@dataclass
class DarshanLog:
    """A log to be: what `bytes` makes is in the format of its version, each part of a module a stream of its own."""

    modules: Mapping[str, tuple[int, Sequence[bytes]]] = field(default_factory=dict)
    names: Mapping[int, str] = field(default_factory=dict)
    version: str = "3.21"
    processes: int = 2
    start: float = 1000.0
    length: float = 10.0
    mounts: Sequence[tuple[str, str]] = (("lustre", "/scratch"), ("ext4", "/"))
    partial: Sequence[str] = ()
    command: str = "./prog"
    job: int = 1

    def __bytes__(self) -> bytes:
        recent = self.version >= "3.40"
        count = 64 if recent else 16
        order = MODULES[self.version]
        end = self.start + self.length - (0 if recent else 1)
        if recent:
            job = struct.pack("<7q", 0, int(self.start), 0, int(end), round(end % 1 * 10**9), self.processes, self.job)
        else:
            job = struct.pack("<5q", 0, int(self.start), int(end), self.processes, self.job)
        job += b"lib_ver=3.4.1\n".ljust(1024, b"\0")
        job += "\n".join([self.command, *(f"{kind}\t{place}" for kind, place in self.mounts)]).encode() + b"\0"
        names = b"".join(struct.pack("<Q", one) + os.fsencode(name) + b"\0" for one, name in self.names.items())
        size = (32 if recent else 24) + 16 + 20 * count
        body = zlib.compress(job)
        name_map = (size + len(body), len(zlib.compress(names)) if names else 0)
        if names:
            body += zlib.compress(names)
        maps, versions, flags = [(0, 0)] * count, [0] * count, 0
        for name, (version, parts) in self.modules.items():
            data = b"".join(map(zlib.compress, parts))
            maps[order.index(name)] = (size + len(body), len(data))
            versions[order.index(name)] = version
            body += data
        for name in self.partial:
            flags |= 1 << order.index(name)
        head = self.version.encode().ljust(8, b"\0") + struct.pack("<q", 6567223)
        head += struct.pack("<B7xQ", 0, flags) if recent else struct.pack("<B3xI", 0, flags)
        head += struct.pack("<2Q", *name_map) + b"".join(struct.pack("<2Q", *one) for one in maps)
        return head + struct.pack(f"<{count}I", *versions) + body


def dftracer_event(
    name: str,
    start: int,
    duration: int,
    pid: int = 7,
    tid: int = 7,
    cat: str = "POSIX",
    texts: bool = False,
    ph: str | int = "X",
    **args: Any,
) -> str:
    """Return a line of any dialect: numbers as they are, or as `texts`; `ph` as letters or, of version 2, numbers."""
    numbers = {"pid": pid, "tid": tid, "ts": start, "dur": duration}
    shown = {key: str(value) if texts else value for key, value in numbers.items()}
    return json.dumps({"id": 1, "name": name, "cat": cat, **shown, "ph": ph, "args": args}, separators=(",", ":"))


def dftracer_metadata(kind: str, name: str, value: Any, pid: int = 7, ph: str | int = "M") -> str:
    """Return a line that names a hash, a node or a rank."""
    event = {"id": 2, "name": kind, "cat": "dftracer", "pid": pid, "tid": pid, "ph": ph}
    return json.dumps({**event, "args": {"name": name, "value": value}}, separators=(",", ":"))


def tmio_packed(
    rows: Sequence[tuple[float, float, float]], kind: str = "write_sync", ranks: int = 3, most: int = 1
) -> list[Any]:
    """Return a record of TMIO as MessagePack packs it."""
    total = int(sum(row[0] for row in rows))
    entries = [[*row, 0, 0.0, 0.0, 0, 0, 1] for row in rows]
    return [kind, False, kind[0] == "w", total, 0, 0, 1, len(rows), most, 1, len(rows), ranks, ranks, entries]
