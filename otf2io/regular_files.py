"""Opening a file of an archive only if it is one: a named pipe would be waited for without end, a device read so."""

import errno
import stat
from pathlib import Path
from typing import BinaryIO


class NotRegularError(OSError):
    """Raised for a folder, a named pipe, a socket or a device in the place of a file."""


def open_regular(path: Path) -> BinaryIO:
    """Open the regular file at `path` for reading.

    Raises
    ------
    OSError
        It cannot be opened, or it is not a regular file.
    """
    # Looked at before it is opened: opening a pipe waits for a writer, and opening a device can have effects.
    if not stat.S_ISREG(path.stat().st_mode):
        raise NotRegularError(errno.EINVAL, "not a regular file", str(path))
    return path.open("rb")
