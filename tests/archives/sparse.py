"""Writes archives some of whose definitions are left out, so that tables have no rows and events name nothing."""

import itertools
from pathlib import Path
from typing import Final

import _otf2

KINDS: Final = ("node", "group", "location", "region", "file", "paradigm", "handle", "event")
"""What can be left out."""


def write_sparse(folder: Path, without: frozenset[str], locations: int = 2, size: int = 1000) -> Path:
    """Write an archive of MPI-IO above POSIX to `folder`, which is given back.

    Parameters
    ----------
    without : frozenset of str
        What of `KINDS` is left out; nothing else changes.
    locations : int
        Each on a node of its own.
    size : int
        Bytes of each operation.
    """
    archive = _otf2.Archive_Open(
        str(folder), "traces", _otf2.FILEMODE_WRITE, 2**18, 2**22, _otf2.SUBSTRATE_POSIX, _otf2.COMPRESSION_NONE
    )
    flush = _otf2.FlushCallbacks(pre_flush=lambda *_: _otf2.FLUSH, post_flush=None)
    _otf2.Archive_SetFlushCallbacks(archive, flush, None)
    _otf2.Archive_SetSerialCollectiveCallbacks(archive)
    _otf2.Archive_OpenDefFiles(archive)
    _otf2.Archive_OpenEvtFiles(archive)
    for row in range(locations):
        _otf2.Archive_CloseDefWriter(archive, _otf2.Archive_GetDefWriter(archive, row))
        events = _otf2.Archive_GetEvtWriter(archive, row)
        for step in range(0 if "event" in without else 5):
            time = 10**8 * step + row
            for handle, begin in ((0, time), (1, time + 1000)):
                _otf2.EvtWriter_Enter(events, None, begin, handle)
                _otf2.EvtWriter_IoOperationBegin(events, None, begin + 1, handle, 1, 0, size, step)
            for handle, end in ((1, time + 2000), (0, time + 3000)):
                _otf2.EvtWriter_IoOperationComplete(events, None, end, handle, size, step)
                _otf2.EvtWriter_Leave(events, None, end + 1, handle)
        _otf2.Archive_CloseEvtWriter(archive, events)
    _otf2.Archive_CloseEvtFiles(archive)
    _otf2.Archive_CloseDefFiles(archive)
    _write_definitions(_otf2.Archive_GetGlobalDefWriter(archive), without, locations)
    _otf2.Archive_Close(archive)
    return folder


def _write_definitions(writer: object, without: frozenset[str], locations: int) -> None:
    none = 2**32 - 1
    names = itertools.count()

    def text(value: str) -> int:
        identity = next(names)
        _otf2.GlobalDefWriter_WriteString(writer, identity, value)
        return identity

    def put(kind: str, record: str, *fields: object) -> None:
        if kind not in without:
            getattr(_otf2, f"GlobalDefWriter_Write{record}")(writer, *fields)

    _otf2.GlobalDefWriter_WriteClockProperties(writer, 10**9, 0, 10**9, 2**64 - 1)
    for row in range(locations):
        put("node", "SystemTreeNode", row, text(f"node {row}"), text("node"), none)
        put("group", "LocationGroup", row, text(f"MPI Rank {row}"), 1, row, none)
        put("location", "Location", row, text(f"thread {row}"), 1, 0 if "event" in without else 40, row)
    for row, name in enumerate(("MPI-IO", "POSIX")):
        put("region", "Region", row, text(f"{name} write"), text(""), text(""), 1, 1, 0, text(""), 0, 0)
        put("paradigm", "IoParadigm", row, text(name), text(name), row ^ 1, row, [], [], [])
        put("handle", "IoHandle", row, text(name), 0, row, 0, none, row - 1 if row else none)
    put("file", "IoRegularFile", 0, text("/scratch/data"), none)
