"""Numbers of the OTF2 format that the rest of the package uses by name.

Source: the OTF2 documentation (records ``IoCreateHandle`` to ``IoTryLock``, types ``OTF2_IoOperationMode``,
``OTF2_IoOperationFlag``) and ``AttributeList`` (event attribute *Offset*).
"""

from enum import IntEnum, IntFlag
from typing import Final

UNDEFINED_UINT64: Final = 2**64 - 1
UNDEFINED_UINT32: Final = 2**32 - 1
UNDEFINED_UINT8: Final = 2**8 - 1
UNDEFINED_TIME: Final = -(2**63)
"""Marks a time stamp (int64 ticks) that the trace does not have: the end of an operation never completed."""

MOST_BYTES: Final = 2**48
"""More bytes than an operation moves: events that claim more are damaged, so that sums fit into 64 bits."""

MOST_EVENTS: Final = 2**48
"""What a location that promises more events than this is taken to promise: sums fit into 64 bits."""

PROCESS: Final = 1
"""``OTF2_LocationGroupType`` of a process."""
COMM_SELF: Final = 6
"""``OTF2_GroupType`` of the group behind ``MPI_COMM_SELF``: one id for a communicator of each process."""

CREATE_FILE: Final = 1
"""``OTF2_IO_CREATION_FLAG_CREATE``: the file is made where there is none."""
WRITABLE: Final = (WRITE_ONLY := 1, 2)
"""``OTF2_IO_ACCESS_MODE_WRITE_ONLY`` and ``_READ_WRITE``."""

APPEND: Final = 2
"""``OTF2_IO_STATUS_FLAG_APPEND``: each write goes to the end of the file."""

SYNCHRONOUS: Final = 16 | 32
"""``OTF2_IO_STATUS_FLAG_SYNC`` and ``_DATA_SYNC``: each write waits until it is in the storage."""

UNCACHED: Final = 64
"""``OTF2_IO_STATUS_FLAG_AVOID_CACHING``, as of ``O_DIRECT``: nothing is read ahead or put together."""


class IoRecord(IntEnum):
    """Record types of the 14 I/O events, as they stand in an ``.evt`` file."""

    CREATE_HANDLE = 69
    DESTROY_HANDLE = 70
    DUPLICATE_HANDLE = 71
    SEEK = 72
    CHANGE_STATUS_FLAGS = 73
    DELETE_FILE = 74
    OPERATION_BEGIN = 75
    OPERATION_TEST = 76
    OPERATION_ISSUED = 77
    OPERATION_COMPLETE = 78
    OPERATION_CANCELLED = 79
    ACQUIRE_LOCK = 80
    RELEASE_LOCK = 81
    TRY_LOCK = 82


METADATA_NAMES: Final[dict[int, str]] = {
    IoRecord.CREATE_HANDLE: "open",
    IoRecord.DESTROY_HANDLE: "close",
    IoRecord.DUPLICATE_HANDLE: "duplication",
    IoRecord.SEEK: "seek",
    IoRecord.CHANGE_STATUS_FLAGS: "change of status",
    IoRecord.DELETE_FILE: "deletion",
    IoRecord.ACQUIRE_LOCK: "lock",
    IoRecord.RELEASE_LOCK: "unlock",
    IoRecord.TRY_LOCK: "attempt to lock",
}
"""What a metadata event is called."""
OTHER_CALL: Final = "other call"
"""A call of I/O that leaves no event."""


BLOCK_IO: Final = "block_io"
"""The paradigm of requests to block devices, each of which lo2s makes a process of its own."""
KNOWN_STACK: Final = ("netCDF", "PnetCDF", "ADIOS", "HDF5", "MPI-IO", "ISOC", "POSIX", BLOCK_IO, "DFS", "DAOS")
"""Identification strings of paradigms from high to low: OTF2's, then the file system of DAOS and its objects."""


class IoMode(IntEnum):
    """What an operation does (``OTF2_IoOperationMode``)."""

    READ = 0
    WRITE = 1
    FLUSH = 2


class IoFlag(IntFlag):
    """How an operation is done (``OTF2_IoOperationFlag``)."""

    NON_BLOCKING = 1
    COLLECTIVE = 2


class Status(IntEnum):
    """How an operation ended."""

    COMPLETE = 0
    CANCELLED = 1
    NEVER_COMPLETED = 2
