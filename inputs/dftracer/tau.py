"""What TAU's wrapper of I/O calls leaves: trace events in JSON, in a dialect of what DFTracer writes."""

from pathlib import Path
from typing import Final

from ..inflating import first_text
from ..recognition import Recorder
from ..source import RowSource
from .reader import WITH_A_STEP, read_files


def recognises(head: bytes, path: Path) -> bool:
    """Tell TAU's files by the step in their first event."""
    return path.is_file() and WITH_A_STEP.match(first_text(head)) is not None


def open_tau(path: Path) -> RowSource:
    """Read a file.

    Raises TraceError if no event can be read.
    """
    return read_files(path, [path], RECORDER, numbered_by_rank=True)


RECORDER: Final = Recorder(
    "TAU",
    recognises,
    open_tau,
    format="trace events in JSON of its I/O wrapper, plain or compressed by gzip",
    description="Calls of POSIX and ISO C by rank and thread, with the file and the function called.",
    page="recorders/tau.rst",
    never_recorded=("nodes",),
)
