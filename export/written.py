"""What was written where."""

from dataclasses import dataclass
from pathlib import Path


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
