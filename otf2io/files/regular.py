"""Regular files of an archive, and the end that every complete one has."""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO, Final

import numpy as np

FINGERPRINTED: Final = 4096
"""Bytes of an event file by which copies are found: some hundred time stamps."""
FINGERPRINT_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)

END: Final = b"\x02\x01"
"""Markers: end of the file, end of its buffer."""


def is_complete(path: Path) -> bool:
    """Whether the uncompressed file at `path` ends as it should.

    Raises FileNotFoundError if there is none. One that cannot be read counts as incomplete.
    """
    try:
        with open_regular(path) as file:
            file.seek(-len(END), os.SEEK_END)
            return file.read() == END
    except FileNotFoundError:
        raise
    except OSError:
        return False


class NotRegularError(OSError):
    """Raised for a folder, a named pipe, a socket or a device in the place of a file."""


def open_regular(path: Path, links: bool = True) -> BinaryIO:
    """Open the regular file at `path` for reading; where `links` is false, a symbolic link to one is none.

    Raises OSError if it cannot be opened, or it is not a regular file.
    """
    # Looked at before it is opened: opening a pipe waits for a writer, and opening a device can have effects.
    status = path.stat(follow_symlinks=links)
    if not stat.S_ISREG(status.st_mode):
        raise NotRegularError(errno.EINVAL, "not a regular file", str(path))
    # Files of the kernel have no size, and reading one may wait for ever (/proc/kmsg).
    return (path if status.st_size else Path(os.devnull)).open("rb")
