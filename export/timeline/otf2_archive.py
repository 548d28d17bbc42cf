"""The operations of a trace from any recorder as an OTF2 archive, for Vampir and every other tool that reads OTF2."""

import os
from pathlib import Path

from ...layers.trace import Trace
from ...otf2io.writing.archive import write_archive
from ..atomic import archive_size, atomic_archive
from ..written import Written


def write_otf2(trace: Trace, path: str | os.PathLike[str]) -> Written:
    """Write all I/O of a trace as an OTF2 archive: definitions, operations and metadata events.

    Read back it gives the same layers, handles, periods and comparison, and the same about what another recorder does
    not tell, which properties of the system tree's root keep. Bytes that such a recorder knows by intervals of time
    only are one operation an interval. Whatever the trace's window and selection of files are, everything is written.
    What the model does not have is not there: events other than those of I/O, when an operation was tested for
    completion (it is taken for tested as it begins), and original matching ids.

    Parameters
    ----------
    trace : Trace
        One read with ``memory`` is read once more, block by block.
    path : path
        Anchor of the archive, ``NAME.otf2``; beside it come ``NAME.def`` and the folder ``NAME``, none of which may
        exist. They appear when the archive is complete.

    Raises
    ------
    TraceError
        If times are not of 64 bits, or ranks too large for a list of them.
    OutputError
        If the archive cannot be written; nothing is left behind then.
    """
    extent = trace.sums.extent
    blocks = ((block.operations, block.other_events) for block in trace.stream)
    with atomic_archive(path) as anchor:
        events = write_archive(
            anchor.with_suffix(""), trace.definitions, blocks, 0 if extent is None else extent[0], trace.damage
        )
        size = archive_size(anchor)
    return Written(Path(path), size, trace.order, events=events)
