"""What was written where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class WrittenFile:
    """A file that was written.

    Attributes
    ----------
    path : Path
    bytes : int
        Its size.
    bins : int
        Length of its time axis.
    fs : float
        Bins per second (Hz).
    layers : tuple of str
        Layers in it, highest first.
    """

    path: Path
    bytes: int
    bins: int
    fs: float
    layers: tuple[str, ...]


@dataclass(frozen=True)
class WrittenReport:
    """A report that was written.

    Attributes
    ----------
    path : Path
    bytes : int
        Its size.
    layers : tuple of str
        Layers in it, highest first.
    cut : mapping of str to int
        Lists of which it does not show all, with the number of their entries.
    """

    path: Path
    bytes: int
    layers: tuple[str, ...]
    cut: Mapping[str, int]


@dataclass(frozen=True)
class WrittenEvents:
    """Trace events that were written: file, size, slices of operations, and how close slices were put together."""

    path: Path
    bytes: int
    slices: int
    operations: int
    gap_s: float
    layers: tuple[str, ...]


@dataclass(frozen=True)
class WrittenArchive:
    """An annotated archive: its anchor, the bytes of all its files, its markers, and the layers that they speak of."""

    path: Path
    bytes: int
    markers: int
    layers: tuple[str, ...]


@dataclass(frozen=True)
class WrittenFigure:
    """A picture that was written: where, its size in bytes, and how many signals it shows."""

    path: Path
    bytes: int
    signals: int


@dataclass(frozen=True)
class WrittenTable:
    """A table that was written.

    Attributes
    ----------
    path : Path
    bytes : int
        Size of the file.
    rows : int
    layers : tuple of str
        Layers in it, highest first.
    """

    path: Path
    bytes: int
    rows: int
    layers: tuple[str, ...]
