"""The end that every complete file of an archive has; a file without it was cut or never finished."""

import os
from pathlib import Path
from typing import Final

from .regular_files import open_regular

END: Final = b"\x02\x01"
"""Markers: end of the file, end of its buffer."""


def is_complete(path: Path) -> bool:
    """Whether the uncompressed file at `path` ends as it should.

    Raises
    ------
    FileNotFoundError
        There is no such file. One that cannot be read counts as incomplete.
    """
    try:
        with open_regular(path) as file:
            file.seek(-len(END), os.SEEK_END)
            return file.read() == END
    except FileNotFoundError:
        raise
    except OSError:
        return False
