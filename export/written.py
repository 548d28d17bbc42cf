"""What was written where."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from ..model.document import Record


class Written(Record):
    """A file that was written. What a file of its kind does not have is None.

    Attributes
    ----------
    path : Path
        Of an archive, its anchor.
    bytes : int
        Its size; of an archive, that of all its files.
    layers : tuple of str
        Layers in it, highest first.
    bins : int
        Length of its time axis.
    fs : float
        Bins per second (Hz).
    rows : int
        Of a table.
    operations, slices : int
        Operations in a timeline, and the slices that stand for them and for opens, closes and the like.
    gap_s : float
        How close operations were put together into one slice.
    events : int
        Of an archive that was written anew.
    markers : int
        Phases and periods that an archive is marked with.
    cut : mapping of str to int
        Lists that a report shows only in part, with the number of their entries.
    signals : int
        Signals in a picture.
    beside : tuple of str
        Of an archive, what stands beside the anchor: the names of files, and of its folder with a slash.
    note : str
        What to say on stderr beside it; it is in no document.
    """

    ENTRIES: ClassVar = (
        "path", "bytes", "layers", "bins", "fs", "rows", "operations", "slices", "gap_s", "events", "markers", "cut",
        "signals", "beside",
    )  # fmt: skip
    OPTIONAL: ClassVar = frozenset(ENTRIES[2:])

    path: Path
    bytes: int
    layers: tuple[str, ...] | None = None
    bins: int | None = None
    fs: float | None = None
    rows: int | None = None
    operations: int | None = None
    slices: int | None = None
    gap_s: float | None = None
    events: int | None = None
    markers: int | None = None
    cut: Mapping[str, int] | None = None
    signals: int | None = None
    beside: tuple[str, ...] | None = None
    note: str | None = None
