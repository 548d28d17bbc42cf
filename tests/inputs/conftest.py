"""Small inputs of other recorders, and the real ones for tests that are marked for them."""

import gzip
import importlib.util
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

_SPEC = importlib.util.spec_from_file_location(
    "recorder_files", Path(__file__).parents[1] / "archives" / "recorders.py"
)
made = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(made)
dxt, posix, DarshanLog = made.dxt, made.posix, made.DarshanLog
dftracer_event, dftracer_metadata, tmio_packed = made.dftracer_event, made.dftracer_metadata, made.tmio_packed


@pytest.fixture(scope="session")
def recorders(recordings) -> Path:
    """Return the folder of the real inputs."""
    return recordings / "recorders"


@pytest.fixture
def darshan_log(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes a log of some modules under a name that tells nothing."""

    def write(**given: Any) -> Path:
        path = tmp_path / "job.log"
        path.write_bytes(bytes(DarshanLog(**given)))
        return path

    return write


@pytest.fixture
def traced_log(darshan_log) -> Path:
    """Return a log of two ranks that write by MPI-IO, one of them for both to POSIX, and read by POSIX alone."""
    file, other = 11, 22
    mpi = [dxt(file, rank, [(rank * 100, 100, 1.0 + rank, 2.0 + rank)], host=f"n{rank}") for rank in range(2)]
    low = [
        dxt(file, 0, [(0, 150, 1.25, 1.5), (150, 50, 1.5, 1.75)], host="n0"),
        dxt(other, 1, [], [(0, 7, 5.0, 5.5), (7, 0, 5.5, 5.5)], host="n1"),
    ]
    return darshan_log(
        modules={
            "POSIX": (4, [posix(file, 0, 0, 2, 0, 200), posix(other, 1, 2, 0, 7, 0)]),
            "DXT_POSIX": (1, low),
            "DXT_MPIIO": (2, mpi),
        },
        names={file: "/scratch/out.h5", other: "/home/in.txt"},
    )


@pytest.fixture
def dftracer_file(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes lines as a file of DFTracer."""

    def write(lines: Iterable[str], name: str = "trace", packed: bool = True) -> Path:
        text = "[\n" + "\n".join(lines) + "\n]\n"
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
        return path

    return write


@pytest.fixture
def small_dftracer(dftracer_file) -> Path:
    """Return a file of one rank that opens, seeks, reads, writes and closes a file."""
    second = 10**6
    base = 1_700_000_000 * second
    known = {"fhash": "af", "hhash": 5, "fd": 3}
    return dftracer_file(
        [
            dftracer_metadata("HH", "node9", 5),
            dftracer_metadata("FH", "/data/a.bin", "af"),
            dftracer_metadata("PR", "rank", "4"),
            dftracer_event("open64", base, 10, fhash="af", hhash=5, ret=3, flags=0),
            dftracer_event("read", base + second, second, ret=100, count=128, **known),
            dftracer_event("lseek64", base + 3 * second, 1, ret=1000, whence=0, offset=1000, **known),
            dftracer_event("write", base + 4 * second, 0, ret=50, count=50, **known),
            dftracer_event("pwrite", base + 5 * second, 5, ret=8, count=8, offset=64, **known),
            dftracer_event("fsync", base + 6 * second, 5, ret=0, **known),
            dftracer_event("read", base + 7 * second, 5, ret=-1, count=10, **known),
            dftracer_event("stat", base + 8 * second, 5, **known),
            dftracer_event("close", base + 9 * second, 5, ret=0, **known),
            dftracer_event("train", base, 5, cat="app"),
        ]
    )


@pytest.fixture
def small_tmio(tmp_path: Path) -> Path:
    """Return TMIO's MessagePack of 3 ranks that write 600 B and read 10 B."""
    msgpack = pytest.importorskip("msgpack")
    path = tmp_path / "tmio.out"
    records = [
        tmio_packed([(100, 1.0, 2.0), (200, 3.0, 4.0), (300, 5.0, 5.5)]),
        ["io_time", 1.0, 2.0, 3.0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1],
        tmio_packed([(10, 6.0, 6.5)], "read_sync"),
    ]
    path.write_bytes(b"".join(map(msgpack.packb, records)))
    return path


@pytest.fixture
def small_table(tmp_path: Path) -> Path:
    """Return a table of operations as CSV."""
    path = tmp_path / "operations.txt"
    path.write_text(
        "layer,rank,mode,start,end,bytes,file,node\n"
        "MPI-IO,0,write,0.5,1.5,100,/a,n0\n"
        "POSIX,0,write,0.75,1.25,120,/a,n0\n"
        "POSIX,1,read,2,2.5,7,/b,n1\n"
    )
    return path
