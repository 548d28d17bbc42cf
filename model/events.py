"""I/O events as columns: one row per I/O record of an archive, whatever its type."""

from typing import Final

import numpy as np

from .arrays import Codes, Columns, Ints, Links, Octets, Unsigned, named_columns

EVENT_TYPES: Final[dict[str, type]] = {
    "event_ticks": np.int64,
    "event_mode": np.uint8,
    "event_flags": np.uint32,
    "event_value": np.int64,
}
"""Columns that metadata events alone have in a table."""


class IoEvents(Columns):
    """I/O events, struct of arrays; all arrays have shape (n,).

    Rows of one location stand together in the order of its file; locations in the order of the definitions.
    What a column holds depends on `kind` (an `IoRecord`):

    ==================  ==================  =========  ================  ========  ==============  ===============
    kind                handle              mode       flags             matching  value           offset
    ==================  ==================  =========  ================  ========  ==============  ===============
    CREATE_HANDLE       handle              access     status flags      –         creation flags  –
    DESTROY_HANDLE      handle              –          –                 –         –               –
    DUPLICATE_HANDLE    old handle          –          status flags      –         new handle      –
    SEEK                handle              whence     –                 –         request (i64)   result
    CHANGE_STATUS_...   handle              –          status flags      –         –               –
    DELETE_FILE         –                   paradigm   –                 –         file            –
    OPERATION_BEGIN     handle              IoMode     IoFlag            id        bytes request   file offset
    TEST, ISSUED,       handle              –          –                 id        –               –
    CANCELLED
    OPERATION_COMPLETE  handle              –          –                 id        bytes result    –
    ..._LOCK            handle              lock type  –                 –         –               –
    ==================  ==================  =========  ================  ========  ==============  ===============

    A column without meaning for a kind holds 0 in `mode`, `flags`, `matching` and `value`, ``UNDEFINED_UINT32`` in
    `handle` and ``UNDEFINED_UINT64`` in `offset`.

    Attributes
    ----------
    location : int32
        Row in ``Definitions.locations``.
    kind : uint8
        Record type, `IoRecord`.
    time : int64
        Ticks since the trace's start (``Clock.start``), clock-corrected.
    handle : uint32
        Global id of the I/O handle (mapped from the local id).
    mode : uint8
    flags : uint32
    matching : uint64
        Matching id, unique among the operations in flight on one handle of one process.
    value : uint64
        Bytes and offsets as in the table; ``UNDEFINED_UINT64`` where the trace says *undefined*.
    offset : uint64
    """

    location: Links
    kind: Octets
    time: Ints
    handle: Codes
    mode: Octets
    flags: Codes
    matching: Unsigned
    value: Unsigned
    offset: Unsigned


EventColumns: Final = named_columns(IoEvents, "EventColumns")
"""The same as compiled loops take it."""
