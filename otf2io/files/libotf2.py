"""The official library, libotf2, as it comes with the package ``otf2``: loading it and declaring what is used of it.

The declarations are our own (`ctypes`), against the C interface that the package's shared object exports; the package's
high-level reader holds about 1 MiB for each location and loses a whole trace to one bad file. A reader handle here is a
plain address (int), and a call tells its outcome by its return code. Ctrl-C while foreign code calls back is kept until
the call is over: an exception raised in a callback would be printed and forgotten.
"""

import ctypes
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import CFUNCTYPE, POINTER, c_bool, c_char_p, c_int, c_uint8, c_uint32, c_uint64, c_void_p
from functools import cache
from typing import Final

from ...model.errors import TraceError, UnsupportedTraceError
from .anchor import COMPRESSION_NONE, Anchor

SUCCESS: Final = 0
CALLBACK_SUCCESS: Final = 0
CALLBACK_INTERRUPT: Final = 1

_PARADIGM: Final = (c_uint8, c_uint32, c_uint32, c_uint8, c_uint32, c_uint8)
DEFINITION_CALLBACKS: Final = {
    "ClockProperties": CFUNCTYPE(c_int, c_void_p, c_uint64, c_uint64, c_uint64, c_uint64),
    "String": CFUNCTYPE(c_int, c_void_p, c_uint32, c_char_p),
    "Attribute": CFUNCTYPE(c_int, c_void_p, c_uint32, c_uint32, c_uint32, c_uint8),
    "SystemTreeNode": CFUNCTYPE(c_int, c_void_p, c_uint32, c_uint32, c_uint32, c_uint32),
    "SystemTreeNodeProperty": CFUNCTYPE(c_int, c_void_p, c_uint32, c_uint32, c_uint8, c_uint64),
    "LocationGroup": CFUNCTYPE(c_int, c_void_p, c_uint32, c_uint32, c_uint8, c_uint32, c_uint32),
    "Location": CFUNCTYPE(c_int, c_void_p, c_uint64, c_uint32, c_uint8, c_uint64, c_uint32),
    "Group": CFUNCTYPE(c_int, c_void_p, c_uint32, c_uint32, c_uint8, c_uint8, c_uint32, c_uint32, c_void_p),
    "Comm": CFUNCTYPE(c_int, c_void_p, c_uint32, c_uint32, c_uint32, c_uint32, c_uint32),
    "InterComm": CFUNCTYPE(c_int, c_void_p, c_uint32, c_uint32, c_uint32, c_uint32, c_uint32, c_uint32),
    "Region": CFUNCTYPE(c_int, c_void_p, *[c_uint32] * 4, *[c_uint8] * 2, *[c_uint32] * 4),
    "IoParadigm": CFUNCTYPE(c_int, c_void_p, *_PARADIGM, *map(POINTER, (c_uint8, c_uint8, c_uint64))),
    "IoRegularFile": CFUNCTYPE(c_int, c_void_p, c_uint32, c_uint32, c_uint32),
    "IoDirectory": CFUNCTYPE(c_int, c_void_p, c_uint32, c_uint32, c_uint32),
    "IoFileProperty": CFUNCTYPE(c_int, c_void_p, c_uint32, c_uint32, c_uint8, c_uint64),
    "IoHandle": CFUNCTYPE(c_int, c_void_p, c_uint32, c_uint32, c_uint32, c_uint8, c_uint32, c_uint32, c_uint32),
    "IoPreCreatedHandleState": CFUNCTYPE(c_int, c_void_p, c_uint32, c_uint8, c_uint32),
}
"""Callback types of the global definitions read here; the first argument is the user's pointer, not used."""

_EVENT_HEAD: Final = (c_int, c_uint64, c_uint64, c_uint64, c_void_p, c_void_p)
EVENT_CALLBACKS: Final = {
    "Enter": CFUNCTYPE(*_EVENT_HEAD, c_uint32),
    "Leave": CFUNCTYPE(*_EVENT_HEAD, c_uint32),
    "IoCreateHandle": CFUNCTYPE(*_EVENT_HEAD, c_uint32, c_uint8, c_uint32, c_uint32),
    "IoDestroyHandle": CFUNCTYPE(*_EVENT_HEAD, c_uint32),
    "IoDuplicateHandle": CFUNCTYPE(*_EVENT_HEAD, c_uint32, c_uint32, c_uint32),
    "IoSeek": CFUNCTYPE(*_EVENT_HEAD, c_uint32, c_uint64, c_uint8, c_uint64),
    "IoChangeStatusFlags": CFUNCTYPE(*_EVENT_HEAD, c_uint32, c_uint32),
    "IoDeleteFile": CFUNCTYPE(*_EVENT_HEAD, c_uint8, c_uint32),
    "IoOperationBegin": CFUNCTYPE(*_EVENT_HEAD, c_uint32, c_uint8, c_uint32, c_uint64, c_uint64),
    "IoOperationTest": CFUNCTYPE(*_EVENT_HEAD, c_uint32, c_uint64),
    "IoOperationIssued": CFUNCTYPE(*_EVENT_HEAD, c_uint32, c_uint64),
    "IoOperationComplete": CFUNCTYPE(*_EVENT_HEAD, c_uint32, c_uint64, c_uint64),
    "IoOperationCancelled": CFUNCTYPE(*_EVENT_HEAD, c_uint32, c_uint64),
    "IoAcquireLock": CFUNCTYPE(*_EVENT_HEAD, c_uint32, c_uint8),
    "IoReleaseLock": CFUNCTYPE(*_EVENT_HEAD, c_uint32, c_uint8),
    "IoTryLock": CFUNCTYPE(*_EVENT_HEAD, c_uint32, c_uint8),
}
"""Callback types of Enter, Leave and I/O events: location, time, event position, user's pointer, attributes, record.

The request of an ``IoSeek`` is int64 in the library and taken here by its bits as uint64.
"""

FLUSH_CALLBACK: Final = CFUNCTYPE(c_uint8, c_void_p, c_uint8, c_uint64, c_void_p, c_bool)


class FlushCallbacks(ctypes.Structure):
    """``OTF2_FlushCallbacks``: what the library asks when a buffer is full, and what it tells afterwards."""

    _fields_ = (("pre_flush", FLUSH_CALLBACK), ("post_flush", c_void_p))


_ERROR_CALLBACK: Final = CFUNCTYPE(c_int, c_void_p, c_char_p, c_uint64, c_char_p, c_int, c_char_p, c_void_p)

_PROTOTYPES: Final[dict[str, tuple[object, tuple[object, ...]]]] = {
    "OTF2_Error_RegisterCallback": (c_void_p, (c_void_p, c_void_p)),
    "OTF2_Error_GetDescription": (c_char_p, (c_int,)),
    "OTF2_Reader_Open": (c_void_p, (c_char_p,)),
    "OTF2_Reader_Close": (c_int, (c_void_p,)),
    "OTF2_Reader_SetSerialCollectiveCallbacks": (c_int, (c_void_p,)),
    "OTF2_Reader_SelectLocation": (c_int, (c_void_p, c_uint64)),
    "OTF2_Reader_OpenDefFiles": (c_int, (c_void_p,)),
    "OTF2_Reader_CloseDefFiles": (c_int, (c_void_p,)),
    "OTF2_Reader_OpenEvtFiles": (c_int, (c_void_p,)),
    "OTF2_Reader_CloseEvtFiles": (c_int, (c_void_p,)),
    "OTF2_Reader_GetGlobalDefReader": (c_void_p, (c_void_p,)),
    "OTF2_Reader_CloseGlobalDefReader": (c_int, (c_void_p, c_void_p)),
    "OTF2_Reader_RegisterGlobalDefCallbacks": (c_int, (c_void_p, c_void_p, c_void_p, c_void_p)),
    "OTF2_Reader_ReadGlobalDefinitions": (c_int, (c_void_p, c_void_p, c_uint64, POINTER(c_uint64))),
    "OTF2_Reader_GetDefReader": (c_void_p, (c_void_p, c_uint64)),
    "OTF2_Reader_CloseDefReader": (c_int, (c_void_p, c_void_p)),
    "OTF2_Reader_ReadAllLocalDefinitions": (c_int, (c_void_p, c_void_p, POINTER(c_uint64))),
    "OTF2_Reader_GetEvtReader": (c_void_p, (c_void_p, c_uint64)),
    "OTF2_Reader_CloseEvtReader": (c_int, (c_void_p, c_void_p)),
    "OTF2_Reader_RegisterEvtCallbacks": (c_int, (c_void_p, c_void_p, c_void_p, c_void_p)),
    "OTF2_Reader_ReadLocalEvents": (c_int, (c_void_p, c_void_p, c_uint64, POINTER(c_uint64))),
    "OTF2_Reader_GetMarkerWriter": (c_void_p, (c_void_p,)),
    "OTF2_Reader_CloseMarkerWriter": (c_int, (c_void_p, c_void_p)),
    "OTF2_MarkerWriter_WriteDefMarker": (c_int, (c_void_p, c_uint32, c_char_p, c_char_p, c_uint8)),
    "OTF2_MarkerWriter_WriteMarker": (c_int, (c_void_p, c_uint64, c_uint64, c_uint32, c_uint8, c_uint64, c_char_p)),
    "OTF2_Archive_Open": (c_void_p, (c_char_p, c_char_p, c_uint8, c_uint64, c_uint64, c_uint8, c_uint8)),
    "OTF2_Archive_Close": (c_int, (c_void_p,)),
    "OTF2_Archive_SetFlushCallbacks": (c_int, (c_void_p, POINTER(FlushCallbacks), c_void_p)),
    "OTF2_Archive_SetSerialCollectiveCallbacks": (c_int, (c_void_p,)),
    "OTF2_Archive_SetCreator": (c_int, (c_void_p, c_char_p)),
    "OTF2_Archive_GetGlobalDefWriter": (c_void_p, (c_void_p,)),
    "OTF2_Archive_CloseGlobalDefWriter": (c_int, (c_void_p, c_void_p)),
    "OTF2_GlobalDefReaderCallbacks_New": (c_void_p, ()),
    "OTF2_GlobalDefReaderCallbacks_Delete": (None, (c_void_p,)),
    "OTF2_EvtReaderCallbacks_New": (c_void_p, ()),
    "OTF2_EvtReaderCallbacks_Delete": (None, (c_void_p,)),
    "OTF2_AttributeList_TestAttributeByID": (c_bool, (c_void_p, c_uint32)),
    "OTF2_AttributeList_GetUint64": (c_int, (c_void_p, c_uint32, POINTER(c_uint64))),
}


@cache
def library() -> ctypes.CDLL:
    """Load the shared object of the package ``otf2`` and declare the functions used here.

    Raises TraceError if the package is not installed or its shared object cannot be loaded.
    """
    try:
        from _otf2 import Config

        loaded = ctypes.CDLL(Config.lib_path())
        for name, (result, arguments) in _PROTOTYPES.items():
            function = getattr(loaded, name)
            function.restype = result
            function.argtypes = arguments
        for family, types in (("GlobalDefReader", DEFINITION_CALLBACKS), ("EvtReader", EVENT_CALLBACKS)):
            for record, callback in types.items():
                function = getattr(loaded, f"OTF2_{family}Callbacks_Set{record}Callback")
                function.restype = c_int
                function.argtypes = (c_void_p, callback)
        for record, callback in DEFINITION_CALLBACKS.items():
            # A record is written with the arguments with which it is handed out.
            function = getattr(loaded, f"OTF2_GlobalDefWriter_Write{record}")
            function.restype, function.argtypes = c_int, callback._argtypes_
    except (ImportError, OSError, AttributeError) as error:
        raise TraceError(f"cannot load the OTF2 library: {error}; install the package otf2 (3.2 or newer)") from None
    return loaded


class _ErrorCapture:
    """Keeps the library's messages off stderr while anything here reads; counts nested and concurrent users."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._former: int | None = None
        self._callback = _ERROR_CALLBACK(self._swallow)

    @staticmethod
    def _swallow(
        _user: int, _file: bytes, _line: int, _function: bytes, code: int, _message: bytes, _arguments: int
    ) -> int:
        return code

    def enter(self) -> None:
        with self._lock:
            if not self._users:
                self._former = library().OTF2_Error_RegisterCallback(ctypes.cast(self._callback, c_void_p), None)
            self._users += 1

    def leave(self) -> None:
        with self._lock:
            self._users -= 1
            if not self._users:
                library().OTF2_Error_RegisterCallback(self._former, None)


_errors = _ErrorCapture()


@contextmanager
def silenced() -> Iterator[None]:
    """Keep the library from printing its error messages; the return codes tell all that is used here."""
    _errors.enter()
    try:
        yield
    finally:
        _errors.leave()


def c_string(text: str) -> bytes:
    """Return a text for the library; what UTF-8 does not have, and what would end the string, is escaped."""
    return text.replace("\0", "\\0").encode("utf-8", "backslashreplace")


def describe(code: int) -> str:
    """Return the library's words for an error code."""
    text: bytes | None = library().OTF2_Error_GetDescription(code)
    return (text or b"unknown error").decode("ascii", "backslashreplace")


@contextmanager
def open_reader(anchor: Anchor) -> Iterator[int]:
    """Open the archive with the library and give the reader's address; closes it at the end.

    Raises TraceError if the library refuses the archive; UnsupportedTraceError if it is compressed and the library has
    no zlib (the ``otf2`` wheels have none).
    """
    lib = library()
    with silenced():
        reader: int | None = lib.OTF2_Reader_Open(os.fsencode(anchor.path))
        if not reader:
            if anchor.compression != COMPRESSION_NONE:
                raise UnsupportedTraceError(
                    f"{anchor.path} is compressed, which the installed OTF2 library cannot read; "
                    "install an otf2 built with zlib or record without compression"
                )
            raise TraceError(f"the OTF2 library refuses {anchor.path}; its anchor is damaged, record the trace again")
        try:
            lib.OTF2_Reader_SetSerialCollectiveCallbacks(reader)
            yield reader
        finally:
            lib.OTF2_Reader_Close(reader)
