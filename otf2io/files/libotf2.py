"""The official library, libotf2, as it comes with the package ``otf2``: loading it and declaring what is used of it.

The declarations are our own (`ctypes`), against the C interface that the package's shared object exports; the package's
high-level reader holds about 1 MiB for each location and loses a whole trace to one bad file. A reader handle here is a
plain address (int), and a call tells its outcome by its return code. Ctrl-C while foreign code calls back is kept until
the call is over: an exception raised in a callback would be printed and forgotten.
"""

import ctypes
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import CFUNCTYPE, POINTER, c_bool, c_char_p, c_int, c_int64, c_uint8, c_uint32, c_uint64, c_void_p
from functools import cache
from typing import Any, Final

from ...model.codes import IoRecord
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
    "Parameter": CFUNCTYPE(c_int, c_void_p, c_uint32, c_uint32, c_uint8),
    "IoParadigm": CFUNCTYPE(c_int, c_void_p, *_PARADIGM, *map(POINTER, (c_uint8, c_uint8, c_uint64))),
    "IoRegularFile": CFUNCTYPE(c_int, c_void_p, c_uint32, c_uint32, c_uint32),
    "IoDirectory": CFUNCTYPE(c_int, c_void_p, c_uint32, c_uint32, c_uint32),
    "IoFileProperty": CFUNCTYPE(c_int, c_void_p, c_uint32, c_uint32, c_uint8, c_uint64),
    "IoHandle": CFUNCTYPE(c_int, c_void_p, c_uint32, c_uint32, c_uint32, c_uint8, c_uint32, c_uint32, c_uint32),
    "IoPreCreatedHandleState": CFUNCTYPE(c_int, c_void_p, c_uint32, c_uint8, c_uint32),
}
"""Callback types of the global definitions read here; the first argument is the user's pointer, not used."""

IO_FIELDS: Final[dict[int, tuple[str, ...]]] = {
    IoRecord.CREATE_HANDLE: ("handle", "mode", "value", "flags"),
    IoRecord.DESTROY_HANDLE: ("handle",),
    IoRecord.DUPLICATE_HANDLE: ("handle", "value", "flags"),
    IoRecord.SEEK: ("handle", "value", "mode", "offset"),
    IoRecord.CHANGE_STATUS_FLAGS: ("handle", "flags"),
    IoRecord.DELETE_FILE: ("mode", "value"),
    IoRecord.OPERATION_BEGIN: ("handle", "mode", "flags", "value", "matching"),
    IoRecord.OPERATION_TEST: ("handle", "matching"),
    IoRecord.OPERATION_ISSUED: ("handle", "matching"),
    IoRecord.OPERATION_COMPLETE: ("handle", "value", "matching"),
    IoRecord.OPERATION_CANCELLED: ("handle", "matching"),
    IoRecord.ACQUIRE_LOCK: ("handle", "mode"),
    IoRecord.RELEASE_LOCK: ("handle", "mode"),
    IoRecord.TRY_LOCK: ("handle", "mode"),
}
"""Fields of the I/O records by the columns of `IoEvents`, in the order of the file and of callbacks.

`mode` is a byte, all others are integers that the file has compressed. The request of a seek is int64 in the library
and taken here by its bits as uint64.
"""
_WIDE: Final = (IoRecord.SEEK, IoRecord.OPERATION_BEGIN, IoRecord.OPERATION_COMPLETE)
"""Records whose value has 64 bits; that of the others has 32."""
_FIELD_TYPES: Final = {"handle": c_uint32, "mode": c_uint8, "flags": c_uint32, "matching": c_uint64, "offset": c_uint64}

_EVENT_HEAD: Final = (c_int, c_uint64, c_uint64, c_uint64, c_void_p, c_void_p)


def callback_name(record: int) -> str:
    """Return what the library calls an I/O record."""
    return f"Io{IoRecord(record).name.title().replace('_', '')}"


def _event_callback(record: int) -> Any:
    value = c_uint64 if record in _WIDE else c_uint32
    return CFUNCTYPE(*_EVENT_HEAD, *(_FIELD_TYPES.get(name, value) for name in IO_FIELDS[record]))


PARAMETER_EVENTS: Final = ("ParameterString", "ParameterInt", "ParameterUnsignedInt")
EVENT_CALLBACKS: Final = {
    **dict.fromkeys(("Enter", "Leave"), CFUNCTYPE(*_EVENT_HEAD, c_uint32)),
    **{
        name: CFUNCTYPE(*_EVENT_HEAD, c_uint32, value)
        for name, value in zip(PARAMETER_EVENTS, (c_uint32, c_int64, c_uint64), strict=True)
    },
    **{callback_name(record): _event_callback(record) for record in IO_FIELDS},
}
"""Callback types of Enter, Leave, parameters and I/O events: location, time, event position, user's pointer,
attributes, record."""


_OTHERS: Final = """
BufferFlush CallingContextEnter CallingContextLeave CallingContextSample CommCreate CommDestroy  MeasurementOnOff
Metric MpiCollectiveBegin MpiCollectiveEnd MpiImrecv MpiImrecvRequest MpiIrecv  MpiIrecvRequest MpiIsend
MpiIsendComplete MpiMrecv MpiProbe MpiRecv MpiRequestCancelled MpiRequestTest  MpiSend
NonBlockingCollectiveComplete NonBlockingCollectiveRequest OmpAcquireLock OmpFork OmpJoin  OmpReleaseLock
OmpTaskComplete OmpTaskCreate OmpTaskSwitch ProgramBegin ProgramEnd RmaAcquireLock RmaAtomic  RmaCollectiveBegin
RmaCollectiveEnd RmaGet RmaGroupSync RmaOpCompleteBlocking RmaOpCompleteNonBlocking  RmaOpCompleteRemote RmaOpTest
RmaPut RmaReleaseLock RmaRequestLock RmaSync RmaTryLock RmaWaitChange  RmaWinCreate RmaWinDestroy ThreadAcquireLock
ThreadBegin ThreadCreate ThreadEnd ThreadFork ThreadJoin  ThreadReleaseLock ThreadTaskComplete ThreadTaskCreate
ThreadTaskSwitch ThreadTeamBegin ThreadTeamEnd  ThreadWait Unknown
"""
OTHER_EVENTS: Final = _OTHERS.split()
"""Events that nothing is read of but their times, as their callbacks are called."""
OTHER_CALLBACK: Final = CFUNCTYPE(*_EVENT_HEAD)
"""What all callbacks of events begin with, and all that is taken of these."""


def guarded(file: Callable[..., None], interrupts: list[BaseException]) -> Callable[..., int]:
    """Return a callback that files a record; an exception must not leave it: it would be printed and forgotten."""

    def callback(*record: int) -> int:
        if interrupts:
            return CALLBACK_INTERRUPT
        try:
            file(*record)
        except (KeyboardInterrupt, MemoryError) as error:
            interrupts.append(error)
            return CALLBACK_INTERRUPT
        return CALLBACK_SUCCESS

    return callback


FLUSH_CALLBACK: Final = CFUNCTYPE(c_uint8, c_void_p, c_uint8, c_uint64, c_void_p, c_bool)


class FlushCallbacks(ctypes.Structure):
    """``OTF2_FlushCallbacks``: what the library asks when a buffer is full, and what it tells afterwards."""

    _fields_ = (("pre_flush", FLUSH_CALLBACK), ("post_flush", c_void_p))


_ERROR_CALLBACK: Final = CFUNCTYPE(c_int, c_void_p, c_char_p, c_uint64, c_char_p, c_int, c_char_p, c_void_p)

_SIGNATURES: Final[dict[tuple[Any, ...], str]] = {
    (c_void_p, c_void_p, c_void_p): "Error_RegisterCallback",
    (c_char_p, c_int): "Error_GetDescription",
    (c_void_p, c_char_p): "Reader_Open",
    (c_int, c_void_p): (
        "Reader_Close Reader_SetSerialCollectiveCallbacks Reader_OpenDefFiles Reader_CloseDefFiles "
        "Reader_OpenEvtFiles Reader_CloseEvtFiles Archive_Close "
        "Archive_SetSerialCollectiveCallbacks"
    ),
    (c_void_p, c_void_p): "Reader_GetGlobalDefReader Reader_GetMarkerWriter Archive_GetGlobalDefWriter",
    (c_int, c_void_p, c_void_p): (
        "Reader_CloseGlobalDefReader Reader_CloseDefReader Reader_CloseEvtReader "
        "Reader_CloseMarkerWriter Archive_CloseGlobalDefWriter"
    ),
    (c_int, c_void_p, c_void_p, c_void_p, c_void_p): "Reader_RegisterGlobalDefCallbacks Reader_RegisterEvtCallbacks",
    (c_int, c_void_p, c_void_p, c_uint64, POINTER(c_uint64)): "Reader_ReadGlobalDefinitions Reader_ReadLocalEvents",
    (c_void_p, c_void_p, c_uint64): "Reader_GetDefReader Reader_GetEvtReader",
    (c_int, c_void_p, c_uint64): "Reader_SelectLocation",
    (c_int, c_void_p, c_void_p, POINTER(c_uint64)): "Reader_ReadAllLocalDefinitions",
    (c_int, c_void_p, c_uint32, c_char_p, c_char_p, c_uint8): "MarkerWriter_WriteDefMarker",
    (c_int, c_void_p, c_uint64, c_uint64, c_uint32, c_uint8, c_uint64, c_char_p): "MarkerWriter_WriteMarker",
    (c_void_p, c_char_p, c_char_p, c_uint8, c_uint64, c_uint64, c_uint8, c_uint8): "Archive_Open",
    (c_int, c_void_p, POINTER(FlushCallbacks), c_void_p): "Archive_SetFlushCallbacks",
    (c_int, c_void_p, c_char_p): "Archive_SetCreator",
    (c_void_p,): "GlobalDefReaderCallbacks_New EvtReaderCallbacks_New",
    (None, c_void_p): "GlobalDefReaderCallbacks_Delete EvtReaderCallbacks_Delete",
    (c_bool, c_void_p, c_uint32): "AttributeList_TestAttributeByID",
    (c_int, c_void_p, c_uint32, POINTER(c_uint64)): "AttributeList_GetUint64",
}
"""Functions of the library, ``OTF2_`` left out, by the types of their result and of their arguments."""


@cache
def library() -> ctypes.CDLL:
    """Load the shared object of the package ``otf2`` and declare the functions used here.

    Raises TraceError if the package is not installed or its shared object cannot be loaded.
    """
    try:
        from _otf2 import Config

        loaded = ctypes.CDLL(Config.lib_path())
        for (result, *arguments), names in _SIGNATURES.items():
            for name in names.split():
                function = getattr(loaded, f"OTF2_{name}")
                function.restype, function.argtypes = result, arguments
        for family, types in (("GlobalDefReader", DEFINITION_CALLBACKS), ("EvtReader", EVENT_CALLBACKS)):
            for record, callback in types.items():
                function = getattr(loaded, f"OTF2_{family}Callbacks_Set{record}Callback")
                function.restype, function.argtypes = c_int, (c_void_p, callback)
        for record, callback in DEFINITION_CALLBACKS.items():
            # A record is written with the arguments with which it is handed out.
            function = getattr(loaded, f"OTF2_GlobalDefWriter_Write{record}")
            function.restype, function.argtypes = c_int, callback._argtypes_
    except (ImportError, OSError, AttributeError) as error:
        raise TraceError(f"cannot load the OTF2 library: {error}; install the package otf2 (3.2 or newer)") from None
    return loaded


_IGNORED: Final = _ERROR_CALLBACK(lambda _user, _file, _line, _function, code, _message, _arguments: code)
_SILENCING: Final = threading.Lock()
_former: Final[list[int | None]] = []
"""What got the library's messages before, once for each user at present: the first is what gets them again."""


@contextmanager
def silenced() -> Iterator[None]:
    """Keep the library from printing its error messages; the return codes tell all that is used here."""
    register = library().OTF2_Error_RegisterCallback
    with _SILENCING:
        _former.append(register(ctypes.cast(_IGNORED, c_void_p), None))
    try:
        yield
    finally:
        with _SILENCING:
            former = _former.pop()
            if not _former:
                register(former, None)


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
            raise TraceError(
                f"the OTF2 library refuses {anchor.path}; it is damaged, or cannot be read: copy or record the "
                "trace again"
            )
        try:
            lib.OTF2_Reader_SetSerialCollectiveCallbacks(reader)
            yield reader
        finally:
            lib.OTF2_Reader_Close(reader)
