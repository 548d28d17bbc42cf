"""Stdout and stderr as they come: of any encoding, and perhaps gone or full before all is written."""

import codecs
import errno
import io
import os
import sys
from typing import Final

_SUBSTITUTES: Final = str.maketrans({"…": "...", "–": "-", "µ": "u", "×": "x"})
_ERRORS: Final = "iostrata"


def prepare_streams() -> None:
    """Let stdout and stderr write plain substitutes, or escapes, for what their encoding does not have."""
    codecs.register_error(_ERRORS, _substitute)
    if isinstance(getattr(sys.stdout, "buffer", None), io.RawIOBase):
        # PYTHONUNBUFFERED: what a disk took of a text before it was full would pass for the whole.
        encoding = sys.stdout.encoding
        sys.stdout = open(sys.stdout.fileno(), "w", buffering=1, encoding=encoding, closefd=False)  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors=_ERRORS)


def no_room(error: OSError) -> bool:
    """Tell whether `error` comes of printing to a full disk.

    Nothing that is read fails so, and files that are written have a name. Python forgets what it could not write, so
    `stdout_fails` may find nothing wrong any more.
    """
    return error.filename is None and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def stdout_fails() -> bool:
    """Tell whether what was printed, and is still held back, cannot be written."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        return True
    return False


def give_up_stdout() -> None:
    """Send to nowhere what stdout still holds; Python would try to write it, and complain, when it ends."""
    if sys.stdout is None:
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _substitute(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    plain = text.translate(_SUBSTITUTES).encode("ascii", "backslashreplace").decode("ascii")
    return plain, error.end
