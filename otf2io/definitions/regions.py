"""The regions of an archive that do I/O: functions such as ``write``, ``MPI_File_write_at_all``, ``fprintf``.

They are read separately from the other definitions, and only on request.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from ..anchor import Anchor
from .records import collect_definitions

_FILE_IO: Final = 27
_FILE_IO_METADATA: Final = 38
"""``OTF2_RegionRole`` of functions that move data of files, and of those that open, close, seek and the like."""


@dataclass(frozen=True, eq=False)
class IoRegions:
    """Regions of the roles *file I/O* and *file I/O metadata*.

    Attributes
    ----------
    id : uint32 (n,)
        Global ids, ascending.
    """

    id: npt.NDArray[np.uint32]
    name: tuple[str, ...]


def read_io_regions(anchor: Anchor) -> IoRegions:
    """Read the regions of an archive that do I/O.

    Raises TraceError if the file of global definitions is missing or damaged.
    """
    strings: dict[int, bytes] = {}
    regions: dict[int, tuple[int, int]] = {}

    def string(_user: int, identity: int, text: bytes | None) -> None:
        strings[identity] = text or b""

    def region(_user: int, identity: int, name: int, canonical: int, _description: int, role: int, *_rest: int) -> None:
        if role in (_FILE_IO, _FILE_IO_METADATA):
            # Of two records with one id the first holds, as with all definitions.
            regions.setdefault(identity, (name, canonical))

    collect_definitions(anchor, {"String": string, "Region": region})
    ordered = sorted(regions.items())
    names = (strings.get(name) or strings.get(canonical, b"") for _, (name, canonical) in ordered)
    return IoRegions(
        id=np.array([identity for identity, _ in ordered], np.uint32),
        name=tuple(name.decode("utf-8", "backslashreplace") for name in names),
    )
