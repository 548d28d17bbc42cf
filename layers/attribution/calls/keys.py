"""Keys that call paths give: the function that did I/O, the program's own function above it, the whole path."""

from typing import Final

import numpy as np

from ....model.arrays import Ints, Links
from ....model.stream.calls import OF_THE_PROGRAM, Regions
from .paths import nearest

FUNCTION: Final = "function"
CALLER: Final = "caller"
CALLPATH: Final = "callpath"
CALL_KEYS: Final = (FUNCTION, CALLER, CALLPATH)
"""Keys that are no part of the definitions of files and processes."""
NamedRows = tuple[tuple[str, ...], Links]
"""Names, and the row of each operation in them, −1 for none."""
_INNERMOST: Final = 24
"""Functions of a path that are told one by one; a path can be as long as a trace."""


def key_rows(by: str, regions: Regions, parent: Links, region: Links) -> Links:
    """Return the key of each call path, int32 (n,), −1 where it has none.

    Parameters
    ----------
    by : str
        ``function``: the innermost function that does I/O, and ``caller``: the innermost of the program's own
        functions, a row of `regions`; ``callpath``: the row of the path.
    """
    if by == CALLPATH:
        return np.arange(len(parent), dtype=np.int32)
    does_io = regions.does_io
    wanted = does_io if by == FUNCTION else ~does_io & np.isin(regions.paradigm, OF_THE_PROGRAM)
    rows = np.where(wanted, np.arange(len(regions)), -1).astype(np.int32)
    return nearest(parent, rows[region])


def named_keys(by: str, regions: Regions, parent: Links, region: Links, path: Links) -> NamedRows:
    """Return the names of the keys of some operations, whose call paths are known, and the row of each, −1 for none."""
    key = np.append(key_rows(by, regions, parent, region), np.int32(-1))[path]
    used = np.unique(key[key >= 0])
    rows = np.where(key >= 0, np.searchsorted(used, key), -1).astype(np.int32)
    return tuple(key_texts(by, regions, parent, region, used.astype(np.int64))), rows


def key_texts(by: str, regions: Regions, parent: Links, region: Links, rows: Ints) -> list[str]:
    """Return what keys are called: a function's name, with its source file and line where it is a caller, or a path."""
    if by == FUNCTION:
        return [regions.name[row] for row in rows.tolist()]
    if by == CALLER:
        return [caller_text(regions, row) for row in rows.tolist()]
    return [path_text(regions, parent, region, row) for row in rows.tolist()]


def caller_text(regions: Regions, row: int) -> str:
    """Return the name of a function with its source file and line, as far as the trace tells them."""
    name, file, line = regions.name[row], regions.file[row], int(regions.line[row])
    if not file:
        return name
    return f"{name} ({file}:{line})" if line else f"{name} ({file})"


def path_text(regions: Regions, parent: Links, region: Links, row: int) -> str:
    """Return the functions of a path, the outermost first; of a long one its innermost functions only."""
    names: list[str] = []
    while row >= 0 and len(names) < _INNERMOST:
        names.append(regions.name[region[row]])
        row = int(parent[row])
    if row >= 0:
        names.append("…")
    return " > ".join(reversed(names))
