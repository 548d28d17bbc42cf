"""Stdout and stderr as they come: of any encoding, and perhaps gone or full before all is written."""

import codecs
import os
import sys
from typing import Final

_SUBSTITUTES: Final = str.maketrans({"…": "...", "–": "-", "µ": "u", "×": "x"})
_ERRORS: Final = "iostrata"


def prepare_streams() -> None:
    """Let stdout and stderr write plain substitutes, or escapes, for what their encoding does not have."""
    codecs.register_error(_ERRORS, _substitute)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors=_ERRORS)


def stdout_fails() -> bool:
    """Tell whether what was printed cannot be written: a full disk, for one."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        return True
    return False


def give_up_stdout() -> None:
    """Send to nowhere what stdout still holds; Python would try to write it, and complain, when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _substitute(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    plain = text.translate(_SUBSTITUTES).encode("ascii", "backslashreplace").decode("ascii")
    return plain, error.end
