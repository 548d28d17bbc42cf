"""The regions of an archive: functions such as ``write``, ``MPI_File_write_at_all``, and those of the program itself.

They are read separately from the other definitions, and only on request.
"""

from typing import Any

import numpy as np

from ...model.stream.calls import Regions
from ..files.anchor import Anchor
from .records import collect_definitions


def read_regions(anchor: Anchor) -> Regions:
    """Read the regions of an archive.

    Raises TraceError if the file of global definitions is missing or damaged.
    """
    strings: dict[int, bytes] = {}
    regions: dict[int, tuple[int, ...]] = {}

    def string(_user: int, identity: int, text: bytes | None) -> None:
        strings[identity] = text or b""

    def region(
        _user: int,
        identity: int,
        name: int,
        canonical: int,
        _description: int,
        role: int,
        paradigm: int,
        _flags: int,
        file: int,
        line: int,
        *_rest: int,
    ) -> None:
        # Of two records with one id the first holds, as with all definitions.
        regions.setdefault(identity, (name, canonical, role, paradigm, file, line))

    collect_definitions(anchor, {"Region": region})
    if not regions:
        return Regions.none()
    collect_definitions(anchor, {"String": string})
    ordered = sorted(regions.items())
    columns: Any = zip(*(values for _, values in ordered), strict=True)
    name, canonical, role, paradigm, file, line = columns

    def text(identity: int) -> str:
        return strings.get(identity, b"").decode("utf-8", "backslashreplace")

    return Regions(
        id=np.array([identity for identity, _ in ordered], np.uint32),
        name=tuple(text(one) or text(other) for one, other in zip(name, canonical, strict=True)),
        role=np.array(role, np.uint8),
        paradigm=np.array(paradigm, np.uint8),
        file=tuple(map(text, file)),
        line=np.array(line, np.int64),
    )
