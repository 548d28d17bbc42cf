"""A Darshan log's header, job, names and modules; format versions 3.00 to 3.4x, as darshan-log-format.h lays them out.

The log is read here and not by libdarshan-util, whose assertions end the process where a log is damaged.
"""

import bz2
import os
import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, Final

from ...model.budget import allowed_memory
from ...model.errors import TraceError, UnsupportedTraceError
from ...model.quantities import bytes_text, counted
from ..inflating import InflatingError, zlib_stream

MAGIC: Final = struct.pack("<q", 6567223)
_SWAPPED: Final = MAGIC[::-1]
_NODE: Final = re.compile(rb"[A-Za-z0-9][A-Za-z0-9_.:-]*")
_LARGEST: Final = 1 << 34
_STEP: Final = 1 << 22
_FIRST: Final = 1 << 11
_SMALL: Final = 1 << 20
"""Bytes of a log below which it is read once, and not a module at a time."""
_READ: Final = 1 << 16
_ENDS_EARLY: Final = "the file ends too early"
_NOT_COMPRESSED: Final = 2
_OLD_HEADER: Final = struct.Struct("<16xB3xI2Q32Q16I")
_NEW_HEADER: Final = struct.Struct("<16xB7xQ2Q128Q64I")
"""Compression, flags of modules that ran full, place and length of the names, then of each module, and its version."""

_SINCE_3_00: Final = [
    "NULL", "POSIX", "MPI-IO", "HDF5", "PNETCDF", "BG/Q", "LUSTRE", "STDIO", "DXT_POSIX", "DXT_MPIIO", "MDHIM",
]  # fmt: skip
_SINCE_3_20: Final = [*_SINCE_3_00[:3], "H5F", "H5D", "PNETCDF_FILE", *_SINCE_3_00[5:], "APXC", "APMPI", "HEATMAP"]
_SINCE_3_40: Final = [*_SINCE_3_20[:6], "PNETCDF_VAR", *_SINCE_3_20[6:], "DFS", "DAOS"]


@dataclass(frozen=True)
class Module:
    """A module's data in the log: place and compressed length, version, and whether it ran full (`partial`)."""

    name: str
    offset: int
    length: int
    version: int
    partial: bool


@dataclass(frozen=True)
class Job:
    """What the log says of the job; times in ns, `whole_seconds` where they are known no better.

    There are several `programs` where logs of one job are put together.
    """

    id: int
    start_ns: int
    end_ns: int
    processes: int
    whole_seconds: bool
    library: str
    command: str
    mounts: tuple[tuple[str, str], ...]
    programs: int = 1

    @property
    def length_ns(self) -> int:
        """How long the job ran; a job that starts and ends within a second counts as one, as Darshan's tools do."""
        return max(self.end_ns - self.start_ns + (10**9 if self.whole_seconds else 0), 0)


@dataclass(frozen=True)
class Log:
    """A log's header, job and names of records; `modules` in the order of the log."""

    path: Path
    version: str
    job: Job
    names: dict[int, str]
    modules: dict[str, Module]
    compression: int
    faults: tuple[str, ...]
    whole: bytes | None = field(default=None, repr=False)

    def content(self, name: str) -> tuple[bytes, str | None]:
        """Return the inflated data of a module and why they end early, None where they do not."""
        module = self.modules[name]
        with self.path.open("rb") if self.whole is None else BytesIO(self.whole) as file:
            return _inflated(file, module.offset, module.length, self.compression)


def is_darshan(head: bytes) -> bool:
    """Tell a Darshan log by its first bytes."""
    return head[8:16] in (MAGIC, _SWAPPED)


def read_log(path: Path) -> Log:
    """Read all of a log but the data of its modules.

    Raises TraceError if the log is cut in its header or job, UnsupportedTraceError if no reader here knows it.
    """
    with path.open("rb") as opened:
        size = os.fstat(opened.fileno()).st_size
        whole = opened.read(_SMALL) if size < _SMALL else None
        file: BinaryIO = opened if whole is None else BytesIO(whole)
        version, header, (compression, flags, names_at, names_length, *numbers) = _header(path, file.read(2048))
        recent = version >= "3.4"
        listed = _SINCE_3_40 if recent else _SINCE_3_20 if version >= "3.2" else _SINCE_3_00
        modules = _modules(listed, numbers, flags)
        faults = [f"{one.name} reaches past the end of the file" for one in modules if one.offset + one.length > size]
        # The job's region has no length: it ends where the next one begins.
        ends = [place for place in (names_at, *(one.offset for one in modules)) if place > header.size]
        job, fault = _inflated(file, header.size, min([*ends, size]) - header.size, compression)
        if len(job) < 1064:
            helps = "copy it again" if version < "3.5" else f"its version, {version}, may be none of 3.00 to 3.4x"
            raise TraceError(f"{path}: the Darshan log's job cannot be read ({fault or 'it is cut'}); {helps}")
        if fault:
            faults.append(f"command line and mount points of the job: {fault}")
        known, lost = _names(_inflated(file, names_at, names_length, compression)) if names_length else ({}, None)
    if lost:
        faults.append(f"names of files: {lost}")
    by_name = {one.name: one for one in modules}
    return Log(path, version, _job(job, recent), known, by_name, compression, tuple(faults), whole)


def _header(path: Path, head: bytes) -> tuple[str, struct.Struct, tuple[int, ...]]:
    """Return the version of a log, its header and what stands there; errors as `read_log`."""
    version = _version(path, head)
    header = _NEW_HEADER if version >= "3.4" else _OLD_HEADER
    if len(head) < header.size:
        raise TraceError(f"{path}: the Darshan log ends in its header; copy it again")
    found = header.unpack_from(head)
    if found[0] not in (*_DECOMPRESSORS, _NOT_COMPRESSED):
        raise UnsupportedTraceError(f"{path}: unknown compression {found[0]} of the Darshan log")
    return version, header, found


def _version(path: Path, head: bytes) -> str:
    """Return the version of a log's format; TraceError where it has none, or none that is known here."""
    if not head:
        raise TraceError(f"{path}: the Darshan log is empty: its job was killed or the disk was full; record it again")
    if head[8:16] == _SWAPPED:
        raise UnsupportedTraceError(f"{path}: a Darshan log of a big-endian machine; convert it there")
    version = head[:8].split(b"\0")[0].decode("ascii", "replace")
    if not re.fullmatch(r"3\.\d+", version):
        raise UnsupportedTraceError(f"{path}: Darshan log version {version!r} is unknown here; 3.00 to 3.4x are read")
    return version


def _modules(names: list[str], numbers: list[int], flags: int) -> list[Module]:
    """Return the modules of a header's numbers: place and length of each, then the version of each."""
    count = len(numbers) // 3
    found = []
    for place in range(count):
        offset, length, version = *numbers[2 * place : 2 * place + 2], numbers[2 * count + place]
        if length:
            name = names[place] if place < len(names) else f"module {place}"
            found.append(Module(name, offset, length, version, bool(flags >> place & 1)))
    return found


def _job(data: bytes, recent: bool) -> Job:
    fields = struct.unpack_from("<7q" if recent else "<5q", data)
    if recent:
        _, start, start_ns, end, end_ns, processes, number = fields
    else:
        (_, start, end, processes, number), start_ns, end_ns = fields, 0, 0
    text = data[8 * len(fields) :]
    metadata = text[:1024].split(b"\0")[0].decode("utf-8", "backslashreplace")
    lines = text[1024:].split(b"\0")[0].decode("utf-8", "backslashreplace").split("\n")
    facts = dict(line.split("=", 1) for line in metadata.split("\n") if "=" in line)
    mounts = tuple((kind, place) for line in lines[1:] for kind, tab, place in (line.partition("\t"),) if tab)
    times = start * 10**9 + start_ns, end * 10**9 + end_ns
    return Job(number, *times, processes, not recent, facts.get("lib_ver", ""), lines[0], mounts)


@lru_cache
def node_name(raw: bytes) -> str:
    """Return the name of a node that ends with a zero byte; nothing where it is none, as in a record that is broken."""
    return found[0].decode() if (found := _NODE.fullmatch(raw.split(b"\0")[0])) else ""


def _names(inflated: tuple[bytes, str | None]) -> tuple[dict[int, str], str | None]:
    """Return names by record id: eight bytes of the id, then the name and a zero byte.

    Where they end early, those before may be broken as well: what is no text is none.
    """
    data, fault = inflated
    names: dict[int, str] = {}
    place = 0
    while place + 8 < len(data):
        end = data.find(b"\0", place + 8)
        if end < 0:
            fault = fault or "the last one is cut"
            break
        name = data[place + 8 : end].decode("utf-8", "backslashreplace")
        names[int.from_bytes(data[place : place + 8], "little")] = name
        place = end + 1
    if fault:
        broken = [one for one, name in names.items() if not (name.isprintable() and "\\x" not in name)]
        fault += f"; {counted(len(broken), 'name')} that are no text left out" if broken else ""
        names = {one: name for one, name in names.items() if one not in broken}
    return names, fault


_DECOMPRESSORS: Final[dict[int, Callable[[], Any]]] = {0: zlib_stream, 1: bz2.BZ2Decompressor}


def _inflated(file: BinaryIO, offset: int, length: int, compression: int) -> tuple[bytes, str | None]:
    """Return a region of the log, of one compressed stream a rank, and why it ends early."""
    if not 0 <= offset < _LARGEST:
        return b"", "it lies outside of the file"
    there = min(length, file.seek(0, 2) - offset)
    file.seek(offset)
    data = file.read(max(there, 0))
    if compression == _NOT_COMPRESSED:
        return data, None if len(data) >= length else _ENDS_EARLY
    found: list[bytes] = []
    total, fault, allowed = 0, None, allowed_memory()
    try:
        for part in _inflating(memoryview(data), _DECOMPRESSORS[compression]):
            found.append(part)
            total += len(part)
            # Its parts and all of them in one are there at the same time.
            if 2 * total > allowed:
                return b"".join(found[:-1]), f"it inflates to more than {bytes_text(total)}; give more with --memory"
    except EOFError as error:
        fault = str(error)
    except (InflatingError, OSError):
        return b"".join(found), "it cannot be inflated"
    return b"".join(found), fault if len(data) >= length else _ENDS_EARLY


def _inflating(data: memoryview, make: Callable[[], Any]) -> Iterator[bytes]:
    """Yield the content of streams, one behind the other; EOFError where the last one is cut."""
    place = 0
    while place < len(data):
        # A little at first: most streams are short, and what they leave of it is copied.
        stream, piece, step = make(), data[place : place + _FIRST], _FIRST
        place += len(piece)
        yield stream.decompress(piece, _STEP)
        while not stream.eof:
            waiting = _waiting(stream)
            if waiting is None:
                if place == len(data):
                    raise EOFError("its last stream is cut")
                step = min(2 * step, _READ)
                waiting = data[place : place + step]
                place += len(waiting)
            yield stream.decompress(waiting, _STEP)
        place -= len(stream.unused_data)


def _waiting(stream: Any) -> bytes | memoryview | None:
    """Return what a stream needs to go on with its last piece: zlib gives the rest back, bzip2 keeps it."""
    if isinstance(stream, bz2.BZ2Decompressor):
        return None if stream.needs_input else b""
    return stream.unconsumed_tail or None
