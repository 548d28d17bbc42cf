"""Functions of POSIX and ISO C by what they do, for recorders that name them."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from ..model.arrays import Integers, Octets
from ..model.codes import IoMode, IoRecord

NONE: Final = 255
"""Stands for what is in no table."""
TRANSFERS: Final = {
    **dict.fromkeys(("read", "pread", "readv", "preadv", "fread", "fgets", "fgetc"), IoMode.READ),
    **dict.fromkeys(("write", "pwrite", "writev", "pwritev", "fwrite", "fputs", "fputc", "fprintf"), IoMode.WRITE),
    **dict.fromkeys(("fsync", "fdatasync", "fflush", "sync_file_range"), IoMode.FLUSH),
}
"""Functions that read, write or flush."""
EVENTS: Final = {
    **dict.fromkeys(("open", "openat", "creat", "fopen", "fdopen", "freopen"), IoRecord.CREATE_HANDLE),
    **dict.fromkeys(("close", "fclose"), IoRecord.DESTROY_HANDLE),
    **dict.fromkeys(("lseek", "fseek", "fseeko", "rewind"), IoRecord.SEEK),
    **dict.fromkeys(("unlink", "unlinkat", "remove"), IoRecord.DELETE_FILE),
}
"""Functions that are metadata events."""
STREAMS: Final = re.compile(
    r"f(?:open|dopen|reopen|close|closeall|read|write|flush|purge|seeko?|tello?|[gs]etpos|error|eof|ileno|w?(?:print|scan)f"
    r"|(?:get|put)w?[cs])|v(?:fw?(?:print|scan)f|w?printf)|w?(?:print|scan)f|rewind|(?:un)?getw?c|putw?c|puts|get(?:line|delim)"
    r"|set(?:buf|buffer|linebuf|vbuf)|tmpfile|clearerr|popen|pclose"
)
"""Functions of ISO C, on streams; others that begin with f are of POSIX: fstat, ftruncate, fcntl."""
PROCESSES: Final = re.compile(r"v?fork|wait(?:pid|id|[34])?|f?exec[lv]p?e?|_*exit|_Exit|posix_spawnp?|system")
"""Functions of POSIX on processes, which move no data."""
ITEMS: Final = dict.fromkeys(("fread", "fwrite"), True)
"""Functions whose result counts items."""
EXPLICIT: Final = dict.fromkeys(("pread", "preadv", "pwrite", "pwritev"), True)
"""Functions that tell their offset."""


def plain_names(names: Sequence[str]) -> list[str]:
    """Return the names of functions without what tells variants apart: offsets of 64 bits, streams without a lock."""
    return [name.removesuffix("_unlocked").removesuffix("64") for name in names]


def looked_up(places: Integers, names: Sequence[str], table: Mapping[str, int], absent: int = NONE) -> Octets:
    """Return what a table has for each name, uint8 (n,); `places` are those in `names`, −1 for none."""
    codes = np.array([*(table.get(name, absent) for name in names), absent], np.uint8)
    return np.asarray(codes[places], np.uint8)
