"""Files opened and read inside compiled loops, without Python's lock: thousands of small files in one call.

The functions are those of the C library, as POSIX defines them; a failure is a negative number, and who wants the cause
asks the operating system again from Python.
"""

import os
from typing import Final

import numpy as np

from ...model.arrays import Octets
from ...model.kernels import inlined, library_function

_open: Final = library_function("open", "int32", "uintp", "int32")
_close: Final = library_function("close", "int32", "int32")
_seek: Final = library_function("lseek", "int64", "int32", "int64", "int32")
_pread: Final = library_function("pread", "int64", "int32", "uintp", "uintp", "int64")

_READ_ONLY = 0
_FROM_END = 2
_TO_DATA: Final = getattr(os, "SEEK_DATA", -1)
_TO_HOLE: Final = getattr(os, "SEEK_HOLE", -1)
_CLOSE_ON_EXEC = 0o2000000
# A named pipe in the place of a file would be waited for without end; so it has no size, which ends the attempt.
_NEVER_WAIT = 0o4000


@inlined
def open_file(paths: Octets, at: int) -> int:
    """Open the file whose path, ended by a zero byte, stands at `at`; a negative number where that fails."""
    return int(_open(paths.ctypes.data + np.uintp(at), np.int32(_READ_ONLY | _CLOSE_ON_EXEC | _NEVER_WAIT)))


@inlined
def close_file(file: int) -> None:
    """Close a file that `open_file` opened."""
    _close(np.int32(file))


@inlined
def file_size(file: int) -> int:
    """Return a file's size in bytes, a negative number where that fails."""
    return int(_seek(np.int32(file), np.int64(0), np.int32(_FROM_END)))


@inlined
def next_data(file: int, position: int) -> int:
    """Return where a file has data again, at or behind `position`: not in a hole, which holds zeros only.

    A negative number says that it has none; where the system cannot tell holes, it is `position`.
    """
    if _TO_DATA < 0 or _seek(np.int32(file), np.int64(position), np.int32(_TO_HOLE)) < 0:
        return position
    return int(_seek(np.int32(file), np.int64(position), np.int32(_TO_DATA)))


@inlined
def read_bytes(file: int, position: int, count: int, out: Octets) -> int:
    """Read up to `count` bytes from `position` on into the start of `out`.

    Returns
    -------
    int
        Bytes read; fewer than `count` at the end of the file and where reading fails.
    """
    done = 0
    count = min(count, len(out))
    while done < count:
        target = out.ctypes.data + np.uintp(done)
        got = _pread(np.int32(file), target, np.uintp(count - done), np.int64(position + done))
        if got <= 0:
            break
        done += got
    return done
